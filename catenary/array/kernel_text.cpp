#include "catenary/array/kernel_text.h"

#include <algorithm>
#include <cstring>

#include "catenary/array/body.h"
#include "catenary/core/format.h"
#include "catenary/kernels/types.h"
#include "catenary/ops/op.h"

namespace catenary {

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (char c : text + " ") {
    if (c != ' ' && c != '\n' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

}  // namespace

std::vector<KernelParameter> parse_parameters(const std::string& text, const std::string& kernel) {
  std::vector<KernelParameter> parameters;
  std::size_t begin = 0;
  while (begin <= text.size() && !words_of(text).empty()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::vector<std::string> words = words_of(text.substr(begin, comma - begin));
    KernelParameter p;
    p.raw = words.size() == 3 && words[0] == "raw";
    if (words.size() != (p.raw ? 3u : 2u))
      fail<ValueError>("kernel {}: '{}' is no parameter; expected 'TYPE NAME' or 'raw TYPE NAME' in \"{}\"", kernel,
                       text.substr(begin, comma - begin), text);
    p.type = words[words.size() - 2];
    p.name = words.back();
    try {
      if (p.type.size() > 1) p.dtype = dtype_from_name(p.type);  // a single letter is always a placeholder
    } catch (const DtypeError&) {
    }
    parameters.push_back(std::move(p));
    begin = comma + 1;
  }
  return parameters;
}

void check_kernel_name(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.empty() || is_digit(name.front()) ||
      !std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); }))
    fail<ValueError>("kernel '{}': expected a name of letters, digits and underscores that begins with no digit", name);
}

void check_argument_count(std::size_t given, std::size_t least, std::size_t most, const std::string& kernel) {
  if (given < least || given > most)
    fail<ValueError>("kernel {}: {} arguments are given, it takes {} inputs{}", kernel, given, least,
                     most > least ? fmt::format(" and up to {} outputs", most - least) : "");
}

KernelLauncher& launcher_for(const Device& device, const std::string& kernel) {
  if (KernelLauncher* launcher = device.backend().launcher()) return *launcher;
  fail<DeviceError>(
      "kernel {}: the {} compiles no kernels; put its arguments on a device with a compiler (cuda:N, hip:N, "
      "opencl:N){}",
      kernel, device.name(),
      device.backend().host_addressable() ? ", or give an ElementwiseKernel a function for the CPU (.cpu)" : "");
}

const char* variable_type(Dtype dtype) { return kernels::register_type(ops::register_of(dtype)); }

void KernelTypes::bind(const KernelParameter& p, Dtype dtype) {
  if (p.dtype) {
    if (*p.dtype != dtype)
      fail<DtypeError>("kernel {}: parameter {} is {}, but its argument is {}", kernel_, p.name, *p.dtype, dtype);
    return;
  }
  const auto [known, fresh] = types_.emplace(p.type, dtype);
  if (!fresh && known->second != dtype)
    fail<DtypeError>("kernel {}: the type {} of parameter {} is {}, but its argument is {}", kernel_, p.type, p.name,
                     known->second, dtype);
}

Dtype KernelTypes::of(const KernelParameter& p) const {
  if (p.dtype) return *p.dtype;
  const auto known = types_.find(p.type);
  if (known == types_.end())
    fail<DtypeError>("kernel {}: no array argument says what the type {} of parameter {} is", kernel_, p.type, p.name);
  return known->second;
}

std::string KernelTypes::typedefs() const {
  std::string text;
  for (const auto& [name, dtype] : types_) text += fmt::format("typedef {} {};\n", variable_type(dtype), name);
  return text;
}

