#pragma once
// A fused elementwise program: a sequence of nodes over one iteration shape, without branches.

#include <cstdint>
#include <vector>

#include "catenary/core/shape.h"
#include "catenary/ops/op.h"

namespace catenary::ops {

/// A value of a program. Its operands come before it.
struct Node {
  Op op = {};                  ///< a constant by default
  Reg reg = Reg::f32;          ///< type of the value
  Reg operand_reg = Reg::f32;  ///< type of the operands (for `where`: of b and c)
  std::int16_t args[3] = {-1, -1, -1};
  std::int16_t slot = -1;  ///< index into the program's loads (load) or constants (constant)
};

/// The memory of a load or store: one element for each point of the iteration shape.
struct Access {
  void* handle = nullptr;   ///< the device's buffer (a host pointer on the CPU)
  std::int64_t offset = 0;  ///< in elements, of the point (0, 0, …)
  Dtype dtype = Dtype::float32;
  Strides strides;  ///< in elements, one for each axis of the iteration shape
};

/// A value that a program stores.
struct Store {
  std::int16_t value = -1;
  Access to;
};

/// A constant in the register type of its node.
struct Constant {
  union {
    std::int64_t i;
    std::uint64_t u;
    double f;  ///< the real part of a complex number
  };
  double imag = 0;
};

/// Operations over one shape, in order.
struct Program {
  Shape shape;
  std::vector<Node> nodes;
  std::vector<Access> loads;
  std::vector<Constant> constants;
  std::vector<Store> stores;
};

/// Permutes the axes.
CT_API void permute(Program& program, const Axes& order);

/// Sorts the axes by memory order (memory_order), merges neighbouring axes that have uniform strides in every load and
/// store, and drops axes of size 1.
void collapse(Program& program);

/// Merges neighbouring axes for a reduction over `axes` (bit mask of the program's axes). Kept and reduced axes are not
/// merged with each other. Returns for each new axis whether it is reduced.
std::vector<bool> collapse_for_reduction(Program& program, unsigned axes);

}  // namespace catenary::ops
