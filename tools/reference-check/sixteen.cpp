#include "sixteen.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catenary/core/format.h"
#include "chainer_arrays.h"

namespace reference {

namespace ct = catenary;
using ct::Array;
using ct::Dtype;

namespace {

struct Limits {
  double epsilon, smallest, beyond;  ///< numbers from `beyond` on round to inf
};
constexpr Limits kFloat16 = {0x1p-10, 0x1p-24, 65520}, kBfloat16 = {0x1p-7, 0x1p-133, 0x1.ffp127};

}  // namespace

double compare_in_16_bits(const std::string& key, const Array& got, const Array& expected, Dtype dtype,
                          const Units& allowed) {
  const bool floating = ct::is_floating(expected.dtype());
  check_form(key, got, floating ? dtype : expected.dtype(), expected.shape());
  if (got.defined()) got.eval();  // rounded when it is stored
  const std::vector<double> e = expected.to_vector<double>();
  const std::vector<double> g = got.defined() ? got.to_vector<double>() : std::vector<double>(e.size(), 0);
  const Limits& limits = dtype == Dtype::float16 ? kFloat16 : kBfloat16;
  double largest = 0, most = 0;
  for (const double value : e)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < e.size(); ++i) {
    const double off = std::abs(g[i] - e[i]);
    double bound = 0;
    if (floating)
      bound = limits.epsilon * (allowed.element * std::abs(e[i]) + allowed.largest * largest) +
              (allowed.element > 0 ? 0.5 * limits.smallest : 0);
    const bool same = std::isnan(e[i])                  ? std::isnan(g[i])
                      : std::abs(e[i]) >= limits.beyond ? std::isinf(g[i]) && g[i] * e[i] > 0
                                                        : off <= bound;
    const double units = largest > 0 ? off / (limits.epsilon * largest) : 0;
    if (!same)
      throw Mismatch(fmt::format("{}: element {} is {:.9g}, float64 makes {:.9g} of the same numbers: {:.3g} units off",
                                 key, i, g[i], e[i], units));
    if (std::isfinite(units)) most = std::max(most, units);
  }
  return most;
}

}  // namespace reference
