#pragma once
// Loss functions.

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// What a loss gives: its mean (a 0-d variable), or one value an example.
enum class Reduce : std::uint8_t { mean, no };

/// Members of softmax_cross_entropy.
struct SoftmaxCrossEntropyOptions {
  /// Divide by the number of labels that are not ignored; else by the batch size.
  bool normalize = true;
  /// Labels that do not count.
  std::int64_t ignore_label = -1;
  /// A factor for each class, or undefined.
  Array class_weight = {};
  Reduce reduce = Reduce::mean;
};

/// Cross entropy of softmax(x) and integer labels: x [n, classes, d…], t [n, d…]. The gradient can be differentiated
/// again, always. Throws ShapeError and DtypeError, and IndexError for a label that is no class.
/// (chainer.functions.softmax_cross_entropy)
CT_API Variable softmax_cross_entropy(const Variable& x, const Variable& t,
                                      const SoftmaxCrossEntropyOptions& options = {});

}  // namespace catenary::functions
