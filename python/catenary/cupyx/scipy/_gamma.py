"""The gamma function, its logarithm and derivative of complex numbers, and dtypes of the special functions."""

import math
import numbers

from catenary import _core
from catenary.cupy._array import is_complex
from catenary.cupy._arguments import operand as _operand

_ufuncs = _core.ufuncs
_exp, _lgamma, _absolute, _floor = (_ufuncs[n] for n in ('exp', 'lgamma', 'absolute', 'floor'))


# Functions that give float64 for integers and 16-bit floats. The next list gives it for integers alone. Other functions give float32 where it holds
# these.
_DOUBLE = frozenset(('beta', 'betaln', 'cbrt', 'cosdg', 'cosm1', 'cotdg', 'digamma', 'ellipeinc', 'ellipj', 'ellipk', 'ellipkinc', 'ellipkm1', 'erf', 'erfc', 'erfcx', 'exp10',
                     'exp2', 'expit', 'expm1', 'exprel', 'gamma', 'gammainc', 'gammaincc', 'gammainccinv', 'gammaincinv', 'gammaln', 'gammasgn', 'i0', 'i0e', 'i1', 'i1e', 'j0',
                     'j1', 'k0', 'k0e', 'k1', 'k1e', 'log1p', 'log_expit', 'log_ndtr', 'logit', 'multigammaln', 'ndtr', 'radian', 'rgamma', 'sindg', 'sph_harm_y',
                     'spherical_yn', 'tandg', 'wright_bessel', 'xlog1py', 'xlogy', 'y0', 'y1', 'zetac'))
_DOUBLE_OF_INTEGERS = frozenset(('expn', 'nbdtr', 'nbdtrc', 'nbdtri', 'pdtri', 'yn'))
_SMALL = frozenset('?bBhHe')


def widened(name, x):
    """Returns an array of integers or 16-bit floats in the dtype that the named function needs."""
    if x.dtype.char not in _SMALL:
        return x
    return x.astype('d' if name in _DOUBLE or name in _DOUBLE_OF_INTEGERS and x.dtype != 'e' else 'f')


def prepared(name, *args):
    """Returns the arguments in the dtype of the computation, and SciPy's dtype of the result. Python numbers do not determine a dtype if there are
    arrays."""
    arrays = [x if isinstance(x, (int, float)) and any(isinstance(y, _core.ndarray) for y in args) else _operand(x, name) for x in args]
    weak = [x for x in arrays if not isinstance(x, _core.ndarray)]
    # integers beside a float, and bools beside an integer, do not count as small dtypes
    whole = 'biu' if any(isinstance(x, float) for x in weak) else 'b' if weak else ''
    arrays = [x if not isinstance(x, _core.ndarray) else x.astype('d') if x.dtype.kind in whole else widened(name, x) for x in arrays]
    first, *rest = sorted(arrays, key=lambda x: not isinstance(x, _core.ndarray))
    found = _exp(first)
    for x in rest:
        found = _ufuncs['logaddexp'](found, x)
    dtype = found.dtype
    return *(x.astype(dtype) if isinstance(x, _core.ndarray) else _core.zeros((), dtype) + x for x in arrays), dtype


def stored(x):
    """Evaluates the values now. Short kernels are compiled once and serve several functions, whereas a long fused one takes seconds to compile."""
    return _core._copy(x, 'C')


# coefficients of Stirling's series, highest power of 1 / x**2 first
_STIRLING = (1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)


# ------------------------------------------------------------------ of complex numbers
_conjugate, _log = _ufuncs['conjugate'], _ufuncs['log']
# coefficients of the series of digamma, highest power of 1 / z**2 first
_EULER, _TERMS = 0.57721566490153286, 24
# zeta(2), zeta(3), … by Euler-Maclaurin summation from 40 on
_ZETAS = [math.fsum(n ** -k for n in range(1, 40)) + 40.0 ** -k * (40 / (k - 1) + 1 / 2 + k / 480 - k * (k + 1) * (k + 2) / 720 / 40 ** 3) for k in range(2, _TERMS + 1)]
_DERIVED = (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)


def _series(coefficients, z):
    inverse, total = stored(1 / z), coefficients[0]  # the square of z may overflow
    for c in coefficients[1:]:
        total = total * (inverse * inverse) + c
    return stored(total + 0 * inverse)


def _by_parts(z, to_the_right, to_the_left):
    """Makes a function of complex numbers that is real on the real axis from its upper half plane.

    to_the_right(z) applies where the real part is at least 0.1, elsewhere to_the_left(z, e, to_the_right(1 - z)), where e is exp(2 pi i z) - 1.
    0 and the negative integers give NaN.
    """
    below = _ufuncs['signbit'](z.imag)
    up = stored(_core.where(below, _conjugate(z), z))
    left = up.real < 0.1
    right = stored(to_the_right(stored(_core.where(left, 1 - up, up))))
    turned = stored(_ufuncs['expm1'](2j * math.pi * _core.where(left, up - _ufuncs['rint'](up.real), 0.5j).astype(z.dtype)))
    value = stored(_core.where(left, to_the_left(up, turned, right), right).astype(z.dtype))
    value = _core.where(left & (z.imag == 0) & (z.real > 0), value.real, value)
    value = _core.where(below, _conjugate(value), value)
    return _core.where((z.imag == 0) & (z.real <= 0) & (z.real == _floor(z.real)), complex(math.nan, math.nan), value).astype(z.dtype)


