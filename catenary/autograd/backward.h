#pragma once
// Walking the graph backward. (chainer.backward, chainer.grad)

#include <optional>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary {

/// Members with which grad() may be told more.
struct GradOptions {
  /// Gradients of the outputs; ones where undefined or missing.
  std::vector<Variable> grad_outputs = {};
  /// Added to the results; undefined ones count as nothing.
  std::vector<Variable> grad_inputs = {};
  /// Also sets the inputs' grad_var.
  bool set_grad = false;
  /// Also sets grad_var of the variables in between.
  bool retain_grad = false;
  /// Records the gradients' own graph, to differentiate them again.
  bool enable_double_backprop = false;
  std::optional<Number> loss_scale = {};
};

/// Gradients of the outputs (their sum, weighted by grad_outputs) with respect to the inputs only, without touching
/// anybody's grad; an undefined Variable for an input that the outputs do not depend on. Throws ValueError for lists of
/// different lengths. (chainer.grad)
CT_API std::vector<Variable> grad(const std::vector<Variable>& outputs, const std::vector<Variable>& inputs,
                                  const GradOptions& options = {});

/// Backpropagates from several variables at once, from grad_outputs or else from their grad_var (which is cleared); a
/// variable without either is left out. (chainer.backward)
CT_API void backward(const std::vector<Variable>& outputs, const std::vector<Variable>& grad_outputs = {},
                     bool enable_double_backprop = false);

}  // namespace catenary
