// Labels that are no class: every function that takes labels says which one, where, and what they may be.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/core/format.h"
#include "catenary/functions/functions.h"
#include "tests/autograd/helpers.h"
#include "tests/settle.h"

namespace catenary {
namespace {

namespace F = functions;
using test::values;

/// A function of four labels.
struct Taker {
  std::string function, name;                ///< as messages call it and its labels
  std::int64_t classes;                      ///< labels are in [0, classes),
  std::optional<std::int64_t> ignored;       ///< or this
  std::function<void(const Array& t)> call;  ///< t of shape (4,)
};

std::vector<Taker> takers() {
  const Array x = catenary::sin(arange(12, Dtype::float32)).reshape({4, 3}), row = x(slice(), 0);
  const Array cost = ones({3, 3}, Dtype::float32), W = ones({3, 3}, Dtype::float32);
  const F::Sampler zero_sampler = [](const Shape& shape) { return zeros(shape, Dtype::int32); };
  const auto pixels = [](const Array& t) { return t.reshape({1, 2, 2}); };
  return {
      {"softmax_cross_entropy", "t", 3, -1, [x](const Array& t) { F::softmax_cross_entropy(x, t); }},
      {"softmax_cross_entropy", "t", 3, 200,
       [x](const Array& t) {
         F::softmax_cross_entropy(x, t, {.ignore_label = 200, .class_weight = ones({3}, Dtype::float32)});
       }},
      {"sigmoid_cross_entropy", "t", 2, -1, [row](const Array& t) { F::sigmoid_cross_entropy(row, t); }},
      {"hinge", "t", 3, {}, [x](const Array& t) { F::hinge(x, t); }},
      {"contrastive", "y", 2, {}, [x](const Array& t) { F::contrastive(x, x + 1, t); }},
      {"discriminative_margin_based_clustering_loss", "labels", 3, -1,
       [pixels](const Array& t) {
         F::discriminative_margin_based_clustering_loss(ones({1, 2, 2, 2}, Dtype::float32), pixels(t), 0.5, 1.5, 2);
       }},
      {"negative_sampling", "t", 3, -1,
       [x, W, zero_sampler](const Array& t) { F::negative_sampling(x, t, W, zero_sampler, 2); }},
      {"negative_sampling",
       "samples[:, 1:]",
       3,
       {},
       [x, W](const Array& t) {
         F::negative_sampling(
             x, zeros({4}, Dtype::int32), W,
             [&](const Shape&) {
               return catenary::concatenate({full({4, 1}, 9, t.dtype()), t.reshape({4, 1})}, 1);
             },
             1);
       }},
      {"black_out",
       "t",
       3,
       {},
       [x, W](const Array& t) {
         F::black_out(x, t, W, zeros({4, 2}, Dtype::int32));
       }},
      {"black_out",
       "samples",
       3,
       {},
       [x, W](const Array& t) {
         F::black_out(x, zeros({4}, Dtype::int32), W, t.reshape({4, 1}));
       }},
      {"crf1d", "ys[0]", 3, {}, [x, cost](const Array& t) { F::crf1d(cost, {x}, {t}); }},
      {"crf1d",
       "ys[1]",
       3,
       {},
       [x, cost](const Array& t) {
         F::crf1d(cost, {x, x}, {zeros({4}, Dtype::int32), t});
       }},
      {"select_item", "t", 3, {}, [x](const Array& t) { F::select_item(x, t); }},
      {"embed_id", "x", 3, {}, [W](const Array& t) { F::embed_id(t, W); }},
      {"embed_id", "x", 3, -1, [W](const Array& t) { F::embed_id(t, W, -1); }},
      {"accuracy", "t", 3, {}, [x](const Array& t) { F::accuracy(x, t); }},
      {"accuracy", "t", 3, -1, [x](const Array& t) { F::accuracy(x, t, -1); }},
      {"binary_accuracy", "t", 2, -1, [row](const Array& t) { F::binary_accuracy(row, t); }},
      {"classification_summary", "t", 3, -1, [x](const Array& t) { F::classification_summary(x, t); }},
      {"classification_summary", "t", 5, -1, [x](const Array& t) { F::classification_summary(x, t, 5); }},
      {"classification_summary", "t", 3, 200, [x](const Array& t) { F::precision(x, t, {}, 200); }},
      {"classification_summary", "t", 3, -1, [x](const Array& t) { F::recall(x, t); }},
      {"classification_summary", "t", 3, -1, [x](const Array& t) { F::fbeta_score(x, t); }},
      {"classification_summary", "t", 2, -1, [x](const Array& t) { F::f1_score(x, t, 2); }},
  };
}

/// Without what is added where a device says it late.
std::string error_of(const std::function<void()>& f) {
  std::string message = "no error";
  try {
    tests::settle(f);
  } catch (const IndexError& e) {
    message = e.what();
  } catch (const ValueError& e) {
    message = e.what();
  }
  return message.substr(0, message.find(" [it shows late"));
}

TEST(Labels, AreCheckedAndNamed) {
  for (const Taker& taker : takers()) {
    SCOPED_TRACE(fmt::format("{} of {} in [0, {})", taker.name, taker.function, taker.classes));
    const std::string range = fmt::format("{}: {} must be in [0, {}){}", taker.function, taker.name, taker.classes,
                                          taker.ignored ? fmt::format(" or {}, which is ignored", *taker.ignored) : "");
    const bool column = taker.name.starts_with("samples");
    // small dtypes of one function: each is some kernels more
    const bool all_dtypes = taker.function == "softmax_cross_entropy" && taker.ignored == -1;
    for (const Dtype dtype : {Dtype::int32, Dtype::int8, Dtype::uint8}) {
      if (dtype != Dtype::int32 && !all_dtypes) continue;
      const auto call = [&](std::int64_t third) {
        return error_of([&] {
          const Array t = zeros({4}, Dtype::int64);
          t.set(third, 2);
          taker.call(t.astype(dtype));
        });
      };
      EXPECT_EQ(call(taker.classes - 1), "no error");
      if (taker.ignored && dtype == Dtype::int32) {
        EXPECT_EQ(call(*taker.ignored), "no error");
      }
      std::vector<std::int64_t> wrong = {taker.classes, 100};
      if (dtype != Dtype::uint8) wrong.insert(wrong.end(), {taker.ignored == -1 ? -2 : -1, -3});
      if (dtype == Dtype::uint8) wrong.push_back(255);  // not -1
      for (const std::int64_t value : wrong) {
        const std::string place = taker.name == "labels" ? "0, 1, 0"
                                  : column               ? "2, 0"
                                                         : "2";  // of pixels, of a column, of a row
        EXPECT_EQ(call(value), fmt::format("{}, but {}[{}] is {}", range, taker.name, place, value));
      }
    }
  }
}

TEST(Labels, NothingToCheck) {
  const Array none = zeros({0}, Dtype::int32), x = zeros({0, 3}, Dtype::float32);
  EXPECT_EQ(F::softmax_cross_entropy(x, none, {.reduce = F::Reduce::no}).shape(), (Shape{0}));
  EXPECT_EQ(F::sigmoid_cross_entropy(zeros({0}, Dtype::float32), none).item<float>(), 0);
  EXPECT_EQ(F::embed_id(none, zeros({3, 2}, Dtype::float32)).shape(), (Shape{0, 2}));
  EXPECT_EQ(F::classification_summary(x, none).support.shape(), (Shape{0}));
}

TEST(Labels, OfEveryPixel) {
  const Array x = zeros({2, 3, 2, 2}, Dtype::float32), t = zeros({2, 2, 2}, Dtype::int32);
  t.set(-5, 1, 0, 1);
  EXPECT_EQ(error_of([&] { F::softmax_cross_entropy(x, t); }),
            "softmax_cross_entropy: t must be in [0, 3) or -1, which is ignored, but t[1, 0, 1] is -5");
  EXPECT_EQ(error_of([&] {
              F::accuracy(x, t.transpose({2, 1, 0}));
            }),
            "accuracy: t must be in [0, 3), but t[1, 0, 1] is -5");
}

TEST(Labels, ThatAreIgnoredLeaveNoGradient) {
  const Variable W(ones({3, 2}, Dtype::float32));
  F::sum(F::embed_id(array<int>({1, -1, 1}), W, -1)).backward();
  EXPECT_EQ(values(W.grad()), (std::vector<double>{0, 0, 2, 2, 0, 0}));
  const Variable words(ones({3, 2}, Dtype::float32));
  F::negative_sampling(
      ones({2, 2}, Dtype::float32), array<int>({-1, -1}), words,
      [](const Shape& shape) { return zeros(shape, Dtype::int32); }, 1)
      .backward();
  EXPECT_EQ(values(words.grad()), std::vector<double>(6, 0.0));
}

}  // namespace
}  // namespace catenary
