#pragma once
// Matrix products on the CPU, on raw pointers: the array layer has checked shapes and devices before it comes here.

#include <cstdint>
#include <string>
#include <vector>

#include "catenary/core/dtype.h"
#include "catenary/core/export.h"

namespace catenary {
struct LibraryInfo;
}

namespace catenary::cpu {

/// A or B of a product: element (i, j) of product p lies at data + p * batch_stride + i * row_stride + j *
/// column_stride. Strides are in elements and may be 0 or negative.
struct GemmOperand {
  const void* data;
  Dtype dtype;
  std::int64_t row_stride, column_stride, batch_stride = 0;
};
/// C of a product, likewise.
struct GemmResult {
  void* data;
  Dtype dtype;
  std::int64_t row_stride, column_stride, batch_stride = 0;
};

/// C[i, j] = sum over p of A[i, p] B[p, j] for C of m × n and a depth of k, `batch` times.
struct Gemm {
  std::int64_t m, n, k;
  GemmOperand a, b;
  GemmResult c;
  const void* bias_n = nullptr;  ///< n elements of C's dtype, side by side, added to every row of C
  const void* bias_m = nullptr;  ///< m elements, added to every column of C
  bool accumulate = false;       ///< C += instead of C =
  std::int64_t batch = 1;        ///< the biases are the same for all
};

/// Computes it, as NumPy's matmul: all operands of one dtype, or A and B int8 or uint8 and C int32, or A and B bfloat16
/// and C float32. Integers wrap
/// around, bool is any(a and b), 16-bit floats are summed in float32 and rounded once. C must not overlap A or B. k = 0
/// gives zeros. The bits do not depend on the number of threads (unless oneDNN computes). Throws ValueError for
/// negative sizes and DtypeError for other dtypes.
CT_API void gemm(const Gemm& product);

/// Who multiplies bfloat16: `dots` is AVX512_BF16, `tiles` is AMX, which the system is asked for; both add pairs of
/// products in float32 and take subnormal numbers for 0. `widened` is float32's kernels, as for float16.
enum class BfloatUnit { widened, dots, tiles };
/// Can this process use it? At a simd_level below v4 products are widened all the same.
CT_API bool has_bfloat_unit(BfloatUnit unit);
/// The one in use: the best that there is, or the one that CATENARY_BFLOAT16=widened|dots|tiles names. Throws
/// DeviceError for one that is not there.
CT_API BfloatUnit bfloat_unit();
/// Changes it for the whole process, for tests and comparisons; throws DeviceError for one that is not there.
CT_API void set_bfloat_unit(BfloatUnit unit);

/// Who multiplies float32: `vectors` are the processor's own instructions for it; `tiles` is AMX, which takes each
/// number as the sum of three bfloat16 and is as exact as vectors are, but that a result of about 2⁻¹⁰⁰ and less has
/// fewer bits, and a subnormal one is 0. 32 rows or columns of which one holds what bfloat16 would spoil (NaN,
/// infinite, above 2⁶², below 2⁻¹⁰⁰ or nothing as large as 2⁻⁵⁰) are multiplied by vectors all the same: the bits of a
/// result depend on its neighbours.
enum class FloatUnit { vectors, tiles };
/// The one in use: vectors, or the one that CATENARY_FLOAT32=vectors|tiles names. Throws DeviceError for one that is
/// not there. A processor that is not kept from its full rate multiplies large matrices up to 1.8 times as fast in
/// tiles; one that is, as virtual ones often are, no faster (docs/measurements/history.md).
CT_API FloatUnit float_unit();
/// Changes it for the whole process, for tests and comparisons; throws DeviceError for one that is not there.
CT_API void set_float_unit(FloatUnit unit);

/// Are this dtype's products and convolutions AMX's, where they are large enough?
bool multiplies_in_tiles(Dtype dtype);
/// A few words for `catenary info`: "float32 by vectors, bfloat16 by AMX", or by what else and why.
CT_API std::string matrix_units_info();
/// Why products of bfloat16 are widened here, where they are.
std::string why_widened();
/// Why products of float32 are not AMX's here, where they are not.
std::string why_vectors();

/// Who computes float32 products: `automatic` is our own kernels, which are about as fast or faster and whose bits do
/// not depend on the number of threads; `onednn` (also by CATENARY_ONEDNN=1) takes oneDNN for all that it can do, which
/// is operands with one stride of 1, and is an error where it is not there.
enum class GemmProvider { automatic, own, onednn };
/// For the whole process. Throws DeviceError for `onednn` where it could not be loaded.
CT_API void set_gemm_provider(GemmProvider provider);
/// Is oneDNN there? It is not with CATENARY_ONEDNN=0 or where its plugin or library cannot be loaded.
CT_API bool onednn_available();
/// Who computes products, as libraries() tells it.
std::vector<LibraryInfo> gemm_libraries();
/// One line for `catenary info`: oneDNN's version and the plugin's path, or why it is not loaded.
CT_API std::string gemm_provider_info();

}  // namespace catenary::cpu
