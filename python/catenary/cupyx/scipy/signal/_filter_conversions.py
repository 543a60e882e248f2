"""Conversions between filter representations (coefficients, zeros and poles, second-order sections) and between filter types (lowpass to bandpass,
bilinear transform).

The inputs are a few numbers each, so the host computes them in float64.
"""

import numpy

from catenary import _core
from catenary.cupy._array import ndarray


class BadCoefficients(UserWarning):
    """Issued if the leading coefficients of a numerator are 0."""


def host(values):
    """Converts numbers to a NumPy array of float64 or complex128 with at least one axis."""
    values = numpy.atleast_1d(values.get() if isinstance(values, ndarray) else numpy.asarray(values))
    return values.astype('D' if values.dtype.kind == 'c' else 'd')


def sent(values):
    """Copies a NumPy array to the current device."""
    return _core.from_numpy(numpy.ascontiguousarray(values), None)


def all_sent(values):
    """Copies arrays among several results to the current device. Numbers stay."""
    return tuple(sent(v) if isinstance(v, numpy.ndarray) else v for v in values)


def _real_if_all_are(polynomial, roots):
    """Returns a polynomial without imaginary parts if its roots are conjugate pairs."""
    roots = numpy.asarray(roots)
    if polynomial.dtype.kind == 'c' and numpy.array_equal(numpy.sort_complex(roots[roots.imag > 0]), numpy.sort_complex(roots[roots.imag < 0].conj())):
        return polynomial.real
    return polynomial


def polynomial(roots):
    """Returns the polynomial with these roots, highest power first. The coefficients are real if the roots come in conjugate pairs."""
    made = numpy.ones(1, numpy.asarray(roots).dtype if numpy.size(roots) else float)
    for root in roots:
        made = numpy.convolve(made, [1, -root])
    return _real_if_all_are(made, roots)


# ------------------------------------------------------------------ coefficients, on the host
def normalized(b, a):
    """Divides the coefficients by a[0] and strips leading zeros from b. Raises ValueError if a is 0 or has several axes."""
    import warnings
    b, a = host(b), host(a)
    if a.ndim > 1:
        raise ValueError('Denominator polynomial must be rank-1 array.')
    if b.ndim > 2:
        raise ValueError('Numerator polynomial must be rank-1 or rank-2 array.')
    if not a.any():
        raise ValueError('Denominator must have at least on nonzero element.')
    a = numpy.trim_zeros(a, 'f')
    b, a = b / a[0], a / a[0]
    columns = (numpy.abs(b) <= 1e-14).all(axis=tuple(range(b.ndim - 1)))
    leading = len(columns) if columns.all() else int(numpy.argmin(columns))
    if leading:
        warnings.warn('Badly conditioned filter coefficients (numerator): the results may be meaningless', BadCoefficients, stacklevel=3)
        b = b[..., min(leading, b.shape[-1] - 1):]
    return b, a


def zeros_poles(b, a):
    b, a = normalized(b, a)
    factor = b[0]
    return numpy.roots(b / factor if factor else b), numpy.roots(a), factor


def coefficients(z, p, k):
    """Returns the coefficients for zeros, poles and gain. Several sets of zeros, one per row, give one row of coefficients each."""
    z, p = numpy.asarray(z), host(p)
    if z.ndim > 1:
        k = numpy.broadcast_to(host(k), z.shape[:1])
        return numpy.stack([gain * polynomial(row) for gain, row in zip(k, z)]), polynomial(p)
    return numpy.atleast_1d(k * polynomial(z)), numpy.atleast_1d(polynomial(p))


def _substituted(coefficients, above, below, degree):
    """Substitutes above / below for the variable of a polynomial and multiplies by below^degree. Arguments and result have the highest power first."""
    made = numpy.zeros(1)
    for power, c in zip(range(len(coefficients) - 1, -1, -1), coefficients):
        term = numpy.asarray([c])
        for factor in [above] * power + [below] * (degree - power):
            term = numpy.polymul(term, factor)
        made = numpy.polyadd(made, term)
    return made


