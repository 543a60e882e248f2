// Trains a GPT on any text, by bytes or by pairs of bytes, and lets it write:
//
//     gpt book.txt -o book
//     catenary launch -n 2 gpt book.txt -o book

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>
#include <catenary/core/os/file.h>
#include <catenary/core/os/terminal.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

namespace ct = catenary;
namespace D = ct::distributed;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

constexpr std::int64_t kBytes = 256;
constexpr const char* kSets = "gpt";  // name of the snapshots of several processes

struct Args {
  std::string text, device = "cpu", out = "result", dtype, resume, prompt, communicator = "flat";
  std::int64_t batchsize = 8, context = 256, width = 256, layers = 4, heads = 8, steps = 2000, tokens = 500, top_k = 0;
  std::int64_t vocabulary = 0, report = 0, sample = 100, windows = 256;
  double rate = 1e-3, dropout = 0, temperature = 0.8, top_p = 1;
  std::uint64_t seed = 0;
  bool newest = false;
};

/// The token strings of a vocabulary of single bytes, in GPT-2's characters: printable Latin-1 characters represent
/// themselves, all other bytes map to characters from U+0100 on, in order.
std::vector<std::int32_t> ids_of_bytes(const ct::Tokenizer& tokenizer) {
  std::vector<std::int32_t> ids;
  char32_t next = 0x100;
  for (std::int64_t byte = 0; byte < kBytes; ++byte) {
    const bool prints = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    const char32_t c = prints ? static_cast<char32_t>(byte) : next++;
    const std::string letter =
        c < 0x80 ? std::string(1, static_cast<char>(c))
                 : std::string{static_cast<char>(0xc0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3f))};
    ids.push_back(static_cast<std::int32_t>(tokenizer.id(letter).value()));
  }
  return ids;
}

/// A text with its tokens.
struct Text {
  std::string bytes;
  ct::Tokenizer tokenizer;
  std::vector<std::int32_t> ids;
};
Text read_text(const Args& args) {
  const std::vector<std::byte> file = ct::os::read_file(args.text);
  std::string bytes(reinterpret_cast<const char*>(file.data()), file.size());
  const bool by_bytes = args.vocabulary == 0;
  // includes an end-of-text token, as readers of GPT-2's files expect: 257 tokens for bytes
  const ct::Tokenizer tokenizer = ct::train_byte_pairs(by_bytes ? "" : bytes, by_bytes ? kBytes + 1 : args.vocabulary);
  std::vector<std::int32_t> ids;
  if (by_bytes) {
    const std::vector<std::int32_t> id = ids_of_bytes(tokenizer);
    for (const char c : bytes) ids.push_back(id[static_cast<unsigned char>(c)]);
  } else {
    const std::vector<std::int64_t> all = tokenizer.encode(bytes);
    if (tokenizer.decode(all) != bytes)
      throw ct::ValueError(args.text + " is not UTF-8, which --vocabulary requires; leave it out to use single bytes");
    ids.assign(all.begin(), all.end());
  }
  return {std::move(bytes), tokenizer, std::move(ids)};
}

/// A section of a text's tokens as windows `step` apart: each example is some tokens and the tokens that follow each of
/// them.
class Windows {
 public:
  Windows(std::shared_ptr<const Text> text, std::int64_t begin, std::int64_t end, std::int64_t length,
          std::int64_t step)
      : text_(std::move(text)),
        begin_(begin),
        length_(length),
        step_(step),
        count_((end - begin - length - 1) / step + 1) {
    if (end - begin <= length)
      throw ct::ValueError(
          fmt::format("a text of {} tokens has no window of {}; use a longer text, or a smaller --context than {}",
                      end - begin, length + 1, length));
  }
  std::int64_t size() const { return count_; }
  std::pair<ct::Array, ct::Array> operator[](std::int64_t i) const {
    return {tokens(begin_ + i * step_), tokens(begin_ + i * step_ + 1)};
  }

 private:
  ct::Array tokens(std::int64_t from) const {
    return ct::Array::from_host(text_->ids.data() + from, {length_}, ct::Dtype::int32, ct::Device());
  }
  std::shared_ptr<const Text> text_;
  std::int64_t begin_, length_, step_, count_;
};

L::GenerateOptions generate_options(const Args& args, std::int64_t tokens) {
  return {
      .tokens = tokens, .temperature = args.temperature, .top_k = args.top_k, .top_p = args.top_p, .seed = args.seed};
}

/// The model's continuation of a prompt.
std::string written(const L::GPT& model, const Text& text, std::span<const std::int32_t> prompt, const Args& args,
                    std::int64_t tokens) {
  return text.tokenizer.decode(L::generate(model, {prompt.begin(), prompt.end()}, generate_options(args, tokens)));
}

