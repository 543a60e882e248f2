"""Global variables of a RawModule, on ordinal 0 (PoCL on machines without a GPU) and on the processor."""

import numpy
import pytest

from catenary import _core
import catenary.cupy as cupy
from catenary.cupy._cuda import has_variables
from catenary.cupy.cuda.compiler import CompileException


@pytest.fixture(autouse=True, params=['gpu', 'cpu'])
def on_the_device(request):
    with _core.Device('cpu' if request.param == 'cpu' else 0):
        yield


GUIDE = r'''
extern "C"{
__constant__ float some_array[100];

__global__ void multiply_by_const(float* x, int N) {
    int id = threadIdx.x + blockIdx.x * blockDim.x;

    if (id < N) {
        x[id] *= some_array[id];
    }
}
}
'''


def test_memory_that_a_kernel_reads():
    module = cupy.RawModule(code=GUIDE)
    kernel = module.get_function('multiply_by_const')
    pointer = module.get_global('some_array')
    assert isinstance(pointer, cupy.cuda.MemoryPointer) and pointer.mem.size == 400 and pointer.ptr
    array = cupy.ndarray((100,), 'f', pointer)
    assert not array.any()  # without an initialiser, variables start at zero
    array[...] = cupy.arange(100, dtype='f')
    out = cupy.ones(100, 'f')
    kernel((1,), (100,), (out, numpy.int32(100)))
    assert out.get().tolist() == list(range(100))
    pointer.copy_from_host(numpy.full(100, 2, 'f').ctypes.data, 400)
    kernel((1,), (100,), (out, numpy.int32(100)))
    assert out.get().tolist() == list(range(0, 200, 2))


COUNTED = r'''
struct Place { int n; double x[2]; };
__device__ int counter = 3, steps[4] = {1, 2}, table[][2] = {{1, 2}, {3}};
static __device__ Place place = {7, {1.5, 2.5}};
__device__ bool flag = true;
__device__ const int FIXED = 5;
__constant__ float factor = 2.5f;
__device__ int next(int by) { const int* from = steps; counter += by * from[1]; return counter; }
template <typename T, int N> __global__ void taken(T* out) { if (flag) out[threadIdx.x] = (T)(next(N) * factor); flag = !flag; }
extern "C" __global__ void count(int* out, int by) { out[0] = next(by); atomicAdd(&steps[3], FIXED); }
extern "C" __global__ void look(double* out) {
    out[0] = counter; out[1] = steps[0] + steps[3]; out[2] = table[1][0] + table[1][1]; out[3] = place.n + place.x[1]; place.n += 1;
}
'''


def looked(module):
    out = cupy.zeros(4)
    module.get_function('look')((1,), (1,), (out,))
    return out.get().tolist()


def variable(module, name, dtype, shape=()):
    return cupy.ndarray(shape, dtype, module.get_global(name))


def test_kernels_of_a_module_have_their_variables_in_common():
    modules = [cupy.RawModule(code=COUNTED, name_expressions=['taken<float, 2>', 'taken<int,1>']) for _ in range(2)]
    out = cupy.zeros(1, 'i')
    for by, expected in ((1, 5), (10, 25)):
        modules[0].get_function('count')((1,), (1,), (out, by))
        assert out.item() == expected
    assert looked(modules[0]) == [25, 11, 3, 9.5] and looked(modules[0])[3] == 10.5
    assert looked(modules[1]) == [3, 1, 3, 9.5]  # another module of this text has its own variables
    counter = variable(modules[0], 'counter', 'i')
    assert counter.item() == 25
    counter[...] = 100
    modules[0].get_function('count')((1,), (1,), (out, 0))
    assert out.item() == 100
    real, whole = cupy.zeros(1, 'f'), cupy.zeros(1, 'i')
    modules[0].get_function('taken<float, 2>')((1,), (1,), (real,))
    modules[0].get_function('taken<int,1>')((1,), (1,), (whole,))  # the flag is down
    assert (real.item(), whole.item()) == (260, 0) and variable(modules[0], 'flag', '?').item()
    variable(modules[0], 'factor', 'f')[...] = 0.5
    modules[0].get_function('taken<int,1>')((1,), (1,), (whole,))
    assert whole.item() == 53 and variable(modules[0], 'steps', 'i', (4,)).get().tolist() == [1, 2, 0, 15]


def test_a_variable_of_a_kernel_outlives_a_launch():
    kernels = [cupy.RawKernel('__device__ long long calls = 1;\nextern "C" __global__ void call(long long* out) { out[0] = calls++; }', 'call')
               for _ in range(2)]
    out = cupy.zeros(1, 'q')
    for expected in (1, 2, 3):
        kernels[0]((1,), (1,), (out,))
        assert out.item() == expected
    kernels[1]((1,), (1,), (out,))
    assert out.item() == 1


def test_operations_on_a_variable_are_in_order_with_kernels():
    module = cupy.RawModule(code='__device__ float x[3] = {1, 2, 3};\nextern "C" __global__ void add(float by) { x[threadIdx.x] += by; }')
    x, add = variable(module, 'x', 'f', (3,)), module.get_function('add')
    before = x * 2
    add((1,), (3,), (numpy.float32(1),))
    x *= 10
    add((1,), (3,), (numpy.float32(1),))
    assert before.get().tolist() == [2, 4, 6] and x.get().tolist() == [21, 31, 41]