def _changed(b, a, above, below):
    b, a = (numpy.trim_zeros(host(c), 'f') for c in (b, a))
    degree = max(len(b), len(a), 1) - 1
    return normalized(*(_substituted(c, above, below, degree) for c in (b, a)))


def _trimmed_pair(b, a):
    """Removes trailing zeros common to both polynomials, a power of the variable."""
    while len(a) > 1 and len(b) > 1 and not a[-1] and not b[-1]:
        b, a = b[:-1], a[:-1]
    return b, a


# ------------------------------------------------------------------ zeros and poles, on the host
def _degree(z, p):
    if len(p) < len(z):
        raise ValueError('Improper transfer function. Must have at least as many poles as zeros.')
    return len(p) - len(z)


def _gain(above, below):
    return float(numpy.real(numpy.prod(above) / numpy.prod(below)))


def low_to_low(z, p, k, wo):
    return wo * z, wo * p, k * wo ** _degree(z, p)


def low_to_high(z, p, k, wo):
    return numpy.concatenate([wo / z, numpy.zeros(_degree(z, p))]), wo / p, k * _gain(-z, -p)


def _around(x, wo):
    """Returns both images of a root x of the prototype near +-wo."""
    x = x.astype(complex)
    root = numpy.sqrt(x * x - wo * wo)
    return numpy.concatenate([x + root, x - root])


def low_to_band(z, p, k, wo, bw):
    degree = _degree(z, p)
    return numpy.concatenate([_around(z * bw / 2, wo), numpy.zeros(degree)]), _around(p * bw / 2, wo), k * bw ** degree


def low_to_stop(z, p, k, wo, bw):
    degree = _degree(z, p)
    beside = numpy.repeat([1j * wo, -1j * wo], degree)
    return numpy.concatenate([_around(bw / 2 / z, wo), beside]), _around(bw / 2 / p, wo), k * _gain(-z, -p)


def to_digital(z, p, k, fs):
    degree = _degree(z, p)
    return (numpy.concatenate([(2 * fs + z) / (2 * fs - z), -numpy.ones(degree)]), (2 * fs + p) / (2 * fs - p), k * _gain(2 * fs - z, 2 * fs - p))


# ------------------------------------------------------------------ sections, on the host
def _halves(values):
    """Returns of each conjugate pair the number above the real axis, ordered by real parts, followed by the real numbers. Raises ValueError if a
    conjugate is missing."""
    values = numpy.asarray(values, complex)
    near = 100 * numpy.finfo(float).eps
    values = values[numpy.lexsort((abs(values.imag), values.real))]
    is_real = abs(values.imag) <= near * abs(values)
    above, below = values[~is_real & (values.imag > 0)], list(values[~is_real & (values.imag < 0)])
    made = []
    for x in above:
        at = min(range(len(below)), key=lambda k: abs(below[k] - x.conjugate()), default=None)
        if at is None or abs(below[at] - x.conjugate()) > near * abs(x):
            raise ValueError('Array contains complex value with no matching conjugate.')
        made.append((x + below.pop(at).conjugate()) / 2)
    if below:
        raise ValueError('Array contains complex value with no matching conjugate.')
    made = sorted(made, key=lambda x: (x.real, x.imag))
    return [complex(x) for x in made] + [complex(x.real) for x in values[is_real]]


def _is_real(x):
    return x.imag == 0


def _taken(values, of, allowed=lambda x: True):
    """Removes from a list the allowed element that is nearest to a number, and returns it."""
    at = min((k for k, x in enumerate(values) if allowed(x)), key=lambda k: abs(values[k] - of))
    return values.pop(at)


def _section(zeros, poles):
    """Returns the six coefficients for at most two zeros and poles."""
    return numpy.concatenate([numpy.concatenate([numpy.zeros(2 - len(r)), numpy.real(polynomial(numpy.asarray(r, complex)))]) for r in (zeros, poles)])