KernelInputs kernel_inputs(const std::vector<KernelParameter>& parameters, const std::vector<KernelOperand>& arguments,
                           KernelTypes& types, const std::string& kernel) {
  KernelInputs inputs;
  inputs.operands.assign(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(parameters.size()));
  bool found = false;
  for (const KernelOperand& operand : inputs.operands) {
    if (!operand.is_array()) continue;
    if (!found) inputs.device = operand.array().device();
    if (operand.array().device() != inputs.device)
      fail<DeviceError>("kernel {}: its arguments are on {} and on {}", kernel, inputs.device.name(),
                        operand.array().device().name());
    found = true;
  }
  if (!found) inputs.device = current_device();
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const KernelParameter& p = parameters[k];
    const KernelOperand& operand = inputs.operands[k];
    if (p.raw && !operand.is_array())
      fail<ValueError>("kernel {}: parameter {} is raw and takes an array", kernel, p.name);
    if (!operand.is_array()) continue;
    types.bind(p, operand.array().dtype());
    if (!p.raw) inputs.shape = broadcast_shapes(inputs.shape, operand.array().shape(), "a user's kernel");
  }
  for (std::size_t k = 0; k < parameters.size(); ++k)
    if (!inputs.operands[k].is_array() && !types.knows(parameters[k]))
      types.bind(parameters[k], inputs.operands[k].scalar().default_dtype());
  return inputs;
}

std::vector<Array> cpu_inputs(const KernelInputs& inputs) {
  std::vector<Array> arrays;
  for (const KernelOperand& operand : inputs.operands)
    arrays.push_back(operand.is_array() ? operand.array()
                                        : full({}, operand.scalar(), operand.scalar().default_dtype()));
  return arrays;
}

template <class T>
void KernelLaunch::number(const char* type, const std::string& name, T value) {
  parameters_ += fmt::format("{} {}, ", type, name);
  names_ += name + ", ";
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  numbers_.emplace_back(bits, sizeof(T));
}

void KernelLaunch::pointer(const std::string& name, const View& view, bool written) {
  number(fmt::format("GLOBAL {}{}*", written ? "" : "const ", kernels::memory_type(view.dtype)).c_str(), name + "_p",
         reinterpret_cast<std::uint64_t>(view.handle));
  number("i64", name + "_at", view.offset);
}

void KernelLaunch::value(const std::string& name, const Scalar& scalar, Dtype dtype) {
  if (is_complex(dtype)) detail::refuse_complex(dtype);
  const char* type = variable_type(dtype);
  switch (ops::register_of(dtype)) {
    case ops::Reg::f32:
      return number(type, name, static_cast<float>(scalar.real()));
    case ops::Reg::f64:
      return number(type, name, scalar.real());
    case ops::Reg::i32:
      return number(type, name, static_cast<std::int32_t>(scalar.integer()));
    case ops::Reg::b:
      return number(type, name, static_cast<std::uint8_t>(scalar.integer() != 0));
    default:
      return number(type, name, scalar.integer());
  }
}

void KernelLaunch::extent(const std::string& name, std::int64_t value) { number("i64", name, value); }

std::string KernelLaunch::inputs(const std::vector<KernelParameter>& parameters, const KernelInputs& inputs,
                                 const KernelTypes& types) {
  std::string loads;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const KernelParameter& p = parameters[k];
    const Dtype dtype = types.of(p);
    if (!inputs.operands[k].is_array()) {
      value(p.name, inputs.operands[k].scalar(), dtype);
      continue;
    }
    const Array x = inputs.operands[k].array().astype(dtype);
    const bool single = !p.raw && x.size() == 1;
    kept_.push_back((p.raw || single ? x : broadcast_to(x, inputs.shape)).contiguous());
    pointer(p.name, readable(kept_.back()), false);
    if (p.raw) {
      loads +=
          fmt::format("GLOBAL const {}* {} = {}_p + {}_at;\n", kernels::memory_type(dtype), p.name, p.name, p.name);
    } else {
      loads += fmt::format("const {} {} = LOAD_{}({}_p, {}_at{});\n", variable_type(dtype), p.name, dtype_name(dtype),
                           p.name, p.name, single ? "" : " + i");
    }
  }
  return loads;
}

void KernelLaunch::run(KernelLauncher& launcher, const Device& device, const void* kernel, std::int64_t groups,
                       int group_size) const {
  std::vector<KernelArgument> arguments;
  for (const auto& [bits, size] : numbers_) arguments.push_back({&bits, size});
  launcher.launch(device, kernel, {groups, group_size}, arguments);
}

std::string kernel_loops(int group_size) {
  return "#define idx i64\n" + kernels::macro("FOR_UNITS(i, n)", kernels::for_units(group_size == 1));
}

}  // namespace catenary
