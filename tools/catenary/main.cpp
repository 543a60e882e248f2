// The command `catenary`: shows devices, checks drivers, measures speed, and inspects and converts files.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string_view>

#include "catenary/core/command_line.h"
#include "catenary/core/environment.h"
#include "catenary/core/quantization.h"
#include "catenary/core/version.h"
#include "catenary/distributed/launch.h"
#include "tools/catenary/commands.h"
#include "tools/catenary/mixture.h"

namespace {

using namespace catenary::command;

/// A command: its options, and the function that runs it once the whole command line has been read.
struct Command {
  CLI::App* app;
  std::function<int()> run;  ///< returns the exit status
};

void add_json(CLI::App* command, bool& json) {
  command->add_flag("--json", json, "Print one JSON object on standard output");
}

/// Adds a command without options but --json. `footer` ends its help.
Command add_listing(CLI::App& app, const char* name, const char* text, const char* footer, int (*run)(bool json)) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(name, text);
  command->footer(footer);
  add_json(command, *json);
  return {command, [=] { return run(*json); }};
}

Command add_inspect(CLI::App& app) {
  struct Options {
    std::vector<std::string> files;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "inspect",
      "Shows names, dtypes, shapes, minimum, mean and maximum of the arrays in NPY, NPZ (also trainer snapshots), "
      "safetensors and IDX files, metadata, kinds, shapes and bytes of GGUF files, and inputs, outputs and operators "
      "of ONNX files");
  command->footer(
      "Example: catenary inspect model.npz\n"
      "         catenary inspect --json net.onnx");
  add_json(command, options->json);
  command->add_option("FILE", options->files, "Files to inspect. The content determines the kind")->required();
  return {command, [=] { return inspect(options->files, options->json); }};
}

Command add_convert(CLI::App& app) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = app.add_subcommand("convert", "Converts weights of another framework to Catenary's names");
  command->footer(
      "FILE is a safetensors file, its index or folder, or an NPZ file. OUT's name must end with .safetensors or "
      ".npz.\n"
      "\n"
      "Rules:\n"
      "  torch               renames weight, bias, running_mean, …\n"
      "  torchvision, timm   also rename the modules of ResNet, VGG and MobileNet-V2\n"
      "  THEIRS=OURS         renames a tensor, or a module with everything in it, before the other rules\n"
      "\n"
      "Example: catenary convert resnet18.safetensors -o resnet18.npz --from torchvision\n"
      "See docs/guide/from-pytorch.md.");
  command->add_option("FILE", options->from, "The file to read");
  command->add_option("-o,--out", options->to, "The file to write")->required();
  command->add_option("--from", options->rules,
                      "Rules: torch, torchvision or timm, and THEIRS=OURS. Without rules names stay as they are");
  command->callback([=] {
    if (!options->from.empty()) return;  // --from took FILE as another rule
    const auto file = std::ranges::find_if_not(options->rules, is_conversion_rule);
    if (file == options->rules.end()) throw CLI::RequiredError("FILE");
    options->from = *file;
    options->rules.erase(file);
  });
  return {command, [=] { return convert(*options); }};
}

Command add_run(CLI::App& app) {
  const auto options = std::make_shared<RunModelArguments>();
  CLI::App* command = app.add_subcommand("run", "Runs an ONNX model on any device");
  command->footer(
      "Inputs are NPY files. `catenary inspect MODEL.onnx` shows their names, dtypes and shapes. A sequence is an NPZ "
      "file\n"
      "with its arrays in order. An optional input without a file is empty.\n"
      "\n"
      "Example: catenary run model.onnx --input image.npy --output results --device opencl:0\n"
      "See docs/guide/onnx.md.");
  command->add_option("MODEL", options->model, "The ONNX file")->required();
  command->add_option("--input", options->inputs,
                      "FILE.npy in the order of the inputs, or NAME=FILE.npy (sequences: .npz)");
  command->add_option(
      "--output", options->output,
      "The folder to write each output to, as NAME.npy, or NAME.npz for a sequence. Without it they are "
      "printed");
  command->add_option("-d,--device", options->device, "cpu, opencl:0, gpu:0, …")->capture_default_str();
  command->add_flag("--bench", options->bench, "Also run the model for 3 seconds and print the time of a run");
  return {command, [=] { return run_model(*options); }};
}

