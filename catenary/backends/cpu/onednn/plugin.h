#pragma once
// The C interface between libcatenary and libcatenary_onednn.so, which alone links oneDNN: Debian's oneDNN brings in
// OpenCL and other machines lack it, so the library looks for the plugin at run time. Raise the number when anything
// here changes.

#include <cstdint>

#define CT_ONEDNN_INTERFACE 1

extern "C" {
struct CatenaryOnednn {
  int interface;        // CT_ONEDNN_INTERFACE
  const char* version;  // oneDNN's, as text
  /// C = A B + beta C, row-major as BLAS's sgemm with leading dimensions; transposed operands by 'T'. 0 is success.
  int (*sgemm)(char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
               std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc, int threads);
};
/// The only symbol of the plugin.
__attribute__((visibility("default"))) const CatenaryOnednn* catenary_onednn();
}
