#!/usr/bin/env python3
"""Prints the polynomial coefficients of catenary/ops/math.inc and special*.inc. Needs mpmath.

    fit_math.py [NAME…]

Each row is a smooth function. Most are the remainder of another function after its leading terms were subtracted exactly. The function is
interpolated at the Chebyshev points of the interval on which it is used. The coefficients begin with the constant term and are rounded to
the type. The name "cbrt" prints the constants that ct_cbrt adds to a third of a number's bits, and "two_over_pi" prints its table. Without
names, everything is printed.
"""
import math
import struct
import sys

try:
    from mpmath import (asin, atan, atanh, besseli, besselj, bessely, chebyfit, ci, cos, digamma, erf, erfc, erfinv, exp, findroot, gamma, log, log1p,
                        loggamma, mp, mpf, psi, si, sin, sinh, sqrt, tan, tanh)
except ImportError as error:
    sys.exit('%s\nThis Python lacks the package %s.' % (__doc__, error.name))

mp.dps = 60


def even(f):
    """Returns f(sqrt(z)) as a function of z, which avoids the removable singularity at 0."""
    return lambda z: f(sqrt(z if z > mpf(10) ** -20 else mpf(10) ** -20))


def at_zero(f):
    return lambda x: f(x if abs(x) > mpf(10) ** -15 else mpf(10) ** -15)


def erfcx(x):
    return exp(x * x) * erfc(x)


def erfcinv_exp(r):
    """Returns the x with erfc(x) = exp(-r^2), by Newton's method on log(erfc(x))."""
    x = r * mpf("0.6") if r < 1.2 else r * mpf("0.87") if r < 3 else sqrt(r * r - log(r * sqrt(mp.pi)))
    for _ in range(30):
        step = (log(erfcx(x)) - x * x + r * r) * sqrt(mp.pi) * erfcx(x) / 2
        x += step
        if abs(step) < mpf(10) ** -40:
            break
    return x


def mapped(f, k):
    """Returns f on [0, inf) as a function of t = (x - k) / (x + k)."""
    return lambda t: f(k * (1 + t) / (1 - t))


def far(f):
    """Returns f at large x as a function of 1 / x^2."""
    return lambda w: f(1 / sqrt(w if w > mpf(10) ** -12 else mpf(10) ** -12))


def squared(f, most):
    """Returns f(x) for 0 <= x <= most as a function of t = 2 (x / most)^2 - 1."""
    return lambda t: f(most * sqrt((t + 1) / 2 if t + 1 > mpf(10) ** -20 else mpf(10) ** -20))


def inverse(f, least, power=1):
    """Returns f(1 / x) for x >= least as a function of t = 2 (least / x)^power - 1."""
    return lambda t: f(((t + 1) / 2) ** (mpf(1) / power) / least)


def bessel_log(n, x):
    """Returns Y_n's part without logarithm and pole, times pi / 2 (x / 2)^-n."""
    rest = (log(x / 2) + mp.euler) * besselj(n, x) - mp.pi / 2 * bessely(n, x)
    return (rest - (1 / x if n else 0)) * (2 / x) ** n


def hankel(n, w):
    """Returns Hankel's integral of exp(-s^2) s^(2n) (1 + w s^2)^(n - 1/2), normalised to 1 at w = 0, by the trapezoidal rule, which is exact to
    rounding."""
    nodes = [mpf(k) / 50 for k in range(500)]
    terms = [exp(-s * s) * s ** (2 * n) * (1 + w * s * s) ** (mpf(2 * n - 1) / 2) for s in nodes]
    return (sum(terms) - terms[0] / 2) / 50 / (gamma(n + mpf(1) / 2) / 2)


def auxiliary(x, power):
    """Returns x f(x) or x^2 g(x) for power 1 or 2: the auxiliary functions of the sine and cosine integrals."""
    s, c = mp.pi / 2 - si(x), ci(x)
    return x * (c * sin(x) + s * cos(x)) if power == 1 else x * x * (s * sin(x) - c * cos(x))


half_ln2 = log(2) / 2 * mpf("1.001")
quarter_pi = mp.pi / 4 * mpf("1.002")
log_range = (sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1)
atan_range = (0, (sqrt(mpf(2)) - 1) ** 2)
s_range = (0, ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2)

