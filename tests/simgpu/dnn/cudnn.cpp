// A stand-in for libcudnn.so, version 9. Like the real one, it offers several algorithms. All compute the same values,
// but the first is listed as the fastest and as not deterministic, and another needs a workspace.
// SIMGPU_CUDNN_VERSION=91000 changes the version.

#include <algorithm>
#include <cstdio>

#include "tests/simgpu/dnn/convolution.h"
#include "tests/simgpu/dnn/graph.h"

using namespace simgpu_dnn;

namespace {

constexpr int kSuccess = 0, kNotInitialized = 1001, kBadParam = 2000, kNotSupported = 3000, kExecutionFailed = 5000;
constexpr int kFmaMath = 3;

struct Context {
  std::uint64_t magic = 0xcd11;
  Handle stream = nullptr;
};
struct Found {
  int algorithm, status;
  float time;
  std::size_t memory;
  int determinism, math, reserved[3];
};

bool type_of(int number, Type& type) {
  switch (number) {
    case 0:
      type = Type::f32;
      return true;
    case 1:
      type = Type::f64;
      return true;
    case 2:
      type = Type::f16;
      return true;
    case 9:
      type = Type::bf16;
      return true;
    default:
      return false;
  }
}

constexpr int kAtomic = 0, kPlain = 1;  // algorithms
std::size_t workspace_of(int algorithm) { return algorithm == kPlain ? 4096 : 0; }

/// Fills in the convolution. The order of its arrays depends on the pass. Returns false if it is not valid.
bool describe(Pass pass, Handle first, Handle second, Handle window, Handle result, Convolution& c) {
  Handle x = first, w = second, y = result;
  if (pass == Pass::to_data) {
    w = first;
    y = second;
    x = result;
  } else if (pass == Pass::to_filter) {
    y = second;
    w = result;
  }
  if (!as<Array>(x) || !as<Array>(w) || !as<Array>(y) || !as<Window>(window)) return false;
  c.pass = pass;
  c.x = *as<Array>(x);
  c.w = *as<Array>(w);
  c.y = *as<Array>(y);
  c.window = *as<Window>(window);
  return c.is_valid();
}

int list(Pass pass, Handle handle, Handle first, Handle second, Handle window, Handle result, int wanted, int* count,
         Found* found) {
  Convolution c;
  if (!as<Context>(handle)) return kNotInitialized;
  if (fault("search")) return kExecutionFailed;
  if (!describe(pass, first, second, window, result, c)) return kBadParam;
  if (c.window.groups > 4) return kNotSupported;  // the real one refuses some of these
  const int math = c.window.math;
  const Found all[] = {{kAtomic, kSuccess, 1, workspace_of(kAtomic), 0, math, {}},
                       {7, kNotSupported, -1, 0, 1, math, {}},
                       {kPlain, kSuccess, 2, workspace_of(kPlain), 1, math, {}}};
  *count = std::min(wanted, 3);
  std::copy(all, all + *count, found);
  return kSuccess;
}

int compute(Pass pass, Handle handle, const void* alpha, Handle first, const void* first_data, Handle second,
            const void* second_data, Handle window, int algorithm, void* workspace, std::size_t bytes, const void* beta,
            Handle result, void* result_data) {
  const auto* context = as<Context>(handle);
  if (!context) return kNotInitialized;
  if (fault("compute")) return kExecutionFailed;
  Convolution c;
  if (!describe(pass, first, second, window, result, c)) return kBadParam;
  const bool may_round = std::getenv("CATENARY_TF32") || fault("tf32");
  if (c.x.type == Type::f32 && c.window.math != kFmaMath && !may_round) return kBadParam;
  if (c.window.sums != (c.x.type == Type::f64 ? Type::f64 : Type::f32)) return kBadParam;
  if (algorithm != kPlain && (algorithm != kAtomic || !std::getenv("CATENARY_CUDNN_DETERMINISTIC"))) return kBadParam;
  if (bytes < workspace_of(algorithm) || (bytes && !is_allocated(workspace, bytes))) return kBadParam;
  c.x_data = pass == Pass::to_data ? result_data : first_data;
  c.w_data = pass == Pass::forward ? second_data : pass == Pass::to_data ? first_data : result_data;
  c.y_data = pass == Pass::forward ? result_data : second_data;
  if (!c.has_memory()) return kBadParam;
  c.alpha = load(alpha, 0, c.window.sums);
  c.beta = load(beta, 0, c.window.sums);
  return submit(c, context->stream) ? kSuccess : kExecutionFailed;
}

}  // namespace

