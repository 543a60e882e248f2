#pragma once
// Chainer's variables and functions over the library's graph: three object types, from which Chainer's classes derive,
// and the lookup of its functions. Design: docs/design/python.md.
//
// Each node of the graph has at most one object: `node.get_variable() is x`. A Variable and a VariableNode are handles
// known to their nodes. A function written in Python is an object that contains a function of the library, whose
// reference count is the object's.

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../core.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/hooks.h"
#include "catenary/autograd/variable.h"

namespace catenary_python {

/// The base of chainer.Variable.
struct VariableObject {
  PyObject ob_base;
  ct::Variable v;
  PyObject* node;  // its node's object, if any, to which others refer weakly
};
/// Keeps the objects of nodes alive in a graph with Python functions, as long as the graph needs the nodes, so that
/// Python's garbage collector sees the dependencies (cycles.cpp).
struct Uses {
  std::vector<PyObject*> all;  // owned references to nodes' objects
};
/// The base of chainer.variable.VariableNode.
struct NodeObject {
  PyObject ob_base;
  ct::Ref<ct::VariableNode> node;
  Uses* uses;                     // the nodes from which this one was computed, or null
  std::vector<PyObject*>* users;  // objects of nodes and functions that use this one, borrowed
};
class PythonFunction;
/// The base of chainer.FunctionNode, around a function written in Python or one of the library's.
struct FunctionObject {
  PyObject ob_base;
  PyObject* ends;       // the value assigned to `inputs`, until `outputs` is assigned
  PythonFunction* own;  // null for a function of the library
  ct::FunctionNode* f;
  Uses* uses;  // the nodes of its inputs
};

/// The Python side of a node.
/// Whose array holds values that are on the processor. It matters while cupy's arrays are there, too.
enum class Owner : std::uint8_t { unknown, numpy, cupy };

struct Peer final : ct::VariablePeer {
  PyObject* variable = nullptr;   // borrowed, while the object lives
  PyObject* node = nullptr;       // borrowed
  PyObject* array = nullptr;      // the values as a Python object, once requested
  PyObject* old_style = nullptr;  // the label of the old-style function whose gradient this is
  Owner owner = Owner::unknown;   // of results, by the arguments of their function
  bool nothing = false;           // Variable(None)
  bool is_known = false;          // is is_after_python set?
  bool is_after_python = false;   // was it computed from the result of a Python function?
  ~Peer() override;
  void data_changed() noexcept override;
};
Peer& peer_of(ct::VariableNode& node);

/// Replaces an owned reference by another, as Py_XSETREF does, which the stable ABI lacks.
inline void replace_reference(PyObject*& place, PyObject* o) {
  PyObject* const before = std::exchange(place, o);
  Py_XDECREF(before);
}

/// Keeps an object of Chainer's at an address until catenary._core is unloaded, which sets it to null. The garbage
/// collector sees the reference (cycles.cpp), so that neither outlives the other.
void keep(PyObject*& place, nb::object o);
/// Returns the object kept at an address. Raises RuntimeError if it is gone.
PyObject* kept(PyObject* o);

/// The classes that the library instantiates, set by `_chainer_classes`.
struct Classes {
  PyObject* variable = nullptr;
  PyObject* node = nullptr;
  PyObject* native = nullptr;  // called with a function's name, returns the class of its objects
};
extern Classes classes;
extern PyTypeObject *variable_base, *node_base, *function_base;

inline bool is_variable(PyObject* o) { return PyObject_TypeCheck(o, variable_base); }
inline ct::Variable& variable_of(PyObject* o) { return reinterpret_cast<VariableObject*>(o)->v; }

/// Returns a new reference to the object of a variable, which is created if needed, or None for an undefined variable.
PyObject* wrap_variable(const ct::Variable& v);
/// Returns the variables as a tuple.
nb::object wrap_variables(std::span<const ct::Variable> all);
PyObject* wrap_node(ct::VariableNode* node);
PyObject* wrap_function(ct::FunctionNode* f);

/// Makes the library's array over the memory of a NumPy array or an ndarray. Returns false for other objects,
/// unsupported dtypes, and read-only memory that is to be written.
bool array_over(PyObject* o, Array& a, bool written = false);
/// Returns a borrowed reference to the values of a node as a Python object, or None. On the processor the object is
/// NumPy's, unless cupy's arrays are there, too, and its owner is not NumPy.
PyObject* array_object(ct::VariableNode& node);
/// Has it values, of whatever dtype?
bool has_values(const ct::VariableNode& node);
/// Returns a new reference to a NumPy array over the memory of an array on the processor.
PyObject* numpy_over(const Array& a);
/// Returns a variable of a Python array. Its object shows this very array.
ct::Variable variable_over(PyObject* array, bool requires_grad);
/// Returns the variable of an object, a variable without gradient for an array, or an undefined one for None.
ct::Variable variable_from(nb::handle o);
/// Reads a loss scale or None.
std::optional<ct::Number> scale_from(nb::handle o);

/// For tp_traverse: visits the part of the graph that an object of a variable, node or function keeps alive
/// (cycles.cpp).
int visit_graph(VariableObject& o, visitproc visit, void* arg);
int visit_graph(NodeObject& o, visitproc visit, void* arg);
int visit_graph(FunctionObject& o, visitproc visit, void* arg);
/// Records the nodes that a new object uses. To be called when the object of a computed node or a function is made.
void note_uses(NodeObject& o);
void note_uses(FunctionObject& o);
/// Does a node come after a function of Python's?
bool is_after_python(ct::VariableNode& node);
/// Forgets the nodes that an object uses.
void drop(Uses*& uses, PyObject* user);
/// Visits the nodes that an object uses.
int visit(const Uses* uses, visitproc visit, void* arg);
/// Releases an object. Objects that die with it are destroyed one after another, not recursively, as a long chain would
/// overflow the stack.
void release_in_turn(PyObject* o);
/// The number of threads that walk over a graph without the GIL. While they change reference counts, the garbage
/// collector sees no graph, and keeps it for one collection. Guarded by the GIL.
extern int walks_without_gil;

/// Does the calling thread have function hooks?
bool has_hooks();
/// The number of live gradients of old-style functions. They cannot be differentiated, and Chainer's own code reports
/// that.
extern int old_style_gradients;
/// Does the program use memory layouts?
extern bool layouts_are_used;
/// Has the program given cupy's arrays on the processor (CATENARY_CUPY_CPU)? Results are then cupy's, except those
/// computed from NumPy's.
extern bool cupy_is_on_processor;
/// Makes results NumPy's or cupy's, as the first argument that has values (an array, a variable, or a list of them).
/// Does nothing before cupy_is_on_processor.
void share_owner(std::span<const ct::Variable> results, std::span<PyObject* const> arguments);

/// Shows functions of the library to the calling thread's hooks until the end of the scope.
class HooksOfThread {
 public:
  HooksOfThread();
  ~HooksOfThread();
  HooksOfThread(const HooksOfThread&) = delete;
  HooksOfThread& operator=(const HooksOfThread&) = delete;

