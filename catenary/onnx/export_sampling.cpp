// Functions that sample or spread images.

#include <algorithm>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/onnx/export_call.h"

namespace catenary::onnx::exporting {

namespace {

/// Returns a matrix [to, from]: row i is the interpolation between element lows[i] and the next one, if
/// there is one.
Array interpolation(const std::vector<std::int64_t>& lows, const std::vector<double>& weights, std::size_t begin,
                    std::int64_t to, std::int64_t from) {
  std::vector<double> matrix(static_cast<std::size_t>(to * from));
  for (std::int64_t i = 0; i < to; ++i) {
    const std::int64_t low = lows.at(begin + static_cast<std::size_t>(i));
    const double weight = weights.at(begin + static_cast<std::size_t>(i));
    matrix.at(static_cast<std::size_t>(i * from + low)) += 1 - weight;
    matrix.at(static_cast<std::size_t>(i * from + std::min(low + 1, from - 1))) += weight;
  }
  return Array::from_host(matrix.data(), {to, from}, Dtype::float64, get_device("cpu"));
}

/// Interpolates along both axes by products with matrices, so that all modes give equal results everywhere.
Names resized_images(const ExportCall& c) {
  if (c.flag("back")) c.fail("the gradient is not supported");
  const Integers from = c.integers("from"), to = c.integers("to");
  const std::vector<std::int64_t> lows = c.array("lows").astype(Dtype::int64).to_vector<std::int64_t>();
  // the nearest pixel has no weights: it is the lower one alone
  const std::vector<double> weights = c.has("weights") ? c.array("weights").astype(Dtype::float64).to_vector<double>()
                                                       : std::vector<double>(lows.size());
  const Array rows = interpolation(lows, weights, 0, to[0], from[0]),
              columns = interpolation(lows, weights, static_cast<std::size_t>(to[0]), to[1], from[1]);
  const auto constant = [&](const Array& matrix) { return c.constant(matrix.astype(c.dtype(0))); };
  const std::string tall = c.node("MatMul", {constant(rows), c.x(0)});
  return {c.node("MatMul", {tall, constant(columns.transpose())})};
}

Names sampled_images(const ExportCall& c) {
  return {c.node("GridSample", {c.x(0), c.transpose(c.x(1), {0, 2, 3, 1})},
                 {{"align_corners", 1}, {"mode", c.opset() < 20 ? "bilinear" : "linear"}, {"padding_mode", "zeros"}})};
}

/// Writes each element to all elements of its window, and adds where windows overlap: a transposed convolution of each
/// channel with ones.
Names unpooled(const ExportCall& c) {
  if (c.text("op") != "sum") c.fail("'{}' is not supported", c.text("op"));
  const Integers size = c.integers("size"), stride = c.integers("stride"), pad = c.integers("pad");
  const std::int64_t channels = c.fixed(c.extents(0)[1], "the number of channels");
  Shape shape = {channels, 1};
  Integers pads = pad, more(size.size(), 0);
  for (std::size_t i = 0; i < size.size(); ++i) {
    shape.push_back(size[i]);
    const std::int64_t windows = c.fixed(c.extents(0)[i + 2], "a size"),
                       extra =
                           c.fixed(c.result()[i + 2], "a size") - (stride[i] * (windows - 1) + size[i] - 2 * pad[i]);
    pads.push_back(pad[i] + std::max<std::int64_t>(-extra, 0));
    more[i] = std::max<std::int64_t>(extra, 0);
  }
  const DeviceScope scope(get_device("cpu"));
  return {c.node(
      "ConvTranspose", {c.x(0), c.constant(ones(shape, c.dtype(0)))},
      {{"kernel_shape", size}, {"strides", stride}, {"pads", pads}, {"output_padding", more}, {"group", channels}})};
}

constexpr ExportRow kSampling[] = {
    {"ResizeImages", nullptr, resized_images},
    {"SpatialTransformerSampler", nullptr, sampled_images},
    {"UnpoolingND", nullptr, unpooled},
};

}  // namespace

std::span<const ExportRow> exported_sampling() { return kSampling; }

}  // namespace catenary::onnx::exporting
