// Trains a multilayer perceptron on MNIST, as Chainer's example does, or a small convolutional network.

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>
#include <catenary/io/npz.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

struct MLP : ct::Chain {
  L::Linear l1, l2, l3;
  MLP(int n_units, int n_out) : l1(n_units), l2(n_units), l3(n_out) {}  // input sizes are found at the first call
  CT_LINKS(l1, l2, l3)                                                  // names come from the identifiers
  ct::Variable operator()(const ct::Variable& x) { return l3(F::relu(l2(F::relu(l1(x))))); }
};

/// For images (1, 28, 28).
struct CNN : ct::Chain {
  L::Convolution2D conv1{32, 3}, conv2{64, 3};
  L::Linear l1{128}, l2;
  explicit CNN(int n_out) : l2(n_out) {}
  CT_LINKS(conv1, conv2, l1, l2)
  ct::Variable operator()(const ct::Variable& x) {
    const ct::Variable h = F::max_pooling_2d(F::relu(conv2(F::relu(conv1(x)))), 2);
    return l2(F::dropout(F::relu(l1(F::dropout(h, 0.25))), 0.5));
  }
};

ct::Model make_model(bool cnn, int unit) { return cnn ? ct::Model(CNN(10)) : ct::Model(MLP(unit, 10)); }

struct Args {
  int batchsize = 100, epoch = 20, frequency = -1, unit = 1000, examples = 60000;
  std::string device = "cpu", out = "result", model = "mlp", dtype;
  std::optional<std::string> resume;
  std::optional<std::uint64_t> seed;
  bool noplot = false, autoload = false, prefetch = false;
};

std::string size_of(bool cnn, int unit) { return cnn ? "# model: cnn" : fmt::format("# unit: {}", unit); }

