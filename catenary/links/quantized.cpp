#include "catenary/links/quantized.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/view.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/function_node.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/array.h"
#include "catenary/functions/connection.h"
#include "catenary/functions/labels.h"
#include "catenary/functions/math_elementwise.h"
#include "catenary/links/detail_quantized.h"

namespace catenary {
static void visit_fields(const QuantizedArray& w, auto&& visit) {
  visit("blocks", w.blocks());
  visit("kind", w.kind());
  visit("shape", w.shape());
}
}  // namespace catenary

namespace catenary::links {

namespace {

using std::int64_t;

/// Inputs: x, and b if defined.
class QuantizedLinear : public FunctionNode {
 public:
  explicit QuantizedLinear(const QuantizedArray& w) : w_(w) {}
  const char* name() const override { return "QuantizedLinear"; }
  CT_ATTRIBUTES(w_)
  Arrays forward(Inputs x) override { return {linear(x[0], w_, x.size() > 1 ? &x[1] : nullptr)}; }
  Variables backward(Targets targets, Grads gy) override;

 private:
  const QuantizedArray w_;
};

/// The gradient of QuantizedLinear with respect to x.
class QuantizedLinearBack : public FunctionNode {
 public:
  explicit QuantizedLinearBack(const QuantizedArray& w) : w_(w) {}
  const char* name() const override { return "QuantizedLinearBack"; }
  CT_ATTRIBUTES(w_)
  Arrays forward(Inputs gy) override { return {linear_back(gy[0], w_)}; }
  Variables backward(Targets targets, Grads ggx) override {
    return gradients(targets, [&](int) { return catenary::apply(node<QuantizedLinear>(w_), ggx[0]); });
  }

 private:
  const QuantizedArray w_;
};

/// The integers of the range nearest to x / scale, minus the zero.
Array numbers_of(const Array& x, const InputRange& range) {
  const float zero = range.zero();
  return clip(rint(x / range.scale()), -zero, 255 - zero);
}

/// Rounds x to a range's values.
class RoundedToRange : public FunctionNode {
 public:
  explicit RoundedToRange(const InputRange& range) : range_(range) {}
  const char* name() const override { return "RoundedToRange"; }
  CT_ATTRIBUTES(range_)
  Arrays forward(Inputs x) override {
    retain_inputs({0});
    return {numbers_of(x[0], range_) * range_.scale()};
  }
  Variables backward(Targets targets, Grads gy) override {
    return gradients(targets, [&](int) {
      const Array numbers = retained_input(0).array() / range_.scale();
      const float zero = range_.zero();
      return functions::where(Variable(logical_and(numbers >= -zero, numbers <= 255 - zero), false), gy[0], 0);
    });
  }

