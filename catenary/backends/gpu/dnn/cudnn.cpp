// cuDNN versions 9 and 8, by the functions that both have: descriptors, an algorithm chosen by its heuristic (or, with
// config.autotune, by measurement), and the three computations.

#include <array>
#include <cstring>

#include "catenary/backends/gpu/autotune.h"
#include "catenary/backends/gpu/dnn/cudnn_library.h"
#include "catenary/backends/gpu/dnn/provider.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/stream_handles.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

using Handle = void*;
using Numbers = ConvolutionSpec::Numbers;

constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kBf16 = 9;          // cudnnDataType_t
constexpr int kChannelsFirst = 0, kChannelsLast = 1;            // cudnnTensorFormat_t
constexpr int kCrossCorrelation = 1;                            // cudnnConvolutionMode_t
constexpr int kDefaultMath = 0, kTensorMath = 1, kFmaMath = 3;  // cudnnMathType_t
constexpr int kDeterministic = 1;                               // cudnnDeterminism_t
constexpr int kMostAlgorithms = 8;

/// cudnnConvolution{Fwd,BwdData,BwdFilter}AlgoPerf_t, which have equal layouts.
struct Found {
  int algorithm, status;
  float time;
  std::size_t memory;
  int determinism, math, reserved[3];
};

/// A choice as cached on disk.
struct Kept {
  std::int32_t algorithm, math;
};

bool not_supported(int status) { return status / 1000 == 3 || status == 9 || status == 6; }  // version 9, version 8

/// cudnnConvolution{Fwd,BwdData,BwdFilter}Algo_t
std::string algorithm_name(ConvolutionPass pass, int algorithm) {
  using Names = std::array<const char*, 8>;
  constexpr Names forward = {"implicit GEMM", "implicit precomputed GEMM", "GEMM", "direct", "FFT", "tiled FFT",
                             "Winograd",      "nonfused Winograd"};
  constexpr Names to_data = {"0", "1", "FFT", "tiled FFT", "Winograd", "nonfused Winograd", "", ""};
  constexpr Names to_filter = {"0", "1", "FFT", "3", "Winograd", "nonfused Winograd", "tiled FFT", ""};
  const Names& names = pass == ConvolutionPass::forward   ? forward
                       : pass == ConvolutionPass::to_data ? to_data
                                                          : to_filter;
  const bool is_known = algorithm >= 0 && algorithm < 8 && *names[static_cast<std::size_t>(algorithm)];
  return is_known ? names[static_cast<std::size_t>(algorithm)] : fmt::to_string(algorithm);
}

/// cudnnMathType_t
const char* math_name(int math) {
  switch (math) {
    case kDefaultMath:
      return "default math";
    case kTensorMath:
      return "tensor op math";
    case kFmaMath:
      return "FMA math";
    default:
      return "tensor op math with conversion";
  }
}

struct Api {
  explicit Api(const os::Library& library) {
    const auto find = [&](auto& function, const char* name) {
      using F = std::remove_pointer_t<std::remove_reference_t<decltype(function)>>;
      function = library.required<F>(fmt::format("cudnn{}", name).c_str());
    };
    find(create_tensor, "CreateTensorDescriptor");
    find(set_tensor, "SetTensorNdDescriptor");
    find(destroy_tensor, "DestroyTensorDescriptor");
    find(create_filter, "CreateFilterDescriptor");
    find(set_filter, "SetFilterNdDescriptor");
    find(destroy_filter, "DestroyFilterDescriptor");
    find(create_convolution, "CreateConvolutionDescriptor");
    find(set_convolution, "SetConvolutionNdDescriptor");
    find(set_groups, "SetConvolutionGroupCount");
    find(set_math, "SetConvolutionMathType");
    find(destroy_convolution, "DestroyConvolutionDescriptor");
    constexpr const char* passes[] = {"Forward", "BackwardData", "BackwardFilter"};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string pass = passes[i];
      find(search[i], ("GetConvolution" + pass + "Algorithm_v7").c_str());
      find(try_all[i], ("FindConvolution" + pass + "AlgorithmEx").c_str());
      find(workspace[i], ("GetConvolution" + pass + "WorkspaceSize").c_str());
      find(compute[i], ("Convolution" + pass).c_str());
    }
  }

  int (*create_tensor)(Handle*);
  int (*set_tensor)(Handle, int type, int dims, const int* shape, const int* strides);
  int (*destroy_tensor)(Handle);
  int (*create_filter)(Handle*);
  int (*set_filter)(Handle, int type, int format, int dims, const int* shape);
  int (*destroy_filter)(Handle);
  int (*create_convolution)(Handle*);
  int (*set_convolution)(Handle, int axes, const int* pad, const int* stride, const int* dilate, int mode, int type);
  int (*set_groups)(Handle, int);
  int (*set_math)(Handle, int);
  int (*destroy_convolution)(Handle);

  // The passes differ only in the order of their arrays: x w y, w y x, x y w. The convolution precedes the result.
  std::array<int (*)(Handle, Handle first, Handle second, Handle convolution, Handle result, int wanted, int* count,
                     Found*),
             3>
      search;
  std::array<int (*)(Handle, Handle first, const void*, Handle second, const void*, Handle convolution, Handle result,
                     void*, int wanted, int* count, Found*, void* workspace, std::size_t bytes),
             3>
      try_all;
  std::array<int (*)(Handle, Handle first, Handle second, Handle convolution, Handle result, int algorithm,
                     std::size_t* bytes),
             3>
      workspace;
  std::array<int (*)(Handle, const void* alpha, Handle first, const void*, Handle second, const void*,
                     Handle convolution, int algorithm, void* workspace, std::size_t bytes, const void* beta,
                     Handle result, void*),
             3>
      compute;
};

