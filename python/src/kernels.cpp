// Launch of kernels that catenary.cupy writes in a device's own language.

#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <variant>

#include "bind.h"
#include "catenary/array/body.h"
#include "catenary/array/kernel_parameters.h"
#include "catenary/array/kernel_text.h"
#include "catenary/array/user_kernel.h"
#include "catenary/backends/cpu/host_compiler.h"
#include "catenary/core/error.h"

namespace catenary_python {

namespace {

using ct::RawKernel;

/// A number for one axis, or for three.
template <class T>
using Axes = std::variant<T, std::array<T, 3>>;

template <class T>
std::array<T, 3> along_three(const Axes<T>& axes) {
  const T* one = std::get_if<T>(&axes);
  return one ? std::array<T, 3>{*one, 1, 1} : std::get<1>(axes);
}

/// Converts an ndarray, or a NumPy scalar, which is passed as bytes.
RawKernel::Argument argument_from(nb::handle o, Py_ssize_t position, bool addresses) {
  if (is_ndarray(o.ptr())) {
    const Array& a = array_of(o.ptr());
    if (!addresses) return a;
    const ct::View view = ct::writable(a);
    return reinterpret_cast<std::uint64_t>(view.handle) + static_cast<std::uint64_t>(view.offset) * a.itemsize();
  }
  Py_buffer buffer;
  if (PyObject_GetBuffer(o.ptr(), &buffer, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    raise(PyExc_TypeError, "launch: argument " + std::to_string(position) +
                               " must be an ndarray, a NumPy scalar or bytes, not " +
                               nb::cast<std::string>(nb::repr(o.type())));
  }
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> release(&buffer, PyBuffer_Release);
  return RawKernel::Argument(buffer.buf, static_cast<std::size_t>(buffer.len));
}

/// A shared library that a C++ compiler made of a text.
class HostLibrary {
 public:
  HostLibrary(const std::string& text, const std::string& kernel, const std::vector<std::string>& flags)
      : kernel_(kernel), library_(compiled(text, kernel, flags)) {}

  const std::string& kernel() const { return kernel_; }
  const ct::os::Library& library() const { return library_; }

  /// Returns the bytes of a variable.
  Array variable(const std::string& variable) const {
    const auto [memory, size] = [&] {
      try {
        return library_.variable(variable);
      } catch (const ct::FileError& error) {
        throw ct::DeviceError("kernel " + kernel_ + ": " + error.what());
      }
    }();
    const Array bytes = Array::from_memory(memory, {static_cast<std::int64_t>(size)}, {1}, ct::Dtype::uint8,
                                           ct::get_device("cpu"), std::shared_ptr<void>(memory, [](void*) {}));
    ct::export_memory(bytes);  // kernels that do not take it as an argument modify it
    return bytes;
  }

 private:
  static ct::os::Library compiled(const std::string& text, const std::string& kernel,
                                  const std::vector<std::string>& flags) {
    const Released released;
    return ct::cpu::compile_on_host(text, kernel, flags);
  }

  const std::string kernel_;
  const ct::os::Library library_;
};

/// A kernel for the processor, compiled from C++.
class HostFunction {
 public:
  HostFunction(const HostLibrary& library, const std::string& entry)
      : kernel_(library.library(), entry, library.kernel()) {}

  void launch(const Axes<std::int64_t>& groups, const Axes<int>& group_size, nb::sequence arguments, bool addresses,
              std::size_t shared_mem) const {
    std::vector<RawKernel::Argument> list;
    Py_ssize_t position = 0;
    for (nb::handle argument : arguments) list.push_back(argument_from(argument, position++, addresses));
    const Released released;
    const ct::Device cpu = ct::get_device("cpu");
    ct::launch_kernel(ct::launcher_for(cpu, kernel_.name()), cpu, &kernel_,
                      {along_three(groups), along_three(group_size), shared_mem}, list);
  }

 private:
  const ct::cpu::HostKernel kernel_;
};

/// Returns (groups, group_size) for a loop over `items` items of several elements on an array's device.
std::pair<std::int64_t, int> groups_for(const Array& beside, std::int64_t items, std::int64_t each) {
  return RawKernel::groups_for(beside.device(), items, each);
}

/// Returns the properties on which a kernel's launch depends: dtypes, devices, shapes and strides of arrays, types of
/// other arguments.
nb::bytes signature(nb::tuple arguments) {
  std::vector<std::int64_t> words;
  for (nb::handle o : arguments) {
    if (!is_ndarray(o.ptr())) {
      words.push_back(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(Py_TYPE(o.ptr()))));
      continue;
    }
    const Array& a = array_of(o.ptr());
    words.insert(words.end(), {static_cast<std::int64_t>(a.dtype()), a.ndim(), a.device().index(),
                               static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&a.device().backend()))});
    words.insert(words.end(), a.shape().begin(), a.shape().end());
    words.insert(words.end(), a.strides().begin(), a.strides().end());
  }
  return nb::bytes(words.data(), words.size() * sizeof(std::int64_t));
}

