#pragma once
// Helpers for tests of decompositions. Identities are checked in complex128 on the CPU, for any dtype and device.

#include <algorithm>
#include <limits>
#include <random>

#include "catenary/array/creation.h"
#include "catenary/array/indexing.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/device/libraries.h"
#include "tests/array/complex_numbers.h"

namespace testing_arrays {

/// Returns the name of the library that computes linear algebra on the processor, or "own".
inline std::string first_solver() { return catenary::libraries(catenary::Device(), "solver").at(0).name; }

inline Array normal(const Shape& shape, Dtype dtype = Dtype::float64) {
  static std::mt19937_64 generator(5);
  std::normal_distribution<double> draw;
  std::vector<C> values(static_cast<std::size_t>(shape.product()));
  for (C& x : values) {
    const double re = draw(generator);
    x = C(re, draw(generator));
  }
  return from(values, shape, dtype);
}

/// Returns the largest absolute value, or infinity if there is a NaN.
inline double largest(const Array& x) {
  double most = 0;
  for (const C& v : numbers(x)) most = std::isnan(std::abs(v)) ? kInf : std::max(most, std::abs(v));
  return most;
}
inline Array adjoint(const Array& x) { return catenary::conjugate(catenary::matrix_transpose(x)); }
inline double epsilon(Dtype dtype) { return catenary::part_dtype(dtype) == Dtype::float32 ? 0x1p-23 : 0x1p-52; }
/// Computes in complex128 on the CPU.
inline Array product(const Array& a, const Array& b) { return catenary::matmul(wide(a), wide(b)); }
/// Returns the largest entry of xᴴx - 1.
inline double from_orthonormal(const Array& x) {
  const Array gram = product(adjoint(wide(x)), x);
  catenary::DeviceScope host{catenary::Device()};
  return largest(gram - catenary::eye(x.shape(-1)));
}

/// Returns matrices with s on the diagonal and zeros elsewhere.
inline Array of_diagonal(const Array& s, std::int64_t rows, std::int64_t columns) {
  const Array identity = catenary::eye(rows, columns).to_device(catenary::Device());
  const std::int64_t k = std::min(rows, columns);
  if (k == 0) return identity * 0;
  Shape shape = s.shape();
  if (rows <= columns) {
    shape.push_back(1);
  } else {
    shape.insert(s.ndim() - 1, 1);
  }
  return wide(s).reshape(shape) * identity;
}

/// Checks a = u s vᴴ and the properties of u, s and v.
inline void check_svd(const Array& a) {
  SCOPED_TRACE(a.shape().str() + catenary::dtype_name(a.dtype()));
  const std::int64_t m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
  // LAPACK has another algorithm for values alone, so that they differ in their last bits.
  const double few = 30 * epsilon(a.dtype()), between_algorithms = first_solver() == "own" ? 0 : few;
  for (const bool full : {false, true}) {
    const auto [u, s, vh] = catenary::linalg::svd(a, full);
    EXPECT_EQ(u.shape(-2), m);
    EXPECT_EQ(u.shape(-1), full ? m : k);
    EXPECT_EQ(vh.shape(-2), full ? n : k);
    EXPECT_EQ(vh.shape(-1), n);
    EXPECT_EQ(s.shape(-1), k);
    for (const Array& part : {u, s, vh}) {
      EXPECT_EQ(part.dtype(), part.is(s) ? catenary::part_dtype(a.dtype()) : a.dtype());
      EXPECT_EQ(part.device(), a.device());
      EXPECT_TRUE(part.is_contiguous());
    }
    EXPECT_LT(from_orthonormal(u), few);
    EXPECT_LT(from_orthonormal(adjoint(vh)), few);
    const std::vector<double> values = s.to_vector<double>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_GE(values[i], 0);
      if (i % static_cast<std::size_t>(k) > 0) {
        EXPECT_LE(values[i], values[i - 1]);
      }
    }
    const Array back = product(product(u, of_diagonal(s, u.shape(-1), vh.shape(-2))), vh);
    EXPECT_LE(largest(back - wide(a)), few * largest(s));
    expect_array(catenary::linalg::svdvals(a), values, s.shape(), s.dtype(), between_algorithms);
  }
}

}  // namespace testing_arrays
