"""Iterative solvers for linear systems: cg, cgs, bicgstab, gmres, lsqr."""

import math

import numpy

from catenary import _core
from catenary.cupy._arguments import given
from catenary.cupyx.scipy.sparse.linalg._interface import IdentityOperator, aslinearoperator


def _product(a, b):
    """Returns the sum of products, with the first factor conjugated."""
    return _core.vdot(a, b) if a.dtype.kind == 'c' else _core.dot(a, b)


def _length(v):
    return math.sqrt(float(_product(v, v).real))


def _floating(kind):
    kind = numpy.result_type(kind)
    return kind if kind.char in 'fdFD' else numpy.dtype('f' if kind == 'e' else 'd')


def _system(A, b, x0, M):
    """Returns (A and M as operators, b and the initial x as vectors). Raises ValueError if the shapes do not fit."""
    A, b = aslinearoperator(A), given(b)
    n = A.shape[0]
    if A.shape[0] != A.shape[1]:
        raise ValueError(f'expected square matrix (shape: {A.shape})')
    if A.dtype.char not in 'fdFD':
        raise TypeError(f'unsupported dtype (actual: {A.dtype}): the matrix must be of floats')
    if b.shape not in ((n,), (n, 1)):
        raise ValueError(f'b has incompatible dimensions: {b.shape} for a matrix of shape {A.shape}')
    b = b.ravel().astype(numpy.result_type(A.dtype, b.dtype))
    if x0 is None:
        x = _core.zeros_like(b)
    else:
        x0 = given(x0)
        if x0.shape not in ((n,), (n, 1)):
            raise ValueError(f'x0 has incompatible dimensions: {x0.shape} for a matrix of shape {A.shape}')
        x = _core._copy(x0.ravel().astype(b.dtype), 'C')
    M = IdentityOperator(A.shape, A.dtype) if M is None else aslinearoperator(M)
    if M.shape != A.shape:
        raise ValueError(f'matrix and preconditioner have different shapes: {A.shape} and {M.shape}')
    return A, M, x, b


def _limit(b, rtol, atol, tol):
    return max(float(atol), float(rtol if tol is None else tol) * _length(b))


def _solve(method, A, b, x0, tol, rtol, atol, maxiter, M, callback):
    """Returns (x, 0), or (x, number of steps) without convergence. `method` yields x and the residual after each step."""
    A, M, x, b = _system(A, b, x0, M)
    limit, most = _limit(b, rtol, atol, tol), 10 * b.size if maxiter is None else maxiter
    r = b - A.matvec(x)
    steps = method(A, M, x, r, limit)
    for _ in range(most):
        if _length(r) <= limit:
            return x, 0
        x, r = next(steps)
        if callback is not None:
            callback(x)
    return x, 0 if _length(r) <= limit else most


