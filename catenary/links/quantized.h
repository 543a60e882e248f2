#pragma once
// Links whose weights are quantised: less memory, and no training of them.

#include <cstdint>
#include <memory>
#include <optional>

#include "catenary/array/quantized.h"
#include "catenary/core/fields.h"
#include "catenary/functions/convolution.h"
#include "catenary/links/link.h"

namespace catenary::links {

/// The range of a link's inputs, which are rounded to 256 numbers of it: scale() * (n - zero()), n = 0 … 255, so that 0
/// is one of them. What lies beyond becomes the nearest of them; NaN stays.
struct CT_API InputRange {
  float low = 0;   ///< at most 0
  float high = 0;  ///< at least 0
  float scale() const;
  float zero() const;
};
CT_FIELDS(InputRange, low, high)

namespace detail {
class PreparedFilters;
}  // namespace detail

/// What Linear, EmbedID and ConvolutionND have in common: a W that may be quantised. It is no parameter then but two
/// persistent arrays, which files have in its place: the blocks, and the kind's number (as in Quantization) with the
/// shape. A file of such a link is loaded by one that is not quantised yet, too; copies that share W share the blocks.
class CT_API QuantizableW : public Link {
 public:
  Parameter W;  ///< undefined where it is quantised
  /// The quantised W; null where W is a parameter. What it points to lives as long as the result.
  std::shared_ptr<const QuantizedArray> quantized() const;
  /// W is quantised from now on, and no parameter any more. Throws ValueError for a W that is not initialised.
  void quantize(Quantization kind);
  /// Throws ShapeError for another shape than W's.
  void set_quantized(const QuantizedArray& w);

 protected:
  explicit QuantizableW(Parameter w);
  /// Classes name W, W_blocks and W_kind by CT_MORE_LINKS.
  void visit_members(MemberVisitor& visitor) const override;
  void serialize_member(const Serializer& serializer, const std::string& name, Parameter& parameter) const override;
  void serialize_member(const Serializer& serializer, const std::string& name, Persistent& array) const override;
  /// The shape that W would have with as many inputs as these weights have, where it is not known yet.
  virtual Shape shape_of_W(const QuantizedArray& w) const = 0;
  /// What int8_convolution keeps from call to call.
  detail::PreparedFilters& prepared() const;
  Persistent W_blocks, W_kind;

 private:
  struct Read;
  std::shared_ptr<Read> read_;
};

namespace detail {
/// The parameter's values; throws ValueError, in the link's name, where there are none.
CT_API Array initialized(const Link& link, const Parameter& W);
/// x Wᵀ + b as functions::linear; b may be undefined. Its gradients are those of x and b.
Variable quantized_linear(const Variable& x, const QuantizedArray& w, const Variable& b, int n_batch_axes);
/// As functions::embed_id, in config.dtype.
Variable quantized_rows(const Variable& ids, const QuantizedArray& w, std::optional<std::int64_t> ignore_label);
/// As functions::convolution_nd; b may be undefined.
Variable quantized_convolution(const Variable& x, const QuantizedArray& w, const Variable& b,
                               const functions::ConvolutionOptions& options);
/// As quantized_convolution, of x rounded to the range's numbers. x's gradient is as if it were not rounded within the
/// range, and 0 beyond it. Without a graph the filters are kept as they are multiplied: 4 bytes a weight beside w's
/// blocks, 2 where the device multiplies int8 weights as bfloat16, 8 for float64.
Variable int8_convolution(const Variable& x, const QuantizedArray& w, PreparedFilters& prepared,
                          const InputRange& range, const Variable& b, const functions::ConvolutionOptions& options);
}  // namespace detail

}  // namespace catenary::links
