"""The Lambert W function, Wright's generalized Bessel function, and the Riemann zeta function minus 1."""

import math

from catenary import _core
from catenary.cupy._arguments import operand as _operand
from catenary.cupy._functions.shapes import broadcast_arrays
from catenary.cupyx.scipy._gamma import rgamma, stored, wide
from catenary.cupyx.scipy._iteration import function, until_all_are_done

_ufuncs = _core.ufuncs
_exp, _log, _lgamma, _absolute = (_ufuncs[n] for n in ('exp', 'log', 'lgamma', 'absolute'))
_EPSILON = {'f': 6e-8, 'd': 1.2e-16, 'F': 6e-8, 'D': 1.2e-16}


# ------------------------------------------------------------------ Lambert's W
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
        raise TypeError(f'lambertw: k is of whole numbers, and not of {k.dtype}')
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


# ------------------------------------------------------------------ Wright's function
def _wright_bessel(a, b, x):
    fine = stored((a >= 0) & (b >= 0) & (x >= 0) & (a < math.inf) & (b < math.inf) & (x < math.inf))
    c, d, v = (stored(_core.where(fine, value, 1)) for value in (a, b, x))
    eps = _EPSILON[x.dtype.char]
    positive = stored(v > 0)
    log, zero = stored(_log(_core.where(positive, v, 1))), _core.zeros_like(v)
    # the terms grow until k (a k)**a is x: they are summed from the largest downwards and upwards
    top = stored(_ufuncs['floor'](_exp((log - c * _log(_core.where(c > 0, c, 1))) / (1 + c))))
    top = stored(_core.where(c == 0, 0, top))

    def term(k):
        below = stored(c * k + d)
        return stored(_core.where(below == 0, 0, _exp(k * log - _lgamma(k + 1) - _lgamma(_core.where(below == 0, 1, below)))))

    def along(sign):
        def step(i, state):
            total, _ = state
            k = stored(top + sign * i)
            part = stored(_core.where(k >= 0, term(stored(_ufuncs['maximum'](k, 0))), 0))
            return total + part, (part > eps * total) & (total < math.inf) | (total == 0) & (k >= 0) & (k < 4)
        return step
    total = until_all_are_done(along(1), (term(top), v == v))[0]
    total = until_all_are_done(along(-1), (total, v == v))[0]
    total = _core.where(positive & (c > 0), total, 0)
    of_b = stored(rgamma(d))
    total = stored(_core.where(positive, _core.where(c == 0, _exp(v) * of_b, total), of_b))
    endless = (x == math.inf) & (a >= 0) & (b >= 0) & (a < math.inf) & (b < math.inf)
    return _core.where(fine, total, _core.where(endless, math.inf, math.nan))


wright_bessel = function('wright_bessel', "Returns Wright's generalized Bessel function, the sum of x**k / (k! gamma(a k + b)), for non-negative a, b and x. NaN elsewhere.", _wright_bessel)


# ------------------------------------------------------------------ zeta
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_SUMMED = 10


def _zeta_less_one(s):
    """Returns zeta(s) - 1 for s slightly below 0 and above, by Euler-Maclaurin summation."""
    n = _SUMMED
    power = stored(_exp(-math.log(n) * s))
    total = stored(n * power / _core.where(s == 1, 1, s - 1) + power / 2)
    rising, down = s, power / n
    for j, number in enumerate(_BERNOULLI):
        total = stored(total + number / math.factorial(2 * j + 2) * rising * down)
        rising, down = stored(rising * (s + 2 * j + 1) * (s + 2 * j + 2)), stored(down / (n * n))
    for k in range(n - 1, 1, -1):
        total = stored(total + _exp(-math.log(k) * s))
    return _core.where(s == 1, math.inf, total)


def _zetac(x):
    left = stored(x < -0.01)  # the series also holds slightly below 0, where the reflection would lose digits
    s = stored(_core.where(left, 1 - x, x))
    value = _zeta_less_one(stored(_ufuncs['minimum'](s, 1100)))
    half = stored(x / 2)
    sine = stored(_ufuncs['sin'](math.pi * (half - 2 * _ufuncs['rint'](half / 2))))
    # where gamma(1 - x) overflows, its power cancels
    other = 2 * sine * _exp(_lgamma(s) - s * math.log(2 * math.pi)) * (1 + value) - 1
    other = _core.where((_ufuncs['floor'](half) == half) & left, -1, other)
    value = _core.where(left, other, value)
    value = _core.where(x == math.inf, 0, value)
    return _core.where((x == -math.inf) | _ufuncs['isnan'](x), math.nan, value)


zetac = function('zetac', 'Returns zeta(x) - 1, accurate where it is small.', _zetac)
