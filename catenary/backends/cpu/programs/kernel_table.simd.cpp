// The CPU's vectorised loops (kernel_table.h), compiled for each instruction set. Everything has internal linkage, so
// that no code of one set is linked into another.

#include "catenary/backends/cpu/programs/kernel_table.h"

#include <cstring>
#include <limits>
#include <type_traits>

#define CT_NO_FAR_ANGLES  // a row's loop never gets large angles: CT_OF_ANGLES in kernels_of_type.inc
#include "catenary/backends/cpu/half_bits.h"
#include "catenary/backends/cpu/half_vectors.h"
#include "catenary/backends/cpu/reduce/reduce_loops.h"
#include "catenary/core/loop_hints.h"
#include "catenary/ops/complex.h"
#include "catenary/ops/special.h"

namespace catenary::cpu {
namespace {

using namespace math;  // NOLINT: the rows are written in the prelude's short names
#include "catenary/ops/rows.inc"

#define CT_JOIN_(a, b) a##b
#define CT_JOIN(a, b) CT_JOIN_(a, b)

#define T b8
#define CT_SUFFIX b
#define CT_KIND_BOOL
#include "catenary/backends/cpu/programs/kernels_of_type.inc"

#define T i32
#define CT_SUFFIX i32
#define CT_KIND_INTEGER
#include "catenary/backends/cpu/programs/kernels_of_type.inc"

#define T i64
#define CT_SUFFIX i64
#define CT_KIND_INTEGER
#include "catenary/backends/cpu/programs/kernels_of_type.inc"

#define T u64
#define CT_SUFFIX u64
#define CT_KIND_INTEGER
#include "catenary/backends/cpu/programs/kernels_of_type.inc"

#define T f32
#define CT_SUFFIX f32
#define CT_KIND_FLOAT
#include "catenary/backends/cpu/programs/kernels_of_type.inc"

#define T f64
#define CT_SUFFIX f64
#define CT_KIND_FLOAT
#include "catenary/backends/cpu/programs/kernels_of_type.inc"

#define T c64
#define CT_PART f32
#define CT_SUFFIX c64
#define CT_KIND_COMPLEX
#include "catenary/backends/cpu/programs/kernels_of_type.inc"

#define T c128
#define CT_PART f64
#define CT_SUFFIX c128
#define CT_KIND_COMPLEX
#include "catenary/backends/cpu/programs/kernels_of_type.inc"

template <class R>
constexpr bool is_complex = std::is_same_v<R, c64> || std::is_same_v<R, c128>;

// Casts between register types. Floats out of an integer's range give x86's result on every machine.
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (is_complex<From> && is_complex<To>) {
    return {static_cast<decltype(To::re)>(x.re), static_cast<decltype(To::re)>(x.im)};
  } else if constexpr (is_complex<To>) {
    return {static_cast<decltype(To::re)>(x), 0};
  } else if constexpr (is_complex<From> && sizeof(To) == 1) {
    return x.re != 0 || x.im != 0;
  } else if constexpr (is_complex<From>) {
    return convert<To>(x.re);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if constexpr (sizeof(To) == 1) {
      return x != From(0);
    } else if constexpr (std::is_same_v<To, i32>) {
      return x >= From(-2147483648.0) && x < From(2147483648.0) ? static_cast<i32>(x) : std::numeric_limits<i32>::min();
    } else {
      const From limit = From(9223372036854775808.0);
      const i64 low = x >= -limit && x < limit ? static_cast<i64>(x) : std::numeric_limits<i64>::min();
      if constexpr (std::is_same_v<To, i64>) return low;
      const From above = x - limit;
      return x >= limit && above < limit ? static_cast<u64>(static_cast<i64>(above)) ^ (u64{1} << 63)
                                         : static_cast<u64>(low);
    }
  } else if constexpr (sizeof(To) == 1) {
    return x != From(0);
  } else {
    return static_cast<To>(x);
  }
}

template <class To, class From>
void cast_loop(void* out, const void* in, const void*, const void*, i64 n) {
  To* o = static_cast<To*>(out);
  const From* x = static_cast<const From*>(in);
  if (std::is_same_v<To, From>) {
    std::memmove(out, in, static_cast<std::size_t>(n) * sizeof(To));
    return;
  }
  for (i64 i = 0; i < n; ++i) o[i] = convert<To, From>(x[i]);
}

template <auto f>
struct Function;
template <auto f, auto g>
[[maybe_unused]] constexpr bool kSame = std::is_same_v<Function<f>, Function<g>>;

// o[i] = convert(x[i]).
template <auto convert, class O, class X>
void convert_all(O* o, const X* x, i64 n) {
  i64 i = 0;
#if defined(__F16C__)
  if constexpr (kSame<convert, &from_half>) {
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(o + i, from_halves(x + i));
  } else if constexpr (kSame<convert, &to_half>) {
    for (; i + 8 <= n; i += 8) _mm_storeu_si128(reinterpret_cast<__m128i*>(o + i), to_halves(_mm256_loadu_ps(x + i)));
  } else if constexpr (kSame<convert, &ct_narrow_f16_f32>) {
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(o + i, _mm256_cvtph_ps(to_halves(_mm256_loadu_ps(x + i))));
  }
#endif
  for (; i < n; ++i) o[i] = convert(x[i]);
}

// Converts between memory of type M and a register of type R; get and put convert one element.
template <class M, class R, R (*get)(M)>
void load_loop(void* out, const void* memory, i64 stride, i64 n) {
  R* o = static_cast<R*>(out);
  const M* m = static_cast<const M*>(memory);
  if (stride == 1) {
    // Prefetches the next block, which is on another page, where hardware prefetchers do not reach.
    constexpr i64 kLine = 64 / static_cast<i64>(sizeof(M));
    i64 i = 0;
    for (; i + kLine <= n; i += kLine) {
      __builtin_prefetch(m + i + n);
      convert_all<get>(o + i, m + i, kLine);
    }
    for (; i < n; ++i) o[i] = get(m[i]);
  } else if (stride == 0) {
    const R value = get(*m);
    for (i64 i = 0; i < n; ++i) o[i] = value;
  } else {
    for (i64 i = 0; i < n; ++i) o[i] = get(m[i * stride]);
  }
}
template <class M, class R, M (*put)(R)>
void store_loop(void* memory, i64 stride, const void* in, i64 n) {
  M* m = static_cast<M*>(memory);
  const R* x = static_cast<const R*>(in);
  if (stride == 1) {
    convert_all<put>(m, x, n);
  } else {
    for (i64 i = 0; i < n; ++i) m[i * stride] = put(x[i]);
  }
}
template <class To, class From>
To plain(From x) {
  return static_cast<To>(x);
}

template <class M, class R>
void add_memory_type(KernelTable& table, Dtype dtype) {
  table.load[static_cast<int>(dtype)] = load_loop<M, R, plain<R, M>>;
  table.store[static_cast<int>(dtype)] = store_loop<M, R, plain<M, R>>;
}

template <class From>
void add_casts(KernelTable& table, ops::Reg from) {
  OpKernel* row = table.cast[static_cast<int>(from)];
  row[0] = cast_loop<b8, From>;
  row[1] = cast_loop<i32, From>;
  row[2] = cast_loop<i64, From>;
  row[3] = cast_loop<u64, From>;
  row[4] = cast_loop<f32, From>;
  row[5] = cast_loop<f64, From>;
  row[6] = cast_loop<c64, From>;
  row[7] = cast_loop<c128, From>;
}

template <class T, T (*narrow)(T)>
void narrow_loop(void* out, const void* in, const void*, const void*, i64 n) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(in);
  convert_all<narrow>(o, x, n);
}
i32 narrow_i8(i32 a) { return static_cast<std::int8_t>(a); }
i32 narrow_i16(i32 a) { return static_cast<std::int16_t>(a); }
i32 narrow_u8(i32 a) { return a & 0xff; }
i32 narrow_u16(i32 a) { return a & 0xffff; }
i64 narrow_u32(i64 a) { return a & i64{0xffffffff}; }

