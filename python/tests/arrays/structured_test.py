"""Arrays of structures: views as numbers and back, fields, and arguments of raw kernels."""

import numpy
import pytest

from catenary import cupy

pytestmark = pytest.mark.usefixtures('device')
PAIR = numpy.dtype({'names': ['x', 'y'], 'formats': ['i2', 'i2']})
MIXED = numpy.dtype([('a', 'f4'), ('b', 'u1', (4,)), ('c', [('d', 'i4'), ('e', 'f4')])])
KERNEL = r'''
extern "C" __global__ void turned(const short2* in, short2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  short2 p = in[i];
  out[i] = make_short2(p.y, p.x + 1);
}'''


def test_views_are_those_of_numpy():
    numbers = numpy.arange(48, dtype='i2').reshape(3, 8, 2)
    ours, theirs = cupy.asarray(numbers).view(PAIR), numbers.view(PAIR)
    assert (ours.shape, ours.dtype, ours.ndim, ours.size, ours.itemsize, ours.nbytes, ours.strides, len(ours)) == (
        theirs.shape, theirs.dtype, theirs.ndim, theirs.size, theirs.itemsize, theirs.nbytes, theirs.strides, len(theirs))
    numpy.testing.assert_array_equal(ours.get(), theirs)
    for made, expected in ((cupy.squeeze(ours), theirs.squeeze()), (ours.squeeze(-1), theirs.squeeze(-1)), (ours.reshape(4, 6), theirs.reshape(4, 6)), (ours.ravel(), theirs.ravel()),
                           (ours[1:, ::2], theirs[1:, ::2]), (ours[..., 0], theirs[..., 0]), (ours[2, 3], theirs[2, 3]), (ours.copy(), theirs), (ours['y'], theirs['y']),
                           (ours.view('i2'), theirs.view('i2')), (ours.view('u4'), theirs.view('u4')), (cupy.asarray(theirs), theirs), (cupy.asnumpy(ours), theirs)):
        assert made.shape == expected.shape and made.dtype == expected.dtype
        numpy.testing.assert_array_equal(cupy.asnumpy(made), expected)


def test_views_share_memory():
    numbers = cupy.zeros((2, 3, 2), 'i2')
    pairs = numbers.view(PAIR)
    pairs['y'] = 7
    pairs[1, 2] = (3, 4)
    pairs.view('i2')[0, 0, 0] = 9
    expected = numpy.full((2, 3, 2), [0, 7], 'i2')
    expected[1, 2], expected[0, 0, 0] = (3, 4), 9
    numpy.testing.assert_array_equal(numbers.get(), expected)


def test_nested_fields():
    values = numpy.zeros(5, MIXED)
    values['a'], values['b'], values['c']['e'] = numpy.arange(5), numpy.arange(20).reshape(5, 4), 0.5
    ours = cupy.asarray(values)
    for made, expected in ((ours['a'], values['a']), (ours['b'], values['b']), (ours['c']['e'], values['c']['e']), (ours['c'], values['c'])):
        numpy.testing.assert_array_equal(cupy.asnumpy(made), expected)


def test_made_by_functions():
    assert cupy.empty((2, 3), PAIR).shape == (2, 3)
    made = cupy.zeros(4, dtype=PAIR)
    assert made.dtype == PAIR and (made.get() == numpy.zeros(4, PAIR)).all()
    for like in (cupy.zeros_like(made), cupy.empty_like(made), cupy.zeros_like(cupy.ones(4), dtype=PAIR)):
        assert like.dtype == PAIR and like.shape == (4,)
    assert cupy.zeros_like(made, dtype='f4').dtype == 'f4'


def test_raw_kernels_take_them():
    kernel = cupy.RawKernel(KERNEL, 'turned')
    numbers = numpy.arange(20, dtype='i2').reshape(10, 2)
    ours, out = cupy.asarray(numbers).view(PAIR).squeeze(), cupy.zeros(10, PAIR)
    kernel((1,), (32,), (ours[3:], out[3:], 7))
    expected = numpy.zeros((10, 2), 'i2')
    expected[3:] = numbers[3:, ::-1] + [0, 1]
    numpy.testing.assert_array_equal(out.view('i2').reshape(10, 2).get(), expected)


def test_no_arithmetic_and_refusals():
    pairs = cupy.zeros(4, PAIR)
    for line in ('pairs + 1', 'cupy.sin(pairs)', 'cupy.sum(pairs)', 'numpy.add(pairs, 1)', 'cupy.ones(3).astype(PAIR)', 'cupy.empty(3, "O")', 'cupy.empty(3, [("a", "O")])'):
        with pytest.raises(TypeError):
            eval(line, {'cupy': cupy, 'numpy': numpy, 'pairs': pairs, 'PAIR': PAIR})
    with pytest.raises(ValueError, match='divisor'):
        cupy.zeros(3, 'i2').view(PAIR)
    with pytest.raises(ValueError, match='contiguous'):
        pairs[::2].view('i2')
