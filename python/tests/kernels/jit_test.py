"""cupyx.jit: kernels written in Python, on ordinal 0, compared with NumPy or Python."""

import numpy
import pytest

import catenary.cupy as cupy
import catenary.cupyx.jit as jit
from catenary.cupy.cuda.compiler import CompileException

FOUR = 4
pytestmark = pytest.mark.kernels


@pytest.fixture(autouse=True)
def on_the_device():
    with cupy.cuda.Device(0):
        yield


@jit.rawkernel(mode='numpy')
def arithmetic(x, y, z, flags):
    """Compares the operators' results."""
    i = jit.grid(1)
    if i < x.size:
        z[i, 0] = x[i] + y[i] * 2
        z[i, 1] = x[i] // y[i]
        z[i, 2] = x[i] % y[i]
        z[i, 3] = x[i] / y[i]
        z[i, 4] = min(x[i], y[i], 3)
        z[i, 5] = max(x[i], y[i])
        z[i, 6] = abs(x[i] - y[i])
        z[i, 7] = x[i] if x[i] > y[i] else -y[i]
        flags[i] = x[i] > y[i] and not x[i] == 3 or y[i] <= 1


@pytest.mark.parametrize('dtype', ['int8', 'int32', 'uint8', 'int64', 'float16', 'float32', 'float64'])
def test_operators_are_numpys(dtype):
    x, y = numpy.arange(-12, 12).astype(dtype), numpy.tile([3, 1, 2, 5], 6).astype(dtype)
    if numpy.dtype(dtype).kind != 'u':
        y[::3] *= -1
    z, flags = cupy.zeros((24, 8)), cupy.zeros(24, '?')
    arithmetic((3,), (8,), (cupy.asarray(x), cupy.asarray(y), z, flags))
    expected = numpy.stack([x + y * numpy.array(2, dtype), x // y, x % y, x / y, numpy.minimum(numpy.minimum(x, y), numpy.array(3, dtype)),
                            numpy.maximum(x, y), abs(x - y), numpy.where(x > y, x, -y)], 1, dtype='d', casting='unsafe')
    numpy.testing.assert_allclose(z.get(), expected, rtol={'float16': 1e-3, 'float32': 1e-6}.get(dtype, 1e-14))
    numpy.testing.assert_array_equal(flags.get(), (x > y) & (x != 3) | (y <= 1))


def test_types_of_each_mode():
    """float32 times 2.5 is float32 in both modes. int32 plus uint32 is int64 in NumPy's mode and uint32 in C++'s."""
    for mode, expected in (('numpy', [2 ** 32 + 4, 1]), ('cuda', [4, 0])):
        @jit.rawkernel(mode=mode)
        def f(x, y, out):
            out[0] = x[0] + y[0]
            out[1] = x[0] - 6 < y[0] - y[0]

        out = cupy.zeros(2, 'int64')
        f((1,), (1,), (cupy.array([5], 'int32'), cupy.array([2 ** 32 - 1], 'uint32'), out))
        assert out.tolist() == expected, mode


def test_arrays_of_any_layout():
    @jit.rawkernel()
    def swap(x, y):
        i, j = jit.grid(2)
        rows, columns = x.shape
        if i < rows and j < columns:
            y[j, i] = x[i, j] + x.strides[1] // 8 * 1000 + x.ndim * 100

    x = cupy.arange(60.).reshape(6, 10)[::-2, ::3]
    y = cupy.zeros((8, 3))[::2]
    swap((2, 1), (2, 5), (x, y))
    numpy.testing.assert_array_equal(y.get(), x.get().T + 3200)
    swap((1, 1), (1, 1), (x[:0], y))  # nothing is written
    scalar = cupy.zeros(())

    @jit.rawkernel()
    def store(x, value):
        x[()] = value

    for value in (3, 2.5, True, numpy.float32(0.5)):
        store((1,), (1,), (scalar, value))
        assert scalar.get() == value


def test_loops_and_branches():
    @jit.rawkernel()
    def f(out, n, step):
        total = 0
        for i in range(n, -n, -step):
            if i == 1:
                continue
            elif i == -3:
                break
            total += i
        out[0] = total
        out[1] = i
        count = 0
        while min(count, out[2] + 200) < 100:  # a condition is evaluated each time
            count += 7
        out[2] = count
        for k in jit.range(3, unroll=True):
            out[3] += k * FOUR
        if FOUR == 5:  # decided when the kernel is compiled, so invalid code in a dead branch is accepted
            out[99, 99] = unknown  # noqa: F821
        a, b = 1, 2
        a, b = b, a
        out[4] = a * 10 + b

    for n, step in ((5, 1), (5, 2), (0, 1), (1, 1)):
        out = cupy.full(5, -1, 'int64')
        f((1,), (1,), (out, n, step))
        total, i = 0, -1
        for i in range(n, -n, -step):
            if i == 1:
                continue
            elif i == -3:
                break
            total += i
        found = out.tolist()
        assert found[0] == total and found[2:] == [105, -1 + 12, 21]
        assert n == 0 or found[1] == i


