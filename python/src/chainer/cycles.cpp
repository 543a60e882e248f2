// What Python's garbage collector sees of the library's graph and of what the library holds of Chainer's, so that it
// finds cycles through both.

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "objects.h"

namespace catenary_python {

namespace {

/// Walks over what one object of Python's keeps alive of the graph: nodes and functions of the library's all of whose
/// references come from the object, or from such a node or function. The functions of Python's to which those refer
/// are what the object refers to; what others keep alive, too, is left to these.
class Owned {
 public:
  Owned(visitproc visit, void* arg) : visit_(visit), arg_(arg) {}

  void reach(ct::VariableNode& x) {
    if (is_all(&x, x.reference_count())) waiting_.push_back(&x);
  }
  void reach(ct::FunctionNode& f) {
    if (f.owner()) {
      if (stopped_ == 0) stopped_ = visit_(static_cast<PyObject*>(f.peer()), arg_);
    } else if (is_all(&f, static_cast<std::uint32_t>(f.reference_count()))) {
      reach_inputs(f);
    }
  }
  void reach_inputs(ct::FunctionNode& f) {
    for (int i = 0; i < f.input_count(); ++i) reach(f.input(i));
  }
  /// Of a node with a handle: with the last of these its gradient goes.
  void reach_gradient(ct::VariableNode& x) {
    if (const ct::Variable& gradient = ct::Variable(&x).grad_var(); gradient.defined()) reach(gradient.node());
  }
  /// To be called after reach: what the visitor says.
  int finish() {
    while (!waiting_.empty() && stopped_ == 0) {
      ct::VariableNode& x = *waiting_.back();
      waiting_.pop_back();
      if (x.creator()) reach(*x.creator());
      if (x.has_handle()) reach_gradient(x);
    }
    return stopped_;
  }

 private:
  /// One more reference to something: is it the last?
  bool is_all(const void* of, std::uint32_t all) { return all == 1 || ++found_[of] == all; }

  const visitproc visit_;
  void* const arg_;
  int stopped_ = 0;
  std::vector<ct::VariableNode*> waiting_;
  std::unordered_map<const void*, std::uint32_t> found_;
};

}  // namespace

int walks_without_gil = 0;

namespace {

/// Places of what is kept; one object of the module's refers to all of it.
std::vector<PyObject**>& places() {
  static auto& all = *new std::vector<PyObject**>;
  return all;
}
int traverse_kept(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  for (PyObject** const place : places()) Py_VISIT(*place);
  return 0;
}
int clear_kept(PyObject*) {
  for (PyObject** const place : places()) Py_CLEAR(*place);
  return 0;
}
void free_kept(PyObject* o) {
  PyObject_GC_UnTrack(o);
  clear_kept(o);
  free_object(o);
}

}  // namespace

void keep(PyObject*& place, nb::object o) {
  if (std::find(places().begin(), places().end(), &place) == places().end()) places().push_back(&place);
  Py_XSETREF(place, o.release().ptr());
}

PyObject* kept(PyObject* o) {
  if (!o) raise(PyExc_RuntimeError, "the interpreter ends, and Chainer is gone");
  return o;
}

void register_kept(nb::module_& m) {
  PyType_Slot slots[] = {{Py_tp_dealloc, slot(free_kept)},
                         {Py_tp_traverse, slot(traverse_kept)},
                         {Py_tp_clear, slot(clear_kept)},
                         {0, nullptr}};
  m.attr("_kept") = nb::steal(allocate(new_type(m, "_Kept", sizeof(PyObject), Py_TPFLAGS_HAVE_GC, slots)));
}

int visit_graph(ct::VariableNode& node, std::uint32_t own, bool handle, visitproc visit, void* arg) {
  if (walks_without_gil > 0) return 0;
  Owned owned(visit, arg);
  if (handle && node.handle_count() == 1) owned.reach_gradient(node);
  if (node.creator() && node.reference_count() == own) owned.reach(*node.creator());
  return owned.finish();
}

int visit_graph(ct::FunctionNode& f, visitproc visit, void* arg) {
  if (walks_without_gil > 0 || (!f.owner() && f.reference_count() != 1)) return 0;
  Owned owned(visit, arg);
  owned.reach_inputs(f);
  return owned.finish();
}

}  // namespace catenary_python
