// Translation of the library's exceptions to Python's.

#include <new>
#include <stdexcept>
#include <string>

#include "catenary/core/axis_error.h"
#include "catenary/core/os/memory.h"
#include "catenary/core/overflow_error.h"
#include "catenary/device/pool.h"
#include "core.h"

namespace catenary_python {

namespace {
PyObject *axis_error, *linalg_error, *runtime_error, *memory_error;

PyObject* attribute_of(const char* module, const char* name) {
  const nb::object found = checked(PyImport_ImportModule(module));
  return checked(PyObject_GetAttrString(found.ptr(), name)).release().ptr();
}

/// For errors of containers, which do not name their size.
void set_memory_error() {
  PyErr_SetString(memory_error, ("out of memory on the processor: " + ct::os::memory_advice()).c_str());
}
}  // namespace

void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

void set_error() {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const ct::OutOfMemoryError& e) {
    PyErr_SetString(memory_error, e.what());
  } catch (const ct::DeviceError& e) {
    PyErr_SetString(runtime_error, e.what());
  } catch (const ct::LinAlgError& e) {
    PyErr_SetString(linalg_error, e.what());
  } catch (const ct::AxisError& e) {
    PyErr_SetString(axis_error, e.what());
  } catch (const ct::ShapeError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const ct::DtypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const ct::NanError& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (const ct::OverflowError& e) {
    PyErr_SetString(PyExc_OverflowError, e.what());
  } catch (const ct::IndexError& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const ct::ValueError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const ct::FileError& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  } catch (const std::bad_cast&) {
    PyErr_SetString(PyExc_TypeError, "an argument has a value of the wrong type, or a number that does not fit");
  } catch (const std::bad_alloc&) {
    set_memory_error();
  } catch (const std::length_error&) {
    set_memory_error();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

void register_errors(nb::module_& m) {
  try {
    axis_error = attribute_of("numpy.exceptions", "AxisError");
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ModuleNotFoundError)) throw;
    const auto version = nb::cast<std::string>(nb::object(numpy().attr("__version__")));
    nb::raise_from(error, PyExc_ImportError,
                   "NumPy %s is too old for Catenary, which needs 1.26 or later: python -m pip install -U numpy",
                   version.c_str());
  }
  linalg_error = attribute_of("numpy.linalg", "LinAlgError");
  runtime_error =
      PyErr_NewExceptionWithDoc("cupy.cuda.runtime.CUDARuntimeError",
                                "Raised if a device is not available or has failed.", PyExc_RuntimeError, nullptr);
  memory_error = PyErr_NewExceptionWithDoc("cupy.cuda.memory.OutOfMemoryError", "Raised if a device is out of memory.",
                                           PyExc_MemoryError, nullptr);
  m.attr("CUDARuntimeError") = nb::handle(runtime_error);
  m.attr("OutOfMemoryError") = nb::handle(memory_error);
  nb::register_exception_translator(
      [](const std::exception_ptr& p, void*) {
        try {
          std::rethrow_exception(p);
        } catch (const ct::Error&) {
          set_error();
        } catch (const std::bad_cast&) {
          set_error();
        } catch (const std::bad_alloc&) {
          set_error();
        } catch (const std::length_error&) {
          set_error();
        }
      },
      nullptr);
}

}  // namespace catenary_python
