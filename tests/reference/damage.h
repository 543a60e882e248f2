#pragma once
// Puts wrong values into arrays of reference vectors.

#include <zip.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/io/npy.h"

namespace reference {

using catenary::io::HostArray;

/// Returns the largest finite absolute value of a floating-point array, at least 1: the scale of its differences.
inline double magnitude(const HostArray& a) {
  double largest = 1;
  catenary::visit_dtype(a.dtype, [&](auto zero) {
    for (std::int64_t i = 0; i < a.size(); ++i) {
      const double value = std::abs(static_cast<double>(a.as<decltype(zero)>()[i]));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
  });
  return largest;
}

/// Changes an element to factor · x + step. An integer, a bool or a non-finite number becomes another value.
inline void change(const HostArray& a, std::int64_t i, double step, double factor = 1) {
  catenary::visit_dtype(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    T& value = a.as<T>()[i];
    const double was = static_cast<double>(value);
    if (!catenary::is_floating(a.dtype)) {
      value = static_cast<T>(was == 1 ? 0 : 1);
    } else {
      value = static_cast<T>(std::isfinite(was) ? factor * was + step : 7.0);
    }
  });
}

inline HostArray copy_of(const HostArray& a) {
  const HostArray b = HostArray::empty(a.dtype, a.shape);
  std::memcpy(b.data.get(), a.data.get(), a.nbytes());
  return b;
}

/// Writes an NPZ file. NpzWriter would wait for the disk, which takes most of a minute for a thousand files.
inline void write_npz(const std::string& path, const std::vector<std::pair<std::string, HostArray>>& arrays) {
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  if (!archive) throw catenary::FileError(path + ": cannot be written");
  std::deque<std::string> members;  // the archive reads them when it is closed
  for (const auto& [key, array] : arrays) {
    const std::string& member = members.emplace_back(
        catenary::io::npy_header(array) + std::string(reinterpret_cast<const char*>(array.data.get()), array.nbytes()));
    zip_source_t* source = zip_source_buffer(archive, member.data(), member.size(), 0);
    const zip_int64_t index = zip_file_add(archive, (key + ".npy").c_str(), source, 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive) != 0) throw catenary::FileError(path + ": cannot be written");
}

}  // namespace reference
