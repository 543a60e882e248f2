// cuDNN's fused attention, from version 9.6 on: the graphs of attention and its gradient that its engines support. The
// operations and their order must be those of NVIDIA's front end.

#include <bit>
#include <cstdlib>
#include <limits>
#include <optional>

#include "catenary/backends/gpu/dnn/attention_spec.h"
#include "catenary/backends/gpu/dnn/cudnn_graph.h"
#include "catenary/backends/gpu/dnn/cudnn_library.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/matrix_units.h"
#include "catenary/backends/gpu/stream_handles.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

using Graph = CudnnGraph;
using Tensor = Graph::Tensor;
using Extents = Graph::Extents;
using Type = Graph::Type;
using Op = Graph::Pointwise;
using Reduction = Graph::Reduction;

constexpr std::int64_t kFewestQueries = 9;
constexpr std::size_t kOldest = 90600, kOldestOfBlackwell = 91100;
constexpr std::int64_t kMostWorkspace = std::int64_t{256} << 20;  // as for convolutions

Type type_of(const AttentionSpec& spec) { return spec.dtype == Dtype::float16 ? Type::f16 : Type::bf16; }

/// Common parts of both graphs. K is described by its transpose.
class Builder {
 public:
  Builder(const CudnnGraphApi& api, const AttentionSpec& spec, std::size_t version)
      : graph(api), spec_(spec), version_(version), type(type_of(spec)) {}

  Tensor array(const AttentionSpec::Array& a) { return graph.array(type, a.shape, a.strides); }
  Tensor transposed_array(const AttentionSpec::Array& a) {
    Extents shape = a.shape, strides = a.strides;
    std::swap(shape[2], shape[3]);
    std::swap(strides[2], strides[3]);
    return graph.array(type, shape, strides);
  }
  /// Adds an array with one float32 for each row.
  Tensor row_numbers() {
    const Extents shape = {spec_.batch(), spec_.heads(), spec_.queries(), 1};
    return graph.array(Type::f32, shape, Graph::in_order(shape));
  }

  Tensor scaled_scores(const Tensor& q, const Tensor& k, const Tensor& scale) {
    return graph.pointwise(Op::mul, graph.matmul(q, k, Type::f32), scale);
  }
  /// Sets scores of invisible keys to -inf.
  Tensor masked(Tensor scores) {
    if (spec_.diagonal == AttentionSpec::Diagonal::none) return scores;
    const bool at_end = spec_.diagonal == AttentionSpec::Diagonal::bottom_right;
    const auto queries = static_cast<std::int32_t>(spec_.queries()), keys = static_cast<std::int32_t>(spec_.keys());
    // before version 9.10 NVIDIA's front end uses the lowest float
    const float hidden =
        version_ < 91000 ? std::numeric_limits<float>::lowest() : -std::numeric_limits<float>::infinity();
    {
      Tensor row = graph.index(scores, 2);
      const Tensor column = graph.index(scores, 3);
      if (at_end) {
        row = graph.pointwise(Op::add, row, graph.scalar(keys), Type::i32);
        row = graph.pointwise(Op::sub, row, graph.scalar(queries), Type::i32);
      }
      const Tensor seen = graph.pointwise(Op::greater_equal, row, column, Type::boolean);
      scores = graph.select(seen, scores, graph.scalar(hidden));
    }
    if (spec_.window > 0) {
      const Tensor row = graph.index(scores, 2), column = graph.index(scores, 3);
      const std::int64_t shift = spec_.window - (at_end ? spec_.keys() - spec_.queries() : 0);
      const Tensor shifted = graph.pointwise(Op::add, column, graph.scalar(static_cast<float>(shift)), Type::f32);
      const Tensor seen = graph.pointwise(Op::greater, shifted, row, Type::boolean);
      scores = graph.select(seen, scores, graph.scalar(hidden));
    }
    return scores;
  }

  Graph graph;

 protected:
  const AttentionSpec& spec_;
  const std::size_t version_;

 public:
  const Type type;
};

/// Makes the plan that computes y and the rows' sums from q, k and v. Addresses are passed to a run in this order.
std::unique_ptr<CudnnPlan> plan_forward(const CudnnGraphApi& api, const AttentionSpec& spec, std::size_t version,
                                        void* handle, bool deterministic) {
  Builder b(api, spec, version);
  Graph& g = b.graph;
  const Tensor y = b.array(spec.y), sums = b.row_numbers();
  const Tensor q = b.array(spec.q), k = b.transposed_array(spec.k), v = b.array(spec.v);
  const Tensor scores = b.masked(b.scaled_scores(q, k, g.scalar(static_cast<float>(spec.scale))));
  const Tensor most = g.reduce(Reduction::max, scores);
  const Tensor exponentials = g.unary(Op::exp, g.pointwise(Op::sub, scores, most));
  const Tensor total = g.reduce(Reduction::sum, exponentials);
  g.pointwise(Op::add, most, g.unary(Op::log, total), sums);
  g.matmul(g.pointwise(Op::div, exponentials, total, b.type), v, y);
  return g.plan(handle, kMostWorkspace, deterministic);
}

