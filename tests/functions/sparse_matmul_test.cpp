#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/linalg.h"
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

/// Numbers, a third of them 0.
Array sparse_numbers(const Shape& shape, double seed) {
  const Array x = test::numbers(shape, seed);
  return catenary::where(x > 0.5, 0.0, x);
}

TEST(SparseMatmul, IsTheProductOfMatrices) {
  for (const std::int64_t batch : {0, 1, 4})
    for (const bool transa : {false, true})
      for (const bool transb : {false, true}) {
        const auto matrix = [&](std::int64_t rows, std::int64_t columns, bool transposed, double seed) {
          Shape shape = transposed ? Shape{columns, rows} : Shape{rows, columns};
          if (batch > 0) shape.insert(0, batch);
          return sparse_numbers(shape, seed);
        };
        const Array a = matrix(3, 4, transa, 1), b = matrix(4, 2, transb, 2);
        const Array expected = F::matmul(a, b, transa, transb).array();
        assert_allclose(F::sparse_matmul(F::to_coo(a), b, transa, transb).array(), expected, 1e-12, 1e-12);
        assert_allclose(F::sparse_matmul(a, F::to_coo(b, 10), transa, transb).array(), expected, 1e-12, 1e-12);
        const F::CooMatrix coo = F::to_coo(a);
        tests::check_gradients(
            [&](const V& v) {
              return V{F::sparse_matmul(F::CooMatrix(v[0], coo.row, coo.col, coo.shape), v[1], transa, transb)};
            },
            {coo.data.array(), b});
      }
}

TEST(CooMatrix, HoldsNonzeroElements) {
  const Array x = array<double>({0, 2, 0, 0, 0, 3, 4, 0}, {2, 2, 2});
  const F::CooMatrix coo = F::to_coo(x, {}, true);
  EXPECT_EQ(coo.data.shape(), (Shape{2, 2}));
  EXPECT_EQ(test::values(coo.row), (std::vector<double>{0, -1, 0, 1}));
  EXPECT_EQ(test::values(coo.col), (std::vector<double>{1, -1, 1, 0}));
  EXPECT_EQ(test::values(coo.to_dense().array()), test::values(x));
  // elements with equal indices are added
  const Array row = array<std::int32_t>({0, 0, 1, 0}), col = array<std::int32_t>({0, 1, 2, 0});
  const F::CooMatrix twice(array<double>({3, 0, 4, -5}), row, col, {2, 3});
  EXPECT_EQ(test::values(twice.to_dense().array()), (std::vector<double>{-2, 0, 0, 0, 0, 4}));
  EXPECT_EQ(test::values(F::sparse_matmul(twice, ones({3, 1})).array()), (std::vector<double>{-2, 4}));
}

TEST(SparseMatmul, DtypesAndErrors) {
  const Array a = sparse_numbers({3, 4}, 1), b = sparse_numbers({4, 2}, 2);
  const Variable y = F::sparse_matmul(F::to_coo(a.astype(Dtype::float16)), b.astype(Dtype::float16));
  EXPECT_EQ(y.dtype(), Dtype::float16);
  assert_allclose(y.array().astype(Dtype::float64), catenary::matmul(a, b), 1e-2, 1e-2);
  EXPECT_EQ(F::sparse_matmul(F::to_coo(a.astype(Dtype::float32)), b).dtype(), Dtype::float64);
  EXPECT_EQ(F::sparse_matmul(F::to_coo(zeros({3, 4})), b).shape(), (Shape{3, 2}));
  EXPECT_THROW(F::sparse_matmul(F::to_coo(a), sparse_numbers({3, 2}, 2)), ShapeError);
  EXPECT_THROW(F::sparse_matmul(F::to_coo(a), sparse_numbers({1, 4, 2}, 2)), ShapeError);
  EXPECT_THROW(F::to_coo(zeros({3})), ShapeError);
  EXPECT_THROW(F::to_coo(zeros({3, 3}).astype(Dtype::int32)), DtypeError);
  EXPECT_THROW(F::CooMatrix(ones({2}), zeros({2}), zeros({2}), {2, 2}), DtypeError);
}

}  // namespace
}  // namespace catenary
