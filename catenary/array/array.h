#pragma once
// array/: Array and the functions on arrays, with NumPy's names and semantics. This layer knows devices through
// device/backend.h only.
//
// An Array is a handle: copies alias, views alias, in-place operators write through. Elementwise operations are
// deferred internally (array/lazy.h), but this is never visible: each line sees the effects of all lines before it, and
// errors of shape, dtype and device are thrown by the line that causes them.

#include <atomic>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/core/dtype.h"
#include "catenary/core/error.h"
#include "catenary/core/shape.h"
#include "catenary/device/device.h"
#include "catenary/device/storage.h"

namespace catenary {

class Array;
class ArrayBody;
class ArrayIterator;
class Index;

namespace detail {
/// Holds if an index of this type can make the result a copy. Integer arrays and masks do.
template <class I>
concept MayGiveCopy = std::convertible_to<const I&, Array> || std::same_as<I, Index>;
}  // namespace detail

/// Holds the reference count of an Array's body; all other members are private to the library.
class CT_API ArrayHead {
 public:
  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    // with the last handle gone nobody can make another, so the count need not be decremented
    if (references() == 1 || references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  int references() const { return references_.load(std::memory_order_acquire); }

 protected:
  ArrayHead() = default;
  ~ArrayHead() = default;

 private:
  void destroy();
  std::atomic<int> references_{0};
};

/// A C++ literal in an expression with arrays. Literals are weak: `x + 1.5` keeps the dtype of a floating-point x, as
/// Python scalars do in NumPy 2.
class CT_API Scalar {
 public:
  enum class Kind : std::uint8_t { boolean, integer, real, complex };
  Scalar(bool value) : kind_(Kind::boolean), integer_(value) {}
  template <std::integral T>
  Scalar(T value) : kind_(Kind::integer), integer_(static_cast<std::int64_t>(value)) {}
  Scalar(double value) : kind_(Kind::real), real_(value) {}
  Scalar(float value) : Scalar(static_cast<double>(value)) {}
  Scalar(float16 value) : Scalar(static_cast<double>(float{value})) {}
  Scalar(bfloat16 value) : Scalar(static_cast<double>(float{value})) {}
  /// Takes std::complex<float> and std::complex<double>.
  template <detail::ComplexNumber C>
  Scalar(const C& value)
      : kind_(Kind::complex), real_(static_cast<double>(value.real())), imag_(static_cast<double>(value.imag())) {}

  Kind kind() const { return kind_; }
  double real() const { return kind_ >= Kind::real ? real_ : static_cast<double>(integer_); }
  double imag() const { return imag_; }
  std::int64_t integer() const { return integer_; }
  /// Returns NumPy's default dtype for this literal: bool, int64, float64 or complex128.
  Dtype default_dtype() const {
    constexpr Dtype dtypes[] = {Dtype::bool_, Dtype::int64, Dtype::float64, Dtype::complex128};
    return dtypes[static_cast<int>(kind_)];
  }

 private:
  Kind kind_;
  union {
    std::int64_t integer_;
    double real_;
  };
  double imag_ = 0;
};

/// An argument that may be an array or a literal. It refers to the array only during the call.
class CT_API Operand {
 public:
  Operand(const Array& array) : array_(&array), scalar_(false) {}
  /// Takes a temporary, whose memory the operation may release early: see `release`.
  Operand(Array&& array) : array_(&array), temporary_(&array), scalar_(false) {}
  /// Forgets that the array is a temporary: with several copies, none of them is its last use.
  Operand(const Operand& other) : array_(other.array_), scalar_(other.scalar_) {}
  Operand(Operand&&) = default;
  template <class T>
  requires(std::is_arithmetic_v<T> || std::same_as<T, float16> || std::same_as<T, bfloat16> || detail::ComplexNumber<T>)
      Operand(T value)
      : scalar_(value) {}
  Operand(const Scalar& value) : scalar_(value) {}

