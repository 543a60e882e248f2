"""Common calls compared with NumPy: sixty everyday lines, and the lines of a guide to kernels. Errors are one sentence."""

import importlib
import math
import re

import numpy
import pytest

from catenary import _core, cupy
from catenary.cupyx import jit
from catenary.cupyx.scipy import linalg, ndimage, signal, sparse, special
import catenary.cupyx.profiler
from compare import same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
G = numpy.random.default_rng(11)
NAMES = {'A': G.uniform(-1, 1, (5, 4)), 'V': G.uniform(0, 1, 9), 'I': G.integers(0, 6, (4, 5)), 'Q': G.normal(size=(4, 4)), 'F': G.uniform(-1, 1, (3, 7)).astype('f')}

LINES = '''
np.linalg.norm(A, axis=1); (A - A.mean(0)) / A.std(0); np.dot(A.T, A); A @ A.T; np.where(A > 0, A, -A); A[A > 0].sum(); np.clip(A, -0.5, 0.5)
np.unique(I, return_counts=True); np.bincount(I.ravel()); np.histogram(V, bins=4, range=(0, 1)); np.argsort(V)[::-1]; np.sort(I, axis=0)
np.cumsum(I, axis=1); np.diff(V, n=2); np.concatenate([A, A[:2]]); np.stack([V, V * 2], axis=1); np.hstack([A, A]); np.split(V, 3)[1]; np.tile(V, (2, 1))
np.repeat(V, 2); V[:, None] * V[None, :]; np.einsum('ij,kj->ik', A, A); np.outer(V, V); np.tensordot(A, A, axes=([1], [1])); np.meshgrid(V[:3], V[:2])
np.percentile(A, [25, 50, 75], axis=0); np.median(A, axis=1); np.average(A, axis=0, weights=V[:5]); np.cov(A.T); np.corrcoef(A.T); A.argmax(1); np.nanmean(np.where(A > 0, A, np.nan))
np.searchsorted(np.sort(V), [0.2, 0.5]); np.digitize(V, [0.25, 0.5]); np.take_along_axis(I, np.argsort(I, axis=1), axis=1); np.isin(I, [1, 3]); np.interp(V, [0., 1], [2., 3])
np.linalg.solve(Q, Q[0]); np.linalg.inv(Q) @ Q; np.linalg.det(Q); np.linalg.svd(A, compute_uv=False); np.linalg.eigvalsh(Q + Q.T); np.sort(np.linalg.eigvals(Q + Q.T)); np.sort(np.linalg.eig(Q @ Q.T)[0]); np.abs(np.linalg.qr(A)[1]); np.linalg.lstsq(A, V[:5], rcond=None)[0]
np.polyfit(V, 3 * V + 1, 1); np.polyval([1., 2, 3], V); np.convolve(V, [1., 2, 1], 'same'); np.gradient(V); np.trapezoid(V, dx=0.5) if hasattr(np, 'trapezoid') else V; np.pad(A, 1, mode='reflect')
np.roll(A, 1, axis=0); np.flip(A, 1); np.rot90(A); np.fliplr(A); np.moveaxis(A[None], 0, -1); np.squeeze(A[None]); A.reshape(-1, 2); A.T.copy(); np.triu(Q); np.eye(3)[I[0] % 3]
np.apply_along_axis(lambda r: r - r.max(), 1, A); np.vectorize(lambda a: a * 2 if a > 0 else 0.)(A); np.piecewise(V, [V < 0.5, V >= 0.5], [0, 1]); np.r_[0:3, 10, V[:2]]; np.c_[V[:3], V[3:6]]
np.block([[Q, np.ones((4, 1))], [np.zeros((1, 4)), 1]]); np.poly1d([1., -3, 2])(V); np.gcd(I, 4); np.allclose(A, A + 1e-9); np.array_equal(I, I); F.astype('d').sum(); (F * 2).dtype.itemsize + V * 0
np.exp(F - F.max(axis=1, keepdims=True)); np.logaddexp(A, 0); np.sqrt(np.abs(A)); np.hypot(A, A); np.log1p(V); np.floor(A * 10).astype('i'); np.bitwise_xor(I, 3); I // 2 % 3; np.maximum.accumulate(V); np.minimum.accumulate(I, axis=1); np.bitwise_xor.accumulate(I); np.logical_or.accumulate(I[:, ::-1], 1); np.maximum.accumulate(A[:1]); np.count_nonzero(I, axis=0)
'''


