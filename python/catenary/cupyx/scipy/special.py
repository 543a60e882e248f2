"""cupyx.scipy.special: functions of the library, and functions composed of these."""

import math as _math

from catenary import _core, _wheel
from catenary.cupy._arguments import delivered as _delivered, operand as _operand
from catenary.cupy._ufuncs import sinc  # noqa: F401
from catenary.cupyx.scipy._gamma import (_digamma_of_complex, _log_gamma_of_complex, gamma_of_complex as _gamma_of_complex, multigammaln,  # noqa: F401
                                          rgamma_of_complex as _rgamma_of_complex)
from catenary.cupyx.scipy._gamma import (in_float64 as _in_float64, is_complex as _is_complex, of_complex as _of_complex, prepared as _prepared, stored as _stored, wide as _wide,
                                          widened as _widened)
from catenary.cupyx.scipy._sph_harm import lpmv, sph_harm, sph_harm_y  # noqa: F401
from catenary.cupyx.scipy._exponential_integrals import shichi, sici  # noqa: F401
from catenary.cupyx.scipy._iteration import function as _function, of_row as _of_row
from catenary.cupyx.scipy._lambertw import lambertw  # noqa: F401

_ufuncs = _core.ufuncs
_exp, _log, _log1p, _expm1, _absolute = (_ufuncs[n] for n in ('exp', 'log', 'log1p', 'expm1', 'absolute'))


def _of_the_library(name, own):
    """Wraps a function of the library so that it returns SciPy's dtypes."""
    ufunc = _ufuncs[own]

    def function(*args, **kwargs):
        return ufunc(*(_widened(name, x) if hasattr(x, 'dtype') else x for x in args), **kwargs)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'Returns scipy.special.{name} of each element.'
    return function


digamma = psi = _of_complex('digamma', _in_float64('digamma', _of_the_library('digamma', 'digamma')), _digamma_of_complex)
_lgamma = _of_the_library('gammaln', 'lgamma')


def gammaln(x, out=None):
    """Returns log |gamma(x)|. As in SciPy, minus infinity gives minus infinity."""
    x = _operand(x, 'gammaln')
    made = _lgamma(x)
    made = _core.where(x == -_math.inf, x, made + 0.0).astype(made.dtype)
    if out is None:
        return made
    out[...] = made
    return out


def loggamma(x, out=None):
    """Returns the logarithm of the gamma function. Complex numbers are on the plane cut along the negative axis, and negative real numbers give NaN."""
    made = gammaln(x)
    return _core.where(_operand(x, 'loggamma') < 0, _math.nan, made).astype(made.dtype)


loggamma = _of_complex('loggamma', loggamma, _log_gamma_of_complex)
expit = _of_the_library('expit', 'sigmoid')
erf, erfc, erfcx, _erfinv, _erfcinv, ndtr, ndtri, log_ndtr, _zeta, cbrt, exp2, expm1, log1p = (_of_the_library(name, name) for name in (
    'erf', 'erfc', 'erfcx', 'erfinv', 'erfcinv', 'ndtr', 'ndtri', 'log_ndtr', 'zeta', 'cbrt', 'exp2', 'expm1', 'log1p'))


def _with_zeros(name, function, zeros):
    """Gives the zeros among the results SciPy's sign: `zeros(result, *arguments)` returns the results."""
    def signed(*args, out=None, **kwargs):
        made = function(*args, **kwargs)
        return _delivered(zeros(made, *(_operand(x, name) if hasattr(x, 'dtype') else x for x in args)).astype(made.dtype), out, name)
    signed.__name__ = signed.__qualname__ = name
    signed.__doc__ = function.__doc__
    return signed


def _positive(made, *args):
    """Makes zeros positive."""
    return made + 0.0


def _as_argument(made, x):
    """Gives zeros the sign of an argument that is zero."""
    return _core.where((made == 0) & (x == 0), x, made)


erfinv = _with_zeros('erfinv', _erfinv, _positive)
erfcinv = _with_zeros('erfcinv', _erfcinv, lambda made, x: -(0.0 - made))
round = _with_zeros('round', _of_the_library('round', 'rint'), lambda made, x: _core.where(x == 0, made, made + 0.0))


