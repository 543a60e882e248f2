"""Errors for invalid input: the exception's class and its message.

Other files test the errors of their own subject: kernels_test.py and translate_refusals_test.py those of kernels, finder_test.py two CuPys and
another Chainer, dlpack_test.py DLPack's.
"""

import importlib
import json
import os
import subprocess
import sys

import numpy
import pytest

from catenary import cupy, cupyx

CUDA_ERROR = cupy.cuda.runtime.CUDARuntimeError


class Stranger:
    """An object of a type unknown to arrays."""


def untimed():
    event = cupy.cuda.Event(disable_timing=True)
    event.record()
    return event


def names():
    return {'cupy': cupy, 'cupyx': cupyx, 'importlib': importlib, 'untimed': untimed, 'numpy': numpy, 'Stranger': Stranger,
            'a': cupy.ones((2, 3), 'f'), 'i': cupy.arange(3), 'n': numpy.ones((2, 3), 'f')}


def refused(statement, error, says):
    with pytest.raises(error) as caught:
        exec(statement, names())
    assert type(caught.value) is error and says in str(caught.value), (type(caught.value), caught.value)


# NumPy's arrays are not converted implicitly
@pytest.mark.parametrize('statement', [
    'a + n', 'n + a', 'a - n', 'a @ n', 'n @ a', 'a == n', 'a < n', 'a += n', 'divmod(a, n)', 'a ** n', 'cupy.exp(n)',
    'cupy.add(n, a)', 'cupy.where(a > 0, a, n)', 'cupy.where(n > 0, a, a)', 'a.clip(n, 2)', 'numpy.add(a, n)',
    'numpy.exp(n, out=a)'])
def test_operands_of_numpy(device, statement):
    refused(statement, TypeError, "Unsupported type <class 'numpy.ndarray'>; numpy.ndarray is not converted implicitly, use "
                                  "cupy.asarray")


@pytest.mark.parametrize('statement, says', [
    ('n += a', 'add: out must be a cupy.ndarray'),
    ('cupy.sum(n)', "sum: argument 'a' must be a cupy.ndarray"), ('cupy.dot(a, n)', "dot: argument 'b' must be a cupy.ndarray or a number"),
    ('cupy.concatenate([a, n])', "concatenate: only cupy.ndarray can be joined, not <class 'numpy.ndarray'>"),
    ('cupy.stack([a, n])', "stack: only cupy.ndarray can be joined, not <class 'numpy.ndarray'>"),
    ('a.set(a)', 'only numpy.ndarray can be set'), ("a.set(n.astype('d'))", 'float64 array cannot be set to float32 array'),
    ('numpy.asarray(a)', 'Implicit conversion to a NumPy array is not allowed. Please use `.get()`'),
    ('numpy.float32(a)', 'Implicit conversion'), ('a + Stranger()', "'ndarray' and 'Stranger'"),
    ('Stranger() + a', "'Stranger' and 'ndarray'"), ("a + 'x'", "unsupported operand type(s) for +: 'ndarray' and 'str'"),
    ('a + [1, 2, 3]', "'ndarray' and 'list'"), ('a + None', "'ndarray' and 'NoneType'"),
    ("cupy.add(a, 'x')", "add: Unsupported type <class 'str'>"), ('pow(a, 2, 3)', 'third argument'),
    ('a << 1', 'left_shift: not defined for float32; expected an integer dtype'), ('hash(a)', 'unhashable type'),
    ('len(a[0, 0])', 'unsized'), ('int(a)', 'the shape is (2, 3)'), ('range(a[0, 0])', 'not an array of float32')])
def test_operands(device, statement, says):
    refused(statement, TypeError, says)


