"""Parts of `cupy` that programs inspect before they compute: importable modules, readable signatures, functions of the array API standard."""

import inspect

import numpy
import pytest

import catenary.cupy.typing
from catenary import cupy
from catenary.cupyx.scipy import sparse
from compare import same, values

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]


@pytest.mark.parametrize('n', [1, 4, 7])
@pytest.mark.parametrize('d', [1.0, 0.25])
def test_frequencies(n, d):
    same(cupy.fft.fftfreq(n, d), numpy.fft.fftfreq(n, d))
    same(cupy.fft.rfftfreq(n, d), numpy.fft.rfftfreq(n, d))


@pytest.mark.parametrize('shape', [(5,), (4, 3), (2, 0, 3), (2, 3, 5)])
@pytest.mark.parametrize('axes', [None, 0, -1, (0,), (), [0, 0], (-1, 0)])
def test_shifts(shape, axes):
    if isinstance(axes, tuple) and len(axes) > len(shape):
        axes = (0,)
    a = values(shape, 'i')
    same(cupy.fft.fftshift(cupy.asarray(a), axes), numpy.fft.fftshift(a, axes))
    same(cupy.fft.ifftshift(cupy.asarray(a), axes), numpy.fft.ifftshift(a, axes))
    if a.size:
        same(cupy.fft.fftshift(a.tolist(), axes), numpy.fft.fftshift(a.astype('l'), axes))
    with pytest.raises(IndexError):
        cupy.fft.ifftshift(cupy.asarray(a), len(shape))


def test_a_namespace_as_array_api_compat_builds_it():
    """Builds a namespace as array_api_compat does, from all public names of three modules, and checks the parameters of `unique`."""
    found = {}
    exec('from cupy import *\nfrom cupy.linalg import *\nfrom cupy.fft import *\nfrom cupy.cuda.device import Device\n'
         'from cupy.typing import NDArray', found)
    assert found['fftfreq'] is cupy.fft.fftfreq and found['rfftn'] is cupy.fft.rfftn
    assert 'equal_nan' in inspect.signature(cupy.unique).parameters
    assert found['testing'] is cupy.testing and found['ElementwiseKernel'] is cupy.ElementwiseKernel and found['cuda'] is cupy.cuda
    assert list(inspect.signature(cupy.tril).parameters) == list(inspect.signature(cupy.triu).parameters) == ['m', 'k']
    assert inspect.signature(cupy.tril) and inspect.signature(cupy.dot)
    assert cupy.typing.NDArray[float] is cupy.ndarray


@pytest.mark.parametrize('dtype', ['?', 'b', 'H', 'l', 'f', 'd', 'F'])
@pytest.mark.parametrize('kind', ['bool', 'signed integer', 'unsigned integer', 'integral', 'real floating', 'complex floating',
                                  'numeric', numpy.float32, ('bool', 'integral'), (numpy.dtype('d'), 'bool')])
def test_kinds_of_dtypes(dtype, kind):
    def expected(kind):
        return numpy.issubdtype(dtype, {'bool': numpy.bool_, 'signed integer': numpy.signedinteger, 'real floating': numpy.floating,
                                        'unsigned integer': numpy.unsignedinteger, 'integral': numpy.integer, 'numeric': numpy.number,
                                        'complex floating': numpy.complexfloating}.get(kind, kind))
    assert cupy.isdtype(numpy.dtype(dtype), kind) == any(expected(k) for k in (kind if isinstance(kind, tuple) else (kind,)))


def test_functions_of_the_standard():
    a = cupy.asarray(values((2, 3, 4), 'f'))
    same(cupy.matrix_transpose(a), a.get().swapaxes(-1, -2))
    same(cupy.linalg.matrix_transpose(a[0]), a[0].get().T)
    assert cupy.matrix_transpose(a).base is a
    assert cupy.astype(a, 'f', copy=False) is a and cupy.astype(a, 'f') is not a
    same(cupy.astype(a, 'i'), a.get().astype('i'))
    same(cupy.linalg.cross(a[0].T[:, :3], a[1].T[:, :3]), numpy.cross(a[0].T[:, :3].get(), a[1].T[:, :3].get()))
    same(cupy.linalg.cross(a[0], a[1], axis=0), numpy.cross(a[0].get(), a[1].get(), axis=0))
    same(cupy.linalg.matmul(a[0], a[1].T), a[0].get() @ a[1].get().T)
    with pytest.raises(ValueError):
        cupy.matrix_transpose(a[0, 0])


def test_numpys_own_of_more_names():
    assert cupy.long is numpy.dtype('l').type and cupy.ulong is numpy.dtype('L').type
    assert cupy.AxisError is numpy.exceptions.AxisError and issubclass(cupy.exceptions.RankWarning, Warning)
    assert isinstance(cupy.ones(3).flat, cupy.flatiter)


