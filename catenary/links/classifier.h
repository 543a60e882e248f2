#pragma once
// A predictor with loss and accuracy.

#include <functional>
#include <optional>

#include "catenary/links/model.h"

namespace catenary::links {

/// A function of predictions and targets.
using LossFunction = std::function<Variable(const Variable& y, const Variable& t)>;

/// Computes loss and accuracy of a predictor and reports them. The last argument of a call is the labels.
/// (chainer.links.Classifier)
class CT_API Classifier : public Chain {
 public:
  /// Uses softmax_cross_entropy and accuracy by default. Set `compute_accuracy` to false to skip the accuracy. Labels
  /// of -1, which the default loss ignores, count as wrong in the accuracy, as in Chainer.
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

  /// Return the prediction, the loss and the accuracy of the last call. Copies of the link share them.
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