def test_names_that_are_no_variables():
    for module in (cupy.RawModule(code=COUNTED), cupy.RawModule(code='extern "C" __global__ void f(int* x) {}')):
        for name in ('missing', 'printf', 'counter1'):
            with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match="the text has no variable '%s' outside functions" % name):
                module.get_global(name)
    with pytest.raises(ValueError, match="the text has no kernel 'missing'"):
        cupy.RawModule(code=COUNTED).get_function('missing')((1,), (1,), ())
    with pytest.raises(ValueError, match="expected a type for the parameter T, got 'missing'"):
        cupy.RawModule(code=COUNTED, name_expressions=['taken<missing, 2>']).get_function('taken<missing, 2>')((1,), (1,), (cupy.zeros(1),))


@pytest.mark.parametrize('text, changed', [
    ('__device__ int v[sizeof(int)];', 'v[0]'), ('__device__ int f() { return 1; }\n__device__ int v[(2)];', 'v[0]'), ('__device__ int v(4);', 'v'),
    ('#define D __device__\nD int v = 4;', 'v')])
def test_variables_that_look_otherwise_are_a_modules(text, changed):
    module = cupy.RawModule(code=text + 'extern "C" __global__ void a() { %s = 7; } extern "C" __global__ void k(int* y) { y[0] = %s; }' % (changed, changed))
    out = cupy.zeros(1, 'i')
    try:
        module.get_function('a')((1,), (1,), ())
        module.get_function('k')((1,), (1,), (out,))
    except CompileException:  # OpenCL's translation and the compiler of simulated cards refuse some
        assert _core.backend_of(_core.device_of(out)) != 'cpu'
    else:
        assert out.tolist() == [7]


def test_a_kernel_is_no_variable():
    with _core.Device('cpu'):  # whose libraries have both by name
        module = cupy.RawModule(code='__device__ int v = 1; extern "C" __global__ void k(int* y) { y[0] = v; }')
        with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match='k'):
            module.get_global('k')


NAMED = r'''
namespace outer { __device__ int x = 1; namespace inner { static __constant__ float y[2] = {2, 3}; } static inline __device__ int twice() { return 2 * x; } }
struct Two { int a, b; };
static __device__ Two two = {4, 5}, *none;
__device__ static int table[3];
static __device__ int next(int by) { return table[0] += by; }
extern "C" __global__ void look(int* out) {
    out[0] = outer::twice(); out[1] = outer::inner::y[1]; out[2] = two.b; out[3] = next(1); out[4] = none == 0;
}
'''


def is_opencl():
    return _core.backend_of(_core.Device()) == 'opencl'


def test_variables_of_namespaces_and_static_ones():
    module, out = cupy.RawModule(code=NAMED), cupy.zeros(5, 'i')
    if is_opencl():
        with pytest.raises(CompileException, match='namespace'):
            module.get_global('outer::x')
        return
    look = module.get_function('look')
    look((1,), (1,), (out,))
    assert out.tolist() == [2, 3, 5, 1, 1]
    variable(module, 'outer::x', 'i')[...] = 21
    variable(module, '::outer::inner::y', 'f', (2,))[1] = 7
    variable(module, 'two', 'i', (2,))[1] = 8
    assert variable(module, 'table', 'i', (3,)).tolist() == [1, 0, 0]
    variable(module, 'table', 'i', (3,))[...] = 30
    look((1,), (1,), (out,))
    assert out.tolist() == [42, 7, 8, 31, 1]
    for name in ('x', 'inner::x', 'outer::y', 'outer::inner::z'):
        with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match=name.rpartition('::')[2]):
            module.get_global(name)


COUNTING = r'''
__device__ int count() { static int n = 3; static const int by = 2; return n += by; }
extern "C" __global__ void one(int* out) { out[0] = count(); }
extern "C" __global__ void two(int* out) { static int own = 100; out[0] = count() + own++; }
'''


def test_static_variables_of_a_function_are_a_modules():
    module, out = cupy.RawModule(code=COUNTING), cupy.zeros(1, 'i')
    alone = cupy.RawKernel(COUNTING, 'one')
    if is_opencl():
        with pytest.raises(CompileException, match='static'):
            alone((1,), (1,), (out,))
        return
    for kernel, expected in (('one', 5), ('two', 107), ('one', 9), ('two', 112)):
        module.get_function(kernel)((1,), (1,), (out,))
        assert out.item() == expected, kernel
    alone((1,), (1,), (out,))
    assert out.item() == 5


def test_constants_and_functions_that_are_static_make_no_module():
    code = '''
struct A { static __device__ int f() { return 1; } static constexpr int n = 2; };
static __device__ int g() { static const int table[2] = {3, 4}; static constexpr int m = 5; return table[1] + m; }
extern "C" __global__ void k(int* out) { static __shared__ int s[2]; s[0] = A::f() + A::n; out[0] = s[0] + g(); }
'''
    assert not has_variables(code, 'k') and has_variables(code.replace('const int table', 'int table'), 'k')


def test_globals_that_opencl_does_not_support():
    if _core.backend_of(_core.Device()) != 'opencl':
        return
    for text, why in (('__device__ float* x;', 'a pointer that persists between launches'), ('extern __device__ int x;', 'an extern variable'),
                      ('int x = 3; __device__ int y;', 'a variable outside functions')):
        with pytest.raises(CompileException, match=why):
            cupy.RawModule(code=text).get_global('y')
