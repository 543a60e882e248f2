"""The processor as ordinal 0, by CATENARY_CUPY_CPU=1 or cupy.cuda.Device('cpu').use(). Messages without a device. The package's commands."""

import os
import pathlib
import re
import subprocess
import sys

import pytest


def run(program, cpu='1', include='0', arguments=('-c',), **more):
    environment = {**os.environ, 'CATENARY_CUPY_CPU': cpu, 'CATENARY_GPU_INCLUDE_CPU': include,
                   'CATENARY_GPU_INCLUDE_SIMULATED': '0', **more}
    done = subprocess.run([sys.executable, *arguments, *([program] if program else [])], capture_output=True, text=True, timeout=300,
                          env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


IN_A_THREAD = '''
import threading
import cupy
def in_a_thread(f):
    found = []
    def call():
        try:
            found.append(f())
        except Exception as error:
            found.append(type(error).__name__)
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return found[0]
'''


def test_the_variable_makes_it_ordinal_0_of_all_threads():
    text = run(IN_A_THREAD + '''
import pickle
zero, cpu = cupy.cuda.Device(0), cupy.cuda.Device('cpu')
print(cupy.is_available(), cupy.cuda.runtime.getDeviceCount(), zero.name, cpu.id, zero == cpu, hash(zero) == hash(cpu))
print(pickle.loads(pickle.dumps(zero)) == cpu, b'cpu' in pickle.dumps(zero))  # it may have no ordinal where it is read
print(in_a_thread(lambda: cupy.ones(3).device.name), in_a_thread(cupy.cuda.runtime.getDevice))
x = cupy.arange(5, dtype='f4')
print(x.device, float((x * 2 + 1).sum()), cupy.ElementwiseKernel('T x', 'T y', 'y = x * x', 'squared')(x))
print(cupy.cuda.Device().attributes['MultiProcessorCount'] > 0, cupy.cuda.runtime.memGetInfo()[1] > 0, cupy.cuda.runtime.is_hip)
''')
    assert text.split('\n')[:-1] == [
        'True 1 cpu 0 True True', 'True True', 'cpu 0', '<CUDA Device 0> 25.0 [ 0.  1.  4.  9. 16.]', 'True True False']


def test_other_devices_follow_it():
    text = run('import cupy\nprint(cupy.cuda.Device(0).name, cupy.cuda.Device(1).name, cupy.cuda.runtime.getDeviceCount())',
               include='1')
    assert text == 'cpu opencl:0 2\n'


def test_use_makes_it_ordinal_0_where_nothing_else_is():
    text = run(IN_A_THREAD + '''
cpu = cupy.cuda.Device('cpu')
print(cpu.id, in_a_thread(lambda: cupy.ones(3).device.id))
with cpu:  # this block's alone
    print(cupy.ones(3).device.name, in_a_thread(lambda: cupy.ones(3).device.id))
print(cupy.cuda.runtime.getDeviceCount())
cpu.use()
print(cpu.id, cpu == cupy.cuda.Device(0), in_a_thread(lambda: cupy.ones(3).device.id), cupy.cuda.runtime.getDeviceCount())
''', cpu='0')
    assert text.split('\n')[:-1] == ['-1 CUDARuntimeError', 'cpu CUDARuntimeError', '0', '0 True 0 1']


def test_use_beside_other_devices_is_the_threads_own():
    text = run(IN_A_THREAD + '''
cupy.cuda.Device('cpu').use()
print(cupy.ones(3).device.name, cupy.cuda.Device('cpu').id, in_a_thread(lambda: cupy.ones(3).device.name))
''', cpu='0', include='1')
    assert text == 'cpu -1 opencl:0\n'


NO_DEVICE = '''
import cupy
print(cupy.is_available(), cupy.cuda.Stream.null.ptr)
try:
    cupy.ones(3)
except cupy.cuda.runtime.CUDARuntimeError as error:
    print(error)
'''


@pytest.mark.parametrize('folder, remedy', [
    ('/etc/OpenCL/vendors', 'opencl:0 is a processor, which gpu:N counts only with CATENARY_GPU_INCLUDE_CPU=1'),
    ('/nonexistent', 'apt install pocl-opencl-icd')])
def test_the_error_without_a_device_names_remedies(folder, remedy):
    text = run(NO_DEVICE, cpu='0', OCL_ICD_VENDORS=folder)
    assert text.startswith('False 0\ncudaErrorNoDevice: ')
    for words in (remedy, "set CATENARY_CUPY_CPU=1 in the environment, or call cupy.cuda.Device('cpu').use()"):
        assert words in text, words


def test_the_commands():
    def command(*words, **more):
        return run('', arguments=('-m', 'catenary', *words), **more)
    lines = command('devices').split('\n')
    assert lines[0].startswith('0  cpu ') and "; cupy's default" in lines[0] and ' GiB ' in lines[0]
    assert command('info').startswith('Catenary:  ')
    done = subprocess.run([sys.executable, '-m', 'catenary', 'doctor'], capture_output=True, text=True, timeout=300)
    assert f'P1  Python {sys.version.split()[0]} ({sys.executable}): ' in done.stdout, done.stdout
    assert all(f'-m catenary {word} ' in command('--help') for word in ('devices', 'doctor', 'info', 'names'))


@pytest.mark.parametrize('value', ['yes', '2'])
def test_a_value_that_makes_no_sense(value):
    done = subprocess.run([sys.executable, '-c', 'import cupy\ncupy.ones(3)'], capture_output=True, text=True,
                          env={**os.environ, 'CATENARY_CUPY_CPU': value})
    assert done.returncode == 1 and f'CATENARY_CUPY_CPU={value}: expected 0 or 1' in done.stderr


MEMORY = '''
import cupy
with cupy.cuda.Device(%r):
    pool = cupy.get_default_memory_pool()
    print(pool.get_limit(), cupy.cuda.Device().mem_info[1])
    cupy.ones(1000)
    try:
        cupy.ones(1 << 20).sum()
        print('taken')
    except cupy.cuda.memory.OutOfMemoryError as error:
        print(type(error).__name__)
'''


@pytest.mark.parametrize('device', ['cpu', 'gpu'])
def test_the_limit_of_memory(device):
    """CUPY_GPU_MEMORY_LIMIT is a number of bytes or a percentage of each device's memory, as in CuPy."""
    def limited(limit):
        ways = {'cpu': '1'} if device == 'cpu' else {'cpu': '0', 'include': '1'}
        return run(MEMORY % 0, CUPY_GPU_MEMORY_LIMIT=limit, **ways).split()
    assert limited('1048576')[0::2] == ['1048576', 'OutOfMemoryError']
    limit, total, result = limited('50%')
    assert int(limit) == int(total) // 2 and result == 'taken'
    assert limited('')[0::2] == ['0', 'taken']
    for wrong in ('half', '-1', '1.5', '101%', '%'):
        with pytest.raises(AssertionError, match=rf'CUPY_GPU_MEMORY_LIMIT={wrong}: expected a number of bytes, or a percentage'):
            limited(wrong)


def test_stacks_of_kernels_with_barriers_are_given_back():
    """Each kernel has 1024 stacks, and programs may have thousands of such kernels."""
    import pathlib

    from catenary import cupy

    def mapped():
        return 4096 * int(pathlib.Path('/proc/self/statm').read_text().split()[0])
    with cupy.cuda.Device('cpu'):
        before = 0
        for k in range(4):
            kernel = cupy.RawKernel('extern "C" __global__ void around(int* x) { __shared__ __align__(16) int last[1024]; last[threadIdx.x] = x[threadIdx.x] + %d;'
                                    ' __syncthreads(); x[threadIdx.x] = last[(threadIdx.x + 1) %% 1024]; }' % k, 'around')
            x = cupy.arange(1024, dtype='i')
            kernel((1,), (1024,), (x,))
            assert x[:3].tolist() == [1 + k, 2 + k, 3 + k]
            before = before or mapped()
        assert mapped() - before < 200e6


def test_memory_of_a_launchs_size_has_its_name_in_its_kernel_alone():
    from catenary import cupy
    module = cupy.RawModule(code='''
extern __shared__ int outside[];
extern "C" __global__ void turned(int* x) {
  extern __shared__ __align__(sizeof(int) * (4)) int
      data[];
  data[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = data[blockDim.x - 1 - threadIdx.x] + __LINE__;
}
extern "C" { __global__ void bytes(short* data) {
  extern __shared__ alignas(8) unsigned char memory[];
  short* const own = (short*)memory; own[threadIdx.x] = data[threadIdx.x]; __syncthreads(); data[threadIdx.x] = own[blockDim.x - 1 - threadIdx.x];
} }
extern "C" __global__ void first(int* data) { outside[threadIdx.x] = threadIdx.x; __syncthreads(); data[threadIdx.x] = outside[(threadIdx.x + 1) % blockDim.x]; }
''')
    with cupy.cuda.Device('cpu'):
        for name, dtype, expected in (('turned', 'i', [8, 7, 6]), ('bytes', 'h', [2, 1, 0]), ('first', 'i', [1, 2, 0])):
            x = cupy.arange(3, dtype=dtype)
            module.get_function(name)((1,), (3,), (x,), shared_mem=12)
            assert x.tolist() == expected, name


def test_a_grid_of_few_blocks_uses_all_threads():
    """All threads are used even for few small blocks, since each block may take long."""
    from catenary import cupy
    kernel = cupy.RawKernel('''
__device__ int arrived;
extern "C" __global__ void meet(int* out) {
  atomicAdd(&arrived, 1);
  for (long long n = 0; n < 2000000000LL && atomicAdd(&arrived, 0) < 2; ++n) ;
  out[blockIdx.x] = arrived;
}''', 'meet')
    with cupy.cuda.Device('cpu'):
        x = cupy.zeros(2, 'i')
        kernel((2,), (1,), (x,))
        assert x.tolist() == [2, 2] or os.cpu_count() == 1 or '1' in (os.environ.get('CATENARY_NUM_THREADS'), os.environ.get('OMP_NUM_THREADS'))


def test_lines_that_a_program_numbers_itself():
    from catenary import cupy
    kernel = cupy.RawKernel('''
extern "C" __global__ void first(int* x) { extern __shared__ int s[]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = s[1 - threadIdx.x]; }
#line 1 "part.cu"
__device__ int other() { return __LINE__; }
''', 'first')
    with cupy.cuda.Device('cpu'):
        x = cupy.arange(2, dtype='i')
        kernel((1,), (2,), (x,), shared_mem=8)
        assert x.tolist() == [1, 0]


def test_names_in_a_kernel_are_its_own():
    """The C library has a function and a variable of these names."""
    from catenary import cupy
    kernel = cupy.RawKernel('__constant__ int opterr = 5; extern "C" __global__ void gnu_get_libc_version(int* x) { x[threadIdx.x] += opterr; }', 'gnu_get_libc_version')
    with cupy.cuda.Device('cpu'):
        x = cupy.zeros(2, 'i')
        kernel((1,), (2,), (x,))
        assert x.tolist() == [5, 5]


def test_included_files_are_part_of_the_cache_key(tmp_path, monkeypatch):
    """Compiled kernels are cached by their texts."""
    from catenary.cupy import _host
    text = 'extern "C" __global__ void f(double* x) { x[0] = %s(x[0]); }'
    before = [_host.source(text % name, ct_run='f') for name in ('erfinv', 'sqrt')]
    (tmp_path / 'catenary' / 'ops').mkdir(parents=True)
    (tmp_path / 'catenary' / 'ops' / 'math.h').write_text('// another version')
    with monkeypatch.context() as patched:
        patched.setattr(_host, 'HEADERS', str(tmp_path))
        _host._stamp.cache_clear()
        after = [_host.source(text % name, ct_run='f') for name in ('erfinv', 'sqrt')]
    _host._stamp.cache_clear()
    assert after[0] != before[0] and after[1] == before[1]


def test_blocks_that_are_too_large_are_refused():
    from catenary import cupy
    kernel = cupy.RawKernel('extern "C" __global__ void f(int* x) {}', 'f')
    with cupy.cuda.Device('cpu'):
        for block in ((1025,), (32, 33), (16, 2, 64)):
            with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match='kernel f, .*: the processor takes 1 to 1024 work-items in a group'):
                kernel((1,), block, (cupy.zeros(1, 'i'),))
        assert kernel.attributes['max_threads_per_block'] == 1024


