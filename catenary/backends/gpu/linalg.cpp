#include <algorithm>
#include <optional>

#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

template <>
void compute(Context& context, const Linalg& p) {
  const auto& [op, a, b, out, ok] = p;
  context.check_dtype(a.dtype, "linalg");
  const std::int64_t batch = a.shape[0], n = a.shape[1];
  ok.assign(static_cast<std::size_t>(batch), true);
  if (batch == 0 || n == 0) return;

  const int group = context.loops ? 1 : n <= 32 ? 32 : 256;
  // Limited by the memory that each group needs beside its matrix, but enough for the device.
  const std::int64_t groups = std::min<std::int64_t>(batch, context.info.compute_units * (context.loops ? 4
                                                                                          : n <= 32     ? 32
                                                                                                        : 8));
  const bool single = a.dtype == Dtype::float32;
  const Defines defines{{"T", single ? "f32" : "f64"},
                        {"GROUP", group},
                        {"LOG(x)", single ? "ct_log_f32(x)" : "ct_log_f64(x)"},
                        {"SQRT(x)", single ? "CT_SQRT_F32(x)" : "CT_SQRT_F64(x)"}};
  const auto item = static_cast<std::int64_t>(itemsize(a.dtype));
  const Scratch flags(context, batch * 4);
  std::optional<Scratch> matrices, pivots;
  if (op == LinalgOp::cholesky) {
    matrices.emplace(context, groups * n * item);
  } else if (op != LinalgOp::lu) {
    matrices.emplace(context, groups * n * n * item);
    pivots.emplace(context, groups * n * 4);
  }
  Args args;
  args.add(a.handle).add(a.offset);
  switch (op) {
    case LinalgOp::cholesky:
      args.add(out.handle).add(out.offset).add(matrices->handle()).add(flags.handle()).add(batch).add(n);
      break;
    case LinalgOp::lu:
      args.add(out.handle).add(out.offset).add(b.handle).add(b.offset).add(flags.handle()).add(batch).add(n);
      break;
    case LinalgOp::det:
      args.add(out.handle).add(out.offset).add(matrices->handle()).add(pivots->handle()).add(batch).add(n);
      break;
    case LinalgOp::inv:
    case LinalgOp::solve: {
      const bool identity = op == LinalgOp::inv;
      const View& right = identity ? a : b;
      args.add(right.handle).add(right.offset).add(out.handle).add(out.offset);
      args.add(matrices->handle()).add(pivots->handle()).add(flags.handle()).add(batch).add(n);
      args.add(identity ? n : b.shape[2]).add(static_cast<std::int32_t>(identity));
      break;
    }
  }
  const char* name = op == LinalgOp::cholesky ? "cholesky"
                     : op == LinalgOp::lu     ? "lu"
                     : op == LinalgOp::det    ? "det"
                                              : "solve";
  context.launch(context.kernel("linalg", name, defines), groups, group, args);
  if (op == LinalgOp::det) return;
  std::vector<std::int32_t> regular(static_cast<std::size_t>(batch));
  context.read(regular.data(), flags.handle(), 0, regular.size() * 4);
  std::copy(regular.begin(), regular.end(), ok.begin());
}

}  // namespace catenary::gpu