@pytest.mark.parametrize('statement, error, says', [
    # out=
    ('cupy.add(a, 1, out=cupy.zeros(3))', ValueError, 'an operand of shape (2, 3) does not broadcast to the output of shape (3,)'),
    ('cupy.add(a, 1, out=n)', TypeError, 'add: out must be an ndarray'),
    ('cupy.add(a, 1, out=(a, a))', ValueError, 'add: out must have one array'),
    ("cupy.add(a, 1, out=cupy.zeros((2, 3), 'i'))", TypeError, "would be float32, which does not go into the array's int32"),
    ('cupy.sum(a, out=a)', ValueError, 'sum: out has shape (2, 3), the result has ()'),
    ("cupy.sum(a, out=cupy.zeros((), 'i'))", TypeError, "sum: cannot cast the result from float32 to out's int32"),
    ('cupy.sum(a, out=n)', TypeError, "sum: argument 'out' must be"), ('cupy.take(a, 0, out=1)', TypeError, "take: argument 'out' must be"),
    ('cupy.concatenate([a, a], out=n)', TypeError, "out must be a cupy.ndarray, not <class 'numpy.ndarray'>"),
    ('cupy.stack([a], out=1)', TypeError, "stack: out must be a cupy.ndarray, not <class 'int'>"),
    ('cupy.concatenate([a, a], out=a)', ValueError, 'out has shape (2, 3), the result has (4, 3)'),
    ("a.get(out=numpy.zeros((2, 3), 'd'))", ValueError, 'out is float64 of shape (2, 3), the array float32'),
    ('a.get(out=a)', TypeError, 'only numpy.ndarray can be obtained'),
    # casts
    ('i += 1.5', TypeError, "add: the result would be float64, which does not go into the array's int64"),
    ('i /= 2', TypeError, 'divide: the result would be float64'), ("i /= 2j", TypeError, 'divide: the result would be complex128'),
    ("a.astype('i', casting='safe')", TypeError, "cannot cast from float32 to int32 with casting rule 'safe'"),
    ("a.astype('i', casting='bad')", ValueError, "(got 'bad')"), ("a.astype('q', casting='no')", TypeError, "rule 'no'"),
    ('cupy.copyto(i, a[0])', TypeError, "copyto: cannot cast from float32 to int64 with casting rule 'same_kind'"),
    ("cupy.add(a, 1, dtype='i')", TypeError, 'add: input 0: cannot cast from float32 to int32'),
    ("cupy.concatenate([a], dtype='i')", TypeError, 'cannot cast from float32 to int32'),
    ("cupy.array([1], 'u1') + 300", OverflowError, 'the literal 300 does not fit into uint8'),
    ("cupy.array([300], 'u1')", OverflowError, 'out of bounds for uint8'),
    ('i + 2 ** 70', OverflowError, 'out of bounds for int64 and uint64'), ('i[0] = 2 ** 70', OverflowError, 'out of bounds'),
    ('cupy.full(2, 2 ** 70)', OverflowError, 'out of bounds'), ('a + 10 ** 400', OverflowError, 'too large'),
    ("i.astype('b') + (2 ** 64 - 1)", OverflowError, '18446744073709551615 is out of bounds for int8'),
    ("cupy.cov(a, dtype='i')", TypeError, 'cov: dtype must be a floating one, not int32'),
    ("cupy.putmask(i, i > 0, a[0])", TypeError, "cannot cast from float32 to int64 with casting rule 'safe'"),
    # keywords
    ('cupy.add(a, 1, foo=1)', TypeError, "add: unexpected keyword argument 'foo'"), ('a.sum(foo=1)', TypeError, "sum: unexpected keyword argument 'foo'"),
    ('cupy.zeros(2, foo=1)', TypeError, "zeros: unexpected keyword argument 'foo'"), ('cupy.array(1, foo=1)', TypeError, "keyword argument 'foo'"),
    ('a.reshape(2, 3, foo=1)', TypeError, "reshape: unexpected keyword argument 'foo'"),
    ("cupy.einsum('i', i, foo=1)", TypeError, "unexpected keyword argument 'foo'"),
    ('cupy.cuda.Device(foo=1)', TypeError, "unexpected keyword argument 'foo'"), ('cupy.cuda.Stream(foo=1)', TypeError, "unexpected keyword argument 'foo'"),
    ('cupy.sum(a, where=i)', TypeError, "sum: argument 'where' must be a bool or a cupy.ndarray of bool, given one of int64"),
    ('cupy.add(a, 1, where=i)', TypeError, "add: where: cannot cast from int64 to bool"),
    ("cupy.add(a, 1, order='X')", ValueError, "order must be one of 'C', 'F', 'A', or 'K' (got X)"),
    ("cupy.ElementwiseKernel('T x', 'T y', 'y = x', foo=1)", TypeError, 'ElementwiseKernel: unknown keyword foo'),
    # keys
    ('a[5]', IndexError, 'index 5 is out of bounds for axis 0 with size 2'), ("a['x']", IndexError, "not <class 'str'>"),
    ('a[1.5]', IndexError, "not <class 'float'>"), ('a[a]', IndexError, 'integer or boolean type, not float32'),
    ('a[0, 0, 0]', IndexError, 'too many indices: the array has 2 axes, 3 are indexed'), ('a[2 ** 70]', IndexError, 'index-sized'),
    ('a[:, ::0]', ValueError, 'slice step'), ('a[0] = [1, 2]', ValueError, 'shape (2,) do not broadcast to the shape (3,)'),
    ("a[0] = 'x'", TypeError, 'expected bool, an integer dtype'), ('a[0] = 1j', TypeError, 'cannot convert a complex number to float32'),
    ('del a[0]', ValueError, 'cannot delete array elements'), ('a[[0, 9]].get()', IndexError, 'index 9 is out of bounds for axis 0'),
    # attributes and shapes
    ('del a.shape', AttributeError, 'cannot delete the shape'), ('a.shape = (4,)', ValueError, '(4,)'),
    ("a.shape = 'x'", TypeError, "shape must be an int or a sequence of at most 16 ints, not 'x'"),
    ('a.shape = None', TypeError, 'not None'), ('a.T.shape = (6,)', AttributeError, 'incompatible shape'),
    ("a.reshape('x')", TypeError, "not 'x'"), ('a.reshape(1.5)', TypeError, 'not 1.5'), ('a.reshape(2, None)', TypeError, 'None'),
    ("cupy.ndarray((2,), 'f', a)", TypeError, 'memptr must be a cupy.cuda.MemoryPointer, not <class'),
    ("cupy.ndarray((2,), 'f', a.data, strides='x')", TypeError, "ndarray: strides must be an int or a sequence"),
    ('cupy.zeros((2, -1))', ValueError, 'negative size in shape (2, -1)'),
    ('cupy.zeros((2 ** 40, 2 ** 40))', ValueError, 'is too large'), ('cupy.zeros(1.5)', TypeError, "zeros: argument 'shape' must be an integer or a sequence of integers, given float 1.5"),
    ("cupy.zeros(2, 'G')", TypeError, 'complex256: expected bool'), ("cupy.zeros(2, 'M8')", TypeError, 'dtype datetime64: expected bool'),
    ("cupy.array([1, 'a'])", ValueError, 'Unsupported dtype <U21'), ('cupy.array(Stranger())', ValueError, 'dtype object'),
    ('a.view(type=int)', TypeError, "view: type must be cupy.ndarray, given <class 'int'>"),
    ('a.reshape(4, 2)', ValueError, 'cannot reshape array of size 6 into shape (4, 2)'),
    ('a.reshape(-1, -1)', ValueError, 'can only specify one unknown dimension'), ('a[0].mT', ValueError, 'matrix transpose with ndim < 2'),
    ('a.imag = 1', TypeError, 'no imaginary part'), ('i.fill(cupy.ones(1))', ValueError, 'fill: expected one value'),
    ('cupy.conj(n)', TypeError, 'numpy.ndarray is not converted implicitly'), ('cupy.angle(n)', TypeError, 'use cupy.asarray'),
    ('cupy.gradient(a, 1., 2., 3.)', TypeError, '3 distances or arrays of positions are given for 2 axes'),
    ('cupy.gradient(a, edge_order=3)', ValueError, 'edge_order must be 1 or 2'), ('cupy.gradient(a > 0)', TypeError, 'not defined for bool'),
    ('cupy.gradient(a[:1], axis=0)', ValueError, 'more than 1 elements are needed along axis 0'),
    ('cupy.gradient(a, i, i)', ValueError, '3 positions are given for axis 0'), ('cupy.gradient(a, n)', TypeError, 'use cupy.asarray'),
    ('cupy.add.reduceat(i, [3])', IndexError, 'add.reduceat: an index is out of range for an axis of 3 elements'),
    ('cupy.delete(i, i[:2] > 0)', ValueError, 'a mask of shape (2,) does not fit an axis of 3 elements'),
    ('cupy.repeat(i, cupy.array([1, 2]))', ValueError, 'must have the same length'), ('cupy.repeat(i, [[1, 2]])', ValueError, 'must be 1-d'),
    ("cupy.repeat(i, i.astype('L'))", TypeError, 'counts of uint64'), ("cupy.indices((3,), '?')", TypeError, 'bool has only the coordinates 0 and 1'),
    ("cupy.ravel_multi_index((i, i), (3, 3), order='V')", ValueError, "order must be 'C' or 'F'"),
    ('cupy.ravel_multi_index((i, i), (2 ** 62, 3))', ValueError, 'is too large'), ('a[cupy.zeros((0, 1), bool)]', IndexError, ''),
    ('cupy.copyto(a, 1, where=[1, 0, 1])', TypeError, 'where must be an array of bool, not of int64'),
    ('cupy.clip(a, 1, min=2)', ValueError, 'min is another name of a_min'),
    ("cupy.put(a, [0], 'x')", TypeError, 'put: '),
    ('cupy.concatenate(3)', TypeError, "concatenate: argument 'tup' must be a sequence of cupy.ndarray, given int 3"), ('cupy.vstack(3)', TypeError, "vstack: argument 'tup' must be"),
    ('cupy.stack(3)', TypeError, "stack: argument 'tup' must be"), ("cupy.sort('x')", TypeError, "sort: argument 'a' must be a cupy.ndarray, given str 'x'"),
    ('cupy.lexsort(3)', TypeError, "lexsort: argument 'keys' must be"), ("cupy.copyto('x', a)", TypeError, "copyto: argument 'dst' must be a cupy.ndarray"),
    ('cupy.select(3, 3)', TypeError, "select: argument 'condlist' must be"), ("cupy.array(3, ndmin='x')", TypeError, "argument 'ndmin' must be an integer"),
    ('cupy.ravel_multi_index(3, (2, 3))', TypeError, "argument 'multi_index' must be"), ("cupy.polyfit('x', i, 1)", TypeError, "polyfit: argument 'x' must be"),
    ('cupy.piecewise(a, [a > 0], 3)', TypeError, "piecewise: argument 'funclist' must be"), ("cupy.random.randint('a')", TypeError, "given str 'a'"),
    ('cupy.linalg.multi_dot([a, n])', TypeError, "multi_dot: argument 'arrays' must be a sequence of cupy.ndarray, given list [array([[1., 1., 1.], [1., 1., 1.]], dtype="),
    ("cupy.RawKernel('extern \"C\" __global__ void f() {}', 'f')((1,), (1,), 3)", TypeError, 'f: the arguments must be a tuple of arrays and numbers, given int 3'),
    ('cupy.fft.fft(a, axis=2)', cupy.AxisError, 'axis 2 is out of bounds'), ('cupy.fft.fft(a, 0)', ValueError, 'at least one element, 0 were'),
    ('cupy.fft.fft(a, norm="x")', ValueError, 'Invalid norm value'), ('cupy.fft.rfft(a * 1j)', TypeError, 'real numbers are needed'),
    ('cupy.fft.fft(n)', TypeError, 'use cupy.asarray'), ('cupy.fft.config.set_cufft_gpus(2)', NotImplementedError, 'only on the device of its array'),
    ('cupy.floor(a * 1j)', TypeError, 'floor: not defined for complex64; it has no meaning for complex numbers'),
    ('cupy.linalg.svd(a.astype("e"))', TypeError, 'linalg::svd: float16 is too narrow'),
    ('cupy.linalg.eig(a)', numpy.linalg.LinAlgError, 'linalg::eig: square matrices are needed'),
    ('cupy.linalg.eig(cupy.full((2, 2), float("nan")))', numpy.linalg.LinAlgError, 'linalg::eig: elements must be finite'),
    ('importlib.import_module("catenary.cupy.cuda.cudnn")', ImportError, 'cupy.cudnn is not available'),
    ("cupy.isdtype('f', 'real')", ValueError, 'isdtype: kind must be a dtype or one of bool, signed integer'),
    ('cupy.linalg.cross(a[:, :2], a[:, :2])', ValueError, 'cross: both must have 3 elements along axis -1, given 2 and 2'),
    ('cupyx.scipy.linalg.solve_triangular(cupy.eye(2) / 0, cupy.ones(2), check_finite=True)', ValueError, 'Infs or NaNs'),
    ('cupy.get_default_memory_pool().set_limit(size=1, fraction=.5)', ValueError, 'must not both be given'),
    ('cupy.get_default_memory_pool().set_limit(size=-1)', ValueError, 'size must be 0, for no limit, or greater, given -1'),
    ('cupy.cuda.get_elapsed_time(untimed(), untimed())', CUDA_ERROR, 'an event has disable_timing=True'),
    # ordinals
    ('cupy.cuda.Device(-1).use()', CUDA_ERROR, 'cudaErrorInvalidDevice: invalid device ordinal -1'),
    ('cupy.cuda.Device(2 ** 70).synchronize()', CUDA_ERROR, 'cudaErrorInvalidDevice: invalid device ordinal'),
    ('cupy.cuda.Device(1.5)', TypeError, "'float' object cannot be interpreted as an integer"),
    ('cupy.cuda.Device([1])', TypeError, "'list' object cannot be interpreted as an integer"),
    ("cupy.cuda.Device('x')", CUDA_ERROR, 'expected cpu, cuda:N, hip:N, opencl:N or gpu:N'),
    ('cupy.cuda.runtime.setDevice(77)', CUDA_ERROR, 'invalid device ordinal 77'),
    ('cupy.cuda.runtime.getDeviceProperties(77)', CUDA_ERROR, 'invalid device ordinal 77')])
