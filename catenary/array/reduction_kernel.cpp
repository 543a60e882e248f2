#include <algorithm>

#include "catenary/array/body.h"
#include "catenary/array/kernel_text.h"
#include "catenary/core/format.h"
#include "catenary/kernels/texts.h"
#include "catenary/kernels/types.h"
#include "catenary/ops/op.h"

namespace catenary {

namespace {

// These limits depend only on the shape and the kind of device, so that results do, too.
constexpr std::int64_t kShortRow = 128;      // shorter rows are reduced by a single work-item of a GPU
constexpr std::int64_t kRowOfGroup = 16384;  // elements for each thread block of a GPU

/// Returns whether a thread block reduces a row together.
bool is_together(int group, std::int64_t rows) { return group > 1 && rows >= kShortRow; }

std::int64_t chunk_of(int group, const KernelReduction& call) {
  if (is_together(group, call.rows)) return kRowOfGroup;
  const std::int64_t parts = call.parts(group == 1);
  return std::max<std::int64_t>(1, (call.rows + parts - 1) / parts);
}

std::int64_t chunks_of(std::int64_t rows, std::int64_t chunk) {
  return std::max<std::int64_t>(1, (rows + chunk - 1) / chunk);
}

}  // namespace

struct ReductionKernel::State {
  KernelParameters parameters;
  std::string map, reduce, post, identity;
  ReductionKernelOptions options;

  struct Launch;
};

ReductionKernel::ReductionKernel(const std::string& in_params, const std::string& out_param,
                                 const std::string& map_expr, const std::string& reduce_expr,
                                 const std::string& post_map_expr, const std::string& identity, const std::string& name,
                                 const ReductionKernelOptions& options)
    : state_(std::make_shared<const State>(
          State{{in_params, out_param, name}, map_expr, reduce_expr, post_map_expr, identity, options})) {
  const KernelParameters& parameters = state_->parameters;
  if (parameters.outputs().size() != 1 || parameters.outputs().front().raw)
    fail<ValueError>(
        "kernel {}: a reduction has one output that is not raw, given \"{}\"; make a kernel for each output", name,
        out_param);
  if (options.cpu && options.cpu.arity() != static_cast<int>(parameters.inputs().size()))
    fail<ValueError>("kernel {}: its map for the CPU takes {} elements; the kernel has {} inputs", name,
                     options.cpu.arity(), parameters.inputs().size());
}

/// The reduction of a call on a device: its rows are `outputs` times `call.rows` elements.
struct ReductionKernel::State::Launch {
  const State& s;
  const KernelReduction& call;
  KernelLauncher& launcher;
  const int group;
  const std::string type;

  /// One launch of kernels/reduce.kernel: `outputs` results of `rows` elements each, in chunks.
  struct Pass {
    std::string functions;  ///< functions that `value` and `finished` call
    const char* suffix;     ///< of the kernel's name
    std::string i, value;   ///< the index of an element, and the element
    View result;
    std::string finished;  ///< the value to store
    std::int64_t rows, chunk;
  };

  void run(KernelLaunch& launch, const Pass& pass) const {
    const std::int64_t outputs = call.results, chunks = chunks_of(pass.rows, pass.chunk), units = outputs * chunks;
    const bool together = is_together(group, pass.rows);
    const std::string &name = s.parameters.kernel(), function = name + pass.suffix;
    const std::string text =
        pass.functions + kernel_loops(group) +
        fmt::format("#define {}\n#define REDUCTION {}\n#define GROUP {}\n#define RESULT {}\n#define OPERANDS {}\n",
                    together ? "BY_GROUP" : "BY_ITEM", function, group, kernels::memory_type(pass.result.dtype),
                    launch.parameters()) +
        fmt::format("#define KEPT(n) const i64 output = n;\n#define GONE(n) const i64 i = {};\n#define ELEMENT\n",
                    pass.i) +
        fmt::format("#define VALUE {}\n#define IDENTITY {}\n#define COMBINE(a, b) reduce_pair(a, b)\n", pass.value,
                    s.identity) +
        fmt::format("#define STORE_RESULT(at, v) STORE_{}(reduced, at, {})\n", dtype_name(pass.result.dtype),
                    pass.finished) +
        fmt::format("#define T {}\n", type) + std::string(kernels::text("reduce"));
    launch.pointer("result", pass.result, true);
    for (const std::int64_t extent : {outputs, pass.rows, pass.chunk, chunks, units}) launch.extent("extent", extent);
    launch.run(launcher, call.device, launcher.kernel(call.device.index(), {text, function, name}),
               launcher.groups_for(call.device.index(), together ? units * group : units, pass.chunk), group);
  }

