"""CuPy's kernels as OpenCL C: each text is computed by PoCL and, as C++ with carray.cuh, by the host's compiler."""

import math

import numpy
import pytest

from catenary.cupy._translator import translate as _translate
from catenary.cupy._translator.translate import Parameter, Untranslatable
import opencl
import two_ways
from two_ways import Argument

FLOATS = ['float16', 'float32', 'float64']
INTEGERS = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
TOLERANCE = {'float16': 4e-3, 'float32': 2e-6, 'float64': 1e-14}

pytestmark = pytest.mark.kernels


@pytest.fixture(scope='module')
def device():
    return opencl.OpenCL()


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('host')


def numbers(shape, dtype, seed=0):
    values = numpy.random.RandomState(seed)
    if dtype == 'bool':
        return numpy.asarray(values.rand(*shape) > 0.5)
    if dtype in FLOATS:
        return numpy.asarray(values.uniform(0.25, 1.75, shape), dtype)
    return numpy.asarray(values.randint(1, 5, shape), dtype)


def like(array, layout):
    """The array laid out in memory in another way."""
    if layout == 'F':
        return numpy.asfortranarray(array)
    if layout == 'reversed':
        return array.copy()[tuple(slice(None, None, -1) for _ in array.shape)]
    if layout == 'strided':
        wide = numpy.zeros(tuple(2 * n + 1 for n in array.shape), array.dtype)
        view = wide[tuple(slice(1, None, 2) for _ in array.shape)]
        view[...] = array
        return view
    return array.copy()


def both(folder, device, arguments, operation, types, shape, expected=None, **more):
    host, translated = two_ways.elementwise(folder, device, arguments, operation, types, shape, **more)
    for k, (a, b) in enumerate(zip(host, translated)):
        tolerance = TOLERANCE.get(str(a.dtype), 0)
        numpy.testing.assert_allclose(b.astype('f8'), a.astype('f8'), rtol=tolerance, atol=tolerance)
        if expected is not None:
            numpy.testing.assert_allclose(b.astype('f8'), numpy.asarray(expected[k]).astype('f8'), rtol=4 * tolerance,
                                          atol=4 * tolerance)
    return translated


def out(name, dtype, shape, kind='element'):
    return Argument(name, dtype, kind, numpy.zeros(shape, dtype), True)


def given(name, dtype, shape, kind='element', layout='C', seed=0):
    return Argument(name, dtype, kind, like(numbers(shape, dtype, seed), layout))


@pytest.mark.parametrize('dtype', ['bool'] + INTEGERS + FLOATS)
@pytest.mark.parametrize('layout, shape', [('C', (3, 4)), ('F', (3, 4)), ('reversed', (5, 2)), ('strided', (2, 3, 2)),
                                           ('C', ()), ('C', (0, 3))])
def test_elements_of_every_dtype_and_layout(folder, device, dtype, layout, shape):
    x, y = given('x', dtype, shape, layout=layout), given('y', dtype, shape, layout='C', seed=1)
    z = Argument('z', dtype, 'element', like(numpy.zeros(shape, dtype), layout), True)
    expected = x.value ^ y.value if dtype == 'bool' else x.value * y.value + x.value
    both(folder, device, [x, y, z], 'z = x != y' if dtype == 'bool' else 'z = x * y + x', {'T': dtype}, shape, [expected])


@pytest.mark.parametrize('group', [1, 4])
def test_both_kinds_of_loops(folder, device, group):
    x = given('x', 'float32', (1001,))
    both(folder, device, [x, out('y', 'float32', (1001,))], 'y = x + i', {}, (1001,),
         [x.value + numpy.arange(1001)], group=group)


@pytest.mark.parametrize('dtype', FLOATS)
def test_casts(folder, device, dtype):
    both(folder, device, [given('x', dtype, (7,)), out('y', dtype, (7,)), out('k', 'int32', (7,))], '''
        T a = static_cast<T>(3) / static_cast<T>(int(x * 4) + 1), b = T(2);
        y = (T)a * b + (T)-0.5 + float(1) + static_cast<T>((int)x);
        k = static_cast<int>(x * 10) + (int)(unsigned char)257 + (unsigned int)3u + (long long)x;''', {'T': dtype}, (7,))


@pytest.mark.parametrize('dtype', FLOATS)
def test_templates_and_references(folder, device, dtype):
    both(folder, device, [given('x', dtype, (6,)), out('y', dtype, (6,)), out('k', 'int32', (6,))], '''
        T low, high; int floor_;
        split_it(x, low, high, floor_);
        y = twice(low) + scaled<T>(high, 3) + twice(x > 1 ? x : (T)0);
        k = floor_ + twice(int(i)) + add_to(floor_, 2) + floor_;''', {'T': dtype}, (6,), preamble='''
        template <typename T> __device__ T twice(T x) { const T half = 0.5; return x * 2 + half - half; }
        template <typename T, typename U>
        __device__ __forceinline__ T scaled(const T& x, U by) { return x * static_cast<T>(by); }
        __device__ static inline int add_to(int& x, const int y) { x += y; return x; }
        template <typename T> __device__ void split_it(T x, T& low, T& high, int &whole) {
            whole = static_cast<int>(x); low = x - whole; high = twice(low); if (x < 0) return; high = -high;
        }''')


def test_a_helper_of_the_kernels_type_and_macros(folder, device):
    both(folder, device, [given('x', 'float32', (6,)), out('y', 'float32', (6,))], 'ROUTINE y = poly(ax) + ax;',
         {'T': 'float32'}, (6,), preamble='''
        #define SQUARE(v) ((v) * (v))
        #define ROUTINE \\
            T ax = tanh(x); \\
            ax = SQUARE(ax);
        __device__ inline T poly(T x) { const T A = 0.5, B = 0.25; return x * (A + x * B); }
        ''')


def test_directives_at_the_end_of_texts(folder, device):
    both(folder, device, [given('x', 'float32', (6,)), out('y', 'float32', (6,))], 'y = once(x);\n#ifdef TWICE\ny += x;\n#endif\n',
         {}, (6,), [numbers((6,), 'float32') * 2], preamble='''
        #define TWICE
        __device__ float once(float x) {
            #ifdef TWICE
            return x;
            #endif
        }''')


def test_a_helper_that_nobody_calls_is_left_out():
    text = _translate.elementwise('k', [Parameter('y', 'float32', out=True)], 'y = 1', {'T': 'float32'},
                                  preamble='__device__ T unused(T* p) { return __shfl_sync(0, p[0], 1); }')
    assert 'unused' not in text