/// Makes the plan that computes gq, gk, gv, the rows' dots and, if sums may be in any order, a float32 buffer for gq,
/// from q, k, v, y, sums, gy.
std::unique_ptr<CudnnPlan> plan_backward(const CudnnGraphApi& api, const AttentionSpec& spec, std::size_t version,
                                         void* handle, bool deterministic) {
  Builder b(api, spec, version);
  Graph& g = b.graph;
  const Tensor gq = b.array(*spec.gq), gk = b.array(*spec.gk), gv = b.array(*spec.gv), dots = b.row_numbers();
  std::optional<Tensor> added_gq;
  if (!deterministic) added_gq = g.array(Type::f32, spec.q.shape, Graph::in_order(spec.q.shape));
  const Tensor q = b.array(spec.q), k = b.transposed_array(spec.k), v = b.transposed_array(spec.v), y = b.array(spec.y),
               sums = b.row_numbers(), gy = b.array(*spec.gy);
  const Tensor scale = g.scalar(static_cast<float>(spec.scale));

  // row sums of gy y, times one in place of the scale of dropout
  g.pointwise(Op::mul, g.reduce(Reduction::sum, g.pointwise(Op::mul, gy, y)), g.scalar(1.0F), dots);

  const Tensor scores = b.masked(g.pointwise(Op::sub, b.scaled_scores(q, k, scale), sums));
  const Tensor weights = g.unary(Op::exp, scores);
  // gradients of keys and values shared by several heads are summed last
  const auto multiply_over_queries = [&](const Tensor& rows, const Tensor& x, const Tensor& result) {
    const Tensor columns = g.transposed(rows, b.type);
    if (spec.heads() == spec.groups()) {
      g.matmul(columns, x, result);
    } else {
      g.reduce(Reduction::sum, g.matmul(columns, x, b.type), result);
    }
  };
  multiply_over_queries(weights, gy, gv);
  const Tensor moved = g.pointwise(Op::sub, g.matmul(gy, v, Type::f32), dots);
  const Tensor gscores = g.pointwise(Op::mul, g.pointwise(Op::mul, moved, weights), scale);
  multiply_over_queries(gscores, q, gk);
  const Tensor keys = g.transposed(k, b.type);
  g.matmul(gscores, keys, added_gq ? *added_gq : gq);
  if (added_gq) g.unary(Op::identity, *added_gq, gq);
  return g.plan(handle, kMostWorkspace, deterministic);
}

/// A plan, or the reason why there is none.
struct Plan {
  std::unique_ptr<CudnnPlan> plan;
  const Computation* computation = nullptr;
  std::string failure;  ///< message; empty if cuDNN does not support the computation
};

class CudnnAttention final : public Provider<AttentionSpec> {
 public:
  CudnnAttention(Context& context, const os::Library& library, void* handle, std::size_t version)
      : context_(context),
        api_(library),
        handles_(handle, library.required<int(void**)>("cudnnCreate"),
                 library.required<int(void*, void*)>("cudnnSetStream")),
        version_(version),
        detail_(fmt::format("{}, {}", cudnn_version_text(version), library.path())) {}

  std::string detail() const override { return detail_; }

  bool run(const AttentionSpec& spec, std::string& why) override {
    const bool deterministic = config.cudnn_deterministic;
    spec.declined = declines(spec, deterministic);
    if (spec.declined) return false;
    const Computation* computation = nullptr;
    try {
      const int status = handles_.with(context_.driver.queue(context_.index), [&](void* handle) {
        const std::shared_ptr<Plan> plan = plan_of(handle, spec, deterministic);
        if (!plan->plan) {
          spec.declined = "cuDNN has no fused form of it";
          why = plan->failure;
          return 0;
        }
        compute(handle, *plan->plan, spec, deterministic);
        computation = plan->computation;
        return 0;
      });
      if (status != 0) why = CudnnFailure{status, "make a handle"}.text();
    } catch (const CudnnFailure& failure) {
      why = failure.text();
    } catch (const DeviceError& error) {
      why = error.what();  // no memory for its workspace
    }
    if (computation) context_.computations.note(ComputationKind::attention, *computation);
    return computation != nullptr;
  }

