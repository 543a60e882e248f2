// complex<float> and complex<double> in kernels, after carray.cuh. The library computes them (complex.inc). CUDA and
// HIP find its functions by the names below, and the processor in catenary::math.
#ifndef CATENARY_COMPLEX
#define CATENARY_COMPLEX

#ifndef CATENARY_MATH
#define CATENARY_MATH
#endif

template <class T>
class complex;

template <class T>
struct ct_in_place {
  typedef T type;
};

/// A complex number. Without an initialiser it is uninitialised.
template <class T>
class complex {
 public:
  typedef T value_type;
  complex() = default;
  CATENARY_BOTH complex(T re, T im = T(0)) : x(re), y(im) {}
  template <class U>
  explicit CATENARY_BOTH complex(const complex<U>& z) : x(static_cast<T>(z.real())), y(static_cast<T>(z.imag())) {}
  CATENARY_BOTH T real() const { return x; }
  CATENARY_BOTH T imag() const { return y; }
  CATENARY_BOTH void real(T re) { x = re; }
  CATENARY_BOTH void imag(T im) { y = im; }
  template <class U>
  CATENARY_BOTH complex& operator=(const complex<U>& z) {
    return *this = complex(z);
  }
#define CATENARY_INTO(op)                                                                        \
  CATENARY_BOTH complex& operator op##=(const complex& z) { return *this = *this op z; }         \
  template <class U>                                                                             \
  CATENARY_BOTH complex& operator op##=(const complex<U>& z) { /* as wide as the wider one */    \
    return *this = *this op z;                                                                        \
  }
  CATENARY_INTO(+)
  CATENARY_INTO(-)
  CATENARY_INTO(*)
  CATENARY_INTO(/)
#undef CATENARY_INTO
  friend CATENARY_BOTH complex operator+(const complex& a) { return a; }
  friend CATENARY_BOTH complex operator-(const complex& a) { return complex(-a.x, -a.y); }
  friend CATENARY_BOTH complex operator+(const complex& a, const complex& b) { return complex(a.x + b.x, a.y + b.y); }
  friend CATENARY_BOTH complex operator-(const complex& a, const complex& b) { return complex(a.x - b.x, a.y - b.y); }
  friend CATENARY_BOTH complex operator*(const complex& a, const complex& b) { return ct_product(a, b); }
  friend CATENARY_BOTH complex operator/(const complex& a, const complex& b) { return ct_quotient(a, b); }
  friend CATENARY_BOTH bool operator==(const complex& a, const complex& b) { return a.x == b.x && a.y == b.y; }
  friend CATENARY_BOTH bool operator!=(const complex& a, const complex& b) { return !(a == b); }

  T x, y;  // named as in cuComplex.h
};

// The wider type decides for two types. For one type, overload resolution prefers the functions above.
#define CATENARY_MIXED(result, op)                                             \
  template <class T, class U>                                                  \
  CATENARY_BOTH result operator op(const complex<T>& x, const complex<U>& y) { \
    return complex<double>(x) op complex<double>(y);                           \
  }
CATENARY_MIXED(complex<double>, +)
CATENARY_MIXED(complex<double>, -)
CATENARY_MIXED(complex<double>, *)
CATENARY_MIXED(complex<double>, /)
CATENARY_MIXED(bool, ==)
CATENARY_MIXED(bool, !=)
#undef CATENARY_MIXED

CATENARY_BOTH CATENARY_MATH c64 ct_there(const complex<float>& z) { return CATENARY_MATH ct_complex_c64(z.real(), z.imag()); }
CATENARY_BOTH CATENARY_MATH c128 ct_there(const complex<double>& z) { return CATENARY_MATH ct_complex_c128(z.real(), z.imag()); }
CATENARY_BOTH complex<float> ct_back(CATENARY_MATH c64 z) { return complex<float>(z.re, z.im); }
CATENARY_BOTH complex<double> ct_back(CATENARY_MATH c128 z) { return complex<double>(z.re, z.im); }

#define CATENARY_OF_ONE(name, of_c64, of_c128)                                                                         \
  CATENARY_BOTH complex<float> name(const complex<float>& z) { return ct_back(CATENARY_MATH of_c64(ct_there(z))); } \
  CATENARY_BOTH complex<double> name(const complex<double>& z) { return ct_back(CATENARY_MATH of_c128(ct_there(z))); }
