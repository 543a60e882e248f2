// Sparse matrices in compressed rows: products, sorting, selection. A matrix is (indptr, indices, data), whose indices
// have the dtype of indptr. Compressed columns are the rows of the transposed matrix.

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "catenary/core/parallel.h"
#include "loops.h"

namespace catenary_python {

namespace {

constexpr std::int64_t kWork = 16384;  // elements of a thread at least

/// Calls f with a value of the type of indices. Returns false for other dtypes than int32 and int64.
template <class F>
bool visit_index(Dtype dtype, const F& f) {
  if (dtype == Dtype::int32) return f(std::int32_t()), true;
  if (dtype == Dtype::int64) return f(std::int64_t()), true;
  return false;
}

/// Calls f for the types of indices and data. Returns false for other dtypes.
template <class F>
bool visit_matrix(const Array& indices, const Array& data, const F& f) {
  bool known = false;
  visit_index(indices.dtype(),
              [&](auto index) { known = visit_number(data.dtype(), [&](auto number) { f(index, number); }); });
  return known;
}

Array uninitialised(std::int64_t n, const Array& like) { return Array::empty({n}, like.dtype(), like.device()); }

/// Do indptr and indices describe rows of a matrix with so many columns? A program may have changed them.
template <class I>
bool fits(const Array& indptr, const Array& indices, std::int64_t columns) {
  const I *const starts = indptr.data<I>(), *const own = indices.data<I>();
  const std::int64_t rows = indptr.size() - 1, count = indices.size();
  bool ascends = rows >= 0 && starts[0] == 0 && starts[rows] <= count;
  for (std::int64_t r = 0; r < rows; ++r) ascends &= starts[r] <= starts[r + 1];
  std::make_unsigned_t<I> most = 0;  // of a negative index it is large
  for (std::int64_t i = 0; i < count; ++i) most = std::max(most, static_cast<std::make_unsigned_t<I>>(own[i]));
  return ascends && (count == 0 || most < static_cast<std::uint64_t>(columns));
}

/// Are these int64 numbers rows, whose elements are among `count`?
template <class I>
bool are_rows(const Array& which, const Array& indptr, std::int64_t count) {
  const I* const starts = indptr.data<I>();
  for (std::int64_t i = 0; i < which.size(); ++i) {
    const std::int64_t row = which.data<std::int64_t>()[i];
    if (row < 0 || row + 1 >= indptr.size() || starts[row] < 0 || starts[row + 1] < starts[row] ||
        starts[row + 1] > count)
      return false;
  }
  return true;
}

constexpr std::int64_t kAnyColumn = std::numeric_limits<std::int64_t>::max();

template <class T>
using Sum = std::conditional_t<std::is_same_v<T, float>, double, T>;

/// Multiplies the rows by x [columns, k] into y [rows, k].
template <class I, class T>
void multiply_rows(const I* indptr, const I* indices, const T* data, const T* x, T* y, std::int64_t rows,
                   std::int64_t k) {
  const std::int64_t work = (indptr[rows] + rows) * k / std::max<std::int64_t>(rows, 1) + 1;
  ct::parallel_for(rows, std::max<std::int64_t>(1, kWork / work), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      if (k == 1) {
        Sum<T> sum{};
        for (I j = indptr[r]; j < indptr[r + 1]; ++j) sum += Sum<T>(data[j]) * Sum<T>(x[indices[j]]);
        y[r] = static_cast<T>(sum);
        continue;
      }
      T* const to = y + r * k;
      std::fill(to, to + k, T());
      for (I j = indptr[r]; j < indptr[r + 1]; ++j) {
        const T factor = data[j], *const from = x + indices[j] * k;
        for (std::int64_t c = 0; c < k; ++c) to[c] = static_cast<T>(to[c] + factor * from[c]);
      }
    }
  });
}