@pytest.mark.parametrize('line', [c.strip() for row in LINES.strip().splitlines() for c in row.split('; ')])
def test_lines_of_every_day(line):
    def values(np):
        return eval(line, {'np': np, **{k: np.asarray(v) for k, v in NAMES.items()}})
    ours, theirs = values(cupy), values(numpy)
    for a, b in zip(*((x,) if not isinstance(x, (tuple, list)) else x for x in (ours, theirs)), strict=True):
        if isinstance(a, cupy.ndarray):
            numpy.testing.assert_allclose(a.get().astype('d'), numpy.asarray(b, 'd'), rtol=1e-5, atol=1e-6)
            assert a.shape == numpy.shape(b)
        else:
            assert a == b


def test_lines_with_scipys_modules():
    a, v = cupy.asarray(NAMES['A']), cupy.asarray(NAMES['V'])
    same(special.expit(v), 1 / (1 + numpy.exp(-NAMES['V'])))
    same(special.softmax(a, axis=1).sum(axis=1), numpy.ones(5))
    same(special.logsumexp(a, axis=0), numpy.log(numpy.exp(NAMES['A']).sum(0)), 1e-10)
    same(ndimage.gaussian_filter(cupy.ones((6, 6)), 1.0), numpy.ones((6, 6)), 1e-12)
    assert ndimage.label(cupy.asarray([1, 0, 1, 1]))[1] == 2
    same(signal.convolve(v, cupy.ones(3) / 3, 'valid'), numpy.convolve(NAMES['V'], numpy.ones(3) / 3, 'valid'), 1e-12)
    same(sparse.csr_matrix(a) @ cupy.ones(4), NAMES['A'].sum(1), 1e-12)
    q = cupy.asarray(NAMES['Q'])
    same(linalg.lu_solve(linalg.lu_factor(q), v[:4]), numpy.linalg.solve(NAMES['Q'], NAMES['V'][:4]), 1e-9)
    assert cupyx_profiler().cpu_times.size == 2

LINES_OF_SCIPY = '''
special.gamma(V + 1); special.erf(A); special.expit(V); special.gammaln(V + 1); special.softmax(A, axis=1); special.logsumexp(A, axis=0); special.beta(V + 1, 2); special.xlogy(V, V + 1); special.i0(V); special.ndtr(A)
special.j0(V); special.ellipk(V / 2); special.expi(V + 1)
stats.zscore(V); stats.entropy(V + 1); stats.boxcox_llf(1, V + 1); stats.trim_mean(V, 0.1)
interpolate.PchipInterpolator(np.arange(6.), np.arange(6.) ** 2)(2.5); interpolate.make_interp_spline(np.arange(6.), np.arange(6.))(2.5); interpolate.RegularGridInterpolator((np.arange(5.), np.arange(4.)), A)(np.ones((1, 2)))
spatial.KDTree(A[:, :2]).query(A[:2, :2]); spatial.distance.cdist(A, A)
ndimage.gaussian_filter(A, 1); ndimage.median_filter(A, 3); ndimage.label(A > 0)[0]; ndimage.zoom(A, 2); ndimage.rotate(A, 30); ndimage.sobel(A); ndimage.binary_dilation(A > 0); ndimage.center_of_mass(A + 9)
ndimage.distance_transform_edt(A > 0); ndimage.map_coordinates(A, np.ones((2, 3))); ndimage.uniform_filter(A, 3, axes=0); ndimage.maximum_filter(A, 3); ndimage.sum_labels(A, A > 0)
signal.convolve2d(A, np.ones((3, 3)), 'same'); signal.fftconvolve(V, V); signal.lfilter([1.], [1., -0.5], V); signal.welch(V); signal.medfilt(V, 3); signal.savgol_filter(V, 5, 2); signal.butter(3, 0.2)[0]; signal.find_peaks(V)[0]
signal.hilbert(V); signal.resample(V, 9); signal.correlate(V, V); signal.get_window('hann', 8); signal.sosfilt(signal.butter(2, 0.3, output='sos'), V); signal.stft(V, nperseg=4)[2]; signal.detrend(V); signal.lombscargle(V, V, V + 1); signal.tf2zpk([1., 2], [1., 3])[0]
sparse.csr_matrix(A) @ np.ones(4); sparse.eye(4).tocsr().multiply(2).toarray(); sparse.linalg.spsolve(sparse.csr_matrix(Q), V[:4]); sparse.linalg.cg(sparse.csr_matrix(Q @ Q.T), V[:4])[0]; sparse.vstack([sparse.eye(2), sparse.eye(2)]).sum(0); sparse.dia_matrix(Q).toarray()
sparse.linalg.eigsh(sparse.csr_matrix(Q + Q.T), 2)[0]; sparse.csgraph.connected_components(sparse.csr_matrix(Q))[0]
linalg.lu_factor(Q)[0]; linalg.lu_solve(linalg.lu_factor(Q), V[:4]); linalg.solve_triangular(np.triu(Q), V[:4]); linalg.expm(Q / 9); linalg.toeplitz(V[:3]); linalg.block_diag(Q, Q); linalg.dft(3)
fft.fft(V); fft.rfft2(A); fft.dct(V); fft.next_fast_len(17)
'''


