"""CUDA's device functions in kernels, on the processor and on ordinal 0, compared with Python, NumPy or their definition."""

import os
import re

import numpy
import pytest

from catenary import _core
from catenary.cupy import _cuda
import catenary.cupy as cupy
import device_functions

pytestmark = pytest.mark.kernels
_REAL = re.compile(r'-?0x[0-9a-f.]+p[+-]?\d+(f?)')


@pytest.fixture(autouse=True)
def on_the_device(device):
    yield


def computed(calls, result, dtype):
    """Returns the values of calls, computed by one kernel. Real numbers come from memory, so that compilers cannot fold constants."""
    numbers = {'f': [], '': []}

    def from_memory(found):
        kept = numbers[found[1]]
        kept.append(float.fromhex(found[0].removesuffix('f')))
        return '%s[%d]' % (found[1] or 'd', len(kept) - 1)
    lines = ['y[%d] = %s;' % (k, _REAL.sub(from_memory, call)) for k, call in enumerate(calls)]
    kernel = cupy.RawKernel('extern "C" __global__ void all(%s* y, const float* f, const double* d) {\n%s\n}' % (result, '\n'.join(lines)), 'all')
    y = cupy.zeros(len(calls), dtype)
    kernel((1,), (1,), (y, cupy.asarray(numbers['f'] or [0], 'f4'), cupy.asarray(numbers[''] or [0], 'f8')))
    return y.get()


def is_simulated():
    return os.environ.get('CATENARY_GPU_INCLUDE_SIMULATED') == '1' and _core.backend_of(_core.Device()) in ('cuda', 'hip')


def test_whole_numbers():
    cases = device_functions.whole_numbers()
    values = computed([call for call, _ in cases], 'long long', 'i8').view('u8')
    wrong = [(call, int(got), want) for (call, want), got in zip(cases, values) if int(got) != want % 2 ** 64]
    assert not wrong, wrong[:10]


def test_conversions():
    cases = device_functions.conversions()
    whole = [case for case in cases if isinstance(case[1], int)]
    values = computed([call for call, _ in whole], 'long long', 'i8').view('u8')
    wrong = [(call, int(got), want) for (call, want), got in zip(whole, values) if int(got) != want % 2 ** 64]
    real = [case for case in cases if not isinstance(case[1], int)]
    values = computed([call for call, _ in real], 'double', 'f8')
    wrong += [(call, got, want) for (call, want), got in zip(real, values) if got != float(want)]
    assert not wrong, wrong[:10]


def test_roundings():
    cases = device_functions.roundings()
    values = computed([call for call, _ in cases], 'double', 'f8')
    wrong = [(call, got, float(want)) for (call, want), got in zip(cases, values) if got != float(want)]
    assert not wrong, wrong[:10]


def test_real_functions():
    cases = device_functions.real_functions()
    if is_simulated():  # whose cards have C's functions only
        cases = [case for case in cases if not re.match(r'(normcdf|erfc?inv|erfcx|exp10|rcbrt|sinpi|cospi|cyl_|lgammaf?|ldexp|scalb|__(exp10|log2|log10|sin|cos|tan|pow|sat))', case[0])]
    values = computed([call for call, _, _ in cases], 'double', 'f8')
    wrong = [(call, got, want) for (call, want, kind), got in zip(cases, values)
             if not abs(got - want) <= (4e-6 if kind == 'f' else 1e-13) * max(abs(want), 0.05)]
    assert not wrong, wrong[:10]


@pytest.mark.parametrize('body, expected', [
    ('double a; int k; y[0] = frexp(12.0, &k); y[1] = k; y[2] = modf(2.75, &a); y[3] = a; y[4] = remquo(7.0, 2.0, &k); y[5] = k & 7;', [0.75, 4, 0.75, 2, -1, 4]),
    ('float a, b; int k; y[0] = frexpf(12.0f, &k); y[1] = k; y[2] = modff(2.75f, &a); y[3] = a; __sincosf(0.5f, &a, &b); y[4] = a * a + b * b; y[5] = 0;',
     [0.75, 4, 0.75, 2, 1, 0]),
    ('double s, c; sincos(0.5, &s, &c); y[0] = s; sincospi(0.25, &s, &c); y[1] = s - c; y[2] = isnan(nan("")); y[3] = isnan(nanf("")); y[4] = isinf(1.0 / x[0]); y[5] = signbit(-0.0);',
     [0.479425538604203, 0, 1, 1, 1, 1])])
