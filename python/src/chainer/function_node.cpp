// The object behind chainer.FunctionNode: a function written in Python as a function of the library's graph, or a
// function of the library as Python sees it.

#include <memory>
#include <string>
#include <vector>

#include "catenary/autograd/attributes.h"
#include "catenary/autograd/hooks.h"
#include "catenary/core/config.h"
#include "objects.h"

namespace catenary_python {

namespace {

PyObject* check_grad_type = nullptr;      // chainer.variable._check_grad_type
PyObject* backward_accumulate = nullptr;  // FunctionNode's own
PyObject* output_reference = nullptr;     // called with a function and an output's index
PyObject* original_apply = nullptr;       // Chainer's own FunctionNode.apply
PyObject* original_check = nullptr;       // its check_type_forward, which checks nothing
PyObject* settings = nullptr;             // chainer.config
PyTypeObject* numpy_array = nullptr;

/// Names of attributes that each call reads, created once.
struct Names {
  PyObject* hooks = PyUnicode_InternFromString("_local_function_hooks");
  PyObject* input_layouts = PyUnicode_InternFromString("_input_layouts");
  PyObject* output_layouts = PyUnicode_InternFromString("_output_layouts");
  PyObject* output_count = PyUnicode_InternFromString("_output_count");
  PyObject* inputs_to_retain = PyUnicode_InternFromString("_input_indexes_to_retain");
  PyObject* outputs_to_retain = PyUnicode_InternFromString("_output_indexes_to_retain");
  PyObject* check_type_forward = PyUnicode_InternFromString("check_type_forward");
  PyObject* accumulate = PyUnicode_InternFromString("backward_accumulate");
  PyObject* forward = PyUnicode_InternFromString("forward");
  PyObject* backward = PyUnicode_InternFromString("backward");
  PyObject* function = PyUnicode_InternFromString("__func__");
};
const Names& names() {
  static const Names all;
  return all;
}
nb::object get_attribute(PyObject* o, PyObject* name) { return checked(PyObject_GetAttr(o, name)); }
void set_attribute(PyObject* o, PyObject* name, const nb::object& value) {
  if (PyObject_SetAttr(o, name, value.ptr()) != 0) raise_set();
}

/// Is a method something else than FunctionNode's own, by its class or by an attribute of the object?
bool overrides(PyObject* o, PyObject* name, PyObject* original) {
  const nb::object method = get_attribute(o, name);
  const nb::object function = nb::steal(PyObject_GetAttr(method.ptr(), names().function));
  if (!function.is_valid()) PyErr_Clear();
  return function.ptr() != original;
}

nb::object nones(std::size_t count) {
  const nb::object tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (std::size_t i = 0; i < count; ++i) PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(Py_None));
  return tuple;
}

/// Returns the retained arrays of a function's inputs, with None for all others.
nb::object in_data_of(ct::FunctionNode& f) {
  const nb::object all = checked(PyTuple_New(f.input_count()));
  for (int i = 0; i < f.input_count(); ++i)
    PyTuple_SetItem(all.ptr(), i, Py_NewRef(f.input(i).is_retained() ? array_object(f.input(i)) : Py_None));
  return all;
}
nb::object arrays_of(ct::Grads gradients) {
  const nb::object all = checked(PyTuple_New(static_cast<Py_ssize_t>(gradients.size())));
  for (std::size_t i = 0; i < gradients.size(); ++i)
    PyTuple_SetItem(all.ptr(), static_cast<Py_ssize_t>(i),
                    Py_NewRef(gradients[i].defined() ? array_object(gradients[i].node()) : Py_None));
  return all;
}

/// Shows calls of the library's functions to Chainer's hooks.
class ToChainersHooks final : public ct::FunctionHook {
 public:
  std::string name() const override { return "Chainer's hooks"; }
  void forward_preprocess(ct::FunctionNode& f, ct::Inputs x) override { tell("forward_preprocess", f, x); }
  void forward_postprocess(ct::FunctionNode& f, ct::Inputs x) override { tell("forward_postprocess", f, x); }
  void backward_preprocess(ct::FunctionNode& f, ct::Inputs x, ct::Grads gy) override {
    tell("backward_preprocess", f, x, gy);
  }
  void backward_postprocess(ct::FunctionNode& f, ct::Inputs x, ct::Grads gy) override {
    tell("backward_postprocess", f, x, gy);
  }