def _log_gamma_near_zeros(z, value):
    """Returns value, and near 1 and 2, where the logarithm of the gamma function is 0, its power series, which keeps the digits of small numbers."""
    second = stored(_absolute(z - 2) < 0.2)
    near = stored((_absolute(z - 1) < 0.2) | second)
    w = stored(_core.where(near, _core.where(second, z - 2, z - 1), 0).astype(z.dtype))
    total = stored(0 * w)
    for k, c in zip(range(_TERMS, 1, -1), reversed(_ZETAS)):
        total = stored((total + c / k * (-1) ** k) * w)
    total = stored((total - _EULER) * w)
    return _core.where(near, _core.where(second, total + _ufuncs['log1p'](w), total), value).astype(z.dtype)


def _log_gamma_of_complex(z):
    def to_the_right(z):
        near = _absolute(z) < 20
        total = 0
        for k in range(8):
            total = stored(total + _log(_core.where(near, z + k, 1)))
        w = stored(_core.where(near, z + 8, z))
        return (w - 0.5) * stored(_log(w)) - w + 0.5 * math.log(2 * math.pi) + _series(_STIRLING, w) / w - total

    def to_the_left(z, e, other):
        return math.log(2 * math.pi) - 0.5j * math.pi + 1j * math.pi * z - _log(-e) - other
    value = _log_gamma_near_zeros(z, _by_parts(z, to_the_right, to_the_left))
    return _core.where(_ufuncs['isinf'](z.imag) & (z.real < 0.1) & (z.real > -math.inf), complex(-math.inf, math.nan), value).astype(z.dtype)


def _digamma_of_complex(z):
    def to_the_right(z):
        near = _absolute(z) < 20
        total = 0
        for k in range(8):
            total = stored(total + _core.where(near, 1 / _core.where(near, z + k, 1), 0))
        w = stored(_core.where(near, z + 8, z))
        return stored(_log(w)) - (0.5 + _series(_DERIVED, w) / w) / w - total
    value = _by_parts(z, to_the_right, lambda z, e, other: other - 1j * math.pi * (2 / e + 1))
    value = _core.where((z.imag == 0) & (z != 0) & (_absolute(z.real) < 1e-290), -1 / z.real, value)  # the pole, whose series overflows
    endless = _ufuncs['isinf'](z) & ((z.real != -math.inf) | (_absolute(z.imag) > 16) | _ufuncs['isnan'](z.imag))  # SciPy returns NaN nearer to the negative axis
    return _core.where(endless, _log(z), value).astype(z.dtype)


def of_complex(name, of_real, compute):
    """Returns a function that takes complex numbers, too."""
    def function(x, *args, **kwargs):
        if not is_complex(x):
            return of_real(x, *args, **kwargs)
        x = _operand(x, name)
        made = compute(_core._copy(*wide(x), 'C'), *args).astype(x.dtype)
        if kwargs.get('out') is not None:
            kwargs['out'][...] = made
            return kwargs['out']
        return made
    function.__name__ = function.__qualname__ = name
    function.__doc__ = of_real.__doc__
    return function


def _is_pole(z):
    return (z.imag == 0) & (z.real <= 0) & (z.real == _floor(z.real))


def _of_logarithm(sign):
    def function(z):
        log = stored(_log_gamma_of_complex(z))
        return _core.where(_is_pole(z), complex(math.nan, math.nan) if sign > 0 else 0, _exp(log if sign > 0 else -log)).astype(z.dtype)
    return function


gamma_of_complex, rgamma_of_complex = _of_logarithm(1), _of_logarithm(-1)


def wide(*args):
    """Converts the arguments to float64 (complex128), in which SciPy computes these functions, if their device has it."""
    if any(isinstance(x, _core.ndarray) and not _core.device_of(x).info['has_f64'] for x in args):
        return args
    return tuple(x.astype('D' if x.dtype.kind == 'c' else 'd') for x in args)


def in_float64(name, of_real):
    """Makes a function that the library computes in float64 if the device has it."""
    def function(x, *args, **kwargs):
        x, dtype = prepared(name, x)
        made = of_real(*wide(x), *args, **kwargs)
        return made if kwargs.get('out') is not None else made.astype(dtype)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = of_real.__doc__
    return function


def multigammaln(a, d):
    """Returns the logarithm of the multivariate gamma function of dimension d, in float64. Raises ValueError unless a > (d - 1) / 2 and d is an
    integer."""
    d = d.item() if getattr(d, 'ndim', None) == 0 else d
    if not isinstance(d, numbers.Real) or not math.isfinite(d) or int(d) != d:
        raise ValueError('d should be a positive integer (dimension)')
    a = prepared('multigammaln', a)[0].astype('d')
    if bool(_core.any(a <= 0.5 * (d - 1))):
        raise ValueError('condition a > 0.5 * (d-1) not met')
    total = d * (d - 1) * 0.25 * math.log(math.pi) + _lgamma(a)
    for j in range(1, int(d)):
        total = total + _lgamma(a - j / 2)
    return total
