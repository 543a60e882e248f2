#include "catenary/onnx/options.h"

#include <algorithm>
#include <initializer_list>
#include <map>

namespace catenary::onnx {

namespace {

/// The values that an attribute of text may have.
struct TextOption {
  const char* attribute;
  std::vector<std::string_view> values;
};

const std::vector<TextOption>* texts_of(const std::string& type) {
  static const TextOption kAutoPad = {"auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}};
  static const TextOption kBlocks = {"mode", {"DCR", "CRD"}}, kLoss = {"reduction", {"none", "mean", "sum"}};
  static const TextOption kScatter = {"reduction", {"none", "add", "mul", "max", "min"}};
  static const TextOption kDirection = {"direction", {"forward", "reverse", "bidirectional"}};
  static const std::map<std::string, std::vector<TextOption>> options = {
      {"AveragePool", {kAutoPad}},
      {"BitShift", {{"direction", {"LEFT", "RIGHT"}}}},
      {"Conv", {kAutoPad}},
      {"ConvInteger", {kAutoPad}},
      {"ConvTranspose", {kAutoPad}},
      {"DepthToSpace", {kBlocks}},
      {"FusedConv", {kAutoPad}},
      {"GRU", {kDirection}},
      {"Gelu", {{"approximate", {"none", "tanh"}}}},
      {"GridSample",
       {{"mode", {"linear", "nearest", "cubic", "bilinear", "bicubic"}},
        {"padding_mode", {"zeros", "border", "reflection"}}}},
      {"LSTM", {kDirection}},
      {"LpPool", {kAutoPad}},
      {"MaxPool", {kAutoPad}},
      {"NegativeLogLikelihoodLoss", {kLoss}},
      {"Pad", {{"mode", {"constant", "reflect", "edge", "wrap"}}}},
      {"QLinearConv", {kAutoPad}},
      {"RNN", {kDirection}},
      {"Resize",
       {{"mode", {"nearest", "linear", "cubic"}},
        {"coordinate_transformation_mode",
         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
          "tf_half_pixel_for_nn", "tf_crop_and_resize"}},
        {"nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}},
        {"keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}}}},
      {"RoiAlign", {{"mode", {"avg", "max"}}, {"coordinate_transformation_mode", {"half_pixel", "output_half_pixel"}}}},
      {"ScatterElements", {kScatter}},
      {"ScatterND", {kScatter}},
      {"SoftmaxCrossEntropyLoss", {kLoss}},
      {"SpaceToDepth", {kBlocks}},
      {"TensorScatter", {{"mode", {"linear", "circular"}}}},
      {"Upsample", {{"mode", {"nearest", "linear", "cubic"}}}},
  };
  const auto found = options.find(type);
  return found == options.end() ? nullptr : &found->second;
}

/// Throws ValueError if an entry of a list is less than `least`.
void check_least(const Call& c, const char* name, std::int64_t least) {
  for (const std::int64_t value : c.list(name).value_or(Integers()))
    if (value < least)
      c.fail("attribute '{}' has {}, which is not supported: at least {} is needed", name, value, least);
}

}  // namespace

void check_options(const Call& c) {
  const std::string& type = c.node().type;
  const std::vector<TextOption>* texts = texts_of(type);
  if (!texts) return;
  for (const TextOption& option : *texts) {
    const std::string value = c.text(option.attribute, std::string(option.values[0]));
    if (!std::ranges::count(option.values, value))
      c.fail("{} '{}' is not supported, only {} are", option.attribute, value, fmt::join(option.values, ", "));
  }
  if (texts->front().attribute != std::string_view("auto_pad")) return;
  check_least(c, "kernel_shape", 1);
  check_least(c, "strides", 1);
  check_least(c, "dilations", 1);
  check_least(c, "pads", 0);
  if (type.ends_with("Pool") && !c.list("kernel_shape")) c.fail("attribute 'kernel_shape' is missing");
}

}  // namespace catenary::onnx