CATENARY_OF_ONE(exp, ct_exp_c64, ct_exp_c128)
CATENARY_OF_ONE(expm1, ct_expm1_c64, ct_expm1_c128)
CATENARY_OF_ONE(log, ct_log_c64, ct_log_c128)
CATENARY_OF_ONE(log2, ct_log2_c64, ct_log2_c128)
CATENARY_OF_ONE(log10, ct_log10_c64, ct_log10_c128)
CATENARY_OF_ONE(log1p, ct_log1p_c64, ct_log1p_c128)
CATENARY_OF_ONE(sqrt, ct_sqrt_c64, ct_sqrt_c128)
CATENARY_OF_ONE(sin, ct_sin_c64, ct_sin_c128)
CATENARY_OF_ONE(cos, ct_cos_c64, ct_cos_c128)
CATENARY_OF_ONE(tan, ct_tan_c64, ct_tan_c128)
CATENARY_OF_ONE(sinh, ct_sinh_c64, ct_sinh_c128)
CATENARY_OF_ONE(cosh, ct_cosh_c64, ct_cosh_c128)
CATENARY_OF_ONE(tanh, ct_tanh_c64, ct_tanh_c128)
CATENARY_OF_ONE(asin, ct_arcsin_c64, ct_arcsin_c128)
CATENARY_OF_ONE(acos, ct_arccos_c64, ct_arccos_c128)
CATENARY_OF_ONE(atan, ct_arctan_c64, ct_arctan_c128)
CATENARY_OF_ONE(asinh, ct_arcsinh_c64, ct_arcsinh_c128)
CATENARY_OF_ONE(acosh, ct_arccosh_c64, ct_arccosh_c128)
CATENARY_OF_ONE(atanh, ct_arctanh_c64, ct_arctanh_c128)
CATENARY_OF_ONE(conj, ct_conjugate_c64, ct_conjugate_c128)
#undef CATENARY_OF_ONE

#define CATENARY_OF_TWO(name, of_c64, of_c128)                                              \
  CATENARY_BOTH complex<float> name(const complex<float>& x, const complex<float>& y) {    \
    return ct_back(CATENARY_MATH of_c64(ct_there(x), ct_there(y)));                        \
  }                                                                                         \
  CATENARY_BOTH complex<double> name(const complex<double>& x, const complex<double>& y) { \
    return ct_back(CATENARY_MATH of_c128(ct_there(x), ct_there(y)));                       \
  }
CATENARY_OF_TWO(ct_product, ct_multiply_c64, ct_multiply_c128)
CATENARY_OF_TWO(ct_quotient, ct_divide_c64, ct_divide_c128)
CATENARY_OF_TWO(pow, ct_power_c64, ct_power_c128)
#undef CATENARY_OF_TWO
template <class T, class U>
CATENARY_BOTH complex<double> pow(const complex<T>& x, const complex<U>& y) {
  return pow(complex<double>(x), complex<double>(y));
}

CATENARY_BOTH float abs(const complex<float>& z) { return CATENARY_MATH ct_absolute_c64(ct_there(z)); }
CATENARY_BOTH double abs(const complex<double>& z) { return CATENARY_MATH ct_absolute_c128(ct_there(z)); }
CATENARY_BOTH float arg(const complex<float>& z) { return CATENARY_MATH ct_atan2_f32(z.imag(), z.real()); }
CATENARY_BOTH double arg(const complex<double>& z) { return CATENARY_MATH ct_atan2_f64(z.imag(), z.real()); }
template <class T>
CATENARY_BOTH T real(const complex<T>& z) {
  return z.real();
}
template <class T>
CATENARY_BOTH T imag(const complex<T>& z) {
  return z.imag();
}
/// Returns the square of the absolute value.
template <class T>
CATENARY_BOTH T norm(const complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class T>
CATENARY_BOTH complex<T> polar(const T& size, const typename ct_in_place<T>::type& angle = T(0)) {
  return complex<T>(size * cos(angle), size * sin(angle));
}
template <class T>
CATENARY_BOTH bool isnan(const complex<T>& z) {
  return z.real() != z.real() || z.imag() != z.imag();
}
template <class T>
CATENARY_BOTH bool isinf(const complex<T>& z) {
  const T most = T(INFINITY);
  return z.real() == most || z.real() == -most || z.imag() == most || z.imag() == -most;
}
template <class T>
CATENARY_BOTH bool isfinite(const complex<T>& z) {
  return z.real() - z.real() == T(0) && z.imag() - z.imag() == T(0);
}
// Functions of cuComplex.h
template <class T>
CATENARY_BOTH complex<T> ct_cadd(const complex<T>& a, const complex<T>& b) {
  return a + b;
}
template <class T>
CATENARY_BOTH complex<T> ct_csub(const complex<T>& a, const complex<T>& b) {
  return a - b;
}
template <class T>
CATENARY_BOTH complex<T> ct_cmul(const complex<T>& a, const complex<T>& b) {
  return a * b;
}
template <class T>
CATENARY_BOTH complex<T> ct_cdiv(const complex<T>& a, const complex<T>& b) {
  return a / b;
}
template <class T>
CATENARY_BOTH complex<T> ct_cfma(const complex<T>& a, const complex<T>& b, const complex<T>& c) {
  return a * b + c;
}
/// Adds each part separately, as no hardware adds 16 bytes atomically.
template <class T>
CATENARY_BOTH void atomicAdd(complex<T>* p, const complex<T>& value) {
  T* parts = reinterpret_cast<T*>(p);
  atomicAdd(parts, value.real());
  atomicAdd(parts + 1, value.imag());
}

namespace thrust {
using ::abs;
using ::arg;
using ::complex;
using ::conj;
using ::exp;
using ::log;
using ::norm;
using ::polar;
using ::pow;
using ::sqrt;
}  // namespace thrust
#endif
