#include "catenary/backends/cpu/sort/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/core/parallel.h"

namespace catenary {
namespace {

class SortTest : public testing::Test {
 protected:
  void TearDown() override { set_num_threads(threads_); }

 private:
  int threads_ = num_threads();
};

// NumPy's order: NaN last, equal to NaN.
template <class T>
bool before(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    return x < y || (!std::isnan(x) && std::isnan(y));
  }
}

enum class Fill { random, few, constant, ascending, descending, pipes, special };
constexpr Fill kFills[] = {Fill::random,     Fill::few,   Fill::constant, Fill::ascending,
                           Fill::descending, Fill::pipes, Fill::special};

template <class T>
std::unique_ptr<T[]> make(std::int64_t n, Fill fill) {
  std::unique_ptr<T[]> data(new T[static_cast<std::size_t>(n)]);
  std::uint64_t state = 88172645463325252u;
  for (std::int64_t i = 0; i < n; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    double x = 0;
    switch (fill) {
      case Fill::random:
        x = static_cast<double>(static_cast<std::int64_t>(state));
        break;
      case Fill::few:
        x = static_cast<double>(state % 5) - 2;
        break;
      case Fill::constant:
        x = 1;
        break;
      case Fill::ascending:
        x = static_cast<double>(i);
        break;
      case Fill::descending:
        x = static_cast<double>(n - i);
        break;
      case Fill::pipes:  // up and down, which makes bad pivots of samples at the ends and in the middle
        x = static_cast<double>(std::min(i, n - i));
        break;
      case Fill::special:
        x = static_cast<double>(static_cast<std::int64_t>(state % 7)) - 3;
        break;
    }
    if constexpr (std::is_same_v<T, bool>) {
      data[i] = state % 3 == 0;
    } else if constexpr (std::is_integral_v<T>) {
      data[i] = fill == Fill::random ? static_cast<T>(state) : static_cast<T>(static_cast<std::int64_t>(x));
    } else {
      if (fill == Fill::random) x = x * 1e-17 * (static_cast<double>(state % 1000) + 1e-3);
      data[i] = static_cast<T>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(x));
      if (fill == Fill::special) {
        const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
        const double values[] = {0.0, -0.0, inf, -inf, nan, -nan, 1e-40, -1.0};
        const double v = values[state / 7 % 8];
        data[i] = static_cast<T>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(v));
      }
    }
  }
  return data;
}

template <class T>
bool same_bits(const T* a, const T* b, std::int64_t n) {
  return n == 0 || std::memcmp(a, b, static_cast<std::size_t>(n) * sizeof(T)) == 0;
}

constexpr std::pair<std::int64_t, std::int64_t> kShapes[] = {{0, 5},    {3, 0},     {1, 1},     {5, 2},     {5, 8},
                                                             {4, 17},   {40, 33},   {7, 127},   {3, 128},   {3, 129},
                                                             {2, 3000}, {1, 16384}, {1, 16385}, {1, 140000}};

TEST_F(SortTest, SortAndArgsortOfEveryDtype) {
  for (int d = 0; d < kRealDtypes; ++d)
    visit_dtype(static_cast<Dtype>(d), [&](auto zero) {
      using T = decltype(zero);
      const auto dtype = static_cast<Dtype>(d);
      for (auto [rows, n] : kShapes)
        for (Fill fill : kFills) {
          if (n > 100000 && fill != Fill::random && fill != Fill::special) continue;
          const std::int64_t size = rows * n;
          const auto src = make<T>(size, fill);
          std::vector<std::int64_t> order(size);
          for (std::int64_t r = 0; r < rows; ++r) {
            const auto row = order.begin() + r * n;
            std::iota(row, row + n, 0);
            std::stable_sort(row, row + n,
                             [&, n = n](auto i, auto j) { return before(src[r * n + i], src[r * n + j]); });
          }
          std::unique_ptr<T[]> sorted(new T[static_cast<std::size_t>(size)]);
          for (std::int64_t i = 0; i < size; ++i) sorted[i] = src[i / n * n + order[i]];
          for (int threads : {1, 2, 3}) {
            set_num_threads(threads);
            std::vector<std::int64_t> indices(size, -1);
            cpu::argsort(indices.data(), src.get(), dtype, rows, n);
            ASSERT_EQ(indices, order) << dtype_name(dtype) << " " << rows << "x" << n << " fill " << int(fill);
            std::unique_ptr<T[]> got(new T[static_cast<std::size_t>(size)]),
                in_place(new T[static_cast<std::size_t>(size)]);
            cpu::sort(got.get(), src.get(), dtype, rows, n);
            ASSERT_TRUE(same_bits(got.get(), sorted.get(), size))
                << dtype_name(dtype) << " " << rows << "x" << n << " fill " << int(fill);
            std::copy_n(src.get(), size, in_place.get());
            cpu::sort(in_place.get(), in_place.get(), dtype, rows, n);
            ASSERT_TRUE(same_bits(in_place.get(), sorted.get(), size))
                << dtype_name(dtype) << " " << rows << "x" << n << " fill " << int(fill) << " in place";
          }
        }
    });
}

