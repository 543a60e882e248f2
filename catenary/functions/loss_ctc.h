#pragma once
// The CTC loss: for label sequences without known times.

#include <vector>

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"
#include "catenary/functions/loss.h"

namespace catenary::functions {

/// Options of connectionist_temporal_classification.
struct CtcOptions {
  Variable input_length = {};    ///< , integers: the number of time steps of each sequence, by default all
  Variable label_length = {};    ///< , integers: the number of labels of each sequence, by default all
  Reduce reduce = Reduce::mean;  ///< mean, or `no` for a loss for each sequence
};
CT_FIELDS(CtcOptions, input_length, label_length, reduce)
/// Computes -log of the probability that a path of symbols, one for each time step, becomes the labels t [n, labels]
/// after repeated symbols are merged and blanks are removed. x[time] [n, symbols] are scores before softmax. Their
/// gradients are zero after a sequence's end.
///
/// Labels that no path can become (too long for the sequence, or a score of -infinity) have a loss of 1e10 (float16:
/// 1e4), Chainer's value for -log 0, and a gradient of zero. Gradients cannot be differentiated again (ValueError).
///
/// Throws ShapeError, DtypeError, ValueError for an empty x, a blank_symbol outside the symbols or another reduction,
/// and IndexError for labels outside the symbols, the blank as a label, and impossible lengths.
/// (chainer.functions.connectionist_temporal_classification) (Graves et al., ICML 2006)
CT_API Variable connectionist_temporal_classification(const std::vector<Variable>& x, const Variable& t,
                                                      std::int64_t blank_symbol, const CtcOptions& options = {});

}  // namespace catenary::functions