@pytest.mark.parametrize('generator', ['XORWOW', 'MRG32k3a', 'Philox4x3210'])
def test_seeds_of_generators_have_children(generator):
    """Makes generators from the children of a seed, as dask does for its chunks."""
    make = getattr(cupy.random, generator)

    def drawn(seed):
        parts = [cupy.random.Generator(make(child)) for child in make(seed)._seed_seq.spawn(2)]
        return [part.random(5).tolist() for part in parts]
    first, second = drawn(7)
    assert first != second and [first, second] == drawn(7) == drawn(numpy.random.SeedSequence(7))
    assert drawn([1, 2]) == drawn(cupy.asarray([1, 2])) != drawn([2, 1])
    assert drawn(None) != drawn(None)
    assert cupy.random.default_rng(3).integers(0, 99, 8).tolist() == cupy.random.default_rng(make(3)).integers(0, 99, 8).tolist()


def test_classes_name_the_package_that_their_functions_are_in():
    for value, package in ((cupy.ones(1), 'cupy'), (cupy.random.default_rng(0), 'cupy'), (cupy.random.XORWOW(0), 'cupy'), (cupy.random.RandomState(0), 'cupy'),
                           (sparse.coo_matrix((2, 2)), 'cupyx'), (sparse.csr_matrix((2, 2)), 'cupyx'), (sparse.csc_matrix((2, 2)), 'cupyx')):
        assert type(value).__module__.partition('.')[0] == package, type(value)


@pytest.mark.parametrize('n', [1, 2])
@pytest.mark.parametrize('more', [0, [0], [-1, 0]])
def test_diff_of_lists_before_and_after(n, more):
    a = numpy.arange(5) ** 2
    same(cupy.diff(cupy.asarray(a), n, prepend=more), numpy.diff(a, n, prepend=more))
    same(cupy.diff(cupy.asarray(a), n, append=more), numpy.diff(a, n, append=more))
    same(cupy.diff(cupy.asarray(a)[None], n, -1, more if isinstance(more, int) else [more], [[3]]),
         numpy.diff(a[None], n, -1, more if isinstance(more, int) else [more], [[3]]))


@pytest.mark.parametrize('dtype', ['f', 'd', 'F', 'D'])
def test_vectors_of_cublas(dtype):
    """Thinc computes gradient norms with nrm2."""
    from catenary.cupy import cublas
    a, b = values((7,), dtype), values((7,), dtype)[::-1] + 1
    if dtype in 'FD':
        a, b = a + a[::-1] * numpy.dtype(dtype).type(1j), b * numpy.dtype(dtype).type(1 - 2j)
    x, y = cupy.asarray(a), cupy.asarray(b)
    size = abs(a) if dtype in 'fd' else abs(a.real) + abs(a.imag)
    near = 1e-5 if dtype in 'fF' else 1e-12
    assert int(cublas.iamax(x)) == size.argmax() + 1 and int(cublas.iamin(x)) == size.argmin() + 1
    same(cublas.asum(x), size.sum(), near)
    same(cublas.nrm2(x), numpy.linalg.norm(a), near)
    same(cublas.dotu(x, y), a @ b, near)
    same(cublas.dotc(x, y), numpy.vdot(a, b), near)
    out = cupy.zeros((), dtype)
    if dtype in 'fd':
        assert cublas.dot(x, y, out) is out
        same(out, a @ b, near)
    else:
        with pytest.raises(TypeError, match='dotu and dotc'):
            cublas.dot(x, y)
    cublas.axpy(2.5, x, y)
    same(y, b + numpy.dtype(dtype).type(2.5) * a, near)
    cublas.scal(cupy.asarray(-2, dtype), y)
    same(y, (b + numpy.dtype(dtype).type(2.5) * a) * numpy.dtype(dtype).type(-2), near)
    with pytest.raises(ValueError, match='of one length'):
        cublas.axpy(1, x, y[1:])
    with pytest.raises(TypeError, match='expected float32'):
        cublas.nrm2(cupy.arange(3))


@pytest.mark.parametrize('ordinal', ['cpu', 0])
def test_a_kernel_that_takes_its_index_apart(ordinal):
    """Kernels may modify `i`, as sigpy's block kernels do, without affecting the loop."""
    with cupy.cuda.Device(ordinal):
        taken = cupy.ElementwiseKernel('raw T x, int32 columns', 'raw T y', '''
            int row = i / columns;
            i -= row * columns;
            int at[] = {(int)i, row};
            y[at] = x[row * columns + i];
        ''', 'taken')
        x, y = cupy.arange(300, dtype='f'), cupy.zeros((20, 15), 'f')
        taken(x, 20, y, size=300)
        same(y, x.get().reshape(15, 20).T)
