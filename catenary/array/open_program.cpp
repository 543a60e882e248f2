#include "catenary/array/open_program.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>

#include "catenary/device/trace.h"
#include "catenary/ops/op_names.h"

namespace catenary {

using ops::Access;
using ops::Node;
using ops::Op;
using ops::Reg;

namespace {

// The bounds of one program. Sixteen buffers, each with its strides, fit into the smallest parameter space of all GPU
// drivers; thirty-two operations compile quickly everywhere. A rule over segments has no strides and one program serves
// all parameters, so it may be larger.
constexpr int kMaxOperations = 32, kMaxRuleOperations = 64;
constexpr std::size_t kMaxNodes = 96, kMaxRuleNodes = 160;
constexpr std::size_t kMaxBuffers = 16, kMaxRuleBuffers = 32;
constexpr std::size_t kMaxRetainedBytes = std::size_t{64} << 20;

bool same_place(const Access& a, const Access& b) {
  return a.handle == b.handle && a.offset == b.offset && a.dtype == b.dtype && a.strides == b.strides;
}

/// Returns whether two walks with these steps (descending, nonzero) and this distance between their starts can meet.
/// May wrongly return true if the steps are not nested.
bool may_meet(std::int64_t distance, std::span<const std::pair<std::int64_t, std::int64_t>> steps_and_counts) {
  if (distance == 0) return true;
  if (steps_and_counts.empty()) return false;
  const auto [step, count] = steps_and_counts[0];
  const auto inner = steps_and_counts.subspan(1);
  std::int64_t reach = 0;
  for (const auto& [s, n] : inner) reach += s * (n - 1);
  if (reach >= step) return true;
  for (std::int64_t k = distance / step; k <= distance / step + 1; ++k) {
    const std::int64_t rest = std::abs(distance - k * step);
    if (k < count && rest <= reach && may_meet(rest, inner)) return true;
  }
  return false;
}

/// Returns whether both have uniform strides over different elements of the same memory, as the gates of a recurrent
/// layer do.
bool apart(const Access& a, const Access& b, const Shape& shape) {
  if (a.dtype != b.dtype || a.strides != b.strides) return false;
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (int axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] > 1 && a.strides[axis] != 0) steps.emplace_back(std::abs(a.strides[axis]), shape[axis]);
  std::sort(steps.rbegin(), steps.rend());
  return !may_meet(std::abs(a.offset - b.offset), steps);
}

ops::Constant constant_of(const Scalar& scalar, Reg reg) {
  ops::Constant c;
  if (const Reg part = ops::part_register(reg); part == Reg::f32 || part == Reg::f64) {
    const auto rounded = [&](double x) { return part == Reg::f32 ? static_cast<double>(static_cast<float>(x)) : x; };
    c.f = rounded(scalar.real());
    if (ops::is_complex(reg)) c.imag = rounded(scalar.imag());
  } else if (reg == Reg::b) {
    c.i = scalar.kind() >= Scalar::Kind::real ? scalar.real() != 0 || scalar.imag() != 0 : scalar.integer() != 0;
  } else if (scalar.kind() < Scalar::Kind::real) {
    c.i = scalar.integer();
  } else {
    const double f = scalar.real();
    if (reg == Reg::u64 && f >= 0x1p63 && f < 0x1p64)  // the bits of the uint64
      c.i = static_cast<std::int64_t>(static_cast<std::uint64_t>(f));
    else
      c.i = f >= -0x1p63 && f < 0x1p63 ? static_cast<std::int64_t>(f) : std::numeric_limits<std::int64_t>::min();
  }
  return c;
}

/// Rounds a literal's values to a dtype that is narrower than its register.
ops::Constant narrowed(ops::Constant c, Dtype dtype) {
  if (is_complex(dtype)) return c;
  visit_dtype(dtype, [&](auto of) {
    using T = decltype(of);
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      c.f = T(static_cast<float>(c.f));
    else if constexpr (std::is_integral_v<T> && sizeof(T) <= 4)
      c.i = static_cast<T>(c.i);
  });
  return c;
}

/// Returns whether the operation's result is always one of its operands.
bool picks(Op op) { return op == Op::cast || op == Op::where || op == Op::maximum || op == Op::minimum; }

/// Returns whether every value of `from` fits into the narrow `to`.
bool fits(Dtype from, Dtype to) { return from == Dtype::bool_ || promote(from, to) == to; }

Access access_of(const ArrayBody& body, const Shape& shape) {
  return {body.storage->handle(), body.offset, body.dtype,
          body.shape == shape ? body.strides : broadcast_strides(body.shape, body.strides, shape)};
}

std::atomic<std::int64_t> kernels{0};

}  // namespace

