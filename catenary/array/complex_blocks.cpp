#include "catenary/array/complex_blocks.h"

#include "catenary/array/elementwise_core.h"
#include "catenary/array/view.h"

namespace catenary::detail {

Array real_blocks(const Array& a, bool conjugated) {
  Shape shape(a.shape().data(), a.ndim() - 2);
  const std::int64_t rows = a.shape(-2), columns = a.shape(-1);
  Shape spread = shape;
  for (std::int64_t extent : {rows, std::int64_t{2}, columns, std::int64_t{2}}) spread.push_back(extent);
  for (std::int64_t extent : {2 * rows, 2 * columns}) shape.push_back(extent);
  const Array blocks = Array::empty(spread, part_dtype(a.dtype()), a.device());
  Strides strides = blocks.strides();
  const int axis = a.ndim() - 1;  // of the rows within blocks
  strides.erase(axis + 2);
  strides.erase(axis);
  const std::int64_t down = 2 * columns;
  const Array re = real(a), im = imag(a);
  const auto place = [&](std::int64_t at) { return blocks.as_strided(a.shape(), strides, at); };
  copyto(place(0), re);
  copyto(place(conjugated ? down : 1), negative(im));
  copyto(place(conjugated ? 1 : down), im);
  copyto(place(down + 1), re);
  return blocks.reshape(shape);
}

}  // namespace catenary::detail
