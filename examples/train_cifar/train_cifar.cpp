// Trains a VGG or a ResNet-18 for images of 32 x 32 pixels on CIFAR-10 or
// CIFAR-100, as Chainer's example does.

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <numbers>

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

/// A 3 x 3 convolution, a normalization, a ReLU.
struct Block : ct::Chain {
  L::Convolution2D conv;
  L::BatchNormalization bn;
  explicit Block(std::int64_t channels) : conv({}, channels, 3, {.pad = 1, .nobias = true}), bn(channels) {}
  CT_LINKS(conv, bn)
  ct::Variable operator()(const ct::Variable& x) const { return F::relu(bn(conv(x))); }
};

/// Five stages of blocks with dropout between them, each ending with a pooling.
struct VGG : ct::Chain {
  std::vector<std::vector<Block>> stages;
  L::Linear fc1, fc2;
  L::BatchNormalization bn_fc1;
  VGG(std::int64_t width, int classes)
      : fc1(8 * width, {.nobias = true}), fc2(classes, {.nobias = true}), bn_fc1(8 * width) {
    for (const auto& [channels, blocks] : {std::pair(width, 2), std::pair(2 * width, 2), std::pair(4 * width, 3),
                                           std::pair(8 * width, 3), std::pair(8 * width, 3)}) {
      std::vector<Block>& stage = stages.emplace_back();
      for (int i = 0; i < blocks; ++i) stage.emplace_back(channels);
    }
  }
  void visit_members(ct::MemberVisitor& visitor) const override {
    for (std::size_t s = 0; s < stages.size(); ++s)
      for (std::size_t i = 0; i < stages[s].size(); ++i)
        visitor(fmt::format("block{}_{}", s + 1, i + 1), const_cast<Block&>(stages[s][i]));
    ct::detail::visit_all(visitor, {"fc1", "bn_fc1", "fc2"}, fc1, bn_fc1, fc2);
  }
  ct::Variable operator()(const ct::Variable& x) const {
    ct::Variable h = x;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      for (std::size_t i = 0; i < stages[s].size(); ++i)
        h = stages[s][i](i == 0 ? h : F::dropout(h, s == 0 ? 0.3 : 0.4));
      h = F::max_pooling_2d(h, 2);
    }
    return fc2(F::dropout(F::relu(bn_fc1(fc1(F::dropout(h, 0.5)))), 0.5));
  }
};

/// Four stages of two blocks after a 3 x 3 convolution.
struct ResNet18 : ct::Chain {
  Block stem;
  std::vector<L::BasicBlock> blocks;
  L::Linear fc;
  ResNet18(std::int64_t width, int classes) : stem(width), fc(classes) {
    std::int64_t in = width;
    for (const std::int64_t out : {width, 2 * width, 4 * width, 8 * width}) {
      blocks.emplace_back(in, out, out == width ? 1 : 2);
      blocks.emplace_back(out, out);
      in = out;
    }
  }
  void visit_members(ct::MemberVisitor& visitor) const override {
    visitor("stem", const_cast<Block&>(stem));
    for (std::size_t i = 0; i < blocks.size(); ++i)
      visitor(fmt::format("block{}", i + 1), const_cast<L::BasicBlock&>(blocks[i]));
    visitor("fc", const_cast<L::Linear&>(fc));
  }
  ct::Variable operator()(const ct::Variable& x) const {
    ct::Variable h = stem(x);
    for (const L::BasicBlock& block : blocks) h = block(h);
    return fc(F::mean(h, {2, 3}));
  }
};

struct Args {
  int batchsize = 64, epoch = 300, width = 64, examples = 50000;
  double learnrate = 0.05;
  std::string device = "cpu", out = "result", dataset = "cifar10", model = "vgg", dtype;
  std::optional<std::string> resume, evaluate;
  std::optional<std::uint64_t> seed;
  std::optional<int> calibrate;
  bool prefetch = false;
};

/// Artificial images of distinguishable classes, used if CIFAR's files are missing: waves with each class's direction,
/// length and colours, at random positions and with noise.
ct::Dataset made_images(std::int64_t n, int classes, std::uint64_t seed) {
  const ct::Array labels = ct::arange(n, ct::Dtype::int32) % classes;
  const ct::Array of = labels.astype(ct::Dtype::float32).reshape({n, 1, 1, 1});
  const ct::Array y = ct::arange(32, ct::Dtype::float32).reshape({1, 1, 32, 1}),
                  x = ct::arange(32, ct::Dtype::float32).reshape({1, 1, 1, 32}),
                  colour = ct::arange(3, ct::Dtype::float32).reshape({1, 3, 1, 1});
  ct::random::seed(seed);
  const auto noise = [](const ct::Shape& shape) {
    return ct::random::standard_normal(shape, {.dtype = ct::Dtype::float32});
  };
  const ct::Array angle = of * (std::numbers::pi / classes), pitch = 0.4 + 0.2 * (of % 3);
  const ct::Array wave =
      ct::sin((x * ct::cos(angle) + y * ct::sin(angle)) * pitch + colour * of + 3 * noise({n, 1, 1, 1}));
  const ct::Array pixels = 0.5 + 0.2 * wave + 0.2 * noise({n, 3, 32, 32});
  return ct::datasets::TupleDataset(pixels.astype(ct::config.dtype).eval(), labels.eval());
}

std::pair<ct::Dataset, ct::Dataset> images(const Args& args, int classes) {
  try {
    return classes == 10 ? ct::datasets::get_cifar10() : ct::datasets::get_cifar100();
  } catch (const ct::FileError& error) {
    fmt::print("{}\nUsing artificial images instead.\n", error.what());
    return {made_images(args.examples, classes, 1), made_images(std::max(args.examples / 5, 1), classes, 2)};
  }
}