/// Adds the product of the transposed rows and x [rows, k] to y [columns, k].
template <class I, class T>
void multiply_columns(const I* indptr, const I* indices, const T* data, const T* x, T* y, std::int64_t rows,
                      std::int64_t k) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (I j = indptr[r]; j < indptr[r + 1]; ++j) {
      const T factor = data[j], *const from = x + r * k;
      T* const to = y + indices[j] * k;
      for (std::int64_t c = 0; c < k; ++c) to[c] = static_cast<T>(to[c] + factor * from[c]);
    }
  }
}

/// Adds the matrix's product with x, [n] or [n, k], to zeros `y`. With `transposed` the rows are columns.
bool multiplied(const Array& indptr, const Array& indices, const Array& data, const Array& x, const Array& y,
                bool transposed) {
  if (!on_host({&indptr, &indices, &data, &x, &y}) || x.dtype() != data.dtype() || y.dtype() != data.dtype() ||
      indptr.dtype() != indices.dtype())
    return false;
  const std::int64_t rows = indptr.size() - 1, k = x.ndim() == 1 ? 1 : x.shape(1);
  if (rows != (transposed ? x : y).shape(0)) return false;
  bool done = false;
  without_gil(is_large(data), [&] {
    visit_matrix(indices, data, [&](auto index, auto number) {
      using I = decltype(index);
      using T = decltype(number);
      if (!fits<I>(indptr, indices, (transposed ? y : x).shape(0))) return;
      (transposed ? multiply_columns<I, T> : multiply_rows<I, T>)(indptr.data<I>(), indices.data<I>(), data.data<T>(),
                                                                  x.data<T>(), y.mutable_data<T>(), rows, k);
      done = true;
    });
  });
  return done;
}

/// Sorts n elements by column, with equal ones in order, if they do not ascend.
template <class I, class T>
void sort_row(I* columns, T* data, std::int64_t n, std::vector<std::pair<I, T>>& scratch) {
  if (std::is_sorted(columns, columns + n)) return;
  if (n <= 24) {
    for (std::int64_t i = 1; i < n; ++i) {
      const I column = columns[i];
      const T value = data[i];
      std::int64_t at = i;
      for (; at > 0 && columns[at - 1] > column; --at) {
        columns[at] = columns[at - 1];
        data[at] = data[at - 1];
      }
      columns[at] = column;
      data[at] = value;
    }
    return;
  }
  scratch.clear();
  for (std::int64_t i = 0; i < n; ++i) scratch.emplace_back(columns[i], data[i]);
  std::stable_sort(scratch.begin(), scratch.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::int64_t i = 0; i < n; ++i) std::tie(columns[i], data[i]) = scratch[static_cast<std::size_t>(i)];
}

/// Adds up neighbours of equal column in each sorted row. Returns how many elements remain, and moves indptr.
template <class I, class T>
I add_duplicates(std::vector<I>& indptr, I* columns, T* data) {
  I to = 0;
  for (std::size_t r = 0; r + 1 < indptr.size(); ++r) {
    const I first = indptr[r], last = indptr[r + 1];
    indptr[r] = to;
    for (I i = first; i < last; ++i) {
      if (to > indptr[r] && columns[to - 1] == columns[i]) {
        data[to - 1] = static_cast<T>(data[to - 1] + data[i]);
        continue;
      }
      columns[to] = columns[i];
      data[to++] = data[i];
    }
  }
  return indptr.back() = to;
}