@pytest.mark.parametrize('line', [c.strip() for row in LINES_OF_SCIPY.strip().splitlines() for c in row.split('; ')])
def test_lines_of_scipy(line):
    """Each line returns finite numbers, or names the missing module and the remedy: a wheel of CuPy provides more modules. The tests of these modules
    compare values."""
    names = {'np': cupy, **{k: cupy.asarray(v) for k, v in NAMES.items()}}
    try:
        for module in set(re.findall(r'\b(special|stats|interpolate|spatial|ndimage|signal|sparse|linalg|fft)\.', line)):
            names[module] = importlib.import_module('catenary.cupyx.scipy.' + module)
        found = eval(line, names)
    except (ImportError, AttributeError) as error:
        assert re.search(r'cupyx\.scipy\.\w+', str(error)) and re.search('pip install|python -m catenary names|is not loaded', str(error)), error
    else:
        for part in found if isinstance(found, tuple) else (found,):
            assert bool(cupy.isfinite(cupy.asarray(part)).all())


def cupyx_profiler():
    return catenary.cupyx.profiler.benchmark(lambda: cupy.ones(3) + 1, n_repeat=2, n_warmup=0)


@pytest.mark.parametrize('line, error, says', [
    ('np.busday_count(V)', AttributeError, 'cupy has no'), ('np.asarray(A) + numpy.ones((5, 4))', TypeError, 'use cupy.asarray'),
    ("np.array(['a'])", ValueError, 'Unsupported dtype'), ('numpy.asarray(V)', TypeError, 'use `.get()`')])
def test_lines_that_are_refused(line, error, says):
    with pytest.raises(error) as caught:
        eval(line, {'np': cupy, 'numpy': numpy, 'signal': signal, **{k: cupy.asarray(v) for k, v in NAMES.items()}})
    assert says.replace('use `.get()`', 'Please use `.get()`') in str(caught.value), caught.value


def test_lines_of_a_guide_to_arrays():
    x = cupy.array([1, 2, 3])
    assert isinstance(x, cupy.ndarray) and float(cupy.linalg.norm(x)) == pytest.approx(math.sqrt(14))
    with cupy.cuda.Device(0) if _core.getDeviceCount() else cupy.cuda.Device():
        y = cupy.asarray(numpy.arange(3))
        assert y.device == cupy.cuda.Device()
    assert cupy.asnumpy(y).tolist() == y.get().tolist() == [0, 1, 2]
    assert cupy.get_array_module(x) is cupy and cupy.get_array_module(numpy.ones(1)) is numpy

    def softplus(z):
        xp = cupy.get_array_module(z)
        return xp.maximum(0, z) + xp.log1p(xp.exp(-abs(z)))
    same(softplus(cupy.arange(-2., 3)), softplus(numpy.arange(-2., 3)))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        z = x * 2
    stream.synchronize()
    assert z.get().tolist() == [2, 4, 6]
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    (x + 1).sum()
    stop.record()
    stop.synchronize()
    assert cupy.cuda.get_elapsed_time(start, stop) >= 0
    assert cupy.get_default_memory_pool().used_bytes() >= 0 and cupy.get_default_pinned_memory_pool().n_free_blocks() == 0
    cupy.get_default_memory_pool().free_all_blocks()


