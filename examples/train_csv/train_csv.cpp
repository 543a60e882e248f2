// Trains a network on your table: predicts one column, a class or a number, from the numbers in the other columns.

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>
#include <catenary/core/os/file.h>
#include <catenary/io/csv.h>
#include <catenary/io/npz.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>

namespace ct = catenary;
namespace D = ct::datasets;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

struct MLP : ct::Chain {
  L::Linear l1, l2, l3;
  ct::Persistent mean, std;  // of the columns, saved with the weights to scale new tables equally
  MLP(int n_units, int n_out) : l1(n_units), l2(n_units), l3(n_out) {}
  CT_LINKS(l1, l2, l3, mean, std)
  ct::Variable operator()(const ct::Variable& x) {
    return l3(F::relu(l2(F::relu(l1((x - mean.array()) / std.array())))));
  }
};

struct Args {
  std::string file, label, device = "cpu", out = "result", resume, predict;
  std::vector<std::string> ignore, missing_words;
  int epochs = 20, units = 64;
  std::uint64_t seed = 0;
  std::string delimiter = ",";
  std::optional<double> missing;
  bool regression = false;
};

/// How the table was read. Saved with the weights, so that other tables are read in the same way.
struct Reading {
  std::string label = {};
  std::vector<std::string> columns = {}, classes = {}, missing_words = D::CsvDatasetOptions().missing_words;
  std::optional<double> missing = {};
  double mean = 0, std = 1;  // of a numeric label, without classes

  void serialize(ct::Serializer& s) {
    s("label", label);
    s("columns", columns);
    s("classes", classes);
    s("missing_words", missing_words);
    s("missing", missing);
    s("mean", mean);
    s("std", std);
  }
  /// Options on the command line replace saved ones.
  void take(const Args& args) {
    missing_words.insert(missing_words.end(), args.missing_words.begin(), args.missing_words.end());
    if (args.missing) missing = args.missing;
  }
};

/// The content of model.npz.
struct Saved {
  L::Classifier& model;
  Reading& reading;
  void serialize(ct::Serializer& s) {
    model.serialize(s);
    ct::Serializer table = s["table"];
    reading.serialize(table);
  }
};

/// Names in quotes, at most the first ten.
std::string listed(const std::vector<std::string>& names) {
  const std::vector<std::string> first(names.begin(), names.begin() + std::min<std::ptrdiff_t>(10, std::ssize(names)));
  return fmt::format("'{}'{}", fmt::join(first, "', '"), first.size() < names.size() ? ", …" : "");
}

/// Standard deviations of the columns, used as divisors: 1 for constant columns.
ct::Array scale_of(const ct::Array& x) {
  const ct::Array deviation = ct::std(x, 0);
  return ct::where(deviation > 1e-7 * ct::abs(ct::mean(x, 0)), deviation, 1.0);
}

/// Returns the examples of a regression, whose labels are scaled to mean 0 and standard deviation 1.
ct::Dataset scaled_examples(const D::CsvDataset& table, Reading& reading, const Args& args) {
  const ct::Array t = table.labels().astype(ct::Dtype::float64);
  reading.mean = ct::mean(t).item<double>();
  reading.std = scale_of(t).item<double>();
  fmt::print("{} rows, {} columns; {} is {:g} to {:g}\n\n", table.size(), reading.columns.size(), listed({args.label}),
             ct::min(t).item<double>(), ct::max(t).item<double>());
  if (table.size() < 2) throw ct::ValueError(args.file + ": one row; a fifth of the rows is kept for validation");
  return D::TupleDataset(table.features(), ((t - reading.mean) / reading.std).astype(ct::Dtype::float32).eval());
}

/// Prints the classes. Throws ValueError if they cannot be learned.
void check_classes(const D::CsvDataset& table, const Reading& reading, const Args& args) {
  const auto classes = static_cast<std::int64_t>(reading.classes.size());
  fmt::print("{} rows, {} columns, {} classes: {}\n\n", table.size(), reading.columns.size(), classes,
             listed(reading.classes));
  if (classes < 2 || classes > table.size() / 2)
    throw ct::ValueError(fmt::format(
        "{}: the {} rows of the column '{}' hold {} different values; expected classes: at least two, of several "
        "rows each (--regression learns numbers)",
        args.file, table.size(), args.label, classes));
}

