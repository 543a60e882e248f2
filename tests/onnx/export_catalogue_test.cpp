// Exports each function by its name, and compares the file with the function for batches of 1 and 7.

#include <set>

#include "catenary/functions/functions.h"
#include "tests/onnx/exports.h"

namespace catenary {
namespace {

namespace F = functions;
using onnx_exports::sample;
using Inputs = std::span<const Variable>;
using One = std::function<Variable(const Variable&)>;
using Two = std::function<Variable(const Variable&, const Variable&)>;

/// Counts the functions that were exported, by name.
class Catalogue {
 public:
  void add(const std::string& name, const onnx_exports::Function& f, const std::vector<Array>& inputs,
           const onnx::ExportOptions& options = {}) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(names_.insert(name).second) << "the name is there twice";
    try {
      onnx_exports::expect_round_trip(f, inputs, options);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  void add(const std::string& name, const One& f, const Shape& shape = {3, 4, 5}) {
    add(name, [&](Inputs x) { return std::vector{f(x[0])}; }, {sample(shape)});
  }
  void add(const std::string& name, const Two& f, const Shape& a = {3, 4, 5}, const Shape& b = {3, 4, 5}) {
    add(name, [&](Inputs x) { return std::vector{f(x[0], x[1])}; }, {sample(a), sample(b)});
  }
  /// A function of positive numbers below 1.
  void add_inside(const std::string& name, const One& f) {
    add(name, [&](const Variable& x) { return f(F::sigmoid(x)); });
  }
  std::size_t count() const { return names_.size(); }

 private:
  std::set<std::string> names_;
};

Variable constant(const Shape& shape) { return Variable(sample(shape)); }
Variable positive(const Shape& shape) { return Variable(exp(sample(shape))); }

void add_activations(Catalogue& c) {
  c.add("relu", One([](const Variable& x) { return F::relu(x); }));
  c.add("sigmoid", One([](const Variable& x) { return F::sigmoid(x); }));
  c.add("tanh", One([](const Variable& x) { return F::tanh(x); }));
  c.add("softmax", One([](const Variable& x) { return F::softmax(x); }));
  c.add("log_softmax", One([](const Variable& x) { return F::log_softmax(x); }));
  c.add("clipped_relu", One([](const Variable& x) { return F::clipped_relu(x, 1.5); }));
  c.add("relu6", One([](const Variable& x) { return F::relu6(x * 5.0); }));
  c.add("leaky_relu", One([](const Variable& x) { return F::leaky_relu(x, 0.3); }));
  c.add("elu", One([](const Variable& x) { return F::elu(x, 0.7); }));
  c.add("selu", One([](const Variable& x) { return F::selu(x); }));
  c.add("prelu", One([w = constant({4, 5})](const Variable& x) { return F::prelu(x, w); }));
  c.add("rrelu", One([](const Variable& x) { return F::rrelu(x); }));
  c.add("crelu", One([](const Variable& x) { return F::crelu(x); }));
  c.add("softplus", One([](const Variable& x) { return F::softplus(x, 1.5); }));
  c.add("swish", One([b = constant({4, 5})](const Variable& x) { return F::swish(x, b); }));
  c.add("gelu", One([](const Variable& x) { return F::gelu(x); }));
  c.add("silu", One([](const Variable& x) { return F::silu(x); }));
  c.add("swiglu", Two([](const Variable& g, const Variable& x) { return F::swiglu(g, x); }));
  c.add("hard_sigmoid", One([](const Variable& x) { return F::hard_sigmoid(x); }));
  c.add("maxout", One([](const Variable& x) { return F::maxout(x, 2); }));
  c.add("lstm",
        [](Inputs x) {
          const auto [cell, h] = F::lstm(x[0], x[1]);
          return std::vector{cell, h};
        },
        {sample({3, 4}), sample({3, 16})});
  c.add("slstm",
        [](Inputs x) {
          const auto [cell, h] = F::slstm(x[0], x[1], x[2], x[3]);
          return std::vector{cell, h};
        },
        {sample({3, 4}), sample({3, 4}), sample({3, 16}), sample({3, 16})});
  c.add("tree_lstm",
        [](Inputs x) {
          const auto [cell, h] = F::tree_lstm({x[0], x[1]}, x[2]);
          return std::vector{cell, h};
        },
        {sample({3, 4}), sample({3, 4}), sample({3, 20})});
}

void add_moves(Catalogue& c) {
  c.add("swapaxes", One([](const Variable& x) { return F::swapaxes(x, 1, 2); }));
  c.add("moveaxis", One([](const Variable& x) { return F::moveaxis(x, 2, 1); }));
  c.add("rollaxis", One([](const Variable& x) { return F::rollaxis(x, 2, 1); }));
  c.add("expand_dims", One([](const Variable& x) { return F::expand_dims(x, 1); }));
  c.add("squeeze", One([](const Variable& x) { return F::squeeze(x, 2); }), {3, 4, 1});
  c.add("flatten", One([](const Variable& x) { return F::flatten(x); }));
  c.add("flip", One([](const Variable& x) { return F::flip(x, 1); }));
  c.add("fliplr", One([](const Variable& x) { return F::fliplr(x); }));
  c.add("flipud", One([](const Variable& x) { return F::flipud(x); }));
  c.add("broadcast", Two([](const Variable& x, const Variable& y) {
          return F::broadcast({x, y})[1];
        }),
        {3, 4, 5}, {3, 4, 1});
  c.add("broadcast_to", One([](const Variable& x) { return F::broadcast_to(x, {x.shape(0), 4, 5}); }), {3, 4, 1});
  c.add("depth2space", One([](const Variable& x) { return F::depth2space(x, 2); }), {2, 8, 3, 4});
  c.add("space2depth", One([](const Variable& x) { return F::space2depth(x, 2); }), {2, 3, 4, 6});
  c.add("concat", Two([](const Variable& x, const Variable& y) { return F::concat({x, y}); }));
  c.add("stack", Two([](const Variable& x, const Variable& y) { return F::stack({x, y}, 1); }));
  c.add("hstack", Two([](const Variable& x, const Variable& y) { return F::hstack({x, y}); }));
  c.add("vstack", Two([](const Variable& x, const Variable& y) { return F::vstack({x, y}); }));
  c.add("dstack", Two([](const Variable& x, const Variable& y) { return F::dstack({x, y}); }));
  c.add("split_axis", One([](const Variable& x) { return F::split_axis(x, 2, 1)[1]; }));
  c.add("separate", One([](const Variable& x) { return F::separate(x, 1)[2]; }));
  c.add("tile", One([](const Variable& x) { return F::tile(x, {1, 2, 3}); }));
  c.add("repeat", One([](const Variable& x) { return F::repeat(x, 2, 1); }));
  c.add("pad", One([](const Variable& x) { return F::pad(x, PerSide<std::int64_t>({{0, 0}, {1, 2}, {0, 1}})); }));
  c.add("where", Two([](const Variable& x, const Variable& y) { return F::where(array({1, 0, 0, 1, 1}), x, y); }));
  c.add("permutate", One([](const Variable& x) { return F::permutate(x, Variable(array({2, 0, 3, 1})), 1); }));
  c.add("diagonal", One([](const Variable& x) { return F::diagonal(x, 1, 1, 2) * F::diagonal(x, -1, 2, 1); }));
  c.add("pad_sequence",
        [](Inputs x) {
          return std::vector{F::pad_sequence({x[0], x[1]}, 5, -1.5)};
        },
        {sample({2, 3}), sample({4, 3})}, {.dynamic_axes = onnx::DynamicAxes()});
  c.add("reshape", One([](const Variable& x) { return F::reshape(x, {-1, 2, 10}); }));
  c.add("transpose", One([](const Variable& x) { return F::transpose(x, {0, 2, 1}); }));
  c.add("get_item", One([](const Variable& x) { return x(slice(), slice(1, 3), -1); }));
  c.add("cast", One([](const Variable& x) { return F::cast(x, Dtype::float64); }));
  c.add("identity", One([](const Variable& x) { return F::identity(x); }));
}

void add_mathematics(Catalogue& c) {
  c.add("negative", One([](const Variable& x) { return -x; }));
  c.add("exp", One([](const Variable& x) { return F::exp(x); }));
  c.add("expm1", One([](const Variable& x) { return F::expm1(x); }));
  c.add_inside("log", One([](const Variable& x) { return F::log(x); }));
  c.add_inside("log1p", One([](const Variable& x) { return F::log1p(x); }));
  c.add_inside("log2", One([](const Variable& x) { return F::log2(x); }));
  c.add_inside("log10", One([](const Variable& x) { return F::log10(x); }));
  c.add_inside("sqrt", One([](const Variable& x) { return F::sqrt(x); }));
  c.add_inside("rsqrt", One([](const Variable& x) { return F::rsqrt(x); }));
  c.add_inside("arcsin", One([](const Variable& x) { return F::arcsin(x); }));
  c.add_inside("arccos", One([](const Variable& x) { return F::arccos(x); }));
  c.add_inside("arctanh", One([](const Variable& x) { return F::arctanh(x * 0.9); }));
  c.add("square", One([](const Variable& x) { return F::square(x); }));
  c.add("absolute", One([](const Variable& x) { return F::absolute(x); }));
  c.add("sin", One([](const Variable& x) { return F::sin(x); }));
  c.add("cos", One([](const Variable& x) { return F::cos(x); }));
  c.add("tan", One([](const Variable& x) { return F::tan(x * 0.5); }));
  c.add("arctan", One([](const Variable& x) { return F::arctan(x); }));
  c.add("sinh", One([](const Variable& x) { return F::sinh(x); }));
  c.add("cosh", One([](const Variable& x) { return F::cosh(x); }));
  c.add("erf", One([](const Variable& x) { return F::erf(x); }));
  c.add("erfc", One([](const Variable& x) { return F::erfc(x); }));
  c.add("ndtr", One([](const Variable& x) { return F::ndtr(x); }));
  c.add("clip", One([](const Variable& x) { return F::clip(x, -1.0, 0.5); }));
  c.add("power", One([](const Variable& x) { return pow(x, 3); }));
  c.add("add", Two([](const Variable& x, const Variable& y) { return x + y; }));
  c.add("subtract", Two([](const Variable& x, const Variable& y) { return x - y; }));
  c.add("multiply", Two([](const Variable& x, const Variable& y) { return x * y; }));
  c.add("divide", Two([](const Variable& x, const Variable& y) { return x / (y * y + 1.0); }));
  c.add("arctan2", Two([](const Variable& x, const Variable& y) { return F::arctan2(x, y); }));
  c.add("maximum", Two([](const Variable& x, const Variable& y) { return F::maximum(x, y); }));
  c.add("minimum", Two([](const Variable& x, const Variable& y) { return F::minimum(x, y); }));
  c.add("fmod", Two([](const Variable& x, const Variable& y) { return F::fmod(x, y + 5.0); }));
  c.add("linear_interpolate",
        Two([](const Variable& x, const Variable& y) { return F::linear_interpolate(F::sigmoid(x), x, y); }));
  c.add("bias", One([b = constant({4})](const Variable& x) { return F::bias(x, b); }));
  c.add("scale", One([b = constant({4})](const Variable& x) { return F::scale(x, b); }));
  c.add("matmul", Two([](const Variable& x, const Variable& y) { return F::matmul(x, y, false, true); }));
  c.add("batch_matmul", Two([](const Variable& x, const Variable& y) { return F::batch_matmul(x, y, true); }));
  c.add("tensordot", One([w = constant({4, 5, 2})](const Variable& x) { return F::tensordot(x, w, 2); }));
  c.add("einsum", Two([](const Variable& x, const Variable& y) { return F::einsum("ijk,ilk->ijl", {x, y}); }));
  c.add("batch_det", One([](const Variable& x) { return F::batch_det(x); }), {3, 4, 4});
  c.add("sum", One([](const Variable& x) { return F::sum(x, 1); }));
  c.add("sum_to", One([](const Variable& x) { return F::sum_to(x, {4, 1}); }));
  c.add("mean", One([](const Variable& x) { return F::mean(x, {1, 2}); }));
  c.add("average", One([w = positive({4})](const Variable& x) { return F::average(x, 1, w); }));
  c.add("max", One([](const Variable& x) { return F::max(x, 2, true); }));
  c.add("min", One([](const Variable& x) { return F::min(x, 1); }));
  c.add("prod", One([](const Variable& x) { return F::prod(x, 1); }));
  c.add("argmax", One([](const Variable& x) { return F::argmax(x, 1); }));
  c.add("argmin", One([](const Variable& x) { return F::argmin(x, 2); }));
  c.add("logsumexp", One([](const Variable& x) { return F::logsumexp(x, 1); }));
  c.add("cumsum", One([](const Variable& x) { return F::cumsum(x, 1); }));
  c.add("batch_l2_norm_squared", One([](const Variable& x) { return F::batch_l2_norm_squared(x); }));
  const auto fourier = [](bool inverse) {
    return [inverse](Inputs x) {
      const auto [re, im] = inverse ? F::ifft({x[0], x[1]}) : F::fft({x[0], x[1]});
      return std::vector{re, im};
    };
  };
  c.add("fft", fourier(false), {sample({3, 8}), sample({3, 8})});
  c.add("ifft", fourier(true), {sample({3, 4}), sample({3, 4})});
}

void add_layers(Catalogue& c) {
  const Shape line = {2, 4, 9}, image = {2, 4, 9, 8}, volume = {2, 4, 5, 4, 6};
  c.add("linear", One([w = constant({3, 20}), b = constant({3})](const Variable& x) { return F::linear(x, w, b); }));
  c.add("bilinear",
        Two([w = constant({4, 5, 3})](const Variable& x, const Variable& y) { return F::bilinear(x, y, w); }), {3, 4},
        {3, 5});
  c.add("embed_id", [w = constant({30, 6})](Inputs x) { return std::vector{F::embed_id(x[0], w)}; },
        {arange(6, Dtype::int64).reshape({2, 3})});
  c.add("convolution_1d",
        One([w = constant({3, 4, 3})](const Variable& x) { return F::convolution_1d(x, w, {.stride = 2, .pad = 1}); }),
        line);
  c.add("convolution_2d", One([w = constant({3, 4, 3, 2})](const Variable& x) {
          return F::convolution_2d(x, w, {.stride = 2, .pad = 1});
        }),
        image);
  c.add("convolution_3d", One([w = constant({3, 4, 2, 2, 2})](const Variable& x) { return F::convolution_3d(x, w); }),
        volume);
  c.add("convolution_nd", One([w = constant({3, 4, 3})](const Variable& x) { return F::convolution_nd(x, w); }), line);
  c.add("deconvolution_1d",
        One([w = constant({4, 3, 3})](const Variable& x) { return F::deconvolution_1d(x, w, {.stride = 2}); }), line);
  c.add("deconvolution_2d", One([w = constant({4, 3, 3, 2})](const Variable& x) {
          return F::deconvolution_2d(x, w, {.stride = 2, .pad = 1});
        }),
        image);
  c.add("deconvolution_3d",
        One([w = constant({4, 3, 2, 2, 2})](const Variable& x) { return F::deconvolution_3d(x, w); }), volume);
  c.add("deconvolution_nd", One([w = constant({4, 3, 3})](const Variable& x) { return F::deconvolution_nd(x, w); }),
        line);
  c.add("dilated_convolution_2d",
        One([w = constant({3, 4, 3, 2})](const Variable& x) { return F::dilated_convolution_2d(x, w, {.dilate = 2}); }),
        image);
  c.add("depthwise_convolution_2d",
        One([w = constant({2, 4, 3, 2})](const Variable& x) { return F::depthwise_convolution_2d(x, w); }), image);
  c.add("scaled_dot_product_attention",
        Two([](const Variable& x, const Variable& y) { return F::scaled_dot_product_attention(x, y, y); }),
        {2, 2, 3, 4}, {2, 2, 3, 4});
  c.add("rotary_embedding", One([](const Variable& x) { return F::rotary_embedding(x, arange(6)); }), {2, 4, 6, 8});
  c.add("dropout", One([](const Variable& x) { return F::dropout(x) + 0.0; }));
  c.add("fixed_batch_normalization",
        One([g = constant({4}), b = constant({4}), m = constant({4}), v = positive({4})](const Variable& x) {
          return F::fixed_batch_normalization(x, g, b, m, v);
        }),
        image);
  c.add("layer_normalization",
        One([g = constant({5}), b = constant({5})](const Variable& x) { return F::layer_normalization(x, g, b); }),
        {3, 5});
  c.add("rms_normalization", One([g = constant({5})](const Variable& x) { return F::rms_normalization(x, g); }));
  c.add("group_normalization",
        One([g = constant({4}), b = constant({4})](const Variable& x) { return F::group_normalization(x, 2, g, b); }),
        image);
  c.add("instance_normalization",
        One([g = constant({4}), b = constant({4})](const Variable& x) { return F::instance_normalization(x, g, b); }),
        image);
  c.add("normalize", One([](const Variable& x) { return F::normalize(x); }));
  c.add("local_response_normalization", One([](const Variable& x) { return F::local_response_normalization(x); }),
        image);
}

void add_windows(Catalogue& c) {
  const Shape line = {2, 4, 9}, image = {2, 4, 9, 8}, volume = {2, 4, 5, 4, 6};
  c.add("max_pooling_1d", One([](const Variable& x) { return F::max_pooling_1d(x, 3, {.stride = 2}); }), line);
  c.add("max_pooling_2d", One([](const Variable& x) { return F::max_pooling_2d(x, 2); }), image);
  c.add("max_pooling_3d", One([](const Variable& x) { return F::max_pooling_3d(x, 2); }), volume);
  c.add("max_pooling_nd", One([](const Variable& x) { return F::max_pooling_nd(x, 3, {.pad = 1}); }), line);
  c.add("average_pooling_1d", One([](const Variable& x) { return F::average_pooling_1d(x, 3, {.stride = 2}); }), line);
  c.add("average_pooling_2d", One([](const Variable& x) { return F::average_pooling_2d(x, 2, {.pad = 1}); }), image);
  c.add("average_pooling_3d", One([](const Variable& x) { return F::average_pooling_3d(x, 2); }), volume);
  c.add("average_pooling_nd", One([](const Variable& x) { return F::average_pooling_nd(x, 3, {.stride = 1}); }), line);
  c.add("unpooling_1d", One([](const Variable& x) { return F::unpooling_1d(x, 2); }), line);
  c.add("unpooling_2d", One([](const Variable& x) { return F::unpooling_2d(x, 2, {.cover_all = false}); }), image);
  c.add("unpooling_3d", One([](const Variable& x) { return F::unpooling_3d(x, 2, {.cover_all = false}); }), volume);
  c.add("unpooling_nd", One([](const Variable& x) { return F::unpooling_nd(x, 2, {.cover_all = false}); }), line);
  c.add("spatial_pyramid_pooling_2d", One([](const Variable& x) { return F::spatial_pyramid_pooling_2d(x, 3); }),
        image);
  c.add("resize_images", One([](const Variable& x) { return F::resize_images(x, {5, 11}); }), image);
  c.add("spatial_transformer_grid", One([](const Variable& x) {
          return F::spatial_transformer_grid(x, {4, 5});
        }),
        {2, 2, 3});
  c.add("spatial_transformer_sampler",
        Two([](const Variable& x, const Variable& y) { return F::spatial_transformer_sampler(x, F::tanh(y)); }), image,
        {2, 2, 4, 7});
  c.add("im2col", One([](const Variable& x) { return F::im2col(x, {3, 2}, {.stride = {2, 1}, .pad = 1}); }), image);
  c.add("shift", One([](const Variable& x) {
          return F::shift(x, 3, 1) + F::shift(x, {1, 3}, {1, -2});
        }),
        {2, 11, 5, 6});
}

void add_losses(Catalogue& c) {
  const auto expect = [&](const std::string& name, const Two& f, const Shape& shape = {3, 4}) {
    c.add(name, Two(f), shape, shape);
  };
  // these divide by the batch size
  const auto expect_fixed = [&](const std::string& name, const Two& f) {
    c.add(name, [&](Inputs x) { return std::vector{f(x[0], x[1])}; }, {sample({3, 4}), sample({3, 4})},
          {.dynamic_axes = onnx::DynamicAxes()});
  };
  expect("mean_squared_error", [](const Variable& x, const Variable& y) { return F::mean_squared_error(x, y); });
  expect("mean_absolute_error", [](const Variable& x, const Variable& y) { return F::mean_absolute_error(x, y); });
  expect("squared_error", [](const Variable& x, const Variable& y) { return F::squared_error(x, y); });
  expect("squared_difference", [](const Variable& x, const Variable& y) { return F::squared_difference(y, x); });
  expect("absolute_error", [](const Variable& x, const Variable& y) { return F::absolute_error(x, y); });
  expect("huber_loss", [](const Variable& x, const Variable& y) { return F::huber_loss(x, y, 0.8); });
  expect("gaussian_kl_divergence",
         [](const Variable& x, const Variable& y) { return F::gaussian_kl_divergence(x, y); });
  expect("bernoulli_nll", [](const Variable& x, const Variable& y) { return F::bernoulli_nll(F::sigmoid(x), y); });
  expect("gaussian_nll", [](const Variable& x, const Variable& y) { return F::gaussian_nll(x, y, x * 0.5); });
  expect_fixed("cross_covariance", [](const Variable& x, const Variable& y) { return F::cross_covariance(x, y); });
  expect_fixed("decov", [](const Variable& x, const Variable& y) { return F::decov(x * y); });
  expect_fixed("triplet", [](const Variable& x, const Variable& y) { return F::triplet(x, y, x * y); });
  const Array labels = array({2, 0, 3});
  c.add("softmax_cross_entropy",
        [w = exp(sample({4}))](Inputs x) {
          return std::vector{F::softmax_cross_entropy(x[0], x[1]),
                             F::softmax_cross_entropy(x[0], x[1], {.normalize = false, .ignore_label = 2}),
                             F::softmax_cross_entropy(x[0], x[1], {.class_weight = w, .reduce = F::Reduce::no})};
        },
        {sample({3, 4}), labels});
  c.add("sigmoid_cross_entropy",
        [](Inputs x) {
          return std::vector{F::sigmoid_cross_entropy(x[0], x[1]), F::sigmoid_cross_entropy(x[0], x[1], false),
                             F::sigmoid_cross_entropy(x[0], x[1], true, F::Reduce::no)};
        },
        {sample({3, 2}), array({1, 0, 1, 1, 0, 1}).reshape({3, 2})});
  c.add("accuracy",
        [](Inputs x) {
          return std::vector{F::accuracy(x[0], x[1]), F::accuracy(x[0], x[1], 3)};
        },
        {sample({3, 4}), labels});
}

TEST(OnnxExport, WritesEachFunction) {
  Catalogue c;
  add_activations(c);
  add_moves(c);
  add_mathematics(c);
  add_layers(c);
  add_windows(c);
  add_losses(c);
  EXPECT_GE(c.count(), 150u);
}

}  // namespace
}  // namespace catenary
