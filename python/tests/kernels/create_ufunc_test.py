"""cupy._core.create_ufunc: functions with CUDA C++ text for each combination of dtypes."""

import numpy
import pytest

import catenary.cupy as cupy
from catenary.cupy import _core

pytestmark = pytest.mark.usefixtures('device')


def made(*rows, text='out0 = in0 * 2', **more):
    return _core.create_ufunc('made', rows, text, **more)


def test_the_first_row_that_takes_all_arguments():
    f = made('l->d', 'e->d', 'f->f', 'd->d', doc='Twice.')
    assert (f.nin, f.nout, f.nargs, f.types, f.__doc__, repr(f)) == (1, 1, 2, ['l->d', 'e->d', 'f->f', 'd->d'], 'Twice.', "<ufunc 'made'>")
    for dtype in '?bhilBHIefd':
        x = cupy.asarray(numpy.array([0, 1, 3]).astype(dtype))
        y = f(x)
        assert y.dtype == ('f' if dtype == 'f' else 'd') and y.tolist() == [2 * v for v in x.tolist()]
    assert f(cupy.ones((2, 0, 3))).shape == (2, 0, 3)
    with pytest.raises(TypeError, match=r'made: none of the types \(l->d, e->d, f->f, d->d\) accepts complex64'):
        f(cupy.ones(3, 'F'))


def test_numbers_have_no_dtype_beside_arrays_of_their_kind():
    f = made('ff->f', 'dd->d', text='out0 = in0 - in1')
    assert [f(0.5, 2).dtype, f(1, 2).dtype, f(cupy.ones(2, 'f'), 0.1).dtype, f(3, cupy.ones(2, 'b')).dtype, f(0.5, cupy.ones(2, 'b')).dtype,
            f(cupy.ones(2, '?'), 3).dtype, f(numpy.float64(1), cupy.ones(2, 'f')).dtype] == ['d', 'd', 'f', 'f', 'd', 'd', 'd']
    assert f(5, 3).shape == () and f(5, 3) == 2
    assert f(cupy.arange(3.)[:, None], cupy.arange(2.)).tolist() == [[0, -1], [1, 0], [2, 1]]
    with pytest.raises(TypeError, match="unsupported type <class 'numpy.ndarray'>"):
        f(numpy.ones(2), 1)


def test_texts_of_their_own_preambles_and_names_of_types():
    f = made('f->f', ('d->d', 'out0 = of(in0_type(in0), out0_type(3))'), preamble='template <class T> __device__ T of(T x, T y) { return x * y; }')
    assert f(cupy.ones(2, 'f')).tolist() == [2, 2] and f(cupy.ones(2)).tolist() == [3, 3]


def test_outputs():
    f = made('f->ff', 'd->dd', text='out0 = in0; out1 = in0 * in0')
    a, b = f(cupy.arange(3, dtype='f'))
    assert (a.tolist(), b.tolist(), b.dtype) == ([0, 1, 2], [0, 1, 4], 'f')
    out = cupy.zeros(3), cupy.zeros(3, 'f')
    assert f(cupy.arange(3.), out=out)[1] is out[1] and out[1].tolist() == [0, 1, 4]
    assert f(cupy.arange(3, dtype='f'), dtype='d')[0].dtype == 'd'
    g = made('d->d')
    whole = cupy.zeros(3, 'i')
    with pytest.raises(TypeError, match='output of float64 cannot be cast to int32'):
        g(cupy.ones(3), whole)
    assert g(cupy.ones(3), whole, casting='unsafe') is whole and whole.tolist() == [2, 2, 2]
    x = cupy.arange(3.)
    assert g(x, x) is x and x.tolist() == [0, 2, 4]
    for bad, says in (((cupy.ones(3), cupy.zeros(2)), 'broadcast'), ((), 'Wrong number'), ((1, whole, 3), 'Wrong number')):
        with pytest.raises((ValueError, TypeError), match=says):
            g(*bad)
