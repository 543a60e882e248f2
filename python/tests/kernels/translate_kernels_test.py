"""CuPy's whole kernels as OpenCL C, with features of C++: classes, templates, macros."""

import math

import numpy
import pytest

from catenary.cupy._translator import translate as _translate
from translation import both, device, given, numbers, out  # noqa: F401
import kernel_compilers
from kernel_compilers import Argument

pytestmark = pytest.mark.kernels


def launch(device, code, name, arguments, groups, group, memory=0):
    values = []
    for argument in arguments:
        values += [argument, numpy.int64(0)] if isinstance(argument, numpy.ndarray) else [argument]
    text, _, dynamic = _translate.raw(code, name)
    assert dynamic == bool(memory)
    device.run(kernel_compilers.with_library(text), name, values, groups, group, memory)


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


def test_a_generator_of_random_numbers(device):
    y, = both(device, [Argument('seed', 'int32', 'scalar', 3), out('y', 'float64', (50,))], '''
        uint64_t state[2]; start(state, i, seed); y = 0;
        for (int k = 0; k < 4; ++k) y += T(next(state)) / T(18446744073709551615ull);''', {'T': 'float64'}, (50,), preamble='''
        __device__ inline void start(uint64_t* a, int i, int seed) { a[0] = i + 1; a[1] = 0x5c721fd808f616b6 + seed; }
        __device__ inline uint64_t next(uint64_t* x) {
            uint64_t s1 = x[0], s0 = x[1];
            x[0] = s0; s1 = s1 ^ (s1 << 23); s1 = s1 ^ (s1 >> 17) ^ s0; x[1] = s1 ^ (s0 >> 26);
            return s0 + x[1];
        }''')
    assert 1.5 < y.mean() < 2.5 and y.min() >= 0 and y.max() <= 4


def test_classes(device):
    both(device, [given('x', 'float32', (8,)), out('y', 'float32', (8,)), out('k', 'int64', (8,))], '''
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


def test_constructors(device):
    both(device, [given('x', 'float32', (6,)), out('y', 'float32', (6,)), out('k', 'int32', (6,))], '''
        Mean all(x, 2), none, copy = all, braces{x, 5}, other = Mean(3.0f, 4); other = {7, 8}; none = Mean();
        Step up = 3, same(up); Pair pair(other), empty; Box<int> box(4), unset; Early early(x);
        y = all.sum + copy.mean() + braces.sum + other.sum + twice(Mean(x, 3)).sum + pair.first.sum + empty.first.sum + early.size;
        k = all.count + none.count * 10 + up.by + same.by + pair.second + empty.second + box.value + unset.value + made(3).by + Step(9).by;''',
         {}, (6,), preamble='''
        struct Mean {
            float sum; int count;
            __device__ Mean() : sum(0), count(0) {}
            __device__ Mean(float sum, int count) : sum(sum), count{count} { this->sum += 1; }
            __device__ float mean() const { return sum / count; }
        };
        struct Step { int by; __device__ Step(int k = 2) { by = k; if (k > 8) return; by += 1; } Step(const Step&) = default; };
        struct Pair { Mean first; int second; __device__ Pair() : first(), second() {} explicit __device__ Pair(Mean m) : first(m), second(m.count * 2) {} };
        template <typename V> struct Box { V value; __device__ Box(V v) : value(v) {} __device__ Box() : Box::value(6) {} };
        struct Early { float size; Early() = default; __device__ Early(float v) { size = v; for (int j = 0; j < 3; ++j) { size *= 2; if (size > 4) return; } } };
        __device__ Mean twice(Mean m) { Mean t(m.sum * 2, m.count * 2); return t; }
        __device__ Step made(int k) { return Step(k); }'''.replace('Box::value', 'value'))


def test_traits_of_types(device):
    both(device, [given('x', 'float64', (4,)), out('y', 'float64', (4,)), out('k', 'int64', (4,))], '''
        typedef typename cupy::type_traits::conditional<sizeof(T) == 8, float, double>::type Q; std::conditional_t<std::is_same_v<T, float>, int, double> d = x;
        using U = std::make_unsigned_t<int>; U u = -1; typename std::make_signed<unsigned char>::type c = 200; std::remove_pointer<T*>::type e = x; std::decay_t<const T> g = x;
        typename std::enable_if<std::is_floating_point<T>::value, T>::type f = x; const std::remove_cv_t<const int> h = 5;
        y = (Q)x + d + e + f + g;
        k = u + c + sizeof(Q) + std::is_integral<int>::value + 2 * std::is_integral_v<float> + 4 * std::is_unsigned<U>::value + 8 * std::is_signed<T>::value + 16 * std::is_arithmetic<bool>::value
            + 32 * std::is_pointer<T*>::value + 64 * std::is_same<T, double>::value + h; if constexpr (std::is_same<T, float>::value) k = 0;''',
         {'T': 'float64'}, (4,), preamble='#include <type_traits>')


def test_numbers_that_are_known_when_a_kernel_is_written(device):
    both(device, [given('x', 'float32', (2,)), out('k', 'int64', (2,))], '''
        int a[-7 % 4 + 5]; int b[-7 / 2 + 5]; int c[(unsigned char)258 + 1]; int d[(0 ? 3 : 2) + (-1 >> 1) + 2]; int e[~0 + 3];
        k = sizeof(T*) * 1000 + std::is_signed<bool>::value * 500 + CHOSEN * 100 + (sizeof(a) + 3 * sizeof(b) + 9 * sizeof(c) + 27 * sizeof(d) + 81 * sizeof(e)) / sizeof(int);''',
         {'T': 'float32'}, (2,), [[8000 + 300 + 2 + 3 * 2 + 9 * 3 + 27 * 3 + 81 * 2] * 2], preamble='''
        #if defined(NOTHING)
        #define CHOSEN 2
        #elif 1
        #define CHOSEN 3
        #elif 1
        #define CHOSEN 4
        #else
        #define CHOSEN 5
        #endif
        ''')


def test_vectors(device):
    """Vectors have CUDA's sizes, alignments and offsets: a float3 has 12 bytes."""
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


def test_templates_of_numbers(device):
    both(device, [given('x', 'float32', (6,)), out('y', 'float32', (6,)), out('k', 'int64', (6,))], '''
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


def test_overloads_and_pointers(device):
    r = Argument('r', 'float32', 'raw', numbers((8,), 'float32'), True)
    both(device, [r, out('y', 'float32', (1,)), out('k', 'int64', (1,))], '''
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


def test_macros_and_conditions(device):
    both(device, [given('x', 'float32', (6,)), out('y', 'float32', (6,))], '''
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
    """Tests a specialised class template, and byte pointers that are read as words."""
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
