// Trains an LSTM language model with truncated backpropagation, as Chainer's ptb example does.

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>
#include <catenary/core/os/file.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>
#include <random>
#include <sstream>

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

/// Two LSTM layers between an embedding and a linear layer.
struct RNNForLM : ct::Chain {
  L::EmbedID embed;
  L::LSTM l1, l2;
  L::Linear l3;
  RNNForLM(std::int64_t n_vocab, std::int64_t n_units)
      : embed(n_vocab, n_units), l1(n_units, n_units), l2(n_units, n_units), l3(n_units, n_vocab) {}
  CT_LINKS(embed, l1, l2, l3)

  void reset_state() const {
    l1.reset_state();
    l2.reset_state();
  }
  ct::Variable operator()(const ct::Variable& words) const {
    return l3(F::dropout(l2(F::dropout(l1(F::dropout(embed(words), 0.2)), 0.2)), 0.2));
  }
};

/// Words as integers, in order of first occurrence.
class Vocabulary {
 public:
  std::int32_t id(const std::string& word) {
    return ids_.emplace(word, static_cast<std::int32_t>(ids_.size())).first->second;
  }
  std::int64_t size() const { return static_cast<std::int64_t>(ids_.size()); }

 private:
  std::map<std::string, std::int32_t> ids_;
};

/// Generates sentences of a small grammar. A verb agrees with its noun, even if a clause separates them, so a model
/// must remember the noun. Computes the likelihood of its text.
class Grammar {
 public:
  explicit Grammar(std::uint64_t seed) : random_(seed) {}

  std::vector<std::string> text(std::size_t words) {
    while (words_.size() < words) sentence();
    return words_;
  }
  /// Per word: the best value that a model can reach.
  double perplexity() const { return std::exp(surprise_ / static_cast<double>(words_.size())); }

 private:
  std::size_t choose(std::size_t n) {
    surprise_ += std::log(static_cast<double>(n));
    return random_() % n;
  }
  bool once_in_three() {
    const bool yes = random_() % 3 == 0;
    surprise_ += std::log(yes ? 3.0 : 1.5);
    return yes;
  }
  void add(const std::string& word) { words_.push_back(word); }
  /// Adds a noun with its article and an optional adjective. Returns whether it is a plural.
  bool noun() {
    static const std::vector<std::string> nouns = {"cat", "dog",   "bird",  "child",  "farmer", "queen",
                                                   "fox", "baker", "clerk", "singer", "horse",  "judge"};
    static const std::vector<std::string> adjectives = {"old", "young", "tall", "quiet", "brave", "small"};
    add("the");
    if (once_in_three()) add(adjectives[choose(adjectives.size())]);
    const std::string& word = nouns[choose(nouns.size())];
    const bool plural = choose(2) == 1;
    add(!plural ? word : word == "child" ? "children" : word == "fox" ? "foxes" : word + "s");
    return plural;
  }
  void verb(bool plural) {
    static const std::vector<std::string> verbs = {"see", "hear", "follow", "like", "help", "know", "meet", "call"};
    const std::string& word = verbs[choose(verbs.size())];
    add(plural ? word : word + "s");
  }
  void sentence() {
    const bool plural = noun();
    if (once_in_three()) {
      add("that");
      verb(plural);
      noun();
    }
    verb(plural);
    noun();
    add("<eos>");
  }

  std::mt19937_64 random_;
  std::vector<std::string> words_;
  double surprise_ = 0;
};

