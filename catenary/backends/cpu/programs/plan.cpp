#include "catenary/backends/cpu/programs/plan.h"

#if defined(__SSE2__)
#  include <emmintrin.h>
#endif

#include <cstring>
#include <memory>

#include "catenary/core/format.h"
#include "catenary/device/deferred.h"
#include "catenary/ops/op_names.h"

namespace catenary::cpu {

using ops::Access;
using ops::Node;
using ops::Op;

namespace {

char* address(const Access& access, std::int64_t element = 0) {
  return static_cast<char*>(access.handle) +
         (access.offset + element) * static_cast<std::int64_t>(itemsize(access.dtype));
}

bool walks_linearly(const Strides& strides, const Shape& shape) {
  std::int64_t expected = 1;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

bool same_as_register(Dtype dtype, ops::Reg reg) {
  return ops::register_of(dtype) == reg && static_cast<int>(itemsize(dtype)) == ops::register_size(reg);
}

constexpr std::int64_t kStreamFrom = std::int64_t{32} << 20;  // bytes

/// memcpy that bypasses the caches: a line that is written whole need not be read first.
void stream(char* to, const char* from, std::int64_t bytes) {
#if defined(__SSE2__)
  constexpr std::int64_t kLine = 64;
  if (reinterpret_cast<std::uintptr_t>(to) % kLine == 0) {
    for (; bytes >= kLine; bytes -= kLine, to += kLine, from += kLine)
      for (int i = 0; i < kLine; i += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
#endif
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

char* scratch(std::size_t registers) {
  struct Buffer {
    std::unique_ptr<char[]> memory;
    std::size_t size = 0;
  };
  thread_local Buffer buffer;
  const std::size_t need = registers * kRegisterBytes + 64;
  if (buffer.size < need) {
    buffer.memory = std::make_unique_for_overwrite<char[]>(need);
    buffer.size = need;
  }
  return reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(buffer.memory.get()) + 63) / 64 * 64);
}

namespace {
const ThreadState kScratch([] { scratch(0); });
}

Plan::Plan(const ops::Program& program, int kept_node, bool any_begin)
    : program_(program), table_(kernel_table()), size_(program.shape.product()), any_begin_(any_begin) {
  const int n = static_cast<int>(program.nodes.size());
  if (n > kMaxNodes) fail<ValueError>("internal: a program of {} nodes", n);
  LastUse last_use;
  bool products = false;
  for (int i = 0; i < n; ++i) {
    const Node& node = program.nodes[i];
    args_[i] = {node.args[0], node.args[1], node.args[2]};
    kind_[i] = kind_of(node);
    if (kind_[i] == Kind::repeated && !any_begin) step_ = kBlock / program.shape.back() * program.shape.back();
    products = products || node.op == Op::multiply;
    kernel_[i] = node.op == Op::cast ? table_.cast[static_cast<int>(node.operand_reg)][static_cast<int>(node.reg)]
                                     : table_.op[static_cast<int>(node.op)][static_cast<int>(node.operand_reg)];
    direct_store_[i] = -1;
  }
  if (products) join_products(kept_node, n);
  for (int i = 0; i < n; ++i) {
    last_use[i] = i;
    for (std::int16_t arg : args_[i])
      if (arg >= 0) last_use[arg] = i;
  }
  for (const ops::Store& store : program.stores) last_use[store.value] = n;
  if (kept_node >= 0) last_use[kept_node] = n;
  // the blocks of a reduction have nobody who calls finish
  for (std::size_t s = 0; s < program.stores.size(); ++s)
    choose_direct(static_cast<int>(s), last_use, n, kept_node < 0);  // reductions do not call finish()
  assign_registers(last_use, n);
}

namespace {

// Prefetches the next block while this block is computed: a block is a page, and hardware prefetchers stop at page
// boundaries. If nothing is written, as in a reduction, the start of the block is enough for the hardware to continue.
void ask_for(const char* next, std::int64_t bytes, bool whole) {
  if (!whole) bytes = std::min<std::int64_t>(bytes, 512);
  for (std::int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(next + i, 0, 2);
}

}  // namespace

void Plan::start(char* registers) const {
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    const Node& node = program_.nodes[i];
    if (kind_[i] == Kind::constant) {
      const ops::Constant& value = program_.constants[node.slot];
      const float single = static_cast<float>(value.f);
      const std::int32_t small = static_cast<std::int32_t>(value.i);
      const std::uint8_t boolean = value.i != 0;
      const void* from = &value;
      if (node.reg == ops::Reg::f32) from = &single;
      if (node.reg == ops::Reg::i32) from = &small;
      if (node.reg == ops::Reg::b) from = &boolean;
      const float singles[] = {single, static_cast<float>(value.imag)};
      const double doubles[] = {value.f, value.imag};
      if (node.reg == ops::Reg::c64) from = singles;
      if (node.reg == ops::Reg::c128) from = doubles;
      table_.fill[static_cast<int>(node.reg)](registers + register_[i] * kRegisterBytes, from, filled());
    } else if (kind_[i] == Kind::uniform) {
      const Access& access = program_.loads[node.slot];
      table_.load[static_cast<int>(access.dtype)](registers + register_[i] * kRegisterBytes, address(access), 0,
                                                  filled());
    } else if (kind_[i] == Kind::repeated) {
      // a block that begins inside a row needs another row
      gather(program_.loads[node.slot], 0, any_begin_ ? std::min(2 * kBlock, size_) : filled(),
             registers + register_[i] * kRegisterBytes, ops::register_size(node.reg));
    }
  }
}

const void* Plan::block(std::int64_t begin, std::int64_t n, char* registers, int wanted) const {
  const void* values[kMaxNodes];
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    const Node& node = program_.nodes[i];
    char* own = registers + register_[i] * kRegisterBytes;
    switch (kind_[i]) {
      case Kind::constant:
      case Kind::uniform:
        values[i] = own;
        break;
      case Kind::repeated:
        values[i] = own + (any_begin_ ? begin % program_.shape.back() * ops::register_size(node.reg) : 0);
        break;
      case Kind::in_memory:
        values[i] = address(program_.loads[node.slot], begin);
        if (begin + n < size_)
          ask_for(static_cast<const char*>(values[i]) + n * ops::register_size(node.reg),
                  n * ops::register_size(node.reg), !program_.stores.empty());
        break;
      case Kind::gathered:
        gather(program_.loads[node.slot], begin, n, own, ops::register_size(node.reg));
        values[i] = own;
        break;
      case Kind::computed: {
        void* out = own;
        if (direct_store_[i] >= 0) out = address(program_.stores[direct_store_[i]].to, begin);
        const Args& args = args_[i];
        kernel_[i](out, values[args[0]], args[1] >= 0 ? values[args[1]] : nullptr,
                   args[2] >= 0 ? values[args[2]] : nullptr, n);
        values[i] = out;
        break;
      }
      case Kind::joined:
        break;
    }
  }
  for (std::size_t s = 0; s < program_.stores.size(); ++s) {
    const ops::Store& store = program_.stores[s];
    const int size = ops::register_size(program_.nodes[store.value].reg);
    if (streamed_ >> s & 1) {
      stream(address(store.to, begin), static_cast<const char*>(values[store.value]), n * size);
    } else if (direct_store_[store.value] != static_cast<int>(s)) {
      scatter(store.to, begin, n, static_cast<const char*>(values[store.value]), size);
    }
  }
  return wanted >= 0 ? values[wanted] : nullptr;
}

void Plan::finish() const {
#if defined(__SSE2__)
  if (streamed_) _mm_sfence();
#endif
}

std::int64_t Plan::grain() const {
  constexpr std::int64_t kFew = 4, kFunction = 12;  // cost in operations; kFunction for exp and similar functions
  std::int64_t work = 0;
  for (std::size_t i = 0; i < program_.nodes.size(); ++i)
    if (kind_[i] == Kind::computed) work += ops::info(program_.nodes[i].op).rule == ops::Rule::FLOAT ? kFunction : 1;
  return std::max<std::int64_t>(1, kGrain / kBlock * kFew / std::max(work, kFew));
}

const void* Plan::in_memory(int node, std::int64_t begin) const {
  if (kind_[node] != Kind::in_memory || !program_.stores.empty()) return nullptr;
  return address(program_.loads[program_.nodes[node].slot], begin);
}

void Plan::join_products(int kept_node, int n) {
  std::array<std::int16_t, kMaxNodes> readers;
  std::fill_n(readers.begin(), n, std::int16_t{0});
  for (int i = 0; i < n; ++i)
    for (std::int16_t arg : args_[i])
      if (arg >= 0) ++readers[arg];
  for (const ops::Store& store : program_.stores) ++readers[store.value];
  if (kept_node >= 0) ++readers[kept_node];
  for (int i = 0; i < n; ++i) {
    const Node& node = program_.nodes[i];
    if (node.op != Op::add && node.op != Op::subtract) continue;
    for (int side : {1, 0}) {
      const std::int16_t product = args_[i][side];
      if (program_.nodes[product].op != Op::multiply || readers[product] != 1) continue;
      const Joined form = node.op == Op::add ? Joined::a_times_b_plus_c
                          : side == 0        ? Joined::a_times_b_minus_c
                                             : Joined::c_minus_a_times_b;
      const OpKernel loop = table_.joined[static_cast<int>(form)][static_cast<int>(node.reg)];
      if (!loop) continue;
      args_[i] = {args_[product][0], args_[product][1], args_[i][1 - side]};
      kernel_[i] = loop;
      kind_[product] = Kind::joined;
      break;
    }
  }
}

void Plan::choose_direct(int s, const LastUse& last_use, int n, bool may_stream) {
  const ops::Store& store = program_.stores[s];
  const Node& node = program_.nodes[store.value];
  if (node.op == Op::load || node.op == Op::constant || direct_store_[store.value] >= 0) return;
  if (!same_as_register(store.to.dtype, node.reg) || !walks_linearly(store.to.strides, program_.shape)) return;
  bool is_read = false, is_read_later = false;
  for (int i = 0; i < n; ++i) {
    const Node& other = program_.nodes[i];
    if (other.op != Op::load || program_.loads[other.slot].handle != store.to.handle) continue;
    is_read = true;
    is_read_later = is_read_later || last_use[i] > store.value;
  }
  if (may_stream && !is_read && program_.shape.product() * ops::register_size(node.reg) >= kStreamFrom) {
    streamed_ |= std::int64_t{1} << s;
  } else if (!is_read_later) {
    direct_store_[store.value] = s;
  }
}

Plan::Kind Plan::kind_of(const Node& node) const {
  if (node.op == Op::constant) return Kind::constant;
  if (node.op != Op::load) return Kind::computed;
  const Access& access = program_.loads[node.slot];
  const Strides& strides = access.strides;
  if (same_as_register(access.dtype, node.reg) && walks_linearly(strides, program_.shape)) return Kind::in_memory;
  const int ndim = strides.size();
  int still = 0;  // outer axes along which the load's address is constant
  while (still < ndim && strides[still] == 0) ++still;
  if (still > 0 && still == ndim) return Kind::uniform;
  const bool has_room = !any_begin_ || 2 * ops::register_size(node.reg) <= static_cast<int>(kRegisterBytes / kBlock);
  if (still > 0 && still == ndim - 1 && program_.shape.back() <= kBlock && has_room) return Kind::repeated;
  return Kind::gathered;
}

void Plan::assign_registers(const LastUse& last_use, int n) {
  std::array<int, kMaxNodes> free_at;  // for each register, the last node that uses it
  // Values shared by all blocks are stored before the first node runs, so their registers are exclusive.
  for (int i = 0; i < n; ++i) {
    if (!stays(kind_[i])) continue;
    register_[i] = registers_;
    free_at[registers_++] = n + 1;
  }
  for (int i = 0; i < n; ++i) {
    if (stays(kind_[i])) continue;
    register_[i] = 0;
    if (kind_[i] == Kind::in_memory || kind_[i] == Kind::joined || direct_store_[i] >= 0) continue;
    int r = 0;
    while (r < registers_ && free_at[r] > i)
      ++r;  // a node may overwrite the register that it reads last, because loops allow out == a
    if (r == registers_) ++registers_;
    // unless the operand has another element size
    while (r < registers_ && operand_of_other_size(i, r)) {
      ++r;
      while (r < registers_ && free_at[r] > i) ++r;
    }
    if (r == registers_) ++registers_;
    free_at[r] = std::max(last_use[i], i + 1);
    register_[i] = r;
  }
}

bool Plan::operand_of_other_size(int i, int r) const {
  const Node& node = program_.nodes[i];
  for (std::int16_t arg : args_[i]) {
    if (arg < 0 || register_[arg] != r || kind_[arg] == Kind::in_memory || direct_store_[arg] >= 0) continue;
    if (ops::register_size(program_.nodes[arg].reg) != ops::register_size(node.reg)) return true;
  }
  return false;
}

void Plan::gather(const Access& access, std::int64_t begin, std::int64_t n, char* out, int size) const {
  const LoadKernel load = table_.load[static_cast<int>(access.dtype)];
  const char* base = address(access);
  const std::int64_t bytes = static_cast<std::int64_t>(itemsize(access.dtype));
  const std::int64_t stride = access.strides.empty() ? 0 : access.strides.back();
  for_each_run(program_.shape, begin, n, [&](const std::int64_t* index, std::int64_t done, std::int64_t length) {
    load(out + done * size, base + element_at(access.strides, index) * bytes, stride, length);
  });
}

void Plan::scatter(const Access& access, std::int64_t begin, std::int64_t n, const char* in, int size) const {
  const StoreKernel store = table_.store[static_cast<int>(access.dtype)];
  char* base = address(access);
  const std::int64_t bytes = static_cast<std::int64_t>(itemsize(access.dtype));
  const std::int64_t stride = access.strides.empty() ? 1 : access.strides.back();
  for_each_run(program_.shape, begin, n, [&](const std::int64_t* index, std::int64_t done, std::int64_t length) {
    store(base + element_at(access.strides, index) * bytes, stride, in + done * size, length);
  });
}

}  // namespace catenary::cpu
