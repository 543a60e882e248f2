"""a[key] and a[key] = value, compared with NumPy."""

import numpy
import pytest

from catenary import _core, cupy, cupyx
from compare import same

pytestmark = pytest.mark.usefixtures('device')

N = None
KEYS = [
    0, -1, slice(None), slice(1, 3), slice(None, None, -1), slice(5, 0, -2), slice(10, 20), Ellipsis, N, (), (0, 1),
    (0, slice(None), 2), (Ellipsis, 0), (0, Ellipsis), (N, 0, N), (slice(None), N, slice(1, None)), (1, 2, 3),
    (Ellipsis, N), (slice(None), slice(None), slice(None, None, 2)), [0, 1, 0], ([0, 1], [1, 2]), ([0, 1], slice(None), 2),
    (slice(None), [0, 2]), (slice(None), [[0, 1], [2, 0]]), ([0], slice(None), [1, 2]), (N, [0, 1]), (0, [0, 1], 1),
    numpy.array([1, 0]), numpy.array([[True, False, True], [False, True, True]]), (slice(None), [True, False, True]),
    (Ellipsis, numpy.array([3, -1])), [], numpy.zeros(0, bool), True, False, (numpy.int64(1), numpy.int8(2)), (numpy.bool_(True),),
    (slice(None), numpy.array(1)), (numpy.array([0, 1]), numpy.array([[1], [2]])),
]


def ours(key):
    """Returns the key with cupy arrays in place of NumPy's."""
    if isinstance(key, tuple):
        return tuple(ours(k) for k in key)
    return cupy.array(key) if isinstance(key, numpy.ndarray) and key.ndim else key


@pytest.mark.parametrize('key', KEYS, ids=repr)
def test_read(key):
    x = numpy.arange(24.).reshape(2, 3, 4)
    same(cupy.array(x)[ours(key)], x[key])
    same(cupy.array(x)[key], x[key])


@pytest.mark.parametrize('key', KEYS, ids=repr)
@pytest.mark.parametrize('value', ['number', 'array', 'numpy', 'broadcast'])
def test_write(key, value):
    x = numpy.arange(24.).reshape(2, 3, 4)
    y = cupy.array(x)
    shape = x[key].shape
    given = {'number': -1.5, 'array': numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape) + 100.,
             'numpy': numpy.full(shape, 7, 'i'), 'broadcast': numpy.full((1,) * len(shape), 3.)}[value]
    x[key] = given
    y[ours(key)] = cupy.array(given) if value in ('array', 'broadcast') else given
    same(y, x)


def test_single_elements_are_views():
    x = cupy.zeros((2, 3))
    element = x[1, 2]
    assert element.shape == () and element.base is x
    element[...] = 5
    element += 1
    assert x[1, 2] == 6
    x[0][()] = 2
    assert x.sum() == 12


@pytest.mark.parametrize('key, error', [(5, IndexError), ((0, 0, 0, 0), IndexError), (1.5, IndexError), ('a', IndexError),
                                        ((Ellipsis, Ellipsis), IndexError), ([1.5], IndexError), ([0, 9], IndexError),
                                        (numpy.array([[True]]), IndexError), (slice(0, 1, 0), ValueError),
                                        (slice('a'), TypeError)])
def test_wrong_keys(key, error):
    x = cupy.zeros((2, 3, 4))
    with pytest.raises(error):
        x[key].get()


def test_wrong_values():
    x = cupy.zeros((2, 3))
    with pytest.raises(ValueError):
        x[0] = cupy.zeros(4)
    with pytest.raises(ValueError):
        del x[0]
    with pytest.raises(TypeError):
        x[0] = 1j


@pytest.mark.parametrize('dtype', ['i', 'f', 'd', 'e'])
def test_scatter_add(dtype):
    x, at = numpy.zeros((4, 2), dtype), numpy.array([0, 1, 0, 3])
    values = numpy.arange(8).reshape(4, 2).astype(dtype)
    y = cupy.array(x)
    cupyx.scatter_add(y, cupy.array(at), cupy.array(values))
    numpy.add.at(x, at, values)
    same(y, x)
    y.scatter_add((slice(None), 1), 2)
    x[:, 1] += 2
    same(y, x)
    cupyx.scatter_max(y, cupy.array(at), 5)
    numpy.maximum.at(x, at, 5)
    same(y, x)


def test_values_come_from_another_device():
    with _core.Device(0):
        x = cupy.arange(4, dtype='f4')
    with _core.Device('cpu'):
        y = cupy.zeros((2, 4), 'f8')
        cupy.copyto(y, x)
        y[1] = x[::-1]
        assert y.get().tolist() == [[0, 1, 2, 3], [3, 2, 1, 0]]
        with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match='two devices'):
            y + x
