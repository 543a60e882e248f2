#pragma once
// Private to the library: an open program, that is, deferred instructions over one iteration shape, in program order.
// lazy.cpp decides which program an operation joins and when a program must run.

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/lazy.h"
#include "catenary/core/recursive_lock.h"
#include "catenary/device/backend.h"
#include "catenary/ops/program.h"

namespace catenary {

/// Counts one kernel (kernel_count).
void count_kernel();

/// The deferred instructions of one thread on one device. Other threads only ever make the program run, hence the lock.
/// Callers of all functions but run() must hold it.
class OpenProgram final : public DeferredWork {
 public:
  /// Locks a program. Owners of memory are released when a thread gives back its last lock, because their deleters may
  /// take locks of their own: a Python object's deleter takes the interpreter's lock, whose holder may be waiting for
  /// this one.
  class Lock {
   public:
    explicit Lock(OpenProgram& program) : program_(program) { program.lock_.lock(); }
    Lock(const Lock&) = delete;
    ~Lock() {
      if (program_.lock_.depth() == 1 && !program_.released_.empty()) {
        program_.unlock_and_release();
      } else {
        program_.lock_.unlock();
      }
    }

   private:
    OpenProgram& program_;
  };

  void run(const char* reason) override;

  /// Makes room for one more operation over `shape`, which uses at most `new_buffers` new buffers.
  void prepare(const Shape& shape, std::size_t new_buffers, const Device& device);

  /// Returns whether the program must run before `body` can be loaded, because it writes the same memory through
  /// another view.
  bool conflicts_with_read(const ArrayBody& body, const Shape& shape) const;
  /// Returns whether the program must run before `body` can be written, because it reads or writes the same memory
  /// through another view.
  bool conflicts_with_write(const ArrayBody& body) const;
  bool loads_from(const Storage& storage) const;

  /// Returns the node that holds an operand in the register type of `operand.as`. A literal keeps more digits than the
  /// dtype has unless `narrow_literal` is set.
  std::int16_t value_of(const LazyOperand& operand, bool narrow_literal = false);
  /// Appends an operation and returns the node of its result, which has `dtype`.
  std::int16_t operate(ops::Op op, std::span<const LazyOperand> operands, Dtype dtype);

  /// The purpose of a program. With its_values it gets no more operations, and forgets everything when none of its
  /// values has a live handle.
  enum class Use : std::uint8_t { more_operations, its_values };
  void keep_for(Use use);

  /// Marks `body` as pending with this value; disown ends that.
  void own(ArrayBody& body, std::int16_t value);
  void disown(ArrayBody& body);
  /// Makes the value replace the elements of `body`, which has memory.
  void store(const ArrayBody& body, std::int16_t value);

  /// Runs the collected instructions and starts afresh. With `reduction`, also reduces one of the values, over its axes
  /// in `order`.
  void close(const char* reason, ReduceSpec* reduction, const Axes* order = nullptr);
  /// Runs only the instructions that a reduction needs. All instructions stay pending.
  void reduce_ahead(ReduceSpec& reduction, const Axes& order);
  /// With true, marks the following instructions as one rule, which may be larger than other programs; false ends the
  /// rule.
  void collect_rule(bool collecting) { is_rule_ = collecting; }
  /// Runs the instructions collected over the first segment's arrays for all segments. Does nothing and returns false
  /// if the program uses other arrays than those.
  bool close_for(const std::vector<std::vector<Array>>& segments, const View* unless, std::vector<Array>& copies);
  /// Runs a collected test, which writes nothing: sets `flag` if `value` is true for any element of a segment. `value`
  /// is pending and is released.
  bool close_for_any(const std::vector<std::vector<Array>>& segments, Array& value, const View& flag);

 private:
  // `value` is the node that loads the slot, holds its current value, or is stored to it.
  struct LoadSlot {
    Ref<Storage> storage;
    ops::Access access;
    std::int16_t value;
  };
  struct ConstantSlot {
    ops::Constant constant;
    std::int16_t value;
  };
  struct StoreSlot {
    Ref<Storage> storage;
    ops::Access access;
    std::int16_t value;
  };

  std::int16_t append(const ops::Node& node);
  std::int16_t emit(ops::Op op, ops::Reg reg, ops::Reg operand_reg, std::array<std::int16_t, 3> args);
  std::int16_t constant(ops::Constant value, ops::Reg reg);
  std::int16_t load(const ArrayBody& body);
  std::int16_t cast(std::int16_t value, ops::Reg to);
  /// Returns the node of the value as memory of the dtype would hold it: wrapped or rounded if the dtype is narrower
  /// than its register.
  std::int16_t narrow(std::int16_t value, Dtype dtype);
  /// Returns the node that converts a value of dtype `from` to `to`.
  std::int16_t cast_to(std::int16_t value, Dtype from, Dtype to);
  int loads_holding(const Storage& storage) const;
  std::size_t retained_bytes() const;
  /// Returns program_, cleared except for its shape.
  ops::Program& started();
  /// Runs program_, whose stores are set, with the reduction if there is one.
  void launch(const char* reason, ReduceSpec* reduction, const Axes* order);
  /// Copies the nodes that a store or the reduction needs, in order, and renumbers them.
  void extract_needed(ops::Program& program, ReduceSpec* reduction);
  /// Returns where program_ reads and writes in each segment, or nothing if it uses arrays outside the segments.
  std::optional<std::vector<Segment>> places_in(const std::vector<std::vector<Array>>& segments) const;
  void reset();
  void forget_unwanted();
  void unlock_and_release();

  RecursiveLock lock_;
  std::vector<Ref<Storage>> released_;  // foreign memory that nothing here needs any more
  Device device_;
  Shape shape_;
  std::vector<ops::Node> nodes_;
  std::vector<ArrayBody*> owners_;  // for each node, the pending array with its value, if it has a live handle
  std::vector<ConstantSlot> constants_;
  std::vector<LoadSlot> loads_;
  std::vector<StoreSlot> stores_;
  Use use_ = Use::more_operations;
  bool is_rule_ = false;
  int operations_ = 0;
  int live_ = 0;  // number of pending arrays
  std::size_t loaded_bytes_ = 0;
  // Used when the program is closed. Kept to avoid allocating the vectors inside for every small kernel.
  ops::Program program_;
  std::vector<std::pair<ArrayBody*, Ref<Storage>>> results_;
};

/// Returns the calling thread's open program for a device.
OpenProgram& open_program(const Device& device);

}  // namespace catenary
