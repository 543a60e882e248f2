// The objects behind chainer.Variable and its node.

#include <memory>
#include <string>
#include <vector>

#include "objects.h"

namespace catenary_python {

Classes classes;
int old_style_gradients = 0;
PyTypeObject *variable_base = nullptr, *node_base = nullptr, *function_base = nullptr;

namespace {

void set_array(ct::VariableNode& node, const ct::Variable& v, PyObject* o) {
  Array a;
  const bool requires_grad = node.requires_grad();
  if (o != Py_None && array_over(o, a)) {
    v.set_array(a);
    node.set_requires_grad(requires_grad);  // also for integers
  } else {
    node.forget_data();
  }
  Peer& peer = peer_of(node);
  if (peer.array) Py_DECREF(std::exchange(peer.array, nullptr));
  if (o != Py_None) peer.array = Py_NewRef(o);
  peer.nothing = o == Py_None;
}

}  // namespace

Peer::~Peer() {
  if (old_style) --old_style_gradients;
  if (interpreter_has_ended() || (!array && !old_style)) return;
  const Held gil;
  Py_XDECREF(array);
  Py_XDECREF(old_style);
}

void Peer::data_changed() noexcept {
  if (!array || interpreter_has_ended()) return;
  const Held gil;
  Py_DECREF(std::exchange(array, nullptr));
}

Peer& peer_of(ct::VariableNode& node) {
  if (!node.peer()) node.set_peer(std::make_unique<Peer>());
  return static_cast<Peer&>(*node.peer());
}

namespace {

/// Returns the array of a variable that Python has seen, or null.
PyObject* seen_array(const ct::VariableNode& node) {
  const auto* const peer = static_cast<Peer*>(node.peer());
  return peer && peer->array != Py_None ? peer->array : nullptr;
}

/// Returns the owner of a node's array, or of the one that it is computed from. Asked only while cupy's arrays, too,
/// are on the processor.
Owner owner_of(const ct::VariableNode& node) {
  for (const ct::VariableNode* at = &node;;) {
    if (PyObject* const x = seen_array(*at)) return is_ndarray(x) ? Owner::cupy : Owner::numpy;
    if (const auto* const peer = static_cast<Peer*>(at->peer()); peer && peer->owner != Owner::unknown)
      return peer->owner;
    const ct::FunctionNode* const f = at->creator();
    if (!f || f->input_count() == 0) return Owner::unknown;
    at = &f->input(0);
  }
}

/// Returns the owner of the first array in an argument.
Owner owner_in(PyObject* o) {
  static PyObject* const type = nb::object(numpy().attr("ndarray")).release().ptr();
  if (!o) return Owner::unknown;
  if (is_variable(o)) return variable_of(o).defined() ? owner_of(variable_of(o).node()) : Owner::unknown;
  if (is_ndarray(o)) return Owner::cupy;
  if (PyObject_IsInstance(o, type) == 1) return Owner::numpy;
  Owner found = Owner::unknown;
  if (PyTuple_Check(o) || PyList_Check(o))
    for (Py_ssize_t i = 0, count = PySequence_Size(o); i < count && found == Owner::unknown; ++i)
      found = owner_in(PyTuple_Check(o) ? PyTuple_GetItem(o, i) : PyList_GetItem(o, i));
  return found;
}

}  // namespace

PyObject* array_object(ct::VariableNode& node) {
  Peer& peer = peer_of(node);
  if (peer.array) return peer.array;
  const Array& a = node.data();
  if (!a.defined()) return Py_None;
  const bool is_numpys = a.device() == ct::Device() && (!cupy_is_on_processor || owner_of(node) == Owner::numpy);
  return peer.array = is_numpys ? numpy_over(a) : wrap(a);
}

void share_owner(std::span<const ct::Variable> results, std::span<PyObject* const> arguments) {
  if (!cupy_is_on_processor) return;
  Owner owner = Owner::unknown;
  for (std::size_t i = 0; i < arguments.size() && owner == Owner::unknown; ++i) owner = owner_in(arguments[i]);
  for (const ct::Variable& y : results)
    if (y.defined()) peer_of(y.node()).owner = owner;
}

bool has_values(const ct::VariableNode& node) {
  const auto* const peer = static_cast<Peer*>(node.peer());
  return node.data().defined() || (peer && peer->array && peer->array != Py_None);
}

ct::Variable variable_over(PyObject* array, bool requires_grad) {
  Array a;
  ct::Variable v(new ct::VariableNode(Array(), requires_grad));
  if (array == Py_None) {
    peer_of(v.node()).nothing = true;
    return v;
  }
  if (array_over(array, a)) v = ct::Variable(a, requires_grad);
  Peer& peer = peer_of(v.node());
  peer.array = Py_NewRef(array);
  v.node().set_requires_grad(requires_grad);
  return v;
}

PyObject* wrap_variable(const ct::Variable& v) {
  if (!v.defined()) return Py_NewRef(Py_None);
  Peer& peer = peer_of(v.node());
  if (peer.variable && Py_REFCNT(peer.variable) > 0) return Py_NewRef(peer.variable);
  PyObject* o = allocate(kept(classes.variable));
  new (&variable_of(o)) ct::Variable(v);
  peer.variable = o;
  if (peer.node && Py_REFCNT(peer.node) > 0) {
    reinterpret_cast<VariableObject*>(o)->node = Py_NewRef(peer.node);
  } else if (is_after_python(v.node())) {
    Py_DECREF(wrap_node(&v.node()));  // the variable keeps it alive
  }
  return o;
}

nb::object wrap_variables(std::span<const ct::Variable> all) {
  const nb::object tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(all.size())));
  for (std::size_t i = 0; i < all.size(); ++i)
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), wrap_variable(all[i]));
  return tuple;
}