 private:
  const InputRange range_;
};

/// The scales at the beginning of int8 rows: [rows].
Array row_scales(const QuantizedArray& w) {
  const Array scales = view(w.blocks()(slice(), slice(0, 4)).contiguous(), Dtype::float32).reshape({-1});
  return where(scales > 0, scales, 1);
}

/// Computes a convolution by f(filters), 1 MiB of filters at a time.
template <class F>
Variable in_parts(const QuantizedArray& w, Dtype dtype, int64_t groups, const F& f) {
  // with groups each filter sees only some channels of x, so all weights are used at once
  const int64_t rows = groups > 1 ? w.rows() : w.rows_at_once(dtype);
  std::vector<Variable> parts;
  for (int64_t first = 0; first < w.rows(); first += rows)
    parts.push_back(f(w.part(first, std::min(first + rows, w.rows()))));
  return parts.size() == 1 ? parts[0] : functions::concat(parts, 1);
}

Variables QuantizedLinear::backward(Targets targets, Grads gy) {
  return gradients(targets, [&](int i) {
    return i == 0 ? catenary::apply(node<QuantizedLinearBack>(w_), gy[0])
                  : functions::cast(functions::sum_to(gy[0], input(1).shape()), input(1).dtype());
  });
}

}  // namespace

namespace {

constexpr char kW[] = "W", kBlocks[] = "W_blocks", kKind[] = "W_kind", kRange[] = "x_range";

detail::QuantizedForm form_of(const Serializer& serializer) {
  return {serializer.read_integers(kKind), [&](const std::string& why) { serializer.reject(kKind, why); }};
}

}  // namespace

float InputRange::scale() const {
  const float scale = (high - low) / 255;
  return scale > 0 ? scale : 1;
}
float InputRange::zero() const { return std::nearbyint(-low / scale()); }

/// The filters of a calibrated convolution, in the form that is multiplied.
struct Filters {
  Array values;
  Array scales;  // of int8 filters, whose values are integers: [1, rows, 1…]
};

/// Caches filters made from blocks while these blocks are in use.
class detail::PreparedFilters {
 public:
  Filters of(const QuantizedArray& w, Dtype wide, Dtype operands) {
    const std::lock_guard lock(mutex_);
    if (!blocks_.defined() || !blocks_.is(w.blocks()) || filters_.values.dtype() != operands) {
      filters_ = made_of(w, wide, operands);
      blocks_ = w.blocks();
      w.device().synchronize();  // other threads use other streams
    }
    return filters_;
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    blocks_ = Array();
    filters_ = {};
  }

 private:
  static Filters made_of(const QuantizedArray& w, Dtype wide, Dtype operands) {
    const Array values = dequantize(w, wide);
    if (w.kind() != Quantization::int8) return {values, Array()};
    Shape rows = values.shape();
    std::fill(rows.begin() + 1, rows.end(), 1);
    Shape channels = rows;
    std::swap(channels[0], channels[1]);
    const Array scales = row_scales(w).astype(wide);
    return {rint(values / scales.reshape(rows)).astype(operands).eval(), scales.reshape(channels).eval()};
  }