/// Trains, and saves the model, also if Ctrl-C interrupts.
void run(T::Trainer& trainer, L::Classifier& model, Reading& reading, const Args& args) {
  const auto save = [&] {
    T::check_finite(model);
    ct::serializers::save_npz(args.out + "/model.npz", Saved{model, reading});
    fmt::print("\nThe weights are in {0}/model.npz; train_csv -o {0} --predict FILE uses them\n", args.out);
  };
  try {
    trainer.run(false);
  } catch (const T::Interrupted&) {
    save();
    throw;
  }
  save();
}

int train(const Args& args) {
  const ct::Device device = ct::get_device(args.device);
  ct::random::seed(args.seed);
  Reading reading{.label = args.label};
  reading.take(args);
  const D::CsvDataset table(args.file, args.label,
                            {.ignore = args.ignore,
                             .classes = !args.regression,
                             .missing = reading.missing,
                             .missing_words = reading.missing_words,
                             .delimiter = args.delimiter[0]});
  reading.columns = table.feature_names();
  reading.classes = table.class_names();
  if (!args.regression) check_classes(table, reading, args);
  const ct::Dataset examples = args.regression ? scaled_examples(table, reading, args) : ct::Dataset(table);
  const auto [training, test] = D::split_dataset_random(examples, table.size() * 4 / 5, args.seed);

  MLP mlp(args.units, args.regression ? 1 : static_cast<int>(reading.classes.size()));
  const ct::Array x = table.features().astype(ct::Dtype::float64);
  const ct::Array mean = ct::mean(x, 0).astype(ct::Dtype::float32).eval(),
                  std = scale_of(x).astype(ct::Dtype::float32).eval();
  mlp.mean = mean.copy();
  mlp.std = std.copy();
  auto model = L::Classifier(mlp, args.regression ? L::LossFunction(F::mean_squared_error) : L::LossFunction());
  model.compute_accuracy = !args.regression;
  model.to_device(device);
  auto optimizer = ct::optimizers::Adam();
  optimizer.setup(model);

  // ends training if a loss is not finite, and names the lines of the table that cause it
  const T::FiniteLoss loss(model, examples, [&](std::int64_t i) { return fmt::format("line {}", table.line(i)); });
  const ct::iterators::SerialIterator batches(training, std::min<std::int64_t>(32, training.size()));
  const ct::iterators::SerialIterator test_batches(test, 100, {.repeat = false, .shuffle = false});
  T::Trainer trainer(T::StandardUpdater(batches, optimizer, {.device = device, .loss = loss}),
                     T::Trigger(args.epochs, "epoch"), args.out);
  trainer.extend(X::Evaluator(test_batches, model, {.device = device, .eval_func = loss}));
  // ten times in total: an epoch of a small table takes less time than a snapshot
  trainer.extend(X::snapshot({.n_retains = 1}), {.trigger = T::Trigger(std::max(1, args.epochs / 10), "epoch")});
  trainer.extend(X::LogReport());
  std::vector<std::string> columns = {"epoch", "main/loss", "validation/main/loss"};
  if (!args.regression) columns.insert(columns.end(), {"main/accuracy", "validation/main/accuracy"});
  trainer.extend(X::PrintReport(columns));
  if (!args.resume.empty()) {
    ct::serializers::load_npz(args.resume, trainer);
    const auto same = [](const ct::Persistent& a, const ct::Array& b) {
      return ct::array_equal(a.array().to_device(ct::Device()), b);
    };
    if (!same(mlp.mean, mean) || !same(mlp.std, std))
      throw ct::ValueError(args.resume + ": the snapshot of another table, or with other options");
  }
  run(trainer, model, reading, args);
  return 0;
}

