#include "catenary/backends/cpu/texts/linalg.h"

#include <algorithm>
#include <vector>

#include "catenary/backends/cpu/movement/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/backends/cpu/solver/libraries.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {

namespace {

SolveOp solve_op(LinalgOp op) {
  switch (op) {
    case LinalgOp::cholesky:
      return SolveOp::cholesky;
    case LinalgOp::inv:
      return SolveOp::inv;
    case LinalgOp::solve:
      return SolveOp::solve;
    case LinalgOp::det:
      return SolveOp::det;
    case LinalgOp::lu:
      break;
  }
  return SolveOp::lu;
}

}  // namespace

template <>
void compute(const Linalg& p) {
  const std::int64_t batch = p.a.shape[0], n = p.a.shape[1];
  p.ok.assign(static_cast<std::size_t>(batch), true);
  if (batch == 0) return;
  if (solves(p.a.dtype, n) && solvers().run(Solve{solve_op(p.op), p.a, p.b, p.out, p.ok})) return;
  solvers().count_own();
  const bool own_pivots = p.op != LinalgOp::lu;
  const std::int64_t groups = std::min<std::int64_t>(batch, num_threads() * 4);
  const std::int64_t room = p.op == LinalgOp::lu ? 0 : p.op == LinalgOp::cholesky ? n : n * n;
  const Scratch scratch(groups * room * static_cast<std::int64_t>(itemsize(p.a.dtype)));
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(own_pivots ? groups * n : 0));
  std::vector<std::int32_t> regular(static_cast<std::size_t>(batch), 1);
  const LinalgWork work{p.op,
                        p.a.dtype,
                        p.a.data(),
                        p.b.data(),
                        p.out.data(),
                        scratch.as<void>(),
                        own_pivots ? pivots.data() : static_cast<std::int32_t*>(p.b.data()),
                        regular.data(),
                        batch,
                        n,
                        p.op == LinalgOp::solve ? p.b.shape[2] : 0};
  const auto run = CT_SIMD_SELECT(linalg_group);
  const std::int64_t grain = kGrain * groups / std::max<std::int64_t>(1, batch * n * n * n);
  parallel_for(groups, std::max<std::int64_t>(1, grain), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group) run(work, static_cast<int>(group), static_cast<int>(groups));
  });
  std::copy(regular.begin(), regular.end(), p.ok.begin());
}

}  // namespace catenary::cpu
