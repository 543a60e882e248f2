// MIOpen, by its immediate interface: solutions known without trials, fastest first.

#include <array>
#include <cstring>

#include "catenary/backends/gpu/dnn/provider.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/stream_handles.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

using Handle = void*;
using Numbers = ConvolutionSpec::Numbers;

constexpr int kF16 = 0, kF32 = 1, kBf16 = 5, kF64 = 6;  // miopenDataType_t
constexpr int kConvolution = 0;                         // miopenConvolutionMode_t
constexpr int kDeterministic = 1;                       // miopenConvolutionAttrib_t
constexpr int kNotImplemented = 6, kUnsupported = 8;    // miopenStatus_t
// Stable numbers of ConvDirectNaiveConvFwd, …Bwd and …Wrw: plain loops, slower than our kernels.
constexpr std::uint64_t kFirstNaive = 85, kLastNaive = 87;
constexpr std::size_t kMostSolutions = 32;

/// miopenConvSolution_t
struct Solution {
  float time;
  std::size_t workspace;
  std::uint64_t id;
  int algorithm;
};

struct Api {
  explicit Api(const os::Library& library) {
    const auto find = [&](auto& function, const char* name) {
      using F = std::remove_pointer_t<std::remove_reference_t<decltype(function)>>;
      function = library.required<F>(fmt::format("miopen{}", name).c_str());
    };
    find(create_tensor, "CreateTensorDescriptor");
    find(set_tensor, "SetTensorDescriptor");
    find(destroy_tensor, "DestroyTensorDescriptor");
    find(create_convolution, "CreateConvolutionDescriptor");
    find(init_convolution, "InitConvolutionNdDescriptor");
    find(set_groups, "SetConvolutionGroupCount");
    find(set_attribute, "SetConvolutionAttribute");
    find(destroy_convolution, "DestroyConvolutionDescriptor");
    constexpr const char* passes[] = {"Forward", "BackwardData", "BackwardWeights"};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string pass = std::string("Convolution") + passes[i];
      find(solutions[i], (pass + "GetSolution").c_str());
      find(compile[i], (pass + "CompileSolution").c_str());
      find(compute[i], (pass + "Immediate").c_str());
    }
  }

  int (*create_tensor)(Handle*);
  int (*set_tensor)(Handle, int type, int dims, const int* shape, const int* strides);
  int (*destroy_tensor)(Handle);
  int (*create_convolution)(Handle*);
  int (*init_convolution)(Handle, int axes, const int* pad, const int* stride, const int* dilate, int mode);
  int (*set_groups)(Handle, int);
  int (*set_attribute)(Handle, int attribute, int value);
  int (*destroy_convolution)(Handle);

  // The passes differ only in the order of their arrays: w x y, y w x, y x w.
  std::array<int (*)(Handle, Handle first, Handle second, Handle convolution, Handle result, std::size_t most,
                     std::size_t* count, Solution*),
             3>
      solutions;
  std::array<int (*)(Handle, Handle first, Handle second, Handle convolution, Handle result, std::uint64_t id), 3>
      compile;
  std::array<int (*)(Handle, Handle first, const void*, Handle second, const void*, Handle convolution, Handle result,
                     void*, void* workspace, std::size_t bytes, std::uint64_t id),
             3>
      compute;
};

/// The descriptors of a convolution and its solution, empty if the library has none.
struct Plan : ConvolutionPlan {
  explicit Plan(const Api& of) : api(of) {}
  ~Plan() {
    for (Handle array : {x, w, y})
      if (array) api.destroy_tensor(array);
    if (convolution) api.destroy_convolution(convolution);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Api& api;
  std::uint64_t solution = 0;
};

/// A pass's arrays in MIOpen's order.
Operands operands(const ConvolutionSpec& spec, const Plan& plan) {
  const DescribedArray x{plan.x, spec.x_view}, w{plan.w, spec.w_view}, y{plan.y, spec.y_view};
  if (spec.pass == ConvolutionPass::forward) return {w, x, y};
  if (spec.pass == ConvolutionPass::to_data) return {y, w, x};
  return {y, x, w};
}

class Miopen final : public ConvolutionProvider {
 public:
  Miopen(Context& context, const os::Library& library, Handle handle)
      : ConvolutionProvider(context),
        api_(library),
        handles_(handle, library.required<int(Handle*)>("miopenCreate"),
                 library.required<int(Handle, Handle)>("miopenSetStream")) {
    std::size_t major = 0, minor = 0, patch = 0;
    library.required<int(std::size_t*, std::size_t*, std::size_t*)>("miopenGetVersion")(&major, &minor, &patch);
    detail_ = fmt::format("{}.{}.{}, {}", major, minor, patch, library.path());
  }

