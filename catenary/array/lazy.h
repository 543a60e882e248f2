#pragma once
// Private to the library: deferred elementwise work.
//
// Each thread keeps one open program per device: a list of instructions over one iteration shape, in program order. An
// operation appends instructions and returns a pending array. The program runs when a value is needed, when work
// outside the program touches memory that the program reads or writes, or when it reaches its size limit. Values
// without a live handle are not stored. There is no graph to walk.

#include <functional>
#include <span>

#include "catenary/array/body.h"
#include "catenary/ops/program.h"

namespace catenary {

/// An operand and the dtype it is cast to before the operation.
struct LazyOperand {
  const Array* array = nullptr;  // null: the scalar is the operand
  Scalar scalar = Scalar(false);
  Dtype as = Dtype::float32;
};

namespace lazy {

/// Appends `op` over operands that broadcast to `shape`. The operation computes in the register type of
/// operands[last].as. The result has dtype `dtype` and the memory order of the operands (NumPy's order K).
Array apply(ops::Op op, std::span<const LazyOperand> operands, Dtype dtype, const Shape& shape, const Device& device);
/// Returns a new array with x's elements as `dtype`, without gaps and in the memory order of `strides`.
Array cast(const Array& x, Dtype dtype, const Strides& strides);
/// Appends `op` as apply does, and writes the result to `target`, whose shape is the iteration shape.
void apply_into(const Array& target, ops::Op op, std::span<const LazyOperand> operands, Dtype dtype);
/// Appends target[…] = value, cast and broadcast.
void assign(const Array& target, const LazyOperand& value);

/// Reduces x over `axes` (bits) after a cast to `as`. Returns a new array with the kept axes in the order they have in
/// x's memory. If x is pending, the reduction joins its program, and x is not stored if `x` is its last handle.
CT_API Array reduce(Array x, ops::Reduce op, unsigned axes, Dtype as, Dtype result);

/// Applies an elementwise rule, which changes the arrays of a segment in place, to every segment. Runs as one piece of
/// work if all arrays of a segment are C-ordered and of equal size, else segment by segment. The rule sees the arrays
/// as 1-d. It is called once or more and must do the same each time. It may also read 0-d arrays outside the segments.
/// If the 0-d device bool `unless` is given and true, the arrays stay unchanged; the host does not wait for it.
CT_API void for_each_segment(const std::vector<std::vector<Array>>& segments,
                             const std::function<void(const std::vector<Array>&)>& rule, const Array& unless = {});

/// Returns whether an elementwise test, which returns bools, is true for any element of any array, as a 0-d bool on the
/// first array's device. Runs one piece of work for all arrays of one dtype and device, and one that clears the bool.
/// The test is restricted like the rule of for_each_segment.
CT_API Array any_of_segments(const std::vector<Array>& arrays, const std::function<Array(const Array&)>& test);

/// Runs the program in which `body` is pending, if any.
void settle(ArrayBody& body);
/// Runs pending work that will write to the storage.
void before_read(Storage& storage);
/// Runs pending work that will read from or write to the storage.
void before_write(Storage& storage);
}  // namespace lazy

/// Returns the number of kernels that this process has run, for tests.
CT_API std::int64_t kernel_count();

}  // namespace catenary
