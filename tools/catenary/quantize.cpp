#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <utility>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "catenary/io/gguf.h"
#include "catenary/io/identify.h"
#include "tools/catenary/commands.h"
#include "tools/catenary/mixture.h"
#include "tools/catenary/tensors.h"

namespace catenary::command {

namespace {

/// A weight of a file and its quantised form.
struct Weight {
  std::string name;
  io::HostArray values;
  std::optional<QuantizedArray> blocks;
};

/// Why blocks are not quantised.
constexpr const char* kTwice = "already quantised; quantising again would add both errors";

class Quantizer {
 public:
  explicit Quantizer(const QuantizeFileOptions& options) : mixture_(options.kind) {
    for (const std::string& pattern : options.keep) {
      try {
        keep_.emplace_back(pattern);
      } catch (const std::regex_error& error) {
        throw ValueError(fmt::format("quantize: '{}' is not a regular expression: {}", pattern, error.what()));
      }
    }
  }

  /// Sets the names of the file's tensors.
  void look_at(const std::vector<std::string>& names) {
    mixture_.look_at(names);
    fmt::print("{}", mixture_.description());
  }

  /// Prints that a tensor is not quantised, and why.
  void stays(const std::string& name, const Shape& shape, std::string_view kind, std::uint64_t bytes,
             const std::string& why = "") {
    const auto size = static_cast<std::int64_t>(bytes);
    tell(name, shape, size, size, fmt::format("{:>6} {:>9}", kind, "-"));
    if (!why.empty()) fmt::print("{:>12}    {} stays: {}\n", "", name, why);
  }

  /// Adds a tensor, quantises it if possible, and prints the result. GGUF has no padded blocks. In other files, links
  /// expect blocks in place of W, and language models in place of `weight`.
  void add(const std::string& name, io::HostArray values, bool gguf = false) {
    Weight weight{name, std::move(values), {}};
    const Shape& shape = weight.values.shape;
    const bool kept =
        std::any_of(keep_.begin(), keep_.end(), [&](const auto& r) { return std::regex_search(name, r); });
    const Quantization kind =
        mixture_.kind(name, shape.empty() ? 0 : shape.product() / std::max<std::int64_t>(shape[0], 1));
    const std::int64_t elements = quantization_info(kind).elements;
    const bool padded = gguf && !shape.empty() && shape.back() % elements != 0;
    // vectors are biases and parameters of normalizations
    const bool wanted = is_floating(weight.values.dtype) && shape.size() >= 2 && !kept;
    const std::string own = name.substr(name.find_last_of("./") + 1);
    const bool found = gguf || own == "W" || own == "weight";
    if (wanted && !padded && found) {
      const Array before = from_host(weight.values, Device()).astype(Dtype::float32);
      weight.blocks = quantize(before, kind);
      const auto squares = [](const Array& x) { return static_cast<double>(sum(square(x)).item<float>()); };
      const double all = squares(before);
      const double error = all > 0 ? std::sqrt(squares(dequantize(*weight.blocks) - before) / all) : 0;
      tell(name, shape, static_cast<std::int64_t>(weight.values.nbytes()), weight.blocks->nbytes(),
           fmt::format("{:>6} {:9.6f}", quantization_info(kind).name, error));
    } else {
      stays(name, shape, dtype_name(weight.values.dtype), weight.values.nbytes(),
            !wanted  ? ""
            : !found ? "only tensors named W or weight can be loaded as blocks"
                     : fmt::format("rows of {} are not a multiple of {}", shape.back(), elements));
    }
    weights.push_back(std::move(weight));
  }

  /// Adds blocks that are not changed.
  void keep(const std::string& name, io::HostArray values, const Blocks& blocks, const std::string& why) {
    stays(blocks.name, blocks.shape, quantization_info(blocks.kind).name, values.nbytes(), why);
    weights.push_back({name, std::move(values), {}});
  }

  const Mixture& mixture() const { return mixture_; }
  void tell_sum(const std::string& file) const {
    fmt::print("{}: {} tensors, {} bytes instead of {}: 1/{:.2f}\n", file, count_, after_, before_,
               static_cast<double>(before_) / static_cast<double>(std::max<std::int64_t>(after_, 1)));
  }

  std::vector<Weight> weights;

 private:
  void tell(const std::string& name, const Shape& shape, std::int64_t before, std::int64_t after,
            const std::string& what) {
    fmt::print("{:>12} -> {:>12} {} {} {}\n", before, after, what, name, shape.str());
    ++count_;
    before_ += before;
    after_ += after;
  }

