#pragma once
// The subcommands. Each returns the exit status: 0 fine, 1 something was found to be wrong.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace catenary::command {

int info(bool json);
/// A line for each device: its ordinal in cupy or '-', its name, its memory, what it is, and what it is the default of.
int list_devices(bool json);
int inspect(const std::vector<std::string>& files, bool json);

struct ConvertOptions {
  std::string from, to;            ///< files
  std::vector<std::string> rules;  ///< as serializers::Names takes them
};
/// Whether a word is a rule: the name of one, or THEIRS=OURS.
bool is_conversion_rule(const std::string& word);
/// Writes the tensors of a file under the names that they have here.
int convert(const ConvertOptions& options);

struct GenerateArguments {
  std::string model;                  ///< as links::load_language_model takes it
  std::optional<std::string> prompt;  ///< text, or numbers with `ids`; with `chat` it may be missing: standard input
  std::string device = "cpu";
  std::string dtype = "float32";  ///< of the weights, or "stored"
  std::int64_t tokens = 100;
  double temperature = 1;
  std::int64_t top_k = 0;
  double top_p = 1;
  double min_p = 0;
  double repetition_penalty = 1;
  std::vector<std::string> stop;      ///< the text ends before the first of these
  std::optional<std::string> system;  ///< what stands before a chat's messages
  std::uint64_t seed = 0;
  std::int64_t context = 0;  ///< 0: the model's
  bool exact = false;        ///< config.int8_products is false; else true
  bool ids = false;          ///< prompt and text are numbers of tokens
  bool chat = false;         ///< the prompt is a message, in the form of chats that the model has learnt
  bool verbose = false;      ///< figures on standard error where that is no terminal, too
};
/// Writes what follows a prompt, or the answers of a chat, as it comes. The exit status is 128 and a signal's number
/// where one ended it.
int generate(const GenerateArguments& arguments);

struct QuantizeFileOptions {
  std::string from, to;           ///< files
  std::string kind = "Q8_0";      ///< as Mixture takes it
  std::vector<std::string> keep;  ///< regular expressions of names that stay as they are
};
/// Writes the weights of a file in blocks, and tells of each what it was and what its blocks lose.
int quantize_file(const QuantizeFileOptions& options);

/// `list` names each entry; `clear` removes them; neither: their folder, number and size.
enum class CacheAction { summary, list, clear };
int cache(CacheAction action, bool json);

struct BenchOptions {
  std::string what;               ///< as the help of `bench` lists it
  std::string device = "cpu";     ///< as get_device takes it
  std::string dtype = "float32";  ///< of the arrays; of the parameters of networks, which may be mixed
  std::int64_t size = 0;          ///< elements, rows and columns of matrices, images or units; 0: usual ones
  std::int64_t width = 0;         ///< units of a layer of mlp, or sides of resnet50's images; 0: usual ones
  bool json = false;
};
int bench(const BenchOptions& options);

/// The datasets that are known by name, and where they are.
int list_data(bool json);
struct FetchOptions {
  std::string name;
  std::string to;   ///< the folder; where readers look when empty
  std::string url;  ///< what files' names are added to; the authors' home when empty
};
int fetch_data(const FetchOptions& options);

struct DoctorOptions {
  std::string root;  ///< a folder that holds another machine's files, or empty
  bool json = false;
};
int doctor(const DoctorOptions& options);
/// What doctor runs in processes of their own: one JSON object on standard output.
int probe(const std::string& name);

}  // namespace catenary::command
