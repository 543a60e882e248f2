#pragma once
// functions/: the functions of neural networks, on Variables, with Chainer 7's names in catenary::functions (`namespace
// F`). Groups: activation, array, connection, evaluation, loss, math, noise, normalization, pooling. Each group is a
// header with its sources. functions/ must not include links, optimizers, or anything else with parameters.
//
// How to write a function (docs/design/adding-a-function.md):
// - Declare it in its group's header, with `const Variable&` arguments (an Array converts) and a doc comment.
// - Elementwise: write a struct with the value on arrays and the gradient as a formula (autograd/elementwise.h).
// - Otherwise: derive from FunctionNode, with forward on arrays and backward on variables (autograd/function_node.h).
// - Compose it from other functions if this needs no extra pass over memory. Fusion turns most gradient formulas into a
//   single kernel.

#include "catenary/autograd/operators.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/array.h"
#include "catenary/functions/attention.h"
#include "catenary/functions/connection.h"
#include "catenary/functions/convolution.h"
#include "catenary/functions/evaluation.h"
#include "catenary/functions/fft.h"
#include "catenary/functions/forget.h"
#include "catenary/functions/loss.h"
#include "catenary/functions/loss_ctc.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/math_elementwise.h"
#include "catenary/functions/math_matrix.h"
#include "catenary/functions/math_reduction.h"
#include "catenary/functions/math_special.h"
#include "catenary/functions/noise.h"
#include "catenary/functions/normalization.h"
#include "catenary/functions/patches.h"
#include "catenary/functions/pooling.h"
#include "catenary/functions/resampling.h"
#include "catenary/functions/rnn.h"
#include "catenary/functions/roi.h"
#include "catenary/functions/sparse_matmul.h"
