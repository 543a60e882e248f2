#include "catenary/array/fft.h"

#include "catenary/array/body.h"
#include "catenary/core/format.h"

namespace catenary {

std::pair<Array, Array> fourier_transform(const char* function, const Array& re, const std::optional<Array>& im,
                                          bool inverse, double scale) {
  if (re.ndim() == 0 || re.shape().back() == 0)
    fail<ShapeError>("{}: a transform needs a last axis with elements, not shape {}", function, re.shape());
  if (!is_floating(re.dtype()) || (im && im->dtype() != re.dtype()))
    fail<DtypeError>("{}: the parts must have one floating dtype, not {} and {}", function, re.dtype(),
                     im ? im->dtype() : re.dtype());
  if (im && im->shape() != re.shape())
    fail<ShapeError>("{}: the parts must have one shape, not {} and {}", function, re.shape(), im->shape());
  if (im && im->device() != re.device())
    fail<DeviceError>("{}: the real part is on {}, the imaginary one on {}", function, re.device().name(),
                      im->device().name());
  if (is_16bit_float(re.dtype())) {
    const auto wide = fourier_transform(function, re.astype(Dtype::float32),
                                        im ? std::optional(im->astype(Dtype::float32)) : im, inverse, scale);
    return {wide.first.astype(re.dtype()), wide.second.astype(re.dtype())};
  }
  const Array out_re = Array::empty(re.shape(), re.dtype(), re.device()),
              out_im = Array::empty(re.shape(), re.dtype(), re.device());
  if (re.size() == 0) return {out_re, out_im};
  const Shape rows{re.size() / re.shape().back(), re.shape().back()};
  const Array x = re.reshape(rows), y = im ? im->reshape(rows) : x;
  const View imaginary = readable(y);
  compute(re.device(), primitives::Fft{inverse, scale, readable(x), im ? &imaginary : nullptr,
                                       writable(out_re.reshape(rows)), writable(out_im.reshape(rows))});
  return {out_re, out_im};
}

}  // namespace catenary