int train(const Args& args) {
  if (!args.dtype.empty()) ct::global_config.dtype = ct::precision_from_name(args.dtype);
  auto device = ct::get_device(args.device);
  const int classes = args.dataset == "cifar10" ? 10 : 100;
  fmt::print("Device: {}\n# model: {}\n# Minibatch-size: {}\n# epoch: {}\n", device.name(), args.model, args.batchsize,
             args.epoch);
  const auto [all, test] = images(args, classes);
  fmt::print("\n");
  const auto train = ct::datasets::SubDataset(all, 0, std::min<std::int64_t>(args.examples, all.size()));
  device.use();
  if (args.seed) ct::random::seed(*args.seed);

  auto model = L::Classifier(args.model == "vgg" ? ct::Model(VGG(args.width, classes))
                                                 : ct::Model(ResNet18(args.width, classes)));
  model.to_device(device);
  auto test_iter = ct::iterators::SerialIterator(test, args.batchsize, {.repeat = false, .shuffle = false});
  if (args.evaluate) {
    ct::serializers::load_npz(*args.evaluate, model);
    if (args.calibrate) {
      const auto seen = ct::datasets::SubDataset(all, 0, std::min<std::int64_t>(*args.calibrate, all.size()));
      auto iterator = ct::iterators::SerialIterator(seen, args.batchsize, {.repeat = false, .shuffle = false});
      const auto ranges = L::calibrate(model, [&] { X::Evaluator(iterator, model, {.device = device})(); });
      for (const auto& [path, range] : ranges)
        fmt::print("{}: input from {:.3g} to {:.3g}\n", path, range.low, range.high);
      if (ranges.empty()) throw ct::ValueError(*args.evaluate + " has no convolutions with quantised weights");
    }
    X::Evaluator evaluator(test_iter, model, {.device = device});
    for (const auto& [name, mean] : evaluator()) fmt::print("{}: {:.4f}\n", name, mean);
    return 0;
  }
  auto optimizer = ct::optimizers::MomentumSGD(args.learnrate);
  optimizer.setup(model);
  optimizer.add_hook(ct::optimizer_hooks::WeightDecay(5e-4));
  auto train_iter = ct::iterators::SerialIterator(train, args.batchsize);
  auto trainer = T::Trainer(T::StandardUpdater(train_iter, optimizer, {.device = device, .prefetch = args.prefetch}),
                            T::Trigger(args.epoch, "epoch"), args.out);
  trainer.extend(X::Evaluator(test_iter, model, {.device = device}));
  trainer.extend(X::FailOnNonNumber());
  trainer.extend(X::ExponentialShift("lr", 0.5), {.trigger = T::Trigger(25, "epoch")});
  trainer.extend(X::snapshot(), {.trigger = T::Trigger(args.epoch, "epoch")});
  trainer.extend(X::LogReport());
  trainer.extend(X::PrintReport(
      {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
  trainer.extend(X::ProgressBar());
  if (args.resume) ct::serializers::load_npz(*args.resume, trainer);
  trainer.run();
  T::check_finite(model);
  ct::serializers::save_npz(args.out + "/model.npz", model);
  return 0;
}

int main(int argc, char** argv) {
  Args args;
  CLI::App app("Trains a network on CIFAR-10 or CIFAR-100: softmax cross entropy and SGD with momentum.");
  app.footer("Example: train_cifar -m resnet18 -e 5 -o result");
  app.add_option("--dataset", args.dataset, "cifar10 or cifar100")
      ->capture_default_str()
      ->check(ct::command_line::one_of({"cifar10", "cifar100"}));
  app.add_option("-m,--model", args.model, "vgg or resnet18")
      ->capture_default_str()
      ->check(ct::command_line::one_of({"vgg", "resnet18"}));
  app.add_option("-w,--width", args.width, "Channels of the first layers. Later layers have up to eight times as many")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000));
  app.add_option("-b,--batchsize", args.batchsize, "Images in a minibatch")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-l,--learnrate", args.learnrate, "Learning rate, which is halved every 25 epochs")
      ->capture_default_str()
      ->check(ct::command_line::number(0, INFINITY));
  app.add_option("-e,--epoch", args.epoch, "Number of passes over the dataset")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-n,--examples", args.examples, "Number of images to train on, taken from the beginning")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-d,--device", args.device, "cpu, or a GPU such as opencl:0")->capture_default_str();
  app.add_option("-g,--gpu", args.device, "The device as older scripts name it: -1 for the CPU");
  app.add_option("-o,--out", args.out, "Folder for the results")->capture_default_str();
  app.add_option("-r,--resume", args.resume, "A snapshot to continue from");
  app.add_option("--evaluate", args.evaluate,
                 "Do not train, but show the accuracy of these weights on the test images: model.npz, or its quantised "
                 "form made by `catenary quantize`");
  app.add_option("--calibrate", args.calibrate,
                 "With --evaluate and quantised weights: also round the convolutions' inputs to 8 bits, in ranges "
                 "measured on this many training images")
      ->check(ct::command_line::positive_number())
      ->needs("--evaluate");
  app.add_flag("--prefetch", args.prefetch, "Prepare the next minibatch in parallel");
  app.add_option("--dtype", args.dtype, "Of parameters: float32, float16, bfloat16, mixed16, mixed_bf16");
  app.add_option("--seed", args.seed, "Seed of the random numbers")
      ->check(ct::command_line::whole_number(0, ~std::uint64_t{0}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  }
  try {
    return train(args);
  } catch (const std::exception& e) {
    return ct::command_line::failure("train_cifar", e);
  }
}
