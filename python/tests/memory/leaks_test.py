"""Leaks and races: memory over many arrays, reference counts, results of several threads and streams."""

import ctypes
import gc
import os
import subprocess
import sys
import threading

import numpy
import pytest

from catenary import _core, cupy
from compare import same
from background_thread import gives_turns


def test_two_streams(device):
    """Runs work in two streams that events order, and reads both results at the end."""
    first, second = cupy.cuda.Stream(), cupy.cuda.Stream(non_blocking=True)
    assert not first.is_null and (first != second or device.name == 'cpu')  # the processor has one order
    with first:
        x = cupy.arange(10000, dtype='f8')
        for _ in range(20):
            x = x * 1.0001 + 1
        done = first.record()
    second.wait_event(done)
    with second:
        y = x * 2
        assert cupy.cuda.get_current_stream() == second
    second.synchronize()
    expected = numpy.arange(10000, dtype='f8')
    for _ in range(20):
        expected = expected * 1.0001 + 1
    same(y, expected * 2)
    same(x, expected)
    while not (first.done and second.done):
        pass
    assert cupy.cuda.get_current_stream().is_null
    with first, pytest.raises(TypeError):
        x + numpy.ones(1)
    assert cupy.cuda.get_current_stream().is_null


def test_the_null_stream_waits_for_others(device):
    """As on CUDA, the null stream sees the results of other streams without synchronisation, and vice versa."""
    stream, x = cupy.cuda.Stream(), cupy.full((300, 300), 1 / 300, 'f8')
    for _ in range(5):
        with stream:
            y = x
            for _ in range(20):
                y = y @ x
        same(y, numpy.full((300, 300), 1 / 300))
        for _ in range(20):
            y = y @ x
        with stream:
            same(y, numpy.full((300, 300), 1 / 300))


@pytest.mark.parametrize('what', ['add', 'matmul', 'sum', 'sort', 'take', 'asnumpy'])
def test_other_threads_run_while_one_computes(device, what):
    """Without forced switches another thread runs only while the GIL is released, which large work does."""
    large, small = cupy.full((512, 512), 0.5, 'f4'), cupy.full((2,), 0.5, 'f4')
    indices = cupy.zeros((1 << 18,), 'i8')
    work = {'add': lambda: (large + large).sum().item(), 'matmul': lambda: large @ large,
            'sum': lambda: large.sum().item(), 'sort': lambda: cupy.sort(large.ravel()),
            'take': lambda: cupy.take(large.ravel(), indices), 'asnumpy': lambda: cupy.asnumpy(large)}[what]
    assert gives_turns(work, lambda: (small.shape, small.dtype, len(small)), 100000)


def test_a_temporary_that_is_reduced_is_not_stored(device):
    x, peak = cupy.ones((1 << 20,), 'f4'), []
    float(x.sum())
    for total in (lambda: ((x + 1) * 2).sum(), lambda: cupy.max(x * 4), lambda: (x * 3 + 1).mean()):
        before = cupy.get_default_memory_pool().total_bytes()
        assert float(total()) in (4, 4 << 20)
        peak.append(cupy.get_default_memory_pool().total_bytes() - before)
    assert max(peak) < x.nbytes
    used = cupy.get_default_memory_pool().used_bytes()
    total = (x * 2 + 1).sum()
    del x  # and its operands are freed as well
    assert used - cupy.get_default_memory_pool().used_bytes() >= (4 << 20) - 4096
    assert float(total) == 3 << 20


def test_a_kept_array_marked_as_temporary_has_its_values(device):
    x = cupy.arange(1000, dtype='f4')
    call = ctypes.pythonapi.PyObject_CallMethod
    call.restype, call.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
    y = x + 1
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(y))
    address = id(y)
    del y  # Python has no reference to the remaining object, like a caller in C
    totals = [call(address, name, None) for name in (b'sum', b'max')]
    y = ctypes.cast(address, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(y))
    x += 5
    same(y, numpy.arange(1, 1001, dtype='f4'))
    assert [float(t) for t in totals] == [500500, 1000]


