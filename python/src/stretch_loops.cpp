// Reductions of stretches of rows, for ufunc.reduceat.

#include <algorithm>
#include <string>

#include "catenary/core/parallel.h"
#include "loops.h"

namespace catenary_python {

namespace {

constexpr std::int64_t kWork = 16384;  // elements of a thread at least

template <class T>
struct Add {
  using Sum = std::conditional_t<std::is_same_v<T, float>, double, T>;
  static Sum join(Sum a, Sum b) { return static_cast<Sum>(a + b); }
};
template <class T>
struct Multiply {
  using Sum = T;
  static T join(T a, T b) { return static_cast<T>(a * b); }
};
/// As NumPy's maximum, NaN if there is one.
template <class T>
struct Maximum {
  using Sum = T;
  static T join(T a, T b) { return a >= b || a != a ? a : b; }
};
template <class T>
struct Minimum {
  using Sum = T;
  static T join(T a, T b) { return a <= b || a != a ? a : b; }
};

/// Reduces n > 0 numbers. Long stretches are joined in lanes, and sums in blocks, which limits rounding errors.
template <class Op, class T>
T reduced(const T* x, std::int64_t n) {
  using Sum = typename Op::Sum;
  constexpr std::int64_t kLanes = 8, kBlock = 1024;
  Sum all = x[0];
  std::int64_t i = 1;
  while (n - i >= 2 * kLanes) {
    const std::int64_t end = i + std::min(n - i, kBlock) / kLanes * kLanes;
    Sum lanes[kLanes];
    for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] = x[i + k];
    for (i += kLanes; i < end; i += kLanes)
      for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] = Op::join(lanes[k], x[i + k]);
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
      for (std::int64_t k = 0; k < half; ++k) lanes[k] = Op::join(lanes[k], lanes[k + half]);
    all = Op::join(all, lanes[0]);
  }
  for (; i < n; ++i) all = Op::join(all, x[i]);
  return static_cast<T>(all);
}

/// Reduces stretches of rows [n, width] to `out` [stretches, width].
template <class Op, class T>
void reduce_stretches(const T* x, T* out, const std::int64_t* starts, const std::int64_t* ends, std::int64_t stretches,
                      std::int64_t width) {
  std::int64_t rows = 0;
  for (std::int64_t k = 0; k < stretches; ++k) rows += ends[k] - starts[k];
  const std::int64_t work = std::max<std::int64_t>(1, rows * width / stretches);
  ct::parallel_for(stretches, std::max<std::int64_t>(1, kWork / work), [&](std::int64_t begin, std::int64_t end) {
    std::vector<typename Op::Sum> sums(static_cast<std::size_t>(width));
    for (std::int64_t k = begin; k < end; ++k) {
      if (width == 1) {
        out[k] = reduced<Op>(x + starts[k], ends[k] - starts[k]);
        continue;
      }
      std::copy(x + starts[k] * width, x + (starts[k] + 1) * width, sums.begin());
      for (std::int64_t row = starts[k] + 1; row < ends[k]; ++row)
        for (std::int64_t c = 0; c < width; ++c)
          sums[static_cast<std::size_t>(c)] = Op::join(sums[static_cast<std::size_t>(c)], x[row * width + c]);
      for (std::int64_t c = 0; c < width; ++c) out[k * width + c] = static_cast<T>(sums[static_cast<std::size_t>(c)]);
    }
  });
}

/// Reduces each stretch rows[starts[k]:ends[k]] by the ufunc of this name. No stretch may be empty.
nb::object stretches_reduced(const Array& rows, const Array& starts, const Array& ends, const std::string& name) {
  if (!on_host({&rows, &starts, &ends}) || rows.size() == 0) return nb::none();
  ct::Shape shape = rows.shape();
  shape[0] = starts.size();
  const Array out = Array::empty(shape, rows.dtype(), rows.device());
  bool known = false;
  without_gil(is_large(rows), [&] {
    visit_number(rows.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const auto run = [&](auto op) {
        reduce_stretches<decltype(op)>(rows.data<T>(), out.mutable_data<T>(), starts.data<std::int64_t>(),
                                       ends.data<std::int64_t>(), starts.size(), rows.size() / rows.shape(0));
        known = true;
      };
      if (name == "add") run(Add<T>());
      if (name == "multiply") run(Multiply<T>());
      if constexpr (std::is_arithmetic_v<T>) {
        if (name == "maximum") run(Maximum<T>());
        if (name == "minimum") run(Minimum<T>());
      }
    });
  });
  return known ? nb::cast(out) : nb::none();
}

}  // namespace

void register_stretch_loops(nb::module_& m) { m.def("_stretches_reduced", stretches_reduced); }

}  // namespace catenary_python
