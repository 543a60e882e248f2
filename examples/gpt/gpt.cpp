// Trains a GPT on any text, byte by byte, and lets it write.

#include <catenary/catenary.h>
#include <catenary/core/os/file.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

constexpr std::int64_t kBytes = 256;

struct Args {
  std::string text, device = "cpu", out = "result", dtype, resume, prompt;
  std::int64_t batchsize = 8, context = 256, width = 256, layers = 4, heads = 8, steps = 2000, tokens = 500, top_k = 0;
  double rate = 1e-3, dropout = 0, temperature = 0.8, top_p = 1;
  std::uint64_t seed = 0;
  bool generate = false;
};

/// The bytes of a text from one place to another, as windows `step` bytes apart: some bytes, and those that follow each
/// of them.
class Windows {
 public:
  Windows(std::shared_ptr<const std::string> text, std::int64_t begin, std::int64_t end, std::int64_t length,
          std::int64_t step)
      : text_(std::move(text)),
        begin_(begin),
        length_(length),
        step_(step),
        count_((end - begin - length - 1) / step + 1) {
    if (end - begin <= length)
      throw ct::ValueError(fmt::format("a text of {} bytes has no window of {}", end - begin, length + 1));
  }
  std::int64_t size() const { return count_; }
  std::pair<ct::Array, ct::Array> operator[](std::int64_t i) const {
    return {bytes(begin_ + i * step_), bytes(begin_ + i * step_ + 1)};
  }

 private:
  ct::Array bytes(std::int64_t from) const {
    std::vector<std::int32_t> ids;
    for (std::int64_t i = from; i < from + length_; ++i)
      ids.push_back(static_cast<unsigned char>((*text_)[static_cast<std::size_t>(i)]));
    return ct::Array::from_host(ids.data(), {length_}, ct::Dtype::int32, ct::Device());
  }
  std::shared_ptr<const std::string> text_;
  std::int64_t begin_, length_, step_, count_;
};

/// What model.npz holds: the model's sizes, and the model.
struct Sizes {
  std::int64_t context = 0, width = 0, layers = 0, heads = 0;
  void serialize(ct::Serializer& s) {
    s("context", context);
    s("width", width);
    s("layers", layers);
    s("heads", heads);
  }
  L::GPTOptions options(double dropout = 0) const {
    return {
        .vocabulary = kBytes, .context = context, .width = width, .layers = layers, .heads = heads, .dropout = dropout};
  }
};
struct Saved {
  Sizes sizes;
  const L::GPT& model;
  void serialize(ct::Serializer& s) {
    ct::Serializer of_sizes = s["sizes"], of_model = s["gpt"];
    sizes.serialize(of_sizes);
    model.serialize(of_model);
  }
};

/// Bytes as the model is asked for them, and what it says.
std::string written(const L::GPT& model, const std::string& prompt, const Args& args, bool as_it_comes) {
  std::vector<std::int64_t> ids;
  for (const char c : prompt) ids.push_back(static_cast<unsigned char>(c));
  std::string text;
  L::generate(model, ids,
              {.tokens = args.tokens,
               .temperature = args.temperature,
               .top_k = args.top_k,
               .top_p = args.top_p,
               .seed = args.seed,
               .on_token = [&](std::int64_t byte) {
                 text += static_cast<char>(byte);
                 if (as_it_comes) {
                   fmt::print("{}", static_cast<char>(byte));
                   std::fflush(stdout);
                 }
                 return true;
               }});
  return text;
}

int generate(const Args& args) {
  const std::string file = args.out + "/model.npz";
  if (!ct::os::exists(file))
    throw ct::FileError(args.out + ": gpt has left nothing here (model.npz is missing); -o names its folder");
  struct {
    Sizes sizes;
    void serialize(ct::Serializer& s) {
      ct::Serializer below = s["sizes"];
      sizes.serialize(below);
    }
  } before;
  ct::serializers::load_npz(file, before);
  const L::GPT model(before.sizes.options());
  ct::serializers::load_npz(file, Saved{before.sizes, model});
  model.to_device(ct::get_device(args.device));
  fmt::print("{}", args.prompt);
  written(model, args.prompt, args, true);
  fmt::print("\n");
  return 0;
}

