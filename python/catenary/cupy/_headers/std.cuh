// Parts of the standard headers that NVRTC and hipRTC lack: fixed-width integers, std::numeric_limits and type traits.
// They are in the namespace ct_std (_cuda.py), so that they do not collide with a compiler's own.
#ifdef CT_HOST
#include <float.h>
#include <limits>
#include <type_traits>
#include <utility>
#ifdef CATENARY_ALGORITHM
#include <algorithm>
#endif
namespace ct_std = std;
namespace cupy {
namespace type_traits = std;
}
#else
#ifndef FLT_MAX
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#endif
#ifndef INT_MAX
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ULL
#endif
#ifndef INT32_MAX
#define INT8_MAX 127
#define INT8_MIN (-128)
#define UINT8_MAX 255
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define UINT16_MAX 65535
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)
#define UINT32_MAX 4294967295u
#define INT64_MAX 9223372036854775807LL
#define INT64_MIN (-INT64_MAX - 1)
#define UINT64_MAX 18446744073709551615ULL
#endif
#ifndef SIZE_MAX
#define SIZE_MAX 18446744073709551615UL
#endif
#ifndef M_PI
#define M_E 2.7182818284590452
#define M_LOG2E 1.4426950408889634
#define M_LOG10E 0.43429448190325183
#define M_LN2 0.69314718055994531
#define M_LN10 2.3025850929940457
#define M_PI 3.1415926535897932
#define M_PI_2 1.5707963267948966
#define M_PI_4 0.78539816339744831
#define M_1_PI 0.31830988618379067
#define M_2_PI 0.63661977236758134
#define M_2_SQRTPI 1.1283791670955126
#define M_SQRT2 1.4142135623730951
#define M_SQRT1_2 0.70710678118654752
#endif

namespace ct_std {
template <class T, T kValue>
struct integral_constant {
  static constexpr T value = kValue;
  typedef T value_type;
  typedef integral_constant type;
  CATENARY_BOTH constexpr operator T() const { return kValue; }
  CATENARY_BOTH constexpr T operator()() const { return kValue; }
};
template <bool kValue>
using bool_constant = integral_constant<bool, kValue>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;

template <class T, class U>
struct is_same : false_type {};
template <class T>
struct is_same<T, T> : true_type {};
template <bool kFirst, class T, class U>
struct conditional {
  typedef T type;
};
template <class T, class U>
struct conditional<false, T, U> {
  typedef U type;
};
template <bool kIs, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  typedef T type;
};
template <class T>
struct remove_const {
  typedef T type;
};
template <class T>
struct remove_const<const T> {
  typedef T type;
};
template <class T>
struct remove_volatile {
  typedef T type;
};
template <class T>
struct remove_volatile<volatile T> {
  typedef T type;
};
template <class T>
struct remove_cv : remove_const<typename remove_volatile<T>::type> {};
template <class T>
struct remove_reference {
  typedef T type;
};
template <class T>
struct remove_reference<T&> {
  typedef T type;
};
template <class T>
struct remove_reference<T&&> {
  typedef T type;
};
template <class T>
struct remove_pointer {
  typedef T type;
};
template <class T>
struct remove_pointer<T*> {
  typedef T type;
};
template <class T>
struct decay : remove_cv<typename remove_reference<T>::type> {};
template <class T>
struct is_const : false_type {};
template <class T>
struct is_const<const T> : true_type {};
template <class T>
struct is_pointer : false_type {};
template <class T>
struct is_pointer<T*> : true_type {};
template <class T>
struct is_void : is_same<typename remove_cv<T>::type, void> {};
template <class T>
struct ct_integral : false_type {};
template <class T>
struct ct_floating : false_type {};
template <class T>
struct make_signed {};
template <class T>
struct make_unsigned {};
template <class T>
struct numeric_limits {
  static constexpr bool is_specialized = false;
};
#define CATENARY_WHOLE(T, S, U, least, most)                     \
  template <>                                                    \
  struct ct_integral<T> : true_type {};                          \
  template <>                                                    \
  struct make_signed<T> {                                        \
    typedef S type;                                              \
  };                                                             \
  template <>                                                    \
  struct make_unsigned<T> {                                      \
    typedef U type;                                              \
  };                                                             \
  CATENARY_LIMITS(T, least, most)
#define CATENARY_LIMITS(T, least, most)                                      \
  template <>                                                                \
  struct numeric_limits<T> {                                                 \
    static constexpr bool is_specialized = true, is_integer = true;          \
    static constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0), has_infinity = false;    \
    static constexpr bool has_quiet_NaN = false;                             \
    static constexpr int digits = sizeof(T) * 8 - (static_cast<T>(-1) < static_cast<T>(0));            \
    static CATENARY_BOTH constexpr T min() { return least; }                 \
    static CATENARY_BOTH constexpr T lowest() { return least; }              \
    static CATENARY_BOTH constexpr T max() { return most; }                  \
    static CATENARY_BOTH constexpr T epsilon() { return 0; }                 \
  };
