#pragma once
// Element types of arrays, and NumPy 2's rules for mixing them.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "catenary/core/export.h"
#include "catenary/core/half.h"

namespace catenary {

/// Element type of an array. The order within a kind is by size; complex types will follow float64.
enum class Dtype : std::uint8_t {
  bool_,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
};
/// How many dtypes there are.
inline constexpr int kDtypes = 13;

/// NumPy's kind of a dtype.
enum class Kind : std::uint8_t { boolean, signed_int, unsigned_int, floating };

/// Bytes of one element.
constexpr std::size_t itemsize(Dtype d) {
  constexpr std::uint8_t sizes[kDtypes] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return sizes[static_cast<int>(d)];
}
/// What kind of number a dtype is.
constexpr Kind kind(Dtype d) {
  return d == Dtype::bool_    ? Kind::boolean
         : d <= Dtype::int64  ? Kind::signed_int
         : d <= Dtype::uint64 ? Kind::unsigned_int
                              : Kind::floating;
}
constexpr bool is_floating(Dtype d) { return kind(d) == Kind::floating; }
constexpr bool is_integer(Dtype d) { return kind(d) == Kind::signed_int || kind(d) == Kind::unsigned_int; }
constexpr bool is_16bit_float(Dtype d) { return d == Dtype::float16 || d == Dtype::bfloat16; }

/// NumPy's name of a dtype: "float32", "bool", …
CT_API const char* dtype_name(Dtype d);
/// dtype_name().
CT_API std::ostream& operator<<(std::ostream& stream, Dtype dtype);
/// The dtype of a name ("float32") or a NumPy code ("<f4", "f", "i8", "?"); throws DtypeError.
CT_API Dtype dtype_from_name(std::string_view name);
/// The dtype that holds values of both: NumPy 2's table (bfloat16 with float16 gives float32).
CT_API Dtype promote(Dtype a, Dtype b);
/// NumPy's can_cast(from, to, "same_kind"): may an in-place operation store `from` into `to`?
CT_API bool can_cast_same_kind(Dtype from, Dtype to);

template <class T>
struct dtype_traits;
#define CT_DTYPE_TRAIT(T, D)                 \
  template <>                                \
  struct dtype_traits<T> {                   \
    static constexpr Dtype value = Dtype::D; \
  };
CT_DTYPE_TRAIT(bool, bool_)
CT_DTYPE_TRAIT(std::int8_t, int8)
CT_DTYPE_TRAIT(std::int16_t, int16)
CT_DTYPE_TRAIT(std::int32_t, int32)
CT_DTYPE_TRAIT(long, int64)
CT_DTYPE_TRAIT(long long, int64)
CT_DTYPE_TRAIT(std::uint8_t, uint8)
CT_DTYPE_TRAIT(std::uint16_t, uint16)
CT_DTYPE_TRAIT(std::uint32_t, uint32)
CT_DTYPE_TRAIT(unsigned long, uint64)
CT_DTYPE_TRAIT(unsigned long long, uint64)
CT_DTYPE_TRAIT(float16, float16)
CT_DTYPE_TRAIT(bfloat16, bfloat16)
CT_DTYPE_TRAIT(float, float32)
CT_DTYPE_TRAIT(double, float64)
#undef CT_DTYPE_TRAIT
/// The dtype that holds a C++ type.
template <class T>
inline constexpr Dtype dtype_of = dtype_traits<T>::value;

/// Calls f with a value of the C++ type that `d` stands for: `visit_dtype(d, [&](auto zero) { using T = decltype(zero);
/// … })`.
template <class F>
decltype(auto) visit_dtype(Dtype d, F&& f) {
  switch (d) {
    case Dtype::bool_:
      return f(bool{});
    case Dtype::int8:
      return f(std::int8_t{});
    case Dtype::int16:
      return f(std::int16_t{});
    case Dtype::int32:
      return f(std::int32_t{});
    case Dtype::int64:
      return f(std::int64_t{});
    case Dtype::uint8:
      return f(std::uint8_t{});
    case Dtype::uint16:
      return f(std::uint16_t{});
    case Dtype::uint32:
      return f(std::uint32_t{});
    case Dtype::uint64:
      return f(std::uint64_t{});
    case Dtype::float16:
      return f(catenary::float16{});
    case Dtype::bfloat16:
      return f(catenary::bfloat16{});
    case Dtype::float32:
      return f(float{});
    case Dtype::float64:
      break;
  }
  return f(double{});
}

}  // namespace catenary
