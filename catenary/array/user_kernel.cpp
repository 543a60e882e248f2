#include "catenary/array/user_kernel.h"

#include <cstring>
#include <map>
#include <optional>

#include "catenary/array/body.h"
#include "catenary/core/format.h"
#include "catenary/device/kernel_launcher.h"
#include "catenary/kernels/types.h"
#include "catenary/ops/op.h"

namespace catenary {

namespace {

/// One of "float32 x, raw T y".
struct Parameter {
  std::string type, name;
  std::optional<Dtype> dtype;  // of a type that is no placeholder
  bool raw = false;
};

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

std::vector<Parameter> parse(const std::string& text, const std::string& kernel) {
  std::vector<Parameter> parameters;
  std::size_t begin = 0;
  while (begin <= text.size() && !words_of(text).empty()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::vector<std::string> words = words_of(text.substr(begin, comma - begin));
    Parameter p;
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

using kernels::memory_type;
const char* register_type(Dtype dtype) { return kernels::register_type(ops::register_of(dtype)); }

/// The dtypes of placeholders, as the arguments decide them.
class Types {
 public:
  explicit Types(const std::string& kernel) : kernel_(kernel) {}
  void bind(const Parameter& p, Dtype dtype) {
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
  Dtype of(const Parameter& p) const {
    if (p.dtype) return *p.dtype;
    const auto known = types_.find(p.type);
    if (known == types_.end())
      fail<DtypeError>("kernel {}: no array argument says what the type {} of parameter {} is", kernel_, p.type,
                       p.name);
    return known->second;
  }
  bool knows(const Parameter& p) const { return p.dtype || types_.count(p.type); }
  std::string typedefs() const {
    std::string text;
    for (const auto& [name, dtype] : types_) text += fmt::format("typedef {} {};\n", register_type(dtype), name);
    return text;
  }

 private:
  std::string kernel_;
  std::map<std::string, Dtype> types_;
};

KernelLauncher& launcher_for(const Device& device, const std::string& kernel) {
  if (KernelLauncher* launcher = launcher_of(device)) return *launcher;
  fail<DeviceError>(
      "kernel {}: the {} compiles no kernels; put its arguments on a device with a compiler (cuda:N, hip:N, "
      "opencl:N){}",
      kernel, device.name(), device.is_cpu() ? ", or give an ElementwiseKernel a function for the CPU (.cpu)" : "");
}

/// The text and the arguments of a kernel, made together.
class Launch {
 public:
  void pointer(const std::string& name, const View& view, bool written) {
    parameters_ += fmt::format("{}GLOBAL {}{}* {}_p, i64 {}_at", parameters_.empty() ? "" : ", ",
                               written ? "" : "const ", memory_type(view.dtype), name, name);
    number(reinterpret_cast<std::uint64_t>(view.handle));
    number(static_cast<std::uint64_t>(view.offset));
  }
  void value(const std::string& type, const std::string& name, const Scalar& scalar, Dtype dtype) {
    parameters_ += fmt::format("{}{} {}", parameters_.empty() ? "" : ", ", type, name);
    switch (ops::register_of(dtype)) {
      case ops::Reg::f32:
        number(static_cast<float>(scalar.real()));
        break;
      case ops::Reg::f64:
        number(scalar.real());
        break;
      case ops::Reg::i32:
        number(static_cast<std::int32_t>(scalar.integer()));
        break;
      case ops::Reg::b:
        number(static_cast<std::uint8_t>(scalar.integer() != 0));
        break;
      default:
        number(scalar.integer());
    }
  }
  void extent(const std::string& name, std::int64_t value) {
    parameters_ += fmt::format("{}i64 {}", parameters_.empty() ? "" : ", ", name);
    number(value);
  }
  const std::string& parameters() const { return parameters_; }
  void run(KernelLauncher& launcher, const Device& device, const void* kernel, std::int64_t groups,
           int group_size) const {
    std::vector<KernelArgument> arguments;
    for (const auto& [bits, size] : numbers_) arguments.push_back({&bits, size});
    launcher.launch(device.index(), kernel, groups, group_size, arguments);
  }

 private:
  template <class T>
  void number(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    numbers_.emplace_back(bits, sizeof(T));
  }
  std::string parameters_;
  std::vector<std::pair<std::uint64_t, std::size_t>> numbers_;
};

/// "kernel square: line 2 of its text …": the compiler's words name lines of the text after its first.
constexpr const char* kGridLoop = "for (i64 i = LOOP_BEGIN(n); i < LOOP_END(n); i += LOOP_STEP) {\n";
constexpr const char* kLoops =
    "#define LOOP_BEGIN(n) ((i64)GLOBAL_ID)\n#define LOOP_END(n) (n)\n#define LOOP_STEP ((i64)GLOBAL_SIZE)\n";
constexpr const char* kBlocks =
    "#define LOOP_BEGIN(n) ((n) * GROUP_ID / NUM_GROUPS)\n#define LOOP_END(n) ((n) * (GROUP_ID + 1) / "
    "NUM_GROUPS)\n#define LOOP_STEP 1\n";

/// The inputs of a call, and what is known from them.
struct Inputs {
  Device device;
  Shape shape;  // of all that are broadcast
  std::vector<KernelOperand> operands;
};

Inputs inputs_of(const std::vector<Parameter>& parameters, const std::vector<KernelOperand>& arguments, Types& types,
                 const std::string& kernel) {
  Inputs inputs;
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
    const Parameter& p = parameters[k];
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

/// Says how an element of each input is loaded at linear index i: into `loads`, with its arguments into `launch`.
void bind_inputs(const std::vector<Parameter>& parameters, const Inputs& inputs, const Types& types,
                 std::vector<Array>& keep, Launch& launch, std::string& loads) {
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const Parameter& p = parameters[k];
    const Dtype dtype = types.of(p);
    if (!inputs.operands[k].is_array()) {
      launch.value(register_type(dtype), p.name, inputs.operands[k].scalar(), dtype);
      continue;
    }
    Array x = inputs.operands[k].array().astype(dtype);
    const bool single = !p.raw && x.size() == 1;
    keep.push_back((p.raw || single ? x : broadcast_to(x, inputs.shape)).contiguous());
    launch.pointer(p.name, readable(keep.back()), false);
    if (p.raw) {
      loads += fmt::format("GLOBAL const {}* {} = {}_p + {}_at;\n", memory_type(dtype), p.name, p.name, p.name);
    } else {
      loads += fmt::format("const {} {} = LOAD_{}({}_p, {}_at{});\n", register_type(dtype), p.name, dtype_name(dtype),
                           p.name, p.name, single ? "" : " + i");
    }
  }
}

void check_count(std::size_t given, std::size_t least, std::size_t most, const std::string& kernel) {
  if (given < least || given > most)
    fail<ValueError>("kernel {}: {} arguments are given, it takes {} inputs{}", kernel, given, least,
                     most > least ? fmt::format(" and up to {} outputs", most - least) : "");
}

}  // namespace

struct ElementwiseKernel::State {
  std::vector<Parameter> in, out;
  std::string operation, name;
  UserKernelOptions options;
};

ElementwiseKernel::ElementwiseKernel(const std::string& in_params, const std::string& out_params,
                                     const std::string& operation, const std::string& name,
                                     const UserKernelOptions& options)
    : state_(std::make_shared<const State>(
          State{parse(in_params, name), parse(out_params, name), operation, name, options})) {
  if (state_->out.empty()) fail<ValueError>("kernel {}: it has no output", name);
}

std::vector<Array> ElementwiseKernel::call(const std::vector<KernelOperand>& arguments) const {
  const State& s = *state_;
  check_count(arguments.size(), s.in.size(), s.in.size() + s.out.size(), s.name);
  Types types(s.name);
  Inputs inputs = inputs_of(s.in, arguments, types, s.name);
  std::vector<Array> outputs;
  for (std::size_t k = s.in.size(); k < arguments.size(); ++k) {
    if (!arguments[k].is_array())
      fail<ValueError>("kernel {}: output {} is a number", s.name, s.out[k - s.in.size()].name);
    const Array& out = arguments[k].array();
    types.bind(s.out[k - s.in.size()], out.dtype());
    if (!s.out[k - s.in.size()].raw) {
      if (outputs.empty()) inputs.shape = broadcast_shapes(inputs.shape, out.shape(), "a user's kernel");
      if (out.shape() != inputs.shape)
        fail<ShapeError>("kernel {}: the output {} has shape {}, expected {}", s.name, s.out[k - s.in.size()].name,
                         out.shape(), inputs.shape);
    }
    outputs.push_back(out);
  }
  for (std::size_t k = outputs.size(); k < s.out.size(); ++k)
    outputs.push_back(Array::empty(inputs.shape, types.of(s.out[k]), inputs.device));
  const std::int64_t n = outputs.front().size();
  if (n == 0) return outputs;

  if (inputs.device.is_cpu() && s.options.cpu) {
    if (s.out.size() != 1 || s.options.cpu.arity() != static_cast<int>(s.in.size()))
      fail<ValueError>(
          "kernel {}: its function for the CPU takes {} inputs and gives one output; the kernel has {} and {}", s.name,
          s.options.cpu.arity(), s.in.size(), s.out.size());
    std::vector<Array> arrays;
    for (const KernelOperand& operand : inputs.operands)
      arrays.push_back(operand.is_array() ? operand.array()
                                          : full({}, operand.scalar(), operand.scalar().default_dtype()));
    outputs.front().set(s.options.cpu(arrays, inputs.shape).astype(outputs.front().dtype()));
    return outputs;
  }
  KernelLauncher& launcher = launcher_for(inputs.device, s.name);
  Launch launch;
  std::vector<Array> keep, results;
  std::string loads, stores;
  bind_inputs(s.in, inputs, types, keep, launch, loads);
  for (std::size_t k = 0; k < s.out.size(); ++k) {
    const Parameter& p = s.out[k];
    results.push_back(outputs[k].is_contiguous() ? outputs[k] : outputs[k].copy());
    const View view = writable(results.back());
    launch.pointer(p.name, view, true);
    if (p.raw) {
      loads += fmt::format("GLOBAL {}* {} = {}_p + {}_at;\n", memory_type(view.dtype), p.name, p.name, p.name);
    } else {
      loads += fmt::format("{} {} = LOAD_{}({}_p, {}_at + i);\n", register_type(view.dtype), p.name,
                           dtype_name(view.dtype), p.name, p.name);
      stores += fmt::format("STORE_{}({}_p, {}_at + i, {});\n", dtype_name(view.dtype), p.name, p.name, p.name);
    }
  }
  launch.extent("n", n);
  const int group = launcher.group_size(inputs.device.index());
  const std::string name = s.name == "kernel" ? "elementwise_kernel" : s.name;  // which is a word of OpenCL
  const std::string text = fmt::format("{}{}{}\nKERNEL REQD({}) {}({}) {{\n{}{}{{\n#line 1\n{};\n}}\n{}}}\n}}\n",
                                       group == 1 ? kBlocks : kLoops, types.typedefs(), s.options.preamble, group, name,
                                       launch.parameters(), kGridLoop, loads, s.operation, stores);
  const void* kernel = launcher.kernel(inputs.device.index(), text, name, true);
  launch.run(launcher, inputs.device, kernel, launcher.groups_for(inputs.device.index(), n), group);
  for (std::size_t k = 0; k < s.out.size(); ++k)
    if (!results[k].is(outputs[k])) outputs[k].set(results[k]);
  return outputs;
}

struct ReductionKernel::State {
  std::vector<Parameter> in, out;
  std::string map, reduce, post, identity, name;
  UserKernelOptions options;
};

ReductionKernel::ReductionKernel(const std::string& in_params, const std::string& out_param,
                                 const std::string& map_expr, const std::string& reduce_expr,
                                 const std::string& post_map_expr, const std::string& identity, const std::string& name,
                                 const UserKernelOptions& options)
    : state_(std::make_shared<const State>(State{parse(in_params, name), parse(out_param, name), map_expr, reduce_expr,
                                                 post_map_expr, identity, name, options})) {
  if (state_->out.size() != 1 || state_->out.front().raw)
    fail<ValueError>("kernel {}: a reduction has one output that is not raw, given \"{}\"", name, out_param);
}

Array ReductionKernel::operator()(const std::vector<KernelOperand>& arguments, const AxisArg& axes,
                                  bool keepdims) const {
  const State& s = *state_;
  check_count(arguments.size(), s.in.size(), s.in.size(), s.name);
  Types types(s.name);
  Inputs inputs = inputs_of(s.in, arguments, types, s.name);
  const int ndim = inputs.shape.size();
  std::vector<bool> gone(static_cast<std::size_t>(ndim), false);
  for (std::int64_t axis : axes.normalized(ndim, "a user's reduction")) gone[static_cast<std::size_t>(axis)] = true;
  // the axes that go come last, so that one output's elements are neighbours
  Axes order;
  Shape kept, with_ones;
  std::int64_t rows = 1;
  for (int axis = 0; axis < ndim; ++axis) {
    const bool goes = gone[static_cast<std::size_t>(axis)];
    if (!goes) {
      order.push_back(axis);
      kept.push_back(inputs.shape[axis]);
    } else {
      rows *= inputs.shape[axis];
    }
    with_ones.push_back(goes ? 1 : inputs.shape[axis]);
  }
  for (int axis = 0; axis < ndim; ++axis)
    if (gone[static_cast<std::size_t>(axis)]) order.push_back(axis);
  for (std::size_t k = 0; k < s.in.size(); ++k)
    if (inputs.operands[k].is_array() && !s.in[k].raw && inputs.operands[k].array().size() != 1)
      inputs.operands[k] = KernelOperand(broadcast_to(inputs.operands[k].array(), inputs.shape).transpose(order));
  Shape permuted;
  for (std::int64_t axis : order) permuted.push_back(inputs.shape[static_cast<int>(axis)]);
  inputs.shape = permuted;

  KernelLauncher& launcher = launcher_for(inputs.device, s.name);
  const int group = launcher.group_size(inputs.device.index());
  const Dtype dtype = types.of(s.out.front());
  const std::string type = register_type(dtype);
  const std::int64_t outputs = kept.product(), chunk = std::max<std::int64_t>(256, (rows + 255) / 256),
                     chunks = std::max<std::int64_t>(1, (rows + chunk - 1) / chunk);
  Array out = Array::empty(kept, dtype, inputs.device);
  if (outputs == 0) return keepdims ? out.reshape(with_ones) : out;
  const Array partials =
      Array::empty({outputs * chunks}, kernels::dtype_of_register(ops::register_of(dtype)), inputs.device);
  const std::string begin =
      fmt::format("{}{}{}\n", group == 1 ? kBlocks : kLoops, types.typedefs(), s.options.preamble);
  const auto run = [&](const std::string& name, const std::string& body, const Launch& launch) {
    const std::string text =
        fmt::format("{}KERNEL REQD({}) {}({}) {{\n{}}}\n", begin, group, name, launch.parameters(), body);
    const std::int64_t units = name.ends_with("_finish") ? outputs : outputs * chunks;
    launch.run(launcher, inputs.device, launcher.kernel(inputs.device.index(), text, name, true),
               launcher.groups_for(inputs.device.index(), units), group);
  };
  {
    Launch launch;
    std::vector<Array> keep;
    std::string loads;
    bind_inputs(s.in, inputs, types, keep, launch, loads);
    launch.pointer("partial", writable(partials), true);
    launch.extent("rows", rows);
    launch.extent("chunk", chunk);
    launch.extent("chunks", chunks);
    launch.extent("units", outputs * chunks);
    run(s.name + "_map",
        fmt::format("for (i64 unit = LOOP_BEGIN(units); unit < LOOP_END(units); unit += LOOP_STEP) {{\n{} acc = {};\n"
                    "const i64 first = unit % chunks * chunk, last = rows - first < chunk ? rows : first + chunk;\n"
                    "for (i64 row = first; row < last; ++row) {{\nconst i64 i = unit / chunks * rows + row;\n{}const "
                    "{} a = acc, b = ({})({});\nacc = ({})({});\n}}\n"
                    "STORE_{}(partial_p, partial_at + unit, acc);\n}}\n",
                    type, s.identity, loads, type, type, s.map, type, s.reduce, dtype_name(partials.dtype())),
        launch);
  }
  Launch launch;
  launch.pointer("partial", readable(partials), false);
  launch.pointer(s.out.front().name, writable(out), true);
  launch.extent("chunks", chunks);
  launch.extent("units", outputs);
  run(s.name + "_finish",
      fmt::format("for (i64 unit = LOOP_BEGIN(units); unit < LOOP_END(units); unit += LOOP_STEP) {{\n{} acc = {};\nfor "
                  "(i64 c = 0; c < chunks; ++c) {{\n"
                  "const {} a = acc, b = LOAD_{}(partial_p, partial_at + unit * chunks + c);\nacc = ({})({});\n}}\n"
                  "const {} a = acc;\n{} {};\n{};\nSTORE_{}({}_p, {}_at + unit, {});\n}}\n",
                  type, s.identity, type, dtype_name(partials.dtype()), type, s.reduce, type, type, s.out.front().name,
                  s.post, dtype_name(dtype), s.out.front().name, s.out.front().name, s.out.front().name),
      launch);
  return keepdims ? out.reshape(with_ones) : out;
}

RawKernel::RawKernel(const std::string& code, const std::string& name, const RawKernelOptions& options)
    : code_(code), name_(name), options_(options) {}

void RawKernel::launch(std::int64_t groups, int group_size, const std::vector<Argument>& arguments) const {
  const Device* device = nullptr;
  Device found;
  for (const Argument& argument : arguments) {
    if (!argument.array.defined()) continue;
    if (device && argument.array.device() != found)
      fail<DeviceError>("kernel {}: its arguments are on {} and on {}", name_, found.name(),
                        argument.array.device().name());
    found = argument.array.device();
    device = &found;
  }
  if (!device) found = current_device();
  KernelLauncher& launcher = launcher_for(found, name_);
  std::vector<std::uint64_t> values;
  std::vector<std::size_t> sizes;
  for (const Argument& argument : arguments) {
    if (argument.array.defined()) {
      const View view = writable(argument.array);
      values.push_back(reinterpret_cast<std::uint64_t>(view.handle));
      values.push_back(static_cast<std::uint64_t>(view.offset));
      sizes.insert(sizes.end(), 2, 8);
    } else {
      values.push_back(argument.bits);
      sizes.push_back(argument.size);
    }
  }
  std::vector<KernelArgument> list;
  for (std::size_t k = 0; k < values.size(); ++k) list.push_back({&values[k], sizes[k]});
  launcher.launch(found.index(), launcher.kernel(found.index(), code_, name_, options_.portable), groups, group_size,
                  list);
}

}  // namespace catenary
