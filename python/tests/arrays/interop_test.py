"""ndarray with NumPy's own functions, memory functions, and views with other dtypes."""

import ctypes
import pickle
import subprocess
import sys

import numpy
import pytest

from catenary import _core, cupy
from compare import same

pytestmark = pytest.mark.usefixtures('device')


def test_numpys_functions_are_answered():
    x = cupy.arange(6.).reshape(2, 3)
    same(numpy.sqrt(x), numpy.sqrt(x.get()))
    same(numpy.add(x, 1), x.get() + 1)
    same(numpy.float64(2) * x, 2 * x.get())
    same(numpy.add.reduce(x, axis=1), x.get().sum(axis=1))
    same(numpy.sum(x, axis=0), x.get().sum(axis=0))
    same(numpy.concatenate([x, x]), numpy.concatenate([x.get()] * 2))
    same(numpy.linalg.norm(x), numpy.asarray(numpy.linalg.norm(x.get())))
    assert isinstance(numpy.zeros_like(x), cupy.ndarray) and numpy.shape(x) == (2, 3)
    out = cupy.empty_like(x)
    assert numpy.exp(x, out=out) is out
    numpy.add.at(out, cupy.array([0, 0]), 1)
    same(out, numpy.exp(x.get()) + [[2], [0]])


def test_numpy_functions_reject_cupy_arrays():
    x = cupy.ones(3)
    for f in (lambda: numpy.add(x, numpy.ones(3)), lambda: numpy.ones(3) + x, lambda: numpy.exp(x, out=numpy.ones(3)),
              lambda: numpy.divide.accumulate(x), lambda: numpy.busday_count(x, x)):
        with pytest.raises(TypeError):
            f()
    y = numpy.ones(3)
    with pytest.raises(TypeError):
        y += x


def test_streams_by_their_handles():
    for stream in (cupy.cuda.Stream(), cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null, cupy.cuda.get_current_stream()):
        found = cupy.cuda.ExternalStream(stream.ptr)
        assert found.ptr == stream.ptr and (found == stream or stream.ptr == 0)
        with found:
            x = cupy.arange(3)
        assert (x + 1).tolist() == [1, 2, 3]
    with pytest.raises(NotImplementedError, match='0x3039 is not the handle of a living cupy Stream'):
        cupy.cuda.ExternalStream(12345)
    gone = cupy.cuda.Stream()
    handle = gone.ptr
    del gone
    if handle:
        with pytest.raises(NotImplementedError):
            cupy.cuda.ExternalStream(handle)


def test_scipys_ufuncs_find_ours_by_themselves():
    pytest.importorskip('scipy.special')
    code = ('import cupy, scipy.special, sys; assert "catenary.cupyx.scipy.special" not in sys.modules; x = cupy.asarray([0., 1.]);'
            'y = scipy.special.erf(x); assert isinstance(y, cupy.ndarray) and abs(float(y[1]) - 0.8427007929) < 1e-9;'
            'assert isinstance(scipy.special.gammaln(x), cupy.ndarray) and isinstance(scipy.special.xlogy(x, 2), cupy.ndarray)')
    subprocess.run([sys.executable, '-c', code], check=True)


GRIDS = ['[f(0):f(3)]', '[:f(3)]', '[f(0):f(3):3j]', '[0:z]', '[0:z, 0:z]', '[0:z:3j, 0:z:2j]', '[a:b:2j]', '[a:b:2j, a:b:2j]', '[0:z:2j, 0:2]', '[[slice(2)]]',
         '[[slice(2), slice(3)]]', '[()]', '[0:numpy.int8(3)]', '[slice(f(1), f(2), f(0.25))]', '[0:3:2, 1:2:4j]', '[[slice(0, 2, 3j), slice(0, z)]]']


@pytest.mark.parametrize('grid', ['mgrid', 'ogrid', 'r_'])
@pytest.mark.parametrize('key', GRIDS)
def test_grids(grid, key):
    if grid == 'r_' and ('[[' in key or '()' in key or ',' in key or 'a:' in key):
        return
    names = {'a': numpy.array([0, 1], 'f'), 'b': numpy.array([2, 4], 'f'), 'z': numpy.array(3, 'f')}
    theirs = eval(f'numpy.{grid}{key}', {'numpy': numpy, 'f': numpy.float32, **names})
    made = eval(f'cupy.{grid}{key}', {'cupy': cupy, 'numpy': numpy, 'f': numpy.float32, **{k: cupy.asarray(v) for k, v in names.items()}})
    for one, other in zip(made, theirs, strict=True) if isinstance(theirs, (list, tuple)) else [(made, theirs)]:
        same(one, other)


