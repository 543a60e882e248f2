#pragma once
// Private to the library: an open program, that is, deferred instructions over one iteration shape, in program order.
// Which program an operation joins, and when it must run, is decided in lazy.cpp.

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

/// One thread's deferred instructions on one device. Other threads come in only to have it run, hence the lock, which
/// whoever calls anything but run() holds.
class OpenProgram final : public DeferredWork {
 public:
  /// Owners of memory are let go of when the last lock of a thread has been given back: what their deleters do may take
  /// locks of its own (a Python object's takes the interpreter's, which another thread may hold while it waits here).
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

  /// Makes room for one more operation over `shape`, which brings `new_buffers` at most.
  void prepare(const Shape& shape, std::size_t new_buffers, const Device& device);

  /// Must the program run before `body` can be loaded? So it is when it writes elements of its by
  /// another view.
  bool conflicts_with_read(const ArrayBody& body, const Shape& shape) const;
  /// Must the program run before `body` can be written? So it is when it reads or writes elements of its by another
  /// view.
  bool conflicts_with_write(const ArrayBody& body) const;
  bool loads_from(const Storage& storage) const;

  /// The node that holds an operand in the register type of `operand.as`; a literal keeps digits that the dtype has
  /// not, unless they are to go.
  std::int16_t value_of(const LazyOperand& operand, bool narrow_literal = false);
  /// Appends an operation; returns the node of its result, which has `dtype`.
  std::int16_t operate(ops::Op op, std::span<const LazyOperand> operands, Dtype dtype);

  /// What it is there for: a program that gets no more operations forgets all when nobody holds any of its values.
  enum class Use : std::uint8_t { more_operations, its_values };
  void keep_for(Use use);

  /// From now on `body` is pending, with this value; disown: no longer.
  void own(ArrayBody& body, std::int16_t value);
  void disown(ArrayBody& body);
  /// The value replaces the elements of `body`, which has memory.
  void store(const ArrayBody& body, std::int16_t value);

  /// Runs what was collected, with a reduction of one of its values when `reduction` is given, which is over the axes
  /// in this order, and starts afresh.
  void close(const char* reason, ReduceSpec* reduction, const Axes* order = nullptr);
  /// Runs what one reduction needs. All that was collected stays pending.
  void reduce_ahead(ReduceSpec& reduction, const Axes& order);
  /// Until it is called with false, what is collected is one rule, which may be larger than other programs.
  void collect_rule(bool collecting) { is_rule_ = collecting; }
  /// Runs what was collected over the arrays of the first segment for all segments. False, and nothing has happened,
  /// when the program works on anything but those arrays.
  bool close_for(const std::vector<std::vector<Array>>& segments, const View* unless, std::vector<Array>& copies);
  /// The same of a rule that writes nothing: `flag` becomes true where `value`, which is pending and let go of, is true
  /// for an element of a segment.
  bool close_for_any(const std::vector<std::vector<Array>>& segments, Array& value, const View& flag);

 private:
  // `value` is the node that loads it, that is it, or that is stored.
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
  /// The node of the value that memory of the dtype would hold: wrapped or rounded where it is narrower than its
  /// register.
  std::int16_t narrow(std::int16_t value, Dtype dtype);
  /// The node of a value of dtype `from` as `to`.
  std::int16_t cast_to(std::int16_t value, Dtype from, Dtype to);
  int loads_holding(const Storage& storage) const;
  std::size_t retained_bytes() const;
  /// program_ without anything but the shape.
  ops::Program& started();
  /// Runs program_, whose stores are set, with the reduction, if there is one.
  void launch(const char* reason, ReduceSpec* reduction, const Axes* order);
  /// Copies the nodes that a store or the reduction needs, in order, and renumbers them.
  void extract_needed(ops::Program& program, ReduceSpec* reduction);
  /// Where program_ reads and writes in each segment; nothing where it works on anything but their arrays.
  std::optional<std::vector<Segment>> places_in(const std::vector<std::vector<Array>>& segments) const;
  void reset();
  void forget_unwanted();
  void unlock_and_release();

  RecursiveLock lock_;
  std::vector<Ref<Storage>> released_;  // memory of others that nothing here needs any more
  Device device_;
  Shape shape_;
  std::vector<ops::Node> nodes_;
  std::vector<ArrayBody*> owners_;  // of each node: the pending array that is its value, if somebody still holds one
  std::vector<ConstantSlot> constants_;
  std::vector<LoadSlot> loads_;
  std::vector<StoreSlot> stores_;
  Use use_ = Use::more_operations;
  bool is_rule_ = false;
  int operations_ = 0;
  int live_ = 0;  // pending arrays
  std::size_t loaded_bytes_ = 0;
  // What runs when the program is closed: kept, as each of the vectors in it would be allocated for every small kernel.
  ops::Program program_;
  std::vector<std::pair<ArrayBody*, Ref<Storage>>> results_;
};

/// The calling thread's for a device.
OpenProgram& open_program(const Device& device);

}  // namespace catenary
