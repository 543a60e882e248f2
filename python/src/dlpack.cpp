// Exchange of memory with other libraries: DLPack (github.com/dmlc/dlpack, ABI 1.0 and the older one without versions),
// and the CUDA array interface.

#include <memory>
#include <string>
#include <string_view>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "core.h"
#include "stand_ins.h"

namespace catenary_python {

namespace {

// DLPack's structures. Their layout is the interface.
struct DLDevice {
  std::int32_t type, id;
};
struct DLDtype {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDtype dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct Unversioned {
  static constexpr const char *name = "dltensor", *used = "used_dltensor";
  DLTensor tensor;
  void* context;
  void (*deleter)(Unversioned*);
};
struct Versioned {
  static constexpr const char *name = "dltensor_versioned", *used = "used_dltensor_versioned";
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(Versioned*);
  std::uint64_t flags;
  DLTensor tensor;
};
constexpr std::uint64_t kReadOnly = 1, kCopied = 2;

constexpr int kOnHost = 1, kOpenCL = 4;
struct DeviceType {
  const char* backend;
  int number;
};
constexpr DeviceType device_types[] = {{"cuda", 2}, {"opencl", kOpenCL}, {"hip", 10}};

DLDevice device_of(const ct::Device& device) {
  for (const auto& [backend, number] : device_types)
    if (backend == std::string_view(device.backend().name())) return {number, device.index()};
  return {kOnHost, 0};
}

ct::Device device_from(const DLDevice& device) {
  if (device.type == kOnHost) return ct::Device();
  for (const auto& [backend, number] : device_types)
    if (number == device.type) return ct::get_device(std::string(backend) + ":" + std::to_string(device.id));
  raise(PyExc_BufferError, "from_dlpack: unsupported DLPack device type " + std::to_string(device.type) +
                               "; expected the host's (1), CUDA's (2), OpenCL's (4) or ROCm's (10)");
}

/// DLPack's codes: 0 signed, 1 unsigned, 2 floating, 4 bfloat, 5 complex, 6 bool.
DLDtype dtype_of(Dtype dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * ct::itemsize(dtype));
  if (dtype == Dtype::bfloat16) return {4, bits, 1};
  switch (ct::kind(dtype)) {
    case ct::Kind::boolean:
      return {6, bits, 1};
    case ct::Kind::floating:
      return {2, bits, 1};
    case ct::Kind::complex:
      return {5, bits, 1};
    case ct::Kind::signed_int:
      return {0, bits, 1};
    default:
      return {1, bits, 1};
  }
}

Dtype dtype_from(const DLDtype& dtype) {
  for (int i = 0; i < ct::kDtypes; ++i) {
    const DLDtype known = dtype_of(static_cast<Dtype>(i));
    if (known.code == dtype.code && known.bits == dtype.bits && dtype.lanes == 1) return static_cast<Dtype>(i);
  }
  raise(PyExc_BufferError,
        "from_dlpack: unsupported DLPack type code " + std::to_string(dtype.code) + " with " +
            std::to_string(dtype.bits) + " bits and " + std::to_string(dtype.lanes) +
            " lanes; expected bool, an integer dtype, float16, bfloat16, float32, float64, complex64 or complex128");
}

/// Makes a capsule that keeps the array until the consumer, or else the garbage collector, calls the deleter.
template <class Managed>
nb::object capsule(const Array& a, bool copied) {
  struct Kept {
    Array array;
    ct::Dims shape, strides;
    Managed managed{};
  };
  auto kept = std::make_unique<Kept>(Kept{a, a.shape(), a.strides(), {}});
  const ct::View view = ct::readable(a);
  Managed& managed = kept->managed;
  DLTensor& tensor = managed.tensor;
  tensor.device = device_of(a.device());
  tensor.data = view.handle;
  tensor.byte_offset = static_cast<std::uint64_t>(view.offset) * a.itemsize();
  if (tensor.device.type != kOpenCL) {  // consumers ignore offsets, except for OpenCL's memory handles
    tensor.data = static_cast<char*>(view.handle) + tensor.byte_offset;
    tensor.byte_offset = 0;
  }
  tensor.dtype = dtype_of(a.dtype());
  tensor.ndim = a.ndim();
  tensor.shape = kept->shape.begin();
  tensor.strides = kept->strides.begin();
  managed.context = kept.get();
  managed.deleter = [](Managed* self) { delete static_cast<Kept*>(self->context); };
  if constexpr (std::is_same_v<Managed, Versioned>) {
    managed.major = 1;
    managed.flags = copied ? kCopied : 0;
  }
  const nb::object result = checked(PyCapsule_New(&managed, Managed::name, [](PyObject* unused) {
    if (!PyCapsule_IsValid(unused, Managed::name)) return;  // already consumed
    auto* tensor = static_cast<Managed*>(PyCapsule_GetPointer(unused, Managed::name));
    tensor->deleter(tensor);
  }));
  (void)kept.release();
  return result;
}

nb::object to_dlpack(Self self, nb::object stream, nb::object max_version, nb::object dl_device, nb::object copy) {
  Array a = self.array();
  bool copied = false;
  if (!dl_device.is_none()) {
    const auto [type, id] = nb::cast<std::pair<int, int>>(dl_device);
    const DLDevice own = device_of(a.device());
    if (type == kOnHost && id != 0)
      raise(PyExc_BufferError,
            "__dlpack__: dl_device (1, " + std::to_string(id) + ") does not exist; the host is (1, 0)");
    if (type != own.type || id != own.id) {
      if (!copy.is_none() && !nb::cast<bool>(copy))
        raise(PyExc_ValueError, "__dlpack__: copy=False, but copying from " + a.device().name() +
                                    " is necessary for dl_device (" + std::to_string(type) + ", " + std::to_string(id) +
                                    ")");
      const ct::Device other = device_from({type, id});  // with the GIL, as it may raise
      a = without_gil(true, [&] { return a.to_device(other); });
      copied = true;
    }
  }
  if (!copied && !copy.is_none() && nb::cast<bool>(copy)) {
    a = a.copy();
    copied = true;
  }
  ct::export_memory(a);
  // The consumer may use another stream or none of ours, so pending work finishes first.
  if (!a.device().is_cpu() && !(nb::isinstance<nb::int_>(stream) && nb::cast<int>(stream) == -1))
    without_gil(true, [&] { a.device().synchronize(); });
  const bool versioned = !max_version.is_none() && nb::cast<int>(max_version[nb::int_(0)]) >= 1;
  return versioned ? capsule<Versioned>(a, copied) : capsule<Unversioned>(a, copied);
}

template <class Managed>
Array taken(PyObject* capsule, bool copy) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::name));
  if (!managed) raise_set();
  bool read_only = false;
  if constexpr (std::is_same_v<Managed, Versioned>) {
    if (managed->major != 1)
      raise(PyExc_BufferError, "from_dlpack: unsupported DLPack version " + std::to_string(managed->major) + "." +
                                   std::to_string(managed->minor) + "; expected 1");
    read_only = managed->flags & kReadOnly;
  }
  if (read_only && !copy)
    raise(PyExc_BufferError, "from_dlpack: the memory is read-only, but a cupy.ndarray is writable; pass copy=True");
  const DLTensor& tensor = managed->tensor;
  const Dtype dtype = dtype_from(tensor.dtype);
  const ct::Device device = device_from(tensor.device);
  const auto size = static_cast<std::int64_t>(ct::itemsize(dtype));
  if (tensor.ndim < 0 || tensor.ndim > ct::kMaxDims)
    raise(PyExc_BufferError, "from_dlpack: the array has " + std::to_string(tensor.ndim) + " axes; expected at most " +
                                 std::to_string(ct::kMaxDims));
  Shape shape;
  for (int i = 0; i < tensor.ndim; ++i) shape.push_back(tensor.shape[i]);
  ct::Strides strides = ct::contiguous_strides(shape);
  if (tensor.strides)
    for (int i = 0; i < tensor.ndim; ++i) strides[i] = tensor.strides[i];
  const auto [low, high] = reach(shape, strides);
  const std::int64_t before = -low * size;  // bytes before the first element
  void* handle = tensor.data;
  std::int64_t first = static_cast<std::int64_t>(tensor.byte_offset) / size;
  if (tensor.device.type != kOpenCL) {
    handle = static_cast<char*>(handle) + static_cast<std::int64_t>(tensor.byte_offset) - before;
    first = -low;
  } else if (static_cast<std::int64_t>(tensor.byte_offset) % size != 0 || first < -low) {
    raise(PyExc_BufferError, "from_dlpack: byte offset " + std::to_string(tensor.byte_offset) +
                                 " into OpenCL's memory is not a multiple of the " + std::to_string(size) +
                                 " bytes of an element, or an element lies before the memory");
  }
  // from here on the memory is owned, and nothing may be rejected
  std::shared_ptr<void> owner(managed, [](void* p) {
    if (interpreter_has_ended()) return;
    const Held gil;  // a deleter may be a Python function, and no lock of ours is held here
    auto* self = static_cast<Managed*>(p);
    if (self->deleter) self->deleter(self);
  });
  PyCapsule_SetName(capsule, Managed::used);
  const ct::Ref<ct::Storage> storage(
      new ct::Storage(device, handle, static_cast<std::size_t>((first + high + 1) * size), std::move(owner)));
  const Array a(ct::Ref<ct::ArrayHead>(new ct::ArrayBody(dtype, shape, strides, first, storage)));
  ct::export_memory(a);
  return copy ? a.copy() : a;
}