def test_grids_of_no_slices():
    for key in (5, [1, slice(2)]):
        with pytest.raises(TypeError, match='expected slices'):
            cupy.mgrid[key]


def test_view():
    x = cupy.array([1.5, 2], 'f')
    same(x.view('i'), x.get().view('i'))
    assert x.view('B').shape == (8,) and x.view(numpy.uint16).base is x
    same(x.view(), x.get())
    assert x.view().base is x and x.view(cupy.ndarray).base is x and x.view(type=cupy.ndarray).dtype == 'f'
    x.view('i')[0] = 0
    assert x[0] == 0
    with pytest.raises(ValueError, match='view'):
        cupy.zeros((2, 3), 'f')[:, ::2].view('d')


def test_memory():
    x = cupy.arange(6, dtype='f').reshape(2, 3)
    assert x[1].data.ptr == x.data.ptr + 12 and x.T.data.ptr == x.data.ptr
    assert x.data.device.id == x.device.id and x.data.mem.size == 24
    y = cupy.ndarray((3, 2), 'f', memptr=x.data)
    same(y, numpy.arange(6, dtype='f').reshape(3, 2))
    y[0, 0] = 9
    assert x[0, 0] == 9
    same(cupy.ndarray((3,), 'f', x.data + 4, strides=(8,)), numpy.array([1, 3, 5], 'f'))
    same(cupy.ndarray((3, 2), 'f', x.data, order='F'), x.get().ravel().reshape(3, 2, order='F'))
    with pytest.raises(ValueError, match='does not lie in the 24 bytes'):
        cupy.ndarray((7,), 'f', x.data)
    with pytest.raises(ValueError, match='strides'):
        cupy.ndarray((2,), 'f', strides=(8,))
    block = cupy.cuda.alloc(64)
    assert cupy.ndarray((8,), 'd', block).nbytes == 64


def test_pool_and_streams():
    pool = cupy.get_default_memory_pool()
    x = cupy.zeros(10 ** 6)
    assert x.get().sum() == 0 and pool.used_bytes() >= 8 * 10 ** 6 and pool.total_bytes() >= pool.used_bytes()
    del x
    pool.free_all_blocks()
    with cupy.cuda.Stream() as stream:
        y = cupy.ones(3) + 1
        start = stream.record()
    stream.synchronize()
    end = cupy.cuda.Event()
    end.record()
    end.synchronize()
    assert start.done and cupy.cuda.get_elapsed_time(start, end) >= 0
    assert cupy.cuda.Stream.null == cupy.cuda.get_current_stream()
    same(y, numpy.array([2., 2, 2]))
    for refused in (lambda: cupy.cuda.set_allocator(lambda size: None), lambda: cupy.cuda.UnownedMemory(1, 2, None)):
        with pytest.raises(NotImplementedError):
            refused()


def test_devices():
    count = cupy.cuda.runtime.getDeviceCount()
    assert count > 0 and cupy.is_available()
    with cupy.cuda.Device(0) as device:
        assert cupy.cuda.runtime.getDevice() == 0 and cupy.zeros(2).device == device == cupy.cuda.Device()
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match='invalid device ordinal 99'):
        cupy.cuda.Device(99).use()
    free, total = cupy.cuda.runtime.memGetInfo()
    assert 0 <= free <= total
    with pytest.raises(ImportError):
        import catenary.cupy.cudnn  # noqa: F401
    with cupy.cuda.Device(cupy.cuda.runtime.getDeviceCount() - 1):  # ordinal 0 may be the processor
        x = cupy.zeros(2)
    with _core.Device('cpu'):
        with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match='two devices'):
            cupy.ones(2) + x


def test_devices_are_pickled(device):
    assert pickle.loads(pickle.dumps(device)) == device


def test_a_diagonal_by_einsum_is_a_view(device):
    x = cupy.zeros((3, 3), 'f4')
    diagonal = cupy.einsum('ii->i', x)
    assert diagonal.base is x
    diagonal[...] = 2
    same(x, 2 * numpy.eye(3, dtype='f4'))


