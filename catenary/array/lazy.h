#pragma once
// Private to the library: deferred elementwise work.
//
// Each thread keeps one open program per device: instructions of one iteration shape, in program order. An operation
// appends and returns a pending array. The program runs when somebody wants a value, when something that is no
// instruction touches memory that it reads or writes, or at a bound. Values that nobody holds any more are not stored.
// There is no graph to walk.

#include <functional>
#include <span>

#include "catenary/array/body.h"
#include "catenary/ops/program.h"

namespace catenary {

/// An operand and the dtype it is brought to before the operation.
struct LazyOperand {
  const Array* array = nullptr;  // null: the scalar
  Scalar scalar = Scalar(false);
  Dtype as = Dtype::float32;
};

namespace lazy {

/// Appends `op` over operands that broadcast to `shape`; the operation happens in the register type of
/// operands[last].as, and its result has `dtype` and lies in memory as the operands do (NumPy's order K).
Array apply(ops::Op op, std::span<const LazyOperand> operands, Dtype dtype, const Shape& shape, const Device& device);
/// A new array without gaps: x's elements as `dtype`, laid out by these strides.
Array cast(const Array& x, Dtype dtype, const Strides& strides);
/// As apply, but the result replaces the elements of `target`, whose shape is `shape`.
void apply_into(const Array& target, ops::Op op, std::span<const LazyOperand> operands, Dtype dtype);
/// target[…] = value, cast and broadcast.
void assign(const Array& target, const LazyOperand& value);

/// Reduces x over `axes` (bits) into a new array of the kept axes, in the order that they have in x's memory, after a
/// cast to `as`. Takes the open program along when x is pending in it; x is not stored when `x` is its last handle.
CT_API Array reduce(Array x, ops::Reduce op, unsigned axes, Dtype as, Dtype result);

/// Applies an elementwise rule, which changes arrays of a segment in place, to every segment: as one piece of work over
/// all of them where all arrays of a segment are C-ordered and of one size, else segment by segment. The rule sees the
/// arrays as 1-d; it is called once or more, and must do the same each time. It may read 0-d arrays beside these, which
/// have their values. Where `unless`, a 0-d bool on the device, is given and true, the arrays stay as they are; nobody
/// waits to know.
CT_API void for_each_segment(const std::vector<std::vector<Array>>& segments,
                             const std::function<void(const std::vector<Array>&)>& rule, const Array& unless = {});

/// Is an elementwise test, which gives bools, true for an element of any of the arrays? 0-d bool on the first one's
/// device. One piece of work for all arrays of one dtype and device, and one that clears the bool. What is said of the
/// rule above holds of the test.
CT_API Array any_of_segments(const std::vector<Array>& arrays, const std::function<Array(const Array&)>& test);

/// Runs the program that `body` waits for, if any.
void settle(ArrayBody& body);
/// Runs what will write into the storage.
void before_read(Storage& storage);
/// Runs what will read from or write into the storage.
void before_write(Storage& storage);
}  // namespace lazy

/// Kernels run so far in this process, for tests.
CT_API std::int64_t kernel_count();

}  // namespace catenary
