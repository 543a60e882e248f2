#pragma once
// Serialization of objects for communicators: numbers, enums, strings, vectors, std::array, pairs, tuples, optionals,
// maps, Array, Example and Observation. To support another type, define these functions in its namespace:
//
//   void pack(ct::distributed::Packer& to, const Point& p) { to(p.x)(p.y); }
//   void unpack(ct::distributed::Unpacker& from, Point& p) { from(p.x)(p.y); }

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/datasets/dataset.h"
#include "catenary/reporter/reporter.h"

namespace catenary::distributed {

/// Writes values to a byte buffer.
class CT_API Packer {
 public:
  void raw(const void* data, std::size_t bytes);
  /// Packs a value. Returns this packer, for the next value.
  template <class T>
  Packer& operator()(const T& value) {
    pack(*this, value);
    return *this;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads values from a byte buffer in the order of packing.
class CT_API Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}
  /// Copies bytes. Throws ValueError if fewer are left.
  void raw(void* data, std::size_t bytes);
  /// Reads the number of elements that follow. Throws ValueError if the buffer is too short for them.
  std::size_t count(std::size_t least_bytes_each);
  template <class T>
  Unpacker& operator()(T& value) {
    unpack(*this, value);
    return *this;
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
};

/// Packed bytes and the hash of the C++ type that they represent.
struct Object {
  std::uint64_t type;
  std::vector<std::byte> bytes;
};

/// Numbers and enumerations, which are packed as their bytes.
template <class T>
concept PlainValue = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// Packs an object for Communicator's functions ending in _obj. Overload pack and unpack in the namespace of another
/// type to support it. Built in: numbers, text, arrays, examples, observations, and vectors, pairs and maps of these.
template <PlainValue T>
void pack(Packer& to, T value) {
  to.raw(&value, sizeof value);
}
/// Unpacks a value that pack has written.
template <PlainValue T>
void unpack(Unpacker& from, T& value) {
  from.raw(&value, sizeof value);
}
CT_API void pack(Packer& to, const std::string& value);
CT_API void unpack(Unpacker& from, std::string& value);
/// Packs an array of any device. It is unpacked on the current device. An undefined array stays undefined.
CT_API void pack(Packer& to, const Array& value);
CT_API void unpack(Unpacker& from, Array& value);
CT_API void pack(Packer& to, const Example& value);
CT_API void unpack(Unpacker& from, Example& value);
/// Packs names and numbers.
CT_API void pack(Packer& to, const Observation& value);
CT_API void unpack(Unpacker& from, Observation& value);
CT_API void pack(Packer& to, const Summary::Sums& value);
CT_API void unpack(Unpacker& from, Summary::Sums& value);

template <class T>
void pack(Packer& to, const std::vector<T>& values) {
  pack(to, static_cast<std::uint64_t>(values.size()));
  if constexpr (PlainValue<T> && !std::is_same_v<T, bool>) {
    to.raw(values.data(), values.size() * sizeof(T));
  } else {
    for (const T& value : values) pack(to, value);
  }
}
template <class T>
void unpack(Unpacker& from, std::vector<T>& values) {
  values.clear();
  const std::size_t n = from.count(PlainValue<T> ? sizeof(T) : 1);
  if constexpr (PlainValue<T> && !std::is_same_v<T, bool>) {
    values.resize(n);
    from.raw(values.data(), n * sizeof(T));
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      T value{};
      unpack(from, value);
      values.push_back(std::move(value));
    }
  }
}
template <class T, std::size_t N>
void pack(Packer& to, const std::array<T, N>& values) {
  for (const T& value : values) pack(to, value);
}
template <class T, std::size_t N>
void unpack(Unpacker& from, std::array<T, N>& values) {
  for (T& value : values) unpack(from, value);
}
template <class A, class B>
void pack(Packer& to, const std::pair<A, B>& value) {
  to(value.first)(value.second);
}
template <class A, class B>
void unpack(Unpacker& from, std::pair<A, B>& value) {
  from(value.first)(value.second);
}
template <class... T>
void pack(Packer& to, const std::tuple<T...>& values) {
  std::apply([&](const T&... value) { (to(value), ...); }, values);
}
template <class... T>
void unpack(Unpacker& from, std::tuple<T...>& values) {
  std::apply([&](T&... value) { (from(value), ...); }, values);
}
template <class T>
void pack(Packer& to, const std::optional<T>& value) {
  pack(to, value.has_value());
  if (value) pack(to, *value);
}
template <class T>
void unpack(Unpacker& from, std::optional<T>& value) {
  bool there = false;
  unpack(from, there);
  value.reset();
  if (there) unpack(from, value.emplace());
}
template <class K, class V>
void pack(Packer& to, const std::map<K, V>& values) {
  pack(to, static_cast<std::uint64_t>(values.size()));
  for (const auto& [key, value] : values) to(key)(value);
}
template <class K, class V>
void unpack(Unpacker& from, std::map<K, V>& values) {
  values.clear();
  const std::size_t n = from.count(1);
  for (std::size_t i = 0; i < n; ++i) {
    K key{};
    V value{};
    from(key)(value);
    values.emplace(std::move(key), std::move(value));
  }
}

/// A type that can be sent as an object.
template <class T>
concept Packable = std::default_initializable<T> && requires(Packer& to, Unpacker& from, const T& in, T& out) {
  pack(to, in);
  unpack(from, out);
};

}  // namespace catenary::distributed