// Returns the indices of a row in the order of a stable sort.
template <class T>
std::vector<std::int64_t> stable_order(const T* row, std::int64_t n, bool descending) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto i, auto j) { return descending ? before(row[j], row[i]) : before(row[i], row[j]); });
  return order;
}

// Checks a selection of m positions in a row against its stable order: the elements at kth are correct, earlier
// elements are not larger, equal elements keep their order, and the indices are a permutation.
template <class T>
void check_selection(const T* row, const std::vector<std::int64_t>& order, const std::vector<std::int64_t>& kth,
                     bool descending, std::int64_t m) {
  const auto dtype = dtype_of<T>;
  const auto n = static_cast<std::int64_t>(order.size());
  const auto first = [&](T a, T b) { return descending ? before(b, a) : before(a, b); };
  const auto same = [&](T a, T b) { return !first(a, b) && !first(b, a); };
  const auto places = static_cast<std::int64_t>(kth.size());
  std::unique_ptr<T[]> elements(new T[kth.size()]), values(new T[static_cast<std::size_t>(m)]);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(m), -1);
  cpu::select(Selection::elements, descending, elements.get(), places, row, dtype, 1, n, kth);
  cpu::select(Selection::partition, descending, values.get(), m, row, dtype, 1, n, kth);
  cpu::select(Selection::indices, descending, indices.data(), m, row, dtype, 1, n, kth);
  std::vector<bool> seen(static_cast<std::size_t>(n), false);
  std::int64_t region = 0;  // number of kth before this position
  for (std::int64_t i = 0; i < m; ++i) {
    ASSERT_GE(indices[i], 0);
    ASSERT_LT(indices[i], n);
    ASSERT_FALSE(seen[indices[i]]);
    seen[indices[i]] = true;
    ASSERT_TRUE(same_bits(&values[i], &row[indices[i]], 1));
    if (region < places && kth[region] == i) {
      ASSERT_TRUE(same(values[i], row[order[i]])) << "at " << i << " of " << n;
      ++region;
    }
    ASSERT_FALSE(region > 0 && first(values[i], row[order[kth[region - 1]]]));
    ASSERT_FALSE(region < places && first(row[order[kth[region]]], values[i]));
  }
  // Elements equal to the kth keep their order.
  for (const std::int64_t k : kth) {
    const T value = row[order[k]];
    std::int64_t last = -1;
    for (std::int64_t i = 0; i < m; ++i)
      if (same(values[i], value)) {
        ASSERT_GT(indices[i], last);
        last = indices[i];
      }
  }
  for (std::int64_t j = 0; j < places; ++j) ASSERT_TRUE(same(elements[j], row[order[kth[j]]]));
}

