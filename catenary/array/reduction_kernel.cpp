#include <algorithm>

#include "catenary/array/body.h"
#include "catenary/array/kernel_text.h"
#include "catenary/core/format.h"
#include "catenary/kernels/texts.h"
#include "catenary/kernels/types.h"
#include "catenary/ops/op.h"

namespace catenary {

namespace {

// Lengths depend on the shape and on the kind of device only, so that results do so too.
constexpr std::int64_t kShortRow = 128;      // below it a GPU's work-item takes an output by itself
constexpr std::int64_t kRowOfGroup = 16384;  // elements that a GPU's group takes
constexpr std::int64_t kChunk = 256;         // a processor's chunks: their least length, and how many there are

/// Does a group of work-items reduce a row together?
bool is_together(int group, std::int64_t rows) { return group > 1 && rows >= kShortRow; }

std::int64_t chunk_of(int group, std::int64_t rows) {
  return is_together(group, rows) ? kRowOfGroup : std::max(kChunk, (rows + kChunk - 1) / kChunk);
}

std::int64_t chunks_of(std::int64_t rows, std::int64_t chunk) {
  return std::max<std::int64_t>(1, (rows + chunk - 1) / chunk);
}

}  // namespace

struct ReductionKernel::State {
  std::vector<KernelParameter> in, out;
  std::string map, reduce, post, identity, name;
  ReductionKernelOptions options;
};

ReductionKernel::ReductionKernel(const std::string& in_params, const std::string& out_param,
                                 const std::string& map_expr, const std::string& reduce_expr,
                                 const std::string& post_map_expr, const std::string& identity, const std::string& name,
                                 const ReductionKernelOptions& options)
    : state_(std::make_shared<const State>(State{parse_parameters(in_params, name), parse_parameters(out_param, name),
                                                 map_expr, reduce_expr, post_map_expr, identity, name, options})) {
  check_kernel_name(name);
  if (state_->out.size() != 1 || state_->out.front().raw)
    fail<ValueError>("kernel {}: a reduction has one output that is not raw, given \"{}\"", name, out_param);
  if (options.cpu && options.cpu.arity() != static_cast<int>(state_->in.size()))
    fail<ValueError>("kernel {}: its map for the CPU takes {} elements; the kernel has {} inputs", name,
                     options.cpu.arity(), state_->in.size());
}

Array ReductionKernel::operator()(const std::vector<KernelOperand>& arguments, const AxisArg& axes,
                                  bool keepdims) const {
  const State& s = *state_;
  check_argument_count(arguments.size(), s.in.size(), s.in.size(), s.name);
  KernelTypes types(s.name);
  KernelInputs inputs = kernel_inputs(s.in, arguments, types, s.name);
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

  const KernelParameter& result = s.out.front();
  const Dtype dtype = types.of(result);
  if (inputs.device.backend().host_addressable() && s.options.cpu)
    return s.options.cpu(cpu_inputs(inputs), inputs.shape, kept.product())
        .astype(dtype)
        .reshape(keepdims ? with_ones : kept);

  KernelLauncher& launcher = launcher_for(inputs.device, s.name);
  const int group = launcher.group_size(inputs.device.index());
  const std::string type = variable_type(dtype);
  const std::int64_t outputs = kept.product();
  Array out = Array::empty(kept, dtype, inputs.device);
  if (outputs == 0) return keepdims ? out.reshape(with_ones) : out;

  // One launch of kernels/reduce.kernel. `functions` are the user's, `i` the index of the element `value`.
  const auto run = [&](KernelLaunch& launch, const std::string& functions, const char* suffix, const std::string& i,
                       const std::string& value, const View& result, const std::string& finished, std::int64_t rows,
                       std::int64_t chunk) {
    const std::int64_t chunks = chunks_of(rows, chunk), units = outputs * chunks;
    const bool together = is_together(group, rows);
    const std::string function = s.name + suffix;
    const std::string text =
        functions + kernel_loops(group) +
        fmt::format("#define {}\n#define REDUCTION {}\n#define GROUP {}\n#define RESULT {}\n#define OPERANDS {}\n",
                    together ? "BY_GROUP" : "BY_ITEM", function, group, kernels::memory_type(result.dtype),
                    launch.parameters()) +
        fmt::format("#define KEPT(n) const i64 output = n;\n#define GONE(n) const i64 i = {};\n#define ELEMENT\n", i) +
        fmt::format("#define VALUE {}\n#define IDENTITY {}\n#define COMBINE(a, b) reduce_pair(a, b)\n", value,
                    s.identity) +
        fmt::format("#define STORE_RESULT(at, v) STORE_{}(reduced, at, {})\n", dtype_name(result.dtype), finished) +
        fmt::format("#define T {}\n", type) + std::string(kernels::text("reduce"));
    launch.pointer("result", result, true);
    for (const std::int64_t extent : {outputs, rows, chunk, chunks, units}) launch.extent("extent", extent);
    launch.run(launcher, inputs.device, launcher.kernel(inputs.device.index(), {text, function, s.name}),
               launcher.groups_for(inputs.device.index(), together ? units * group : units), group);
  };

  KernelLaunch first, second;
  const std::string loads = first.inputs(s.in, inputs, types);
  const std::string reduce =
      fmt::format("{}{}\nDEVICE {} reduce_pair({} a, {} b) {{\n#line 1 \"reduce_expr\"\nreturn ({})({});\n}}\n",
                  types.typedefs(), s.options.preamble, type, type, type, type, s.reduce);
  const std::string map =
      fmt::format("DEVICE {} map_element({}i64 i) {{\n{}#line 1 \"map_expr\"\nreturn ({})({});\n}}\n", type,
                  first.parameters(), loads, type, s.map);
  const std::string post =
      fmt::format("DEVICE {} post_map({} a) {{\n{} {};\n#line 1 \"post_map_expr\"\n{};\nreturn {};\n}}\n", type, type,
                  type, result.name, s.post, result.name);
  const std::string mapped = fmt::format("map_element({}i)", first.names());
  const std::int64_t chunk = chunk_of(group, rows), chunks = chunks_of(rows, chunk);
  if (chunks == 1) {
    run(first, reduce + map + post, "_reduction", "output * rows + row", mapped, writable(out), "post_map(v)", rows,
        chunk);
  } else {
    const Dtype variable = kernels::dtype_of_register(ops::register_of(dtype));
    const Array partials = Array::empty({chunks * outputs}, variable, inputs.device);
    run(first, reduce + map, "_map", "output * rows + row", mapped, writable(partials), "v", rows, chunk);
    second.pointer("partial", readable(partials), false);
    run(second, reduce + post, "_finish", "row * outputs + output",
        fmt::format("LOAD_{}(partial_p, partial_at + i)", dtype_name(variable)), writable(out), "post_map(v)", chunks,
        chunks);
  }
  return keepdims ? out.reshape(with_ones) : out;
}

}  // namespace catenary
