// The command `catenary`: shows devices, checks drivers, measures speed, and inspects and converts files.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "catenary/core/command_line.h"
#include "catenary/core/environment.h"
#include "catenary/core/os/memory.h"
#include "catenary/core/version.h"
#include "catenary/distributed/launch.h"
#include "tools/catenary/commands.h"

namespace {

using namespace catenary::command;

void add_json(CLI::App* command, bool& json) {
  command->add_flag("--json", json, "One JSON object on standard output");
}

// Each function adds a command whose options are parsed into the given object.

CLI::App* add_convert(CLI::App& app, ConvertOptions& options) {
  CLI::App* command =
      app.add_subcommand("convert", "Weights of another framework: the same tensors under Catenary's names");
  command->footer(
      "FILE is safetensors (or an index of such files, or their folder), or NPZ of arrays; OUT is what its name\n"
      "ends with: .safetensors or .npz.\n"
      "Rules: torch maps weight, bias, running_mean and their like; torchvision and timm also the modules of ResNet,\n"
      "VGG and MobileNet-V2; THEIRS=OURS renames a tensor, or a module with all that is in it, and comes first.\n"
      "As catenary convert resnet18.safetensors -o resnet18.npz --from torchvision; see docs/guide/from-pytorch.md.");
  command->add_option("FILE", options.from, "The file");
  command->add_option("-o,--out", options.to, "The file to write")->required();
  command->add_option("--from", options.rules,
                      "Rules: torch, torchvision or timm, and THEIRS=OURS; names stay as they are without");
  return command;
}

CLI::App* add_generate(CLI::App& app, GenerateArguments& options) {
  CLI::App* command = app.add_subcommand("generate", "Text that a language model writes after a prompt");
  command->footer(
      "MODEL is a folder as `transformers` saves it: config.json, model.safetensors or its parts with an index, and\n"
      "tokenizer.json or SentencePiece's tokenizer.model; or a GGUF file.\n"
      "Text appears as it comes; figures follow on standard error where that is a terminal. Ctrl-C ends the text.\n"
      "As catenary generate MODEL --prompt 'Once upon a time' -n 200 --top-p 0.9; see docs/guide/language-models.md.\n"
      "Exit status: 130 after Ctrl-C.");
  command->add_option("MODEL", options.model, "The model")->required();
  command->add_option("-p,--prompt", options.prompt,
                      "What the text follows; without it, with --chat, each line of standard input is a message");
  command->add_option("-n,--tokens", options.tokens, "How many tokens at most")
      ->capture_default_str()
      ->check(catenary::command_line::whole_number(std::int64_t{0}, std::int64_t{1} << 40));
  command->add_option("--temperature", options.temperature, "Scores are divided by it; 0 takes the most likely token")
      ->capture_default_str()
      ->check(catenary::command_line::number(0, INFINITY));
  command->add_option("--top-k", options.top_k, "Only the so many most likely tokens; 0: all")
      ->capture_default_str()
      ->check(catenary::command_line::whole_number(0, std::int64_t{1} << 40));
  command->add_option("--top-p", options.top_p, "Only the most likely tokens whose probabilities come to this")
      ->capture_default_str()
      ->check(catenary::command_line::number(1e-6, 1.0));
  command
      ->add_option("--min-p", options.min_p, "Only tokens with at least this part of the most likely one's probability")
      ->capture_default_str()
      ->check(catenary::command_line::number(0.0, 1.0));
  command
      ->add_option(
          "--repetition-penalty", options.repetition_penalty,
          "Divides the scores of tokens that are there already, where they are positive, and multiplies the others")
      ->capture_default_str()
      ->check(catenary::command_line::positive_number());
  command->add_option("--stop", options.stop, "The text ends before this string; may be given several times")
      ->allow_extra_args(false);
  command->add_option("--system", options.system, "What a chat begins with: how the model is to answer");
  command->add_option("--seed", options.seed, "Of the choices")
      ->capture_default_str()
      ->check(catenary::command_line::whole_number(0, ~std::uint64_t{0}));
  command->add_option("-d,--device", options.device, "cpu, opencl:0, gpu:0, …")->capture_default_str();
  command->add_option("--dtype", options.dtype, "Of the weights, stored: as the embeddings in the file")
      ->capture_default_str()
      ->check(catenary::command_line::one_of({"float16", "bfloat16", "float32", "float64", "stored"}));
  command->add_option("--context", options.context, "Tokens of prompt and text together; 0: what the model has")
      ->capture_default_str()
      ->check(catenary::command_line::whole_number(0, std::int64_t{1} << 40));
  command->add_flag("--exact", options.exact,
                    "Quantised weights are multiplied with floats, not with what is rounded to 8 bits");
  command->add_flag("--ids", options.ids, "Prompt and text are numbers of tokens");
  command->add_flag("--chat", options.chat,
                    "The prompt is a message, to which the model answers: for models whose chats have the form "
                    "of Llama 3, Qwen2 (ChatML), GLM-4, Zephyr and TinyLlama, or Llama 2 and Mistral ([INST])");
  command->add_flag("-v,--verbose", options.verbose, "Figures also where standard error is no terminal");
  return command;
}

CLI::App* add_quantize(CLI::App& app, QuantizeFileOptions& options) {
  CLI::App* command =
      app.add_subcommand("quantize", "Weights in blocks of 4, 6 or 8 bits: a file that is 2 to 7 times smaller");
  command->footer(
      "A GGUF file becomes a GGUF file, whose metadata stays; npz and safetensors (an index or a folder of such, too)\n"
      "become npz or safetensors. OUT's folder is made where there is none. Tensors of floats with two axes or more\n"
      "become blocks, in npz and safetensors those that are called W or weight; a line for each tells bytes before "
      "and\n"
      "after, the kind, and the error: the root of the mean square of what is lost, by that of the weights. Linear,\n"
      "EmbedID and convolutions load npz and safetensors as they are; the W of other links (Deconvolution, Depthwise,\n"
      "Local, Bilinear) looks the same in a file, and --keep has to name it. `catenary generate` runs GGUF.\n"
      "As catenary quantize --kind Q4_K_M --keep output model.gguf -o small.gguf; see docs/guide/language-models.md.");
  command->add_option("FILE", options.from, "The file")->required();
  command->add_option("-o,--out", options.to, "The file to write")->required();
  command
      ->add_option("--kind", options.kind,
                   "Q8_0, Q6_K, Q4_K, Q4_0, int8 (not in GGUF), or llama.cpp's mixtures Q4_K_M and Q4_K_S")
      ->capture_default_str();
  command
      ->add_option("--keep", options.keep,
                   "A regular expression of names that stay as they are; may be given several times")
      ->allow_extra_args(false);  // so that FILE may follow
  return command;
}

void add_doctor(CLI::App& app, bool& json, DoctorOptions& options, std::string& probe_name) {
  CLI::App* command = app.add_subcommand(
      "doctor",
      "Checks drivers, permissions, libraries and devices: a line each, `OK|WARN|FAIL id what -> what to do`");
  command->footer(
      "Every driver is asked in a process of its own, so that one that crashes or hangs is a finding. Then each "
      "device\n"
      "compiles and runs kernels, and must give the CPU's numbers. docs/guide/gpus.md says what each id means.\n"
      "Exit status: 0 there is a usable device and no FAIL, 1 otherwise.");
  add_json(command, json);
  command->add_option("--root", options.root,
                      "Looks at the files of another machine below this folder (or CATENARY_DOCTOR_ROOT's); its "
                      "machine.json holds what "
                      "drivers said");
  command->add_option("--probe", probe_name)->group("");  // used by doctor itself
}

CLI::App* add_bench(CLI::App& app, bool& json, BenchOptions& options) {
  CLI::App* command = app.add_subcommand("bench", "Speed of one kind of work on a device: medians");
  add_json(command, json);
  command
      ->add_option("WHAT", options.what,
                   "gemm: product of square matrices; copy; elementwise: x * y + x; chain: eight operations in one "
                   "kernel; reduce: sum; sort; launch: x + y of few "
                   "elements, all that it takes until the driver has it; concat: four arrays joined along axis 1; "
                   "conv: the layers of networks, their images and sides at most --size; attention: causal, 8 heads of "
                   "64, --size tokens, forward alone and with its gradient; a training step of --size "
                   "images through mlp: train_mnist_deep's six layers, cnn: train_mnist's, resnet18: train_cifar's, or "
                   "resnet50: torchvision's, channels last; lstm: of a language model of two layers of --size units")
      ->required()
      ->check(
          catenary::command_line::one_of({"gemm", "copy", "elementwise", "chain", "reduce", "sort", "launch", "concat",
                                          "conv", "attention", "mlp", "cnn", "resnet18", "resnet50", "lstm"}));
  command->add_option("-d,--device", options.device, "cpu, opencl:0, gpu:0, …")->capture_default_str();
  command
      ->add_option("--dtype", options.dtype,
                   "Of the arrays; of networks' parameters, which may be mixed16 or mixed_bf16")
      ->capture_default_str()
      ->check(
          catenary::command_line::one_of({"float16", "bfloat16", "float32", "float64", "int8", "int16", "int32",
                                          "int64", "uint8", "uint16", "uint32", "uint64", "mixed16", "mixed_bf16"}));
  command
      ->add_option("--size", options.size,
                   "Elements, rows of the matrices, tokens, images or units; usual ones by default")
      ->check(catenary::command_line::whole_number(std::int64_t{1}, std::int64_t{1} << 40));

  command->add_option("--width", options.width, "Units of a layer of mlp (4096), or sides of resnet50's images (224)")
      ->check(catenary::command_line::whole_number(std::int64_t{1}, std::int64_t{1} << 20));
  return command;
}

CLI::App* add_fetch(CLI::App& data, FetchOptions& options) {
  CLI::App* command = data.add_subcommand("fetch", "Gets the files of one from its authors' home");
  command->footer(
      "By libcurl, which also reads http_proxy and https_proxy. A file is kept when its SHA-256 is the published one.\n"
      "To be called where there is a network, as on a cluster's login node.");
  command->add_option("NAME", options.name, "As `catenary data` lists them")->required();
  command->add_option("--to", options.to, "Folder; by default where programs look: below CATENARY_DATA or data");
  command->add_option("--url", options.url, "Another server's folder with the same files");
  return command;
}

CLI::App* add_launch(CLI::App& app, catenary::distributed::LaunchOptions& options) {
  CLI::App* command =
      app.add_subcommand("launch", "Runs a program as several ranks on this machine, which train one model; no MPI");
  command->footer(
      "Options of launch stand before the program's name, or before --; what follows is the program's. Lines of "
      "output\n"
      "are handed on whole; what several ranks say alike on standard error is said once unless lines have prefixes.\n"
      "A rank that fails ends the others. Exit status: the program's, of the rank that failed first;\n"
      "128 and the signal's number where a signal ended it.");
  command->add_option("-n,--ranks", options.ranks, "How many")
      ->required()
      ->check(catenary::command_line::whole_number(1, catenary::distributed::kMaxLaunchedRanks));
  command
      ->add_option(
          "--grace", options.grace,
          "Seconds that the others have to end when a rank has failed; all have 5 times as long after a signal")
      ->capture_default_str()
      ->check(catenary::command_line::positive_number());
  command->add_option("--log-dir", options.log_dir, "Folder in which what rank R writes goes to rank-R.log, too");
  command->add_flag("--prefix", options.prefix, "Lines begin with their rank: [2]");
  command->prefix_command();
  return command;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Catenary's command: what this machine offers, what is wrong with it, how fast it is, and what is in a file; and "
      "programs as several processes.");
  app.footer(
      "First steps:\n  catenary doctor             checks drivers and devices, and says what to do\n"
      "  catenary info               versions and devices, for a report\n"
      "  catenary devices            the devices, a line each\n"
      "  catenary bench gemm --device opencl:0\n"
      "Exit status: 0 fine, 1 something is wrong, 2 the command line is.");
  app.set_version_flag("--version", fmt::format("Catenary {}", catenary::version()), "The version, and nothing else");
  app.require_subcommand(1);
  bool json = false;

