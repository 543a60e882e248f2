// Declarations for CuPy's kernels: indexed arrays, 16-bit floats, atomic additions. For NVRTC and hipRTC, after the
// library's prelude (ct_half_to_f32, ct_f32_to_half). It includes nothing.
#ifndef CATENARY_CARRAY
#define CATENARY_CARRAY

#define CATENARY_BOTH __device__ __forceinline__
#ifndef INFINITY
#define INFINITY (__int_as_float(0x7f800000))
#endif
#ifndef NAN
#define NAN (__int_as_float(0x7fffffff))
#endif
#ifndef CATENARY_HAS_STDINT
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef decltype(static_cast<char*>(0) - static_cast<char*>(0)) ptrdiff_t;
#endif
typedef int8_t int8;
typedef uint8_t uint8;
typedef int16_t int16;
typedef uint16_t uint16;
typedef int32_t int32;
typedef uint32_t uint32;
typedef int64_t int64;
typedef uint64_t uint64;
typedef float float32;
typedef double float64;

/// A 16-bit float in memory. Arithmetic is done in float.
class float16 {
 public:
  float16() = default;
  template <class T>
  CATENARY_BOTH float16(T value) : bits_(ct_f32_to_half(static_cast<float>(value))) {}
  CATENARY_BOTH operator float() const { return ct_half_to_f32(bits_); }
  static CATENARY_BOTH float16 of_bits(unsigned short bits) {
    float16 x;
    x.bits_ = bits;
    return x;
  }
  CATENARY_BOTH unsigned short bits() const { return bits_; }
#define CATENARY_ASSIGN(op) \
  template <class T>        \
  CATENARY_BOTH float16& operator op##=(T other) { return *this = float16(static_cast<float>(*this) op other); }
  CATENARY_ASSIGN(+)
  CATENARY_ASSIGN(-)
  CATENARY_ASSIGN(*)
  CATENARY_ASSIGN(/)
#undef CATENARY_ASSIGN
  CATENARY_BOTH float16& operator++() { return *this += 1; }
  CATENARY_BOTH float16& operator--() { return *this -= 1; }
  CATENARY_BOTH float16 operator++(int) {
    const float16 before = *this;
    *this += 1;
    return before;
  }
  CATENARY_BOTH float16 operator--(int) {
    const float16 before = *this;
    *this -= 1;
    return before;
  }

 private:
  unsigned short bits_;
};
template <int = 0>  // a template, so that a program may define its own
CATENARY_BOTH float16 min(float16 x, float16 y) { return fminf(x, y); }
template <int = 0>
CATENARY_BOTH float16 max(float16 x, float16 y) { return fmaxf(x, y); }

/// An array argument, indexed by an element's number in C order or by one index per axis. Strides are in bytes.
template <class T, int kNdim, bool kContiguous>
class CArray {
 public:
  static const int ndim = kNdim;
  template <class... N>
  CATENARY_BOTH explicit CArray(T* data, N... extents_then_strides)
      : data_(data), numbers_{static_cast<ptrdiff_t>(extents_then_strides)...} {}
  CATENARY_BOTH ptrdiff_t size() const {
    ptrdiff_t n = 1;
    for (int k = 0; k < kNdim; ++k) n *= numbers_[k];
    return n;
  }
  CATENARY_BOTH const ptrdiff_t* shape() const { return numbers_; }
  CATENARY_BOTH const ptrdiff_t* strides() const { return numbers_ + kNdim; }
  template <class I>
  CATENARY_BOTH T& operator[](const I (&index)[kNdim ? kNdim : 1]) const {
    ptrdiff_t at = 0;
    for (int k = 0; k < kNdim; ++k) at += static_cast<ptrdiff_t>(index[k]) * strides()[k];
    return at_byte(at);
  }
  CATENARY_BOTH T& operator[](ptrdiff_t i) const {
    if (kContiguous) return data_[i];
    ptrdiff_t at = 0;
    for (int k = kNdim - 1; k > 0; --k) {
      at += i % shape()[k] * strides()[k];
      i /= shape()[k];
    }
    return at_byte(kNdim ? at + i * strides()[0] : 0);
  }

 private:
  CATENARY_BOTH T& at_byte(ptrdiff_t at) const {
    return *reinterpret_cast<T*>(reinterpret_cast<char*>(data_) + at);
  }
  T* data_;
  ptrdiff_t numbers_[kNdim ? 2 * kNdim : 1];
};

/// The index of the current element in a loop.
template <int kNdim>
class CIndexer {
 public:
  typedef ptrdiff_t Index[kNdim ? kNdim : 1];
  template <class... N>
  CATENARY_BOTH explicit CIndexer(ptrdiff_t size, N... extents)
      : size_(size), extents_{static_cast<ptrdiff_t>(extents)...} {}
  CATENARY_BOTH ptrdiff_t size() const { return size_; }
  CATENARY_BOTH void set(ptrdiff_t i) {
    for (int k = kNdim - 1; k >= 0; --k) {
      index_[k] = i % extents_[k];
      i /= extents_[k];
    }
  }
  CATENARY_BOTH const Index& get() const { return index_; }

 private:
  ptrdiff_t size_, extents_[kNdim ? kNdim : 1];
  Index index_;
};

/// Returns the value before the addition. The other half of the 32-bit word is not changed.
CATENARY_BOTH float16 atomicAdd(float16* p, float16 value) {
  const unsigned long long address = reinterpret_cast<unsigned long long>(p);
  unsigned int* const word = reinterpret_cast<unsigned int*>(address & ~3ull);
  const unsigned int shift = (address & 2) * 8;
  unsigned int old = *word, seen;
  float16 before;
  do {
    seen = old;
    before = float16::of_bits(static_cast<unsigned short>(seen >> shift));
    const float16 sum = static_cast<float>(before) + static_cast<float>(value);
    old = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | (static_cast<unsigned int>(sum.bits()) << shift));
  } while (old != seen);
  return before;
}
CATENARY_BOTH long long atomicAdd(long long* p, long long value) {
  return static_cast<long long>(
      atomicAdd(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(value)));
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
CATENARY_BOTH double atomicAdd(double* p, double value) {
  unsigned long long* const word = reinterpret_cast<unsigned long long*>(p);
  unsigned long long old = *word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, __double_as_longlong(__longlong_as_double(seen) + value));
  } while (old != seen);
  return __longlong_as_double(old);
}
#endif
#endif
