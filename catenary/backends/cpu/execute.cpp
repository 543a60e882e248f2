#include "catenary/backends/cpu/execute.h"

#include <algorithm>
#include <array>
#include <memory>

#include "catenary/backends/cpu/kernel_table.h"
#include "catenary/core/flush_subnormals.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"
#include "catenary/device/segment.h"

namespace catenary::cpu {

namespace {

using ops::Access;
using ops::Node;
using ops::Op;

constexpr std::int64_t kBlock = 1024;   // elements of a register
constexpr std::int64_t kGrain = 16384;  // elements that are worth a thread
constexpr int kMaxNodes = 96;
constexpr std::size_t kRegisterBytes = kBlock * 8;

char* address(const Access& access) {
  return static_cast<char*>(access.handle) + access.offset * static_cast<std::int64_t>(itemsize(access.dtype));
}

/// Scratch registers of one thread, kept from program to program.
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

std::int64_t element_at(const Strides& strides, const std::int64_t* index) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < strides.size(); ++axis) offset += index[axis] * strides[axis];
  return offset;
}

bool walks_linearly(const Strides& strides, const Shape& shape) {
  std::int64_t expected = 1;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

/// A program made ready: where each node's block of values lies.
class Plan {
 public:
  Plan(const ops::Program& program, int kept_node) : program_(program), table_(kernel_table()) {
    const int n = static_cast<int>(program.nodes.size());
    if (n > kMaxNodes) fail<ValueError>("internal: a program of {} nodes", n);
    std::array<int, kMaxNodes> last_use;
    bool products = false;
    for (int i = 0; i < n; ++i) {
      const Node& node = program.nodes[i];
      args_[i] = {node.args[0], node.args[1], node.args[2]};
      kind_[i] = kind_of(node);
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
    for (std::size_t s = 0; s < program.stores.size(); ++s) choose_direct(static_cast<int>(s), last_use, n);
    assign_registers(last_use, n);
  }

  int registers() const { return registers_; }

  /// The values that are the same in every block: constants, and loads of one element.
  void start(char* registers) const {
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
        table_.fill[static_cast<int>(node.reg)](registers + register_[i] * kRegisterBytes, from, filled());
      } else if (kind_[i] == Kind::uniform) {
        const Access& access = program_.loads[node.slot];
        table_.load[static_cast<int>(access.dtype)](registers + register_[i] * kRegisterBytes, address(access), 0,
                                                    filled());
      }
    }
  }

  /// Computes elements [begin, begin + n) of the linear iteration and stores them. Returns where node `wanted` has its
  /// values.
  const void* block(std::int64_t begin, std::int64_t n, char* registers, int wanted) const {
    const void* values[kMaxNodes];
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      const Node& node = program_.nodes[i];
      char* own = registers + register_[i] * kRegisterBytes;
      switch (kind_[i]) {
        case Kind::constant:
        case Kind::uniform:
          values[i] = own;
          break;
        case Kind::in_memory: {
          const Access& access = program_.loads[node.slot];
          values[i] = address(access) + begin * static_cast<std::int64_t>(itemsize(access.dtype));
          break;
        }
        case Kind::gathered:
          gather(program_.loads[node.slot], begin, n, own, ops::register_size(node.reg));
          values[i] = own;
          break;
        case Kind::computed: {
          void* out = own;
          if (direct_store_[i] >= 0) {
            const Access& to = program_.stores[direct_store_[i]].to;
            out = address(to) + begin * static_cast<std::int64_t>(itemsize(to.dtype));
          }
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
      if (direct_store_[store.value] != static_cast<int>(s))
        scatter(store.to, begin, n, static_cast<const char*>(values[store.value]),
                ops::register_size(program_.nodes[store.value].reg));
    }
    return wanted >= 0 ? values[wanted] : nullptr;
  }

 private:
  enum class Kind : std::uint8_t { constant, uniform, in_memory, gathered, computed, joined };
  using Args = std::array<std::int16_t, 3>;

  std::int64_t filled() const { return std::min(kBlock, program_.shape.product()); }

  /// A product that nothing but one sum or difference reads is computed along with that: a loop less, the same bits.
  void join_products(int kept_node, int n) {
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

  /// A computed value whose memory looks like its register is written there at once, unless a later node still reads
  /// that memory.
  void choose_direct(int s, const std::array<int, kMaxNodes>& last_use, int n) {
    const ops::Store& store = program_.stores[s];
    const Node& node = program_.nodes[store.value];
    if (node.op == Op::load || node.op == Op::constant || direct_store_[store.value] >= 0) return;
    if (!same_as_register(store.to.dtype, node.reg) || !walks_linearly(store.to.strides, program_.shape)) return;
    for (int i = 0; i < n; ++i) {
      const Node& other = program_.nodes[i];
      if (other.op == Op::load && program_.loads[other.slot].handle == store.to.handle && last_use[i] > store.value)
        return;
    }
    direct_store_[store.value] = s;
  }

  static bool same_as_register(Dtype dtype, ops::Reg reg) {
    return ops::register_of(dtype) == reg && static_cast<int>(itemsize(dtype)) == ops::register_size(reg);
  }

  Kind kind_of(const Node& node) const {
    if (node.op == Op::constant) return Kind::constant;
    if (node.op != Op::load) return Kind::computed;
    const Access& access = program_.loads[node.slot];
    const Strides& strides = access.strides;
    if (!strides.empty() && std::all_of(strides.begin(), strides.end(), [](std::int64_t s) { return s == 0; }))
      return Kind::uniform;
    return same_as_register(access.dtype, node.reg) && walks_linearly(strides, program_.shape) ? Kind::in_memory
                                                                                               : Kind::gathered;
  }

  void assign_registers(const std::array<int, kMaxNodes>& last_use, int n) {
    std::array<int, kMaxNodes> free_at;  // of each register: the node after which it is free
    // What is the same in every block is filled before the first node runs, so it shares its register with nobody.
    for (int i = 0; i < n; ++i) {
      if (kind_[i] != Kind::constant && kind_[i] != Kind::uniform) continue;
      register_[i] = registers_;
      free_at[registers_++] = n + 1;
    }
    for (int i = 0; i < n; ++i) {
      if (kind_[i] == Kind::constant || kind_[i] == Kind::uniform) continue;
      register_[i] = 0;
      if (kind_[i] == Kind::in_memory || kind_[i] == Kind::joined || direct_store_[i] >= 0) continue;
      int r = 0;
      while (r < registers_ && free_at[r] > i)
        ++r;  // a register is free for the node that last reads it: loops allow out == a
      if (r == registers_) ++registers_;
      // an operand of another size must not be overwritten while it is read
      while (r < registers_ && operand_of_other_size(i, r)) {
        ++r;
        while (r < registers_ && free_at[r] > i) ++r;
      }
      if (r == registers_) ++registers_;
      free_at[r] = std::max(last_use[i], i + 1);
      register_[i] = r;
    }
  }

  bool operand_of_other_size(int i, int r) const {
    const Node& node = program_.nodes[i];
    for (std::int16_t arg : args_[i]) {
      if (arg < 0 || register_[arg] != r || kind_[arg] == Kind::in_memory || direct_store_[arg] >= 0) continue;
      if (ops::register_size(program_.nodes[arg].reg) != ops::register_size(node.reg)) return true;
    }
    return false;
  }

  void gather(const Access& access, std::int64_t begin, std::int64_t n, char* out, int size) const {
    const LoadKernel load = table_.load[static_cast<int>(access.dtype)];
    const char* base = address(access);
    const std::int64_t bytes = static_cast<std::int64_t>(itemsize(access.dtype));
    const std::int64_t stride = access.strides.empty() ? 0 : access.strides.back();
    for_each_run(program_.shape, begin, n, [&](const std::int64_t* index, std::int64_t done, std::int64_t length) {
      load(out + done * size, base + element_at(access.strides, index) * bytes, stride, length);
    });
  }

  void scatter(const Access& access, std::int64_t begin, std::int64_t n, const char* in, int size) const {
    const StoreKernel store = table_.store[static_cast<int>(access.dtype)];
    char* base = address(access);
    const std::int64_t bytes = static_cast<std::int64_t>(itemsize(access.dtype));
    const std::int64_t stride = access.strides.empty() ? 1 : access.strides.back();
    for_each_run(program_.shape, begin, n, [&](const std::int64_t* index, std::int64_t done, std::int64_t length) {
      store(base + element_at(access.strides, index) * bytes, stride, in + done * size, length);
    });
  }

  const ops::Program& program_;
  const KernelTable& table_;
  std::array<Kind, kMaxNodes> kind_;
  std::array<Args, kMaxNodes> args_;        // what a node's loop reads
  std::array<OpKernel, kMaxNodes> kernel_;  // and the loop, where it is computed
  std::array<int, kMaxNodes> register_;
  std::array<int, kMaxNodes> direct_store_;  // the store that a node writes by itself, or -1
  int registers_ = 0;
};

}  // namespace

void run(ops::Program& program) {
  ops::collapse(program);
  const Plan plan(program, -1);
  const std::int64_t size = program.shape.product();
  const std::int64_t blocks = (size + kBlock - 1) / kBlock;
  parallel_for(blocks, kGrain / kBlock, [&](std::int64_t begin, std::int64_t end) {
    char* registers = scratch(static_cast<std::size_t>(plan.registers()));
    plan.start(registers);
    for (std::int64_t b = begin; b < end; ++b)
      plan.block(b * kBlock, std::min(kBlock, size - b * kBlock), registers, -1);
  });
}

void run_segments(const ops::Program& program, const std::vector<Segment>& segments) {
  std::vector<ops::Program> programs;
  programs.reserve(segments.size());
  std::vector<Plan> plans;
  plans.reserve(segments.size());
  std::vector<std::int64_t> first_block{0};
  for (const Segment& segment : segments) {
    plans.emplace_back(programs.emplace_back(program_over(program, segment)), -1);
    first_block.push_back(first_block.back() + (segment.size + kBlock - 1) / kBlock);
  }
  parallel_for(first_block.back(), kGrain / kBlock, [&](std::int64_t begin, std::int64_t end) {
    // What an optimizer keeps decays geometrically where gradients are zero, and would then be subnormal for good.
    const FlushSubnormals flush;
    std::size_t i = static_cast<std::size_t>(std::upper_bound(first_block.begin(), first_block.end(), begin) -
                                             first_block.begin()) -
                    1;
    for (std::int64_t b = begin; b < end; ++i) {
      char* registers = scratch(static_cast<std::size_t>(plans[i].registers()));
      plans[i].start(registers);
      for (; b < std::min(end, first_block[i + 1]); ++b) {
        const std::int64_t at = (b - first_block[i]) * kBlock;
        plans[i].block(at, std::min(kBlock, segments[i].size - at), registers, -1);
      }
    }
  });
}

namespace {

/// One reduction made ready: its plan, where the outputs are, and the loops to use.
class Reduction {
 public:
  Reduction(ops::Program& program, const ReduceSpec& spec) : program_(program), spec_(spec) {
    reduced_ = ops::collapse_for_reduction(program, spec.axes);
    out_strides_ = Strides::filled(program.shape.size(), 0);
    std::int64_t stride = 1;
    for (int axis = program.shape.size() - 1; axis >= 0; --axis) {
      if (reduced_[axis]) continue;
      out_strides_[axis] = stride;
      stride *= program.shape[axis];
    }
    outputs_ = stride;
    const KernelTable& table = kernel_table();
    const int op = static_cast<int>(spec.op), reg = static_cast<int>(program.nodes[spec.value].reg);
    row_ = table.reduce_row[op][reg];
    column_ = table.reduce_column[op][reg];
    identity_ = table.identity[op][reg];
    store_ = table.store[static_cast<int>(spec.out.dtype)];
    if (!row_ || ops::register_of(spec.out.dtype) != program.nodes[spec.value].reg)
      fail<DtypeError>("internal: {} of {} into {}", ops::info(spec.op).name,
                       ops::register_name(program.nodes[spec.value].reg), spec.out.dtype);
    size_ = ops::register_size(program.nodes[spec.value].reg);
  }

  void run() {
    const Plan plan(program_, spec_.value);
    plan_ = &plan;
    const Shape& shape = program_.shape;
    const std::int64_t total = shape.product();
    if (total == 0) {
      std::vector<char> identities(static_cast<std::size_t>(outputs_) * size_);
      identity_(identities.data(), nullptr, outputs_);
      return finish(identities.data(), 0, outputs_);
    }
    const bool leading_kept = shape.empty() || !reduced_[0];
    if (shape.size() == 2 && !leading_kept && !reduced_[1] && shape[1] >= 512) {
      run_columns();
    } else if (leading_kept) {
      const std::int64_t inner = shape.empty() ? 1 : total / shape[0];
      const std::int64_t outer = shape.empty() ? 1 : shape[0];
      const std::int64_t inner_outputs = outputs_ / outer;
      parallel_for(outer, std::max<std::int64_t>(1, kGrain / inner), [&](std::int64_t begin, std::int64_t end) {
        std::vector<char> accumulators(static_cast<std::size_t>((end - begin) * inner_outputs) * size_);
        identity_(accumulators.data(), nullptr, (end - begin) * inner_outputs);
        accumulate(begin * inner, end * inner, accumulators.data(), begin * inner_outputs);
        finish(accumulators.data(), begin * inner_outputs, (end - begin) * inner_outputs);
      });
    } else {
      run_chunks(total);
    }
  }

 private:
  /// The first axis goes: it is cut into chunks, by the shape only, each with its own accumulators.
  void run_chunks(std::int64_t total) {
    const std::int64_t extent = program_.shape[0], inner = total / extent;
    const std::int64_t most = std::max<std::int64_t>(1, std::min<std::int64_t>(64, total / (8 * outputs_)));
    std::int64_t chunk = std::max<std::int64_t>((extent + most - 1) / most, (kGrain + inner - 1) / inner);
    if (inner == 1) chunk = (chunk + kBlock - 1) / kBlock * kBlock;
    const std::int64_t chunks = (extent + chunk - 1) / chunk;
    std::vector<char> accumulators(static_cast<std::size_t>(chunks * outputs_) * size_);
    identity_(accumulators.data(), nullptr, chunks * outputs_);
    parallel_for(chunks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        accumulate(c * chunk * inner, std::min(extent, (c + 1) * chunk) * inner,
                   accumulators.data() + c * outputs_ * size_, 0);
      }
    });
    for (std::int64_t c = 1; c < chunks; ++c)
      column_(accumulators.data(), accumulators.data() + c * outputs_ * size_, outputs_);
    finish(accumulators.data(), 0, outputs_);
  }

  /// [reduced, kept] with long rows: tiles of columns, whose accumulators stay in the cache. Groups of 64 rows keep the
  /// error low.
  void run_columns() {
    const std::int64_t rows = program_.shape[0], columns = program_.shape[1];
    const std::int64_t tiles = (columns + kBlock - 1) / kBlock;
    parallel_for(tiles, std::max<std::int64_t>(1, kGrain / (kBlock * rows)), [&](std::int64_t begin, std::int64_t end) {
      char* registers = scratch(static_cast<std::size_t>(plan_->registers()) + 2);
      char* group = registers + plan_->registers() * kRegisterBytes;
      char* all = group + kRegisterBytes;
      plan_->start(registers);
      for (std::int64_t tile = begin; tile < end; ++tile) {
        const std::int64_t first = tile * kBlock, n = std::min(kBlock, columns - first);
        identity_(all, nullptr, n);
        for (std::int64_t row = 0; row < rows;) {
          identity_(group, nullptr, n);
          for (const std::int64_t stop = std::min(rows, row + 64); row < stop; ++row)
            column_(group, plan_->block(row * columns + first, n, registers, spec_.value), n);
          column_(all, group, n);
        }
        finish(all, first, n);
      }
    });
  }

  /// Adds elements [begin, end) of the linear iteration to accumulators whose first one is output `first_output`.
  void accumulate(std::int64_t begin, std::int64_t end, char* accumulators, std::int64_t first_output) const {
    char* registers = scratch(static_cast<std::size_t>(plan_->registers()));
    plan_->start(registers);
    const Shape& shape = program_.shape;
    const bool along_rows = !shape.empty() && reduced_.back();
    // blocks hold whole rows, or parts of one row: so a row's sum does not depend on where the row lies
    const std::int64_t row = along_rows ? shape.back() : 1;
    const std::int64_t step = row >= kBlock ? row : kBlock / row * row;
    for (std::int64_t at = begin; at < end; at += step) {
      for (std::int64_t part = at; part < std::min(end, at + step); part += kBlock) {
        const std::int64_t n = std::min({kBlock, at + step - part, end - part});
        const char* values = static_cast<const char*>(plan_->block(part, n, registers, spec_.value));
        for_each_run(shape, part, n, [&](const std::int64_t* index, std::int64_t done, std::int64_t length) {
          const std::int64_t output = index ? element_at(out_strides_, index) : 0;
          char* accumulator = accumulators + (output - first_output) * size_;
          if (along_rows) {
            row_(accumulator, values + done * size_, length);
          } else {
            column_(accumulator, values + done * size_, length);
          }
        });
      }
    }
  }

  void finish(const char* accumulators, std::int64_t first, std::int64_t n) const {
    store_(static_cast<char*>(spec_.out.data()) + first * static_cast<std::int64_t>(itemsize(spec_.out.dtype)), 1,
           accumulators, n);
  }

  ops::Program& program_;
  const ReduceSpec& spec_;
  const Plan* plan_ = nullptr;
  std::vector<bool> reduced_;
  Strides out_strides_;
  std::int64_t outputs_ = 1;
  ReduceRowKernel row_ = nullptr;
  ReduceColumnKernel column_ = nullptr;
  FillKernel identity_ = nullptr;
  StoreKernel store_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace

void reduce(ops::Program& program, const ReduceSpec& spec) { Reduction(program, spec).run(); }

}  // namespace catenary::cpu
