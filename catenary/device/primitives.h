#pragma once
// The primitives of a device, as values that describe a computation and its operands. compute (device/backend.h) checks
// them, reports them to traces and gives them to the device's backend. "Nothing is unsupported": if a device lacks a
// tuned implementation, its backend has a plain one.
//
// A new primitive needs a struct here, an entry in Primitive at the end of this file, and an implementation in each
// backend (backends/cpu/primitives.h, backends/gpu/primitives.h).

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "catenary/core/dtype.h"
#include "catenary/core/export.h"
#include "catenary/core/shape.h"
#include "catenary/core/window.h"
#include "catenary/device/index_mode.h"
#include "catenary/ops/program.h"

namespace catenary {

struct Range;
enum class Quantization : std::uint8_t;  // core/quantization.h, which each new kind changes

/// Elements in a device's memory: a handle that only the backend understands, an offset, a shape and strides.
struct View {
  void* handle = nullptr;   ///< of the buffer; on the CPU its address
  std::int64_t offset = 0;  ///< of the first element, in elements
  Dtype dtype = Dtype::float32;
  Shape shape;
  Strides strides;  ///< in elements

  std::int64_t size() const { return shape.product(); }
  std::int64_t nbytes() const { return size() * static_cast<std::int64_t>(itemsize(dtype)); }
  /// Returns the address of the first element. Only on the CPU.
  void* data() const {
    // an array without elements may have no memory, but still an offset
    return handle ? static_cast<char*>(handle) + offset * static_cast<std::int64_t>(itemsize(dtype)) : nullptr;
  }
};

/// Returns a matrix as a stack of one matrix, as primitives::Matmul takes it.
inline View stack_of_one(View matrix) {
  matrix.shape.insert(0, 1);
  matrix.strides.insert(0, 0);
  return matrix;
}

/// The operation of a scatter on the elements that it writes.
enum class ScatterMode : std::uint8_t { assign, add, max, min };
/// The operation of a scan.
enum class ScanOp : std::uint8_t { sum, prod };
/// The result of a selection for each row.
enum class Selection : std::uint8_t {
  elements,   ///< the elements that sorting would put at the requested positions
  partition,  ///< the row, partitioned at these positions
  indices,    ///< the indices (int64) that partition the row
};
/// Small dense linear algebra.
enum class LinalgOp : std::uint8_t { cholesky, inv, solve, det, lu };

/// Which of a convolution's arrays is computed from the other two.
enum class ConvolutionPass : std::uint8_t {
  forward,    ///< y
  to_data,    ///< x, from y's gradient; also the computation of a transposed convolution
  to_filter,  ///< w, from y's gradient
};
/// The operation of a pooling on a window.
enum class Pooling : std::uint8_t {
  max,             ///< the largest element; padding counts as -inf
  average,         ///< the mean; padding counts as zeros
  average_inside,  ///< the mean of the elements that are not padding
  sum,             ///< the sum; padding counts as zeros; its PoolBack is an unpooling
};

/// Which keys an attention query sees, and the factor of the scores.
struct AttentionRules {
  double scale = 1;
  bool causal = false;      ///< query i sees the keys up to first + i
  std::int64_t first = 0;   ///< may be negative
  std::int64_t window = 0;  ///< sees only the last `window` of these keys, from first + i + 1 - window on; 0: all
};

/// An operand of a kernel text (primitives::RunText): an array, a number of the text's index type, or a number of its
/// element type's register.
struct TextArgument {
  TextArgument(const View& v) : view(&v) {}
  TextArgument(std::integral auto n) : kind(Kind::integer), integer(static_cast<std::int64_t>(n)) {}
  TextArgument(double x) : kind(Kind::real), real(x) {}

