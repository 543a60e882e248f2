#pragma once
// The loss of sequences of labels whose times are not known.

#include <vector>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"
#include "catenary/functions/loss.h"

namespace catenary::functions {

/// Options of connectionist_temporal_classification.
struct CtcOptions {
  Variable input_length = {};    ///< [n], integers: how many times each sequence has; all where undefined
  Variable label_length = {};    ///< [n], integers: how many labels; all where undefined
  Reduce reduce = Reduce::mean;  ///< or `no`: a loss a sequence
};
CT_FIELDS(CtcOptions, input_length, label_length, reduce)
/// -log of the probability that paths of symbols, one a time, become the labels t [n, labels] when what is repeated is
/// taken once and blanks are left out. x[time] [n, symbols] are scores, of which softmax makes the probabilities. Their
/// gradients are zero beyond a sequence's end. Labels that no path becomes, as they do not fit into a sequence or as a
/// score is -infinity, have a loss of 1e10 (of float16 1e4), which is what Chainer takes for -log 0, and a gradient of
/// zero. Has no gradient of second order (ValueError). Throws ShapeError, DtypeError, ValueError for no times, another
/// blank_symbol than a symbol, and another way to reduce, and IndexError for a label that is no symbol or the blank,
/// and for a length that cannot be. (chainer.functions. connectionist_temporal_classification; Graves et al., ICML
/// 2006)
CT_API Variable connectionist_temporal_classification(const std::vector<Variable>& x, const Variable& t,
                                                      std::int64_t blank_symbol, const CtcOptions& options = {});

}  // namespace catenary::functions
