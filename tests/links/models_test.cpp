#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "catenary/autograd/gradient_check.h"
#include "catenary/catenary.h"
#include "tests/links/helpers.h"
#include "tests/paths.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

using ct::test::numbers;

/// Three layers, where the last one uses the first one's result.
class Forked : public L::ImageClassifier {
 public:
  L::Convolution2D conv{3, 2, 1};
  CT_LINKS(conv)
  mutable std::vector<std::string> computed = {};

 protected:
  std::vector<Layer> layers() const override {
    const auto noted = [this](const char* name, auto f) {
      return [=, this](const ct::Variable& x) {
        computed.push_back(name);
        return f(x);
      };
    };
    return {{"conv", noted("conv", [this](const ct::Variable& x) { return conv(x); })},
            {"pool", noted("pool",
                           [](const ct::Variable& x) {
                             return F::mean(x, {2, 3});
                           })},
            {"prob", noted("prob", [](const ct::Variable& x) { return F::softmax(x); })},
            {"aside", noted("aside", [](const ct::Variable& x) { return F::relu(x); }), "conv"}};
  }
  std::string features() const override { return "pool"; }
  std::vector<double> mean() const override { return {1, 2, 3}; }
};

TEST(ImageClassifier, ComputesWhatIsAskedFor) {
  const Forked model;
  const ct::Array x = numbers({2, 3, 4, 5});
  EXPECT_EQ(model.available_layers(), (std::vector<std::string>{"conv", "pool", "prob", "aside"}));
  const auto one = model(x, {"aside"});
  EXPECT_EQ(model.computed, (std::vector<std::string>{"conv", "aside"}));
  ct::gradient_check::assert_allclose(one.at("aside").array(), F::relu(model.conv(x)).array());
  model.computed.clear();
  const auto all = model(x, {"prob", "aside", "conv", "prob"});
  EXPECT_EQ(model.computed, (std::vector<std::string>{"conv", "pool", "prob", "aside"}));
  EXPECT_EQ(all.size(), 3u);
  ct::gradient_check::assert_allclose(all.at("conv").array(), model.conv(x).array());
  EXPECT_EQ(model(x).begin()->first, "prob");
  EXPECT_THROW(model(x, {"fc7"}), ct::ValueError);
}

TEST(ImageClassifier, PreparesImages) {
  const Forked model;
  // red, green and blue of 2 x 2 pixels
  const ct::Array image = ct::arange(12, ct::Dtype::float32).reshape({3, 2, 2});
  const auto values = [](const ct::Array& a) { return a.to_vector<float>(); };
  EXPECT_EQ(values(model.prepare(image, {})), (std::vector<float>{7, 8, 9, 10, 2, 3, 4, 5, -3, -2, -1, 0}));
  EXPECT_EQ(values(model.prepare(image[1], {})), (std::vector<float>{3, 4, 5, 6, 2, 3, 4, 5, 1, 2, 3, 4}));
  EXPECT_EQ(model.prepare(image[1]).shape(), (ct::Shape{3, 224, 224}));
  EXPECT_THROW(model.prepare(image.reshape({2, 2, 3})), ct::ShapeError);
  EXPECT_THROW(model.extract({}), ct::ValueError);
  EXPECT_EQ(model.extract({image, image}).at("pool").shape(), (ct::Shape{2, 2}));
  // all crops of a uniform image are equal
  const ct::Array plain = ct::full({3, 4, 4}, 100.0f);
  const ct::Variable y = model.predict({plain}), centre = model.predict({plain}, false);
  EXPECT_FALSE(y.requires_grad());
  ct::gradient_check::assert_allclose(y.array(), centre.array(), 1e-5, 1e-5);
}

TEST(ResNet, BlocksAreNamedAsInChainer) {
  const L::ResNetStage<L::Bottleneck> stage({L::Bottleneck(4, 2, 8, 2), L::Bottleneck(8, 2)});
  std::vector<std::string> names;
  for (const auto& [path, parameter] : stage.namedparams())
    if (path.ends_with("W")) names.push_back(path);
  EXPECT_EQ(names, (std::vector<std::string>{"/a/conv1/W", "/a/conv2/W", "/a/conv3/W", "/a/conv4/W", "/b1/conv1/W",
                                             "/b1/conv2/W", "/b1/conv3/W"}));
  const ct::Array x = numbers({2, 4, 6, 6});
  EXPECT_EQ(stage(x).shape(), (ct::Shape{2, 8, 3, 3}));
  const auto other = ct::copy_link(stage, ct::CopyMode::copy);
  ct::gradient_check::assert_allclose(other(x).array(), stage(x).array());
  EXPECT_FALSE(other.blocks[1].conv1.W.array().shares_memory(stage.blocks[1].conv1.W.array()));
  const L::BasicBlock same(4, 4), wider(4, 6, 2);
  EXPECT_EQ(same(x).shape(), x.shape());
  EXPECT_EQ(wider(x).shape(), (ct::Shape{2, 6, 3, 3}));
  EXPECT_EQ(same.namedparams().size() + 3, wider.namedparams().size());
}

