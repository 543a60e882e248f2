#include "catenary/links/classifier.h"

#include "catenary/functions/evaluation.h"
#include "catenary/functions/labels.h"
#include "catenary/functions/loss.h"
#include "catenary/reporter/reporter.h"

namespace catenary::links {

Classifier::Classifier(const Model& model, LossFunction lossfun, LossFunction accfun)
    : predictor(model), lossfun_(std::move(lossfun)), accfun_(std::move(accfun)) {
  const bool checks_labels = !lossfun_;
  if (!lossfun_) lossfun_ = [](const Variable& y, const Variable& t) { return functions::softmax_cross_entropy(y, t); };
  if (!accfun_ && checks_labels) accfun_ = functions::detail::accuracy_of_checked;
  if (!accfun_) accfun_ = [](const Variable& y, const Variable& t) { return functions::accuracy(y, t); };
}

Variable Classifier::operator()(const Batch& batch) const {
  if (batch.columns() < 2)
    throw ValueError("Classifier: needs the predictor's inputs and the labels as the last argument, got " +
                     std::to_string(batch.columns()));
  std::vector<Variable> inputs = batch.values();
  const Variable t = inputs.back();
  inputs.pop_back();
  Last& last = *last_;
  last = {};
  last.y = predictor(Batch(std::move(inputs)));
  last.loss = lossfun_(last.y, t);
  report({{"loss", last.loss}}, *this);
  if (compute_accuracy) {
    last.accuracy = accfun_(last.y, t);
    report({{"accuracy", last.accuracy}}, *this);
  }
  return last.loss;
}

void Classifier::detach(CopyMode mode) {
  predictor = predictor.copy(mode);
  last_ = std::make_shared<Last>();
  // the predictor's copy is already detached
  Link::detach(CopyMode::share);
}

}  // namespace catenary::links
