"""The Lambert W function."""

import math

from catenary import _core
from catenary.cupy._arguments import operand as _operand
from catenary.cupy._functions.shapes import broadcast_arrays
from catenary.cupyx.scipy._gamma import stored, wide
from catenary.cupyx.scipy._iteration import until_all_are_done

_ufuncs = _core.ufuncs
_exp, _log, _absolute = (_ufuncs[n] for n in ('exp', 'log', 'absolute'))
_EPSILON = {'f': 6e-8, 'd': 1.2e-16, 'F': 6e-8, 'D': 1.2e-16}


_HALLEY = 100  # maximum number of steps, six suffice away from branch points


def _start(z, k):
    """Returns the initial guess in the upper half plane: the series near -1/e, where the branches 0 and -1 meet, a quotient near 0 on branch 0, and
    else the logarithm."""
    root = stored(_ufuncs['sqrt'](2 * (math.e * z + 1)))
    log = stored(_log(_core.where(z == 0, 1, z)) + 2j * math.pi * k)
    start = stored(log - _log(_core.where(log == 0, 1, log)))
    close = stored(_absolute(z + math.exp(-1)) < 0.3)
    near = stored((k == 0) & close)
    start = _core.where(near, root * (1 - root / 3) - 1, _core.where((k == -1) & close, -root * (1 + root / 3) - 1, start))
    quotient = z * (60 + z * (114 + 17 * z)) / (60 + z * (174 + 101 * z))
    start = _core.where((k == 0) & ~near & (z.real > -0.2 - 2.5 * _absolute(z.imag)) & (z.real > -1) & (z.real < 1.5) & (_absolute(z.imag) < 1), quotient, start)
    # between -1/e and 0 the branch -1 is real, unlike the logarithm
    real = (k == -1) & (z.imag == 0) & (z.real < 0) & (z.real > -math.exp(-1)) & ~close
    down = _log(_core.where(real, -z.real, 0.5).astype(z.real.dtype))
    return stored(_core.where(real, down - _log(-down), start).astype(z.dtype))


def lambertw(z, k=0, tol=1e-8):
    """Returns W such that W exp(W) is z, on the branch k, as complex numbers. `tol` is ignored: the result is accurate to rounding."""
    z, k = broadcast_arrays(_operand(z, 'lambertw'), _operand(k, 'lambertw'))
    if k.dtype.kind not in 'biu':
        raise TypeError(f'lambertw: k must be of integers, got {k.dtype}')
    (z,) = wide(z.astype('D'))
    k = stored(k.astype(z.real.dtype))
    fine = stored(_ufuncs['isfinite'](z) & (z != 0))
    v = stored(_core.where(fine, z, 1).astype(z.dtype))
    # The lower half plane, which includes signed zeros, mirrors the upper one. The branch -1 however is real between -1/e and 0.
    below = stored(_ufuncs['signbit'](v.imag) & ((v.imag != 0) | (v.real < -math.exp(-1)) | (k != -1)))
    v = stored(_core.where(below | (v.imag == 0), v.real + 1j * _absolute(v.imag), v).astype(z.dtype))
    branch = stored(_core.where(below, -k, k))
    eps = _EPSILON[z.dtype.char]

    def step(i, state):
        w, going = state
        # exp(w) and z exp(-w), neither of which overflows
        right = w.real >= 0
        power = stored(_exp(_core.where(right, -w, w)))
        excess = stored(_core.where(right, w - v * power, w * power - v))
        slope = stored(_core.where(right, w + 1, power * (w + 1)))
        bend = (w + 2) * excess / (2 * w + 2)
        change = stored(excess / (slope - bend))
        change = stored(_core.where(going & _ufuncs['isfinite'](change), change, 0))
        return w - change, going & (_absolute(change) > 4 * eps * _absolute(w))
    w = stored(until_all_are_done(step, (_start(v, branch), v == v), most=_HALLEY)[0])
    w = stored(_core.where(below, _ufuncs['conjugate'](w), w).astype(z.dtype))
    w = _core.where(v == -math.exp(-1), _core.where((k == 0) | (k == -1), -1, w), w)
    ends = ((z == 0, _core.where(k == 0, z, -math.inf)), (_ufuncs['isnan'](z), z), (z.real == math.inf, z + 2j * math.pi * k), (z.real == -math.inf, 1j * math.pi * (2 * k + 1) - z))
    for where, end in ends:
        w = _core.where(where, end, w)
    return _core.where(_ufuncs['isinf'](z.imag) & _ufuncs['isfinite'](z.real), complex(math.nan, math.nan), w).astype('D')