ct::Variable variable_from(nb::handle o) {
  if (o.is_none()) return {};
  return is_variable(o.ptr()) ? variable_of(o.ptr()) : variable_over(o.ptr(), false);
}

std::optional<ct::Number> scale_from(nb::handle o) {
  return o.is_none() ? std::optional<ct::Number>() : ct::Number(nb::cast<double>(nb::float_(o)));
}

PyObject* wrap_node(ct::VariableNode* node) {
  if (!node) return Py_NewRef(Py_None);
  Peer& peer = peer_of(*node);
  if (peer.node && Py_REFCNT(peer.node) > 0) return Py_NewRef(peer.node);
  PyObject* o = allocate(kept(classes.node));
  new (&reinterpret_cast<NodeObject*>(o)->node) ct::Ref<ct::VariableNode>(node);
  peer.node = o;
  if (peer.variable && Py_REFCNT(peer.variable) > 0)
    replace_reference(reinterpret_cast<VariableObject*>(peer.variable)->node, Py_NewRef(o));
  note_uses(*reinterpret_cast<NodeObject*>(o));
  return o;
}

namespace {

// ---- Variable

ct::Variable& self(PyObject* o) { return variable_of(o); }

PyObject* new_variable(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded([&] {
    PyObject* o = allocate(type);
    new (&variable_of(o)) ct::Variable();
    return o;
  });
}

void forget(PyObject* o) {
  ct::Variable& v = variable_of(o);
  if (!v.defined()) return;
  if (auto* peer = static_cast<Peer*>(v.node().peer()); peer && peer->variable == o) peer->variable = nullptr;
}

void free_variable(PyObject* o) {
  PyObject_GC_UnTrack(o);
  forget(o);
  Py_CLEAR(reinterpret_cast<VariableObject*>(o)->node);
  std::destroy_at(&variable_of(o));
  free_object(o);
}

int clear_variable(PyObject* o) {
  forget(o);
  Py_CLEAR(reinterpret_cast<VariableObject*>(o)->node);
  variable_of(o) = ct::Variable();
  return 0;
}

int traverse_variable(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(reinterpret_cast<VariableObject*>(o)->node);
  return visit_graph(*reinterpret_cast<VariableObject*>(o), visit, arg);
}

/// _init_impl(data, device, name, grad, grad_valid, requires_grad, is_chainerx_array, node, layout)
PyObject* init(PyObject* o, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject *data, *device, *name, *grad, *valid, *requires_grad, *chainerx, *node, *layout;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOO", &data, &device, &name, &grad, &valid, &requires_grad, &chainerx,
                          &node, &layout))
      return nullptr;
    forget(o);
    Py_CLEAR(reinterpret_cast<VariableObject*>(o)->node);
    if (layout != Py_None) layouts_are_used = true;
    if (node != Py_None) {
      variable_of(o) = ct::Variable(reinterpret_cast<NodeObject*>(node)->node.get());
    } else {
      variable_of(o) = variable_over(data, requires_grad == Py_True);
    }
    const ct::Variable& v = variable_of(o);
    peer_of(v.node()).variable = o;
    if (PyObject* const known = peer_of(v.node()).node) reinterpret_cast<VariableObject*>(o)->node = Py_NewRef(known);
    if (name != Py_None) v.set_name(nb::cast<std::string>(nb::str(nb::handle(name))));
    if (grad != Py_None) v.set_grad_var(variable_over(grad, true));
    const auto set = [&](const char* attribute, PyObject* value) {
      if (PyObject_SetAttrString(o, attribute, value) != 0) raise_set();
    };
    if (device != Py_None) set("_device", device);
    if (valid != Py_True) set("_grad_valid", valid);
    if (layout != Py_None) set("_layout", layout);
    Py_RETURN_NONE;
  });
}

