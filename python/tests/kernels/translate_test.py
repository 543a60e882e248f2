"""CuPy's elementwise and reduction kernels as OpenCL C, compared with the host's compiler."""

import math

import numpy
import pytest

from catenary.cupy._translator import translate as _translate
from catenary.cupy._translator.translate import Parameter
import opencl
from translation import FLOATS, INTEGERS, TOLERANCE, both, device, given, like, numbers, out  # noqa: F401
import kernel_compilers
from kernel_compilers import Argument

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize('dtype', ['bool'] + INTEGERS + FLOATS)
@pytest.mark.parametrize('layout, shape', [('C', (3, 4)), ('F', (3, 4)), ('reversed', (5, 2)), ('strided', (2, 3, 2)),
                                           ('C', ()), ('C', (0, 3))])
def test_elements_of_every_dtype_and_layout(device, dtype, layout, shape):
    x, y = given('x', dtype, shape, layout=layout), given('y', dtype, shape, layout='C', seed=1)
    z = Argument('z', dtype, 'element', like(numpy.zeros(shape, dtype), layout), True)
    expected = x.value ^ y.value if dtype == 'bool' else x.value * y.value + x.value
    both(device, [x, y, z], 'z = x != y' if dtype == 'bool' else 'z = x * y + x', {'T': dtype}, shape, [expected])


@pytest.mark.parametrize('group', [1, 4])
def test_both_kinds_of_loops(device, group):
    x = given('x', 'float32', (1001,))
    both(device, [x, out('y', 'float32', (1001,))], 'y = x + i', {}, (1001,),
         [x.value + numpy.arange(1001)], group=group)


@pytest.mark.parametrize('dtype', FLOATS)
def test_casts(device, dtype):
    both(device, [given('x', dtype, (7,)), out('y', dtype, (7,)), out('k', 'int32', (7,))], '''
        T a = static_cast<T>(3) / static_cast<T>(int(x * 4) + 1), b = T(2);
        y = (T)a * b + (T)-0.5 + float(1) + static_cast<T>((int)x);
        k = static_cast<int>(x * 10) + (int)(unsigned char)257 + (unsigned int)3u + (long long)x;''', {'T': dtype}, (7,))


