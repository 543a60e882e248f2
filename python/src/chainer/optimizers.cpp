// Updates of Chainer's optimizers by the library's formulas: one fused program for all parameters with equal
// hyperparameters, where Chainer passes over memory once per operation.

#include "catenary/optimizers/optimizers.h"

#include <algorithm>
#include <string>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/optimizers/formula.h"
#include "objects.h"

namespace catenary_python {

namespace {

/// Declares that this thread does not read these arrays, whose memory NumPy sees, until the end of the scope, so that
/// writes may be delayed and fused. Other threads see the writes at some time before that.
class Unseen {
 public:
  explicit Unseen(std::vector<Array> arrays) : arrays_(std::move(arrays)) {
    for (const Array& a : arrays_) a.body().storage->exported.store(false, std::memory_order_relaxed);
  }
  ~Unseen() {
    for (const Array& a : arrays_) ct::export_memory(a);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  std::vector<Array> arrays_;
};

/// Makes the library's optimizer for Chainer's name of it. The flags and `first` select Adam's variants.
ct::Optimizer optimizer_of(const std::string& name, bool amsgrad, bool adabound, double first_alpha) {
  namespace O = ct::optimizers;
  if (name == "Adam") return O::Adam({.alpha = first_alpha, .amsgrad = amsgrad, .adabound = adabound});
  if (name == "SGD") return O::SGD();
  if (name == "MomentumSGD") return O::MomentumSGD();
  if (name == "CorrectedMomentumSGD") return O::CorrectedMomentumSGD();
  if (name == "NesterovAG") return O::NesterovAG();
  if (name == "AdaGrad") return O::AdaGrad();
  if (name == "AdaDelta") return O::AdaDelta();
  if (name == "RMSprop") return O::RMSprop();
  if (name == "RMSpropGraves") return O::RMSpropGraves();
  if (name == "SMORMS3") return O::SMORMS3();
  if (name == "MSVAG") return O::MSVAG();
  raise(PyExc_KeyError, name);
}

class Formula {
 public:
  Formula(const std::string& name, bool amsgrad, bool adabound, double first_alpha)
      : formula_(optimizer_of(name, amsgrad, adabound, first_alpha)) {}
  nb::list state() const {
    nb::list names;
    for (const ct::OptimizerState& array : formula_.state()) names.append(array.name);
    return names;
  }
  nb::list hyperparameters() const {
    nb::list names;
    for (const auto& [name, value] : formula_.hyperparameters()) names.append(name);
    return names;
  }

  /// Updates parameters, each with its dict of state. `values` correspond to hyperparameters(). Returns the indices of
  /// parameters that were not updated because their arrays are unsupported: read-only or 16-bit ones.
  nb::list update(std::int64_t t, const std::vector<double>& values, nb::handle parameters) const {
    ct::Hyperparameters::Values all = formula_.hyperparameters();
    for (std::size_t k = 0; k < all.size(); ++k) all[k].second = values.at(k);
    nb::list refused;
    std::vector<std::vector<std::vector<Array>>> groups;  // by dtype and device
    std::vector<Array> seen;
    int index = 0;
    for (nb::handle pair : parameters) {
      std::vector<Array> arrays;
      if (!read(pair[0].ptr(), pair[1].ptr(), arrays)) {
        refused.append(index++);
        continue;
      }
      ++index;
      seen.insert(seen.end(), arrays.begin(), arrays.end());
      const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) {
        return g[0][0].dtype() == arrays[0].dtype() && g[0][0].device() == arrays[0].device();
      });
      (group == groups.end() ? groups.emplace_back() : *group).push_back(std::move(arrays));
    }
    std::int64_t elements = 0;
    for (const Array& a : seen) elements += a.size();
    without_gil(elements >= kReleaseFrom, [&] {
      const Unseen scope(std::move(seen));
      for (const auto& group : groups) formula_.update(group, t, all);
    });
    return refused;
  }

 private:
  /// Reads the arrays of a parameter. Returns false if the library does not support them.
  bool read(PyObject* parameter, PyObject* state, std::vector<Array>& arrays) const {
    if (!is_variable(parameter) || !variable_of(parameter).defined() || !PyDict_Check(state)) return false;
    const ct::Variable& v = variable_of(parameter);
    const ct::Variable& gradient = v.grad_var();
    if (!v.array().defined() || !gradient.defined() || !gradient.array().defined()) return false;
    const Array& x = v.array();
    if ((x.dtype() != Dtype::float32 && x.dtype() != Dtype::float64) || x.size() == 0) return false;
    arrays = {x, gradient.array()};
    if (PyObject* const own = peer_of(v.node()).array; own && !array_over(own, arrays[0], true)) return false;
    for (const ct::OptimizerState& s : formula_.state()) {
      PyObject* const array = PyDict_GetItemString(state, s.name.c_str());
      if (!array || !array_over(array, arrays.emplace_back(), true)) return false;
    }
    return std::all_of(arrays.begin(), arrays.end(), [&](const Array& a) {
      return a.dtype() == x.dtype() && a.device() == x.device() && a.shape() == x.shape() && a.body().storage;
    });
  }

  ct::OptimizerFormula formula_;
};

}  // namespace

void register_optimizers(nb::module_& m) {
  nb::class_<Formula>(m, "_Formula", "The update formula of one of the library's optimizers.")
      .def(nb::init<const std::string&, bool, bool, double>(), nb::arg("name"), nb::arg("amsgrad") = false,
           nb::arg("adabound") = false, nb::arg("first_alpha") = 0.001)
      .def_prop_ro("state", &Formula::state)
      .def_prop_ro("hyperparameters", &Formula::hyperparameters)
      .def("update", &Formula::update, nb::arg("t"), nb::arg("values"), nb::arg("parameters"));
}

}  // namespace catenary_python