def cg(A, b, x0=None, *, tol=None, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
    """Solves A x = b by conjugate gradients for a symmetric or Hermitian positive definite matrix or operator.

    Returns (x, 0), or (x, number of steps) without convergence. M approximates the inverse of A. callback is called with each x.
    """
    return _solve(_conjugate_gradients, A, b, x0, tol, rtol, atol, maxiter, M, callback)


def _conjugate_gradients(A, M, x, r, limit):
    z = M.matvec(r)
    p, rz = z, _product(r, z)
    while True:
        q = A.matvec(p)
        alpha = rz / _product(p, q)
        x, r = _core._copy(x + alpha * p, 'C'), _core._copy(r - alpha * q, 'C')
        yield x, r
        z = M.matvec(r)
        after = _product(r, z)
        p, rz = _core._copy(z + after / rz * p, 'C'), after


def cgs(A, b, x0=None, *, tol=None, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
    """Solves A x = b by the conjugate gradient squared method for any square A. Arguments and results are those of cg."""
    return _solve(_squared, A, b, x0, tol, rtol, atol, maxiter, M, callback)


def _squared(A, M, x, r, limit):
    shadow, u, p, rho = r, r, r, _product(r, r)
    while True:
        v = A.matvec(M.matvec(p))
        alpha = rho / _product(shadow, v)
        q = _core._copy(u - alpha * v, 'C')
        step = M.matvec(u + q)
        x, r = _core._copy(x + alpha * step, 'C'), _core._copy(r - alpha * A.matvec(step), 'C')
        yield x, r
        after = _product(shadow, r)
        beta = after / rho
        u = _core._copy(r + beta * q, 'C')
        p, rho = _core._copy(u + beta * (q + beta * p), 'C'), after


def bicgstab(A, b, x0=None, *, tol=None, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
    """Solves A x = b by the stabilized biconjugate gradient method for any square A. Arguments and results are those of cg."""
    return _solve(_stabilized, A, b, x0, tol, rtol, atol, maxiter, M, callback)


def _stabilized(A, M, x, r, limit):
    shadow, p, rho = r, r, _product(r, r)
    while True:
        direction = M.matvec(p)
        v = A.matvec(direction)
        alpha = rho / _product(shadow, v)
        s = _core._copy(r - alpha * v, 'C')
        x = _core._copy(x + alpha * direction, 'C')
        if _length(s) <= limit:  # the denominator of omega vanishes
            yield x, s
        smooth = M.matvec(s)
        t = A.matvec(smooth)
        omega = _product(t, s) / _product(t, t)
        x, r = _core._copy(x + omega * smooth, 'C'), _core._copy(s - omega * t, 'C')
        yield x, r
        after = _product(shadow, r)
        p, rho = _core._copy(r + after / rho * (alpha / omega) * (p - omega * v), 'C'), after


def gmres(A, b, x0=None, *, tol=None, rtol=1e-5, atol=0.0, restart=None, maxiter=None, M=None, callback=None, callback_type=None):
    """Solves A x = b by generalized minimal residuals for any square A. Returns (x, 0), or (x, number of steps) if maxiter steps do not suffice.

    It restarts every `restart` steps (20). M approximates the inverse of A. callback is called before each restart with the residual's norm
    relative to b's ('pr_norm'), or before each cycle with x ('x').
    """
    A, M, x, b = _system(A, b, x0, M)
    if callback_type not in (None, 'x', 'pr_norm'):
        raise ValueError(f'Unknown callback_type: {callback_type}')
    if b.size == 0:
        return x, 0
    size = _length(b)
    if size == 0:
        return b, 0
    limit, most = _limit(b, rtol, atol, tol), 10 * b.size if maxiter is None else maxiter
    restart = min(20 if restart is None else restart, b.size)
    done = 0
    while True:
        r = b - A.matvec(x)
        left = _length(r)
        if callback is not None:
            if callback_type == 'x':
                callback(x)
            elif done:
                callback(left / size)
        if left <= limit or done >= most:
            return x, 0 if left <= limit else done
        basis = _core.zeros((restart + 1, b.size), b.dtype)
        basis[0] = r / left
        upper, rotations = numpy.zeros((restart, restart), b.dtype), []
        rest = numpy.zeros(restart + 1, b.dtype)
        rest[0] = left
        count = 0
        for j in range(restart):
            w = A.matvec(M.matvec(basis[j]))
            column = numpy.zeros(j + 1, b.dtype)
            for _ in range(2):  # the second pass removes rounding errors of the first
                own = _core.matmul(basis[:j + 1].conj(), w)
                w = _core._copy(w - _core.matmul(own, basis[:j + 1]), 'C')
                column += own.get()
            beyond = _length(w)
            for k, (c, s) in enumerate(rotations):
                column[k], after = c * column[k] + s * (column[k + 1]), -numpy.conj(s) * column[k] + c * column[k + 1]
                column[k + 1] = after
            length = math.hypot(abs(column[j]), beyond)
            if length == 0:
                break
            c = abs(column[j]) / length
            phase = column[j] / abs(column[j]) if column[j] else 1
            s = phase * beyond / length
            rotations.append((c, s))
            upper[:j, j], upper[j, j] = column[:j], phase * length
            rest[j], rest[j + 1] = c * rest[j], -numpy.conj(s) * rest[j]
            count, done = j + 1, done + 1
            if abs(rest[j + 1]) <= limit or beyond <= 1e-14 * length:
                break
            basis[j + 1] = w / beyond
        if count == 0:
            return x, max(done, 1)
        y = numpy.linalg.solve(upper[:count, :count], rest[:count])
        x = _core._copy(x + M.matvec(_core.matmul(_core.from_numpy(y, None), basis[:count])), 'C')


def lsqr(A, b, damp=0.0, atol=1e-6, btol=1e-6, conlim=1e8, iter_lim=None, show=False, calc_var=False, x0=None):
    """Minimises |A x - b|^2 + damp^2 |x|^2 by the bidiagonalization of Paige and Saunders (LSQR).

    Returns SciPy's tuple (x, reason to stop, steps, |r|, damped |r|, |A|, condition of A, |A^H r|, |x|, variances or None), where |A|, the
    condition and the variances are estimates. Raises ValueError if the shapes do not fit.
    """
    if show:
        raise NotImplementedError('lsqr: show is not supported')
    A, b = aslinearoperator(A), given(b)
    m, n = A.shape
    if b.shape not in ((m,), (m, 1)):
        raise ValueError(f'b must be a vector of as many elements as A has rows: {b.shape} for a matrix of shape {A.shape}')
    kind = _floating(numpy.result_type(A.dtype, b.dtype))
    u = b.ravel().astype(kind)
    steps = 2 * n if iter_lim is None else iter_lim
    x = _core.zeros((n,), kind) if x0 is None else _core._copy(given(x0).ravel().astype(kind), 'C')
    size = _length(u)
    variances = _core.zeros((n,), kind.char.lower()) if calc_var else None
    if x0 is not None:
        u = u - A.matvec(x)
    beta = _length(u)
    alpha = 0.0
    v = _core.zeros_like(x)
    if beta > 0:
        u = _core._copy(u / beta, 'C')
        v = A.rmatvec(u).astype(kind, copy=False)
        alpha = _length(v)
    if alpha > 0:
        v = _core._copy(v / alpha, 'C')
    w = v
    rho_bar, phi_bar = alpha, beta
    r_length = r2_length = beta
    turned = alpha * beta
    if turned == 0:
        return x, 0, 0, r_length, r2_length, 0.0, 0.0, turned, 0.0, variances
    eps = numpy.finfo(kind).eps
    a_square = condition_square = x_square = damped = x_length = 0.0
    c2, s2, z, why, step = -1.0, 0.0, 0.0, 0, 0
    a_length = condition = 0.0
    while step < steps:
        step += 1
        u = _core._copy(A.matvec(v).astype(kind, copy=False) - alpha * u, 'C')
        beta = _length(u)
        if beta > 0:
            u = _core._copy(u / beta, 'C')
            a_square += alpha ** 2 + beta ** 2 + damp ** 2
            v = _core._copy(A.rmatvec(u).astype(kind, copy=False) - beta * v, 'C')
            alpha = _length(v)
            if alpha > 0:
                v = _core._copy(v / alpha, 'C')
        a_length = math.sqrt(a_square)
        # one rotation eliminates the damping, the second one the subdiagonal
        rho_bar1 = math.hypot(rho_bar, damp)
        c1, s1 = rho_bar / rho_bar1, damp / rho_bar1
        psi, phi_bar = s1 * phi_bar, c1 * phi_bar
        rho = math.hypot(rho_bar1, beta)
        c, s = rho_bar1 / rho, beta / rho
        theta, rho_bar = s * alpha, -c * alpha
        phi, phi_bar = c * phi_bar, s * phi_bar
        step_of = _core._copy(w / rho, 'C')
        x = _core._copy(x + (phi / rho) * w, 'C')
        w = _core._copy(v - (theta / rho) * w, 'C')
        condition_square += _length(step_of) ** 2
        if calc_var:
            variances = variances + (step_of * _core.ufuncs['conjugate'](step_of)).real
        # |x| by a rotation from the right
        delta, gamma_bar = s2 * rho, -c2 * rho
        rest = phi - delta * z
        x_length = math.sqrt(x_square + (rest / gamma_bar) ** 2) if gamma_bar else 0.0
        gamma = math.hypot(gamma_bar, theta)
        c2, s2, z = gamma_bar / gamma, theta / gamma, rest / gamma
        x_square += z * z
        condition = a_length * math.sqrt(condition_square)
        damped += psi * psi
        r2_length = math.sqrt(phi_bar ** 2 + damped)
        turned = alpha * abs(s * phi)
        square = r2_length ** 2 - damp ** 2 * x_square
        r_length = math.copysign(math.sqrt(abs(square)), square)
        test1, test2, test3 = r2_length / size, turned / (a_length * r2_length + eps), 1 / (condition + eps)
        of_x = a_length * x_length / size
        ends = (test1 <= btol + atol * of_x, test2 <= atol, conlim > 0 and test3 <= 1 / conlim, 1 + test1 / (1 + of_x) <= 1, 1 + test2 <= 1, 1 + test3 <= 1,
                step >= steps)
        why = next((k + 1 for k, ended in enumerate(ends) if ended), 0)
        if why:
            break
    return x, why, step, r_length, r2_length, a_length, condition, turned, x_length, variances