// ------------------------------------------------------------------ parameters
using ct::KernelParameter;
using ct::KernelParameters;

KernelParameters::Arguments arrays_of(nb::tuple arguments) {
  KernelParameters::Arguments arrays;
  for (nb::handle o : arguments) arrays.push_back(is_ndarray(o.ptr()) ? &array_of(o.ptr()) : nullptr);
  if (std::all_of(arrays.begin(), arrays.end(), [](const Array* a) { return !a; })) current_device();
  return arrays;
}

/// Returns the dtypes of Python and NumPy numbers.
KernelParameters::DtypeOfNumber dtypes_of(nb::tuple arguments) {
  return [=](std::size_t k) {
    Argument number;
    number.parse(nb::object(arguments[k]).ptr());
    if (number.beyond_uint64) number.refuse_integer();
    return number.strong.value_or(number.array ? number.array->dtype() : number.scalar.default_dtype());
  };
}

/// Returns the part of a call's plan that all kernels share: outputs, dtypes of parameters, placeholders with their
/// dtypes, and the loop's shape.
nb::tuple decided(const ct::KernelCall& call, nb::object more) {
  nb::list dtypes;
  for (Dtype dtype : call.dtypes) dtypes.append(nb::handle(numpy_dtype(dtype)));
  nb::dict types;
  for (const auto& [name, dtype] : call.types) types[name.c_str()] = nb::handle(numpy_dtype(dtype));
  return nb::make_tuple(call.outputs, dtypes, types, call.shape, more);
}

void register_parameters(nb::module_& m) {
  nb::class_<KernelParameter>(m, "ParameterInfo", "A parameter of a kernel.")
      .def_ro("ctype", &KernelParameter::type, "The type in the declaration.")
      .def_ro("name", &KernelParameter::name)
      .def_ro("raw", &KernelParameter::raw)
      .def_prop_ro(
          "dtype", [](const KernelParameter& p) { return p.dtype ? nb::borrow(numpy_dtype(*p.dtype)) : nb::none(); },
          "None for a placeholder.");
  nb::class_<KernelParameters>(m, "_KernelParameters", "The parameters of a kernel, parsed by CuPy's rules.")
      .def(
          "__init__",
          [](KernelParameters* self, const std::string& inputs, const std::string& outputs, const std::string& kernel) {
            new (self) KernelParameters(inputs, outputs, kernel, ct::KernelRules::cupy);
          },
          nb::arg("inputs"), nb::arg("outputs"), nb::arg("kernel"))
      .def_prop_ro("inputs", [](const KernelParameters& self) { return nb::tuple(nb::cast(self.inputs())); })
      .def_prop_ro("outputs", [](const KernelParameters& self) { return nb::tuple(nb::cast(self.outputs())); })
      .def(
          "elementwise",
          [](const KernelParameters& self, nb::tuple arguments, std::optional<std::int64_t> size) {
            const ct::KernelCall call = self.elementwise(arrays_of(arguments), dtypes_of(arguments), size);
            return decided(call, nb::cast(call.by_number));
          },
          nb::arg("arguments"), nb::arg("size").none() = nb::none(),
          "(outputs, dtypes of all parameters, {placeholder: dtype}, the loop's shape, did a number decide a type?)")
      .def(
          "reduction",
          [](const KernelParameters& self, nb::tuple arguments, const ct::AxisArg& axis, bool keepdims,
             bool has_identity) {
            const ct::KernelReduction call =
                self.reduction(arrays_of(arguments), dtypes_of(arguments), axis, keepdims, has_identity);
            return decided(call,
                           nb::make_tuple(call.order, call.results, call.rows, call.parts(call.device.info().is_cpu)));
          },
          nb::arg("arguments"), nb::arg("axis").none(), nb::arg("keepdims"), nb::arg("has_identity"),
          "Decides the call of a reduction. The last entry is (kept axes followed by reduced ones, number of results, "
          "rows per result, chunks).");
}

