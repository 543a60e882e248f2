"""cupy.testing"""

import numpy
import pytest

from catenary import cupy
from catenary.cupy import testing
from catenary.cupyx.scipy import sparse

pytestmark = pytest.mark.usefixtures('device')


def test_comparisons():
    x = cupy.arange(3.)
    testing.assert_array_equal(x, numpy.arange(3.))
    testing.assert_allclose(numpy.arange(3.) + 1, x + (1 + 1e-9))
    testing.assert_array_list_equal([x, x], [x.get(), x.get()])
    testing.assert_array_less(x, x + 1)
    for check in (lambda: testing.assert_array_equal(x, [0, 1, 3]), lambda: testing.assert_allclose(x, x + 1),
                  lambda: testing.assert_array_list_equal([x], []),
                  lambda: testing.assert_array_equal(x[::2], x.get()[::2].copy(), strides_check=True)):
        with pytest.raises(AssertionError):
            check()


def test_arrays():
    for make in (testing.shaped_arange, testing.shaped_reverse_arange, testing.shaped_random):
        for dtype in ('?', 'i', 'd'):
            testing.assert_array_equal(make((2, 3), cupy, dtype), make((2, 3), numpy, dtype))
    assert testing.empty(cupy, 'i').shape == (0,)


def test_fixed_random_numbers():
    @testing.fix_random()
    def draw():
        return numpy.random.rand(), cupy.random.rand(2).tolist()

    before = cupy.random.get_random_state()._state
    assert draw() == draw()
    assert cupy.random.get_random_state()._state == before


def test_decorators_of_dtypes_and_orders():
    seen = []

    @testing.for_all_dtypes(name='d', no_bool=True)
    @testing.for_CF_orders()
    def both(d, order):
        seen.append((numpy.dtype(d).kind, order))
    both()
    assert set(seen) == {(k, o) for k in 'fiuc' for o in 'CF'} and len(seen) == 26
    pairs = []

    @testing.for_dtypes_combination('fdF', names=('x', 'y'), full=True)
    def pair(x, y):
        pairs.append((x, y))
    pair()
    assert len(pairs) == 9

    @testing.for_all_dtypes(no_complex=True)
    def real(dtype):
        assert numpy.dtype(dtype).kind != 'c'
    real()
    seen.clear()

    @testing.for_complex_dtypes()
    def parts(dtype):
        seen.append(numpy.dtype(dtype).char)
    parts()
    assert seen == ['F', 'D']


def test_decorators_that_compare():
    @testing.numpy_cupy_allclose(rtol={numpy.float16: 1e-3, 'default': 1e-6})
    def close(xp):
        return xp.ones(3) * (1 if xp is numpy else 1 + 1e-8), xp.float64(2)
    close()

    @testing.numpy_cupy_array_equal(accept_error=ValueError)
    def same_error(xp):
        return xp.zeros((2, 3)).reshape(4)
    same_error()

    @testing.numpy_cupy_equal()
    def same(xp):
        return xp.zeros((2, 3)).shape
    same()

    @testing.numpy_cupy_array_equal()
    def other_dtype(xp):
        return xp.zeros(3, 'f' if xp is numpy else 'd')

    @testing.numpy_cupy_array_equal()
    def other_shape(xp):
        return xp.zeros(3 if xp is numpy else 1)

    @testing.numpy_cupy_allclose()
    def other_order(xp):
        return xp.zeros((2, 3), order='C' if xp is numpy else 'F')

    @testing.numpy_cupy_array_equal(accept_error=ValueError)
    def one_error(xp):
        return xp.zeros(3).reshape(3 if xp is numpy else 4)

    @testing.numpy_cupy_array_equal(accept_error=TypeError)
    def refused_error(xp):
        return xp.zeros(3).reshape(4)

    @testing.numpy_cupy_equal()
    def differ(xp):
        return xp is numpy

    for wrong in (other_dtype, other_shape, other_order, one_error, refused_error, differ):
        with pytest.raises(AssertionError):
            wrong()


def test_parameters_and_requirements():
    assert testing.product({'a': [1, 2], 'b': [3]}) == [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    assert testing.with_requires('numpy>=1.26').mark.args == (False,)
    assert testing.with_requires('numpy>=99').name == 'skip'

    class Case:
        pass
    assert testing.parameterize({'x': 1}, {'x': 2})(Case) is Case
    assert [globals().pop(f'Case_param_{i}').x for i in (0, 1)] == [1, 2]


def test_sparse_matrices_are_compared_by_their_elements():
    """The order of elements in memory does not count. The format does, unless disabled."""
    class Theirs:
        format = 'csc'

        def toarray(self):
            return numpy.asfortranarray(numpy.eye(3)[:2])

    @testing.numpy_cupy_allclose(_check_sparse_format=True)
    def made(format, xp):
        return Theirs() if xp is numpy else getattr(sparse, format + '_matrix')(cupy.eye(3)[:2])
    made('csc')
    with pytest.raises(AssertionError, match='cupy gives a matrix in the format csr, SciPy csc'):
        made('csr')
