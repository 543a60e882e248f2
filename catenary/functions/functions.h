#pragma once
// functions/: what networks are made of, as functions of Variables with Chainer 7's names, under catenary::functions
// (`namespace F`). Groups: activation, array, connection, evaluation, loss, math, noise, normalization, pooling, each a
// header and its sources. Links, optimizers and whatever has parameters of its own may not come in.
//
// A function is (docs/design/adding-a-function.md):
//   - declared in its group's header, taking `const Variable&` (an Array may stand for it), with a doc comment;
//   - elementwise: a struct of two lines, the value on arrays and the gradient as a formula (autograd/elementwise.h);
//   - else: a class derived from FunctionNode with forward on arrays and backward on variables
//   (autograd/function_node.h);
//   - made of others where that costs no extra pass over memory; fused programs make most gradient formulas one kernel.

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
