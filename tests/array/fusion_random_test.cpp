// Compares random programs of elementwise operations, views, in-place writes and reductions with a simple model that
// computes each line at once in float64. All values are integers that every dtype represents, so results are equal bit
// for bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "catenary/array/array.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/reduction.h"
#include "catenary/device/float64.h"

namespace ct = catenary;
using ct::Array;
using ct::Dtype;

namespace {

struct Memory {
  std::vector<double> values;
  std::atomic<bool> shared{false};  // shared with another thread, and read-only from then on
};

/// The model: memory, and a view of it.
struct Plain {
  std::shared_ptr<Memory> memory;
  Dtype dtype = Dtype::float64;
  std::int64_t offset = 0;
  ct::Shape shape;
  ct::Strides strides;

  double& at(const std::vector<std::int64_t>& index) const {
    std::int64_t place = offset;
    for (int axis = 0; axis < shape.size(); ++axis) place += index[static_cast<std::size_t>(axis)] * strides[axis];
    return memory->values[static_cast<std::size_t>(place)];
  }
};

template <class F>
void for_each_index(const ct::Shape& shape, F&& f) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.size()));
  for (std::int64_t i = 0; i < shape.product(); ++i) {
    f(index);
    for (int axis = shape.size() - 1; axis >= 0 && ++index[static_cast<std::size_t>(axis)] == shape[axis]; --axis)
      index[static_cast<std::size_t>(axis)] = 0;
  }
}

Plain fresh(const ct::Shape& shape, Dtype dtype) {
  const auto memory = std::make_shared<Memory>();
  memory->values.resize(static_cast<std::size_t>(shape.product()));
  return {memory, dtype, 0, shape, ct::contiguous_strides(shape)};
}

/// Returns NumPy's dtype of a sum or maximum of two arrays, for the dtypes used here.
Dtype promoted(Dtype a, Dtype b) {
  if (a != b && ct::is_16bit_float(a) && ct::is_16bit_float(b)) return Dtype::float32;
  if (ct::is_floating(a) == ct::is_floating(b)) return ct::itemsize(a) >= ct::itemsize(b) ? a : b;
  const Dtype floating = ct::is_floating(a) ? a : b, integer = ct::is_floating(a) ? b : a;
  if (ct::itemsize(integer) >= 4) return Dtype::float64;
  return ct::is_16bit_float(floating) ? Dtype::float32 : floating;
}

/// Rounds to an integer that the dtype represents, since 16-bit floats have few digits.
double rounded(double x, Dtype dtype) {
  if (dtype == Dtype::float16) return ct::float16(static_cast<float>(x));
  return dtype == Dtype::bfloat16 ? ct::bfloat16(static_cast<float>(x)) : x;
}

double operate(int op, double a, double b) {
  switch (op) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a > b ? a : b;
    default:
      return a < b ? a : b;
  }
}

Array operate(int op, const Array& a, const ct::Operand& b) {
  switch (op) {
    case 0:
      return ct::add(a, b);
    case 1:
      return ct::subtract(a, b);
    case 2:
      return ct::maximum(a, b);
    default:
      return ct::minimum(a, b);
  }
}

Plain broadcast(const Plain& p, const ct::Shape& shape) {
  return {p.memory, p.dtype, p.offset, shape, ct::broadcast_strides(p.shape, p.strides, shape)};
}

/// `target op= value` with possible overlap: reads everything before it writes.
void write(const Plain& target, const Plain& value, int op) {
  const Plain from = broadcast(value, target.shape);
  std::vector<double> results;
  for_each_index(target.shape, [&](const auto& i) {
    results.push_back(op < 0 ? from.at(i) : operate(op, target.at(i), from.at(i)));
  });
  std::size_t k = 0;
  for_each_index(target.shape, [&](const auto& i) { target.at(i) = rounded(results[k++], target.dtype); });
}

struct Pair {
  Array array;
  Plain plain;
};