  Mixture mixture_;
  std::vector<std::regex> keep_;
  std::int64_t count_ = 0, before_ = 0, after_ = 0;
};

/// The tensors that a quantised link has in place of W: links/quantized.h.
Tensors as_links_have_them(const std::vector<Weight>& weights) {
  Tensors tensors;
  for (const Weight& weight : weights) {
    if (!weight.blocks) {
      tensors.emplace_back(weight.name, weight.values);
      continue;
    }
    std::vector<std::int64_t> kind = {static_cast<std::int64_t>(weight.blocks->kind())};
    for (const std::int64_t extent : weight.blocks->shape()) kind.push_back(extent);
    tensors.emplace_back(blocks_name(weight.name), to_host(weight.blocks->blocks()));
    tensors.emplace_back(
        kind_name(weight.name),
        to_host(Array::from_host(kind.data(), {static_cast<std::int64_t>(kind.size())}, Dtype::int64, Device())));
  }
  return tensors;
}

void quantize_gguf(const QuantizeFileOptions& options, Quantizer& quantizer) {
  const io::GgufReader reader(options.from);
  if (quantizer.mixture().base() == Quantization::int8)
    throw ValueError("quantize: GGUF does not support int8; use Q8_0, which is as large");
  quantizer.look_at(reader.names());
  std::vector<io::GgufTensor> tensors;
  for (const std::string& name : reader.names()) {
    const io::GgufReader::Tensor& tensor = reader.tensor(name);
    if (tensor.kind) {
      quantizer.stays(name, tensor.shape, tensor.type_name, tensor.end - tensor.begin, kTwice);
      tensors.push_back({name, reader.read(name), tensor.kind, tensor.shape});
      continue;
    }
    if (tensor.read_as_numbers)
      fmt::print("{:>12}    {} is of {}: its numbers are quantised again\n", "", name, tensor.type_name);
    quantizer.add(name, reader.read(name), true);
    Weight& weight = quantizer.weights.back();
    if (weight.blocks) {
      tensors.push_back({name, to_host(weight.blocks->blocks()), weight.blocks->kind(), weight.values.shape});
    } else {
      tensors.push_back({name, weight.values});
    }
    weight.values = {};
  }
  io::GgufMetadata metadata;
  const std::optional<std::uint32_t> file_type = quantizer.mixture().file_type();
  constexpr std::string_view kFileType = "general.file_type";
  for (const std::string_view key : reader.keys())
    if (!file_type || key != kFileType) metadata.emplace_back(std::string(key), reader.value(key));
  if (file_type) metadata.emplace_back(std::string(kFileType), *file_type);
  make_folder_of(options.to);
  io::write_gguf(options.to, metadata, tensors);
  quantizer.tell_sum(options.to);
}

}  // namespace

int quantize_file(const QuantizeFileOptions& options) {
  Quantizer quantizer(options);
  const io::FileKind from =
      os::is_directory(options.from) ? io::FileKind::safetensors_index : io::identify(options.from);
  const bool is_gguf = options.to.ends_with(".gguf");
  if (!is_gguf && !options.to.ends_with(".npz") && !options.to.ends_with(".safetensors"))
    throw ValueError(options.to + ": the name of the file to write must end with .npz, .safetensors or .gguf");
  if (is_gguf != (from == io::FileKind::gguf))
    throw ValueError(
        fmt::format("quantize: cannot convert {} to {}: GGUF files become GGUF files, npz and safetensors become npz "
                    "or safetensors",
                    options.from, options.to));
  if (is_gguf) {
    quantize_gguf(options, quantizer);
    return 0;
  }
  Tensors tensors = read_tensors(options.from);
  std::vector<std::string> names;
  for (const auto& [name, values] : tensors) names.push_back(name);
  quantizer.look_at(names);
  const auto find = [&](const std::string& wanted) -> std::optional<io::HostArray> {
    const auto at = std::ranges::find(tensors, wanted, &Tensors::value_type::first);
    return at == tensors.end() ? std::nullopt : std::optional(at->second);
  };
  std::set<std::string> kinds;  // names of block tensors
  std::map<std::string, Blocks> blocks;
  for (const auto& [name, values] : tensors)
    if (const auto held = blocks_of(name, values.dtype, values.shape, find)) {
      blocks.emplace(name, *held);
      kinds.insert(kind_name(held->name));
    }
  for (auto& [name, values] : tensors) {
    if (const auto held = blocks.find(name); held != blocks.end())
      quantizer.keep(name, std::move(values), held->second, kTwice);
    else if (kinds.contains(name))
      quantizer.weights.push_back({name, std::move(values), {}});
    else
      quantizer.add(name, std::move(values));
  }
  write_tensors(options.to, as_links_have_them(quantizer.weights));
  quantizer.tell_sum(options.to);
  return 0;
}

}  // namespace catenary::command