def test_arguments(device, statement, error, says):
    refused(statement, error, says)


@pytest.mark.parametrize('statement', [
    'a.reshape(ones)', 'a[:1, 0].reshape(*ones)', 'a.shape = ones', 'cupy.reshape(a, ones)', 'cupy.zeros(ones)', 'cupy.empty(ones)', 'cupy.full(ones, 1)', 'cupy.ndarray(ones)',
    'cupy.zeros_like(a, shape=ones)', 'cupy.full_like(a, 1, shape=ones)', 'cupy.asarray(many)', 'cupy.array(many.tolist())', 'cupy.array(1, ndmin=17)', 'a[many == 1]',
    'cupy.from_dlpack(many)', 'cupy.expand_dims(a, tuple(range(15)))', 'sixteen[None]', 'sixteen[..., None]', 'cupy.stack([sixteen])', 'cupy.broadcast_to(i[:1], ones)',
    'cupy.broadcast_shapes((3,), ones)', 'cupy.indices(ones[1:])', 'cupy.meshgrid(*[i[:1]] * 17)', 'cupy.ix_(*[i[:1]] * 17)', 'cupy.tile(a, ones)', 'cupy.add.outer(sixteen, i)',
    'cupy.tensordot(sixteen, i, 0)', 'cupy.kron(a, many[0])', 'cupy.einsum("...,i", sixteen, i)', 'cupy.random.rand(*ones)', 'cupy.random.default_rng(1).random(ones)',
    'cupy.lib.stride_tricks.as_strided(a, ones, ones)', 'cupy.fft.fftn(a, ones)', 'cupy.fft.fftn(a, axes=ones)', 'cupy.sum(a, axis=ones)', 'cupy.roll(a, ones, ones)', 'cupy.transpose(a, ones)',
    'cupy.moveaxis(a, ones, ones)', 'cupy.load(saved)', 'cupy.ogrid[tuple([slice(1)] * 17)]', 'cupy.mgrid[tuple([slice(1)] * 17)]', 'cupy.block(nested)'])