def test_a_kernel_that_is_a_template_may_have_a_text_of_its_own_for_some_types():
    from catenary import cupy
    module = cupy.RawModule(code='''
template<typename T> __global__ void f(T* x) { x[threadIdx.x] += 1; }
template<> __global__ void f<half>(half* x) { x[threadIdx.x] = 7; }
template<> __global__ void f<int>(int* x) { if (threadIdx.x < 2) { x[threadIdx.x] = 9; } }
template<typename T> __global__ void g(T* x) { x[threadIdx.x] += 2; }
''', name_expressions=['f<float>', 'f<half>', 'f<int>', 'f<long long>', 'g<int>'])
    with cupy.cuda.Device('cpu'):
        for name, dtype, expected in (('f<float>', 'f', [1, 1, 1]), ('f<half>', 'e', [7, 7, 7]), ('f<int>', 'i', [9, 9, 0]), ('f<long long>', 'l', [1, 1, 1]), ('g<int>', 'i', [2, 2, 2])):
            x = cupy.zeros(3, dtype)
            module.get_function(name)((1,), (3,), (x,))
            assert x.tolist() == expected, name


def test_integers_of_the_c_library_may_be_a_programs_own():
    """uint64_t is unsigned long in the C library, but often unsigned long long in programs (Thinc's hashes)."""
    from catenary import cupy
    kernel = cupy.RawKernel("""
typedef unsigned long long      uint64_t;
typedef long long int64_t;
extern "C" __global__ void high(const uint64_t* x, uint64_t* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] >> (uint64_t)(int64_t)32;
}""", 'high')
    with cupy.cuda.Device('cpu'):
        x = cupy.arange(5, dtype='uint64') << 40
        y = cupy.zeros_like(x)
        kernel((1,), (8,), (x, y, 5))
        assert y.tolist() == [k << 8 for k in range(5)]


