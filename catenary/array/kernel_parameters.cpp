#include "catenary/array/kernel_parameters.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "catenary/core/error.h"
#include "catenary/core/format.h"

namespace catenary {

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (char c : text + " ") {
    if (!std::isspace(static_cast<unsigned char>(c))) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

/// Returns nothing if the word is not a dtype's name. A single letter is always a placeholder.
std::optional<Dtype> dtype_of_word(const std::string& word) {
  if (word.size() < 2) return std::nullopt;
  for (const auto& [name, dtype] :
       {std::pair("bool_", Dtype::bool_), {"int_", Dtype::int64}, {"double", Dtype::float64}, {"half", Dtype::float16}})
    if (word == name) return dtype;
  try {
    return dtype_from_name(word);
  } catch (const DtypeError&) {
    return std::nullopt;
  }
}

void check_kernel_name(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.empty() || is_digit(name.front()) ||
      !std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); }))
    fail<ValueError>(
        "Invalid kernel name: \"{}\"; expected a name of letters, digits and underscores that begins with no digit",
        name);
}

}  // namespace

std::int64_t KernelReduction::parts(bool on_processor) const {
  constexpr std::int64_t kOnProcessor = 256, kOnCard = 16384, kLeastRows = 512;
  const std::int64_t wanted = (on_processor ? kOnProcessor : kOnCard) / std::max<std::int64_t>(results, 1);
  return std::max<std::int64_t>(1, std::min(wanted, rows / kLeastRows));
}

KernelParameters::KernelParameters(const std::string& inputs, const std::string& outputs, std::string kernel,
                                   KernelRules rules)
    : kernel_(std::move(kernel)), rules_(rules) {
  check_kernel_name(kernel_);
  inputs_ = read(inputs);
  outputs_ = read(outputs);
}

std::vector<KernelParameter> KernelParameters::read(const std::string& text) const {
  std::vector<KernelParameter> parameters;
  if (words_of(text).empty()) return parameters;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    std::vector<std::string> words = words_of(text.substr(begin, comma - begin));
    KernelParameter p;
    while (words.size() > 2 &&
           ((words.front() == "raw" && !p.raw) || (rules_ == KernelRules::cupy && words.front() == "_non_const"))) {
      p.raw = p.raw || words.front() == "raw";
      words.erase(words.begin());
    }
    if (words.size() != 2)
      fail<ValueError>("kernel {}: '{}' is no parameter; expected 'TYPE NAME' or 'raw TYPE NAME' in \"{}\"", kernel_,
                       fmt::join(words_of(text.substr(begin, comma - begin)), " "), text);
    p.type = words[0];
    p.name = words[1];
    p.dtype = dtype_of_word(p.type);
    if (p.name == "i" || p.name == "_ind" || p.name.starts_with("__"))
      fail<ValueError>("kernel {}: a parameter cannot have the name {}", kernel_, p.name);
    if (rules_ == KernelRules::cupy && (p.dtype ? *p.dtype == Dtype::bfloat16 : p.type.size() > 1))
      fail<DtypeError>("kernel {}: the type {} of parameter {} is no dtype, and a placeholder is one letter", kernel_,
                       p.type, p.name);
    parameters.push_back(std::move(p));
    begin = comma + 1;
  }
  return parameters;
}

/// Decides the device and the types. Outputs decide first, then inputs, then numbers.
void KernelParameters::bind(KernelCall& call, const Arguments& arguments, const DtypeOfNumber& dtype_of_number) const {
  const std::size_t nin = inputs_.size(), nout = outputs_.size();
  if (arguments.size() < nin || arguments.size() > nin + nout)
    fail<ValueError>("kernel {}: {} arguments are given, it takes {} inputs and up to {} outputs", kernel_,
                     arguments.size(), nin, nout);
  const Array* first = nullptr;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const Array* a = arguments[k];
    if (!a && (k >= nin || (inputs_[k].raw && rules_ == KernelRules::library)))
      fail<DtypeError>("kernel {}: the parameter {} takes a{}, given a number", kernel_, at(k).name,
                       rules_ == KernelRules::cupy ? " cupy.ndarray" : "n array");
    if (!a) continue;
    if (first && a->device() != first->device())
      fail<DeviceError>("kernel {}: its arguments are on {} and on {}", kernel_, first->device().name(),
                        a->device().name());
    if (!first) first = a;
  }
  call.device = first ? first->device() : current_device();
  const auto bind_range = [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      if (!arguments[k]) continue;
      const KernelParameter& p = at(k);
      const Dtype given = arguments[k]->dtype();
      const Dtype bound = p.dtype ? *p.dtype : call.types.emplace(p.type, given).first->second;
      if (bound != given)
        fail<DtypeError>("kernel {}: the parameter \"{} {}\" takes {} here, its argument is {}", kernel_, p.type,
                         p.name, bound, given);
    }
  };
  bind_range(nin, arguments.size());
  bind_range(0, nin);
  for (std::size_t k = 0; k < nin; ++k) {
    if (arguments[k] || inputs_[k].dtype || call.types.count(inputs_[k].type)) continue;
    call.types.emplace(inputs_[k].type, dtype_of_number(k));
    call.by_number = true;
  }
  call.dtypes.reserve(nin + nout);
  for (std::size_t k = 0; k < nin + nout; ++k) {
    const KernelParameter& p = at(k);
    const auto known = p.dtype ? call.types.end() : call.types.find(p.type);
    if (!p.dtype && known == call.types.end())
      fail<DtypeError>("kernel {}: no argument determines the type {} of {}", kernel_, p.type, p.name);
    call.dtypes.push_back(p.dtype ? *p.dtype : known->second);
  }
}