/// Sorts elements by row and column, with duplicates added up. Returns (rows, columns, data).
nb::object merged(const Array& rows, const Array& columns, const Array& data, std::int64_t count) {
  const std::int64_t n = data.size();
  if (!on_host({&rows, &columns, &data}) || rows.dtype() != columns.dtype() || count > 8 * n + 4096) return nb::none();
  Array r, c, d;
  const bool known = without_gil(is_large(data), [&] {
    return visit_matrix(rows, data, [&](auto index, auto number) {
      using I = decltype(index);
      using T = decltype(number);
      const I *const row = rows.data<I>(), *const column = columns.data<I>();
      std::make_unsigned_t<I> most = 0;
      for (std::int64_t i = 0; i < n; ++i) most = std::max(most, static_cast<std::make_unsigned_t<I>>(row[i]));
      if (n > 0 && most >= static_cast<std::uint64_t>(count)) return;
      std::vector<I> indptr(static_cast<std::size_t>(count) + 1);
      for (std::int64_t i = 0; i < n; ++i) ++indptr[static_cast<std::size_t>(row[i]) + 1];
      std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
      std::vector<I> next(indptr.begin(), indptr.end() - 1);
      c = uninitialised(n, columns);
      d = uninitialised(n, data);
      I* const own = c.mutable_data<I>();
      T* const values = d.mutable_data<T>();
      const T* const given = data.data<T>();
      for (std::int64_t i = 0; i < n; ++i) {
        const I at = next[static_cast<std::size_t>(row[i])]++;
        own[at] = column[i];
        values[at] = given[i];
      }
      std::vector<std::pair<I, T>> scratch;
      for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
        sort_row(own + indptr[k], values + indptr[k], static_cast<std::int64_t>(indptr[k + 1] - indptr[k]), scratch);
      const I left = add_duplicates(indptr, own, values);
      r = uninitialised(left, rows);
      I* const to = r.mutable_data<I>();
      for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
        std::fill(to + indptr[k], to + indptr[k + 1], static_cast<I>(k));
      if (left < n) {
        c = c(ct::Slice{0, static_cast<std::int64_t>(left)});
        d = d(ct::Slice{0, static_cast<std::int64_t>(left)});
      }
    });
  });
  return known && r.defined() ? nb::object(nb::make_tuple(r, c, d)) : nb::none();
}

/// Returns the row of each element.
nb::object rows_of(const Array& indptr, std::int64_t count) {
  if (!on_host({&indptr})) return nb::none();
  const Array out = uninitialised(count, indptr);
  bool known = false;
  visit_index(indptr.dtype(), [&](auto index) {
    using I = decltype(index);
    const I* const starts = indptr.data<I>();
    I* const to = out.mutable_data<I>();
    known = starts[0] == 0 && starts[indptr.size() - 1] == count && std::is_sorted(starts, starts + indptr.size());
    if (!known) return;
    for (std::int64_t r = 0; r + 1 < indptr.size(); ++r)
      std::fill(to + starts[r], to + starts[r + 1], static_cast<I>(r));
  });
  return known ? nb::cast(out) : nb::none();
}

/// Do the columns of each row ascend, or with `strictly` without duplicates? None for other devices.
nb::object ascend(const Array& indptr, const Array& indices, bool strictly) {
  if (!on_host({&indptr, &indices}) || indptr.dtype() != indices.dtype()) return nb::none();
  bool found = true, known = false;
  visit_index(indptr.dtype(), [&](auto index) {
    using I = decltype(index);
    known = fits<I>(indptr, indices, kAnyColumn);
    if (!known) return;
    const I *const starts = indptr.data<I>(), *const own = indices.data<I>();
    for (std::int64_t r = 0; found && r + 1 < indptr.size(); ++r)
      for (I i = starts[r] + 1; i < starts[r + 1]; ++i)
        if (own[i] < own[i - 1] || (strictly && own[i] == own[i - 1])) {
          found = false;
          break;
        }
  });
  return known ? nb::bool_(found) : nb::object(nb::none());
}

/// Returns the element at each pair of int64 indices. Duplicates are added up.
nb::object elements_at(const Array& indptr, const Array& indices, const Array& data, const Array& rows,
                       const Array& columns) {
  if (!on_host({&indptr, &indices, &data, &rows, &columns}) || indptr.dtype() != indices.dtype() ||
      rows.dtype() != Dtype::int64 || columns.dtype() != Dtype::int64)
    return nb::none();
  const Array out = Array::empty(rows.shape(), data.dtype(), data.device());
  bool known = false;
  without_gil(is_large(rows), [&] {
    visit_matrix(indices, data, [&](auto index, auto number) {
      using I = decltype(index);
      using T = decltype(number);
      known = are_rows<I>(rows, indptr, indices.size());
      if (!known) return;
      const I *const starts = indptr.data<I>(), *const own = indices.data<I>();
      const T* const values = data.data<T>();
      const auto *const row = rows.data<std::int64_t>(), *const column = columns.data<std::int64_t>();
      T* const to = out.mutable_data<T>();
      ct::parallel_for(rows.size(), 1024, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          T sum{};
          for (I j = starts[row[i]]; j < starts[row[i] + 1]; ++j)
            if (own[j] == column[i]) sum = static_cast<T>(sum + values[j]);
          to[i] = sum;
        }
      });
    });
  });
  return known ? nb::cast(out) : nb::none();
}

