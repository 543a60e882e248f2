#pragma once
// Private to onnx/: options of operators that are refused when a file is opened.

#include "catenary/onnx/operators.h"

namespace catenary::onnx {

/// Throws ValueError with the attribute's name if a text is none of an operator's modes, or if a window's size, stride,
/// dilation or padding is impossible.
void check_options(const Call& c);

}  // namespace catenary::onnx
