"""cupy.testing: numpy.testing's comparisons on arrays of either library."""

import functools
import math

import numpy

from catenary import _names
from catenary.cupy._array import asnumpy
from catenary.cupy.testing import _random
from catenary.cupy.testing._random import fix_random, generate_seed  # noqa: F401


def _host(values):
    return [asnumpy(v) if hasattr(v, '__array_ufunc__') else v for v in values]


def _compared(name):
    compare = getattr(numpy.testing, name)

    def function(actual, desired, *args, **kwargs):
        return compare(*_host((actual, desired)), *args, **kwargs)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'Calls numpy.testing.{name} with the values.'
    return function


globals().update({_name: _compared(_name) for _name in (
    'assert_allclose', 'assert_almost_equal', 'assert_array_almost_equal', 'assert_array_almost_equal_nulp', 'assert_array_less')})


def assert_array_equal(actual, desired, err_msg='', verbose=True, strides_check=False, **kwargs):
    """Calls numpy.testing.assert_array_equal with the values, and compares strides if requested."""
    numpy.testing.assert_array_equal(*_host((actual, desired)), err_msg, verbose, **kwargs)
    if strides_check and actual.strides != desired.strides:
        raise AssertionError(f'strides {actual.strides} and {desired.strides} differ. {err_msg}')


def assert_array_list_equal(actual, desired, err_msg='', verbose=True):
    """Calls assert_array_equal for each pair of arrays in two lists."""
    if len(actual) != len(desired):
        raise AssertionError(f'{len(actual)} arrays, expected {len(desired)}. {err_msg}')
    for one, other in zip(actual, desired):
        assert_array_equal(one, other, err_msg, verbose)


def shaped_arange(shape, xp=None, dtype=numpy.float32, order='C', *, reverse=False):
    """Returns 1, 2, … in a shape, or alternating bools."""
    values = numpy.arange(1, int(numpy.prod(shape, dtype=numpy.int64)) + 1)[::-1 if reverse else 1].reshape(shape)
    if numpy.dtype(dtype) == bool:
        values = values % 2 == 0
    return (xp or __import__('catenary.cupy').cupy).array(values.astype(dtype), order=order)


shaped_reverse_arange = functools.partial(shaped_arange, reverse=True)


def shaped_random(shape, xp=None, dtype=numpy.float32, scale=10, seed=0, order='C'):
    """Returns values in [0, scale) from a seed, equal for both libraries."""
    xp = xp or __import__('catenary.cupy').cupy
    generator = numpy.random.RandomState(seed)
    dtype = numpy.dtype(dtype)
    values = generator.randint(2, size=shape) if dtype == bool else generator.rand(*shape) * scale
    return xp.array(numpy.asarray(values).astype(dtype), order=order)


def shaped_sparse_random(shape, sp, dtype=numpy.float32, density=0.01, format='coo', seed=0):
    """Returns a random sparse matrix of scipy.sparse or cupyx.scipy.sparse with this density, equal for both libraries with equal seeds."""
    import scipy.sparse
    values = scipy.sparse.random(*shape, density, random_state=seed).astype(dtype)
    return (values if sp is scipy.sparse else sp.coo_matrix(values)).asformat(format)


def shaped_linspace(start, stop, shape, xp=None, dtype=numpy.float32):
    """Returns evenly spaced numbers in this shape."""
    count = math.prod(shape) if isinstance(shape, tuple) else shape
    return (xp or __import__('catenary.cupy').cupy).linspace(start, stop, count, dtype=dtype).reshape(shape)


def empty(xp=None, dtype=numpy.float32):
    """Returns an array without elements."""
    return (xp or __import__('catenary.cupy').cupy).zeros((0,), dtype=dtype)


def __getattr__(name):
    # the decorators need pytest, which only test environments have
    if name.startswith('_'):
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from catenary.cupy.testing import _loops
    if hasattr(_loops, name):
        return getattr(_loops, name)
    raise _names.absent('cupy.testing', name)
