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

/// What is added to a product while it is stored. The biases have unit stride and the dtype of C.
struct GemmEpilogue {
  const void* bias_n = nullptr;  ///< n elements, added to every row of C
  const void* bias_m = nullptr;  ///< m elements, added to every column of C
  bool accumulate = false;       ///< C += instead of C =
  bool to_int32 = false;         ///< C and the biases are int32, A and B int8 or uint8
};

/// C[i, j] = sum over p of A[i, p] B[p, j] for C of m × n and a depth of k, as NumPy's matmul: all operands of one
/// dtype (or to_int32), integers wrap around, bool is any(a and b), 16-bit floats are summed in float32 and rounded
/// once. Row and column strides are in elements and may be 0 (A, B) or negative. C must not overlap A or B. k = 0 gives
/// zeros. The bits do not depend on the number of threads (unless oneDNN computes). Throws ValueError for negative
/// sizes.
CT_API void gemm(Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k, const void* a, std::int64_t a_rs,
                 std::int64_t a_cs, const void* b, std::int64_t b_rs, std::int64_t b_cs, void* c, std::int64_t c_rs,
                 std::int64_t c_cs, const GemmEpilogue& epilogue = {});

/// `batch` products as gemm's; product i lies at a + i * a_bs, b + i * b_bs, c + i * c_bs (elements; 0 repeats A or B).
/// The biases are the same for all.
CT_API void batched_gemm(Dtype dtype, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, const void* a,
                         std::int64_t a_bs, std::int64_t a_rs, std::int64_t a_cs, const void* b, std::int64_t b_bs,
                         std::int64_t b_rs, std::int64_t b_cs, void* c, std::int64_t c_bs, std::int64_t c_rs,
                         std::int64_t c_cs, const GemmEpilogue& epilogue = {});

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
