// Functions that compute 16-bit floats in float32. docs/guide/precision.md has a table of them, and this test checks
// that their results, gradients or both are rounded once.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "catenary/catenary.h"
#include "tests/paths.h"

namespace catenary {
namespace {

namespace F = functions;
using Inputs = std::vector<Variable>;

constexpr double kFloat32 = 0.01;  // units of the largest element that float32's rounding may cause
constexpr double kNone = -1;

struct Case {
  std::function<Variable(const Inputs&)> call;
  std::vector<Shape> shapes;
  double spread = 1;            // of the values
  double shift = 0;             // of the values
  double gradients = kFloat32;  // error in units beyond half a unit of rounding, kNone if not checked
};

Array values(const Shape& shape, double phase, double spread, double shift = 0) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < shape.product(); ++i)
    all.push_back(shift + spread * std::sin(1.7 * static_cast<double>(i) + phase) *
                              (1 + 0.3 * std::cos(0.37 * static_cast<double>(i))));
  return Array::from_host(all.data(), shape, Dtype::float64, Device());
}

/// 0, step, 2 step, …, modulo the number of classes.
Array labels(const Shape& shape, std::int64_t classes, std::int64_t step = 7) {
  std::vector<std::int32_t> all;
  for (std::int64_t i = 0; i < shape.product(); ++i) all.push_back(static_cast<std::int32_t>(i * step % classes));
  return Array::from_host(all.data(), shape, Dtype::int32, Device()).to_device(current_device());
}
Variable t(const Shape& shape, std::int64_t classes) { return Variable(labels(shape, classes), false); }

/// Corners of regions in an image of 12 × 16, with the dtype of x.
Variable regions(const Variable& x, bool with_image) {
  const std::vector<double> corners = {0, 0, 11, 15, 1, 2, 9, 8, 0, 4, 11, 15, 3, 3, 7, 12};
  std::vector<double> all;
  for (std::size_t i = 0; i < 4; ++i) {
    if (with_image) all.push_back(0);
    all.insert(all.end(), corners.begin() + static_cast<std::ptrdiff_t>(4 * i),
               corners.begin() + static_cast<std::ptrdiff_t>(4 * i + 4));
  }
  return Variable(Array::from_host(all.data(), {4, with_image ? 5 : 4}, Dtype::float64, Device())
                      .astype(x.dtype())
                      .to_device(x.device()),
                  false);
}
Variable images_of_regions() { return Variable(labels({4}, 1), false); }

Variable renormalized(const Inputs& x) {
  const auto repeated = [&](double value) { return full({9}, value, x[0].dtype()).to_device(x[0].device()); };
  F::BatchRenormalizationOptions options;
  options.running_mean = repeated(49);
  options.running_var = repeated(4);
  return F::batch_renormalization(x[0], x[1], x[2], 3, 5, options);
}

#define CASE(call_) [](const Inputs& x) -> Variable { return call_; }

using Cases = std::map<std::string, Case>;  // by the name in the table

