// Blocks of quantised weights, made by GGUF's Python package, and products with them.

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

#include "catenary/array/elementwise.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/quantized.h"
#include "catenary/io/npz.h"
#include "chainer_arrays.h"
#include "report.h"

namespace reference {

namespace ct = catenary;
using ct::Array;
using ct::Dtype;
using nlohmann::json;

namespace {

void expect_bytes(const char* what, const Array& ours, const Array& theirs) {
  if (ours.shape() != theirs.shape() || ours.dtype() != theirs.dtype())
    throw Mismatch(fmt::format("{}: {} of {}, not {} of {}", what, dtype_name(ours.dtype()), ours.shape().str(),
                               dtype_name(theirs.dtype()), theirs.shape().str()));
  const Array a = ours.to_device(ct::Device()).contiguous(), b = theirs.to_device(ct::Device()).contiguous();
  const auto *p = static_cast<const std::byte*>(a.raw_data()), *q = static_cast<const std::byte*>(b.raw_data());
  for (std::size_t i = 0; i < a.nbytes(); ++i)
    if (p[i] != q[i]) throw Mismatch(fmt::format("{}: byte {} of {} differs", what, i, a.nbytes()));
}

/// Products are float32 sums of as many terms as there are columns, in any order.
void expect_products(const char* what, const Array& y, const Array& exact, const Array& magnitudes,
                     std::int64_t terms) {
  const auto ours = y.astype(Dtype::float64).to_vector<double>(), theirs = exact.to_vector<double>(),
             sizes = magnitudes.to_vector<double>();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double bound = static_cast<double>(terms + 2) * 0x1p-24 * sizes[i];
    if (!(std::abs(ours[i] - theirs[i]) <= bound))
      throw Mismatch(fmt::format("{}: element {} is {}, not {} (to {})", what, i, ours[i], theirs[i], bound));
  }
}

void check_quantised(const std::string& directory, const json& entry) {
  const auto kind = ct::quantization_from_name(entry.at("kind").get<std::string>());
  if (!kind) throw NotImplemented("kind " + entry.at("kind").get<std::string>());
  const std::int64_t rows = entry.at("rows"), columns = entry.at("columns");
  const ct::io::NpzReader file(directory + "/" + entry.at("file").get<std::string>());
  const auto given = [&](const char* name) { return load(file, name).to_device(ct::current_device()); };
  const Array blocks = given("blocks"), back = given("back"), x = given("x");
  // the package cannot quantise to all kinds
  if (file.contains("w")) expect_bytes("blocks", ct::quantize(given("w"), *kind).blocks(), blocks);
  expect_bytes("dequantised values", ct::dequantize({blocks, *kind, back.shape()}), back);
  const ct::QuantizedArray quantised(blocks, *kind, {rows, columns});
  const ct::Device host;
  const Array x64 = x.to_device(host).astype(Dtype::float64),
              w64 = back.to_device(host).astype(Dtype::float64)(ct::slice(), ct::slice(0, columns)).transpose();
  const Array exact = ct::matmul(x64, w64), sizes = ct::matmul(ct::absolute(x64), ct::absolute(w64));
  expect_products("y", ct::linear(x, quantised).to_device(host), exact, sizes, columns);
  // enough rows for the other algorithm
  const Array many = ct::concatenate(std::vector<Array>(16, x), 0);
  const Array y = ct::linear(many, quantised).to_device(host);
  expect_products("y of many rows", y(ct::slice(60, 64)), exact, sizes, columns);
}

}  // namespace

Report run_quantised(const std::string& directory, const json& manifest) {
  Report report;
  for (const json& entry : manifest.at("quantised"))
    add_case(report, entry.at("file"), entry.at("kind"), [&] { check_quantised(directory, entry); });
  return report;
}

}  // namespace reference