  /// Reduces into `written`, which is contiguous. Long rows are reduced in chunks by one launch, and then the chunks by
  /// another.
  void operator()(const std::vector<KernelOperand>& inputs, const Shape& shape, const Array& written) const {
    const std::string& result = s.parameters.outputs().front().name;
    KernelLaunch first, second;
    const std::string loads = first.inputs(s.parameters.inputs(), inputs, call, shape);
    const std::string reduce =
        fmt::format("{}{}\nDEVICE {} reduce_pair({} a, {} b) {{\n#line 1 \"reduce_expr\"\nreturn ({})({});\n}}\n",
                    typedefs(call.types), s.options.preamble, type, type, type, type, s.reduce);
    const std::string map =
        fmt::format("DEVICE {} map_element({}i64 i) {{\n{}#line 1 \"map_expr\"\nreturn ({})({});\n}}\n", type,
                    first.parameters(), loads, type, s.map);
    const std::string post =
        fmt::format("DEVICE {} post_map({} a) {{\n{} {};\n#line 1 \"post_map_expr\"\n{};\nreturn {};\n}}\n", type, type,
                    type, result, s.post, result);
    const std::string mapped = fmt::format("map_element({}i)", first.names());
    const std::int64_t chunk = chunk_of(group, call), chunks = chunks_of(call.rows, chunk);
    if (chunks == 1) {
      run(first, {reduce + map + post, "_reduction", "output * rows + row", mapped, writable(written), "post_map(v)",
                  call.rows, chunk});
      return;
    }
    const Dtype variable = kernels::dtype_of_register(ops::register_of(written.dtype()));
    const Array partials = Array::empty({chunks * call.results}, variable, call.device);
    run(first, {reduce + map, "_map", "output * rows + row", mapped, writable(partials), "v", call.rows, chunk});
    second.pointer("partial", readable(partials), false);
    run(second, {reduce + post, "_finish", "row * outputs + output",
                 fmt::format("LOAD_{}(partial_p, partial_at + i)", dtype_name(variable)), writable(written),
                 "post_map(v)", chunks, chunks});
  }
};

Array ReductionKernel::operator()(const std::vector<KernelOperand>& arguments, const AxisArg& axes,
                                  bool keepdims) const {
  const State& s = *state_;
  const std::string& name = s.parameters.kernel();
  const std::vector<KernelParameter>& in = s.parameters.inputs();
  const KernelReduction call =
      s.parameters.reduction(arrays_of(arguments), dtypes_of(arguments), axes, keepdims, !s.identity.empty());
  // the reduced axes come last, so that the elements for an output are neighbours
  Shape shape;
  for (std::int64_t axis : call.order) shape.push_back(call.shape[static_cast<int>(axis)]);
  std::vector<KernelOperand> inputs = arguments;
  for (std::size_t k = 0; k < in.size(); ++k)
    if (inputs[k].is_array() && !in[k].raw && inputs[k].array().size() != 1)
      inputs[k] = KernelOperand(broadcast_to(inputs[k].array(), call.shape).transpose(call.order));

  const Array out = call.outputs.front();
  const Dtype dtype = out.dtype();
  if (call.device.backend().host_addressable() && s.options.cpu) {
    out.set(s.options.cpu(cpu_inputs(inputs, in.size()), shape, call.results).astype(dtype).reshape(out.shape()));
    return out;
  }
  KernelLauncher& launcher = launcher_for(call.device, name);
  const State::Launch launch{s, call, launcher, launcher.group_size(call.device.index()), variable_type(dtype)};
  if (call.results == 0) return out;
  const Array written = out.is_contiguous() ? out : Array::empty(out.shape(), dtype, call.device);
  launch(inputs, shape, written);
  if (!written.is(out)) out.set(written);
  return out;
}

}  // namespace catenary
