// Results keep the memory order of their operands, as in NumPy: strides.txt has NumPy's strides (make_strides.py).

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/lazy.h"
#include "catenary/array/reduction.h"
#include "tests/paths.h"

namespace catenary {
namespace {

Dims dims(const std::string& words) {
  Dims result;
  std::istringstream in(words);
  for (std::string word; words != "-" && std::getline(in, word, ',');) result.push_back(std::stoll(word));
  return result;
}

struct Line {
  std::string text, operation;
  Axes axes;
  std::vector<Array> operands;
  Shape shape;
  Strides strides;
};

/// Returns a view of a buffer of minimum size.
Array operand(std::istream& in, bool condition) {
  std::string shape, strides;
  std::int64_t offset;
  in >> shape >> strides >> offset;
  const Shape s = dims(shape);
  const Strides t = dims(strides);
  std::int64_t last = offset;
  for (int i = 0; i < s.size(); ++i) last += std::max<std::int64_t>(0, t[i] * (s[i] - 1));
  std::vector<float> values(static_cast<std::size_t>(last + 1));
  std::iota(values.begin(), values.end(), 1.0f);
  if (condition)
    for (float& v : values) v = static_cast<float>(static_cast<int>(v) % 2);
  const Array all = Array::from_host(values.data(), {last + 1}, Dtype::float32, current_device());
  return (condition ? all.astype(Dtype::bool_) : all).as_strided(s, t, offset);
}

std::vector<Line> lines() {
  std::ifstream file(tests::source_path("tests/data/array/strides.txt"));
  std::vector<Line> all;
  for (Line line; std::getline(file, line.text); all.push_back(line)) {
    std::istringstream in(line.text);
    std::string word, shape, strides;
    in >> line.operation >> word;
    line.axes = {};
    line.operands.clear();
    if (word != "|") {
      line.axes = dims(word);
      in >> word;
    }
    for (; word == "|"; in >> word)
      line.operands.push_back(operand(in, line.operation == "where" && line.operands.empty()));
    in >> shape >> strides;
    line.shape = dims(shape);
    line.strides = dims(strides);
  }
  return all;
}

Array result_of(const Line& line, const std::vector<Array>& x) {
  if (line.operation == "negative") return negative(x[0]);
  if (line.operation == "add") return add(x[0], x[1]);
  if (line.operation == "where") return where(x[0], x[1], x[2]);
  if (line.operation == "astype") return x[0].astype(Dtype::float16);
  if (line.operation == "copy") return copy(x[0]);
  if (line.operation == "zeros_like") return zeros_like(x[0]);
  return sum(x[0], line.axes, line.operation == "keepdims");
}

/// Returns strides with those of axes of size 1 normalised, since they do not matter.
Strides telling(const Array& a) {
  Strides strides = a.strides();
  for (int i = 0; i < a.ndim(); ++i)
    if (a.shape(i) <= 1 || a.size() == 0) strides[i] = 0;
  return strides;
}

TEST(Strides, AreNumPys) {
  const std::vector<Line> all = lines();
  ASSERT_GE(all.size(), 400u);
  // on a device most lines compile a kernel, so test few
  for (std::size_t i = 0; i < all.size(); i += current_device().is_cpu() ? 1 : 40) {
    const Line& line = all[i];
    const Array result = result_of(line, line.operands);
    EXPECT_EQ(result.shape(), line.shape) << line.text;
    EXPECT_EQ(telling(result), line.strides) << line.text;
    std::vector<Array> ordered;
    for (const Array& x : line.operands) ordered.push_back(x.copy());
    for (const Array& x : ordered) EXPECT_TRUE(x.is_contiguous()) << line.text;
    const Array expected = result_of(line, ordered);
    EXPECT_TRUE(expected.is_contiguous()) << line.text;
    EXPECT_EQ(result.to_vector<double>(), expected.to_vector<double>()) << line.text;
  }
}

TEST(Strides, OfAChainAreThoseOfItsOperands) {
  const Array x = arange(24, Dtype::float32).reshape({4, 3, 2}).transpose({2, 0, 1});
  const std::int64_t before = kernel_count();
  const Array y = exp(x * 0 + 1) - x / 2;
  EXPECT_EQ(y.strides(), x.strides());
  y.eval();
  EXPECT_EQ(kernel_count() - before, 1);
  EXPECT_EQ(y.strides(), x.strides());
  EXPECT_EQ((y + y.copy()).strides(), contiguous_strides(y.shape()));
  EXPECT_EQ(y.copy().strides(), contiguous_strides(y.shape()));
  EXPECT_EQ(y.mean(2, true).to_vector<float>(), y.copy().mean(2, true).to_vector<float>());
  EXPECT_EQ(y.sum(1).strides(), (Strides{1, 2}));
  EXPECT_EQ(ones_like(y).strides(), x.strides());
  EXPECT_EQ(full_like(y, 3, Dtype::int32).strides(), x.strides());
}

}  // namespace
}  // namespace catenary
