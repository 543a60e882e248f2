#include "catenary/array/lazy.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "catenary/array/elementwise_core.h"
#include "catenary/array/open_program.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/ops/op_names.h"

namespace catenary {

namespace {

/// All programs of the process. They are never destroyed, because arrays of other threads may point at them, but they
/// are reused.
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
  ThreadPrograms() {  // creates the registry first, so that it outlives this object
    deferred_work();
    ThreadState::make_all();
  }
  OpenProgram& of(const Device& device) {
    for (Programs& known : programs_)
      if (known.device == device) return *known.open;
    programs_.push_back({device, taken(), nullptr});
    return *programs_.back().open;
  }
  /// Treats the device's open program like another thread's from now on: it runs when one of its values is needed.
  void put_aside(const Device& device) {
    for (Programs& known : programs_) {
      if (!(known.device == device)) continue;
      if (known.aside) {
        known.aside->run("another program is put aside");
      } else {
        known.aside = taken();
      }
      std::swap(known.open, known.aside);
      known.open->keep_for(OpenProgram::Use::more_operations);
      known.aside->keep_for(OpenProgram::Use::its_values);
      return;
    }
  }
  void run_all(const char* reason) {
    for_each([&](OpenProgram& program) { program.run(reason); });
  }
  ~ThreadPrograms() {
    deferred_work().clear();
    const EndOfThread end;
    if (!end.may_run()) return;  // the process is ending, and nobody can use the values
    for_each([](OpenProgram& program) {
      try {
        program.run("the thread ends");
      } catch (...) {  // a destructor cannot report the error; reading the arrays does
      }
    });
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    for_each([&](OpenProgram& program) { r.idle.push_back(&program); });
  }

 private:
  struct Programs {
    Device device;
    OpenProgram *open, *aside;
  };
  template <class F>
  void for_each(F&& f) {
    for (Programs& known : programs_)
      for (OpenProgram* program : {known.aside, known.open})
        if (program) f(*program);
  }
  static OpenProgram* taken() {
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    OpenProgram* program;
    if (r.idle.empty()) {
      program = new OpenProgram;
      r.all.push_back(program);
    } else {
      program = r.idle.back();
      r.idle.pop_back();
      program->keep_for(OpenProgram::Use::more_operations);
    }
    deferred_work().push_back(program);
    return program;
  }

