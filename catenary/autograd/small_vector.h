#pragma once
// A short vector whose first N elements need no allocation, since most functions have one to three inputs and outputs.

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace catenary {

/// A vector with inline storage for N elements.
template <class T, std::size_t N>
class SmallVector {
 public:
  using value_type = T;
  SmallVector() = default;
  SmallVector(std::initializer_list<T> values) { append(values.begin(), values.size()); }
  SmallVector(const T& value) { push_back(value); }
  SmallVector(T&& value) { push_back(std::move(value)); }
  explicit SmallVector(std::span<const T> values) { append(values.data(), values.size()); }
  /// Returns a vector of n default-constructed elements.
  static SmallVector filled(std::size_t n) {
    SmallVector v;
    v.resize(n);
    return v;
  }
  SmallVector(const SmallVector& other) { append(other.begin(), other.size_); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) *this = SmallVector(other);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      destroy();
      take(other);
    }
    return *this;
  }
  ~SmallVector() { destroy(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return begin()[i]; }
  const T& operator[](std::size_t i) const { return begin()[i]; }
  T* begin() { return heap_ ? heap_ : reinterpret_cast<T*>(inline_); }
  const T* begin() const { return heap_ ? heap_ : reinterpret_cast<const T*>(inline_); }
  T* end() { return begin() + size_; }
  const T* end() const { return begin() + size_; }
  T& back() { return begin()[size_ - 1]; }
  operator std::span<const T>() const { return {begin(), size_}; }

  void reserve(std::size_t n) {
    if (n > capacity_) grow(n);
  }
  template <class... A>
  T& emplace_back(A&&... arguments) {
    if (size_ == capacity_) {
      T value(std::forward<A>(arguments)...);  // an argument may live in this vector
      grow(2 * capacity_);
      return *new (begin() + size_++) T(std::move(value));
    }
    return *new (begin() + size_++) T(std::forward<A>(arguments)...);
  }
  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  void pop_back() { std::destroy_at(begin() + --size_); }
  void resize(std::size_t n) {
    reserve(n);
    while (size_ > n) pop_back();
    while (size_ < n) emplace_back();
  }
  void clear() {
    std::destroy_n(begin(), size_);
    size_ = 0;
  }

 private:
  void append(const T* values, std::size_t n) {
    reserve(size_ + n);
    for (std::size_t i = 0; i < n; ++i) emplace_back(values[i]);
  }
  void grow(std::size_t n) {
    T* bigger = static_cast<T*>(::operator new(n * sizeof(T)));
    std::uninitialized_move_n(begin(), size_, bigger);
    std::destroy_n(begin(), size_);
    ::operator delete(heap_);
    heap_ = bigger;
    capacity_ = n;
  }
  void take(SmallVector& other) {
    size_ = std::exchange(other.size_, 0);
    heap_ = std::exchange(other.heap_, nullptr);
    capacity_ = std::exchange(other.capacity_, N);
    if (!heap_) {
      T* from = reinterpret_cast<T*>(other.inline_);
      std::uninitialized_move_n(from, size_, reinterpret_cast<T*>(inline_));
      std::destroy_n(from, size_);
    }
  }
  void destroy() {
    clear();
    ::operator delete(heap_);
    heap_ = nullptr;
    capacity_ = N;
  }

  std::size_t size_ = 0;
  std::size_t capacity_ = N;
  T* heap_ = nullptr;
  alignas(T) std::byte inline_[N * sizeof(T)];
};

}  // namespace catenary
