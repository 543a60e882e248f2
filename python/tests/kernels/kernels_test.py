"""ElementwiseKernel, ReductionKernel, RawKernel and RawModule, on ordinal 0 (PoCL on machines without a GPU) and on the processor by its C++
compiler."""

import ctypes

import numpy
import pytest

from catenary import _core
import catenary.cupy as cupy
from catenary.cupy.cuda.compiler import CompileException

DTYPES = ['bool', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'float16', 'float32', 'float64']


@pytest.fixture(autouse=True, params=['gpu', 'cpu'])
def on_the_device(request):
    with _core.Device('cpu' if request.param == 'cpu' else 0):
        yield


def values(shape, dtype, seed=0):
    made = numpy.random.RandomState(seed)
    return numpy.asarray(made.uniform(0, 3, shape)).astype(dtype)


def layouts(x):
    """Yields the values in several layouts on a device."""
    found = [cupy.asarray(x)]
    if x.ndim:
        found.append(cupy.asarray(x[::-1].copy())[::-1])
        wide = cupy.zeros(tuple(2 * n for n in x.shape), x.dtype)
        wide[tuple(slice(None, None, 2) for _ in x.shape)] = found[0]
        found.append(wide[tuple(slice(None, None, 2) for _ in x.shape)])
    if x.ndim > 1:
        found.append(cupy.asarray(x.T.copy()).T)
    return found


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('shape', [(), (7,), (0, 2), (3, 4), (2, 3, 2)])
def test_elementwise(dtype, shape):
    kernel = cupy.ElementwiseKernel('T x, T y', 'T z', 'z = x ? y : x', 'choose')
    x, y = values(shape, dtype), values(shape, dtype, 1)
    expected = numpy.where(x != 0, y, x)
    for a in layouts(x):
        for b in layouts(y):
            z = kernel(a, b)
            assert z.dtype == dtype and z.shape == shape
            numpy.testing.assert_array_equal(z.get(), expected)


def test_broadcasting_scalars_and_several_outputs():
    kernel = cupy.ElementwiseKernel('T x, U y, T s, int32 k', 'T plus, U times', 'plus = x + s * k; times = x * y', 'both')
    x, y = values((3, 1), 'float32'), values((4,), 'float64')
    plus, times = kernel(cupy.asarray(x), cupy.asarray(y), 0.5, 3)
    assert (plus.dtype, times.dtype) == ('float32', 'float64')
    numpy.testing.assert_allclose(plus.get(), numpy.broadcast_to(x + numpy.float32(1.5), (3, 4)), rtol=1e-6)
    numpy.testing.assert_allclose(times.get(), x * y, rtol=1e-6)


@pytest.mark.parametrize('dtype', ['int32', 'float16', 'float32'])
def test_outputs_are_in_and_out_and_may_have_any_layout(dtype):
    kernel = cupy.ElementwiseKernel('T x', 'T y', 'y += x', 'accumulate')
    x, y = values((4, 6), dtype), values((4, 6), dtype, 1)
    for b in layouts(y):
        result = kernel(cupy.asarray(x), b)
        assert result is b
        numpy.testing.assert_allclose(b.get(), y + x, rtol=1e-3)


@pytest.mark.parametrize('name', ['dot', 'cross', 'length', 'mix', 'max', 'exp', 'select', 'abs', 'half', 'barrier'])
def test_names_that_compilers_have(name):
    x = cupy.arange(3, dtype='f')
    assert cupy.ElementwiseKernel('T x', 'T y', 'y = x + 1', name)(x).get().tolist() == [1, 2, 3]
    assert cupy.ReductionKernel('T x', 'T y', 'x', 'a + b', 'y = a', '0', name)(x).get() == 3
    if _core.backend_of(_core.device_of(x)) != 'opencl':
        return  # whose own names are other
    whole = cupy.RawKernel('extern "C" __global__ void %s(float* x) { x[threadIdx.x] += 1; }' % name, name)
    whole((1,), (3,), (x,))
    assert x.get().tolist() == [1, 2, 3]


def test_views_are_written_through():
    kernel = cupy.ElementwiseKernel('T x', 'T y', 'y = x * 2', 'twice')
    base = cupy.zeros((4, 4), 'f')
    kernel(cupy.arange(4, dtype='f'), base[:, 2])
    expected = numpy.zeros((4, 4), 'f')
    expected[:, 2] = [0, 2, 4, 6]
    numpy.testing.assert_array_equal(base.get(), expected)
    base[0, 0] = 5  # recorded, and seen by the next kernel
    kernel(base[0, 0], base[1, 1])
    assert float(base[1, 1]) == 10 and float((base + 1)[1, 1]) == 11


