"""Comparison helpers for the tests of catenary.cupy."""

import numpy
import pytest

from catenary import cupy

DTYPES = ['?', 'b', 'h', 'i', 'l', 'B', 'H', 'I', 'L', 'e', 'f', 'd']
SHAPES = [(), (0,), (1,), (7,), (3, 4), (2, 0, 3), (2, 3, 4)]
TOLERANCE = {'e': 4e-3, 'f': 1e-5, 'd': 1e-12}


def values(shape, dtype, seed=0, low=1, high=9):
    """Returns reproducible values that every dtype can hold."""
    generator = numpy.random.default_rng(seed)
    if dtype == '?':
        return generator.integers(0, 2, shape).astype('?') if shape else numpy.asarray(True)
    if numpy.dtype(dtype).kind == 'f':
        return numpy.asarray(generator.uniform(low, high, shape)).astype(dtype)
    return numpy.asarray(generator.integers(low, high, shape)).astype(dtype)


def same(ours, theirs, tolerance=None):
    """Asserts equal dtype, shape and values."""
    assert isinstance(ours, cupy.ndarray), type(ours)
    theirs = numpy.asarray(theirs)
    assert ours.dtype == theirs.dtype, (ours.dtype, theirs.dtype)
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    if theirs.dtype.kind == 'f':
        limit = TOLERANCE[theirs.dtype.char] if tolerance is None else tolerance
        numpy.testing.assert_allclose(ours.get(), theirs, rtol=limit, atol=limit)
    else:
        numpy.testing.assert_array_equal(ours.get(), theirs)


def outcome(f):
    """Returns f's result, or the TypeError or ValueError that it raises."""
    try:
        with numpy.errstate(all='ignore'):
            return f()
    except (TypeError, ValueError) as e:
        return TypeError if isinstance(e, TypeError) else ValueError


def refused(statement, error, says, **names):
    """Asserts that the statement raises the error with this text."""
    with pytest.raises(error) as caught:
        exec(statement, {'cupy': cupy, 'numpy': numpy, **names})
    assert says in str(caught.value), caught.value
