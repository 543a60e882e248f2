// torchvision's networks: its weights by name, and its scores (tests/data/torch/make_torchvision_reference.py).

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "catenary/autograd/gradient_check.h"
#include "catenary/catenary.h"
#include "catenary/io/npz.h"
#include "catenary/io/safetensors.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace S = ct::serializers;
namespace io = ct::io;
using tests::Folder;

namespace {

using Tensors = std::vector<std::pair<std::string, io::HostArray>>;
using tests::error_of;
using tests::has;

/// Element i of array k, in [0, 1): the upper bits of splitmix64.
double element(std::uint64_t k, std::uint64_t i) {
  std::uint64_t z = (k << 32) + i + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 40) * 0x1p-24;
}
io::HostArray filled(std::uint64_t k, const ct::Shape& shape, double scale, double offset) {
  io::HostArray array = io::HostArray::empty(ct::Dtype::float32, shape);
  for (std::int64_t i = 0; i < array.size(); ++i)
    array.as<float>()[i] = static_cast<float>(offset + scale * element(k, static_cast<std::uint64_t>(i)));
  return array;
}
ct::Array on_device(const io::HostArray& a) {
  return ct::Array::from_host(a.data.get(), a.shape, a.dtype, ct::current_device());
}

/// torchvision's version of a network: its tensors, with values as in the script, and its scores.
struct Torchvision {
  Tensors tensors;
  ct::Array scores;

  explicit Torchvision(const std::string& name) {
    const io::NpzReader file(tests::source_path("tests/data/torch/torchvision.npz"));
    const auto texts = [&](const char* what) { return std::get<io::StringArray>(file.read(name + what)).values; };
    const std::vector<std::string> names = texts("/names"), shapes = texts("/shapes");
    const bool normalizes = names.at(1).ends_with("weight");  // bn1's, while VGG's is a bias
    for (std::size_t k = 0; k < names.size(); ++k) {
      std::istringstream words(shapes[k]);
      ct::Shape shape;
      for (std::int64_t extent; words >> extent;) shape.push_back(extent);
      tensors.emplace_back(names[k], value(k, names[k], shape, normalizes));
    }
    scores = on_device(file.read_array(name + "/scores"));
  }

  static io::HostArray value(std::uint64_t k, const std::string& name, const ct::Shape& shape, bool normalizes) {
    if (name.ends_with("num_batches_tracked")) return io::HostArray::scalar(static_cast<std::int64_t>(k));
    if (name.ends_with("running_mean")) return filled(k, shape, 0.02, -0.01);
    if (name.ends_with("running_var")) return filled(k, shape, 1e-3, 5e-4);
    if (shape.size() == 1) return name.ends_with("weight") ? filled(k, shape, 0.5, 0.25) : filled(k, shape, 0.4, -0.2);
    const double gain = normalizes && shape.size() == 4 ? 2e-3 : 2,
                 range = std::sqrt(3 * gain / static_cast<double>(shape.product() / shape[0]));
    return filled(k, shape, 2 * range, -range);
  }
};

ct::Array photographs() { return on_device(filled(1000000, {2, 3, 65, 73}, 2, -1)); }

/// torchvision's weights give its scores.
template <class Model, class Scores>
void expect_torchvisions_scores(const std::string& name, const Model& model, const Scores& scores) {
  const Folder folder;
  const Torchvision expected(name);
  io::write_safetensors(folder / "weights.safetensors", expected.tensors);
  S::load_safetensors(folder / "weights.safetensors", model, {.names = "torchvision"});
  const auto test = ct::test_mode();
  ct::gradient_check::assert_allclose(scores(model, photographs()).array(), expected.scores, 1e-4, 0);
}

template <class Model>
void expect_resnet(const std::string& name) {
  SCOPED_TRACE(name);
  expect_torchvisions_scores(name, Model({.classes = 10, .torchvision = true}),
                             [](const auto& net, const auto& x) { return net(x, {"fc6"}).at("fc6"); });
}
template <class Model>
void expect_vgg(const std::string& name) {
  SCOPED_TRACE(name);
  const Model net({.classes = 10, .units = 64, .torchvision = true});
  expect_torchvisions_scores(name, net, [](const auto& net, const auto& x) { return net(x, {"fc8"}).at("fc8"); });
}