  std::vector<Programs> programs_;
};

ThreadPrograms& thread_programs() {
  thread_local ThreadPrograms programs;
  return programs;
}

/// Runs pending work of other threads' programs on the array before this thread's program uses it.
void settle_foreign(const ArrayBody& body, OpenProgram& mine) {
  OpenProgram* pending = body.pending.load(std::memory_order_acquire);
  if (pending && pending != &mine) pending->run("wanted by another thread");
  if (!pending && body.storage) {
    DeferredWork* writer = body.storage->pending_writer.load(std::memory_order_acquire);
    if (writer && writer != &mine) writer->run("wanted by another thread");
  }
}

void settle_foreign(std::span<const LazyOperand> operands, OpenProgram& mine) {
  for (const LazyOperand& operand : operands)
    if (operand.array) settle_foreign(operand.array->body(), mine);
}

void check_value(const ArrayBody& body) {
  // Order matters: while the array is pending, another thread may be about to set its storage.
  if (!body.pending.load(std::memory_order_acquire) && !body.storage && body.shape.product() != 0)
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

OpenProgram& open_program(const Device& device) { return thread_programs().of(device); }

void ArrayHead::destroy() {
  ArrayBody* body = static_cast<ArrayBody*>(this);
  if (OpenProgram* program = body->pending.load(std::memory_order_acquire)) {
    const OpenProgram::Lock lock(*program);
    if (body->pending.load(std::memory_order_relaxed) == program) program->disown(*body);
  }
  delete body;
}

namespace {

bool is_c_ordered(const Shape& shape, const Strides& strides) {
  std::int64_t expected = 1;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

/// Returns the C-ordered operand with the shape of the result, if there is one. C order wins if operands disagree.
const ArrayBody* c_ordered_operand(std::span<const LazyOperand> operands, const Shape& shape) {
  for (const LazyOperand& operand : operands) {
    if (!operand.array) continue;
    const ArrayBody& body = operand.array->body();
    if (body.shape == shape && is_c_ordered(shape, body.strides)) return &body;
  }
  return nullptr;
}

/// Returns the strides of a result if no operand is in C order: NumPy's order K.
Strides strides_of_result(std::span<const LazyOperand> operands, const Shape& shape) {
  if (shape.size() < 2) return contiguous_strides(shape);
  Strides strides[3];
  const Strides* all[3];
  std::size_t n = 0;
  for (const LazyOperand& operand : operands) {
    if (!operand.array) continue;
    const ArrayBody& body = operand.array->body();
    strides[n] = broadcast_strides(body.shape, body.strides, shape);
    all[n] = &strides[n];
    ++n;
  }
  return strides_in_order(shape, memory_order(shape.size(), {all, n}));
}

/// Returns the order that sorts the entries in ascending order.
Axes sorting(const Axes& entries) {
  Axes order;
  for (int i = 0; i < entries.size(); ++i) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return entries[static_cast<int>(a)] < entries[static_cast<int>(b)];
  });
  return order;
}

std::atomic<bool> anything_exported{false};  // skips the checks below in the common case

bool is_exported(const Array* a) {
  if (!a) return false;
  const ArrayBody& body = a->body();
  return !body.pending.load(std::memory_order_acquire) && body.storage &&
         body.storage->exported.load(std::memory_order_relaxed);
}

/// Runs the program if memory that it reads or writes is exported, or if fusion is off.
void run_what_cannot_wait(OpenProgram& program, std::span<const LazyOperand> operands, const Array* target = nullptr) {
  if (!config.fusion)
    program.run("fusion is off");
  else if (!anything_exported.load(std::memory_order_relaxed))
    return;
  else if (is_exported(target) ||
           std::ranges::any_of(operands, [](const LazyOperand& o) { return is_exported(o.array); }))
    program.run("its memory is known outside");
}

Array computed(ops::Op op, std::span<const LazyOperand> operands, Dtype dtype, const Shape& shape,
               const Strides& strides, const Device& device) {
  OpenProgram& program = thread_programs().of(device);
  settle_foreign(operands, program);
  const OpenProgram::Lock lock(program);
  run_conflicts(operands, shape, program);
  program.prepare(shape, operands.size() + 1, device);
  const std::int16_t value = program.operate(op, operands, dtype);
  ArrayBody* body = new ArrayBody(dtype, shape, strides, device);
  const Array result{Ref<ArrayHead>(body)};
  program.own(*body, value);
  run_what_cannot_wait(program, operands);
  return result;
}

}  // namespace

namespace lazy {

Array apply(ops::Op op, std::span<const LazyOperand> operands, Dtype dtype, const Shape& shape, const Device& device) {
  if (shape.product() == 0) return Array::empty(shape, dtype, device);
  if (const ArrayBody* like = c_ordered_operand(operands, shape))
    return computed(op, operands, dtype, shape, like->strides, device);
  return computed(op, operands, dtype, shape, strides_of_result(operands, shape), device);
}

Array cast(const Array& x, Dtype dtype, const Strides& strides) {
  if (x.size() == 0) return Array::empty(x.shape(), dtype, x.device());
  const LazyOperand operand{.array = &x, .as = x.dtype()};
  return computed(ops::Op::cast, {&operand, 1}, dtype, x.shape(), strides, x.device());
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
        // the target overlaps its inputs: compute first, then write
        const Array result = apply(op, operands, dtype, body.shape, body.device);
        assign(target, {.array = &result, .as = dtype});
        return;
      }
    }
    if (body.storage->pending_readers.load(std::memory_order_acquire) > (program.loads_from(*body.storage) ? 1 : 0))
      before_write(*body.storage);
  }
  const OpenProgram::Lock lock(program);
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
  run_what_cannot_wait(program, operands, &target);
}

