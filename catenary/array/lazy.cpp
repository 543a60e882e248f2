#include "catenary/array/lazy.h"

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "catenary/core/format.h"
#include "catenary/device/traced_backend.h"

namespace catenary {

namespace {

using ops::Access;
using ops::Node;
using ops::Op;
using ops::Reg;

// The bounds of one program. Sixteen buffers, each with its strides, fit into the smallest parameter space that a GPU
// driver offers; thirty-two operations compile quickly everywhere.
constexpr int kMaxOperations = 32;
constexpr int kMaxNodes = 64;
constexpr int kMaxBuffers = 16;
constexpr std::size_t kMaxRetainedBytes = std::size_t{64} << 20;

std::atomic<std::int64_t> kernels{0};

bool fusion_enabled() {
  static const bool enabled = [] {
    const char* value = std::getenv("CATENARY_FUSION");
    return !(value && std::strcmp(value, "0") == 0);
  }();
  return enabled;
}

bool same_place(const Access& a, const Access& b) {
  return a.handle == b.handle && a.offset == b.offset && a.dtype == b.dtype && a.strides == b.strides;
}

Op narrowing(Dtype dtype) {
  switch (dtype) {
    case Dtype::int8:
      return Op::narrow_i8;
    case Dtype::int16:
      return Op::narrow_i16;
    case Dtype::uint8:
      return Op::narrow_u8;
    case Dtype::uint16:
      return Op::narrow_u16;
    case Dtype::uint32:
      return Op::narrow_u32;
    default:
      return Op::count;
  }
}

ops::Constant constant_of(const Scalar& scalar, Reg reg) {
  ops::Constant c;
  if (reg == Reg::f32 || reg == Reg::f64) {
    c.f = reg == Reg::f32 ? static_cast<double>(static_cast<float>(scalar.real())) : scalar.real();
  } else if (reg == Reg::b) {
    c.i = scalar.kind() == Scalar::Kind::real ? scalar.real() != 0 : scalar.integer() != 0;
  } else if (scalar.kind() != Scalar::Kind::real) {
    c.i = scalar.integer();
  } else {
    const double f = scalar.real();
    c.i = f >= -9.2233720368547758e18 && f < 9.2233720368547758e18 ? static_cast<std::int64_t>(f)
                                                                   : std::numeric_limits<std::int64_t>::min();
  }
  return c;
}

}  // namespace

/// One thread's deferred instructions on one device. Other threads come in only to have it run, hence the lock.
class OpenProgram {
 public:
  struct LoadSlot {
    Ref<Storage> storage;
    Access access;
  };
  struct StoreSlot {
    Ref<Storage> storage;
    Access access;
    std::int16_t value;
  };

  std::recursive_mutex mutex;

  void run(const char* reason) {
    std::lock_guard lock(mutex);
    close(reason, nullptr);
  }

  bool empty() const { return nodes_.empty(); }

  /// Makes room for one more operation over `shape`.
  void prepare(const Shape& shape, std::size_t new_buffers, const Device& device) {
    if (!nodes_.empty()) {
      if (shape_ != shape) {
        close("another iteration shape", nullptr);
      } else if (operations_ >= kMaxOperations || nodes_.size() + 12 > kMaxNodes) {
        close("32 operations", nullptr);
      } else if (loads_.size() + stores_.size() + static_cast<std::size_t>(live_) + new_buffers > kMaxBuffers) {
        close("16 buffers", nullptr);
      } else if (loaded_bytes_ > kMaxRetainedBytes && retained_bytes() > kMaxRetainedBytes) {
        close("memory that only pending values keep", nullptr);
      }
    }
    if (nodes_.empty()) {
      shape_ = shape;
      device_ = device;
    }
  }

  Access access_of(const ArrayBody& body, const Shape& shape) const {
    return {body.storage->handle(), body.offset, body.dtype,
            body.shape == shape ? body.strides : broadcast_strides(body.shape, body.strides, shape)};
  }

