#pragma once
// Walking the graph backward. (chainer.backward, chainer.grad)

#include <optional>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary {

/// Optional arguments of grad().
struct GradOptions {
  /// Gradients of the outputs. Ones where undefined or missing.
  std::vector<Variable> grad_outputs = {};
  /// Added to the results. Undefined entries are ignored.
  std::vector<Variable> grad_inputs = {};
  /// Also sets the inputs' grad_var.
  bool set_grad = false;
  /// Also sets grad_var of the variables in between.
  bool retain_grad = false;
  /// Records the gradients' own graph, to differentiate them again.
  bool enable_double_backprop = false;
  std::optional<Number> loss_scale = {};
};

/// Returns the gradients of the outputs (their sum, weighted by grad_outputs) with respect to the inputs. Leaves every
/// variable's grad unchanged. An input that the outputs do not depend on gets an undefined Variable. Throws ValueError
/// for lists of different lengths. (chainer.grad)
CT_API std::vector<Variable> grad(const std::vector<Variable>& outputs, const std::vector<Variable>& inputs,
                                  const GradOptions& options = {});

/// Backpropagates from several variables at once, starting with grad_outputs or, if empty, with their grad_var, which
/// is then cleared. Variables without a gradient are skipped. (chainer.backward)
CT_API void backward(const std::vector<Variable>& outputs, const std::vector<Variable>& grad_outputs = {},
                     bool enable_double_backprop = false);

}  // namespace catenary