 private:
  std::unique_ptr<ct::HookScope> scope_;
};
template <class F>
auto with_hooks(const F& f) {
  const HooksOfThread scope;
  return f();
}

/// Returns the type slots of a Variable's operators.
PyType_Slot* variable_operators();

/// Allocates an object of a type. Its members are not constructed yet.
PyObject* allocate(PyTypeObject* type);
inline PyObject* allocate(PyObject* type) { return allocate(reinterpret_cast<PyTypeObject*>(type)); }
/// Gives its memory back, its members being gone.
void free_object(PyObject* o);
/// Wraps a function as a slot of a type.
template <class F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}
/// Returns Chainer's dict of the calling thread's hooks, which lives as long as the thread, or null before Chainer is
/// imported.
PyObject* thread_hooks();
/// Sets the function that returns that dict: chainer.get_function_hooks.
void set_hooks(nb::object get);

void register_kept(nb::module_& m);
void register_arrays(nb::module_& m);
void register_graph(nb::module_& m);
void register_variables(nb::module_& m);
void register_function_nodes(nb::module_& m);
void register_functions(nb::module_& m);
void register_optimizers(nb::module_& m);
void register_plots(nb::module_& m);

/// Creates a heap type of this module.
PyTypeObject* new_type(nb::module_& m, const char* name, int size, unsigned flags, PyType_Slot* slots);

}  // namespace catenary_python