  /// Must the program run before `body` can be loaded? So it is when it writes the same memory by another view.
  bool conflicts_with_read(const ArrayBody& body, const Shape& shape) const {
    if (!body.storage || body.storage->pending_writer.load(std::memory_order_relaxed) != this) return false;
    if (shape_ != shape) return true;
    const Access access = access_of(body, shape);
    for (const StoreSlot& store : stores_)
      if (same_place(store.access, access)) return false;
    return true;
  }

  /// Must the program run before `body` can be written? So it is when it reads or writes the same memory by another
  /// view.
  bool conflicts_with_write(const ArrayBody& body) const {
    if (!body.storage || nodes_.empty()) return false;
    if (shape_ != body.shape) return true;
    const Access access = access_of(body, body.shape);
    for (const LoadSlot& load : loads_)
      if (load.storage == body.storage && !same_place(load.access, access)) return true;
    for (const StoreSlot& store : stores_)
      if (store.storage == body.storage && !same_place(store.access, access)) return true;
    return false;
  }

  /// The node that holds an operand in the register type of `operand.as`.
  std::int16_t value_of(const LazyOperand& operand) {
    const Reg wanted = ops::register_of(operand.as);
    if (!operand.array) return constant(constant_of(operand.scalar, wanted), wanted);
    const ArrayBody& body = operand.array->body();
    std::int16_t value = body.pending.load(std::memory_order_relaxed) == this ? body.value : load(body);
    return cast_to(value, body.dtype, operand.as);
  }

  std::int16_t cast(std::int16_t value, Reg to) {
    const Reg from = nodes_[value].reg;
    return from == to ? value : emit(Op::cast, to, from, {value, -1, -1});
  }

  std::int16_t emit(Op op, Reg reg, Reg operand_reg, std::array<std::int16_t, 3> args) {
    Node node;
    node.op = op;
    node.reg = reg;
    node.operand_reg = operand_reg;
    for (int i = 0; i < 3; ++i) node.args[i] = args[i];
    ++operations_;
    return append(node);
  }

  /// The operation itself; returns the node of a result of `dtype`.
  std::int16_t operate(Op op, std::span<const LazyOperand> operands, Dtype dtype) {
    std::array<std::int16_t, 3> args = {-1, -1, -1};
    for (std::size_t i = 0; i < operands.size(); ++i) args[i] = value_of(operands[i]);
    const Dtype operand_dtype = op == Op::ldexp ? operands[0].as : operands.back().as;
    const Reg operand_reg = ops::register_of(operand_dtype);
    if (op == Op::cast) {
      // an identity node of its own, so that each pending array has one
      return cast_to(emit(Op::cast, ops::register_of(dtype), operand_reg, args), operand_dtype, dtype);
    }
    const ops::OpInfo& row = ops::info(op);
    const bool boolean = row.rule == ops::Rule::COMPARE || row.rule == ops::Rule::PREDICATE;
    const Reg reg = boolean ? Reg::b : op == Op::frexp_exponent ? Reg::i32 : operand_reg;
    std::int16_t value = emit(op, reg, operand_reg, args);
    const bool may_overflow = row.rule != ops::Rule::INTERNAL && !boolean && op != Op::maximum && op != Op::minimum;
    if (may_overflow && narrowing(operand_dtype) != Op::count)
      value = emit(narrowing(operand_dtype), reg, reg, {value, -1, -1});
    return cast_to(value, boolean ? Dtype::bool_ : op == Op::frexp_exponent ? Dtype::int32 : operand_dtype, dtype);
  }

  void own(ArrayBody& body, std::int16_t value) {
    body.value = value;
    owners_[value] = &body;
    ++live_;
    body.pending.store(this, std::memory_order_release);
  }

  void disown(ArrayBody& body) {
    owners_[body.value] = nullptr;
    --live_;
  }