digamma_root = findroot(digamma, 1.46)
near_gamma, far_gamma = (-mpf(3) / 4, mpf(3) / 4), (0, 1 / mpf("12.25"))  # [1, 2.5] around 1.75, and from 3.5 on

# name: (function, interval, terms for f32, terms for f64)
ROWS = {
    "exp": (at_zero(lambda r: (exp(r) - 1 - r) / r**2), (-half_ln2, half_ln2), 5, 11),
    "log": (at_zero(lambda f: (log1p(f) - f + f**2 / 2) / f**3), log_range, 9, 0),
    "log_s": (even(lambda s: (2 * atanh(s) / s - 2) / s**2), s_range, 0, 8),
    "pow_s": (even(lambda s: (atanh(s) / s - 1 - s**2 / 3) / s**4), s_range, 3, 7),
    "sin": (even(lambda r: (sin(r) - r) / r**3), (0, quarter_pi**2), 4, 7),
    "cos": (even(lambda r: (cos(r) - 1 + r**2 / 2) / r**4), (0, quarter_pi**2), 3, 6),
    "tan": (even(lambda r: (tan(r) - r) / r**3), (0, quarter_pi**2), 7, 15),
    "tanh": (even(lambda x: (tanh(x) - x) / x**3), (0, mpf("0.3025")), 5, 12),
    "sinh": (even(lambda x: (sinh(x) - x) / x**3), (0, 1), 4, 8),
    "atan": (even(lambda z: (atan(z) - z) / z**3), atan_range, 5, 12),
    "asin": (even(lambda z: (asin(z) - z) / z**3), (0, mpf(1) / 4), 6, 13),
    # special.inc
    "erf": (even(lambda x: erf(x) / x - 1), (0, 1), 7, 12),
    "erfcx": (mapped(lambda x: erfcx(x) * (1 + 2 * x), 3), (-1 + mpf(10) ** -20, 1 - mpf(10) ** -12), 12, 24),
    "normal": (squared(lambda x: erf(x / sqrt(2)) / (2 * x), 5.5), (-1, 1), 17, 0),  # backends/cpu/rows/gelu.simd.cpp
    "erfinv": (even(lambda x: erfinv(x) / x), (0, mpf(1) / 4), 7, 13),
    "erfcinv": (mapped(lambda r: erfcinv_exp(r) / r, 2), (mpf("-0.4125"), mpf("0.8641")), 12, 12),
    "lgamma": (lambda u: loggamma(u + mpf(7) / 4) / ((u + mpf(3) / 4) * (u - mpf(1) / 4)), near_gamma, 12, 26),
    "digamma": (lambda u: digamma(u + mpf(7) / 4) / (u + mpf(7) / 4 - digamma_root), near_gamma, 12, 26),
    "trigamma": (lambda u: psi(1, u + mpf(7) / 4), near_gamma, 13, 27),
    "lgamma_far": (far(lambda x: (loggamma(x) - (x - mpf(1) / 2) * log(x) + x - log(2 * mp.pi) / 2) * x), far_gamma, 4, 11),
    "digamma_far": (far(lambda x: (log(x) - 1 / (2 * x) - digamma(x)) * x * x), far_gamma, 4, 11),
    "trigamma_far": (far(lambda x: (psi(1, x) - 1 / x - 1 / (2 * x * x)) * x**3), far_gamma, 4, 11),
    # special_bessel.inc
    "j0_near": (squared(lambda x: besselj(0, x), 8), (-1, 1), 0, 17),
    "j1_near": (squared(lambda x: besselj(1, x) * 2 / x, 8), (-1, 1), 0, 16),
    "y0_near": (squared(lambda x: bessel_log(0, x), 8), (-1, 1), 0, 17),
    "y1_near": (squared(lambda x: bessel_log(1, x), 8), (-1, 1), 0, 16),
    "hankel0_real": (inverse(lambda w: hankel(0, w * 0.5j).real, 8, 2), (-1, 1), 0, 13),
    "hankel0_imaginary": (inverse(lambda w: hankel(0, w * 0.5j).imag / (w or 1), 8, 2), (-1, 1), 0, 14),
    "hankel1_real": (inverse(lambda w: hankel(1, w * 0.5j).real, 8, 2), (-1, 1), 0, 13),
    "hankel1_imaginary": (inverse(lambda w: hankel(1, w * 0.5j).imag / (w or 1), 8, 2), (-1, 1), 0, 14),
    "k0_far": (inverse(lambda w: hankel(0, w / 2), 2), (-1, 1), 0, 24),
    "k1_far": (inverse(lambda w: hankel(1, w / 2), 2), (-1, 1), 0, 24),
    "i0_near": (lambda t: besseli(0, 4 * t + 4) * exp(-4 * t - 4), (-1, 1), 0, 30),
    "i1_near": (lambda t: besseli(1, 4 * t + 4) * exp(-4 * t - 4), (-1, 1), 0, 30),
    "i0_far": (inverse(lambda w: besseli(0, 1 / w) * exp(-1 / w) / sqrt(w) if w > 1e-8 else 1 / sqrt(2 * mp.pi), 8), (-1, 1), 0, 24),
    "i1_far": (inverse(lambda w: besseli(1, 1 / w) * exp(-1 / w) / sqrt(w) if w > 1e-8 else 1 / sqrt(2 * mp.pi), 8), (-1, 1), 0, 24),
    # special_integrals.inc
    "sine_integral_near": (squared(lambda x: si(x) / x, 8), (-1, 1), 0, 15),
    "cosine_integral_near": (squared(lambda x: (mp.euler + log(x) - ci(x)) / x**2, 8), (-1, 1), 0, 14),
    "sine_integral_first": (inverse(lambda w: auxiliary(1 / w, 1) if w > 1e-6 else mpf(1), 8, 2), (-1, 1), 0, 28),
    "sine_integral_second": (inverse(lambda w: auxiliary(1 / w, 2) if w > 1e-6 else mpf(1), 8, 2), (-1, 1), 0, 32),
}