CATENARY_WHOLE(char, signed char, unsigned char, CHAR_MIN, CHAR_MAX)
CATENARY_WHOLE(signed char, signed char, unsigned char, SCHAR_MIN, SCHAR_MAX)
CATENARY_WHOLE(unsigned char, signed char, unsigned char, 0, UCHAR_MAX)
CATENARY_WHOLE(short, short, unsigned short, SHRT_MIN, SHRT_MAX)
CATENARY_WHOLE(unsigned short, short, unsigned short, 0, USHRT_MAX)
CATENARY_WHOLE(int, int, unsigned, INT_MIN, INT_MAX)
CATENARY_WHOLE(unsigned, int, unsigned, 0, UINT_MAX)
CATENARY_WHOLE(long, long, unsigned long, LONG_MIN, LONG_MAX)
CATENARY_WHOLE(unsigned long, long, unsigned long, 0, ULONG_MAX)
CATENARY_WHOLE(long long, long long, unsigned long long, LLONG_MIN, LLONG_MAX)
CATENARY_WHOLE(unsigned long long, long long, unsigned long long, 0, ULLONG_MAX)
template <>
struct ct_integral<bool> : true_type {};
CATENARY_LIMITS(bool, false, true)
#undef CATENARY_WHOLE
#undef CATENARY_LIMITS
#define CATENARY_REALS(T, least, most, step, endless, none, places)           \
  template <>                                                                \
  struct ct_floating<T> : true_type {};                                      \
  template <>                                                                \
  struct numeric_limits<T> {                                                 \
    static constexpr bool is_specialized = true, is_integer = false;         \
    static constexpr bool is_signed = true, has_infinity = true;             \
    static constexpr bool has_quiet_NaN = true;                              \
    static constexpr int digits = places;                                    \
    static CATENARY_BOTH T min() { return least; }                           \
    static CATENARY_BOTH T lowest() { return -most; }                        \
    static CATENARY_BOTH T max() { return most; }                            \
    static CATENARY_BOTH T epsilon() { return step; }                        \
    static CATENARY_BOTH T infinity() { return endless; }                    \
    static CATENARY_BOTH T quiet_NaN() { return none; }                      \
  };
CATENARY_REALS(float, FLT_MIN, FLT_MAX, FLT_EPSILON, __int_as_float(0x7f800000), __int_as_float(0x7fc00000), 24)
CATENARY_REALS(double, DBL_MIN, DBL_MAX, DBL_EPSILON, __longlong_as_double(0x7ff0000000000000LL),
               __longlong_as_double(0x7ff8000000000000LL), 53)
#undef CATENARY_REALS
template <class T>
struct is_integral : ct_integral<typename remove_cv<T>::type> {};
template <class T>
struct is_floating_point : ct_floating<typename remove_cv<T>::type> {};
template <class T>
struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <class T, bool = is_arithmetic<T>::value>
struct is_signed : false_type {};
template <class T>
struct is_signed<T, true> : bool_constant<static_cast<T>(-1) < static_cast<T>(0)> {};
template <class T, bool = is_integral<T>::value>
struct is_unsigned : false_type {};
template <class T>
struct is_unsigned<T, true> : bool_constant<(static_cast<T>(0) < static_cast<T>(-1))> {};

template <bool kFirst, class T, class U>
using conditional_t = typename conditional<kFirst, T, U>::type;
template <bool kIs, class T = void>
using enable_if_t = typename enable_if<kIs, T>::type;
template <class T, class U>
constexpr bool is_same_v = is_same<T, U>::value;
template <class... T>
using void_t = void;
#define CATENARY_TYPE(name) \
  template <class T>        \
  using name##_t = typename name<T>::type;
CATENARY_TYPE(remove_const)
CATENARY_TYPE(remove_volatile)
CATENARY_TYPE(remove_cv)
CATENARY_TYPE(remove_reference)
CATENARY_TYPE(remove_pointer)
CATENARY_TYPE(decay)
CATENARY_TYPE(make_signed)
CATENARY_TYPE(make_unsigned)
#undef CATENARY_TYPE
#define CATENARY_VALUE(name) \
  template <class T>         \
  constexpr bool name##_v = name<T>::value;
CATENARY_VALUE(is_const)
CATENARY_VALUE(is_pointer)
CATENARY_VALUE(is_void)
CATENARY_VALUE(is_integral)
CATENARY_VALUE(is_floating_point)
CATENARY_VALUE(is_arithmetic)
CATENARY_VALUE(is_signed)
CATENARY_VALUE(is_unsigned)
#undef CATENARY_VALUE
template <class T>
CATENARY_BOTH const T& min(const T& x, const T& y) {
  return y < x ? y : x;
}
template <class T>
CATENARY_BOTH const T& max(const T& x, const T& y) {
  return x < y ? y : x;
}
template <class T>
CATENARY_BOTH void swap(T& x, T& y) {
  const T kept = x;
  x = y;
  y = kept;
}
}  // namespace ct_std
namespace cupy {
namespace type_traits = ct_std;
}
#endif