  CLI::App* info_command =
      app.add_subcommand("info", "Versions, processor, backends and their devices, kernel cache, data");
  add_json(info_command, json);

  CLI::App* devices_command = app.add_subcommand(
      "devices", "A line for each device: cupy's ordinal or -, name, memory, and which is the default");
  add_json(devices_command, json);

  std::vector<std::string> files;
  CLI::App* inspect_command = app.add_subcommand("inspect",
                                                 "Names, dtypes, shapes, minimum, mean and maximum of what is in NPY, "
                                                 "NPZ (trainer snapshots too), safetensors and IDX files; of GGUF "
                                                 "files metadata, kinds, shapes and bytes");
  add_json(inspect_command, json);
  inspect_command->add_option("FILE", files, "Files to look into; the kind is found by content")->required();

  ConvertOptions convert_options;
  CLI::App* convert_command = add_convert(app, convert_options);
  GenerateArguments generate_arguments;
  CLI::App* generate_command = add_generate(app, generate_arguments);
  QuantizeFileOptions quantize_options;
  CLI::App* quantize_command = add_quantize(app, quantize_options);
  DoctorOptions doctor_options;
  std::string probe_name;
  add_doctor(app, json, doctor_options, probe_name);

  std::string action = "summary";
  CLI::App* cache_command = app.add_subcommand("cache", "The folder of compiled kernels: how many, and how large");
  add_json(cache_command, json);
  cache_command->add_option("ACTION", action, "list: each of them; clear: removes them all")
      ->check(catenary::command_line::one_of({"list", "clear"}));