PyObject* raw_array(PyObject* o, void*) {
  return guarded([&] { return Py_NewRef(array_object(self(o).node())); });
}

int set_raw_array(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] {
    const ct::Variable& v = self(o);
    set_array(v.node(), v, value ? value : Py_None);
    return 0;
  });
}

/// Returns Variable.array. With memory layouts it calls Chainer's code.
PyObject* get_array(PyObject* o, void*) {
  if (layouts_are_used) return PyObject_CallMethod(o, "_get_array", nullptr);
  return raw_array(o, nullptr);
}

int set_array_by_chainer(PyObject* o, PyObject* value, void*) {
  PyObject* const done = PyObject_CallMethod(o, "_set_array", "O", value ? value : Py_None);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

/// Returns a variable's gradient, whose array has the same owner as the variable's.
const ct::Variable& gradient_of(PyObject* o) {
  const ct::Variable& gradient = self(o).grad_var();
  share_owner({&gradient, 1}, {&o, 1});
  return gradient;
}

PyObject* get_grad(PyObject* o, void*) {
  return guarded([&] {
    const ct::Variable& gradient = gradient_of(o);
    return Py_NewRef(gradient.defined() ? array_object(gradient.node()) : Py_None);
  });
}

int set_grad(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] {
    self(o).set_grad_var(!value || value == Py_None ? ct::Variable() : variable_over(value, true));
    return 0;
  });
}

PyObject* get_grad_var(PyObject* o, void*) {
  return guarded([&] { return wrap_variable(gradient_of(o)); });
}

int set_grad_var(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] {
    const bool none = !value || value == Py_None;
    if (!none && !is_variable(value)) raise(PyExc_TypeError, "Variable.grad_var: expected a Variable or None");
    self(o).set_grad_var(none ? ct::Variable() : variable_of(value));
    return 0;
  });
}

