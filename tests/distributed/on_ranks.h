#pragma once
// Helpers for tests that run on several ranks.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "catenary/catenary.h"

namespace tests {

inline const catenary::distributed::Communicator& comm() {
  static const catenary::distributed::Communicator communicator = catenary::distributed::create_communicator("naive");
  return communicator;
}
inline int rank() { return comm().rank(); }
inline int size() { return comm().size(); }

/// A communicator that concatenates gradients before it sums them.
inline const catenary::distributed::Communicator& flat() {
  static const catenary::distributed::Communicator communicator = catenary::distributed::create_communicator("flat");
  return communicator;
}

/// Returns small numbers of rank `of`, which every rank can compute. Some layouts are not C order.
inline catenary::Array values_of(int of, const catenary::Shape& shape, catenary::Dtype dtype, bool strided = false) {
  const std::int64_t n = shape.product();
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < n; ++i) numbers.push_back(static_cast<double>((i * 7 + of * 3 + 1) % 11));
  const catenary::Array x =
      catenary::Array::from_host(numbers.data(), shape, catenary::Dtype::float64, catenary::Device()).astype(dtype);
  return (strided ? x.T().copy().T() : x).to_device(catenary::current_device());
}

inline void expect_same(const catenary::Array& got, const catenary::Array& expected, const std::string& what) {
  ASSERT_TRUE(got.defined()) << what;
  EXPECT_EQ(got.dtype(), expected.dtype()) << what;
  EXPECT_EQ(got.shape(), expected.shape()) << what;
  EXPECT_EQ(got.to_vector<double>(), expected.to_vector<double>()) << what;
}

/// Five ones in 16 bits.
struct Half : catenary::Link {
  catenary::Parameter w = catenary::Parameter::from_array(catenary::ones({5}, catenary::Dtype::float16));
  CT_LINKS(w)
};

inline catenary::Array filled(const catenary::Shape& shape, double value) {
  return catenary::full(shape, value, catenary::Dtype::float32);
}

}  // namespace tests