def test_raw_arrays_and_sizes():
    kernel = cupy.ElementwiseKernel('raw T x, raw T y', 'raw T z', 'z[i] = x[i] + y[n - 1 - i]', 'raws')
    x, y = values((10,), 'float32'), values((10,), 'float32', 1)
    for a in layouts(x):
        numpy.testing.assert_allclose(kernel(a, cupy.asarray(y), size=10).get(), x + y[::-1])
    scatter = cupy.ElementwiseKernel('T g, S k', 'raw T w', 'ptrdiff_t at[] = {k, i % 2}; atomicAdd(&w[at], g)', 'scatter')
    w = cupy.zeros((3, 2), 'f')
    scatter(cupy.ones(12, 'f'), cupy.asarray(numpy.arange(12, dtype='i') // 4), w)
    numpy.testing.assert_array_equal(w.get(), numpy.full((3, 2), 2))


@pytest.mark.parametrize('dtype', ['int32', 'float16', 'float32', 'float64'])
@pytest.mark.parametrize('axis, keepdims', [(None, False), (0, False), (1, True), ((0, 2), False), (-1, False)])
def test_reductions(dtype, axis, keepdims):
    kernel = cupy.ReductionKernel('T x, T w', 'T y', 'x * w', 'a + b', 'y = a', '0', 'weighted')
    x = values((3, 5, 4), dtype)
    expected = (x.astype('f8') * 2).sum(axis, keepdims=keepdims)
    for a in layouts(x):
        y = kernel(a, 2, axis=axis, keepdims=keepdims)
        assert y.dtype == dtype and y.shape == expected.shape
        numpy.testing.assert_allclose(y.get(), expected, rtol=2e-3 if dtype == 'float16' else 1e-6)


def test_long_reductions_are_cut():
    kernel = cupy.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'norm')
    x = values((100000,), 'float64')
    numpy.testing.assert_allclose(kernel(cupy.asarray(x)).get(), numpy.sqrt((x * x).sum()), rtol=1e-12)
    count = cupy.ReductionKernel('T mask', 'float32 out', 'mask ? 1.0 : 0.0', 'a + b', 'out = a', '0.0', 'count')
    mask = values((3, 40000), 'bool')
    numpy.testing.assert_array_equal(count(cupy.asarray(mask), axis=1).get(), mask.sum(1))


def test_a_reduction_into_an_existing_array():
    kernel = cupy.ReductionKernel('T x, U g', 'V y', 'x * g', 'a + b', 'y += a / 2', '0', 'into')
    x, y = values((4,), 'float32'), cupy.ones((), 'float64')
    kernel(cupy.asarray(x), cupy.asarray(x), y)
    numpy.testing.assert_allclose(y.get(), 1 + (x * x).sum() / 2, rtol=1e-6)
    with pytest.raises(ValueError, match='which has no identity'):
        cupy.ReductionKernel('T x', 'T y', 'x', 'max(a, b)', 'y = a', None, 'largest')(cupy.zeros((0,), 'f'))


@pytest.mark.parametrize('reduce_type, expected', [
    (None, 0), ('float', 2), ('double', 2), ('T', 2), ('float32', 2), ('type_in0_raw', 2), ('int', 0), ('type_out0_raw', 0),
    ('long long', 0)])
def test_the_type_in_which_a_reduction_collects(reduce_type, expected):
    kernel = cupy.ReductionKernel('T x', 'int32 y', 'x', 'a + b', 'y = a', '0', 'collected', reduce_type)
    assert kernel(cupy.full(4, .5, 'f4')) == expected


def test_type_and_axes_arguments_of_a_reduction():
    exact = cupy.ReductionKernel('float32 x', 'float32 y', 'x', 'a + b', 'y = a - 16777216.0', '0', 'exact', 'double')
    assert exact(cupy.asarray([16777216, 1, 1, 1], 'f4')) == 3
    x = cupy.ones((2, 3))
    with pytest.raises(TypeError, match="reduce_type 'wrong' is not a dtype, a C type, a class in the preamble or a placeholder .T."):
        cupy.ReductionKernel('T x', 'T y', 'x', 'a + b', 'y = a', '0', reduce_type='wrong')(x)
    kernel = cupy.ReductionKernel('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'over_axes')
    numpy.testing.assert_array_equal(kernel(x, axis=numpy.int64(0)).get(), [2, 2, 2])
    with pytest.raises(ValueError, match='duplicate value'):
        kernel(x, axis=(0, -2))


def test_a_module_is_compiled_ahead():
    cupy.RawModule(code='extern "C" __global__ void f(float* x) { x[0] = 1; }').compile()
    if _core.backend_of(_core.Device()) == 'opencl':
        with pytest.raises(cupy.cuda.compiler.CompileException, match="kernel RawModule, line 2: 'namespace'"):
            cupy.RawModule(code='\nnamespace a { }').compile()


def test_sizes_of_types():
    h = cupy.zeros((2, 3), 'f2')
    for dtype in ('f2', 'f4', 'f8', 'i1', 'u8'):
        kernel = cupy.ElementwiseKernel('raw T x', 'int64 z', 'z = x.strides()[0] / sizeof(T)', 'row')
        assert kernel(h.astype(dtype), size=1) == 3
        below = cupy.ElementwiseKernel('raw T x', 'int64 z', 'int k = 0; z = k - sizeof(T)', 'below')
        assert below(h.astype(dtype), size=1) == -numpy.dtype(dtype).itemsize  # sizes have 64 bits


CODE = r'''
#include <cupy/carray.cuh>
extern "C" {
__global__ void add(const float* x, const float* y, float* z, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i] * by;
}
__global__ void places(int* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    __shared__ int t[2][3];
    t[threadIdx.y][threadIdx.x] = x * 100 + y;
    __syncthreads();
    out[y * (gridDim.x * blockDim.x) + x] = t[threadIdx.y][threadIdx.x] + SHIFT;
}
}'''


def test_whole_kernels():
    module = cupy.RawModule(code=CODE, options=('-DSHIFT=7',))
    x, y, z = cupy.arange(10, dtype='f'), cupy.ones(12, 'f')[2:], cupy.zeros(10, 'f')
    module.get_function('add')((3,), (4,), (x, y, z[1:], 9, 2.0))  # numbers are converted to the kernel's parameter types
    numpy.testing.assert_array_equal(z.get(), [0] + [k + 2 for k in range(9)])
    out = cupy.zeros((4, 6), 'i')
    module.get_function('places')((2, 2), (3, 2), (out,))
    numpy.testing.assert_array_equal(out.get(), numpy.arange(6) * 100 + numpy.arange(4)[:, None] + 7)
    dynamic = cupy.RawKernel('''extern "C" __global__ void turn(float* x) {
        extern __shared__ float t[]; t[threadIdx.x] = x[threadIdx.x]; __syncthreads();
        x[threadIdx.x] = t[blockDim.x - 1 - threadIdx.x]; }''', 'turn')
    dynamic((1,), (10,), (x,), shared_mem=40)
    numpy.testing.assert_array_equal(x.get(), numpy.arange(10)[::-1])


THREE_AXES = r'''extern "C" __global__ void three(int* out) {
    extern __shared__ int t[];
    int i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), n = blockDim.x * blockDim.y * blockDim.z;
    int group = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    t[i] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x + 10000 * blockIdx.y + 100000 * blockIdx.z;
    __syncthreads();
    out[group * n + n - 1 - i] = t[i];
}'''


def test_a_launch_of_three_axes():
    """Launch shape and shared memory are not part of the text: a kernel is compiled once for all launches."""
    kernel = cupy.RawKernel(THREE_AXES, 'three')
    for grid, block in (((2, 3, 4), (3, 2, 2)), ((5,), (4,)), ((1, 6), (2, 5)), ((7, 1, 2), (1, 1, 3)), (3, 8), ((1,), (1,))):
        wide, tall = ((numpy.atleast_1d(axes).tolist() + [1, 1])[:3] for axes in (grid, block))
        out = cupy.full(int(numpy.prod(wide) * numpy.prod(tall)), -1, 'i')
        kernel(grid, block, (out,), shared_mem=4 * int(numpy.prod(tall)))
        gz, gy, gx, z, y, x = numpy.indices(tuple(wide[::-1]) + tuple(tall[::-1]))
        expected = (x + 10 * y + 100 * z + 1000 * gx + 10000 * gy + 100000 * gz).reshape(-1, int(numpy.prod(tall)))[:, ::-1]
        numpy.testing.assert_array_equal(out.get(), expected.ravel())
    assert len(kernel._launchers) == 1


def test_launches_that_are_too_large():
    """A grid or block that exceeds the device's limits raises an error with the kernel's name."""
    kernel, out = cupy.RawKernel('extern "C" __global__ void large(int* x) { x[0] = 1; }', 'large'), cupy.zeros(1, 'i')
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match='large.* 1 groups of 5000'):
        kernel((1,), (5000,), (out,))
    if _core.backend_of(_core.Device()) in ('cuda', 'hip'):
        with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match='large, 1 x 70000 groups of 1 x 1; axis y takes up to 65535'):
            kernel((1, 70000), (1,), (out,))
    assert out.get() == 0


