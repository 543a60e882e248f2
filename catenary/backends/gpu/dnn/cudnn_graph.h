#pragma once
// cuDNN's graphs: operations on arrays that one of its engines computes as a whole. The interface has descriptors of
// many types with numbered attributes. Since there are no vendor headers here, cudnn_graph.cpp lists the numbers.

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

/// A failed call of cuDNN.
struct CudnnFailure {
  int status;
  const char* action;  ///< "describe an array"

  /// Returns whether the status means that no engine exists, or that the operations cannot be computed.
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

/// A descriptor of any type.
class CudnnDescriptor {
 public:
  CudnnDescriptor(const CudnnGraphApi& api, int type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;

  void* handle() const { return handle_; }
  /// Sets an attribute, or finalizes. Throws CudnnFailure with this action.
  void set(int attribute, int type, std::int64_t count, const void* values, const char* action);
  void finalize(const char* action);

 private:
  const CudnnGraphApi* api_;
  void* handle_ = nullptr;
};

/// An engine that computes a graph, with everything that a run needs except the addresses of arrays.
class CudnnPlan {
 public:
  std::int64_t workspace() const { return workspace_; }
  std::int64_t engine() const { return engine_; }
  /// Returns whether cuDNN reports that the plan uses Tensor Cores.
  bool uses_tensor_cores() const { return uses_tensor_cores_; }
  /// Runs the plan in the handle's stream. `addresses` are the addresses of the graph's arrays, in the order of their
  /// addition.
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
  std::vector<CudnnDescriptor> kept_;  // the plan's sources, since cuDNN does not document whether it still needs them
};

/// A graph under construction. All functions throw CudnnFailure.
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

  /// Adds an array in memory, whose address is passed to each run.
  Tensor array(Type type, const Extents& shape, const Extents& strides);
  /// Adds an intermediate result without memory.
  Tensor between(Type type, const Extents& shape, const Extents& strides);
  Tensor between(Type type, const Extents& shape) { return between(type, shape, in_order(shape)); }
  Tensor scalar(float value);
  Tensor scalar(std::int32_t value);

  /// y = a b, for each batch and head. Several heads of a may share a head of b.
  void matmul(const Tensor& a, const Tensor& b, const Tensor& y);
  Tensor matmul(const Tensor& a, const Tensor& b, Type type);
  /// y = op(x, b), broadcasting axes of b of size 1.
  void pointwise(Pointwise op, const Tensor& x, const Tensor& b, const Tensor& y);
  /// Adds op(x, b) with x's shape.
  Tensor pointwise(Pointwise op, const Tensor& x, const Tensor& b, Type type = Type::f32);
  /// y = op(x).
  void unary(Pointwise op, const Tensor& x, const Tensor& y);
  Tensor unary(Pointwise op, const Tensor& x);
  /// Adds the elements' indices on an axis of x.
  Tensor index(const Tensor& x, std::int64_t axis);
  /// Selects x where `which` is true, otherwise b.
  Tensor select(const Tensor& which, const Tensor& x, const Tensor& b);
  void reduce(Reduction op, const Tensor& x, const Tensor& y);
  /// Reduces the last axis.
  Tensor reduce(Reduction op, const Tensor& x);
  /// Transposes x's matrices.
  Tensor transposed(const Tensor& x, Type type);

  /// Returns the first plan of cuDNN's heuristic within these limits, or null. The graph cannot be used afterwards.
  std::unique_ptr<CudnnPlan> plan(void* handle, std::int64_t most_workspace, bool deterministic);

 private:
  Tensor tensor(Type type, const Extents& shape, const Extents& strides, bool is_virtual, bool is_scalar);
  Tensor scalar(Type type, const void* value);
  /// Adds the descriptor of an operation, with the attributes that `set` sets.
  void* describe(int type, const char* action, const std::function<void(CudnnDescriptor&)>& set);
  /// Adds an operation with these descriptors as attributes. Null descriptors are omitted.
  void add(int type, const char* action, std::initializer_list<std::pair<int, void*>> parts);
  /// y = op(x, b, t), where b and t may be null.
  void pointwise(int mode, const Tensor& x, const Tensor* b, const Tensor* t, const Tensor& y, std::int64_t axis = -1);

  const CudnnGraphApi& api_;
  std::vector<CudnnDescriptor> kept_, operations_;  // arrays and descriptions, operations
  std::vector<std::int64_t> arrays_;
  std::vector<CudnnPlan::Scalar> scalars_;
  std::int64_t next_id_ = 1;
};

}  // namespace catenary::gpu