def sections(z, p, k, pairing=None, analog=False):
    """Returns second-order sections. The poles nearest to the stability border come last, each with the zeros that are nearest to it."""
    pairing = pairing or ('minimal' if analog else 'nearest')
    if pairing not in ('nearest', 'keep_odd', 'minimal'):
        raise ValueError(f"pairing must be one of 'nearest', 'keep_odd', 'minimal', not {pairing!r}")
    if analog and pairing != 'minimal':
        raise ValueError('for analog zpk2sos conversion, pairing must be "minimal"')
    z, p = list(numpy.asarray(z, complex)), list(numpy.asarray(p, complex))
    if not z and not p:
        return numpy.asarray([[0., 0, k, 0, 0, 1] if analog else [k, 0., 0, 1, 0, 0]])
    if pairing == 'minimal':
        if len(p) < len(z):
            raise ValueError('for analog zpk2sos conversion, must have len(p)>=len(z)')
    else:
        size = max(len(z), len(p))
        size += size % 2 if pairing == 'nearest' else 0
        z, p = z + [0] * (size - len(z)), p + [0] * (size - len(p))
    count = (len(p) + 1) // 2
    z, p = _halves(z), _halves(p)

    def worst(values, allowed=lambda x: True):
        at = min((n for n, x in enumerate(values) if allowed(x)), key=lambda n: abs(values[n].real) if analog else abs(1 - abs(values[n])))
        return values.pop(at)
    made = []
    for _ in range(count):
        first = worst(p)
        reals = sum(map(_is_real, p))
        if _is_real(first) and not reals:
            zeros = [_taken(z, first, _is_real)] if pairing != 'minimal' or any(map(_is_real, z)) else []
            made.append(_section(zeros + [0] * (pairing != 'minimal'), [first] + [0] * (pairing != 'minimal')))
            continue
        if len(p) + 1 == len(z) and not _is_real(first) and reals == 1 and sum(map(_is_real, z)) == 1:
            zero = _taken(z, first, lambda x: not _is_real(x))  # a real zero goes with the real pole
            made.append(_section([zero, zero.conjugate()], [first, first.conjugate()]))
            continue
        second = worst(p, _is_real) if _is_real(first) else first.conjugate()
        zeros = []
        if z:
            zeros = [_taken(z, first)]
            if not _is_real(zeros[0]):
                zeros.append(zeros[0].conjugate())
            elif any(map(_is_real, z)):
                zeros.append(_taken(z, first, _is_real))
        made.append(_section(zeros, [first, second]))
    made = numpy.stack(made[::-1])
    made[0, :3] *= k
    return made


def checked_sections(sos):
    """Returns sections as a NumPy array. Raises ValueError for another shape."""
    sos = numpy.atleast_2d(sos.get() if isinstance(sos, ndarray) else numpy.asarray(sos))
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError('sos array must be shape (n_sections, 6), given %s' % (sos.shape,))
    if not (sos[:, 3] == 1).all():
        raise ValueError('sos[:, 3] should be all ones')
    return sos


def of_form(output, z, p, k, analog=False):
    """Returns a filter as 'zpk', 'ba' or 'sos' on the current device. Raises ValueError for another form."""
    if output == 'zpk':
        return all_sent((z, p, k))
    if output == 'ba':
        return all_sent(map(numpy.real, coefficients(z, p, k)))
    if output == 'sos':
        return sent(sections(z, p, k, analog=analog))
    raise ValueError("'%s' is not a valid output form." % output)


# ------------------------------------------------------------------ public functions
def normalize(b, a):
    """Divides the coefficients by a[0] and strips leading zeros from b, with a BadCoefficients warning, as scipy.signal.normalize."""
    return all_sent(normalized(b, a))


def tf2zpk(b, a):
    """Returns (zeros, poles, gain) of a filter (b, a)."""
    return all_sent(zeros_poles(b, a))


def zpk2tf(z, p, k):
    """Returns coefficients (b, a) of zeros, poles and a gain."""
    return all_sent(coefficients(host(z), p, k if numpy.isscalar(k) else host(k)))


