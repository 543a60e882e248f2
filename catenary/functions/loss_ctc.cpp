#include "catenary/functions/loss_ctc.h"

#include <limits>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/run_text.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/array.h"
#include "catenary/functions/labels.h"
#include "catenary/functions/reduce.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

using catenary::detail::reads;
using catenary::detail::run_text;
using catenary::detail::writes;

namespace {

constexpr const char* kFunction = "connectionist_temporal_classification";
constexpr double kLogOfZero = -std::numeric_limits<double>::infinity();

/// Arguments of the kernels in kernels/ctc.kernel. Arrays are C-ordered, integers are int32, x is [times, n, symbols].
struct Paths {
  Array labels, lengths, label_lengths;
  std::int64_t blank;
  double impossible;              // the loss of labels that no path can become
  Array paths = {}, totals = {};  // computed by losses() for gradient()

  Array losses(const Array& x) {
    const Array y = log_probabilities(x);
    paths = Array::empty({2, y.shape(1), y.shape(0), 2 * labels.shape(1) + 1}, y.dtype(), y.device());
    totals = Array::empty({y.shape(1)}, y.dtype(), y.device());
    run_text("ctc", "ctc_paths", 2 * y.shape(1),
             {reads(y), reads(labels), reads(lengths), reads(label_lengths), writes(paths), y.shape(), labels.shape(1),
              blank, kLogOfZero});
    run_text("ctc", "ctc_totals", y.shape(1),
             {reads(y), reads(labels), reads(label_lengths), reads(paths), writes(totals), y.shape(), labels.shape(1),
              blank, kLogOfZero});
    return catenary::where(totals == kLogOfZero, impossible, -totals);
  }
  Array gradient(const Array& x) const {
    const Array y = log_probabilities(x), gx = Array::empty(y.shape(), y.dtype(), y.device());
    run_text("ctc", "ctc_back", y.shape(0) * y.shape(1),
             {reads(y), reads(labels), reads(lengths), reads(label_lengths), reads(paths), reads(totals), writes(gx),
              y.shape(), labels.shape(1), blank, kLogOfZero});
    return gx;
  }

 private:
  /// Avoids log(softmax(x)), which would lose probabilities that round to 0.
  static Array log_probabilities(const Array& x) {
    const Array y = x - x.max(2, true);
    return (y - catenary::log(catenary::exp(y).sum(2, true))).contiguous();
  }
};
CT_FIELDS(Paths, labels, lengths, label_lengths, blank, impossible, paths, totals)

class ConnectionistTemporalClassificationGrad : public FunctionNode {
 public:
  explicit ConnectionistTemporalClassificationGrad(const Paths& paths) : paths_(paths) {}
  const char* name() const override { return "ConnectionistTemporalClassificationGrad"; }
  CT_ATTRIBUTES(paths_)

 protected:
  Arrays forward(Inputs in) override { return paths_.gradient(in[0]) * in[1].reshape({1, in[1].size(), 1}); }
  Variables backward(Targets, Grads) override {
    fail<ValueError>("{}: its gradient cannot be differentiated", kFunction);
  }

 private:
  Paths paths_;
};

/// The losses of scores [times, n, symbols].
class ConnectionistTemporalClassification : public FunctionNode {
 public:
  explicit ConnectionistTemporalClassification(const Paths& paths) : paths_(paths) {}
  const char* name() const override { return "ConnectionistTemporalClassification"; }
  CT_ATTRIBUTES(paths_)

 protected:
  Arrays forward(Inputs in) override {
    retain_inputs({0});
    return paths_.losses(in[0]);
  }
  Variables backward(Targets, Grads gys) override {
    return catenary::apply(node<ConnectionistTemporalClassificationGrad>(paths_), retained_input(0), gys[0]);
  }

 private:
  Paths paths_;
};

/// Returns checked lengths as int32, by default all `most`.
Array lengths_of(const char* name, const Variable& given, std::int64_t n, std::int64_t least, std::int64_t most,
                 const Device& device) {
  if (!given.defined()) return catenary::detail::filled({n}, most, Dtype::int32, device);
  if (given.shape() != Shape{n}) fail<ShapeError>("{}: {} must be ({},), not {}", kFunction, name, n, given.shape());
  const detail::Labels lengths{
      .function = kFunction, .name = name, .t = given.array(), .classes = most + 1, .low = least};
  lengths.check();
  return given.array().astype(Dtype::int32).contiguous();
}

}  // namespace

Variable connectionist_temporal_classification(const std::vector<Variable>& x, const Variable& t,
                                               std::int64_t blank_symbol, const CtcOptions& options) {
  CT_DEFINED(x, t);
  detail::check_reduce(options.reduce, Reduce::mean, Reduce::no, kFunction);
  if (x.empty()) fail<ValueError>("{}: there is no time", kFunction);
  const Shape scores = x[0].shape();
  const Dtype dtype = x[0].dtype();
  if (scores.size() != 2) fail<ShapeError>("{}: x[0] must be (n, symbols), not {}", kFunction, scores);
  for (std::size_t i = 1; i < x.size(); ++i)
    if (x[i].shape() != scores)
      fail<ShapeError>("{}: x[{}] must be {} as x[0], not {}", kFunction, i, scores, x[i].shape());
  if (!is_floating(dtype)) fail<DtypeError>("{}: x must be floating, not {}", kFunction, dtype);
  const std::int64_t n = scores[0], symbols = scores[1], times = static_cast<std::int64_t>(x.size());
  if (t.ndim() != 2 || t.shape(0) != n)
    fail<ShapeError>("{}: t must be ({}, labels) to fit x, not {}", kFunction, n, t.shape());
  if (blank_symbol < 0 || blank_symbol >= symbols)
    fail<ValueError>("{}: blank_symbol must be one of {} symbols, not {}", kFunction, symbols, blank_symbol);
  const Device device = x[0].device();
  catenary::detail::check_same_device(x[0].array(), t.array(), kFunction);

  const std::int64_t most_labels = t.shape(1);
  const Array lengths = lengths_of("input_length", options.input_length, n, 1, times, device),
              label_lengths = lengths_of("label_length", options.label_length, n, 0, most_labels, device);
  // elements after a sequence's labels are not used
  const Array counted =
      catenary::detail::iota(most_labels, device).reshape({1, most_labels}) < label_lengths.reshape({n, 1});
  detail::Labels labels{kFunction, "t", t.array(), symbols};
  labels.t = catenary::where(counted, labels.values(), 0);
  labels.forbidden = counted & (labels.t == blank_symbol);
  labels.what_is_forbidden = fmt::format("{}, the blank", blank_symbol);
  labels.check();

  const Paths paths{labels.t.astype(Dtype::int32).contiguous(), lengths, label_lengths, blank_symbol,
                    dtype == Dtype::float16 ? 1e4 : 1e10};
  const Variable all = stack(x);
  const Variable losses =
      apply(node<ConnectionistTemporalClassification>(paths), is_16bit_float(dtype) ? cast(all, Dtype::float32) : all);
  return cast(detail::reduce_elements(losses, options.reduce, kFunction), dtype);
}

std::span<const Signature> detail::ctc_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("loss.ctc", connectionist_temporal_classification, "x", labels("t"), "blank_symbol", options("...")),
  };
  return all;
}

}  // namespace catenary::functions
