// Trains a classifier on a table of your own: numbers in all columns but one, which holds the class.

#include <catenary/catenary.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace ct = catenary;
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

int train(const std::string& file, const std::string& label, int epochs, int units, const std::string& out) {
  const ct::datasets::CsvDataset table(file, label);
  const auto classes = static_cast<int>(table.class_names().size());
  fmt::print("{} rows, {} columns, {} classes: {}\n\n", table.size(), table.feature_names().size(), classes,
             fmt::join(table.class_names(), ", "));
  // each column gets mean 0 and standard deviation 1
  const ct::Array& x = table.features();
  const ct::Array scaled = (x - ct::mean(x, 0)) / (ct::std(x, 0) + 1e-12);
  const auto [training, test] = ct::datasets::split_dataset_random(
      ct::datasets::TupleDataset(scaled.eval(), table.labels()), table.size() * 4 / 5, 0);

  auto model = L::Classifier(MLP(units, classes));
  auto optimizer = ct::optimizers::Adam();
  optimizer.setup(model);
  const ct::iterators::SerialIterator batches(training, std::min<std::int64_t>(32, training.size()));
  const ct::iterators::SerialIterator test_batches(test, 100, {.repeat = false, .shuffle = false});
  T::Trainer trainer(T::StandardUpdater(batches, optimizer), T::Trigger(epochs, "epoch"), out);
  trainer.extend(X::Evaluator(test_batches, model));
  trainer.extend(X::LogReport());
  trainer.extend(
      X::PrintReport({"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy"}));
  trainer.run();
  ct::serializers::save_npz(out + "/model.npz", model);
  fmt::print("\nThe weights are in {}/model.npz\n", out);
  return 0;
}

int main(int argc, char** argv) {
  std::string file, label, out = "result";
  int epochs = 20, units = 64;
  CLI::App app(
      "Trains a classifier on a CSV file with a header: every column is a number but LABEL, which is the class.");
  app.add_option("FILE", file, "The table")->required();
  app.add_option("LABEL", label, "Name of the column that holds the class")->required();
  app.add_option("-e,--epoch", epochs, "Sweeps over the table")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("-u,--unit", units, "Units of a hidden layer")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("-o,--out", out, "Folder for the results")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return train(file, label, epochs, units, out);
  } catch (const std::exception& e) {
    fmt::print(stderr, "train_csv: {}\n", e.what());
    return 1;
  }
}