/// Parameters of programs. Sums of twice the largest value of each line over all elements must be exact.
struct Kind {
  std::vector<Dtype> dtypes;
  std::int64_t elements;  ///< number of elements of the largest arrays
  int value;              ///< largest value in new arrays, and limit of sums
  int lines;
};
const Kind kSmall{{Dtype::float64}, 24, 50, 14};

/// Read-only arrays that threads exchange, possibly still pending in their creator's thread.
class Shared {
 public:
  void give(const Pair& value) {
    value.plain.memory->shared = true;
    const std::lock_guard lock(mutex_);
    values_.push_back(value);
    if (values_.size() > 8) values_.erase(values_.begin());
  }
  /// Returns array n modulo their number, if there are any.
  std::optional<Pair> take(std::size_t n) {
    const std::lock_guard lock(mutex_);
    if (values_.empty()) return {};
    return values_[n % values_.size()];
  }

 private:
  std::mutex mutex_;
  std::vector<Pair> values_;
};

class Machine {
 public:
  explicit Machine(std::uint64_t seed, const Kind& kind = kSmall, Shared* shared = nullptr)
      : random_(seed), kind_(kind), shared_(shared) {
    // rows and columns, with a third axis before them
    const std::int64_t most = kind.elements;
    const bool small = most < 100;
    const std::int64_t n = small ? 4 : pick(1, 100), m = small ? 3 : pick(0, static_cast<int>(most / n));
    const std::int64_t k = small ? 2 : most / std::max<std::int64_t>(1, n * m);
    shapes_ = {{m, n}, {n}, {m, 1}, {1, n}, {std::min<std::int64_t>(k, 7), m, n}, {}};
  }