def zeta(x, q, out=None):
    """Returns the Hurwitz zeta function: infinity for x = 1 and for q = 0, -1, …, and as in SciPy NaN for infinite x with q above 1."""
    made = _zeta(x, q)
    x, q = _operand(x, 'zeta'), _operand(q, 'zeta')
    endless = (x == 1) | _ufuncs['isnan'](x) & (q <= 0) & (q == _ufuncs['floor'](q))
    made = _core.where(endless, _math.inf, _core.where((x == _math.inf) & (q > 1) & (q <= 1e8), _math.nan, made)).astype(made.dtype)
    return _delivered(made, out, 'zeta')


def polygamma(n, x):
    """Returns the n-th derivative of digamma, in float64 unless both arguments are float32."""
    n, x = (_widened('digamma', _operand(v, 'polygamma')) for v in (n, x))
    if not n.dtype == x.dtype == 'f':
        n, x = _wide(n, x)
    return _ufuncs['polygamma'](n, x)


def exp10(x):
    """Returns 10**x."""
    x, dtype = _prepared('exp10', x)
    return _ufuncs['power'](10.0, x).astype(dtype)


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """Returns log(sum(b * exp(a))) without overflow. With return_sign it returns (the logarithm of the absolute value, the sign)."""
    a = _operand(a, 'logsumexp')
    if b is None and not return_sign and a.dtype.kind != 'c':
        return _core.logsumexp(a, axis, keepdims)
    a = a if b is None else _core.where(_operand(b, 'logsumexp') == 0, -_math.inf, a)
    top = _core.max(a.real, axis=axis, keepdims=True)
    top = _core.where(_ufuncs['isfinite'](top), top, 0)
    terms = _exp(a - top)
    total = _core.sum(terms if b is None else terms * b, axis=axis, keepdims=True)
    sign = _ufuncs['sign'](total)  # x / |x| for complex numbers
    result = _log(_absolute(total) if return_sign else total) + top
    if not keepdims:
        result, sign = (_core.squeeze(x, tuple(range(x.ndim)) if axis is None else axis) for x in (result, sign))
    return (result, sign) if return_sign else result


def _of_its_own_dtype(name, x):
    """Returns the arguments in the dtype of the computation, and the dtype of the result. These functions return 16-bit floats for 16-bit floats."""
    x = _operand(x, name)
    return _prepared(name, x)[0], _exp(x).dtype


def softmax(x, axis=None):
    """Returns exp(x) / sum(exp(x))."""
    x, dtype = _of_its_own_dtype('softmax', x)
    powers = _exp(x - _core.max(x, axis=axis, keepdims=True))
    return (powers / _core.sum(powers, axis=axis, keepdims=True)).astype(dtype)


def log_softmax(x, axis=None):
    """Returns log(softmax(x))."""
    x, dtype = _of_its_own_dtype('log_softmax', x)
    shifted = x - _core.max(x, axis=axis, keepdims=True)
    return (shifted - _log(_core.sum(_exp(shifted), axis=axis, keepdims=True))).astype(dtype)


def logit(x):
    """Returns log(x / (1 - x))."""
    x, dtype = _prepared('logit', x)
    middle = _log1p((2 * x - 1) / (1 - x))
    return _core.where(_absolute(x - 0.5) < 0.2, middle, _log(x / (1 - x))).astype(dtype)


def log_expit(x):
    """Returns log(expit(x))."""
    x, dtype = _prepared('log_expit', x)
    return (-_ufuncs['softplus'](-x)).astype(dtype)


def _products(name, logarithm):
    def function(x, y):
        if _is_complex(x) or _is_complex(y):
            x, y = (_widened(name, _operand(v, name)) for v in (x, y))
            dtype = (x + y).dtype
        else:
            x, y, dtype = _prepared(name, x, y)
        return _core.where((x == 0) & ~_ufuncs['isnan'](y), 0, x * logarithm(y)).astype(dtype)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'x * {"log1p" if logarithm is _log1p else "log"}(y), and 0 where x is 0.'
    return function


xlogy, xlog1py = _products('xlogy', _log), _products('xlog1py', _log1p)


def entr(x):
    """Returns -x log(x), 0 at 0, and minus infinity for negative x."""
    x, dtype = _prepared('entr', x)
    return _core.where(x < 0, -_math.inf, _core.where(x == 0, 0, -x * _log(x))).astype(dtype)


