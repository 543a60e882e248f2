// cupy.cuda's devices, streams, events and memory.

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "catenary/core/error.h"
#include "catenary/core/os/installation.h"
#include "catenary/device/backend.h"
#include "catenary/device/cupy_devices.h"
#include "catenary/device/device_streams.h"
#include "catenary/device/libraries.h"
#include "catenary/device/pool.h"
#include "catenary/device/stream.h"
#include "catenary/runtime_info.h"
#include "core.h"

namespace catenary_python {

namespace {

/// Has the calling thread chosen a device?
thread_local bool thread_has_device = false;

/// Returns the devices with ordinals, which are found once, with the GIL held.
std::vector<ct::Device>& ordinals() {
  static std::vector<ct::Device> found = ct::cupy_devices();
  return found;
}

int ordinal_of(const ct::Device& device) {
  const auto& all = ordinals();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] == device) return static_cast<int>(i);
  return -1;
}

/// The devices that a thread has selected. Guarded by the GIL.
std::vector<ct::Device> used;
const pid_t process = getpid();

/// Applies CUPY_GPU_MEMORY_LIMIT: bytes, or a percentage of the device's memory such as 50%.
void limit_memory(const ct::Device& device) {
  const char* given = std::getenv("CUPY_GPU_MEMORY_LIMIT");
  if (!given || !*given) return;
  std::string text = given;
  const bool is_share = text.back() == '%';
  if (is_share) text.pop_back();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && number >= 0;
  if (!is_number || (is_share ? number > 100 : number != std::floor(number)))
    throw ct::ValueError(std::string("CUPY_GPU_MEMORY_LIMIT=") + given +
                         ": expected a number of bytes, or a percentage of the device's memory such as 50%");
  ct::MemoryPool& pool = ct::memory_pool(device);
  if (is_share)
    pool.set_limit_fraction(number / 100);
  else
    pool.set_limit(static_cast<std::size_t>(number));
}

void use(const ct::Device& device) {
  if (std::find(used.begin(), used.end(), device) == used.end()) {
    limit_memory(device);
    used.push_back(device);
  }
  device.use();
  thread_has_device = true;
}

template <class... A>
nb::object dict(A&&... items) {
  return nb::handle(reinterpret_cast<PyObject*>(&PyDict_Type))(std::forward<A>(items)...);
}

/// cupy.cuda.Device: a device, or an ordinal without a device, which raises when it is used. It also keeps the devices
/// that `with` restores.
struct PyDevice {
  std::optional<ct::Device> device;
  std::int64_t ordinal = -1;  // set if there is no such device
  std::vector<ct::Device> before = {};

  PyDevice(const ct::Device& d) : device(d) {}
  explicit PyDevice(std::int64_t n) : ordinal(n) {
    if (n >= 0 && n < static_cast<std::int64_t>(ordinals().size())) device = device_of_ordinal(n);
  }
  ct::Device get() const { return device ? *device : device_of_ordinal(ordinal); }
  /// Returns -1 for a device without an ordinal.
  std::int64_t id() const { return device ? ordinal_of(*device) : ordinal; }
  /// Returns this device without any entered `with`.
  PyDevice unused() const { return device ? PyDevice(*device) : PyDevice(ordinal); }
  /// Makes it the calling thread's. The processor, where nothing else has an ordinal, becomes ordinal 0 of all threads.
  void use() const {
    const ct::Device chosen = get();
    if (chosen.is_cpu() && ordinals().empty()) ordinals().push_back(chosen);
    catenary_python::use(chosen);
  }
};

/// cupy.cuda.Stream. The null stream is that of the device that is current at its use.
struct PyStream {
  std::optional<ct::Stream> stream;  // nothing for the null stream
  std::vector<ct::Stream> before;
  PyStream() { living().push_back(this); }
  PyStream(const PyStream& other) : stream(other.stream), before(other.before) { living().push_back(this); }
  PyStream& operator=(const PyStream&) = default;
  ~PyStream() { std::erase(living(), this); }
  /// All stream objects, so that ExternalStream finds one by its handle. Guarded by the GIL.
  static std::vector<const PyStream*>& living() {
    static auto* all = new std::vector<const PyStream*>;  // never freed, as streams may be destroyed during exit
    return *all;
  }
  bool is_null() const { return !stream; }
  ct::Stream get() const { return stream ? *stream : ct::Stream::null(current_device()); }
};
int traverse_stream(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  return 0;
}
PyType_Slot stream_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_stream)}, {0, nullptr}};

