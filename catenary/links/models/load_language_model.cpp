#include "catenary/links/models/load_language_model.h"

#include <algorithm>
#include <map>
#include <set>

#include "catenary/array/manipulation.h"
#include "catenary/autograd/without_values.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/io/identify.h"
#include "catenary/links/models/language_file.h"
#include "catenary/links/quantized.h"

namespace catenary::links {

namespace {

using detail::LanguageFile;
using serializers::LanguageLayout;
using serializers::LanguageTensor;
using Parameters = std::map<std::string, Parameter>;
/// The links that can hold quantised blocks in place of a parameter, by the parameter's path.
using Quantizable = std::map<std::string, QuantizableW*>;

constexpr const char* kModels =
    "a language model: a GGUF file, or the folder of config.json, tokenizer.json and weights as safetensors";

/// "a, b, c and 12 more".
std::string some_of(const std::vector<std::string>& all) {
  constexpr std::size_t kMost = 8;
  const std::vector<std::string> first(
      all.begin(), all.begin() + std::ssize(all) +
                       std::min<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(kMost) - std::ssize(all)));
  return all.size() <= kMost ? fmt::format("{}", fmt::join(all, ", "))
                             : fmt::format("{} and {} more", fmt::join(first, ", "), all.size() - kMost);
}

/// The shape expected of a tensor in the file: the rows of all its parameters together.
Shape shape_in_file(const LanguageTensor& tensor, const Parameters& parameters) {
  Shape shape = shape_of(parameters.at(tensor.ours.front()));
  for (std::size_t i = 1; i < tensor.ours.size(); ++i) shape[0] += shape_of(parameters.at(tensor.ours[i]))[0];
  return tensor.layout == LanguageLayout::transposed ? Shape{shape[1], shape[0]} : shape;
}

/// A tensor of the file and its parameters in the model.
struct Part {
  LanguageFile::Tensor from;
  LanguageTensor to;
};

/// All tensors to read. Throws FileError with the names of tensors that do not fit.
std::vector<Part> plan(const LanguageFile& file, const Parameters& parameters, const Quantizable& quantizable,
                       bool dequantize) {
  std::vector<Part> parts;
  std::set<std::string> filled;
  std::vector<std::string> surplus, missing, wrong;
  for (LanguageFile::Tensor& tensor : file.tensors()) {
    std::optional<LanguageTensor> to = serializers::language_tensor(file.format(), file.architecture(), tensor.name);
    if (to && to->layout == LanguageLayout::ignored) continue;
    // a model with tied weights may be saved with one or both names
    if (to && to->ours.front() == "head/W" && !parameters.contains("head/W")) continue;
    if (!to || !std::ranges::all_of(to->ours, [&](const auto& path) { return parameters.contains(path); })) {
      surplus.push_back(tensor.name);
      continue;
    }
    if (const Shape shape = shape_in_file(*to, parameters); tensor.shape != shape)
      wrong.push_back(fmt::format("{} is {}, not {}", tensor.name, tensor.shape, shape));
    const bool takes_blocks =
        tensor.kind &&
        (dequantize
             ? tensor.shape.size() > 1
             : to->layout != LanguageLayout::transposed &&
                   std::ranges::all_of(to->ours, [&](const std::string& path) { return quantizable.contains(path); }));
    if (!tensor.dtype && !takes_blocks)
      wrong.push_back(fmt::format("{} is {}, which is not supported", tensor.name, tensor.dtype_name));
    for (const std::string& path : to->ours)
      if (!filled.insert(path).second) surplus.push_back(fmt::format("{} ({} once more)", tensor.name, path));
    parts.push_back({std::move(tensor), std::move(*to)});
  }
  std::set<std::string> named;  // one tensor may be several parameters
  for (const auto& [path, parameter] : parameters)
    if (!filled.contains(path))
      if (std::string name = serializers::language_tensor_name(file.format(), file.architecture(), path);
          named.insert(name).second)
        missing.push_back(std::move(name));
  std::vector<std::string> words;
  if (!missing.empty()) words.push_back(fmt::format("{} tensors are missing: {}", missing.size(), some_of(missing)));
  if (!surplus.empty()) words.push_back(fmt::format("{} are unexpected: {}", surplus.size(), some_of(surplus)));
  if (!wrong.empty()) words.push_back(fmt::format("{} do not fit: {}", wrong.size(), some_of(wrong)));
  if (!words.empty())
    fail<FileError>("{}: its tensors do not match its settings for a {}: {}", file.path(), file.architecture(),
                    fmt::join(words, "; "));
  return parts;
}

Quantizable quantizable_of(const LanguageModel& model) {
  Quantizable all;
  model.for_each_link([&](const std::string& path, const Link& link) {
    auto* const of =
        dynamic_cast<QuantizableW*>(&const_cast<Link&>(link));  // the model is under construction here and not const
    if (of) all.emplace(path.substr(1) + "/W", of);
  });
  return all;
}

/// Splits rows of adjacent pairs into pairs half a head apart.
Array parted(const Array& rows, std::int64_t head_size) {
  const Shape shape = rows.shape();
  Shape heads{shape[0] / head_size, head_size / 2, 2};
  for (int axis = 1; axis < shape.size(); ++axis) heads.push_back(shape[axis]);
  return swapaxes(rows.reshape(heads), 1, 2).reshape(shape);
}

/// Reorders rows from queries, keys and values per head to all queries, all keys and all values.
Array gathered(const Array& rows, std::int64_t head_size) {
  const Shape shape = rows.shape();
  Shape heads{shape[0] / (3 * head_size), 3, head_size};
  for (int axis = 1; axis < shape.size(); ++axis) heads.push_back(shape[axis]);
  return swapaxes(rows.reshape(heads), 0, 1).reshape(shape);
}

/// The head size of the model's attention, equal in all layers.
std::int64_t head_size_of(const LanguageModel& model) {
  std::int64_t size = 0;
  model.for_each_link([&](const std::string&, const Link& link) {
    if (const auto* attention = dynamic_cast<const MultiHeadAttention*>(&link)) size = attention->head_size;
  });
  return size;
}

}  // namespace

