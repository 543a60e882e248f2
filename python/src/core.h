#pragma once
// Shared by the sources of catenary._core: the handle behind cupy.ndarray, conversions from Python's values to the
// library's, and translation of exceptions. Design: docs/design/python.md.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <optional>
#include <utility>

#include "catenary/array/array.h"
#include "catenary/array/view.h"
#include "catenary/device/device.h"

namespace nb = nanobind;
namespace ct = catenary;

namespace catenary_python {

using ct::Array;
using ct::Dtype;
using ct::Operand;
using ct::Order;
using ct::Scalar;
using ct::Shape;

/// Returns the address of an array's first element, as `_address` does. The array stays in the table of addresses.
std::uint64_t address_of(PyObject* o);
/// Removes an owner's memory block from the table of addresses.
void forget_address(std::uint64_t address) noexcept;

/// The number of threads whose pools are watched (`_watch_memory`). Guarded by the GIL.
extern int memory_watchers;
/// Runs pending operations, and reports pool events since the last call to the calling thread's watcher.
void tell_memory();

/// The contents of a Python ndarray: the array, and for a view the ndarray that owns its memory (`base`).
struct NdArray {
  Array array;
  PyObject* base = nullptr;
  std::uint64_t address = 0;  // of the memory block, once it was requested
  ~NdArray() {
    if (address) forget_address(address);
    Py_XDECREF(base);
  }
};
/// The type object of ndarray, set once by register_ndarray.
extern PyTypeObject* ndarray_type;

inline bool is_ndarray(PyObject* o) { return Py_TYPE(o) == ndarray_type || PyType_IsSubtype(Py_TYPE(o), ndarray_type); }
inline NdArray& handle_of(PyObject* o) { return *nb::inst_ptr<NdArray>(o); }
inline const Array& array_of(PyObject* o) { return handle_of(o).array; }
/// Notes that an argument is a temporary, held by the caller's stack alone, whose memory may be reused.
void note_temporary(PyObject* o);
/// Returns a new ndarray.
PyObject* wrap(Array array);
/// Returns a new ndarray whose base is that of `of`, if both share memory.
PyObject* wrap_view(Array array, PyObject* of);

/// Sets Python's error for an exception of the library. Called in a catch block.
void set_error();
/// Calls f. Translates an exception to Python's error and returns null.
template <class F>
PyObject* guarded(F&& f) {
  try {
    return f();
  } catch (...) {
    set_error();
    return nullptr;
  }
}
/// Calls f for slots that return an int, and returns -1 on an exception.
template <class F>
int guarded_int(F&& f) {
  try {
    return f();
  } catch (...) {
    set_error();
    return -1;
  }
}
/// Throws a Python exception of this type.
[[noreturn]] void raise(PyObject* type, const std::string& message);
/// Throws TypeError if numpy.can_cast rejects the cast. The message names `what`.
void check_cast(const std::string& what, Dtype from, Dtype to, const std::string& casting);
/// Throws the error that Python has set.
[[noreturn]] inline void raise_set() { throw nb::python_error(); }
inline nb::object checked(PyObject* o) {
  if (!o) raise_set();
  return nb::steal(o);
}

/// Releases the GIL until the end of the scope. A thread that wants the GIL back from an ending interpreter blocks
/// until the process ends, as in Python 3.14. Earlier versions end the thread by unwinding, which no C++ frame
/// survives.
class Released {
 public:
  Released();
  ~Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_ = nullptr;
};
/// Takes the GIL until the end of the scope, in a thread that may or may not hold it. Ends as Released does.
class Held {
 public:
  Held();
  ~Held();
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  PyGILState_STATE state_{};
  const bool from_work_;
};
/// To be called when the interpreter has ended: from now on, threads block instead of taking the GIL.
void end_interpreter();
/// Waits until no thread is inside a Released.
void wait_for_released();
/// Has the interpreter ended, so that Python objects must not be used?
bool interpreter_has_ended();

/// From this number of elements on, the GIL is released while the library computes. Below, retaking it costs more.
inline constexpr std::int64_t kReleaseFrom = 64 * 1024;
/// Calls f without the GIL if it may take long.
template <class F>
decltype(auto) without_gil(bool release, F&& f) {
  if (!release) return f();
  const Released guard;
  return f();
}

/// Returns the device of the calling thread's new arrays: the one used last, at first ordinal 0. Throws if there is no
/// device.
ct::Device current_device();
/// Returns the device of an ordinal, gpu:N. Throws CUDARuntimeError.
ct::Device device_of_ordinal(std::int64_t ordinal);
int device_count();

/// Returns the numpy.dtype of a dtype, as a borrowed reference that lives as long as the module.
PyObject* numpy_dtype(Dtype dtype);
/// Returns the dtype for an object that NumPy accepts as one: numpy.dtype("f4"), numpy.float32, float, "float32".
/// Throws TypeError.
Dtype dtype_from(PyObject* o);

/// An argument of an elementwise operation: an array, a Python number (which only contributes its kind to the dtype),
/// or a NumPy scalar (whose dtype counts).
struct Argument {
  const Array* array = nullptr;
  Array kept;  // the array, if it had to be created
  Scalar scalar{false};
  std::optional<Dtype> strong;        // the dtype of a NumPy scalar
  bool by_protocol = false;           // `array` comes from the array protocol of another class
  bool beyond_int64 = false;          // a Python integer beyond int64, which `array` holds as uint64
  PyObject* beyond_uint64 = nullptr;  // a Python integer beyond uint64, which only floats can hold

