#include "catenary/array/kernel_text.h"

#include <cstring>

#include "catenary/array/body.h"
#include "catenary/core/format.h"
#include "catenary/kernels/types.h"
#include "catenary/ops/op.h"

namespace catenary {

KernelLauncher& launcher_for(const Device& device, const std::string& kernel) {
  if (KernelLauncher* launcher = device.backend().launcher()) return *launcher;
  fail<DeviceError>(
      "kernel {}: the {} compiles no kernels; put its arguments on a device with a compiler (cuda:N, hip:N, "
      "opencl:N){}",
      kernel, device.name(),
      device.backend().host_addressable() ? ", or give an ElementwiseKernel a function for the CPU (.cpu)" : "");
}

const char* variable_type(Dtype dtype) { return kernels::register_type(ops::register_of(dtype)); }

std::string typedefs(const std::map<std::string, Dtype>& types) {
  std::string text;
  for (const auto& [name, dtype] : types) text += fmt::format("typedef {} {};\n", variable_type(dtype), name);
  return text;
}

KernelParameters::Arguments arrays_of(const std::vector<KernelOperand>& arguments) {
  KernelParameters::Arguments arrays;
  for (const KernelOperand& argument : arguments) arrays.push_back(argument.is_array() ? &argument.array() : nullptr);
  return arrays;
}

KernelParameters::DtypeOfNumber dtypes_of(const std::vector<KernelOperand>& arguments) {
  return [&arguments](std::size_t k) { return arguments[k].scalar().default_dtype(); };
}

std::vector<Array> cpu_inputs(const std::vector<KernelOperand>& arguments, std::size_t count) {
  std::vector<Array> arrays;
  for (std::size_t k = 0; k < count; ++k)
    arrays.push_back(arguments[k].is_array() ? arguments[k].array()
                                             : full({}, arguments[k].scalar(), arguments[k].scalar().default_dtype()));
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

std::string KernelLaunch::inputs(const std::vector<KernelParameter>& parameters,
                                 const std::vector<KernelOperand>& arguments, const KernelCall& call,
                                 const Shape& shape) {
  std::string loads;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const KernelParameter& p = parameters[k];
    const Dtype dtype = call.dtypes[k];
    if (!arguments[k].is_array()) {
      value(p.name, arguments[k].scalar(), dtype);
      continue;
    }
    const Array& x = arguments[k].array();
    const bool single = !p.raw && x.size() == 1;
    kept_.push_back((p.raw || single ? x : broadcast_to(x, shape)).contiguous());
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
