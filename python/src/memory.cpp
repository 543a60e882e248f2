// Addresses of memory blocks, lookup of arrays by address, and watchers of allocations.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/view.h"
#include "catenary/device/deferred.h"
#include "catenary/device/pool.h"
#include "core.h"
#include "stand_ins.h"

namespace catenary_python {

namespace {

/// The owners of memory blocks by their requested addresses. Guarded by the GIL.
std::map<std::uint64_t, PyObject*>& blocks() {
  static std::map<std::uint64_t, PyObject*> found;
  return found;
}

/// Returns the memory block that holds an array's elements, as bytes, after running pending operations on it.
Array block_of(const Array& a) {
  ct::readable(a);
  const ct::Ref<ct::Storage>& storage = a.body().storage;
  if (!storage) return Array::empty({0}, Dtype::uint8, a.device());
  return Array(ct::Ref<ct::ArrayHead>(
      new ct::ArrayBody(Dtype::uint8, Shape{static_cast<std::int64_t>(storage->bytes())}, ct::Strides{1}, 0, storage)));
}

PyObject* owner_of(PyObject* o) { return handle_of(o).base ? handle_of(o).base : o; }

/// Returns an unused address range for OpenCL memory, which has handles instead of addresses, so that each byte of a
/// block has a unique number.
std::uint64_t invented(std::uint64_t bytes) {
  static std::uint64_t next = kOpenClStandIn;
  const std::uint64_t address = next;
  next += (bytes + 4096) / 4096 * 4096;
  return address;
}

/// A thread's watcher of its pools. On the heap, as a watched thread may end without holding the GIL.
struct Watch {
  nb::object told;
  std::vector<ct::MemoryEvent> events;
};
thread_local Watch* watch = nullptr;

void watch_memory(nb::object told) {
  tell_memory();
  if (watch) {
    ct::watch_memory(nullptr);
    delete std::exchange(watch, nullptr);
    --memory_watchers;
  }
  if (told.is_none()) return;
  watch = new Watch{std::move(told), {}};
  ct::watch_memory(&watch->events);
  ++memory_watchers;
}

}  // namespace

std::uint64_t address_of(PyObject* o) {
  PyObject* owner = owner_of(o);
  NdArray& handle = handle_of(owner);
  const ct::View view = ct::readable(array_of(o));
  if (!handle.address && view.handle) {
    ct::export_memory(array_of(o));
    const bool opencl = is_opencl(array_of(o).device());
    const auto bytes = static_cast<std::uint64_t>(handle.array.body().storage->bytes());
    handle.address = opencl ? invented(bytes) : reinterpret_cast<std::uintptr_t>(view.handle);
    blocks().insert_or_assign(handle.address, owner);
  }
  return handle.address + static_cast<std::uint64_t>(view.offset) * array_of(o).itemsize();
}

int memory_watchers = 0;

void tell_memory() {
  if (!watch) return;
  ct::evaluate();
  const nb::object told = watch->told;
  const char* const kinds[] = {"alloc", "malloc", "free"};
  for (const ct::MemoryEvent& e : std::exchange(watch->events, {}))
    told(kinds[e.kind], e.device, e.bytes, e.block_bytes, reinterpret_cast<std::uintptr_t>(e.block));
}

void forget_address(std::uint64_t address) noexcept { blocks().erase(address); }

void register_memory(nb::module_& m) {
  m.def("_watch_memory", watch_memory, nb::arg("told").none(),
        "Calls told(kind, device, bytes, block size, address) for this thread's pool events, after the operation that "
        "caused them. None stops it. Kinds are alloc (from the device), malloc and free (of the pool).");
  m.def(
      "_address", [](Self self) { return address_of(self.o); },
      "Returns the address of the first element. On OpenCL it is a unique number that only _at can resolve.");
  m.def(
      "_block", [](Self self) { return checked(wrap_view(block_of(self.array()), self.o)); },
      "Returns the size in bytes of the memory block that holds the elements.");
  m.def(
      "_at",
      [](std::uint64_t address, DtypeArg dtype, std::int64_t size) {
        const Dtype d = dtype.value_or(Dtype::uint8);
        if (address >= kStandIn && address < kOpenClStandIn) address -= kStandIn;
        auto found = blocks().upper_bound(address);
        if (found != blocks().begin()) {
          PyObject* owner = (--found)->second;
          const Array bytes = block_of(array_of(owner));
          const std::uint64_t from = address - found->first,
                              length = static_cast<std::uint64_t>(size) * ct::itemsize(d);
          if (from + length <= static_cast<std::uint64_t>(bytes.size())) {
            const auto first = static_cast<std::int64_t>(from);
            const Array part = bytes(ct::slice(first, first + static_cast<std::int64_t>(length)));
            return checked(wrap_view(ct::view(part, d), owner));
          }
        }
        raise(PyExc_ValueError, std::to_string(size) + " elements of " + ct::dtype_name(d) + " at address " +
                                    std::to_string(address) +
                                    " are not inside of a living array whose address was taken (data.ptr)");
      },
      nb::arg("address"), nb::arg("dtype").none(), nb::arg("size"),
      "Returns a view of the array at an address from _address.");
}

}  // namespace catenary_python