def test_functions_of_16_bit_floats_may_be_a_programs_own():
    """As in kernels of trees, which have max(half, half) themselves."""
    from catenary import cupy
    code = '''
#include <cupy/cuda_workaround.h>
#include <cupy/float16.cuh>
%s
template<typename T> __global__ void f(T* x, const T* y) { x[0] = max(y[0], y[1]); x[1] = min(y[0], y[1]); x[2] = __habs(y[1]); x[3] = __hmax(y[0], y[1]); x[4] = __hmin(y[1], y[0]); }
'''
    own = '__device__ half max(half a, half b) { return __hmax(a, b) + half(10); }'
    with cupy.cuda.Device('cpu'):
        y = cupy.asarray([1.5, -2], 'e')
        for preamble, largest in (('', 1.5), (own, 11.5)):
            x = cupy.zeros(5, 'e')
            cupy.RawModule(code=code % preamble, name_expressions=['f<half>']).get_function('f<half>')((1,), (1,), (x, y))
            assert x.tolist() == [largest, -2, 2, 1.5, -2]


def test_a_project_tests_its_code_as_the_documentation_says(tmp_path):
    text = (pathlib.Path(__file__).resolve().parents[3] / 'docs/guide/python.md').read_text()
    chapter = re.search(r'^## Test CuPy code on a CI machine\n(.*?)^## ', text, re.M | re.S)[1]
    workflow, program = (re.search(rf'^```{kind}\n(.*?)^```', chapter, re.M | re.S)[1] for kind in ('yaml', 'python'))
    assert "CATENARY_CUPY_CPU: '1'" in workflow and 'python -m pytest' in workflow
    assert 'cpu' in run('', arguments=('-m', 'catenary', 'doctor'))
    (tmp_path / 'test_mine.py').write_text(program)
    assert '3 passed' in run('', arguments=('-m', 'pytest', '-q', '-p', 'no:cacheprovider', str(tmp_path)))