void assign(const Array& target, const LazyOperand& value) {
  ArrayBody& body = target.body();
  if (body.shape.product() == 0) return;
  if (value.array && !value.array->body().pending.load(std::memory_order_acquire)) {
    // memory to memory: the backend's copy has fast transposes
    View from = readable(*value.array);
    from.strides = broadcast_strides(from.shape, from.strides, body.shape, "assignment");
    from.shape = body.shape;
    compute(body.device, primitives::Copy{writable(target), from});
    count_kernel();
    return;
  }
  LazyOperand source = value;
  if (value.array) source.as = value.array->dtype();
  if (!value.array) source.as = body.dtype;
  apply_into(target, ops::Op::cast, {&source, 1}, body.dtype);
}

Array reduce(Array x, ops::Reduce op, unsigned axes, Dtype as, Dtype result) {
  ArrayBody& body = x.body();
  check_value(body);
  // iterate in x's memory order
  const Strides strides = broadcast_strides(body.shape, body.strides, body.shape);
  const Strides* const of_x = &strides;
  const Axes order = memory_order(body.shape.size(), {&of_x, 1});
  Shape kept;
  Axes kept_axes;
  ReduceSpec spec;
  spec.op = op;
  spec.axes = 0;
  for (int i = 0; i < order.size(); ++i) {
    const int axis = static_cast<int>(order[i]);
    if (axes & (1u << axis)) {
      spec.axes |= 1u << i;
    } else {
      kept.push_back(body.shape[axis]);
      kept_axes.push_back(axis);
    }
  }
  const Array out = Array::empty(kept, result, body.device);
  const Axes back = sorting(kept_axes);
  const Array in_axes_of_x = is_c_order(back) ? out : out.transpose(back);
  if (out.size() == 0) return in_axes_of_x;
  spec.out = {out.body().storage->handle(), 0, result, kept, out.strides()};

  OpenProgram& mine = thread_programs().of(body.device);
  settle_foreign(body, mine);
  if (body.pending.load(std::memory_order_acquire) == &mine) {
    const bool last_handle = body.references() == 1;
    const bool ahead = !last_handle && body.leaving.load(std::memory_order_relaxed);
    {
      const OpenProgram::Lock lock(mine);
      const LazyOperand operand{.array = &x, .as = as};
      spec.value = mine.value_of(operand);
      if (last_handle) {
        mine.disown(body);
        body.pending.store(nullptr, std::memory_order_release);
      }
      if (ahead) {
        mine.reduce_ahead(spec, order);
      } else {
        mine.close("a reduction", &spec, &order);
      }
    }
    // later operations have another shape, which would force the open program to run
    if (ahead) thread_programs().put_aside(body.device);
    return in_axes_of_x;
  }
  // a separate program, so that the open one stays open
  const View view = readable(x);
  OpenProgram single;
  single.prepare(view.shape, 1, body.device);
  const LazyOperand operand{.array = &x, .as = as};
  spec.value = single.value_of(operand);
  single.close("a reduction", &spec, &order);
  return in_axes_of_x;
}

void settle(ArrayBody& body) {
  if (OpenProgram* program = body.pending.load(std::memory_order_acquire)) program->run("a value is wanted");
  check_value(body);
}

void before_read(Storage& storage) {
  if (DeferredWork* writer = storage.pending_writer.load(std::memory_order_acquire)) writer->run("its memory is read");
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
    const OpenProgram::Lock lock(*program);
    if (program->loads_from(storage)) program->run("its memory is written by another thread");
  }
}

}  // namespace lazy

View readable(const Array& a) {
  ArrayBody& body = a.body();
  lazy::settle(body);
  if (body.storage) lazy::before_read(*body.storage);
  return {body.storage ? body.storage->handle() : nullptr, body.offset, body.dtype, body.shape, body.strides};
}

void export_memory(const Array& a) {
  writable(a);
  if (const Ref<Storage>& storage = a.body().storage) {
    storage->exported.store(true, std::memory_order_relaxed);
    anything_exported.store(true, std::memory_order_relaxed);
  }
}

View writable(const Array& a) {
  ArrayBody& body = a.body();
  lazy::settle(body);
  if (body.storage) lazy::before_write(*body.storage);
  return {body.storage ? body.storage->handle() : nullptr, body.offset, body.dtype, body.shape, body.strides};
}
}  // namespace catenary