/// Returns (indptr, indices, data) of the chosen rows, given as int64.
nb::object chosen_rows(const Array& indptr, const Array& indices, const Array& data, const Array& which) {
  if (!on_host({&indptr, &indices, &data, &which}) || indptr.dtype() != indices.dtype() ||
      which.dtype() != Dtype::int64)
    return nb::none();
  Array starts, own, values;
  const bool known = visit_matrix(indices, data, [&](auto index, auto number) {
    using I = decltype(index);
    using T = decltype(number);
    const I* const from = indptr.data<I>();
    const auto* const row = which.data<std::int64_t>();
    if (!are_rows<I>(which, indptr, indices.size())) return;
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < which.size(); ++i) total += from[row[i] + 1] - from[row[i]];
    if (total > std::numeric_limits<I>::max()) return;
    starts = uninitialised(which.size() + 1, indptr);
    own = uninitialised(total, indices);
    values = uninitialised(total, data);
    I *const start = starts.mutable_data<I>(), *const to = own.mutable_data<I>();
    T* const value = values.mutable_data<T>();
    I at = 0;
    for (std::int64_t i = 0; i < which.size(); ++i) {
      start[i] = at;
      const I first = from[row[i]], last = from[row[i] + 1];
      std::copy(indices.data<I>() + first, indices.data<I>() + last, to + at);
      std::copy(data.data<T>() + first, data.data<T>() + last, value + at);
      at += last - first;
    }
    start[which.size()] = at;
  });
  return known && starts.defined() ? nb::object(nb::make_tuple(starts, own, values)) : nb::none();
}

/// A product of two matrices, row by row: a row is a sum of rows of the right one, in an array of all columns.
template <class I, class T>
struct RowProduct {
  const I *left_starts, *left_columns, *right_starts, *right_columns;
  const T *left, *right;
  std::vector<T> sums;
  std::vector<std::int64_t> seen;  // the last row that had the column, plus 1
  std::vector<I> columns;

  /// Finds the columns of row r, in the order in which they appear.
  void find(std::int64_t r) {
    columns.clear();
    for (I i = left_starts[r]; i < left_starts[r + 1]; ++i) {
      const I k = left_columns[i];
      for (I j = right_starts[k]; j < right_starts[k + 1]; ++j) {
        const auto c = static_cast<std::size_t>(right_columns[j]);
        const T product = static_cast<T>(left[i] * right[j]);
        if (seen[c] == r + 1) {
          sums[c] = static_cast<T>(sums[c] + product);
          continue;
        }
        seen[c] = r + 1;
        sums[c] = product;
        columns.push_back(right_columns[j]);
      }
    }
  }
};