std::unique_ptr<LanguageModel> detail::LanguageFile::make() const {
  std::unique_ptr<LanguageModel> model;
  try {
    model = by_settings();
  } catch (const FileError&) {
    throw;
  } catch (const Error& error) {  // for example for shapes larger than memory
    fail<FileError>("{}: {}", settings(), error.what());
  }
  model->end_tokens = end_tokens();
  return model;
}

std::int64_t detail::LanguageFile::most_layers() const {
  constexpr std::int64_t kMost = 10000;
  return std::min(kMost, static_cast<std::int64_t>(tensors().size()));
}

void detail::LanguageFile::check_architecture() const {
  const std::vector<std::string> known = serializers::language_architectures(format());
  if (std::ranges::count(known, architecture()) == 0)
    fail<FileError>("{}: unknown architecture '{}'; known are {}", path(), architecture(), fmt::join(known, ", "));
}

std::unique_ptr<detail::LanguageFile> detail::open_language_file(const std::string& path) {
  if (os::is_directory(path)) {
    if (!os::exists(path + "/config.json")) fail<FileError>("{}: config.json is missing; expected {}", path, kModels);
    return open_hugging_face(path);
  }
  {
    const os::FileView view(path);
    if (io::identify(view.bytes()) != io::FileKind::gguf) {
      const std::string what = io::what_it_is(view.bytes());
      fail<FileError>("{}: this is {}; expected {}", path, what.empty() ? "no kind of file that is known" : what,
                      kModels);
    }
  }
  return open_gguf(path);
}

std::unique_ptr<LanguageModel> load_language_model(const std::string& path, const LoadLanguageModelOptions& options) {
  if (options.dtype && !is_floating(*options.dtype))
    fail<DtypeError>("load_language_model: dtype must be floating, not {}", *options.dtype);
  const Device device = options.device.value_or(current_device());
  const std::unique_ptr<LanguageFile> file = detail::open_language_file(path);
  file->check_architecture();
  std::unique_ptr<LanguageModel> model;
  {
    const WithoutValues scope;
    model = file->make();
  }
  Parameters parameters;
  for (const auto& [name, parameter] : model->namedparams()) parameters.emplace(name.substr(1), parameter);
  const Quantizable quantizable = quantizable_of(*model);
  const std::vector<Part> parts = plan(*file, parameters, quantizable, options.dequantize);
  Dtype dtype = options.dtype.value_or(Dtype::float32);
  if (!options.dtype)
    for (const Part& part : parts)
      if (part.to.ours.front() == "tokens/W") dtype = part.from.dtype.value_or(Dtype::float32);
  if (!is_floating(dtype)) fail<FileError>("{}: its embeddings are {}; weights must be floating", file->path(), dtype);

  if (dtype != Dtype::float32 && !options.dequantize &&
      std::ranges::any_of(parts, [](const Part& part) { return part.from.kind.has_value(); }))
    fail<ValueError>(
        "{}: its quantised weights compute in float32, so .dtype must be float32, not {}; or set .dequantize for plain "
        "weights",
        file->path(), dtype);

  const std::int64_t head_size = head_size_of(*model);
  for (const Part& part : parts) {
    Array rows = file->read(part.from, device);
    const bool in_blocks = part.from.kind && !options.dequantize;
    if (part.from.kind && options.dequantize)
      rows = dequantize(QuantizedArray(rows, *part.from.kind, part.from.shape), dtype);
    if (part.to.layout == LanguageLayout::transposed) rows = rows.transpose();
    if (part.to.layout == LanguageLayout::by_heads) rows = gathered(rows, head_size);
    std::int64_t begin = 0;
    for (const std::string& to : part.to.ours) {
      const Parameter& parameter = parameters.at(to);
      const std::int64_t end = begin + shape_of(parameter)[0];
      Array own = part.to.ours.size() > 1 ? Array(rows(slice(begin, end))) : rows;
      if (part.to.layout == LanguageLayout::paired) own = parted(own, head_size);
      if (!in_blocks) own = own.astype(dtype);
      if (part.to.ours.size() > 1 || part.to.layout != LanguageLayout::same)
        own = own.copy();  // a contiguous copy of the part
      if (in_blocks)
        quantizable.at(to)->set_quantized(QuantizedArray(own, *part.from.kind, shape_of(parameter)));
      else
        parameter.set_array(own);
      begin = end;
    }
  }
  return model;
}

}  // namespace catenary::links