/// Returns an attribute of the values, which the node remembers after they are freed, or None if there never were
/// values.
template <class F>
PyObject* of_values(ct::VariableNode& node, const char* attribute, const F& remembered) {
  const auto* peer = static_cast<Peer*>(node.peer());
  if (!node.data().defined() && peer && peer->array) return PyObject_GetAttrString(peer->array, attribute);
  if (!node.data().defined() && peer && peer->nothing) return Py_NewRef(Py_None);
  return remembered();
}
PyObject* shape_of(ct::VariableNode& node) {
  return of_values(node, "shape", [&] { return tuple_of(node.shape()); });
}
PyObject* dtype_of(ct::VariableNode& node) {
  return of_values(node, "dtype", [&] { return Py_NewRef(numpy_dtype(node.dtype())); });
}

PyObject* get_shape(PyObject* o, void*) {
  return guarded([&]() -> PyObject* {
    ct::VariableNode& node = self(o).node();
    if (layouts_are_used) {
      const nb::object layout = nb::handle(o).attr("_layout");
      const nb::object transposed = nb::module_::import_("chainer.memory_layouts").attr("_transpose_shape");
      if (!layout.is_none()) return transposed(nb::steal(tuple_of(node.shape())), layout, nb::none()).release().ptr();
    }
    if (node.data().defined()) return tuple_of(node.shape());
    return PyObject_GetAttrString(array_object(node), "shape");  // AttributeError without an array, as in Chainer
  });
}
PyObject* get_dtype(PyObject* o, void*) {
  return guarded([&]() -> PyObject* {
    ct::VariableNode& node = self(o).node();
    if (node.data().defined()) return Py_NewRef(numpy_dtype(node.dtype()));
    return PyObject_GetAttrString(array_object(node), "dtype");
  });
}
PyObject* get_ndim(PyObject* o, void*) {
  return guarded([&]() -> PyObject* {
    ct::VariableNode& node = self(o).node();
    if (node.data().defined()) return PyLong_FromLong(node.shape().size());
    return PyObject_GetAttrString(array_object(node), "ndim");
  });
}
PyObject* get_size(PyObject* o, void*) {
  return guarded([&]() -> PyObject* {
    ct::VariableNode& node = self(o).node();
    if (node.data().defined()) return PyLong_FromLongLong(node.shape().product());
    return PyObject_GetAttrString(array_object(node), "size");
  });
}
PyObject* get_node(PyObject* o, void*) {
  return guarded([&] {
    PyObject* const node = reinterpret_cast<VariableObject*>(o)->node;
    return node ? Py_NewRef(node) : wrap_node(&self(o).node());
  });
}
PyObject* get_requires_grad(PyObject* o, void*) {
  return guarded([&] { return PyBool_FromLong(self(o).requires_grad()); });
}
PyObject* has_grad(PyObject* o, void*) {
  return guarded([&] { return PyBool_FromLong(self(o).grad_var().defined()); });
}
PyObject* is_initialized(PyObject* o, void*) {
  return guarded([&] { return PyBool_FromLong(has_values(self(o).node())); });
}
PyObject* get_creator_node(PyObject* o, void*) {
  return guarded([&] { return wrap_function(self(o).creator()); });
}
PyObject* get_rank(PyObject* o, void*) {
  return guarded([&] { return PyLong_FromLong(self(o).rank()); });
}
PyObject* name_of(const ct::VariableNode& node) {
  const std::string& name = node.name();
  return name.empty() ? Py_NewRef(Py_None)
                      : PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}
PyObject* get_name(PyObject* o, void*) {
  return guarded([&] { return name_of(self(o).node()); });
}
int set_name_of(const ct::Variable& v, PyObject* value) {
  v.set_name(!value || value == Py_None ? std::string() : nb::cast<std::string>(nb::str(nb::handle(value))));
  return 0;
}
int set_name(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] { return set_name_of(self(o), value); });
}
PyObject* get_loss_scale(PyObject* o, void*) {
  return guarded([&]() -> PyObject* {
    const std::optional<ct::Number> scale = self(o).loss_scale();
    return scale ? PyFloat_FromDouble(scale->value()) : Py_NewRef(Py_None);
  });
}
int set_loss_scale(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] {
    self(o).set_loss_scale(scale_from(value ? value : Py_None));
    return 0;
  });
}
Py_ssize_t length(PyObject* o) {
  const nb::object array = nb::steal(raw_array(o, nullptr));
  return array.is_valid() ? PyObject_Size(array.ptr()) : -1;
}

