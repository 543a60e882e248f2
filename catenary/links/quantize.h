#pragma once
// A model's weights, quantised.

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
  /// Links whose paths ("/blocks/0/fc1") one of these regular expressions is found in stay as they are.
  std::vector<std::string> keep = {};
};
CT_FIELDS(QuantizeOptions, keep)
/// What became of a weight.
struct QuantizedWeight {
  std::string path;  ///< of the link
  Shape shape;
  std::int64_t bytes_before, bytes_after;
  double error;  ///< root of the mean square of the differences, by that of the weights
};
/// Quantises the weights of each Linear, EmbedID and ConvolutionND in a model that has them as parameters; biases and
/// normalisations stay. Tells what it did, in the model's order. Throws ValueError for a weight that is not
/// initialised, an inf or a NaN, and a regular expression that is none; then nothing has changed.
CT_API std::vector<QuantizedWeight> quantize(Link& model, Quantization kind, const QuantizeOptions& options = {});

/// What calibrate found.
struct CalibratedInput {
  std::string path;  ///< of the link
  InputRange range;
};
/// Has each ConvolutionND with quantised weights round its input to 8 bits: calls `run`, which calls the model with
/// data as it will see, and gives each the least and the greatest number that it saw. Ranges that are there are
/// replaced; those of links that `keep` names are let go of. Tells them in the model's order. Throws ValueError for a
/// link that was not called, an inf or a NaN, and a regular expression that is none; then nothing has changed.
CT_API std::vector<CalibratedInput> calibrate(Link& model, const std::function<void()>& run,
                                              const QuantizeOptions& options = {});

}  // namespace catenary::links