  void store(const ArrayBody& body, std::int16_t value) {
    const Access access = access_of(body, body.shape);
    for (StoreSlot& store : stores_) {
      if (same_place(store.access, access)) {
        store.value = value;
        return;
      }
    }
    stores_.push_back({body.storage, access, value});
    body.storage->pending_writer.store(this, std::memory_order_release);
  }

  bool loads_from(const Storage& storage) const {
    for (const LoadSlot& load : loads_)
      if (load.storage.get() == &storage) return true;
    return false;
  }

  /// Runs what was collected, with a reduction of one of its values when `reduction` is given, and starts afresh.
  void close(const char* reason, ReduceSpec* reduction) {
    if (nodes_.empty()) return;
    struct Reset {
      OpenProgram& program;
      ~Reset() { program.reset(); }
    } reset{*this};

    ops::Program program;
    program.shape = shape_;
    std::vector<Ref<Storage>> results;
    std::vector<ArrayBody*> bodies;
    std::vector<std::int16_t> roots;
    for (StoreSlot& store : stores_) {
      if (store.storage->references() - loads_holding(*store.storage) > 1) {
        program.stores.push_back({store.value, store.access});
      }
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      ArrayBody* body = owners_[i];
      if (!body) continue;
      results.emplace_back(
          new Storage(device_, static_cast<std::size_t>(body->shape.product()) * itemsize(body->dtype)));
      bodies.push_back(body);
      program.stores.push_back(
          {static_cast<std::int16_t>(i), Access{results.back()->handle(), 0, body->dtype, body->strides}});
    }
    if (program.stores.empty() && !reduction) return;
    extract_needed(program, reduction);

    trace_reason = reason;
    if (reduction) {
      device_.backend().reduce(device_.index(), program, *reduction);
    } else {
      device_.backend().run(device_.index(), program);
    }
    kernels.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      bodies[i]->storage = results[i];
      owners_[bodies[i]->value] = nullptr;
      bodies[i]->pending.store(nullptr, std::memory_order_release);
    }
  }

  /// Runs what was collected from `first` also for the other segments. False, and nothing has happened, when the
  /// program works on anything but the arrays of `first`.
  bool close_for(const std::vector<std::vector<Array>>& segments) {
    const std::vector<Array>& first = segments.front();
    ops::Program program;
    program.shape = shape_;
    for (StoreSlot& store : stores_) program.stores.push_back({store.value, store.access});
    if (live_ > 0 || program.stores.empty()) return false;
    extract_needed(program, nullptr);
    const auto number_of = [&](const Access& access) {
      for (std::size_t k = 0; k < first.size(); ++k) {
        const ArrayBody& body = first[k].body();
        if (body.storage->handle() == access.handle && body.offset == access.offset && body.dtype == access.dtype)
          return static_cast<int>(k);
      }
      return -1;
    };
    std::vector<int> loads, stores;
    for (const Access& load : program.loads) loads.push_back(number_of(load));
    for (const ops::Store& store : program.stores) stores.push_back(number_of(store.to));
    for (int k : loads)
      if (k < 0) return false;
    for (int k : stores)
      if (k < 0) return false;
    std::vector<Segment> all;
    for (const std::vector<Array>& arrays : segments) {
      Segment segment;
      segment.size = arrays.front().size();
      if (segment.size == 0) continue;
      const auto place = [&](int k) {
        const ArrayBody& body = arrays[static_cast<std::size_t>(k)].body();
        return std::pair(body.storage->handle(), body.offset);
      };
      for (int k : loads) segment.loads.push_back(place(k));
      for (int k : stores) segment.stores.push_back(place(k));
      all.push_back(std::move(segment));
    }
    device_.backend().run_segments(device_.index(), program, all);
    kernels.fetch_add(1, std::memory_order_relaxed);
    reset();
    return true;
  }

 private:
  std::int16_t append(const Node& node) {
    nodes_.push_back(node);
    owners_.push_back(nullptr);
    return static_cast<std::int16_t>(nodes_.size() - 1);
  }

