// linalg::eigh by a library of the device, else on the processor by array/factor.h, and on other devices by Jacobi's
// method, built from take and fused elementwise operations. Each round of it rotates n / 2 disjoint planes at once, in
// all matrices of the stack (Brent and Luk 1985).

#include <algorithm>
#include <cmath>
#include <vector>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/hermitian.h"
#include "catenary/array/host_stack.h"
#include "catenary/array/indexing.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/array/view.h"
#include "catenary/core/format.h"
#include "catenary/device/device_info.h"
#include "catenary/device/solver.h"

namespace catenary::linalg {

namespace {

/// A round: the partner of each axis (itself if it has none), and 1 for the first axis of a pair, -1 for the second.
struct Round {
  Array partner, order;
};

/// Returns rounds that contain every pair once, as in a round-robin tournament: the last team stays, the others rotate.
std::vector<Round> rounds_of(std::int64_t n, Dtype dtype, const Device& device) {
  const std::int64_t teams = n + n % 2, others = teams - 1;
  std::vector<Round> rounds;
  for (std::int64_t r = 0; r < others; ++r) {
    std::vector<std::int64_t> partner(static_cast<std::size_t>(teams));
    std::vector<double> order(static_cast<std::size_t>(teams));
    const auto pair = [&](std::int64_t a, std::int64_t b) {
      const auto i = static_cast<std::size_t>(std::min(a, b)), j = static_cast<std::size_t>(std::max(a, b));
      const bool bye = static_cast<std::int64_t>(j) >= n;  // an odd n leaves one out
      partner[i] = static_cast<std::int64_t>(bye ? i : j);
      partner[j] = static_cast<std::int64_t>(i);
      order[i] = bye ? 0 : 1;
      order[j] = -1;
    };
    pair(others, r);
    for (std::int64_t k = 1; k < teams / 2; ++k) pair((r + k) % others, (r + others - k) % others);
    rounds.push_back({Array::from_host(partner.data(), {n}, Dtype::int64, device),
                      Array::from_host(order.data(), {n}, Dtype::float64, Device()).astype(dtype).to_device(device)});
  }
  return rounds;
}

Array diagonals(const Array& a) { return diagonal(a, 0, 1, 2); }

/// Rotates all pairs of a round so that their off-diagonal elements become 0.
void turn(Array& a, Array& v, const Round& round, const Array& negligible) {
  const std::int64_t batch = a.shape(0), n = a.shape(1);
  const bool complex = is_complex(a.dtype());
  const Array swapped = take(a, round.partner, 2), values = real(diagonals(a)).copy();
  // Both axes of a pair need bit-identical values, or the result is not a rotation.
  const Array above = diagonals(swapped).copy(), mean = (above + conjugate(take(above, round.partner, 1))) * 0.5;
  // A complex element is a non-negative number times a phase. First remove the phase by turning the second axis.
  const Array off = complex ? absolute(mean) : mean;
  const Array tau = (take(values, round.partner, 1) - values) / (2 * where(off == 0, 1, off));
  const Array direction = where(tau == 0, round.order, sign(tau));
  const Array tangent = where(logical_and(absolute(off) > negligible, round.order != 0),
                              direction / (absolute(tau) + sqrt(1 + square(tau))), 0);
  const Array cosine = rsqrt(1 + square(tangent)), real_sine = -(tangent * cosine);
  const Array sine = complex ? real_sine * conjugate(mean) / where(off == 0, 1, off) : real_sine;
  const Array c = cosine.reshape({batch, 1, n}), s = sine.reshape({batch, 1, n});
  v = (v * c + take(v, round.partner, 2) * s).eval();
  const Array columns = (a * c + swapped * s).eval();
  a = (columns * cosine.reshape({batch, n, 1}) +
       take(columns, round.partner, 1) * conjugate(sine).reshape({batch, n, 1}))
          .eval();
}

/// A checked argument of eigh: the matrices with the lower triangles, and shapes and dtypes of the results.
struct Hermitian {
  Array given;
  Dtype result, real_result;
  std::int64_t batch, n;
  Shape values_shape;