 private:
  static nb::object arrays(ct::Inputs x) {
    const nb::object all = checked(PyTuple_New(x.size()));
    for (int i = 0; i < x.size(); ++i) {
      PyObject* const o = !x[i].defined()                                          ? Py_NewRef(Py_None)
                          : x[i].device() == ct::Device() && !cupy_is_on_processor ? numpy_over(x[i])
                                                                                   : wrap(x[i]);
      PyTuple_SetItem(all.ptr(), i, o);
    }
    return all;
  }
  template <class... Gradients>
  static void tell(const char* method, ct::FunctionNode& f, ct::Inputs x, const Gradients&... gy) {
    const Held gil;
    const nb::object in_data = arrays(x);
    const nb::object function = checked(wrap_function(&f));
    for (nb::handle hook : nb::list(nb::handle(thread_hooks()).attr("values")()))
      hook.attr(method)(function, in_data, arrays_of(gy)...);
  }
};

/// Counts a function's references by its object's.
class Count final : public ct::FunctionNode::Owner {
 public:
  explicit Count(PyObject* o) : o_(o) {}
  void add_reference() noexcept override {
    const Held gil;
    Py_INCREF(o_);
  }
  void release() noexcept override {
    if (interpreter_has_ended()) return;
    const Held gil;
    release_in_turn(o_);
  }

 private:
  PyObject* const o_;
};

}  // namespace

class PythonFunction final : public ct::FunctionNode {
 public:
  explicit PythonFunction(PyObject* o) : o_(o), count_(o) {
    set_owner(&count_);
    set_peer(o);
    name_ = nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(o))).attr("__name__"));
  }
  ~PythonFunction() override = default;
  const char* name() const override { return name_.c_str(); }
  std::string label() const override { return nb::cast<std::string>(nb::str(nb::handle(o_).attr("label"))); }

  void join(std::vector<ct::VariableNode*>& inputs, const ct::Variables& outputs, const std::vector<int>& kept_inputs,
            const std::vector<int>& kept_outputs) {
    if (joined) unchain();  // Chainer allows applying a function again, which gives it only the last outputs
    retain_inputs(std::span<const int>(kept_inputs));
    retain_outputs(std::span<const int>(kept_outputs));
    connect(inputs.data(), static_cast<int>(inputs.size()), outputs);
    for (const int i : kept_outputs) outputs[static_cast<std::size_t>(i)].node().retain();
    joined = true;
    for (const ct::Variable& y : outputs) {
      Peer& peer = peer_of(y.node());
      peer.is_known = peer.is_after_python = true;
    }
    note_uses(*reinterpret_cast<FunctionObject*>(o_));
  }
  ct::Variable kept_output(int i) { return retained_output(i); }
  void rank_is(int rank) { set_rank(rank); }
  bool joined = false;

 protected:
  ct::Arrays forward(ct::Inputs) override {
    raise(PyExc_RuntimeError, name_ + ": call the method apply() of a function that is written in Python");
  }

  ct::Variables backward(ct::Targets targets, ct::Grads grad_outputs) override {
    const Held gil;
    const nb::object indexes = checked(PyTuple_New(static_cast<Py_ssize_t>(targets.size())));
    for (std::size_t k = 0; k < targets.size(); ++k)
      PyTuple_SetItem(indexes.ptr(), static_cast<Py_ssize_t>(k), PyLong_FromLong(targets[k]));
    const nb::object gradients = wrap_variables(grad_outputs);
    const nb::handle self(o_);
    const nb::object hooks = get_attribute(o_, names().hooks);
    const auto tell = [&](const char* method) {
      if (hooks.is_none()) return;
      for (nb::handle hook : hooks.attr("values")())
        hook.attr(method)(self, in_data_of(*this), arrays_of(grad_outputs));
    };
    tell("backward_preprocess");
    nb::object results;
    if (overrides(o_, names().accumulate, backward_accumulate)) {
      results = self.attr("backward_accumulate")(indexes, gradients, nones(targets.size()));
    } else {
      results = checked(PyObject_CallFunctionObjArgs(get_attribute(o_, names().backward).ptr(), indexes.ptr(),
                                                     gradients.ptr(), nullptr));
    }
    tell("backward_postprocess");
    results = checked(PySequence_Tuple(results.ptr()));
    const auto count = static_cast<std::size_t>(PyTuple_Size(results.ptr()));
    const bool of_all = count == static_cast<std::size_t>(input_count());
    if (!of_all && count != targets.size()) {
      const std::string expected =
          std::to_string(input_count()) +
          (targets.size() == static_cast<std::size_t>(input_count()) ? "" : " or " + std::to_string(targets.size()));
      const nb::object message = self.attr("_get_error_message")(
          "number of gradients returned from backward is incorrect: " + std::to_string(count) + " != expected " +
          expected);
      raise(PyExc_ValueError, nb::cast<std::string>(message));
    }
    ct::Variables all;
    for (std::size_t k = 0; k < targets.size(); ++k) {
      PyObject* const g =
          PyTuple_GetItem(results.ptr(), of_all ? static_cast<Py_ssize_t>(targets[k]) : static_cast<Py_ssize_t>(k));
      if (g == Py_None) {
        all.push_back(ct::Variable());
        continue;
      }
      if (!is_variable(g))
        raise(PyExc_ValueError, "type of gradients returned from backward is incorrect: " +
                                    nb::cast<std::string>(nb::repr(nb::handle(g).type())) +
                                    " is not a Variable or None. Function: " + label());
      const ct::Variable& gradient = variable_of(g);
      const ct::VariableNode& x = input(targets[k]);
      if (!gradient.array().defined() && array_object(gradient.node()) == Py_None) {
        all.push_back(ct::Variable());
        continue;
      }
      if (!gradient.array().defined() || gradient.shape() != x.shape() || gradient.dtype() != x.dtype())
        (void)nb::handle(kept(check_grad_type))(self, checked(wrap_node(&input(targets[k]))), true,
                                                nb::borrow(array_object(gradient.node())));
      all.push_back(gradient);
    }
    return all;
  }

 private:
  PyObject* const o_;
  Count count_;
  std::string name_;
};