int generate(const Args& args) {
  if (!ct::os::exists(args.out + "/config.json"))
    throw ct::FileError(args.out + ": there is no model of gpt (config.json is missing); name its folder with -o");
  const L::Generator generator = L::load_generator(args.out, {.device = ct::get_device(args.device)});
  fmt::print("{}", args.prompt);
  generator(args.prompt, {.generate = generate_options(args, args.tokens), .on_text = [](std::string_view piece) {
                            fmt::print("{}", piece);
                            std::fflush(stdout);
                            return true;
                          }});
  fmt::print("\n");
  return 0;
}

/// Handles --newest. Processes read different windows, so their number must not change. If there are snapshots of one
/// process and of several, those of the current number are used, because file times do not show which are newer.
void go_on(const T::Trainer& trainer, D::MultiNodeCheckpointer& sets, const D::Communicator& comm) {
  const bool alone = comm.size() == 1;
  int of_one = 0, of_several = 0;
  if (ct::os::is_directory(trainer.out()))
    for (const std::string& name : ct::os::list_directory(trainer.out())) {
      of_one |= static_cast<int>(name.starts_with("snapshot_iter_"));
      of_several |= static_cast<int>(name.starts_with(std::string(kSets) + "."));
    }
  const auto anywhere = [&](int here) { return std::ranges::count(comm.allgather_obj(here), 1) > 0; };
  const bool one = anywhere(of_one), several = anywhere(of_several);
  if (!alone && one && !several)
    throw ct::ValueError(fmt::format(
        "--newest: the snapshots in {} were made by 1 process, and there are {} now: start 1, or give another folder",
        trainer.out(), comm.size()));
  // a single process loads its snapshot when training begins, and sets of several processes are refused
  if (!alone || (several && !one)) sets.maybe_load(trainer);
}

/// Saves the weights for `transformers` and for llama.cpp.
void save(const L::GPT& gpt, const Text& text, const std::string& folder) {
  L::save_language_model(folder, gpt, {.tokenizer = text.tokenizer});
  L::save_language_model(folder + "/model.gguf", gpt, {.tokenizer = text.tokenizer});
}

/// A text whose first nine tenths are for training.
struct Corpus {
  std::shared_ptr<const Text> text;
  std::int64_t cut;
  Windows training, validation;
};

Corpus read_corpus(const Args& args) {
  const auto text = std::make_shared<const Text>(read_text(args));
  const auto length = std::ssize(text->ids), cut = length * 9 / 10;
  return {text, cut, Windows(text, 0, cut, args.context, 1),
          Windows(text, cut, length, args.context, std::max(args.context, (length - cut) / args.windows))};
}

/// Describes the device, the text and the model.
void print_header(const ct::Device& device, const D::Communicator& comm, const Text& text, const L::GPT& gpt,
                  const Args& args) {
  fmt::print("Device: {}\n{}# text: {} bytes, {} tokens of {}\n# weights: {}\n# batch: {} x {} tokens\n\n",
             device.name(), comm.size() == 1 ? "" : fmt::format("# processes: {}\n", comm.size()), text.bytes.size(),
             text.ids.size(), text.tokenizer.vocabulary_size(), gpt.count_params(), args.batchsize, args.context);
}

/// Adds the reports, samples and progress of the process that prints.
void add_reports(T::Trainer& trainer, const L::GPT& gpt, const Text& text, std::span<const std::int32_t> unseen,
                 const T::Trigger& now_and_then, const Args& args) {
  trainer.extend(X::LogReport({.trigger = now_and_then}));
  trainer.extend(X::PrintReport({"iteration", "main/loss", "validation/main/loss", "elapsed_time"}));
  constexpr int kAfterTheReport = T::kPriorityReader - 1;
  if (args.sample > 0)
    trainer.extend(
        [&gpt, &text, unseen, &args](T::Trainer&) {
          const bool terminal = ct::os::is_terminal(ct::os::kStandardOutput);  // its progress bar must be erased
          fmt::print("{}{:-^60}\n{}\n{:-^60}\n", terminal ? "\033[J" : "", " it writes ",
                     written(gpt, text, unseen, args, args.sample), "");
        },
        {.name = "sample", .trigger = now_and_then, .priority = kAfterTheReport});
  trainer.extend(X::ProgressBar());
}