@pytest.mark.parametrize('dtype', ['bool', 'uint8', 'int32', 'float16', 'float32', 'float64'])
@pytest.mark.parametrize('layout', ['C', 'F', 'strided', 'reversed'])
def test_raw_arrays(folder, device, dtype, layout):
    r = Argument('r', dtype, 'raw', like(numbers((4, 3), dtype, 2), layout), True)
    both(folder, device, [given('x', dtype, (4, 3), 'raw', layout), r, out('y', 'float32', (4,)),
                          out('n_', 'int64', (4,))], '''
        ptrdiff_t ind[] = {i, 2};
        T v = x[ind];
        int at[2] = {static_cast<int>(i), 0};
        r[at] = v;
        r[3 * i + 1] += x[3 * i + 1] * 2;
        y = x[i * 3] + r[ind] + (x[i] > 0 ? x[i + 1] : x[i + 2]);
        n_ = x.size() * 1000 + x.shape()[0] * 100 + x.shape()[1] * 10 + x.ndim + x.strides()[1];
        ''', {'T': dtype}, (4,))


@pytest.mark.parametrize('dtype', ['uint8', 'float16', 'float32'])
def test_steps_and_addresses(folder, device, dtype):
    r = Argument('r', dtype, 'raw', numbers((8,), dtype, 2), True)
    both(folder, device, [r, out('y', 'float32', (2,))], '''
        y = r[i]++ + 1; ++r[i + 2]; r[i + 4]--; r[i + 6] *= r[i] - 1, y += 1;
        T* p = &r[i + 2];
        p[0] = p[0] + 3; y += *p; *p = 2;''', {'T': dtype}, (2,))


@pytest.mark.parametrize('dtype', ['bool', 'float16', 'float32'])
def test_pointers_that_move(folder, device, dtype):
    r = Argument('r', dtype, 'raw', numbers((8,), dtype, 2), True)
    both(folder, device, [r, out('y', 'float32', (1,))], '''
        T* p = r_of(&r[0]); y = *(p + 1) + *p; (*p) = 0; *(p + 2) = *(p + 3); *p++ = 1; y += *p; --p; ((p + 1))[1] = *p;''',
         {'T': dtype}, (1,), preamble='#define r_of(p) (p)')


@pytest.mark.parametrize('layout', ['C', 'strided'])
def test_the_index(folder, device, layout):
    x = given('x', 'float32', (2, 3), layout=layout)
    r = given('r', 'float32', (2, 3), 'raw', layout)
    y, = both(folder, device, [x, r, out('y', 'float32', (2, 3))],
              'y = 100 * _ind.get()[0] + 10 * _ind.get()[1] + _ind.size() + n + x + r[_ind.get()]', {}, (2, 3))
    numpy.testing.assert_allclose(y, 100 * numpy.arange(2)[:, None] + 10 * numpy.arange(3) + 12 + x.value + r.value)


@pytest.mark.parametrize('dtype', ['int32', 'uint32', 'int64', 'uint64', 'float16', 'float32', 'float64'])
def test_atomic_additions(folder, device, dtype):
    r = Argument('r', dtype, 'raw', numpy.zeros((3,), dtype), True)
    sums, = both(folder, device, [given('x', dtype, (300,)), r], 'atomicAdd(&r[i % 3], (T)(x > 1 ? 2 : 1))', {'T': dtype},
                 (300,), group=4)
    x = numpy.where(numbers((300,), dtype) > 1, 2, 1)
    numpy.testing.assert_array_equal(sums, x.reshape(100, 3).sum(0).astype(dtype))


@pytest.mark.parametrize('dtype', ['int32', 'uint32', 'int64', 'uint64', 'float16', 'float32', 'float64'])
def test_atomic_additions_give_what_was_there(folder, device, dtype):
    n = 500
    sums, before = two_ways.elementwise(
        folder, device, [Argument('r', dtype, 'raw', numpy.zeros((3,), dtype), True), out('y', dtype, (n,))],
        'y = atomicAdd(&r[1], (T)1)', {'T': dtype}, (n,))[1]
    assert sums.tolist() == [0, n, 0] and sorted(before.tolist()) == list(range(n))


def test_atomic_operations_on_integers(device):
    text = _translate.elementwise('k', [Parameter('r', 'int32', 'raw')], '''
        atomicMax(&r[0], (int)i); atomicMin(&r[1], -(int)i); atomicOr(&r[2], 1 << (i % 8)); atomicExch(&r[3], 7);
        atomicCAS(&r[4], 5, 6); atomicSub(&r[5], 2); int before = atomicAdd(&r[6], 1); if (before == 99) r[7] = before;''',
                                  {}, ndim=1, group=4)
    r = numpy.array([0, 0, 0, 0, 5, 0, 0, 0], 'int32')
    device.run(text, 'k', [r, numpy.int64(0), numpy.int64(8), numpy.int64(1), numpy.int64(100), numpy.int64(100)], 3, 4)
    assert r.tolist() == [99, -99, 255, 7, 6, -200, 100, 99]


@pytest.mark.parametrize('dtype', FLOATS)
def test_functions_of_mixed_types(folder, device, dtype):
    both(folder, device, [given('x', dtype, (9,)), given('k', 'int32', (9,)), out('y', dtype, (9,)), out('m', 'int64', (9,))],
         '''
        y = exp(-x) + log(x) + sqrt(x) * rsqrt(x) + pow(x, (T)2) + tanh(x) + fabs(-x) + abs(x) + floor(x) + ceil(x)
            + max(x, (T)1) + min((T)1., x) + atan2(x, (T)2) + log1p(x) + expm1(x) + round(x * 4) + fmod(x, (T)0.5)
            + sin(k) * 0.001 + isnan(x) + isinf(x) + !isfinite(x);
        m = max(k, 3) + min(i, (ptrdiff_t)4) + abs(k - 3) + max(2, (int)k) + __float_as_int(__int_as_float(5))
            + max(k, 5000000000ll) + min(-5000000000ll, k) + 10 * (max(0.1f, 0.2) == 0.2);''',
         {'T': dtype}, (9,))