TEST(Torchvision, ResNet18) { expect_resnet<L::ResNet18Layers>("resnet18"); }
TEST(Torchvision, ResNet34) { expect_resnet<L::ResNet34Layers>("resnet34"); }
TEST(Torchvision, ResNet50) { expect_resnet<L::ResNet50Layers>("resnet50"); }
TEST(Torchvision, ResNet101) { expect_resnet<L::ResNet101Layers>("resnet101"); }
TEST(Torchvision, ResNet152) { expect_resnet<L::ResNet152Layers>("resnet152"); }
TEST(Torchvision, VGG16) { expect_vgg<L::VGG16Layers>("vgg16"); }
TEST(Torchvision, VGG19) { expect_vgg<L::VGG19Layers>("vgg19"); }
TEST(Torchvision, MobileNetV2) {
  const L::MobileNetV2 net({.classes = 10, .torchvision = true});
  expect_torchvisions_scores("mobilenet_v2", net, [](const auto& net, const auto& x) { return net(x); });
  EXPECT_EQ(net.first_bn.N->item<std::int64_t>(), 5);  // num_batches_tracked is the sixth tensor
}

/// Without the option, equal weights give other scores or do not fit.
TEST(Torchvision, WithoutTheOptionTheyComputeWhatChainersDo) {
  const Folder folder;
  const auto test = ct::test_mode();
  const auto load = [&](const Torchvision& theirs, const auto& model) {
    io::write_safetensors(folder / "weights.safetensors", theirs.tensors);
    S::load_safetensors(folder / "weights.safetensors", model, {.names = "torchvision"});
  };
  const Torchvision mobilenet("mobilenet_v2");
  const L::MobileNetV2 net({.classes = 10});  // different eps
  load(mobilenet, net);
  EXPECT_GT(ct::absolute(net(photographs()).array() - mobilenet.scores).max().item<float>(), 2e-4);
  const L::VGG16Layers vgg({.classes = 10, .units = 64});  // accepts only one image size
  load(Torchvision("vgg16"), vgg);
  EXPECT_THROW(vgg(photographs(), {"fc8"}), ct::ShapeError);
  const L::ResNet18Layers resnet({.classes = 10});  // its first convolution has a bias
  EXPECT_THROW(load(Torchvision("resnet18"), resnet), ct::FileError);
}

TEST(Torchvision, ImagesArePreparedAsItsTransformsDo) {
  // red, green and blue of 2 x 2 pixels
  const ct::Array image = ct::arange(12, ct::Dtype::float32).reshape({3, 2, 2}) * 20;
  const ct::Array mean = ct::array({0.485, 0.456, 0.406}).reshape({3, 1, 1}),
                  deviation = ct::array({0.229, 0.224, 0.225}).reshape({3, 1, 1});
  const ct::Array expected = (image / 255 - mean) / deviation;
  for (const ct::Array& prepared : {L::ResNet18Layers({.torchvision = true}).prepare(image, {}),
                                    L::VGG16Layers({.units = 1, .torchvision = true}).prepare(image, {})})
    ct::gradient_check::assert_allclose(prepared, expected, 1e-5, 1e-5);
  EXPECT_LT(L::ResNet18Layers().prepare(image, {}).min().item<float>(), -100);  // Chainer's images are from 0 to 255
}

/// A block learns through the stride of its second convolution, and a VGG through the means of a small image.
TEST(Torchvision, Trains) {
  const L::Bottleneck block(4, 2, 8, 2, {.torchvision = true});
  const ct::Variable y = block(on_device(filled(1, {2, 4, 6, 6}, 2, -1)));
  EXPECT_EQ(y.shape(), (ct::Shape{2, 8, 3, 3}));
  F::sum(y * y).backward();
  for (const ct::Parameter& parameter : block.params()) EXPECT_TRUE(parameter.grad().defined()) << parameter.name();

  const L::VGG16Layers net({.classes = 3, .units = 4, .torchvision = true});
  F::sum(net(photographs(), {"fc8"}).at("fc8")).backward();
  for (const auto& [path, parameter] : net.namedparams()) EXPECT_TRUE(parameter.grad().defined()) << path;
}

/// The names of a file's tensors after applying rules.
std::vector<std::string> named(const S::Names& names, const std::vector<std::pair<std::string, ct::Shape>>& tensors) {
  std::vector<std::string> result;
  for (const S::Names::Tensor& tensor : names.of("a file", tensors)) result.push_back(tensor.name);
  return result;
}
using Strings = std::vector<std::string>;

TEST(Names, OfParameters) {
  const std::vector<std::pair<std::string, ct::Shape>> tensors = {{"conv.weight", {2, 3, 3, 3}},
                                                                  {"conv.bias", {2}},
                                                                  {"bn.weight", {2}},
                                                                  {"bn.bias", {2}},
                                                                  {"bn.running_mean", {2}},
                                                                  {"bn.running_var", {2}},
                                                                  {"plain.running_mean", {}},
                                                                  {"plain.running_var", {}},
                                                                  {"norm.weight", {4, 5}},
                                                                  {"norm.bias", {4, 5}},
                                                                  {"prelu.weight", {1}},
                                                                  {"embed.weight", {7, 3}},
                                                                  {"scale", {}},
                                                                  {"bn.num_batches_tracked", {}}};
  EXPECT_EQ(named("torch", tensors),
            (Strings{"conv.W", "conv.b", "bn.gamma", "bn.beta", "bn.avg_mean", "bn.avg_var", "plain.avg_mean",
                     "plain.avg_var", "plain.N", "norm.gamma", "norm.beta", "prelu.W", "embed.W", "scale", "bn.N"}));
  EXPECT_EQ(named({}, {{"conv.weight", {2}}, {"a/b", {1}}}), (Strings{"conv.weight", "a.b"}));
}