/// Adds snapshots, and loads the one that --newest or --resume names.
void add_snapshots(T::Trainer& trainer, const D::Communicator& comm, const T::Trigger& now_and_then, const Args& args) {
  const bool alone = comm.size() == 1;
  D::MultiNodeCheckpointer sets = D::create_multi_node_checkpointer(kSets, comm);
  if (alone)
    trainer.extend(X::snapshot({.n_retains = 1, .autoload = args.newest}), {.trigger = now_and_then});
  else
    trainer.extend(sets, {.trigger = now_and_then});
  if (args.newest) go_on(trainer, sets, comm);
  if (args.resume.empty()) return;
  if (alone)
    ct::serializers::load_npz(args.resume, trainer);
  else if (!D::create_multi_node_checkpointer(kSets, comm, {.path = args.resume}).maybe_load(trainer))
    throw ct::ValueError(args.resume + ": contains no complete set of checkpoints");
}

/// Trains a model, and saves it, also if Ctrl-C interrupts.
void fit(L::Classifier& model, const L::GPT& gpt, const Corpus& corpus, const ct::Device& device,
         const D::Communicator& comm, const Args& args) {
  const bool first = comm.rank() == 0;  // whether this rank prints
  const Text& text = *corpus.text;
  const auto optimizer = D::create_multi_node_optimizer(
      ct::optimizers::AdamW({.alpha = args.rate, .beta2 = 0.95, .weight_decay = 0.1}), comm);
  optimizer.setup(model);
  optimizer.param_group([](const std::string&, const ct::Parameter& p) { return p.ndim() < 2; }, {{"weight_decay", 0}});
  optimizer.add_hook(ct::optimizer_hooks::GradientClipping(1.0));

  // each process reads different windows
  const auto part = [&](const Windows& all) {
    const auto [begin, end] = D::scatter_index(all.size(), comm);
    return ct::datasets::SubDataset(all, begin, end);
  };
  const ct::iterators::SerialIterator batches(part(corpus.training), args.batchsize);
  const ct::iterators::SerialIterator test_batches(part(corpus.validation), args.batchsize,
                                                   {.repeat = false, .shuffle = false});
  T::Trainer trainer(T::StandardUpdater(batches, optimizer, {.device = device}), T::Trigger(args.steps, "iteration"),
                     args.out);
  const T::Trigger now_and_then(args.report > 0 ? args.report : std::max<std::int64_t>(1, args.steps / 10),
                                "iteration");
  trainer.extend(X::CosineShift("alpha", args.steps, {.warmup = std::min<std::int64_t>(100, args.steps / 10)}));
  trainer.extend(D::create_multi_node_evaluator(X::Evaluator(test_batches, model, {.device = device}), comm),
                 {.trigger = now_and_then});
  trainer.extend(X::FailOnNonNumber());
  const std::span<const std::int32_t> unseen(text.ids.data() + corpus.cut, static_cast<std::size_t>(args.context / 2));
  if (first) add_reports(trainer, gpt, text, unseen, now_and_then, args);
  add_snapshots(trainer, comm, now_and_then, args);

  const auto finish = [&] {
    T::check_finite(model);
    if (first) save(gpt, text, args.out);  // all processes have equal weights
  };
  try {
    trainer.run(false);
  } catch (const T::Interrupted&) {
    finish();
    throw;
  }
  finish();
  if (first)
    fmt::print("\nIts continuation of the validation text:\n{}\n", written(gpt, text, unseen, args, args.tokens));
}

int train(const Args& args) {
  const D::Communicator comm = D::create_communicator(args.communicator);
  const bool first = comm.rank() == 0;
  if (!args.dtype.empty()) ct::global_config.dtype = ct::precision_from_name(args.dtype);
  if (ct::global_config.dtype == ct::Precision(ct::Dtype::float64))  // possible with CATENARY_DTYPE
    throw ct::ValueError("float64 weights cannot be saved for other programs; use --dtype float32");
  const ct::Device device = args.device == "gpu" ? comm.gpu() : ct::get_device(args.device);
  device.use();
  ct::random::seed(args.seed);
  const Corpus corpus = read_corpus(args);
  const std::int64_t vocabulary = corpus.text->tokenizer.vocabulary_size();
  const L::GPT gpt({.vocabulary = vocabulary,
                    .context = args.context,
                    .width = args.width,
                    .layers = args.layers,
                    .heads = args.heads,
                    .dropout = args.dropout});
  const auto by_token = [vocabulary](const ct::Variable& scores, const ct::Variable& next) {
    return F::softmax_cross_entropy(F::reshape(scores, {-1, vocabulary}), F::reshape(next, {-1}));
  };
  L::Classifier model(gpt, by_token);
  model.compute_accuracy = false;
  model.to_device(device);
  if (first) print_header(device, comm, *corpus.text, gpt, args);
  if (args.steps == 0) {
    if (first) save(gpt, *corpus.text, args.out);
  } else {
    fit(model, gpt, corpus, device, comm, args);
    if (first)
      fmt::print(
          "\nThe weights are in {0}/model.safetensors and {0}/model.gguf;\n"
          "generate text by catenary generate {0} --prompt TEXT, or gpt -o {0} --prompt TEXT\n",
          args.out);
  }
  comm.finalize();
  return 0;
}