INTRINSICS = {  # on a float x, and integers k, w of 32 and 64 bits, whose bits are those of u and v
    '__ffs(k)': lambda x, k, w, u, v: (u & -u).bit_length(), '__ffsll(w)': lambda x, k, w, u, v: (v & -v).bit_length(),
    '__clz(k)': lambda x, k, w, u, v: 32 - u.bit_length(), '__clzll(w)': lambda x, k, w, u, v: 64 - v.bit_length(),
    '__popc(k)': lambda x, k, w, u, v: bin(u).count('1'), '__popcll(w)': lambda x, k, w, u, v: bin(v).count('1'),
    '__mulhi(k, 1234567890)': lambda x, k, w, u, v: k * 1234567890 >> 32,
    '__umulhi(k, 3234567890u)': lambda x, k, w, u, v: u * 3234567890 >> 32,
    '(long long)__umul64hi(w, 12345678901234567890ull)': lambda x, k, w, u, v: signed(v * 12345678901234567890 >> 64),
    '__mul24(k % 5000, -4321)': lambda x, k, w, u, v: int(math.fmod(k, 5000)) * -4321,
    '__float2int_rn(x)': lambda x, k, w, u, v: round(x), '__float2int_rz(x)': lambda x, k, w, u, v: math.trunc(x),
    '__float2int_ru(x)': lambda x, k, w, u, v: math.ceil(x), '__float2int_rd(x)': lambda x, k, w, u, v: math.floor(x),
    '(long long)(__saturatef(x) * 4)': lambda x, k, w, u, v: int(min(max(x, 0), 1) * 4),
    '__float_as_int(x)': lambda x, k, w, u, v: int(numpy.float32(x).view('i4')),
    '__double_as_longlong(x)': lambda x, k, w, u, v: int(numpy.float64(x).view('i8'))}


def signed(bits):
    return bits - (bits >> 63 << 64)


def test_intrinsics(device):
    x = numpy.array([2.5, -2.5, 3.5, 0.25, -0.75, 1e6, 0, -7], 'f4')
    k = numpy.array([0, 1, -1, 40, -64, 2**31 - 1, -2**31, 123456], 'i4')
    w = numpy.array([0, 1, -1, 5 << 40, -64, 2**63 - 1, -2**63, 1 << 33], 'i8')
    n, one = len(x), numpy.int64(1)
    y = numpy.zeros((len(INTRINSICS), n), 'i8')
    text = _translate.elementwise('k', [Parameter('x', 'float32'), Parameter('k', 'int32'), Parameter('w', 'int64'),
                                        Parameter('y', 'int64', 'raw', 2)],
                                  '; '.join('y[i + %d] = %s' % (at * n, name) for at, name in enumerate(INTRINSICS)), {}, group=4)
    device.run(text, 'k', [x, one * 0, k, one * 0, w, one * 0, y, one * 0, one * len(y), one * n, one * n, one, one * n, one * n], 2, 4)
    for (name, expected), found in zip(INTRINSICS.items(), y.tolist()):
        assert found == [expected(float(a), int(b), int(c), int(b) % 2**32, int(c) % 2**64) for a, b, c in zip(x, k, w)], name


def test_functions_of_the_library(device):
    x = numpy.linspace(-0.9, 0.9, 7)
    y = numpy.zeros((5, 7))
    text = _translate.elementwise('k', [Parameter('x', 'float64'), Parameter('y', 'float64', 'raw', 2)], '''
        y[i] = erfinv(x); y[i + 7] = erfcinv(x + 1); y[i + 14] = normcdf(x); y[i + 21] = normcdfinv(x / 2 + 0.5);
        y[i + 28] = erfcx(x);''', {}, group=4)
    one = numpy.int64(7)
    device.run(opencl.library_prelude() + text, 'k', [
        x, numpy.int64(0), y, numpy.int64(0), numpy.int64(5), one, one, numpy.int64(1), one, one], 2, 4)
    for k in range(7):
        assert abs(math.erf(y[0, k]) - x[k]) < 1e-12 and abs(math.erfc(y[1, k]) - (x[k] + 1)) < 1e-12
        assert abs(y[2, k] - math.erfc(-x[k] / math.sqrt(2)) / 2) < 1e-12
        assert abs(math.erfc(-y[3, k] / math.sqrt(2)) / 2 - (x[k] / 2 + 0.5)) < 1e-12
        assert abs(y[4, k] - math.exp(x[k] ** 2) * math.erfc(x[k])) < 1e-12


def test_a_parameter_called_n(folder, device):
    both(folder, device, [Argument('n', 'int32', 'scalar', 3), given('x', 'float32', (6,)), out('y', 'float32', (6,))],
         'y = x * n', {}, (6,), [numbers((6,), 'float32') * 3])
    x = given('x', 'int32', (2, 3))
    host, translated = two_ways.reduction(folder, device, [x, Argument('n', 'int32', 'scalar', 3), out('y', 'int32', (2,))],
                                          ('x * n', 'a + b', 'y = a + n', '0'), {}, (2, 3), 3)
    assert translated.tolist() == host.tolist() == (x.value.sum(1) * 3 + 3).tolist()


def test_conditions_of_floats(folder, device):
    both(folder, device, [given('x', 'float32', (6,)), out('y', 'float32', (6,))], '''
        float z = x - x; y = x ? 1 : 2; y += (z ? 3 : 4) + (i > 2 ? 5 : z ? 6 : 7); if (z) y = 0;
        y += !z + (x && z) + abs(z ? x : -x);''', {}, (6,))


def test_leaving_the_operation(folder, device):
    """`continue` and `return` leave the element, with what it has written so far."""
    x = given('x', 'float32', (40,))
    x.value[::3] = 9
    host, translated = two_ways.elementwise(folder, device, [x, out('y', 'float32', (40,))], '''
        y = 1;
        if (x > 5) continue;
        for (int k = 0; k < 3; ++k) { if (k == 1) continue; y += 1; }''', {}, (40,))
    numpy.testing.assert_array_equal(host[0], translated[0])
    text = _translate.elementwise('k', [Parameter('x', 'float32'), Parameter('y', 'float32', out=True)], '''
        y = 1; if (x > 5) return; y = 3;''', {}, group=4)
    y = numpy.zeros(40, 'f')
    device.run(text, 'k', [x.value, numpy.int64(0), y, numpy.int64(0), numpy.int64(40), numpy.int64(40)], 2, 4)
    numpy.testing.assert_array_equal(y, numpy.where(x.value > 5, 1, 3))


def test_before_and_after_the_loop(folder, device):
    both(folder, device, [given('x', 'float32', (9,), 'raw'), out('y', 'float32', (9,))], 'y = x[i] * scale; last = i',
         {}, (9,), loop_prep='float scale = x[0]; int last = 0;', after_loop='if (last > 100) { scale = 0; }')


def test_names_that_opencl_reserves(folder, device):
    both(folder, device, [given('global', 'float32', (5,)), given('kernel', 'float32', (5,), 'raw'),
                          Argument('constant', 'int32', 'scalar', 3), out('half', 'float32', (5,))], '''
        float local = global * 2, float2 = 1; int pipe = constant;
        half = local + kernel[i] + pipe + float2;''', {}, (5,))


@pytest.mark.parametrize('dtype, value', [('bool', 1), ('int8', -3), ('uint64', 2 ** 63 + 5), ('float16', 0.5),
                                          ('float32', 0.1), ('float64', 0.1)])
