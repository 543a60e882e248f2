#pragma once
// Helpers for the tests of device/ that compare arrays.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/device/device.h"
#include "catenary/device/float64.h"

namespace testing_devices {

/// Returns whether kernels run on an interpreter (scripts/oclgrind sets CATENARY_TEST_SMALL). Tests then use fewer
/// elements and dtypes, but all kernels.
inline bool small() { return std::getenv("CATENARY_TEST_SMALL") != nullptr; }
/// Returns the number of elements for a test of large arrays: n, a quarter on a simulated card (CATENARY_TEST_QUARTER),
/// or a tenth, which still is several blocks.
inline std::int64_t large(std::int64_t n) {
  if (small()) return n / 10;
  return std::getenv("CATENARY_TEST_QUARTER") ? n / 4 : n;
}

/// Returns the real floating dtypes that the current device supports.
inline std::vector<catenary::Dtype> float_dtypes() {
  using catenary::Dtype;
  std::vector<Dtype> dtypes = {Dtype::float32, Dtype::float16, Dtype::bfloat16};
  if (catenary::has_float64(catenary::current_device())) dtypes.push_back(Dtype::float64);
  return dtypes;
}

/// Returns whether shape, dtype and all elements are equal. All NaNs are equal, since processors change their bits in
/// conversions.
inline bool same(const catenary::Array& a, const catenary::Array& b) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  const auto bytes = [](const catenary::Array& x) {
    std::vector<char> values(x.nbytes());
    x.copy_to_host(values.data());
    return values;
  };
  const std::vector<char> x = bytes(a), y = bytes(b);
  if (x == y) return true;
  if (!catenary::is_floating(a.dtype())) return false;
  const catenary::Device cpu;
  const std::vector<double> v = a.to_device(cpu).to_vector<double>(), w = b.to_device(cpu).to_vector<double>();
  const std::size_t size = a.itemsize();
  for (std::size_t i = 0; i < v.size(); ++i)
    if (std::memcmp(&x[i * size], &y[i * size], size) != 0 && !(std::isnan(v[i]) && std::isnan(w[i]))) return false;
  return true;
}

}  // namespace testing_devices
