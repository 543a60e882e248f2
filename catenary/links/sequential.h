#pragma once
// Lists of links.

#include <functional>
#include <string>
#include <vector>

#include "catenary/links/model.h"

namespace catenary {

/// Links named by number: children "0", "1", …. (chainer.ChainList)
class CT_API ChainList : public Link {
 public:
  ChainList() = default;
  template <std::derived_from<Link>... L>
  requires(sizeof...(L) > 0 && (!std::derived_from<L, ChainList> && ...)) explicit ChainList(const L&... links) {
    (add_link(Model(links)), ...);
  }
  void add_link(const Model& link) { links_.push_back(link); }
  std::int64_t size() const { return static_cast<std::int64_t>(links_.size()); }
  /// Returns link i. Negative i counts from the end. Throws IndexError.
  const Model& operator[](std::int64_t i) const;
  std::string type_name() const override { return "ChainList"; }
  void visit_members(MemberVisitor& visitor) const override;
  void detach(CopyMode mode) override;

 private:
  std::vector<Model> links_;
};

/// Applies links and functions of one Variable in sequence. Links are numbered without the functions: (Linear, relu,
/// Linear) has the children "0" and "1". (chainer.Sequential)
class CT_API Sequential : public Link {
 public:
  using Function = std::function<Variable(const Variable&)>;
  Sequential() = default;
  /// Holds the steps: links and functions. A copy of one Sequential is a copy, not a Sequential with one step.
  template <class... S>
  requires(sizeof...(S) > 1 ||
           (sizeof...(S) == 1 && (!std::derived_from<S, Sequential> && ...))) explicit Sequential(const S&... steps) {
    (append(steps), ...);
  }
  template <std::derived_from<Link> L>
  void append(const L& link) {
    append(Model(link));
  }
  void append(const Model& link);
  template <class F>
  requires(!std::derived_from<F, Link> && std::is_invocable_r_v<Variable, const F&, const Variable&> &&
           !std::same_as<F, Model>) void append(const F& function) {
    append_function(Function(function));
  }
  std::int64_t size() const { return static_cast<std::int64_t>(steps_.size()); }
  Variable operator()(const Variable& x) const;
  /// Returns n copies of the steps in sequence, copied by `mode`. (chainer.Sequential.repeat)
  Sequential repeat(int n, CopyMode mode = CopyMode::init) const;
  std::string type_name() const override { return "Sequential"; }
  void visit_members(MemberVisitor& visitor) const override;
  void detach(CopyMode mode) override;

 private:
  void append_function(Function function);
  struct Step {
    Model link;
    Function function;
  };
  std::vector<Step> steps_;
};

}  // namespace catenary
