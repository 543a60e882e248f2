#include "catenary/datasets/transforms.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/random.h"
#include "catenary/core/error.h"

namespace ct = catenary;
namespace D = ct::datasets;

namespace {

std::vector<float> values(const ct::Array& a) { return a.to_vector<float>(); }

TEST(Transforms, CropsEveryWindow) {
  ct::random::Generator generator(3);
  const ct::Array image = ct::arange(2 * 4 * 5).astype(ct::Dtype::float32).reshape({2, 4, 5});
  std::set<std::vector<float>> windows, found;
  for (int top = 0; top < 2; ++top)
    for (int left = 0; left < 3; ++left)
      windows.insert(values(image(ct::slice(), ct::slice(top, top + 3), ct::slice(left, left + 3))));
  for (int i = 0; i < 200; ++i) {
    const ct::Array window = D::random_crop(image, {3, 3}, {.generator = &generator});
    EXPECT_EQ(window.shape(), (ct::Shape{2, 3, 3}));
    found.insert(values(window));
  }
  EXPECT_EQ(found, windows);
}

TEST(Transforms, EachImageOfABatchHasItsOwnPlace) {
  ct::random::Generator generator(5);
  const ct::Array images = ct::ones({64, 3, 4, 4}, ct::Dtype::float32);
  const ct::Array cut = D::random_crop(images, {4, 4}, {.pad = 2, .generator = &generator});
  EXPECT_EQ(cut.shape(), images.shape());
  std::set<std::vector<float>> places;
  for (int i = 0; i < 64; ++i) places.insert(values(cut[i]));
  EXPECT_GT(places.size(), 10u);
  EXPECT_GE(cut.sum({1, 2, 3}).min().item<float>(), 3 * 4);  // a quarter is never lost
}

TEST(Transforms, FlipsHalfOfTheImages) {
  ct::random::Generator generator(7);
  const ct::Array images = ct::arange(200 * 2 * 3).astype(ct::Dtype::float32).reshape({200, 1, 2, 3});
  const ct::Array flipped = D::random_flip(images, {.vertical = true, .generator = &generator});
  int counts[4] = {};
  for (int i = 0; i < 200; ++i) {
    const ct::Array x = images[i];
    const ct::Array forms[] = {x, ct::flip(x, 2), ct::flip(x, 1), ct::flip(x, {1, 2})};
    for (int k = 0; k < 4; ++k) counts[k] += values(flipped[i]) == values(forms[k]);
  }
  for (const int count : counts) EXPECT_NEAR(count, 50, 20);
  EXPECT_EQ(counts[0] + counts[1] + counts[2] + counts[3], 200);
  EXPECT_EQ(values(D::random_flip(images, {.horizontal = false})), values(images));
  EXPECT_EQ(D::random_flip(images[0]).shape(), (ct::Shape{1, 2, 3}));
}

TEST(Transforms, RefuseWhatIsNoImage) {
  const ct::Array image = ct::ones({3, 4, 4});
  EXPECT_THROW(D::random_crop(image[0], {2, 2}), ct::ShapeError);
  EXPECT_THROW(D::random_crop(image, {5, 4}), ct::ShapeError);
  const auto refusal = [&](std::int64_t height, std::int64_t width, std::int64_t pad) {
    try {
      D::random_crop(image, {height, width}, {.pad = pad});
    } catch (const ct::ShapeError& error) {
      return std::string(error.what()).substr(0, 44);
    }
    return std::string("nothing was refused");
  };
  EXPECT_EQ(refusal(-1, 2, 0), "random_crop: a window of (-1, 2) does not fi");
  EXPECT_EQ(refusal(2, -1, 0), "random_crop: a window of (2, -1) does not fi");
  EXPECT_EQ(refusal(1, 1, -1), "random_crop: a window of (1, 1) does not fit");
  EXPECT_THROW(D::random_flip(image[0]), ct::ShapeError);
}

}  // namespace
