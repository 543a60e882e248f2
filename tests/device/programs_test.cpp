// Compares every row of ops/ on the current device bit for bit with the CPU: all register types, all dtypes in memory,
// odd shapes and strides. Run it with --device.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/device/backend.h"
#include "catenary/device/device.h"
#include "catenary/ops/op_names.h"
#include "catenary/ops/program.h"
#include "tests/device/same.h"

namespace catenary {
namespace {

using ops::Node;
using ops::Op;
using ops::Reg;

/// Host memory that can be on a device too.
class Memory {
 public:
  Memory(std::int64_t size, Dtype dtype) : dtype_(dtype), bytes_(static_cast<std::size_t>(size) * itemsize(dtype)) {}
  ~Memory() {
    for (auto& [device, handle] : handles_) device.backend().pool(device.index()).free(handle, bytes_.size());
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* on(const Device& device) {
    for (auto& [d, handle] : handles_)
      if (d == device) return handle;
    void* handle = device.backend().pool(device.index()).allocate(bytes_.size());
    device.backend().copy_from_host(device.index(), handle, 0, bytes_.data(), bytes_.size());
    handles_.emplace_back(device, handle);
    return handle;
  }
  std::vector<std::byte> from(const Device& device) {
    std::vector<std::byte> bytes(bytes_.size());
    device.backend().copy_to_host(device.index(), bytes.data(), on(device), 0, bytes.size());
    return bytes;
  }
  std::byte* data() { return bytes_.data(); }
  Dtype dtype() const { return dtype_; }
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size() / itemsize(dtype_)); }

