// Uses two devices in three ways: a model split in two, batches split in two by ParallelUpdater, and batches split by
// hand.

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

struct MLP : ct::Chain {
  L::Linear l1, l2, l3;
  MLP(int n_units, int n_out) : l1(784, n_units), l2(n_units, n_units), l3(n_units, n_out) {}
  CT_LINKS(l1, l2, l3)
  ct::Variable operator()(const ct::Variable& x) { return l3(F::relu(l2(F::relu(l1(x))))); }
};

/// Two MLPs of 6 layers on two devices: the first runs on `first`, the two halves of the middle layers exchange their
/// results, and the output returns to `first`. (Chainer's guide, "Model-parallel computation on multiple GPUs")
struct ParallelMLP : ct::Chain {
  MLP mlp1_first, mlp1_second;
  L::Linear l1_first, l1_second, l2;
  ct::Device first, second;
  ParallelMLP(int n_units, int n_out, const ct::Device& a, const ct::Device& b)
      : mlp1_first(n_units, n_units / 2),
        mlp1_second(n_units, n_units / 2),
        l1_first(n_units / 2, n_units / 2),
        l1_second(n_units / 2, n_units / 2),
        l2(n_units / 2, n_out),
        first(a),
        second(b) {
    mlp1_first.to_device(a);
    l1_first.to_device(a);
    l2.to_device(a);
    mlp1_second.to_device(b);
    l1_second.to_device(b);
  }
  CT_LINKS(mlp1_first, mlp1_second, l1_first, l1_second, l2)
  ct::Variable operator()(const ct::Variable& x) {
    const ct::Variable z_first = mlp1_first(x), z_second = mlp1_second(F::copy(x, second));
    const ct::Variable h_first = F::relu(z_first + F::copy(z_second, first));
    const ct::Variable h_second = F::relu(z_second + F::copy(z_first, second));
    return l2(F::relu(l1_first(h_first) + F::copy(l1_second(h_second), first)));
  }
};

struct Options {
  std::string mode = "data", first = "gpu:0", second = "gpu:1", out = "result";
  int batchsize = 400, epochs = 1, units = 1000, iterations = 0;
};

/// Trains with a hand-written loop: each device computes the gradients of half a batch.
void train_by_loop(const Options& o, const ct::Device& first, const ct::Device& second) {
  const auto train = ct::datasets::get_mnist().first;
  auto train_iter = ct::iterators::SerialIterator(train, o.batchsize);
  auto optimizer = ct::optimizers::Adam();
  auto model = L::Classifier(MLP(o.units, 10));
  auto other = ct::copy_link(model, ct::CopyMode::copy);
  model.to_device(first);
  other.to_device(second);
  optimizer.setup(model);
  double sum = 0;
  int count = 0;
  while (o.iterations ? count < o.iterations : train_iter.epoch() < o.epochs) {
    const auto batch = train_iter.next();
    const ct::Batch x0 = ct::concat_examples(batch->every(0, 2), first),
                    x1 = ct::concat_examples(batch->every(1, 2), second);
    model.cleargrads();
    other.cleargrads();
    const ct::Variable loss0 = model(x0[0], x0[1]), loss1 = other(x1[0], x1[1]);
    loss0.backward();
    loss1.backward();
    model.addgrads(other);
    optimizer.update();
    other.copyparams(model);
    sum += (loss0.array().item<float>() + loss1.array().item<float>()) / 2;
    if (++count % 50 == 0) std::printf("%6d batches, mean loss %.6f\n", count, sum / count);
  }
  T::check_finite(model);
  std::printf("mean loss %.6f\n", sum / count);
}

/// Trains with a trainer: by ParallelUpdater, or a model whose halves are on the two devices.
void train_by_trainer(const Options& o, const ct::Device& first, const ct::Device& second) {
  auto [train, test] = ct::datasets::get_mnist();
  auto train_iter = ct::iterators::SerialIterator(train, o.batchsize);
  auto test_iter = ct::iterators::SerialIterator(test, o.batchsize, {.repeat = false, .shuffle = false});
  auto optimizer = ct::optimizers::Adam();
  const bool halves = o.mode == "model";
  const ct::Model model = halves ? ct::Model(L::Classifier(ParallelMLP(o.units, 10, first, second)))
                                 : ct::Model(L::Classifier(MLP(o.units, 10)));
  optimizer.setup(model);
  if (!halves) model.link().to_device(first);
  ct::training::Converter to_first = [first](const ct::Minibatch& batch, const std::optional<ct::Device>&) {
    return ct::concat_examples(batch, first);
  };
  const T::Updater updater =
      halves ? T::Updater(T::StandardUpdater(train_iter, optimizer, {.converter = to_first}))
             : T::Updater(T::ParallelUpdater(train_iter, optimizer, {{"main", first}, {"second", second}}));
  const T::Trigger stop = o.iterations ? T::Trigger(o.iterations, "iteration") : T::Trigger(o.epochs, "epoch");
  auto trainer = T::Trainer(updater, stop, o.out);
  trainer.extend(X::Evaluator(test_iter, model, {.converter = to_first}), {.trigger = stop});
  trainer.extend(X::FailOnNonNumber());
  trainer.extend(X::LogReport(X::LogReportOptions{.trigger = stop}));
  trainer.extend(X::PrintReport({"epoch", "iteration", "main/loss", "validation/main/loss", "main/accuracy",
                                 "validation/main/accuracy", "elapsed_time"}));
  trainer.extend(X::ProgressBar());
  trainer.run();
  T::check_finite(model);
}

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Trains MNIST on two devices.");
  app.footer("Example: multi_gpu data -0 gpu:0 -1 gpu:1 -e 3");
  app.add_option("mode", o.mode,
                 "model (split over two devices), data (ParallelUpdater) or loop (data, with a hand-written loop)")
      ->check(ct::command_line::one_of({"model", "data", "loop"}))
      ->capture_default_str();
  app.add_option("-0,--first", o.first, "First device")->capture_default_str();
  app.add_option("-1,--second", o.second, "Second device, which may equal the first")->capture_default_str();
  app.add_option("-b,--batchsize", o.batchsize, "Images in a batch, for both devices together")
      ->check(ct::command_line::whole_number(2, 60000))
      ->capture_default_str();
  app.add_option("-e,--epoch", o.epochs, "Epochs")
      ->check(ct::command_line::whole_number(1, 1000000))
      ->capture_default_str();
  app.add_option("-i,--iterations", o.iterations, "Stop after this many batches instead")
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-u,--unit", o.units, "Units of a layer")
      ->check(ct::command_line::whole_number(2, 100000))
      ->capture_default_str();
  app.add_option("-o,--out", o.out, "Folder for the log")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  }
  try {
    const ct::Device first = ct::get_device(o.first), second = ct::get_device(o.second);
    std::printf("Devices: %s, %s\n# mode: %s\n# Minibatch-size: %d\n\n", first.name().c_str(), second.name().c_str(),
                o.mode.c_str(), o.batchsize);
    ct::random::seed(0);
    (o.mode == "loop" ? train_by_loop : train_by_trainer)(o, first, second);
  } catch (const std::exception& error) {
    return ct::command_line::failure("multi_gpu", error);
  }
  return 0;
}