  enum class Kind : std::uint8_t { array, integer, real } kind = Kind::array;
  const View* view = nullptr;
  std::int64_t integer = 0;
  double real = 0;
};

/// A reduction of one value of a program over some axes of its shape.
struct ReduceSpec {
  ops::Reduce op = ops::Reduce::sum;
  int value = -1;     ///< node of the program that is reduced
  unsigned axes = 0;  ///< bit mask of axes of the program's shape
  View out;           ///< shape = the kept axes in order
};

/// One run of a program that runs many times on different memory: the locations of its loads and stores, and the number
/// of elements.
struct Segment {
  std::int64_t size = 0;
  std::vector<std::pair<void*, std::int64_t>> loads, stores;  ///< handle and offset, in the order of the program's
};

/// A bool that becomes true if a bool value of a program is true for any element, and otherwise stays unchanged.
struct Flag {
  int value = -1;  ///< node of the program
  View at;
};

/// The dtypes of operands.
class Dtypes {
 public:
  Dtypes() = default;
  Dtypes(const std::same_as<View> auto&... operands) { (add(operands.dtype), ...); }
  void add(Dtype dtype) { bits_ |= 1u << static_cast<unsigned>(dtype); }
  /// Returns their names, as in "float16+float32".
  CT_API std::string str() const;