def test_more_than_sixteen_axes(device, statement, tmp_path):
    many = numpy.ones((1,) * 17)
    numpy.save(tmp_path / 'many.npy', many)
    nested = cupy.ones(1)
    for _ in range(17):
        nested = [nested]
    with pytest.raises((ValueError, BufferError)) as caught:
        exec(statement, {**names(), 'ones': (1,) * 17, 'many': many, 'sixteen': cupy.ones((1,) * 16), 'saved': tmp_path / 'many.npy', 'nested': nested})
    assert '17' in str(caught.value) and 'at most 16' in str(caught.value), caught.value


def test_values_that_fit_into_no_integer(device):
    # overflow is detected deep inside these functions
    for statement in ('a.reshape(2 ** 70)', 'a.transpose(2 ** 70)', 'cupy.repeat(a, 2 ** 70)', 'cupy.split(a, 2 ** 70)',
                      'cupy.partition(a, 2 ** 70)', "a.__dlpack__(dl_device='x')", 'cupy.histogram(a, 2 ** 70)',
                      'cupy.random.permutation(2 ** 70)', 'a.item(2 ** 70)'):
        with pytest.raises((TypeError, ValueError, OverflowError, IndexError)) as caught:
            exec(statement, names())
        assert 'bad_cast' not in str(caught.value), statement


