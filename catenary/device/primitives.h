#pragma once
// The primitives of a device, as values: what is computed, and on what. compute (device/backend.h) checks them, tells
// traces of them and hands them to the device's backend. "Nothing is unsupported": where a device lacks a tuned way,
// its backend has a plain one.
//
// A new primitive is a struct here, a place in Primitive at the end of this file, and an implementation in each backend
// (backends/cpu/primitives.h, backends/gpu/primitives.h).

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
#include "catenary/core/quantization.h"
#include "catenary/core/shape.h"
#include "catenary/core/window.h"
#include "catenary/device/index_mode.h"
#include "catenary/ops/program.h"

namespace catenary {

struct Range;

/// Elements in a device's memory: a handle that only the backend understands, an offset, a shape and strides.
struct View {
  void* handle = nullptr;   ///< of the buffer; on the CPU its address
  std::int64_t offset = 0;  ///< in elements, of the first one
  Dtype dtype = Dtype::float32;
  Shape shape;
  Strides strides;  ///< in elements

  std::int64_t size() const { return shape.product(); }
  std::int64_t nbytes() const { return size() * static_cast<std::int64_t>(itemsize(dtype)); }
  /// On the CPU: address of the first element.
  void* data() const {
    // an array without elements may have no memory, and an offset all the same
    return handle ? static_cast<char*>(handle) + offset * static_cast<std::int64_t>(itemsize(dtype)) : nullptr;
  }
};

/// What a scatter does where it writes.
enum class ScatterMode : std::uint8_t { assign, add, max, min };
/// Running totals.
enum class ScanOp : std::uint8_t { sum, prod };
/// What a selection gives of each row.
enum class Selection : std::uint8_t {
  elements,   ///< those that a sort would put at the places asked for
  partition,  ///< the row, partitioned around them
  indices,    ///< the indices (int64) that partition the row
};
/// Small dense linear algebra.
enum class LinalgOp : std::uint8_t { cholesky, inv, solve, det, lu };

/// Which of a convolution's arrays is computed from the other two.
enum class ConvolutionPass : std::uint8_t {
  forward,    ///< y
  to_data,    ///< x, y's gradient being given; also what a transposed convolution computes
  to_filter,  ///< w, y's gradient being given
};
/// What a pooling makes of a window.
enum class Pooling : std::uint8_t {
  max,             ///< the largest element; pads count as -inf
  average,         ///< pads count as zeros
  average_inside,  ///< of the elements that are not pads
  sum,             ///< pads count as zeros; its PoolBack is an unpooling
};

/// Which keys a query of attention sees, and what scores are multiplied by.
struct AttentionRules {
  double scale = 1;
  bool causal = false;      ///< query i sees the keys up to first + i
  std::int64_t first = 0;   ///< may be negative
  std::int64_t window = 0;  ///< of these the last so many, those from first + i + 1 - window on; 0: all
};

/// An operand of a kernel text (primitives::RunText): an array, a number of the text's index type, or one of its
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
  unsigned axes = 0;  ///< one bit an axis of the program's shape
  View out;           ///< shape = the kept axes in order
};

/// One run of a program that is run many times over different memory: where its loads and stores lie, and how many
/// elements there are.
struct Segment {
  std::int64_t size = 0;
  std::vector<std::pair<void*, std::int64_t>> loads, stores;  ///< handle and offset, in the order of the program's
};

/// A bool that becomes true where one of a program's values, a bool, is true for an element; else it stays as it is.
struct Flag {
  int value = -1;  ///< node of the program
  View at;
};

/// Which dtypes operands have.
class Dtypes {
 public:
  Dtypes() = default;
  Dtypes(const std::same_as<View> auto&... operands) { (add(operands.dtype), ...); }
  void add(Dtype dtype) { bits_ |= 1u << static_cast<unsigned>(dtype); }
  /// Their names, as in "float16+float32".
  CT_API std::string str() const;

 private:
  unsigned bits_ = 0;
};

/// What CATENARY_TRACE shows of a primitive.
struct Work {
  const char* name;
  Shape shape;
  std::int64_t bytes;  ///< read and written
  Dtypes dtypes = {};
};