def test_texts_are_made_once_for_their_types():
    kernel = cupy.ElementwiseKernel('T x', 'T y', 'y = x', 'one')
    for shape in ((3,), (5,), (1000,)):
        kernel(cupy.zeros(shape, 'f'))
    assert len(kernel.cached_codes) == 1
    kernel(cupy.zeros(3, 'd'))
    assert len(kernel.cached_codes) == 2


def test_plans_of_shapes_that_are_ever_new_do_not_pile_up(monkeypatch):
    from catenary.cupy import _kernels
    monkeypatch.setattr(_kernels, '_MOST_PLANS', 4)
    kernel = cupy.ElementwiseKernel('T x', 'T y', 'y = x + 1', 'ever_new')
    for n in range(1, 12):
        x, y = cupy.zeros(n, 'f'), cupy.zeros(n, 'f')
        for _ in range(2):
            kernel(x, y)
            assert y.get().tolist() == [1] * n and 1 <= len(kernel._plans) <= 4


x = numpy.zeros(3, 'f')


@pytest.mark.parametrize('call, error, says', [
    (lambda k: k(cupy.zeros(3, 'f')), TypeError, 'Wrong number of arguments'),
    (lambda k: k(cupy.zeros(3, 'f'), x), TypeError, 'unsupported type'),
    (lambda k: k(cupy.zeros(3, 'f'), cupy.zeros(3, 'd')), TypeError, 'takes float32 here, its argument is float64'),
    (lambda k: k(cupy.zeros(3, 'f'), cupy.zeros(4, 'f')), ValueError, 'broadcast'),
    (lambda k: k(cupy.zeros(3, 'f'), 1, cupy.zeros(2, 'f')), ValueError, 'broadcast'),
    (lambda k: k(cupy.zeros((1, 3), 'f'), 1, cupy.zeros(3, 'f')), ValueError, 'Out shape is mismatched'),
    (lambda k: k(cupy.zeros(3, 'f'), 1, size=3), ValueError, "^Specified 'size' can be used .*: kernel sum"),
    (lambda k: k(1, 2), ValueError, '^Loop size is undecided.*: kernel sum'),
    (lambda k: k(cupy.zeros(3, 'f'), 1, 2), TypeError, 'takes a cupy.ndarray'),
    (lambda k: k(cupy.zeros(3, 'f'), 1, block_size=0), ValueError, 'block_size')])
