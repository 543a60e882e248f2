#pragma once
// The subcommands. Each returns the exit status: 0 success, 1 for a problem.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace catenary::command {

int info(bool json);
/// Prints a line for each device: its ordinal in cupy or '-', name, memory, kind, and whether it is a default.
int list_devices(bool json);
int inspect(const std::vector<std::string>& files, bool json);

struct ConvertOptions {
  std::string from, to;            ///< files
  std::vector<std::string> rules;  ///< in the form of serializers::Names
};
/// Whether a word is a rule: the name of one, or THEIRS=OURS.
bool is_conversion_rule(const std::string& word);
/// Writes a file's tensors under Catenary's names.
int convert(const ConvertOptions& options);

struct RunModelArguments {
  std::string model;                ///< an ONNX file
  std::vector<std::string> inputs;  ///< FILE.npy in the order of the inputs, or NAME=FILE.npy; .npz for sequences
  std::string output;               ///< folder for NAME.npy or NAME.npz; empty to print the outputs
  std::string device = "cpu";
  bool bench = false;  ///< also print the time of a run
};
/// Runs an ONNX model once, and prints or writes its outputs.
int run_model(const RunModelArguments& arguments);

struct GenerateArguments {
  std::string model;                  ///< path for links::load_language_model
  std::optional<std::string> prompt;  ///< text, or token ids with `ids`; optional with `chat` (standard input)
  std::string device = "cpu";
  std::string dtype = "float32";  ///< of the weights, or "stored"
  std::int64_t tokens = 100;
  double temperature = 1;
  std::int64_t top_k = 0;
  double top_p = 1;
  double min_p = 0;
  double repetition_penalty = 1;
  std::vector<std::string> stop;      ///< the text ends before the first of these
  std::optional<std::string> system;  ///< system message of a chat
  std::uint64_t seed = 0;
  std::int64_t context = 0;  ///< 0 for the model's
  bool exact = false;        ///< sets config.int8_products to false
  bool ids = false;          ///< prompt and text are token ids
  bool chat = false;         ///< the prompt is a message in the model's chat form
  bool verbose = false;      ///< also print statistics if standard error is not a terminal
};
/// Writes the text after a prompt, or the answers of a chat, as they are generated. Returns 128 plus the signal's
/// number if a signal ended it.
int generate(const GenerateArguments& arguments);

struct QuantizeFileOptions {
  std::string from, to;           ///< files
  std::string kind = "Q8_0";      ///< name for Mixture
  std::vector<std::string> keep;  ///< regular expressions of names that are not quantised
};
/// Quantises a file's weights, and prints each tensor's size before and after, and its error.
int quantize_file(const QuantizeFileOptions& options);

/// `list` prints each entry, `clear` removes them, `summary` prints folder, number and size.
enum class CacheAction { summary, list, clear };
int cache(CacheAction action, bool json);

struct BenchOptions {
  std::string what;               ///< as listed in the help of `bench`
  std::string device = "cpu";     ///< name for get_device
  std::string dtype = "float32";  ///< of arrays, or of networks' parameters, which may be mixed
  std::int64_t size = 0;          ///< elements, rows and columns of matrices, images or units, 0 for defaults
  std::int64_t width = 0;         ///< units of an mlp layer, or size of resnet50's images, 0 for defaults
  bool json = false;
};
int bench(const BenchOptions& options);

/// Lists the known datasets and where they are.
int list_data(bool json);
struct FetchOptions {
  std::string name;
  std::string to;   ///< target folder, by default where readers look
  std::string url;  ///< prefix for file names, by default the publisher's server
};
int fetch_data(const FetchOptions& options);

struct DoctorOptions {
  std::string root;  ///< a folder with another machine's files, or empty
  bool json = false;
};
int doctor(const DoctorOptions& options);
/// Runs a check of doctor in a separate process: prints one JSON object.
int probe(const std::string& name);

}  // namespace catenary::command