def _of_quotient(x, y):
    """Returns x log(x / y), accurately for nearly equal numbers, and if the quotient overflows or underflows."""
    ratio = x / y
    near, far = (ratio > 0.5) & (ratio < 2), (ratio == _math.inf) | (ratio < (1e-300 if x.dtype == 'd' else 1e-37))
    return x * _core.where(near, _log1p((x - y) / y), _core.where(far, _log(x) - _log(y), _log(ratio)))


def rel_entr(x, y):
    """Returns x log(x / y) for positive numbers, 0 for x = 0 and y >= 0, and infinity elsewhere."""
    x, y, dtype = _prepared('rel_entr', x, y)
    value = _core.where((x == 0) & (y >= 0), 0, _core.where((x <= 0) | (y <= 0), _math.inf, _of_quotient(x, y)))
    return _core.where(_ufuncs['isnan'](x) | _ufuncs['isnan'](y), _math.nan, value).astype(dtype)


def kl_div(x, y):
    """Returns x log(x / y) - x + y for positive numbers, y for x = 0 and y >= 0, and infinity elsewhere."""
    x, y, dtype = _prepared('kl_div', x, y)
    x, y = _wide(x, y)
    value = _core.where((x == 0) & (y >= 0), y, _core.where((x <= 0) | (y <= 0), _math.inf, _of_quotient(x, y) - x + y))
    return _core.where(_ufuncs['isnan'](x) | _ufuncs['isnan'](y), _math.nan, value).astype(dtype)


def huber(delta, r):
    """Returns Huber's loss: r * r / 2 up to delta, linear beyond. delta below 0 gives infinity."""
    delta, r, dtype = _prepared('huber', delta, r)
    size = _absolute(r)
    value = _core.where(size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta))
    return _core.where(delta < 0, _math.inf, value).astype(dtype)


def pseudo_huber(delta, r):
    """Returns delta**2 (sqrt(1 + (r / delta)**2) - 1), 0 for delta = 0, and infinity for negative delta."""
    delta, r, dtype = _prepared('pseudo_huber', delta, r)
    delta, r = _wide(delta, r)
    size, hypot = _absolute(r), _ufuncs['hypot']
    # avoids squares, which may overflow
    near, far = size * size / (1 + hypot(1, size / delta)), size * (delta / (delta / size + hypot(delta / size, 1)))
    value = _core.where(delta == _math.inf, _math.nan, _core.where(size <= delta, near, _core.where(size == _math.inf, size, far)))
    value = _core.where(_ufuncs['isnan'](delta) | _ufuncs['isnan'](r), _math.nan, value)
    return _core.where(delta < 0, _math.inf, _core.where((delta == 0) | (r == 0), 0, value)).astype(dtype)


def _power_less_one(logarithm, lmbda):
    """Returns (exp(lmbda logarithm) - 1) / lmbda, even where the power overflows or the product underflows."""
    product = lmbda * logarithm
    small = (_absolute(lmbda) < 1e-19) | (_absolute(product) < 1e-20) & _ufuncs['isfinite'](logarithm)
    large = (product > (709 if product.dtype == 'd' else 88)) & _ufuncs['isfinite'](product)
    far = _ufuncs['copysign'](_exp(product - _log(_absolute(lmbda))), lmbda)
    return _core.where(small, logarithm, _core.where(large, far, _expm1(product) / lmbda))


def boxcox(x, lmbda):
    """Returns (x**lmbda - 1) / lmbda, or log(x) for lmbda = 0."""
    x, lmbda, dtype = _prepared('boxcox', x, lmbda)
    x, lmbda = _wide(x, lmbda)
    return _power_less_one(_log(x), lmbda).astype(dtype)


def boxcox1p(x, lmbda):
    """Returns boxcox(1 + x, lmbda)."""
    x, lmbda, dtype = _prepared('boxcox1p', x, lmbda)
    x, lmbda = _wide(x, lmbda)
    return _power_less_one(_log1p(x), lmbda).astype(dtype)