void count_kernel() { kernels.fetch_add(1, std::memory_order_relaxed); }
std::int64_t kernel_count() { return kernels.load(std::memory_order_relaxed); }

void OpenProgram::unlock_and_release() {
  std::vector<Ref<Storage>> released;
  released.swap(released_);
  lock_.unlock();
}

void OpenProgram::run(const char* reason) {
  const Lock lock(*this);
  close(reason, nullptr);
}

void OpenProgram::prepare(const Shape& shape, std::size_t new_buffers, const Device& device) {
  if (!nodes_.empty()) {
    if (shape_ != shape) {
      close("another iteration shape", nullptr);
    } else if (operations_ >= (is_rule_ ? kMaxRuleOperations : kMaxOperations) ||
               nodes_.size() + 12 > (is_rule_ ? kMaxRuleNodes : kMaxNodes)) {
      close("32 operations", nullptr);
    } else if (loads_.size() + stores_.size() + static_cast<std::size_t>(live_) + new_buffers >
               (is_rule_ ? kMaxRuleBuffers : kMaxBuffers)) {
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

bool OpenProgram::conflicts_with_read(const ArrayBody& body, const Shape& shape) const {
  if (!body.storage || body.storage->pending_writer.load(std::memory_order_relaxed) != this) return false;
  if (shape_ != shape) return true;
  const Access access = access_of(body, shape);
  for (const StoreSlot& store : stores_)
    if (store.storage == body.storage && !same_place(store.access, access) && !apart(store.access, access, shape_))
      return true;
  return false;
}

bool OpenProgram::conflicts_with_write(const ArrayBody& body) const {
  if (!body.storage || nodes_.empty()) return false;
  if (shape_ != body.shape) return true;
  const Access access = access_of(body, body.shape);
  const auto conflicts = [&](const auto& slot) {
    return slot.storage == body.storage && !same_place(slot.access, access) && !apart(slot.access, access, shape_);
  };
  return std::ranges::any_of(loads_, conflicts) || std::ranges::any_of(stores_, conflicts);
}

std::int16_t OpenProgram::value_of(const LazyOperand& operand, bool narrow_literal) {
  const Reg wanted = ops::register_of(operand.as);
  if (!operand.array) {
    const ops::Constant c = constant_of(operand.scalar, wanted);
    return constant(narrow_literal ? narrowed(c, operand.as) : c, wanted);
  }
  const ArrayBody& body = operand.array->body();
  std::int16_t value = body.pending.load(std::memory_order_relaxed) == this ? body.value : load(body);
  return cast_to(value, body.dtype, operand.as);
}

std::int16_t OpenProgram::cast(std::int16_t value, Reg to) {
  const Reg from = nodes_[value].reg;
  return from == to ? value : emit(Op::cast, to, from, {value, -1, -1});
}

std::int16_t OpenProgram::emit(Op op, Reg reg, Reg operand_reg, std::array<std::int16_t, 3> args) {
  Node node;
  node.op = op;
  node.reg = reg;
  node.operand_reg = operand_reg;
  for (int i = 0; i < 3; ++i) node.args[i] = args[i];
  return append(node);
}

std::int16_t OpenProgram::operate(Op op, std::span<const LazyOperand> operands, Dtype dtype) {
  ++operations_;
  std::array<std::int16_t, 3> args = {-1, -1, -1};
  for (std::size_t i = 0; i < operands.size(); ++i) args[i] = value_of(operands[i], picks(op));
  const Dtype operand_dtype = op == Op::ldexp ? operands[0].as : operands.back().as;
  const Reg operand_reg = ops::register_of(operand_dtype);
  if (op == Op::cast) {
    const std::int16_t value = cast_to(args[0], operand_dtype, dtype);
    // each pending array needs a separate node
    return value != args[0] ? value : emit(Op::cast, operand_reg, operand_reg, args);
  }
  const ops::Rule rule = ops::info(op).rule;
  const bool part = is_complex(operand_dtype) && ops::of_complex(op) == ops::OfComplex::part;
  const Dtype result = part                                                         ? part_dtype(operand_dtype)
                       : rule == ops::Rule::COMPARE || rule == ops::Rule::PREDICATE ? Dtype::bool_
                       : op == Op::frexp_exponent                                   ? Dtype::int32
                                                                                    : operand_dtype;
  const std::int16_t value = emit(op, ops::register_of(result), operand_reg, args);
  return cast_to(picks(op) ? value : narrow(value, result), result, dtype);
}

void OpenProgram::own(ArrayBody& body, std::int16_t value) {
  body.value = value;
  owners_[value] = &body;
  ++live_;
  body.pending.store(this, std::memory_order_release);
}

void OpenProgram::disown(ArrayBody& body) {
  owners_[body.value] = nullptr;
  --live_;
  forget_unwanted();
}

void OpenProgram::keep_for(Use use) {
  const Lock lock(*this);
  use_ = use;
  forget_unwanted();
}

void OpenProgram::forget_unwanted() {
  if (use_ == Use::its_values && live_ == 0 && stores_.empty()) reset();
}

void OpenProgram::store(const ArrayBody& body, std::int16_t value) {
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

bool OpenProgram::loads_from(const Storage& storage) const {
  for (const LoadSlot& load : loads_)
    if (load.storage.get() == &storage) return true;
  return false;
}

void OpenProgram::close(const char* reason, ReduceSpec* reduction, const Axes* order) {
  if (nodes_.empty()) return;
  struct Reset {
    OpenProgram& program;
    ~Reset() { program.reset(); }
  } reset{*this};

  ops::Program& program = started();
  for (const StoreSlot& store : stores_)
    if (store.storage->references() - loads_holding(*store.storage) > 1)
      program.stores.push_back({store.value, store.access});
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    ArrayBody* body = owners_[i];
    if (!body) continue;
    const Ref<Storage> memory(
        new Storage(device_, static_cast<std::size_t>(body->shape.product()) * itemsize(body->dtype)));
    program.stores.push_back({static_cast<std::int16_t>(i), Access{memory->handle(), 0, body->dtype, body->strides}});
    results_.emplace_back(body, memory);
  }
  if (program.stores.empty() && !reduction) return;
  launch(reason, reduction, order);
  for (auto& [body, memory] : results_) {
    body->storage = std::move(memory);
    owners_[body->value] = nullptr;
    body->pending.store(nullptr, std::memory_order_release);
  }
}

void OpenProgram::reduce_ahead(ReduceSpec& reduction, const Axes& order) {
  started();
  launch("a reduction of a temporary", &reduction, &order);
}

void OpenProgram::launch(const char* reason, ReduceSpec* reduction, const Axes* order) {
  extract_needed(program_, reduction);
  if (order && !is_c_order(*order)) ops::permute(program_, *order);
  trace_reason = reason;
  if (reduction) {
    compute(device_, primitives::Reduce{program_, *reduction});
  } else {
    compute(device_, primitives::Run{program_});
  }
  count_kernel();
}

std::optional<std::vector<Segment>> OpenProgram::places_in(const std::vector<std::vector<Array>>& segments) const {
  const std::vector<Array>& first = segments.front();
  const auto number_of = [&](const Access& access) {
    for (std::size_t k = 0; k < first.size(); ++k) {
      const ArrayBody& body = first[k].body();
      if (body.storage->handle() == access.handle && body.offset == access.offset && body.dtype == access.dtype)
        return static_cast<int>(k);
    }
    return -1;
  };
  std::vector<int> loads, stores;
  for (const Access& load : program_.loads) loads.push_back(number_of(load));
  for (const ops::Store& store : program_.stores) stores.push_back(number_of(store.to));
  // every load outside the segments' arrays must be a single number
  for (std::size_t i = 0; i < loads.size(); ++i)
    if (loads[i] < 0 && std::ranges::any_of(program_.loads[i].strides, [](std::int64_t stride) { return stride != 0; }))
      return std::nullopt;
  for (int k : stores)
    if (k < 0) return std::nullopt;
  std::vector<Segment> all;
  for (const std::vector<Array>& arrays : segments) {
    Segment segment;
    segment.size = arrays.front().size();
    if (segment.size == 0) continue;
    const auto place = [&](int k) {
      if (k < 0) return std::pair<void*, std::int64_t>(nullptr, 0);
      const ArrayBody& body = arrays[static_cast<std::size_t>(k)].body();
      return std::pair(body.storage->handle(), body.offset);
    };
    for (int k : loads) segment.loads.push_back(place(k));
    for (int k : stores) segment.stores.push_back(place(k));
    all.push_back(std::move(segment));
  }
  return all;
}

bool OpenProgram::close_for(const std::vector<std::vector<Array>>& segments, const View* unless,
                            std::vector<Array>& copies) {
  if (live_ != static_cast<decltype(live_)>(copies.size()) || stores_.empty()) return false;
  ops::Program& program = started();
  for (const StoreSlot& store : stores_) program.stores.push_back({store.value, store.access});
  extract_needed(program, nullptr);
  const std::optional<std::vector<Segment>> all = places_in(segments);
  if (!all) return false;
  copies.clear();
  compute(device_, primitives::RunSegments{program, *all, unless});
  count_kernel();
  reset();
  return true;
}

bool OpenProgram::close_for_any(const std::vector<std::vector<Array>>& segments, Array& value, const View& flag) {
  if (live_ != 1 || !stores_.empty() || value.body().pending.load(std::memory_order_relaxed) != this) return false;
  ReduceSpec wanted;
  wanted.value = value.body().value;
  extract_needed(started(), &wanted);
  const std::optional<std::vector<Segment>> all = places_in(segments);
  if (!all || program_.nodes[static_cast<std::size_t>(wanted.value)].reg != Reg::b) return false;
  value = Array();
  const Flag raised{wanted.value, flag};
  compute(device_, primitives::RunSegments{program_, *all, nullptr, &raised});
  count_kernel();
  reset();
  return true;
}

std::int16_t OpenProgram::append(const Node& node) {
  nodes_.push_back(node);
  owners_.push_back(nullptr);
  return static_cast<std::int16_t>(nodes_.size() - 1);
}

std::int16_t OpenProgram::constant(ops::Constant value, Reg reg) {
  for (const ConstantSlot& slot : constants_)
    if (slot.constant.u == value.u &&
        std::bit_cast<std::uint64_t>(slot.constant.imag) == std::bit_cast<std::uint64_t>(value.imag) &&
        nodes_[slot.value].reg == reg)
      return slot.value;
  constants_.push_back({value, static_cast<std::int16_t>(nodes_.size())});
  Node node;
  node.op = Op::constant;
  node.reg = reg;
  node.slot = static_cast<std::int16_t>(constants_.size() - 1);
  return append(node);
}

std::int16_t OpenProgram::load(const ArrayBody& body) {
  const Access access = access_of(body, shape_);
  if (body.storage->pending_writer.load(std::memory_order_relaxed) == this) {
    for (const StoreSlot& store : stores_)
      if (same_place(store.access, access)) return store.value;
  }
  for (const LoadSlot& slot : loads_)
    if (same_place(slot.access, access)) return slot.value;
  if (!loads_from(*body.storage)) {
    body.storage->pending_readers.fetch_add(1, std::memory_order_acq_rel);
    loaded_bytes_ += body.storage->bytes();
  }
  loads_.push_back({body.storage, access, static_cast<std::int16_t>(nodes_.size())});
  Node node;
  node.op = Op::load;
  node.reg = ops::register_of(body.dtype);
  node.slot = static_cast<std::int16_t>(loads_.size() - 1);
  return append(node);
}

std::int16_t OpenProgram::narrow(std::int16_t value, Dtype dtype) {
  const Op op = ops::narrowing(dtype);
  const Reg reg = nodes_[value].reg;
  return op == Op::count ? value : emit(op, reg, reg, {value, -1, -1});
}

std::int16_t OpenProgram::cast_to(std::int16_t value, Dtype from, Dtype to) {
  if (from == to) return value;
  if (fits(from, to)) return cast(value, ops::register_of(to));
  // by way of float32 a float64 would be rounded twice
  if (from == Dtype::float64 && is_16bit_float(to)) return cast(narrow(value, to), ops::register_of(to));
  return narrow(cast(value, ops::register_of(to)), to);
}

int OpenProgram::loads_holding(const Storage& storage) const {
  int n = 0;
  for (const LoadSlot& load : loads_) n += load.storage.get() == &storage;
  for (const StoreSlot& store : stores_) n += store.storage.get() == &storage;
  return n - 1;  // does not count the store that asks
}

std::size_t OpenProgram::retained_bytes() const {
  std::size_t bytes = 0;
  for (const LoadSlot& load : loads_)
    if (load.storage->references() == 1) bytes += load.storage->bytes();
  return bytes;
}

ops::Program& OpenProgram::started() {
  program_.shape = shape_;
  program_.nodes.clear();
  program_.loads.clear();
  program_.constants.clear();
  program_.stores.clear();
  return program_;
}

void OpenProgram::extract_needed(ops::Program& program, ReduceSpec* reduction) {
  constexpr std::int16_t kNotNeeded = -1, kNeeded = -2;  // until the node has its number
  std::array<std::int16_t, kMaxRuleNodes> number;
  std::fill_n(number.begin(), nodes_.size(), kNotNeeded);
  for (const ops::Store& store : program.stores) number[store.value] = kNeeded;
  if (reduction) number[reduction->value] = kNeeded;
  for (int i = static_cast<int>(nodes_.size()) - 1; i >= 0; --i)
    if (number[i] == kNeeded)
      for (std::int16_t arg : nodes_[i].args)
        if (arg >= 0) number[arg] = kNeeded;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (number[i] == kNotNeeded) continue;
    Node node = nodes_[i];
    if (node.op == Op::load) {
      program.loads.push_back(loads_[node.slot].access);
      node.slot = static_cast<std::int16_t>(program.loads.size() - 1);
    } else if (node.op == Op::constant) {
      program.constants.push_back(constants_[node.slot].constant);
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

void OpenProgram::reset() {
  for (ArrayBody* body : owners_)
    if (body) body->pending.store(nullptr, std::memory_order_release);  // its kernel failed, so the array has no value
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    bool first = true;
    for (std::size_t j = 0; j < i; ++j) first = first && !(loads_[j].storage == loads_[i].storage);
    if (first) loads_[i].storage->pending_readers.fetch_sub(1, std::memory_order_acq_rel);
  }
  for (StoreSlot& store : stores_) store.storage->pending_writer.store(nullptr, std::memory_order_release);
  const auto release = [&](auto& slots) {
    for (auto& slot : slots)
      if (slot.storage->has_owner()) released_.push_back(std::move(slot.storage));
    slots.clear();
  };
  nodes_.clear();
  owners_.clear();
  constants_.clear();
  release(loads_);
  release(stores_);
  operations_ = 0;
  live_ = 0;
  loaded_bytes_ = 0;
  results_.clear();
}

}  // namespace catenary