int train(const Args& args) {
  auto device = ct::get_device(args.device);
  device.use();
  if (!args.dtype.empty()) ct::global_config.dtype = ct::precision_from_name(args.dtype);
  if (args.seed) ct::random::seed(*args.seed);
  const bool cnn = args.model == "cnn";
  fmt::print("Device: {}\n{}\n# Minibatch-size: {}\n# epoch: {}\n\n", device.name(), size_of(cnn, args.unit),
             args.batchsize, args.epoch);
  auto model = L::Classifier(make_model(cnn, args.unit));
  model.to_device(device);
  auto optimizer = ct::optimizers::Adam();
  optimizer.setup(model);
  const auto [all_train, all_test] = ct::datasets::get_mnist({.ndim = cnn ? 3 : 1});
  const auto first = [&](const ct::Dataset& all) -> ct::Dataset {
    if (args.examples == 60000) return all;
    return ct::datasets::SubDataset(all, 0, std::max<std::int64_t>(1, all.size() * args.examples / 60000));
  };
  const ct::Dataset train = first(all_train), test = first(all_test);
  auto train_iter = ct::iterators::SerialIterator(train, args.batchsize);
  auto test_iter = ct::iterators::SerialIterator(test, args.batchsize, {.repeat = false, .shuffle = false});
  auto updater = T::StandardUpdater(train_iter, optimizer, {.device = device, .prefetch = args.prefetch});
  auto trainer = T::Trainer(updater, T::Trigger(args.epoch, "epoch"), args.out);
  trainer.extend(X::Evaluator(test_iter, model, {.device = device}));
  trainer.extend(X::FailOnNonNumber());
  trainer.extend(X::DumpGraph("main/loss"));
  const int frequency = args.frequency < 0 ? args.epoch : std::max(1, args.frequency);
  trainer.extend(X::snapshot({.autoload = args.autoload}), {.trigger = T::Trigger(frequency, "epoch")});
  trainer.extend(X::LogReport());
  if (!args.noplot) {
    trainer.extend(X::PlotReport({"main/loss", "validation/main/loss"}, "epoch", {.filename = "loss.png"}));
    trainer.extend(X::PlotReport({"main/accuracy", "validation/main/accuracy"}, "epoch", {.filename = "accuracy.png"}));
  }
  trainer.extend(X::PrintReport(
      {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
  trainer.extend(X::ProgressBar());
  if (args.resume) ct::serializers::load_npz(*args.resume, trainer);
  trainer.run();
  T::check_finite(model);
  ct::serializers::save_npz(args.out + "/model.npz", model);
  return 0;
}

struct InferenceArgs {
  std::string device = "cpu", snapshot = "result/model.npz";
  int images = 10;
};

/// The prefix of the weights in the file: a trainer's snapshot, a classifier's weights, or the network's.
std::string path_of_weights(const ct::io::NpzReader& file, const std::string& name) {
  for (const char* path : {"updater/model:main/predictor/", "predictor/", ""})
    if (file.contains(std::string(path) + "l1/b")) return path;  // W may be quantised
  throw ct::FileError(name + ": neither a snapshot nor saved weights of train_mnist: it contains no l1/b");
}

int infer(const InferenceArgs& args) {
  auto device = ct::get_device(args.device);
  device.use();
  const ct::io::NpzReader file(args.snapshot);
  const std::string path = path_of_weights(file, args.snapshot);
  const bool cnn = file.contains(path + "conv1/b");
  const int unit = static_cast<int>(file.read_array(path + "l1/b").shape[0]);
  fmt::print("Device: {}\n{}\n\n", device.name(), size_of(cnn, unit));
  const ct::Model model = make_model(cnn, unit);
  ct::serializers::load_npz(args.snapshot, model, path);
  model.link().to_device(device);

  auto no_training = ct::using_config(ct::config.train, false);
  auto no_graph = ct::no_backprop_mode();
  const ct::Dataset test = ct::datasets::get_mnist({.ndim = cnn ? 3 : 1}).second;
  auto batches = ct::iterators::SerialIterator(test, 1000, {.repeat = false, .shuffle = false});
  std::int64_t right = 0, shown = 0;
  while (auto minibatch = batches.next()) {
    const ct::Batch batch = ct::concat_examples(*minibatch, device);
    const auto predicted = ct::argmax(model(batch[0]).array(), 1).to_vector<int>();
    const auto labels = batch[1].array().to_vector<int>();
    for (std::size_t i = 0; i < labels.size(); ++i, ++shown) {
      right += predicted[i] == labels[i];
      if (shown < args.images) fmt::print("image {}: predicted {}, label {}\n", shown, predicted[i], labels[i]);
    }
  }
  fmt::print("accuracy on {} test images: {}\n", test.size(), static_cast<double>(right) / test.size());
  return 0;
}

int main(int argc, char** argv) {
  Args args;
  InferenceArgs inference_args;
  CLI::App app(
      "Trains a network on MNIST: 784-UNIT-UNIT-10 or two convolutions, ReLU, softmax cross entropy and Adam.");
  app.footer("Example: train_mnist -e 3 -o result\n         train_mnist inference -s result/model.npz");
  app.add_option("-m,--model", args.model, "mlp or cnn")
      ->capture_default_str()
      ->check(ct::command_line::one_of({"mlp", "cnn"}));
  app.add_option("-b,--batchsize", args.batchsize, "Images in a minibatch")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-e,--epoch", args.epoch, "Number of passes over the dataset")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-n,--examples", args.examples,
                 "Number of images to train on, taken from the beginning, and a sixth as many for the test")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 60000));
  app.add_option("-f,--frequency", args.frequency, "Epochs between snapshots. -1 for one snapshot at the end")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(-1, 1000000));
  app.add_option("-d,--device", args.device, "cpu, or a GPU such as opencl:0")->capture_default_str();
  app.add_option("-g,--gpu", args.device, "The device as older scripts name it: -1 for the CPU");
  app.add_option("-o,--out", args.out, "Folder for the results")->capture_default_str();
  app.add_option("-r,--resume", args.resume, "A snapshot to continue from");
  app.add_flag("--autoload", args.autoload, "Continue from the newest snapshot in the output folder");
  app.add_option("-u,--unit", args.unit, "Units of a hidden layer of mlp")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("--seed", args.seed, "Seed of the random numbers")
      ->check(ct::command_line::whole_number(0, ~std::uint64_t{0}));
  app.add_option("--dtype", args.dtype, "Of parameters: float32, float16, bfloat16, mixed16, mixed_bf16");
  app.add_flag("--prefetch", args.prefetch, "Prepare the next minibatch in parallel");
  app.add_flag("--noplot", args.noplot, "Do not plot the losses");
  CLI::App* inference = app.add_subcommand("inference", "Predicts the test images with trained weights");
  inference->footer("Example: train_mnist inference -s result/model.npz -n 5");
  inference->add_option("-s,--snapshot", inference_args.snapshot, "A snapshot, or weights saved as npz")
      ->capture_default_str();
  inference->add_option("-n,--images", inference_args.images, "Number of predictions to print")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(0, 1000000));
  inference->add_option("-d,--device", inference_args.device, "cpu, or a GPU such as opencl:0")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  }
  try {
    return inference->parsed() ? infer(inference_args) : train(args);
  } catch (const std::exception& e) {
    return ct::command_line::failure("train_mnist", e);
  }
}