def test_scalars(folder, device, dtype, value):
    both(folder, device, [Argument('s', dtype, 'scalar', value), out('y', dtype, (3,))], 'y = s', {'T': dtype}, (3,),
         [numpy.full(3, value, dtype)])


@pytest.mark.parametrize('dtype', ['int32', 'float16', 'float32', 'float64'])
@pytest.mark.parametrize('shape, rows, layout', [((4, 5), 5, 'C'), ((3, 2, 4), 8, 'strided'), ((7,), 7, 'reversed'),
                                                 ((4, 0), 0, 'C'), ((), 1, 'C')])
@pytest.mark.parametrize('chunks', [1, 3])
def test_reductions(folder, device, dtype, shape, rows, layout, chunks):
    x = given('x', dtype, shape, layout=layout)
    outs = x.value.size // rows if rows else shape[0]
    a = out('y', dtype, (outs,))
    host, translated = two_ways.reduction(folder, device, [x, Argument('scale', 'int32', 'scalar', 2), a],
                                          ('x * (T)2', 'a + b', 'y = a / scale', '0'), {'T': dtype}, shape, rows,
                                          chunks=chunks)
    expected = (x.value.astype('f8') * 2).reshape(outs, rows).sum(1) / 2
    tolerance = TOLERANCE.get(dtype, 0)
    numpy.testing.assert_allclose(translated.astype('f8'), expected, rtol=2 * tolerance)
    numpy.testing.assert_allclose(host.astype('f8'), expected, rtol=8 * tolerance)


def test_a_reduction_over_raw_arrays_and_into_what_is_there(folder, device):
    t = Argument('t', 'int32', 'element', numpy.array([[0, 1, 2], [2, 1, 0]], 'int32'))
    w = given('w', 'float32', (3,), 'raw', 'strided')
    y = Argument('y', 'float32', 'element', numpy.array([10, 20], 'float32'), True)
    host, translated = two_ways.reduction(folder, device, [t, w, y], ('t == 2 ? T(0) : w[t] * (_j + 1)', 'a + b', 'y += a',
                                                                     '0'), {'T': 'float32'}, (2, 3), 3)
    v = w.value
    expected = [10 + v[0] + 2 * v[1], 20 + 5 * v[1] + 6 * v[0]]
    numpy.testing.assert_allclose(translated, expected, rtol=1e-6)
    numpy.testing.assert_allclose(host, expected, rtol=1e-6)


def test_a_reduction_that_reads_the_index(folder, device):
    x = given('x', 'float32', (2, 3))
    host, translated = two_ways.reduction(folder, device, [x, out('y', 'float32', (2,))], (
        'x * _ind.get()[1] + _ind.size()', 'a + b', 'y = a', '0'), {}, (2, 3), 3)
    numpy.testing.assert_allclose(translated, (x.value * numpy.arange(3) + 6).sum(1), rtol=1e-6)
    numpy.testing.assert_allclose(host, translated, rtol=1e-6)


@pytest.mark.parametrize('chunks', [1, 2])
def test_a_maximum_with_parameters_called_a_and_b(folder, device, chunks):
    a, b = given('a', 'float64', (2, 6)), given('b', 'float64', (2, 6), seed=3)
    host, translated = two_ways.reduction(folder, device, [a, b, out('y', 'float64', (2,))], (
        'a * b', 'max(a, b)', 'y = a', '-1e300'), {}, (2, 6), 6, chunks=chunks)
    numpy.testing.assert_allclose(translated, (a.value * b.value).max(1))
    numpy.testing.assert_allclose(host, translated)


# ---------------------------------------------------------------------- whole kernels
def launch(device, code, name, arguments, groups, group, memory=0):
    values = []
    for argument in arguments:
        values += [argument, numpy.int64(0)] if isinstance(argument, numpy.ndarray) else [argument]
    text, _, dynamic = _translate.raw(code, name)
    assert dynamic == bool(memory)
    device.run(two_ways.with_library(text), name, values, groups, group, memory)


def test_a_whole_kernel(device):
    x, y, z = numbers((100,), 'float32'), numbers((100,), 'float32', 1), numpy.zeros(100, 'f')
    launch(device, r'''
    #define TYPE float
    extern "C" {
    __global__ void test_sum(const TYPE* x1, const TYPE* __restrict__ x2, TYPE* y, \
                             unsigned int N)
    {
        unsigned int tid = blockDim.x * blockIdx.x + threadIdx.x;
        if (tid < N) y[tid] = x1[tid] + x2[tid];
    }
    __global__ void refused() { asm("nop"); }
    }''', 'test_sum', [x, y, z, numpy.uint32(90)], 13, 8)
    numpy.testing.assert_array_equal(z, numpy.where(numpy.arange(100) < 90, x + y, 0))


@pytest.mark.parametrize('shared, memory', [('__shared__ float t[8];', 0), ('extern __shared__ float t[];', 32)])
def test_shared_memory(device, shared, memory):
    x = numbers((32,), 'float32')
    y = numpy.zeros(32, 'f')
    launch(device, '''
    __device__ void swap_in(float* to, const float* from, int n) { to[n - 1 - threadIdx.x] = from[threadIdx.x]; }
    extern "C" __global__ void reverse(const float* x, float* y) {
        %s
        const float* start = x + blockIdx.x * blockDim.x;
        swap_in(t, start, 8);
        __syncthreads();
        y[blockIdx.x * blockDim.x + threadIdx.x] = t[threadIdx.x];
    }''' % shared, 'reverse', [x, y], 4, 8, memory)
    numpy.testing.assert_array_equal(y.reshape(4, 8), x.reshape(4, 8)[:, ::-1])


def test_two_axes_and_tiles(device):
    a, b = numbers((16, 8), 'float32'), numbers((8, 12), 'float32', 1)
    c = numpy.zeros((16, 12), 'f')
    launch(device, '''
    #define TILE 4
    #define at(p, row, column, width) p[(row) * (width) + (column)]
    extern "C" __global__ void matmul(const float* A, const float* B, float* C, int K, int N) {
        __shared__ float sA[TILE][TILE + 1], sB[TILE][TILE];
        int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
        float total = 0.0f;
        const float *pa = A, *pb;
        pb = B;
        #pragma unroll
        for (int k = 0; k < K; k += TILE) {
            sA[threadIdx.y][threadIdx.x] = at(pa, row, k + threadIdx.x, K);
            sB[threadIdx.y][threadIdx.x] = at(pb, k + threadIdx.y, column, N);
            __syncthreads();
            for (int j = 0; j < TILE; ++j) total = fmaf(sA[threadIdx.y][j], sB[j][threadIdx.x], total);
            __syncthreads();
        }
        C[row * N + column] = total;
    }''', 'matmul', [a, b, c, numpy.int32(8), numpy.int32(12)], (3, 4), (4, 4))
    numpy.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_halves_and_addresses_in_a_whole_kernel(device):
    x = numbers((20,), 'float16')
    y = numpy.zeros(20, 'f2')
    launch(device, '''
    #include <cuda_fp16.h>
    template <typename T> __device__ T pick(const T* p, int i) { return p[i]; }
    __constant__ float table[] = {1.f, 2.f};
    const int COUNT = 20;
    extern "C" __global__ void halves(const half* x, __half* y, float16 add, bool all) {
        int i = threadIdx.x + blockIdx.x * blockDim.x;
        if (i >= COUNT) return;
        half* p = (half*)(y + i);
        float v = __half2float(x[i]);
        *p = __float2half(v) + add;
        ((half*)y)[i] += (half)table[i % 2] + pick(x, i);
        if (all && i == 0) y[i] = x[i];
    }''', 'halves', [x, y, numpy.float16(0.5), numpy.uint8(1)], 6, 4)
    expected = (x.astype('f') * 2 + 0.5 + numpy.tile([1, 2], 10)).astype('f2')
    expected[0] = x[0]
    numpy.testing.assert_allclose(y.astype('f'), expected.astype('f'), rtol=2e-3)