PyGetSetDef variable_attributes[] = {{"raw_array", raw_array, set_raw_array, nullptr, nullptr},
                                     {"_array", raw_array, set_raw_array, nullptr, nullptr},
                                     {"array", get_array, set_array_by_chainer, nullptr, nullptr},
                                     {"_grad", get_grad, set_grad, nullptr, nullptr},
                                     {"_grad_var", get_grad_var, set_grad_var, nullptr, nullptr},
                                     {"_has_grad", has_grad, nullptr, nullptr, nullptr},
                                     {"_is_initialized", is_initialized, nullptr, nullptr, nullptr},
                                     {"shape", get_shape, nullptr, nullptr, nullptr},
                                     {"dtype", get_dtype, nullptr, nullptr, nullptr},
                                     {"ndim", get_ndim, nullptr, nullptr, nullptr},
                                     {"size", get_size, nullptr, nullptr, nullptr},
                                     {"node", get_node, nullptr, nullptr, nullptr},
                                     {"_node", get_node, nullptr, nullptr, nullptr},
                                     {"requires_grad", get_requires_grad, nullptr, nullptr, nullptr},
                                     {"_requires_grad", get_requires_grad, nullptr, nullptr, nullptr},
                                     {"_creator_node", get_creator_node, nullptr, nullptr, nullptr},
                                     {"rank", get_rank, nullptr, nullptr, nullptr},
                                     {"name", get_name, set_name, nullptr, nullptr},
                                     {"_loss_scale", get_loss_scale, set_loss_scale, nullptr, nullptr},
                                     {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef variable_methods[] = {{"_init_impl", init, METH_VARARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};

// ---- VariableNode

ct::VariableNode& node_of(PyObject* o) {
  ct::VariableNode* node = reinterpret_cast<NodeObject*>(o)->node.get();
  if (!node)
    raise(PyExc_RuntimeError, "VariableNode: made without a Variable; make it as VariableNode(variable, name)");
  return *node;
}

/// Implements VariableNode(variable, name), which returns the variable's node.
PyObject* new_node(PyTypeObject* type, PyObject* arguments, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (PyTuple_Size(arguments) < 1 || !is_variable(PyTuple_GetItem(arguments, 0)))
      raise(PyExc_TypeError, "VariableNode: expected a Variable");
    PyObject* o = allocate(type);
    new (&reinterpret_cast<NodeObject*>(o)->node)
        ct::Ref<ct::VariableNode>(&variable_of(PyTuple_GetItem(arguments, 0)).node());
    return o;
  });
}

void forget_node(PyObject* o) {
  ct::Ref<ct::VariableNode>& node = reinterpret_cast<NodeObject*>(o)->node;
  if (!node) return;
  if (auto* peer = static_cast<Peer*>(node->peer()); peer && peer->node == o) peer->node = nullptr;
}
void free_node(PyObject* o) {
  PyObject_GC_UnTrack(o);
  forget_node(o);
  drop(reinterpret_cast<NodeObject*>(o)->uses, o);
  delete reinterpret_cast<NodeObject*>(o)->users;
  std::destroy_at(&reinterpret_cast<NodeObject*>(o)->node);
  free_object(o);
}
int clear_node(PyObject* o) {
  forget_node(o);
  drop(reinterpret_cast<NodeObject*>(o)->uses, o);
  reinterpret_cast<NodeObject*>(o)->node = {};
  return 0;
}
int traverse_node(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  NodeObject& node = *reinterpret_cast<NodeObject*>(o);
  if (const int stopped = catenary_python::visit(node.uses, visit, arg)) return stopped;
  return visit_graph(node, visit, arg);
}

PyObject* node_data(PyObject* o, void*) {
  return guarded([&] {
    ct::VariableNode& node = node_of(o);
    return Py_NewRef(node.is_retained() ? array_object(node) : Py_None);
  });
}
int set_node_data(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] {
    ct::VariableNode& node = node_of(o);
    const bool none = !value || value == Py_None;
    if (none) {
      node.retain(false);
      if (!node.has_handle()) node.forget_data();
      return 0;
    }
    node.retain();
    if (array_object(node) != value) set_array(node, ct::Variable(&node), value);
    return 0;
  });
}
PyObject* node_shape(PyObject* o, void*) {
  return guarded([&] { return shape_of(node_of(o)); });
}
PyObject* node_dtype(PyObject* o, void*) {
  return guarded([&] { return dtype_of(node_of(o)); });
}
PyObject* node_rank(PyObject* o, void*) {
  return guarded([&] { return PyLong_FromLong(node_of(o).rank()); });
}
PyObject* node_requires_grad(PyObject* o, void*) {
  return guarded([&] { return PyBool_FromLong(node_of(o).requires_grad()); });
}
int set_node_rank(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] {
    node_of(o).set_rank(nb::cast<int>(nb::handle(value)));
    return 0;
  });
}
int set_node_requires_grad(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] {
    node_of(o).set_requires_grad(nb::cast<bool>(nb::bool_(nb::handle(value))));
    return 0;
  });
}
PyObject* node_creator(PyObject* o, void*) {
  return guarded([&] { return wrap_function(node_of(o).creator()); });
}
int set_node_creator(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] {
    if (value && value != Py_None && !PyObject_TypeCheck(value, function_base))
      raise(PyExc_TypeError, "VariableNode.creator_node: expected a FunctionNode or None");
    ct::VariableNode& node = node_of(o);
    const bool none = !value || value == Py_None;
    const int rank = node.rank();
    drop(reinterpret_cast<NodeObject*>(o)->uses, o);
    node.set_creator(none ? nullptr : reinterpret_cast<FunctionObject*>(value)->f);
    if (none) node.set_rank(rank);
    return 0;
  });
}
PyObject* node_name(PyObject* o, void*) {
  return guarded([&] { return name_of(node_of(o)); });
}
int set_node_name(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] { return set_name_of(ct::Variable(&node_of(o)), value); });
}
PyObject* node_old_style(PyObject* o, void*) {
  return guarded([&] {
    const Peer& peer = peer_of(node_of(o));
    return Py_NewRef(peer.old_style ? peer.old_style : Py_None);
  });
}
int set_node_old_style(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] {
    Peer& peer = peer_of(node_of(o));
    if (peer.old_style) --old_style_gradients;
    if (value && value != Py_None) ++old_style_gradients;
    Py_XDECREF(std::exchange(peer.old_style, value && value != Py_None ? Py_NewRef(value) : nullptr));
    return 0;
  });
}
PyObject* node_variable_or_none(PyObject* o, PyObject*) {
  return guarded([&] {
    const Peer& peer = peer_of(node_of(o));
    return Py_NewRef(peer.variable ? peer.variable : Py_None);
  });
}
PyObject* node_variable(PyObject* o, PyObject*) {
  return guarded([&] { return wrap_variable(ct::Variable(&node_of(o))); });
}

