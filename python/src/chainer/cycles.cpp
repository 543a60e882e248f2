// What Python's garbage collector sees of the library's graph and of what the library holds of Chainer's, so that it
// finds cycles through both.
//
// The collector sees references between objects of Python's. Between a variable and the functions of Python's from
// which it comes there lie nodes and functions of the library's, which count references for themselves.
//
// - What one object alone keeps alive of those is a part of it: all references to each come from the object, or from
//   such a node or function. The functions of Python's that it meets there are what the object refers to.
// - A node that others keep alive, too, and that comes after a function of Python's, has an object of Python's. It is
//   held by the objects of all nodes and functions that are computed from the node. So it lives where the node is
//   needed, and the function that computed the node is what this object refers to, if all references to the node are
//   accounted for: its own, its variable's, and those of the users that hold it.
//
// What is not accounted for is not told to the collector, which then takes a function of Python's for one that is
// referred to from outside.

#include <algorithm>
#include <memory>
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
  /// How many references to a node there were that is not owned.
  std::uint32_t found(const ct::VariableNode& x) const {
    const auto at = found_.find(&x);
    return at == found_.end() ? 0 : at->second;
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

constexpr int kDeepest = 1000;  // what lies deeper is not accounted for, for the sake of the stack

NodeObject& node_object(PyObject* o) { return *reinterpret_cast<NodeObject*>(o); }

/// Do all references to a node come from its objects, and from what is computed from it by those who use its object?
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

/// Uses the objects of nodes.
void use(PyObject* user, Uses*& uses, const std::vector<ct::VariableNode*>& nodes) {
  drop(uses, user);
  thread_local int depth = 0;  // an object that has gone and is made again makes those before it
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

/// The nodes that come after functions of Python's and from which a function's outputs are computed, each once, with
/// nothing but the library's between.
std::vector<ct::VariableNode*> nodes_before(ct::FunctionNode& f) {
  constexpr std::size_t kMost = 64;  // functions of the library's between two that Python called
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