/// Multiplies two matrices of equal dtypes. Returns (indptr, indices, data) with sorted columns.
nb::object product(const Array& left_starts, const Array& left_columns, const Array& left, const Array& right_starts,
                   const Array& right_columns, const Array& right, std::int64_t width) {
  if (!on_host({&left_starts, &left_columns, &left, &right_starts, &right_columns, &right}) ||
      left.dtype() != right.dtype())
    return nb::none();
  for (const Array* const index : {&left_starts, &right_starts, &right_columns})
    if (index->dtype() != left_columns.dtype()) return nb::none();
  const std::int64_t rows = left_starts.size() - 1;
  Array starts, own, values;
  const bool known = without_gil(is_large(left), [&] {
    return visit_matrix(left_columns, left, [&](auto index, auto number) {
      using I = decltype(index);
      using T = decltype(number);
      if (!fits<I>(left_starts, left_columns, right_starts.size() - 1) || !fits<I>(right_starts, right_columns, width))
        return;
      RowProduct<I, T> row{left_starts.data<I>(),
                           left_columns.data<I>(),
                           right_starts.data<I>(),
                           right_columns.data<I>(),
                           left.data<T>(),
                           right.data<T>(),
                           std::vector<T>(static_cast<std::size_t>(width)),
                           std::vector<std::int64_t>(static_cast<std::size_t>(width)),
                           {}};
      std::vector<I> columns;
      std::vector<T> data;
      starts = uninitialised(rows + 1, left_starts);
      I* const start = starts.mutable_data<I>();
      for (std::int64_t r = 0; r < rows; ++r) {
        start[r] = static_cast<I>(columns.size());
        row.find(r);
        std::sort(row.columns.begin(), row.columns.end());
        for (const I c : row.columns) {
          columns.push_back(c);
          data.push_back(row.sums[static_cast<std::size_t>(c)]);
        }
        if (columns.size() > static_cast<std::size_t>(std::numeric_limits<I>::max())) return;
      }
      start[rows] = static_cast<I>(columns.size());
      own = uninitialised(static_cast<std::int64_t>(columns.size()), left_columns);
      values = uninitialised(static_cast<std::int64_t>(data.size()), left);
      std::copy(columns.begin(), columns.end(), own.mutable_data<I>());
      std::copy(data.begin(), data.end(), values.mutable_data<T>());
    });
  });
  return known && own.defined() ? nb::object(nb::make_tuple(starts, own, values)) : nb::none();
}

/// One of the operands of a sum.
template <class I, class T>
struct Rows {
  const I *starts, *columns;
  const T* data;
  /// Do the columns of each row ascend without duplicates?
  bool ascend(std::int64_t rows) const {
    bool found = true;
    for (std::int64_t r = 0; r < rows; ++r)
      for (I i = starts[r] + 1; i < starts[r + 1]; ++i) found &= columns[i - 1] < columns[i];
    return found;
  }
};

/// Merges the rows of a and b, whose elements are added, or subtracted with `minus`. Returns the number of elements.
template <class I, class T>
I add_rows(const Rows<I, T>& a, const Rows<I, T>& b, bool minus, std::int64_t rows, I* starts, I* columns, T* data) {
  I at = 0;
  const auto of_b = [&](I j) { return minus ? static_cast<T>(-b.data[j]) : b.data[j]; };
  for (std::int64_t r = 0; r < rows; ++r) {
    starts[r] = at;
    I i = a.starts[r], j = b.starts[r];
    const I last_i = a.starts[r + 1], last_j = b.starts[r + 1];
    while (i < last_i && j < last_j) {
      const I own = a.columns[i], other = b.columns[j];
      const bool has_a = own <= other, has_b = other <= own;
      columns[at] = has_a ? own : other;
      data[at++] = has_a && has_b ? static_cast<T>(a.data[i] + of_b(j)) : has_a ? a.data[i] : of_b(j);
      i += has_a;
      j += has_b;
    }
    for (; i < last_i; ++i, ++at) {
      columns[at] = a.columns[i];
      data[at] = a.data[i];
    }
    for (; j < last_j; ++j, ++at) {
      columns[at] = b.columns[j];
      data[at] = of_b(j);
    }
  }
  return starts[rows] = at;
}

