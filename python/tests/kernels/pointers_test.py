"""Pointers to arrays, and Chainer's use of them."""

import ctypes
import gc

import numpy
import pytest

from catenary import _core
import catenary.cupy as cupy
from catenary.cupy.cuda import cublas
from catenary.cupy.cuda.compiler import CompileException


def test_each_byte_has_its_own(device):
    x, y = cupy.arange(6, dtype='f4').reshape(2, 3), cupy.zeros(5, 'u1')
    view = x[1:, ::-1]
    assert view.data.ptr - x.data.ptr == 5 * 4
    assert view.data.mem.ptr == x.data.mem.ptr == x.data.ptr
    assert x.data.mem.size >= 24
    taken = {x.data.ptr + k for k in range(24)} | {y.data.ptr + k for k in range(5)}
    assert len(taken) == 29
    assert cupy.asfortranarray(x).data.bytes().view('f4')[:6].get().tolist() == [0, 3, 1, 4, 2, 5]


def test_an_array_is_found_by_an_address(device):
    x = cupy.arange(6, dtype='f4')
    address = x[2:].data.ptr
    part = _core._at(address, 'f4', 3)
    assert part.base is x and part.get().tolist() == [2, 3, 4]
    part[...] = 7
    assert x.get().tolist() == [0, 1, 7, 7, 7, 5]
    x += 1  # deferred, and seen by who comes by the address
    assert _core._at(address, 'f4', 1).get().tolist() == [8]
    with pytest.raises(ValueError, match='f4|float32'):
        _core._at(address, 'f4', 1 << 20)
    del x, part
    gc.collect()
    with pytest.raises(ValueError, match='1 elements of float32 at address'):
        _core._at(address, 'f4', 1)


def test_pointers_copy(device):
    x, y = cupy.arange(4, dtype='i4'), cupy.zeros(4, 'i4')
    (y.data + 4).copy_from_device(x.data + 8, 8)
    assert y.get().tolist() == [0, 2, 3, 0]
    host = numpy.array([5, 6], 'i4')
    y.data.copy_from_host(host.ctypes.data_as(ctypes.c_void_p), 8)
    x.data.memset(0, 4)
    x.data.copy_to_host(host.ctypes.data, 8)
    assert y.get().tolist() == [5, 6, 3, 0] and host.tolist() == [0, 1]
    y.data.copy_from(x.data, 4)
    y.data.memset_async(255, 1)
    assert y.get().tolist() == [255, 6, 3, 0]


def pointers(arrays):
    return cupy.array([a.data for a in arrays], numpy.uintp)


@pytest.mark.parametrize('dtype', ['f4', 'f8'])
@pytest.mark.parametrize('batch, n', [(1, 1), (3, 4), (0, 3), (2, 0), (2, 7)])
def test_many_matrices(device, dtype, batch, n):
    values = numpy.random.RandomState(n).uniform(-1, 1, (batch, n, n)).astype(dtype)
    a, c = cupy.asarray(values), cupy.zeros((batch, n, n), dtype)
    pivots, info = cupy.zeros((batch, n), 'i4'), cupy.full(batch, 9, 'i4')
    getrf, getri = ((cublas.sgetrfBatched, cublas.sgetriBatched) if dtype == 'f4' else
                    (cublas.dgetrfBatched, cublas.dgetriBatched))
    ap, cp = pointers(a), pointers(c)
    getrf(0, n, ap.data.ptr, n, pivots.data.ptr, info.data.ptr, batch)
    # the factors belong to the transposed matrices, as cuBLAS uses column-major order
    for factors, exchanges, value in zip(a.get(), pivots.get(), values):
        u, low = numpy.triu(factors.T), numpy.tril(factors.T, -1) + numpy.eye(n)
        product = low @ u
        for i in reversed(range(n)):
            product[[i, exchanges[i] - 1]] = product[[exchanges[i] - 1, i]]
        numpy.testing.assert_allclose(product, value.T, atol=1e-5)
    getri(0, n, ap.data.ptr, n, pivots.data.ptr, cp.data.ptr, n, info.data.ptr, batch)
    if n:
        assert info.get().tolist() == [0] * batch
    numpy.testing.assert_allclose(c.get() @ values, numpy.broadcast_to(numpy.eye(n), c.shape), atol=1e-3)


def test_a_singular_matrix_is_told(device):
    a = cupy.asarray(numpy.array([[[1, 0], [0, 2]], [[1, 2], [2, 4]]], 'f8'))
    pivots, info, ap = cupy.zeros((2, 2), 'i4'), cupy.zeros(2, 'i4'), pointers(a)
    cublas.dgetrfBatched(0, 2, ap.data.ptr, 2, pivots.data.ptr, info.data.ptr, 2)
    assert info.get().tolist() == [0, 2]


def test_an_opencl_kernel_cannot_follow_them():
    with _core.Device(0):
        x = cupy.arange(3, dtype='f4')
        kernel = cupy.ElementwiseKernel('uint64 p', 'float32 y', 'y = reinterpret_cast<const float*>(p)[i];', 'follow')
        if _core.backend_of(x.device) == 'opencl':
            with pytest.raises(CompileException, match="line 1: 'p': an address in memory.*OpenCL"):
                kernel(cupy.array([x.data, x.data], numpy.uintp))


def test_arrays_with_a_known_address_are_not_deferred():
    with _core.Device('cpu'):
        x = cupy.zeros(4, 'f4')
        seen = (ctypes.c_float * 4).from_address(x.data.ptr)
        x += 1
        assert list(seen) == [1] * 4
        y = x * 2
        seen[0] = 5  # y was computed before
        assert y.get().tolist() == [2] * 4 and x.get()[0] == 5