def test_a_generator_of_random_numbers(folder, device):
    y, = both(folder, device, [Argument('seed', 'int32', 'scalar', 3), out('y', 'float64', (50,))], '''
        uint64_t state[2]; start(state, i, seed); y = 0;
        for (int k = 0; k < 4; ++k) y += T(next(state)) / T(18446744073709551615ull);''', {'T': 'float64'}, (50,), preamble='''
        __device__ inline void start(uint64_t* a, int i, int seed) { a[0] = i + 1; a[1] = 0x5c721fd808f616b6 + seed; }
        __device__ inline uint64_t next(uint64_t* x) {
            uint64_t s1 = x[0], s0 = x[1];
            x[0] = s0; s1 = s1 ^ (s1 << 23); s1 = s1 ^ (s1 >> 17) ^ s0; x[1] = s1 ^ (s0 >> 26);
            return s0 + x[1];
        }''')
    assert 1.5 < y.mean() < 2.5 and y.min() >= 0 and y.max() <= 4


# ---------------------------------------------------------------------- what else C++ has
def test_classes(folder, device):
    both(folder, device, [given('x', 'float32', (8,)), out('y', 'float32', (8,)), out('k', 'int64', (8,))], '''
        Pair p = {x, (int)i}; Pair q = p, r; r = q; r.size += 2; Pair* at = &r; at->value *= 2;
        Box<float, 3> box; for (int j = 0; j < box.count; ++j) box.data[j] = x * j;
        box.put(1, 5); flags f = {true, 3}; f.on = x > 100; const Pair pairs[2] = {{1, 2}, {x, 4}};
        y = p.value + r.value + sum(box) + box.get(2) + swapped(p).value + pairs[i % 2].value;
        k = r.size + sizeof(Pair) + sizeof(Box<double, 2>) + sizeof(flags) + f.on + Box<float, 3>::count + swapped(Pair{1, 2}).size
            + Limits<float>::most + Limits<int>::most + Limits<int>::twice(4) + box.width() + KIND_B + pairs[1].size;''',
         {'T': 'float32'}, (8,), preamble='''
        struct Pair { float value; int size; };
        typedef struct { bool on; char n; short wide; } flags;
        enum Kind { KIND_A = 5, KIND_B };
        template <typename V, int N> struct Box {
            static const int count = N;
            V data[N];
            __device__ void put(int j, V v) { data[j] = v + count; }
            __device__ V get(int j) const { return data[j] + width(); }
            __device__ int width() const { return sizeof(data) / sizeof(V); }
        };
        template <typename V> struct Limits { static constexpr int most = 7; };
        template <> struct Limits<int> {
            static constexpr int most = 9;
            static __device__ int twice(int v) { return v * 2 + most; }
        };
        template <typename V, int N> __device__ V sum(const Box<V, N>& b) { V all = 0; for (int j = 0; j < N; ++j) all += b.data[j]; return all; }
        __device__ Pair swapped(Pair p) { Pair q; q.value = p.size; q.size = (int)(p.value * 8); return q; }''')


def test_vectors(device):
    """Of CUDA's sizes, alignments and places: a float3 has 12 bytes."""
    x, y, z, n = numbers((24,), 'float32'), numpy.zeros(12, 'f'), numpy.zeros(6, 'f'), numpy.zeros(8, 'i4')
    launch(device, '''
    __device__ float4 scaled(float4 v, float by) { v.x *= by; v.w = v.w * by; return v; }
    __device__ void add(float3* to, const float3& v) { to->x += v.x; to->y += v.y; to->z += v.z; }
    extern "C" __global__ void vectors(const float4* x, float4* y, int2* n, float* out) {
        int i = threadIdx.x;
        if (i < 3) {
            float4 v = x[i];
            v = scaled(v, 2.0f);
            y[i] = make_float4(v.x, v.y, v.z + 1, v.w);
            y[i].y += 1;
        }
        if (i == 3) {
            float3* p = (float3*)out;
            const float3* q = reinterpret_cast<const float3*>(x) + 4;
            add(p, *q); add(&p[1], q[1]);
            uchar4 b = make_uchar4(1, 2, 3, 255);
            n[0] = make_int2(sizeof(float3), sizeof(double3)); n[1].x = sizeof(uchar4) + b.w; n[1].y = alignment();
            ((int*)n)[4] = n[0].y;
        }
    }
    template <typename T> __device__ int unused() { return T::nothing; }
    __device__ int alignment() { struct Pad { char c; float4 v; }; return sizeof(Pad) + sizeof(longlong2); }'''.replace(
        'extern "C" __global__', '__device__ int alignment();\n    extern "C" __global__'), 'vectors', [x, y, n, z], 1, 4)
    expected = x[:12] * numpy.tile(numpy.array([2, 1, 1, 2], 'f'), 3) + numpy.tile(numpy.array([0, 1, 1, 0], 'f'), 3)
    numpy.testing.assert_allclose(y, expected, rtol=1e-6)
    numpy.testing.assert_array_equal(z, x[12:18])
    assert n.tolist() == [12, 24, 259, 48, 24, 0, 0, 0]