namespace {

FunctionObject& self(PyObject* o) { return *reinterpret_cast<FunctionObject*>(o); }

PyObject* new_function(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded([&] {
    PyObject* o = allocate(type);
    self(o).own = new PythonFunction(o);
    self(o).f = self(o).own;
    return o;
  });
}

void free_function(PyObject* o) {
  PyObject_GC_UnTrack(o);
  Py_CLEAR(self(o).ends);
  drop(self(o).uses, o);
  if (self(o).own) {
    delete self(o).own;
  } else if (ct::FunctionNode* f = self(o).f) {
    if (f->peer() == o) f->set_peer(nullptr);
    f->release();
  }
  free_object(o);
}

int traverse_function(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(self(o).ends);
  if (const int stopped = catenary_python::visit(self(o).uses, visit, arg)) return stopped;
  return visit_graph(self(o), visit, arg);
}

/// Detaches a function from the graph. The objects of its outputs' nodes then use nothing.
void cut_off(PyObject* o) {
  Py_CLEAR(self(o).ends);
  if (!self(o).f) return;
  ct::FunctionNode& f = *self(o).f;
  for (int i = 0; i < f.output_count(); ++i) {
    ct::VariableNode* const y = f.output(i);
    const auto* const peer = y ? static_cast<Peer*>(y->peer()) : nullptr;
    if (peer && peer->node) drop(reinterpret_cast<NodeObject*>(peer->node)->uses, peer->node);
  }
  if (f.input_count() > 0) f.unchain();
  drop(self(o).uses, o);
  if (self(o).own) self(o).own->joined = false;
}

int clear_function(PyObject* o) {
  self(o).own ? cut_off(o) : drop(self(o).uses, o);
  return 0;
}

std::vector<int> indexes_from(PyObject* o, int count, const char* what) {
  std::vector<int> indexes;
  if (o == Py_None) return indexes;
  for (nb::handle item : nb::handle(o)) {
    long i = nb::cast<long>(nb::int_(item));
    if (i < 0) i += count;
    if (i < 0 || i >= count)
      raise(PyExc_IndexError,
            std::string(what) + ": an index is out of range for " + std::to_string(count) + " arrays");
    indexes.push_back(static_cast<int>(i));
  }
  return indexes;
}

/// Returns the NumPy arrays of variables and arrays as a tuple, or an invalid object if one is another kind of array.
nb::object numpy_data(PyObject* inputs) {
  const Py_ssize_t count = PyTuple_Size(inputs);
  nb::object data = checked(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const x = PyTuple_GetItem(inputs, i);
    PyObject* const array = is_variable(x) ? array_object(variable_of(x).node()) : x;
    if (!PyObject_TypeCheck(array, numpy_array)) return {};
    PyTuple_SetItem(data.ptr(), i, Py_NewRef(array));
  }
  return data;
}

/// Calls a function's own check_type_forward, unless chainer.config.type_check is off.
void check_types(PyObject* o, const nb::object& in_data) {
  if (!overrides(o, names().check_type_forward, original_check)) return;
  if (!settings) keep(settings, nb::module_::import_("chainer").attr("config"));
  if (nb::cast<bool>(nb::bool_(nb::object(nb::handle(settings).attr("type_check")))))
    nb::handle(o).attr("_check_data_type_forward")(in_data);
}

/// Calls forward and checks that it returns a tuple of arrays.
nb::object call_forward(PyObject* o, const nb::object& in_data) {
  const PythonFunction& f = *self(o).own;
  nb::object outputs =
      checked(PyObject_CallFunctionObjArgs(get_attribute(o, names().forward).ptr(), in_data.ptr(), nullptr));
  if (!PyTuple_Check(outputs.ptr()))
    raise(PyExc_TypeError, "forward output must be a tuple (" + f.label() +
                               ")\nActual: " + nb::cast<std::string>(nb::repr(outputs.type())));
  const Py_ssize_t count = PyTuple_Size(outputs.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const y = PyTuple_GetItem(outputs.ptr(), i);
    if (y != Py_None && !PyObject_TypeCheck(y, numpy_array) && !is_ndarray(y))  // converted to the device that f uses
      raise(PyExc_TypeError, "forward output must be a tuple of ndarrays.\nFunction: " + f.label() +
                                 "\nActual output types: " + nb::cast<std::string>(nb::repr(nb::handle(y).type())));
  }
  if (count > 1 && nb::cast<bool>(nb::bool_(nb::object(nb::handle(o).attr("is_elementwise")))))
    for (Py_ssize_t i = 1; i < count; ++i)
      if (!nb::object(outputs[i].attr("shape")).equal(outputs[0].attr("shape")))
        raise(PyExc_RuntimeError,
              "An elementwise function returned outputs with different shapes.\nFunction: " + f.label());
  return outputs;
}

/// Adds a call to the graph, and keeps the arrays that forward asked to retain.
void join_graph(PyObject* o, std::vector<ct::VariableNode*>& inputs, const ct::Variables& ys,
                const nb::object& outputs) {
  const nb::object to_retain = get_attribute(o, names().outputs_to_retain);
  const std::vector<int> kept = indexes_from(to_retain.ptr(), static_cast<int>(ys.size()), "retain_outputs");
  const nb::object inputs_to_retain = get_attribute(o, names().inputs_to_retain);
  self(o).own->join(inputs, ys, indexes_from(inputs_to_retain.ptr(), static_cast<int>(inputs.size()), "retain_inputs"),
                    kept);
  if (to_retain.is_none()) return;
  const nb::object data = checked(PyTuple_New(static_cast<Py_ssize_t>(kept.size())));
  for (std::size_t k = 0; k < kept.size(); ++k)
    PyTuple_SetItem(data.ptr(), static_cast<Py_ssize_t>(k),
                    Py_NewRef(PyTuple_GetItem(outputs.ptr(), static_cast<Py_ssize_t>(kept[k]))));
  nb::handle(o).attr("_retained_output_data") = data;
}

/// Implements apply(inputs) for NumPy arrays. With hooks, debug mode or memory layouts, and for other arrays, it calls
/// our package's method.
PyObject* apply(PyObject* o, PyObject* given) {
  return guarded([&]() -> PyObject* {
    PythonFunction* const f = self(o).own;
    const auto by_chainer = [&] { return PyObject_CallFunctionObjArgs(kept(original_apply), o, given, nullptr); };
    if (!f || f->joined || has_hooks() || ct::config.debug || layouts_are_used || cupy_is_on_processor)
      return by_chainer();
    const nb::object inputs = checked(PySequence_Tuple(given));
    const Py_ssize_t count = PyTuple_Size(inputs.ptr());
    if (count == 0) return by_chainer();
    const nb::object in_data = numpy_data(inputs.ptr());
    if (!in_data.is_valid() || !get_attribute(o, names().hooks).is_none()) return by_chainer();
    std::vector<ct::Variable> variables;
    std::vector<ct::VariableNode*> nodes;
    bool requires_grad = false;
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* const x = PyTuple_GetItem(inputs.ptr(), i);
      variables.push_back(is_variable(x) ? variable_of(x) : variable_over(x, false));
      ct::VariableNode& node = variables.back().node();
      nodes.push_back(&node);
      requires_grad |= node.requires_grad();
    }
    set_attribute(o, names().input_layouts, nones(static_cast<std::size_t>(count)));
    check_types(o, in_data);
    set_attribute(o, names().inputs_to_retain, nb::none());
    set_attribute(o, names().outputs_to_retain, nb::none());
    const nb::object outputs = call_forward(o, in_data);
    const auto made = static_cast<std::size_t>(PyTuple_Size(outputs.ptr()));
    ct::Variables ys;
    for (std::size_t i = 0; i < made; ++i)
      ys.push_back(variable_over(PyTuple_GetItem(outputs.ptr(), static_cast<Py_ssize_t>(i)), requires_grad));
    set_attribute(o, names().output_layouts, nones(made));
    set_attribute(o, names().output_count, nb::int_(made));
    if (ct::config.enable_backprop) join_graph(o, nodes, ys, outputs);
    return wrap_variables(ys).release().ptr();
  });
}