TEST(InceptionBN, WrongArgumentsAreNamed) {
  EXPECT_THROW(L::InceptionBN(3, 0, 2, 2, 2, 2, "mean"), ct::ValueError);
  EXPECT_THROW(L::InceptionBN(3, 2, 2, 2, 2, 2, "max"), ct::ValueError);
  EXPECT_THROW(L::InceptionBN(3, 2, 2, 2, 2, 2, "max", {.proj_pool = 2, .stride = 2}), ct::ValueError);
  const L::InceptionBN halves(3, 0, 2, 4, 2, 5, "max", {.stride = 2});
  EXPECT_EQ(halves(numbers({2, 3, 6, 6})).shape(), (ct::Shape{2, 12, 3, 3}));
}

/// A training step gives every parameter a gradient.
template <class Model>
void expect_gradients(const Model& model, const ct::Variable& y) {
  model.cleargrads();
  F::sum(y * y).backward();
  for (const auto& [path, parameter] : model.namedparams()) {
    ASSERT_TRUE(parameter.grad().defined()) << path;
    EXPECT_EQ(parameter.grad().shape(), parameter.shape()) << path;
  }
}

/// Element i is f(i), in float64.
template <class Element>
ct::Array made_by(const ct::Shape& shape, Element f) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.product(); ++i) values.push_back(static_cast<float>(f(static_cast<double>(i))));
  return ct::array(values).reshape(shape);
}

/// Compares PyTorch's scores, with the weights of tests/data/torch/make_vision_reference.py.
template <class Model>
void expect_torchs_scores(const std::string& file, const Model& model, const ct::Shape& images) {
  std::map<std::string, ct::Parameter> parameters;
  for (const auto& [path, parameter] : model.namedparams()) parameters.emplace(path, parameter);
  double k = 0;
  for (const auto& [path, parameter] : parameters) {
    const ct::Shape& shape = parameter.shape();
    const bool is_weight = path.ends_with("/W"), grows = path.starts_with("/grow");
    const double inputs = static_cast<double>(grows ? shape[0] : shape.product() / shape[0]);
    ct::copyto(parameter.array(), made_by(shape, [&, &path = path](double i) {
                 const double s = std::sin(0.7 * i + k);
                 return is_weight ? s * std::sqrt(2 / inputs) : path.ends_with("/gamma") ? 1 + s / 2 : s / 2;
               }));
    ++k;
  }
  const auto test = ct::using_config(ct::config.train, false);
  const ct::Array scores = model(made_by(images, [](double i) { return std::sin(1.7 * i); })).array(),
                  expected = ct::load_npz(tests::source_path("tests/data/torch/" + file)).at(0).second;
  const double largest = ct::absolute(expected).max().item<double>();
  ct::gradient_check::assert_allclose(scores, expected.astype(ct::Dtype::float32), 1e-4 * largest, 0);
}

TEST(UNet, HasPyTorchsScores) {
  expect_torchs_scores("unet.npz", L::UNet(3, 3, {.channels = 4, .depth = 2}), {2, 3, 16, 24});
}
TEST(MobileNetV2, HasPyTorchsScores) {
  const L::MobileNetV2 model({.classes = 10, .width = 0.5});
  EXPECT_EQ(model.count_params(), 700490);
  expect_torchs_scores("mobilenet_v2.npz", model, {2, 3, 64, 64});
}

TEST(UNet, KeepsTheImagesSize) {
  const L::UNet model(3, 5, {.channels = 4, .depth = 2});
  const ct::Array x = numbers({2, 3, 8, 12});
  const ct::Variable y = model(x);
  EXPECT_EQ(y.shape(), (ct::Shape{2, 5, 8, 12}));
  expect_gradients(model, y);
  EXPECT_THROW(model(numbers({1, 3, 6, 8})), ct::ShapeError);
  EXPECT_THROW(L::UNet(3, 5, {.depth = 0}), ct::ValueError);
}

TEST(MobileNetV2, Trains) {
  const L::MobileNetV2 model({.classes = 7, .width = 0.25});
  const ct::Variable y = model(numbers({2, 3, 32, 32}));
  EXPECT_EQ(y.shape(), (ct::Shape{2, 7}));
  expect_gradients(model, y);
  EXPECT_THROW(L::MobileNetV2({.width = 0}), ct::ValueError);
}

}  // namespace