/// Adds options for the choice of the next token.
void add_sampling(CLI::App* command, GenerateArguments& options) {
  command
      ->add_option("--temperature", options.temperature,
                   "Divides the scores. Higher values give more varied text, 0 always takes the most likely token")
      ->capture_default_str()
      ->check(catenary::command_line::number(0, INFINITY));
  command->add_option("--top-k", options.top_k, "Choose from this many most likely tokens. 0 for all")
      ->capture_default_str()
      ->check(catenary::command_line::whole_number(0, std::int64_t{1} << 40));
  command->add_option("--top-p", options.top_p, "Choose from the most likely tokens whose probabilities add up to this")
      ->capture_default_str()
      ->check(catenary::command_line::number(1e-6, 1.0));
  command
      ->add_option("--min-p", options.min_p,
                   "Ignore tokens less likely than this fraction of the most likely token's probability")
      ->capture_default_str()
      ->check(catenary::command_line::number(0.0, 1.0));
  command
      ->add_option(
          "--repetition-penalty", options.repetition_penalty,
          "Makes tokens that have already occurred less likely: divides positive and multiplies negative scores")
      ->capture_default_str()
      ->check(catenary::command_line::positive_number());
}

Command add_generate(CLI::App& app) {
  const auto options = std::make_shared<GenerateArguments>();
  CLI::App* command = app.add_subcommand("generate", "Generates text after a prompt, or answers in a chat");
  command->footer(
      "MODEL is a GGUF file, or a folder saved by `transformers`: config.json, model.safetensors (or its parts with "
      "an\n"
      "index), and tokenizer.json or SentencePiece's tokenizer.model.\n"
      "Text is printed as it is generated. Statistics follow on standard error if that is a terminal. Ctrl-C ends the "
      "text.\n"
      "\n"
      "Example: catenary generate MODEL --prompt 'Once upon a time' -n 200 --top-p 0.9\n"
      "See docs/guide/language-models.md.\n"
      "Exit status: 130 after Ctrl-C.");
  command->add_option("MODEL", options->model, "The model's folder or GGUF file")->required();
  command->add_option("-p,--prompt", options->prompt,
                      "The prompt. Without it, --chat reads messages from standard input, one per line");
  command->add_option("-n,--tokens", options->tokens, "The most tokens to generate")
      ->capture_default_str()
      ->check(catenary::command_line::whole_number(std::int64_t{0}, std::int64_t{1} << 40));
  add_sampling(command, *options);
  command->add_option("--stop", options->stop, "End the text before this string. May be repeated")
      ->allow_extra_args(false);
  command->add_option("--system", options->system, "System message of a chat: tells the model how to answer");
  command->add_option("--seed", options->seed, "Seed of the random choices")
      ->capture_default_str()
      ->check(catenary::command_line::whole_number(0, ~std::uint64_t{0}));
  command->add_option("-d,--device", options->device, "cpu, opencl:0, gpu:0, …")->capture_default_str();
  command->add_option("--dtype", options->dtype, "Dtype of the weights. stored: that of the embeddings in the file")
      ->capture_default_str()
      ->check(catenary::command_line::one_of({"float16", "bfloat16", "float32", "float64", "stored"}));
  command
      ->add_option("--context", options->context,
                   "The most tokens of prompt and text together. 0 for the model's limit")
      ->capture_default_str()
      ->check(catenary::command_line::whole_number(0, std::int64_t{1} << 40));
  command->add_flag("--exact", options->exact,
                    "Multiply quantised weights with floats instead of numbers rounded to 8 bits");
  command->add_flag("--ids", options->ids, "Read and write token ids instead of text");
  command->add_flag("--chat", options->chat,
                    "Treat the prompt as a message to answer. For models with a chat template of Llama 3, Qwen2 "
                    "(ChatML), GLM-4, Zephyr and TinyLlama, or Llama 2 and Mistral ([INST])");
  command->add_flag("-v,--verbose", options->verbose, "Print statistics even if standard error is not a terminal");
  command->callback([=] {
    if (!options->prompt && !options->chat) throw CLI::RequiredError("--prompt, or --chat");
  });
  return {command, [=] { return generate(*options); }};
}

