// Python's arguments of the library's functions (catenary/functions/signature.h).

#include <deque>
#include <stdexcept>

#include "rows.h"

namespace catenary_python {

namespace {

namespace F = ct::functions;

/// The objects of a call. All floats must have one dtype and device, and labels that device.
class Objects final : public F::Arguments {
 public:
  explicit Objects(PyObject* const* all) : all_(all) {}

  bool is_given(const F::Argument& argument) override { return all_[argument.at] != nullptr; }
  bool is_none(const F::Argument& argument) override { return catenary_python::is_none(all_[argument.at]); }
  bool read(const F::Argument& argument, bool& to) override { return read_object(argument, to); }
  bool read(const F::Argument& argument, std::int64_t& to) override { return read_object(argument, to); }
  bool read(const F::Argument& argument, double& to) override { return read_object(argument, to); }
  bool read(const F::Argument& argument, std::string& to) override { return read_object(argument, to); }
  bool read(const F::Argument& argument, ct::Dims& to) override { return read_object(argument, to); }
  bool read(const F::Argument& argument, Array& to) override { return read_object(argument, to); }
  bool read(const F::Argument& argument, Variable& to) override {
    return read_variable(all_[argument.at], argument.takes, to);
  }
  bool read(const F::Argument& argument, std::vector<Variable>& to) override {
    PyObject* const o = all_[argument.at];
    if (!PyTuple_Check(o) && !PyList_Check(o)) return false;
    for (nb::handle item : nb::handle(o))
      if (!read_variable(item.ptr(), argument.takes, to.emplace_back())) return false;
    return !to.empty();
  }
  bool fit() override { return !has_labels_ || !dtype_ || device_ == device_of_labels_; }

 private:
  template <class T>
  bool read_object(const F::Argument& argument, T& to) {
    return catenary_python::read(all_[argument.at], to);
  }
  bool read_variable(PyObject* o, F::Takes takes, Variable& to) {
    if (takes == F::Takes::no_variable) return catenary_python::read(o, to);  // a member of options
    if (takes == F::Takes::labels) {
      Any labels;
      if (!catenary_python::read(o, labels) || ct::is_floating(labels.v.dtype())) return false;
      if (has_labels_ && device_of_labels_ != labels.v.device()) return false;
      has_labels_ = true;
      device_of_labels_ = labels.v.device();
      to = std::move(labels.v);
      return true;
    }
    if (takes == F::Takes::values) {
      Values values;
      if (!catenary_python::read(o, values)) return false;
      to = std::move(values.v);
    } else {
      Floats floats;
      if (!catenary_python::read(o, floats)) return false;
      to = std::move(floats.v);
    }
    if (dtype_) return to.dtype() == *dtype_ && to.device() == device_;
    dtype_ = to.dtype();
    device_ = to.device();
    return true;
  }

  PyObject* const* all_;
  std::optional<Dtype> dtype_;  // of floats and values
  ct::Device device_, device_of_labels_;
  bool has_labels_ = false;
};

}  // namespace

Row row_of(const F::Signature& signature) {
  static std::deque<std::string> words;  // the storage of keyword-only names
  const Gives gives = signature.may_return_array ? Gives::one_and_array : signature.is_single ? Gives::one : Gives::all;
  Row row{signature.path.c_str(), {}, 0, {}, gives, {}, &signature, signature.refuses_labels};
  if (signature.order.size() > row.parameters.size() || signature.arguments.size() > kMostArguments)
    throw std::length_error(signature.path);
  for (std::size_t i = 0; i < signature.order.size(); ++i) {
    const F::Argument& argument = signature.arguments[signature.order[i]];
    row.parameters[i] =
        argument.is_keyword_only ? words.emplace_back('=' + argument.name).c_str() : argument.name.c_str();
    row.places[i] = static_cast<std::uint8_t>(argument.at);
    row.required += argument.is_required;
  }
  return row;
}

bool call_signature(const F::Signature& signature, PyObject* const* arguments, ct::Variables& results) {
  Objects objects(arguments);
  if (!signature.call(signature, objects, results)) return false;
  // Chainer's indices are int32
  if (objects.requested.defined() && objects.requested.dtype() == Dtype::int64)
    results.back() = Variable(objects.requested.astype(Dtype::int32), false);
  return true;
}

}  // namespace catenary_python