def test_more_lines_of_a_guide_to_arrays():
    x, host = cupy.array([1, 2, 3]), numpy.array([4, 5, 6])
    assert cupy.ndarray([1, 2, 3]).shape == (1, 2, 3) and cupy.asarray(x) is x and cupy.array(x, copy=True) is not x
    assert cupy.array(x, copy=False) is x and cupy.asarray(host).tolist() == cupy.asarray([4, 5, 6]).tolist() == [4, 5, 6]
    assert cupy.cuda.get_current_stream() == cupy.cuda.Stream.null
    with pytest.raises(TypeError, match='Unsupported type .*numpy.ndarray.*use cupy.asarray'):
        x + host
    for total in (cupy.asnumpy(x) + host, cupy.asnumpy(x) + cupy.asnumpy(host), (x + cupy.asarray(host)).get(),
                  (cupy.asarray(x) + cupy.asarray(host)).get()):
        assert total.tolist() == [5, 7, 9]
    count = cupy.cuda.runtime.getDeviceCount()
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match=f'invalid device ordinal {count}; there are {count}'):
        with cupy.cuda.Device(count):
            cupy.array([1, 2, 3])


def test_more_lines_of_a_guide_to_elementwise_and_reduction_kernels():
    x, y = cupy.arange(10, dtype='f').reshape(2, 5), cupy.arange(5, dtype='f')
    several = cupy.ElementwiseKernel('X x, Y y', 'Z z', 'z = (x - y) * (x - y)', 'several')
    same(several(x, y, cupy.empty((2, 5), 'd')), (x.get() - y.get()).astype('d') ** 2)
    with pytest.raises(TypeError, match='no argument determines the type Z of z'):
        several(x, y)
    all_raw = cupy.ElementwiseKernel('raw T x', 'raw T z', 'z[i] = x[_ind.size() - 1 - i]', 'all_raw')
    same(all_raw(y, cupy.empty(5, 'f'), size=5), y.get()[::-1])
    with pytest.raises(ValueError, match="'size' is needed"):
        all_raw(y, cupy.empty(5, 'f'))
    with pytest.raises(NotImplementedError, match='TextureObject: textures are not supported; pass an array to the kernel'):
        cupy.cuda.texture.TextureObject(None, None)
    weighted = cupy.ReductionKernel('T x, raw T w', 'T z', 'x * w[1]', 'a + b', 'z = a', '0', 'weighted')
    same(weighted(x, cupy.asarray([2, 3], 'f'), axis=0), x.get().sum(0) * 3)

    @cupy.fuse()
    def squared(a, b):
        return (a - b) * (a - b)
    same(squared(cupy.arange(10), cupy.arange(10)[::-1]), (2 * numpy.arange(10) - 9) ** 2)
    assert squared(numpy.arange(3), 1).tolist() == [1, 0, 1] and squared(3, 5) == 4

    @cupy.fuse()
    def of_products(a, b):
        return cupy.sum(a * b, axis=-1)
    same(of_products(x, y), (x.get() * y.get()).sum(-1))


ADDED = 'extern "C" __global__ void added(const float* a, const float* b, float* c) { int i = blockDim.x * blockIdx.x + threadIdx.x; c[i] = a[i] + b[i]; }'

CONSTANT = '''extern "C"{ __constant__ float some_array[100];
__global__ void multiply_by_const(float* x, int N) { int id = threadIdx.x + blockIdx.x * blockDim.x; if (id < N) x[id] *= some_array[id]; } }'''