def _logarithm_of_inverse(y, lmbda):
    """Returns log(1 + lmbda y) / lmbda, even where the product overflows or underflows."""
    product = lmbda * y
    small, large = _absolute(product) < 1e-20, (product == _math.inf) & _ufuncs['isfinite'](y) & _ufuncs['isfinite'](lmbda)
    logarithm = _core.where(large, _log(_absolute(y)) + _log(_absolute(lmbda)), _log1p(product))
    return _core.where(small & _ufuncs['isfinite'](y), y, logarithm / _core.where(lmbda == 0, 1, lmbda))


def inv_boxcox(y, lmbda):
    """Returns the inverse of boxcox."""
    y, lmbda, dtype = _prepared('inv_boxcox', y, lmbda)
    y, lmbda = _wide(y, lmbda)
    return _exp(_core.where(lmbda == 0, y, _logarithm_of_inverse(y, lmbda))).astype(dtype)


def inv_boxcox1p(y, lmbda):
    """Returns the inverse of boxcox1p."""
    y, lmbda, dtype = _prepared('inv_boxcox1p', y, lmbda)
    y, lmbda = _wide(y, lmbda)
    return _expm1(_core.where(lmbda == 0, y, _logarithm_of_inverse(y, lmbda))).astype(dtype)


def cosm1(x):
    """Returns cos(x) - 1, accurate near 0."""
    x, dtype = _prepared('cosm1', x)
    half = _ufuncs['sin'](x / 2)
    return (0 - 2 * half * half).astype(dtype)


def exprel(x):
    """Returns (exp(x) - 1) / x, and 1 at 0."""
    x, dtype = _prepared('exprel', x)
    x, = _wide(x)
    return _core.where(x == 0, 1, _core.where(x == _math.inf, x, _expm1(x) / x)).astype(dtype)


def radian(d, m, s):
    """Converts degrees, minutes and seconds to radians."""
    d, m, s, dtype = _prepared('radian', d, m, s)
    d, m, s = _wide(d, m, s)
    return _ufuncs['radians'](d + m / 60 + s / 3600).astype(dtype)


def _of_degrees(name, ufunc, quarters, signed):
    """Makes a function of degrees, which are reduced exactly to -45 to 45. Each quarter turn selects one of `quarters`, functions of (sine, cosine).

    `signed` makes the result from the value of positive degrees and the given degrees, so that zeros have SciPy's signs.
    """
    def function(x):
        given, dtype = _prepared(name, x)
        endless = _stored(_ufuncs['isinf'](given))
        x = _stored(_ufuncs['fmod'](_core.where(endless, 0, _absolute(given)), 360))  # exact for any x
        turns = _ufuncs['rint'](x / 90)
        degrees = _stored(x - 90 * turns)
        rest, eighth = _ufuncs['radians'](degrees), _absolute(degrees) == 45
        s, c, k = _ufuncs['sin'](rest), _ufuncs['cos'](rest), _ufuncs['remainder'](turns, 4)
        c = _core.where(eighth, _absolute(s), c)  # so that the tangent of 45 degrees is 1
        value = quarters(s, c)
        value = _core.where(k == 0, value[0], _core.where(k == 1, value[1], _core.where(k == 2, value[2], value[3])))
        return _core.where(endless, 0, signed(value, given)).astype(dtype)  # SciPy returns 0 from 1e14 on
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'The {ufunc} of degrees.'
    return function


def _ratio(a, b):
    """Returns a / b, with infinity where b is 0."""
    return _core.where(b == 0, _math.inf, a / b)


def _odd(value, x):
    return _core.where(x < 0, -value, value)


def _odd_between_zeros_and_poles(value, x):
    return _core.where((value == 0) | _ufuncs['isinf'](value), value, _odd(value, x))


sindg = _of_degrees('sindg', 'sine', lambda s, c: (s, c, -s, -c), _odd)
cosdg = _of_degrees('cosdg', 'cosine', lambda s, c: (c, -s, -c, s), lambda value, x: value)
tandg = _of_degrees('tandg', 'tangent', lambda s, c: (s / c, _ratio(-c, s)) * 2, _odd_between_zeros_and_poles)
cotdg = _of_degrees('cotdg', 'cotangent', lambda s, c: (_ratio(c, s), 0 - s / c) * 2, _odd_between_zeros_and_poles)