  std::int16_t constant(ops::Constant value, Reg reg) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      if (node.op == Op::constant && node.reg == reg && constants_[node.slot].u == value.u)
        return static_cast<std::int16_t>(i);
    }
    constants_.push_back(value);
    Node node;
    node.op = Op::constant;
    node.reg = reg;
    node.slot = static_cast<std::int16_t>(constants_.size() - 1);
    return append(node);
  }

  std::int16_t load(const ArrayBody& body) {
    const Access access = access_of(body, shape_);
    if (body.storage->pending_writer.load(std::memory_order_relaxed) == this) {
      for (const StoreSlot& store : stores_)
        if (same_place(store.access, access)) return store.value;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      if (node.op == Op::load && same_place(loads_[node.slot].access, access)) return static_cast<std::int16_t>(i);
    }
    if (!loads_from(*body.storage)) {
      body.storage->pending_readers.fetch_add(1, std::memory_order_acq_rel);
      loaded_bytes_ += body.storage->bytes();
    }
    loads_.push_back({body.storage, access});
    Node node;
    node.op = Op::load;
    node.reg = ops::register_of(body.dtype);
    node.slot = static_cast<std::int16_t>(loads_.size() - 1);
    return append(node);
  }

  /// Does every value of `from` fit into the narrow integer `to`?
  static bool fits(Dtype from, Dtype to) { return from == to || from == Dtype::bool_ || promote(from, to) == to; }

  /// The node of a value of dtype `from` as `to`: in its register, wrapped where `to` is a narrower integer.
  std::int16_t cast_to(std::int16_t value, Dtype from, Dtype to) {
    value = cast(value, ops::register_of(to));
    if (narrowing(to) != Op::count && !fits(from, to))
      value = emit(narrowing(to), ops::register_of(to), ops::register_of(to), {value, -1, -1});
    return value;
  }

  int loads_holding(const Storage& storage) const {
    int n = 0;
    for (const LoadSlot& load : loads_) n += load.storage.get() == &storage;
    for (const StoreSlot& store : stores_) n += store.storage.get() == &storage;
    return n - 1;  // the store that asks counts as the one reference too many
  }

  std::size_t retained_bytes() const {
    std::size_t bytes = 0;
    for (const LoadSlot& load : loads_)
      if (load.storage->references() == 1) bytes += load.storage->bytes();
    return bytes;
  }

  /// Copies the nodes that a store or the reduction needs, in order, and renumbers them.
  void extract_needed(ops::Program& program, ReduceSpec* reduction) {
    std::vector<std::int16_t> number(nodes_.size(), -1);
    std::vector<bool> needed(nodes_.size(), false);
    for (const ops::Store& store : program.stores) needed[store.value] = true;
    if (reduction) needed[reduction->value] = true;
    for (int i = static_cast<int>(nodes_.size()) - 1; i >= 0; --i)
      if (needed[i])
        for (std::int16_t arg : nodes_[i].args)
          if (arg >= 0) needed[arg] = true;
    program.nodes.reserve(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!needed[i]) continue;
      Node node = nodes_[i];
      if (node.op == Op::load) {
        program.loads.push_back(loads_[node.slot].access);
        node.slot = static_cast<std::int16_t>(program.loads.size() - 1);
      } else if (node.op == Op::constant) {
        program.constants.push_back(constants_[node.slot]);
        node.slot = static_cast<std::int16_t>(program.constants.size() - 1);
      }
      for (std::int16_t& arg : node.args)
        if (arg >= 0) arg = number[arg];
      number[i] = static_cast<std::int16_t>(program.nodes.size());
      program.nodes.push_back(node);
    }
    for (ops::Store& store : program.stores) store.value = number[store.value];
    if (reduction) reduction->value = number[reduction->value];
  }

  void reset() {
    for (ArrayBody* body : owners_)
      if (body) body->pending.store(nullptr, std::memory_order_release);  // its kernel failed: it has no value
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      bool first = true;
      for (std::size_t j = 0; j < i; ++j) first = first && !(loads_[j].storage == loads_[i].storage);
      if (first) loads_[i].storage->pending_readers.fetch_sub(1, std::memory_order_acq_rel);
    }
    for (StoreSlot& store : stores_) store.storage->pending_writer.store(nullptr, std::memory_order_release);
    nodes_.clear();
    owners_.clear();
    constants_.clear();
    loads_.clear();
    stores_.clear();
    operations_ = 0;
    live_ = 0;
    loaded_bytes_ = 0;
  }

  Device device_;
  Shape shape_;
  std::vector<Node> nodes_;
  std::vector<ArrayBody*> owners_;  // of each node: the pending array that is its value, if somebody still holds one
  std::vector<ops::Constant> constants_;
  std::vector<LoadSlot> loads_;
  std::vector<StoreSlot> stores_;
  int operations_ = 0;
  int live_ = 0;
  std::size_t loaded_bytes_ = 0;
};

