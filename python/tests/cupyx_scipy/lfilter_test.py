"""lfilter and sosfilt in odd shapes, compared with the difference equation."""

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import signal

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
G = numpy.random.default_rng(11)


def near(ours, theirs, tolerance):
    """Asserts equal dtype and shape, and near values, also of complex numbers."""
    theirs = numpy.asarray(theirs)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    numpy.testing.assert_allclose(ours.get(), theirs, rtol=tolerance, atol=tolerance)


def filtered(b, a, x):
    """Filters the last axis by the difference equation, in float64."""
    b, a = numpy.asarray(b, 'd') / a[0], numpy.asarray(a, 'd') / a[0]
    x = x.astype(numpy.result_type(x.dtype, 'd'))
    y = numpy.zeros_like(x)
    for n in range(x.shape[-1]):
        y[..., n] = sum(b[k] * x[..., n - k] for k in range(min(len(b), n + 1)))
        y[..., n] -= sum(a[k] * y[..., n - k] for k in range(1, min(len(a), n + 1)))
    return y


FILTERS = [([1.0], [1, -0.9]), ([0.2, 0.3, 0.1], [2.0, -0.7, 0.2]), ([0.5, 0.25, 0.1, 0.05, -0.3], [1.0]), ([0.1, 0.2], [1, -0.4, 0.1, 0.3, -0.2]),
           ([1, -1], [1.0, 0.0])]


@pytest.mark.parametrize('b, a', FILTERS, ids=str)
def test_lfilter(b, a):
    for dtype, tolerance in (('f', 2e-5), ('d', 1e-12), ('D', 1e-12), ('i', 1e-12)):
        for shape in ((1,), (3,), (257,), (3, 70), (2, 3, 9), (2, 613)):
            x = (G.normal(size=shape) * 5).astype(dtype) + (1j if dtype == 'D' else 0)
            x = x.astype(dtype)
            expected = filtered(b, a, x).astype('f' if dtype == 'f' else numpy.result_type(dtype, 'd'))
            given = [numpy.asarray(c, 'f' if dtype == 'f' else 'd') for c in (b, a)]
            near(signal.lfilter(*given, cupy.asarray(x)), expected, tolerance)
            turned = numpy.moveaxis(x, -1, 0)
            near(signal.lfilter(*given, cupy.asarray(turned), axis=0), numpy.moveaxis(expected, -1, 0), tolerance)


@pytest.mark.parametrize('b, a', FILTERS, ids=str)
def test_lfilter_continues_from_a_state(b, a):
    x = G.normal(size=(2, 640))
    whole = filtered(b, a, x)
    for cut in (1, 3, 25, 333):
        state = numpy.zeros((2, len(b) + len(a) - 2))
        parts = []
        for part in (x[:, :cut], x[:, cut:]):
            made, state = signal.lfilter(b, a, cupy.asarray(part), zi=cupy.asarray(state))
            parts.append(made.get())
        assert numpy.allclose(numpy.concatenate(parts, -1), whole, rtol=1e-11, atol=1e-12)


def test_sosfilt():
    sos = numpy.array([[0.1, 0.2, 0.1, 1, -0.5, 0.1], [1, -1, 0.5, 1, 0.3, 0.2], [0.5, 0.5, 0, 1, -0.8, 0]])
    for shape in ((1,), (101,), (3, 33), (2, 2, 17)):
        x = G.normal(size=shape)
        expected = x
        for section in sos:
            expected = filtered(section[:3], section[3:], expected)
        near(signal.sosfilt(sos, cupy.asarray(x)), expected, 1e-12)
        near(signal.sosfilt(sos, cupy.asarray(numpy.moveaxis(x, -1, 0)), axis=0), numpy.moveaxis(expected, -1, 0), 1e-12)
        near(signal.sosfilt(sos.astype('f'), cupy.asarray(x.astype('f'))), expected.astype('f'), 1e-4)


def test_filters_stay_causal():
    x = G.normal(size=700)
    for value in (numpy.inf, numpy.nan):
        y = x.copy()
        y[400] = value
        expected = filtered([0.2, 0.3], [1, -0.4], x)
        made = signal.lfilter([0.2, 0.3], [1, -0.4], cupy.asarray(y)).get()
        numpy.testing.assert_allclose(made[:400], expected[:400], rtol=1e-12)
        assert not numpy.isfinite(made[400])
