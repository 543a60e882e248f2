#include "plugin.h"

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include <string>

namespace {

int sgemm(char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
          const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc, int threads) {
  const int before = omp_get_max_threads();
  if (before != threads) omp_set_num_threads(threads);
  const dnnl_status_t status = dnnl_sgemm(trans_a, trans_b, m, n, k, 1.0f, a, lda, b, ldb, beta, c, ldc);
  if (before != threads) omp_set_num_threads(before);
  return status;
}

}  // namespace

extern "C" const CatenaryOnednn* catenary_onednn() {
  const dnnl_version_t& number = *dnnl_version();
  static const std::string version =
      std::to_string(number.major) + "." + std::to_string(number.minor) + "." + std::to_string(number.patch);
  static const CatenaryOnednn table = {CT_ONEDNN_INTERFACE, version.c_str(), sgemm};
  return &table;
}