def test_templates_of_numbers(folder, device):
    both(folder, device, [given('x', 'float32', (6,)), out('y', 'float32', (6,)), out('k', 'int64', (6,))], '''
        y = power<3>(x) + power<0>(x) + scaled<float>(x) + scaled<float, 5>(x) + first(x) + chosen<true>(x) + chosen<sizeof(T) == 8>(x);
        float v[4] = {x, 1, 2, 3}; k = length(v) + halved(7) + halved(7u) + halved<short>(7) + sum<4>(v) + WIDTH * AREA;''', {'T': 'float32'},
         (6,), preamble='''
        constexpr int WIDTH = 3;
        static const long long AREA = WIDTH * WIDTH + (1LL << 33);
        template <int N> __device__ float power(float x) { float p = 1; for (int j = 0; j < N; ++j) p *= x; return p; }
        template <typename V, int N = 2> __device__ V scaled(V x) { V many[N + WIDTH]; many[N] = x; return many[N] * N; }
        template <typename V> __device__ V first(V x, V y = 3, int more = sizeof(V)) { return x + y + more; }
        template <typename V, int N> __device__ int length(V (&v)[N]) { return N; }
        template <int N> __device__ float sum(const float* v) { float all = 0; _Pragma_ for (int j = 0; j < N; ++j) all += v[j]; return all; }
        template <typename V> __device__ long long halved(V v) { return v / 2 + sizeof(V); }
        template <bool YES> __device__ float chosen(float x) {
            static_assert(WIDTH == 3, "three");
            if constexpr (YES) return x; else return x * 2;
        }'''.replace('_Pragma_', ''))


def test_overloads_and_pointers(folder, device):
    r = Argument('r', 'float32', 'raw', numbers((8,), 'float32'), True)
    both(folder, device, [r, out('y', 'float32', (1,)), out('k', 'int64', (1,))], '''
        float mine[3] = {1, 2, 3}, *rows[2] = {mine, mine + 1}; float* later; float* best = nullptr;
        later = mine; for (int j = 0; j < 3; ++j) if (!best || mine[j] > *best) best = &mine[j];
        k = which(1) + which(1.0f) * 10 + which(1ll) * 100 + which(&r[0]) * 1000 + which((short)1) * 10000 + (best - mine) + (later == mine) + at(&r[0], 2);
        float& second = mine[1]; second += 5; auto& third = mine[2]; third = 9; auto pointer = &r[1]; *pointer += 1;
        y = mine[1] + mine[2] + rows[1][1] + *most(mine, 3) + *most(&r[0], 4); float s, c; sincosf(y, &s, &c); y += s * c;
        k += llrint(2.5) + lround(2.5f) + (int)'a' + 0b101 + 017 + 1\'000; do { k++; } while (k < 0);
        switch (k % 3) { case 0: int z; z = 5; k += z; break; case WIDE: k += 7; default: k += 11; }''', {}, (1,), preamble='''
        constexpr int WIDE = 1;
        __device__ int which(int) { return 1; } __device__ int which(float) { return 2; } __device__ int which(long long) { return 3; }
        __device__ int which(const float* p) { return 4; }
        template <typename V> __device__ V at(V* p, int k) { return p[k] * 100; }
        __device__ const float* most(const float* p, int n) {
            const float* found = p;
            for (int j = 1; j < n; j++) if (p[j] > *found) found = p + j;
            return found;
        }''')


def test_macros_and_conditions(folder, device):
    both(folder, device, [given('x', 'float32', (6,)), out('y', 'float32', (6,))], '''
        #if WIDTH > 2 && defined(SCALE) && !defined(NOTHING)
          y = SCALE(x, 3) + PASTE(fi, rst)(x) + SUM(1, 2, 3) + LONG(5) + NOT_CALLED;
        #elif 1
          y = this is not read;
        #else
          y = nor this;
        #endif
        #undef SCALE
        #ifndef SCALE
          EACH(j, 3) { y += j; }
        #endif''', {}, (6,), preamble='''
        #define WIDTH (1 << 2)
        #define SCALE(a, by) \\
            ((a) * (by) + WIDTH)
        #define PASTE(a, b) a ## b
        #define SUM(...) add3(__VA_ARGS__)
        #define LONG(x) (x##LLU)
        #define first(x) first(x + 1)
        #define NOT_CALLED SCALE(SCALE(1, 2), first(0))
        #define EACH(j, n) for (int j = 0; j < n; ++j)
        __device__ float (first)(float v);
        __device__ float add3(float a, float b, float c) { return a + b * c; }'''.replace(
             '__device__ float (first)(float v);', '#undef first\n__device__ float first(float v) { return v; }\n'
             '        #define first(x) first(x + 1)'))


def test_names_of_the_standard_library(device):
    y, n = numpy.zeros(6, 'f'), numpy.zeros(6, 'i8')
    launch(device, '''
    template <class F> __device__ float applied(F f, float x) { return f.of(x) + F::shift(); }
    struct Twice { __device__ float of(float x) const { return 2 * x; } static __device__ float shift() { return 1; } };
    extern "C" __global__ void names(float* y, long long* n) {
        using F = float; typedef F* Place; Place p = y; std::size_t k = sizeof(std::int16_t);
        p[0] = std::max(1.0f, 2.0f) + std::exp(0.0f); p[1] = std::numeric_limits<F>::infinity(); p[2] = FLT_MAX; p[3] = applied(Twice(), 3);
        p[4] = M_PI; p[5] = std::numeric_limits<float>::lowest();
        n[0] = k; n[1] = std::numeric_limits<int>::max(); n[2] = std::numeric_limits<long long>::min(); n[3] = INT_MIN; n[4] = UINT_MAX;
        n[5] = std::numeric_limits<unsigned char>::max();
    }''', 'names', [y, n], 1, 1)
    most = numpy.finfo('f').max
    assert y.tolist() == [3, numpy.inf, most, 7, numpy.float32(math.pi), -most]
    assert n.tolist() == [2, 2**31 - 1, -2**63, -2**31, 2**32 - 1, 255]


def test_a_generic_kernel_of_a_class(device):
    """A class template that is for some types another one, and pointers to bytes that are read as words."""
    x, y, digest = numbers((12,), 'float32'), numpy.zeros(12, 'f'), numpy.zeros(4, 'u8')
    code = '''
    typedef unsigned char byte; typedef unsigned long int word;
    template <typename U> struct Constants { static constexpr double HALF = 0.5; };
    template <> struct Constants<float> { static constexpr float HALF = 0.25; };
    #define ROTATE(x, y) rotated(x, y)
    #define WIDE(x) (x##LLU)
    __device__ static inline word rotated(word x, signed char r) { return (x << r) | (x >> (64 - r)); }
    __device__ void mixed(const void* key, const int n, void* out) {
        const byte* data = (const byte*)key; const word* blocks = (const word *)(data); word h = WIDE(0xff51afd7ed558ccd);
        for (int i = 0; i < n / 8; i++) h = ROTATE(h ^ blocks[i], 27) * 5;
        switch (n & 7) { case 2: h ^= (word)(data[n / 8 * 8 + 1]) << 8; case 1: h ^= data[n / 8 * 8]; };
        ((word*)out)[0] = h;
    }
    template <typename T> __global__ void halved(T* y, const T* x, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = x[i] * Constants<T>::HALF;
    }
    extern "C" __global__ void digest(char* out, const char* in, int n) {
        char kept[8]; mixed(in, n, kept); for (int j = 0; j < 8; ++j) out[j] = kept[j];
    }'''
    launch(device, code, 'halved<float>', [y, x, numpy.int32(12)], 3, 4)
    numpy.testing.assert_allclose(y, x / 4)
    launch(device, code, 'digest', [digest.view('i1'), x.view('i1'), numpy.int32(18)], 1, 1)
    h = 0xff51afd7ed558ccd
    for block in x[:4].view('u8').tolist():
        h ^= block
        h = ((h << 27 | h >> 37) * 5) % 2**64
    data = x.view('u1').tolist()
    assert digest[0] == h ^ data[17] << 8 ^ data[16]