TEST_F(SortTest, SelectsWithoutASort) {
  for (int d = 0; d < kRealDtypes; ++d)
    visit_dtype(static_cast<Dtype>(d), [&](auto zero) {
      using T = decltype(zero);
      for (std::int64_t n : {1, 2, 65, 599, 4096, 5000, 70001})
        for (Fill fill : kFills) {
          if (n > 60000 && fill != Fill::random && (fill != Fill::special || dtype_of<T> != Dtype::float32)) continue;
          SCOPED_TRACE(std::string(dtype_name(dtype_of<T>)) + " " + std::to_string(n) + " fill " +
                       std::to_string(static_cast<int>(fill)));
          const auto row = make<T>(n, fill);
          const std::vector<std::int64_t> orders[] = {stable_order(row.get(), n, false),
                                                      stable_order(row.get(), n, true)};
          for (int threads : {1, 3}) {
            if (n < 70000 && threads > 1) continue;
            set_num_threads(threads);
            for (bool descending : {false, true}) {
              const std::vector<std::int64_t>& order = orders[descending];
              for (std::int64_t k : {std::int64_t{0}, n / 3, n - 1}) {
                if (n > 60000 && k != n / 3) continue;
                check_selection(row.get(), order, {k}, descending, n);
                check_selection(row.get(), order, {k}, descending, k + 1);
              }
              if (n > 2) {
                check_selection(row.get(), order, {1, n / 2, n / 2 + 1, n - 1}, descending, n);
                check_selection(row.get(), order, {n / 4, n / 2}, descending, n / 2 + 7);
              }
            }
          }
          if (HasFatalFailure()) return;
          if (n < 5000) continue;
          std::vector<std::int64_t> many;
          for (std::int64_t k = 3; k < n; k += n / 40) many.push_back(k);
          check_selection(row.get(), orders[false], many, false, n);
        }
    });
}

TEST_F(SortTest, SelectsOfManyRows) {
  const std::int64_t rows = 700, n = 37;
  const auto src = make<float>(rows * n, Fill::special);
  const std::vector<std::int64_t> kth = {5, 36};
  std::vector<float> sorted(rows * n), elements(rows * 2);
  std::vector<std::int64_t> indices(rows * 6);
  cpu::sort(sorted.data(), src.get(), Dtype::float32, rows, n);
  cpu::select(Selection::elements, false, elements.data(), 2, src.get(), Dtype::float32, rows, n, kth);
  cpu::select(Selection::indices, false, indices.data(), 6, src.get(), Dtype::float32, rows, n,
              std::vector<std::int64_t>{5});
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t j = 0; j < 2; ++j) {
      const float value = elements[r * 2 + j], wanted = sorted[r * n + kth[j]];
      ASSERT_FALSE(before(value, wanted) || before(wanted, value));
    }
    for (std::int64_t j = 0; j < 6; ++j) ASSERT_FALSE(before(sorted[r * n + 5], src[r * n + indices[r * 6 + j]]));
  }
  cpu::select(Selection::partition, false, sorted.data(), n, src.get(), Dtype::float32, 0, n, kth);
}

TEST_F(SortTest, SearchsortedOnBothSides) {
  for (int d = 0; d < kRealDtypes; ++d)
    visit_dtype(static_cast<Dtype>(d), [&](auto zero) {
      using T = decltype(zero);
      const auto dtype = static_cast<Dtype>(d);
      for (std::int64_t n : {0, 1, 2, 777})
        for (Fill fill : {Fill::random, Fill::few, Fill::special}) {
          const auto src = make<T>(n, fill);
          const auto values = make<T>(600, fill == Fill::random ? Fill::few : fill);
          std::unique_ptr<T[]> sorted(new T[static_cast<std::size_t>(n)]);
          cpu::sort(sorted.get(), src.get(), dtype, 1, n);
          for (bool right : {false, true}) {
            std::vector<std::int64_t> got(600);
            cpu::searchsorted(got.data(), sorted.get(), n, values.get(), 600, dtype, right);
            for (int i = 0; i < 600; ++i) {
              const T* at = right ? std::upper_bound(sorted.get(), sorted.get() + n, values[i], before<T>)
                                  : std::lower_bound(sorted.get(), sorted.get() + n, values[i], before<T>);
              ASSERT_EQ(got[i], at - sorted.get()) << dtype_name(dtype);
            }
          }
        }
    });
}

}  // namespace
}  // namespace catenary
