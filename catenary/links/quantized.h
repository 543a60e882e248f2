#pragma once
// Links whose weights are quantised: less memory, and no training of them.

#include <cstdint>
#include <memory>
#include <optional>

#include "catenary/array/quantized.h"
#include "catenary/functions/convolution.h"
#include "catenary/links/link.h"

namespace catenary::links {

/// What Linear, EmbedID and ConvolutionND have in common: a W that may be quantised. It is no parameter then but two
/// persistent arrays, which files have in its place: the blocks, and the kind's number (as in Quantization) with the
/// shape. A file of such a link is loaded by one that is not quantised yet, too.
class CT_API QuantizableW : public Link {
 public:
  /// The quantised W; null where W is a parameter. What it points to lives as long as the result.
  std::shared_ptr<const QuantizedArray> quantized() const;

 protected:
  QuantizableW();
  void serialize_member(const Serializer& serializer, const std::string& name, Parameter& parameter) const override;
  void serialize_member(const Serializer& serializer, const std::string& name, Persistent& array) const override;
  void set_blocks(const QuantizedArray& w) const;
  /// The shape of what is there, quantised or not; nothing where it is not known yet.
  std::optional<Shape> shape_of_W(const Parameter& W) const;
  Persistent W_blocks, W_kind;

 private:
  struct Read;
  std::shared_ptr<Read> read_;
};

namespace detail {
/// The parameter's values; throws ValueError, in the link's name, where there are none.
CT_API Array initialized(const Link& link, const Parameter& W);
/// Throws ShapeError, in the link's name, for weights of another shape.
void check_quantized(const Link& link, const QuantizedArray& w, const Shape& expected);
/// x Wᵀ + b as functions::linear; b may be undefined. Its gradients are those of x and b.
Variable quantized_linear(const Variable& x, const QuantizedArray& w, const Variable& b, int n_batch_axes);
/// As functions::embed_id, in config.dtype.
Variable quantized_rows(const Variable& ids, const QuantizedArray& w, std::optional<std::int64_t> ignore_label);
/// As functions::convolution_nd; b may be undefined.
Variable quantized_convolution(const Variable& x, const QuantizedArray& w, const Variable& b,
                               const functions::ConvolutionOptions& options);
}  // namespace detail

}  // namespace catenary::links