def test_memory_of_a_group_and_functions():
    @jit.rawkernel(device=True)
    def turned(memory, n):
        return memory[n - 1 - jit.threadIdx.x] * FOUR

    @jit.rawkernel()
    def f(x, y):
        fixed = jit.shared_memory(numpy.int32, 8)
        free = jit.shared_memory(numpy.float32, None)
        i = jit.grid(1)
        fixed[jit.threadIdx.x] = x[i]
        free[jit.threadIdx.x] = 0.5
        jit.syncthreads()
        y[i] = fixed[jit.blockDim.x - 1 - jit.threadIdx.x] + free[jit.threadIdx.x]

    x, y = cupy.arange(16, dtype='i'), cupy.zeros(16)
    f[2, 8](x, y, shared_mem=32)
    numpy.testing.assert_array_equal(y.get().reshape(2, 8), numpy.arange(16).reshape(2, 8)[:, ::-1] + 0.5)

    @jit.rawkernel()
    def g(x, y):
        y[jit.threadIdx.x] = turned(x, jit.blockDim.x) + cupy.sqrt(x[jit.threadIdx.x] * 1.0)

    g[1, 16](x, y)
    numpy.testing.assert_allclose(y.get(), numpy.arange(16)[::-1] * 4 + numpy.sqrt(numpy.arange(16)), rtol=1e-6)


def test_atomic_operations():
    @jit.rawkernel()
    def g(x, counts, most, last, wrap):
        i = jit.grid(1)
        jit.atomic_add(counts, x[i] % 3, 1)
        jit.atomic_sub(counts, 3, 2)
        jit.atomic_max(most, 0, x[i])
        jit.atomic_min(most, 1, -x[i])
        jit.atomic_xor(most, 2, x[i])
        jit.atomic_exch(last, 0, 7.5)
        jit.atomic_inc(wrap, 0, 9)
        jit.atomic_dec(wrap, 1, 9)

    x = numpy.arange(64, dtype='i') * 5 % 47
    counts, most, last, wrap = cupy.zeros(4, 'i'), cupy.zeros(3, 'int64'), cupy.zeros(1, 'f'), cupy.zeros(2, 'u4')
    g((4,), (16,), (cupy.asarray(x), counts, most, last, wrap))
    assert counts.tolist() == numpy.bincount(x % 3, minlength=3).tolist() + [-128]
    assert most.tolist() == [x.max(), -x.max(), numpy.bitwise_xor.reduce(x)] and last.get() == 7.5
    assert wrap.tolist() == [64 % 10, (10 - 64 % 10) % 10]


def refused(error, match, *args):
    def check(f):
        with pytest.raises(error, match=match):
            jit.rawkernel()(f)((1,), (1,), args)
    return check


def test_unsupported_python_raises():
    """Each error names the function and the line."""
    x = cupy.zeros(3)

    @refused(NameError, r'Unbound name: nowhere\n  in f, line \d+: y = nowhere', x)
    def f(x):
        y = nowhere  # noqa: F821, F841

    @refused(TypeError, 'Data type mismatch of variable: `y`: it is int32, the value is float32', x)
    def f(x):
        y = 1
        y = 2.5  # noqa: F841

    @refused(NotImplementedError, 'Try cannot be in a kernel\n  in f, line', x)
    def f(x):
        try:
            x[0] = 1
        finally:
            pass

    @refused(IndexError, 'an array of 1 axes is indexed by 2 numbers', x)
    def f(x):
        x[0, 0] = 1

    @refused(TypeError, 'an index: expected integers', x)
    def f(x):
        x[0.5] = 1

    @refused(TypeError, 'a kernel cannot return a value', x)
    def f(x):
        return 1

    @refused(TypeError, 'need range', x)
    def f(x):
        for y in x.shape:
            x[0] = y

    @refused(TypeError, 'a kernel cannot call', x)
    def f(x):
        x[0] = print(x[0])

    @refused(ValueError, 'cannot unpack 2 values into 3 variables', x)
    def f(x):
        a, b, c = jit.grid(2)  # noqa: F841

    @refused(TypeError, 'is no tuple|must be an int', x)
    def f(x):
        y = jit.grid('one')  # noqa: F841

    @refused(TypeError, 'elements of float64 are not among int32, uint32', x)
    def f(x):
        jit.atomic_and(x, 0, 1)

    @refused(TypeError, 'takes 2 arguments, given 1', x)
    def f(x, y):
        pass

    @refused(TypeError, 'must be a cupy.ndarray or a number', [1, 2])
    def f(x):
        pass

    @jit.rawkernel(device=True)
    def endless(x):
        return endless(x)

    @refused(ValueError, 'a function that calls itself', x)
    def f(x):
        x[0] = endless(1)

    with pytest.raises(ValueError, match='called by kernels, not by the host'):
        endless((1,), (1,), (x,))
    with pytest.raises(RuntimeError, match='jit.syncthreads is called by kernels'):
        jit.syncthreads()
    with pytest.raises(ValueError, match="mode must be 'cuda' or 'numpy'"):
        jit.rawkernel(mode='python')
    with pytest.raises(AttributeError, match='cooperative groups, CUB and Thrust'):
        jit.cg
    with pytest.raises(ValueError, match='a function defined by def'):
        jit.rawkernel()(lambda x: x)((1,), (1,), (x,))


def test_a_text_for_each_combination_of_types():
    @jit.rawkernel()
    def f(x):
        x[0] = 1

    assert f.cached_codes == {}
    for x in (cupy.zeros(3), cupy.zeros(5), cupy.zeros(3)[::2]):
        f((1,), (1,), (x,))
    assert len(f.cached_codes) == 1 and 'jit_f(double* v_x' in f.cached_code
    f((1,), (1,), (cupy.zeros(3, 'f'),))
    f((1,), (2,), (cupy.zeros(3, 'f'),))
    assert len(f.cached_codes) == 2


def test_warps_are_for_cards():
    @jit.rawkernel()
    def f(x):
        x[0] = jit.shfl_sync(0xffffffff, x[0], 0)

    if cupy.cuda.Device().name.startswith('opencl'):
        with pytest.raises(CompileException, match='shfl_sync'):
            f((1,), (1,), (cupy.zeros(1, 'f'),))