def test_functions_that_put_results_into_variables(body, expected):
    if is_simulated():
        return  # its words are C's
    y, x = cupy.zeros(6), cupy.zeros(1)
    cupy.RawKernel('extern "C" __global__ void outs(double* y, const double* x) { %s }' % body, 'outs')((1,), (1,), (y, x))
    numpy.testing.assert_allclose(y.get(), expected, atol=1e-6)


@pytest.mark.parametrize('scope', ['', '_block', '_system'])
def test_atomic_operations_by_scope(scope):
    """Uses 64 threads at once."""
    names = {'Add': ('3', 5 + 3 * 64), 'Sub': ('3', 5 - 3 * 64), 'Max': ('threadIdx.x', 63), 'Min': ('threadIdx.x', 0), 'And': ('4u', 4), 'Or': ('2', 7), 'Xor': ('1', 5), 'Exch': ('9', 9)}
    lines = ['atomic%s%s(&y[%d], %s);' % (name, scope, k, value) for k, (name, (value, _)) in enumerate(names.items())]
    lines += ['atomicCAS%s(&y[8], 5, 6);' % scope, 'atomicInc%s((unsigned*)&y[9], 6u);' % scope, 'atomicDec%s((unsigned*)&y[10], 9u);' % scope,
              'u[atomicInc%s(&n[0], 1000u)] = 1;' % scope]
    y, u, n = cupy.full(11, 5, 'i4'), cupy.zeros(64, 'i4'), cupy.zeros(1, 'u4')
    kernel = cupy.RawKernel('extern "C" __global__ void at_once(int* y, int* u, unsigned* n) { %s __threadfence%s(); }' % (
        '\n'.join(lines), scope), 'at_once')
    kernel((1,), (64,), (y, u, n))
    inc, dec = 5, 5
    for _ in range(64):
        inc, dec = 0 if inc >= 6 else inc + 1, 9 if dec == 0 or dec > 9 else dec - 1
    assert y.get().tolist() == [value for _, value in names.values()] + [6, inc, dec]
    assert u.get().tolist() == [1] * 64 and n.get().tolist() == [64]


def test_clocks_do_not_go_back():
    y = cupy.zeros(2, 'i8')
    cupy.RawKernel('''extern "C" __global__ void timed(long long* y, int n) {
        long long first = clock64(); double sum = 0; for (int k = 0; k < n; ++k) sum += sqrt((double)k); y[1] = sum > 0; y[0] = clock64() - first + (clock() == 0);
    }''', 'timed')((1,), (1,), (y, 100000))
    passed, done = y.get().tolist()
    assert passed > 0 and done == 1


def test_loads_and_stores_by_cache():
    x, y = cupy.arange(6, dtype='f') * 10, cupy.zeros(6, 'f')
    cupy.RawKernel('''extern "C" __global__ void moved(const float* x, float* y) {
        __stcg(y, __ldcg(x + 1)); __stcs(y + 1, __ldcs(x + 2)); __stwb(y + 2, __ldca(x + 3)); __stwt(y + 3, __ldcv(x + 4)); y[4] = __ldlu(x + 5); y[5] = __ldg(x);
        __nanosleep(100u);
    }''', 'moved')((1,), (1,), (x, y))
    assert y.get().tolist() == [10, 20, 30, 40, 50, 0]


def test_texts_get_the_functions_that_hip_lacks_by_name():
    text = _cuda._text('cuda_only.h')
    names = re.findall(r'CATENARY_NAMED [\w ]*?(\w+(?:##m)?)\(', text) + re.findall(r'CATENARY_(?:LOAD|STORE)\((__\w+)\)', text)
    assert len(names) == 42
    for name in {name.replace('##m', mode) for name in names for mode in 'zud'}:
        assert text in _cuda.header('y[0] = %s(x[0]);' % name), name
    assert text not in _cuda.header('y[0] = __fadd_rn(x[0], x[1]) + __ldg(x) + my_umin(x);')