# ---------------------------------------------------------------------- what is refused
@pytest.mark.parametrize('operation, token, line', [
    ('y = x;\ny = __shfl_sync(0, x, 1)', '__shfl_sync', 2), ('asm("nop")', 'asm', 1), ('y = tex1D<T>(x, 1)', 'tex1D', 1),
    ('int* p = new int[2]', 'new', 1), ('y = x;\n\n  float* p;', 'p', 3),
    ('auto f = [](float v) { return v; }; y = f(x)', '[', 1), ('y = thrust::plus(x)', 'thrust', 1), ('return x', 'return', 1),
    ('y = r.begin()', 'begin', 1), ('int ind[] = {0, 1, 2}; y = r[ind]', 'r', 1), ('y = r.shape()[2]', '2', 1),
    ('inner<<<1, 1>>>(x)', '<<', 1), ('y = two(x)', 'two', 1), ('y = x @ 2', '@', 1), ('if (x) { y = 1', '{', 1),
    ('__shared__ float s[2]', '__shared__', 1), ('atomicAdd(&u[0], 1)', 'atomicAdd', 1),
    ('int k = 0; h[k++] += 1', 'h', 1), ('float16* p = &h[0]; *p++ += 1', 'p', 1), ('goto away', 'goto', 1), ('y = _ind.next()', '_ind', 1),
    ('float** p = 0', 'p', 1), ('float2 v = make_float2(x)', 'make_float2', 1), ('float2 v; v = v + v', '+', 1),
    ('y = x and x', 'and', 1), ('y = foo(x)', 'foo', 1), ('y = j0f(x)', 'j0f', 1), ('y = no_such_name', 'no_such_name', 1),
    ('double s; sincosf(x, &y, &s)', 'sincosf', 1), ('foo z = x', 'foo', 1), ('y = x % 2', '%', 1), ('y = exp', 'exp', 1),
    ('y = powf(x)', 'powf', 1), ('float v[i]', 'v', 1), ('y = *x', '*', 1), ('int2 v; y = v.z', 'z', 1), ('3 = y', '=', 1),
    ('unsigned int* p = &y', 'y', 1), ('float* p = &y; p = &r[0]', 'r', 1), ('y = two(x, &y)', 'two', 1), ('static int k = 1', 'static', 1),
    ('static_assert(sizeof(T) == 8, "wide")', 'static_assert', 1), ('y = sizeof(h[0])', 'sizeof', 1)])
def test_refusals_name_the_kernel_the_line_and_the_token(operation, token, line):
    parameters = [Parameter('x', 'float32'), Parameter('r', 'float32', 'raw', 2), Parameter('u', 'uint8', 'raw'),
                  Parameter('h', 'float16', 'raw'), Parameter('y', 'float32', out=True)]
    with pytest.raises(Untranslatable) as caught:
        _translate.elementwise('mine', parameters, operation, {'T': 'float32'},
                               preamble='__device__ float two(float a, float b) { return a + b; }')
    message = str(caught.value)
    assert 'kernel mine, line %d: ' % line in message and repr(token) in message
    if token != '@':
        assert operation.split('\n')[line - 1].strip() in message


@pytest.mark.parametrize('preamble, token', [
    ('#include <curand_kernel.h>\n', '#include <curand_kernel.h>'), ('union A { int x; };', 'union'),
    ('template <typename... T> __device__ int f() { return 1; }', '...'), ('using namespace std;', 'using'),
    ('__device__ float state;', '__device__'), ('__constant__ float later[4];', '__constant__'),
    ('namespace a { }', 'namespace'), ('#if defined(A) + B(2)\n#endif', '#if defined(A) + B(2)'), ('#if 1\n', '#if 1'),
    ('#warning no\n', '#warning no'), ('static_assert(sizeof(int) == 8, "wide");', 'static_assert'),
    ('struct A : B { };', ':'), ('struct A { int x; } a = {1}; struct A { int y; };', 'a')])
def test_refusals_outside_functions(preamble, token):
    with pytest.raises(Untranslatable, match='kernel mine, line 1: ') as caught:
        _translate.elementwise('mine', [Parameter('y', 'float32', out=True)], 'y = 1', {}, preamble=preamble)
    assert repr(token) in str(caught.value)


@pytest.mark.parametrize('preamble, operation, token', [
    ('struct A { int x; A(int v) : x(v) {} };', 'A a; y = a.x', 'A'), ('struct A { ~A() {} };', 'A a', '~'),
    ('struct A { int x; __device__ A operator+(A b) { return b; } };', 'A a; y = a.x', 'operator'),
    ('struct A { int x = 1; };', 'A a; y = a.x', 'x'), ('struct A { float16 x; };', 'A a', 'x'),
    ('struct A { int x; };', 'A a; y = a + a', '+'), ('struct A { int x; };', 'A a; y = a', 'a'),
    ('struct A { int x; };', 'A a = {1, 2}', '{'), ('struct A { int x; };', 'A a; y = a.z', 'z'),
    ('__device__ int f(int k) { return k ? f(k - 1) : 0; }', 'y = f(3)', 'f'),
    ('__device__ int f(int k);', 'y = f(3)', 'f'), ('__device__ int f() { asm("nop"); return 1; }', 'y = f()', 'asm'),
    ('template <int N> __device__ int f() { return N; }', 'y = f<float>()', 'f'),
    ('template <int N> __device__ int f() { return N; }', 'int k = 3; y = f<k>()', 'k'),
    ('__device__ float operator+(float2 a, float2 b) { return a.x; }', 'y = 1', 'operator'),
    ('__device__ int f(float a, double b) { return 1; } __device__ int f(double a, float b) { return 2; }', 'y = f(1, 2)', 'f'),
    ('struct A { float* p; };', 'A a; y = 1', 'A')])
