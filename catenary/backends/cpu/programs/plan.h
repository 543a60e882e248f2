#pragma once
// Private: a fused program prepared for the CPU's loops. It runs block by block, so that its values stay in the L1
// cache.

#include <algorithm>
#include <array>
#include <cstdint>

#include "catenary/backends/cpu/programs/kernel_table.h"
#include "catenary/ops/program.h"

namespace catenary::cpu {

inline constexpr std::int64_t kBlock = 1024;   // elements of a register
inline constexpr std::int64_t kGrain = 16384;  // minimum elements for a thread, at a few sums or products each
inline constexpr std::size_t kRegisterBytes = kBlock * 16;

/// Returns scratch registers of this thread, kept from program to program.
char* scratch(std::size_t registers);

/// Iterates over a linear range of the iteration shape in runs along its last axis.
template <class F>
void for_each_run(const Shape& shape, std::int64_t begin, std::int64_t n, F&& f) {
  const int last = shape.size() - 1;
  if (last < 0) return f(static_cast<const std::int64_t*>(nullptr), std::int64_t{0}, n);
  std::int64_t index[kMaxDims];
  std::int64_t rest = begin;
  for (int axis = last; axis >= 0; --axis) {
    index[axis] = rest % shape[axis];
    rest /= shape[axis];
  }
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t length = std::min(n - done, shape[last] - index[last]);
    f(static_cast<const std::int64_t*>(index), done, length);
    done += length;
    index[last] += length;
    for (int axis = last; axis > 0 && index[axis] == shape[axis]; --axis) {
      index[axis] = 0;
      ++index[axis - 1];
    }
  }
}

inline std::int64_t element_at(const Strides& strides, const std::int64_t* index) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < strides.size(); ++axis) offset += index[axis] * strides[axis];
  return offset;
}

/// A prepared program: the memory of each node's block of values, and the loop that computes it.
class Plan {
 public:
  /// Prepares a program, which must outlive the plan. `kept_node` is a node whose values block() must return although
  /// no store contains them, or -1. `any_begin`: blocks may begin anywhere.
  Plan(const ops::Program& program, int kept_node, bool any_begin = false);

  /// Returns the number of registers that a thread needs for a block.
  int registers() const { return registers_; }
  /// Computes the values that all blocks share: constants, and loads of one element or one row.
  void start(char* registers) const;
  /// Returns the number of elements in a block: whole rows if an operand repeats in each row.
  std::int64_t step() const { return step_; }
  /// Returns the minimum number of blocks for a thread, which falls with the cost of an element.
  std::int64_t grain() const;
  /// Computes elements [begin, begin + n) of the linear iteration and stores them. Returns the address of node
  /// `wanted`'s values. `begin` must be a multiple of step(), or of the last axis if that is no longer than kBlock,
  /// unless any_begin is set.
  const void* block(std::int64_t begin, std::int64_t n, char* registers, int wanted) const;
  /// Makes this thread's streaming writes visible to other threads. Each thread must call it after its blocks.
  void finish() const;
  /// Returns the address of element `begin` of a node if the program needs nothing but this node's values as they are
  /// in memory, otherwise null.
  const void* in_memory(int node, std::int64_t begin) const;

 private:
  static constexpr int kMaxNodes = 96;
  enum class Kind : std::uint8_t { constant, uniform, repeated, in_memory, gathered, computed, joined };
  using Args = std::array<std::int16_t, 3>;
  using LastUse = std::array<int, kMaxNodes>;  // for each node, the last node that reads it

  std::int64_t filled() const { return std::min(step_, size_); }
  /// Computes a product together with the sum or difference that is its only reader: one loop less, identical bits.
  void join_products(int kept_node, int n);
  /// Writes a computed value directly to its output if the formats agree, unless a later node still reads that memory.
  /// Large outputs bypass the caches, which cannot hold them until they are read again.
  void choose_direct(int s, const LastUse& last_use, int n, bool may_stream);
  Kind kind_of(const ops::Node& node) const;
  /// Returns whether all blocks share the value.
  static bool stays(Kind kind) { return kind == Kind::constant || kind == Kind::uniform || kind == Kind::repeated; }
  void assign_registers(const LastUse& last_use, int n);
  bool operand_of_other_size(int i, int r) const;
  void gather(const ops::Access& access, std::int64_t begin, std::int64_t n, char* out, int size) const;
  void scatter(const ops::Access& access, std::int64_t begin, std::int64_t n, const char* in, int size) const;

  const ops::Program& program_;
  const KernelTable& table_;
  std::array<Kind, kMaxNodes> kind_;
  std::array<Args, kMaxNodes> args_;        // inputs of a node's loop
  std::array<OpKernel, kMaxNodes> kernel_;  // the loop, for computed nodes
  std::array<int, kMaxNodes> register_;
  std::array<int, kMaxNodes> direct_store_;  // the store that a node writes directly, or -1
  std::int64_t streamed_ = 0;                // bits of the stores that bypass the caches
  int registers_ = 0;
  std::int64_t step_ = kBlock, size_;
  bool any_begin_;
};

}  // namespace catenary::cpu