TEST(Names, Renamed) {
  const std::vector<std::pair<std::string, ct::Shape>> tensors = {
      {"module.body.conv1.weight", {2, 3, 3, 3}}, {"module.head.weight", {4, 2}}, {"module.head.bias", {4}}};
  EXPECT_EQ(named({"module=", "body.conv1=first", "head.weight=out/W"}, tensors),
            (Strings{"first.W", "out.W", "head.b"}));
  EXPECT_EQ(named({"torch", "module.head=fc", "module=net"}, tensors), (Strings{"net.body.conv1.W", "fc.W", "fc.b"}));
  EXPECT_EQ(error_of([&] { named("mod=x", tensors); }),
            "a file: 'mod=x' renames nothing: there is no such tensor or module");
  EXPECT_EQ(error_of([&] {
              named({"module.head.weight=a.x", "module.head.bias=a.x"}, tensors);
            }),
            "a file: two tensors would be called 'a.x'");
  EXPECT_TRUE(has(error_of([&] { named("module.head.weight=", tensors); }), "without a name"));
  EXPECT_TRUE(
      has(error_of([] { S::Names("torchvison"); }), "unknown rule 'torchvison'; expected torch, torchvision, timm or"));
  EXPECT_TRUE(has(error_of([] { S::Names({"torch", "timm"}); }), "two rules"));
}

TEST(Names, OfTimm) {
  const std::vector<std::pair<std::string, ct::Shape>> mobilenet = {{"conv_stem.weight", {32, 3, 3, 3}},
                                                                    {"bn1.weight", {32}},
                                                                    {"bn1.bias", {32}},
                                                                    {"bn1.running_var", {32}},
                                                                    {"blocks.0.0.conv_dw.weight", {32, 1, 3, 3}},
                                                                    {"blocks.0.0.conv_pw.weight", {16, 32, 1, 1}},
                                                                    {"blocks.1.0.conv_pwl.weight", {24, 96, 1, 1}},
                                                                    {"blocks.2.1.conv_pw.weight", {192, 32, 1, 1}},
                                                                    {"blocks.6.0.conv_dw.weight", {960, 1, 3, 3}},
                                                                    {"conv_head.weight", {1280, 320, 1, 1}},
                                                                    {"classifier.weight", {10, 1280}}};
  EXPECT_EQ(named("timm", mobilenet),
            (Strings{"first.W", "first_bn.gamma", "first_bn.beta", "first_bn.avg_var", "first_bn.N", "0.depthwise.W",
                     "0.project.W", "1.project.W", "4.expand.W", "16.depthwise.W", "last.W", "fc.W"}));
  const S::Names timm = "timm";
  const auto vgg = timm.of("a file", {{"features.0.weight", {64, 3, 3, 3}},
                                      {"features.2.weight", {64, 64, 3, 3}},
                                      {"features.5.weight", {128, 64, 3, 3}},
                                      {"pre_logits.fc1.weight", {4096, 512, 7, 7}},
                                      {"pre_logits.fc2.bias", {4096}},
                                      {"head.fc.weight", {10, 4096}}});
  Strings names;
  for (const auto& tensor : vgg) names.push_back(tensor.name);
  EXPECT_EQ(names, (Strings{"conv1_1.W", "conv1_2.W", "conv2_1.W", "fc6.W", "fc7.b", "fc8.W"}));
  EXPECT_EQ(vgg[3].shape, (ct::Shape{4096, 512 * 7 * 7}));
}

TEST(Names, UnknownNamesThrow) {
  EXPECT_TRUE(has(
      error_of([] {
        named("torchvision", {{"features.0.weight", {64, 3, 11, 11}}});
      }),
      "its names match none of the known networks of torchvision (ResNet, VGG without normalization, MobileNet-V2)"));
  const std::vector<std::pair<std::string, ct::Shape>> deep = {{"layer1.0.conv1.weight", {1}}, {"conv1.0.weight", {1}}};
  EXPECT_EQ(error_of([&] { named("timm", deep); }),
            "a file: 'conv1.0.weight' is no tensor of timm's ResNet; THEIRS=OURS names it");
  EXPECT_EQ(named({"timm", "conv1.0=stem"}, deep), (Strings{"res2.a.conv1.W", "stem.W"}));
}

