#include "chainer_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace reference {

namespace ct = catenary;
using ct::Array;

// On the CPU, because the current device may not support the dtype.
Array load(const ct::io::NpzReader& file, const std::string& key) {
  const ct::io::HostArray host = file.read_array(key);
  return Array::from_host(host.bytes().data(), host.shape, host.dtype, ct::Device());
}

void check_form(const std::string& key, const Array& got, ct::Dtype dtype, const ct::Shape& shape) {
  if (got.defined() && (got.dtype() != dtype || got.shape() != shape))
    throw Mismatch(fmt::format("{} is {}, expected {}{}", key, describe(got), ct::dtype_name(dtype), shape.str()));
}

Array load_as(const ct::io::NpzReader& file, const std::string& key, ct::Dtype dtype) {
  const Array a = load(file, key);
  return (ct::is_floating(a.dtype()) ? a.astype(dtype) : a).to_device(ct::current_device());
}

void compare_with(const ct::io::NpzReader& file, const std::string& key, const Array& got, ct::Dtype dtype,
                  const Tolerance& tolerance) {
  const Array expected = load(file, key);
  const bool floating = ct::is_floating(expected.dtype());
  check_form(key, got, floating ? dtype : expected.dtype(), expected.shape());
  const std::vector<double> e = expected.to_vector<double>();
  const std::vector<double> g = got.defined() ? got.to_vector<double>() : std::vector<double>(e.size(), 0);
  double largest = 1;
  for (const double value : e)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < e.size(); ++i) {
    const double allowed = floating ? tolerance.rtol * std::abs(e[i]) + tolerance.atol * largest : 0;
    const bool same = std::isnan(e[i])                       ? std::isnan(g[i])
                      : std::isinf(e[i]) || std::isinf(g[i]) ? g[i] == e[i]
                                                             : std::abs(g[i] - e[i]) <= allowed;
    if (!same)
      throw Mismatch(
          fmt::format("{} in {}: element {} is {:.17g} instead of {:.17g}", key, ct::dtype_name(dtype), i, g[i], e[i]));
  }
}

Array Vectors::given(const std::string& key, double factor) const {
  const Array a = load(file_, key);
  return given(factor == 1 ? a : a * factor);
}

Array Vectors::given(const Array& values) const {
  return (ct::is_floating(values.dtype()) ? values.astype(dtype_) : values).to_device(ct::current_device());
}

void Vectors::compare(const std::string& key, const Array& got, Part, const Tolerance& tolerance) const {
  compare_with(file_, key, got, dtype_, tolerance);
}

}  // namespace reference
