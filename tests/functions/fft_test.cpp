#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/functions/functions.h"
#include "tests/autograd/helpers.h"
#include "tests/functions/helpers.h"
#include "tests/gradients.h"

namespace catenary {
namespace {

namespace F = functions;
using namespace gradient_check;
using V = std::vector<Variable>;
using test::numbers;

TEST(Fft, ValuesAndWayBack) {
  const auto [re, im] = F::fft({array<double>({1, 2, 0, -1}), array<double>({0, 1, 0, 0})});
  EXPECT_EQ(test::values(re.array()), (std::vector<double>{2, 2, 0, 0}));
  EXPECT_EQ(test::values(im.array()), (std::vector<double>{1, -3, -1, 3}));
  const auto [x, zero] = F::ifft({re, im});
  EXPECT_EQ(test::values(x.array()), (std::vector<double>{1, 2, 0, -1}));
  EXPECT_EQ(test::values(zero.array()), (std::vector<double>{0, 1, 0, 0}));
}

TEST(Fft, Gradients) {
  for (const Shape& shape : {Shape{7}, {2, 3, 6}, {1, 53}}) {
    const Array re = numbers(shape, 1), im = numbers(shape, 2);
    tests::check_gradients(
        [](const V& v) {
          const auto y = F::fft({v[0], v[1]});
          return V{y.first * y.first, y.second * y.first};
        },
        {re, im});
    tests::check_gradients(
        [](const V& v) {
          const auto y = F::ifft({v[0], v[1]});
          return V{y.first, y.second * y.second};
        },
        {re, im});
  }
  // with one part only
  const Variable re(numbers({5}, 1)), im(numbers({5}, 2));
  F::sum(F::fft({re, im}).second).backward();
  assert_allclose(re.grad(), zeros({5}), 1e-12);
  assert_allclose(im.grad(), array<double>({5, 0, 0, 0, 0}), 1e-12);
}

TEST(Fft, DtypesAndErrors) {
  const Array x = numbers({2, 8}, 1);
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32}) {
    const auto y = F::fft({x.astype(dtype), x.astype(dtype)});
    EXPECT_EQ(y.first.dtype(), dtype);
    assert_allclose(y.first.array().astype(Dtype::float32), F::fft({x, x}).first.array().astype(Dtype::float32), 0.05,
                    0.05);
  }
  EXPECT_EQ(F::fft({zeros({0, 4}), zeros({0, 4})}).second.shape(), (Shape{0, 4}));
  EXPECT_THROW(F::fft({zeros({2, 0}), zeros({2, 0})}), ShapeError);
  EXPECT_THROW(F::fft({zeros({}), zeros({})}), ShapeError);
  EXPECT_THROW(F::fft({x, x(0)}), ShapeError);
  EXPECT_THROW(F::ifft({x, x.astype(Dtype::float32)}), DtypeError);
  EXPECT_THROW(F::fft({x.astype(Dtype::int32), x.astype(Dtype::int32)}), DtypeError);
}

}  // namespace
}  // namespace catenary