def run(program, **environment):
    environment = {**os.environ, 'CATENARY_GPU_INCLUDE_CPU': '1', **environment}
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=300,
                          env={name: value for name, value in environment.items() if value is not None})
    assert done.returncode == 0, done.stderr
    assert 'nanobind: leaked' not in done.stderr
    return json.loads(done.stdout)


OUTCOMES = '''
import json
from catenary import cupy
import numpy
def outcome(statement):
    try:
        exec(statement)
    except BaseException as error:
        return type(error).__name__, str(error)
    return None, ''
%s
print(json.dumps({s: outcome(s) for s in %r}))
'''

TWO = '''
import time
with cupy.cuda.Device(0):
    a, at = cupy.ones((2, 3), 'f'), cupy.array([0, 1])
with cupy.cuda.Device(1):
    b, bt = cupy.ones((2, 3), 'f'), cupy.array([0, 1])
add = cupy.ElementwiseKernel('T x, T y', 'T z', 'z = x + y', 'add')
dot = cupy.ReductionKernel('T x, T y', 'T z', 'x * y', 'a + b', 'z = a', '0', 'dot')
raw = cupy.RawKernel('extern "C" __global__ void f(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }', 'f')
'''


def test_arrays_of_two_devices():
    mixed = ['a + b', 'a == b', 'a += b', 'a @ b.T', 'cupy.add(a, a, out=b)', 'a[bt]', 'a[bt] = 1', 'a.take(bt)',
             'cupy.concatenate([a, b])', 'cupy.stack([a, b])', 'cupy.where(b > 0, a, a)', 'cupy.dot(a, b.T)', 'a.clip(a, b)',
             'cupy.einsum("ij,ij", a, b)', 'cupy.isin(a, b)', 'cupy.isclose(a, b)', 'cupy.inner(a, b)', 'a.scatter_add(bt, 1)', 'add(a, b)', 'add(a, a, b)',
             'dot(a, b)', 'raw((1,), (6,), (a, b))']
    fine = ['a[...] = b', 'cupy.copyto(a, b)', 'assert cupy.array([a, b]).shape == (2, 2, 3)',
            'assert cupy.asarray(b).device.id == 0', 'assert (b + 1).device.id == 1 == b[bt].device.id',
            # kernels run on their arrays' device, whatever device is current
            'z = add(b, b); assert z.device.id == 1 and z.get().tolist() == [[2] * 3] * 2',
            'z = dot(b, b, axis=1); assert z.device.id == 1 and z.get().tolist() == [3, 3]',
            'assert dot(cupy.asarray(a), a).device.id == 0']
    found = run(OUTCOMES % (TWO, mixed + fine), POCL_DEVICES='pthread pthread')
    for statement in mixed:
        error, text = found[statement]
        assert error == 'CUDARuntimeError' and 'opencl:0' in text and 'opencl:1' in text, (statement, error, text)
        assert 'two devices' in text or 'to_device' in text or 'its arguments are on' in text, (statement, text)
    for statement in fine:
        assert found[statement] == [None, ''], (statement, found[statement])


