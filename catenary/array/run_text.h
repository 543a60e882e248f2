#pragma once
// Private to the library: kernels of texts on arrays (primitives::RunText). Such a kernel is a text in kernels/ and a
// row in backends/cpu/texts.simd.cpp, and a call:
//
//   run_text("resize", "resize", y.size(), {reads(x), writes(y), x.shape(), x.strides(), 0.5});

#include <concepts>
#include <initializer_list>

#include "catenary/array/array.h"

namespace catenary::detail {

/// What a kernel is given: an array that it reads or writes, all entries of a shape or of strides, or a number.
struct TextOperand {
  enum class Kind : std::uint8_t { reads, writes, integers, real } kind;
  const Array* array = nullptr;
  bool bits = false;  ///< an array's elements are passed as unsigned integers of their size
  Dims integers = {};
  double real = 0;

  TextOperand(Kind k, const Array& a, bool as_bits = false) : kind(k), array(&a), bits(as_bits) {}
  TextOperand(const Dims& entries) : kind(Kind::integers), integers(entries) {}
  TextOperand(std::integral auto n) : TextOperand(Dims{static_cast<std::int64_t>(n)}) {}
  TextOperand(double x) : kind(Kind::real), real(x) {}
};
inline TextOperand reads(const Array& a) { return {TextOperand::Kind::reads, a}; }
inline TextOperand writes(const Array& a) { return {TextOperand::Kind::writes, a}; }
/// For kernels that move elements of any dtype and do not look at them: four texts instead of thirteen.
inline TextOperand reads_bits(const Array& a) { return {TextOperand::Kind::reads, a, true}; }
inline TextOperand writes_bits(const Array& a) { return {TextOperand::Kind::writes, a, true}; }

/// Runs a kernel for so many units. The text is compiled for the dtype of the first array, and runs on its device.
/// Throws DeviceError for arrays on several devices.
void run_text(const char* text, const char* kernel, std::int64_t units, std::initializer_list<TextOperand> operands);

/// An array for a result of shape `shape`, which lies in memory as x does: channels-last, for instance. As many axes.
Array empty_as(const Array& x, const Shape& shape);

}  // namespace catenary::detail
