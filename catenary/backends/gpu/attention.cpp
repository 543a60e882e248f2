// Attention, forward and backward: by a library if one supports it, otherwise by our own kernels
// (kernels/attention.kernel).

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>

#include "catenary/backends/gpu/codegen.h"
#include "catenary/backends/gpu/dnn/attention_spec.h"
#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/config.h"
#include "catenary/ops/op.h"

namespace catenary::gpu {

namespace {

constexpr std::int64_t kTile = 32;
constexpr int kItems = 64;

bool is_wide(std::initializer_list<const View*> views) {
  for (const View* v : views) {
    if (!v) continue;
    std::int64_t reach = std::abs(v->offset);
    for (int axis = 0; axis < v->shape.size(); ++axis) reach += (v->shape[axis] + kTile) * std::abs(v->strides[axis]);
    if (needs_wide({reach})) return true;
  }
  return false;
}

/// Common parts of the kernels of Attention and AttentionBack.
class AttentionLaunch {
 public:
  template <class P>
  AttentionLaunch(Context& context, const P& p, bool wide, std::initializer_list<const View*> operands)
      : context_(context), rules_(p.rules), q_(p.q), k_(p.k), v_(p.v), mask_(p.mask), wide_(wide) {
    const bool is_double = p.q.dtype == Dtype::float64;
    defines_ = dtype_defines(context, p.q.dtype);
    defines_.emplace_back("idx", wide ? "i64" : "i32");
    defines_.emplace_back("MADD(a, b, c)", is_double ? "MAD_F64(a, b, c)" : "MAD_F32(a, b, c)");
    defines_.emplace_back("EXP", is_double ? "ct_exp_f64" : "ct_exp_f32");
    defines_.emplace_back("LOG", is_double ? "ct_log_f64" : "ct_log_f32");
    defines_.emplace_back("NONE", is_double ? "(-CT_INF_F64)" : "(-CT_INF_F32)");
    if (context.loops) {
      defines_.emplace_back("ROWS", "");
      bool side_by_side = true;
      for (const View* v : operands) side_by_side = side_by_side && (v->strides[3] == 1 || v->shape[3] == 1);
      if (side_by_side) defines_.emplace_back("UNIT_COLUMNS", "");
    } else {
      defines_.emplace_back("TILES", "");
      defines_.emplace_back("DEPTH", std::max<std::int64_t>(1, ceil_div(p.q.shape[3], kTile)));
      defines_.emplace_back("WIDTH", std::max<std::int64_t>(1, ceil_div(p.v.shape[3], kTile)));
    }
    if (!p.mask) return;
    const bool flags = p.mask->dtype == Dtype::bool_;
    defines_.emplace_back("MASK", flags ? "u8" : memory_type(p.q.dtype));
    defines_.emplace_back("MASKED(score, at)", flags ? "(mask[at] ? (score) : NONE)" : "((score) + LOAD(mask, at))");
  }

  void add(const View& v) {
    args.add(v.handle).index(v.offset, wide_);
    for (int axis = 0; axis < 4; ++axis) args.index(v.shape[axis] == 1 ? 0 : v.strides[axis], wide_);
  }
  /// Runs a kernel with a group for each tile of the `count` rows of each of `heads` heads. On a processor, runs its
  /// form by rows, with `room` elements of scratch memory.
  void run(const char* part, const char* tiles_name, const char* rows_name, std::int64_t heads, std::int64_t count,
           std::int64_t room) {
    if (mask_) add(*mask_);
    const bool is_double = q_.dtype == Dtype::float64;
    if (is_double) {
      args.add(rules_.scale);
    } else {
      args.add(static_cast<float>(rules_.scale));
    }
    const std::int64_t tiles = context_.loops ? count : ceil_div(count, kTile), units = q_.shape[0] * heads * tiles;
    args.add(std::int32_t{rules_.causal});
    for (const std::int64_t number : {rules_.first, rules_.window, q_.shape[1], k_.shape[1], q_.shape[2], k_.shape[2],
                                      q_.shape[3], v_.shape[3], tiles, units})
      args.index(number, wide_);
    Defines defines = defines_;
    defines.emplace_back(part, "");
    const Kernel& kernel = context_.kernel("attention", context_.loops ? rows_name : tiles_name, defines);
    if (context_.loops) {
      const std::int64_t groups = loops_over(context_, units);
      const Scratch scratch(context_, std::max<std::int64_t>(1, groups * room) * (is_double ? 8 : 4));
      args.add(scratch.handle()).index(room, wide_);
      context_.launch(kernel, groups, 1, args);
    } else {
      context_.launch(kernel, std::min<std::int64_t>(units, 1 << 20), kItems, args);
    }
    args = {};
  }

