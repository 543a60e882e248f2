#pragma once
// What every device must do. Each primitive takes views: a handle that only the backend understands, an offset, a shape
// and strides. "Nothing is unsupported": where a device lacks a tuned way, the backend has a plain one.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "catenary/core/dtype.h"
#include "catenary/core/shape.h"
#include "catenary/device/device_info.h"
#include "catenary/device/device_streams.h"
#include "catenary/device/pool.h"
#include "catenary/ops/program.h"

namespace catenary {

/// Elements in a device's memory.
struct View {
  void* handle = nullptr;   ///< of the buffer; on the CPU its address
  std::int64_t offset = 0;  ///< in elements, of the first one
  Dtype dtype = Dtype::float32;
  Shape shape;
  Strides strides;  ///< in elements

  std::int64_t size() const { return shape.product(); }
  /// On the CPU: address of the first element.
  void* data() const {
    // an array without elements may have no memory, and an offset all the same
    return handle ? static_cast<char*>(handle) + offset * static_cast<std::int64_t>(itemsize(dtype)) : nullptr;
  }
};

/// What is done to indices that are out of range.
enum class IndexMode : std::uint8_t { raise, wrap, clip };
/// What a scatter does where it writes.
enum class ScatterMode : std::uint8_t { assign, add, max, min };
/// Running totals.
enum class Scan : std::uint8_t { sum, prod };
/// What a selection gives of each row.
enum class Selection : std::uint8_t {
  elements,   ///< those that a sort would put at the places asked for
  partition,  ///< the row, partitioned around them
  indices,    ///< the indices (int64) that partition the row
};
/// Small dense linear algebra.
enum class Linalg : std::uint8_t { cholesky, inv, solve, det, lu };

/// Added to a matrix product as it is stored.
struct MatmulEpilogue {
  const View* bias = nullptr;  ///< 1-d, added along the last axis of the result
  bool accumulate = false;     ///< adds to what the result holds
};

/// A reduction of one value of a program over some axes of its shape.
struct ReduceSpec {
  ops::Reduce op = ops::Reduce::sum;
  int value = -1;     ///< node of the program that is reduced
  unsigned axes = 0;  ///< one bit an axis of the program's shape
  View out;           ///< shape = the kept axes in order
};

/// One run of a program that is run many times over different memory: where its loads and stores lie, and how many
/// elements there are.
struct Segment {
  std::int64_t size = 0;
  std::vector<std::pair<void*, std::int64_t>> loads, stores;  ///< handle and offset, in the order of the program's
};

/// The primitives of a device.
class CT_API Backend {
 public:
  virtual ~Backend();
  virtual const char* name() const = 0;
  virtual int device_count() const = 0;
  virtual DeviceInfo info(int device) const = 0;
  /// Why there is no device, or fewer than one may expect; empty where all is well.
  virtual std::string reason() const = 0;

  // Memory. Handles come from the pool; 0 bytes give a null handle.
  virtual MemoryPool& pool(int device) = 0;
  virtual void copy_from_host(int device, void* handle, std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void copy_to_host(int device, void* to, void* handle, std::size_t offset, std::size_t bytes) = 0;
  /// Copies between two devices of this backend without the host; false, and nothing has happened, where it cannot.
  virtual bool copy_between(int to_device, void* to, std::size_t to_offset, int from_device, void* from,
                            std::size_t from_offset, std::size_t bytes);
  virtual void synchronize(int device) = 0;
  /// Null where everything happens in order at once.
  virtual DeviceStreams* streams() { return nullptr; }
  /// True where handles are addresses that the host may read and write.
  virtual bool host_addressable() const = 0;

  // Elementwise and reductions.
  virtual void run(int device, ops::Program& program) = 0;
  virtual void reduce(int device, ops::Program& program, const ReduceSpec& spec) = 0;
  /// Runs a program over C-ordered memory once for each segment, as one piece of work where the device can.
  virtual void run_segments(int device, const ops::Program& program, const std::vector<Segment>& segments) = 0;
  /// Index (int64) of the largest or smallest element along `axis` of x; the first of equals, the first NaN if there is
  /// one.
  virtual void arg_reduce(int device, bool largest, const View& x, int axis, const View& out) = 0;

  // Moving data.
  virtual void copy(int device, const View& to, const View& from) = 0;
  /// out[i, j, k] = x[i, indices[j], k]; x is [outer, n, inner] and C-ordered, indices are int64 and C-ordered.
  virtual void take(int device, const View& x, const View& indices, const View& out, IndexMode mode) = 0;
  /// out[i, j, k] = x[i, indices[i, j, k], k]; x is [outer, n, inner], indices (int64) and out are [outer, count,
  /// inner], all C-ordered. The IndexError of an index out of range names `axis`.
  virtual void take_along_axis(int device, const View& x, const View& indices, const View& out, int axis) = 0;
  /// out[p, …] = x[index0[p], index1[p], …, …]: advanced indexing over the leading axes of x. Indices are int64,
  /// C-ordered, of one shape; out is C-ordered: that shape, then the rest of x's axes.
  virtual void gather(int device, const View& x, const std::vector<View>& indices, const View& out) = 0;
  /// The reverse: x[index0[p], index1[p], …, …] = (or += …) values[p, …].
  virtual void scatter(int device, const View& x, const std::vector<View>& indices, const View& values,
                       ScatterMode mode) = 0;
  /// Flat positions (int64) of the true elements of a C-ordered bool view.
  virtual std::vector<std::int64_t> nonzero(int device, const View& mask) = 0;

  // Order. Rows are the last axis of C-ordered views.
  /// out may be `rows`.
  virtual void sort(int device, const View& rows, const View& out) = 0;
  virtual void argsort(int device, const View& rows, const View& indices) = 0;
  /// A partition without a full sort: at each of the places `kth` (ascending, in [0, n), at least one) stands what a
  /// sort would put there, nothing smaller comes after it and nothing larger before it; equal elements stay in their
  /// order. descending: from the largest (NaN) to the smallest. out is C-ordered, [..., m]: with m = kth.size() for
  /// `elements`, where of equal ones (-0.0 and 0.0, NaNs) any may be given; else with m <= n, the first m places.
  virtual void select(int device, Selection what, bool descending, const View& rows,
                      const std::vector<std::int64_t>& kth, const View& out) = 0;
  virtual void scan(int device, Scan op, const View& x, int axis, const View& out) = 0;
  virtual void searchsorted(int device, const View& sorted, const View& values, bool right, const View& out) = 0;

  // Matrices: a [batch, m, k], b [batch, k, n], c [batch, m, n]; any strides (0 for a broadcast batch).
  virtual void matmul(int device, const View& a, const View& b, const View& c, const MatmulEpilogue& epilogue) = 0;
  /// Small dense linear algebra on C-ordered float32 or float64 batches [batch, n, n]; see array/linalg.h. `ok` gets
  /// false for a matrix that is singular or not positive definite.
  virtual void linalg(int device, Linalg op, const View& a, const View& b, const View& out, std::vector<bool>& ok) = 0;

  /// uint32 Philox4x32-10 bits; element i depends on (seed, call, i) only.
  virtual void random_bits(int device, std::uint64_t seed, std::uint64_t call, const View& out) = 0;
};

/// Backends in the order in which `gpu:0` looks for one; the CPU's is first. (registry.cpp)
CT_API const std::vector<Backend*>& backends();

}  // namespace catenary