def test_the_first_program_prints_its_output():
    text = (pathlib.Path(__file__).resolve().parents[3] / 'README.md').read_text()
    program, output = re.search(r'^```python\n(.*?)^```\n\n^```\n\$ CATENARY_CUPY_CPU=1 python example.py\n(.*?)^```', text, re.M | re.S).groups()
    assert run(program) == output


def test_modules_share_nothing_by_their_templates():
    from catenary import cupy
    text = '''template <class T> __device__ T* own() { __shared__ T part[N]; return part; }
extern "C" __global__ void place(long long* x) { x[0] = (long long)own<int>(); }'''
    with cupy.cuda.Device('cpu'):
        places = []
        for n in (4, 100000):
            x = cupy.zeros(1, 'q')
            cupy.RawModule(code=text, options=('-DN=%d' % n,)).get_function('place')((1,), (1,), (x,))
            places.append(x.item())
        assert places[0] != places[1]


@pytest.mark.parametrize('kernel, given', [
    ("cupy.ElementwiseKernel('T x, float32 half', 'T z', 'z = x * half', 'k')", 'x, numpy.float32(0.5)'),
    ("cupy.ElementwiseKernel('float16 x', 'float16 z', 'z = x * half', 'k', loop_prep='float half = 0.5f;')", 'x'),
    ("cupy.ElementwiseKernel('float16 x', 'float16 z', 'z = half(x)', 'k', preamble='__device__ float half(float x) { return x / 2; }')", 'x'),
    ("cupy.ElementwiseKernel('float16 x', 'float16 z', 'half h = x; z = h * __half2float(half(0.5f))', 'k')", 'x')])
def test_half_as_a_name_and_as_a_type(kernel, given):
    import numpy
    from catenary import cupy
    with cupy.cuda.Device('cpu'):
        x = cupy.asarray([1, 2, 3], 'e')
        y = eval(kernel)(*eval(f'({given},)'))
        assert y.dtype == 'e' and y.tolist() == [0.5, 1, 1.5]
