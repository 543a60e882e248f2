#include "catenary/onnx/windows.h"

#include <algorithm>

#include "catenary/array/manipulation.h"

namespace catenary::onnx {

Integers or_ones(const Call& c, const char* name, std::size_t n) {
  const Integers given = c.list(name).value_or(Integers(n, 1));
  if (given.size() != n) c.fail("{} has {} entries for {} spatial axes", name, given.size(), n);
  return given;
}

Windows windows_of(const Call& c, const Shape& shape, const Integers& kernel) {
  const std::size_t n = kernel.size();
  if (static_cast<std::size_t>(shape.size()) != n + 2) c.fail("an input of shape {} has not {} spatial axes", shape, n);
  Windows w{kernel, or_ones(c, "strides", n), or_ones(c, "dilations", n), Integers(n, 0), Integers(n, 0)};
  const std::string how = c.text("auto_pad", "NOTSET");
  const std::optional<Integers> pads = c.list("pads");
  if (how == "NOTSET" && pads) {
    if (pads->size() != 2 * n) c.fail("pads has {} entries for {} spatial axes", pads->size(), n);
    std::copy_n(pads->begin(), n, w.before.begin());
    std::copy_n(pads->begin() + static_cast<std::ptrdiff_t>(n), n, w.after.begin());
  } else if (how == "SAME_UPPER" || how == "SAME_LOWER") {
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t size = shape[static_cast<int>(i) + 2], stride = w.strides[i];
      if (stride < 1) c.fail("stride {} is not positive", stride);
      const std::int64_t taps = (kernel[i] - 1) * w.dilations[i] + 1;
      const std::int64_t all = std::max<std::int64_t>(((size + stride - 1) / stride - 1) * stride + taps - size, 0);
      w.before[i] = how == "SAME_UPPER" ? all / 2 : all - all / 2;
      w.after[i] = all - w.before[i];
    }
  } else if (how != "NOTSET" && how != "VALID") {
    c.fail("auto_pad '{}' is not known", how);
  }
  for (std::size_t i = 0; i < n; ++i)
    if (w.before[i] < 0 || w.after[i] < 0) c.fail("negative padding is not supported");
  return w;
}

Variable padded(const Variable& x, const Integers& before, const Integers& after, double value) {
  std::vector<PerSide<std::int64_t>::Pair> widths(2, {0, 0});
  for (std::size_t i = 0; i < before.size(); ++i) widths.emplace_back(before[i], after[i]);
  PadOptions options;
  options.constant_value = PerSide<Scalar>(value);
  return F::pad(x, PerSide<std::int64_t>(widths), options);
}

Variable padded(const Variable& x, Windows& w, double value) {
  if (w.before == w.after) return x;
  const Variable result = padded(x, w.before, w.after, value);
  w.before = w.after = Integers(w.before.size(), 0);
  return result;
}

PerAxis per_axis(const Integers& entries) { return PerAxis(Shape(entries)); }

Integers spatial(const Shape& shape) { return Integers(shape.begin() + 2, shape.end()); }

}  // namespace catenary::onnx