  bool is_array() const { return array_ != nullptr; }
  const Array& array() const { return *array_; }
  const Scalar& scalar() const { return scalar_; }
  /// Drops a temporary's handle once the operation has read it. C++ would keep the handle until the end of the
  /// statement, and every value with a live handle is stored: `exp(x - y).sum()` would write x - y and its exp to
  /// memory.
  void release();

 private:
  const Array* array_ = nullptr;
  Array* temporary_ = nullptr;
  Scalar scalar_;
};

/// The array that a function writes to. Results that can be copies are returned as const, and a const temporary does
/// not convert to Target: `put(x.ravel(), 3, 0)` does not compile.
class CT_API Target {
 public:
  Target(const Array& array) : array_(array) {}
  Target(Array&& array) : array_(array) {}
  Target(const Array&& array) = delete;
  operator const Array&() const { return array_; }

 private:
  const Array& array_;
};

/// The axes of a reduction; without arguments, all axes. `sum(x)`, `sum(x, 1)`, `sum(x, {0, 2})`.
class CT_API AxisArg {
 public:
  AxisArg() = default;
  AxisArg(std::nullopt_t) {}
  AxisArg(int axis) : all_(false), axes_{axis} {}
  AxisArg(std::int64_t axis) : all_(false), axes_{axis} {}
  AxisArg(std::initializer_list<std::int64_t> axes) : all_(false), axes_(axes) {}
  AxisArg(const Axes& axes) : all_(false), axes_(axes) {}
  AxisArg(const std::optional<Axes>& axes) : all_(!axes) {
    if (axes) axes_ = *axes;
  }

  bool all() const { return all_; }
  const Axes& axes() const { return axes_; }
  /// Returns the axes as non-negative numbers, all of them when none were given. Throws ShapeError, with `what` in its
  /// message.
  Axes normalized(int ndim, const char* what) const;

 private:
  bool all_ = true;
  Axes axes_;
};

/// An n-dimensional array on a device.
class CT_API Array {
 public:
  /// Makes an empty handle, which can only be assigned to, tested with `defined` and destroyed.
  Array() = default;
  Array(const Array&) = default;
  Array(Array&&) = default;
  /// Makes this handle refer to the other array. A temporary cannot be assigned to, so `x(1) = y` does not compile: use
  /// `x.set(y, 1)` to write elements.
  Array& operator=(const Array&) & = default;
  Array& operator=(Array&&) & = default;
  /// Returns a new, uninitialised, C-ordered array on the current device, or on the given one.
  static Array empty(const Shape& shape, Dtype dtype);
  static Array empty(const Shape& shape, Dtype dtype, const Device& device);
  /// Returns a new array with values from host memory (C-ordered).
  static Array from_host(const void* values, const Shape& shape, Dtype dtype, const Device& device = current_device());
  /// Returns an array over foreign memory; `owner` keeps that memory alive.
  static Array from_memory(void* handle, const Shape& shape, const Strides& strides, Dtype dtype, const Device& device,
                           std::shared_ptr<void> owner);

  bool defined() const { return static_cast<bool>(body_); }
  explicit operator bool() const = delete;

  Dtype dtype() const;
  const Shape& shape() const;
  std::int64_t shape(int axis) const;
  /// Returns the strides in elements (NumPy's are in bytes). Works for pending arrays, too, and evaluates nothing.
  const Strides& strides() const;
  int ndim() const { return shape().size(); }
  std::int64_t size() const { return shape().product(); }
  std::size_t nbytes() const { return static_cast<std::size_t>(size()) * itemsize(); }
  std::size_t itemsize() const { return catenary::itemsize(dtype()); }
  Device device() const;
  bool is_contiguous() const;
  /// Returns whether both arrays use the same memory block, as NumPy's may_share_memory without a check of bounds.
  bool shares_memory(const Array& other) const;
  /// Returns whether both handles refer to the same array.
  bool is(const Array& other) const { return body_ == other.body_; }
  /// Returns the size of the first axis, as Python's len(). Throws ShapeError for a 0-d array.
  std::int64_t len() const;

  /// Runs the pending operations of this array and returns it.
  const Array& eval() const;