  BenchOptions bench_options;
  CLI::App* bench_command = add_bench(app, json, bench_options);
  FetchOptions fetch_options;
  CLI::App* data_command =
      app.add_subcommand("data", "Datasets that are known by name: which are here; fetches others");
  add_json(data_command, json);
  data_command->add_subcommand("list", "Where each of them is; so without a word, too");
  CLI::App* fetch_command = add_fetch(*data_command, fetch_options);
  catenary::distributed::LaunchOptions launch_options;
  CLI::App* launch_command = add_launch(app, launch_options);

  // arguments after -- belong to the program, not to CLI11
  int own = argc;
  if (argc > 1 && std::string_view(argv[1]) == "launch")
    own = static_cast<int>(std::find(argv + 2, argv + argc, std::string_view("--")) - argv);
  try {
    app.parse(own, argv);
    if (convert_command->parsed() && convert_options.from.empty()) {  // --from took FILE as another rule
      const auto file = std::ranges::find_if_not(convert_options.rules, is_conversion_rule);
      if (file == convert_options.rules.end()) throw CLI::RequiredError("FILE");
      convert_options.from = *file;
      convert_options.rules.erase(file);
    }
    if (generate_command->parsed() && !generate_arguments.prompt && !generate_arguments.chat)
      throw CLI::RequiredError("--prompt, or --chat");
  } catch (const CLI::ParseError& error) {
    // CLI11 reports a missing subcommand before an unknown word
    if (error.get_exit_code() != 0 && argc > 1 && app.get_subcommands().empty()) {
      std::vector<std::string> commands;
      for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
      catenary::command_line::complain("catenary: " + catenary::command_line::one_of(commands).error(argv[1]));
      return 2;
    }
    return catenary::command_line::exit(app, error);
  }
  try {
    catenary::environment::check();
    if (doctor_options.root.empty()) doctor_options.root = catenary::environment::text("CATENARY_DOCTOR_ROOT");
    if (*launch_command) {
      std::vector<std::string> program = launch_command->remaining();
      program.insert(program.end(), argv + own + (program.empty() && own < argc ? 1 : 0), argv + argc);
      return catenary::distributed::launch(program, launch_options);
    }
    if (*info_command) return info(json);
    if (*devices_command) return list_devices(json);
    if (*inspect_command) return inspect(files, json);
    if (*convert_command) return convert(convert_options);
    if (*generate_command) return generate(generate_arguments);
    if (*quantize_command) return quantize_file(quantize_options);
    if (*cache_command)
      return cache(action == "list"    ? CacheAction::list
                   : action == "clear" ? CacheAction::clear
                                       : CacheAction::summary,
                   json);
    if (*fetch_command) return fetch_data(fetch_options);
    if (*data_command) return list_data(json);
    bench_options.json = doctor_options.json = json;
    if (*bench_command) return bench(bench_options);
    return probe_name.empty() ? doctor(doctor_options) : probe(probe_name);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "catenary: out of memory on the processor: {}\n", catenary::os::memory_advice());
    return 1;
  } catch (const std::exception& error) {
    if (std::ferror(stdout) == 0) fmt::print(stderr, "catenary: {}\n", error.what());  // otherwise main reports it
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int status = run(argc, argv);
  // flush the remaining output, and check for errors
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  fmt::print(stderr, "catenary: what was printed could not be written{}\n",
             errno == 0 ? "" : fmt::format(": {}", std::strerror(errno)));
  return 1;
}