PyGetSetDef node_attributes[] = {{"data", node_data, set_node_data, nullptr, nullptr},
                                 {"_data", node_data, set_node_data, nullptr, nullptr},
                                 {"shape", node_shape, nullptr, nullptr, nullptr},
                                 {"dtype", node_dtype, nullptr, nullptr, nullptr},
                                 {"rank", node_rank, nullptr, nullptr, nullptr},
                                 {"_rank", node_rank, set_node_rank, nullptr, nullptr},
                                 {"requires_grad", node_requires_grad, nullptr, nullptr, nullptr},
                                 {"_requires_grad", node_requires_grad, set_node_requires_grad, nullptr, nullptr},
                                 {"_creator_node", node_creator, set_node_creator, nullptr, nullptr},
                                 {"name", node_name, set_node_name, nullptr, nullptr},
                                 {"_old_style_grad_generator", node_old_style, set_node_old_style, nullptr, nullptr},
                                 {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef node_methods[] = {{"_variable", node_variable_or_none, METH_NOARGS, nullptr},
                              {"get_variable_or_none", node_variable_or_none, METH_NOARGS, nullptr},
                              {"get_variable", node_variable, METH_NOARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyTypeObject* new_type(nb::module_& m, const char* name, int size, unsigned flags, PyType_Slot* slots) {
  const std::string full = std::string("catenary._core.") + name;
  PyType_Spec spec{full.c_str(), size, 0, static_cast<unsigned>(Py_TPFLAGS_DEFAULT) | flags, slots};
  const nb::object type = checked(PyType_FromSpec(&spec));
  m.attr(name) = type;
  return reinterpret_cast<PyTypeObject*>(nb::object(type).release().ptr());
}

void register_variables(nb::module_& m) {
  constexpr unsigned kBase = Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  std::vector<PyType_Slot> of_variable = {{Py_tp_new, slot(new_variable)},
                                          {Py_tp_dealloc, slot(free_variable)},
                                          {Py_tp_traverse, slot(traverse_variable)},
                                          {Py_tp_clear, slot(clear_variable)},
                                          {Py_tp_getset, variable_attributes},
                                          {Py_tp_methods, variable_methods},
                                          {Py_sq_length, slot(length)}};
  for (const PyType_Slot* more = variable_operators(); more->slot != 0; ++more) of_variable.push_back(*more);
  of_variable.push_back({0, nullptr});
  variable_base = new_type(m, "_VariableBase", sizeof(VariableObject), kBase, of_variable.data());
  PyType_Slot of_node[] = {{Py_tp_new, slot(new_node)},
                           {Py_tp_dealloc, slot(free_node)},
                           {Py_tp_traverse, slot(traverse_node)},
                           {Py_tp_clear, slot(clear_node)},
                           {Py_tp_getset, node_attributes},
                           {Py_tp_methods, node_methods},
                           {0, nullptr}};
  node_base = new_type(m, "_VariableNodeBase", sizeof(NodeObject), kBase, of_node);
  m.def(
      "_chainer_classes",
      [](nb::object variable, nb::object node, nb::object native) {
        if (!variable.is_none()) keep(classes.variable, variable);
        if (!node.is_none()) keep(classes.node, node);
        if (!native.is_none()) keep(classes.native, native);
      },
      nb::arg("variable").none(), nb::arg("node").none(), nb::arg("native").none());
  m.def(
      "_have_grads",
      [](nb::handle parameters) {
        for (nb::handle p : parameters)
          if (const ct::Variable& v = variable_of(p.ptr()); has_values(v.node()) && !v.grad_var().defined())
            return false;
        return true;
      },
      nb::arg("parameters"), "Have all that have values a gradient?");
  m.def(
      "_clear_grads",
      [](nb::handle parameters, nb::handle type) {
        static PyObject* const valid = PyUnicode_InternFromString("_grad_valid");
        nb::list others;
        for (nb::handle p : parameters) {
          if (reinterpret_cast<PyObject*>(Py_TYPE(p.ptr())) == type.ptr() && has_values(variable_of(p.ptr()).node()) &&
              checked(PyObject_GetAttr(p.ptr(), valid)).ptr() == Py_True) {
            variable_of(p.ptr()).set_grad_var(ct::Variable());
          } else {
            others.append(p);
          }
        }
        return others;
      },
      nb::arg("parameters"), nb::arg("type"),
      "Clears the gradients of parameters of this class. Returns all others, whose cleargrad must be called.");
}

}  // namespace catenary_python