void add_training_options(CLI::App& app, Args& args) {
  const ct::command_line::Check positive = ct::command_line::whole_number(1, 1000000000),
                                counted = ct::command_line::whole_number(0, 1000000000);
  app.add_option("TEXT", args.text, "The text file. Its last tenth is used for validation. Not needed with --prompt");
  const auto size = [&](const char* name, std::int64_t& value, const char* what, const ct::command_line::Check& range) {
    app.add_option(name, value, what)->capture_default_str()->check(range);
  };
  app.add_option("-v,--vocabulary", args.vocabulary,
                 "Merge pairs of bytes until there are this many tokens. 0 for single bytes")
      ->capture_default_str()
      ->check(ct::command_line::zero_or_whole_number(257, 1000000));
  size("-b,--batchsize", args.batchsize, "Windows in each process's minibatch", positive);
  // the first half of a window is a prompt
  size("-l,--context", args.context, "Tokens in a window, which is the model's context",
       ct::command_line::whole_number(2, 1000000000));
  size("-w,--width", args.width, "Size of the vectors between layers", positive);
  size("-n,--layers", args.layers, "Number of layers", positive);
  size("--heads", args.heads, "Attention heads in a layer, a divisor of the width", positive);
  size("-s,--steps", args.steps, "Number of updates. 0 saves the initial weights", counted);
  size("--report", args.report, "Updates between reports, samples and snapshots. 0 for a tenth of all updates",
       counted);
  size("--windows", args.windows, "The most validation windows to evaluate for a report", positive);
  size("--sample", args.sample, "Tokens to generate at each report", counted);
  size("-t,--tokens", args.tokens, "Tokens to generate at the end, limited by the context", positive);
  app.add_option("--rate", args.rate, "The highest learning rate of AdamW")
      ->capture_default_str()
      ->check(ct::command_line::number(0, INFINITY));
  app.add_option("--dropout", args.dropout, "Dropout rate of embeddings, attention and residuals")
      ->capture_default_str()
      ->check(ct::command_line::number(0.0, 0.99));
}

void add_run_options(CLI::App& app, Args& args) {
  app.add_option("--dtype", args.dtype, "Dtype of the parameters")
      ->check(ct::command_line::one_of({"float32", "float16", "bfloat16", "mixed16", "mixed_bf16"}));
  app.add_option("-d,--device", args.device,
                 "cpu, or a GPU such as opencl:0. With gpu each process uses the GPU of its number")
      ->capture_default_str();
  app.add_option("--communicator", args.communicator,
                 "How several processes exchange gradients: flat, naive, pure_nccl, …")
      ->capture_default_str();
  app.add_option("-o,--out", args.out, "Folder for the results")->capture_default_str();
  auto* resume = app.add_option("-r,--resume", args.resume,
                                "A snapshot to continue from, used with its original options. For several processes, "
                                "the folder of their snapshots");
  app.add_flag("--newest", args.newest, "Continue from the newest snapshot in --out, if there is one")
      ->excludes(resume);
  app.add_option("--seed", args.seed, "Seed of weights, batches and generated text")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(0, ~std::uint64_t{0}));
}

/// Returns --prompt, whose presence makes the program generate.
const CLI::Option* add_generating_options(CLI::App& app, Args& args) {
  const auto* prompt = app.add_option("-p,--prompt", args.prompt, "The prompt for a trained model in --out");
  app.add_option("--temperature", args.temperature, "Divides the scores. 0 always takes the most likely token")
      ->capture_default_str()
      ->check(ct::command_line::number(0.0, 100.0));
  app.add_option("--top-k", args.top_k, "Choose from this many most likely tokens. 0 for all")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(0, 1000000));
  app.add_option("--top-p", args.top_p, "Choose from the most likely tokens whose probabilities add up to this")
      ->capture_default_str()
      ->check(ct::command_line::number(1e-6, 1.0));
  return prompt;
}

int main(int argc, char** argv) {
  Args args;
  CLI::App app(
      "Trains a GPT on any text, by bytes or pairs of bytes. With --prompt, generates text with a trained GPT.");
  app.footer("Example: gpt book.txt -o book --vocabulary 2000 -s 500\n         gpt -o book --prompt 'It was'");
  add_training_options(app, args);
  add_run_options(app, args);
  const auto* prompt = add_generating_options(app, args);
  try {
    app.parse(argc, argv);
    if (args.text.empty() && prompt->count() == 0) throw CLI::RequiredError("TEXT or --prompt");
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  }
  try {
    return prompt->count() > 0 ? generate(args) : train(args);
  } catch (const std::exception& e) {
    return ct::command_line::failure("gpt", e);
  }
}