bool is_joined(PyObject* o) {
  const FunctionObject& f = self(o);
  return f.own ? f.own->joined : f.f->input_count() > 0;
}

PyObject* get_inputs(PyObject* o, void*) {
  return guarded([&]() -> PyObject* {
    if (!is_joined(o)) return Py_NewRef(self(o).ends ? self(o).ends : Py_None);
    const ct::FunctionNode& f = *self(o).f;
    const nb::object all = checked(PyTuple_New(f.input_count()));
    for (int i = 0; i < f.input_count(); ++i) PyTuple_SetItem(all.ptr(), i, wrap_node(&f.input(i)));
    return nb::object(all).release().ptr();
  });
}

PyObject* get_outputs(PyObject* o, void*) {
  return guarded([&]() -> PyObject* {
    if (!is_joined(o)) Py_RETURN_NONE;
    const ct::FunctionNode& f = *self(o).f;
    const nb::object all = checked(PyTuple_New(f.output_count()));
    for (int i = 0; i < f.output_count(); ++i) {
      ct::VariableNode* const y = f.output(i);
      const auto* peer = y ? static_cast<Peer*>(y->peer()) : nullptr;
      PyObject* reference = nullptr;
      if (peer && peer->variable) {  // the variable keeps its node's object alive, so that weak references stay valid
        const nb::object node = nb::handle(peer->variable).attr("node");
        reference = PyWeakref_NewRef(node.ptr(), nullptr);
      } else {
        reference = PyObject_CallFunction(kept(output_reference), "Oi", o, i);
      }
      PyTuple_SetItem(all.ptr(), i, checked(reference).release().ptr());
    }
    return nb::object(all).release().ptr();
  });
}