 private:
  Dtype dtype_;
  std::vector<std::byte> bytes_;
  std::vector<std::pair<Device, void*>> handles_;
};

template <class T>
void put(Memory& memory, std::int64_t i, T value) {
  std::memcpy(memory.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
}

/// Fills with numbers of all magnitudes, special values first.
void fill(Memory& memory, unsigned seed) {
  std::mt19937_64 random(seed);
  const double special[] = {0.0,
                            -0.0,
                            1.0,
                            -1.0,
                            0.5,
                            2.0,
                            -2.5,
                            3.0,
                            1e-30,
                            -1e30,
                            1e-40,
                            88.0,
                            -104.0,
                            20.25,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  for (std::int64_t i = 0; i < memory.size(); ++i) {
    double x = std::ldexp(std::uniform_real_distribution<>(-1, 1)(random), static_cast<int>(random() % 24) - 12);
    if (i % 3 == 0) x = special[random() % std::size(special)];
    const std::uint64_t bits = i % 5 == 0 ? std::uint64_t{1} << (random() % 64) : random() % 200;
    switch (memory.dtype()) {
      case Dtype::float32:
        put(memory, i, static_cast<float>(x));
        break;
      case Dtype::float64:
        put(memory, i, x);
        break;
      case Dtype::float16:
        put(memory, i, static_cast<std::uint16_t>(random() % 0x7c00 + (random() % 2 << 15)));
        break;
      case Dtype::bfloat16:
        put(memory, i, static_cast<std::uint16_t>(random() % 0x7f80 + (random() % 2 << 15)));
        break;
      case Dtype::bool_:
        put(memory, i, static_cast<std::uint8_t>(random() % 2));
        break;
      default: {
        const std::uint64_t value = random() % 2 ? bits : 0 - bits;
        std::memcpy(memory.data() + static_cast<std::size_t>(i) * itemsize(memory.dtype()), &value,
                    itemsize(memory.dtype()));
      }
    }
  }
}

Dtype memory_of(Reg reg) {
  constexpr Dtype dtypes[] = {Dtype::bool_, Dtype::int32, Dtype::int64, Dtype::uint64, Dtype::float32, Dtype::float64};
  return dtypes[static_cast<int>(reg)];
}

bool is_nan(const std::byte* at, Dtype dtype) {
  if (dtype == Dtype::float32) {
    float x;
    std::memcpy(&x, at, 4);
    return x != x;
  }
  if (dtype == Dtype::float64) {
    double x;
    std::memcpy(&x, at, 8);
    return x != x;
  }
  std::uint16_t x;
  std::memcpy(&x, at, 2);
  if (dtype == Dtype::float16) return (x & 0x7fff) > 0x7c00;
  return dtype == Dtype::bfloat16 && (x & 0x7fff) > 0x7f80;
}

/// Returns the number of differing elements and the first of them. All NaNs are equal.
std::string difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b, Dtype dtype) {
  const std::size_t size = itemsize(dtype);
  int count = 0;
  std::string first;
  for (std::size_t i = 0; i < a.size(); i += size) {
    if (std::memcmp(&a[i], &b[i], size) == 0 || (size > 1 && is_nan(&a[i], dtype) && is_nan(&b[i], dtype))) continue;
    if (count++) continue;
    std::uint64_t x = 0, y = 0;
    std::memcpy(&x, &a[i], size);
    std::memcpy(&y, &b[i], size);
    char text[96];
    std::snprintf(text, sizeof(text), "element %zu is %#llx, on the CPU %#llx", i / size,
                  static_cast<unsigned long long>(x), static_cast<unsigned long long>(y));
    first = text;
  }
  return count ? std::to_string(count) + " elements differ; " + first : "";
}

const Shape kShape = {7, 1, 5, 33};  // 1155 elements
constexpr std::int64_t kSize = 7 * 5 * 33;

bool without_f64() { return !current_device().info().has_f64; }

/// Runs programs on the current device and on the CPU over equal memory, and compares the stores.
struct Runner {
  ops::Program program;
  std::vector<Memory*> loads, stores;
  std::vector<std::string> names;  // names of the stores

  void run() {
    for (const Device& device : {Device(), current_device()}) {
      ops::Program p = program;
      for (std::size_t i = 0; i < loads.size(); ++i) p.loads[i].handle = loads[i]->on(device);
      for (std::size_t i = 0; i < stores.size(); ++i) p.stores[i].to.handle = stores[i]->on(device);
      compute(device, primitives::Run{p});
    }
    for (std::size_t i = 0; i < stores.size(); ++i)
      EXPECT_EQ(difference(stores[i]->from(current_device()), stores[i]->from(Device()), stores[i]->dtype()), "")
          << names[i];
  }
};

Strides c_strides(const Shape& shape) {
  Strides strides = Strides::filled(shape.size(), 1);
  for (int axis = shape.size() - 2; axis >= 0; --axis) strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}

std::int16_t add_node(ops::Program& program, Op op, Reg reg, Reg operand_reg, std::vector<int> args, int slot = -1) {
  Node node;
  node.op = op;
  node.reg = reg;
  node.operand_reg = operand_reg;
  for (std::size_t i = 0; i < args.size(); ++i) node.args[i] = static_cast<std::int16_t>(args[i]);
  node.slot = static_cast<std::int16_t>(slot);
  program.nodes.push_back(node);
  return static_cast<std::int16_t>(program.nodes.size() - 1);
}

/// The ops of the table, by register type.
std::vector<Op> rows_for(Reg reg) {
  std::vector<Op> rows;
  for (int i = static_cast<int>(Op::load) + 1; i < static_cast<int>(Op::count); ++i) {
    const Op op = static_cast<Op>(i);
    if (op == Op::cast || op == Op::ldexp || !(ops::info(op).registers & ops::reg_bit(reg))) continue;
    rows.push_back(op);
  }
  return rows;
}

class Rows : public testing::TestWithParam<Reg> {};

TEST_P(Rows, EqualTheCpus) {
  const Reg reg = GetParam();
  if (reg == Reg::f64 && without_f64()) return;
  const std::vector<Op> rows = rows_for(reg);
  // twelve rows per program; operands: contiguous, transposed, broadcast, condition
  Memory a(kSize, memory_of(reg)), b(kSize, memory_of(reg)), c(33, memory_of(reg)), condition(kSize, Dtype::bool_);
  fill(a, 1);
  fill(b, 2);
  fill(c, 3);
  fill(condition, 4);
  for (std::size_t begin = 0; begin < rows.size(); begin += 12) {
    Runner runner;
    ops::Program& program = runner.program;
    program.shape = kShape;
    const Dtype dtype = memory_of(reg);
    program.loads = {{nullptr, 0, dtype, c_strides(kShape)},
                     {nullptr, kSize - 1, dtype, {-1, 0, -7, -35}},
                     {nullptr, 0, dtype, {0, 0, 0, 1}},
                     {nullptr, 0, Dtype::bool_, c_strides(kShape)}};
    runner.loads = {&a, &b, &c, &condition};
    for (int i = 0; i < 3; ++i) add_node(program, Op::load, reg, reg, {}, i);
    add_node(program, Op::load, Reg::b, Reg::b, {}, 3);
    std::vector<std::unique_ptr<Memory>> results;
    for (std::size_t i = begin; i < std::min(rows.size(), begin + 12); ++i) {
      const Op op = rows[i];
      const ops::OpInfo& info = ops::info(op);
      const bool boolean = info.rule == ops::Rule::COMPARE || info.rule == ops::Rule::PREDICATE;
      const Reg out = boolean ? Reg::b : op == Op::frexp_exponent ? Reg::i32 : reg;
      std::vector<int> args;
      if (op == Op::where)
        args = {3, 0, 1};
      else
        for (int k = 0; k < info.arity; ++k) args.push_back(k);
      const std::int16_t value = add_node(program, op, out, reg, args);
      results.push_back(std::make_unique<Memory>(kSize, memory_of(out)));
      fill(*results.back(), 9);
      program.stores.push_back({value, {nullptr, 0, memory_of(out), c_strides(kShape)}});
      runner.stores.push_back(results.back().get());
      runner.names.push_back(std::string(info.name) + " in " + ops::register_name(reg));
    }
    runner.run();
  }
}
INSTANTIATE_TEST_SUITE_P(Device, Rows, testing::Values(Reg::b, Reg::i32, Reg::i64, Reg::u64, Reg::f32, Reg::f64),
                         [](const auto& info) { return ops::register_name(info.param); });

// Angles of all exponents, with large and small ones mixed, also in place.
TEST(Programs, CircularFunctionsOfAllExponents) {
  for (const Reg reg : {Reg::f32, Reg::f64}) {
    if (reg == Reg::f64 && without_f64()) continue;
    constexpr std::int64_t size = 3 * 2048;
    Memory x(size, memory_of(reg)), near(size, memory_of(reg));
    std::mt19937_64 random(21);
    for (std::int64_t i = 0; i < size; ++i) {
      const double mantissa = std::uniform_real_distribution<>(-1, 1)(random);
      const int exponent = reg == Reg::f32 ? static_cast<int>(i % 160) - 31 : static_cast<int>(i % 1060) - 36;
      for (auto [memory, e] : {std::pair(&x, exponent), std::pair(&near, exponent % 20)}) {
        if (reg == Reg::f32)
          put(*memory, i, static_cast<float>(std::ldexp(mantissa, e)));
        else
          put(*memory, i, std::ldexp(mantissa, e));
      }
    }
    Runner runner;
    runner.program.shape = {size};
    runner.program.loads = {{nullptr, 0, memory_of(reg), {1}}, {nullptr, 0, memory_of(reg), {1}}};
    runner.loads = {&x, &near};
    for (int i = 0; i < 2; ++i) add_node(runner.program, Op::load, reg, reg, {}, i);
    std::vector<std::unique_ptr<Memory>> results;
    for (const Op op : {Op::sin, Op::cos, Op::tan})
      for (const int operand : {0, 1}) {
        const bool last = op == Op::tan && operand == 1;
        if (!last) results.push_back(std::make_unique<Memory>(size, memory_of(reg)));
        Memory* to = last ? &near : results.back().get();
        runner.program.stores.push_back(
            {add_node(runner.program, op, reg, reg, {operand}), {nullptr, 0, memory_of(reg), {1}}});
        runner.stores.push_back(to);
        runner.names.push_back(std::string(ops::info(op).name) + " in " + ops::register_name(reg));
      }
    runner.run();
  }
}

TEST(Programs, EveryDtypeIsLoadedCastAndStored) {
  for (int from = 0; from < kRealDtypes; ++from) {
    const Dtype dtype = static_cast<Dtype>(from);
    if (dtype == Dtype::float64 && without_f64()) continue;
    Memory x(kSize, dtype);
    fill(x, 5);
    Runner runner;
    runner.program.shape = {kSize};
    runner.program.loads = {{nullptr, kSize - 1, dtype, {-1}}};
    runner.loads = {&x};
    add_node(runner.program, Op::load, ops::register_of(dtype), ops::register_of(dtype), {}, 0);
    std::vector<std::unique_ptr<Memory>> results;
    for (int to = 0; to < kRealDtypes; ++to) {
      const Dtype out = static_cast<Dtype>(to);
      if (out == Dtype::float64 && without_f64()) continue;
      const std::int16_t value =
          add_node(runner.program, Op::cast, ops::register_of(out), ops::register_of(dtype), {0});
      results.push_back(std::make_unique<Memory>(kSize, out));
      fill(*results.back(), 9);
      runner.program.stores.push_back({value, {nullptr, 0, out, {1}}});
      runner.stores.push_back(results.back().get());
      runner.names.push_back(std::string(dtype_name(dtype)) + " to " + dtype_name(out));
    }
    runner.run();
  }
}

TEST(Programs, ConstantsShapesOfAllRanksAndInPlaceStores) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{testing_devices::large(20000)}, Shape{3, 0, 4},
                             Shape{2, 3, 2, 1, 3, 2, 2, 2}, Shape{129, 257}}) {
    const std::int64_t size = shape.product(), room = std::max<std::int64_t>(size, 1) + 3;
    Memory x(room, Dtype::float32), y(room, Dtype::float32);
    fill(x, 6);
    fill(y, 7);
    Strides reversed;  // Fortran order
    std::int64_t stride = 1;
    for (std::int64_t extent : shape) {
      reversed.push_back(stride);
      stride *= extent;
    }
    Runner runner;
    runner.program.shape = shape;
    runner.program.constants.resize(2);
    runner.program.constants[0].f = 1.5;
    runner.program.constants[1].f = -3;
    runner.program.loads = {{nullptr, 3, Dtype::float32, c_strides(shape)}, {nullptr, 0, Dtype::float32, reversed}};
    runner.loads = {&x, &y};
    add_node(runner.program, Op::load, Reg::f32, Reg::f32, {}, 0);
    add_node(runner.program, Op::load, Reg::f32, Reg::f32, {}, 1);
    add_node(runner.program, Op::constant, Reg::f32, Reg::f32, {}, 0);
    add_node(runner.program, Op::constant, Reg::f32, Reg::f32, {}, 1);
    add_node(runner.program, Op::multiply, Reg::f32, Reg::f32, {0, 2});
    add_node(runner.program, Op::add, Reg::f32, Reg::f32, {4, 3});
    const std::int16_t value = add_node(runner.program, Op::subtract, Reg::f32, Reg::f32, {5, 1});
    runner.program.stores = {{value, {nullptr, 3, Dtype::float32, c_strides(shape)}}};  // stores to x itself
    runner.stores = {&x};
    runner.names = {"rank " + std::to_string(shape.size())};
    runner.run();
  }
}

