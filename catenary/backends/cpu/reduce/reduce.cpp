#include <algorithm>
#include <vector>

#include "catenary/backends/cpu/primitives.h"
#include "catenary/backends/cpu/programs/plan.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {

namespace {

constexpr std::int64_t kWideRow = 256;  // short rows are combined up to this many elements

/// A prepared reduction: its plan, the positions of outputs, and the loops to use.
class Reduction {
 public:
  Reduction(ops::Program& program, const ReduceSpec& spec) : program_(program), spec_(spec) {
    // Merges adjacent axes that no operand requires to be separate, since the order of a sum must not depend on other
    // operands.
    const std::vector<bool> reduced = ops::collapse_for_reduction(program, spec.axes);
    for (int axis = 0; axis < program.shape.size(); ++axis) {
      if (axis == 0 || reduced[axis] != reduced[axis - 1]) {
        shape_.push_back(1);
        reduced_.push_back(reduced[axis]);
      }
      shape_[shape_.size() - 1] *= program.shape[axis];
    }
    out_strides_ = Strides::filled(shape_.size(), 0);
    std::int64_t stride = 1;
    for (int axis = shape_.size() - 1; axis >= 0; --axis) {
      if (reduced_[axis]) continue;
      out_strides_[axis] = stride;
      stride *= shape_[axis];
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
    value_ = spec.value;
    value_size_ = size_;
    add_row_ = row_;
    add_column_ = column_;
    count_bools();
  }

  void run() {
    const Plan plan(program_, value_, shape_.size() < program_.shape.size());
    plan_ = &plan;
    const Shape& shape = shape_;
    const std::int64_t total = shape.product();
    if (total == 0) {
      std::vector<char> identities(static_cast<std::size_t>(outputs_) * size_);
      identity_(identities.data(), nullptr, outputs_);
      return finish(identities.data(), 0, outputs_);
    }
    const bool leading_kept = shape.empty() || !reduced_[0];
    if (shape.size() == 2 && !leading_kept && !reduced_[1]) {
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
  /// Sums bools as bytes, without a block of their int64s.
  void count_bools() {
    const ops::Node& last = program_.nodes.back();
    const bool is_count = spec_.op == ops::Reduce::sum && spec_.value + 1 == static_cast<int>(program_.nodes.size()) &&
                          last.op == ops::Op::cast && last.operand_reg == ops::Reg::b && last.reg == ops::Reg::i64;
    if (!is_count || std::any_of(program_.stores.begin(), program_.stores.end(),
                                 [&](const ops::Store& store) { return store.value == spec_.value; }))
      return;
    value_ = last.args[0];
    value_size_ = ops::register_size(ops::Reg::b);
    add_row_ = kernel_table().count_row;
    add_column_ = kernel_table().count_column;
    program_.nodes.pop_back();
  }

  /// The first axis is reduced. Divides it into chunks with separate accumulators, depending on the shape only.
  void run_chunks(std::int64_t total) {
    const std::int64_t extent = shape_[0], inner = total / extent;
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
      column_(accumulators.data(), accumulators.data() + c * outputs_ * size_, 0, 1, outputs_);
    finish(accumulators.data(), 0, outputs_);
  }

  /// [reduced, kept]: divides the columns into tiles whose accumulators stay in the cache. If there are few tiles,
  /// divides the rows into chunks too, depending on the shape only.
  void run_columns() {
    const std::int64_t rows = shape_[0], columns = shape_[1];
    const std::int64_t width = std::min(kBlock, columns), tiles = (columns + width - 1) / width;
    const std::int64_t most =
        std::clamp<std::int64_t>(rows * columns / (4 * kGrain), 1, std::max<std::int64_t>(1, 32 / tiles));
    const std::int64_t chunk = (rows + most - 1) / most, chunks = (rows + chunk - 1) / chunk;
    std::vector<char> accumulators(static_cast<std::size_t>(chunks * columns) * size_);
    identity_(accumulators.data(), nullptr, chunks * columns);
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (width * chunk));
    parallel_for(tiles * chunks, grain, [&](std::int64_t begin, std::int64_t end) {
      char* registers = scratch(static_cast<std::size_t>(plan_->registers()) + 2);
      plan_->start(registers);
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t row = task / tiles * chunk, column = task % tiles * width;
        add_rows(row * columns + column, std::min(chunk, rows - row), std::min(width, columns - column), registers,
                 accumulators.data() + (task / tiles * columns + column) * size_);
      }
    });
    for (std::int64_t c = 1; c < chunks; ++c)
      column_(accumulators.data(), accumulators.data() + c * columns * size_, 0, 1, columns);
    finish(accumulators.data(), 0, columns);
  }

  /// Adds n elements of each row, the first at element `first`, to n accumulators. Combines several short rows to a
  /// wide row, and adds in groups of 64 to limit rounding errors.
  void add_rows(std::int64_t first, std::int64_t rows, std::int64_t n, char* registers, char* accumulators) const {
    const std::int64_t columns = shape_.back();
    const std::int64_t together = n < columns ? 1 : std::max<std::int64_t>(1, kWideRow / n);
    const std::int64_t width = together * n, stride = together * columns, wide_rows = rows / together;
    const std::int64_t in_block = n < columns ? 1 : kBlock / width;
    char* group = registers + plan_->registers() * kRegisterBytes;
    char* all = group + kRegisterBytes;
    identity_(all, nullptr, width);
    for (std::int64_t row = 0; row < wide_rows;) {
      identity_(group, nullptr, width);
      const std::int64_t stop = std::min(wide_rows, row + 64);
      if (const void* values = plan_->in_memory(value_, first + row * stride)) {
        add_column_(group, values, stride, stop - row, width);
        row = stop;
      }
      while (row < stop) {
        const std::int64_t m = std::min(in_block, stop - row);
        add_column_(group, plan_->block(first + row * stride, m * width, registers, value_), width, m, width);
        row += m;
      }
      column_(all, group, 0, 1, width);
    }
    if (const std::int64_t rest = (rows - wide_rows * together) * n; rest > 0)
      add_column_(all, plan_->block(first + wide_rows * stride, rest, registers, value_), 0, 1, rest);
    column_(accumulators, all, n, together, n);
  }

  /// Adds elements [begin, end) of the linear iteration to accumulators that start with output `first_output`.
  void accumulate(std::int64_t begin, std::int64_t end, char* accumulators, std::int64_t first_output) const {
    char* registers = scratch(static_cast<std::size_t>(plan_->registers()) + 2);
    plan_->start(registers);
    const Shape& shape = shape_;
    const int last = shape.size() - 1;
    const auto accumulator = [&](const std::int64_t* index) {
      return accumulators + ((index ? element_at(out_strides_, index) : 0) - first_output) * size_;
    };
    if (last > 0 && !reduced_[last] && reduced_[last - 1] && shape[last - 1] * shape[last] >= kBlock) {
      const std::int64_t width = std::min(kBlock, shape[last]), panel = shape[last - 1] * shape[last];
      for (std::int64_t at = begin; at < end; at += panel) {
        for (std::int64_t column = 0; column < shape[last]; column += width) {
          for_each_run(shape, at + column, 1, [&](const std::int64_t* index, std::int64_t, std::int64_t) {
            add_rows(at + column, shape[last - 1], std::min(width, shape[last] - column), registers,
                     accumulator(index));
          });
        }
      }
      return;
    }
    // a block holds whole rows or a part of one row, so that a row's sum does not depend on its position
    const bool along_rows = last >= 0 && reduced_[last];
    const std::int64_t row = last >= 0 ? shape[last] : 1;
    const std::int64_t step = row >= kBlock ? row : kBlock / row * row;
    for (std::int64_t at = begin; at < end; at += step) {
      for (std::int64_t part = at; part < std::min(end, at + step); part += kBlock) {
        const std::int64_t n = std::min({kBlock, at + step - part, end - part});
        const char* values = static_cast<const char*>(plan_->block(part, n, registers, value_));
        for_each_run(shape, part, n, [&](const std::int64_t* index, std::int64_t done, std::int64_t length) {
          if (along_rows) {
            add_row_(accumulator(index), values + done * value_size_, length);
          } else {
            add_column_(accumulator(index), values + done * value_size_, 0, 1, length);
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
  Shape shape_;
  std::vector<bool> reduced_;
  Strides out_strides_;
  std::int64_t outputs_ = 1;
  int value_ = -1;                                              // the node whose values are combined
  ReduceRowKernel row_ = nullptr, add_row_ = nullptr;           // of accumulators, of values
  ReduceColumnKernel column_ = nullptr, add_column_ = nullptr;  // likewise
  FillKernel identity_ = nullptr;
  StoreKernel store_ = nullptr;
  std::int64_t size_ = 0, value_size_ = 0;  // bytes of an accumulator and of a value
};

}  // namespace

template <>
void compute(const Reduce& p) {
  Reduction(p.program, p.spec).run();
}

}  // namespace catenary::cpu