/// Handles Chainer's own apply, which sets `inputs` (a tuple of nodes) and then `outputs` (a tuple of weak references
/// to nodes). None detaches the function.
int set_inputs(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] {
    if (!value || value == Py_None) {
      cut_off(o);
    } else {
      if (!self(o).own)
        raise(PyExc_AttributeError, "FunctionNode.inputs: the inputs of the library's functions cannot be set");
      Py_XDECREF(std::exchange(self(o).ends, Py_NewRef(value)));
    }
    return 0;
  });
}

int set_outputs(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] {
    if (!value || value == Py_None) {
      cut_off(o);
      return 0;
    }
    PythonFunction* const f = self(o).own;
    if (!f || !self(o).ends)
      raise(PyExc_AttributeError, "FunctionNode.outputs: set inputs first, and outputs only once");
    const nb::object ends = nb::steal(std::exchange(self(o).ends, nullptr));
    std::vector<ct::VariableNode*> inputs;
    for (nb::handle x : ends) inputs.push_back(reinterpret_cast<NodeObject*>(x.ptr())->node.get());
    ct::Variables outputs;
    for (nb::handle reference : nb::handle(value)) {
      const nb::object node = reference();
      if (node.is_none())
        raise(PyExc_ValueError, "FunctionNode.outputs: an output has been freed; keep a reference to it");
      outputs.push_back(ct::Variable(reinterpret_cast<NodeObject*>(node.ptr())->node.get()));
      outputs.back().node().set_creator(nullptr);
    }
    const nb::handle self(o);
    f->join(inputs, outputs,
            indexes_from(get_attribute(o, names().inputs_to_retain).ptr(), static_cast<int>(inputs.size()),
                         "retain_inputs"),
            indexes_from(get_attribute(o, names().outputs_to_retain).ptr(), static_cast<int>(outputs.size()),
                         "retain_outputs"));
    return 0;
  });
}

