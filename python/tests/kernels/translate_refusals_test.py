"""Errors of the translator to OpenCL C, and their messages."""

import pytest

from catenary.cupy._translator import translate as _translate
from catenary.cupy._translator.translate import Parameter, Untranslatable
from translation import device  # noqa: F401

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize('operation, token, line', [
    ('y = x;\ny = __shfl_sync(0, x, 1)', '__shfl_sync', 2), ('asm("nop")', 'asm', 1), ('y = tex1D<T>(x, 1)', 'tex1D', 1),
    ('int* p = new int[2]', 'new', 1), ('y = x;\n\n  float* p;', 'p', 3),
    ('auto f = [](float v) { return v; }; y = f(x)', '[', 1), ('y = thrust::plus(x)', 'thrust', 1), ('return x', 'return', 1),
    ('y = r.begin()', 'begin', 1), ('int ind[] = {0, 1, 2}; y = r[ind]', 'r', 1), ('y = r.shape()[2]', '2', 1),
    ('inner<<<1, 1>>>(x)', '<<', 1), ('y = two(x)', 'two', 1), ('y = x @ 2', '@', 1), ('if (x) { y = 1', '{', 1),
    ('__shared__ float s[2]', '__shared__', 1), ('atomicAdd(&u[0], 1)', 'atomicAdd', 1),
    ('int k = 0; h[k++] += 1', 'h', 1), ('float16* p = &h[0]; *p++ += 1', 'p', 1), ('goto away', 'goto', 1), ('y = _ind.next()', '_ind', 1),
    ('float** p = 0', 'p', 1), ('typename std::enable_if<sizeof(float) == 8, int>::type k = 1', 'enable_if', 1), ('std::make_unsigned_t<float> k = 1', 'make_unsigned_t', 1),
    ('y = std::is_same<float>::value', 'is_same', 1), ('y = std::is_empty<float>::value', 'is_empty', 1), ('y = nan(3)', 'nan', 1), ('y = norm3d(x, x)', 'norm3d', 1), ('y = __vadd2(1, 2)', '__vadd2', 1), ('float2 v = make_float2(x)', 'make_float2', 1), ('float2 v; v = v + v', '+', 1),
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
    ('struct A { int x; A(int v) : x(v) {} };', 'A a; y = a.x', 'a'), ('struct A { int x; A(int v) : x(v) {} };', 'A a(1, 2); y = a.x', 'a'),
    ('struct A { int x; A() : x(1) {} };', 'A a[2]; y = a[0].x', 'a'), ('struct A { int x; A() : x(1) {} }; struct B { A a; };', 'B b; y = b.a.x', 'b'),
    ('struct A { int x; A() : x(1) {} }; struct B { A a; B() {} };', 'B b; y = b.a.x', 'B'), ('struct A { int x; A() {} A(const A& a) { x = 1; } };', 'A a; y = a.x', 'A'),
    ('struct A { int x; A() : A(3) {} A(int v) { x = v; } };', 'A a; y = a.x', 'A'), ('struct A { int x; A() = delete; };', 'A a; y = a.x', 'A'), ('struct A { ~A() {} };', 'A a', '~'),
    ('struct A { int x; __device__ A operator+(A b) { return b; } };', 'A a; y = a.x', 'operator'),
    ('struct A { int x = 1; };', 'A a; y = a.x', 'x'), ('struct A { float16 x; };', 'A a', 'x'),
    ('struct A { int x; };', 'A a; y = a + a', '+'), ('struct A { int x; };', 'A a; y = a', 'a'),
    ('struct A { int x; };', 'A a = {1, 2}', '{'), ('struct A { int x; };', 'A a; y = a.z', 'z'),
    ('__device__ int f(int k) { return k ? f(k - 1) : 0; }', 'y = f(3)', 'f'),
    ('__device__ int f(int k);', 'y = f(3)', 'f'), ('__device__ int f() { asm("nop"); return 1; }', 'y = f()', 'asm'),
    ('template <int N> __device__ int f() { return N; }', 'y = f<float>()', 'f'),
    ('template <int N> __device__ int f() { return N; }', 'int k = 3; y = f<k>()', 'k'),
    ('template <int N> __device__ int f() { return N; }', 'y = f<1, 2>()', 'f'),
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


def test_shared_memory_of_an_inner_block():
    with pytest.raises(Untranslatable, match="'__shared__': __shared__ memory of an inner block or a helper"):
        _translate.raw('extern "C" __global__ void a(float* x) { if (x[0] > 0) { __shared__ float s[2]; s[0] = x[1]; x[0] = s[0]; } }', 'a')


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