  Argument() = default;
  Argument(const Argument&) = delete;  // `array` may point into it
  Argument& operator=(const Argument&) = delete;

  /// Returns false, and sets nothing, for other objects.
  bool parse(PyObject* o);
  /// Parses operands that may also be NumPy arrays and lists. With `into`, the dtype of an array to be written, also
  /// applies stored_as(), and without_parts() for casts.
  void parse_values(PyObject* o, const ct::Device& device, std::optional<Dtype> into = {},
                    std::optional<Dtype> cast = {});
  /// Takes the real parts of complex values for a cast to a real dtype, with NumPy's warning.
  void without_parts(Dtype into);
  /// Prepares storing into a dtype. Complex values stored as real ones lose their imaginary parts, with NumPy's
  /// warning, or TypeError for a Python complex. A float stored as an integer is converted and wraps around. Throws
  /// ValueError for NaN, and OverflowError for values beyond all integer dtypes.
  void stored_as(Dtype into);
  Operand operand() const {
    if (beyond_uint64) refuse_integer();
    return array ? Operand(*array) : Operand(scalar);
  }
  [[noreturn]] void refuse_integer() const;
  /// Copies an array of another device to this one, for operations that write into an array there.
  void bring_to(const ct::Device& device);
  /// Converts a number to a 0-d array.
  const Array& as_array();
};
/// Has it memory of a device, by CuPy's protocols?
bool has_protocol(PyObject* o);
/// Converts the operand beside a NumPy scalar to the common dtype, so that the scalar may count as weak. An integer
/// beyond int64 becomes a float beside floats, and an infinity in comparisons with integers.
void settle(Argument& x, Argument& y, bool compared = false);
/// Throws the TypeError for an object that parse rejects.
[[noreturn]] void refuse_argument(PyObject* o, const char* function);

/// Copies the elements to a numpy.ndarray in C order.
nb::object to_numpy(const Array& a);
/// Copies any argument of numpy.asarray to `device`, with its memory layout.
Array from_numpy(PyObject* o, std::optional<Dtype> dtype, const ct::Device& device);

/// Returns an ndarray's array, or a new one for lists and NumPy arrays.
inline Array array_from(PyObject* o, const ct::Device& device) {
  return is_ndarray(o) ? array_of(o) : from_numpy(o, std::nullopt, device);
}

/// Returns the module numpy, or one of its attributes.
nb::module_ numpy();

/// The argument `dtype=`: none, or any object that NumPy accepts as a dtype.
struct DtypeArg {
  PyObject* o = nullptr;
  bool given() const { return o && o != Py_None; }
  std::optional<Dtype> get() const { return given() ? std::optional(dtype_from(o)) : std::nullopt; }
  Dtype value_or(Dtype otherwise) const { return given() ? dtype_from(o) : otherwise; }
};
/// The argument `out=`.
struct Out {
  PyObject* o = nullptr;
  bool given() const { return o && o != Py_None; }
  const Array* array() const { return given() ? &array_of(o) : nullptr; }
  /// Returns the result, or `out` filled with it. The shapes must be equal, and the dtype castable by same_kind.
  nb::object operator()(Array result, const char* function) const;
  /// Casts with casting='unsafe', as NumPy's running sums do.
  nb::object cast(const Array& result, const char* function) const {
    return (*this)(given() ? result.astype(array()->dtype()) : result, function);
  }
};
/// An ndarray as its Python object, for functions that return a view of it.
struct Self {
  PyObject* o = nullptr;
  const Array& array() const { return array_of(o); }
};
/// An array, or a number as a 0-d array.
struct ArrayLike {
  Array array;
};
/// A value that is an array or a number, for functions that take Operands.
struct Value {
  Argument argument;
  Operand operand() const { return argument.operand(); }
};
/// Issues NumPy's warning for a cast that drops imaginary parts.
void warn_of_lost_parts(Dtype from, Dtype into);
/// Returns the part of an array that is stored in a dtype: the real parts, with NumPy's warning, for a real dtype.
Array stored_parts(const Array& a, std::optional<Dtype> into);
/// Reads `order=`. None means `otherwise`. 'A' is F if all of these arrays are in Fortran order only, else C, and K
/// without arrays.
Order order_from(PyObject* o, Order otherwise, std::initializer_list<const Array*> of = {});
/// Is the memory OpenCL's, which has handles and no addresses?
bool is_opencl(const ct::Device& device);

/// Parses the key of a[key].
std::vector<ct::Index> parse_key(PyObject* key, const Array& a);

/// Returns the offsets of the first and last element reachable by these strides, or {0, -1} without elements.
std::pair<std::int64_t, std::int64_t> reach(const Shape& shape, const ct::Strides& strides);

PyObject* tuple_of(const ct::Dims& dims, std::int64_t factor = 1);
/// Reads an int or a sequence of ints. Throws TypeError, which names `what`, and ShapeError for too many.
ct::Dims dims_from(PyObject* o, const char* what);

void register_conversions(nb::module_& m);
void register_errors(nb::module_& m);
void register_devices(nb::module_& m);
void register_ndarray(nb::module_& m);
void register_memory(nb::module_& m);
void register_dlpack(nb::module_& m);
void register_ufuncs(nb::module_& m);
void register_fft(nb::module_& m);
void register_creation(nb::module_& m);
void register_manipulation(nb::module_& m);
void register_numbers(nb::module_& m);
void register_random(nb::module_& m);
void register_kernels(nb::module_& m);
void register_communicator(nb::module_& m);
void register_chainer(nb::module_& m);
void register_onnx(nb::module_& m);

}  // namespace catenary_python