  /// Returns the only element. Throws ShapeError unless there is exactly one.
  template <class T>
  T item() const {
    T value;
    item(&value, dtype_of<T>);
    return value;
  }
  /// Returns all elements in C order. The host casts them to T, because some devices lack some dtypes.
  template <class T>
  std::vector<T> to_vector() const {
    const Array host = to_device(Device());
    if constexpr (std::same_as<T, bool>) {
      const std::vector<std::uint8_t> bytes = host.astype(Dtype::bool_).template to_bytes<std::uint8_t>();
      return std::vector<bool>(bytes.begin(), bytes.end());
    } else {
      return host.astype(dtype_of<T>).template to_bytes<T>();
    }
  }
  /// Returns the address of the first element of a CPU array, for reading. Elements follow strides(). Throws DtypeError
  /// or DeviceError.
  template <class T>
  const T* data() const {
    return static_cast<const T*>(host_data(dtype_of<T>, false));
  }
  /// Returns the address of the first element of a CPU array, for writing. See data().
  template <class T>
  T* mutable_data() const& {
    return static_cast<T*>(host_data(dtype_of<T>, true));
  }
  template <class T>
  T* mutable_data() && {
    return std::as_const(*this).template mutable_data<T>();
  }
  template <class T>
  T* mutable_data() const&& = delete;
  const void* raw_data() const { return host_data(dtype(), false); }
  void* raw_mutable_data() const& { return host_data(dtype(), true); }
  void* raw_mutable_data() && { return host_data(dtype(), true); }
  void* raw_mutable_data() const&& = delete;
  /// Returns the address of the first element in device memory, for other libraries to read and write. Elements follow
  /// strides(). Pending operations have been submitted, and device().synchronize() waits for them. On OpenCL, whose
  /// buffers have no addresses, this is the cl_mem; DeviceError is thrown for an array that does not begin at the start
  /// of its buffer.
  void* device_pointer() const;
  /// Copies the elements in C order to host memory of nbytes() bytes.
  void copy_to_host(void* to) const;

  // Results that can be copies are returned as const, and so are views of them. Writing to an unnamed copy (`x(x > 3)
  // += 1`, `x.T().reshape({6}) += 1`) would not change x, so it does not compile.

  /// Reads elements by NumPy's rules: integers, slices, newaxis and ellipsis give a view; integer and bool arrays give
  /// a copy.
  template <class... I>
  std::conditional_t<(detail::MayGiveCopy<I> || ...), const Array, Array> operator()(const I&... indices) const&;
  template <class... I>
  std::conditional_t<(detail::MayGiveCopy<I> || ...), const Array, Array> operator()(const I&... indices) && {
    return std::as_const(*this)(indices...);
  }
  template <class... I>
  const Array operator()(const I&... indices) const&& {
    const Array& self = *this;
    return self(indices...);
  }
  const Array get(const std::vector<Index>& indices) const;
  /// Writes elements: `a.set(value, i, slice(…), …)` is NumPy's `a[i, …] = value`.
  template <class... I>
  const Array& set(const Operand& value, const I&... indices) const&;
  template <class... I>
  const Array& set(const Operand& value, const I&... indices) && {
    return std::as_const(*this).set(value, indices...);
  }
  template <class... I>
  const Array& set(const Operand& value, const I&... indices) const&& = delete;
  void set_at(const std::vector<Index>& indices, const Operand& value) const&;
  void set_at(const std::vector<Index>& indices, const Operand& value) && {
    std::as_const(*this).set_at(indices, value);
  }
  void set_at(const std::vector<Index>& indices, const Operand& value) const&& = delete;
  /// Returns the view of one position on the first axis.
  Array operator[](std::int64_t i) const&;
  Array operator[](std::int64_t i) && { return std::as_const(*this)[i]; }
  const Array operator[](std::int64_t i) const&& {
    const Array& self = *this;
    return self[i];
  }
  /// Iterate over the views along the first axis: `for (const Array& row : x)`. Throw ShapeError for a 0-d array.
  ArrayIterator begin() const;
  ArrayIterator end() const;