/// Adds two matrices of equal shapes and dtypes whose columns ascend without duplicates, or subtracts the second.
/// Returns (indptr, indices, data).
nb::object added(const Array& a_starts, const Array& a_columns, const Array& a, const Array& b_starts,
                 const Array& b_columns, const Array& b, std::int64_t width, bool minus) {
  if (!on_host({&a_starts, &a_columns, &a, &b_starts, &b_columns, &b}) || a.dtype() != b.dtype() ||
      a_starts.size() != b_starts.size())
    return nb::none();
  for (const Array* const index : {&a_starts, &b_starts, &b_columns})
    if (index->dtype() != a_columns.dtype()) return nb::none();
  const std::int64_t rows = a_starts.size() - 1, most = a.size() + b.size();
  Array starts, columns, data;
  const bool known = without_gil(is_large(a), [&] {
    return visit_matrix(a_columns, a, [&](auto index, auto number) {
      using I = decltype(index);
      using T = decltype(number);
      if (!fits<I>(a_starts, a_columns, width) || !fits<I>(b_starts, b_columns, width) ||
          most > std::numeric_limits<I>::max())
        return;
      const Rows<I, T> own{a_starts.data<I>(), a_columns.data<I>(), a.data<T>()},
          other{b_starts.data<I>(), b_columns.data<I>(), b.data<T>()};
      if (!own.ascend(rows) || !other.ascend(rows)) return;
      starts = uninitialised(rows + 1, a_starts);
      columns = uninitialised(most, a_columns);
      data = uninitialised(most, a);
      const std::int64_t count = add_rows(own, other, minus, rows, starts.mutable_data<I>(), columns.mutable_data<I>(),
                                          data.mutable_data<T>());
      if (count == most) return;
      columns = columns(ct::Slice{0, count});
      data = data(ct::Slice{0, count});
    });
  });
  return known && data.defined() ? nb::object(nb::make_tuple(starts, columns, data)) : nb::none();
}

/// The larger or smaller of two numbers; NaN if there is one.
template <class T>
T extreme(T a, T b, bool largest) {
  return (largest ? a >= b : a <= b) || a != a ? a : b;
}

/// Writes the largest or smallest number of each row, or of each column, to `out`, and counts its elements.
template <class I, class T>
void find_extrema(const Rows<I, T>& x, std::int64_t rows, bool of_columns, bool largest, T* out,
                  std::vector<std::int64_t>& counts) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (I i = x.starts[r]; i < x.starts[r + 1]; ++i) {
      const auto at = static_cast<std::size_t>(of_columns ? static_cast<std::int64_t>(x.columns[i]) : r);
      out[at] = counts[at]++ == 0 ? x.data[i] : extreme(out[at], x.data[i], largest);
    }
  }
}

/// Returns the largest or smallest number of each row, or of each column, of a matrix whose columns ascend without
/// duplicates. Elements that are not stored are zeros; with `stored_only` they count where nothing is stored.
nb::object extrema(const Array& indptr, const Array& indices, const Array& data, std::int64_t width, bool of_columns,
                   bool largest, bool stored_only) {
  if (!on_host({&indptr, &indices, &data}) || indptr.dtype() != indices.dtype()) return nb::none();
  const std::int64_t rows = indptr.size() - 1, extent = of_columns ? width : rows, full = of_columns ? rows : width;
  Array out;
  const bool known = without_gil(is_large(data), [&] {
    return visit_matrix(indices, data, [&](auto index, auto number) {
      using I = decltype(index);
      using T = decltype(number);
      if constexpr (std::is_arithmetic_v<T>) {
        const Rows<I, T> x{indptr.data<I>(), indices.data<I>(), data.data<T>()};
        if (!fits<I>(indptr, indices, width) || !x.ascend(rows)) return;
        out = uninitialised(extent, data);
        T* const to = out.mutable_data<T>();
        std::vector<std::int64_t> counts(static_cast<std::size_t>(extent));
        find_extrema(x, rows, of_columns, largest, to, counts);
        for (std::int64_t k = 0; k < extent; ++k) {
          const std::int64_t count = counts[static_cast<std::size_t>(k)];
          if (count == 0) to[k] = T();
          if (!stored_only && count > 0 && count < full) to[k] = extreme(to[k], T(), largest);
        }
      }
    });
  });
  return known && out.defined() ? nb::cast(out) : nb::none();
}

}  // namespace

void register_sparse_loops(nb::module_& m) {
  m.def("_csr_multiplied", multiplied);
  m.def("_csr_merged", merged);
  m.def("_csr_rows", rows_of);
  m.def("_csr_ascend", ascend);
  m.def("_csr_elements", elements_at);
  m.def("_csr_chosen", chosen_rows);
  m.def("_csr_product", product);
  m.def("_csr_added", added);
  m.def("_csr_extrema", extrema);
}

}  // namespace catenary_python
