"""Exchange of memory with other libraries in both directions: DLPack and the CUDA array interface."""

import ctypes
import gc
import os
import pathlib
import subprocess
import sys
import time

import numpy
import pytest

from catenary import _core, cupy
from compare import same

HOST, TYPES = 1, {'cuda': 2, 'opencl': 4, 'hip': 10}


@pytest.fixture
def cpu():
    with _core.Device('cpu'):
        yield


def test_numpy_sees_the_memory(cpu):
    x = cupy.arange(6, dtype='f4').reshape(2, 3)
    y = numpy.from_dlpack(x[:, ::-1])
    assert y.tolist() == [[2, 1, 0], [5, 4, 3]] and y.strides == (12, -4)
    x += 1  # at once: NumPy does not ask
    assert y.tolist() == [[3, 2, 1], [6, 5, 4]]
    y[0, 0] = 9
    same(x, numpy.array([[1, 2, 9], [4, 5, 6]], 'f4'))
    z = x * 2
    y[0, 0] = 0  # z was computed before
    assert z.get()[0, 2] == 18
    del x, z
    gc.collect()
    assert y[1, 0] == 6


@pytest.mark.parametrize('dtype', ['?', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8'])
@pytest.mark.parametrize('shape', [(), (0,), (3, 0), (5,), (2, 3, 4)])
def test_dtypes_and_shapes(cpu, dtype, shape):
    x = cupy.ones(shape, dtype)
    y = numpy.from_dlpack(x)
    assert y.dtype == x.dtype and y.shape == shape
    same(cupy.from_dlpack(numpy.ones(shape, dtype)), numpy.ones(shape, dtype))


def test_nothing_is_deferred_on_foreign_memory():
    # in a separate process, because other exports would hide it
    text = '''
import numpy
from catenary import _core, cupy
host = numpy.arange(3.)
x = cupy.from_dlpack(host)
x += 1
assert host.tolist() == [1, 2, 3], host
with _core.Device('cpu'):
    y = x * 2
    host[:] = 100
    assert y.tolist() == [2, 4, 6], y
'''
    subprocess.run([sys.executable, '-c', text], check=True)


def test_foreign_memory_goes_to_a_device():
    host = numpy.arange(3.)
    for device in (0, cupy.cuda.Device(0), _core.Device('cpu')):
        x = cupy.from_dlpack(host, device=device)
        with _core.Device(device) as chosen:
            assert _core.device_of(x).name == chosen.name
            same(x + cupy.ones(3), host + 1)
    assert cupy.may_share_memory(x, cupy.from_dlpack(host, device=_core.Device('cpu'), copy=False))
    with pytest.raises(ValueError, match='copy=False'):
        cupy.from_dlpack(host, device=0, copy=False)


def test_numpys_memory_is_an_array():
    host = numpy.arange(12, dtype='i4').reshape(3, 4)
    for values in (host, host.T, host[::-1, ::2], host[1:, ::-1]):
        x = cupy.from_dlpack(values)
        same(x, values)
        x[...] = x + 1
        same(x, values)  # one memory
    x = cupy.from_dlpack(host)
    with _core.Device('cpu'):
        x += 100  # not deferred
    assert host[0, 0] == x.get()[0, 0] >= 100
    copied = cupy.from_dlpack(host, copy=True)
    copied[...] = 0
    assert host.any()


def test_the_owner_lives_as_long_as_the_array():
    released = []

    class Owner(numpy.ndarray):
        def __del__(self):
            released.append(True)
    owner = numpy.zeros(3).view(Owner)
    x = cupy.from_dlpack(owner)
    view = x[1:]
    del owner, x
    gc.collect()
    assert not released
    del view
    gc.collect()
    assert released == [True]


@pytest.mark.parametrize('device', ['gpu'], indirect=True)
def test_a_devices_memory(device):
    x = cupy.arange(6, dtype='f4').reshape(2, 3)
    name = _core.backend_of(device)
    assert x.__dlpack_device__() == (TYPES[name], 0)
    y = cupy.from_dlpack(x[:, 1:])
    same(y, x.get()[:, 1:])
    y[...] = 7
    x += 1
    same(y, numpy.full((2, 2), 8, 'f4'))
    same(cupy.from_dlpack(x[::-1, ::-1]), x.get()[::-1, ::-1])
    host = numpy.from_dlpack(x, device='cpu')
    assert host.tolist() == x.get().tolist()
    with pytest.raises(ValueError, match=rf'copy=False.*from {name}:0.*\(1, 0\)'):
        x.__dlpack__(dl_device=(HOST, 0), copy=False)
    for device in ((HOST, 2 ** 30), (9, 0)):
        with pytest.raises(BufferError, match='DLPack|dl_device'):
            x.__dlpack__(dl_device=device)


def test_old_and_new_capsules(cpu):
    x = cupy.arange(3.)
    for device in ((HOST, 2 ** 30), (9, 0)):
        with pytest.raises(BufferError, match='DLPack|dl_device'):
            x.__dlpack__(dl_device=device)
    assert 'dltensor_versioned' in repr(x.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(x.__dlpack__()) and '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    for version in (None, (1, 1)):
        same(cupy.from_dlpack(x.__dlpack__(max_version=version)), x.get())

    class Old:
        """A library older than DLPack 1.0, without max_version."""
        def __dlpack__(self, stream=None):
            return x.__dlpack__()

        def __dlpack_device__(self):
            return x.__dlpack_device__()
    same(cupy.from_dlpack(Old()), x.get())
    copied = x.__dlpack__(copy=True)
    x[...] = 0
    same(cupy.from_dlpack(copied), numpy.arange(3.))


def test_unsupported_requests_raise(cpu):
    capsule = cupy.ones(3).__dlpack__()
    cupy.from_dlpack(capsule)
    with pytest.raises(ValueError, match='has not been used before'):
        cupy.from_dlpack(capsule)
    with pytest.raises(TypeError, match="'list'.*__dlpack__"):
        cupy.from_dlpack([1, 2])
    constant = numpy.arange(3)
    constant.flags.writeable = False
    with pytest.raises(BufferError, match='read-only.*copy=True'):
        cupy.from_dlpack(constant)
    same(cupy.from_dlpack(constant, copy=True), constant)
    same(cupy.from_dlpack(numpy.full(2, 1 - 2j, 'F')), numpy.full(2, 1 - 2j, 'F'))
    with pytest.raises(BufferError, match='more than|at most'):
        cupy.from_dlpack(numpy.ones((1,) * 20))

    class Elsewhere:
        def __dlpack__(self, **kwargs):
            raise AssertionError('asked for memory that cannot be taken')

        def __dlpack_device__(self):
            return 8, 0
    with pytest.raises(BufferError, match='device type 8'):
        cupy.from_dlpack(Elsewhere())
    Elsewhere.__dlpack_device__ = lambda self: (2, 7)
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match='cuda:7'):
        cupy.from_dlpack(Elsewhere())


def next_kernel_is_slow():
    """Delays the next kernel of a simulated GPU by 0.25 s, so that reads without synchronisation see old values."""
    with _core.Device(0) as device:
        library = {'cuda': 'libcuda.so.1', 'hip': 'libamdhip64.so.6'}[_core.backend_of(device)]
    ctypes.CDLL(library).simgpu_fault(b'slow', 1)


@pytest.mark.parametrize('device', ['gpu'], indirect=True)
def test_cudas_array_interface_is_cudas(device):
    x = cupy.arange(6, dtype='f4').reshape(2, 3)
    if _core.backend_of(device) == 'opencl':
        assert not hasattr(x, '__cuda_array_interface__')
        with pytest.raises(AttributeError, match="opencl:0; expected CUDA's or HIP's memory"):
            x.__cuda_array_interface__
        return
    x += 1
    seen = x.__cuda_array_interface__
    assert seen == {'shape': (2, 3), 'typestr': '<f4', 'data': (x.data.ptr, False), 'strides': None, 'stream': None,
                    'version': 3}
    turned = x.T[1:].__cuda_array_interface__
    assert (turned['shape'], turned['strides'], turned['data'][0]) == ((2, 2), (4, 12), x.data.ptr + 4)
    z = cupy.asarray(numpy.arange(6).reshape(2, 3) * (1 - 2j))
    for ours, typestr, strides, at in ((z, '<c16', None, 0), (z.astype('F').T, '<c8', (8, 24), 0), (z.imag, '<f8', (48, 16), 8), (z[:, ::-2], '<c16', (48, -32), 32)):
        about = ours.__cuda_array_interface__
        assert (about['shape'], about['typestr'], about['strides']) == (ours.shape, typestr, strides)
        assert about['data'][0] == (z if typestr != '<c8' else ours).data.ptr + (at if typestr != '<c8' else 0)
        if 'Simulated' in device.info['name']:
            assert numpy.asarray(type('Host', (), {'__array_interface__': about})()).tolist() == ours.get().tolist()
    if 'Simulated' in device.info['name']:  # whose memory is the host's

        y = cupy.arange(6, dtype='f4')  # whose address nobody has asked for
        y += 1
        y.get()
        next_kernel_is_slow()
        y += 1

        class Host:
            __array_interface__ = y.__cuda_array_interface__
        host = numpy.asarray(Host())
        assert host.tolist() == [2, 3, 4, 5, 6, 7]  # it was waited for
        y *= 2  # at once, by the device
        until = time.monotonic() + 20
        while host[0] != 4 and time.monotonic() < until:
            time.sleep(0.001)
        assert host.tolist() == [4, 6, 8, 10, 12, 14]


# ---------------------------------------------------------------------- ownership and lifetime
class Tensor(ctypes.Structure):
    """DLPack's DLTensor."""
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32), ('ndim', ctypes.c_int32),
                ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)), ('byte_offset', ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Old(ctypes.Structure):
    NAME = b'dltensor'
    _fields_ = [('tensor', Tensor), ('context', ctypes.c_void_p), ('deleter', DELETER)]


class New(ctypes.Structure):
    NAME = b'dltensor_versioned'
    _fields_ = [('major', ctypes.c_uint32), ('minor', ctypes.c_uint32), ('context', ctypes.c_void_p), ('deleter', DELETER),
                ('flags', ctypes.c_uint64), ('tensor', Tensor)]


def pointer_in(capsule):
    """Returns the structure in a capsule."""
    kind = New if 'versioned' in repr(capsule) else Old
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return kind.from_address(get(capsule, kind.NAME))


class Lent:
    """Host memory of a C library, in a handmade capsule. Counts calls of its deleter."""

    def __init__(self, kind, host, shape, strides=None, offset=0, major=1, lanes=1, ndim=None, code=2, flags=0):
        self.host, self.back = host, 0
        self.managed = kind()
        self.numbers = [(ctypes.c_int64 * len(n))(*n) for n in (shape, strides or ())]
        tensor = self.managed.tensor
        tensor.data, tensor.device_type = host.ctypes.data, HOST
        tensor.ndim, tensor.code, tensor.bits, tensor.lanes = len(shape) if ndim is None else ndim, code, 8 * host.itemsize, lanes
        tensor.shape = ctypes.cast(self.numbers[0], ctypes.POINTER(ctypes.c_int64))
        if strides is not None:
            tensor.strides = ctypes.cast(self.numbers[1], ctypes.POINTER(ctypes.c_int64))
        tensor.byte_offset = offset
        self.deleter = DELETER(self.comes_back)
        self.managed.deleter = self.deleter
        if kind is New:
            self.managed.major, self.managed.flags = major, flags
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.capsule = new(ctypes.addressof(self.managed), kind.NAME, None)

    def comes_back(self, managed):
        assert managed == ctypes.addressof(self.managed)
        self.back += 1


@pytest.mark.parametrize('kind', [Old, New])
def test_lent_memory_comes_back_once(cpu, kind):
    lent = Lent(kind, numpy.arange(12.), (3, 2), (4, 1), offset=16)
    x = cupy.from_dlpack(lent.capsule)
    same(x, numpy.array([[2., 3], [6, 7], [10, 11]]))
    view, sums = x[1], x.sum(axis=0)
    del x, lent.capsule
    gc.collect()
    assert lent.back == 0
    del view
    assert sums.tolist() == [18, 21]
    del sums
    gc.collect()
    assert lent.back == 1
    whole = Lent(kind, numpy.arange(6.), (2, 3))  # without strides: in C order
    same(cupy.from_dlpack(whole.capsule), numpy.arange(6.).reshape(2, 3))
    turned = Lent(kind, numpy.arange(6.), (2, 3), (-3, -1), offset=40)
    same(cupy.from_dlpack(turned.capsule), numpy.arange(6.)[::-1].reshape(2, 3))
    copied = Lent(kind, numpy.arange(3.), (3,))
    x = cupy.from_dlpack(copied.capsule, copy=True)
    copied.host[...] = 9
    same(x, numpy.arange(3.))  # by then it was copied
    gc.collect()
    assert (whole.back, turned.back, copied.back) == (1, 1, 1)


@pytest.mark.parametrize('lent, says', [
    (dict(major=2), 'unsupported DLPack version 2.0; expected 1'), (dict(lanes=2), '2 lanes'),
    (dict(ndim=-1), '-1 axes'), (dict(ndim=99), '99 axes; expected at most'), (dict(code=7), 'type code 7'), (dict(flags=1), 'read-only')])
def test_refused_memory_stays_its_owners(cpu, lent, says):
    memory = Lent(New, numpy.arange(4.), (4,), **lent)
    for _ in range(2):
        with pytest.raises(BufferError, match=says):
            cupy.from_dlpack(memory.capsule)
    gc.collect()
    assert memory.back == 0 and pointer_in(memory.capsule).tensor.ndim == memory.managed.tensor.ndim  # not marked as taken


@pytest.mark.parametrize('kind', [Old, New])
def test_memory_that_nobody_wants_back(cpu, kind):
    """In DLPack the deleter may be NULL."""
    lent = Lent(kind, numpy.arange(3.), (3,))
    lent.managed.deleter = DELETER()
    x = cupy.from_dlpack(lent.capsule)
    assert x.tolist() == [0, 1, 2]
    del x, lent.capsule
    gc.collect()
    assert lent.back == 0


# Consumes a capsule over lent memory as a C library does: the deleter is called without Python and without the GIL.
TAKEN_BY_C = '''
import ctypes
import numpy
from catenary import _core, cupy
import dlpack_test

used = b'used_dltensor'
def taken_by_c(x):
    capsule = x.__dlpack__()
    managed = dlpack_test.pointer_in(capsule)
    ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), used)
    return ctypes.addressof(managed), ctypes.cast(managed.deleter, ctypes.c_void_p).value
'''


def in_python_of_its_own(text, **environment):
    path = os.pathsep.join([str(pathlib.Path(__file__).parents[1]), *filter(None, [os.environ.get('PYTHONPATH')])])
    done = subprocess.run([sys.executable, '-c', TAKEN_BY_C + text], capture_output=True, text=True, timeout=100,
                          cwd=pathlib.Path(__file__).parent, env={**os.environ, 'PYTHONPATH': path, **environment})
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def test_deleters_are_called_with_the_gil():
    """Deleters may be Python functions. Python's debug allocator aborts if it is called without the GIL."""
    in_python_of_its_own('''
api = ctypes.pythonapi
api.PyMem_Malloc.restype = ctypes.c_void_p
lent = dlpack_test.Lent(dlpack_test.Old, numpy.arange(3.), (3,))
size = ctypes.sizeof(lent.managed)
block = api.PyMem_Malloc(ctypes.c_size_t(size))
ctypes.memmove(block, ctypes.addressof(lent.managed), size)
managed = dlpack_test.Old.from_address(block)
managed.deleter = ctypes.cast(api.PyMem_Free, dlpack_test.DELETER)
new = api.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
with _core.Device('cpu'):
    address, deleter = taken_by_c(cupy.from_dlpack(new(block, managed.NAME, None)))
dlpack_test.DELETER(deleter)(address)  # which releases the GIL
''', PYTHONMALLOC='debug')


def test_memory_that_comes_back_after_the_interpreter():
    """If a C library ends after Python, NumPy's memory that it received through us cannot be returned."""
    in_python_of_its_own('''
host = numpy.ones(100)
address, deleter = taken_by_c(cupy.from_dlpack(host))
assert ctypes.CDLL(None).__cxa_atexit(ctypes.c_void_p(deleter), ctypes.c_void_p(address), None) == 0
''')


@pytest.mark.parametrize('version', [None, (1, 0)])
def test_our_memory_lives_as_long_as_who_has_it(device, version):
    """Memory is freed when an unused capsule, or a consumed one that was released, is gone, and not before."""
    pool = cupy.get_default_memory_pool()
    n = 300000

    def used():
        gc.collect()
        cupy.cuda.Device().synchronize()
        return pool.used_bytes()
    before = used()
    x = cupy.full(n, 7, 'f4')
    capsule = x.__dlpack__(max_version=version)
    del x
    assert used() >= before + 4 * n
    del capsule
    assert used() == before
    x = cupy.full(n, 7, 'f4')
    taken = cupy.from_dlpack(x.__dlpack__(max_version=version))
    del x
    others = [cupy.full(n, k, 'f4') for k in range(4)]  # whatever is free is written over
    assert used() >= before + 20 * n and float(taken.sum()) == 7 * n
    del others, taken
    assert used() == before


def test_fields_of_a_capsule(cpu):
    x = cupy.arange(6, dtype='f4').reshape(2, 3)
    plain, copied = (x.__dlpack__(max_version=(1, 0), copy=copy) for copy in (None, True))
    assert (pointer_in(plain).major, pointer_in(plain).flags, pointer_in(copied).flags) == (1, 0, 2)
    capsule = x[1:, ::-1].__dlpack__()
    tensor = pointer_in(capsule).tensor
    assert (tensor.device_type, tensor.device_id, tensor.ndim, tensor.code, tensor.bits, tensor.lanes) == (HOST, 0, 2, 2, 32, 1)
    assert (tensor.shape[:2], tensor.strides[:2], tensor.byte_offset) == ([1, 3], [3, -1], 0)
    assert ctypes.c_float.from_address(tensor.data).value == 5


def test_the_block_ends_where_the_memory_does(cpu):
    x = cupy.from_dlpack(numpy.arange(4.))
    same(cupy.ndarray((4,), 'd', x.data), numpy.arange(4.))
    with pytest.raises(ValueError, match='32 bytes'):
        cupy.ndarray((5,), 'd', x.data)


@pytest.mark.parametrize('device', ['gpu'], indirect=True)
def test_other_streams_are_told(device):
    """A device library receives the default stream's order, and its own stream sees our results."""
    asked = []

    class Library:
        def __dlpack__(self, **arguments):
            asked.append(arguments)
            return cupy.ones(3).__dlpack__()

        def __dlpack_device__(self):
            return TYPES[_core.backend_of(device)], 0
    cupy.from_dlpack(Library())
    assert asked[0].get('stream') == {'cuda': 1, 'hip': 0, 'opencl': None}[_core.backend_of(device)]
    x = cupy.zeros(1000, 'f4')
    x += 1
    x.get()
    if 'Simulated' in device.info['name']:  # whose memory is the host's
        next_kernel_is_slow()
        x += 1
        assert ctypes.c_float.from_address(pointer_in(x.__dlpack__()).tensor.data).value == 2


@pytest.mark.parametrize('device', ['gpu'], indirect=True)
def test_offsets_into_opencls_memory(device):
    """OpenCL memory is a handle: elements before it or with gaps are rejected, and the capsule keeps its owner."""
    x = cupy.arange(4.)
    capsule = x[::-1].__dlpack__()
    tensor = pointer_in(capsule).tensor
    if _core.backend_of(device) == 'opencl':
        assert tensor.byte_offset == 24
        for offset in (16, 25):
            tensor.byte_offset = offset
            with pytest.raises(BufferError, match=f'byte offset {offset} into OpenCL'):
                cupy.from_dlpack(capsule)
        tensor.byte_offset = 24
    assert cupy.from_dlpack(capsule).tolist() == [3, 2, 1, 0]