  Array astype(Dtype dtype) const&;
  Array astype(Dtype dtype) &&;
  /// Returns a new C-ordered array with equal values.
  Array copy() const;
  /// Returns a copy on another device, or this array if it is already there.
  const Array to_device(const Device& device) const;
  /// Returns this array if it is C-ordered, else a C-ordered copy.
  const Array contiguous() const;
  /// Returns a view where strides allow it, else a copy. The size of one axis may be -1: it is computed.
  const Array reshape(const Shape& shape) const;
  const Array ravel() const;
  /// Returns a 1-d copy in C order.
  const Array flatten() const;
  /// Returns a view in which all elements along a broadcast axis share one memory location. Do not write to it, as in
  /// NumPy.
  const Array broadcast_to(const Shape& shape) const;
#define CT_VIEW_OF_TEMPORARY(function, parameters, arguments)                     \
  Array function parameters&& { return std::as_const(*this).function arguments; } \
  const Array function parameters const&& {                                       \
    const Array& self = *this;                                                    \
    return self.function arguments;                                               \
  }
  /// Returns a view with the axes in the given order (reversed when empty).
  Array transpose(const Axes& axes = {}) const&;
  CT_VIEW_OF_TEMPORARY(transpose, (const Axes& axes = {}), (axes))
  Array T() const&;
  CT_VIEW_OF_TEMPORARY(T, (), ())
  /// Returns a view without the axes of size 1, or without the given ones.
  Array squeeze(const AxisArg& axis = {}) const&;
  CT_VIEW_OF_TEMPORARY(squeeze, (const AxisArg& axis = {}), (axis))
  /// Returns a view of this memory with another shape, strides and offset, which is relative to this array's first
  /// element. Checks no bounds.
  Array as_strided(const Shape& shape, const Strides& strides, std::int64_t offset = 0) const&;
  CT_VIEW_OF_TEMPORARY(as_strided, (const Shape& to, const Strides& by, std::int64_t offset = 0), (to, by, offset))
#undef CT_VIEW_OF_TEMPORARY
  /// Sets every element.
  void fill(const Scalar& value) const&;
  void fill(const Scalar& value) && { std::as_const(*this).fill(value); }
  void fill(const Scalar& value) const&& = delete;

  // Reductions; see the functions of these names in array/reduction.h.
  Array sum(const AxisArg& axis = {}, bool keepdims = false, std::optional<Dtype> dtype = {}) const&;
  Array sum(const AxisArg& axis = {}, bool keepdims = false, std::optional<Dtype> dtype = {}) &&;
  Array prod(const AxisArg& axis = {}, bool keepdims = false, std::optional<Dtype> dtype = {}) const&;
  Array prod(const AxisArg& axis = {}, bool keepdims = false, std::optional<Dtype> dtype = {}) &&;
  Array mean(const AxisArg& axis = {}, bool keepdims = false, std::optional<Dtype> dtype = {}) const&;
  Array mean(const AxisArg& axis = {}, bool keepdims = false, std::optional<Dtype> dtype = {}) &&;
  Array max(const AxisArg& axis = {}, bool keepdims = false) const&;
  Array max(const AxisArg& axis = {}, bool keepdims = false) &&;
  Array min(const AxisArg& axis = {}, bool keepdims = false) const&;
  Array min(const AxisArg& axis = {}, bool keepdims = false) &&;
  Array var(const AxisArg& axis = {}, bool keepdims = false, double ddof = 0) const;
  Array std(const AxisArg& axis = {}, bool keepdims = false, double ddof = 0) const;
  Array argmax(const std::optional<int>& axis = {}, bool keepdims = false) const;
  Array argmin(const std::optional<int>& axis = {}, bool keepdims = false) const;
  Array cumsum(const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {}) const;
  Array cumprod(const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {}) const;
  /// Reduce all elements to one bool, which an `if` can test.
  bool any() const&;
  bool any() &&;
  bool all() const&;
  bool all() &&;
  Array any(const AxisArg& axis, bool keepdims = false) const;
  Array all(const AxisArg& axis, bool keepdims = false) const;