  std::mutex mutex_;
  Array blocks_;
  Filters filters_;
};

// A copy of W_kind on the host, valid while W_kind is the array it was read from.
struct QuantizableW::Read {
  std::mutex mutex;
  Array blocks, kind;
  std::shared_ptr<const QuantizedArray> value;
  detail::PreparedFilters prepared;
};

QuantizableW::QuantizableW(Parameter w) : W(std::move(w)), read_(std::make_shared<Read>()) {}

void QuantizableW::visit_members(MemberVisitor& visitor) const {
  {
    const std::lock_guard lock(read_->mutex);
    // a copy of this link has quantised W or loaded blocks
    if (W.defined() && W_blocks.defined()) const_cast<Parameter&>(W) = Parameter();
  }
  Link::visit_members(visitor);
}

void QuantizableW::quantize(Quantization kind) {
  set_quantized(catenary::quantize(detail::initialized(*this, W), kind));
}

void QuantizableW::set_quantized(const QuantizedArray& w) {
  const auto before = quantized();
  const Shape expected = before ? before->shape() : W.defined() && W.is_initialized() ? W.shape() : shape_of_W(w);
  if (w.shape() != expected)
    fail<ShapeError>("{}: quantised weights must be {}, not {}", type_name(), expected, w.shape());
  std::vector<int64_t> kind = {static_cast<int64_t>(w.kind())};
  for (const int64_t extent : w.shape()) kind.push_back(extent);
  W_kind = Array::from_host(kind.data(), {static_cast<int64_t>(kind.size())}, Dtype::int64, w.device());
  W_blocks = w.blocks();
  W = Parameter();
}

std::shared_ptr<const QuantizedArray> QuantizableW::quantized() const {
  if (!W_blocks.defined() || !W_kind.defined()) return nullptr;
  const std::lock_guard lock(read_->mutex);
  const auto same = [](const Array& a, const Array& b) { return a.defined() && a.is(b); };
  if (!same(read_->blocks, W_blocks) || !same(read_->kind, W_kind)) {
    const detail::QuantizedForm form(W_kind->to_vector<int64_t>(),
                                     [](const std::string& why) { fail<ValueError>("{}: {}", kKind, why); });
    read_->value = std::make_shared<QuantizedArray>(W_blocks.array(), form.kind, form.shape);
    read_->blocks = W_blocks.array();
    read_->kind = W_kind.array();
  }
  return read_->value;
}

detail::PreparedFilters& QuantizableW::prepared() const { return read_->prepared; }

void QuantizableW::serialize_member(const Serializer& serializer, const std::string& name, Parameter& p) const {
  const bool is_quantized_there =
      name == kW && p.defined() && serializer.loading() && !serializer.contains(kW) && serializer.contains(kBlocks);
  if (!is_quantized_there) return Link::serialize_member(serializer, name, p);
  if (const Shape there = form_of(serializer).shape; p.is_initialized() && there != p.shape())
    serializer.reject(kKind, fmt::format("the quantised weights have shape {}, the parameter {}", there, p.shape()));
  serializer.after_loading([this, &p] {
    if (p.is_initialized())  // loaded blocks arrive on the current device
      for (const Persistent& a : {W_blocks, W_kind}) a = a->to_device(p.device());
    p = Parameter();
  });
}

void QuantizableW::serialize_member(const Serializer& serializer, const std::string& name, Persistent& a) const {
  const bool comes = serializer.loading() && serializer.contains(name) && serializer.contains(kBlocks);
  if (comes && name == kBlocks) {
    serializer.after_loading([read = read_] { read->prepared.forget(); });  // the new blocks may be in the same array
    // check now rather than at the first call
    return serializer(name, a.slot(), [&](Dtype dtype, const Shape& shape) {
      form_of(serializer).check_blocks(dtype, shape, [&](const std::string& why) { serializer.reject(kBlocks, why); });
    });
  }
  if (serializer.loading() && serializer.contains(name) && name == kRange) {
    // a new array, because values read from the old one are cached
    const auto range = std::make_shared<Array>();
    serializer(name, *range, [&](Dtype dtype, const Shape& shape) {
      if (dtype != Dtype::float32 || shape != Shape{2})
        serializer.reject(kRange, fmt::format("a range is float32 of (2,), not {} of {}", dtype, shape));
    });
    return serializer.after_loading([a, range] { a = a.defined() ? range->to_device(a->device()) : *range; });
  }
  // the blocks were checked against the kind before; different kinds can have blocks of equal size
  if (comes && name == kKind && a.defined() && serializer.read_integers(kKind) != a->to_vector<int64_t>())
    serializer.reject(kKind, "the quantised weights there are of another kind or shape than those here");
  Link::serialize_member(serializer, name, a);
}

namespace detail {

QuantizedForm::QuantizedForm(const std::vector<int64_t>& numbers, const Refuse& refuse) {
  if (numbers.empty() || numbers[0] < 0 || numbers[0] >= kQuantizations)
    refuse(fmt::format("this is not a known kind of quantised weights: {}", fmt::join(numbers, ", ")));
  constexpr int64_t kMost = int64_t{1} << 48;
  kind = static_cast<Quantization>(numbers[0]);
  int64_t columns = 1;
  bool possible = numbers.size() > 1 && numbers.size() <= kMaxDims + 1 && numbers[1] >= 0;
  for (std::size_t i = 1; i < numbers.size() && possible; ++i) {
    shape.push_back(numbers[i]);
    if (i == 1) continue;
    possible = numbers[i] >= 0 && (columns == 0 || numbers[i] <= kMost / columns);
    columns *= possible ? numbers[i] : 1;
  }
  if (!possible) refuse(fmt::format("there is no shape ({})", fmt::join(numbers.begin() + 1, numbers.end(), ", ")));
}

void QuantizedForm::check_blocks(Dtype dtype, const Shape& blocks, const Refuse& refuse) const {
  int64_t columns = 1;
  for (int axis = 1; axis < shape.size(); ++axis) columns *= shape[axis];
  if (const Shape expected{shape[0], quantized_row_bytes(kind, columns)}; dtype != Dtype::uint8 || blocks != expected)
    refuse(fmt::format("blocks of {} for weights of {} are uint8 of {}, not {} of {}", quantization_info(kind).name,
                       shape, expected, dtype, blocks));
}

Array initialized(const Link& link, const Parameter& W) {
  if (!W.defined() || !W.is_initialized())
    fail<ValueError>("{}: W must be initialised before it is quantised; call the link once", link.type_name());
  return W.array();
}

Variable quantized_linear(const Variable& x, const QuantizedArray& w, const Variable& b, int n_batch_axes) {
  const int axes = n_batch_axes < 0 ? n_batch_axes + x.ndim() : n_batch_axes;
  if (axes < 1 || axes >= x.ndim())
    fail<ValueError>(
        "linear: n_batch_axes must be at least 1 and less than x's {} axes (or negative: -1 for all but the last), not "
        "{}",
        x.ndim(), n_batch_axes);
  Shape rows;
  int64_t columns = 1;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (axis < axes) {
      rows.push_back(x.shape(axis));
    } else {
      columns *= x.shape(axis);
    }
  }
  rows.push_back(columns);
  const Variable given = axes == x.ndim() - 1 ? x : functions::reshape(x, rows);
  return b.defined() ? apply(node<QuantizedLinear>(w), given, b) : apply(node<QuantizedLinear>(w), given);
}

Variable quantized_rows(const Variable& ids, const QuantizedArray& w, std::optional<int64_t> ignore_label) {
  const functions::detail::Labels known{"embed_id", "x", ids.array(), w.rows(), ignore_label};
  const Array rows = known.pick([&](const Array& at) { return take(w, at, config.dtype.value()); });
  if (!ignore_label) return Variable(rows, false);
  Shape column = ids.shape();
  column.push_back(1);
  return Variable(where(known.counted().reshape(column), rows, 0), false);
}

Variable quantized_convolution(const Variable& x, const QuantizedArray& w, const Variable& b,
                               const functions::ConvolutionOptions& options) {
  const Variable y = in_parts(w, x.dtype(), options.groups, [&](const QuantizedArray& part) {
    return functions::convolution_nd(x, Variable(dequantize(part, x.dtype()), false), options);
  });
  return b.defined() ? functions::bias(y, b, 1) : y;
}

Variable int8_convolution(const Variable& x, const QuantizedArray& w, PreparedFilters& prepared,
                          const InputRange& range, const Variable& b, const functions::ConvolutionOptions& options) {
  if (config.enable_backprop && x.requires_grad())
    return quantized_convolution(apply(node<RoundedToRange>(range), x), w, b, options);
  // bfloat16 represents integers up to 255 exactly, so its matrix units lose nothing
  const Dtype wide = x.dtype() == Dtype::float64 ? Dtype::float64 : Dtype::float32;
  const bool is_whole = w.kind() == Quantization::int8;
  const bool by_units = is_whole && wide == Dtype::float32 && functions::detail::convolves_into_float32(x.array());
  const Dtype operands = by_units ? Dtype::bfloat16 : wide;
  const Variable numbers(numbers_of(x.array().astype(wide), range).astype(operands), false);
  const Filters filters = prepared.of(w, wide, operands);
  const Variable W(filters.values, false);
  const Array sums = by_units ? functions::detail::convolution_in_float32(numbers, W, options)
                              : functions::convolution_nd(numbers, W, options).array();
  const Array y = filters.scales.defined() ? sums * (filters.scales * range.scale()) : sums * range.scale();
  const Variable rounded(y.astype(x.dtype()), false);
  return b.defined() ? functions::bias(rounded, b, 1) : rounded;
}

}  // namespace detail

}  // namespace catenary::links