/// They hold references to their operands, so they live no longer than the call that they are made for. work() is each
/// one's row in a trace; check(), where there is one, throws for what no backend computes.
namespace primitives {

/// Runs all nodes and stores of a program, and may change it.
struct Run {
  ops::Program& program;
  Work work() const;
};

/// Runs a program, which it may change, and reduces one of its values. The order of a reduction depends on the shape
/// only.
struct Reduce {
  ops::Program& program;
  const ReduceSpec& spec;
  Work work() const;
};

/// Runs a program over C-ordered memory once for each segment, as one piece of work where the device can. Nothing is
/// done where the bool at `unless` (if it is given) is true when the device comes to it.
struct RunSegments {
  const ops::Program& program;
  const std::vector<Segment>& segments;
  const View* unless = nullptr;
  const Flag* flag = nullptr;  ///< of all segments together; null for a program that stores only
  Work work() const;
};

/// Index (int64) of the largest or smallest element along `axis` of x; the first of equals, the first NaN if there is
/// one. Throws IndexError for an axis without elements.
struct ArgReduce {
  bool largest;
  const View& x;
  int axis;
  const View& out;
  Work work() const { return {largest ? "argmax" : "argmin", x.shape, x.nbytes() + out.nbytes(), {x, out}}; }
  CT_API void check() const;
};

/// to = from, cast where the dtypes differ; they may overlap.
struct Copy {
  const View &to, &from;
  Work work() const { return {"copy", to.shape, to.nbytes() + from.nbytes(), {to, from}}; }
};

/// Throws for an element of `x` (int64, C-ordered) that is outside a range. Where a device is not waited for, this and
/// what the primitives that follow say of indices out of range comes when the host next waits for the stream
/// (Backend::raise_errors).
struct CheckRange {
  const View& x;
  const Range& range;
  Work work() const { return {"check_range", x.shape, x.nbytes(), {x}}; }
};

/// out[i, j, k] = x[i, indices[j], k]; x is [outer, n, inner] and C-ordered, indices are int64 and C-ordered. Messages
/// name `axis`.
struct Take {
  const View &x, &indices, &out;
  IndexMode mode;
  int axis = 0;
  Work work() const { return {"take", out.shape, 2 * out.nbytes() + indices.nbytes(), {x, indices, out}}; }
};

/// out[i, j, k] = x[i, indices[i, j, k], k]; x is [outer, n, inner], indices (int64) and out are [outer, count,
/// inner], all C-ordered. The IndexError of an index out of range names `axis`.
struct TakeAlongAxis {
  const View &x, &indices, &out;
  int axis;
  Work work() const { return {"take_along_axis", out.shape, 2 * out.nbytes() + indices.nbytes(), {x, indices, out}}; }
};

/// out[p, …] = x[index0[p], index1[p], …, …]: advanced indexing over the leading axes of x. Indices are int64,
/// C-ordered, of one shape; out is C-ordered: that shape, then the rest of x's axes. Messages name `axes`, where given.
struct Gather {
  const View& x;
  const std::vector<View>& indices;
  const View& out;
  std::span<const int> axes = {};
  Work work() const { return {"gather", out.shape, 2 * out.nbytes(), {x, out}}; }
};

/// The reverse: x[index0[p], index1[p], …, …] = (or += …) values[p, …]. Nothing is written where an index is out of
/// range.
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

/// Flat positions (int64) of the true elements of a C-ordered bool view.
struct Nonzero {
  const View& mask;
  std::vector<std::int64_t>& positions;
  Work work() const { return {"nonzero", mask.shape, mask.nbytes(), {mask}}; }
};

/// Sorts the last axis of C-ordered `rows`; out may be `rows`.
struct Sort {
  const View &rows, &out;
  Work work() const { return {"sort", rows.shape, 2 * rows.nbytes(), {rows}}; }
};

/// The indices (int64) that sort each row stably.
struct Argsort {
  const View &rows, &indices;
  Work work() const { return {"argsort", rows.shape, rows.nbytes() + indices.nbytes(), {rows, indices}}; }
};

/// A partition without a full sort: at each of the places `kth` (ascending, in [0, n), at least one) stands what a
/// sort would put there, nothing smaller comes after it and nothing larger before it; equal elements stay in their
/// order. descending: from the largest (NaN) to the smallest. out is C-ordered, [..., m]: with m = kth.size() for
/// `elements`, where of equal ones (-0.0 and 0.0, NaNs) any may be given; else with m <= n, the first m places.
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

/// Running totals of x along an axis, in out's dtype.
struct Scan {
  ScanOp op;
  const View& x;
  int axis;
  const View& out;
  Work work() const {
    return {op == ScanOp::sum ? "scan_sum" : "scan_prod", x.shape, x.nbytes() + out.nbytes(), {x, out}};
  }
};

/// Where to insert each of the values into what is sorted, before equal elements or after them (right).
struct Searchsorted {
  const View &sorted, &values;
  bool right;
  const View& out;
  Work work() const { return {"searchsorted", values.shape, values.nbytes() + out.nbytes(), {sorted, values, out}}; }
};

/// c = a b (+ bias) (+ c); a [batch, m, k], b [batch, k, n], c [batch, m, n], of any strides: a transposed operand is
/// one with its strides exchanged, a broadcast batch one with a stride of 0. All have one dtype, or a and b 8-bit
/// integers and c int32, or bfloat16 and float32 (see Backend::multiplies_into_float32). Throws DtypeError for dtypes
/// that no device multiplies, and for a bias that has not c's.
struct Matmul {
  const View &a, &b, &c;
  const View* bias = nullptr;  ///< 1-d, added along the last axis of c
  bool accumulate = false;     ///< adds to what c holds
  /// What sums are kept in: float32 for 16-bit floats, else c's dtype.
  CT_API Dtype accumulator() const;
  Work work() const { return {"matmul", c.shape, a.nbytes() + b.nbytes() + c.nbytes(), {a, b, c}}; }
  CT_API void check() const;
};

/// out [n, k], C-ordered floats, = what blocks [n, quantized_row_bytes(kind, k)] (uint8, C-ordered) stand for, in
/// float32 and then rounded.
struct Dequantize {
  Quantization kind;
  const View &blocks, &out;
  Work work() const { return {"dequantize", out.shape, blocks.nbytes() + out.nbytes(), {blocks, out}}; }
};

/// y = x w^T (+ bias) for few rows of x: x [m, k] of floats, whose rows' elements lie side by side, w's blocks
/// [n, quantized_row_bytes(kind, k)] (uint8, C-ordered), y [m, n] and a C-ordered bias [n] of x's dtype. Sums are
/// float32, float64 of float64.
struct QuantizedProduct {
  Quantization kind;
  const View &x, &blocks, &y;
  const View* bias = nullptr;
  Work work() const {
    return {"quantized_product", y.shape, x.nbytes() + blocks.nbytes() + y.nbytes(), {x, blocks, y}};
  }
};

/// y = x * w (+ bias) (+ y), then relu; or the same sum turned to x or to w. x [N, C, extents…], w [K, C / groups,
/// window's size…], y [N, K, counts…], of any strides and one floating dtype, or forward without bias of bfloat16 into
/// float32 (see Backend::multiplies_into_float32); 1 to 3 axes slide. The arrays' extents need not be what
/// Window::counts says: rows and columns that no window reaches are left out of the sums (and get zeros in to_data).
struct Convolution {
  ConvolutionPass pass;
  const Window& window;
  std::int64_t groups;
  const View &x, &w, &y;       ///< the result is the one that `pass` names
  const View* bias = nullptr;  ///< forward and to_data: 1-d, an element for each channel of the result
  bool accumulate = false;     ///< adds to what the result holds
  bool relu = false;           ///< forward only, after all else
  const View& result() const { return pass == ConvolutionPass::forward ? y : pass == ConvolutionPass::to_data ? x : w; }
  Work work() const {
    constexpr const char* names[] = {"convolution", "convolution_to_data", "convolution_to_filter"};
    return {names[static_cast<int>(pass)], result().shape, x.nbytes() + w.nbytes() + y.nbytes(), {x, w, y}};
  }
  CT_API void check() const;
};

/// y [N, C, counts…] of x [N, C, extents…], of any strides. `places`, for max, where given: which tap (int32, in the
/// order of the window's axes) won: the first of equals, the first NaN if there is one; C-ordered or as y lies.
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

/// gx (+=) the gradient of Pool for gy; every element of gx is a sum in the order of the windows.
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

/// y = the elements of x at the places that a max pooling noted: its gradient's gradient.
struct PoolPick {
  const Window& window;
  const View &x, &places, &y;
  Work work() const { return {"pool_pick", y.shape, x.nbytes() + y.nbytes(), {x, y}}; }
};

/// y = softmax(scale q k^T + mask) v, for each batch and head: q [B, H, L, E], k [B, G, S, E], v [B, G, S, F] and y
/// [B, H, L, F], of any strides and one floating dtype; heads share the keys and values of group h / (H / G). The mask,
/// [B, H, L, S] with strides of 0 where it is broadcast, is bool (false: not seen) or of q's dtype (added). `sums`,
/// [B, H, L], C-ordered, in the dtype of sums (float32 for 16-bit floats), gets the logarithms of the rows' sums of
/// exponentials. A query that sees no key has a y of 0 and a sum of -inf. Memory does not grow with L times S.
struct Attention {
  const AttentionRules& rules;
  const View &q, &k, &v, &y, &sums;
  const View* mask = nullptr;
  Work work() const { return {"attention", y.shape, q.nbytes() + k.nbytes() + v.nbytes() + y.nbytes(), {q, k, v, y}}; }
};

/// The gradients of q, k and v, of what Attention computed and y's gradient.
struct AttentionBack {
  const AttentionRules& rules;
  const View &q, &k, &v, &y, &sums, &gy, &gq, &gk, &gv;
  const View* mask = nullptr;
  Work work() const {
    return {"attention_back", gq.shape, 2 * (q.nbytes() + k.nbytes() + v.nbytes() + y.nbytes()), {q, k, v, gy}};
  }
};

/// Discrete Fourier transforms of a middle axis, times `scale`: out[a, f, b] = scale * sum over t of x[a, t, b]
/// exp(-2 pi i f t / n) (inverse: +). All views have three axes, any strides and one dtype (float32, float64): so pairs
/// of arrays as well as interleaved complex numbers. `im` may be null, for real input; out may be the input.
struct Fft {
  bool inverse;
  double scale;
  const View& re;
  const View* im;
  const View &out_re, &out_im;
  Work work() const { return {inverse ? "ifft" : "fft", re.shape, 4 * re.nbytes(), {re, out_re}}; }
};

/// out = the parts, one behind the other along an axis; all of one dtype and any strides.
struct Join {
  const std::vector<View>& parts;
  int axis;
  const View& out;
  Work work() const { return {"join", out.shape, 2 * out.nbytes(), {out}}; }
};

/// Runs a kernel without barriers of a text in kernels/, the same on all devices, for units 0 to units - 1 in any
/// order. The text is compiled for `dtype` (MEM, T, LOAD, STORE). Arrays are passed as an address and an offset.
struct RunText {
  const char *text, *kernel;  ///< the library's own words, which live as long as the process
  Dtype dtype;
  std::span<const TextArgument> arguments;
  std::int64_t units;
  CT_API Work work() const;
};

/// Small dense linear algebra on C-ordered float32 or float64 batches [batch, n, n] (else DtypeError); see
/// array/linalg.h. b is [batch, n, k] for solve, and takes the pivots (int32, [batch, n]) of lu; det writes [batch, 3].
/// `ok` gets false for a matrix that is singular or not positive definite.
struct Linalg {
  LinalgOp op;
  const View &a, &b, &out;
  std::vector<bool>& ok;
  Work work() const { return {"linalg", a.shape, a.nbytes() + out.nbytes(), {a, out}}; }
  CT_API void check() const;
};

/// uint32 Philox4x32-10 bits; element i depends on (seed, call, i) only.
struct RandomBits {
  std::uint64_t seed, call;
  const View& out;
  Work work() const { return {"random_bits", out.shape, out.nbytes(), {out}}; }
};

// clang-format off
/// The list of them.
using Any = std::variant<
    Run, Reduce, RunSegments, ArgReduce,
    Copy, Take, TakeAlongAxis, Gather, Scatter, Nonzero,
    Sort, Argsort, Select, Scan, Searchsorted,
    Matmul, Dequantize, QuantizedProduct, Linalg, RandomBits, CheckRange,
    Convolution, Pool, PoolBack, PoolPick, Attention, AttentionBack, Fft, Join, RunText>;
// clang-format on

}  // namespace primitives

/// One of them.
using Primitive = primitives::Any;

}  // namespace catenary
