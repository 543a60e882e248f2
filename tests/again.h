#pragma once
// Checks that each function describes itself completely: a second one made from the description must compute equal
// results.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/statistics.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/hooks.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"

namespace tests {

/// Keeps all functions that the thread applies, and their inputs, which must not be modified in place.
class Again final : public catenary::FunctionHook {
 public:
  std::string name() const override { return "Again"; }
  void forward_postprocess(catenary::FunctionNode& f, catenary::Inputs x) override {
    Call call{catenary::Ref<catenary::FunctionNode>(&f), {}};
    for (int i = 0; i < x.size(); ++i) call.inputs.push_back(x[i]);
    calls_.push_back(std::move(call));
  }

  /// Computes each function once more by a copy made with again(), and forgets them. Returns a description of the first
  /// problem (a function without a description, or a copy with different results), or "".
  std::string check() {
    scope_.reset();
    std::string wrong;
    std::map<const catenary::VariableNode*, catenary::Array> known;  // former inputs, whose nodes may be gone
    for (const Call& call : calls_)
      for (int i = 0; i < call.function->input_count(); ++i)
        known[&call.function->input(i)] = call.inputs[static_cast<std::size_t>(i)];
    for (const Call& call : std::exchange(calls_, {})) {
      const std::string text = fault(call, known);
      if (!text.empty() && wrong.find(text) == std::string::npos) wrong += text + "\n";
    }
    scope_.emplace(*this);
    return wrong;
  }
  /// Returns the number of compared results.
  int compared() const { return compared_; }

 private:
  struct Call {
    catenary::Ref<catenary::FunctionNode> function;
    std::vector<catenary::Array> inputs;
  };
  class Names final : public catenary::AttributeVisitor {
   public:
    void operator()(const std::string& name, const catenary::Attribute& value) override {
      if (!all.insert(name).second) twice = name;
      text += name + "=" + catenary::to_string(value) + " ";
    }
    std::set<std::string> all;
    std::string twice, text;
  };

  std::string fault(const Call& call, const std::map<const catenary::VariableNode*, catenary::Array>& known) {
    catenary::FunctionNode& f = *call.function;
    if (f.input_count() == 0 || f.output_count() == 0) return "";  // not recorded
    Names names;
    const catenary::Ref<catenary::FunctionNode> once_more = f.again();
    if (!f.visit_attributes(names) || !once_more) return fmt::format("{} does not tell what it is made of", f.name());
    if (!names.twice.empty()) return fmt::format("{} tells {} twice", f.name(), names.twice);
    std::vector<catenary::Variable> inputs;
    for (const catenary::Array& x : call.inputs) inputs.emplace_back(x, false);
    const catenary::Variables results = once_more->apply(inputs);
    if (static_cast<int>(results.size()) != f.output_count())
      return fmt::format("{} gives {} results once more, and not {}", f.name(), results.size(), f.output_count());
    for (int i = 0; i < f.output_count(); ++i) {
      const catenary::VariableNode* const y = f.output(i);
      if (!y) continue;
      const auto found = known.find(y);
      const catenary::Array expected = y->data().defined()    ? y->data()
                                       : found != known.end() ? found->second
                                                              : catenary::Array();
      if (!expected.defined()) continue;
      const catenary::Array& result = results[static_cast<std::size_t>(i)].array();
      ++compared_;
      if (result.dtype() != expected.dtype() || result.shape() != expected.shape() ||
          !catenary::array_equal(result, expected, true))
        return fmt::format("{} of {}gives something else once more", f.name(), names.text);
    }
    return "";
  }

  std::vector<Call> calls_;
  int compared_ = 0;
  std::optional<catenary::HookScope> scope_{std::in_place, *this};
};

}  // namespace tests