void add_sums(Cases& all) {
  const Shape rows{5, 777};
  all["sum"] = {CASE(F::sum(x[0], 1)), {rows}};
  all["sum_to"] = {CASE(F::sum_to(x[0], {5, 1})), {rows}};
  all["mean"] = {CASE(F::mean(x[0], 1)), {rows}, 100};
  all["average"] = {CASE(F::average(x[0], 1, x[1])), {rows, {777}}, 1, 2};
  all["cumsum"] = {CASE(F::cumsum(x[0], 1)), {rows}};
  all["prod"] = {CASE(F::prod(x[0], 1)), {{5, 60}}, 0.1, 1};
  all["cumprod"] = {CASE(F::cumprod(x[0], 1)), {{5, 60}}, 0.1, 1};
  all["matmul"] = {CASE(F::matmul(x[0], x[1])), {{7, 333}, {333, 5}}};
  all["batch_matmul"] = {CASE(F::batch_matmul(x[0], x[1])), {{3, 7, 333}, {3, 333, 5}}};
  all["tensordot"] = {CASE(F::tensordot(x[0], x[1], 2)), {{7, 9, 37}, {9, 37, 5}}};
  all["einsum"] = {CASE(F::einsum("ij,kj->ik", {x[0], x[1]})), {{7, 333}, {5, 333}}};
  all["linear"] = {CASE(F::linear(x[0], x[1], x[2])), {{7, 333}, {5, 333}, {5}}};
  all["fft"] = {CASE(F::fft({x[0], x[1]}).first), {{5, 60}, {5, 60}}};
  all["ifft"] = {CASE(F::ifft({x[0], x[1]}).second), {{5, 60}, {5, 60}}, 40};
  all["sparse_matmul"] = {
      CASE(F::sparse_matmul(F::CooMatrix(x[0], labels({600}, 5), labels({600}, 9, 11), {5, 9}), x[1])),
      {{600}, {9, 4}}};
  all["scatter_add"] = {CASE(F::scatter_add(x[0], {labels({3000}, 3)}, x[1])), {{3, 2}, {3000, 2}}};
  all["spatial_transformer_grid"] = {CASE(F::spatial_transformer_grid(x[0], {17, 9})), {{2, 2, 3}}};
  all["accuracy"] = {CASE(F::accuracy(x[0], t({3000}, 3))), {{3000, 3}}, 1, 0, kNone};
  all["binary_accuracy"] = {CASE(F::binary_accuracy(x[0], t({3000}, 2))), {{3000}}, 1, 0, kNone};
  all["r2_score"] = {CASE(F::r2_score(x[0], x[1])), {{3000, 3}, {3000, 3}}, 100, 0, kNone};
}

void add_windows(Cases& all) {
  const Shape line{2, 40, 19}, image{2, 40, 7, 6}, block{1, 20, 5, 4, 6};
  all["convolution_1d"] = {CASE(F::convolution_1d(x[0], x[1])), {line, {5, 40, 3}}};
  all["convolution_2d"] = {CASE(F::convolution_2d(x[0], x[1], x[2], {.pad = 1})), {image, {9, 40, 3, 3}, {9}}};
  all["convolution_3d"] = {CASE(F::convolution_3d(x[0], x[1])), {block, {5, 20, 3, 2, 3}}};
  all["convolution_nd"] = {CASE(F::convolution_nd(x[0], x[1])), {image, {3, 40, 3, 3}}};
  all["dilated_convolution_2d"] = {CASE(F::dilated_convolution_2d(x[0], x[1], {.dilate = 2})), {image, {5, 40, 3, 3}}};
  all["depthwise_convolution_2d"] = {CASE(F::depthwise_convolution_2d(x[0], x[1])), {{2, 5, 17, 17}, {2, 5, 11, 13}}};
  all["deconvolution_1d"] = {CASE(F::deconvolution_1d(x[0], x[1])), {line, {40, 5, 3}}};
  all["deconvolution_2d"] = {CASE(F::deconvolution_2d(x[0], x[1], x[2], {.stride = 2})), {image, {40, 9, 3, 3}, {9}}};
  all["deconvolution_3d"] = {CASE(F::deconvolution_3d(x[0], x[1])), {block, {20, 5, 3, 2, 3}}};
  all["deconvolution_nd"] = {CASE(F::deconvolution_nd(x[0], x[1])), {image, {40, 3, 3, 3}}};
  const auto one = [](int axes) {
    return axes == 1 ? Shape{2, 3, 301} : axes == 2 ? Shape{2, 3, 19, 23} : Shape{1, 2, 9, 8, 7};
  };
  all["average_pooling_1d"] = {CASE(F::average_pooling_1d(x[0], 150, {.stride = 30})), {one(1)}, 100};
  all["average_pooling_2d"] = {CASE(F::average_pooling_2d(x[0], 11, {.stride = 2})), {one(2)}, 100};
  all["average_pooling_3d"] = {CASE(F::average_pooling_3d(x[0], 5, {.stride = 1})), {one(3)}, 100};
  all["average_pooling_nd"] = {CASE(F::average_pooling_nd(x[0], 11, {.stride = 2})), {one(2)}, 100};
  all["unpooling_1d"] = {CASE(F::unpooling_1d(x[0], 100, {.stride = 1, .cover_all = false})), {one(1)}};
  all["unpooling_2d"] = {CASE(F::unpooling_2d(x[0], 9, {.stride = 1, .cover_all = false})), {one(2)}};
  all["unpooling_3d"] = {CASE(F::unpooling_3d(x[0], 4, {.stride = 1, .cover_all = false})), {one(3)}};
  all["unpooling_nd"] = {CASE(F::unpooling_nd(x[0], 9, {.stride = 1, .cover_all = false})), {one(2)}};
  all["max_pooling_1d"] = {CASE(F::max_pooling_1d(x[0], 60, {.stride = 1})), {one(1)}};
  all["max_pooling_2d"] = {CASE(F::max_pooling_2d(x[0], 9, {.stride = 1})), {one(2)}};
  all["max_pooling_3d"] = {CASE(F::max_pooling_3d(x[0], 5, {.stride = 1})), {one(3)}};
  all["max_pooling_nd"] = {CASE(F::max_pooling_nd(x[0], 9, {.stride = 1})), {one(2)}};
}

