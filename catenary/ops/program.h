#pragma once
// A fused elementwise program: a straight line of nodes over one iteration shape, in program order.

#include <cstdint>
#include <vector>

#include "catenary/core/shape.h"
#include "catenary/ops/op.h"

namespace catenary::ops {

/// One value of a program. Its operands come before it.
struct Node {
  Op op = {};                  ///< a constant, where nothing is said
  Reg reg = Reg::f32;          ///< type of the value
  Reg operand_reg = Reg::f32;  ///< type that the operands are in (for `where`: of b and c)
  std::int16_t args[3] = {-1, -1, -1};
  std::int16_t slot = -1;  ///< load: which of the program's loads; constant: which of its constants
};

/// Where a load reads or a store writes: an element per point of the iteration shape.
struct Access {
  void* handle = nullptr;   ///< the device's buffer (a host pointer on the CPU)
  std::int64_t offset = 0;  ///< in elements, of the point (0, 0, …)
  Dtype dtype = Dtype::float32;
  Strides strides;  ///< in elements, one an axis of the iteration shape
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
    double f;  ///< of a complex number the real part
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

/// Brings the axes into another order.
CT_API void permute(Program& program, const Axes& order);

/// Brings the axes into the order of memory (memory_order), merges neighbouring ones that every load and store walks
/// through evenly, and drops axes of extent 1.
void collapse(Program& program);

/// Merges neighbouring axes for a reduction over `axes` (one bit an axis of the program's shape): axes that stay are
/// not merged with axes that go. Returns for each new axis whether it goes.
std::vector<bool> collapse_for_reduction(Program& program, unsigned axes);

}  // namespace catenary::ops
