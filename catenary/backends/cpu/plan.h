#pragma once
// Private: a fused program made ready for the CPU's loops. It runs block by block, so that its values stay in the
// first-level cache.

#include <algorithm>
#include <array>
#include <cstdint>

#include "catenary/backends/cpu/kernel_table.h"
#include "catenary/ops/program.h"

namespace catenary::cpu {

inline constexpr std::int64_t kBlock = 1024;   // elements of a register
inline constexpr std::int64_t kGrain = 16384;  // elements that are worth a thread, of a few sums or products each
inline constexpr std::size_t kRegisterBytes = kBlock * 16;

/// Scratch registers of this thread, kept from program to program.
char* scratch(std::size_t registers);

/// Walks a linear range of the iteration shape in runs along its last axis.
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

/// A program made ready: where each node's block of values lies, and which loop computes it.
class Plan {
 public:
  /// `kept_node`: one whose values are wanted though no store has them (block gives them), or -1. `any_begin`: blocks
  /// begin anywhere. The program must stay.
  Plan(const ops::Program& program, int kept_node, bool any_begin = false);

  /// Registers that a thread needs for a block.
  int registers() const { return registers_; }
  /// The values that are the same in every block: constants, loads of one element and of one row.
  void start(char* registers) const;
  /// Elements of a block: whole rows, where an operand is the same in each row.
  std::int64_t step() const { return step_; }
  /// Blocks that are worth a thread: the fewer, the more there is to compute for an element.
  std::int64_t grain() const;
  /// Computes elements [begin, begin + n) of the linear iteration and stores them. Returns where node `wanted` has its
  /// values. A block begins at a multiple of step(), or of the last axis where that is no longer than kBlock; or
  /// anywhere, where that was announced.
  const void* block(std::int64_t begin, std::int64_t n, char* registers, int wanted) const;
  /// To be called by each thread after its blocks: what it wrote past the caches is there for the others.
  void finish() const;
  /// Where element `begin` of a node lies if nothing but that node's values, as they lie in memory, is wanted of the
  /// program; else null.
  const void* in_memory(int node, std::int64_t begin) const;

 private:
  static constexpr int kMaxNodes = 96;
  enum class Kind : std::uint8_t { constant, uniform, repeated, in_memory, gathered, computed, joined };
  using Args = std::array<std::int16_t, 3>;
  using LastUse = std::array<int, kMaxNodes>;  // of each node: the last one that reads it

  std::int64_t filled() const { return std::min(step_, size_); }
  /// A product that nothing but one sum or difference reads is computed along with that: a loop less, the same bits.
  void join_products(int kept_node, int n);
  /// A computed value whose memory looks like its register is written there at once, unless a later node still reads
  /// that memory; or past the caches, where it is so large that none has it when it is read again.
  void choose_direct(int s, const LastUse& last_use, int n, bool may_stream);
  Kind kind_of(const ops::Node& node) const;
  /// Is it the same in every block?
  static bool stays(Kind kind) { return kind == Kind::constant || kind == Kind::uniform || kind == Kind::repeated; }
  void assign_registers(const LastUse& last_use, int n);
  bool operand_of_other_size(int i, int r) const;
  void gather(const ops::Access& access, std::int64_t begin, std::int64_t n, char* out, int size) const;
  void scatter(const ops::Access& access, std::int64_t begin, std::int64_t n, const char* in, int size) const;

  const ops::Program& program_;
  const KernelTable& table_;
  std::array<Kind, kMaxNodes> kind_;
  std::array<Args, kMaxNodes> args_;        // what a node's loop reads
  std::array<OpKernel, kMaxNodes> kernel_;  // and the loop, where it is computed
  std::array<int, kMaxNodes> register_;
  std::array<int, kMaxNodes> direct_store_;  // the store that a node writes by itself, or -1
  std::int64_t streamed_ = 0;                // a bit for each store that is written past the caches
  int registers_ = 0;
  std::int64_t step_ = kBlock, size_;
  bool any_begin_;
};

}  // namespace catenary::cpu
