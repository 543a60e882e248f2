#include "catenary/backends/gpu/blas/gemm.h"

#include <algorithm>
#include <limits>

#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

/// Returns a view's matrices with axis `row` running down their columns.
std::optional<Gemm::Matrix> matrix(const View& v, int row, int column) {
  const std::int64_t rows = v.shape[row], columns = v.shape[column];
  Gemm::Matrix x{v.handle, v.offset, 0, v.shape[0] == 1 ? 0 : v.strides[0], false};
  if (x.stride < 0) return std::nullopt;
  // the stride of an axis of size 1 does not matter
  if ((rows == 1 || v.strides[row] == 1) && (columns == 1 || v.strides[column] >= rows)) {
    x.ld = columns == 1 ? rows : v.strides[column];
  } else if ((columns == 1 || v.strides[column] == 1) && (rows == 1 || v.strides[row] >= columns)) {
    x.ld = rows == 1 ? columns : v.strides[row];
    x.transposed = true;
  }
  if (x.ld < 1 || x.ld > kMost) return std::nullopt;
  return x;
}

}  // namespace

std::optional<Gemm> as_gemm(const primitives::Matmul& product) {
  const View &a = product.a, &b = product.b, &c = product.c;
  if (c.size() == 0 || a.shape[2] == 0) return std::nullopt;
  const std::int64_t most = std::max({c.shape[0], c.shape[1], c.shape[2], a.shape[2]});
  if (most > kMost || a.dtype != c.dtype || b.dtype != c.dtype) return std::nullopt;
  Gemm gemm;
  gemm.dtype = c.dtype;
  gemm.batch = c.shape[0];
  gemm.k = a.shape[2];
  gemm.accumulate = product.accumulate;
  gemm.bias = product.bias;
  // c stored by rows is its transpose stored by columns: c' = b' a'
  const auto by_rows = matrix(c, 2, 1);
  const bool swap = by_rows && !by_rows->transposed;
  const auto stored = swap ? by_rows : matrix(c, 1, 2);
  const auto left = swap ? matrix(b, 2, 1) : matrix(a, 1, 2), right = swap ? matrix(a, 2, 1) : matrix(b, 1, 2);
  if (!stored || stored->transposed || !left || !right) return std::nullopt;
  gemm.a = *left;
  gemm.b = *right;
  gemm.c = *stored;
  gemm.m = c.shape[swap ? 2 : 1];
  gemm.n = c.shape[swap ? 1 : 2];
  gemm.bias_along_m = swap;
  return gemm;
}

bool is_aligned(const Gemm& g) {
  const auto item = static_cast<std::int64_t>(itemsize(g.dtype));
  const auto fits = [&](const Gemm::Matrix& x, std::int64_t columns) {
    return reinterpret_cast<std::uintptr_t>(g.address(x)) % 16 == 0 && (columns == 1 || x.ld * item % 16 == 0) &&
           (g.batch == 1 || x.stride * item % 16 == 0);
  };
  return fits(g.a, g.a.transposed ? g.m : g.k) && fits(g.b, g.b.transposed ? g.k : g.n) && fits(g.c, g.n);
}

std::string describe(const Gemm& gemm) {
  return fmt::format("a product of {} [{}, {}, {}] x {}", gemm.dtype, gemm.m, gemm.n, gemm.k, gemm.batch);
}

}  // namespace catenary::gpu