int train(const Args& args) {
  if (!args.dtype.empty()) ct::global_config.dtype = ct::precision_from_name(args.dtype);
  const ct::Device device = ct::get_device(args.device);
  device.use();
  ct::random::seed(args.seed);
  const std::vector<std::byte> bytes = ct::os::read_file(args.text);
  const auto text = std::make_shared<const std::string>(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto length = static_cast<std::int64_t>(text->size()), cut = length * 9 / 10;
  const Windows training(text, 0, cut, args.context, 1), validation(text, cut, length, args.context, args.context);

  const Sizes sizes{args.context, args.width, args.layers, args.heads};
  const L::GPT gpt(sizes.options(args.dropout));
  const auto by_byte = [](const ct::Variable& scores, const ct::Variable& next) {
    return F::softmax_cross_entropy(F::reshape(scores, {-1, kBytes}), F::reshape(next, {-1}));
  };
  L::Classifier model(gpt, by_byte);
  model.compute_accuracy = false;
  model.to_device(device);
  fmt::print("Device: {}\n# text: {} bytes\n# weights: {}\n# batch: {} x {} bytes\n\n", device.name(), length,
             gpt.count_params(), args.batchsize, args.context);

  ct::optimizers::AdamW optimizer({.alpha = args.rate, .beta2 = 0.95, .weight_decay = 0.1});
  optimizer.setup(model);
  optimizer.param_group([](const std::string&, const ct::Parameter& p) { return p.ndim() < 2; }, {{"weight_decay", 0}});
  optimizer.add_hook(ct::optimizer_hooks::GradientClipping(1.0));

  const ct::iterators::SerialIterator batches(training, args.batchsize);
  const ct::iterators::SerialIterator test_batches(validation, args.batchsize, {.repeat = false, .shuffle = false});
  T::Trainer trainer(T::StandardUpdater(batches, optimizer, {.device = device}), T::Trigger(args.steps, "iteration"),
                     args.out);
  const T::Trigger now_and_then(std::max<std::int64_t>(1, args.steps / 10), "iteration");
  trainer.extend(X::CosineShift("alpha", args.steps, {.warmup = std::min<std::int64_t>(100, args.steps / 10)}));
  trainer.extend(X::Evaluator(test_batches, model, {.device = device}), {.trigger = now_and_then});
  trainer.extend(X::FailOnNonNumber());
  trainer.extend(X::LogReport({.trigger = now_and_then}));
  trainer.extend(X::PrintReport({"iteration", "main/loss", "validation/main/loss", "elapsed_time"}));
  trainer.extend(X::snapshot({.n_retains = 1}), {.trigger = now_and_then});
  trainer.extend(X::ProgressBar());
  if (!args.resume.empty()) ct::serializers::load_npz(args.resume, trainer);
  const auto save = [&] {
    T::check_finite(model);
    ct::serializers::save_npz(args.out + "/model.npz", Saved{sizes, gpt});
  };
  try {
    trainer.run(false);
  } catch (const T::Interrupted&) {  // Ctrl-C: what was learnt so far
    save();
    throw;
  }
  save();
  const std::string begin = text->substr(static_cast<std::size_t>(cut), static_cast<std::size_t>(args.context / 2));
  fmt::print("\nAfter the first bytes of what it was not trained on it writes:\n{}\n",
             written(gpt, begin, args, false));
  fmt::print("\nThe weights are in {0}/model.npz; gpt -o {0} --prompt TEXT lets them write on\n", args.out);
  return 0;
}

int main(int argc, char** argv) {
  Args args;
  CLI::App app("Trains a GPT on any text, byte by byte; with --prompt lets a trained one write.");
  const CLI::Range positive(1, 1000000000, "POSITIVE");
  app.add_option("TEXT", args.text, "The file; its last tenth is for validation. Not needed with --prompt");
  const auto size = [&](const char* name, std::int64_t& value, const char* what) {
    app.add_option(name, value, what)->capture_default_str()->check(positive);
  };
  size("-b,--batchsize", args.batchsize, "Windows in a minibatch");
  size("-l,--context", args.context, "Bytes that a window has, and the model sees");
  size("-w,--width", args.width, "Numbers that stand for a byte between layers");
  size("-n,--layers", args.layers, "Layers");
  size("--heads", args.heads, "Heads of a layer's attention; the width is a multiple of them");
  size("-s,--steps", args.steps, "Updates");
  size("-t,--tokens", args.tokens, "Bytes to write, at most as many as the context leaves");
  app.add_option("--rate", args.rate, "Of AdamW at its highest")->capture_default_str();
  app.add_option("--dropout", args.dropout, "Of embeddings, attention and sums")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 0.99));
  app.add_option("--dtype", args.dtype, "Of parameters: float32, float16, bfloat16, mixed16, mixed_bf16");
  app.add_option("-d,--device", args.device, "cpu, or a GPU such as opencl:0")->capture_default_str();
  app.add_option("-o,--out", args.out, "Folder for the results")->capture_default_str();
  app.add_option("-r,--resume", args.resume, "A snapshot to continue from, with the options that it was made with");
  app.add_option("--seed", args.seed, "Of weights, batches and what is written")->capture_default_str();
  const auto* prompt = app.add_option("-p,--prompt", args.prompt, "What a trained model of --out goes on from");
  app.add_option("--temperature", args.temperature, "0 writes what is most likely")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--top-k", args.top_k, "Chooses among so many bytes; 0: among all")
      ->capture_default_str()
      ->check(CLI::Range(0, 256));
  app.add_option("--top-p", args.top_p, "Chooses among the likeliest bytes that have this probability together")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  try {
    app.parse(argc, argv);
    if (args.text.empty() && prompt->count() == 0) throw CLI::RequiredError("TEXT or --prompt");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return prompt->count() > 0 ? generate(args) : train(args);
  } catch (const std::exception& e) {
    fmt::print(stderr, "gpt: {}\n", e.what());
    return 1;
  }
}
