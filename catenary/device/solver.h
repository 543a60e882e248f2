#pragma once
// Private to the library: dense linear algebra by the libraries made for it (LAPACK on the processor). Our own code
// computes the rest: primitives::Linalg, array/factor.h, and array operations.

#include <cstdint>
#include <vector>

#include "catenary/core/export.h"
#include "catenary/device/device.h"
#include "catenary/device/primitives.h"

namespace catenary {

/// A computation of a library.
enum class SolveOp : std::uint8_t { cholesky, inv, solve, det, lu, eigh, qr, q, svd, eig };

/// A request for matrices a [batch, m, n] of float32, float64, complex64 or complex128 with any strides. b, out and
/// `second` are C-ordered. `ok` has an entry for each matrix, which becomes false if the matrix is singular or not
/// positive definite, has elements that are not finite, or does not converge.
///
/// | operation | b | out |
/// |---|---|---|
/// | cholesky, inv | | [batch, n, n] |
/// | solve | the right sides [batch, n, k] | [batch, n, k] |
/// | det, of real matrices | | value, sign and logarithm: [batch, 3] |
/// | lu | receives the pivots, int32 [batch, n] | [batch, n, n] |
/// | eigh, of lower triangles | receives the real eigenvalues [batch, n] | vectors as columns [batch, n, n], or none |
/// | qr | receives LAPACK's factors [batch, k] | R and the reflections' vectors [batch, m, n] |
/// | q, of qr's results | the factors | the first columns of Q: [batch, m, columns] |
/// | svd | receives the real singular values [batch, k] | u [batch, m, m or k], or none; `second` receives vh |
/// | eig | receives the complex eigenvalues [batch, n] | complex vectors as rows [batch, n, n], or none |
struct Solve {
  SolveOp op;
  const View &a, &b, &out;
  std::vector<bool>& ok;
  const View* second = nullptr;
  Work work() const { return {"linalg", a.shape, a.nbytes() + out.nbytes(), {a, out}}; }
};

/// An optional feature of a backend, which derives from this class, too.
class CT_API Solver {
 public:
  virtual ~Solver() = default;
  /// Returns whether a library computes matrices of this dtype, whose larger side is `size`.
  virtual bool solves(int device, Dtype dtype, std::int64_t size) = 0;
  /// Computes a request that `solves` accepts.
  virtual void solve(int device, const Solve& request) = 0;
};

/// Returns the solver for such matrices on a device, or null if our own code has to compute.
CT_API Solver* solver_for(const Device& device, Dtype dtype, std::int64_t size);

}  // namespace catenary