std::string lines_of_kinds() {
  std::string lines;
  for (const catenary::QuantizationInfo& info : catenary::kQuantizationInfos)
    lines += fmt::format("  {:<7}{:5.2f}  {}\n", info.name, info.bits_per_element(), info.text);
  return lines;
}

Command add_quantize(CLI::App& app) {
  const auto options = std::make_shared<QuantizeFileOptions>();
  CLI::App* command =
      app.add_subcommand("quantize", "Quantises weights to 2 to 8 bits, for a file 2 to 12 times smaller");
  command->footer(fmt::format(
      "GGUF files are written as GGUF, with their metadata. NPZ and safetensors files (also an index or a folder) are\n"
      "written as NPZ or safetensors. OUT's folder is created if needed.\n"
      "\n"
      "Tensors of floats with two axes or more are quantised, in NPZ and safetensors only those named W or weight.\n"
      "A line for each shows the bytes before and after, the kind, and the relative RMS error.\n"
      "\n"
      "Linear, EmbedID and convolutions load quantised NPZ and safetensors. Other links (Deconvolution, Depthwise, "
      "Local,\n"
      "Bilinear) do not: name their W with --keep. `catenary generate` runs GGUF.\n"
      "\n"
      "Kinds, and their bits for each weight:\n"
      "{}"
      "\n"
      "Example: catenary quantize --kind Q4_K_M --keep output model.gguf -o small.gguf\n"
      "See docs/guide/language-models.md.",
      lines_of_kinds()));
  command->add_option("FILE", options->from, "The file to read")->required();
  command->add_option("-o,--out", options->to, "The file to write")->required();
  command
      ->add_option(
          "--kind", options->kind,
          catenary::quantization_names() + " (int8 is not in GGUF), or llama.cpp's mixtures " + Mixture::names())
      ->capture_default_str();
  command->add_option("--keep", options->keep,
                      "A regular expression of tensors not to quantise. May be repeated")
      ->allow_extra_args(false);  // so that FILE may follow
  return {command, [=] { return quantize_file(*options); }};
}

Command add_doctor(CLI::App& app) {
  const auto options = std::make_shared<DoctorOptions>();
  const auto probe_name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "doctor",
      "Checks drivers, permissions, libraries and devices, one line each: `OK|WARN|FAIL id message -> remedy`");
  command->footer(
      "Each driver runs in a separate process, so a crash or a hang is reported. Each device then compiles and runs\n"
      "kernels, and its results must equal the CPU's.\n"
      "\n"
      "Example: catenary doctor\n"
      "See docs/guide/gpus.md, which explains each id.\n"
      "Exit status: 0 if there is a usable device and no FAIL, 1 otherwise.");
  add_json(command, options->json);
  command->add_option("--root", options->root,
                      "Check another machine's files below this folder (or CATENARY_DOCTOR_ROOT). Its machine.json has "
                      "the drivers' answers");
  command->add_option("--probe", *probe_name)->group("");  // used by doctor itself
  return {command, [=] {
            if (!probe_name->empty()) return probe(*probe_name);
            if (options->root.empty()) options->root = catenary::environment::text("CATENARY_DOCTOR_ROOT");
            return doctor(*options);
          }};
}