void add_uses(Cases& all) {
  all["get_item"] = {CASE(F::get_item(x[0], {labels({3000}, 3)})), {{3, 2}}};
  all["embed_id"] = {CASE(F::embed_id(t({3000}, 3), x[0])), {{3, 2}}};
  all["repeat"] = {CASE(F::repeat(x[0], Shape{900, 700, 800}, 0)), {{3, 2}}};
  all["tile"] = {CASE(F::tile(x[0], Shape{900, 1})), {{3, 2}}};
  all["broadcast_to"] = {CASE(F::broadcast_to(x[0], {777, 3})), {{3}}};
  all["broadcast"] = {CASE(F::broadcast({x[0], x[1]})[0]), {{3}, {777, 1}}};
  all["pad"] = {CASE(F::pad(x[0], 20, {.mode = PadMode::edge})), {{3, 2}}};
  all["im2col"] = {CASE(F::im2col(x[0], 9)), {{1, 2, 17, 19}}};
  all["resize_images"] = {CASE(F::resize_images(x[0], {70, 90})), {{1, 2, 3, 4}}};
  all["spatial_transformer_sampler"] = {
      CASE(F::spatial_transformer_sampler(x[0], x[1])), {{1, 2, 3, 4}, {1, 2, 40, 30}}, 0.6, 0};
  all["roi_pooling_2d"] = {CASE(F::roi_pooling_2d(x[0], regions(x[0], true), 9, 9, 1)), {{1, 2, 12, 16}}};
  all["roi_max_pooling_2d"] = {CASE(F::roi_max_pooling_2d(x[0], regions(x[0], false), images_of_regions(), 9, 1)),
                               {{1, 2, 12, 16}}};
  all["roi_average_pooling_2d"] = {
      CASE(F::roi_average_pooling_2d(x[0], regions(x[0], false), images_of_regions(), 9, 1)), {{1, 2, 12, 16}}};
  all["roi_max_align_2d"] = {CASE(F::roi_max_align_2d(x[0], regions(x[0], false), images_of_regions(), 9, 1, 3)),
                             {{1, 2, 12, 16}}};
  all["roi_average_align_2d"] = {
      CASE(F::roi_average_align_2d(x[0], regions(x[0], false), images_of_regions(), 9, 1, 3)), {{1, 2, 12, 16}}};
}

