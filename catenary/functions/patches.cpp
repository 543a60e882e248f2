#include "catenary/functions/patches.h"

#include <algorithm>

#include "catenary/array/run_text.h"
#include "catenary/autograd/defined.h"
#include "catenary/core/fields.h"
#include "catenary/core/format.h"
#include "catenary/core/window.h"
#include "catenary/functions/linear_map.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

using catenary::detail::empty_as;
using catenary::detail::reads;
using catenary::detail::reads_bits;
using catenary::detail::run_text;
using catenary::detail::writes;
using catenary::detail::writes_bits;

namespace {

void check_images(const Variable& x, const char* function) {
  if (x.ndim() != 4) fail<ShapeError>("{}: x must be (n, c, h, w), not {}", function, x.shape());
  if (!is_floating(x.dtype())) fail<DtypeError>("{}: x must be floating, not {}", function, x.dtype());
}

struct Im2Col {
  static constexpr const char *kName = "Im2Col", *kBackName = "Im2ColGrad";
  Window window;
  Shape extents, counts;

  Array forward(const Array& x) const {
    const std::int64_t channels = x.shape(1);
    const Array y = empty_as(x, {x.shape(0), channels * window.taps(), counts[0], counts[1]});
    run_text("patches", "im2col", y.size(),
             {reads_bits(x), writes_bits(y), channels, extents, counts, window.size, window.stride, window.pad,
              window.dilate, x.strides(), y.strides()});
    return y;
  }
  Array back(const Array& gy) const {
    const std::int64_t channels = gy.shape(1) / window.taps();
    const Array gx = empty_as(gy, {gy.shape(0), channels, extents[0], extents[1]});
    run_text("patches", "col2im", gx.size(),
             {reads(gy), writes(gx), channels, extents, counts, window.size, window.stride, window.pad, window.dilate,
              gy.strides(), gx.strides()});
    return gx;
  }
};
CT_FIELDS(Im2Col, window, extents, counts)

struct Shift {
  static constexpr const char *kName = "Shift", *kBackName = "Shift";
  Shape size, dilate;

  Array forward(const Array& x) const { return moved(x, 1); }
  Array back(const Array& gy) const { return moved(gy, -1); }

 private:
  Array moved(const Array& x, std::int64_t way) const {
    const Array y = empty_as(x, x.shape());
    run_text("patches", "shift", y.size(),
             {reads(x), writes(y), x.shape(1), x.shape(2), x.shape(3), size, way * dilate[0], way * dilate[1],
              x.strides(), y.strides()});
    return y;
  }
};
CT_FIELDS(Shift, size, dilate)

}  // namespace

Variable im2col(const Variable& x, const PerAxis& ksize, const Im2ColOptions& options) {
  CT_DEFINED(x);
  check_images(x, "im2col");
  const Window window = Window::make("im2col", 2, ksize, options.stride, options.pad, options.dilate);
  const Shape extents = {x.shape(2), x.shape(3)};
  return detail::apply_linear(Im2Col{window, extents, window.counts("im2col", extents, options.cover_all)}, x);
}

Variable shift(const Variable& x, const PerAxis& ksize, const PerAxis& dilate) {
  CT_DEFINED(x);
  check_images(x, "shift");
  const Shape size = Window::make("shift", 2, ksize, {1}, {0}).size;
  if (size[0] % 2 == 0 || size[1] % 2 == 0) fail<ValueError>("shift: ksize must be odd, not {}", ksize);
  if (dilate.empty() || dilate.size() > 2 || dilate[0] == 0 || dilate.back() == 0)
    fail<ValueError>("shift: dilate must be one number or two, and not 0, not {}", dilate);
  if (x.shape(1) < size.product())
    fail<ShapeError>("shift: x {} must have at least {} channels for a window of {}", x.shape(), size.product(), size);
  // all elements outside x are zero
  const auto step = [&](std::int64_t given, std::int64_t extent) { return std::clamp(given, -extent - 1, extent + 1); };
  return detail::apply_linear(Shift{size, {step(dilate[0], x.shape(2)), step(dilate.back(), x.shape(3))}}, x);
}

std::span<const Signature> detail::patch_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("array.im2col", im2col, "x", "ksize", options("stride, pad, cover_all, dilate")),
      CT_SIGNATURE("connection.shift", shift, "x", otherwise("ksize", 3), "dilate"),
  };
  return all;
}

}  // namespace catenary::functions