 private:
  /// Returns the reason why a plan is not worthwhile, or why NVIDIA's front end excludes the computation from this
  /// version, which would compute it incorrectly or not at all.
  const char* declines(const AttentionSpec& spec, bool deterministic) const {
    if (spec.queries() < kFewestQueries)
      return "few queries: text generation changes the number of keys, and cuDNN needs a plan for each number";
    if (spec.window > 0 && spec.queries() > spec.keys())
      return "cuDNN supports a window only if there are no more queries than keys";
    if (version_ < 91000 && spec.window > 0 && spec.diagonal == AttentionSpec::Diagonal::bottom_right)
      return "a window whose last query sees the last key requires cuDNN 9.10";
    if (!spec.backward) return nullptr;
    if (version_ <= 91500 && spec.keys() % 128 != 0)
      return "up to version 9.15.0, the gradient of cuDNN is used only for multiples of 128 keys";
    if (deterministic && is_blackwell(context_.info))
      return "cuDNN's deterministic gradient is not used on Blackwell; set config.cudnn_deterministic to false";
    return nullptr;
  }
  static bool is_blackwell(const DeviceInfo& info) { return info.arch.starts_with("sm_10"); }

  std::shared_ptr<Plan> plan_of(void* handle, const AttentionSpec& spec, bool deterministic) {
    std::vector<std::int64_t> key = spec.key();
    key.insert(key.end(), {deterministic, std::bit_cast<std::int64_t>(handle)});
    return plans_.get(key, [&] {
      auto plan = std::make_shared<Plan>();
      try {
        const auto make = spec.backward ? plan_backward : plan_forward;
        plan->plan = make(api_, spec, version_, handle, deterministic);
        if (plan->plan) plan->computation = &context_.computations.keep(tell(spec, *plan->plan));
      } catch (const CudnnFailure& failure) {
        if (!failure.is_unsupported()) plan->failure = failure.text();
      }
      return plan;
    });
  }

  void compute(void* handle, const CudnnPlan& plan, const AttentionSpec& spec, bool deterministic) {
    const auto room = [](std::int64_t bytes) { return (bytes + 255) / 256 * 256; };
    const std::int64_t rows = spec.batch() * spec.heads() * spec.queries();
    const std::int64_t dots = spec.backward ? room(rows * 4) : 0,
                       added = spec.backward && !deterministic ? room(rows * spec.depth() * 4) : 0;
    const Scratch scratch(context_, std::max<std::int64_t>(1, dots + added + plan.workspace()));
    char* const at = static_cast<char*>(scratch.handle());
    std::vector<void*> addresses;
    if (spec.backward) {
      for (const auto* array : {&spec.gq, &spec.gk, &spec.gv}) addresses.push_back((*array)->view.data());
      addresses.push_back(at);
      if (!deterministic) addresses.push_back(at + dots);
      for (const auto* array : {&spec.q, &spec.k, &spec.v, &spec.y}) addresses.push_back(array->view.data());
      addresses.push_back(spec.sums.data());
      addresses.push_back(spec.gy->view.data());
    } else {
      addresses = {spec.y.view.data(), spec.sums.data(), spec.q.view.data(), spec.k.view.data(), spec.v.view.data()};
    }
    plan.run(handle, addresses, at + dots + added);
  }

  Computation tell(const AttentionSpec& spec, const CudnnPlan& plan) const {
    Computation c = untold("attention", "cuDNN", context_.info, spec.dtype, false, "");
    c.algorithm = fmt::format("fused{}, engine {}", spec.backward ? " gradient" : "", plan.engine());
    c.told = true;
    if (plan.uses_tensor_cores()) {
      c.units = matrix_units(context_.info);
      c.why_not.clear();
    } else {
      c.why_not = "cuDNN chose an engine without them";
    }
    return c;
  }

  Context& context_;
  const CudnnGraphApi api_;
  StreamHandles handles_;
  const std::size_t version_;
  const std::string detail_;
  PlanCache<std::vector<std::int64_t>, Plan> plans_;
};

}  // namespace

std::unique_ptr<Provider<AttentionSpec>> open_cudnn_attention(Context& context, std::string& why) {
  const std::string& arch = context.info.arch;
  const int chip = arch.starts_with("sm_") ? std::atoi(arch.c_str() + 3) : 0;
  if (chip < 80) {
    why = fmt::format("fused attention needs sm_80 or newer, and the device is {}", arch);
    return nullptr;
  }
  return open_cudnn_library(
      context, why, {"9"},
      [&](const os::Library& library, std::string& reason) -> std::unique_ptr<Provider<AttentionSpec>> {
        const std::size_t version = cudnn_version(library), oldest = chip >= 100 ? kOldestOfBlackwell : kOldest;
        if (version < oldest || version == 91000 || version == 91001) {
          reason = fmt::format("{} is version {}: fused attention is taken from {} on, and not from 9.10.0 and 9.10.1",
                               library.path(), cudnn_version_text(version), cudnn_version_text(oldest));
          return nullptr;
        }
        void* const handle = make_handle(context, library, "cudnnCreate", reason);
        return handle ? std::make_unique<CudnnAttention>(context, library, handle, version) : nullptr;
      });
}

}  // namespace catenary::gpu
