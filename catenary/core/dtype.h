#pragma once
// Element types of arrays, and NumPy 2's promotion rules.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "catenary/core/export.h"
#include "catenary/core/half.h"

namespace catenary {

/// The element type of an array: bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16,
/// float32, float64, complex64, complex128. Each is a row of core/dtypes.def.
enum class Dtype : std::uint8_t {
#define CT_DTYPE(id, ...) id,
#include "catenary/core/dtypes.def"
};
/// The number of dtypes, and the number of real dtypes, which come first.
inline constexpr int kDtypes = 15;
inline constexpr int kRealDtypes = 13;

/// NumPy's kind of a dtype.
enum class Kind : std::uint8_t { boolean, signed_int, unsigned_int, floating, complex };

/// Returns the bytes of one element.
constexpr std::size_t itemsize(Dtype d) {
  constexpr std::uint8_t sizes[kDtypes] = {
#define CT_DTYPE(id, name, T, ...) sizeof(T),
#define CT_COMPLEX_DTYPE(id, name, T, ...) 2 * sizeof(T),
#include "catenary/core/dtypes.def"
  };
  return sizes[static_cast<int>(d)];
}
/// Returns the kind of a dtype.
constexpr Kind kind(Dtype d) {
  constexpr Kind kinds[kDtypes] = {
#define CT_DTYPE(id, name, T, kind, ...) Kind::kind,
#include "catenary/core/dtypes.def"
  };
  return kinds[static_cast<int>(d)];
}
/// Returns true for float16 to float64, false for complex numbers.
constexpr bool is_floating(Dtype d) { return kind(d) == Kind::floating; }
/// Returns true for complex64 and complex128.
constexpr bool is_complex(Dtype d) { return kind(d) == Kind::complex; }
/// Returns true for NumPy's inexact dtypes: floating or complex.
constexpr bool is_inexact(Dtype d) { return kind(d) >= Kind::floating; }
/// Returns true for int8 to int64 and uint8 to uint64, false for bool.
constexpr bool is_integer(Dtype d) { return kind(d) == Kind::signed_int || kind(d) == Kind::unsigned_int; }
/// Returns true for float16 and bfloat16.
constexpr bool is_16bit_float(Dtype d) { return d == Dtype::float16 || d == Dtype::bfloat16; }
/// Returns the dtype of a complex number's parts; other dtypes unchanged.
constexpr Dtype part_dtype(Dtype d) {
  return d == Dtype::complex64 ? Dtype::float32 : d == Dtype::complex128 ? Dtype::float64 : d;
}
/// Returns whether storing `from` as `into` would drop the imaginary part. Conversion to bool compares with 0 and drops
/// nothing.
constexpr bool loses_parts(Dtype from, Dtype into) {
  return is_complex(from) && !is_complex(into) && into != Dtype::bool_;
}

/// Returns NumPy's name of a dtype: "float32", "bool", …
CT_API const char* dtype_name(Dtype d);
/// Writes dtype_name().
CT_API std::ostream& operator<<(std::ostream& stream, Dtype dtype);
/// Returns the dtype with a name ("float32") or a NumPy code ("<f4", "f", "i8", "?"). Throws DtypeError for another
/// text.
CT_API Dtype dtype_from_name(std::string_view name);
/// Returns the dtype that holds values of both, by NumPy 2's table (bfloat16 with float16 gives float32).
CT_API Dtype promote(Dtype a, Dtype b);
/// Returns whether an in-place operation may store `from` into `to`: NumPy's can_cast(from, to, "same_kind").
CT_API bool can_cast_same_kind(Dtype from, Dtype to);

namespace detail {
/// A type like std::complex<float>. This concept needs no <complex>.
template <class C>
concept ComplexNumber = requires(const C& c) {
  typename C::value_type;
  requires sizeof(C) == 2 * sizeof(typename C::value_type);
  c.real();
  c.imag();
};
[[noreturn]] CT_API void refuse_complex(Dtype d);
}  // namespace detail

template <class T>
struct dtype_traits;
#define CT_DTYPE(id, name, T, ...)            \
  template <>                                 \
  struct dtype_traits<T> {                    \
    static constexpr Dtype value = Dtype::id; \
  };
#define CT_COMPLEX_DTYPE(...)
#include "catenary/core/dtypes.def"
// std::int64_t is one of long and long long, and has a row
template <class T>
requires(std::same_as<T, long> || std::same_as<T, long long>) struct dtype_traits<T> {
  static constexpr Dtype value = sizeof(T) == 8 ? Dtype::int64 : Dtype::int32;
};
template <class T>
requires(std::same_as<T, unsigned long> || std::same_as<T, unsigned long long>) struct dtype_traits<T> {
  static constexpr Dtype value = sizeof(T) == 8 ? Dtype::uint64 : Dtype::uint32;
};
template <detail::ComplexNumber C>
struct dtype_traits<C> {
  static constexpr Dtype value = sizeof(C) == 8 ? Dtype::complex64 : Dtype::complex128;
};
/// The dtype of a C++ type, for instance complex64 for std::complex<float>.
template <class T>
inline constexpr Dtype dtype_of = dtype_traits<T>::value;

/// Calls f with a value of the C++ type of `d`: `visit_dtype(d, [&](auto zero) { using T = decltype(zero); … })`.
/// Throws DtypeError for a complex dtype.
template <class F>
decltype(auto) visit_dtype(Dtype d, F&& f) {
  switch (d) {
#define CT_DTYPE(id, name, T, ...) \
  case Dtype::id:                  \
    return f(T{});
#define CT_COMPLEX_DTYPE(id, ...) case Dtype::id:
#include "catenary/core/dtypes.def"
    break;
  }
  detail::refuse_complex(d);
}

}  // namespace catenary