TEST(Programs, MoreStridesThanALaunchTakesArguments) {
  const Shape shape = Shape::filled(12, 2);
  std::vector<std::unique_ptr<Memory>> memory;
  Runner runner;
  runner.program.shape = shape;
  std::mt19937 random(11);
  std::int16_t sum = -1;
  for (int i = 0; i < 14; ++i) {
    memory.push_back(std::make_unique<Memory>(shape.product(), Dtype::float32));
    fill(*memory.back(), static_cast<unsigned>(i));
    Strides strides;  // each operand has another order of axes
    std::vector<int> order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    std::shuffle(order.begin(), order.end(), random);
    for (int axis : order) strides.push_back(std::int64_t{1} << axis);
    runner.program.loads.push_back({nullptr, 0, Dtype::float32, strides});
    runner.loads.push_back(memory.back().get());
    const std::int16_t value = add_node(runner.program, Op::load, Reg::f32, Reg::f32, {}, i);
    sum = i == 0 ? value : add_node(runner.program, Op::maximum, Reg::f32, Reg::f32, {sum, value});
  }
  Memory out(shape.product(), Dtype::float32);
  fill(out, 99);
  Strides strides;
  for (int axis = 0; axis < 12; ++axis) strides.push_back(std::int64_t{1} << axis);
  runner.program.stores = {{sum, {nullptr, 0, Dtype::float32, strides}}};
  runner.stores = {&out};
  runner.names = {"the largest of 14"};
  runner.run();
}