namespace nanobind::detail {

/// Accepts only ndarray, without conversion.
template <>
struct type_caster<ct::Array> {
  static constexpr auto Name = const_name("catenary._core.ndarray");
  template <class T>
  using Cast = movable_cast_t<T>;
  template <class T>
  static constexpr bool can_cast() {
    return true;
  }
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    if (!catenary_python::is_ndarray(src.ptr())) return false;
    catenary_python::note_temporary(src.ptr());
    value = catenary_python::array_of(src.ptr());
    return true;
  }
  static handle from_cpp(const ct::Array& a, rv_policy, cleanup_list*) noexcept {
    try {
      return catenary_python::wrap(a);
    } catch (...) {
      catenary_python::set_error();
      return {};
    }
  }
  explicit operator ct::Array*() { return &value; }
  explicit operator ct::Array&() { return value; }
  explicit operator ct::Array&&() { return std::move(value); }
  ct::Array value;
};

/// Shapes or axes. Too many of them are accepted here and rejected by the function with their number, because nanobind
/// answers an argument that a caster rejects with a list of signatures.
template <class T>
struct dims_caster {
  template <class U>
  using Cast = movable_cast_t<U>;
  /// nanobind's check, which must not throw.
  template <class U>
  bool can_cast() const {
    return count <= ct::kMaxDims;
  }
  explicit operator T*() { return &checked(); }
  explicit operator T&() { return checked(); }
  explicit operator T&&() { return std::move(checked()); }
  T value;
  int count = 0;

 private:
  T& checked() {
    if (count > ct::kMaxDims) ct::Dims::filled(count, 0);  // throws
    return value;
  }
};
#define CT_DIMS_CASTER(Type, name, ...)                                                \
  template <>                                                                          \
  struct type_caster<Type> : dims_caster<Type> {                                       \
    static constexpr auto Name = const_name(name);                                     \
    bool from_python(handle src, uint32_t, cleanup_list*) noexcept;                    \
    static handle from_cpp(const Type&, rv_policy, cleanup_list*) noexcept __VA_ARGS__ \
  };
CT_DIMS_CASTER(ct::Dims, "int | collections.abc.Sequence[int]", ;)
// arguments only, never results
CT_DIMS_CASTER(std::optional<ct::Dims>, "int | collections.abc.Sequence[int] | None", { return none().release(); })
CT_DIMS_CASTER(ct::AxisArg, "int | tuple[int, ...] | None", { return none().release(); })
#undef CT_DIMS_CASTER

#define CT_CASTER(Type, name, ...)                                                     \
  template <>                                                                          \
  struct type_caster<Type> {                                                           \
    NB_TYPE_CASTER(Type, const_name(name))                                             \
    bool from_python(handle src, uint32_t, cleanup_list*) noexcept;                    \
    static handle from_cpp(const Type&, rv_policy, cleanup_list*) noexcept __VA_ARGS__ \
  };
CT_CASTER(catenary_python::DtypeArg, "numpy.typing.DTypeLike", { return none().release(); })
CT_CASTER(catenary_python::Out, "catenary._core.ndarray | None", { return none().release(); })
CT_CASTER(catenary_python::Self, "catenary._core.ndarray", { return none().release(); })
CT_CASTER(catenary_python::ArrayLike, "catenary._core.ndarray | float", { return none().release(); })
CT_CASTER(catenary_python::Value, "catenary._core.ndarray | float", { return none().release(); })
#undef CT_CASTER

}  // namespace nanobind::detail
