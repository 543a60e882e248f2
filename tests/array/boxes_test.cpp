#include "catenary/array/boxes.h"

#include <random>

#include "catenary/array/sorting.h"
#include "catenary/core/error.h"
#include "tests/array/expect.h"

namespace ct = catenary;
using namespace testing_arrays;

namespace {

using Box = std::array<float, 4>;

float iou(const Box& a, const Box& b) {
  const float height = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float width = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  const float common = height > 0 && width > 0 ? height * width : 0;
  return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common);
}

/// Reference: compares each box in order with the boxes kept so far.
std::vector<std::int64_t> one_by_one(const std::vector<Box>& boxes, const std::vector<std::int64_t>& order,
                                     float threshold) {
  std::vector<std::int64_t> kept;
  for (const std::int64_t i : order) {
    bool stays = true;
    for (const std::int64_t j : kept)
      stays = stays && !(iou(boxes[static_cast<std::size_t>(j)], boxes[static_cast<std::size_t>(i)]) >= threshold);
    if (stays) kept.push_back(i);
  }
  return kept;
}

TEST(Boxes, Iou) {
  const Array a = make<double>({0, 0, 4, 4, 0, 0, 8, 8}, {2, 4});
  const Array b = make<double>({3, 5, 7, 8, 3, 3, 7, 5, 1, 1, 1, 4}, {3, 4});
  expect_array(ct::box_iou(a, b), {0, 1.0 / 23, 0, 12.0 / 64, 8.0 / 64, 0}, {2, 3}, Dtype::float64, 1e-12);
  expect_array(ct::box_iou(a.astype(Dtype::int32), a.astype(Dtype::int32)), {1, 0.25, 0.25, 1}, {2, 2}, Dtype::float64);
  EXPECT_EQ(ct::box_iou(a, Array::empty({0, 4}, Dtype::float32)).shape(), Shape({2, 0}));
  EXPECT_THROW(ct::box_iou(a, make<double>({1, 2}, {1, 2})), ct::ShapeError);
}

TEST(Boxes, SuppressionIsThatOfAPlainLoop) {
  std::mt19937_64 generator(3);
  std::uniform_real_distribution<float> place(0, 100), extent(1, 30);
  for (const std::int64_t n : {1, 7, 300, 5000}) {
    std::vector<Box> boxes(static_cast<std::size_t>(n));
    std::vector<float> flat, score(boxes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const float top = place(generator), left = place(generator);
      boxes[i] = {top, left, top + extent(generator), left + extent(generator)};
      flat.insert(flat.end(), boxes[i].begin(), boxes[i].end());
      score[i] = static_cast<float>(generator() % 50);  // with many equal scores
    }
    std::vector<std::int64_t> order(boxes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    const Array array = make<float>(flat, {n, 4});
    for (const float threshold : {0.05f, 0.5f})
      EXPECT_EQ(ct::non_maximum_suppression(array, threshold).to_vector<std::int64_t>(),
                one_by_one(boxes, order, threshold));
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return score[static_cast<std::size_t>(a)] > score[static_cast<std::size_t>(b)];
    });
    std::vector<std::int64_t> expected = one_by_one(boxes, order, 0.3f);
    const Array scores = make<float>(score);
    EXPECT_EQ(ct::non_maximum_suppression(array, 0.3f, scores).to_vector<std::int64_t>(), expected);
    expected.resize(std::min<std::size_t>(expected.size(), 5));
    EXPECT_EQ(ct::non_maximum_suppression(array, 0.3f, scores, 5).to_vector<std::int64_t>(), expected);
  }
}

TEST(Boxes, SuppressionOfFewOrWrongOnes) {
  const Array none = Array::empty({0, 4}, Dtype::float32);
  expect_array(ct::non_maximum_suppression(none, 0.5), {}, {0}, Dtype::int64);
  expect_array(ct::non_maximum_suppression(none, 0.5, make<float>({})), {}, {0}, Dtype::int64);
  const Array two = make<float>({0, 0, 1, 1, 0, 0, 1, 1}, {2, 4});
  expect_array(ct::non_maximum_suppression(two, 0.5, {}, 0), {}, {0}, Dtype::int64);
  expect_array(ct::non_maximum_suppression(two, 0.5, make<float>({1, 2})), {1}, {1}, Dtype::int64);
  expect_array(ct::non_maximum_suppression(two, 1.5), {0, 1}, {2}, Dtype::int64);
  // an overlap equal to the threshold, with a box of an earlier block
  std::vector<float> many;
  for (int i = 0; i < 1100; ++i) {
    const auto left = static_cast<float>(4 * (i % 1050));  // the last fifty coincide with the first
    many.insert(many.end(), {0, left, 1, left + (i < 1050 ? 2.0f : 1.0f)});
  }
  EXPECT_EQ(ct::non_maximum_suppression(make<float>(many, {1100, 4}), 0.5).size(), 1050);
  EXPECT_EQ(ct::non_maximum_suppression(make<float>(many, {1100, 4}), 0.5, {}, 1040).size(), 1040);
  EXPECT_THROW(ct::non_maximum_suppression(two, 0.5, make<float>({1})), ct::ShapeError);
  EXPECT_THROW(ct::non_maximum_suppression(two.reshape({4, 2}), 0.5), ct::ShapeError);
  EXPECT_THROW(ct::non_maximum_suppression(two, 0.5, {}, -1), ct::ValueError);
}

}  // namespace