struct NormalizedNet : ct::Chain {
  L::Convolution2D conv{1, 2, 3};
  L::BatchNormalization bn{2};
  CT_LINKS(conv, bn)
};

TEST(Names, ALoadIsStrictInBothDirections) {
  const Folder folder;
  const auto write = [&](const Tensors& tensors) {
    const std::string path = folder / "net.safetensors";
    io::write_safetensors(path, tensors);
    return path;
  };
  Tensors tensors = {{"conv.weight", filled(1, {2, 1, 3, 3}, 1, 0)},
                     {"conv.bias", filled(2, {2}, 1, 0)},
                     {"bn.weight", filled(3, {2}, 1, 0)},
                     {"bn.bias", filled(4, {2}, 1, 0)},
                     {"bn.running_mean", filled(5, {2}, 1, 0)},
                     {"bn.running_var", filled(6, {2}, 1, 0)}};
  NormalizedNet net;
  net.bn.N = ct::full({}, std::int64_t{7});
  S::load_safetensors(write(tensors), net, {.names = "torch"});
  EXPECT_EQ(net.bn.avg_var->to_vector<float>(), on_device(tensors[5].second).to_vector<float>());
  EXPECT_EQ(net.bn.N->item<std::int64_t>(), 0);  // older files do not count batches

  // without a rule
  const std::string hint = error_of([&] { S::load_safetensors(write(tensors), net); });
  EXPECT_TRUE(has(hint,
                  "there is no tensor 'conv.W'; its names are PyTorch's: give load_safetensors the option {.names = "
                  "\"torch\"}, or convert the file by `catenary convert --from torch`; the file has: conv.weight"))
      << hint;
  Tensors others = {{"body.weight", filled(1, {2}, 1, 0)}};
  for (int i = 0; i < 200; ++i) others.emplace_back("other" + std::to_string(i), filled(1, {1}, 1, 0));
  const std::string none = error_of([&] { S::load_safetensors(write(others), net); });
  EXPECT_FALSE(has(none, "names are PyTorch's")) << none;
  EXPECT_TRUE(has(none, " more") && none.size() < 700) << none;

  tensors.emplace_back("more.weight", filled(7, {1}, 1, 0));
  EXPECT_TRUE(has(error_of([&] { S::load_safetensors(write(tensors), net, {.names = "torch"}); }),
                  "the object has no place for 1 of its tensors: more.weight (more.W)"));
  S::load_safetensors(write(tensors), net, {.strict = false, .names = "torch"});
  std::swap(tensors[0].second, tensors[1].second);
  EXPECT_TRUE(has(error_of([&] { S::load_safetensors(write(tensors), net, {.names = "torch"}); }),
                  "tensor 'conv.weight': the array there has shape (2,), the parameter (2, 1, 3, 3)"));
  tensors.erase(tensors.begin());
  EXPECT_TRUE(has(error_of([&] { S::load_safetensors(write(tensors), net, {.names = "torch"}); }),
                  "there is no tensor 'conv.W' by the names of 'torch'; the file has: conv.bias"));
}

TEST(Names, AFileOfAnotherKindIsNamed) {
  const Folder folder;
  NormalizedNet net;
  S::save_npz(folder / "net.npz", net);
  S::save_safetensors(folder / "net.safetensors", net);
  EXPECT_TRUE(
      has(error_of([&] { S::load_safetensors(folder / "net.npz", net); }), "it is an npz file, which load_npz reads"));
  EXPECT_TRUE(has(error_of([&] { S::load_safetensors(folder / "net.npz", net, {.names = "torch"}); }), "an npz file"));
  EXPECT_TRUE(has(error_of([&] { S::load_npz(folder / "net.safetensors", net); }),
                  "it is a safetensors file, which load_safetensors reads"));
}

/// As in docs/guide/from-pytorch.md: the body's weights, and a new last layer for other classes.
TEST(Torchvision, ANewLastLayerBehindLoadedOnes) {
  const Folder folder;
  io::write_safetensors(folder / "weights.safetensors", Torchvision("resnet18").tensors);
  L::ResNet18Layers net({.classes = 10, .torchvision = true});
  S::load_safetensors(folder / "weights.safetensors", net, {.names = "torchvision"});
  net.fc6 = L::Linear(512, 3);
  EXPECT_EQ(net(photographs(), {"fc6"}).at("fc6").shape(), (ct::Shape{2, 3}));
  S::save_npz(folder / "mine.npz", net);
  L::ResNet18Layers again({.classes = 3, .torchvision = true});
  S::load_npz(folder / "mine.npz", again);
  const auto test = ct::test_mode();
  ct::gradient_check::assert_allclose(again(photographs()).at("prob").array(), net(photographs()).at("prob").array(), 0,
                                      0);
}

}  // namespace