/// The descriptors of a convolution and its algorithm, empty if the library has none.
struct Plan : ConvolutionPlan {
  explicit Plan(const Api& of) : api(of) {}
  ~Plan() {
    if (x) api.destroy_tensor(x);
    if (y) api.destroy_tensor(y);
    if (w) api.destroy_filter(w);
    if (convolution) api.destroy_convolution(convolution);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Api& api;
  int algorithm = 0;
};

/// A pass's arrays in cuDNN's order.
Operands operands(const ConvolutionSpec& spec, const Plan& plan) {
  const DescribedArray x{plan.x, spec.x_view}, w{plan.w, spec.w_view}, y{plan.y, spec.y_view};
  if (spec.pass == ConvolutionPass::forward) return {x, w, y};
  if (spec.pass == ConvolutionPass::to_data) return {w, y, x};
  return {x, y, w};
}

class Cudnn final : public ConvolutionProvider {
 public:
  Cudnn(Context& context, const os::Library& library, Handle handle)
      : ConvolutionProvider(context),
        api_(library),
        handles_(handle, library.required<int(Handle*)>("cudnnCreate"),
                 library.required<int(Handle, Handle)>("cudnnSetStream")),
        version_(cudnn_version_text(cudnn_version(library))),
        detail_(fmt::format("{}, {}", version_, library.path())) {}

  std::string detail() const override { return detail_; }

 protected:
  const Computation& convolve(const ConvolutionSpec& spec) override {
    const Computation* computation = nullptr;
    const int status = handles_.with(context_.driver.queue(context_.index), [&](Handle handle) {
      const std::shared_ptr<Plan> plan = plan_of(handle, spec);
      if (!plan->found) throw Refused{};
      computation = plan->computation;
      const Scratch workspace(context_, static_cast<std::int64_t>(std::max<std::size_t>(1, plan->workspace)));
      const Operands o = operands(spec, *plan);
      const float one = 1, beta = spec.accumulate ? 1 : 0;
      const double one64 = 1, beta64 = beta;
      const bool is_double = spec.dtype == Dtype::float64;
      return api_.compute[pass(spec)](handle, is_double ? static_cast<const void*>(&one64) : &one, o.first,
                                      o.first_data, o.second, o.second_data, plan->convolution, plan->algorithm,
                                      workspace.handle(), plan->workspace,
                                      is_double ? static_cast<const void*>(&beta64) : &beta, o.result, o.result_data);
    });
    check(status, "compute");
    return *computation;
  }

 private:
  static void check(int status, const char* action) {
    if (status == 0) return;
    if (not_supported(status)) throw Refused{};
    throw Refused{fmt::format("it cannot {} (status {})", action, status)};
  }

  std::shared_ptr<Plan> plan_of(Handle handle, const ConvolutionSpec& spec) {
    std::vector<std::int64_t> key = spec.key();
    key.insert(key.end(),
               {bool{config.cudnn_deterministic}, bool{config.autotune}, spec.dtype == Dtype::float32 && config.tf32});
    return plans_.get(key, [&] {
      return described(std::make_shared<Plan>(api_), [&](Plan& plan) { describe(handle, spec, plan, key); });
    });
  }