  // In-place operators. The array keeps its dtype and shape; adding floats to an integer array throws DtypeError. An
  // unnamed view is accepted: `x(1) += 1` writes to x.
#define CT_IN_PLACE_OPERATOR(symbol)                                                                 \
  const Array& operator symbol(const Operand& other) const&;                                         \
  const Array& operator symbol(const Operand& other)&& { return std::as_const(*this) symbol other; } \
  const Array& operator symbol(const Operand& other) const&& = delete;
  CT_IN_PLACE_OPERATOR(+=)
  CT_IN_PLACE_OPERATOR(-=)
  CT_IN_PLACE_OPERATOR(*=)
  CT_IN_PLACE_OPERATOR(/=)
#undef CT_IN_PLACE_OPERATOR

  /// Internal.
  explicit Array(Ref<ArrayHead> body) : body_(std::move(body)) {}
  ArrayBody& body() const;

 private:
  void item(void* to, Dtype dtype) const;
  void* host_data(Dtype expected, bool for_writing) const;
  template <class T>
  std::vector<T> to_bytes() const {
    std::vector<T> values(static_cast<std::size_t>(size()));
    copy_to_host(values.data());
    return values;
  }

  Ref<ArrayHead> body_;
};

inline void Operand::release() {
  if (temporary_) *temporary_ = Array();
}

namespace detail {
template <class T>
concept ArrayArgument = std::same_as<std::remove_cvref_t<T>, Array>;
template <class T>
concept Literal = std::is_arithmetic_v<T> || ComplexNumber<T>;
/// The type of a forwarding reference to a temporary that may be a copy.
template <class T>
concept MaybeCopy = std::same_as<T, const Array>;
}  // namespace detail

// Array operators. All comparisons return arrays.
#define CT_BINARY_OPERATOR(symbol, function)                  \
  CT_API Array function(Operand a, Operand b);                \
  template <detail::ArrayArgument A, detail::ArrayArgument B> \
  Array operator symbol(A&& a, B&& b) {                       \
    return function(std::forward<A>(a), std::forward<B>(b));  \
  }                                                           \
  template <detail::ArrayArgument A, detail::Literal S>       \
  Array operator symbol(A&& a, S b) {                         \
    return function(std::forward<A>(a), b);                   \
  }                                                           \
  template <detail::Literal S, detail::ArrayArgument B>       \
  Array operator symbol(S a, B&& b) {                         \
    return function(a, std::forward<B>(b));                   \
  }
CT_BINARY_OPERATOR(+, add)
CT_BINARY_OPERATOR(-, subtract)
CT_BINARY_OPERATOR(*, multiply)
CT_BINARY_OPERATOR(/, divide)
CT_BINARY_OPERATOR(%, remainder)
CT_BINARY_OPERATOR(==, equal)
CT_BINARY_OPERATOR(!=, not_equal)
CT_BINARY_OPERATOR(<, less)
CT_BINARY_OPERATOR(<=, less_equal)
CT_BINARY_OPERATOR(>, greater)
CT_BINARY_OPERATOR(>=, greater_equal)
CT_BINARY_OPERATOR(&, bitwise_and)
CT_BINARY_OPERATOR(|, bitwise_or)
CT_BINARY_OPERATOR(^, bitwise_xor)
CT_BINARY_OPERATOR(<<, left_shift)
CT_BINARY_OPERATOR(>>, right_shift)
#undef CT_BINARY_OPERATOR
#define CT_UNARY_OPERATOR(symbol, function)                            \
  CT_API Array function(Operand a);                                    \
  inline Array operator symbol(const Array& a) { return function(a); } \
  inline Array operator symbol(Array&& a) { return function(std::move(a)); }
CT_UNARY_OPERATOR(-, negative)
CT_UNARY_OPERATOR(~, invert)
CT_UNARY_OPERATOR(!, logical_not)
#undef CT_UNARY_OPERATOR

/// Formats as NumPy's str(): "[[1. 2.]\n [3. 4.]]". Long arrays are summarised.
CT_API std::string to_string(const Array& a);
/// Formats as NumPy's repr(): "array([1., 2.], dtype=float32)".
CT_API std::string repr(const Array& a);
CT_API std::ostream& operator<<(std::ostream& stream, const Array& a);

/// The type of `none`.
struct NoneType {};
/// An omitted bound of a slice.
inline constexpr NoneType none{};
/// A range of indices, as Python's slice(start, stop, step); `none` omits a bound.
struct Slice {
  std::optional<std::int64_t> start, stop, step;
};
namespace detail {
inline std::optional<std::int64_t> slice_end(NoneType) { return std::nullopt; }
inline std::optional<std::int64_t> slice_end(std::int64_t value) { return value; }
}  // namespace detail
/// Makes a slice: `slice()` is ":", `slice(stop)` is ":stop", `slice(start, stop, step)` is "start:stop:step".
inline Slice slice() { return {}; }
template <class Stop>
Slice slice(Stop stop) {
  return {std::nullopt, detail::slice_end(stop), std::nullopt};
}
template <class Start, class Stop>
Slice slice(Start start, Stop stop) {
  return {detail::slice_end(start), detail::slice_end(stop), std::nullopt};
}
template <class Start, class Stop, class Step>
Slice slice(Start start, Stop stop, Step step) {
  return {detail::slice_end(start), detail::slice_end(stop), detail::slice_end(step)};
}
/// The types of `newaxis` and `ellipsis`.
struct NewAxis {};
struct Ellipsis {};
/// Entries of an index expression: a new axis of size 1, and ":" for all remaining axes.
inline constexpr NewAxis newaxis{};
inline constexpr Ellipsis ellipsis{};

/// One entry of an index expression.
class CT_API Index {
 public:
  enum class Kind : std::uint8_t { integer, slice, newaxis, ellipsis, array };
  template <std::integral T>
  Index(T i) : kind_(Kind::integer), integer_(static_cast<std::int64_t>(i)) {}
  Index(const Slice& s) : kind_(Kind::slice), slice_(s) {}
  Index(NewAxis) : kind_(Kind::newaxis) {}
  Index(Ellipsis) : kind_(Kind::ellipsis) {}
  /// Takes an index array: integers select positions, bools select the positions that are true.
  Index(const Array& a) : kind_(Kind::array), array_(a) {}
  Kind kind() const { return kind_; }
  std::int64_t integer() const { return integer_; }
  const Slice& slice() const { return slice_; }
  const Array& array() const { return array_; }

