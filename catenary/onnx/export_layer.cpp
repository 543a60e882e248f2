// Layers: products, convolutions, pooling, normalisations, attention.

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/onnx/export_call.h"

namespace catenary::onnx::exporting {

namespace {

Names linear_map(const ExportCall& c) { return {c.node("Gemm", c.inputs(), {{"transB", 1}})}; }

std::string swapped_axes(const ExportCall& c, const std::string& name, int ndim) {
  if (ndim < 2) return name;
  Integers axes;
  for (int i = 0; i < ndim - 2; ++i) axes.push_back(i);
  axes.insert(axes.end(), {ndim - 1, ndim - 2});
  return c.transpose(name, axes);
}
Names matrix_product(const ExportCall& c) {
  const std::string a = c.as_result(0), b = c.as_result(1);
  return {c.node("MatMul", {c.flag("transa") ? swapped_axes(c, a, c.ndim(0)) : a,
                            c.flag("transb") ? swapped_axes(c, b, c.ndim(1)) : b})};
}
Names einstein_sum(const ExportCall& c) {
  const auto& terms = std::get<std::vector<std::string>>(*c.both("terms").first);
  return {c.node("Einsum", c.inputs(), {{"equation", fmt::format("{}->{}", fmt::join(terms, ","), c.text("result"))}})};
}

/// Windows over the last axes of an input.
struct ExportedWindow {
  Integers size, stride, pad, dilate;

  explicit ExportedWindow(const ExportCall& c)
      : size(c.integers("size")), stride(c.integers("stride")), pad(c.integers("pad")), dilate(c.integers("dilate")) {}

