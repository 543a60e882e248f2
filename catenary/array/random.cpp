#include "catenary/array/random.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/random_detail.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/core/format.h"

namespace catenary::random {

using catenary::detail::as_dtype;
using catenary::detail::slice_axis;

namespace {

Generator& generator_of(Generator* given) { return given ? *given : default_generator(); }

/// Returns 64 random bits for each element.
Array words64(const Shape& size, const RandomOptions& options) {
  const Array upper = bits(size, options), lower = bits(size, options);
  return bitwise_or(left_shift(upper.astype(Dtype::uint64), 32), lower.astype(Dtype::uint64));
}

/// Returns the upper half of the products of 64-bit numbers with `factor`.
Array multiply_high(const Array& x, std::uint64_t factor) {
  const auto low = static_cast<std::int64_t>(factor & 0xffffffffu), high = static_cast<std::int64_t>(factor >> 32);
  const Array xl = bitwise_and(x, std::int64_t{0xffffffff}), xh = right_shift(x, 32);
  const Array ll = multiply(xl, low), hl = multiply(xh, low);
  if (high == 0) return right_shift(add(hl, right_shift(ll, 32)), 32);
  const Array lh = multiply(xl, high), hh = multiply(xh, high);
  const Array middle = add(add(right_shift(ll, 32), bitwise_and(hl, std::int64_t{0xffffffff})),
                           bitwise_and(lh, std::int64_t{0xffffffff}));
  return add(add(hh, right_shift(middle, 32)), add(right_shift(hl, 32), right_shift(lh, 32)));
}

std::uint64_t system_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

namespace detail {

Dtype floating_dtype(const RandomOptions& options, const char* what) {
  const Dtype dtype = options.dtype.value_or(Dtype::float64);
  if (!is_floating(dtype)) fail<DtypeError>("random::{}: the dtype must be floating, {} was given", what, dtype);
  return dtype;
}

Dtype working_dtype(Dtype dtype) { return is_16bit_float(dtype) ? Dtype::float32 : dtype; }

Array open_uniform(const Shape& size, Dtype dtype, const RandomOptions& options) {
  if (dtype == Dtype::float32) {
    const Array k = right_shift(bits(size, options), 9).astype(Dtype::float32);
    return multiply(add(k, 0.5), 0x1p-23);
  }
  const Array upper = bits(size, options), lower = bits(size, options);
  const Array high = right_shift(upper, 6).astype(Dtype::float64), low = right_shift(lower, 6).astype(Dtype::float64);
  return multiply(add(add(multiply(high, 0x1p26), low), 0.5), 0x1p-52);
}

Array normal_of(const Shape& size, Dtype dtype, const RandomOptions& options) {
  constexpr double turn = 6.283185307179586;
  const Array radius = sqrt(multiply(log(open_uniform(size, dtype, options)), -2.0));
  return multiply(radius, cos(multiply(open_uniform(size, dtype, options), turn)));
}

Shape shape_of(const OptionalShape& size, Parameters parameters, const char* what) {
  Shape shape;
  for (const Operand& x : parameters)
    if (x.is_array()) shape = broadcast_shapes(shape, x.array().shape(), what);
  if (!size) return shape;
  if (broadcast_shapes(shape, *size, what) != *size)
    fail<ShapeError>("random::{}: parameters of shape {} do not broadcast to {}", what, shape, *size);
  return *size;
}

RandomOptions placed(const RandomOptions& options, Parameters parameters) {
  RandomOptions result = options;
  for (const Operand& x : parameters)
    if (!result.device && x.is_array()) result.device = x.array().device();
  return result;
}

void check_values(const Operand& x, const Interval& interval, const char* what, const char* name) {
  const auto [low, has_low, high, has_high, words] = interval;
  if (!x.is_array()) {
    const double value = x.scalar().real();
    if (!(value > low || (has_low && value == low)) || !(value < high || (has_high && value == high)))
      fail<ValueError>("random::{}: {} must {}, {} was given", what, name, words, value);
    return;
  }
  const Array& array = x.array();
  if (array.size() == 0) return;
  const Array above = has_low ? greater_equal(array, low) : greater(array, low);
  const Array below = has_high ? less_equal(array, high) : less(array, high);
  if (!all(logical_and(above, below)).item<bool>())
    fail<ValueError>("random::{}: {} must {}, elements from {} to {} were given", what, name, words,
                     min(array).item<double>(), max(array).item<double>());
}

}  // namespace detail

using namespace detail;  // NOLINT: building blocks of all distributions

Generator& default_generator() {
  thread_local Generator generator{.seed = system_seed()};
  return generator;
}

namespace {
std::atomic<std::uint64_t> seed_offset{0};  // of this process among those that train together
}  // namespace

void detail::set_rank(std::uint64_t rank) {
  const std::uint64_t offset = rank * 0x9e3779b97f4a7c15u;  // far from the seeds that people choose
  default_generator().seed += offset - seed_offset.exchange(offset);
}

void seed(std::uint64_t value) { default_generator() = {.seed = value + seed_offset}; }
Generator get_state() { return default_generator(); }
void set_state(const Generator& state) { default_generator() = state; }

Array bits(const Shape& size, const RandomOptions& options) {
  const Array out = Array::empty(size, Dtype::uint32, options.device.value_or(current_device()));
  Generator& generator = generator_of(options.generator);
  const std::uint64_t call = generator.call++;
  if (out.size() > 0) compute(out.device(), primitives::RandomBits{generator.seed, call, writable(out)});
  return out;
}

Array random(const Shape& size, const RandomOptions& options) {
  const Dtype dtype = floating_dtype(options, "random");
  if (dtype == Dtype::float64) {
    const Array upper = bits(size, options), lower = bits(size, options);
    const Array high = right_shift(upper, 5).astype(Dtype::float64), low = right_shift(lower, 6).astype(Dtype::float64);
    return multiply(add(multiply(high, 0x1p26), low), 0x1p-53);
  }
  const int digits = dtype == Dtype::float32 ? 24 : dtype == Dtype::float16 ? 11 : 8;
  const Array k = right_shift(bits(size, options), 32 - digits).astype(Dtype::float32);
  return as_dtype(multiply(k, std::ldexp(1.0, -digits)), dtype);
}

Array uniform(const Operand& low, const Operand& high, const OptionalShape& size, const RandomOptions& options) {
  const Dtype dtype = floating_dtype(options, "uniform"), work = working_dtype(dtype);
  const Shape shape = shape_of(size, low, high, "uniform");
  const Parameter l(low, work), h(high, work);
  RandomOptions standard = placed(options, low, high);
  standard.dtype = work;
  const Array u = random(shape, standard);
  const Array width = h.array.defined() || l.array.defined() ? subtract(h.operand(), l.operand()) : Array();
  const Array scaled = width.defined() ? multiply(u, width) : multiply(u, h.scalar.real() - l.scalar.real());
  return as_dtype(add(scaled, l.operand()), dtype);
}

Array standard_normal(const Shape& size, const RandomOptions& options) {
  const Dtype dtype = floating_dtype(options, "standard_normal");
  return as_dtype(normal_of(size, working_dtype(dtype), options), dtype);
}

Array normal(const Operand& loc, const Operand& scale, const OptionalShape& size, const RandomOptions& options) {
  return located(loc, scale, size, options, "normal",
                 [](const Shape& shape, Dtype dtype, const RandomOptions& o) { return normal_of(shape, dtype, o); });
}

Array exponential(const Operand& scale, const OptionalShape& size, const RandomOptions& options) {
  return located(0.0, scale, size, options, "exponential", [](const Shape& shape, Dtype dtype, const RandomOptions& o) {
    return negative(log(open_uniform(shape, dtype, o)));
  });
}

Array gumbel(const Operand& loc, const Operand& scale, const OptionalShape& size, const RandomOptions& options) {
  return located(loc, scale, size, options, "gumbel", [](const Shape& shape, Dtype dtype, const RandomOptions& o) {
    return negative(log(negative(log(open_uniform(shape, dtype, o)))));
  });
}

Array laplace(const Operand& loc, const Operand& scale, const OptionalShape& size, const RandomOptions& options) {
  return located(loc, scale, size, options, "laplace", [](const Shape& shape, Dtype dtype, const RandomOptions& o) {
    const Array u = open_uniform(shape, dtype, o);
    const Array tail = log(multiply(minimum(u, subtract(1.0, u)), 2.0));
    return where(less(u, 0.5), tail, negative(tail));
  });
}

namespace {

struct IntegerRange {
  std::int64_t lowest;
  std::uint64_t highest;
};
IntegerRange range_of(Dtype dtype) {
  const int value_bits = static_cast<int>(itemsize(dtype)) * 8;
  switch (kind(dtype)) {
    case Kind::boolean:
      return {0, 1};
    case Kind::signed_int:
      return {-(std::int64_t{1} << (value_bits - 2)) * 2, (std::uint64_t{1} << (value_bits - 1)) - 1};
    case Kind::unsigned_int:
      return {0, ~std::uint64_t{0} >> (64 - value_bits)};
    case Kind::floating:
    case Kind::complex:
      break;
  }
  fail<DtypeError>("random::randint: the dtype must be an integer's, {} was given", dtype);
}

}  // namespace

Array randint(std::int64_t low, std::int64_t high, const Shape& size, const RandomOptions& options) {
  const Dtype dtype = options.dtype.value_or(Dtype::int64);
  const IntegerRange holds = range_of(dtype);
  if (low >= high) fail<ValueError>("random::randint: low = {} is not less than high = {}", low, high);
  if (low < holds.lowest || (high > 0 && static_cast<std::uint64_t>(high - 1) > holds.highest))
    fail<ValueError>("random::randint: {} cannot hold [{}, {})", dtype, low, high);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const Array offset = multiply_high(words64(size, options), range).astype(Dtype::int64);
  return as_dtype(add(offset, low), dtype);
}

Array randint(std::int64_t high, const Shape& size, const RandomOptions& options) {
  return randint(0, high, size, options);
}

Array bernoulli(const Operand& p, const OptionalShape& size, const RandomOptions& options) {
  check_values(p, kProbability, "bernoulli", "p");
  RandomOptions standard = placed(options, p, p);
  standard.dtype = Dtype::float64;
  return as_dtype(less(random(shape_of(size, p, p, "bernoulli"), standard), p), options.dtype.value_or(Dtype::bool_));
}

namespace {

/// A distribution of counts: log of the probability of k, the most likely k and the largest k.
struct Counts {
  std::function<double(double k)> log_probability;
  double mode;
  double most;
};

/// Cumulative tables of distributions of counts, one after another. The table of row r covers r to r + 1, so that one
/// search finds row and count.
class CountTables {
 public:
  void append(const Counts& counts) {
    constexpr double kNever = -50;  // log of probabilities that 53 random bits cannot draw
    const auto row = static_cast<double>(shifts_.size());
    double low = counts.mode, high = counts.mode;
    while (low > 0 && counts.log_probability(low - 1) > kNever) --low;
    while (high < counts.most && counts.log_probability(high + 1) > kNever) ++high;
    shifts_.push_back(static_cast<std::int64_t>(low) - static_cast<std::int64_t>(cumulative_.size()));
    double total = 0;
    for (double k = low; k <= high; ++k) {
      total += std::exp(counts.log_probability(k));
      cumulative_.push_back(row + std::min(total, 1.0));
    }
    ends_.push_back(static_cast<std::int64_t>(cumulative_.size()) - 1);
  }
  /// Returns the counts of random numbers u from [0, 1) by the tables of these rows, int64.
  Array counts(const Array& u, const Array& row) const {
    const auto upload = [&](const auto& values, Dtype d) {
      return Array::from_host(values.data(), {static_cast<std::int64_t>(values.size())}, d, u.device());
    };
    const Array found = searchsorted(upload(cumulative_, Dtype::float64), add(u, row), Side::right);
    // Rounding may leave the last sum of a row below a drawn number.
    const Array within = minimum(found, take(upload(ends_, Dtype::int64), row));
    return add(within, take(upload(shifts_, Dtype::int64), row));
  }