void add_normalizations(Cases& all) {
  const Shape images{6, 4, 5, 7};
  all["batch_normalization"] = {CASE(F::batch_normalization(x[0], x[1], x[2])), {{60, 9}, {9}, {9}}, 3, 50};
  all["fixed_batch_normalization"] = {
      CASE(F::fixed_batch_normalization(x[0], x[1], x[2], x[3], x[4])), {{60, 9}, {9}, {9}, {9}, {9}}, 3, 5};
  all["batch_renormalization"] = {CASE(renormalized(x)), {{60, 9}, {9}, {9}}, 3, 50};
  all["fixed_batch_renormalization"] = {
      CASE(F::fixed_batch_renormalization(x[0], x[1], x[2], x[3], x[4])), {{60, 9}, {9}, {9}, {9}, {9}}, 3, 5};
  all["layer_normalization"] = {CASE(F::layer_normalization(x[0], x[1], x[2])), {{9, 60}, {60}, {60}}, 3, 50};
  all["rms_normalization"] = {CASE(F::rms_normalization(x[0], x[1])), {{9, 60}, {60}}, 100};
  all["group_normalization"] = {CASE(F::group_normalization(x[0], 2, x[1], x[2])), {images, {4}, {4}}, 3, 50};
  all["instance_normalization"] = {CASE(F::instance_normalization(x[0], x[1], x[2])), {images, {4}, {4}}, 3, 50};
  all["decorrelated_batch_normalization"] = {
      CASE(F::decorrelated_batch_normalization(x[0], {.groups = 2})), {images}, 3, 0, 0.1};
  all["fixed_decorrelated_batch_normalization"] = {
      CASE(F::fixed_decorrelated_batch_normalization(x[0], x[1], x[2], 2)), {images, {2, 2}, {2, 2, 2}}, 3};
  all["local_response_normalization"] = {
      CASE(F::local_response_normalization(x[0], {.n = 9, .alpha = 0.1})), {{2, 30, 3}}, 300};
  all["normalize"] = {CASE(F::normalize(x[0])), {{5, 37}}, 100};
  all["batch_l2_norm_squared"] = {CASE(F::batch_l2_norm_squared(x[0])), {{5, 37}}, 3};
  all["softmax"] = {CASE(F::softmax(x[0])), {{5, 37}}, 6, 0, 2};  // kept after rounding
  all["log_softmax"] = {CASE(F::log_softmax(x[0])), {{5, 37}}, 6, 0, 2};
  all["scaled_dot_product_attention"] = {
      CASE(F::scaled_dot_product_attention(x[0], x[1], x[2])), {{2, 3, 7, 16}, {2, 3, 33, 16}, {2, 3, 33, 8}}, 2, 0, 2};
  all["rotary_embedding"] = {CASE(F::rotary_embedding(x[0], labels({5}, 100, 13))), {{2, 5, 8}}};
  all["gelu"] = {CASE(F::gelu(x[0])), {{5, 37}}, 4};
  all["silu"] = {CASE(F::silu(x[0])), {{5, 37}}, 4};
  all["logsumexp"] = {CASE(F::logsumexp(x[0], 1)), {{5, 37}}, 6};
}

