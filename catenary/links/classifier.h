#pragma once
// A predictor with a loss.

#include <functional>
#include <optional>

#include "catenary/links/model.h"

namespace catenary::links {

/// Functions of predictions and targets.
using LossFunction = std::function<Variable(const Variable& y, const Variable& t)>;

/// Computes loss and accuracy of a predictor and reports them. The last argument of a call is the labels.
/// (chainer.links.Classifier)
class CT_API Classifier : public Chain {
 public:
  /// softmax_cross_entropy and accuracy when not given; `compute_accuracy` can be set to false. Labels of -1, which
  /// that loss ignores, count as wrong, as in Chainer.
  explicit Classifier(const Model& predictor, LossFunction lossfun = {}, LossFunction accfun = {});
  template <std::derived_from<Link> L>
  explicit Classifier(const L& predictor, LossFunction lossfun = {}, LossFunction accfun = {})
      : Classifier(Model(predictor), std::move(lossfun), std::move(accfun)) {}

  Variable operator()(const Batch& batch) const;
  template <class... X>
  requires(sizeof...(X) >= 2 && (std::convertible_to<X, Variable> && ...)) Variable operator()(const X&... x) const {
    return (*this)(Batch(std::vector<Variable>{Variable(x)...}));
  }
  std::string type_name() const override { return "Classifier"; }
  void visit_members(MemberVisitor& visitor) const override { visitor("predictor", predictor.link()); }
  void detach(CopyMode mode) override;

  Model predictor;
  bool compute_accuracy = true;

  /// Of the last call: the prediction, the loss, the accuracy. Shared by copies of the link.
  const Variable& y() const { return last_->y; }
  const Variable& loss() const { return last_->loss; }
  const Variable& accuracy() const { return last_->accuracy; }

 private:
  struct Last {
    Variable y, loss, accuracy;
  };
  LossFunction lossfun_, accfun_;
  std::shared_ptr<Last> last_ = std::make_shared<Last>();
};

}  // namespace catenary::links
