#pragma once
// Kernel text of a fused program. What a program is made of (its nodes, dtypes, number of axes, and how each operand
// steps along the last axis) is in the text; extents, strides, offsets and constants are arguments, so that few kernels
// serve all shapes.
//
// Two forms of loop: on a GPU a work-item an element over a grid; on an OpenCL device that is a processor a work-group
// of one walks blocks of the last axis in a plain loop, which its compiler vectorises.

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

/// An expression of ops/ over these operands: `a`, `b`, `c`, T and FN(…) replaced.
std::string substitute(std::string_view expression, ops::Reg reg, const std::vector<std::string>& operands);

/// A program (collapsed; at least one axis) as pieces of a kernel's text and as arguments.
class ProgramText {
 public:
  explicit ProgramText(const ops::Program& program);

  /// The structure: programs of one key have one text.
  const KernelKey& key() const { return key_; }
  bool wide() const { return wide_; }
  /// The operations by name, for messages.
  std::string operations() const;

  /// "GLOBAL const f32* RESTRICT p0, …, idx d1"; without a closing comma.
  std::string parameters() const;
  void add_arguments(Args& args) const;

  /// Parts of these, each with a closing comma, for a kernel over several sets of operands: the operands, their names
  /// with a suffix; the constants; and a call's arguments for both.
  std::string operands(const std::string& suffix = {}) const;
  std::string constants() const;
  std::string names() const;
  void add_operands(Args& args) const;
  void add_constants(Args& args) const;
  /// Statements that give the operands without a suffix the values of those with it. 1-d and contiguous only.
  std::string choose(const std::string& suffix, bool declared) const;

  /// Statements. `decompose`: the index index<axis> of each listed axis out of a linear one. `bases`: where each
  /// operand's row begins, from the indices of all axes but the last. `body`: the values v<node> at element j of the
  /// last axis; with `near` it holds for angles of sin, cos and tan that are not far. `far_angles`: far |= 1 where one
  /// is, nothing in a program without these operations.
  std::string decompose(const std::string& linear, const std::vector<int>& axes) const;
  std::string bases() const;
  std::string body(bool near = false) const;
  std::string far_angles() const;
  std::string stores() const;
  std::string extent(int axis) const;

 private:
  /// Those statements of body() that compute wanted nodes.
  std::string lines(const std::vector<bool>& wanted, bool near) const;
  struct Place {
    const ops::Access* access;  // of the program
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