 private:
  Kind kind_;
  std::int64_t integer_ = 0;
  Slice slice_;
  Array array_;
};

template <class... I>
std::conditional_t<(detail::MayGiveCopy<I> || ...), const Array, Array> Array::operator()(const I&... indices) const& {
  return get(std::vector<Index>{Index(indices)...});
}
template <class... I>
const Array& Array::set(const Operand& value, const I&... indices) const& {
  set_at(std::vector<Index>{Index(indices)...}, value);
  return *this;
}

/// Iterates along the first axis of an array. Each step gives a view.
class ArrayIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Array;
  using difference_type = std::int64_t;
  using pointer = void;
  using reference = Array;

  ArrayIterator(Array array, std::int64_t position) : array_(std::move(array)), position_(position) {}
  Array operator*() const { return array_[position_]; }
  ArrayIterator& operator++() {
    ++position_;
    return *this;
  }
  ArrayIterator operator++(int) {
    ArrayIterator before = *this;
    ++position_;
    return before;
  }
  friend bool operator==(const ArrayIterator& a, const ArrayIterator& b) { return a.position_ == b.position_; }

 private:
  Array array_;
  std::int64_t position_;
};
inline ArrayIterator Array::begin() const { return {*this, 0}; }
inline ArrayIterator Array::end() const { return {*this, len()}; }

}  // namespace catenary