  std::size_t axes() const { return size.size(); }
  std::int64_t reach(std::size_t i) const { return dilate[i] * (size[i] - 1) + 1; }
  /// The number of windows without and with the windows that cover the last elements.
  std::int64_t few(std::size_t i, std::int64_t extent) const {
    return (extent + 2 * pad[i] - reach(i)) / stride[i] + 1;
  }
  std::int64_t all(std::size_t i, std::int64_t extent) const {
    return (extent + 2 * pad[i] - reach(i) + stride[i] - 1) / stride[i] + 1;
  }
  NodeAttributes attributes(const Integers& after) const {
    Integers pads = pad;
    pads.insert(pads.end(), after.begin(), after.end());
    return {{"kernel_shape", size}, {"strides", stride}, {"pads", pads}, {"dilations", dilate}};
  }
};

/// Returns the padding behind each axis, which is larger where windows cover all elements.
Integers padding_behind(const ExportCall& c, const ExportedWindow& w, const Extents& from, const Extents& to) {
  Integers after = w.pad;
  for (std::size_t i = 0; i < w.axes(); ++i) {
    const Extent e = from[i + 2], n = to[i + 2];
    const bool few = w.few(i, e.first) == n.first && w.few(i, e.second) == n.second;
    const bool all = w.all(i, e.first) == n.first && w.all(i, e.second) == n.second;
    if (e.varies() && few && all && w.stride[i] > 1)
      c.fail("sizes {} and {} do not tell whether windows cover all elements (cover_all): use another example", e.first,
             e.second);
    if (few) continue;
    after[i] = (c.fixed(n, "the number of windows that cover all elements") - 1) * w.stride[i] + w.reach(i) -
               c.fixed(e, "a size") - w.pad[i];
  }
  return after;
}

Names convolved(const ExportCall& c) {
  const ExportedWindow w(c);
  NodeAttributes attributes = w.attributes(padding_behind(c, w, c.extents(0), c.result()));
  attributes.emplace_back("group", c.integer("groups"));
  return {c.node("Conv", c.inputs(), attributes)};
}

Names convolved_back(const ExportCall& c) {
  const ExportedWindow w(c);
  Integers after = w.pad, more(w.axes(), 0);
  for (std::size_t i = 0; i < w.axes(); ++i) {
    const Extent n = c.extents(0)[i + 2], e = c.result()[i + 2];
    const auto extra = [&](std::int64_t windows, std::int64_t extent) {
      return extent - (w.stride[i] * (windows - 1) + w.reach(i) - 2 * w.pad[i]);
    };
    const std::int64_t first = extra(n.first, e.first);
    if (first != extra(n.second, e.second)) c.fail("outsize depends on the inputs");
    (first < 0 ? after : more)[i] += first < 0 ? -first : first;
  }
  NodeAttributes attributes = w.attributes(after);
  attributes.emplace_back("group", c.integer("groups"));
  attributes.emplace_back("output_padding", more);
  return {c.node("ConvTranspose", c.inputs(), attributes)};
}

Names pooled_by_max(const ExportCall& c) {
  const ExportedWindow w(c);
  const Extents from = c.extents(0), to = c.result();
  bool covers = false, varies = false;
  for (std::size_t i = 0; i < w.axes(); ++i) {
    const Extent e = from[i + 2], n = to[i + 2];
    covers |= w.few(i, e.first) != n.first || w.few(i, e.second) != n.second;
    varies |= e.varies();
  }
  if (!covers || !varies) return {c.node("MaxPool", {c.x(0)}, w.attributes(padding_behind(c, w, from, to)))};
  NodeAttributes attributes = w.attributes(w.pad);
  attributes.emplace_back("ceil_mode", 1);
  return {c.node("MaxPool", {c.x(0)}, attributes)};
}

Names pooled_by_mean(const ExportCall& c) {
  const ExportedWindow w(c);
  const std::string op = c.text("op");
  if (op != "average" && op != "average_inside") c.fail("'{}' is not supported", op);
  NodeAttributes attributes = w.attributes(padding_behind(c, w, c.extents(0), c.result()));
  std::erase_if(attributes, [](const NodeAttribute& a) { return a.name == "dilations"; });
  attributes.emplace_back("count_include_pad", op == "average" ? 1 : 0);
  return {c.node("AveragePool", {c.x(0)}, attributes)};
}

/// Returns the windows as channels, by a convolution of each channel with filters of a single 1.
Names columns(const ExportCall& c) {
  const ExportedWindow w(c);
  const std::int64_t channels = c.fixed(c.extents(0)[1], "the number of channels"), taps = w.size[0] * w.size[1];
  const DeviceScope scope(get_device("cpu"));
  const Array filters =
      tile(eye(taps, taps, 0, c.dtype(0)).reshape({taps, 1, w.size[0], w.size[1]}), {channels, 1, 1, 1});
  NodeAttributes attributes = w.attributes(padding_behind(c, w, c.extents(0), c.result()));
  attributes.emplace_back("group", channels);
  return {c.node("Conv", {c.x(0), c.constant(filters)}, attributes)};
}

/// Moves groups of channels by a convolution with filters of a single 1.
Names moved_channels(const ExportCall& c) {
  if (c.flag("back")) c.fail("the gradient is not supported");
  const Integers size = c.integers("size"), dilate = c.integers("dilate");
  const std::int64_t channels = c.fixed(c.extents(0)[1], "the number of channels"), taps = size[0] * size[1],
                     last = taps - 1;
  std::vector<double> filters(static_cast<std::size_t>(channels * taps), 0);
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const std::int64_t group = std::min(channel / (channels / taps), last);
    const std::int64_t place = group == last ? last / 2 : group == last / 2 ? last : group;
    const std::int64_t row = dilate[0] > 0 ? size[0] - 1 - place / size[1] : place / size[1],
                       column = dilate[1] > 0 ? size[1] - 1 - place % size[1] : place % size[1];
    filters[static_cast<std::size_t>(channel * taps + row * size[1] + column)] = 1;
  }
  const Array weight =
      Array::from_host(filters.data(), {channels, 1, size[0], size[1]}, Dtype::float64, get_device("cpu"));
  const Integers steps = {std::abs(dilate[0]), std::abs(dilate[1])};
  const std::int64_t tall = size[0] / 2 * steps[0], wide = size[1] / 2 * steps[1];
  return {c.node("Conv", {c.x(0), c.constant(weight.astype(c.dtype(0)))},
                 {{"dilations", steps}, {"group", channels}, {"pads", Integers{tall, wide, tall, wide}}})};
}

/// Transforms real and imaginary parts along the last axis.
Names fourier_transform(const ExportCall& c) {
  const int n = c.ndim(0);
  const std::string behind = c.constant(Integers{n}), front = c.constant(Integers{0});
  std::string z =
      c.node("Concat", {c.node("Unsqueeze", {c.as_result(0), behind}), c.node("Unsqueeze", {c.as_result(1), behind})},
             {{"axis", n}});
  if (n == 1) z = c.node("Unsqueeze", {z, front});  // the operator needs a batch
  const std::int64_t axis = n == 1 ? 1 : n - 1, inverse = c.flag("inverse") ? 1 : 0;
  z = c.opset() < 20
          ? c.node("DFT", {z}, {{"axis", axis}, {"inverse", inverse}})
          : c.node("DFT", {z, "", c.number(static_cast<double>(axis), Dtype::int64)}, {{"inverse", inverse}});
  if (n == 1) z = c.node("Squeeze", {z, front});
  const auto part = [&](int i) { return c.node("Gather", {z, c.number(i, Dtype::int64)}, {{"axis", n}}); };
  return {part(0), part(1)};
}

/// (x - mean) / sqrt(var + eps) * gamma + beta, with statistics over some axes.
Names standardized(const ExportCall& c) {
  if (c.has("r") || c.has("d")) c.fail("a correction is not supported: export in test mode");
  const Integers axes = c.axes("axes");
  const auto mean = [&](const std::string& x) {
    return c.node("ReduceMean", {x, c.constant(axes)}, {{"keepdims", 1}});
  };
  const std::string x = c.as_result(0), centered = c.node("Sub", {x, mean(x)});
  const std::string deviation =
      c.node("Sqrt", {c.node("Add", {mean(c.node("Mul", {centered, centered})), c.number(c.real("eps"))})});
  const std::string scaled = c.node("Mul", {c.node("Div", {centered, deviation}), c.as_result(1)});
  return {c.node("Add", {scaled, c.as_result(2)})};
}
Names normalized_rows(const ExportCall& c) {
  const Integers axes = c.axes("axes");
  return {c.node("LayerNormalization", {c.as_result(0), c.as_result(1), c.as_result(2)},
                 {{"axis", axes.at(0)}, {"epsilon", c.real("eps")}})};
}

Names normalized_locally(const ExportCall& c) {
  const std::int64_t size = 2 * (c.integer("n") / 2) + 1;
  return {c.node("LRN", {c.x(0)},
                 {{"alpha", c.real("alpha") * static_cast<double>(size)},
                  {"beta", c.real("beta")},
                  {"bias", c.real("k")},
                  {"size", size}})};
}

template <const char* const& type>
Names along_one_axis(const ExportCall& c) {
  return {c.node(type, {c.as_result(0)}, {{"axis", c.axis()}})};
}
constexpr const char *kSoftmax = "Softmax", *kLogSoftmax = "LogSoftmax";

Names refused_dropout(const ExportCall& c) { c.fail("the function drops elements: export in test mode"); }

constexpr ExportRow kLayer[] = {
    {"AveragePoolingND", nullptr, pooled_by_mean},
    {"BatchDet", "Det"},
    {"BatchNormalization", nullptr, standardized},
    {"Convolution2DFunction", nullptr, convolved},
    {"ConvolutionND", nullptr, convolved},
    {"Deconvolution2DFunction", nullptr, convolved_back},
    {"DeconvolutionND", nullptr, convolved_back},
    {"Dropout", nullptr, refused_dropout},
    {"EinSum", nullptr, einstein_sum},
    {"FFT", nullptr, fourier_transform},
    {"GroupNormalization", nullptr, standardized},
    {"Im2Col", nullptr, columns},
    {"InstanceNormalization", nullptr, standardized},
    {"LayerNormalization", nullptr, normalized_rows},
    {"LinearFunction", nullptr, linear_map},
    {"LocalResponseNormalization", nullptr, normalized_locally},
    {"LogSoftmax", nullptr, along_one_axis<kLogSoftmax>},
    {"MatMul", nullptr, matrix_product},
    {"MaxPoolingND", nullptr, pooled_by_max},
    {"Shift", nullptr, moved_channels},
    {"Softmax", nullptr, along_one_axis<kSoftmax>},
};

}  // namespace

std::span<const ExportRow> exported_layer() { return kLayer; }

}  // namespace catenary::onnx::exporting
