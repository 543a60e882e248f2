#pragma once
// Shapes, strides and axes: up to 16 numbers stored inline, without allocation.

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary {

/// The largest number of dimensions of an array.
inline constexpr int kMaxDims = 16;

/// A short list of int64: a shape, strides (in elements) or axes.
class CT_API Dims {
 public:
  using value_type = std::int64_t;
  Dims() {}  // NOLINT: the entries stay uninitialised on purpose
  Dims(std::initializer_list<std::int64_t> values) : Dims(values.begin(), static_cast<int>(values.size())) {}
  Dims(const std::vector<std::int64_t>& values) : Dims(values.data(), static_cast<int>(values.size())) {}
  Dims(const std::int64_t* values, int size) {
    check_size(size);
    size_ = static_cast<std::int8_t>(size);
    for (int i = 0; i < size; ++i) values_[i] = values[i];
  }
  Dims(const Dims& other) { *this = other; }
  Dims& operator=(const Dims& other) {
    size_ = other.size_;
    // Copies one of two fixed sizes: for a loop to size_ compilers emit a string instruction with a high start-up cost.
    if (size_ <= kFew) {
      std::memcpy(values_, other.values_, kFew * sizeof(std::int64_t));
    } else {
      std::memcpy(values_, other.values_, sizeof values_);
    }
    return *this;
  }
  /// Returns `size` copies of `value`.
  static Dims filled(int size, std::int64_t value) {
    check_size(size);
    Dims d;
    d.size_ = static_cast<std::int8_t>(size);
    for (int i = 0; i < size; ++i) d.values_[i] = value;
    return d;
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t& operator[](int i) { return values_[i]; }
  std::int64_t operator[](int i) const { return values_[i]; }
  std::int64_t back() const { return values_[size_ - 1]; }
  std::int64_t* data() { return values_; }
  const std::int64_t* data() const { return values_; }
  std::int64_t* begin() { return values_; }
  std::int64_t* end() { return values_ + size_; }
  const std::int64_t* begin() const { return values_; }
  const std::int64_t* end() const { return values_ + size_; }
  operator std::span<const std::int64_t>() const { return {values_, static_cast<std::size_t>(size_)}; }

  void push_back(std::int64_t value) {
    check_size(size_ + 1);
    values_[size_++] = value;
  }
  void pop_back() { --size_; }
  void insert(int position, std::int64_t value);
  void erase(int position);
  /// Returns the product of all entries: the number of elements of a shape (1 for a 0-d array).
  std::int64_t product() const {
    std::int64_t p = 1;
    for (int i = 0; i < size_; ++i) p *= values_[i];
    return p;
  }
  /// Formats as a Python tuple: "(2, 3)", "(4,)", "()".
  std::string str() const;

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (a.values_[i] != b.values_[i]) return false;
    return true;
  }

 private:
  static constexpr int kFew = 4;
  static void check_size(int size) {
    if (size > kMaxDims) throw_too_many(size);
  }
  [[noreturn]] static void throw_too_many(int size);

  std::int64_t values_[kMaxDims];  // entries past size_ are never read
  std::int8_t size_ = 0;
};

/// Writes Dims::str().
CT_API std::ostream& operator<<(std::ostream& stream, const Dims& dims);

/// Sizes, strides in elements, and numbers of axes.
using Shape = Dims;
using Strides = Dims;
using Axes = Dims;

/// Returns the strides (in elements) of a C-ordered array.
CT_API Strides contiguous_strides(const Shape& shape);
/// Returns the shape that both broadcast to. Throws ShapeError, which names `what`.
CT_API Shape broadcast_shapes(const Shape& a, const Shape& b, const char* what = "broadcast");
/// Returns the strides of an array of `shape` and `strides` viewed as `target`. Throws ShapeError if it does not
/// broadcast.
CT_API Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target,
                                 const char* what = "broadcast_to");
/// Returns `axis` counted from the front. Throws ShapeError unless it is in [-ndim, ndim).
CT_API int normalize_axis(std::int64_t axis, int ndim, const char* what);
/// Returns all axes counted from the front. Throws ShapeError for an axis out of range or named twice.
CT_API Axes normalize_axes(const Axes& axes, int ndim, const char* what);
/// Returns the number of elements. Throws ShapeError for a negative size or a product that overflows.
CT_API std::int64_t checked_size(const Shape& shape, const char* what);

}  // namespace catenary