void ldexp_f32(void* out, const void* a, const void* b, const void*, i64 n) {
  for (i64 i = 0; i < n; ++i)
    static_cast<f32*>(out)[i] = ct_ldexp_f32(static_cast<const f32*>(a)[i], static_cast<const i32*>(b)[i]);
}
void ldexp_f64(void* out, const void* a, const void* b, const void*, i64 n) {
  for (i64 i = 0; i < n; ++i)
    static_cast<f64*>(out)[i] = ct_ldexp_f64(static_cast<const f64*>(a)[i], static_cast<const i32*>(b)[i]);
}
void frexp_exponent_f32(void* out, const void* a, const void*, const void*, i64 n) {
  for (i64 i = 0; i < n; ++i) static_cast<i32*>(out)[i] = ct_frexp_exponent_f32(static_cast<const f32*>(a)[i]);
}
void frexp_exponent_f64(void* out, const void* a, const void*, const void*, i64 n) {
  for (i64 i = 0; i < n; ++i) static_cast<i32*>(out)[i] = ct_frexp_exponent_f64(static_cast<const f64*>(a)[i]);
}

// Sums of bools. A byte holds the sum of 255 of them.
constexpr i64 kBoolsOfByte = 255;

void count_row(void* out, const void* px, i64 n) {
  constexpr i64 kLanes = 64;
  const b8* x = static_cast<const b8*>(px);
  i64 total = 0, i = 0;
  while (i + kLanes <= n) {
    std::uint8_t lanes[kLanes] = {};
    const i64 stop = n - i < kBoolsOfByte * kLanes ? n - (n - i) % kLanes : i + kBoolsOfByte * kLanes;
    for (; i < stop; i += kLanes)
      for (i64 j = 0; j < kLanes; ++j) lanes[j] = static_cast<std::uint8_t>(lanes[j] + x[i + j]);
    i32 sum = 0;
    for (i64 j = 0; j < kLanes; ++j) sum += lanes[j];
    total += sum;
  }
  for (; i < n; ++i) total += x[i];
  *static_cast<i64*>(out) += total;
}