def test_more_lines_of_a_guide_to_whole_kernels():
    added = cupy.RawKernel(ADDED, 'added')
    a = cupy.arange(25, dtype='f').reshape(5, 5)
    out = cupy.zeros((5, 5), 'f')
    added((5,), (5,), (a.T, a, out))  # a view of the same memory in the same order
    same(out, a.get() * 2)
    assert added.attributes['max_dynamic_shared_size_bytes'] == added.max_dynamic_shared_size_bytes > 0
    added.max_dynamic_shared_size_bytes = 1024
    for options in ({'jitify': True}, {'options': ('-dc',)}, {'translate_cucomplex': True}, {'backend': 'nvcc'}):
        cupy.RawKernel(ADDED, 'added', **options)((5,), (5,), (a, a, out))
    module = cupy.RawModule(code='extern "C" {\n%s\n%s\n}' % (ADDED.replace('extern "C"', ''), ADDED.replace('extern "C"', '').replace(
        'added', 'times').replace('a[i] + b', 'a[i] * b')))
    for name, expected in (('added', a.get() * 2), ('times', a.get() ** 2)):
        module.get_function(name)((5,), (5,), (a, a, out))
        same(out, expected)
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match="the text has no variable 'c' outside functions"):
        module.get_global('c')
    module = cupy.RawModule(code=CONSTANT)
    pointer = module.get_global('some_array')
    some_array = cupy.ndarray((100,), cupy.float32, pointer)
    some_array[...] = cupy.arange(100, dtype='f')
    x = cupy.ones(100, dtype='f')
    module.get_function('multiply_by_const')((1,), (100,), (x, cupy.int32(100)))
    same(x, numpy.arange(100, dtype='f'))
    with pytest.raises(NotImplementedError, match='device binaries are not supported; pass the code'):
        cupy.RawModule(path='kernels.cubin').get_function('added')


@pytest.mark.parametrize('value, kind', [
    (3, 'long long'), (2.5, 'double'), (True, 'bool'), (numpy.int8(-3), 'signed char'), (numpy.int16(-3), 'short'), (numpy.int32(-3), 'int'),
    (numpy.int64(-3), 'long long'), (numpy.uint8(3), 'unsigned char'), (numpy.uint16(3), 'unsigned short'), (numpy.uint32(3), 'unsigned int'),
    (numpy.uint64(3), 'unsigned long long'), (numpy.float16(1.5), 'half'), (numpy.float32(1.5), 'float'), (numpy.array([7], 'i'), 'int')], ids=repr)
def test_numbers_that_a_kernel_is_given(value, kind):
    out = cupy.zeros(1, 'f')
    cupy.RawKernel('extern "C" __global__ void stored(%s value, float* out) { out[0] = (float)value; }' % kind, 'stored')((1,), (1,), (value, out))
    assert out.tolist() == [float(numpy.asarray(value).item() if numpy.ndim(value) == 0 else value[0])]


def test_modules_that_hold_views():
    from catenary.cupy.lib.stride_tricks import as_strided
    import catenary.cupy.lib.stride_tricks as tricks
    assert as_strided is tricks.as_strided is cupy.lib.stride_tricks.as_strided


def test_structures_for_numbers_are_refused_by_a_sentence():
    point = numpy.zeros(1, numpy.dtype({'names': ['x', 'y', 'z'], 'formats': [numpy.float32] * 3}))
    stored = cupy.RawKernel('extern "C" __global__ void stored(float value, float* out) { out[0] = value; }', 'stored')
    with pytest.raises(TypeError, match='argument 0 is a structure of 12 bytes where the kernel takes float32: pass its numbers one by one'):
        stored((1,), (1,), (point, cupy.zeros(1, 'f')))


def test_a_structure_of_another_size_and_too_few_arguments_are_refused():
    summed = cupy.RawKernel('struct Row { float a[3]; }; extern "C" __global__ void summed(Row row, float* out) {'
                            ' out[0] = row.a[0] + row.a[1] + row.a[2]; }', 'summed')
    out = cupy.zeros(1, 'f')
    row = numpy.zeros(1, numpy.dtype({'names': ['a'], 'formats': ['3f']}))
    row['a'] = [1, 2, 3]
    summed((1,), (1,), (row[0], out))
    assert out.tolist() == [6]
    for wrong in (numpy.zeros(1, [('a', '2f')])[0], numpy.zeros(1, [('a', '4f')])[0]):
        with pytest.raises((TypeError, cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.compiler.CompileException)):
            summed((1,), (1,), (wrong, out))
    with pytest.raises((TypeError, cupy.cuda.runtime.CUDARuntimeError)):
        summed((1,), (1,), (out,))