namespace {

/// All programs that ever were: never destroyed, as arrays of other threads may point at them, but used again.
struct Registry {
  std::mutex mutex;
  std::vector<OpenProgram*> all, idle;
};
Registry& registry() {
  static Registry* instance = new Registry;
  return *instance;
}

class ThreadPrograms {
 public:
  OpenProgram& of(const Device& device) {
    for (auto& [known, program] : programs_)
      if (known == device) return *program;
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    OpenProgram* program;
    if (r.idle.empty()) {
      program = new OpenProgram;
      r.all.push_back(program);
    } else {
      program = r.idle.back();
      r.idle.pop_back();
    }
    programs_.emplace_back(device, program);
    return *program;
  }
  void run_all(const char* reason) {
    for (auto& [device, program] : programs_) program->run(reason);
  }
  ~ThreadPrograms() {
    for (auto& [device, program] : programs_) {
      try {
        program->run("the thread ends");
      } catch (...) {  // nobody is left to tell; the arrays say so when they are read
      }
    }
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    for (auto& [device, program] : programs_) r.idle.push_back(program);
  }

 private:
  std::vector<std::pair<Device, OpenProgram*>> programs_;
};

ThreadPrograms& thread_programs() {
  thread_local ThreadPrograms programs;
  return programs;
}

/// Runs what other threads' programs still have to do with the array, before this thread's program takes it in.
void settle_foreign(const ArrayBody& body, OpenProgram& mine) {
  OpenProgram* pending = body.pending.load(std::memory_order_acquire);
  if (pending && pending != &mine) pending->run("wanted by another thread");
  if (!pending && body.storage) {
    OpenProgram* writer = body.storage->pending_writer.load(std::memory_order_acquire);
    if (writer && writer != &mine) writer->run("wanted by another thread");
  }
}

void settle_foreign(std::span<const LazyOperand> operands, OpenProgram& mine) {
  for (const LazyOperand& operand : operands)
    if (operand.array) settle_foreign(operand.array->body(), mine);
}

void check_value(const ArrayBody& body) {
  if (!body.storage && !body.pending.load(std::memory_order_acquire) && body.shape.product() != 0)
    throw DeviceError("the array has no value: the kernel that should have computed it failed");
}

void run_conflicts(std::span<const LazyOperand> operands, const Shape& shape, OpenProgram& program) {
  for (const LazyOperand& operand : operands) {
    if (!operand.array) continue;
    const ArrayBody& body = operand.array->body();
    check_value(body);
    if (program.conflicts_with_read(body, shape)) {
      program.run("memory is read by another view than it was written by");
      return;
    }
  }
}

}  // namespace

std::int64_t kernel_count() { return kernels.load(); }

void ArrayHead::destroy() {
  ArrayBody* body = static_cast<ArrayBody*>(this);
  if (OpenProgram* program = body->pending.load(std::memory_order_acquire)) {
    std::lock_guard lock(program->mutex);
    if (body->pending.load(std::memory_order_relaxed) == program) program->disown(*body);
  }
  delete body;
}

