#pragma once
// Private to the library: runs kernels from source texts on arrays (primitives::RunText). Such a kernel needs a text in
// kernels/, a row in backends/cpu/texts/texts.simd.cpp, and a call:
//
//   run_text("resize", "resize", y.size(), {reads(x), writes(y), x.shape(), x.strides(), 0.5});

#include <concepts>
#include <initializer_list>

#include "catenary/array/array.h"

namespace catenary::detail {

/// An argument of a kernel: an array that it reads or writes, all entries of a shape or of strides, or a number.
struct TextOperand {
  enum class Kind : std::uint8_t { reads, writes, integers, real } kind;
  const Array* array = nullptr;
  bool bits = false;  ///< passes an array's elements as unsigned integers of equal size
  Dims integers = {};
  double real = 0;

  TextOperand(Kind k, const Array& a, bool as_bits = false) : kind(k), array(&a), bits(as_bits) {}
  TextOperand(const Dims& entries) : kind(Kind::integers), integers(entries) {}
  TextOperand(std::integral auto n) : TextOperand(Dims{static_cast<std::int64_t>(n)}) {}
  TextOperand(double x) : kind(Kind::real), real(x) {}
};
inline TextOperand reads(const Array& a) { return {TextOperand::Kind::reads, a}; }
inline TextOperand writes(const Array& a) { return {TextOperand::Kind::writes, a}; }
/// Make operands for kernels that move elements of any dtype without interpreting them. Four texts then suffice instead
/// of thirteen.
inline TextOperand reads_bits(const Array& a) { return {TextOperand::Kind::reads, a, true}; }
inline TextOperand writes_bits(const Array& a) { return {TextOperand::Kind::writes, a, true}; }

/// Runs `units` work-items of a kernel. The text is compiled for the dtype of the first array and runs on its device.
/// Throws DeviceError for arrays on several devices.
void run_text(const char* text, const char* kernel, std::int64_t units, std::initializer_list<TextOperand> operands);

/// Returns a new array of shape `shape`, with as many axes and the memory order of x, for instance channels-last.
Array empty_as(const Array& x, const Shape& shape);

}  // namespace catenary::detail