  Args args;

 private:
  Context& context_;
  const AttentionRules& rules_;
  const View &q_, &k_, &v_;
  const View* const mask_;
  const bool wide_;
  Defines defines_;
};

/// Records how our own kernels computed attention, and why no library did.
class OwnAttention {
 public:
  explicit OwnAttention(Context& context) : context_(context) {}
  /// `why` is a literal.
  void note(const char* kernel, Dtype dtype, const char* why) {
    const Computation* computation = nullptr;
    {
      std::lock_guard lock(mutex_);
      const Computation*& known = known_[{kernel, dtype, why}];
      if (!known)
        known = &context_.computations.keep({.kind = "attention",
                                             .library = "own",
                                             .algorithm = kernel,
                                             .dtype = dtype,
                                             .compute = sums_of(dtype),
                                             .units = {},
                                             .why_not = fmt::format("{}, and Catenary's own kernels use none", why)});
      computation = known;
    }
    context_.computations.note(ComputationKind::attention, *computation);
  }

 private:
  Context& context_;
  std::mutex mutex_;
  std::map<std::tuple<const char*, Dtype, const char*>, const Computation*> known_;
};

/// Returns whether a library has computed it. If not, the caller must.
template <class P>
bool by_library(Context& context, const P& p, const char* own_kernel) {
  Libraries<AttentionSpec>& libraries = libraries_for<AttentionSpec>(context);
  const char* why = "no library of attention is used";
  if (libraries.any()) {
    why = "config.use_cudnn is false";
    if (config.use_cudnn) {
      if (const auto spec = as_spec(p, why)) {
        if (const std::string* library = libraries.run(*spec)) {
          context.submitted_by(*library);
          return true;
        }
        why = spec->declined ? spec->declined : "the library failed";
      }
    }
  }
  libraries.count_own();
  context.part<OwnAttention>().note(own_kernel, p.q.dtype, why);
  return false;
}

}  // namespace

template <>
void compute(Context& context, const Attention& p) {
  if (p.k.shape[1] == 0) return;  // no groups, hence no heads
  if (by_library(context, p, "attention")) return;
  const bool wide = is_wide({&p.q, &p.k, &p.v, &p.y, p.mask});
  AttentionLaunch launch(context, p, wide, {&p.q, &p.k, &p.v});
  for (const View* v : {&p.q, &p.k, &p.v, &p.y}) launch.add(*v);
  launch.args.add(p.sums.handle).index(p.sums.offset, wide);
  launch.run("PART_FORWARD", "attention", "attention_rows", p.q.shape[1], p.q.shape[2], p.k.shape[2] + p.v.shape[3]);
}

template <>
void compute(Context& context, const AttentionBack& p) {
  if (p.k.shape[1] == 0) return;  // no groups, hence no heads
  if (by_library(context, p, "attention_back")) return;
  const bool wide = is_wide({&p.q, &p.k, &p.v, &p.y, &p.gy, &p.gq, &p.gk, &p.gv, p.mask});
  const std::int64_t rows = p.sums.size();
  const Scratch dots(context, rows * static_cast<std::int64_t>(itemsize(p.sums.dtype)));
  AttentionLaunch launch(context, p, wide, {&p.q, &p.k, &p.v, &p.gy});
  {
    Defines defines = grid_defines(context, wide, dtype_defines(context, p.q.dtype));
    defines.emplace_back("PART_DOTS", "");
    launch.add(p.y);
    launch.add(p.gy);
    launch.args.add(dots.handle());
    for (const std::int64_t number : {p.q.shape[1], p.q.shape[2], p.v.shape[3]}) launch.args.index(number, wide);
    launch_units(context, context.kernel("attention", "attention_dots", defines), rows, wide, launch.args);
    launch.args = {};
  }
  const auto add_operands = [&](std::initializer_list<const View*> results) {
    for (const View* v : {&p.q, &p.k, &p.v, &p.gy}) launch.add(*v);
    for (const View* v : results) launch.add(*v);
    launch.args.add(p.sums.handle).index(p.sums.offset, wide).add(dots.handle());
  };
  add_operands({&p.gk, &p.gv});
  launch.run("PART_BACK_KEYS", "attention_back_keys", "attention_back_keys_rows", p.k.shape[1], p.k.shape[2],
             p.q.shape[3] + p.v.shape[3]);
  add_operands({&p.gq});
  launch.run("PART_BACK_QUERIES", "attention_back_queries", "attention_back_queries_rows", p.q.shape[1], p.q.shape[2],
             p.q.shape[3]);
}

}  // namespace catenary::gpu