int set_rank(PyObject* o, PyObject* value, void*) {
  return guarded_int([&] {
    if (self(o).own) self(o).own->rank_is(nb::cast<int>(nb::handle(value)));
    return 0;
  });
}

PyObject* unchain(PyObject* o, PyObject*) {
  return guarded([&]() -> PyObject* {
    cut_off(o);
    Py_RETURN_NONE;
  });
}

PyObject* get_output(PyObject* o, PyObject* index) {
  return guarded([&] {
    const int i = nb::cast<int>(nb::handle(index));
    ct::FunctionNode& f = *self(o).f;
    return wrap_node(i < f.output_count() ? f.output(i) : nullptr);
  });
}

PyObject* kept_output(PyObject* o, PyObject* index) {
  return guarded([&] {
    PythonFunction* const f = self(o).own;
    if (!f) raise(PyExc_RuntimeError, "get_retained_outputs: the library's functions do not give out their outputs");
    return wrap_variable(f->kept_output(nb::cast<int>(nb::handle(index))));
  });
}

PyObject* get_rank(PyObject* o, void*) { return PyLong_FromLong(self(o).f->rank()); }

PyObject* native_label(PyObject* o, PyObject*) {
  return guarded([&] {
    const std::string label = self(o).f->label();
    return PyUnicode_FromStringAndSize(label.data(), static_cast<Py_ssize_t>(label.size()));
  });
}

// The attributes of the library's functions as Python values.

nb::object to_python(std::monostate) { return nb::none(); }
template <class T>
requires std::is_arithmetic_v<T> nb::object to_python(const T& value) { return nb::cast(value); }
nb::object to_python(const std::complex<double>& value) {
  return nb::steal(PyComplex_FromDoubles(value.real(), value.imag()));
}
nb::object to_python(const std::string& value) { return nb::cast(value); }
nb::object to_python(ct::Dtype value) { return nb::borrow(numpy_dtype(value)); }
nb::object to_python(const ct::Device& value) { return nb::cast(value.name()); }
nb::object to_python(const Array& value) { return nb::borrow(array_object(ct::Variable(value, false).node())); }
nb::object to_python(const ct::Index& value) {
  const auto end = [](const std::optional<std::int64_t>& at) { return at ? nb::cast(*at) : nb::none(); };
  switch (value.kind()) {
    case ct::Index::Kind::integer:
      return nb::cast(value.integer());
    case ct::Index::Kind::array:
      return to_python(value.array());
    case ct::Index::Kind::newaxis:
      return nb::none();
    case ct::Index::Kind::ellipsis:
      return nb::borrow(Py_Ellipsis);
    case ct::Index::Kind::slice:
      break;
  }
  const ct::Slice& s = value.slice();
  return checked(PySlice_New(end(s.start).ptr(), end(s.stop).ptr(), end(s.step).ptr()));
}
template <class T>
nb::object to_python(const std::vector<T>& values) {
  nb::list all;
  for (const T& value : values) all.append(to_python(value));
  return nb::tuple(all);
}

