#include "catenary/array/body.h"
#include "catenary/array/kernel_text.h"
#include "catenary/core/format.h"
#include "catenary/kernels/types.h"

namespace catenary {

struct ElementwiseKernel::State {
  std::vector<KernelParameter> in, out;
  std::string operation, name;
  UserKernelOptions options;
};

ElementwiseKernel::ElementwiseKernel(const std::string& in_params, const std::string& out_params,
                                     const std::string& operation, const std::string& name,
                                     const UserKernelOptions& options)
    : state_(std::make_shared<const State>(
          State{parse_parameters(in_params, name), parse_parameters(out_params, name), operation, name, options})) {
  check_kernel_name(name);
  if (state_->out.empty()) fail<ValueError>("kernel {}: it has no output", name);
}

std::vector<Array> ElementwiseKernel::call(const std::vector<KernelOperand>& arguments) const {
  const State& s = *state_;
  check_argument_count(arguments.size(), s.in.size(), s.in.size() + s.out.size(), s.name);
  KernelTypes types(s.name);
  KernelInputs inputs = kernel_inputs(s.in, arguments, types, s.name);
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

  if (inputs.device.backend().host_addressable() && s.options.cpu) {
    if (s.out.size() != 1 || s.options.cpu.arity() != static_cast<int>(s.in.size()))
      fail<ValueError>(
          "kernel {}: its function for the CPU takes {} inputs and gives one output; the kernel has {} and {}", s.name,
          s.options.cpu.arity(), s.in.size(), s.out.size());
    outputs.front().set(s.options.cpu(cpu_inputs(inputs), inputs.shape).astype(outputs.front().dtype()));
    return outputs;
  }
  KernelLauncher& launcher = launcher_for(inputs.device, s.name);
  KernelLaunch launch;
  std::string loads = launch.inputs(s.in, inputs, types), stores;
  std::vector<Array> results;
  for (std::size_t k = 0; k < s.out.size(); ++k) {
    const KernelParameter& p = s.out[k];
    results.push_back(outputs[k].is_contiguous() ? outputs[k] : outputs[k].copy());
    const View view = writable(results.back());
    launch.pointer(p.name, view, true);
    if (p.raw) {
      loads += fmt::format("GLOBAL {}* {} = {}_p + {}_at;\n", kernels::memory_type(view.dtype), p.name, p.name, p.name);
    } else {
      loads += fmt::format("{} {} = LOAD_{}({}_p, {}_at + i);\n", variable_type(view.dtype), p.name,
                           dtype_name(view.dtype), p.name, p.name);
      stores += fmt::format("STORE_{}({}_p, {}_at + i, {});\n", dtype_name(view.dtype), p.name, p.name, p.name);
    }
  }
  const int group = launcher.group_size(inputs.device.index());
  const std::string function = s.name + "_elementwise";  // no word of a compiler, whatever the name is
  const std::string text =
      fmt::format("{}{}\n{}KERNEL REQD({}) {}({}i64 n) {{\nFOR_UNITS(i, n) {{\n{}{{\n#line 1\n{};\n}}\n{}}}\n}}\n",
                  types.typedefs(), s.options.preamble, kernel_loops(group), group, function, launch.parameters(),
                  loads, s.operation, stores);
  launch.extent("n", n);
  const void* kernel = launcher.kernel(inputs.device.index(), {text, function, s.name});
  launch.run(launcher, inputs.device, kernel, launcher.groups_for(inputs.device.index(), n), group);
  for (std::size_t k = 0; k < s.out.size(); ++k)
    if (!results[k].is(outputs[k])) outputs[k].set(results[k]);
  return outputs;
}

}  // namespace catenary
