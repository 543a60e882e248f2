// A hand-written training loop: clear the gradients, forward, backward, update.

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

struct MLP : ct::Chain {
  L::Linear l1, l2;
  MLP() : l1(100), l2(10) {}
  CT_LINKS(l1, l2)
  ct::Variable operator()(const ct::Variable& x) { return l2(F::relu(l1(x))); }
};

void train(const ct::Device& device) {
  device.use();
  MLP model;
  ct::optimizers::SGD optimizer(0.1);
  optimizer.setup(model);
  const auto [train, test] = ct::datasets::get_mnist();
  const ct::iterators::SerialIterator batches(train, 100);
  const ct::iterators::SerialIterator test_batches(test, 100, {.repeat = false, .shuffle = false});

  while (batches.epoch() < 2) {
    const ct::Batch batch = ct::concat_examples(*batches.next(), device);
    model.cleargrads();
    const ct::Variable loss = F::softmax_cross_entropy(model(batch[0]), batch[1]);
    loss.backward();
    optimizer.update();
    if (!batches.is_new_epoch()) continue;

    const auto no_graph = ct::no_backprop_mode();
    const auto testing = ct::test_mode();
    double correct = 0;
    test_batches.reset();
    while (const auto part = test_batches.next()) {
      const ct::Batch columns = ct::concat_examples(*part, device);
      correct += F::accuracy(model(columns[0]), columns[1]).item<double>() * static_cast<double>(part->size);
    }
    fmt::print("epoch {}: loss of the last batch {:.4f}, test accuracy {:.4f}\n", batches.epoch(), loss.item<double>(),
               correct / static_cast<double>(test.size()));
  }
  ct::training::check_finite(model);
}

int main(int argc, char** argv) {
  std::string device = "cpu";
  CLI::App app("Trains a small network on MNIST with a hand-written loop.");
  app.footer("Example: custom_loop -d opencl:0");
  app.add_option("-d,--device", device, "cpu, or a GPU such as opencl:0")->capture_default_str();
  try {
    app.parse(argc, argv);
    train(ct::get_device(device));
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  } catch (const std::exception& error) {
    return ct::command_line::failure("custom_loop", error);
  }
  return 0;
}
