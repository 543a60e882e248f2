#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/kernels/signature.h"

namespace catenary::gpu {

namespace {

bool is_wide(const View& view) {
  std::int64_t low = view.offset, high = view.offset;
  for (int axis = 0; axis < view.shape.size(); ++axis)
    (view.strides[axis] < 0 ? low : high) += view.shape[axis] * view.strides[axis];
  return needs_wide({low, high});
}

/// Defines the names by which texts call functions of a register's type.
Defines math_defines(Dtype dtype) {
  const bool wide = ops::register_of(dtype) == ops::Reg::f64;
  if (!is_floating(dtype)) return {};
  return {{"EXP(x)", wide ? "ct_exp_f64(x)" : "ct_exp_f32(x)"},
          {"LOG(x)", wide ? "ct_log_f64(x)" : "ct_log_f32(x)"},
          {"FLOOR(x)", wide ? "CT_FLOOR_F64(x)" : "CT_FLOOR_F32(x)"},
          {"CEIL(x)", wide ? "CT_CEIL_F64(x)" : "CT_CEIL_F32(x)"},
          {"RINT(x)", wide ? "CT_RINT_F64(x)" : "CT_RINT_F32(x)"}};
}

}  // namespace

template <>
void compute(Context& context, const RunText& p) {
  kernels::check_arguments(p);
  if (p.units == 0) return;
  bool wide = needs_wide({p.units});
  void* some_handle = nullptr;  // for empty arrays: nothing is read, but a launch needs a buffer
  for (const TextArgument& argument : p.arguments) {
    wide = wide || (argument.view ? is_wide(*argument.view) : needs_wide({argument.integer}));
    if (argument.view && argument.view->handle) some_handle = argument.view->handle;
  }
  Args args;
  for (const TextArgument& argument : p.arguments) {
    switch (argument.kind) {
      case TextArgument::Kind::array:
        args.add(argument.view->handle ? argument.view->handle : some_handle).index(argument.view->offset, wide);
        break;
      case TextArgument::Kind::integer:
        args.index(argument.integer, wide);
        break;
      case TextArgument::Kind::real:
        ops::register_of(p.dtype) == ops::Reg::f64 ? args.add(argument.real)
                                                   : args.add(static_cast<float>(argument.real));
        break;
    }
  }
  Defines defines = grid_defines(context, wide, dtype_defines(context, p.dtype));
  for (const Define& define : math_defines(p.dtype)) defines.push_back(define);
  launch_units(context, context.kernel(p.text, p.kernel, defines), p.units, wide, args);
}

}  // namespace catenary::gpu
