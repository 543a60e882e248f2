#pragma once
// Matrix products on the CPU, on raw pointers. The array layer has checked shapes and devices before.

#include <cstdint>
#include <string>
#include <vector>

#include "catenary/core/dtype.h"
#include "catenary/core/export.h"

namespace catenary {
struct LibraryInfo;
}

namespace catenary::cpu {

/// A or B of a product: element (i, j) of product p is at data + p * batch_stride + i * row_stride + j * column_stride.
/// Strides are in elements and may be 0 or negative.
struct GemmOperand {
  const void* data;
  Dtype dtype;
  std::int64_t row_stride, column_stride, batch_stride = 0;
};
/// C of a product, in this form too.
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
  const void* bias_n = nullptr;  ///< n contiguous elements of C's dtype, added to every row of C
  const void* bias_m = nullptr;  ///< m elements, added to every column of C
  bool accumulate = false;       ///< C += instead of C =
  std::int64_t batch = 1;        ///< all products share the biases
};

/// Computes the product like NumPy's matmul. All operands have one dtype, or A and B are int8 or uint8 and C is int32,
/// or A and B are bfloat16 and C is float32. Integers wrap, bool is any(a and b), and 16-bit floats are summed in
/// float32 and rounded once. C must not overlap A or B. k = 0 gives zeros. The bits do not depend on the number of
/// threads, except with oneDNN. Throws ValueError for negative sizes and DtypeError for other dtypes.
CT_API void gemm(const Gemm& product);

/// Instructions for bfloat16 products. `dots` is AVX512_BF16. `tiles` is AMX, which requires permission from the
/// system. Both add pairs of products in float32 and treat subnormal numbers as 0. `widened` uses float32's kernels, as
/// for float16.
enum class BfloatUnit { widened, dots, tiles };
/// Returns whether this process can use the unit. At a simd_level below v4, products are widened regardless.
CT_API bool has_bfloat_unit(BfloatUnit unit);
/// Returns the unit in use: the best available, or the choice of CATENARY_BFLOAT16=widened|dots|tiles. Throws
/// DeviceError if that unit is not available.
CT_API BfloatUnit bfloat_unit();
/// Changes the unit for the whole process, for tests and comparisons. Throws DeviceError if it is not available.
CT_API void set_bfloat_unit(BfloatUnit unit);

/// Instructions for float32 products. `vectors` uses float32 instructions. `tiles` uses AMX, which splits each number
/// into three bfloat16. It is as exact, except that results below about 2⁻¹⁰⁰ have fewer bits and subnormal results are
/// 0. If 32 rows or columns contain a value that bfloat16 cannot represent well (NaN, infinite, above 2⁶², below 2⁻¹⁰⁰,
/// or nothing as large as 2⁻⁵⁰), `vectors` multiplies them, so the bits of a result depend on its neighbours.
enum class FloatUnit { vectors, tiles };
/// Returns the unit in use: vectors, or the choice of CATENARY_FLOAT32=vectors|tiles. Throws DeviceError if that unit
/// is not available. Tiles multiply large matrices up to 1.8 times as fast on an unthrottled processor, but no faster
/// on a throttled one, as virtual machines often have (docs/measurements/history.md).
CT_API FloatUnit float_unit();
/// Changes the unit for the whole process, for tests and comparisons. Throws DeviceError if it is not available.
CT_API void set_float_unit(FloatUnit unit);

/// Returns whether a unit in use multiplies bfloat16 without widening it.
bool multiplies_bfloat16();
/// Returns whether AMX computes sufficiently large products and convolutions of this dtype.
bool multiplies_in_tiles(Dtype dtype);
/// Returns a summary for `catenary info`: "float32 by vectors, bfloat16 by AMX", or the alternative and its reason.
CT_API std::string matrix_units_info();
/// Returns the reason why bfloat16 products are widened here, if they are.
std::string why_widened();
/// Returns the reason why AMX does not compute float32 products here, if it does not.
std::string why_vectors();

/// Implementation of float32 products. `automatic` means our kernels, which are about as fast or faster and whose bits
/// do not depend on the number of threads. `onednn` (or CATENARY_ONEDNN=1) uses oneDNN for all operands with one stride
/// of 1, and is an error if oneDNN is not available.
enum class GemmProvider { automatic, own, onednn };
/// Sets it for the whole process. Throws DeviceError for `onednn` if oneDNN could not be loaded.
CT_API void set_gemm_provider(GemmProvider provider);
/// Returns whether oneDNN is available: not with CATENARY_ONEDNN=0, or if its plugin or library cannot be loaded.
CT_API bool onednn_available();
/// Returns the implementations of products, for libraries().
std::vector<LibraryInfo> gemm_libraries();
/// Returns one line for `catenary info`: oneDNN's version and the plugin's path, or the reason why it is not loaded.
CT_API std::string gemm_provider_info();

}  // namespace catenary::cpu