nb::object from_dlpack(nb::object x, nb::object copy) {
  const bool wants_copy = !copy.is_none() && nb::cast<bool>(copy);
  nb::object given = x;
  if (!PyCapsule_CheckExact(x.ptr())) {
    if (!nb::hasattr(x, "__dlpack__") || !nb::hasattr(x, "__dlpack_device__"))
      raise(PyExc_TypeError,
            "from_dlpack: " + nb::cast<std::string>(nb::str(x.type())) +
                " has no __dlpack__ and __dlpack_device__; expected an array of a library that has them");
    const auto [type, id] = nb::cast<std::pair<int, int>>(x.attr("__dlpack_device__")());
    device_from({type, id});  // raises before memory is handed over
    nb::dict arguments;
    if (type != kOnHost && type != kOpenCL) arguments["stream"] = type == 2 ? 1 : 0;  // both name the default stream
    arguments["max_version"] = nb::make_tuple(1, 0);
    if (!copy.is_none()) arguments["copy"] = copy;
    const nb::object hand_over = x.attr("__dlpack__");
    PyObject* taken = PyObject_Call(hand_over.ptr(), nb::make_tuple().ptr(), arguments.ptr());
    if (!taken && PyErr_ExceptionMatches(PyExc_TypeError)) {  // a library older than DLPack 1.0
      PyErr_Clear();
      nb::del(arguments["max_version"]);
      if (!copy.is_none()) nb::del(arguments["copy"]);
      taken = PyObject_Call(hand_over.ptr(), nb::make_tuple().ptr(), arguments.ptr());
    }
    given = checked(taken);
  }
  if (PyCapsule_IsValid(given.ptr(), Versioned::name)) return nb::cast(taken<Versioned>(given.ptr(), wants_copy));
  if (PyCapsule_IsValid(given.ptr(), Unversioned::name)) return nb::cast(taken<Unversioned>(given.ptr(), wants_copy));
  raise(PyExc_ValueError, "from_dlpack: expected a DLPack capsule that has not been used before");
}