(j0, j1, y0, y1, yn, i0, i0e, i1, i1e, k0, k0e, k1, k1e, exp1, expi, expn, ellipk, ellipkm1, ellipkinc, ellipeinc, gammasgn, beta, betaln, binom,
 poch, gammainc, gammaincc, gammaincinv, gammainccinv, betainc, betaincinv, pdtr, pdtrc, pdtri, chdtr, chdtrc, chdtri, gdtr, gdtrc, fdtr, fdtrc,
 fdtri, bdtr, bdtrc, bdtri, nbdtr, nbdtrc, nbdtri, wright_bessel, zetac, _spherical_yn) = (_of_row(name) for name in (
    'j0', 'j1', 'y0', 'y1', 'yn', 'i0', 'i0e', 'i1', 'i1e', 'k0', 'k0e', 'k1', 'k1e', 'exp1', 'expi', 'expn', 'ellipk', 'ellipkm1', 'ellipkinc',
    'ellipeinc', 'gammasgn', 'beta', 'betaln', 'binom', 'poch', 'gammainc', 'gammaincc', 'gammaincinv', 'gammainccinv', 'betainc', 'betaincinv',
    'pdtr', 'pdtrc', 'pdtri', 'chdtr', 'chdtrc', 'chdtri', 'gdtr', 'gdtrc', 'fdtr', 'fdtrc', 'fdtri', 'bdtr', 'bdtrc', 'bdtri', 'nbdtr', 'nbdtrc',
    'nbdtri', 'wright_bessel', 'zetac', 'spherical_yn'))


def _as_gammas(made, a, b):
    """Gives zeros the sign of gamma(a) gamma(b), unless one of them is a pole."""
    sign = gammasgn(a) * gammasgn(b)
    return _core.where((made == 0) & (sign == sign), 0.0 * sign, made)


btdtr, btdtri = betainc, betaincinv
j1 = _with_zeros('j1', j1, _as_argument)
i1, i1e = (_with_zeros(name, function, lambda made, x: _core.where(x < 0, made, made + 0.0)) for name, function in (('i1', i1), ('i1e', i1e)))
betaln, poch = _with_zeros('betaln', betaln, _positive), _with_zeros('poch', poch, _positive)
ellipkinc = _with_zeros('ellipkinc', ellipkinc, lambda made, phi, m: _core.where((made == 0) & (phi == 0) & ((m <= 0) | (m == 1)), phi, made))
ellipeinc = _with_zeros('ellipeinc', ellipeinc, lambda made, phi, m: _core.where((made == 0) & (phi == 0) & (m == 0), phi, made))
beta = _with_zeros('beta', beta, _as_gammas)
binom = _with_zeros('binom', binom, lambda made, n, k: _core.where((made == 0) & (n < -1), -0.0, made))
bdtri = _with_zeros('bdtri', bdtri, lambda made, k, n, y: _core.where((made == 0) & (y == 1) & (k < 1), -0.0, made))
gamma = _of_complex('gamma', _of_row('gamma'), _gamma_of_complex)
rgamma = _of_complex('rgamma', _with_zeros('rgamma', _of_row('rgamma'), _as_argument), _rgamma_of_complex)
ellipj = _function('ellipj', "Returns Jacobi's elliptic functions sn, cn and dn of u, and the amplitude. NaN for m outside 0 to 1.",
                   lambda u, m: tuple(_ufuncs['jacobi_' + name](u, m) for name in ('sn', 'cn', 'dn', 'am')))


def _derivative_of_spherical_yn(n, z):
    x, row = _absolute(z), _ufuncs['spherical_yn']
    order = _ufuncs['trunc'](_core.where(_ufuncs['isfinite'](n), n, 0))
    value = _core.where(order == 0, -row(1, x), row(_ufuncs['maximum'](order - 1, 0), x) - (order + 1) / x * row(order, x))
    value = _core.where(x == 0, _math.inf, _core.where(x == _math.inf, 0, value))
    value = _core.where((z < 0) & (_ufuncs['remainder'](order, 2) == 1), -value, value)
    return _core.where((order < 0) | _ufuncs['isnan'](z), _math.nan, value)


def spherical_yn(n, z, derivative=False):
    """Returns the spherical Bessel function of the second kind of integer order n, or its derivative. Orders below 0 give NaN."""
    return _function('spherical_yn', '', _derivative_of_spherical_yn)(n, z) if derivative else _spherical_yn(n, z)


__getattr__ = _wheel.getter('cupyx.scipy.special')