 private:
  unsigned bits_ = 0;
};

/// The description of a primitive for CATENARY_TRACE.
struct Work {
  const char* name;
  Shape shape;
  std::int64_t bytes;  ///< read and written
  Dtypes dtypes = {};
};

/// Primitives hold references to their operands, so they must not outlive the call that they are made for. work()
/// describes the primitive in a trace. check(), if there is one, throws for operands that no backend supports.
namespace primitives {

/// Runs all nodes and stores of a program. May change the program.
struct Run {
  ops::Program& program;
  Work work() const;
};

/// Runs a program, which it may change, and reduces one of its values. The order of the reduction depends only on the
/// shape.
struct Reduce {
  ops::Program& program;
  const ReduceSpec& spec;
  Work work() const;
};

/// Runs a program over C-ordered memory once for each segment, as one piece of work if the device can. Does nothing if
/// the bool at `unless` is given and true when the device reaches it.
struct RunSegments {
  const ops::Program& program;
  const std::vector<Segment>& segments;
  const View* unless = nullptr;
  const Flag* flag = nullptr;  ///< of all segments together; null for a program that stores only
  Work work() const;
};

/// Computes the index (int64) of the largest or smallest element along `axis` of x: the first of equal elements, or the
/// first NaN if there is one. Throws IndexError for an empty axis.
struct ArgReduce {
  bool largest;
  const View& x;
  int axis;
  const View& out;
  Work work() const { return {largest ? "argmax" : "argmin", x.shape, x.nbytes() + out.nbytes(), {x, out}}; }
  CT_API void check() const;
};

/// Computes to = from, cast if the dtypes differ. The views may overlap.
struct Copy {
  const View &to, &from;
  Work work() const { return {"copy", to.shape, to.nbytes() + from.nbytes(), {to, from}}; }
};

/// Throws for an element of `x` (int64, C-ordered) that is outside a range. On asynchronous devices this error, and
/// those of the following primitives for indices out of range, are thrown when the host next waits for the stream
/// (Backend::raise_errors).
struct CheckRange {
  const View& x;
  const Range& range;
  Work work() const { return {"check_range", x.shape, x.nbytes(), {x}}; }
};

/// Computes out[i, j, k] = x[i, indices[j], k]. x is [outer, n, inner] and C-ordered, indices are int64 and C-ordered.
/// Messages name `axis`.
struct Take {
  const View &x, &indices, &out;
  IndexMode mode;
  int axis = 0;
  Work work() const { return {"take", out.shape, 2 * out.nbytes() + indices.nbytes(), {x, indices, out}}; }
};

/// Computes out[i, j, k] = x[i, indices[i, j, k], k]. x is [outer, n, inner], indices (int64) and out are [outer,
/// count, inner], all C-ordered. The IndexError for an index out of range names `axis`.
struct TakeAlongAxis {
  const View &x, &indices, &out;
  int axis;
  Work work() const { return {"take_along_axis", out.shape, 2 * out.nbytes() + indices.nbytes(), {x, indices, out}}; }
};

/// Computes out[p, …] = x[index0[p], index1[p], …, …]: advanced indexing over the leading axes of x. Indices are int64,
/// C-ordered and of equal shape. out is C-ordered: the indices' shape, then the rest of x's axes. Messages name `axes`
/// if given.
struct Gather {
  const View& x;
  const std::vector<View>& indices;
  const View& out;
  std::span<const int> axes = {};
  Work work() const { return {"gather", out.shape, 2 * out.nbytes(), {x, out}}; }
};

/// Computes x[index0[p], index1[p], …, …] = (or += …) values[p, …]. Writes nothing if an index is out of range.
struct Scatter {
  const View& x;
  const std::vector<View>& indices;
  const View& values;
  ScatterMode mode;
  std::span<const int> axes = {};
  Work work() const {
    constexpr const char* names[] = {"scatter_assign", "scatter_add", "scatter_max", "scatter_min"};
    return {names[static_cast<int>(mode)], values.shape, 2 * values.nbytes(), {x, values}};
  }
};

/// Computes the flat indices (int64) of the true elements of a C-ordered bool view.
struct Nonzero {
  const View& mask;
  std::vector<std::int64_t>& positions;
  Work work() const { return {"nonzero", mask.shape, mask.nbytes(), {mask}}; }
};

/// Sorts the last axis of C-ordered `rows`. out may be `rows`.
struct Sort {
  const View &rows, &out;
  Work work() const { return {"sort", rows.shape, 2 * rows.nbytes(), {rows}}; }
};

/// Computes the indices (int64) that sort each row stably.
struct Argsort {
  const View &rows, &indices;
  Work work() const { return {"argsort", rows.shape, rows.nbytes() + indices.nbytes(), {rows, indices}}; }
};

/// Partitions without a full sort. Each of the positions `kth` (ascending, in [0, n), at least one) gets the element
/// that sorting would put there; no smaller element comes after it and no larger one before it; equal elements keep
/// their order. `descending` goes from the largest (NaN) to the smallest. out is C-ordered, [..., m]. For `elements`, m
/// = kth.size(), and any of several equal elements (-0.0 and 0.0, NaNs) may be returned. Otherwise m <= n, for the
/// first m positions.
struct Select {
  Selection what;
  bool descending;
  const View& rows;
  const std::vector<std::int64_t>& kth;
  const View& out;
  Work work() const {
    constexpr const char* names[] = {"select", "partition", "argpartition"};
    return {names[static_cast<int>(what)], rows.shape, rows.nbytes() + out.nbytes(), {rows, out}};
  }
};

/// Computes running totals of x along an axis, in out's dtype.
struct Scan {
  ScanOp op;
  const View& x;
  int axis;
  const View& out;
  Work work() const {
    return {op == ScanOp::sum ? "scan_sum" : "scan_prod", x.shape, x.nbytes() + out.nbytes(), {x, out}};
  }
};

/// Computes where to insert each value into sorted elements, before or (right) after equal elements.
struct Searchsorted {
  const View &sorted, &values;
  bool right;
  const View& out;
  Work work() const { return {"searchsorted", values.shape, values.nbytes() + out.nbytes(), {sorted, values, out}}; }
};

/// Computes c = a b (+ bias) (+ c) for a [batch, m, k], b [batch, k, n], c [batch, m, n] with any strides: a transposed
/// operand has exchanged strides, a broadcast batch a stride of 0. All have the same dtype, or a and b are 8-bit
/// integers and c is int32, or they are bfloat16 and float32 (see Backend::multiplies_into_float32). Throws DtypeError
/// for dtypes that no device multiplies, and for a bias of another dtype than c.
struct Matmul {
  const View &a, &b, &c;
  const View* bias = nullptr;  ///< 1-d, added along the last axis of c
  bool accumulate = false;     ///< adds to the old values of c
  /// Returns the dtype of the sums: float32 for 16-bit floats, else c's dtype.
  CT_API Dtype accumulator() const;
  Work work() const { return {"matmul", c.shape, a.nbytes() + b.nbytes() + c.nbytes(), {a, b, c}}; }
  CT_API void check() const;
};

/// Dequantises blocks [n, quantized_row_bytes(kind, k)] (uint8, C-ordered) to out [n, k] (C-ordered floats), in float32
/// and then rounded.
struct Dequantize {
  Quantization kind;
  const View &blocks, &out;
  Work work() const { return {"dequantize", out.shape, blocks.nbytes() + out.nbytes(), {blocks, out}}; }
};

/// Computes y = x w^T (+ bias). x is [m, k] of floats with any strides, w is given by blocks [n,
/// quantized_row_bytes(kind, k)] (uint8, C-ordered), y is [m, n], and the C-ordered bias [n] has x's dtype. Sums are
/// float32, or float64 for float64. The device multiplies the blocks directly, or dequantises rows of w to x's dtype.
/// If config.int8_products allows it, it may round x.
struct QuantizedProduct {
  Quantization kind;
  const View &x, &blocks, &y;
  const View* bias = nullptr;
  Work work() const {
    return {"quantized_product", y.shape, x.nbytes() + blocks.nbytes() + y.nbytes(), {x, blocks, y}};
  }
};

/// Computes y = x * w (+ bias) (+ y), then relu, or the corresponding gradient of x or w. x is [N, C, extents…], w [K,
/// C / groups, window's size…], y [N, K, counts…], with any strides and one floating dtype. A forward pass without bias
/// may also go from bfloat16 to float32 (see Backend::multiplies_into_float32). 1 to 3 axes slide. Sizes need not match
/// Window::counts: rows and columns outside all windows are left out of the sums (and get zeros in to_data).
struct Convolution {
  ConvolutionPass pass;
  const Window& window;
  std::int64_t groups;
  const View &x, &w, &y;       ///< `pass` names the one that is the result
  const View* bias = nullptr;  ///< forward and to_data: 1-d, an element for each channel of the result
  bool accumulate = false;     ///< adds to the old values of the result
  bool relu = false;           ///< forward only, after everything else
  const View& result() const { return pass == ConvolutionPass::forward ? y : pass == ConvolutionPass::to_data ? x : w; }
  Work work() const {
    constexpr const char* names[] = {"convolution", "convolution_to_data", "convolution_to_filter"};
    return {names[static_cast<int>(pass)], result().shape, x.nbytes() + w.nbytes() + y.nbytes(), {x, w, y}};
  }
  CT_API void check() const;
};

/// Computes y [N, C, counts…] from x [N, C, extents…], with any strides. `places`, optional for max, receives which tap
/// won (int32, in the order of the window's axes): the first of equal elements, or the first NaN if there is one. It is
/// C-ordered or in the memory order of y.
struct Pool {
  Pooling op;
  const Window& window;
  const View &x, &y;
  const View* places = nullptr;
  Work work() const {
    constexpr const char* names[] = {"max_pool", "average_pool", "average_pool", "sum_pool"};
    return {names[static_cast<int>(op)], y.shape, x.nbytes() + y.nbytes(), {x, y}};
  }
};

/// Computes gx (+=) the gradient of Pool for gy. Every element of gx is a sum in the order of the windows.
struct PoolBack {
  Pooling op;
  const Window& window;
  const View &gy, &gx;
  const View* places = nullptr;  ///< of max
  bool accumulate = false;
  Work work() const {
    constexpr const char* names[] = {"max_pool_back", "average_pool_back", "average_pool_back", "sum_pool_back"};
    return {names[static_cast<int>(op)], gx.shape, gy.nbytes() + gx.nbytes(), {gy, gx}};
  }
};

/// Computes y = the elements of x at the positions noted by a max pooling: the second derivative of max pooling.
struct PoolPick {
  const Window& window;
  const View &x, &places, &y;
  Work work() const { return {"pool_pick", y.shape, x.nbytes() + y.nbytes(), {x, y}}; }
};

/// Computes y = softmax(scale q k^T + mask) v for each batch and head. q is [B, H, L, E], k [B, G, S, E], v [B, G, S,
/// F] and y [B, H, L, F], with any strides and one floating dtype. Head h uses the keys and values of group h / (H /
/// G). The mask [B, H, L, S], with strides of 0 where it is broadcast, is bool (false: not seen) or of q's dtype
/// (added). `sums` [B, H, L] is C-ordered in the dtype of sums (float32 for 16-bit floats); it receives the logarithms
/// of the rows' sums of exponentials. A query that sees no key has a y of 0 and a sum of -inf. Memory does not grow
/// with L times S.
struct Attention {
  const AttentionRules& rules;
  const View &q, &k, &v, &y, &sums;
  const View* mask = nullptr;
  Work work() const { return {"attention", y.shape, q.nbytes() + k.nbytes() + v.nbytes() + y.nbytes(), {q, k, v, y}}; }
};

/// Computes the gradients of q, k and v from the results of Attention and y's gradient.
struct AttentionBack {
  const AttentionRules& rules;
  const View &q, &k, &v, &y, &sums, &gy, &gq, &gk, &gv;
  const View* mask = nullptr;
  Work work() const {
    return {"attention_back", gq.shape, 2 * (q.nbytes() + k.nbytes() + v.nbytes() + y.nbytes()), {q, k, v, gy}};
  }
};

/// Computes discrete Fourier transforms of a middle axis, times `scale`: out[a, f, b] = scale * sum over t of x[a, t,
/// b] exp(-2 pi i f t / n) (inverse: +). All views have three axes, any strides and one dtype (float32, float64), so
/// separate parts and interleaved complex numbers are both possible. `im` may be null for real input. out may be the
/// input.
struct Fft {
  bool inverse;
  double scale;
  const View& re;
  const View* im;
  const View &out_re, &out_im;
  Work work() const { return {inverse ? "ifft" : "fft", re.shape, 4 * re.nbytes(), {re, out_re}}; }
};

/// Joins the parts along an axis. All have one dtype and any strides.
struct Join {
  const std::vector<View>& parts;
  int axis;
  const View& out;
  Work work() const { return {"join", out.shape, 2 * out.nbytes(), {out}}; }
};

/// Runs a kernel without barriers from a text in kernels/, which all devices share, for units 0 to units - 1 in any
/// order. The text is compiled for `dtype` (MEM, T, LOAD, STORE). Arrays are passed as an address and an offset.
struct RunText {
  const char *text, *kernel;  ///< string literals of the library
  Dtype dtype;
  std::span<const TextArgument> arguments;
  std::int64_t units;
  CT_API Work work() const;
};

/// Computes small dense linear algebra on C-ordered float32 or float64 batches [batch, n, n] (else DtypeError); see
/// array/linalg.h. b is [batch, n, k] for solve, and receives the pivots (int32, [batch, n]) of lu. det writes [batch,
/// 3]. `ok` becomes false for a matrix that is singular or not positive definite.
struct Linalg {
  LinalgOp op;
  const View &a, &b, &out;
  std::vector<bool>& ok;
  Work work() const { return {"linalg", a.shape, a.nbytes() + out.nbytes(), {a, out}}; }
  CT_API void check() const;
};

/// Computes uint32 Philox4x32-10 bits. Element i depends only on (seed, call, i).
struct RandomBits {
  std::uint64_t seed, call;
  const View& out;
  Work work() const { return {"random_bits", out.shape, out.nbytes(), {out}}; }
};

// clang-format off
/// The list of all primitives.
using Any = std::variant<
    Run, Reduce, RunSegments, ArgReduce,
    Copy, Take, TakeAlongAxis, Gather, Scatter, Nonzero,
    Sort, Argsort, Select, Scan, Searchsorted,
    Matmul, Dequantize, QuantizedProduct, Linalg, RandomBits, CheckRange,
    Convolution, Pool, PoolBack, PoolPick, Attention, AttentionBack, Fft, Join, RunText>;
// clang-format on

}  // namespace primitives

/// Any primitive.
using Primitive = primitives::Any;

}  // namespace catenary
