// Lets Python's garbage collector find cycles through the library's graph and Chainer's objects that the library holds.
//
// The collector sees only references between Python objects. Between a variable and the Python functions that computed
// it lie nodes and functions of the library, which have their own reference counts.
//
// - Nodes and functions kept alive by one Python object alone are treated as part of it: the object reports the Python
//   functions that they refer to.
// - A node that several objects keep alive, and that comes after a Python function, gets a Python object. The objects
//   of all nodes and functions computed from the node hold it, so it lives as long as the node is needed. If all
//   references to the node are accounted for (its own, its variable's, those of its users), the object reports the
//   function that computed the node.
//
// References that are not accounted for are not reported. The collector then treats the Python function as referenced
// from outside and keeps it alive.

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "objects.h"

namespace catenary_python {

namespace {

/// Walks over the part of the graph that one Python object alone keeps alive: nodes and functions of the library that
/// are referenced only by the object or by each other. The Python functions that these refer to are reported as the
/// object's references.
class Owned {
 public:
  /// Without a visitor it only counts.
  explicit Owned(visitproc visit = nullptr, void* arg = nullptr) : visit_(visit), arg_(arg) {}

  void reach(ct::VariableNode& x) {
    if (is_all(&x, x.reference_count())) waiting_.push_back(&x);
  }
  void reach(ct::FunctionNode& f) {
    if (f.owner()) {
      if (visit_ && stopped_ == 0) stopped_ = visit_(static_cast<PyObject*>(f.peer()), arg_);
    } else if (is_all(&f, static_cast<std::uint32_t>(f.reference_count()))) {
      reach_inputs(f);
    }
  }
  void reach_inputs(ct::FunctionNode& f) {
    for (int i = 0; i < f.input_count(); ++i) reach(f.input(i));
  }
  /// Reaches the gradient of a node, which is freed with the node's last handle.
  void reach_gradient(ct::VariableNode& x) {
    if (const ct::Variable& gradient = ct::Variable(&x).grad_var(); gradient.defined()) reach(gradient.node());
  }
  /// Returns the visitor's result. To be called after reach.
  int finish() {
    while (!waiting_.empty() && stopped_ == 0) {
      ct::VariableNode& x = *waiting_.back();
      waiting_.pop_back();
      if (x.creator()) reach(*x.creator());
      if (x.has_handle()) reach_gradient(x);
    }
    return stopped_;
  }
  /// Returns the number of references found to a node that is not owned.
  std::uint32_t found(const ct::VariableNode& x) const {
    const auto at = found_.find(&x);
    return at == found_.end() ? 0 : at->second;
  }

 private:
  /// Counts one more reference to an object. Was it the last?
  bool is_all(const void* of, std::uint32_t all) { return all == 1 || ++found_[of] == all; }

  const visitproc visit_;
  void* const arg_;
  int stopped_ = 0;
  std::vector<ct::VariableNode*> waiting_;
  std::unordered_map<const void*, std::uint32_t> found_;
};

constexpr int kDeepest = 1000;  // deeper nodes are not accounted for, to limit the stack

NodeObject& node_object(PyObject* o) { return *reinterpret_cast<NodeObject*>(o); }

/// Do all references to a node come from its objects, and from results computed from it by objects that use it?
class Accounts {
 public:
  bool are_complete(NodeObject& o, int depth = 0) {
    ct::VariableNode& x = *o.node;
    const auto* const peer = static_cast<Peer*>(x.peer());
    PyObject* const variable = peer ? peer->variable : nullptr;
    const std::uint32_t own = variable && reinterpret_cast<VariableObject*>(variable)->node == &o.ob_base ? 2 : 1;
    if (x.reference_count() == own) return true;
    if (!o.users || depth == kDeepest) return false;
    if (const auto at = known_.find(&o); at != known_.end()) return at->second;
    known_[&o] = false;
    Owned owned;
    for (PyObject* const user : *o.users) {
      if (PyObject_TypeCheck(user, function_base)) {
        const FunctionObject& of = *reinterpret_cast<FunctionObject*>(user);
        of.own ? owned.reach_inputs(*of.f) : owned.reach(*of.f);
      } else if (NodeObject& of = node_object(user); of.node->creator() && are_complete(of, depth + 1)) {
        owned.reach(*of.node->creator());
      }
    }
    owned.finish();
    return known_[&o] = x.reference_count() == own + owned.found(x);
  }