namespace lazy {

Array apply(ops::Op op, std::span<const LazyOperand> operands, Dtype dtype, const Shape& shape, const Device& device) {
  if (shape.product() == 0) return Array::empty(shape, dtype, device);
  OpenProgram& program = thread_programs().of(device);
  settle_foreign(operands, program);
  std::lock_guard lock(program.mutex);
  run_conflicts(operands, shape, program);
  program.prepare(shape, operands.size() + 1, device);
  const std::int16_t value = program.operate(op, operands, dtype);
  ArrayBody* body = new ArrayBody(dtype, shape, device);
  const Array result{Ref<ArrayHead>(body)};
  program.own(*body, value);
  if (!fusion_enabled()) program.run("fusion is off");
  return result;
}

void apply_into(const Array& target, ops::Op op, std::span<const LazyOperand> operands, Dtype dtype) {
  ArrayBody& body = target.body();
  if (body.shape.product() == 0) return;
  for (int axis = 0; axis < body.shape.size(); ++axis) {
    if (body.strides[axis] == 0 && body.shape[axis] > 1)
      fail<ValueError>(
          "an array of shape {} that was broadcast cannot be written: several of its elements share memory",
          body.shape);
  }
  OpenProgram& program = thread_programs().of(body.device);
  settle_foreign(operands, program);
  settle_foreign(body, program);
  if (body.storage) {
    for (const LazyOperand& operand : operands) {
      if (!operand.array || operand.array->is(target)) continue;
      const ArrayBody& other = operand.array->body();
      if (other.storage == body.storage && !(other.offset == body.offset && other.dtype == body.dtype &&
                                             other.shape == body.shape && other.strides == body.strides)) {
        // the target overlaps what it is computed from: compute first, then write
        const Array result = apply(op, operands, dtype, body.shape, body.device);
        assign(target, {.array = &result, .as = dtype});
        return;
      }
    }
    if (body.storage->pending_readers.load(std::memory_order_acquire) > (program.loads_from(*body.storage) ? 1 : 0))
      before_write(*body.storage);
  }
  std::lock_guard lock(program.mutex);
  run_conflicts(operands, body.shape, program);
  if (program.conflicts_with_write(body)) program.run("memory is written by another view than it was read by");
  program.prepare(body.shape, operands.size() + 1, body.device);
  const std::int16_t value = program.operate(op, operands, dtype);
  if (dtype != body.dtype) fail<DtypeError>("internal: result {} for a target of {}", dtype, body.dtype);
  if (body.pending.load(std::memory_order_relaxed) == &program) {
    program.disown(body);
    program.own(body, value);
  } else {
    program.store(body, value);
  }
  if (!fusion_enabled()) program.run("fusion is off");
}

void assign(const Array& target, const LazyOperand& value) {
  ArrayBody& body = target.body();
  if (body.shape.product() == 0) return;
  if (value.array && !value.array->body().pending.load(std::memory_order_acquire)) {
    // memory to memory: the backend's copy knows about transposes
    View from = readable(*value.array);
    from.strides = broadcast_strides(from.shape, from.strides, body.shape, "assignment");
    from.shape = body.shape;
    body.device.backend().copy(body.device.index(), writable(target), from);
    kernels.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  LazyOperand source = value;
  if (value.array) source.as = value.array->dtype();
  if (!value.array) source.as = body.dtype;
  apply_into(target, Op::cast, {&source, 1}, body.dtype);
}

Array reduce(Array x, ops::Reduce op, unsigned axes, Dtype as, Dtype result) {
  ArrayBody& body = x.body();
  check_value(body);
  Shape kept;
  for (int axis = 0; axis < body.shape.size(); ++axis)
    if (!(axes & (1u << axis))) kept.push_back(body.shape[axis]);
  Array out = Array::empty(kept, result, body.device);
  if (out.size() == 0) return out;
  ReduceSpec spec;
  spec.op = op;
  spec.axes = axes;
  spec.out = {out.body().storage->handle(), 0, result, kept, out.strides()};

  OpenProgram& mine = thread_programs().of(body.device);
  settle_foreign(body, mine);
  if (body.pending.load(std::memory_order_acquire) == &mine) {
    std::lock_guard lock(mine.mutex);
    const LazyOperand operand{.array = &x, .as = as};
    spec.value = mine.value_of(operand);
    const bool last_handle = body.references() == 1;
    if (last_handle) {
      mine.disown(body);
      body.pending.store(nullptr, std::memory_order_release);
    }
    mine.close("a reduction", &spec);
    return out;
  }
  // a program of its own: what is open stays open
  const View view = readable(x);
  OpenProgram single;
  single.prepare(view.shape, 1, body.device);
  const LazyOperand operand{.array = &x, .as = as};
  spec.value = single.value_of(operand);
  single.close("a reduction", &spec);
  return out;
}

void for_each_segment(const std::vector<std::vector<Array>>& segments,
                      const std::function<void(const std::vector<Array>&)>& rule) {
  if (segments.empty()) return;
  const Device device = segments.front().front().device();
  OpenProgram& program = thread_programs().of(device);
  program.run("a rule over many arrays follows");
  std::vector<std::vector<Array>> flat;
  bool uniform = fusion_enabled();
  for (const std::vector<Array>& arrays : segments) {
    std::vector<Array>& row = flat.emplace_back();
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      const Array& a = arrays[k];
      uniform = uniform && a.is_contiguous() && a.size() == arrays.front().size() && a.device() == device &&
                a.dtype() == segments.front()[k].dtype();
      if (a.is_contiguous()) {
        row.push_back(a.reshape({-1}));
        before_write(*row.back().body().storage);
      } else {
        row.push_back(a);
      }
    }
  }
  const auto one_by_one = [&](std::size_t from) {
    for (std::size_t i = from; i < flat.size(); ++i) rule(flat[i]);
  };
  if (!uniform || flat.front().front().size() == 0) return one_by_one(0);
  const std::int64_t before = kernels.load();
  rule(flat.front());
  if (kernels.load() != before) return one_by_one(1);
  bool done;
  {
    std::lock_guard lock(program.mutex);
    done = program.close_for(flat);
  }
  if (!done) one_by_one(1);
}

void settle(ArrayBody& body) {
  if (OpenProgram* program = body.pending.load(std::memory_order_acquire)) program->run("a value is wanted");
  check_value(body);
}

void before_read(Storage& storage) {
  if (OpenProgram* writer = storage.pending_writer.load(std::memory_order_acquire)) writer->run("its memory is read");
}

void before_write(Storage& storage) {
  before_read(storage);
  if (storage.pending_readers.load(std::memory_order_acquire) == 0) return;
  thread_programs().run_all("its memory is written");
  if (storage.pending_readers.load(std::memory_order_acquire) == 0) return;
  std::vector<OpenProgram*> all;
  {
    std::lock_guard lock(registry().mutex);
    all = registry().all;
  }
  for (OpenProgram* program : all) {
    std::lock_guard lock(program->mutex);
    if (program->loads_from(storage)) program->run("its memory is written by another thread");
  }
}

void flush_thread(const char* reason) { thread_programs().run_all(reason); }

}  // namespace lazy

View readable(const Array& a) {
  ArrayBody& body = a.body();
  lazy::settle(body);
  if (body.storage) lazy::before_read(*body.storage);
  return {body.storage ? body.storage->handle() : nullptr, body.offset, body.dtype, body.shape, body.strides};
}

View writable(const Array& a) {
  ArrayBody& body = a.body();
  lazy::settle(body);
  if (body.storage) lazy::before_write(*body.storage);
  return {body.storage ? body.storage->handle() : nullptr, body.offset, body.dtype, body.shape, body.strides};
}

void evaluate() { lazy::flush_thread("evaluate()"); }

}  // namespace catenary