EXPORT std::size_t cudnnGetVersion() {
  const char* version = std::getenv("SIMGPU_CUDNN_VERSION");
  return version ? static_cast<std::size_t>(std::atoi(version)) : 91900;
}
EXPORT int cudnnCreate(Handle* handle) {
  if (fault("create")) return kNotInitialized;
  *handle = new Context;
  return kSuccess;
}
EXPORT int cudnnSetStream(Handle handle, Handle stream) {
  if (!as<Context>(handle)) return kNotInitialized;
  as<Context>(handle)->stream = stream;
  return kSuccess;
}
EXPORT int cudnnCreateTensorDescriptor(Handle* made) {
  *made = new Array;
  return kSuccess;
}
EXPORT int cudnnSetTensorNdDescriptor(Handle handle, int type, int dims, const int* shape, const int* strides) {
  auto* array = as<Array>(handle);
  if (!array || dims < 4 || dims > 8 || !type_of(type, array->type)) return kBadParam;
  array->shape.assign(shape, shape + dims);
  array->strides.assign(strides, strides + dims);
  return kSuccess;
}
EXPORT int cudnnDestroyTensorDescriptor(Handle handle) {
  delete as<Array>(handle);
  return kSuccess;
}
EXPORT int cudnnCreateFilterDescriptor(Handle* made) {
  *made = new Array;
  return kSuccess;
}
EXPORT int cudnnSetFilterNdDescriptor(Handle handle, int type, int format, int dims, const int* shape) {
  auto* array = as<Array>(handle);
  if (!array || dims < 4 || format < 0 || format > 1 || !type_of(type, array->type)) return kBadParam;
  array->shape.assign(shape, shape + dims);
  array->strides.assign(static_cast<std::size_t>(dims), 1);
  int step = format == 1 ? shape[1] : 1;  // channels last, or C order
  for (int axis = dims - 1; axis >= 0; --axis) {
    if (format == 1 && axis == 1) continue;
    array->strides[static_cast<std::size_t>(axis)] = step;
    step *= shape[axis];
  }
  return kSuccess;
}
EXPORT int cudnnDestroyFilterDescriptor(Handle handle) {
  delete as<Array>(handle);
  return kSuccess;
}
EXPORT int cudnnCreateConvolutionDescriptor(Handle* made) {
  *made = new Window;
  return kSuccess;
}
EXPORT int cudnnSetConvolutionNdDescriptor(Handle handle, int axes, const int* pad, const int* stride,
                                           const int* dilate, int mode, int type) {
  auto* window = as<Window>(handle);
  if (!window || axes < 2 || mode != 1 || !type_of(type, window->sums)) return kBadParam;
  window->pad.assign(pad, pad + axes);
  window->stride.assign(stride, stride + axes);
  window->dilate.assign(dilate, dilate + axes);
  return kSuccess;
}
EXPORT int cudnnSetConvolutionGroupCount(Handle handle, int groups) {
  if (!as<Window>(handle)) return kBadParam;
  as<Window>(handle)->groups = groups;
  return kSuccess;
}
EXPORT int cudnnSetConvolutionMathType(Handle handle, int math) {
  if (!as<Window>(handle)) return kBadParam;
  as<Window>(handle)->math = math;
  return kSuccess;
}
EXPORT int cudnnDestroyConvolutionDescriptor(Handle handle) {
  delete as<Window>(handle);
  return kSuccess;
}

#define PASS(name, pass)                                                                                              \
  EXPORT int cudnnGetConvolution##name##Algorithm_v7(Handle handle, Handle first, Handle second, Handle window,       \
                                                     Handle result, int wanted, int* count, Found* found) {           \
    return list(pass, handle, first, second, window, result, wanted, count, found);                                   \
  }                                                                                                                   \
  EXPORT int cudnnFindConvolution##name##AlgorithmEx(Handle handle, Handle first, const void*, Handle second,         \
                                                     const void*, Handle window, Handle result, void* to, int wanted, \
                                                     int* count, Found* found, void* workspace, std::size_t bytes) {  \
    if (!is_allocated(to, 1) || !is_allocated(workspace, bytes)) return kBadParam;                                    \
    std::fprintf(stderr, "cuDNN tries its algorithms\n");                                                             \
    return list(pass, handle, first, second, window, result, wanted, count, found);                                   \
  }                                                                                                                   \
  EXPORT int cudnnGetConvolution##name##WorkspaceSize(Handle, Handle, Handle, Handle, Handle, int algorithm,          \
                                                      std::size_t* bytes) {                                           \
    *bytes = workspace_of(algorithm);                                                                                 \
    return kSuccess;                                                                                                  \
  }                                                                                                                   \
  EXPORT int cudnnConvolution##name(Handle handle, const void* alpha, Handle first, const void* first_data,           \
                                    Handle second, const void* second_data, Handle window, int algorithm,             \
                                    void* workspace, std::size_t bytes, const void* beta, Handle result,              \
                                    void* result_data) {                                                              \
    return compute(pass, handle, alpha, first, first_data, second, second_data, window, algorithm, workspace, bytes,  \
                   beta, result, result_data);                                                                        \
  }
PASS(Forward, Pass::forward)
PASS(BackwardData, Pass::to_data)
#ifndef SIM_WITHOUT_FILTER
PASS(BackwardFilter, Pass::to_filter)
#endif

// Graphs.
static bool is_context(Handle handle) { return as<Context>(handle) != nullptr; }

EXPORT int cudnnBackendCreateDescriptor(int kind, Handle* made) { return graph::create(kind, made); }
EXPORT int cudnnBackendDestroyDescriptor(Handle descriptor) { return graph::destroy(descriptor); }
EXPORT int cudnnBackendSetAttribute(Handle descriptor, int name, int type, std::int64_t count, const void* values) {
  return graph::set(descriptor, name, type, count, values);
}
EXPORT int cudnnBackendGetAttribute(Handle descriptor, int name, int type, std::int64_t wanted, std::int64_t* count,
                                    void* values) {
  return graph::get(descriptor, name, type, wanted, count, values);
}
EXPORT int cudnnBackendFinalize(Handle descriptor) { return graph::finalize(descriptor, is_context); }
EXPORT int cudnnBackendExecute(Handle handle, Handle plan, Handle pack) {
  const auto* context = as<Context>(handle);
  return context ? graph::execute(context->stream, plan, pack) : kNotInitialized;
}
