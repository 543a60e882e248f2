"""Accepted and rejected arguments of kernel calls, as in CuPy, on the processor and on ordinal 0."""

import numpy
import pytest

from catenary import _core
import catenary.cupy as cupy

pytestmark = pytest.mark.kernels


@pytest.fixture(autouse=True)
def on_the_device(device):
    yield


def test_raw_parameters_that_are_numbers():
    kernel = cupy.ElementwiseKernel('T x, raw T n, raw U m', 'T y', 'y = x * n + m', 'of_numbers')
    x = numpy.arange(6).reshape(2, 3)
    for dtype in ('i4', 'f4', 'f8'):
        y = kernel(cupy.asarray(x, dtype), 3, 2)
        assert y.dtype == dtype and y.tolist() == (x * 3 + 2).tolist()
    assert kernel(cupy.asarray(x, 'f4'), numpy.float32(.5), True).tolist() == (x * .5 + 1).tolist()
    for by in (2.0, 3.0):  # a plan of an earlier call takes the new number
        assert kernel(cupy.asarray(x, 'f4'), by, 1, cupy.zeros((2, 3), 'f4')).tolist() == (x * by + 1).tolist()
    total = cupy.ReductionKernel('T x, raw T n', 'T y', 'x * n', 'a + b', 'y = a', '0', 'scaled_total')
    assert total(cupy.asarray(x, 'f8'), 2.0, axis=1).tolist() == [6, 24]
    mixed = cupy.ElementwiseKernel('raw T x, raw int32 k', 'T y', 'y = x[i + k]', 'shifted')
    assert mixed(cupy.arange(5.), 2, size=3).tolist() == [2, 3, 4]
    with pytest.raises(TypeError, match='the parameter y takes a cupy.ndarray, given a number'):
        cupy.ElementwiseKernel('T x', 'raw T y', 'y[i] = x', 'into_a_number')(cupy.arange(3.), 2.0)


def test_more_arguments_than_a_kernel_has():
    module = cupy.RawModule(code='__device__ int calls; extern "C" __global__ void five(double* y) { y[0] = 5; calls += 1; }')
    for kernel in (cupy.RawKernel('extern "C" __global__ void five(double* y) { y[0] = 5; }', 'five'), module.get_function('five')):
        for more in ((), (True,), (3, 2.5, cupy.zeros(2)), (None,)):
            y = cupy.zeros(1)
            kernel((1,), (1,), (y, *more))
            assert y.tolist() == [5]
        with pytest.raises(TypeError, match='five: the kernel takes 1 arguments, given 0'):
            kernel((1,), (1,), ())


@pytest.mark.parametrize('grid, block', [((0,), (1,)), ((1, 0), (1,)), ((1,), (0,)), ((1,), (2, 0, 1)), ((-1,), (1,)), ((), (1,)), ((1, 1, 1, 1), (1,))])
def test_launches_of_nothing(grid, block):
    from catenary.cupyx import jit

    @jit.rawkernel()
    def set_by_python(x):
        x[0] = 5
    x = cupy.zeros(1)
    for kernel in (cupy.RawKernel('extern "C" __global__ void set(double* x) { x[0] = 5; }', 'set'), set_by_python):
        with pytest.raises(cupy.cuda.driver.CUDADriverError, match='CUDA_ERROR_INVALID_VALUE: invalid argument: .*set.*: (grid|block) must be one to three positive numbers'):
            kernel(grid, block, (x,))
    assert x.tolist() == [0]


def test_blocks_that_are_too_large():
    kernel = cupy.RawKernel('extern "C" __global__ void set(double* x) { x[0] = 5; }', 'set')
    most = cupy.cuda.Device().attributes['MaxThreadsPerBlock']
    x = cupy.zeros(1)
    with pytest.raises(cupy.cuda.driver.CUDADriverError, match='set'):
        kernel((1,), (most + 1,), (x,))
    kernel((1,), (most,), (x,))
    assert x.tolist() == [5]