struct ReduceCase {
  Shape shape;
  unsigned axes;
};

TEST(Programs, ReductionsEqualTheCpusOrAreAsNearAsTheirOrderAllows) {
  const Shape matrix{testing_devices::large(300), testing_devices::large(700)};
  const ReduceCase cases[] = {{{}, 0},
                              {{5}, 1},
                              {{0, 3}, 1},
                              {{3, 0}, 2},
                              {{testing_devices::large(100000)}, 1},
                              {matrix, 1},
                              {matrix, 2},
                              {matrix, 3},
                              {{7, 40, 30}, 2},
                              {{7, 40, 30}, 5},
                              {{testing_devices::large(40000), 3}, 1},
                              {{3, testing_devices::large(40000)}, 2},
                              {{2, 1, testing_devices::large(70000)}, 6},
                              {{4, 5, 6, 7}, 10},
                              {{4, 5, 6, 7}, 0},
                              {{3, 1, 700}, 3}};
  for (int op = 0; op < static_cast<int>(ops::Reduce::count); ++op) {
    for (Reg reg : {Reg::b, Reg::i32, Reg::u64, Reg::f32, Reg::f64}) {
      const ops::ReduceInfo& info = ops::info(static_cast<ops::Reduce>(op));
      if (!(info.registers & ops::reg_bit(reg)) || (reg == Reg::f64 && without_f64())) continue;
      for (const ReduceCase& c : cases) {
        // tests each form of loop for every reduction, and every shape for one reduction
        const bool all = reg == Reg::f32 && op == static_cast<int>(ops::Reduce::sum);
        if (!all && c.shape != matrix) continue;
        const std::int64_t size = c.shape.product();
        Memory x(std::max<std::int64_t>(size, 1), memory_of(reg));
        std::mt19937 random(static_cast<unsigned>(size));
        for (std::int64_t i = 0; i < x.size(); ++i) {
          const double value = std::uniform_real_distribution<>(0.999, 1.001)(random);
          if (reg == Reg::f32)
            put(x, i, static_cast<float>(value));
          else if (reg == Reg::f64)
            put(x, i, value);
          else if (reg == Reg::b)
            put(x, i, static_cast<std::uint8_t>(random() % 2));
          else if (reg == Reg::i32)
            put(x, i, static_cast<std::int32_t>(random()));
          else
            put(x, i, static_cast<std::uint64_t>(random()));
        }
        Shape kept;
        for (int axis = 0; axis < c.shape.size(); ++axis)
          if (!(c.axes >> axis & 1)) kept.push_back(c.shape[axis]);
        Memory out(std::max<std::int64_t>(kept.product(), 1), memory_of(reg));
        for (const Device& device : {Device(), current_device()}) {
          ops::Program program;
          program.shape = c.shape;
          program.loads = {{x.on(device), 0, memory_of(reg), c_strides(c.shape)}};
          add_node(program, Op::load, reg, reg, {}, 0);
          ReduceSpec spec;
          spec.op = static_cast<ops::Reduce>(op);
          spec.value = 0;
          spec.axes = c.axes;
          spec.out = {out.on(device), 0, memory_of(reg), kept, c_strides(kept)};
          if (kept.product() > 0) compute(device, primitives::Reduce{program, spec});
        }
        const std::vector<std::byte> got = out.from(current_device()), want = out.from(Device());
        const bool ordered = (reg == Reg::f32 || reg == Reg::f64) && op <= static_cast<int>(ops::Reduce::prod);
        std::string where = std::string(info.name) + " in " + ops::register_name(reg) + " of size " +
                            std::to_string(size) + " over axes " + std::to_string(c.axes);
        if (!ordered) {
          EXPECT_EQ(difference(got, want, memory_of(reg)), "") << where;
          continue;
        }
        for (std::int64_t i = 0; i < kept.product(); ++i) {
          double a, b;
          if (reg == Reg::f32) {
            a = reinterpret_cast<const float*>(got.data())[i];
            b = reinterpret_cast<const float*>(want.data())[i];
          } else {
            a = reinterpret_cast<const double*>(got.data())[i];
            b = reinterpret_cast<const double*>(want.data())[i];
          }
          const double most = (reg == Reg::f32 ? 1e-6 : 1e-14) * (op == static_cast<int>(ops::Reduce::prod) ? 200 : 2);
          ASSERT_NEAR(a, b, most * std::max(1.0, std::abs(b))) << where << ", output " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace catenary