@pytest.mark.parametrize('dtype', FLOATS)
def test_templates_and_references(device, dtype):
    both(device, [given('x', dtype, (6,)), out('y', dtype, (6,)), out('k', 'int32', (6,))], '''
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


def test_a_helper_of_the_kernels_type_and_macros(device):
    both(device, [given('x', 'float32', (6,)), out('y', 'float32', (6,))], 'ROUTINE y = poly(ax) + ax;',
         {'T': 'float32'}, (6,), preamble='''
        #define SQUARE(v) ((v) * (v))
        #define ROUTINE \\
            T ax = tanh(x); \\
            ax = SQUARE(ax);
        __device__ inline T poly(T x) { const T A = 0.5, B = 0.25; return x * (A + x * B); }
        ''')


def test_directives_at_the_end_of_texts(device):
    both(device, [given('x', 'float32', (6,)), out('y', 'float32', (6,))], 'y = once(x);\n#ifdef TWICE\ny += x;\n#endif\n',
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
def test_raw_arrays(device, dtype, layout):
    r = Argument('r', dtype, 'raw', like(numbers((4, 3), dtype, 2), layout), True)
    both(device, [given('x', dtype, (4, 3), 'raw', layout), r, out('y', 'float32', (4,)),
                          out('n_', 'int64', (4,))], '''
        ptrdiff_t ind[] = {i, 2};
        T v = x[ind];
        int at[2] = {static_cast<int>(i), 0};
        r[at] = v;
        r[3 * i + 1] += x[3 * i + 1] * 2;
        y = x[i * 3] + r[ind] + (x[i] > 0 ? x[i + 1] : x[i + 2]);
        n_ = x.size() * 1000 + x.shape()[0] * 100 + x.shape()[1] * 10 + x.ndim + x.strides()[1];
        ''', {'T': dtype}, (4,))


@pytest.mark.parametrize('dtype', ['bool', 'int32', 'float16', 'float64'])
@pytest.mark.parametrize('layout', ['C', 'F', 'strided', 'reversed'])
def test_whole_arrays_of_elements(device, dtype, layout):
    x, z = given('x', dtype, (4, 3), layout=layout), Argument('z', dtype, 'element', like(numpy.zeros((4, 3), dtype), layout), True)
    s = x.value.strides
    both(device, [x, Argument('r', dtype, 'raw', numbers((3,), dtype, 2)), z, out('y', 'float64', (4, 3))], '''
        ptrdiff_t at[] = {_ind.get()[0], 2}; const int first[] = {0, 0};
        y = _raw_x.shape()[0] * 1000 + _raw_y.shape()[1] * 100 + _raw_x.strides()[1] + _raw_x.size() + _raw_y.ndim + (double)_raw_x[at] + (double)_raw_x[first] + (double)_raw_x[i] + (double)_raw_r[1] + (x == _raw_x[i]);
        z = x;''', {'T': dtype}, (4, 3), [x.value.astype(dtype), 4000 + 300 + s[1] + 12 + 2 + x.value[:, 2:].astype('f8') + x.value[0, 0].astype('f8') + x.value.astype('f8')
                                      + float(numbers((3,), dtype, 2)[1]) + 1])


@pytest.mark.parametrize('kind', ['mean_of', 'float2'])
@pytest.mark.parametrize('chunks', [1, 3])
def test_a_class_that_a_reduction_collects(device, kind, chunks):
    x = given('x', 'float64', (7, 5), layout='F')
    mean = '''struct mean_of { double m; int n; __device__ mean_of() : m(0), n(0) {} __device__ mean_of(double u, int v) : m(u), n(v) {}
              __device__ double value() { return m / n; } };'''
    texts = {'mean_of': ('mean_of(x, 1)', 'mean_of(a.m + b.m, a.n + b.n)', 'y = a.value() + _raw_x.shape()[0]', ''),
             'float2': ('make_float2(x, 1)', 'make_float2(a.x + b.x, a.y + b.y)', 'y = a.x / a.y + _raw_x.shape()[0]', 'make_float2(0, 0)')}[kind]
    results = kernel_compilers.reduction(device, [x, Argument('y', 'float64', 'element', numpy.zeros(7), True)], texts, {'T': 'float64'}, (7, 5), 5, chunks=chunks,
                                 reduce_type=kind, preamble=mean * (kind == 'mean_of'))
    for result in results:
        numpy.testing.assert_allclose(result, x.value.mean(1) + 7, rtol=1e-6)


@pytest.mark.parametrize('dtype', ['uint8', 'float16', 'float32'])
def test_steps_and_addresses(device, dtype):
    r = Argument('r', dtype, 'raw', numbers((8,), dtype, 2), True)
    both(device, [r, out('y', 'float32', (2,))], '''
        y = r[i]++ + 1; ++r[i + 2]; r[i + 4]--; r[i + 6] *= r[i] - 1, y += 1;
        T* p = &r[i + 2];
        p[0] = p[0] + 3; y += *p; *p = 2;''', {'T': dtype}, (2,))


@pytest.mark.parametrize('dtype', ['bool', 'float16', 'float32'])
def test_pointers_that_move(device, dtype):
    r = Argument('r', dtype, 'raw', numbers((8,), dtype, 2), True)
    both(device, [r, out('y', 'float32', (1,))], '''
        T* p = r_of(&r[0]); y = *(p + 1) + *p; (*p) = 0; *(p + 2) = *(p + 3); *p++ = 1; y += *p; --p; ((p + 1))[1] = *p;''',
         {'T': dtype}, (1,), preamble='#define r_of(p) (p)')


@pytest.mark.parametrize('layout', ['C', 'strided'])
def test_the_index(device, layout):
    x = given('x', 'float32', (2, 3), layout=layout)
    r = given('r', 'float32', (2, 3), 'raw', layout)
    y, = both(device, [x, r, out('y', 'float32', (2, 3))],
              'y = 100 * _ind.get()[0] + 10 * _ind.get()[1] + _ind.size() + n + x + r[_ind.get()]', {}, (2, 3))
    numpy.testing.assert_allclose(y, 100 * numpy.arange(2)[:, None] + 10 * numpy.arange(3) + 12 + x.value + r.value)


@pytest.mark.parametrize('dtype', ['int32', 'uint32', 'int64', 'uint64', 'float16', 'float32', 'float64'])
def test_atomic_additions(device, dtype):
    r = Argument('r', dtype, 'raw', numpy.zeros((3,), dtype), True)
    sums, = both(device, [given('x', dtype, (300,)), r], 'atomicAdd(&r[i % 3], (T)(x > 1 ? 2 : 1))', {'T': dtype},
                 (300,), group=4)
    x = numpy.where(numbers((300,), dtype) > 1, 2, 1)
    numpy.testing.assert_array_equal(sums, x.reshape(100, 3).sum(0).astype(dtype))


@pytest.mark.parametrize('dtype', ['int32', 'uint32', 'int64', 'uint64', 'float16', 'float32', 'float64'])
def test_atomic_additions_return_the_old_value(device, dtype):
    n = 500
    sums, before = kernel_compilers.elementwise(
        device, [Argument('r', dtype, 'raw', numpy.zeros((3,), dtype), True), out('y', dtype, (n,))],
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
def test_functions_of_mixed_types(device, dtype):
    both(device, [given('x', dtype, (9,)), given('k', 'int32', (9,)), out('y', dtype, (9,)), out('m', 'int64', (9,))],
         '''
        y = exp(-x) + log(x) + sqrt(x) * rsqrt(x) + pow(x, (T)2) + tanh(x) + fabs(-x) + abs(x) + floor(x) + ceil(x)
            + max(x, (T)1) + min((T)1., x) + atan2(x, (T)2) + log1p(x) + expm1(x) + round(x * 4) + fmod(x, (T)0.5)
            + sin(k) * 0.001 + isnan(x) + isinf(x) + !isfinite(x);
        m = max(k, 3) + min(i, (ptrdiff_t)4) + abs(k - 3) + max(2, (int)k) + __float_as_int(__int_as_float(5))
            + max(k, 5000000000ll) + min(-5000000000ll, k) + 10 * (max(0.1f, 0.2) == 0.2);''',
         {'T': dtype}, (9,))


INTRINSICS = {  # in a float x, 32-bit and 64-bit integers k and w, and unsigned u and v with their bits
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


def test_a_parameter_called_n(device):
    both(device, [Argument('n', 'int32', 'scalar', 3), given('x', 'float32', (6,)), out('y', 'float32', (6,))],
         'y = x * n', {}, (6,), [numbers((6,), 'float32') * 3])
    x = given('x', 'int32', (2, 3))
    host, translated = kernel_compilers.reduction(device, [x, Argument('n', 'int32', 'scalar', 3), out('y', 'int32', (2,))],
                                          ('x * n', 'a + b', 'y = a + n', '0'), {}, (2, 3), 3)
    assert translated.tolist() == host.tolist() == (x.value.sum(1) * 3 + 3).tolist()


def test_conditions_of_floats(device):
    both(device, [given('x', 'float32', (6,)), out('y', 'float32', (6,))], '''
        float z = x - x; y = x ? 1 : 2; y += (z ? 3 : 4) + (i > 2 ? 5 : z ? 6 : 7); if (z) y = 0;
        y += !z + (x && z) + abs(z ? x : -x);''', {}, (6,))


def test_leaving_the_operation(device):
    """`continue` and `return` leave the element. Its earlier writes stay."""
    x = given('x', 'float32', (40,))
    x.value[::3] = 9
    host, translated = kernel_compilers.elementwise(device, [x, out('y', 'float32', (40,))], '''
        y = 1;
        if (x > 5) continue;
        for (int k = 0; k < 3; ++k) { if (k == 1) continue; y += 1; }''', {}, (40,))
    numpy.testing.assert_array_equal(host[0], translated[0])
    text = _translate.elementwise('k', [Parameter('x', 'float32'), Parameter('y', 'float32', out=True)], '''
        y = 1; if (x > 5) return; y = 3;''', {}, group=4)
    y = numpy.zeros(40, 'f')
    device.run(text, 'k', [x.value, numpy.int64(0), y, numpy.int64(0), numpy.int64(40), numpy.int64(40)], 2, 4)
    numpy.testing.assert_array_equal(y, numpy.where(x.value > 5, 1, 3))


def test_before_and_after_the_loop(device):
    both(device, [given('x', 'float32', (9,), 'raw'), out('y', 'float32', (9,))], 'y = x[i] * scale; last = i',
         {}, (9,), loop_prep='float scale = x[0]; int last = 0;', after_loop='if (last > 100) { scale = 0; }')


def test_names_that_opencl_reserves(device):
    both(device, [given('global', 'float32', (5,)), given('kernel', 'float32', (5,), 'raw'),
                          Argument('constant', 'int32', 'scalar', 3), out('half', 'float32', (5,))], '''
        float local = global * 2, float2 = 1; int pipe = constant;
        half = local + kernel[i] + pipe + float2;''', {}, (5,))


@pytest.mark.parametrize('dtype, value', [('bool', 1), ('int8', -3), ('uint64', 2 ** 63 + 5), ('float16', 0.5),
                                          ('float32', 0.1), ('float64', 0.1)])
def test_scalars(device, dtype, value):
    both(device, [Argument('s', dtype, 'scalar', value), out('y', dtype, (3,))], 'y = s', {'T': dtype}, (3,),
         [numpy.full(3, value, dtype)])


@pytest.mark.parametrize('dtype', ['int32', 'float16', 'float32', 'float64'])
@pytest.mark.parametrize('shape, rows, layout', [((4, 5), 5, 'C'), ((3, 2, 4), 8, 'strided'), ((7,), 7, 'reversed'),
                                                 ((4, 0), 0, 'C'), ((), 1, 'C')])
@pytest.mark.parametrize('chunks', [1, 3])
def test_reductions(device, dtype, shape, rows, layout, chunks):
    x = given('x', dtype, shape, layout=layout)
    outs = x.value.size // rows if rows else shape[0]
    a = out('y', dtype, (outs,))
    host, translated = kernel_compilers.reduction(device, [x, Argument('scale', 'int32', 'scalar', 2), a],
                                          ('x * (T)2', 'a + b', 'y = a / scale', '0'), {'T': dtype}, shape, rows,
                                          chunks=chunks)
    expected = (x.value.astype('f8') * 2).reshape(outs, rows).sum(1) / 2
    tolerance = TOLERANCE.get(dtype, 0)
    numpy.testing.assert_allclose(translated.astype('f8'), expected, rtol=2 * tolerance)
    numpy.testing.assert_allclose(host.astype('f8'), expected, rtol=8 * tolerance)


def test_a_reduction_over_raw_arrays_into_an_existing_array(device):
    t = Argument('t', 'int32', 'element', numpy.array([[0, 1, 2], [2, 1, 0]], 'int32'))
    w = given('w', 'float32', (3,), 'raw', 'strided')
    y = Argument('y', 'float32', 'element', numpy.array([10, 20], 'float32'), True)
    host, translated = kernel_compilers.reduction(device, [t, w, y], ('t == 2 ? T(0) : w[t] * (_j + 1)', 'a + b', 'y += a',
                                                                     '0'), {'T': 'float32'}, (2, 3), 3)
    v = w.value
    expected = [10 + v[0] + 2 * v[1], 20 + 5 * v[1] + 6 * v[0]]
    numpy.testing.assert_allclose(translated, expected, rtol=1e-6)
    numpy.testing.assert_allclose(host, expected, rtol=1e-6)


def test_a_reduction_that_reads_the_index(device):
    x = given('x', 'float32', (2, 3))
    host, translated = kernel_compilers.reduction(device, [x, out('y', 'float32', (2,))], (
        'x * _ind.get()[1] + _ind.size()', 'a + b', 'y = a', '0'), {}, (2, 3), 3)
    numpy.testing.assert_allclose(translated, (x.value * numpy.arange(3) + 6).sum(1), rtol=1e-6)
    numpy.testing.assert_allclose(host, translated, rtol=1e-6)


@pytest.mark.parametrize('chunks', [1, 2])
def test_a_maximum_with_parameters_called_a_and_b(device, chunks):
    a, b = given('a', 'float64', (2, 6)), given('b', 'float64', (2, 6), seed=3)
    host, translated = kernel_compilers.reduction(device, [a, b, out('y', 'float64', (2,))], (
        'a * b', 'max(a, b)', 'y = a', '-1e300'), {}, (2, 6), 6, chunks=chunks)
    numpy.testing.assert_allclose(translated, (a.value * b.value).max(1))
    numpy.testing.assert_allclose(host, translated)


def integers(dtype, seed=0):
    """Returns integers from the whole range of a dtype, including its minimum and maximum."""
    values = numpy.random.RandomState(seed)
    info = numpy.iinfo(dtype)
    made = values.randint(0, 256, (24, info.bits // 8)).astype('u1').view(dtype).ravel()
    made[:6] = (info.min, info.max, 1, 3, info.max // 2, info.min // 2)
    return made


PAIRS = [(a, b) for k, a in enumerate(INTEGERS) for b in (a, INTEGERS[(k + 3) % 8], INTEGERS[(k + 5) % 8])]


@pytest.mark.parametrize('left, right', PAIRS)
def test_division_of_integers(device, left, right):
    """Quotients are truncated and remainders have the dividend's sign, in the common type. A generic helper shows this type."""
    x, y = integers(left), integers(right, 1)
    y = numpy.where((y == 0) | (y.astype('O') == -1), 3, y).astype(right)  # undefined in C
    arguments = [Argument('x', left, 'element', x), Argument('y', right, 'element', y), out('q', 'int64', (24,)),
                 out('r', 'int64', (24,)), out('a', 'int64', (24,)), out('h', 'int64', (24,)), out('k', 'int64', (24,))]
    both(device, arguments, '''
        q = x / y; r = x % y; U v = x; v /= y; v %= 7; a = v; h = halved(x / y); k = halved(x - y) + halved((x * 3 + 1) % y);
        auto w = x / y; w /= 3; a += w; a += sizeof(w);''', {'T': left, 'U': left}, (24,),
         preamble='template <typename V> __device__ long long halved(V v) { return v / 2 + (v > 0) + sizeof(V); }')


@pytest.mark.parametrize('left, right', PAIRS)
def test_shifts_of_integers(device, left, right):
    """A shift has the type of its left operand, whatever the type of the count. A right shift of negative numbers keeps the sign."""
    x = integers(left)
    y = numpy.asarray(numpy.arange(24) % (8 if numpy.dtype(left).itemsize < 8 else 31), right)
    arguments = [Argument('x', left, 'element', x), Argument('y', right, 'element', y)] + [
        out(name, 'int64', (24,)) for name in 'abcdef']
    both(device, arguments, '''
        a = x >> y; b = (T)1 << y; T v = x; v >>= y; c = v; v <<= 2; c += v;
        d = halved(x >> y) + halved(x >> y | 1) + halved((x >> 1) + 1 >> y + 1);
        e = halved(-1 >> y) + halved(x >> 1 & 63) + halved(x & 63 << y) + halved(1 << y + 1 << 1) + halved(x >> y + 1ll);
        auto w = x >> y; f = w / 2 + sizeof(w) + halved(1 << 1 | y) + halved(-1 >> y ^ x);''', {'T': left}, (24,),
         preamble='template <typename V> __device__ long long halved(V v) { return v / 2 + (v > 0) + sizeof(V); }')


@pytest.mark.parametrize('dtype', ['int8', 'uint32', 'int64', 'float16', 'float32'])
def test_literals_casts_and_signs(device, dtype):
    """A generic helper shows the types of numbers, casts and signs. A suffix is part of a number."""
    x = given('x', dtype, (12,))
    both(device, [x] + [out(name, 'int64', (12,)) for name in 'abcdef'], '''
        a = -5 / 2u; b = (-5 < 1u) + (2147483647 + 1ll) + (1LL << 40) + 4000000000u / 3ul; c = seen(5u) + 10 * seen(5) + 100 * seen(5ll);
        d = seen(0u - 1) + seen(0xffull) + seen(1.5f) + 10 * seen(1.5) + 100 * seen(-5u);
        e = seen((long long)x) + 10 * seen((unsigned char)(int)x) + 100 * seen(static_cast<short>(x)) + 1000 * seen(float(x));
        f = seen(!(x > 1)) + 10 * seen(-(short)x) + 100 * seen(~(int)x);''', {'T': dtype}, (12,),
         preamble='template <typename V> __device__ long long seen(V v) { return sizeof(V) * 3 + (v / 2 > 1) + (V)(v - 7) / 3; }')
