#include <algorithm>
#include <optional>

#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

void linalg(Context& context, Linalg op, const View& a, const View& b, const View& out, std::vector<bool>& ok) {
  if (a.dtype != Dtype::float32 && a.dtype != Dtype::float64)
    fail<DtypeError>("linalg: float32 or float64 is needed, {} was given", a.dtype);
  context.check_dtype(a.dtype, "linalg");
  const std::int64_t batch = a.shape[0], n = a.shape[1];
  ok.assign(static_cast<std::size_t>(batch), true);
  if (batch == 0 || n == 0) return;

  const int group = context.loops ? 1 : n <= 32 ? 32 : 256;
  // Few enough for what each needs beside its matrix, enough for the device.
  const std::int64_t groups = std::min<std::int64_t>(batch, context.info.compute_units * (context.loops ? 4
                                                                                          : n <= 32     ? 32
                                                                                                        : 8));
  const char* type = a.dtype == Dtype::float32 ? "f32" : "f64";
  const Defines defines{{"T", type},
                        {"GROUP", fmt::format("{}", group)},
                        {"LOG(x)", fmt::format("ct_log_{}(x)", type)},
                        {"SQRT(x)", fmt::format("CT_SQRT_{}(x)", a.dtype == Dtype::float32 ? "F32" : "F64")}};
  const auto item = static_cast<std::int64_t>(itemsize(a.dtype));
  const Scratch flags(context, batch * 4);
  std::optional<Scratch> matrices, pivots;
  if (op == Linalg::cholesky) {
    matrices.emplace(context, groups * n * item);
  } else if (op != Linalg::lu) {
    matrices.emplace(context, groups * n * n * item);
    pivots.emplace(context, groups * n * 4);
  }
  Args args;
  args.add(a.handle).add(a.offset);
  switch (op) {
    case Linalg::cholesky:
      args.add(out.handle).add(out.offset).add(matrices->handle()).add(flags.handle()).add(batch).add(n);
      break;
    case Linalg::lu:
      args.add(out.handle).add(out.offset).add(b.handle).add(b.offset).add(flags.handle()).add(batch).add(n);
      break;
    case Linalg::det:
      args.add(out.handle).add(out.offset).add(matrices->handle()).add(pivots->handle()).add(batch).add(n);
      break;
    case Linalg::inv:
    case Linalg::solve: {
      const bool identity = op == Linalg::inv;
      const View& right = identity ? a : b;
      args.add(right.handle).add(right.offset).add(out.handle).add(out.offset);
      args.add(matrices->handle()).add(pivots->handle()).add(flags.handle()).add(batch).add(n);
      args.add(identity ? n : b.shape[2]).add(static_cast<std::int32_t>(identity));
      break;
    }
  }
  const char* name = op == Linalg::cholesky ? "cholesky"
                     : op == Linalg::lu     ? "lu"
                     : op == Linalg::det    ? "det"
                                            : "solve";
  context.launch(context.kernel("linalg", name, defines), groups, group, args);
  if (op == Linalg::det) return;
  std::vector<std::int32_t> regular(static_cast<std::size_t>(batch));
  context.read(regular.data(), flags.handle(), 0, regular.size() * 4);
  std::copy(regular.begin(), regular.end(), ok.begin());
}

}  // namespace catenary::gpu
