#pragma once
// Quantises a model's weights.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "catenary/core/fields.h"
#include "catenary/core/quantization.h"
#include "catenary/links/link.h"
#include "catenary/links/quantized.h"

namespace catenary::links {

/// Options of quantize.
struct QuantizeOptions {
  /// Regular expressions. Links whose path ("/blocks/0/fc1") matches one are not quantised.
  std::vector<std::string> keep = {};
};
CT_FIELDS(QuantizeOptions, keep)
/// A quantised weight.
struct QuantizedWeight {
  std::string path;  ///< of the link
  Shape shape;
  std::int64_t bytes_before, bytes_after;
  double error;  ///< RMS of the differences divided by the RMS of the weights
};
/// Quantises the weights of every Linear, EmbedID and ConvolutionND with a parameter W. Biases and normalizations stay.
/// Returns the quantised weights in the model's order. Throws ValueError for uninitialised weights, for inf or NaN, and
/// for invalid regular expressions, before changing anything.
CT_API std::vector<QuantizedWeight> quantize(Link& model, Quantization kind, const QuantizeOptions& options = {});

/// The input range found by calibrate.
struct CalibratedInput {
  std::string path;  ///< of the link
  InputRange range;
};
/// Makes each ConvolutionND with quantised weights round its input to 8 bits. Calls `run`, which must call the model
/// with typical data, and sets each link's range to the smallest and largest input seen. Replaces existing ranges, and
/// removes those of links that `keep` names. Returns the ranges in the model's order. Throws ValueError for links that
/// were not called, for inf or NaN, and for invalid regular expressions, before changing anything.
CT_API std::vector<CalibratedInput> calibrate(Link& model, const std::function<void()>& run,
                                              const QuantizeOptions& options = {});

}  // namespace catenary::links