 private:
  std::vector<double> cumulative_;
  std::vector<std::int64_t> shifts_, ends_;
};

/// The parameters of a distribution of counts. The last ones may be unused.
using Three = std::array<double, 3>;

/// Draws counts by inversion. `of` checks the parameters and returns their distribution.
Array draw_counts(Parameters parameters, const OptionalShape& size, const RandomOptions& options, const char* what,
                  Counts (*of)(const Three& parameters)) {
  const Shape shape = shape_of(size, parameters, what);
  RandomOptions here = placed(options, parameters);
  here.dtype = Dtype::float64;
  // The parameters of each element, before they are repeated along the axes of `size`.
  const Shape own = shape_of({}, parameters, what);
  std::vector<Three> wanted(static_cast<std::size_t>(own.product()));
  std::size_t k = 0;
  for (const Operand& x : parameters) {
    const Array given = catenary::detail::as_array(x, Dtype::float64, Device());
    const std::vector<double> values = given.broadcast_to(own).to_vector<double>();
    for (std::size_t i = 0; i < values.size(); ++i) wanted[i][k] = values[i];
    ++k;
  }

  std::map<Three, std::int64_t> row_of;
  std::vector<std::int64_t> rows;
  CountTables tables;
  for (const Three& these : wanted) {
    const auto [found, is_new] = row_of.try_emplace(these, static_cast<std::int64_t>(row_of.size()));
    rows.push_back(found->second);
    if (is_new) tables.append(of(these));
  }
  const Dtype dtype = options.dtype.value_or(Dtype::int64);
  if (rows.empty()) return Array::empty(shape, dtype, here.device.value_or(current_device()));
  const Array u = random(shape, here);
  return as_dtype(tables.counts(u, Array::from_host(rows.data(), own, Dtype::int64, u.device())), dtype);
}

Counts binomial_counts(double trials, double chance) {
  const auto log_probability = [=](double k) {
    const double successes = k > 0 ? k * std::log(chance) : 0;
    const double failures = k < trials ? (trials - k) * std::log1p(-chance) : 0;
    return std::lgamma(trials + 1) - std::lgamma(k + 1) - std::lgamma(trials - k + 1) + successes + failures;
  };
  return {log_probability, std::min(std::floor((trials + 1) * chance), trials), trials};
}

}  // namespace

Array binomial(const Operand& n, const Operand& p, const OptionalShape& size, const RandomOptions& options) {
  return draw_counts({n, p}, size, options, "binomial", [](const Three& parameters) -> Counts {
    const double trials = parameters[0], chance = parameters[1];
    if (!(trials >= 0 && trials <= (1 << 24)) || trials != std::floor(trials))
      fail<ValueError>("random::binomial: n must be an integer in [0, 2^24], {} was given", trials);
    if (!(chance >= 0 && chance <= 1)) fail<ValueError>("random::binomial: p must lie in [0, 1], {} was given", chance);
    return binomial_counts(trials, chance);
  });
}

namespace detail {
Array binomial_of(const Array& trials, std::int64_t most, double chance, const RandomOptions& options) {
  CountTables tables;
  for (std::int64_t n = 0; n <= most; ++n) tables.append(binomial_counts(static_cast<double>(n), chance));
  RandomOptions uniform = options;
  uniform.dtype = Dtype::float64;
  return tables.counts(random(trials.shape(), uniform), trials);
}
}  // namespace detail

Array poisson(const Operand& lam, const OptionalShape& size, const RandomOptions& options) {
  return draw_counts({lam}, size, options, "poisson", [](const Three& parameters) -> Counts {
    const double mean = parameters[0];
    if (!(mean >= 0 && mean <= 1e6)) fail<ValueError>("random::poisson: lam must lie in [0, 10^6], {} was given", mean);
    return {[=](double k) { return (k > 0 ? k * std::log(mean) : 0) - mean - std::lgamma(k + 1); }, std::floor(mean),
            std::numeric_limits<double>::infinity()};
  });
}

Array hypergeometric(const Operand& ngood, const Operand& nbad, const Operand& nsample, const OptionalShape& size,
                     const RandomOptions& options) {
  return draw_counts({ngood, nbad, nsample}, size, options, "hypergeometric", [](const Three& parameters) -> Counts {
    const auto [good, bad, drawn] = parameters;
    const bool whole = std::ranges::all_of(parameters, [](double x) { return x >= 0 && x == std::floor(x); });
    if (!whole || good + bad > (1 << 24) || drawn > good + bad)
      fail<ValueError>(
          "random::hypergeometric: integers with 0 <= nsample <= ngood + nbad <= 2^24 are needed, {} of {} + {} were "
          "given",
          drawn, good, bad);
    const auto log_ways = [](double n, double k) {
      return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
    };
    const auto log_probability = [=, good = good, bad = bad, drawn = drawn](double k) {
      return log_ways(good, k) + log_ways(bad, drawn - k) - log_ways(good + bad, drawn);
    };
    return {log_probability, std::floor((drawn + 1) * (good + 1) / (good + bad + 2)), std::min(good, drawn)};
  });
}

Array permutation(std::int64_t n, const RandomOptions& options) {
  if (n < 0) fail<ValueError>("random::permutation: n must not be negative, {} was given", n);
  if (options.dtype && *options.dtype != Dtype::int64)
    return permutation(n, {.device = options.device, .generator = options.generator}).astype(*options.dtype);
  return argsort(words64({n}, options));  // a stable sort keeps equal keys in order
}

Array permutation(const Array& x, Generator* generator) {
  if (x.ndim() == 0) fail<ShapeError>("random::permutation: a 0-d array has nothing to permute");
  const Array order = permutation(x.shape()[0], {.device = x.device(), .generator = generator});
  return x(order);
}

void shuffle(Target to, Generator* generator) {
  const Array& x = to;
  if (x.ndim() == 0) fail<ShapeError>("random::shuffle: a 0-d array has nothing to shuffle");
  copyto(x, permutation(x, generator));
}

namespace {

/// Returns the machine epsilon of a dtype. NumPy accepts sums of probabilities that differ from 1 by its square root.
double spacing(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16:
      return 0x1p-10;
    case Dtype::bfloat16:
      return 0x1p-7;
    case Dtype::float32:
      return 0x1p-23;
    default:
      return 0x1p-52;
  }
}

}  // namespace

Array choice(std::int64_t n, const Shape& size, const ChoiceOptions& options) {
  const std::int64_t count = checked_size(size, "random::choice");
  if (n < 0 || (n == 0 && count > 0)) fail<ValueError>("random::choice: nothing can be drawn from {} elements", n);
  RandomOptions drawing{.device = options.device, .generator = options.generator};
  if (!options.p) {
    if (options.replace)
      return count == 0 ? Array::empty(size, Dtype::int64, options.device.value_or(current_device()))
                        : randint(0, n, size, drawing);
    if (count > n)
      fail<ValueError>("random::choice: {} elements cannot be drawn from {} without replacement", count, n);
    return slice_axis(permutation(n, drawing), 0, 0, count).reshape(size).copy();
  }
  const Array p = as_dtype(*options.p, Dtype::float64);
  if (p.shape() != Shape{n}) fail<ShapeError>("random::choice: p of shape {} for {} elements", p.shape(), n);
  if (n > 0 && !(min(p).item<double>() >= 0)) fail<ValueError>("random::choice: p must not be negative");
  if (!(std::abs(sum(p).item<double>() - 1) <= std::sqrt(spacing(options.p->dtype()))))
    fail<ValueError>("random::choice: p sums to {}, not to 1", sum(p).item<double>());
  if (!drawing.device) drawing.device = p.device();
  if (options.replace) {
    const Array cumulative = cumsum(p);
    const Array u = multiply(random(size, drawing), slice_axis(cumulative, 0, n - 1, n).reshape({}));
    return minimum(searchsorted(cumulative, u, Side::right), n - 1);
  }
  const auto possible = count_nonzero(p).item<std::int64_t>();
  if (count > possible)
    fail<ValueError>("random::choice: {} elements cannot be drawn without replacement from {} with p > 0", count,
                     possible);
  // The largest values of log p plus Gumbel noise are a draw without replacement (Yellott 1977). Elements with p = 0
  // have -inf and are never drawn.
  const Array key = add(log(p), gumbel(0.0, 1.0, p.shape(), drawing));
  return slice_axis(argsort(negative(key)), 0, 0, count).reshape(size).copy();
}

Array choice(const Array& x, const Shape& size, const ChoiceOptions& options) {
  if (x.ndim() != 1) fail<ShapeError>("random::choice: a 1-d array is needed, one of shape {} was given", x.shape());
  ChoiceOptions here = options;
  if (!here.device) here.device = x.device();
  return take(x, choice(x.size(), size, here));
}

}  // namespace catenary::random
