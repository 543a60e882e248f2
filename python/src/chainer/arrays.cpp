// Arrays shared by NumPy and the library.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "catenary/array/body.h"
#include "objects.h"

namespace catenary_python {

namespace {

PyTypeObject* buffer_type = nullptr;  // the type of the objects whose memory NumPy's arrays show

/// Returns the buffer protocol's character for a dtype, or 0.
char letter_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::bool_:
      return '?';
    case Dtype::int8:
      return 'b';
    case Dtype::int16:
      return 'h';
    case Dtype::int32:
      return 'i';
    case Dtype::int64:
      return 'l';
    case Dtype::uint8:
      return 'B';
    case Dtype::uint16:
      return 'H';
    case Dtype::uint32:
      return 'I';
    case Dtype::uint64:
      return 'L';
    case Dtype::float16:
      return 'e';
    case Dtype::float32:
      return 'f';
    case Dtype::float64:
      return 'd';
    default:
      return 0;
  }
}

bool dtype_of_letter(const char* format, Dtype& dtype) {
  if (!format) {
    dtype = Dtype::uint8;
    return true;
  }
  if (*format == '@' || *format == '=') ++format;
  if (std::strlen(format) != 1) return false;
  const char letter = *format == 'q' ? 'l' : *format == 'Q' ? 'L' : *format;
  for (int i = 0; i < ct::kRealDtypes; ++i)
    if (letter_of(static_cast<Dtype>(i)) == letter) {
      dtype = static_cast<Dtype>(i);
      return true;
    }
  return false;
}

/// Holds a buffer until the end of the scope.
struct Buffer {
  Py_buffer view{};
  bool held = false;
  Buffer(PyObject* o, bool written) {
    held = PyObject_GetBuffer(o, &view, (written ? PyBUF_STRIDED : PyBUF_STRIDED_RO) | PyBUF_FORMAT) == 0;
    if (!held) PyErr_Clear();
  }
  ~Buffer() {
    if (held) PyBuffer_Release(&view);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
};

bool over_numpy(PyObject* o, Array& a, bool written) {
  const Buffer buffer(o, written);
  const Py_buffer& view = buffer.view;
  Dtype dtype;
  if (!buffer.held || view.ndim > ct::kMaxDims || !dtype_of_letter(view.format, dtype)) return false;
  const auto size = static_cast<std::int64_t>(ct::itemsize(dtype));
  Shape shape;
  ct::Strides strides;
  for (int i = 0; i < view.ndim; ++i) {
    shape.push_back(view.shape[i]);
    if (view.strides[i] % size != 0) return false;
    strides.push_back(view.strides[i] / size);
  }
  if (view.itemsize != size || reinterpret_cast<std::uintptr_t>(view.buf) % static_cast<std::uintptr_t>(size) != 0)
    return false;
  if (shape.product() == 0) {
    a = Array::empty(shape, dtype, ct::Device());
    return true;
  }
  const auto [low, high] = reach(shape, strides);
  std::shared_ptr<void> owner(Py_NewRef(o), [](void* p) {
    if (interpreter_has_ended()) return;
    const Held gil;
    Py_DECREF(static_cast<PyObject*>(p));
  });
  const ct::Ref<ct::Storage> storage(new ct::Storage(ct::Device(), static_cast<char*>(view.buf) + low * size,
                                                     static_cast<std::size_t>((high - low + 1) * size),
                                                     std::move(owner)));
  a = Array(ct::Ref<ct::ArrayHead>(new ct::ArrayBody(dtype, shape, strides, -low, storage)));
  ct::export_memory(a);
  return true;
}

/// Memory of the library, which NumPy arrays show.
struct BufferObject {
  PyObject ob_base;
  Array array;
  Py_ssize_t shape[ct::kMaxDims], strides[ct::kMaxDims];
  char format[2];
};

int get_buffer(PyObject* o, Py_buffer* view, int) {
  auto* self = reinterpret_cast<BufferObject*>(o);
  const ct::View memory = ct::readable(self->array);
  const auto size = static_cast<Py_ssize_t>(self->array.itemsize());
  view->obj = Py_NewRef(o);
  view->buf = static_cast<char*>(memory.handle) + memory.offset * size;
  view->len = self->array.size() * size;
  view->itemsize = size;
  view->readonly = 0;
  view->ndim = self->array.ndim();
  view->format = self->format;
  view->shape = self->shape;
  view->strides = self->strides;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}

void free_buffer(PyObject* o) {
  std::destroy_at(&reinterpret_cast<BufferObject*>(o)->array);
  free_object(o);
}

}  // namespace

PyObject* allocate(PyTypeObject* type) {
  PyObject* o = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (!o) raise_set();
  return o;
}

void free_object(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(o);
  Py_DECREF(type);
}

PyObject* numpy_over(const Array& a) {
  const char letter = letter_of(a.dtype());
  if (a.size() == 0 || !letter) return to_numpy(a).release().ptr();
  ct::export_memory(a);
  const nb::object holder = nb::steal(allocate(buffer_type));
  auto* buffer = reinterpret_cast<BufferObject*>(holder.ptr());
  new (&buffer->array) Array(a);
  buffer->format[0] = letter;
  buffer->format[1] = 0;
  const auto size = static_cast<Py_ssize_t>(a.itemsize());
  for (int i = 0; i < a.ndim(); ++i) {
    buffer->shape[i] = a.shape()[i];
    buffer->strides[i] = a.strides()[i] * size;
  }
  static PyObject* const asarray = checked(PyObject_GetAttrString(numpy().ptr(), "asarray")).release().ptr();
  return checked(PyObject_CallFunctionObjArgs(asarray, holder.ptr(), nullptr)).release().ptr();
}

bool array_over(PyObject* o, Array& a, bool written) {
  if (is_ndarray(o)) {
    a = array_of(o);
    if (a.device() == ct::Device()) cupy_is_on_processor = true;
    return true;
  }
  return over_numpy(o, a, written);
}

void register_arrays(nb::module_& m) {
  PyType_Slot of_buffer[] = {{Py_tp_dealloc, slot(free_buffer)}, {Py_bf_getbuffer, slot(get_buffer)}, {0, nullptr}};
  buffer_type = new_type(m, "_Buffer", sizeof(BufferObject), 0, of_buffer);
}

}  // namespace catenary_python
