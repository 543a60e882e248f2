#pragma once
// Links with quantised weights, which take less memory and cannot be trained.

#include <cstdint>
#include <memory>
#include <optional>

#include "catenary/array/quantized.h"
#include "catenary/core/fields.h"
#include "catenary/functions/convolution.h"
#include "catenary/links/link.h"

namespace catenary::links {

/// A range that a link's inputs are rounded to, as 256 values scale() * (n - zero()), n = 0 … 255, among them 0. Values
/// outside the range become its nearest end. NaN stays.
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

/// The base of Linear, EmbedID and ConvolutionND, whose W may be quantised. Quantised weights are not a parameter but
/// two persistent arrays: the blocks, and the kind (as in Quantization) with the shape. Files store these arrays, and
/// links that are not quantised yet can load such files. Copies that share W share the blocks.
class CT_API QuantizableW : public Link {
 public:
  Parameter W;  ///< undefined if quantised
  /// Returns the quantised W, or null if W is a parameter. The data lives as long as the result.
  std::shared_ptr<const QuantizedArray> quantized() const;
  /// Quantises W, which is no longer a parameter afterwards. Throws ValueError if W is not initialised.
  void quantize(Quantization kind);
  /// Throws ShapeError unless W's shape matches.
  void set_quantized(const QuantizedArray& w);

 protected:
  explicit QuantizableW(Parameter w);
  /// Classes name W, W_blocks and W_kind by CT_MORE_LINKS.
  void visit_members(MemberVisitor& visitor) const override;
  void serialize_member(const Serializer& serializer, const std::string& name, Parameter& parameter) const override;
  void serialize_member(const Serializer& serializer, const std::string& name, Persistent& array) const override;
  /// Returns the shape of W for as many inputs as `w` has, if W's shape is not known yet.
  virtual Shape shape_of_W(const QuantizedArray& w) const = 0;
  /// Data that int8_convolution keeps between calls.
  detail::PreparedFilters& prepared() const;
  Persistent W_blocks, W_kind;

 private:
  struct Read;
  std::shared_ptr<Read> read_;
};

namespace detail {
/// Returns the parameter's values. Throws ValueError with the link's name if it is not initialised.
CT_API Array initialized(const Link& link, const Parameter& W);
/// Computes x Wᵀ + b like functions::linear. b may be undefined. Has gradients for x and b.
Variable quantized_linear(const Variable& x, const QuantizedArray& w, const Variable& b, int n_batch_axes);
/// Like functions::embed_id, with a result of config.dtype.
Variable quantized_rows(const Variable& ids, const QuantizedArray& w, std::optional<std::int64_t> ignore_label);
/// Like functions::convolution_nd. b may be undefined.
Variable quantized_convolution(const Variable& x, const QuantizedArray& w, const Variable& b,
                               const functions::ConvolutionOptions& options);
/// Like quantized_convolution, with x rounded to the range. x's gradient ignores the rounding inside the range and is 0
/// outside. Without a graph, keeps the converted filters between calls: per weight 4 bytes beside w's blocks, 2 if the
/// device multiplies int8 weights as bfloat16, 8 for float64.
Variable int8_convolution(const Variable& x, const QuantizedArray& w, PreparedFilters& prepared,
                          const InputRange& range, const Variable& b, const functions::ConvolutionOptions& options);
}  // namespace detail

}  // namespace catenary::links