def test_without_a_gpu():
    fine = ['assert cupy.cuda.runtime.getDeviceCount() == 0', 'assert not cupy.is_available()', 'cupy.cuda.Stream.null',
            'assert cupy.get_array_module(numpy.ones(1)) is numpy', 'cupy.clear_memo()', 'cupy.result_type("f", 1)',
            'assert not cupy.cuda.runtime.is_hip', 'cupy.ElementwiseKernel("T x", "T y", "y = x")', 'cupy.add.types']
    uses = ['cupy.zeros(3)', 'cupy.array([1])', 'cupy.asarray(numpy.ones(2))', 'cupy.arange(3)', 'cupy.random.rand(2)',
            'cupy.cuda.Device()', 'cupy.cuda.Device(0).use()', 'cupy.cuda.runtime.getDevice()', 'cupy.cuda.Stream()', 'cupy.sqrt(4)',
            'cupy.cuda.runtime.memGetInfo()', 'cupy.cuda.runtime.deviceSynchronize()', 'cupy.cuda.alloc(8)',
            'cupy.ElementwiseKernel("T x", "T y", "y = x")(1, size=2)', 'cupy.RawKernel("f", "f")((1,), (1,), ())']
    found = run(OUTCOMES % ('', fine + uses), CATENARY_GPU_INCLUDE_CPU=None)
    for statement in fine:
        assert found[statement] == [None, ''], (statement, found[statement])
    for statement in uses:
        error, text = found[statement]
        assert error == 'CUDARuntimeError', (statement, error, text)
        assert text.startswith("cudaErrorNoDevice: no CUDA-capable device is detected. device 'gpu:0' is not available"), text
        # doctor reports on each kind of device
        assert 'this machine offers cpu' in text and '\n  cuda: ' in text and '\n  hip: ' in text and 'catenary doctor' in text, text