Command add_cache(CLI::App& app) {
  struct Options {
    std::string action = "summary";
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("cache", "Shows the folder, number and size of cached kernels");
  command->footer(
      "Each kernel is compiled once for each device, and kept. CATENARY_CACHE_DIR names another folder.\n"
      "\n"
      "Example: catenary cache\n"
      "         catenary cache clear");
  add_json(command, options->json);
  command->add_option("ACTION", options->action, "list: show each kernel, clear: remove all")
      ->check(catenary::command_line::one_of({"list", "clear"}));
  return {command, [=] {
            return cache(options->action == "list"    ? CacheAction::list
                         : options->action == "clear" ? CacheAction::clear
                                                      : CacheAction::summary,
                         options->json);
          }};
}

Command add_bench(CLI::App& app) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Measures the speed of one kind of work on a device (medians)");
  command->footer(
      "Example: catenary bench gemm --size 2048 --device gpu:0\n"
      "         catenary bench resnet50 --size 32 --dtype mixed16 --device gpu:0\n"
      "`catenary devices` lists the devices.");
  add_json(command, options->json);
  command
      ->add_option(
          "WHAT", options->what,
          "gemm: product of square matrices, copy, elementwise: x * y + x, chain: eight operations in one kernel, "
          "reduce: sum, sort, launch: x + y of few elements until the driver has accepted it, concat: four arrays "
          "joined along axis 1, conv: layers of common networks with batches and images of at most --size, attention: "
          "causal, 8 heads of 64, --size tokens, forward and with gradients. Training steps of --size images: mlp: "
          "train_mnist_deep's six layers, cnn: train_mnist's, resnet18: train_cifar's, resnet50: torchvision's, "
          "channels last. lstm: a training step of a language model with two layers of --size units")
      ->required()
      ->check(
          catenary::command_line::one_of({"gemm", "copy", "elementwise", "chain", "reduce", "sort", "launch", "concat",
                                          "conv", "attention", "mlp", "cnn", "resnet18", "resnet50", "lstm"}));
  command->add_option("-d,--device", options->device, "cpu, opencl:0, gpu:0, …")->capture_default_str();
  command
      ->add_option("--dtype", options->dtype,
                   "Dtype of the arrays, or of networks' parameters, which may also be mixed16 or mixed_bf16")
      ->capture_default_str()
      ->check(
          catenary::command_line::one_of({"float16", "bfloat16", "float32", "float64", "int8", "int16", "int32",
                                          "int64", "uint8", "uint16", "uint32", "uint64", "mixed16", "mixed_bf16"}));
  command
      ->add_option("--size", options->size,
                   "Number of elements, rows of matrices, tokens, images or units. The default depends on WHAT")
      ->check(catenary::command_line::whole_number(std::int64_t{1}, std::int64_t{1} << 40));

  command
      ->add_option("--width", options->width,
                   "Units of mlp's layers (default 4096), or width and height of resnet50's images (default 224)")
      ->check(catenary::command_line::whole_number(std::int64_t{1}, std::int64_t{1} << 20));
  return {command, [=] { return bench(*options); }};
}

Command add_fetch(CLI::App& data) {
  const auto options = std::make_shared<FetchOptions>();
  CLI::App* command = data.add_subcommand("fetch", "Downloads a dataset from its publisher");
  command->footer(
      "Uses libcurl, which also reads http_proxy and https_proxy. Keeps a file only if its SHA-256 equals the "
      "published one.\n"
      "Run it where there is a network, for example on a cluster's login node.\n"
      "\n"
      "Example: catenary data fetch cifar-10");
  command->add_option("NAME", options->name, "A name listed by `catenary data`")->required();
  command->add_option("--to", options->to,
                      "Target folder. By default where programs look: below CATENARY_DATA or data");
  command->add_option("--url", options->url, "URL of a folder with the same files on another server");
  return {command, [=] { return fetch_data(*options); }};
}

Command add_data(CLI::App& app) {
  const Command list = add_listing(app, "data", "Lists the known datasets, and downloads them",
                                   "Example: catenary data\n"
                                   "         catenary data fetch cifar-10",
                                   list_data);
  list.app->add_subcommand("list", "Shows where each dataset is (the default)");
  const Command fetch = add_fetch(*list.app);
  return {list.app, [=] { return *fetch.app ? fetch.run() : list.run(); }};
}

