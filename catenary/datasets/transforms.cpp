#include "catenary/datasets/transforms.h"

#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/random.h"
#include "catenary/core/format.h"

namespace catenary::datasets {

namespace {

/// Draws `count` integers from [0, high).
std::vector<std::int64_t> drawn(std::int64_t high, std::int64_t count, random::Generator* generator) {
  random::RandomOptions options;
  options.dtype = Dtype::int64;
  options.device = Device();  // the host reads them
  options.generator = generator;
  return random::randint(high, {count}, options).to_vector<std::int64_t>();
}

/// Returns x as a batch.
Array images_of(const Array& x, const char* what) {
  if (x.ndim() != 3 && x.ndim() != 4)
    fail<ShapeError>("{}: x must be an image (c, h, w) or a batch of them (n, c, h, w), not {}", what, x.shape());
  return x.ndim() == 3 ? expand_dims(x, 0) : x;
}

/// Restores the axes of x.
Array as_given(const Array& images, const Array& x) { return x.ndim() == 3 ? images[0] : images; }

}  // namespace

Array random_crop(const Array& x, std::pair<std::int64_t, std::int64_t> size, const RandomCropOptions& options) {
  const auto [height, width] = size;
  const Array images = images_of(x, "random_crop");
  const std::int64_t n = images.shape(0), p = options.pad;
  const std::int64_t rows = images.shape(2) + 2 * p - height, columns = images.shape(3) + 2 * p - width;
  if (height < 0 || width < 0 || p < 0 || rows < 0 || columns < 0)
    fail<ShapeError>("random_crop: a window of ({}, {}) does not fit into images of {} with {} zeros around them",
                     height, width, x.shape(), p);
  const Array padded = p == 0 ? images : pad(images, {{0, 0}, {0, 0}, {p, p}, {p, p}});
  const std::vector<std::int64_t> tops = drawn(rows + 1, n, options.generator),
                                  lefts = drawn(columns + 1, n, options.generator);
  const Array result = Array::empty({n, images.shape(1), height, width}, x.dtype(), x.device());
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t top = tops[static_cast<std::size_t>(i)], left = lefts[static_cast<std::size_t>(i)];
    copyto(result[i], padded(i, slice(), slice(top, top + height), slice(left, left + width)));
  }
  return as_given(result, x);
}

Array random_flip(const Array& x, const RandomFlipOptions& options) {
  const Array images = images_of(x, "random_flip");
  const std::int64_t n = images.shape(0);
  const auto chances = [&](bool wanted) {
    return wanted ? drawn(2, n, options.generator) : std::vector<std::int64_t>(static_cast<std::size_t>(n), 0);
  };
  const std::vector<std::int64_t> mirrored = chances(options.horizontal), turned = chances(options.vertical);
  const Array result = Array::empty(images.shape(), x.dtype(), x.device());
  for (std::int64_t i = 0; i < n; ++i) {
    Array image = images[i];
    if (mirrored[static_cast<std::size_t>(i)] != 0) image = flip(image, 2);
    if (turned[static_cast<std::size_t>(i)] != 0) image = flip(image, 1);
    copyto(result[i], image);
  }
  return as_given(result, x);
}

}  // namespace catenary::datasets