  Hermitian(const Array& a, const std::string& uplo) {
    if (uplo != "L" && uplo != "U") fail<ValueError>("linalg::eigh: uplo is \"L\" or \"U\", not \"{}\"", uplo);
    given = uplo == "U" && a.ndim() >= 2 ? detail::adjoint(a) : a;
    detail::check_square(given, "eigh");
    if (is_16bit_float(given.dtype()))
      fail<DtypeError>("linalg::eigh: {} is too narrow; cast to float32 or float64", given.dtype());
    result = is_inexact(given.dtype()) ? given.dtype() : Dtype::float64;
    real_result = part_dtype(result);
    n = given.shape().back();
    values_shape = Shape(given.shape().data(), given.ndim() - 2);
    batch = values_shape.product();
    values_shape.push_back(n);
  }
};

[[noreturn]] void refuse_infinities() { fail<LinAlgError>("linalg::eigh: an element is not finite"); }

/// Computes by a library of the device.
EighResult by_library(Solver& solver, const Hermitian& of, bool vectors) {
  const Device device = of.given.device();
  const Array matrices = detail::as_dtype(of.given, of.result).reshape({of.batch, of.n, of.n});
  const EighResult found{Array::empty({of.batch, of.n}, of.real_result, device),
                         Array::empty({of.batch, vectors ? of.n : 0, of.n}, of.result, device)};
  std::vector<bool> ok(static_cast<std::size_t>(of.batch));
  solver.solve(device.index(),
               {SolveOp::eigh, readable(matrices), writable(found.values), writable(found.vectors), ok});
  if (std::find(ok.begin(), ok.end(), false) != ok.end()) refuse_infinities();
  return {found.values.reshape(of.values_shape), vectors ? found.vectors.reshape(of.given.shape()) : Array()};
}

/// Computes on the processor, in float64 or complex128.
EighResult by_tridiagonal_form(const Hermitian& of, bool vectors) {
  const detail::HostStack stack(of.given, "eigh");
  const Array values = detail::host_array({of.batch, of.n});
  const Array rows = detail::host_array({of.batch, vectors ? of.n : 0, of.n}, stack.matrices.dtype());
  stack.matrices.eval();
  std::vector<char> done(static_cast<std::size_t>(of.batch));
  stack.each([&](auto type, std::int64_t i) {
    using T = decltype(type);
    done[static_cast<std::size_t>(i)] =
        factor::eigh(detail::matrix_of<T>(stack.matrices, i), values.mutable_data<double>() + i * of.n,
                     detail::matrix_of<T>(rows, i));
  });
  if (std::find(done.begin(), done.end(), 0) != done.end()) refuse_infinities();
  return {stack.back(values), vectors ? stack.back(matrix_transpose(rows)) : Array()};
}

/// Computes by Jacobi's method, on any device.
EighResult by_rotations(const Hermitian& of) {
  const auto& [given, result, real_result, batch, n, values_shape] = of;
  const Device device = given.device();
  // Rounding errors accumulate over hundreds of rounds. In float32 they would be about twenty times LAPACK's.
  const Dtype dtype = device.info().has_f64 ? Dtype::float64 : real_result;

  const Array lower = tril(given.astype(promote(result, dtype)).reshape({batch, n, n}));
  if (!isfinite(lower).all()) refuse_infinities();
  // Scale, so that squares do not overflow.
  const Array largest = max(absolute(lower), {1, 2}, true), scale = where(largest > 0, largest, 1).eval();
  Array symmetric = (detail::hermitian_of(lower) / scale).eval();
  Array v = eye(n, {}, 0, lower.dtype()).to_device(device).broadcast_to({batch, n, n}).copy();
  const double epsilon = dtype == Dtype::float32 ? 0x1p-24 : 0x1p-53;
  const Array norm = sqrt(sum(square(absolute(symmetric)), {1, 2})).reshape({batch, 1}).eval();
  const Array negligible = (norm * (epsilon / static_cast<double>(n))).eval();
  const Array off_diagonal = (1 - eye(n, {}, 0, dtype)).to_device(device).eval();
  const std::vector<Round> rounds = rounds_of(n, dtype, device);
  // Once the rest is small, each sweep squares it. The bound of 40 covers rounding, which may keep it constant.
  for (int sweep = 0; sweep < 40; ++sweep) {
    const Array rest = max(absolute(symmetric * off_diagonal), {1, 2}).reshape({batch, 1});
    if ((rest <= norm * epsilon).all()) break;
    for (const Round& round : rounds) turn(symmetric, v, round, negligible);
  }
  const Array values = (real(diagonals(symmetric)) * scale.reshape({batch, 1})).eval(), order = argsort(values, 1);
  return {take_along_axis(values, order, 1).reshape(values_shape).astype(real_result),
          take_along_axis(v, order.reshape({batch, 1, n}).broadcast_to({batch, n, n}), 2)
              .reshape(given.shape())
              .astype(result)};
}

EighResult decomposed(const Array& a, const std::string& uplo, bool vectors) {
  const Hermitian of(a, uplo);
  const Device device = of.given.device();
  if (of.batch * of.n == 0)
    return {Array::empty(of.values_shape, of.real_result, device), Array::empty(of.given.shape(), of.result, device)};
  Solver* const solver = solver_for(device, of.result, of.n);
  if (solver) return by_library(*solver, of, vectors);
  return device.is_cpu() ? by_tridiagonal_form(of, vectors) : by_rotations(of);
}

}  // namespace

EighResult eigh(const Array& a, const std::string& uplo) { return decomposed(a, uplo, true); }

Array eigvalsh(const Array& a, const std::string& uplo) { return decomposed(a, uplo, false).values; }

}  // namespace catenary::linalg
