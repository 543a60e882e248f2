#pragma once
// The C interface between libcatenary and libcatenary_onednn.so. Only the plugin links oneDNN, because Debian's oneDNN
// depends on OpenCL and other machines lack it. The library looks for the plugin at run time. Increase the number with
// every change here.

#include <cstdint>

#define CT_ONEDNN_INTERFACE 1

extern "C" {
struct CatenaryOnednn {
  int interface;        // CT_ONEDNN_INTERFACE
  const char* version;  // oneDNN's version as text
  /// Computes C = A B + beta C, row-major, like BLAS's sgemm with leading dimensions. 'T' transposes operands. Returns
  /// 0 on success.
  int (*sgemm)(char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
               std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc, int threads);
};
/// Returns the table of functions, the plugin's only symbol.
__attribute__((visibility("default"))) const CatenaryOnednn* catenary_onednn();
}
