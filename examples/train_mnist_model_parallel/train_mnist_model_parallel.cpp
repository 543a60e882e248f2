// Trains a multilayer perceptron on MNIST whose layers are split over two ranks: the first layer and the loss on one
// rank, the other layers on the other. Four or more ranks form pairs, each with a part of the data. Like ChainerMN's
// examples train_mnist_model_parallel and train_mnist_dual_parallel:
//
//     catenary launch -n 2 train_mnist_model_parallel
//     catenary launch -n 4 train_mnist_model_parallel

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace ct = catenary;
namespace D = ct::distributed;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

ct::Variable relu(const ct::Variable& x) { return F::relu(x); }

// Input sizes are given, because a forward pass to determine them would run on only one rank of a pair.
D::MultiNodeChainList layers(const D::Communicator& pair, int units) {
  D::MultiNodeChainList list(pair);
  if (pair.rank() == 0) {
    ct::Sequential end;  // returns its input
    end.append([](const ct::Variable& y) { return y; });
    list.add_link(ct::Sequential(L::Linear(784, units), relu), {}, {1});
    list.add_link(end, {1});
  } else {
    list.add_link(ct::Sequential(L::Linear(units, units), relu, L::Linear(units, 10)), {0}, {0});
  }
  return list;
}

struct Args {
  std::string communicator = "flat", out = "result";
  int batchsize = 100, epoch = 20, unit = 1000, examples = 60000;
  bool gpu = false;
  std::optional<std::uint64_t> seed;
};

void train(const Args& args) {
  const D::Communicator comm = D::create_communicator(args.communicator);
  if (comm.size() % 2 != 0)
    throw ct::ValueError(
        fmt::format("{} ranks, but the number must be even, because each pair shares a model", comm.size()));
  const int side = comm.rank() % 2;
  const D::Communicator pair = comm.split(comm.rank() / 2, comm.rank());  // the ranks of a model
  const D::Communicator same = comm.split(side, comm.rank());             // the ranks with equal layers
  const ct::Device device = args.gpu ? comm.gpu() : ct::Device();
  device.use();
  if (args.seed) ct::random::seed(*args.seed);
  if (comm.rank() == 0) {
    const std::string line(42, '=');
    fmt::print("{}\nNum process (COMM_WORLD): {}\n{}Num unit: {}\nNum Minibatch-size: {}\nNum epoch: {}\n{}\n", line,
               comm.size(), args.gpu ? "Using GPUs\n" : "", args.unit, args.batchsize, args.epoch, line);
    std::fflush(stdout);
  }

  const D::MultiNodeChainList list = layers(pair, args.unit);
  const ct::Model model = side == 0 ? ct::Model(L::Classifier(list)) : ct::Model(list);
  model.link().to_device(device);
  const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::Adam(), same);
  optimizer.setup(model);

  // The first pair reads the data. The rank with the other layers needs only the number of examples.
  ct::Dataset train, test;
  if (same.rank() == 0) {
    std::tie(train, test) = ct::datasets::get_mnist();
    if (args.examples < train.size()) {
      test = ct::datasets::SubDataset(test, 0, std::max(1, args.examples / 6));
      train = ct::datasets::SubDataset(train, 0, args.examples);
    }
    if (side == 1) {
      train = D::create_empty_dataset(train);
      test = D::create_empty_dataset(test);
    }
  }
  train = D::scatter_dataset(train, same, {.shuffle = true, .seed = args.seed});
  test = D::scatter_dataset(test, same, {.shuffle = true, .seed = args.seed});

  const auto train_iter = ct::iterators::SerialIterator(train, args.batchsize, {.shuffle = false});
  const auto test_iter = ct::iterators::SerialIterator(test, args.batchsize, {.repeat = false, .shuffle = false});
  auto trainer = T::Trainer(T::StandardUpdater(train_iter, optimizer, {.device = device}),
                            T::Trigger(args.epoch, "epoch"), args.out);
  trainer.extend(D::create_multi_node_evaluator(X::Evaluator(test_iter, model, {.device = device}), same));
  trainer.extend(X::FailOnNonNumber());
  if (comm.rank() == 0) {
    trainer.extend(X::DumpGraph("main/loss"));
    trainer.extend(X::LogReport());
    trainer.extend(X::PrintReport(
        {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
    trainer.extend(X::ProgressBar());
  }
  trainer.run();
  T::check_finite(model);
  comm.finalize();
}

int main(int argc, char** argv) {
  Args args;
  CLI::App app(
      "Trains a multilayer perceptron on MNIST, 784-UNIT-UNIT-10, whose layers are split over two processes. Four or "
      "more processes form pairs.");
  app.footer("Example: catenary launch -n 2 train_mnist_model_parallel");
  app.add_option("--communicator", args.communicator, "naive, flat, non_cuda_aware or dummy")->capture_default_str();
  app.add_option("-b,--batchsize", args.batchsize, "Images in each pair's minibatch")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-e,--epoch", args.epoch, "Number of passes over the dataset")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-u,--unit", args.unit, "Units of a hidden layer")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_flag("-g,--gpu", args.gpu, "Use GPUs: each process takes the GPU of its number on its machine");
  app.add_option("-o,--out", args.out, "Folder for the results")->capture_default_str();
  app.add_option("-n,--examples", args.examples,
                 "Number of images to train on, taken from the beginning, and a sixth as many for the test")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 60000));
  app.add_option("--seed", args.seed, "Seed of the random numbers")
      ->check(ct::command_line::whole_number(0, ~std::uint64_t{0}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  }
  try {
    train(args);
    return 0;
  } catch (const std::exception& e) {
    return ct::command_line::failure("train_mnist_model_parallel", e);
  }
}