void add_losses(Cases& all) {
  const Shape rows{5, 37};
  all["softmax_cross_entropy"] = {CASE(F::softmax_cross_entropy(x[0], t({5}, 37))), {rows}, 6};
  all["sigmoid_cross_entropy"] = {CASE(F::sigmoid_cross_entropy(x[0], t({5, 37}, 2))), {rows}, 6};
  all["mean_squared_error"] = {CASE(F::mean_squared_error(x[0], x[1])), {rows, rows}, 200};
  all["mean_absolute_error"] = {CASE(F::mean_absolute_error(x[0], x[1])), {rows, rows}, 20};
  all["huber_loss"] = {CASE(F::huber_loss(x[0], x[1], 1)), {rows, rows}, 20};
  all["hinge"] = {CASE(F::hinge(x[0], t({5}, 37))), {rows}, 6};
  all["contrastive"] = {CASE(F::contrastive(x[0], x[1], t({5}, 2))), {rows, rows}, 1};
  all["triplet"] = {CASE(F::triplet(x[0], x[1], x[2])), {rows, rows, rows}, 3};
  all["cross_covariance"] = {CASE(F::cross_covariance(x[0], x[1])), {rows, rows}, 1};
  all["decov"] = {CASE(F::decov(x[0])), {rows}, 1};
  all["discriminative_margin_based_clustering_loss"] = {
      CASE(F::discriminative_margin_based_clustering_loss(x[0], t({2, 7, 9}, 4), 0.1, 0.3, 3)[0]), {{2, 3, 7, 9}}, 2};
  all["gaussian_kl_divergence"] = {CASE(F::gaussian_kl_divergence(x[0], x[1])), {rows, rows}, 2};
  all["bernoulli_nll"] = {CASE(F::bernoulli_nll(x[0], x[1])), {rows, rows}, 2};
  all["gaussian_nll"] = {CASE(F::gaussian_nll(x[0], x[1], x[2])), {rows, rows, rows}, 1};
  all["crf1d"] = {CASE(F::crf1d(x[0], {x[1], x[2]}, {t({3}, 4), t({2}, 4)})), {{4, 4}, {3, 4}, {2, 4}}, 3};
  all["argmax_crf1d"] = {CASE(F::argmax_crf1d(x[0], {x[1], x[2], x[3], x[4], x[5], x[6]}).first),
                         {{4, 4}, {3, 4}, {3, 4}, {3, 4}, {3, 4}, {3, 4}, {2, 4}},
                         3,
                         0};
  all["connectionist_temporal_classification"] = {
      CASE(F::connectionist_temporal_classification({x[0], x[1], x[2], x[3]}, Variable(labels({3, 2}, 3, 1) + 1, false),
                                                    0)),
      {{3, 5}, {3, 5}, {3, 5}, {3, 5}},
      3};
}

Cases cases() {
  Cases all;
  add_sums(all);
  add_windows(all);
  add_uses(all);
  add_normalizations(all);
  add_losses(all);
  return all;
}

struct Results {
  Variable y;
  std::vector<Array> gradients;
};

/// The results for the inputs, in their dtype and on the current device.
Results results(const Case& c, const std::vector<Array>& inputs, Dtype dtype) {
  Inputs x;
  for (const Array& input : inputs) x.emplace_back(input.astype(dtype).to_device(current_device()));
  const auto scope = using_config(config.dtype, dtype);
  Results r{c.call(x), {}};
  if (c.gradients == kNone) return r;
  const Array gy = values(r.y.shape(), 3, 1).astype(Dtype::bfloat16).astype(r.y.dtype()).to_device(current_device());
  for (const Variable& g : grad({r.y}, x, {.grad_outputs = {Variable(gy, false)}}))
    r.gradients.push_back(g.defined() ? g.array() : Array());
  return r;
}

/// Checks to half a unit in the last place, plus the given units of the largest element.
void expect_rounded_once(const std::string& what, const Array& got, const Array& wanted, Dtype dtype, double units) {
  EXPECT_EQ(got.dtype(), dtype) << what;
  ASSERT_EQ(got.shape(), wanted.shape()) << what;
  const std::vector<double> g = got.eval().to_vector<double>(), w = wanted.to_vector<double>();
  double largest = 0, worst = 0;
  for (const double value : w) largest = std::max(largest, std::abs(value));
  const double unit = dtype == Dtype::float16 ? 0x1p-10 : 0x1p-7, smallest = dtype == Dtype::float16 ? 0x1p-24 : 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double half =
        0.5 * std::max(smallest, unit * std::exp2(std::floor(std::log2(std::max(std::abs(w[i]), 1e-300)))));
    worst = std::max(worst, (std::abs(g[i] - w[i]) - half) / (unit * largest));
    ASSERT_TRUE(std::isfinite(g[i])) << what << " " << i;
  }
  EXPECT_LE(worst, units) << what << " of " << dtype << ": units of the largest element beyond half a unit of its own";
}