def test_wrong_calls(call, error, says):
    with pytest.raises(error, match=says):
        call(cupy.ElementwiseKernel('T x, T y', 'T z', 'z = x + y', 'sum'))


@pytest.mark.parametrize('arguments, error, says', [
    (('T', 'T y', 'y = x'), ValueError, "'T' is no parameter"), (('flat32 x', 'T y', ''), TypeError, 'flat32'), (('complex256 x', 'T y', ''), TypeError, 'complex256'),
    (('T i', 'T y', ''), ValueError, 'the name i'),
    (('T x', 'T y', '', '2 names'), ValueError, 'Invalid kernel name')])
def test_wrong_parameters(arguments, error, says):
    with pytest.raises(error, match=says):
        cupy.ElementwiseKernel(*arguments)


def test_the_users_line_is_shown():
    # errors come from the translator, or from the device's compiler, which always checks constants
    for text, word, place in (('y = x;\ny = no_such_name;', 'no_such_name', 'mistaken(:|, line )2'), ('const int k = 1;\nk = 2; y = x;', 'k', 'mistaken:2')):
        with pytest.raises(CompileException, match=place) as caught:
            cupy.ElementwiseKernel('T x', 'T y', text, 'mistaken')(cupy.zeros(3, 'f'))
        assert word in str(caught.value)
    with pytest.raises(CompileException, match="refused(, line |:)2.*'?__shfl_sync'?"):
        cupy.ElementwiseKernel('T x', 'T y', 'y = x;\ny = __shfl_sync(0, x, 1);', 'refused')(cupy.zeros(3, 'f'))


def test_whole_kernels_and_their_arguments():
    with pytest.raises(TypeError, match='takes 2 arguments, given 1'):
        cupy.RawKernel('extern "C" __global__ void f(int* x, int n) {}', 'f')((1,), (1,), (cupy.zeros(1, 'i'),))
    with pytest.raises(TypeError, match='argument 0 must be a cupy.ndarray'):
        cupy.RawKernel('extern "C" __global__ void f(int* x) {}', 'f')((1,), (1,), (2,))


def test_memory_of_a_group():
    """Launches get up to the device's default limit of shared memory. More raises an error, and so does a setting without effect."""
    kernel = cupy.RawKernel('extern "C" __global__ void f(int* x) { extern __shared__ int t[]; t[0] = 3; x[0] = t[0]; }', 'f')
    most, x = kernel.max_dynamic_shared_size_bytes, cupy.zeros(1, 'i')
    assert most == cupy.cuda.Device().attributes['MaxSharedMemoryPerBlock'] >= 16384
    kernel.max_dynamic_shared_size_bytes = 4096
    kernel((1,), (1,), (x,), shared_mem=4096)
    assert x.get() == 3
    more = cupy.cuda.Device().attributes['MaxSharedMemoryPerBlockOptin']
    with pytest.raises(ValueError, match=f'f: max_dynamic_shared_size_bytes = {more + 1}: .* allows up to {more} bytes per block'):
        kernel.max_dynamic_shared_size_bytes = more + 1
    with pytest.raises(ValueError, match=f'f: shared_mem = {most + 1}: .* allows {most} bytes per block'):
        kernel((1,), (1,), (x,), shared_mem=most + 1)
    with pytest.raises(AttributeError):
        kernel.preferred_shared_memory_carveout = 50