def test_refusals_of_classes_and_functions(preamble, operation, token):
    with pytest.raises(Untranslatable, match='kernel mine, line 1: ') as caught:
        _translate.elementwise('mine', [Parameter('y', 'float32', out=True)], operation, {}, preamble=preamble)
    assert repr(token) in str(caught.value)


def test_a_kernel_that_the_text_lacks():
    with pytest.raises(ValueError, match="no kernel 'b'; it has a"):
        _translate.raw('extern "C" __global__ void a() {}', 'b')
    with pytest.raises(Untranslatable, match='template'):
        _translate.raw('template <typename T> __global__ void a(T* x) {}', 'a')


def test_without_float64():
    y = Parameter('y', 'float32', out=True)
    text = _translate.elementwise('k', [Parameter('x', 'float32'), y], 'y = x * 0.5 + pow(x, 2) + 1e-3 + 2.f + 7 + exp(3)', {},
                                  float64=False)
    assert 'double' not in text and 'fp64' not in text and '0.5f' in text and '1e-3f' in text and '2.f ' in text
    assert 'y = M_PI_F' in _translate.elementwise('k', [y], 'y = M_PI', {}, float64=False)
    with pytest.raises(Untranslatable, match="'DBL_MAX': double, which the device lacks"):
        _translate.elementwise('k', [y], 'y = DBL_MAX', {}, float64=False)
    with pytest.raises(Untranslatable, match="'double': double, which the device lacks"):
        _translate.elementwise('k', [y], 'double d = 1; y = d', {}, float64=False)


@pytest.mark.parametrize('operation, line', [
    ('y = 1;\n// two\nconst int k = 1; k = 2;', 3), ('y = 1 +\n  1;\n\nfor (int k = 0;\n k < 2; ++k) { y += 1;\n const int m = 1; ++m; }', 6),
    ('y = 1' + '\n' * 50 + ';const int k = 1; k = 2;', 51), ('const int k = 1;\ny = 2 +\n  ++k;', 3)])
def test_the_compilers_words_name_the_users_line(device, operation, line):
    text = _translate.elementwise('mine', [Parameter('y', 'float32', out=True)], operation, {})
    with pytest.raises(RuntimeError, match=r'mine:%d:\d+.*const' % line):
        device.build(text)


def test_the_compilers_words_name_a_helpers_line(device):
    text = _translate.elementwise('mine', [Parameter('y', 'float32', out=True)], 'y = f()', {}, preamble='\n__device__ int f() {\n'
                                  'const int k = 1;\nreturn ++k; }')
    with pytest.raises(RuntimeError, match=r'mine_preamble:4:\d+.*const'):
        device.build(text)


def integers(dtype, seed=0):
    """Numbers of a dtype from all of its range, among them the least and the largest."""
    values = numpy.random.RandomState(seed)
    info = numpy.iinfo(dtype)
    made = values.randint(0, 256, (24, info.bits // 8)).astype('u1').view(dtype).ravel()
    made[:6] = (info.min, info.max, 1, 3, info.max // 2, info.min // 2)
    return made


PAIRS = [(a, b) for k, a in enumerate(INTEGERS) for b in (a, INTEGERS[(k + 3) % 8], INTEGERS[(k + 5) % 8])]


@pytest.mark.parametrize('left, right', PAIRS)
def test_division_of_integers(folder, device, left, right):
    """Quotients go to zero and remainders have the dividend's sign, in the type that both promote to; a helper that takes what
    comes is made for that type, and so shows it."""
    x, y = integers(left), integers(right, 1)
    y = numpy.where((y == 0) | (y.astype('O') == -1), 3, y).astype(right)  # what no C defines
    arguments = [Argument('x', left, 'element', x), Argument('y', right, 'element', y), out('q', 'int64', (24,)),
                 out('r', 'int64', (24,)), out('a', 'int64', (24,)), out('h', 'int64', (24,)), out('k', 'int64', (24,))]
    both(folder, device, arguments, '''
        q = x / y; r = x % y; U v = x; v /= y; v %= 7; a = v; h = halved(x / y); k = halved(x - y) + halved((x * 3 + 1) % y);
        auto w = x / y; w /= 3; a += w; a += sizeof(w);''', {'T': left, 'U': left}, (24,),
         preamble='template <typename V> __device__ long long halved(V v) { return v / 2 + (v > 0) + sizeof(V); }')


@pytest.mark.parametrize('left, right', PAIRS)
def test_shifts_of_integers(folder, device, left, right):
    """A shift has the type of what is shifted, whatever the count's is; a right shift of negative numbers keeps the sign."""
    x = integers(left)
    y = numpy.asarray(numpy.arange(24) % (8 if numpy.dtype(left).itemsize < 8 else 31), right)
    arguments = [Argument('x', left, 'element', x), Argument('y', right, 'element', y)] + [
        out(name, 'int64', (24,)) for name in 'abcdef']
    both(folder, device, arguments, '''
        a = x >> y; b = (T)1 << y; T v = x; v >>= y; c = v; v <<= 2; c += v;
        d = halved(x >> y) + halved(x >> y | 1) + halved((x >> 1) + 1 >> y + 1);
        e = halved(-1 >> y) + halved(x >> 1 & 63) + halved(x & 63 << y) + halved(1 << y + 1 << 1) + halved(x >> y + 1ll);
        auto w = x >> y; f = w / 2 + sizeof(w) + halved(1 << 1 | y) + halved(-1 >> y ^ x);''', {'T': left}, (24,),
         preamble='template <typename V> __device__ long long halved(V v) { return v / 2 + (v > 0) + sizeof(V); }')


@pytest.mark.parametrize('dtype', ['int8', 'uint32', 'int64', 'float16', 'float32'])
def test_what_numbers_casts_and_signs_are(folder, device, dtype):
    """A helper that takes what comes shows the type that each of them is known by; a suffix is part of its value."""
    x = given('x', dtype, (12,))
    both(folder, device, [x] + [out(name, 'int64', (12,)) for name in 'abcdef'], '''
        a = -5 / 2u; b = (-5 < 1u) + (2147483647 + 1ll) + (1LL << 40) + 4000000000u / 3ul; c = seen(5u) + 10 * seen(5) + 100 * seen(5ll);
        d = seen(0u - 1) + seen(0xffull) + seen(1.5f) + 10 * seen(1.5) + 100 * seen(-5u);
        e = seen((long long)x) + 10 * seen((unsigned char)(int)x) + 100 * seen(static_cast<short>(x)) + 1000 * seen(float(x));
        f = seen(!(x > 1)) + 10 * seen(-(short)x) + 100 * seen(~(int)x);''', {'T': dtype}, (12,),
         preamble='template <typename V> __device__ long long seen(V v) { return sizeof(V) * 3 + (v / 2 > 1) + (V)(v - 7) / 3; }')
