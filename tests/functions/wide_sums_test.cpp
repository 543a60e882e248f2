// Where 16-bit floats are computed with in float32: the table of docs/precision.md names these functions.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "catenary/catenary.h"
#include "tests/paths.h"

namespace catenary {
namespace {

namespace F = functions;
using Function = std::function<Variable(const std::vector<Variable>&)>;

struct Case {
  Function call;
  std::vector<Shape> shapes;
  double spread = 1;  // of the values
};

Array values(const Shape& shape, double phase, double spread) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < shape.product(); ++i)
    all.push_back(spread * std::sin(1.7 * static_cast<double>(i) + phase) *
                  (1 + 0.3 * std::cos(0.37 * static_cast<double>(i))));
  return Array::from_host(all.data(), shape, Dtype::float64, Device());
}

Array labels(const Shape& shape, std::int64_t classes) {
  std::vector<std::int32_t> all;
  for (std::int64_t i = 0; i < shape.product(); ++i) all.push_back(static_cast<std::int32_t>(i * 7 % classes));
  return Array::from_host(all.data(), shape, Dtype::int32, Device()).to_device(current_device());
}

/// By the name in the table.
std::map<std::string, Case> cases() {
  const auto t = [](const Shape& shape, std::int64_t classes) { return Variable(labels(shape, classes), false); };
  const Shape rows{5, 37};
  return {
      {"softmax", {[](const auto& x) { return F::softmax(x[0]); }, {rows}, 6}},
      {"log_softmax", {[](const auto& x) { return F::log_softmax(x[0]); }, {rows}, 6}},
      {"logsumexp", {[](const auto& x) { return F::logsumexp(x[0], 1); }, {rows}, 6}},
      {"normalize", {[](const auto& x) { return F::normalize(x[0]); }, {rows}, 100}},
      {"batch_l2_norm_squared", {[](const auto& x) { return F::batch_l2_norm_squared(x[0]); }, {rows}, 3}},
      {"softmax_cross_entropy", {[=](const auto& x) { return F::softmax_cross_entropy(x[0], t({5}, 37)); }, {rows}, 6}},
      {"sigmoid_cross_entropy", {[=](const auto& x) { return F::sigmoid_cross_entropy(x[0], t(rows, 2)); }, {rows}, 6}},
      {"mean_squared_error", {[](const auto& x) { return F::mean_squared_error(x[0], x[1]); }, {rows, rows}, 200}},
      {"mean_absolute_error", {[](const auto& x) { return F::mean_absolute_error(x[0], x[1]); }, {rows, rows}, 20}},
      {"huber_loss", {[](const auto& x) { return F::huber_loss(x[0], x[1], 1); }, {rows, rows}, 20}},
      {"hinge", {[=](const auto& x) { return F::hinge(x[0], t({5}, 37)); }, {rows}, 6}},
      {"contrastive", {[=](const auto& x) { return F::contrastive(x[0], x[1], t({5}, 2)); }, {rows, rows}, 1}},
      {"triplet", {[](const auto& x) { return F::triplet(x[0], x[1], x[2]); }, {rows, rows, rows}, 3}},
      {"cross_covariance", {[](const auto& x) { return F::cross_covariance(x[0], x[1]); }, {rows, rows}, 1}},
      {"decov", {[](const auto& x) { return F::decov(x[0]); }, {rows}, 1}},
      {"gaussian_kl_divergence",
       {[](const auto& x) { return F::gaussian_kl_divergence(x[0], x[1]); }, {rows, rows}, 2}},
      {"bernoulli_nll", {[](const auto& x) { return F::bernoulli_nll(x[0], x[1]); }, {rows, rows}, 2}},
      {"gaussian_nll", {[](const auto& x) { return F::gaussian_nll(x[0], x[1], x[2]); }, {rows, rows, rows}, 1}},
      {"crf1d",
       {[=](const auto& x) {
          return F::crf1d(x[0], {x[1], x[2]}, {t({3}, 4), t({2}, 4)});
        },
        {{4, 4}, {3, 4}, {2, 4}},
        3}},
  };
}

struct Results {
  Array y;
  std::vector<Array> gradients;
};

Results results(const Case& c, const std::vector<Array>& inputs) {
  std::vector<Variable> x;
  for (const Array& input : inputs) x.emplace_back(input);
  const Variable y = c.call(x);
  Results r{y.array(), {}};
  const Array gy = values(y.shape(), 3, 1).astype(Dtype::bfloat16).astype(y.dtype()).to_device(current_device());
  for (const Variable& g : grad({y}, x, {.grad_outputs = {Variable(gy, false)}})) r.gradients.push_back(g.array());
  return r;
}

// The values are those of float32, rounded once; so are the gradients, where what is kept for them is not itself
// rounded.
TEST(WideSums, SixteenBitsAreRoundedOnce) {
  for (const auto& [name, c] : cases()) {
    for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
      std::vector<Array> narrow, wide;
      for (std::size_t k = 0; k < c.shapes.size(); ++k) {
        narrow.push_back(
            values(c.shapes[k], static_cast<double>(k), c.spread).astype(dtype).to_device(current_device()));
        wide.push_back(narrow.back().astype(Dtype::float32));
      }
      const Results got = results(c, narrow), wanted = results(c, wide);
      EXPECT_EQ(got.y.dtype(), dtype) << name;
      EXPECT_TRUE((got.y == wanted.y.astype(dtype)).all()) << name << " " << got.y << wanted.y;
      EXPECT_TRUE(isfinite(got.y).all()) << name;
      const bool keeps_its_result = name.ends_with("softmax");
      for (std::size_t k = 0; k < got.gradients.size(); ++k) {
        EXPECT_EQ(got.gradients[k].dtype(), dtype) << name;
        const Array g = got.gradients[k].astype(Dtype::float32),
                    w = wanted.gradients[k].astype(dtype).astype(Dtype::float32);
        const double unit = dtype == Dtype::float16 ? 1.0 / 1024 : 1.0 / 128;
        const double off = absolute(g - w).max().item<double>(), largest = absolute(w).max().item<double>();
        EXPECT_LE(off, keeps_its_result ? 2 * unit * largest : 0) << name << " " << k;
      }
    }
  }
}

TEST(WideSums, TheDocumentNamesThem) {
  std::stringstream document;
  document << std::ifstream(tests::source_path("docs/precision.md")).rdbuf();
  for (const auto& [name, c] : cases()) EXPECT_NE(document.str().find("`" + name + "`"), std::string::npos) << name;
}

}  // namespace
}  // namespace catenary