def test_how_long_and_how_deep_a_text_may_be():
    """Exceeding a limit raises CompileException with the limit, instead of RecursionError or minutes of compilation."""
    x = cupy.ones(3, 'f')

    def refused(says, operation, **more):
        with pytest.raises(CompileException, match=says):
            cupy.ElementwiseKernel('T x', 'T y', operation, 'large', **more)(x)
    long = 'kernel large: its texts have 3000[0-9]* characters, the limit is 262144'
    refused(long, 'y = x + 1; ' * 27273)
    refused(long, 'y = x', preamble='// nothing' * 30000)
    with pytest.raises(CompileException, match=long):
        cupy.ReductionKernel('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'large', preamble='// nothing' * 30000)(x)
    with pytest.raises(CompileException, match='RawModule: its texts have 300'):
        cupy.RawModule(code='// nothing' * 30000).compile()
    assert cupy.ElementwiseKernel('T x', 'T y', 'y = %sx%s' % ('(' * 64, ')' * 64), 'deep')(x).get().tolist() == [1] * 3
    if _core.backend_of(_core.Device()) == 'opencl':
        for opened, closed in ('()', '[]', '{}'):
            refused("kernel large, line 1: .* more than 64 brackets inside each other", 'y = ' + opened * 65 + 'x' + closed * 65)
            refused('more than 64 brackets', 'y = ' + opened * 1000 + 'x' + closed * 1000)
        for deep in ('y = ' + '- ' * 3000 + 'x', 'y = ' + 'x ? 1 : ' * 3000 + 'x', 'y = ' + 'y = ' * 3000 + 'x'):
            refused('kernel large: operators are nested deeper than the recursion limit of [0-9]+', deep)


def test_how_long_and_how_deep_a_whole_kernel_may_be():
    def refused(says, body):
        with pytest.raises(CompileException, match=says):
            cupy.RawKernel('extern "C" __global__ void f(int* x) { %s }' % body, 'f')((1,), (1,), (cupy.zeros(1, 'i'),))
    refused('kernel f: its texts have 300[0-9]* characters, the limit is 262144', 'x[0] = 1; ' * 30000)
    refused('more than 64 brackets inside each other', 'x[0] = ' + '(' * 1000 + '1' + ')' * 1000)


@pytest.mark.parametrize('on_the_device', ['cpu'], indirect=True)
def test_warps_on_the_processor_itself():
    code = 'extern "C" __global__ void f(int* x) { /* %s */ x[0] = %s; }'
    for word in ('__shfl_sync(-1, x[0], 0)', '__syncthreads_count(1)', 'warpSize'):
        says = r'kernel f: kernels with warp functions .*\(%s\) do not run on the processor.*pocl-opencl-icd.*without CATENARY_CUPY_CPU=1' % word.split('(')[0]
        with pytest.raises(_core.CUDARuntimeError, match=says):
            cupy.RawKernel(code % ('', word), 'f')((1,), (1,), (cupy.zeros(1, 'i'),))
    x = cupy.zeros(1, 'i')
    cupy.RawKernel(code % ('warpSize is no matter', '3'), 'f')((1,), (1,), (x,))
    assert x.get() == 3


SUMS = r'''
__device__ int level(int k) { __syncthreads(); return k / 2; }
extern "C" __global__ void sums(const int* x, long long* out, int n) {
    __shared__ long long t[256];
    int i = threadIdx.x, at = blockIdx.x * blockDim.x + i;
    if (at >= n) { t[i] = 0; } else t[i] = x[at];
    for (int k = level(blockDim.x); k; k = level(k)) if (i < k) t[i] += t[i + k];
    if (i) return;
    out[blockIdx.x] = t[0];
}'''


@pytest.mark.parametrize('on_the_device', ['cpu'], indirect=True)
def test_barriers_of_many_groups_on_the_processor_itself():
    """Barriers also work in functions that a kernel calls, with threads that end early, on all cores."""
    n = 100000
    x, out = cupy.arange(n, dtype='i') * 7 % 1000, cupy.zeros(-(-n // 256), 'q')
    cupy.RawKernel(SUMS, 'sums')(out.shape, (256,), (x, out, n))
    expected = numpy.zeros(256 * out.size, 'q')
    expected[:n] = x.get()
    numpy.testing.assert_array_equal(out.get(), expected.reshape(-1, 256).sum(1))


def test_no_address_and_cudas_constants():
    """As in CuPy, None is a null pointer."""
    kernel = cupy.RawKernel('''#include <cupy/math_constants.h>
    extern "C" __global__ void f(const float* x, double* out) {
        out[0] = x ? 1 : 2; out[1] = CUDART_INF; out[2] = CUDART_NAN; out[3] = CUDART_PI; out[4] = CUDART_INF_F; out[5] = CUDART_NAN_F; }''', 'f')
    out, nan = cupy.zeros(6), numpy.nan
    kernel((1,), (1,), (None, out))
    numpy.testing.assert_array_equal(out.get(), [2, numpy.inf, nan, numpy.pi, numpy.inf, nan])
    kernel((1,), (1,), (cupy.zeros(3, 'f')[1:], out))
    assert out.get()[0] == 1


def test_vectors_in_a_kernel():
    kernel = cupy.RawKernel('''struct Box { float4 a; char2 b; int3 c; double2 d; };
    extern "C" __global__ void f(const float4* x, float3* y, long long* sizes) {
        float4 v = x[threadIdx.x]; y[threadIdx.x] = make_float3(v.w, v.x + v.y, v.z);
        sizes[0] = sizeof(Box); sizes[1] = sizeof(float3); sizes[2] = sizeof(uchar4); sizes[3] = sizeof(longlong2); }''', 'f')
    x, y, sizes = cupy.arange(12, dtype='f').reshape(3, 4), cupy.zeros((3, 3), 'f'), cupy.zeros(4, 'q')
    kernel((1,), (3,), (x, y, sizes))
    v = x.get()
    numpy.testing.assert_array_equal(y.get(), numpy.stack([v[:, 3], v[:, 0] + v[:, 1], v[:, 2]], 1))
    assert sizes.get().tolist() == [48, 12, 4, 16]


@pytest.mark.parametrize('on_the_device', ['cpu'], indirect=True)
def test_atomic_operations_of_several_threads():
    n = 300000
    out = cupy.zeros(3, 'i8')
    cupy.ElementwiseKernel('raw int64 out', '', 'atomicAdd(&out[i % 3], 1ll)', 'count', no_return=True)(out, size=n)
    assert out.get().tolist() == [n // 3] * 3
    half = cupy.zeros(2, 'f2')
    cupy.ElementwiseKernel('raw float16 out', '', 'atomicAdd(&out[i % 2], float16(1))', 'count', no_return=True)(half, size=1000)
    assert half.get().tolist() == [500] * 2


@pytest.mark.parametrize('on_the_device', ['cpu'], indirect=True)
def test_sixteen_bit_floats_are_numpys():
    every = numpy.arange(65536, dtype='u2').view('f2')
    wide = cupy.ElementwiseKernel('float16 x', 'float32 y', 'y = x', 'widened')(cupy.asarray(every)).get()
    numpy.testing.assert_array_equal(wide, every.astype('f4'))
    finite = every[numpy.isfinite(every)].astype('f4')
    between = numpy.concatenate([finite * numpy.float32(f) for f in (1, 1.0003, 1.00048828125, 1.0007, 0.9998)] + [
        numpy.array([65519.99, 65520, 1e30, numpy.inf, -numpy.inf, numpy.nan, 2 ** -25, 2 ** -24, 1e-30], 'f4')])
    with numpy.errstate(over='ignore'):
        expected = between.astype('f2')
    narrow = cupy.ElementwiseKernel('float32 x', 'float16 y', 'y = x', 'narrowed')(cupy.asarray(between)).get()
    numpy.testing.assert_array_equal(narrow, expected)


@pytest.mark.parametrize('on_the_device', ['cpu'], indirect=True)
def test_without_a_compiler(monkeypatch):
    """The error names the compiler to install, if there is none or if CXX names a missing one."""
    says = 'kernel k: .*need a C[+][+] compiler, but none was found .%s.: apt install g[+][+], .*pocl-opencl-icd'
    monkeypatch.setenv('CXX', '/nowhere/c++')
    with pytest.raises(CompileException, match=says % 'CXX=/nowhere/c[+][+]'):
        cupy.ElementwiseKernel('T x', 'T y', 'y = x', 'k')(cupy.zeros(3, 'f'))
    monkeypatch.delenv('CXX')
    monkeypatch.setenv('PATH', '/nowhere')
    with pytest.raises(CompileException, match=says % 'c[+][+], g[+][+], clang[+][+]'):
        cupy.ReductionKernel('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'k')(cupy.zeros(3, 'f'))


@pytest.mark.parametrize('on_the_device', ['cpu'], indirect=True)
def test_the_compiler_does_not_inherit_ld_preload(monkeypatch, tmp_path):
    script = tmp_path / 'c++'
    script.write_text('#!/bin/sh\n[ -z "$LD_PRELOAD" ] || { echo preloaded >&2; exit 1; }\nexec c++ "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv('CXX', str(script))
    monkeypatch.setenv('LD_PRELOAD', 'libm.so.6')
    kernel = cupy.ElementwiseKernel('T x', 'T y', 'y = x + 1', 'by_script')
    assert kernel(cupy.zeros(3, 'f')).get().tolist() == [1] * 3


TEMPLATES = r'''
template <typename T> struct Constants {};
template <> struct Constants<float> { static constexpr float HALF = 0.5f; };
template <typename T> __device__ T twice(T x) { return x + x; }

template <typename T, int N, typename I>
__global__ void scaled(T* out, const T* in, const I* at, T plus, int n) {
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += blockDim.x * gridDim.x) out[k] = twice<T>(in[at[k]]) * (T)N + plus;
}
template <typename U> __global__ void filled(U* out, U value) { out[threadIdx.x] = value / 2; }
extern "C" __global__ void plain(float* out) { out[0] = 7; }
'''


def test_kernels_that_are_templates():
    names = ['scaled<float, 3, int>', 'scaled<double,-1,long long>', 'filled<int>', 'filled<float>', 'filled<missing>', 'scaled<float>']
    module = cupy.RawModule(code=TEMPLATES, name_expressions=names)
    at = numpy.array([4, 0, 3, 1, 2])
    for name, dtype, index, by in (('scaled<float, 3, int>', 'f', 'i', 3), ('scaled<double,-1,long long>', 'd', 'q', -1)):
        x, y = cupy.arange(5, dtype=dtype), cupy.zeros(5, dtype)
        module.get_function(name)((2,), (3,), (y, x, cupy.asarray(at.astype(index)), 1.5, 5))
        assert y.get().tolist() == (at * 2 * by + 1.5).tolist()
    whole, broken, plain = cupy.zeros(3, 'i'), cupy.zeros(3, 'f'), cupy.zeros(1, 'f')
    module.get_function('filled<int>')((1,), (3,), (whole, 7))
    module.get_function('filled<float>')((1,), (3,), (broken, 7))
    module.get_function('plain')((1,), (1,), (plain,))
    assert (whole.get().tolist(), broken.get().tolist(), plain.get().tolist()) == ([3] * 3, [3.5] * 3, [7])
    with pytest.raises(ValueError, match="expected a type for the parameter U, got 'missing'"):
        module.get_function('filled<missing>')((1,), (1,), (whole, 7))
    with pytest.raises(ValueError, match=r"'filled<char>' is not among the name_expressions"):
        module.get_function('filled<char>')
    for name in ('scaled<float>', 'filled'):
        with pytest.raises((CompileException, ValueError), match='template'):
            cupy.RawKernel(TEMPLATES, name)((1,), (1,), (whole, 7))


def test_a_module_is_refused_where_it_is_used():
    """Programs that create modules at import can be imported."""
    module = cupy.RawModule(path='kernels.cubin')
    for use in (lambda: module.get_function('f'), module.compile):
        with pytest.raises(NotImplementedError, match='RawModule: kernels.cubin: device binaries are not supported; pass the code'):
            use()


def test_a_class_of_a_template():
    code = TEMPLATES + 'template <typename T> __global__ void half(T* out) { out[0] = Constants<T>::HALF; }'
    x = cupy.zeros(1, 'f')
    cupy.RawModule(code=code, name_expressions=['half<float>']).get_function('half<float>')((1,), (1,), (x,))
    assert x.get().tolist() == [0.5]


def test_classes_that_a_kernel_takes():
    """Classes are passed by their bytes, from NumPy records."""
    pair = numpy.dtype([('a', 'f4'), ('n', 'i4'), ('d', 'f8')])
    out, records = cupy.zeros(4), cupy.zeros(32, 'u1')
    code = '''struct Pair { float a; int n; double d; }; struct Small { char c; }; struct Large { double d[3]; char c; };
    extern "C" __global__ void taken(double* out, Pair p, Small s, complex<float> z, Pair* records) {
        out[0] = p.a + p.n + p.d; out[1] = s.c; out[2] = z.real(); out[3] = z.imag(); records[1] = p; records[1].n = sizeof(Pair);
    }
    extern "C" __global__ void large(double* out, Large l) { out[0] = l.d[2] + l.c; out[1] = sizeof(Large); }'''
    kernel, given = cupy.RawKernel(code, 'taken'), numpy.array((1.5, 2, 3), pair)[()]
    kernel((1,), (1,), (out, given, numpy.array((-7,), [('c', 'i1')])[()], 1 + 2j, records))
    assert out.get().tolist() == [6.5, -7, 1, 2] and records.get().view(pair)[1].tolist() == (1.5, 16, 3)
    kernel = cupy.RawKernel(code, 'large')
    kernel((1,), (1,), (out, numpy.array(((1, 2, 3), 4), numpy.dtype([('d', 'f8', 3), ('c', 'i1')], align=True))[()]))
    assert out.get().tolist()[:2] == [7, 32]
    if _core.backend_of(_core.Device()) == 'opencl':
        with pytest.raises(TypeError, match='large: argument 1 is a class of 32 bytes, given 16 bytes of'):
            kernel((1,), (1,), (out, given))


def test_a_class_of_many_bytes():
    """Passes a matrix by value as in CuPy's guide: an array of one record, with numbers and other classes."""
    matrix = numpy.dtype({'names': ['dummy'], 'formats': [('f4', (5, 5))]})
    count = 60 if _core.backend_of(_core.Device()) == 'opencl' else 400  # PoCL's kernels take 1024 bytes, CUDA's 4096
    most = numpy.dtype([('d', 'f8', count)])
    out, given = cupy.zeros(25, 'f'), numpy.arange(25, dtype='f')
    kernel = cupy.RawKernel('''struct Matrix { float at[5][5]; }; struct Most { double d[COUNT]; };
    extern "C" __global__ void turned(float scale, Matrix m, char c, Most l, float* out) {
        const int x = threadIdx.x, y = threadIdx.y; out[5 * x + y] = scale * m.at[y][x] + c + (float)l.d[5 * x + y + COUNT - 25];
    }'''.replace('COUNT', str(count)), 'turned')
    numbers = numpy.arange(float(count))
    kernel((1,), (5, 5), (2.0, given.view(matrix), 3, numbers.view(most), out))
    numpy.testing.assert_array_equal(out.get(), 2 * given.reshape(5, 5).T.ravel() + 3 + numbers[-25:])


@pytest.mark.parametrize('on_the_device', ['cpu'], indirect=True)
def test_a_class_of_too_many_bytes():
    kernel = cupy.RawKernel('struct Large { double d[600]; }; extern "C" __global__ void f(Large l, double* out) { out[0] = l.d[599]; }', 'f')
    with pytest.raises(ValueError, match="a kernel's parameter has up to 4096 bytes, 4800 are given"):
        kernel((1,), (1,), (numpy.zeros(600).view([('d', 'f8', 600)]), cupy.zeros(1)))


def test_a_pointer_to_pointers_that_a_kernel_takes():
    code = 'extern "C" __global__ void summed(float** x, int n, float* out) { float s = 0; for (int k = 0; k < n; ++k) s += x[k][threadIdx.x]; out[threadIdx.x] = s; }'
    rows = [cupy.full(4, k + 1, 'f') for k in range(3)]
    out, kernel = cupy.zeros(4, 'f'), cupy.RawKernel(code, 'summed')
    addresses = cupy.asarray([row.data.ptr for row in rows], 'uint64')
    if _core.backend_of(_core.Device()) == 'opencl':  # whose memory has handles and no addresses
        with pytest.raises(CompileException, match='summed.*pointer'):
            kernel((1,), (4,), (addresses, 3, out))
        return
    kernel((1,), (4,), (addresses, 3, out))
    assert out.get().tolist() == [6.0] * 4


def test_attributes_of_a_whole_kernel():
    kernel = cupy.RawKernel('extern "C" __global__ void f(float* x) { __shared__ float y[64]; y[threadIdx.x] = 1; __syncthreads(); x[threadIdx.x] = y[63 - threadIdx.x]; }', 'f')
    told = kernel.attributes
    assert set(told) == {'max_threads_per_block', 'shared_size_bytes', 'const_size_bytes', 'local_size_bytes', 'num_regs', 'ptx_version', 'binary_version', 'cache_mode_ca',
                         'max_dynamic_shared_size_bytes', 'preferred_shared_memory_carveout'}
    for name, value in told.items():
        assert getattr(kernel, name) == value
    assert told['max_threads_per_block'] >= 64 and told['max_dynamic_shared_size_bytes'] >= 16384
    backend = _core.backend_of(_core.Device())
    if backend == 'opencl':
        assert told['shared_size_bytes'] >= 256 and told['local_size_bytes'] >= 0
    if backend in ('cpu', 'opencl'):  # where nothing tells
        assert told['num_regs'] is told['ptx_version'] is told['binary_version'] is told['cache_mode_ca'] is told['preferred_shared_memory_carveout'] is None
    else:
        assert told['num_regs'] > 0 and told['binary_version'] > 0 and told['preferred_shared_memory_carveout'] >= -1
    x = cupy.zeros(64, 'f')
    kernel((1,), (64,), (x,))
    assert x.sum() == 64
    with pytest.raises(AttributeError):
        kernel.num_regs = 3
    with pytest.raises(cupy.cuda.compiler.CompileException):
        cupy.RawKernel('extern "C" __global__ void f(float* x) { nothing(x); }', 'f').attributes


def test_printf_in_a_kernel(capfd):
    cupy.RawKernel('extern "C" __global__ void f(const float* x, int n) { if (threadIdx.x == 1) printf("%d of %d: %.2f\\n", (int)threadIdx.x, n, x[1]); }', 'f')(
        (1,), (3,), (cupy.asarray([1, 2.5, 3], 'f'), 3))
    cupy.ElementwiseKernel('T x', 'T y', 'y = x; if (i == 0) printf("first\\n")')(cupy.arange(3))
    _core.Device().synchronize()
    ctypes.CDLL(None).fflush(None)
    said = capfd.readouterr().out
    assert '1 of 3: 2.50\n' in said and 'first\n' in said


def test_half_in_a_whole_kernel():
    x = values((64,), 'float16')
    y = cupy.zeros(64, 'e')
    cupy.RawKernel('''
    #include <cuda_fp16.h>
    __device__ half twice(__half x) { return __float2half(2.0f * __half2float(x)); }
    extern "C" __global__ void f(const half* x, __half* y, half a) {
        const int i = threadIdx.x;
        half z = twice(x[i]);
        z += a;
        y[i] = z * z;
    }''', 'f')((1,), (64,), (cupy.asarray(x), y, numpy.float16(0.5)))
    z = (2 * x.astype('f')).astype('e') + numpy.float16(0.5)
    numpy.testing.assert_allclose(y.get(), z * z, rtol=2e-3)


@pytest.mark.parametrize('before', ['', '__device__ int counted;\n'])
def test_words_of_cucomplex_in_names_of_templates(before):
    module = cupy.RawModule(code=before + """
    #include <cuComplex.h>
    template <class T> __global__ void f(T* x) { x[threadIdx.x].y += 1; }""", name_expressions=['f<cuComplex>', 'f<cuDoubleComplex>'])
    for name, dtype in (('f<cuComplex>', 'F'), ('f<cuDoubleComplex>', 'D')):
        x = cupy.zeros(3, dtype)
        module.get_function(name)((1,), (3,), (x,))
        assert x.get().tolist() == [1j] * 3
