// Linear filters with feedback, along rows.

#include <nanobind/stl/complex.h>

#include <algorithm>
#include <array>
#include <complex>
#include <iterator>
#include <vector>

#include "catenary/core/parallel.h"
#include "loops.h"

namespace catenary_python {

namespace {

constexpr std::int64_t kWork = 8192;  // samples of a thread at least

/// The coefficients of a filter with a[0] = 1: y = b[0] x + z[0], and z[k] = b[k + 1] x - a[k + 1] y + z[k + 1] are the
/// next delays (transposed direct form II, as SciPy's).
template <class W>
struct Filter {
  std::vector<W> b, a;  // 1 + order each

  /// Filters n samples by the delays z. kOrder is the order, or 0 for any.
  template <int kOrder, class T>
  void run(const T* x, T* y, std::int64_t n, W* z) const {
    const int order = kOrder ? kOrder : static_cast<int>(b.size()) - 1;
    const W *const forward = b.data(), *const back = a.data();
    for (std::int64_t i = 0; i < n; ++i) {
      const W in = static_cast<W>(x[i]), out = forward[0] * in + z[0];
      for (int k = 0; k + 1 < order; ++k) z[k] = (forward[k + 1] * in + z[k + 1]) - back[k + 1] * out;
      z[order - 1] = forward[order] * in - back[order] * out;
      y[i] = static_cast<T>(out);
    }
  }

  template <class T>
  void row(const T* x, T* y, std::int64_t n, const T* state) const {
    const std::size_t order = b.size() - 1;
    if (order == 1 || order == 2) {
      W z[2] = {};
      if (state) std::copy_n(state, order, z);
      return order == 1 ? run<1>(x, y, n, z) : run<2>(x, y, n, z);
    }
    std::vector<W> z(order);
    if (state) std::copy_n(state, order, z.begin());
    run<0>(x, y, n, z.data());
  }
};

template <class W>
Filter<W> filter_of(const std::vector<std::complex<double>>& b, const std::vector<std::complex<double>>& a) {
  Filter<W> filter;
  const auto as = [](std::complex<double> c) {
    if constexpr (std::is_floating_point_v<W>) {
      return c.real();
    } else {
      return c;
    }
  };
  std::transform(b.begin(), b.end(), std::back_inserter(filter.b), as);
  std::transform(a.begin(), a.end(), std::back_inserter(filter.a), as);
  return filter;
}

/// Filters n samples by sections of order 2, each of which filters the output of the one before. z: two delays for
/// each.
template <class T, class W>
void run_sections(const std::vector<std::array<W, 6>>& sections, const T* x, T* y, std::int64_t n, W* z) {
  for (std::int64_t i = 0; i < n; ++i) {
    W value = static_cast<W>(x[i]);
    W* delay = z;
    for (const std::array<W, 6>& c : sections) {
      const W in = value;
      value = c[0] * in + delay[0];
      delay[0] = (c[1] * in + delay[1]) - c[4] * value;
      delay[1] = c[2] * in - c[5] * value;
      delay += 2;
    }
    y[i] = static_cast<T>(value);
  }
}

/// Filters rows by sections (b, a) with a[0] = 1, from states [sections, rows, 2] or from zeros.
nb::object sections_filtered(const std::vector<std::vector<double>>& given, const Array& rows,
                             const std::optional<Array>& states) {
  if (!on_host({&rows}) || (states && (!on_host({&*states}) || states->dtype() != rows.dtype())) || rows.ndim() == 0)
    return nb::none();
  std::vector<std::array<double, 6>> sections(given.size());
  for (std::size_t s = 0; s < given.size(); ++s) {
    if (given[s].size() != 6 || given[s][3] != 1) return nb::none();
    std::copy(given[s].begin(), given[s].end(), sections[s].begin());
  }
  const auto delays = static_cast<std::int64_t>(sections.size()) * 2;
  const std::int64_t n = rows.shape(rows.ndim() - 1), count = n > 0 ? rows.size() / n : 0;
  if (states && states->size() != count * delays) return nb::none();
  const Array out = Array::empty(rows.shape(), rows.dtype(), rows.device());
  bool known = false;
  without_gil(is_large(rows), [&] {
    visit_number(rows.dtype(), [&](auto number) {
      using T = decltype(number);
      if constexpr (std::is_floating_point_v<T>) {
        const T *const from = rows.data<T>(), *const state = states ? states->data<T>() : nullptr;
        T* const to = out.mutable_data<T>();
        ct::parallel_for(count, 1 + kWork / std::max<std::int64_t>(n, 1), [&](std::int64_t begin, std::int64_t end) {
          std::vector<double> z(static_cast<std::size_t>(delays));
          for (std::int64_t r = begin; r < end; ++r) {
            for (std::int64_t k = 0; k < delays; ++k)
              z[static_cast<std::size_t>(k)] =
                  state ? static_cast<double>(state[(k / 2 * count + r) * 2 + k % 2]) : 0.0;
            run_sections(sections, from + r * n, to + r * n, n, z.data());
          }
        });
        known = true;
      }
    });
  });
  return known ? nb::cast(out) : nb::none();
}

/// Filters rows by coefficients of equal number, of which a[0] is 1, from states [rows, order] or from zeros. Computes
/// in double precision.
nb::object filtered(const std::vector<std::complex<double>>& b, const std::vector<std::complex<double>>& a,
                    const Array& rows, const std::optional<Array>& states) {
  const std::int64_t order = static_cast<std::int64_t>(b.size()) - 1;
  if (!on_host({&rows}) || (states && (!on_host({&*states}) || states->dtype() != rows.dtype())) || rows.ndim() == 0 ||
      order < 1 || a.size() != b.size())
    return nb::none();
  const std::int64_t n = rows.shape(rows.ndim() - 1), count = n > 0 ? rows.size() / n : 0;
  if (states && states->size() != count * order) return nb::none();
  const Array out = Array::empty(rows.shape(), rows.dtype(), rows.device());
  bool known = false;
  without_gil(is_large(rows), [&] {
    visit_number(rows.dtype(), [&](auto number) {
      using T = decltype(number);
      if constexpr (!std::is_integral_v<T>) {
        using W = std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>>;
        const auto filter = filter_of<W>(b, a);
        const T *const from = rows.data<T>(), *const state = states ? states->data<T>() : nullptr;
        T* const to = out.mutable_data<T>();
        ct::parallel_for(count, 1 + kWork / std::max<std::int64_t>(n, 1), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t r = begin; r < end; ++r)
            filter.row(from + r * n, to + r * n, n, state ? state + r * order : nullptr);
        });
        known = true;
      }
    });
  });
  return known ? nb::cast(out) : nb::none();
}

}  // namespace

void register_filter_loops(nb::module_& m) {
  m.def("_sections_filtered", sections_filtered, nb::arg("sections"), nb::arg("rows"), nb::arg("states").none());
  m.def("_filtered", filtered, nb::arg("b"), nb::arg("a"), nb::arg("rows"), nb::arg("states").none());
}

}  // namespace catenary_python