  /// Runs one program. Returns the first difference, or "".
  std::string run() {
    values_.clear();
    for (int i = 0; i < 3; ++i) values_.push_back(new_value());
    const int lines = pick(4, kind_.lines);
    for (int line = 0; line < lines; ++line) step();
    for (const Pair& value : values_) {
      if (value.array.dtype() != value.plain.dtype) return value.plain.shape.str() + " has another dtype";
      const std::vector<double> got = value.array.to_vector<double>();
      std::size_t k = 0;
      std::string wrong;
      for_each_index(value.plain.shape, [&](const auto& i) {
        if (wrong.empty() && got[k] != value.plain.at(i))
          wrong = value.plain.shape.str() + " element " + std::to_string(k);
        ++k;
      });
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  Pair& any() { return values_[static_cast<std::size_t>(pick(0, static_cast<int>(values_.size()) - 1))]; }

  Dtype any_dtype() {
    return kind_.dtypes[static_cast<std::size_t>(pick(0, static_cast<int>(kind_.dtypes.size()) - 1))];
  }

  Pair new_value() {
    const Dtype dtype = any_dtype();
    const Plain plain = fresh(shapes_[static_cast<std::size_t>(pick(0, 5))], dtype);
    for (double& x : plain.memory->values) x = rounded(pick(-kind_.value, kind_.value), dtype);
    // cast on the host, since not every device has float64
    const Array host = Array::from_host(plain.memory->values.data(), plain.shape, Dtype::float64, ct::Device());
    return {host.astype(dtype).to_device(ct::current_device()), plain};
  }

  static bool fits(const ct::Shape& a, const ct::Shape& b) {
    for (int i = 1; i <= std::min(a.size(), b.size()); ++i) {
      const std::int64_t x = a[a.size() - i], y = b[b.size() - i];
      if (x != y && x != 1 && y != 1) return false;
    }
    return true;
  }

  void step() {
    const int kind = pick(0, shared_ ? 12 : 10);
    if (kind == 10) {
      const Pair a = any();
      const Dtype to = any_dtype();
      if (ct::is_floating(a.plain.dtype) && !ct::is_floating(to)) return;
      Plain plain = fresh(a.plain.shape, to);
      for_each_index(plain.shape, [&](const auto& i) { plain.at(i) = rounded(a.plain.at(i), to); });
      keep({a.array.astype(to), plain});
    } else if (kind <= 3) {
      const Pair a = any(), b = any();
      if (!fits(a.plain.shape, b.plain.shape)) return;
      const int op = pick(0, 3);
      const ct::Shape shape = ct::broadcast_shapes(a.plain.shape, b.plain.shape);
      Plain plain = fresh(shape, promoted(a.plain.dtype, b.plain.dtype));
      const Plain x = broadcast(a.plain, shape), y = broadcast(b.plain, shape);
      for_each_index(shape, [&](const auto& i) { plain.at(i) = rounded(operate(op, x.at(i), y.at(i)), plain.dtype); });
      keep({operate(op, a.array, b.array), plain});
    } else if (kind <= 5) {
      const Pair target = any(), value = any();
      if (!fits(target.plain.shape, value.plain.shape) ||
          !(ct::broadcast_shapes(target.plain.shape, value.plain.shape) == target.plain.shape))
        return;
      const bool to_integers = !ct::is_floating(target.plain.dtype) && ct::is_floating(value.plain.dtype);
      if (to_integers || target.plain.memory->shared) return;
      const int op = pick(-1, 1);
      if (op < 0) ct::copyto(target.array, value.array);
      if (op == 0) target.array += value.array;
      if (op == 1) target.array -= value.array;
      write(target.plain, value.plain, op);
    } else if (kind <= 7) {
      keep(view(any()));
    } else if (kind == 8) {
      const Pair a = any();
      const unsigned axes = static_cast<unsigned>(pick(0, (1 << a.plain.shape.size()) - 1));
      ct::Axes list;
      ct::Shape kept;
      for (int axis = 0; axis < a.plain.shape.size(); ++axis)
        (axes >> axis & 1 ? list : kept).push_back(axes >> axis & 1 ? axis : a.plain.shape[axis]);
      if (list.empty()) return;
      Plain plain = fresh(kept, ct::is_floating(a.plain.dtype) ? a.plain.dtype : Dtype::int64);
      for_each_index(a.plain.shape, [&](const auto& i) {
        std::vector<std::int64_t> out;
        for (int axis = 0; axis < a.plain.shape.size(); ++axis)
          if (!(axes >> axis & 1)) out.push_back(i[static_cast<std::size_t>(axis)]);
        plain.at(out) += a.plain.at(i);
      });
      for (double& x : plain.memory->values) x = rounded(x, plain.dtype);
      keep(limited({ct::sum(a.array, list), plain}));
    } else if (kind == 11) {
      shared_->give(any());
    } else if (kind == 12) {
      if (const std::optional<Pair> value = shared_->take(random_())) keep(limited(*value));
    } else {
      // a new handle replaces an old one
      any() = new_value();
    }
  }

  /// Returns the value, limited to the range of new values if necessary, so that later results are exact.
  Pair limited(const Pair& value) const {
    const double most = kind_.value;
    bool fits = true;
    Plain plain = fresh(value.plain.shape, value.plain.dtype);
    for_each_index(plain.shape, [&](const auto& i) {
      const double x = value.plain.at(i);
      plain.at(i) = std::clamp(x, -most, most);
      fits = fits && plain.at(i) == x;
    });
    if (fits) return value;
    return {ct::minimum(ct::maximum(value.array, -kind_.value), kind_.value), plain};
  }

  void keep(Pair value) {
    if (values_.size() < 7) {
      values_.push_back(std::move(value));
    } else {
      any() = std::move(value);
    }
  }

  Pair view(const Pair& from) {
    Plain p = from.plain;
    if (p.shape.empty()) return from;
    const int axis = pick(0, p.shape.size() - 1);
    switch (pick(0, 3)) {
      case 0: {  // reversed
        std::vector<ct::Index> index(static_cast<std::size_t>(axis), ct::slice());
        index.emplace_back(ct::slice(ct::none, ct::none, -1));
        p.offset += (p.shape[axis] - 1) * p.strides[axis];
        p.strides[axis] = -p.strides[axis];
        return {from.array.get(index), p};
      }
      case 1: {  // transposed
        Plain q = p;
        for (int i = 0; i < p.shape.size(); ++i) {
          q.shape[i] = p.shape[p.shape.size() - 1 - i];
          q.strides[i] = p.strides[p.shape.size() - 1 - i];
        }
        return {from.array.T(), q};
      }
      case 2: {  // a row
        if (p.shape[axis] == 0) return from;
        const std::int64_t at = pick(0, static_cast<int>(p.shape[axis]) - 1);
        std::vector<ct::Index> index(static_cast<std::size_t>(axis), ct::slice());
        index.emplace_back(at);
        p.offset += at * p.strides[axis];
        p.shape.erase(axis);
        p.strides.erase(axis);
        return {from.array.get(index), p};
      }
      default:
        return from;  // another handle
    }
  }

  std::mt19937_64 random_;
  Kind kind_;
  Shared* shared_;
  std::vector<ct::Shape> shapes_;
  std::vector<Pair> values_;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kPart = 10;
#else
constexpr int kPart = 1;
#endif

/// On a device, nearly every program compiles new kernels, so run few.
int programs(int on_the_cpu) { return ct::current_device().is_cpu() ? on_the_cpu / kPart : 1; }

/// Uses several dtypes that the device can mix, with arrays of up to this many elements.
Kind mixed(std::int64_t elements) {
  const bool all = ct::has_float64(ct::current_device());  // int32 and float32 give float64
  return {all ? std::vector{Dtype::int16, Dtype::int32, Dtype::int64, Dtype::float32, Dtype::float64}
              : std::vector{Dtype::int16, Dtype::float32},
          elements, 3, 10};
}

TEST(FusionRandom, ProgramsAgreeWithAPlainModel) {
  const Kind kind = ct::has_float64(ct::current_device()) ? kSmall : mixed(24);
  for (int seed = 0; seed < programs(60000); ++seed)
    ASSERT_EQ(Machine(static_cast<std::uint64_t>(seed), kind).run(), "") << "seed " << seed;
}

TEST(FusionRandom, SeveralDtypes) {
  for (int seed = 0; seed < programs(20000); ++seed)
    ASSERT_EQ(Machine(static_cast<std::uint64_t>(seed), mixed(24)).run(), "") << "seed " << seed;
}

// Large enough for 16-bit floats to round, small enough for float16's range.
TEST(FusionRandom, SixteenBitFloats) {
  Kind kind = mixed(24);
  kind.dtypes.insert(kind.dtypes.end(), {Dtype::float16, Dtype::bfloat16, Dtype::float16, Dtype::bfloat16});
  kind.value = 50;
  for (int seed = 0; seed < programs(20000); ++seed)
    ASSERT_EQ(Machine(static_cast<std::uint64_t>(seed), kind).run(), "") << "seed " << seed;
}

TEST(FusionRandom, LargeArrays) {
  for (int seed = 0; seed < programs(500); ++seed)
    ASSERT_EQ(Machine(static_cast<std::uint64_t>(seed), mixed(5000)).run(), "") << "seed " << seed;
}

/// Runs programs in two threads that exchange arrays.
void from_two_threads(std::int64_t elements, int count) {
  Shared shared;
  std::string wrong[2];
  std::thread threads[2];
  for (int t = 0; t < 2; ++t) {
    threads[t] = std::thread([&, t, device = ct::current_device()] {
      device.use();
      for (int seed = 0; seed < count && wrong[t].empty(); ++seed) {
        wrong[t] = Machine(static_cast<std::uint64_t>(1000000 + 2 * seed + t), mixed(elements), &shared).run();
        if (!wrong[t].empty()) wrong[t] += " seed " + std::to_string(seed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong[0], "");
  EXPECT_EQ(wrong[1], "");
}

TEST(FusionRandom, FromTwoThreadsThatShareArrays) { from_two_threads(24, programs(10000)); }
TEST(FusionRandom, FromTwoThreadsThatShareLargeArrays) { from_two_threads(5000, programs(200)); }

}  // namespace
