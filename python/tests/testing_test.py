"""cupy.testing"""

import numpy
import pytest

from catenary import cupy
from catenary.cupy import testing

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
