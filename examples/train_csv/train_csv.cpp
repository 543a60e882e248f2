// Trains a classifier on a table of your own: numbers in all columns but one, which holds the class.

#include <catenary/catenary.h>
#include <catenary/core/os/file.h>
#include <catenary/io/npz.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <sstream>

namespace ct = catenary;
namespace D = ct::datasets;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

struct MLP : ct::Chain {
  L::Linear l1, l2, l3;
  ct::Persistent mean, std;  // of the columns; saved with the weights, so that new tables are scaled alike
  MLP(int n_units, int n_out) : l1(n_units), l2(n_units), l3(n_out) {}
  CT_LINKS(l1, l2, l3, mean, std)
  ct::Variable operator()(const ct::Variable& x) {
    return l3(F::relu(l2(F::relu(l1((x - mean.array()) / std.array())))));
  }
};

struct Args {
  std::string file, label, device = "cpu", out = "result", predict;
  int epochs = 20, units = 64;
  std::uint64_t seed = 0;
  char delimiter = ',';
  std::optional<double> missing;
};

void write_lines(const std::string& path, const std::vector<std::string>& lines) {
  ct::os::write_file(path, fmt::format("{}\n", fmt::join(lines, "\n")));
}

std::vector<std::string> read_lines(const std::string& path) {
  const auto bytes = ct::os::read_file(path);
  std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// As it stands in a CSV file.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// Names in quotes; of many the first ten.
std::string listed(const std::vector<std::string>& names) {
  const std::vector<std::string> first(names.begin(), names.begin() + std::min<std::ptrdiff_t>(10, std::ssize(names)));
  return fmt::format("'{}'{}", fmt::join(first, "', '"), first.size() < names.size() ? ", …" : "");
}

int train(const Args& args) {
  const ct::Device device = ct::get_device(args.device);
  ct::random::seed(args.seed);
  const D::CsvDataset table(args.file, args.label, {.missing = args.missing, .delimiter = args.delimiter});
  const auto classes = static_cast<int>(table.class_names().size());
  fmt::print("{} rows, {} columns, {} classes: {}\n\n", table.size(), table.feature_names().size(), classes,
             listed(table.class_names()));
  if (classes < 2 || classes > table.size() / 2)
    throw ct::ValueError(fmt::format(
        "{}: the {} rows of the column '{}' hold {} different values; expected classes: at least two, of several rows "
        "each (docs/tutorial.md tells how to learn numbers)",
        args.file, table.size(), args.label, classes));
  const auto [training, test] = D::split_dataset_random(table, table.size() * 4 / 5, args.seed);

  MLP mlp(args.units, classes);
  mlp.mean = ct::mean(table.features(), 0).eval();
  mlp.std = (ct::std(table.features(), 0) + 1e-12).eval();
  auto model = L::Classifier(mlp);
  model.to_device(device);
  auto optimizer = ct::optimizers::Adam();
  optimizer.setup(model);
  const ct::iterators::SerialIterator batches(training, std::min<std::int64_t>(32, training.size()));
  const ct::iterators::SerialIterator test_batches(test, 100, {.repeat = false, .shuffle = false});
  T::Trainer trainer(T::StandardUpdater(batches, optimizer, {.device = device}), T::Trigger(args.epochs, "epoch"),
                     args.out);
  trainer.extend(X::Evaluator(test_batches, model, {.device = device}));
  trainer.extend(X::LogReport());
  trainer.extend(
      X::PrintReport({"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy"}));
  trainer.run();
  ct::serializers::save_npz(args.out + "/model.npz", model);
  write_lines(args.out + "/columns.txt", table.feature_names());
  write_lines(args.out + "/classes.txt", table.class_names());
  fmt::print("\nThe weights are in {0}/model.npz; train_csv -o {0} --predict FILE uses them\n", args.out);
  return 0;
}

int predict(const Args& args) {
  if (!ct::os::exists(args.out + "/columns.txt"))
    throw ct::FileError(args.out + ": train_csv has left nothing here (columns.txt is missing); -o names its folder");
  const std::vector<std::string> classes = read_lines(args.out + "/classes.txt");
  const std::string file = args.out + "/model.npz";
  const auto units = static_cast<int>(ct::io::NpzReader(file).read_array("predictor/l1/W").shape[0]);
  MLP model(units, static_cast<int>(classes.size()));
  ct::serializers::load_npz(file, model, "predictor/");
  const D::CsvDataset table(
      args.predict, "",
      {.features = read_lines(args.out + "/columns.txt"), .missing = args.missing, .delimiter = args.delimiter});
  const ct::Array p = F::softmax(model(table.features())).array();
  const auto best = ct::argmax(p, 1).to_vector<std::size_t>();
  const auto probability = ct::max(p, 1).to_vector<double>();
  fmt::print("class,probability\n");
  for (std::size_t i = 0; i < best.size(); ++i) fmt::print("{},{:.4f}\n", field(classes[best[i]]), probability[i]);
  return 0;
}

int main(int argc, char** argv) {
  Args args;
  CLI::App app(
      "Trains a classifier on a CSV file with a header: every column is a number but LABEL, which is the class.");
  app.add_option("FILE", args.file, "The table; not needed with --predict");
  app.add_option("LABEL", args.label, "Name of the column that holds the class");
  app.add_option("-e,--epoch", args.epochs, "Sweeps over the table")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000, "POSITIVE"));
  app.add_option("-u,--unit", args.units, "Units of a hidden layer")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000, "POSITIVE"));
  app.add_option("--delimiter", args.delimiter, "What separates the fields")->capture_default_str();
  app.add_option("-m,--missing", args.missing, "Stands for empty fields, which are an error without it");
  app.add_option("-d,--device", args.device, "Where it is trained: cpu, or a GPU such as opencl:0")
      ->capture_default_str();
  app.add_option("--seed", args.seed, "Seed of the random numbers")->capture_default_str();
  app.add_option("-o,--out", args.out, "Folder for the results")->capture_default_str();
  app.add_option("-p,--predict", args.predict,
                 "Predicts the classes of this table's rows with what was trained before");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (args.predict.empty() ? args.label.empty() : !args.file.empty()) {
    fmt::print(stderr,
               "train_csv: name the table and its column of classes, or --predict and a table; --help tells more\n");
    return 2;
  }
  try {
    return args.predict.empty() ? train(args) : predict(args);
  } catch (const std::exception& e) {
    fmt::print(stderr, "train_csv: {}\n", e.what());
    return 1;
  }
}
