// Random programs of elementwise operations, views, in-place writes and reductions against a plain model that computes
// each line at once. All operations are exact in float64, so results must be equal bit for bit.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <thread>

#include "catenary/array/array.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/reduction.h"

namespace ct = catenary;
using ct::Array;

namespace {

/// The model: memory, and a view of it.
struct Plain {
  std::shared_ptr<std::vector<double>> memory;
  std::int64_t offset = 0;
  ct::Shape shape;
  ct::Strides strides;

  double& at(const std::vector<std::int64_t>& index) const {
    std::int64_t place = offset;
    for (int axis = 0; axis < shape.size(); ++axis) place += index[static_cast<std::size_t>(axis)] * strides[axis];
    return (*memory)[static_cast<std::size_t>(place)];
  }
};

template <class F>
void for_each_index(const ct::Shape& shape, F&& f) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.size()));
  for (std::int64_t i = 0; i < shape.product(); ++i) {
    std::int64_t rest = i;
    for (int axis = shape.size() - 1; axis >= 0; --axis) {
      index[static_cast<std::size_t>(axis)] = rest % shape[axis];
      rest /= shape[axis];
    }
    f(index);
  }
}

Plain fresh(const ct::Shape& shape) {
  return {std::make_shared<std::vector<double>>(static_cast<std::size_t>(shape.product())), 0, shape,
          ct::contiguous_strides(shape)};
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
  return {p.memory, p.offset, shape, ct::broadcast_strides(p.shape, p.strides, shape)};
}

/// `target op= value`, where the two may overlap: everything is read before anything is written.
void write(const Plain& target, const Plain& value, int op) {
  const Plain from = broadcast(value, target.shape);
  std::vector<double> results;
  for_each_index(target.shape, [&](const auto& i) {
    results.push_back(op < 0 ? from.at(i) : operate(op, target.at(i), from.at(i)));
  });
  std::size_t k = 0;
  for_each_index(target.shape, [&](const auto& i) { target.at(i) = results[k++]; });
}

struct Pair {
  Array array;
  Plain plain;
};

class Machine {
 public:
  explicit Machine(std::uint64_t seed) : random_(seed) {}

  /// One program; returns the first difference, or nothing.
  std::string run() {
    values_.clear();
    for (int i = 0; i < 3; ++i) values_.push_back(new_value());
    const int lines = pick(4, 14);
    for (int line = 0; line < lines; ++line) step();
    for (const Pair& value : values_) {
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

  Pair new_value() {
    static const ct::Shape shapes[] = {{3, 4}, {4}, {3, 1}, {1, 4}, {2, 3, 4}, {}};
    const Plain plain = fresh(shapes[pick(0, 5)]);
    for (double& x : *plain.memory) x = pick(-50, 50);
    return {Array::from_host(plain.memory->data(), plain.shape, ct::Dtype::float64), plain};
  }

  static bool fits(const ct::Shape& a, const ct::Shape& b) {
    for (int i = 1; i <= std::min(a.size(), b.size()); ++i) {
      const std::int64_t x = a[a.size() - i], y = b[b.size() - i];
      if (x != y && x != 1 && y != 1) return false;
    }
    return true;
  }

  void step() {
    const int kind = pick(0, 9);
    if (kind <= 3) {
      const Pair a = any(), b = any();
      if (!fits(a.plain.shape, b.plain.shape)) return;
      const int op = pick(0, 3);
      const ct::Shape shape = ct::broadcast_shapes(a.plain.shape, b.plain.shape);
      Plain plain = fresh(shape);
      const Plain x = broadcast(a.plain, shape), y = broadcast(b.plain, shape);
      for_each_index(shape, [&](const auto& i) { plain.at(i) = operate(op, x.at(i), y.at(i)); });
      keep({operate(op, a.array, b.array), plain});
    } else if (kind <= 5) {
      const Pair target = any(), value = any();
      if (!fits(target.plain.shape, value.plain.shape) ||
          !(ct::broadcast_shapes(target.plain.shape, value.plain.shape) == target.plain.shape))
        return;
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
      Plain plain = fresh(kept);
      for_each_index(a.plain.shape, [&](const auto& i) {
        std::vector<std::int64_t> out;
        for (int axis = 0; axis < a.plain.shape.size(); ++axis)
          if (!(axes >> axis & 1)) out.push_back(i[static_cast<std::size_t>(axis)]);
        plain.at(out) += a.plain.at(i);
      });
      keep({ct::sum(a.array, list), plain});
    } else {
      // a handle goes away, and another takes its place
      any() = new_value();
    }
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
  std::vector<Pair> values_;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kPrograms = 4000;
#else
constexpr int kPrograms = 100000;
#endif

/// On a device nearly every program is some new kernels, each of which is compiled first.
int programs() { return ct::current_device().is_cpu() ? kPrograms : 3; }

TEST(FusionRandom, ProgramsAgreeWithAPlainModel) {
  for (int seed = 0; seed < programs(); ++seed) {
    const std::string wrong = Machine(static_cast<std::uint64_t>(seed)).run();
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

TEST(FusionRandom, FromTwoThreads) {
  std::string wrong[2];
  std::thread threads[2];
  for (int t = 0; t < 2; ++t) {
    threads[t] = std::thread([&wrong, t, device = ct::current_device()] {
      device.use();
      for (int seed = 0; seed < (programs() + 9) / 10 && wrong[t].empty(); ++seed) {
        wrong[t] = Machine(static_cast<std::uint64_t>(1000000 + 2 * seed + t)).run();
        if (!wrong[t].empty()) wrong[t] += " seed " + std::to_string(seed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong[0], "");
  EXPECT_EQ(wrong[1], "");
}

}  // namespace