def test_eight_threads(device):
    shared = cupy.arange(1000, dtype='f4')
    kernel = cupy.ElementwiseKernel('T x, T y', 'T z', 'z = x + y', 'of_threads')
    name, failures, start = device.name, [], threading.Barrier(8)

    def work(seed):
        try:
            with _core.Device(name):
                generator = numpy.random.default_rng(seed)
                start.wait()
                for _ in range(25):
                    host = generator.uniform(-1, 1, (50, 20)).astype('f4')
                    x = cupy.asarray(host)
                    same((x * 2 + shared.reshape(50, 20)).sum(axis=0),
                         (host * 2 + numpy.arange(1000, dtype='f4').reshape(50, 20)).sum(axis=0), 1e-4)
                    x[x > 0] = 0
                    same(x[::2].T @ x[::2], numpy.minimum(host, 0)[::2].T @ numpy.minimum(host, 0)[::2], 1e-4)
                    if name != 'cpu':
                        same(kernel(shared, shared), numpy.arange(1000, dtype='f4') * 2)
                    with pytest.raises(IndexError):
                        x[99]
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def resident():
    """Returns the resident memory of this process in bytes."""
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def test_a_million_arrays_leave_nothing(device):
    x, pool = cupy.ones(100, 'f4'), cupy.get_default_memory_pool()

    def cycles(n):
        for _ in range(n // 4):
            cupy.empty(100, 'f4')
            x[1:]
            x + 1
            x.T
        cupy.cuda.runtime.deviceSynchronize()
    cycles(20000)
    gc.collect()
    before, used, total = resident(), pool.used_bytes(), pool.total_bytes()
    cycles(10 ** 6)
    gc.collect()
    assert pool.used_bytes() == used and pool.total_bytes() <= total + (1 << 20)
    if 'libasan' not in os.environ.get('LD_PRELOAD', ''):  # the address sanitizer delays frees
        assert resident() - before < 4 << 20


# Each call runs many times, and must not change the reference counts of its arguments.
CALLS = '''
x + y; x + 1; 1 - x; x * numpy.float32(2); x == y; -x; x @ x.T; divmod(x, y); x ** 2
x[0]; x[:, 1]; x[1:, ::2]; x[None]; x[..., 0]; x[at]; x[[0, 1]]; x[mask]; x[0, 0]; x.T; x.reshape(3, 2); x.ravel(); list(x)
x[0].base; x[0][1]; x.dtype; x.shape; x.flags; x.device; x.data; x.data.ptr; iter(x); len(x); float(x[0, 0]); x.item(0); str(x)
x.get(); x.copy(); x.astype(d); x.view(numpy.int32); x.sum(axis=0); x.max(); x.tolist(); x.argsort(); cupy.zeros(2, d)
cupy.exp(x); cupy.exp(x, out=out); cupy.add(x, y, out); cupy.add(x, y, out=(out,)); cupy.add(x, y, dtype=d); cupy.add.reduce(x)
cupy.sum(x, axis=(0, 1), out=total); cupy.concatenate([x, y]); cupy.concatenate([x, y], out=both); cupy.where(mask, x, y)
cupy.split(x, 2); cupy.einsum('ij,ij->i', x, y); cupy.take(x, at, axis=0, out=out); cupy.clip(x, 0, y, out=out); cupy.array(host)
cupy.copyto(out, x); cupy.linalg.norm(x); cupy.meshgrid(x[0], x[1]); cupy.unique(x); cupy.histogram(x, 3); cupy.pad(x, 1)
numpy.add(x, y); numpy.exp(x, out=out); numpy.concatenate([x, y]); cupy.asarray(x); cupy.from_dlpack(host); pickle.loads(pickle.dumps(x))
copy.deepcopy(x); cupy.result_type(x, d); cupy.broadcast_arrays(x, x[0]); cupy.asnumpy(x, out=host); x.set(host)
'''
STATEMENTS = '''
x[0] = 1; x[at] = y; x[mask] = 0; x[...] = host; x[:, 0] = y[:, 1]; x[[0]] = y[0]; out += 1; out -= x; out *= y; x.scatter_add(at, y)
x.fill(0); x.sort(axis=1); del x[0]; x + host; host + x; x + 'a'; x + None; x[9]; x['a']; x[0] = 'a'; x.shape = (7,); x.reshape(4)
cupy.add(x, y, out=host); cupy.add(x, y, wrong=1); cupy.add(x); cupy.sum(x, axis=5); cupy.concatenate([x, host]); cupy.zeros(2, 'F')
x.astype('nonsense'); numpy.asarray(x); cupy.exp(x, dtype=numpy.int32); cupy.take(x, at, out=host); x @ y; int(x); cupy.from_dlpack(4)
cupy.ndarray((9,), d, x.data); cupy.einsum('ij,jk', x, y); cupy.array([x, 'a']); cupy.nothing; x.nothing; cupy.where(mask, x, host)
'''
KERNEL_CALLS = '''
kernel(x, y); kernel(x, 2); kernel(x, y, out); kernel(x, y[0]); reduction(x, axis=1); reduction(x, total); kernel(x, host); kernel(x)
kernel(x, y, out[0]); kernel(x, y, wrong=1); reduction(x, axis=7); reduction(host); raw((1,), (6,), (out, 2)); raw((1,), (6,), (out,))
raw((1,), (6,), (2, out)); raw((0,), (6,), (out, 2)); refused(x)
'''


def counts_are_level(device, texts):
    import copy
    import pickle
    host = numpy.ones((2, 3), 'f')
    given = dict(x=cupy.ones((2, 3), 'f'), y=cupy.ones((2, 3), 'f'), out=cupy.ones((2, 3), 'f'), both=cupy.ones((4, 3), 'f'),
                 mask=cupy.ones((2, 3), '?'), at=cupy.array([0, 1]), total=cupy.ones((), 'f'), host=host, d=numpy.dtype('f4'))
    given['base'] = given['x'][1:].base
    if device.name != 'cpu':
        given.update(kernel=cupy.ElementwiseKernel('T x, T y', 'T z', 'z = x + y', 'k'),
                     reduction=cupy.ReductionKernel('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'r'),
                     raw=cupy.RawKernel('extern "C" __global__ void f(float* x, int n) { x[threadIdx.x] = n; }', 'f'),
                     refused=cupy.ElementwiseKernel('T x', 'T z', 'z = __shfl_sync(0, x, 1)', 's'))
    watched = [*given.values(), *(numpy.dtype(t) for t in '?bhilBHILefd'), numpy.float32, cupy.ndarray, None, True, False]
    names = {**given, 'kept': [], 'cupy': cupy, 'numpy': numpy, 'copy': copy, 'pickle': pickle}

    def repeat(code, n):
        for _ in range(n):
            local = dict(names)
            try:
                exec(code, local)
            except (TypeError, ValueError, IndexError, AttributeError, BufferError, cupy.cuda.compiler.CompileException):
                pass
        local.clear()
    for text in texts:
        code = compile(text, text, 'exec')
        repeat(code, 2)
        for _ in range(3):  # None has other owners too, so a leak shows in every round
            before = [sys.getrefcount(value) for value in watched]
            repeat(code, 10)
            after = [sys.getrefcount(value) for value in watched]
            changed = [(str(type(value)), b - a) for value, a, b in zip(watched, before, after) if abs(b - a) >= 5]
            if not changed:
                break
        assert not changed, (text, changed)


def several(text):
    return [part.strip() for line in text.strip().split('\n') for part in line.split('; ')]


def test_a_lost_reference_is_seen(device):
    for text in ('kept.append(x)', 'kept.append(x[0])', 'kept.append(d)'):
        with pytest.raises(AssertionError):
            counts_are_level(device, [text])


def test_references_are_level(device):
    counts_are_level(device, several(CALLS) + several(STATEMENTS))


@pytest.mark.parametrize('device', ['gpu'], indirect=True)
def test_references_of_kernels_are_level(device):
    counts_are_level(device, several(KERNEL_CALLS))


def test_views_keep_their_base_and_no_more(device):
    x = cupy.ones((4, 4), 'f')
    before = sys.getrefcount(x)
    views = [x[1], x.T, x[1:][0], x.reshape(-1), x.ravel(), cupy.broadcast_to(x, (2, 4, 4)), x.view('i'), x[..., None]]
    assert all(v.base is x for v in views)
    assert sys.getrefcount(x) == before + len(views)
    del views
    gc.collect()
    assert sys.getrefcount(x) == before
    view = x[1]
    x = None  # the view keeps the memory
    assert view.sum() == 4 and view.base.shape == (4, 4)


PROGRAM = '''
import sys
import numpy
from catenary import _core, cupy
for device in ('cpu', 0):
    with _core.Device(device):
        x = cupy.arange(12, dtype='f4').reshape(3, 4)
        for _ in range(3):
            y = (x[::2] * 2 + 1).sum(axis=0)
            x[x > 5] = numpy.float32(1)
            cupy.add(x, 1, out=x[::-1])
            cupy.concatenate([x, x.T.copy().T])[1:, ::2].get()
            for wrong in (lambda: x + numpy.ones(3), lambda: x[9], lambda: cupy.zeros(2, 'F'), lambda: x.reshape(7), lambda: x['a']):
                try:
                    wrong()
                except (TypeError, IndexError, ValueError):
                    pass
            numpy.from_dlpack(cupy.ones(3), device='cpu')
            cupy.from_dlpack(numpy.ones(3))[1:].get()
        if device == 0:
            print(cupy.ElementwiseKernel('T x', 'T y', 'y = x + 1', 'k')(x).shape)
'''


def test_work_under_way_at_the_end(tmp_path):
    """A program that exits before its last kernels are done waits for their compilation in a driver's thread, also after an error."""
    program = ('from catenary import cupy\nx = cupy.arange(4, dtype="f")\n'
               'cupy.ElementwiseKernel("T x", "T y", "y = x + 1", "last")(x)\n')
    late = program + 'y = cupy.take(x, cupy.array([9]))\n'
    for k, (text, says) in enumerate([(program, ''), (late, 'index 9 is out of bounds for axis 0')]):
        done = subprocess.run([sys.executable, '-c', text], capture_output=True, text=True, timeout=300, env={
            **os.environ, 'CATENARY_GPU_INCLUDE_CPU': '1', 'POCL_CACHE_DIR': str(tmp_path / str(k))})
        assert done.returncode == 0 and says in done.stderr and bool(says) == bool(done.stderr), (done.returncode, done.stderr)


def test_pythons_debug_allocator_and_nothing_leaked():
    done = subprocess.run([sys.executable, '-X', 'dev', '-W', 'ignore', '-c', PROGRAM], capture_output=True, text=True, timeout=300,
                          env={**os.environ, 'PYTHONMALLOC': 'debug', 'CATENARY_GPU_INCLUDE_CPU': '1'})
    assert (done.returncode, done.stdout, done.stderr) == (0, '(3, 4)\n', '')
