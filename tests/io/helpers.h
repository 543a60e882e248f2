#pragma once
// Helpers for tests of io: fixtures, a temporary folder, damage.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/io/host_array.h"
#include "tests/folder.h"
#include "tests/paths.h"

namespace catenary::io::test {

inline std::string data_path(const std::string& name) { return tests::source_path("tests/data/" + name); }

using TemporaryFolder = tests::Folder;

/// The elements as doubles, for any dtype.
inline std::vector<double> values_of(const HostArray& a) {
  std::vector<double> values;
  visit_dtype(a.dtype, [&](auto zero) {
    const auto* p = a.as<decltype(zero)>();
    for (std::int64_t i = 0; i < a.size(); ++i) values.push_back(static_cast<double>(p[i]));
  });
  return values;
}

/// The result of numbers() in make_io_fixtures.py.
inline std::vector<double> expected_numbers(Dtype dtype, std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool is_signed = kind(dtype) == Kind::signed_int || kind(dtype) == Kind::floating;
    values.push_back(dtype == Dtype::bool_ ? (i % 3 == 0) : static_cast<double>(is_signed ? i - 2 : i));
  }
  return values;
}

inline std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Runs f and returns the FileError's message, or "" if none was thrown. Any other exception fails the test.
template <class F>
std::string file_error(F f) {
  try {
    f();
  } catch (const FileError& e) {
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "not a FileError: " << e.what();
  }
  return "";
}

/// `read` must throw FileError for every shorter piece of `bytes`.
template <class F>
void expect_truncations_fail(std::span<const std::byte> bytes, F read) {
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const std::vector<std::byte> piece(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_NE(file_error([&] { read(std::span<const std::byte>(piece)); }), "")
        << "the first " << n << " bytes were taken";
  }
}

/// `read` may throw nothing but FileError when any one byte is changed.
template <class F>
void expect_damage_is_survived(std::span<const std::byte> bytes, F read) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::vector<std::byte> changed(bytes.begin(), bytes.end());
      changed[i] ^= static_cast<std::byte>(flip);
      file_error([&] { read(std::span<const std::byte>(changed)); });
    }
  }
}

}  // namespace catenary::io::test
