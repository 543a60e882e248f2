// Text of arrays against what NumPy 2 prints for the same arrays (tests/data/array/print.json).

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catenary/array/creation.h"
#include "catenary/array/manipulation.h"
#include "tests/paths.h"

namespace ct = catenary;

namespace {

ct::Array array_of(const nlohmann::json& entry) {
  const ct::Dtype dtype = ct::dtype_from_name(entry["dtype"].get<std::string>());
  const ct::Shape shape(entry["shape"].get<std::vector<std::int64_t>>());
  if (entry.contains("range"))
    return (ct::arange(shape.product()) * entry["range"].get<double>()).astype(dtype).reshape(shape);
  if (dtype == ct::Dtype::uint64) return ct::array(entry["values"].get<std::vector<std::uint64_t>>(), shape);
  if (!ct::is_floating(dtype)) return ct::array(entry["values"].get<std::vector<std::int64_t>>(), shape, dtype);
  std::vector<double> values;
  for (const auto& v : entry["values"])
    values.push_back(v.is_string() ? std::strtod(v.get<std::string>().c_str(), nullptr) : v.get<double>());
  return ct::array(values, shape, dtype);
}

}  // namespace

TEST(Print, AsNumPy) {
  std::ifstream file(tests::source_path("tests/data/array/print.json"));
  const nlohmann::json cases = nlohmann::json::parse(file);
  ASSERT_GT(cases.size(), 300u);
  for (const auto& entry : cases) {
    const ct::Array a = array_of(entry);
    EXPECT_EQ(ct::to_string(a), entry["str"].get<std::string>()) << entry["dtype"];
    EXPECT_EQ(ct::repr(a), entry["repr"].get<std::string>());
  }
}

TEST(Print, ViewsAndStreams) {
  const ct::Array a = ct::arange(6).reshape({2, 3});
  std::ostringstream text;
  text << a.T() << '\n' << ct::flip(a, 1);
  EXPECT_EQ(text.str(), "[[0 3]\n [1 4]\n [2 5]]\n[[2 1 0]\n [5 4 3]]");
  text.str({});
  text << a.shape() << ' ' << ct::Shape{4} << ' ' << ct::Shape{} << ' ' << a.dtype();
  EXPECT_EQ(text.str(), "(2, 3) (4,) () int64");
  EXPECT_EQ(ct::repr(ct::array({1.5f, 2.f}, ct::Dtype::bfloat16)), "array([1.5, 2. ], dtype=bfloat16)");
}