/// Registers kernels in a device's own language.
void register_raw(nb::module_& m) {
  nb::class_<RawKernel>(
      m, "RawFunction",
      "A whole kernel in a device's own language. An ndarray argument becomes two kernel arguments, its buffer and the "
      "64-bit offset of its first element, or its address. A NumPy scalar is passed as bytes.")
      .def(
          "__init__",
          [](RawKernel* self, const std::string& code, const std::string& name, bool portable) {
            new (self) RawKernel(code, name, {.portable = portable});
          },
          nb::arg("code"), nb::arg("name"), nb::arg("portable") = false)
      .def(
          "attributes",
          [](const RawKernel& kernel) {
            const ct::Device device = ct::current_device();
            const Released released;  // the first use compiles the kernel
            return kernel.attributes(device);
          },
          "Returns the kernel's attributes on the library's current device, by CUDA's names.")
      .def(
          "launch",
          [](const RawKernel& kernel, Axes<std::int64_t> groups, Axes<int> group_size, nb::sequence arguments,
             bool addresses, std::size_t shared_mem) {
            std::vector<RawKernel::Argument> list;
            Py_ssize_t position = 0;
            ct::Device device = ct::current_device();
            for (nb::handle argument : arguments) {
              if (addresses && is_ndarray(argument.ptr())) device = array_of(argument.ptr()).device();
              list.push_back(argument_from(argument, position++, addresses));
            }
            const ct::DeviceScope scope(device);
            const Released released;  // the first launch compiles the kernel
            kernel.launch({along_three(groups), along_three(group_size), shared_mem}, list);
          },
          nb::arg("groups"), nb::arg("group_size"), nb::arg("arguments"), nb::arg("addresses") = false,
          nb::arg("shared_mem") = 0,
          "Launches the kernel with a number of groups and of work-items per group, along one axis or three. "
          "shared_mem is the dynamic shared memory per group in bytes.");
}

/// Registers kernels for the processor.
void register_host(nb::module_& m) {
  nb::class_<HostFunction>(m, "_HostFunction",
                           "A kernel for the processor from a _HostLibrary. The arguments are those of RawFunction.")
      .def(
          "attributes",
          [](const HostFunction&) {
            return std::map<std::string, std::int64_t>{{"max_threads_per_block", ct::cpu::HostKernel::kMostItems}};
          },
          "Launches the kernel, as RawFunction does.")
      .def("launch", &HostFunction::launch, nb::arg("groups"), nb::arg("group_size"), nb::arg("arguments"),
           nb::arg("addresses") = false, nb::arg("shared_mem") = 0);
  nb::class_<HostLibrary>(m, "_HostLibrary", "A loaded shared library that a C++ compiler made of a text.")
      .def(nb::init<std::string, std::string, std::vector<std::string>>(), nb::arg("text"), nb::arg("kernel"),
           nb::arg("flags"))
      .def(
          "function", [](const HostLibrary& self, const std::string& entry) { return HostFunction(self, entry); },
          nb::arg("entry"))
      .def(
          "variable", [](const HostLibrary& self, const std::string& name) { return self.variable(name); },
          nb::arg("name"), "Returns the bytes of a variable as an ndarray.");
}

/// Registers texts whose kernels share variables.
void register_modules(nb::module_& m) {
  nb::class_<ct::RawModule>(m, "_RawModule", "A portable CUDA C++ text whose kernels share its global variables.")
      .def(
          "__init__",
          [](ct::RawModule* self, const std::string& code) { new (self) ct::RawModule(code, {.variables = true}); },
          nb::arg("code"))
      .def("get_function", &ct::RawModule::get_function, nb::arg("name"))
      .def(
          "get_global",
          [](const ct::RawModule& self, const std::string& name) {
            const ct::Device device = current_device();
            const Released released;  // the first use compiles the kernel
            return self.get_global(name, device);
          },
          nb::arg("name"), "Returns the bytes of a variable on the current device as an ndarray.");
}

}  // namespace

void register_kernels(nb::module_& m) {
  m.def("_signature", signature);
  register_parameters(m);
  register_raw(m);
  register_host(m);
  register_modules(m);
  m.def("groups_for", groups_for, nb::arg("beside"), nb::arg("items"), nb::arg("each") = 1,
        "Returns (groups, group_size) for a loop over items of several elements on an array's device.");
}

}  // namespace catenary_python