 private:
  std::unordered_map<const NodeObject*, bool> known_;
};

/// Records that an object uses the objects of these nodes.
void use(PyObject* user, Uses*& uses, const std::vector<ct::VariableNode*>& nodes) {
  drop(uses, user);
  thread_local int depth = 0;  // recreating an object that was destroyed also recreates those before it
  if (depth == kDeepest) return;
  ++depth;
  for (ct::VariableNode* const x : nodes) {
    PyObject* const o = wrap_node(x);
    if (!uses) uses = new Uses;
    uses->all.push_back(o);
    NodeObject& of = node_object(o);
    if (!of.users) of.users = new std::vector<PyObject*>;
    of.users->push_back(user);
  }
  --depth;
}

/// Returns the distinct nodes that come after Python functions and from which the outputs are computed through
/// functions of the library only.
std::vector<ct::VariableNode*> nodes_before(ct::FunctionNode& f) {
  constexpr std::size_t kMost = 64;  // maximum number of the library's functions between two that Python called
  std::vector<ct::VariableNode*> found;
  std::vector<ct::FunctionNode*> seen = {&f};
  for (std::size_t k = 0; k < seen.size() && seen.size() < kMost; ++k) {
    for (int i = 0; i < seen[k]->input_count(); ++i) {
      ct::VariableNode& x = seen[k]->input(i);
      if (x.peer()) {
        if (is_after_python(x) && std::find(found.begin(), found.end(), &x) == found.end()) found.push_back(&x);
      } else if (ct::FunctionNode* const g = x.creator();
                 g && !g->owner() && std::find(seen.begin(), seen.end(), g) == seen.end()) {
        seen.push_back(g);
      }
    }
  }
  return found;
}

}  // namespace

int walks_without_gil = 0;

namespace {

/// The addresses of kept references. One object of the module reports all of them.
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
  replace_reference(place, o.release().ptr());
}

PyObject* kept(PyObject* o) {
  if (!o) raise(PyExc_RuntimeError, "the interpreter is shutting down and has freed Chainer's modules");
  return o;
}

void register_kept(nb::module_& m) {
  PyType_Slot slots[] = {{Py_tp_dealloc, slot(free_kept)},
                         {Py_tp_traverse, slot(traverse_kept)},
                         {Py_tp_clear, slot(clear_kept)},
                         {0, nullptr}};
  m.attr("_kept") = nb::steal(allocate(new_type(m, "_Kept", sizeof(PyObject), Py_TPFLAGS_HAVE_GC, slots)));
}

bool is_after_python(ct::VariableNode& node) {
  Peer& peer = peer_of(node);
  if (!peer.is_known && node.creator()) {
    peer.is_known = true;
    peer.is_after_python = node.creator()->owner() || !nodes_before(*node.creator()).empty();
  }
  return peer.is_after_python;
}

void note_uses(NodeObject& o) {
  if (ct::FunctionNode* const f = o.node->creator(); f && !f->owner() && is_after_python(*o.node))
    use(&o.ob_base, o.uses, nodes_before(*f));
}

void note_uses(FunctionObject& o) { use(&o.ob_base, o.uses, nodes_before(*o.f)); }

void drop(Uses*& uses, PyObject* user) {
  if (!uses) return;
  const std::unique_ptr<Uses> gone(std::exchange(uses, nullptr));
  for (PyObject* const o : gone->all) {
    std::vector<PyObject*>& users = *node_object(o).users;
    users.erase(std::find(users.begin(), users.end(), user));
  }
  for (PyObject* const o : gone->all) release_in_turn(o);
}

int visit(const Uses* uses, visitproc visit, void* arg) {
  if (uses)
    for (PyObject* const o : uses->all) Py_VISIT(o);
  return 0;
}

void release_in_turn(PyObject* o) {
  thread_local std::vector<PyObject*> waiting;
  thread_local bool busy = false;
  if (Py_REFCNT(o) > 1) return Py_DECREF(o);
  waiting.push_back(o);
  if (busy) return;
  busy = true;
  while (!waiting.empty()) {
    PyObject* const next = waiting.back();
    waiting.pop_back();
    Py_DECREF(next);
  }
  busy = false;
}

int visit_graph(VariableObject& o, visitproc visit, void* arg) {
  if (walks_without_gil > 0 || !o.v.defined()) return 0;
  ct::VariableNode& node = o.v.node();
  Owned owned(visit, arg);
  if (node.handle_count() == 1) owned.reach_gradient(node);
  if (!o.node && node.creator() && node.reference_count() == 1) owned.reach(*node.creator());
  return owned.finish();
}

int visit_graph(NodeObject& o, visitproc visit, void* arg) {
  if (walks_without_gil > 0 || !o.node || !o.node->creator() || !Accounts().are_complete(o)) return 0;
  Owned owned(visit, arg);
  owned.reach(*o.node->creator());
  return owned.finish();
}

int visit_graph(FunctionObject& o, visitproc visit, void* arg) {
  if (walks_without_gil > 0 || !o.f || (!o.own && o.f->reference_count() != 1)) return 0;
  Owned owned(visit, arg);
  owned.reach_inputs(*o.f);
  return owned.finish();
}

}  // namespace catenary_python
