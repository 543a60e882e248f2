#include "catenary/array/body.h"
#include "catenary/array/kernel_text.h"
#include "catenary/core/format.h"
#include "catenary/kernels/types.h"

namespace catenary {

struct ElementwiseKernel::State {
  KernelParameters parameters;
  std::string operation;
  UserKernelOptions options;
};

ElementwiseKernel::ElementwiseKernel(const std::string& in_params, const std::string& out_params,
                                     const std::string& operation, const std::string& name,
                                     const UserKernelOptions& options)
    : state_(std::make_shared<const State>(State{{in_params, out_params, name}, operation, options})) {
  if (state_->parameters.outputs().empty()) fail<ValueError>("kernel {}: it has no output", name);
}

std::vector<Array> ElementwiseKernel::call(const std::vector<KernelOperand>& arguments) const {
  const State& s = *state_;
  const std::string& name = s.parameters.kernel();
  const std::vector<KernelParameter>&in = s.parameters.inputs(), &out = s.parameters.outputs();
  KernelCall call = s.parameters.elementwise(arrays_of(arguments), dtypes_of(arguments));
  std::vector<Array>& outputs = call.outputs;
  const std::int64_t n = call.shape.product();
  if (n == 0) return outputs;

  if (call.device.backend().host_addressable() && s.options.cpu) {
    if (out.size() != 1 || s.options.cpu.arity() != static_cast<int>(in.size()))
      fail<ValueError>(
          "kernel {}: its function for the CPU takes {} inputs and gives one output; the kernel has {} and {}", name,
          s.options.cpu.arity(), in.size(), out.size());
    outputs.front().set(s.options.cpu(cpu_inputs(arguments, in.size()), call.shape).astype(outputs.front().dtype()));
    return outputs;
  }
  KernelLauncher& launcher = launcher_for(call.device, name);
  KernelLaunch launch;
  std::string loads = launch.inputs(in, arguments, call, call.shape), stores;
  std::vector<Array> results;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const KernelParameter& p = out[k];
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
  const int group = launcher.group_size(call.device.index());
  const std::string function = name + "_elementwise";  // the suffix avoids a clash with a keyword
  const std::string text =
      fmt::format("{}{}\n{}KERNEL REQD({}) {}({}i64 n) {{\nFOR_UNITS(i, n) {{\n{}{{\n#line 1\n{};\n}}\n{}}}\n}}\n",
                  typedefs(call.types), s.options.preamble, kernel_loops(group), group, function, launch.parameters(),
                  loads, s.operation, stores);
  launch.extent("n", n);
  const void* kernel = launcher.kernel(call.device.index(), {text, function, name});
  launch.run(launcher, call.device, kernel, launcher.groups_for(call.device.index(), n, 1), group);
  for (std::size_t k = 0; k < out.size(); ++k)
    if (!results[k].is(outputs[k])) outputs[k].set(results[k]);
  return outputs;
}

}  // namespace catenary