def test_arrays_upon_memory_with_negative_strides(device):
    x = cupy.arange(6, dtype='i4')
    same(cupy.ndarray((3,), 'i4', x[4:].data, strides=(-8,)), numpy.array([4, 2, 0], 'i4'))
    same(cupy.ndarray((2, 2), 'i2', x.data + 8, strides=(4, 2)), numpy.array([[2, 0], [3, 0]], 'i2'))
    with pytest.raises(ValueError, match=r'shape \(4,\) with strides \(-2,\).*24 bytes.*at 16'):
        cupy.ndarray((4,), 'i4', x[4:].data, strides=(-8,))


def test_streams_are_their_drivers(device):
    """`ptr` is the driver's handle of the stream, and equal for two objects of one stream."""
    first, second, null = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(), cupy.cuda.Stream.null
    with first:
        current = cupy.cuda.get_current_stream()
        assert cupy.cuda.stream.get_current_stream_ptr() == first.ptr
    assert current is not first and current == first and current.ptr == first.ptr and hash(current) == hash(first)
    assert len({first, second, current, null, cupy.cuda.get_current_stream()}) == (1 if device.name == 'cpu' else 3)
    assert cupy.cuda.stream.get_default_stream_ptr() == null.ptr == cupy.cuda.get_current_stream().ptr
    backend = _core.backend_of(device)
    if backend == 'cpu':  # whose one order has no handle
        assert first.ptr == second.ptr == null.ptr == 0 and first == second
        return
    assert first != second and len({first.ptr, second.ptr, null.ptr}) == 3
    for stream in (first, second, null):
        assert driver_knows(backend, stream.ptr)


def driver_knows(backend, handle):
    """Asks the driver about a stream. An invalid handle fails or crashes."""
    if backend == 'opencl':
        kind = ctypes.c_void_p()
        asked = ctypes.CDLL('libOpenCL.so.1').clGetCommandQueueInfo(
            ctypes.c_void_p(handle), 0x1091, ctypes.c_size_t(8), ctypes.byref(kind), None)  # its device
        return asked == 0 and kind.value
    library, name = {'cuda': ('/libcuda.so', 'cuStreamSynchronize'), 'hip': ('/libamdhip64.so', 'hipStreamSynchronize')}[backend]
    with open('/proc/self/maps') as file:  # whichever is loaded
        path = next(line.split()[-1] for line in file if library in line)
    return getattr(ctypes.CDLL(path), name)(ctypes.c_void_p(handle)) == 0


def test_memory_hooks():
    class Hook(cupy.cuda.MemoryHook):
        def __init__(self, name):
            self.name, self.told = name, []

    def told(kind):
        return lambda self, **facts: self.told.append((kind, facts))

    kinds = [f'{what}_{when}process' for what in ('alloc', 'malloc', 'free') for when in ('pre', 'post')]
    for kind in kinds:
        setattr(Hook, kind, told(kind))
    pool = cupy.get_default_memory_pool()
    room = cupy.empty(50000, 'f')
    del room
    kept = cupy.empty(1, 'f')  # as other tests may leave it: an allocation with room beside an array
    pool.free_all_blocks()
    x = cupy.ones(pool.total_bytes() // 4 + 5000, 'f')  # larger than any block that is free, or becomes so
    hook = Hook('one')
    with hook:
        y = x + 1  # computed at once: a hook sees whose memory it is
        # memory of earlier work may be freed meanwhile
        made = [(kind, facts) for kind, facts in hook.told if kind not in kinds[4:]]
        del y
    mine = x.device.id
    assert [kind for kind, _ in made] == kinds[:4]
    size = made[0][1]['mem_size']
    assert size >= x.nbytes and made[0][1] == {'device_id': mine, 'mem_size': size}
    assert made[2][1] == {'device_id': mine, 'size': x.nbytes, 'mem_size': size}
    block = made[3][1]['mem_ptr']
    assert made[3][1] == {'device_id': mine, 'size': x.nbytes, 'mem_size': size, 'mem_ptr': block, 'pmem_id': block}
    freed = {'device_id': mine, 'mem_size': size, 'mem_ptr': block, 'pmem_id': block}
    assert [row for row in hook.told if row[1] == freed] == [(kinds[4], freed), (kinds[5], freed)]
    count = len(hook.told)
    cupy.ones(3) + 1
    assert len(hook.told) == count
    with hook, Hook('two') as other:
        with pytest.raises(KeyError, match='two already exists'):
            Hook('two').__enter__()
        y = x * 2
        assert len(hook.told) - count == len(other.told) >= 2
    with hook, pytest.raises(ZeroDivisionError):  # an exception in a hook propagates from the operation
        hook.malloc_preprocess = lambda **facts: 1 // 0
        x + 2