/// https://nvidia.github.io/numba-cuda/user/cuda_array_interface.html, version 3
nb::object cuda_array_interface(Self self) {
  const Array& a = self.array();
  const int type = device_of(a.device()).type;
  const bool stands_in = type == kOnHost || type == kOpenCL;
  if (stands_in && !gives_stand_ins())
    raise(PyExc_AttributeError, "__cuda_array_interface__: the array is on " + a.device().name() +
                                    "; expected CUDA's or HIP's memory. Use __dlpack__, or set "
                                    "CATENARY_CUDA_ARRAY_INTERFACE=1 for libraries that only look for the attribute");
  if (stands_in) watch_stand_ins();
  const std::uint64_t address = address_of(self.o) + (type == kOnHost ? kStandIn : 0);
  without_gil(true, [&] { a.device().synchronize(); });
  const auto size = static_cast<std::int64_t>(a.itemsize());
  nb::dict result;
  result["shape"] = nb::cast(a.shape());
  result["typestr"] = nb::handle(numpy_dtype(a.dtype())).attr("str");
  result["data"] = nb::make_tuple(a.size() ? address : 0, false);
  result["strides"] = a.is_contiguous() ? nb::none() : nb::object(checked(tuple_of(a.strides(), size)));
  result["stream"] = nb::none();
  result["version"] = 3;
  return result;
}

}  // namespace

void register_dlpack(nb::module_& m) {
  const nb::object type = nb::borrow(reinterpret_cast<PyObject*>(ndarray_type));
  nb::class_<NdArray> ndarray = nb::borrow<nb::class_<NdArray>>(type);
  ndarray
      .def("__dlpack__", to_dlpack, nb::kw_only(), nb::arg("stream").none() = nb::none(),
           nb::arg("max_version").none() = nb::none(), nb::arg("dl_device").none() = nb::none(),
           nb::arg("copy").none() = nb::none(), "Returns a DLPack capsule of the array's memory.")
      .def("__dlpack_device__",
           [](Self self) {
             const DLDevice device = device_of(self.array().device());
             return nb::make_tuple(device.type, device.id);
           })
      .def_prop_ro("__cuda_array_interface__", cuda_array_interface);
  m.def("from_dlpack", from_dlpack, nb::arg("x"), nb::kw_only(), nb::arg("copy").none() = nb::none(),
        "Returns an array over another library's memory, on its device.");
}

}  // namespace catenary_python