def test_an_error_leaves_the_array_as_it_was(device):
    x = cupy.arange(6, dtype='i4').reshape(2, 3)
    before = x.get()
    for statement in ('x += 1.5', 'x[0] = [1, 2]', 'x[5] = 1', "x.shape = 'a'", 'cupy.add(x, x, out=x[0])', 'x @= x', 'del x.shape',
                      "x.sort(axis=4)", "x[0] = 'a'", 'x.fill(None)', 'cupy.copyto(x, numpy.ones(3))'):
        with pytest.raises((TypeError, ValueError, IndexError, AttributeError)):
            exec(statement, {'x': x, 'cupy': cupy, 'numpy': numpy})
        assert x.shape == (2, 3) and x.get().tolist() == before.tolist(), statement


@pytest.mark.parametrize('call, error', [
    ("cupy.sort(cupy.ones(2), kind='foo')", ValueError), ("cupy.ones(2).sort(kind='foo')", ValueError),
    ("cupy.argsort(cupy.ones(2), kind='foo')", ValueError), ("cupy.ones(2).argsort(kind='foo')", ValueError),
    ("cupy.concatenate([cupy.ones(2)], casting='foo')", ValueError), ("cupy.copyto(cupy.ones(2), 1, casting='foo')", ValueError),
    ("cupy.add(cupy.ones(2), 1, casting='foo')", ValueError), ("cupy.add(cupy.ones(2, 'i'), cupy.ones(2, 'f'), casting='no')", TypeError),
    ("cupy.add(cupy.ones(2, 'i'), cupy.ones(2, 'l'), casting='equiv')", TypeError), ("cupy.sqrt(cupy.ones(2, 'i'), casting='no')", TypeError),
    ("cupy.add(cupy.ones(2, 'i'), 1.5, casting='no')", TypeError), ("cupy.less(cupy.ones(2, 'i'), cupy.ones(2), casting='equiv')", TypeError),
    ('cupy.fuse(foo=3)', TypeError), ('cupy.cuda.ExternalStream(12345)', NotImplementedError)])
def test_unsupported_arguments_raise(call, error):
    with pytest.raises(error):
        eval(call)


def test_casting_that_is_met():
    i = cupy.ones(2, 'i')
    assert cupy.add(i, cupy.ones(2), casting='safe').dtype == 'd' and cupy.add(i, i, casting='no').dtype == 'i'
    assert cupy.isnan(i, casting='no').dtype == bool and cupy.less(i, 3, casting='no').dtype == bool
    assert cupy.compress([True, False], i).size == 1 and cupy.sort(i, kind='stable').size == 2
    assert cupy.cuda.alloc_pinned_memory(64).ptr > 0
