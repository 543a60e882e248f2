"""cupy.polynomial, and polynomial functions with complex coefficients, compared with NumPy."""

import numpy
import pytest
from complex_test import close

from catenary import cupy
from compare import refused

pytestmark = pytest.mark.usefixtures('device')
G = numpy.random.default_rng(2)
VALUES = {'z': G.normal(size=6) + 1j * G.normal(size=6), 'r': G.normal(size=6), 'i': numpy.array([1, 2, 3]), 't': numpy.array([1., 3, .5, 0])}
LINES = """
P.polyvander(r, 3); P.polyvander(z, 0); P.polyvander(i, 2); P.polyvander(r.reshape(2, 3), 2); P.polycompanion(z); P.polycompanion(r); P.polycompanion(i)
P.polyval(r, z); P.polyval(z, r); P.polyval(r, r.reshape(2, 3)); P.polyval(r[:3], r.reshape(2, 3), tensor=False); P.polyval(i, i); P.polyval(r.reshape(2, 3), z)
P.polyvalfromroots(r, z); P.polyvalfromroots(z, r.reshape(2, 3)); P.polyvalfromroots(r[:3], r.reshape(2, 3), tensor=False); P.polyroots(r); P.polyroots(z)
U.trimseq(t); U.trimcoef(t); U.trimcoef(t, 1); U.trimcoef(t, 9); U.as_series([t, i])[0]; U.as_series([t, i], trim=False)[0]; U.as_series([z, i])[1]
np.sort_complex(z); np.sort_complex(r); np.sort_complex(i.astype('h')); np.sort_complex(z.reshape(2, 3)); np.correlate(z, r); np.correlate(r, z, 'full'); np.correlate(z, z[:4], 'same')
np.polyval(z, r); np.polyval(r, z); np.roots(z); np.roots(r); np.poly(z); np.polyadd(z, r); np.polymul(z, r); np.poly1d(z)(2j); np.poly1d(z).deriv().coeffs; np.poly1d(z).integ().coeffs
(np.poly1d(z) * np.poly1d(r)).coeffs; (np.poly1d(z) + 1j).coeffs; np.poly1d([1j, 2], True).coeffs; np.vander(z, 3); np.sinc(z); np.convolve(z, r); np.interp(r, np.sort(r), z); np.trapezoid(z)
"""


@pytest.mark.parametrize('line', [line.strip() for line in LINES.replace('\n', ';').split(';') if line.strip()])
def test_lines(line):
    ours, theirs = (eval(line, {'np': np, 'P': np.polynomial.polynomial, 'U': np.polynomial.polyutils, **{k: np.asarray(v) for k, v in VALUES.items()}})
                    for np in (cupy, numpy))
    close(ours, theirs)


def test_where_powers_lie():
    for x in (VALUES['r'], VALUES['i'], VALUES['r'].reshape(2, 3)):
        ours, theirs = cupy.polynomial.polynomial.polyvander(cupy.asarray(x), 4), numpy.polynomial.polynomial.polyvander(x, 4)
        assert (ours.flags.f_contiguous, ours.flags.c_contiguous) == (theirs.flags.f_contiguous, theirs.flags.c_contiguous)
        numpy.testing.assert_allclose(ours.get(), theirs, rtol=1e-14)


@pytest.mark.parametrize('line, error, says', [
    ('P.polycompanion(r[:1])', ValueError, 'degree of at least 1'), ('P.polyvander(r, -1)', ValueError, 'non-negative'), ('P.polyvander(r, 0.5)', TypeError, 'received 0.5'), ('P.polyvander(r, 2.0)', TypeError, 'received 2.0'),
    ('U.trimseq(r.reshape(2, 3))', ValueError, 'expected coefficients with one axis'),
    ('U.trimcoef(r, -1)', ValueError, 'non-negative'), ('U.as_series([r.reshape(2, 3)])', ValueError, 'not 1-d'), ('U.as_series([r[:0]])', ValueError, 'is empty'),
    ('P.polyvalfromroots(r, r, tensor=False)', ValueError, 'x.ndim must be'), ('cupy.sort_complex(r[0])', ValueError, 'rank of zero'), ('cupy.polynomial.Polynomial', AttributeError, 'no attribute')])
def test_invalid_arguments_raise(line, error, says):
    refused(line, error, says, P=cupy.polynomial.polynomial, U=cupy.polynomial.polyutils, r=cupy.asarray(VALUES['r']))