/// One of the functions in the table.
class WideSum : public testing::TestWithParam<std::string> {};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, c] : cases()) all.push_back(name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Of, WideSum, testing::ValuesIn(names()), [](const auto& info) { return info.param; });

TEST_P(WideSum, IsRoundedOnce) {
  const Case c = cases().at(GetParam());
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    std::vector<Array> inputs;
    for (std::size_t k = 0; k < c.shapes.size(); ++k)
      inputs.push_back(
          values(c.shapes[k], static_cast<double>(k), c.spread, c.shift).astype(dtype).astype(Dtype::float64));
    const Results got = results(c, inputs, dtype), wanted = [&] {
      const DeviceScope processor{Device()};
      return results(c, inputs, Dtype::float64);
    }();
    expect_rounded_once("the result", got.y.array(), wanted.y.array(), dtype, kFloat32);
    for (std::size_t k = 0; k < got.gradients.size(); ++k) {
      ASSERT_EQ(got.gradients[k].defined(), wanted.gradients[k].defined()) << k;
      if (!got.gradients[k].defined()) continue;
      expect_rounded_once("gradient " + std::to_string(k), got.gradients[k], wanted.gradients[k], dtype, c.gradients);
    }
  }
}

/// The names in a document's table after a title.
std::set<std::string> names_in_table(const std::string& path, const std::string& title) {
  std::ifstream file(path);
  std::set<std::string> names;
  const std::regex name("`(\\w+)`");
  bool there = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) there = line == title;
    if (!there || !line.starts_with("|")) continue;
    for (std::sregex_iterator found(line.begin(), line.end(), name), end; found != end; ++found) {
      EXPECT_TRUE(names.insert((*found)[1]).second) << (*found)[1] << " is there twice";
    }
  }
  return names;
}

TEST(WideSums, AreThoseThatTheDocumentNames) {
  std::set<std::string> checked;
  for (const auto& [name, c] : cases()) checked.insert(name);
  EXPECT_EQ(checked,
            names_in_table(tests::source_path("docs/guide/precision.md"), "## Functions that compute in float32"));
}

// Every function must be listed: with sums or exponentials in the cases above and in the document, and otherwise
// (elementwise, rearranging, or composed of other functions) in rounded_each_time.txt.
TEST(WideSums, OfEveryFunctionItIsKnown) {
  std::set<std::string> others, all;
  std::ifstream list(tests::source_path("tests/data/functions/rounded_each_time.txt"));
  for (std::string name; list >> name;) EXPECT_TRUE(others.insert(name).second) << name << " is there twice";
  std::ifstream coverage(tests::names_path());
  const std::regex function("- `functions::(\\w+)` \\(function\\):.*");
  std::smatch found;
  for (std::string line; std::getline(coverage, line);)
    if (std::regex_match(line, found, function)) all.insert(found[1]);
  EXPECT_GT(all.size(), 200u);
  const Cases checked = cases();
  for (const std::string& name : all)
    EXPECT_NE(checked.contains(name), others.contains(name))
        << name
        << " adds up or takes powers of e in float32, and belongs into cases() of wide_sums_test.cpp and the table "
        << "of docs/guide/precision.md, or it does not, and belongs into rounded_each_time.txt";
  for (const std::string& name : others) EXPECT_TRUE(all.contains(name)) << name << " is not there any more";
  for (const auto& [name, c] : checked) EXPECT_TRUE(all.contains(name)) << name << " is not there any more";
}

}  // namespace
}  // namespace catenary
