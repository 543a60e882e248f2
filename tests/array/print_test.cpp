// Compares the text of arrays with NumPy 2 (tests/data/array/print.json).

#include "catenary/array/print.h"

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

// NumPy 2's output with these options.
TEST(Print, Options) {
  struct Restore {
    const ct::PrintOptions before = ct::get_printoptions();
    ~Restore() { ct::set_printoptions(before); }
  } restore;
  EXPECT_EQ(restore.before.precision, 8);
  EXPECT_EQ(restore.before.threshold, 1000);
  const double nan = std::nan(""), inf = HUGE_VAL;
  ct::set_printoptions({.precision = 3});
  EXPECT_EQ(ct::to_string(ct::array({1.23456789, 2.5, 1000.0})), "[   1.235    2.5   1000.   ]");
  EXPECT_EQ(ct::to_string(ct::array({nan, 1.23456, -inf})), "[  nan 1.235  -inf]");
  ct::set_printoptions({.suppress = true});
  EXPECT_EQ(ct::to_string(ct::array({1e-5, 1.0, 123.456})), "[  0.      1.    123.456]");
  ct::set_printoptions({.threshold = 5, .edgeitems = 1});
  EXPECT_EQ(ct::to_string(ct::arange(6)), "[0 ... 5]");
  EXPECT_EQ(ct::to_string(ct::arange(12).reshape({3, 4})), "[[ 0 ...  3]\n ...\n [ 8 ... 11]]");
  EXPECT_EQ(ct::repr(ct::arange(6)), "array([0, ..., 5], shape=(6,))");
  ct::set_printoptions({.threshold = 1000, .linewidth = 20});
  EXPECT_EQ(ct::to_string(ct::arange(12) * 10), "[  0  10  20  30\n  40  50  60  70\n  80  90 100 110]");
  ct::set_printoptions({.nanstr = "?", .infstr = "many"});
  EXPECT_EQ(ct::to_string(ct::array({nan, 1.5, -inf})), "[    ?   1.5 -many]");
  ct::set_printoptions({.precision = 0});
  EXPECT_EQ(ct::to_string(ct::array({1.5, 2.6})), "[2. 3.]");
  EXPECT_EQ(ct::to_string(ct::array({1e10, 2.6})), "[1.e+10 3.e+00]");
  EXPECT_EQ(ct::get_printoptions().linewidth, 20);
  EXPECT_THROW(ct::set_printoptions({.precision = -1}), ct::ValueError);
  EXPECT_THROW(ct::set_printoptions({.edgeitems = 0}), ct::ValueError);
}
