// Small dense linear algebra, compiled for each instruction set (see core/cpu_features.h).
#include "catenary/backends/cpu/texts/linalg.h"

#include "catenary/backends/cpu/texts/kernel_text.h"

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

using math::i32;
using math::i64;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // parameters that only groups of several work-items use
template <class T>
struct LinalgText {
  i32 group, groups;
#include "catenary/kernels/linalg.kernel"
};
#pragma GCC diagnostic pop

template <class T>
void run(const LinalgWork& w, LinalgText<T> text) {
  const auto* a = static_cast<const T*>(w.a);
  const auto* b = static_cast<const T*>(w.b);
  auto *out = static_cast<T*>(w.out), *scratch = static_cast<T*>(w.scratch);
  switch (w.op) {
    case LinalgOp::cholesky:
      return text.cholesky(a, 0, out, 0, scratch, w.ok, w.batch, w.n);
    case LinalgOp::lu:
      return text.lu(a, 0, out, 0, w.pivots, 0, w.ok, w.batch, w.n);
    case LinalgOp::det:
      return text.det(a, 0, out, 0, scratch, w.pivots, w.batch, w.n);
    case LinalgOp::inv:
      return text.solve(a, 0, a, 0, out, 0, scratch, w.pivots, w.ok, w.batch, w.n, w.n, 1);
    case LinalgOp::solve:
      return text.solve(a, 0, b, 0, out, 0, scratch, w.pivots, w.ok, w.batch, w.n, w.k, 0);
  }
}

}  // namespace

void linalg_group(const LinalgWork& work, int group, int groups) {
  if (work.dtype == Dtype::float32) {
    run<float>(work, {group, groups});
  } else {
    run<double>(work, {group, groups});
  }
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