def test_memory_that_a_launch_gives():
    kernel = cupy.RawKernel('''extern "C" __global__ void filled(float* y, int n) {
        extern __shared__ float t[]; for (int k = threadIdx.x; k < n; k += blockDim.x) t[k] = k; __syncthreads(); y[threadIdx.x] = t[n - 1 - threadIdx.x]; }''', 'filled')
    device, y = cupy.cuda.Device(), cupy.zeros(4, 'f')
    most, more = kernel.max_dynamic_shared_size_bytes, device.attributes['MaxSharedMemoryPerBlockOptin']
    assert most >= 49152 and most == device.attributes['MaxSharedMemoryPerBlock'] <= more
    for size in (16, 40000, most):
        kernel((2,), (4,), (y, size // 4), shared_mem=size)
        assert y.tolist() == [size // 4 - 1 - k for k in range(4)]
    with pytest.raises(ValueError, match='filled: shared_mem = %d: .* allows %d bytes per block' % (most + 4, most)):
        kernel((1,), (4,), (y, 4), shared_mem=most + 4)
    kernel.max_dynamic_shared_size_bytes = more
    assert kernel.max_dynamic_shared_size_bytes == kernel.attributes['max_dynamic_shared_size_bytes'] == more
    kernel((1,), (4,), (y, more // 4), shared_mem=more)
    assert y.tolist() == [more // 4 - 1 - k for k in range(4)]
    with pytest.raises(ValueError, match='max_dynamic_shared_size_bytes = %d: .* allows up to %d bytes per block' % (more + 1, more)):
        kernel.max_dynamic_shared_size_bytes = more + 1


def laid_out(x):
    """Yields the values in several layouts."""
    wide = cupy.zeros(tuple(2 * n for n in x.shape), x.dtype)
    wide[tuple(slice(None, None, 2) for _ in x.shape)] = cupy.asarray(x)
    return [cupy.asarray(x), cupy.asarray(x.T.copy()).T, cupy.asarray(x[::-1].copy())[::-1], wide[tuple(slice(None, None, 2) for _ in x.shape)]]


@pytest.mark.parametrize('dtype', ['i4', 'f4', 'f8'])
def test_whole_arrays_of_parameters(dtype):
    """Kernels see the whole array as _raw_NAME, as CuPy's own kernels do."""
    x = numpy.arange(6, dtype=dtype).reshape(2, 3)
    next_ = cupy.ElementwiseKernel('T x', 'T y', '''
        ptrdiff_t at[] = {_ind.get()[0], (_ind.get()[1] + 1) % _raw_x.shape()[1]};
        y = _raw_x[at] + 10 * _raw_y.shape()[0] + 100 * _raw_x.size() + _raw_y.ndim + (_raw_x[i] != x) * 1000 + _raw_x.strides()[0] / (int)sizeof(T) * 10000''', 'next_one', reduce_dims=False)
    for a in laid_out(x):
        for out in laid_out(numpy.zeros((2, 3), dtype)):
            result = next_(a, out)
            assert result is out
            numpy.testing.assert_array_equal(out.get(), numpy.roll(x, -1, 1) + 20 + 600 + 2 + a.strides[0] // a.itemsize * 10000)
    wide = cupy.ElementwiseKernel('T x, T z', 'T y', 'y = _raw_x.shape()[0] * 10 + _raw_x.shape()[1] + _raw_x[0] + z', 'of_broadcast')
    assert wide(cupy.asarray([[5], [6]], dtype), cupy.zeros(3, dtype)).tolist() == [[28] * 3] * 2
    total = cupy.ReductionKernel('T x, raw T w', 'T y', 'x * _raw_x.shape()[1] + _raw_w[0]', 'a + b', 'y = a + _raw_y.size()', '0', 'of_whole')
    for a in laid_out(x):
        for axis in (None, 0, 1):
            numpy.testing.assert_array_equal(total(a, cupy.ones(1, dtype), axis=axis).get(), (x * 3 + 1).sum(axis) + numpy.size(x.sum(axis)))


MEAN = '''struct Mean {
    double sum; int count; char more[9];
    __device__ Mean(double sum, int count) : sum(sum), count(count) {}
    __device__ double value() { return count ? sum / count : 0; }
};'''


@pytest.mark.parametrize('dtype', ['f4', 'i2'])
@pytest.mark.parametrize('shape, axis', [((5,), None), ((0,), None), ((70000,), None), ((3, 40000), 1), ((4, 3, 5), (0, 2)), ((600, 7), 0)])
def test_classes_that_a_reduction_collects(dtype, shape, axis):
    x = numpy.asarray(numpy.random.RandomState(0).uniform(0, 50, shape)).astype(dtype)
    mean = cupy.ReductionKernel('T x', 'float64 y', 'Mean(x, 1)', 'Mean(a.sum + b.sum, a.count + b.count)', 'y = a.value()', 'Mean(0, 0)', 'mean_of', reduce_type='Mean', preamble=MEAN)
    expected = x.astype('f8').mean(axis) if x.size else 0
    numpy.testing.assert_allclose(mean(cupy.asarray(x), axis=axis).get(), expected, rtol=1e-12)
    ends = cupy.ReductionKernel('T x', 'float64 y', 'make_float2(x, x)', 'make_float2(min(a.x, b.x), max(a.y, b.y))', 'y = a.y - a.x', 'make_float2(1e30f, -1e30f)', 'ends', reduce_type='float2')
    if x.size:
        numpy.testing.assert_allclose(ends(cupy.asarray(x), axis=axis).get(), x.astype('f4').max(axis) - x.astype('f4').min(axis), rtol=1e-6)


def test_types_that_a_reduction_cannot_collect():
    with pytest.raises(TypeError, match="reduce_type 'Missing' is not a dtype, a C type, a class in the preamble"):
        cupy.ReductionKernel('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'missing', reduce_type='Missing')(cupy.ones(3))
    kernel = cupy.ReductionKernel('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'no_sum', reduce_type='S', preamble='struct S { int k; };')
    with pytest.raises(cupy.cuda.compiler.CompileException):
        kernel(cupy.ones(3))


def test_headers_of_a_wheel_are_in_the_key_of_kept_kernels(tmp_path, monkeypatch):
    """A changed header gives a new kernel."""
    if _core.backend_of(_core.Device()) != 'cpu':
        return
    from catenary import _wheel
    from catenary.cupy import _host
    folder = tmp_path / 'cupy' / 'xsf'
    folder.mkdir(parents=True)
    monkeypatch.setattr(_wheel, 'headers', lambda: str(tmp_path))
    for value in (3, 4):
        (folder / 'number.h').write_text('#define NUMBER %d\n' % value)
        _host._stamp.cache_clear()
        kernel = cupy.ElementwiseKernel('T x', 'T y', 'y = x + NUMBER', 'by_wheel', preamble='#include <cupy/xsf/number.h>')
        assert kernel(cupy.zeros(1)).tolist() == [value]
    _host._stamp.cache_clear()


@pytest.mark.parametrize('options', [('-DN=7',), ('-D', 'N=7'), ['--define-macro=N=7'], ('--define-macro', 'N=7'), ('-DM', '-DN=M+6')])
def test_macros_of_options(options):
    with cupy.cuda.Device('cpu'):
        y = cupy.zeros(1, 'i')
        cupy.RawKernel('extern "C" __global__ void defined(int* y) { y[0] = N; }', 'defined', options=options)((1,), (1,), (y,))
        assert y.tolist() == [7]


def test_a_block_is_at_most_64_deep():
    with cupy.cuda.Device('cpu'):
        kernel, y = cupy.RawKernel('extern "C" __global__ void deep(int* y) { atomicAdd(y, 1); }', 'deep'), cupy.zeros(1, 'i')
        kernel((1,), (1, 1, 64), (y,))
        assert y.tolist() == [64]
        with pytest.raises(cupy.cuda.driver.CUDADriverError, match='the third number may be at most 64'):
            kernel((1,), (1, 1, 65), (y,))


def test_words_of_the_processor():
    """Half-precision functions, dim3 and profiler triggers. An integer __hadd stays the mean of integers."""
    text = '''#include <cuda_fp16.h>
    __device__ int volume(dim3 d) { return d.x * d.y * d.z; }
    extern "C" __global__ void words(float* y) {
      const __half a = __float2half(1.5f), b = __float2half(2.0f);
      y[0] = __half2float(__hadd(a, b)); y[1] = __half2float(__hsub(a, b)); y[2] = __half2float(__hmul(a, b)); y[3] = __half2float(__hdiv(a, b));
      y[4] = __half2float(__hfma(a, b, a)); y[5] = __half2float(__hneg(a)); y[6] = __hlt(a, b); y[7] = __hge(a, b); y[8] = __heq(a, a); y[9] = __hne(a, a);
      y[10] = __half2float(hsqrt(__float2half(4.0f))); y[11] = __hadd(3, 4); y[12] = volume(dim3(2, 3)); y[13] = volume(4); y[14] = __hisnan(a);
      __prof_trigger(0);
      if (y[0] == 0) __brkpt();
    }'''
    with cupy.cuda.Device('cpu'):
        y = cupy.zeros(15, 'f')
        cupy.RawKernel(text, 'words')((1,), (1,), (y,))
        assert y.tolist() == [3.5, -0.5, 3, 0.75, 4.5, -1.5, 1, 0, 1, 0, 2, 3, 6, 4, 0]