  std::string detail() const override { return detail_; }

 protected:
  bool accumulates() const override { return false; }
  const Computation& convolve(const ConvolutionSpec& spec) override {
    const Computation* computation = nullptr;
    const int status = handles_.with(context_.driver.queue(context_.index), [&](Handle handle) {
      std::vector<std::int64_t> key = spec.key();
      key.push_back(bool{config.cudnn_deterministic});
      const std::shared_ptr<Plan> plan = plans_.get(key, [&] {
        return described(std::make_shared<Plan>(api_), [&](Plan& made) { describe(handle, spec, made); });
      });
      if (!plan->found) throw Refused{};
      computation = plan->computation;
      const Scratch workspace(context_, static_cast<std::int64_t>(std::max<std::size_t>(1, plan->workspace)));
      const Operands o = operands(spec, *plan);
      return api_.compute[pass(spec)](handle, o.first, o.first_data, o.second, o.second_data, plan->convolution,
                                      o.result, o.result_data, workspace.handle(), plan->workspace, plan->solution);
    });
    check(status, "compute");
    return *computation;
  }

 private:
  static void check(int status, const char* action) {
    if (status == 0) return;
    if (status == kNotImplemented || status == kUnsupported) throw Refused{};
    throw Refused{fmt::format("it cannot {} (status {})", action, status)};
  }

  void describe(Handle handle, const ConvolutionSpec& spec, Plan& plan) {
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
    tensor(plan.w, spec.w);
    tensor(plan.y, spec.y);
    check(api_.create_convolution(&plan.convolution), "describe a convolution");
    check(api_.init_convolution(plan.convolution, static_cast<int>(spec.pad.size()), spec.pad.data(),
                                spec.stride.data(), spec.dilate.data(), kConvolution),
          "describe a convolution");
    check(api_.set_groups(plan.convolution, spec.groups), "describe groups");
    check(api_.set_attribute(plan.convolution, kDeterministic, bool{config.cudnn_deterministic}),
          "be told to be deterministic");
    const Operands o = operands(spec, plan);
    std::array<Solution, kMostSolutions> found{};
    std::size_t count = 0;
    check(api_.solutions[pass(spec)](handle, o.first, o.second, plan.convolution, o.result, found.size(), &count,
                                     found.data()),
          "choose a solution");
    for (std::size_t i = 0; i < std::min(count, found.size()) && !plan.found; ++i) {
      const Solution& s = found[i];
      if ((s.id >= kFirstNaive && s.id <= kLastNaive) || s.workspace > kMostWorkspace) continue;
      if (api_.compile[pass(spec)](handle, o.first, o.second, plan.convolution, o.result, s.id) != 0) continue;
      plan.found = true;
      plan.solution = s.id;
      plan.workspace = s.workspace;
      plan.computation = &context_.computations.keep(tell(spec, s));
    }
  }

  Computation tell(const ConvolutionSpec& spec, const Solution& solution) const {
    Computation c = computation_by("MIOpen", spec, false);
    constexpr std::array<const char*, 6> names = {"GEMM", "direct", "FFT", "Winograd", "", "implicit GEMM"};
    const auto number = static_cast<std::size_t>(solution.algorithm);
    const bool is_known = solution.algorithm >= 0 && number < names.size() && *names[number];
    c.algorithm = fmt::format("solution {}{}{}", solution.id, is_known ? ", " : "", is_known ? names[number] : "");
    return c;
  }

  const Api api_;
  StreamHandles handles_;
  std::string detail_;
  PlanCache<std::vector<std::int64_t>, Plan> plans_;
};

}  // namespace

const RocmLibrary& miopen() {
  static const RocmLibrary library = {"MIOpen", {{5, 8, "libMIOpen.so.1"}}};
  return library;
}

std::unique_ptr<Provider<ConvolutionSpec>> open_miopen(Context& context, std::string& why) {
  return open_rocm_library(context, miopen(), why, [&](const os::Library& library, std::string& reason) {
    Handle handle = make_handle(context, library, "miopenCreate", reason);
    return handle ? std::make_unique<Miopen>(context, library, handle) : nullptr;
  });
}

}  // namespace catenary::gpu
