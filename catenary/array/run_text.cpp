#include "catenary/array/run_text.h"

#include <vector>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/device/primitives.h"

namespace catenary::detail {

namespace {
Dtype bits_of_size(std::size_t bytes) {
  return bytes == 1 ? Dtype::uint8 : bytes == 2 ? Dtype::uint16 : bytes == 4 ? Dtype::uint32 : Dtype::uint64;
}
}  // namespace

void run_text(const char* text, const char* kernel, std::int64_t units, std::initializer_list<TextOperand> operands) {
  using Kind = TextOperand::Kind;
  const Array* first = nullptr;
  std::vector<View> views;
  views.reserve(operands.size());  // arguments point to them
  for (const TextOperand& operand : operands) {
    if (!operand.array) continue;
    if (!first) first = operand.array;
    check_same_device(*first, *operand.array, kernel);
    views.push_back(operand.kind == Kind::reads ? readable(*operand.array) : writable(*operand.array));
    if (operand.bits) views.back().dtype = bits_of_size(itemsize(operand.array->dtype()));
  }
  std::vector<TextArgument> arguments;
  auto view = views.begin();
  for (const TextOperand& operand : operands) {
    if (operand.array) arguments.emplace_back(*view++);
    for (const std::int64_t n : operand.integers) arguments.emplace_back(n);
    if (operand.kind == Kind::real) arguments.emplace_back(operand.real);
  }
  compute(first->device(), primitives::RunText{text, kernel, views.front().dtype, arguments, units});
}

Array empty_as(const Array& x, const Shape& shape) {
  const Array out = Array::empty(shape, x.dtype(), x.device());
  return x.is_contiguous() ? out : out.as_strided(shape, strides_like(shape, x.strides()));
}

}  // namespace catenary::detail
