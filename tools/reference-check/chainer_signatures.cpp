// Calls of the library's functions with a case's inputs and keyword arguments.

#include "catenary/functions/signature.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

namespace {

/// The inputs of a case are the variables in their order, its keywords the other arguments. Null stands for the default
/// of an argument that cannot be None.
class CaseArguments final : public F::Arguments {
 public:
  CaseArguments(const Inputs& inputs, Keywords& keywords) : inputs_(inputs), keywords_(keywords) {}

  bool is_given(const F::Argument& argument) override {
    if (argument.takes != F::Takes::no_variable) return next_ < inputs_.size();
    keywords_.get(argument.name);
    return keywords_.given(argument.name);
  }
  bool is_none(const F::Argument& argument) override {
    return argument.takes == F::Takes::no_variable && keywords_.get(argument.name).is_null();
  }
  bool read(const F::Argument& argument, bool& to) override { return read_keyword(argument, to); }
  bool read(const F::Argument& argument, std::int64_t& to) override { return read_keyword(argument, to); }
  bool read(const F::Argument& argument, double& to) override { return read_keyword(argument, to); }
  bool read(const F::Argument& argument, std::string& to) override { return read_keyword(argument, to); }
  bool read(const F::Argument& argument, catenary::Dims& to) override { return read_keyword(argument, to); }
  bool read(const F::Argument& argument, Array&) override { throw NotImplemented(argument.name); }
  bool read(const F::Argument&, Variable& to) override {
    to = inputs_[next_++];
    return true;
  }
  bool read(const F::Argument&, std::vector<Variable>& to) override {
    to.assign(inputs_.begin() + static_cast<std::ptrdiff_t>(next_), inputs_.end());
    next_ = inputs_.size();
    return true;
  }
  bool fit() override { return true; }

 private:
  template <class T>
  bool read_keyword(const F::Argument& argument, T& to) {
    const json& value = keywords_.get(argument.name);
    if (!value.is_null() && !reference::read(value, to)) throw NotImplemented(argument.name + " = " + value.dump());
    return true;
  }

  const Inputs& inputs_;
  Keywords& keywords_;
  std::size_t next_ = 0;
};

}  // namespace

void add_signatures(FunctionTable& table) {
  for (const F::Signature& signature : F::signatures())
    table.add(std::string(signature.name()), [&signature](const Inputs& x, Keywords& keywords) {
      CaseArguments arguments(x, keywords);
      catenary::Variables results;
      if (!signature.call(signature, arguments, results)) throw NotImplemented("arguments of " + signature.path);
      return std::vector<Variable>(results.begin(), results.end());
    });
}

}  // namespace reference