/// _native_attributes(): returns the attributes of one of the library's functions, other than its inputs, by name.
PyObject* native_attributes(PyObject* o, PyObject*) {
  return guarded([&]() -> PyObject* {
    nb::dict all;
    for (const auto& [name, attribute] : ct::attributes_of(*self(o).f))
      all[name.c_str()] = std::visit([](const auto& value) { return to_python(value); }, attribute);
    return nb::object(all).release().ptr();
  });
}

/// Implements _native_backward(indexes, gradients) of the library's functions.
PyObject* native_backward(PyObject* o, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject *indexes, *gradients;
    if (!PyArg_ParseTuple(arguments, "OO", &indexes, &gradients)) return nullptr;
    ct::FunctionNode& f = *self(o).f;
    const std::vector<int> targets = indexes_from(indexes, f.input_count(), "backward");
    ct::Variables given;
    for (nb::handle g : nb::handle(gradients)) given.push_back(variable_from(g));
    const ct::Variables results = with_hooks([&] { return f.checked_backward(targets, given); });
    return wrap_variables(results).release().ptr();
  });
}

PyGetSetDef function_attributes[] = {{"inputs", get_inputs, set_inputs, nullptr, nullptr},
                                     {"outputs", get_outputs, set_outputs, nullptr, nullptr},
                                     {"rank", get_rank, set_rank, nullptr, nullptr},
                                     {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef function_methods[] = {{"apply", apply, METH_O, nullptr},
                                  {"unchain", unchain, METH_NOARGS, nullptr},
                                  {"_output", get_output, METH_O, nullptr},
                                  {"_kept_output", kept_output, METH_O, nullptr},
                                  {"_native_label", native_label, METH_NOARGS, nullptr},
                                  {"_native_attributes", native_attributes, METH_NOARGS, nullptr},
                                  {"_native_backward", native_backward, METH_VARARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};

}  // namespace

HooksOfThread::HooksOfThread() {
  static ToChainersHooks hooks;
  if (PyObject* const known = thread_hooks(); known && PyDict_Size(known) > 0) {
    for (const ct::FunctionHook* other : ct::get_function_hooks())
      if (other == &hooks) return;
    scope_ = std::make_unique<ct::HookScope>(hooks);
  }
}
HooksOfThread::~HooksOfThread() = default;

PyObject* wrap_function(ct::FunctionNode* f) {
  if (!f) return Py_NewRef(Py_None);
  if (auto* o = static_cast<PyObject*>(f->peer()); o && Py_REFCNT(o) > 0) return Py_NewRef(o);
  const nb::object type = nb::handle(kept(classes.native))(f->name());
  PyObject* o = allocate(type.ptr());
  f->add_reference();
  self(o).own = nullptr;
  self(o).f = f;
  f->set_peer(o);
  note_uses(self(o));
  return o;
}

void register_function_nodes(nb::module_& m) {
  PyType_Slot slots[] = {{Py_tp_new, slot(new_function)},
                         {Py_tp_dealloc, slot(free_function)},
                         {Py_tp_traverse, slot(traverse_function)},
                         {Py_tp_clear, slot(clear_function)},
                         {Py_tp_getset, function_attributes},
                         {Py_tp_methods, function_methods},
                         {0, nullptr}};
  function_base =
      new_type(m, "_FunctionNodeBase", sizeof(FunctionObject), Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots);
  numpy_array = reinterpret_cast<PyTypeObject*>(nb::object(numpy().attr("ndarray")).release().ptr());
  m.def(
      "_chainer_functions",
      [](nb::object check, nb::object base, nb::object reference, nb::object hooks) {
        if (!check.is_none()) keep(check_grad_type, check);
        if (!base.is_none()) {
          keep(backward_accumulate, base.attr("backward_accumulate"));
          keep(original_check, base.attr("check_type_forward"));
          keep(original_apply, base.attr("_apply"));
        }
        if (!reference.is_none()) keep(output_reference, reference);
        if (!hooks.is_none()) set_hooks(hooks);
      },
      nb::arg("check").none() = nb::none(), nb::arg("base").none() = nb::none(),
      nb::arg("reference").none() = nb::none(), nb::arg("hooks").none() = nb::none());
}

}  // namespace catenary_python