/// The words of a file. Each line ends with "<eos>".
std::vector<std::string> words_of(const std::string& path) {
  const std::vector<std::byte> bytes = ct::os::read_file(path);
  std::istringstream file(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<std::string> words;
  for (std::string line, word; std::getline(file, line); words.push_back("<eos>"))
    for (std::istringstream stream(line); stream >> word;) words.push_back(word);
  return words;
}

/// A text as `batchsize` columns, which are read in parallel, one word of each at a time.
ct::Array in_columns(const std::vector<std::int32_t>& text, std::int64_t batchsize, const ct::Device& device) {
  const std::int64_t length = static_cast<std::int64_t>(text.size()) / batchsize;
  if (length < 2)
    throw ct::ValueError(fmt::format("a text of {} words is too short for {} columns", text.size(), batchsize));
  return ct::Array::from_host(text.data(), {batchsize, length}, ct::Dtype::int32, ct::Device())
      .T()
      .copy()
      .to_device(device);
}

/// Mean surprise at the next word over rows [begin, end) of a text in columns. Continues from the model's state.
ct::Variable surprise(const RNNForLM& model, const ct::Array& text, std::int64_t begin, std::int64_t end) {
  ct::Variable total;
  for (std::int64_t t = begin; t < end; ++t) {
    const ct::Variable loss = F::softmax_cross_entropy(model(text[t]), text[t + 1]);
    total = total.defined() ? total + loss : loss;
  }
  return total / static_cast<double>(end - begin);
}

/// exp of the mean surprise over a text. Uses a copy of the model, so that the training state stays.
double perplexity(const RNNForLM& model, const ct::Array& text, int bpttlen) {
  const RNNForLM evaluated = model.copy();
  evaluated.reset_state();
  const auto no_training = ct::test_mode();
  const auto no_graph = ct::no_backprop_mode();
  const std::int64_t last = text.shape(0) - 1;
  double total = 0;
  for (std::int64_t t = 0; t < last; t += bpttlen) {
    const std::int64_t end = std::min(t + bpttlen, last);
    total += surprise(evaluated, text, t, end).item<double>() * static_cast<double>(end - t);
  }
  return std::exp(total / static_cast<double>(last));
}

struct Args {
  int batchsize = 20, bpttlen = 35, epoch = 4, unit = 64, words = 60000;
  double gradclip = 5;
  std::string device = "cpu", out = "ptb.npz", text, dtype;
  std::uint64_t seed = 0;
};

int train(const Args& args) {
  const auto device = ct::get_device(args.device);
  device.use();
  if (!args.dtype.empty()) ct::global_config.dtype = ct::precision_from_name(args.dtype);
  ct::random::seed(args.seed);
  Vocabulary vocabulary;
  std::vector<std::int32_t> ids;
  if (args.text.empty()) {
    Grammar grammar(args.seed);
    for (const std::string& word : grammar.text(static_cast<std::size_t>(args.words)))
      ids.push_back(vocabulary.id(word));
    fmt::print("a generated text of {} words; perplexity of its grammar: {:.3f}\n", ids.size(), grammar.perplexity());
  } else {
    for (const std::string& word : words_of(args.text)) ids.push_back(vocabulary.id(word));
    fmt::print("{}: {} words\n", args.text, ids.size());
  }
  fmt::print("Device: {}\n# vocabulary: {}\n# unit: {}\n\n", device.name(), vocabulary.size(), args.unit);
  const auto at = [&](double part) { return ids.begin() + static_cast<std::ptrdiff_t>(part * double(ids.size())); };
  const ct::Array training = in_columns({ids.begin(), at(0.8)}, args.batchsize, device);
  const ct::Array validation = in_columns({at(0.8), at(0.9)}, args.batchsize, device);
  const ct::Array test = in_columns({at(0.9), ids.end()}, args.batchsize, device);

  const RNNForLM model(vocabulary.size(), args.unit);
  model.to_device(device);
  const auto optimizer = ct::optimizers::Adam(0.005);
  optimizer.setup(model);
  optimizer.add_hook(ct::optimizer_hooks::GradientClipping(args.gradclip));
  for (int epoch = 1; epoch <= args.epoch; ++epoch) {
    model.reset_state();
    double total = 0;
    const std::int64_t last = training.shape(0) - 1;
    for (std::int64_t t = 0; t < last; t += args.bpttlen) {
      const std::int64_t end = std::min(t + args.bpttlen, last);
      const ct::Variable loss = surprise(model, training, t, end);
      model.cleargrads();
      loss.backward(false, false, optimizer.loss_scale());
      loss.unchain_backward();  // keep the state, but not the graph behind it
      optimizer.update();
      total += loss.item<double>() * static_cast<double>(end - t);
    }
    fmt::print("epoch {}: training perplexity {:.3f}, validation {:.3f}\n", epoch,
               std::exp(total / static_cast<double>(last)), perplexity(model, validation, args.bpttlen));
  }
  ct::training::check_finite(model);
  fmt::print("test perplexity: {:.3f}\n", perplexity(model, test, args.bpttlen));
  ct::serializers::save_npz(args.out, model);
  return 0;
}

int main(int argc, char** argv) {
  Args args;
  CLI::App app("Trains an LSTM language model with truncated backpropagation.");
  app.footer("Example: ptb -t words.txt -u 650 -e 20");
  const auto positive = ct::command_line::whole_number(1, 1000000);
  app.add_option("-b,--batchsize", args.batchsize, "Columns of the text, read in parallel")
      ->capture_default_str()
      ->check(positive);
  app.add_option("-l,--bpttlen", args.bpttlen, "Words over which gradients are propagated")
      ->capture_default_str()
      ->check(positive);
  app.add_option("-e,--epoch", args.epoch, "Number of passes over the text")->capture_default_str()->check(positive);
  app.add_option("-u,--unit", args.unit, "Units of each layer")->capture_default_str()->check(positive);
  app.add_option("-c,--gradclip", args.gradclip, "Limit of the norm of all gradients")
      ->capture_default_str()
      ->check(ct::command_line::positive_number());
  app.add_option("-w,--words", args.words, "Words to generate")->capture_default_str()->check(positive);
  app.add_option("-t,--text", args.text, "Use this text file. Its last fifth is used for validation and test");
  app.add_option("-d,--device", args.device, "cpu, or a GPU such as opencl:0")->capture_default_str();
  app.add_option("--dtype", args.dtype, "Of parameters: float32, float16, bfloat16, mixed16, mixed_bf16");
  app.add_option("-s,--seed", args.seed, "Seed of the text, the weights and dropout")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(0, ~std::uint64_t{0}));
  app.add_option("-o,--out", args.out, "Folder for the weights")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  }
  try {
    return train(args);
  } catch (const std::exception& e) {
    return ct::command_line::failure("ptb", e);
  }
}
