// Kernels in a device's own language, which catenary.cupy writes: launched with lists of arguments.

#include <string>

#include "bind.h"
#include "catenary/array/body.h"
#include "catenary/array/user_kernel.h"
#include "catenary/core/error.h"

namespace catenary_python {

namespace {

using ct::RawKernel;

/// An ndarray, or a NumPy scalar whose bytes are passed.
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

/// What a kernel's launch depends on but for values: dtypes, devices, shapes and strides of arrays, types of others.
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

}  // namespace

void register_kernels(nb::module_& m) {
  m.def("_signature", signature);
  nb::class_<RawKernel>(m, "RawFunction",
                        "A whole kernel in a device's own language. An ndarray among the arguments becomes two of the "
                        "kernel's: its buffer, and the 64-bit offset of its first element in it, or its address; a "
                        "NumPy scalar becomes its bytes.")
      .def(
          "__init__",
          [](RawKernel* self, const std::string& code, const std::string& name, bool portable) {
            new (self) RawKernel(code, name, {.portable = portable});
          },
          nb::arg("code"), nb::arg("name"), nb::arg("portable") = false)
      .def(
          "launch",
          [](const RawKernel& kernel, std::int64_t groups, int group_size, nb::sequence arguments, bool addresses) {
            std::vector<RawKernel::Argument> list;
            Py_ssize_t position = 0;
            ct::Device device = ct::current_device();
            for (nb::handle argument : arguments) {
              if (addresses && is_ndarray(argument.ptr())) device = array_of(argument.ptr()).device();
              list.push_back(argument_from(argument, position++, addresses));
            }
            const ct::DeviceScope scope(device);
            nb::gil_scoped_release release;  // the first launch compiles
            kernel.launch(groups, group_size, list);
          },
          nb::arg("groups"), nb::arg("group_size"), nb::arg("arguments"), nb::arg("addresses") = false);
  m.def(
      "groups_for",
      [](const Array& beside, std::int64_t items) { return RawKernel::groups_for(beside.device(), items); },
      nb::arg("beside"), nb::arg("items"), "(groups, group_size) of a loop over so many items on an array's device.");
}

}  // namespace catenary_python