def cbrt_shift():
    """Returns the shift of the first guess at a cube root. The guess is a third of the number, written as exponent plus fraction of the
    mantissa, minus this shift. The shift makes the largest relative errors above and below equal. Errors repeat after three exponents."""
    positions = [k / 20000 for k in range(60000)]
    value = lambda q: 2 ** math.floor(q) * (1 + q - math.floor(q))
    low, high = 0.02, 0.05
    for _ in range(50):
        middle = (low + high) / 2
        errors = [value(p / 3 - middle) / value(p) ** (1 / 3) - 1 for p in positions]
        low, high = (middle, high) if max(errors) > -min(errors) else (low, middle)
    return low


def two_over_pi():
    mp.prec = 1400
    bits = int(2 / mp.pi * mpf(2) ** (37 * 32))
    return [0] + [bits >> 32 * k & 0xFFFFFFFF for k in reversed(range(37))]


def as_c(x, single):
    return "%.9gf" % struct.unpack("f", struct.pack("f", float(x)))[0] if single else "%.17g" % float(x)


def fit(name):
    f, interval, n32, n64 = ROWS[name]
    for single, n in ((True, n32), (False, n64)):
        if n:
            coefficients, error = chebyfit(f, interval, n, error=True)
            yield single, [as_c(c, single) for c in reversed(coefficients)], error


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in ("-h", "--help"):
        sys.exit(print(__doc__))
    names = sys.argv[1:] or [*ROWS, "cbrt", "two_over_pi"]
    if "cbrt" in names:
        shift = cbrt_shift()
        print("cbrt_f32  %du" % round((2 / 3 * 127 - shift) * 2**23))  # for the word
        print("cbrt_f64  %d" % round((2 / 3 * 1023 - shift) * 2**20))  # for the upper word
    if "two_over_pi" in names:
        print("two_over_pi  " + ", ".join("0x%08xu" % word for word in two_over_pi()))
    for name in names:
        if name not in ROWS:
            continue
        for single, coefficients, error in fit(name):
            print(f"{name}_{'f32' if single else 'f64'}  error {float(error):.1e}\n  " + ", ".join(coefficients))
