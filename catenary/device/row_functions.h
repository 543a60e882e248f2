#pragma once
// Private to the library: softmax functions and normalisations in one or two passes over memory, by a backend that has
// loops for them. On other devices they are fused operations and reductions.

#include <algorithm>
#include <cstdint>

#include "catenary/core/export.h"
#include "catenary/device/device.h"
#include "catenary/device/primitives.h"

namespace catenary {

enum class SoftmaxOp : std::uint8_t {
  softmax,             ///< out = exp(x) / sum of exp(x)
  log_softmax,         ///< its logarithm
  softmax_back,        ///< the gradient of x from y (given as x) and gy
  log_softmax_back,    ///< the same for log_softmax
  cross_entropy,       ///< log_z = log of the sum of exp(x), losses = log_z - x[label]
  cross_entropy_back,  ///< out = (exp(x) / sum of exp(x) - (1 at the label)) * factor
};

/// A softmax along an axis of x. Arrays of x's size have its dtype, its shape and its strides, which have no gaps.
/// Arrays with an element for each row have one order: that of x without the axis. Statistics are float32 for 16-bit
/// floats, or else of x's dtype.
struct SoftmaxRows {
  SoftmaxOp op;
  int axis;
  const View& x;
  const View* gy = nullptr;
  const View* out = nullptr;
  const View* labels = nullptr;  ///< int64, one for each row. Rows with a negative label have neither loss nor gradient
  const View* log_z = nullptr;   ///< a statistic of each row
  const View* losses = nullptr;  ///< statistics
  const View* factors = nullptr;  ///< statistics
  Work work() const;
};

/// Groups of elements with common statistics. Group g consists of `pieces` pieces of `length` adjacent elements of x.
/// Piece q begins at element (g / inner * pieces + q) * inner * length + g % inner * length.
struct RowGroups {
  std::int64_t groups = 1, inner = 1, pieces = 1, length = 1;
  /// Whether gamma has an element for each element of a piece, instead of one for each piece.
  bool elementwise = false;
  /// The index of gamma's element for piece q of group g is (g * pieces + q) / gamma_span % gamma's size.
  std::int64_t gamma_span = 1;
  /// Whether pieces have one element, so that the groups are columns. Then gamma has an element for each of the `inner`
  /// columns.
  bool are_columns() const { return length == 1 && inner > 1; }
};

/// y = (x - mean) * inv_std * gamma + beta for groups of elements. Arrays of x's size have its dtype and order. gamma
/// and beta have the dtype of the statistics, as in SoftmaxRows.
struct StandardizeRows : RowGroups {
  double eps;
  const View& x;
  const View& gamma;
  const View& mean;     ///< [groups]; written by the forward pass, as inv_std
  const View& inv_std;  ///< [groups]
  const View* beta = nullptr;
  const View* var = nullptr;  ///< [groups]
  const View* y = nullptr;
  // the gradient
  const View* gy = nullptr;
  const View* gx = nullptr;
  /// Parts of gamma's and beta's gradients, which the caller adds: [groups * pieces], [parts, length] if `elementwise`,
  /// or [groups] if the groups are columns.
  const View* ggamma = nullptr;
  const View* gbeta = nullptr;
  Work work() const;
};
/// Returns the number of parts of gamma's gradient if it is `elementwise`. It depends on the shape only.
inline std::int64_t standardize_parts(std::int64_t groups, std::int64_t length) {
  return std::clamp<std::int64_t>(std::min(groups / 8, groups * length / 32768), 1, 32);
}

/// GELU by the error function, for float32 and 16-bit floats: out = x * Phi(x), or its gradient from gy. All arrays
/// have one dtype and one order, without gaps.
struct GeluElements {
  const View& x;
  const View* gy = nullptr;
  const View* out = nullptr;
  Work work() const;
};

enum class RecurrentCell : std::uint8_t { lstm, gru };

/// A step of a recurrent layer without its products. Arrays are [n, units] or [n, gates * units] of one floating dtype,
/// and the elements of a row are adjacent. The gates are i, f, a and o of an LSTM, and r, z and n of a GRU.
struct RecurrentStep {
  RecurrentCell cell;
  const View& p;            ///< arguments of the gates; the forward pass replaces them by the gates
  const View& before;       ///< the LSTM's c or the GRU's h before the step
  const View* q = nullptr;  ///< the GRU's products of the state
  const View* h = nullptr;  ///< the state after the step
  const View* c = nullptr;  ///< the LSTM's c after the step
  // the gradient
  const View* gy = nullptr;  ///< the gradient of h as an output, if there is one
  const View* gh = nullptr;  ///< of h from later steps; a GRU replaces it by the part that passes by its product
  const View* gc = nullptr;  ///< of c after the LSTM's step; replaced by the gradient of c before the step
  const View* dp = nullptr;  ///< of the gates' arguments
  const View* dq = nullptr;  ///< of the GRU's products
  Work work() const;
};

/// C-ordered rows of n bools or 8-bit integers, and each row's ceil(n / 8) bytes with a bit for each element that is
/// not 0. Unpacks to a multiple of 8 elements, which are 0 or 1.
struct PackedBits {
  bool is_unpacking;
  bool is_little;     ///< the lowest bit of a byte comes first
  const View& bits;   ///< [..., n]
  const View& bytes;  ///< [..., ceil(n / 8)]
  Work work() const;
};

/// An optional feature of a backend, which derives from this class, too.
class CT_API RowFunctions {
 public:
  virtual ~RowFunctions() = default;
  virtual void run(const SoftmaxRows& request) = 0;
  virtual void run(const StandardizeRows& request) = 0;
  virtual void run(const GeluElements& request) = 0;
  virtual void run(const RecurrentStep& request) = 0;
  virtual void run(const PackedBits& request) = 0;
};

/// Returns whether a device has these functions.
CT_API bool has_row_functions(const Device& device);
/// Computes a request on a device that has row functions, and reports it to CATENARY_TRACE.
CT_API void compute_rows(const Device& device, const SoftmaxRows& request);
CT_API void compute_rows(const Device& device, const StandardizeRows& request);
CT_API void compute_rows(const Device& device, const GeluElements& request);
CT_API void compute_rows(const Device& device, const RecurrentStep& request);
CT_API void compute_rows(const Device& device, const PackedBits& request);

}  // namespace catenary