struct PyEvent {
  bool timed = true;
  std::optional<ct::Event> event = {};
};

/// Returns the vendor's handle of a stream: a CUstream, a hipStream_t, a cl_command_queue. Null on the processor.
void* handle_of(const ct::Stream& stream) {
  const ct::Stream::Use guard(stream);
  ct::DeviceStreams* streams = stream.device().backend().streams();
  return streams ? streams->handle(stream.device().index()) : nullptr;
}

/// Returns our stream with this handle: the null stream, the current one, or one that Python holds. None for other
/// libraries' streams.
std::optional<PyStream> stream_of_handle(std::uintptr_t handle, const ct::Device& device) {
  const auto fits = [&](const ct::Stream& stream) {
    return stream.device() == device && reinterpret_cast<std::uintptr_t>(handle_of(stream)) == handle;
  };
  PyStream found;
  if (fits(ct::Stream::null(device))) return found;
  found.stream = ct::current_stream(device);
  if (fits(*found.stream)) return found;
  for (const PyStream* other : PyStream::living()) {
    if (!other->stream || !fits(*other->stream)) continue;
    found.stream = other->stream;
    return found;
  }
  return std::nullopt;
}

/// Keeps the stream that a thread uses alive as long as the guard. `use` keeps one for each device.
struct Uses {
  std::vector<std::pair<ct::Device, std::unique_ptr<ct::Stream::Use>>> all;
  ~Uses() {
    while (!all.empty()) all.pop_back();
  }
};
thread_local Uses uses;

void use_stream(const ct::Stream& stream) {
  for (auto it = uses.all.begin(); it != uses.all.end(); ++it) {
    if (!(it->first == stream.device())) continue;
    uses.all.erase(it);
    break;
  }
  if (!stream.is_null()) uses.all.emplace_back(stream.device(), std::make_unique<ct::Stream::Use>(stream));
}

/// Waits at the end of the process, because unloading a driver during work crashes (PoCL). It runs after the
/// interpreter has ended, so that no thread records more work. Errors of that work are printed.
void finish() {
  if (getpid() != process) return;  // a forked child has only the parent's devices
  end_interpreter();
  if (std::all_of(used.begin(), used.end(), [](const ct::Device& device) { return device.is_cpu(); })) return;
  wait_for_released();
  ct::leave_deferred_work();  // Python now ends threads that request the GIL
  for (const ct::Device& device : used) {
    try {
      device.synchronize();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "catenary: when the program ended: %s\n", e.what());
    }
  }
}

}  // namespace

int device_count() { return static_cast<int>(ordinals().size()); }

ct::Device device_of_ordinal(std::int64_t ordinal) {
  const auto& all = ordinals();
  if (all.empty()) {
    try {
      return ct::get_device("gpu:0");
    } catch (const ct::DeviceError& e) {
      throw ct::DeviceError(std::string("cudaErrorNoDevice: no CUDA-capable device is detected. ") + e.what() +
                            "\nTo compute on the processor, set CATENARY_CUPY_CPU=1 in the environment, or call "
                            "cupy.cuda.Device('cpu').use()");
    }
  }
  if (ordinal < 0 || ordinal >= static_cast<int>(all.size()))
    throw ct::DeviceError("cudaErrorInvalidDevice: invalid device ordinal " + std::to_string(ordinal) + "; there are " +
                          std::to_string(all.size()) + " devices");
  return all[static_cast<std::size_t>(ordinal)];
}

ct::Device current_device() {
  if (!thread_has_device) use(device_of_ordinal(0));
  return ct::current_device();
}