/// Adds launch. `behind` are the words after --, which belong to the program and not to CLI11.
Command add_launch(CLI::App& app, const std::vector<std::string>& behind) {
  const auto options = std::make_shared<catenary::distributed::LaunchOptions>();
  CLI::App* command = app.add_subcommand(
      "launch", "Runs a program as several ranks on this machine, which train one model, without MPI");
  command->footer(
      "Put launch's options before the program's name or before --. Later arguments belong to the program.\n"
      "Output is passed on in whole lines. Equal lines of several ranks on standard error are printed once, unless "
      "lines\n"
      "have prefixes. A rank that fails ends the others.\n"
      "\n"
      "Example: catenary launch -n 4 train_mnist_mn -o result\n"
      "         catenary launch -n 2 --log-dir logs -- python train.py -n 100\n"
      "See docs/guide/distributed.md.\n"
      "Exit status: that of the rank that failed first, 128 plus the signal's number if a signal ended it.");
  command->add_option("-n,--ranks", options->ranks, "Number of ranks")
      ->required()
      ->check(catenary::command_line::whole_number(1, catenary::distributed::kMaxLaunchedRanks));
  command
      ->add_option("--grace", options->grace,
                   "Seconds for the other ranks to end after one has failed. After a signal all have 5 times as long")
      ->capture_default_str()
      ->check(catenary::command_line::positive_number());
  command->add_option("--log-dir", options->log_dir, "Also write the output of rank R to rank-R.log in this folder");
  command->add_flag("--prefix", options->prefix, "Begin each line with its rank: [2]");
  command->prefix_command();
  return {command, [=] {
            std::vector<std::string> program = command->remaining();
            program.insert(program.end(), behind.begin() + (program.empty() && !behind.empty() ? 1 : 0), behind.end());
            return catenary::distributed::launch(program, *options);
          }};
}

/// Adds all commands, in the order of --help.
std::vector<Command> add_commands(CLI::App& app, const std::vector<std::string>& behind) {
  return {
      add_listing(app, "info", "Shows versions, CPU, backends and their devices, kernel cache and data",
                  "Example: catenary info >report.txt\nPut the output into bug reports.", info),
      add_listing(app, "devices", "Lists the devices: cupy's ordinal or -, name, memory, and which is the default",
                  "Example: catenary devices\nThe option --device of other commands takes these names.", list_devices),
      add_inspect(app),
      add_convert(app),
      add_generate(app),
      add_run(app),
      add_quantize(app),
      add_doctor(app),
      add_cache(app),
      add_bench(app),
      add_data(app),
      add_launch(app, behind)};
}

/// Tells a mistake in the command line. Returns the exit status.
int refuse(const CLI::App& app, const CLI::ParseError& error, const char* first_word) {
  // CLI11 reports a missing subcommand before an unknown word.
  if (error.get_exit_code() == 0 || first_word == nullptr || !app.get_subcommands().empty())
    return catenary::command_line::exit(app, error);
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  catenary::command_line::complain("catenary: " + catenary::command_line::one_of(commands).error(first_word));
  return 2;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Checks this machine and its devices, measures their speed, inspects and converts files, runs ONNX and language "
      "models, and starts programs as several processes.");
  app.footer(
      "First steps:\n"
      "  catenary doctor             checks drivers and devices, with remedies\n"
      "  catenary info               shows versions and devices, for bug reports\n"
      "  catenary devices            lists the devices\n"
      "  catenary bench gemm --device opencl:0\n"
      "  catenary generate MODEL --chat\n"
      "  catenary COMMAND --help     shows the options and an example of a command\n"
      "Exit status: 0 for success, 1 for an error, 2 for a wrong command line.");
  app.set_version_flag("--version", fmt::format("Catenary {}", catenary::version()), "Print only the version");
  app.require_subcommand(1);
  int own = argc;
  if (argc > 1 && std::string_view(argv[1]) == "launch")
    own = static_cast<int>(std::find(argv + 2, argv + argc, std::string_view("--")) - argv);
  const std::vector<Command> commands = add_commands(app, std::vector<std::string>(argv + own, argv + argc));
  try {
    app.parse(own, argv);
  } catch (const CLI::ParseError& error) {
    return refuse(app, error, argc > 1 ? argv[1] : nullptr);
  }
  try {
    catenary::environment::check();
    for (const Command& command : commands)
      if (*command.app) return command.run();
    return 2;  // CLI11 requires a command
  } catch (const std::exception& error) {
    // otherwise main reports it
    return std::ferror(stdout) == 0 ? catenary::command_line::failure("catenary", error) : 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int status = run(argc, argv);
  // flush the remaining output, and check for errors
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  fmt::print(stderr, "catenary: cannot write to standard output{}\n",
             errno == 0 ? "" : fmt::format(": {}", std::strerror(errno)));
  return 1;
}
