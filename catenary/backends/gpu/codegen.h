#pragma once
// Kernel text of a fused program. The text contains the program's structure: nodes, dtypes, number of axes, and each
// operand's step along the last axis. Sizes, strides, offsets and constants are arguments, so that few kernels serve
// all shapes.
//
// Loops have two forms. On a GPU, each work-item computes an element of a grid. On an OpenCL processor, a work-group of
// one work-item runs a plain loop over blocks of the last axis, which the compiler vectorises.

#include <string>
#include <vector>

#include "catenary/backends/gpu/driver.h"
#include "catenary/backends/gpu/kernel_key.h"
#include "catenary/kernels/types.h"
#include "catenary/ops/program.h"

namespace catenary::gpu {

using kernels::dtype_of_register;
using kernels::memory_type;
using kernels::register_type;

/// Returns an expression of ops/ with `a`, `b`, `c`, T and FN(…) replaced.
std::string substitute(std::string_view expression, ops::Reg reg, const std::vector<std::string>& operands);

/// A program (collapsed, with at least one axis) as pieces of a kernel's text and as arguments.
class ProgramText {
 public:
  explicit ProgramText(const ops::Program& program);

  /// Returns the structure. Programs with equal keys have equal text.
  const KernelKey& key() const { return key_; }
  bool wide() const { return wide_; }
  /// Returns the operations by name, for messages.
  std::string operations() const;

  /// Returns "GLOBAL const f32* RESTRICT p0, …, idx d1", without a trailing comma.
  std::string parameters() const;
  void add_arguments(Args& args) const;

  /// Return parts of parameters() and of a call's arguments, each with a trailing comma, for a kernel over several sets
  /// of operands: the operands, whose names get a suffix, and the constants.
  std::string operands(const std::string& suffix = {}) const;
  std::string constants() const;
  std::string names() const;
  void add_operands(Args& args) const;
  void add_constants(Args& args) const;
  /// Returns statements that assign the operands with a suffix to those without. For 1-d contiguous programs only.
  std::string choose(const std::string& suffix, bool declared) const;

  /// Return statements:
  /// - decompose: computes index<axis> of each listed axis from a linear index.
  /// - bases: computes the start of each operand's row from the indices of all axes but the last.
  /// - body: computes the values v<node> at element j of the last axis. With `near`, it is valid for small angles of
  ///   sin, cos and tan only.
  /// - far_angles: sets far |= 1 at a large angle; empty for programs without these operations.
  std::string decompose(const std::string& linear, const std::vector<int>& axes) const;
  std::string bases() const;
  std::string body(bool near = false) const;
  std::string far_angles() const;
  std::string stores() const;
  std::string extent(int axis) const;

 private:
  /// Returns the statements of body() that compute wanted nodes.
  std::string lines(const std::vector<bool>& wanted, bool near) const;
  struct Place {
    const ops::Access* access;  // the program's access
    bool read = false, written = false;
    char step = '0';  // along the last axis: '0', '1' or 's'
  };
  static std::string pointer(const Place& place);
  std::int16_t place_of(const ops::Access& access, bool written);
  std::string element(std::int16_t place) const;

  const ops::Program& program_;
  std::vector<Place> places_;
  std::vector<std::int16_t> load_place_, store_place_;
  KernelKey key_{KernelKey::Kind::program};
  bool wide_ = false;
};

}  // namespace catenary::gpu