/// Computes the shape that the first `count` arrays broadcast to, without raw ones. Returns false if there is none.
bool KernelParameters::broadcast(KernelCall& call, const Arguments& arguments, std::size_t count) const {
  bool found = false;
  for (std::size_t k = 0; k < count; ++k) {
    if (!arguments[k] || at(k).raw) continue;
    const Shape& shape = arguments[k]->shape();
    call.shape = found ? broadcast_shapes(call.shape, shape, "a user's kernel") : shape;
    found = true;
  }
  return found;
}

void KernelParameters::add_outputs(KernelCall& call, const Arguments& arguments, const Shape& shape) const {
  const std::size_t nin = inputs_.size();
  for (std::size_t k = nin; k < nin + outputs_.size(); ++k) {
    if (k >= arguments.size()) {
      call.outputs.push_back(Array::empty(shape, call.dtypes[k], call.device));
      continue;
    }
    if (!at(k).raw && arguments[k]->shape() != shape)
      fail<ShapeError>("kernel {}: Out shape is mismatched: {} has {}, expected {}", kernel_, at(k).name,
                       arguments[k]->shape(), shape);
    call.outputs.push_back(*arguments[k]);
  }
}

KernelCall KernelParameters::elementwise(const Arguments& arguments, const DtypeOfNumber& dtype_of_number,
                                         std::optional<std::int64_t> size) const {
  KernelCall call;
  bind(call, arguments, dtype_of_number);
  const bool by_arrays = broadcast(call, arguments, arguments.size()), is_cupys = rules_ == KernelRules::cupy;
  if (by_arrays && size)
    fail<ValueError>("Specified 'size' can be used only if all of the ndarray are 'raw': kernel {}", kernel_);
  if (!by_arrays && !size && is_cupys)
    fail<ValueError>("Loop size is undecided. 'size' is needed where no array is given that is not 'raw': kernel {}",
                     kernel_);
  if (size) {
    call.shape = {*size};
  } else if (!by_arrays && arguments.size() > inputs_.size()) {
    call.shape = arguments[inputs_.size()]->shape();
  }
  if (is_cupys && !size && arguments.size() == inputs_.size() &&
      std::any_of(outputs_.begin(), outputs_.end(), [](const KernelParameter& p) { return p.raw; }))
    fail<ValueError>("kernel {}: Output array size is Undecided", kernel_);
  add_outputs(call, arguments, call.shape);
  return call;
}

KernelReduction KernelParameters::reduction(const Arguments& arguments, const DtypeOfNumber& dtype_of_number,
                                            const AxisArg& axes, bool keepdims, bool has_identity) const {
  KernelReduction call;
  bind(call, arguments, dtype_of_number);
  if (!broadcast(call, arguments, inputs_.size()) && rules_ == KernelRules::cupy)
    fail<ValueError>("kernel {}: no input is an array that is not raw", kernel_);
  const int ndim = call.shape.size();
  std::vector<bool> goes(static_cast<std::size_t>(ndim), false);
  for (std::int64_t axis : axes.normalized(ndim, kernel_.c_str())) goes[static_cast<std::size_t>(axis)] = true;
  Shape result;
  for (const bool last : {false, true})
    for (int axis = 0; axis < ndim; ++axis)
      if (goes[static_cast<std::size_t>(axis)] == last) call.order.push_back(axis);
  for (int axis = 0; axis < ndim; ++axis) {
    const bool gone = goes[static_cast<std::size_t>(axis)];
    (gone ? call.rows : call.results) *= call.shape[axis];
    if (!gone || keepdims) result.push_back(gone ? 1 : call.shape[axis]);
  }
  if (call.rows == 0 && call.results > 0 && !has_identity)
    fail<ValueError>("zero-size array to reduction operation {} which has no identity", kernel_);
  add_outputs(call, arguments, result);
  return call;
}

}  // namespace catenary