void count_column(void* out, const void* px, i64 stride, i64 rows, i64 n) {
  constexpr i64 kWidth = 256;
  for (i64 first = 0; first < n; first += kWidth) {
    const i64 width = n - first < kWidth ? n - first : kWidth;
    i64* const o = static_cast<i64*>(out) + first;
    for (i64 row = 0; row < rows; row += kBoolsOfByte) {
      const i64 stop = rows - row < kBoolsOfByte ? rows : row + kBoolsOfByte;
      std::uint8_t sums[kWidth] = {};
      for (i64 r = row; r < stop; ++r) {
        const b8* x = static_cast<const b8*>(px) + r * stride + first;
        for (i64 i = 0; i < width; ++i) sums[i] = static_cast<std::uint8_t>(sums[i] + x[i]);
      }
      for (i64 i = 0; i < width; ++i) o[i] += sums[i];
    }
  }
}

KernelTable make_table() {
  KernelTable table{};
  fill_table_b(table);
  fill_table_i32(table);
  fill_table_i64(table);
  fill_table_u64(table);
  fill_table_f32(table);
  fill_table_f64(table);
  fill_table_c64(table);
  fill_table_c128(table);
  add_casts<b8>(table, ops::Reg::b);
  add_casts<i32>(table, ops::Reg::i32);
  add_casts<i64>(table, ops::Reg::i64);
  add_casts<u64>(table, ops::Reg::u64);
  add_casts<f32>(table, ops::Reg::f32);
  add_casts<f64>(table, ops::Reg::f64);
  add_casts<c64>(table, ops::Reg::c64);
  add_casts<c128>(table, ops::Reg::c128);
  add_memory_type<b8, b8>(table, Dtype::bool_);
  add_memory_type<std::int8_t, i32>(table, Dtype::int8);
  add_memory_type<std::int16_t, i32>(table, Dtype::int16);
  add_memory_type<i32, i32>(table, Dtype::int32);
  add_memory_type<i64, i64>(table, Dtype::int64);
  add_memory_type<std::uint8_t, i32>(table, Dtype::uint8);
  add_memory_type<std::uint16_t, i32>(table, Dtype::uint16);
  add_memory_type<u32, i64>(table, Dtype::uint32);
  add_memory_type<u64, u64>(table, Dtype::uint64);
  add_memory_type<f32, f32>(table, Dtype::float32);
  add_memory_type<f64, f64>(table, Dtype::float64);
  add_memory_type<c64, c64>(table, Dtype::complex64);
  add_memory_type<c128, c128>(table, Dtype::complex128);
  table.load[static_cast<int>(Dtype::float16)] = load_loop<std::uint16_t, f32, from_half>;
  table.store[static_cast<int>(Dtype::float16)] = store_loop<std::uint16_t, f32, to_half>;
  table.load[static_cast<int>(Dtype::bfloat16)] = load_loop<std::uint16_t, f32, from_bfloat>;
  table.store[static_cast<int>(Dtype::bfloat16)] = store_loop<std::uint16_t, f32, to_bfloat>;
  table.count_row = count_row;
  table.count_column = count_column;
  const auto set = [&](ops::Op op, ops::Reg reg, OpKernel kernel) {
    table.op[static_cast<int>(op)][static_cast<int>(reg)] = kernel;
  };
  set(ops::Op::narrow_i8, ops::Reg::i32, narrow_loop<i32, narrow_i8>);
  set(ops::Op::narrow_i16, ops::Reg::i32, narrow_loop<i32, narrow_i16>);
  set(ops::Op::narrow_u8, ops::Reg::i32, narrow_loop<i32, narrow_u8>);
  set(ops::Op::narrow_u16, ops::Reg::i32, narrow_loop<i32, narrow_u16>);
  set(ops::Op::narrow_u32, ops::Reg::i64, narrow_loop<i64, narrow_u32>);
  set(ops::Op::narrow_f16, ops::Reg::f32, narrow_loop<f32, ct_narrow_f16_f32>);
  set(ops::Op::narrow_f16, ops::Reg::f64, narrow_loop<f64, ct_narrow_f16_f64>);
  set(ops::Op::narrow_bf16, ops::Reg::f32, narrow_loop<f32, ct_narrow_bf16_f32>);
  set(ops::Op::narrow_bf16, ops::Reg::f64, narrow_loop<f64, ct_narrow_bf16_f64>);
  set(ops::Op::ldexp, ops::Reg::f32, ldexp_f32);
  set(ops::Op::ldexp, ops::Reg::f64, ldexp_f64);
  set(ops::Op::frexp_exponent, ops::Reg::f32, frexp_exponent_f32);
  set(ops::Op::frexp_exponent, ops::Reg::f64, frexp_exponent_f64);
  return table;
}

}  // namespace

const KernelTable& CT_JOIN(kernel_table_, CT_SIMD)();
const KernelTable& CT_JOIN(kernel_table_, CT_SIMD)() {
  static const KernelTable table = make_table();
  return table;
}

}  // namespace catenary::cpu
