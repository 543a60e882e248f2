// Trains six large layers on MNIST, in 32 or in 16 bits, to compare accuracy and speed.

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

struct Deep : ct::Chain {
  std::vector<L::Linear> hidden;
  L::Linear last{10};
  Deep(int layers, int units) {
    for (int i = 0; i < layers; ++i) hidden.emplace_back(units);
  }
  CT_LINKS(hidden, last)
  ct::Variable operator()(const ct::Variable& x) {
    ct::Variable h = x;
    for (const L::Linear& layer : hidden) h = F::relu(layer(h));
    return last(h);
  }
};

struct Args {
  int batchsize = 4096, epoch = 20, unit = 4096, layers = 5;
  std::string device = "cpu", out = "result", optimizer = "sgd", dtype;
  std::optional<std::uint64_t> seed;
  bool pure = false, prefetch = false;
};

ct::Optimizer make_optimizer(const std::string& name) {
  if (name == "adam") return ct::optimizers::Adam();
  return ct::optimizers::SGD();
}

int train(const Args& args) {
  if (!args.dtype.empty()) ct::global_config.dtype = ct::precision_from_name(args.dtype);
  const auto device = ct::get_device(args.device);
  device.use();
  if (args.seed) ct::random::seed(*args.seed);
  fmt::print("Device: {}\n# units: 784-{}x{}-10\n# dtype: {}{}\n# Minibatch-size: {}\n# epoch: {}\n\n", device.name(),
             args.unit, args.layers, ct::precision_name(ct::config.dtype.value()), args.pure ? " only" : "",
             args.batchsize, args.epoch);
  auto model = L::Classifier(Deep(args.layers, args.unit));
  model.to_device(device);
  const ct::Optimizer optimizer = make_optimizer(args.optimizer);
  optimizer.setup(model);
  if (args.pure) {
    optimizer.use_fp32_update(false);
    optimizer.set_loss_scale(1);
  }
  const auto [train, test] = ct::datasets::get_mnist();
  auto train_iter = ct::iterators::SerialIterator(train, args.batchsize);
  auto test_iter = ct::iterators::SerialIterator(test, args.batchsize, {.repeat = false, .shuffle = false});
  auto trainer = T::Trainer(T::StandardUpdater(train_iter, optimizer, {.device = device, .prefetch = args.prefetch}),
                            T::Trigger(args.epoch, "epoch"), args.out);
  trainer.extend(X::Evaluator(test_iter, model, {.device = device}));
  trainer.extend(X::FailOnNonNumber());
  trainer.extend(X::LogReport());
  trainer.extend(X::PrintReport(
      {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
  trainer.extend(X::ProgressBar());
  trainer.run();
  T::check_finite(model);
  ct::serializers::save_npz(args.out + "/model.npz", model);
  return 0;
}

int main(int argc, char** argv) {
  Args args;
  CLI::App app("Trains 784-UNITxLAYERS-10 with ReLU on MNIST, in 32 or in 16 bits.");
  app.footer("Example: train_mnist_deep -u 512 --dtype mixed16");
  const auto positive = ct::command_line::whole_number(1, 1000000);
  app.add_option("-b,--batchsize", args.batchsize, "Images in a minibatch")->capture_default_str()->check(positive);
  app.add_option("-e,--epoch", args.epoch, "Number of passes over the dataset")->capture_default_str()->check(positive);
  app.add_option("-u,--unit", args.unit, "Units of a hidden layer")->capture_default_str()->check(positive);
  app.add_option("-l,--layers", args.layers, "Number of hidden layers")->capture_default_str()->check(positive);
  app.add_option("--optimizer", args.optimizer, "sgd (learning rate 0.01) or adam (learning rate 0.001)")
      ->capture_default_str()
      ->check(ct::command_line::one_of({"sgd", "adam"}));
  app.add_option("--dtype", args.dtype, "Of parameters: float32, float16, bfloat16, mixed16, mixed_bf16");
  app.add_flag("--pure", args.pure, "Only 16 bits: without float32 copies of the parameters, without a loss scale");
  app.add_flag("--prefetch", args.prefetch, "Prepare the next minibatch in parallel");
  app.add_option("-d,--device", args.device, "cpu, or a GPU such as opencl:0")->capture_default_str();
  app.add_option("-o,--out", args.out, "Folder for the results")->capture_default_str();
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
    return ct::command_line::failure("train_mnist_deep", e);
  }
}