def zpk2sos(z, p, k, pairing=None, *, analog=False):
    """Returns second-order sections for zeros, poles and a gain.

    Each pole is paired with the nearest zeros, beginning with the pole nearest to the unit circle, whose section comes last. pairing='keep_odd'
    leaves a first-order section, 'minimal' does not pad.
    """
    if numpy.imag(k):
        raise ValueError('k must be real')
    return sent(sections(host(z), host(p), float(numpy.real(k)), pairing, analog))


def tf2sos(b, a, pairing=None, *, analog=False):
    """Returns second-order sections of a filter (b, a)."""
    return sent(sections(*zeros_poles(b, a), pairing, analog))


def sos2tf(sos):
    """Returns coefficients (b, a) of second-order sections."""
    b = a = numpy.ones(1)
    for section in checked_sections(sos):
        b, a = numpy.polymul(b, section[:3]), numpy.polymul(a, section[3:])
    return all_sent((numpy.atleast_1d(b), numpy.atleast_1d(a)))


def sos2zpk(sos):
    """Returns (zeros, poles, gain) of second-order sections, two zeros and poles per section."""
    sos = checked_sections(sos)
    z, p, k = numpy.zeros(2 * len(sos), complex), numpy.zeros(2 * len(sos), complex), 1.0
    for n, section in enumerate(sos):
        zeros, poles, gain = zeros_poles(section[:3], section[3:])
        z[2 * n:2 * n + len(zeros)], p[2 * n:2 * n + len(poles)], k = zeros, poles, k * gain
    return all_sent((z, p, k))


def bilinear(b, a, fs=1.0):
    """Transforms an analog filter (b, a) to a digital one by the bilinear transform at the sampling rate fs."""
    return all_sent(_changed(b, a, [2.0 * fs, -2.0 * fs], [1., 1]))


def lp2lp(b, a, wo=1.0):
    """Transforms an analog low-pass filter with cutoff 1 to one with cutoff wo."""
    return all_sent(_trimmed_pair(*_changed(b, a, [1., 0], [float(wo)])))


def lp2hp(b, a, wo=1.0):
    """Transforms an analog low-pass filter with cutoff 1 to a high-pass filter with cutoff wo."""
    return all_sent(_trimmed_pair(*_changed(b, a, [float(wo)], [1., 0])))


def lp2bp(b, a, wo=1.0, bw=1.0):
    """Transforms an analog low-pass filter with cutoff 1 to a band-pass filter with centre wo and width bw."""
    return all_sent(_trimmed_pair(*_changed(b, a, [1., 0, float(wo) ** 2], [float(bw), 0])))


def lp2bs(b, a, wo=1.0, bw=1.0):
    """Transforms an analog low-pass filter with cutoff 1 to a band-stop filter with centre wo and width bw."""
    return all_sent(_trimmed_pair(*_changed(b, a, [float(bw), 0], [1., 0, float(wo) ** 2])))


def bilinear_zpk(z, p, k, fs):
    """Transforms an analog filter (zeros, poles, gain) to a digital one by the bilinear transform at the sampling rate fs."""
    return all_sent(to_digital(host(z), host(p), k, float(fs)))


def lp2lp_zpk(z, p, k, wo=1.0):
    """Applies lp2lp to (zeros, poles, gain)."""
    return all_sent(low_to_low(host(z), host(p), k, float(wo)))


def lp2hp_zpk(z, p, k, wo=1.0):
    """Applies lp2hp to (zeros, poles, gain)."""
    return all_sent(low_to_high(host(z), host(p), k, float(wo)))


def lp2bp_zpk(z, p, k, wo=1.0, bw=1.0):
    """Applies lp2bp to (zeros, poles, gain)."""
    return all_sent(low_to_band(host(z), host(p), k, float(wo), float(bw)))


def lp2bs_zpk(z, p, k, wo=1.0, bw=1.0):
    """Applies lp2bs to (zeros, poles, gain)."""
    return all_sent(low_to_stop(host(z), host(p), k, float(wo), float(bw)))
