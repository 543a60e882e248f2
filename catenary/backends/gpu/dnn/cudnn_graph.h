#pragma once
// cuDNN's graphs: operations on arrays, which one of its engines computes as a whole. Its interface knows descriptors
// of many types, whose attributes are set by number; there are no headers here, so the numbers stand in
// cudnn_graph.cpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catenary/core/os/library.h"

namespace catenary::gpu {

/// A call of cuDNN's that failed.
struct CudnnFailure {
  int status;
  const char* action;  ///< "describe an array"

  /// Does it say that there is no such engine, or that the operations are none that one could compute?
  bool is_unsupported() const { return status / 1000 == 3; }
  std::string text() const;
};

/// cuDNN's functions for graphs.
struct CudnnGraphApi {
  explicit CudnnGraphApi(const os::Library& library);

  int (*create)(int type, void** descriptor);
  int (*destroy)(void* descriptor);
  int (*set)(void* descriptor, int attribute, int type, std::int64_t count, const void* values);
  int (*get)(void* descriptor, int attribute, int type, std::int64_t wanted, std::int64_t* count, void* values);
  int (*finalize)(void* descriptor);
  int (*execute)(void* handle, void* plan, void* pack);
};

/// A descriptor of one of its types.
class CudnnDescriptor {
 public:
  CudnnDescriptor(const CudnnGraphApi& api, int type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;

  void* handle() const { return handle_; }
  /// Throw CudnnFailure with this action.
  void set(int attribute, int type, std::int64_t count, const void* values, const char* action);
  void finalize(const char* action);

 private:
  const CudnnGraphApi* api_;
  void* handle_ = nullptr;
};

/// An engine that computes a graph, with all that a run needs but the addresses of arrays.
class CudnnPlan {
 public:
  std::int64_t workspace() const { return workspace_; }
  std::int64_t engine() const { return engine_; }
  /// Does cuDNN say that it uses Tensor Cores?
  bool uses_tensor_cores() const { return uses_tensor_cores_; }
  /// Runs it in the handle's stream. `addresses` are those of the graph's arrays, in the order in which they were
  /// added.
  void run(void* handle, const std::vector<void*>& addresses, void* workspace) const;

 private:
  friend class CudnnGraph;
  struct Scalar {
    std::int64_t id;
    std::array<std::byte, 4> value;
  };
  CudnnPlan(const CudnnGraphApi& api, CudnnDescriptor plan) : api_(api), plan_(std::move(plan)) {}

  const CudnnGraphApi& api_;
  CudnnDescriptor plan_;
  std::int64_t workspace_ = 0, engine_ = 0;
  bool uses_tensor_cores_ = false;
  std::vector<std::int64_t> arrays_;
  std::vector<Scalar> scalars_;
  std::vector<CudnnDescriptor> kept_;  // of which it was made: cuDNN does not say whether it still needs them
};

/// A graph that is being built. All functions throw CudnnFailure.
class CudnnGraph {
 public:
  enum class Type : std::uint8_t { f32, f16, bf16, i32, boolean };
  enum class Pointwise : std::uint8_t { add, sub, mul, div, exp, log, identity, greater, greater_equal };
  enum class Reduction : std::uint8_t { sum, max };
  using Extents = std::array<std::int64_t, 4>;

  struct Tensor {
    void* descriptor;
    Type type;
    Extents shape, strides;
  };

  explicit CudnnGraph(const CudnnGraphApi& api) : api_(api) {}

  static Extents in_order(const Extents& shape) {
    return {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1};
  }

  /// One in memory, whose address a run is given.
  Tensor array(Type type, const Extents& shape, const Extents& strides);
  /// One that is nowhere in memory.
  Tensor between(Type type, const Extents& shape, const Extents& strides);
  Tensor between(Type type, const Extents& shape) { return between(type, shape, in_order(shape)); }
  Tensor scalar(float value);
  Tensor scalar(std::int32_t value);

  /// y = a b, for each batch and head; heads of a share those of b.
  void matmul(const Tensor& a, const Tensor& b, const Tensor& y);
  Tensor matmul(const Tensor& a, const Tensor& b, Type type);
  /// y = op(x, b); axes of b of one element are broadcast.
  void pointwise(Pointwise op, const Tensor& x, const Tensor& b, const Tensor& y);
  /// Of x's shape.
  Tensor pointwise(Pointwise op, const Tensor& x, const Tensor& b, Type type = Type::f32);
  /// Of x alone.
  void unary(Pointwise op, const Tensor& x, const Tensor& y);
  Tensor unary(Pointwise op, const Tensor& x);
  /// The elements' places on an axis of x.
  Tensor index(const Tensor& x, std::int64_t axis);
  /// x where `which` is true, else b.
  Tensor select(const Tensor& which, const Tensor& x, const Tensor& b);
  void reduce(Reduction op, const Tensor& x, const Tensor& y);
  /// Along the last axis.
  Tensor reduce(Reduction op, const Tensor& x);
  /// The same elements in a matrix whose rows are x's columns.
  Tensor transposed(const Tensor& x, Type type);

  /// The first plan that cuDNN's heuristic proposes and that is within these limits; null where there is none. The
  /// graph is used up.
  std::unique_ptr<CudnnPlan> plan(void* handle, std::int64_t most_workspace, bool deterministic);

 private:
  Tensor tensor(Type type, const Extents& shape, const Extents& strides, bool is_virtual, bool is_scalar);
  Tensor scalar(Type type, const void* value);
  /// A description of an operation, which `set` tells about.
  void* describe(int type, const char* action, const std::function<void(CudnnDescriptor&)>& set);
  /// An operation of descriptors by their attributes; null ones are left out.
  void add(int type, const char* action, std::initializer_list<std::pair<int, void*>> parts);
  /// y = op(x, b, t); b and t may be null.
  void pointwise(int mode, const Tensor& x, const Tensor* b, const Tensor* t, const Tensor& y, std::int64_t axis = -1);

  const CudnnGraphApi& api_;
  std::vector<CudnnDescriptor> kept_, operations_;  // arrays and descriptions; operations
  std::vector<std::int64_t> arrays_;
  std::vector<CudnnPlan::Scalar> scalars_;
  std::int64_t next_id_ = 1;
};

}  // namespace catenary::gpu
