// A training loop by hand: clear the gradients, forward, backward, update.

#include <catenary/catenary.h>
#include <fmt/format.h>

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

struct MLP : ct::Chain {
  L::Linear l1, l2;
  MLP() : l1(100), l2(10) {}
  CT_LINKS(l1, l2)
  ct::Variable operator()(const ct::Variable& x) { return l2(F::relu(l1(x))); }
};

int main() {
  MLP model;
  ct::optimizers::SGD optimizer(0.1);
  optimizer.setup(model);
  const auto [train, test] = ct::datasets::get_mnist();
  const ct::iterators::SerialIterator batches(train, 100);
  const ct::iterators::SerialIterator test_batches(test, 100, {.repeat = false, .shuffle = false});

  while (batches.epoch() < 2) {
    const ct::Batch batch = ct::concat_examples(*batches.next());
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
      const ct::Batch columns = ct::concat_examples(*part);
      correct += F::accuracy(model(columns[0]), columns[1]).item<double>() * static_cast<double>(part->size);
    }
    fmt::print("epoch {}: loss of the last batch {:.4f}, test accuracy {:.4f}\n", batches.epoch(), loss.item<double>(),
               correct / static_cast<double>(test.size()));
  }
  return 0;
}