namespace {

/// Registers ordinals, names and comparisons.
void register_identity(nb::class_<PyDevice>& type) {
  type.def(
          "__init__",
          [](PyDevice* self, nb::object device) {
            if (device.is_none())
              new (self) PyDevice(current_device());
            else if (nb::isinstance<PyDevice>(device))  // also the processor, which has no ordinal
              new (self) PyDevice(nb::cast<const PyDevice&>(device).unused());
            else if (nb::isinstance<nb::str>(device))
              new (self) PyDevice(ct::get_device(nb::cast<std::string>(device)));
            else if (const Py_ssize_t n = PyNumber_AsSsize_t(device.ptr(), nullptr); n == -1 && PyErr_Occurred())
              raise_set();
            else
              new (self) PyDevice(std::int64_t{n});
          },
          nb::arg("device").none() = nb::none())
      .def_prop_ro("id", &PyDevice::id)
      .def_prop_ro("name", [](const PyDevice& d) { return d.get().name(); })
      .def("__int__", &PyDevice::id)
      .def("__index__", &PyDevice::id)
      .def("__repr__", [](const PyDevice& d) { return "<CUDA Device " + std::to_string(d.id()) + ">"; })
      .def("__eq__", [](const PyDevice& d,
                        const PyDevice& o) { return d.device == o.device && (d.device || d.ordinal == o.ordinal); })
      .def("__eq__", [](const PyDevice&, nb::handle) { return nb::borrow(Py_NotImplemented); })
      .def("__hash__",
           [](const PyDevice& d) {
             return d.device ? std::hash<std::string>()(d.device->name()) : std::hash<std::int64_t>()(d.ordinal);
           })
      .def("__reduce__",
           [](nb::object self) {  // pickled by name if there is no ordinal that identifies it in every process
             const PyDevice& d = nb::cast<const PyDevice&>(self);
             const bool by_name = d.device && (d.device->is_cpu() || d.id() < 0);
             const nb::object key = by_name ? nb::object(nb::cast(d.device->name())) : nb::object(nb::cast(d.id()));
             return nb::make_tuple(self.type(), nb::make_tuple(key));
           });
}

/// Registers functions that make a device current.
void register_use(nb::class_<PyDevice>& type) {
  type.def("use", &PyDevice::use,
           "Makes it the device of the calling thread's new arrays. If no device has an ordinal, the processor becomes "
           "ordinal 0 for all threads.")
      .def(
          "synchronize",
          [](const PyDevice& d) {
            const ct::Device device = d.get();
            const Released released;
            device.synchronize();
          },
          "Waits until all submitted work is done.")
      .def("__enter__",
           [](nb::object self) {
             PyDevice& d = nb::cast<PyDevice&>(self);
             const ct::Device device = d.get();
             if (!thread_has_device && !ordinals().empty()) use(ordinals()[0]);
             d.before.push_back(ct::current_device());
             use(device);
             return self;
           })
      .def("__exit__", [](PyDevice& d, nb::args) {
        if (d.before.empty()) throw ct::ValueError("Device.__exit__: called without __enter__; use `with`");
        use(d.before.back());
        d.before.pop_back();
      });
}

/// Registers reports on a device.
void register_information(nb::class_<PyDevice>& type) {
  type.def_prop_ro("mem_info",
                   [](const PyDevice& d) {
                     const std::size_t total = d.get().info().memory_bytes;
                     const std::size_t used = ct::memory_pool(d.get()).total_bytes();
                     return std::pair(total > used ? total - used : 0, total);
                   })
      .def_prop_ro("compute_capability",
                   [](const PyDevice& d) {
                     const std::string arch = d.get().info().arch;
                     return arch.rfind("sm_", 0) == 0 ? arch.substr(3) : arch;
                   })
      .def_prop_ro("info", [](const PyDevice& d) {
        const ct::DeviceInfo info = d.get().info();
        using namespace nb::literals;
        return dict("name"_a = info.name, "platform"_a = info.platform, "arch"_a = info.arch, "driver"_a = info.driver,
                    "pci"_a = info.pci, "memory_bytes"_a = info.memory_bytes, "local_bytes"_a = info.local_bytes,
                    "compute_units"_a = info.compute_units, "group_size"_a = info.group_size, "is_cpu"_a = info.is_cpu,
                    "has_f64"_a = info.has_f64, "has_atomic64"_a = info.has_atomic64);
      });
}

/// Registers reports on how products, convolutions and attention are computed.
void register_computations(nb::module_& m) {
  nb::class_<ct::Computation>(m, "Computation", "How a product, a convolution or attention was computed.")
      .def_ro("kind", &ct::Computation::kind)
      .def_ro("library", &ct::Computation::library)
      .def_ro("algorithm", &ct::Computation::algorithm)
      .def_prop_ro("dtype", [](const ct::Computation& c) { return ct::dtype_name(c.dtype); })
      .def_ro("compute", &ct::Computation::compute)
      .def_ro("units", &ct::Computation::units)
      .def_ro("why_not", &ct::Computation::why_not)
      .def_ro("told", &ct::Computation::told)
      .def("text", &ct::Computation::text, "Returns all of it in one line.")
      .def("__str__", &ct::Computation::text);
  m.def(
      "last_computation",
      [](const PyDevice& device, const std::string& kind) { return ct::last_computation(device.get(), kind); },
      nb::arg("device"), nb::arg("kind"),
      "Returns how the calling thread's last product ('blas'), convolution ('dnn') or attention ('attention') on a "
      "device was computed. None before the first one.");
}

/// Registers cupy.cuda.Device and the functions that report on devices.
void register_device(nb::module_& m) {
  nb::class_<PyDevice> type(m, "Device",
                            "A device by its ordinal, or a name that Catenary knows (\"cpu\", \"opencl:1\").");
  register_identity(type);
  register_use(type);
  register_information(type);
  m.def(
      "device_of", [](const Array& a) { return PyDevice(a.device()); }, nb::arg("a"));
  m.def("backend_of", [](const PyDevice& d) { return d.get().name().substr(0, d.get().name().find(':')); });
  m.def("getDeviceCount", [] { return device_count(); });
  m.def("getDevice", [] { return ordinal_of(current_device()); });
  m.def("deviceSynchronize", [] {
    const ct::Device device = current_device();
    const Released released;
    device.synchronize();
  });
  m.def("runtime_info", [] { return ct::runtime_info(); });
  m.def("_library_folder", [] { return ct::os::library_folder(); });
  Py_AtExit(finish);
}

void register_events(nb::module_& m) {
  nb::class_<PyEvent>(m, "Event", "A point in a stream that can be waited for and timed.")
      .def(
          "__init__", [](PyEvent* self, bool, bool untimed, bool) { new (self) PyEvent{!untimed}; },
          nb::arg("block") = false, nb::arg("disable_timing") = false, nb::arg("interprocess") = false)
      .def(
          "record",
          [](PyEvent& e, PyStream* stream) {
            e.event = stream ? stream->get().record() : ct::current_stream(current_device()).record();
          },
          nb::arg("stream").none() = nb::none())
      .def("synchronize",
           [](const PyEvent& e) {
             const Released released;
             if (e.event) e.event->synchronize();
           })
      .def_prop_ro("done", [](const PyEvent& e) { return !e.event || e.event->done(); });
  m.def(
      "get_elapsed_time",
      [](const PyEvent& from, const PyEvent& to) {
        if (!from.event || !to.event)
          throw ct::ValueError("get_elapsed_time: an event was not recorded; call record() on both");
        if (!from.timed || !to.timed)
          throw ct::DeviceError(
              "cudaErrorInvalidResourceHandle: get_elapsed_time: an event has disable_timing=True; make it without");
        const Released released;
        return ct::elapsed_time(*from.event, *to.event);
      },
      nb::arg("start_event"), nb::arg("end_event"));
}

/// Registers functions that make a stream current, and comparisons.
void register_use(nb::class_<PyStream>& type) {
  type.def("use",
           [](nb::object self) {
             use_stream(nb::cast<PyStream&>(self).get());
             return self;
           })
      .def("__enter__",
           [](nb::object self) {
             PyStream& s = nb::cast<PyStream&>(self);
             s.before.push_back(ct::current_stream(s.get().device()));
             use_stream(s.get());
             return self;
           })
      .def("__exit__",
           [](PyStream& s, nb::args) {
             if (s.before.empty()) throw ct::ValueError("Stream.__exit__: called without __enter__; use `with`");
             use_stream(s.before.back());
             s.before.pop_back();
           })
      .def("__eq__", [](PyStream& a, PyStream& b) { return a.get() == b.get(); })
      .def("__eq__", [](const PyStream&, nb::handle) { return nb::borrow(Py_NotImplemented); })
      .def("__hash__", [](const PyStream& s) {
        return s.is_null() || s.stream->is_null() ? 0 : std::hash<const void*>()(handle_of(*s.stream));
      });
}

/// Registers waiting and recording.
void register_work(nb::class_<PyStream>& type) {
  type.def("synchronize",
           [](PyStream& s) {
             const ct::Stream stream = s.get();
             const Released released;
             stream.synchronize();
           })
      .def_prop_ro("done", [](PyStream& s) { return s.get().record().done(); })
      .def(
          "record",
          [](PyStream& s, nb::object event) {
            if (event.is_none()) event = nb::cast(PyEvent{});
            nb::cast<PyEvent&>(event).event = s.get().record();
            return event;
          },
          nb::arg("event").none() = nb::none())
      .def(
          "wait_event",
          [](PyStream& s, const PyEvent& e) {
            if (e.event) s.get().wait(*e.event);
          },
          nb::arg("event"));
}

void register_streams(nb::module_& m) {
  // the type holds an instance (Stream.null), which refers to the type
  nb::class_<PyStream> stream(m, "Stream", nb::type_slots(stream_slots),
                              "A queue of work on a device, executed in order.");
  stream
      .def(
          "__init__",
          [](PyStream* self, bool null, bool non_blocking, bool) {
            new (self) PyStream{};
            if (!null) self->stream = ct::Stream(current_device(), !non_blocking);
          },
          nb::arg("null") = false, nb::arg("non_blocking") = false, nb::arg("ptds") = false)
      .def_prop_ro("is_null", [](const PyStream& s) { return s.is_null(); })
      .def_prop_ro(
          "ptr",
          [](const PyStream& s) {
            const bool no_device = s.is_null() && !thread_has_device && ordinals().empty();
            return no_device ? std::uintptr_t{0} : reinterpret_cast<std::uintptr_t>(handle_of(s.get()));
          },
          "The driver's handle: a CUstream, a hipStream_t or a cl_command_queue, and 0 on the processor. The null "
          "stream has the handle of the device's own stream, as it is not CUDA's legacy stream.");
  register_use(stream);
  register_work(stream);
  m.def(
      "_stream_of_handle",
      [](std::uintptr_t ptr, std::int64_t device) {
        return stream_of_handle(ptr, device < 0 ? current_device() : device_of_ordinal(device));
      },
      nb::arg("ptr"), nb::arg("device_id"));
  m.def("get_current_stream", [] {
    PyStream result;
    const ct::Stream current = ct::current_stream(current_device());
    if (!current.is_null()) result.stream = current;
    return result;
  });
}

/// Registers the pool of the current device.
void register_pool(nb::module_& m) {
  m.def("pool_counters", [] {
    const ct::MemoryPool& pool = ct::memory_pool(current_device());
    using namespace nb::literals;
    return dict("used_bytes"_a = pool.used_bytes(), "free_bytes"_a = pool.free_bytes(),
                "total_bytes"_a = pool.total_bytes(), "n_free_blocks"_a = pool.n_free_blocks(),
                "limit"_a = pool.get_limit());
  });
  m.def("pool_free_all_blocks", [] {
    ct::MemoryPool& pool = ct::memory_pool(current_device());
    const Released released;
    pool.free_all_blocks();
  });
  m.def(
      "pool_set_limit",
      [](std::optional<std::int64_t> size, std::optional<double> fraction) {
        if (size && fraction) throw ct::ValueError("set_limit: size and fraction must not both be given");
        if (size && *size < 0)
          throw ct::ValueError("set_limit: size must be 0, for no limit, or greater, given " + std::to_string(*size));
        ct::MemoryPool& pool = ct::memory_pool(current_device());
        if (fraction) {
          pool.set_limit_fraction(*fraction);
        } else {
          pool.set_limit(static_cast<std::size_t>(size.value_or(0)));
        }
      },
      nb::arg("size").none() = nb::none(), nb::arg("fraction").none() = nb::none());
}

}  // namespace

void register_devices(nb::module_& m) {
  register_device(m);
  register_computations(m);
  register_events(m);
  register_streams(m);
  register_pool(m);
}

}  // namespace catenary_python
