// A stand-in for the immediate mode of libMIOpen.so. Like the real one, it also offers its naive solution in plain
// loops.

#include <algorithm>

#include "tests/simgpu/dnn/convolution.h"

using namespace simgpu_dnn;

namespace {

constexpr int kSuccess = 0, kNotInitialized = 1, kBadParam = 3, kInternalError = 5, kUnsupported = 8;
constexpr std::uint64_t kNaive = 85, kGood = 26;

struct Context {
  std::uint64_t magic = 0x310;
  Handle stream = nullptr;
};
struct Solution {
  float time;
  std::size_t workspace;
  std::uint64_t id;
  int algorithm;
};

/// Fills in the convolution. The order of its arrays depends on the pass. Returns false if it is not valid.
bool describe(Pass pass, Handle first, Handle second, Handle window, Handle result, Convolution& c) {
  Handle w = first, x = second, y = result;
  if (pass != Pass::forward) y = first;
  if (pass == Pass::to_data) {
    w = second;
    x = result;
  } else if (pass == Pass::to_filter) {
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

int list(Pass pass, Handle handle, Handle first, Handle second, Handle window, Handle result, std::size_t most,
         std::size_t* count, Solution* found) {
  Convolution c;
  if (!as<Context>(handle)) return kNotInitialized;
  if (fault("search")) return kInternalError;
  if (!describe(pass, first, second, window, result, c) || !c.window.deterministic) return kBadParam;
  if (c.window.groups > 4) return kUnsupported;
  const Solution all[] = {{-1, 0, kNaive, 1}, {1, 4096, kGood, 5}};
  *count = std::min<std::size_t>(most, 2);
  std::copy(all, all + *count, found);
  return kSuccess;
}

int compute(Pass pass, Handle handle, Handle first, const void* first_data, Handle second, const void* second_data,
            Handle window, Handle result, void* result_data, void* workspace, std::size_t bytes, std::uint64_t id) {
  const auto* context = as<Context>(handle);
  if (!context) return kNotInitialized;
  if (fault("compute")) return kInternalError;
  Convolution c;
  if (!describe(pass, first, second, window, result, c)) return kBadParam;
  if (id != kGood || bytes < 4096 || !is_allocated(workspace, bytes)) return kBadParam;
  c.w_data = pass == Pass::forward ? first_data : pass == Pass::to_data ? second_data : result_data;
  c.x_data = pass == Pass::to_data ? result_data : second_data;
  c.y_data = pass == Pass::forward ? result_data : first_data;
  if (!c.has_memory()) return kBadParam;
  return submit(c, context->stream) ? kSuccess : kInternalError;
}

}  // namespace

EXPORT int miopenGetVersion(std::size_t* major, std::size_t* minor, std::size_t* patch) {
  *major = 3;
  *minor = 2;
  *patch = 0;
  return kSuccess;
}
EXPORT int miopenCreate(Handle* handle) {
  if (fault("create")) return kNotInitialized;
  *handle = new Context;
  return kSuccess;
}
EXPORT int miopenSetStream(Handle handle, Handle stream) {
  if (!as<Context>(handle)) return kNotInitialized;
  as<Context>(handle)->stream = stream;
  return kSuccess;
}
EXPORT int miopenCreateTensorDescriptor(Handle* made) {
  *made = new Array;
  return kSuccess;
}
EXPORT int miopenSetTensorDescriptor(Handle handle, int type, int dims, const int* shape, const int* strides) {
  auto* array = as<Array>(handle);
  if (!array || dims < 4) return kBadParam;
  switch (type) {
    case 0:
      array->type = Type::f16;
      break;
    case 1:
      array->type = Type::f32;
      break;
    case 5:
      array->type = Type::bf16;
      break;
    case 6:
      array->type = Type::f64;
      break;
    default:
      return kBadParam;
  }
  array->shape.assign(shape, shape + dims);
  array->strides.assign(strides, strides + dims);
  return kSuccess;
}
EXPORT int miopenDestroyTensorDescriptor(Handle handle) {
  delete as<Array>(handle);
  return kSuccess;
}
EXPORT int miopenCreateConvolutionDescriptor(Handle* made) {
  *made = new Window;
  return kSuccess;
}
EXPORT int miopenInitConvolutionNdDescriptor(Handle handle, int axes, const int* pad, const int* stride,
                                             const int* dilate, int mode) {
  auto* window = as<Window>(handle);
  if (!window || axes < 2 || mode != 0) return kBadParam;
  window->pad.assign(pad, pad + axes);
  window->stride.assign(stride, stride + axes);
  window->dilate.assign(dilate, dilate + axes);
  return kSuccess;
}
EXPORT int miopenSetConvolutionGroupCount(Handle handle, int groups) {
  if (!as<Window>(handle)) return kBadParam;
  as<Window>(handle)->groups = groups;
  return kSuccess;
}
EXPORT int miopenSetConvolutionAttribute(Handle handle, int attribute, int value) {
  if (!as<Window>(handle) || attribute != 1) return kBadParam;
  as<Window>(handle)->deterministic = value;
  return kSuccess;
}
EXPORT int miopenDestroyConvolutionDescriptor(Handle handle) {
  delete as<Window>(handle);
  return kSuccess;
}

#define PASS(name, pass)                                                                                          \
  EXPORT int miopenConvolution##name##GetSolution(Handle handle, Handle first, Handle second, Handle window,      \
                                                  Handle result, std::size_t most, std::size_t* count,            \
                                                  Solution* found) {                                              \
    return list(pass, handle, first, second, window, result, most, count, found);                                 \
  }                                                                                                               \
  EXPORT int miopenConvolution##name##CompileSolution(Handle handle, Handle, Handle, Handle, Handle,              \
                                                      std::uint64_t id) {                                         \
    return as<Context>(handle) && id == kGood ? kSuccess : kBadParam;                                             \
  }                                                                                                               \
  EXPORT int miopenConvolution##name##Immediate(                                                                  \
      Handle handle, Handle first, const void* first_data, Handle second, const void* second_data, Handle window, \
      Handle result, void* result_data, void* workspace, std::size_t bytes, std::uint64_t id) {                   \
    return compute(pass, handle, first, first_data, second, second_data, window, result, result_data, workspace,  \
                   bytes, id);                                                                                    \
  }
PASS(Forward, Pass::forward)
PASS(BackwardData, Pass::to_data)
PASS(BackwardWeights, Pass::to_filter)