def test_traps_that_no_thread_reaches():
    if _core.backend_of(_core.Device()) == 'opencl':
        return  # which lacks the function
    y = cupy.zeros(1)
    cupy.RawKernel('extern "C" __global__ void trapped(double* y) { if (y[0] < 0) __trap(); y[0] = 1; }', 'trapped')((1,), (1,), (y,))
    assert y[0] == 1


@pytest.mark.parametrize('call', ['__vadd2(1u, 2u)', '__no_such_function(1)', 'j0(1.0, 2.0)'])
def test_missing_functions_are_named(call):
    kernel = cupy.RawKernel('extern "C" __global__ void named(double* y) { y[0] = %s; }' % call, 'named')
    with pytest.raises(cupy.cuda.compiler.CompileException, match=call.partition('(')[0]):
        kernel((1,), (1,), (cupy.zeros(1),))


HEADERS = ['assert.h', 'cassert', 'stdio.h', 'cstdio', 'float.h', 'cfloat', 'limits.h', 'climits', 'limits', 'type_traits', 'math.h', 'cmath', 'stdint.h', 'cstdint', 'stddef.h',
           'cstddef', 'cuda.h', 'cuda_runtime.h', 'vector_types.h', 'vector_functions.h', 'cuda_fp16.h', 'device_launch_parameters.h', 'math_constants.h']


def test_headers_are_the_same_everywhere():
    text = ''.join('#include <%s>\n' % name for name in HEADERS) + '''
    extern "C" __global__ void of_headers(double* y, int n) {
        assert(n > 0);
        y[0] = FLT_MAX; y[1] = DBL_EPSILON; y[2] = INT_MAX; y[3] = std::numeric_limits<float>::max(); y[4] = std::numeric_limits<int>::lowest();
        y[5] = std::is_same<float, double>::value + 2 * std::is_floating_point<float>::value; y[6] = sizeof(std::conditional<sizeof(int) == 4, double, float>::type);
        y[7] = std::sqrt(16.0) + std::max(n, 3); uint16_t u = 65535; y[8] = u + (int8_t)-1; float4 v = make_float4(1, 2, 3, 4); y[9] = v.w; y[10] = M_PI; y[11] = (double)INT64_MIN;
        y[12] = (float)__float2half(0.5f); if (n < 0) printf("never %d", n); y[13] = std::is_unsigned<unsigned>::value + std::is_signed<int>::value; y[14] = std::numeric_limits<double>::infinity();
    }'''.replace('sizeof(std::cond', 'sizeof(typename std::cond')
    text = text.replace('__global__ void of_headers', '__global__ void of_headers')
    y = cupy.zeros(15)
    cupy.RawKernel(text, 'of_headers')((1,), (1,), (y, 2))
    expected = [numpy.finfo('f4').max, numpy.finfo('f8').eps, 2 ** 31 - 1, numpy.finfo('f4').max, -2 ** 31, 2, 8, 7, 65534, 4, numpy.pi, -2.0 ** 63, 0.5, 2, numpy.inf]
    assert y.get().tolist() == [float(x) for x in expected]


def test_headers_in_a_preamble():
    kernel = cupy.ElementwiseKernel('T x', 'T y', 'y = x < std::numeric_limits<T>::epsilon() ? FLT_MIN : std::fabs(x)', 'bounded', preamble='#include <limits>\n#include <cfloat>\n')
    assert kernel(cupy.asarray([0, 2], 'f')).get().tolist() == [numpy.finfo('f4').tiny, 2]
    least = cupy.ReductionKernel('T x', 'T y', 'x', 'min(a, b)', 'y = a', 'std::numeric_limits<T>::max()', 'least', preamble='#include <limits>')
    for dtype in ('f4', 'f8', 'i4', 'u1'):
        assert least(cupy.asarray([3, 1, 2], dtype)) == 1