def test_lines_of_a_guide_to_kernels():
    x, y = cupy.arange(10, dtype='f').reshape(2, 5), cupy.arange(5, dtype='f')
    squared = cupy.ElementwiseKernel('float32 x, float32 y', 'float32 z', 'z = (x - y) * (x - y)', 'squared')
    expected = (x.get() - y.get()) ** 2
    same(squared(x, y), expected)
    out = cupy.empty((2, 5), 'f')
    assert squared(x, y, out) is out
    same(squared(x, 5), (x.get() - 5) ** 2)
    generic = cupy.ElementwiseKernel('T x, T y', 'T z', 'T d = x - y; z = d * d', 'generic')
    same(generic(x.astype('d'), y.astype('d')), expected.astype('d'))
    turned = cupy.ElementwiseKernel('T x, raw T y', 'T z', 'z = x + y[_ind.size() - i - 1]', 'turned')
    same(turned(y, y), numpy.full(5, 4, 'f'))
    length = cupy.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'length')
    same(length(x, axis=1), numpy.linalg.norm(x.get(), axis=1), 1e-6)
    same(length(x), numpy.linalg.norm(x.get()), 1e-6)

    @cupy.fuse(kernel_name='fused')
    def fused(a, b):
        return (a - b) ** 2
    same(fused(x, y), expected)
    added = cupy.RawKernel('extern "C" __global__ void added(const float* a, const float* b, float* c) {'
                           ' int i = blockDim.x * blockIdx.x + threadIdx.x; c[i] = a[i] + b[i]; }', 'added')
    total = cupy.zeros((5, 5), 'f')
    a = cupy.arange(25, dtype='f').reshape(5, 5)
    added((5,), (5,), (a, a, total))
    same(total, a.get() * 2)
    module = cupy.RawModule(code='template <typename T> __global__ void twice(const T* a, T* b) { b[threadIdx.x] = a[threadIdx.x] * 2; }',
                            options=('-std=c++11',), name_expressions=['twice<float>', 'twice<double>'])
    for name, dtype in (('twice<float>', 'f'), ('twice<double>', 'd')):
        z = cupy.zeros(5, dtype)
        module.get_function(name)((1,), (5,), (y.astype(dtype), z))
        same(z, y.get().astype(dtype) * 2)


def test_lines_of_a_guide_to_types_that_a_kernel_takes():
    """CUDA's vectors are passed as NumPy records, complex numbers as Python's and NumPy's."""
    float3 = numpy.dtype({'names': ['x', 'y', 'z'], 'formats': [numpy.float32] * 3})
    given = numpy.arange(3, dtype='f').view(float3)
    given['x'] = 42.0
    out = cupy.zeros(5, 'F')
    # simulated GPUs lack CUDA's vector types
    vector, declared = ('Three', 'struct Three { float x, y, z; };') if _core.backend_of(_core.Device()) in ('cuda', 'hip') else ('float3', '')
    kernel = cupy.RawKernel(declared + '''
    #include <cupy/complex.cuh>
    extern "C" __global__ void stored(VECTOR v, complex<double> z, complex<float> w, const complex<float>* x, complex<float>* out, float a) {
        const int i = threadIdx.x;
        out[0] = v.x; out[1] = v.y + v.z; out[2] = complex<float>(z.real(), z.imag()); out[3 + i] = w + a * x[i];
    }'''.replace('VECTOR', vector), 'stored')
    kernel((1,), (2,), (given, 1 - 2j, numpy.complex64(3j), cupy.asarray([1j, 2], 'F'), out, cupy.float32(2.0)))
    assert out.tolist() == [42, 3, 1 - 2j, 5j, 4 + 3j]


def test_lines_of_a_guide_to_kernels_in_python():
    @jit.rawkernel()
    def elementwise_copy(x, y, size):
        tid = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
        ntid = jit.gridDim.x * jit.blockDim.x
        for i in range(tid, size, ntid):
            y[i] = x[i]
    size = cupy.uint32(2 ** 12)
    x, y, z = cupy.random.normal(size=(size,), dtype=cupy.float32), *cupy.zeros((2, size), 'f')
    elementwise_copy((4,), (128,), (x, y, size))
    elementwise_copy[4, 128](x, z, size)
    assert (x == y).all() and (x == z).all()
