// Trains a multilayer perceptron on MNIST with several processes, as ChainerMN's example does:
//
//     catenary launch -n 4 train_mnist_mn --communicator naive

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

struct MLP : ct::Chain {
  L::Linear l1, l2, l3;
  MLP(int n_units, int n_out) : l1(n_units), l2(n_units), l3(n_out) {}
  CT_LINKS(l1, l2, l3)
  ct::Variable operator()(const ct::Variable& x) { return l3(F::relu(l2(F::relu(l1(x))))); }
};

struct Args {
  std::string communicator = "flat", out = "result", dtype;
  int batchsize = 100, epoch = 20, frequency = 1, unit = 1000, examples = 60000;
  bool gpu = false, ordered = false, prefetch = false;
  std::optional<std::string> resume;
  std::optional<std::uint64_t> seed;
};

void train(const Args& args) {
  const D::Communicator comm = D::create_communicator(args.communicator);
  const bool first = comm.rank() == 0;  // the rank that reads the data and prints
  const ct::Device device = args.gpu ? comm.gpu() : ct::Device();
  device.use();
  if (!args.dtype.empty()) ct::global_config.dtype = ct::precision_from_name(args.dtype);
  if (args.seed) ct::random::seed(*args.seed);
  if (first) {
    const std::string line(42, '=');
    fmt::print(
        "{}\nNum process (COMM_WORLD): {}\n{}Using {} communicator\nNum unit: {}\nNum Minibatch-size: {}\n"
        "Num epoch: {}\n{}\n",
        line, comm.size(), args.gpu ? "Using GPUs\n" : "", comm.name(), args.unit, args.batchsize, args.epoch, line);
    std::fflush(stdout);
  }

  auto model = L::Classifier(MLP(args.unit, 10));
  model.to_device(device);
  auto optimizer = D::create_multi_node_optimizer(ct::optimizers::Adam(), comm);
  optimizer.setup(model);

  // Rank 0 reads all examples and distributes them.
  ct::Dataset train, test;
  if (first) {
    std::tie(train, test) = ct::datasets::get_mnist();
    if (args.examples < train.size()) {
      test = ct::datasets::SubDataset(test, 0, std::max(1, args.examples / 6));
      train = ct::datasets::SubDataset(train, 0, args.examples);
    }
  }
  train = D::scatter_dataset(train, comm, {.shuffle = !args.ordered, .seed = args.seed});
  test = D::scatter_dataset(test, comm, {.shuffle = !args.ordered, .seed = args.seed});

  auto train_iter = ct::iterators::SerialIterator(train, args.batchsize, {.shuffle = !args.ordered});
  auto test_iter = ct::iterators::SerialIterator(test, args.batchsize, {.repeat = false, .shuffle = false});
  auto updater = T::StandardUpdater(train_iter, optimizer, {.device = device, .prefetch = args.prefetch});
  auto trainer = T::Trainer(updater, T::Trigger(args.epoch, "epoch"), args.out);
  auto checkpointer = D::create_multi_node_checkpointer("mnist", comm);
  trainer.extend(checkpointer, {.trigger = T::Trigger(args.frequency, "epoch")});
  trainer.extend(D::create_multi_node_evaluator(X::Evaluator(test_iter, model, {.device = device}), comm));
  trainer.extend(X::FailOnNonNumber());
  if (first) {
    trainer.extend(X::DumpGraph("main/loss"));
    trainer.extend(X::LogReport());
    trainer.extend(X::PrintReport(
        {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
    trainer.extend(X::ProgressBar());
  }
  if (args.resume && !D::create_multi_node_checkpointer("mnist", comm, {.path = *args.resume}).maybe_load(trainer))
    throw ct::ValueError(*args.resume + ": contains no complete set of checkpoints");
  trainer.run();
  T::check_finite(model);
  if (first) ct::serializers::save_npz(args.out + "/model.npz", model);  // all ranks have equal weights
  comm.finalize();
}

int main(int argc, char** argv) {
  Args args;
  CLI::App app("Trains a multilayer perceptron on MNIST with several processes: 784-UNIT-UNIT-10, ReLU and Adam.");
  app.footer("Example: catenary launch -n 4 train_mnist_mn -o result");
  app.add_option("--communicator", args.communicator, "naive, flat, non_cuda_aware, pure_nccl or dummy")
      ->capture_default_str();
  app.add_option("-b,--batchsize", args.batchsize, "Images in each process's minibatch")
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
  app.add_option("-f,--frequency", args.frequency, "Epochs between checkpoints")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-r,--resume", args.resume, "Folder of an earlier run's results: continue from its newest checkpoint");
  app.add_option("-n,--examples", args.examples,
                 "Number of images to train on, taken from the beginning, and a sixth as many for the test")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 60000));
  app.add_flag("--prefetch", args.prefetch, "Prepare the next minibatch in parallel");
  app.add_option("--dtype", args.dtype, "Of parameters: float32, float16, bfloat16, mixed16, mixed_bf16");
  app.add_option("--seed", args.seed, "Seed of the random numbers")
      ->check(ct::command_line::whole_number(0, ~std::uint64_t{0}));
  app.add_flag("--ordered", args.ordered, "Do not shuffle the examples");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  }
  try {
    train(args);
    return 0;
  } catch (const std::exception& e) {
    return ct::command_line::failure("train_mnist_mn", e);
  }
}