int predict(const Args& args) {
  const std::string file = args.out + "/model.npz";
  if (!ct::os::exists(file))
    throw ct::FileError(args.out + ": there is no model of train_csv (model.npz is missing); name its folder with -o");
  if (!ct::io::NpzReader(file).contains("table/columns"))
    throw ct::FileError(file + ": not a model of train_csv; name the folder of one with -o");
  Reading reading;
  ct::serializers::load_npz(file, reading, "table/");
  reading.take(args);
  const auto units = static_cast<int>(ct::io::NpzReader(file).read_array("predictor/l1/W").shape[0]);
  MLP model(units, reading.classes.empty() ? 1 : static_cast<int>(reading.classes.size()));
  ct::serializers::load_npz(file, model, "predictor/");
  const ct::Device device = ct::get_device(args.device);
  model.to_device(device);
  const D::CsvDataset table(args.predict, "",
                            {.features = reading.columns,
                             .missing = reading.missing,
                             .missing_words = reading.missing_words,
                             .delimiter = args.delimiter[0]});
  const auto scope = ct::test_mode();
  const ct::Array y = model(table.features().to_device(device)).array();
  if (reading.classes.empty()) {
    fmt::print("{}\n", ct::io::csv_field(reading.label));
    for (const double value : y.to_vector<double>()) fmt::print("{:.6g}\n", value * reading.std + reading.mean);
    return 0;
  }
  const ct::Array p = F::softmax(y).array();
  const auto best = ct::argmax(p, 1).to_vector<std::size_t>();
  const auto probability = ct::max(p, 1).to_vector<double>();
  fmt::print("class,probability\n");
  for (std::size_t i = 0; i < best.size(); ++i)
    fmt::print("{},{:.4f}\n", ct::io::csv_field(reading.classes[best[i]]), probability[i]);
  return 0;
}

/// Accepts the usual spellings of a tab, which is difficult to type in a shell.
bool is_tab(const std::string& word) { return word == "tab" || word == "\\t"; }

int main(int argc, char** argv) {
  Args args;
  CLI::App app("Trains a network on a CSV file with a header: predicts LABEL from the numbers in the other columns.");
  app.footer("Example: train_csv flowers.csv species -o flowers\n         train_csv -o flowers --predict new.csv");
  app.add_option("FILE", args.file, "The table. Not needed with --predict");
  app.add_option("LABEL", args.label, "Name of the column to predict");
  app.add_flag("--regression", args.regression, "LABEL contains numbers, not classes");
  app.add_option("--ignore", args.ignore, "A column to ignore, such as a name. May be repeated")
      ->allow_extra_args(false);
  app.add_option("-e,--epoch", args.epochs, "Number of passes over the table")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-u,--unit", args.units, "Units of a hidden layer")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("--delimiter", args.delimiter, "Separator of the fields: one character, or tab")
      ->capture_default_str()
      ->check(ct::command_line::Check{[](const std::string& value) {
                                        return value.size() == 1 || is_tab(value)
                                                   ? ""
                                                   : "expected one character, or tab, got '" + value + "'";
                                      },
                                      "CHARACTER"});
  app.add_option("-m,--missing", args.missing,
                 "Replaces missing numbers, which are an error otherwise. Saved for --predict")
      ->check(ct::command_line::number(std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()));
  app.add_option("--na", args.missing_words,
                 "Another word for a missing number, besides an empty field, NA, N/A, NaN, NULL and ?. May be repeated")
      ->allow_extra_args(false);
  app.add_option("-d,--device", args.device, "cpu, or a GPU such as opencl:0")->capture_default_str();
  app.add_option("--seed", args.seed, "Seed of the random numbers")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(0, ~std::uint64_t{0}));
  app.add_option("-o,--out", args.out, "Folder for the results")->capture_default_str();
  app.add_option("-r,--resume", args.resume, "A snapshot to continue from, used with its original options");
  app.add_option("-p,--predict", args.predict, "Predict LABEL for the rows of this table with the trained network");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  }
  if (args.predict.empty() ? args.label.empty() : !args.file.empty()) {
    fmt::print(stderr,
               "train_csv: missing arguments; give a table and the column to predict, or --predict and a table (see "
               "--help)\n");
    return 2;
  }
  if (is_tab(args.delimiter)) args.delimiter = "\t";
  try {
    return args.predict.empty() ? train(args) : predict(args);
  } catch (const std::exception& e) {
    return ct::command_line::failure("train_csv", e);
  }
}