  void describe(Handle handle, const ConvolutionSpec& spec, Plan& plan, const std::vector<std::int64_t>& key) {
    const int type = spec.dtype == Dtype::float64    ? kF64
                     : spec.dtype == Dtype::float16  ? kF16
                     : spec.dtype == Dtype::bfloat16 ? kBf16
                                                     : kF32;
    const auto tensor = [&](Handle& made, const Numbers& shape) {
      const Numbers strides = spec.strides(shape);
      check(api_.create_tensor(&made), "describe an array");
      check(api_.set_tensor(made, type, static_cast<int>(shape.size()), shape.data(), strides.data()),
            "describe an array");
    };
    tensor(plan.x, spec.x);
    tensor(plan.y, spec.y);
    check(api_.create_filter(&plan.w), "describe a filter");
    check(api_.set_filter(plan.w, type, spec.channels_last ? kChannelsLast : kChannelsFirst,
                          static_cast<int>(spec.w.size()), spec.w.data()),
          "describe a filter");
    check(api_.create_convolution(&plan.convolution), "describe a convolution");
    check(api_.set_convolution(plan.convolution, static_cast<int>(spec.pad.size()), spec.pad.data(), spec.stride.data(),
                               spec.dilate.data(), kCrossCorrelation, type == kF64 ? kF64 : kF32),
          "describe a convolution");
    check(api_.set_groups(plan.convolution, spec.groups), "describe groups");
    // multiply float32 in full precision unless TF32 was requested
    const bool exact = type == kF32 && !config.tf32;
    const int math = exact ? kFmaMath : type == kF16 || type == kBf16 ? kTensorMath : kDefaultMath;
    check(api_.set_math(plan.convolution, math), "choose its arithmetic");
    choose(handle, spec, plan, key, exact);
  }

  void choose(Handle handle, const ConvolutionSpec& spec, Plan& plan, const std::vector<std::int64_t>& key,
              bool exact) {
    const Operands o = operands(spec, plan);
    const bool deterministic = config.cudnn_deterministic;
    std::array<Found, kMostAlgorithms> found{};
    int count = 0;
    const auto accept = [&](const Found& f) {
      if (f.status != 0 || (deterministic && f.determinism != kDeterministic)) return false;
      if (exact && f.math != kFmaMath && f.math != kDefaultMath) return false;
      if (api_.set_math(plan.convolution, exact ? kFmaMath : f.math) != 0) return false;
      std::size_t bytes = 0;
      if (api_.workspace[pass(spec)](handle, o.first, o.second, plan.convolution, o.result, f.algorithm, &bytes) != 0)
        return false;
      if (bytes > kMostWorkspace) return false;
      plan.found = true;
      plan.algorithm = f.algorithm;
      plan.workspace = bytes;
      plan.computation = &context_.computations.keep(tell(spec, f, exact));
      return true;
    };
    const auto first = [&]() -> std::optional<Kept> {
      for (int i = 0; i < std::min(count, kMostAlgorithms); ++i)
        if (const Found& f = found[static_cast<std::size_t>(i)]; accept(f)) return Kept{f.algorithm, f.math};
      return std::nullopt;
    };
    if (!config.autotune) {
      check(api_.search[pass(spec)](handle, o.first, o.second, plan.convolution, o.result, kMostAlgorithms, &count,
                                    found.data()),
            "choose an algorithm");
      first();
      return;
    }
    tuned<Kept>(
        context_, "cuDNN " + version_, fmt::format("{} {}", exact, fmt::join(key, " ")),
        [&](const Kept& kept) {
          return accept({kept.algorithm, 0, 0, 0, kDeterministic, kept.math, {}});
        },
        [&] {
          const Scratch workspace(context_, kMostWorkspace), result(context_, spec.result().nbytes());
          check(api_.try_all[pass(spec)](handle, o.first, o.first_data, o.second, o.second_data, plan.convolution,
                                         o.result, result.handle(), kMostAlgorithms, &count, found.data(),
                                         workspace.handle(), kMostWorkspace),
                "try its algorithms");
          return first();
        });
  }

  /// Describes an algorithm. cuDNN reports the arithmetic that it may use, not the arithmetic that it does use.
  Computation tell(const ConvolutionSpec& spec, const Found& found, bool exact) const {
    const int math = exact ? kFmaMath : found.math;
    Computation c = computation_by("cuDNN", spec, !exact && spec.dtype == Dtype::float32);
    c.algorithm = fmt::format("algorithm {}, {}", algorithm_name(spec.pass, found.algorithm), math_name(math));
    if (!c.told && math == kFmaMath) {
      c.told = true;
      c.why_not = "sizes: cuDNN chose an algorithm without them";
    }
    return c;
  }

  const Api api_;
  StreamHandles handles_;
  const std::string version_, detail_;
  PlanCache<std::vector<std::int64_t>, Plan> plans_;
};

}  // namespace

std::unique_ptr<Provider<ConvolutionSpec>> open_cudnn(Context& context, std::string& why) {
  return open_cudnn_library(context, why, {"9", "8"}, [&](const os::Library& library, std::string& reason) {
    Handle handle = make_handle(context, library, "cudnnCreate", reason);
    return handle ? std::make_unique<Cudnn>(context, library, handle) : nullptr;
  });
}

}  // namespace catenary::gpu
