"""Shared by tests of OpenCL C kernels: computes each text by PoCL and, as C++ with carray.cuh, by the host's compiler."""

import numpy
import pytest

import opencl
import kernel_compilers
from kernel_compilers import Argument

FLOATS = ['float16', 'float32', 'float64']
INTEGERS = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
TOLERANCE = {'float16': 4e-3, 'float32': 2e-6, 'float64': 1e-14}


@pytest.fixture(scope='module')
def device():
    return opencl.OpenCL()


def numbers(shape, dtype, seed=0):
    values = numpy.random.RandomState(seed)
    if dtype == 'bool':
        return numpy.asarray(values.rand(*shape) > 0.5)
    if dtype in FLOATS:
        return numpy.asarray(values.uniform(0.25, 1.75, shape), dtype)
    return numpy.asarray(values.randint(1, 5, shape), dtype)


def like(array, layout):
    """Returns the array in another memory layout."""
    if layout == 'F':
        return numpy.asfortranarray(array)
    if layout == 'reversed':
        return array.copy()[tuple(slice(None, None, -1) for _ in array.shape)]
    if layout == 'strided':
        wide = numpy.zeros(tuple(2 * n + 1 for n in array.shape), array.dtype)
        view = wide[tuple(slice(1, None, 2) for _ in array.shape)]
        view[...] = array
        return view
    return array.copy()


def both(device, arguments, operation, types, shape, expected=None, **more):
    host, translated = kernel_compilers.elementwise(device, arguments, operation, types, shape, **more)
    for k, (a, b) in enumerate(zip(host, translated)):
        tolerance = TOLERANCE.get(str(a.dtype), 0)
        numpy.testing.assert_allclose(b.astype('f8'), a.astype('f8'), rtol=tolerance, atol=tolerance)
        if expected is not None:
            numpy.testing.assert_allclose(b.astype('f8'), numpy.asarray(expected[k]).astype('f8'), rtol=4 * tolerance,
                                          atol=4 * tolerance)
    return translated


def out(name, dtype, shape, kind='element'):
    return Argument(name, dtype, kind, numpy.zeros(shape, dtype), True)


def given(name, dtype, shape, kind='element', layout='C', seed=0):
    return Argument(name, dtype, kind, like(numbers(shape, dtype, seed), layout))
