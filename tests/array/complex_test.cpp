// complex64 and complex128 on the current device, compared with std::complex<long double> and with the CPU's bits.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <sstream>

#include "catenary/array/creation.h"
#include "catenary/array/indexing.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/print.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/array/statistics.h"
#include "catenary/array/view.h"
#include "catenary/core/error.h"
#include "catenary/ops/op_names.h"
#include "tests/array/complex_numbers.h"

namespace ct = catenary;
using namespace testing_arrays;
using ct::Dtype;
using ct::Shape;

namespace {

using Wide = std::complex<long double>;

std::vector<C> random_numbers(std::size_t n, unsigned seed, double largest_exponent = 3) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> sign(-1, 1), exponent(-largest_exponent, largest_exponent);
  std::vector<C> all(n);
  for (C& z : all) z = {sign(random) * std::exp2(exponent(random)), sign(random) * std::exp2(exponent(random))};
  return all;
}

/// Values for which C99 defines special results: zeros, infinities, NaN and numbers in both parts.
std::vector<C> special_numbers() {
  const double parts[] = {0.0, -0.0, 1, -1, 0.5, -2.5, kInf, -kInf, kNan};
  std::vector<C> all;
  for (double re : parts)
    for (double im : parts) all.emplace_back(re, im);
  return all;
}

/// Returns the distance in units in the last place of the expected value. Equal infinities and two NaNs have distance
/// 0.
double units(double value, long double expected, Dtype part) {
  const bool single = part == Dtype::float32;
  const auto rounded = single ? static_cast<double>(static_cast<float>(expected)) : static_cast<double>(expected);
  if (std::isnan(value) || std::isnan(rounded)) return std::isnan(value) == std::isnan(rounded) ? 0 : kInf;
  if (value == rounded) return 0;
  if (std::isinf(value) || std::isinf(rounded)) return kInf;
  const double digit =
      single ? std::abs(static_cast<double>(std::nextafter(static_cast<float>(rounded), INFINITY)) - rounded)
             : std::abs(std::nextafter(rounded, INFINITY) - rounded);
  return static_cast<double>(std::abs(static_cast<long double>(value) - expected) / static_cast<long double>(digit));
}

struct Function {
  std::function<Wide(Wide)> wide;
  double units = 4;      ///< of each part
  bool of_size = false;  ///< measures relative to the magnitude, because one part may suffer from cancellation
};

Wide expm1_of(Wide z) {
  const long double x = z.real(), y = z.imag(), half = std::sin(y / 2);
  return {std::expm1(x) * std::cos(y) - 2 * half * half, std::exp(x) * std::sin(y)};
}
Wide log1p_of(Wide z) {
  const long double x = z.real(), y = z.imag();
  return {std::log1p(x * (2 + x) + y * y) / 2, std::atan2(y, 1 + x)};
}

const std::map<std::string, Function>& unary_functions() {
  const Wide log_two(std::log(2.0L));
  static const std::map<std::string, Function> all = {
      {"negative", {[](Wide z) { return -z; }, 0}},
      {"conjugate", {[](Wide z) { return std::conj(z); }, 0}},
      {"square", {[](Wide z) { return z * z; }, 2, true}},
      {"reciprocal", {[](Wide z) { return Wide(1) / z; }, 4, true}},
      {"sqrt", {[](Wide z) { return std::sqrt(z); }, 4}},
      {"exp", {[](Wide z) { return std::exp(z); }, 4}},
      {"exp2", {[=](Wide z) { return std::exp(z * log_two); }, 16, true}},
      {"expm1", {expm1_of, 4, true}},
      {"log", {[](Wide z) { return std::log(z); }, 4}},
      {"log2", {[=](Wide z) { return std::log(z) / log_two; }, 5}},
      {"log10", {[](Wide z) { return std::log(z) / std::log(10.0L); }, 5}},
      {"log1p", {log1p_of, 4, true}},
      {"sin", {[](Wide z) { return std::sin(z); }, 4}},
      {"cos", {[](Wide z) { return std::cos(z); }, 4}},
      {"tan", {[](Wide z) { return std::tan(z); }, 8}},
      {"sinh", {[](Wide z) { return std::sinh(z); }, 4}},
      {"cosh", {[](Wide z) { return std::cosh(z); }, 4}},
      {"tanh", {[](Wide z) { return std::tanh(z); }, 8}},
      {"arcsin", {[](Wide z) { return std::asin(z); }, 6}},
      {"arccos", {[](Wide z) { return std::acos(z); }, 6}},
      {"arctan", {[](Wide z) { return std::atan(z); }, 6}},
      {"arcsinh", {[](Wide z) { return std::asinh(z); }, 6}},
      {"arccosh", {[](Wide z) { return std::acosh(z); }, 6}},
      {"arctanh", {[](Wide z) { return std::atanh(z); }, 6}},
  };
  return all;
}

std::vector<std::string> complex_rows() {
  std::vector<std::string> names;
  for (int i = 0; i < static_cast<int>(ct::ops::Op::count); ++i) {
    const auto op = static_cast<ct::ops::Op>(i);
    if (ct::ops::of_complex(op) != ct::ops::OfComplex::undefined && ct::ops::info(op).rule != ct::ops::Rule::INTERNAL)
      names.emplace_back(ct::ops::info(op).name);
  }
  return names;
}
ct::ops::Op row_named(const std::string& name) {
  int i = 0;
  while (ct::ops::info(static_cast<ct::ops::Op>(i)).name != name) ++i;
  return static_cast<ct::ops::Op>(i);
}

TEST(Complex, FunctionsAreC99sWithinAFewUnits) {
  if (!ct::current_device().is_cpu()) return;  // ComplexRows tests that devices have the CPU's bits
  for (const Dtype dtype : complex_dtypes()) {
    const Dtype part = ct::part_dtype(dtype);
    for (const std::string& name : complex_rows()) {
      const ct::ops::Op op = row_named(name);
      const ct::ops::OpInfo& row = ct::ops::info(op);
      if (row.arity != 1 || ct::ops::of_complex(op) != ct::ops::OfComplex::value) continue;
      if (std::string(row.name) == "sign" || std::string(row.name) == "rint") continue;  // defined by NumPy: see below
      const auto known = unary_functions().find(row.name);
      ASSERT_NE(known, unary_functions().end()) << row.name << " has no reference here";
      const Function& f = known->second;
      std::vector<C> all = random_numbers(2000, 7);
      for (const C& z : random_numbers(500, 8, 20)) all.push_back(z);
      for (int k = 0; k < 800; ++k)  // around the unit circle, half of them with nearly equal parts
        all.push_back(std::polar(1 + 3e-6 * std::sin(k), k % 2 ? 0.01 * k : 0.785398 + k / 2 * 1.5707963 + k * 1e-7));
      double worst = 0;
      C worst_at;
      const Array x = from(all, dtype);
      const std::vector<C> given = numbers(x), results = numbers(ct::apply(op, x));
      for (std::size_t k = 0; k < given.size(); ++k) {
        const Wide expected = f.wide(Wide(given[k]));
        if (name == "exp2" && std::abs(given[k]) > 20)
          continue;  // computed from z ln 2, whose rounding error grows with z
        double error;
        if (f.of_size) {
          const Wide difference = Wide(results[k]) - expected;
          const long double size = std::abs(expected);
          const double largest = part == Dtype::float32 ? 1e38 : 1e308;
          if (!(size < largest && size * largest > 1)) continue;
          error = static_cast<double>(std::abs(difference) / (size * (part == Dtype::float32 ? 0x1p-23L : 0x1p-52L)));
        } else {
          error = std::max(units(results[k].real(), expected.real(), part),
                           units(results[k].imag(), expected.imag(), part));
        }
        if (error > worst) worst = error, worst_at = given[k];
      }
      EXPECT_LE(worst, f.units) << row.name << " of " << dtype << " at " << worst_at;
    }
  }
}

// Points where formulas branch: near 0, 1 and i, on the axes, and where e^x overflows but e^x cos(y) does not.
TEST(Complex, FunctionsAtSpecialPointsAreC99s) {
  if (!ct::current_device().is_cpu()) return;  // ComplexRows tests that devices have the CPU's bits
  for (const Dtype dtype : complex_dtypes()) {
    const bool single = ct::part_dtype(dtype) == Dtype::float32;
    const double eps = single ? 0x1p-23 : 0x1p-52, tiny = single ? 1e-30 : 1e-250;
    std::vector<double> parts;
    for (double size : {0.0, tiny, eps * eps, eps / 8, std::sqrt(eps), 0.5, 1 - eps, 1.0, 1 + 2 * eps, 3.0, 1e5})
      parts.insert(parts.end(), {size, -size});
    std::vector<C> all;
    for (double re : parts)
      for (double im : parts) all.emplace_back(re, im);
    std::vector<C> large;
    for (double re : single ? std::vector<double>{88, 88.5, 89, 89.5, 90} : std::vector<double>{709.5, 710, 710.5, 711})
      for (double im : {0.3, 1.5, 1.57, -1.5707, 3.0}) large.emplace_back(re, im);
    for (const std::string name :
         {"exp", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "sqrt", "log"}) {
      const Function& f = unary_functions().at(name);
      const Array x = from(name == "exp" ? large : all, dtype);
      const std::vector<C> given = numbers(x), results = numbers(ct::apply(row_named(name), x));
      for (std::size_t k = 0; k < given.size(); ++k) {
        const Wide expected = f.wide(Wide(given[k]));
        const double error = std::max(units(results[k].real(), expected.real(), ct::part_dtype(dtype)),
                                      units(results[k].imag(), expected.imag(), ct::part_dtype(dtype)));
        EXPECT_LE(error, f.units) << name << " of " << dtype << " at " << given[k] << ": " << results[k] << ", not "
                                  << C(expected);
      }
    }
  }
}

TEST(Complex, FunctionsOfWhatIsNotFiniteAreC99s) {
  if (!ct::current_device().is_cpu()) return;
  // cases that the standard leaves open, and rows where NumPy differs from library functions
  const auto open = [](const std::string& name, const C& z) {
    const bool finite_im = std::isfinite(z.imag()), finite_re = std::isfinite(z.real());
    if (name == "square" || name == "reciprocal" || name == "exp2" || name == "log2" || name == "log10" ||
        name == "expm1" || name == "log1p")
      return true;  // products with infinities and NaNs, where NumPy differs from C99
    if (name == "exp" && std::isinf(z.imag()) && std::isinf(z.real())) return true;
    return !finite_im && !finite_re && (std::isnan(z.real()) || std::isnan(z.imag()));
  };
  for (const Dtype dtype : complex_dtypes()) {
    const Array x = from(special_numbers(), dtype);
    const std::vector<C> given = numbers(x);
    for (const auto& [name, f] : unary_functions()) {
      const ct::ops::Op op = row_named(name);
      const std::vector<C> results = numbers(ct::apply(op, x));
      for (std::size_t k = 0; k < given.size(); ++k) {
        if (std::isfinite(given[k].real()) && std::isfinite(given[k].imag()) && name != "sqrt" && name != "log")
          continue;
        const C expected(f.wide(Wide(given[k])));
        for (const bool real : {true, false}) {
          if (open(name, given[k])) continue;
          const double value = real ? results[k].real() : results[k].imag();
          const double wanted = real ? expected.real() : expected.imag();
          if (std::isnan(wanted)) {
            EXPECT_TRUE(std::isnan(value)) << name << given[k] << ": " << results[k] << ", not " << expected;
          } else {
            EXPECT_NEAR(std::isinf(value) ? 0 : value, std::isinf(wanted) ? 0 : wanted, 1e-6)
                << name << given[k] << ": " << results[k] << ", not " << expected;
            // the sign of an infinity or a zero beside a NaN is unspecified
            const double other = real ? expected.imag() : expected.real();
            EXPECT_EQ(std::isinf(value), std::isinf(wanted))
                << name << given[k] << ": " << results[k] << ", not " << expected;
            if (!std::isnan(other)) {
              EXPECT_EQ(std::signbit(value), std::signbit(wanted))
                  << name << given[k] << ": " << results[k] << ", not " << expected;
            }
          }
        }
      }
    }
  }
}

class ComplexRows : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, ComplexRows, testing::ValuesIn(complex_rows()),
                         [](const auto& row) { return row.param; });

TEST_P(ComplexRows, HaveTheCpusBits) {
  const ct::ops::Op op = row_named(GetParam());
  for (const Dtype dtype : complex_dtypes()) {
    std::vector<C> all = special_numbers();
    for (const C& z : random_numbers(700, 3, 12)) all.push_back(z);
    for (const C& z : random_numbers(300, 4, 100)) all.push_back(z);
    std::vector<C> others(all.rbegin(), all.rend());
    for (int n = -4; n < 5; ++n) all.emplace_back(1.25, n), others.emplace_back(n, 0);
    const auto bits_on = [&](const ct::Device& device) {
      const ct::DeviceScope scope(device);
      const Array x = from(all, dtype), y = from(others, dtype);
      const Array result =
          (ct::ops::info(op).arity == 1 ? ct::apply(op, x) : ct::apply(op, x, y)).to_device(ct::Device());
      std::vector<double> parts;  // all NaNs are equal
      for (const Array& part : {ct::real(result), ct::imag(result)})
        for (double v : part.astype(Dtype::float64).to_vector<double>()) parts.push_back(std::isnan(v) ? 12345 : v);
      return std::pair(result.dtype(), parts);
    };
    const auto [own, here] = bits_on(ct::current_device());
    const auto [cpus, there] = bits_on(ct::Device());
    EXPECT_EQ(own, cpus);
    ASSERT_EQ(here.size(), there.size());
    EXPECT_EQ(std::memcmp(here.data(), there.data(), here.size() * sizeof(double)), 0) << dtype;
  }
}

TEST(Complex, AsManyRowsAsNumPyHas) { EXPECT_EQ(complex_rows().size(), 49u); }

TEST(Complex, ArithmeticBroadcastsFusesAndTakesLiterals) {
  for (const Dtype dtype : complex_dtypes()) {
    const double close = dtype == Dtype::complex64 ? 1e-6 : 1e-14;
    const std::vector<C> v = random_numbers(12, 1), w = random_numbers(4, 2);
    const Array x = from(v, {3, 4}, dtype), y = from(w, {4}, dtype);
    std::vector<C> expected;
    for (std::size_t i = 0; i < 12; ++i) {
      const C a(numbers(x)[i]), b(numbers(y)[i % 4]);
      expected.push_back(a * b - a / b + C(0, 2) * a + 1.0);
    }
    expect_numbers(x * y - x / y + C(0, 2) * x + 1, expected, dtype, 30 * close);
    // a reversed view with every other row
    const Array behind = x(ct::slice(ct::none, ct::none, -2), ct::slice(ct::none, ct::none, -1));
    std::vector<C> turned;
    for (int r : {2, 0})
      for (int c : {3, 2, 1, 0}) turned.push_back(numbers(x)[static_cast<std::size_t>(r * 4 + c)]);
    expect_numbers(behind, turned, dtype);
    expect_numbers(
        -behind.T(),
        [&] {
          std::vector<C> all;
          for (int c = 0; c < 4; ++c)
            for (int r = 0; r < 2; ++r) all.push_back(-turned[static_cast<std::size_t>(r * 4 + c)]);
          return all;
        }(),
        dtype);
    Array z = x.copy();
    z += y;
    z *= C(0, 1);
    for (std::size_t i = 0; i < 12; ++i) expected[i] = (numbers(x)[i] + numbers(y)[i % 4]) * C(0, 1);
    expect_numbers(z, expected, dtype, 4 * close);
    EXPECT_EQ((x + 1.5).dtype(), dtype);
    EXPECT_EQ(ct::absolute(x).dtype(), ct::part_dtype(dtype));
    EXPECT_EQ((Array::empty({0, 2}, dtype) * x(0, 0)).shape(), (Shape{0, 2}));
    EXPECT_EQ((x.sum() * 2).shape(), Shape{});
    EXPECT_THROW(z(0) += from(w, dtype)(ct::slice(0, 3)), ct::ShapeError);
    const Array real_array = ct::ones({4}, Dtype::float32);
    EXPECT_EQ((real_array * C(0, 1)).dtype(), Dtype::complex64);
    EXPECT_EQ((real_array + x(0)).dtype(), dtype);
  }
  EXPECT_THROW(Array(ct::ones({2}, Dtype::float32)) += C(1, 1), ct::DtypeError);
}

TEST(Complex, DtypesPromoteAsNumPys) {
  using ct::promote;
  for (const Dtype d : {Dtype::bool_, Dtype::int8, Dtype::uint8, Dtype::int16, Dtype::uint16, Dtype::float16,
                        Dtype::bfloat16, Dtype::float32})
    EXPECT_EQ(promote(d, Dtype::complex64), Dtype::complex64) << d;
  for (const Dtype d : {Dtype::int32, Dtype::uint32, Dtype::int64, Dtype::uint64, Dtype::float64, Dtype::complex128})
    EXPECT_EQ(promote(Dtype::complex64, d), Dtype::complex128) << d;
  EXPECT_EQ(ct::dtype_from_name("<c8"), Dtype::complex64);
  EXPECT_EQ(ct::dtype_from_name("complex"), Dtype::complex128);
  EXPECT_STREQ(ct::dtype_name(Dtype::complex128), "complex128");
  EXPECT_EQ(ct::dtype_of<std::complex<float>>, Dtype::complex64);
  EXPECT_TRUE(ct::can_cast_same_kind(Dtype::float64, Dtype::complex64));
  EXPECT_FALSE(ct::can_cast_same_kind(Dtype::complex64, Dtype::float64));
}

TEST(Complex, PartsAreViewsThatAreWrittenThrough) {
  for (const Dtype dtype : complex_dtypes()) {
    const Array x = from({{1, 2}, {3, 4}, {5, 6}, {7, 8}}, {2, 2}, dtype);
    expect_array(ct::real(x), {1, 3, 5, 7}, {2, 2}, ct::part_dtype(dtype));
    expect_array(ct::imag(x.T()), {2, 6, 4, 8}, {2, 2}, ct::part_dtype(dtype));
    ct::imag(x).fill(0);
    ct::real(x)(1) += 10;
    expect_numbers(x, {1, 3, 15, 17}, dtype);
    // parts of pending values
    expect_array(ct::imag(x * C(0, 1)), {1, 3, 15, 17}, {2, 2}, ct::part_dtype(dtype));
    expect_array(ct::angle(from({{1, 1}, {-1, 0}}, dtype)), {std::atan(1.0), std::acos(-1.0)}, {2},
                 ct::part_dtype(dtype), 1e-6);
  }
  const Array real_array = ct::arange(3).astype(Dtype::float32);
  EXPECT_TRUE(ct::real(real_array).is(real_array));
  expect_array(ct::imag(real_array), {0, 0, 0}, {3}, Dtype::float32);
  const Array z = ct::complex(real_array, ct::ones({2, 1}, Dtype::float32));
  expect_numbers(z, {{0, 1}, {1, 1}, {2, 1}, {0, 1}, {1, 1}, {2, 1}}, Dtype::complex64);
  EXPECT_THROW(ct::complex(z, real_array), ct::DtypeError);
}

TEST(Complex, BytesAreSwappedInEachPart) {
  for (const Dtype dtype : complex_dtypes()) {
    const Array x = from({{1, 2}, {3, -4}, {0.5, 6}, {7, 8}, {-1, 1e-3}, {9, 0}}, {2, 3}, dtype);
    const auto bytes_of = [](const Array& a) {
      const Array here = a.to_device(ct::Device()).copy();
      std::vector<std::uint8_t> bytes(here.nbytes());
      here.copy_to_host(bytes.data());
      return bytes;
    };
    std::vector<std::uint8_t> expected = bytes_of(x);
    const auto part = static_cast<std::ptrdiff_t>(ct::itemsize(dtype)) / 2;
    for (auto at = expected.begin(); at != expected.end(); at += part) std::reverse(at, at + part);
    const Array swapped = ct::byteswap(x), turned = ct::byteswap(x.T());
    EXPECT_EQ(swapped.dtype(), dtype);
    EXPECT_EQ(bytes_of(swapped), expected);
    EXPECT_EQ(turned.strides(), x.T().strides());
    EXPECT_EQ(bytes_of(turned.T()), expected);
    EXPECT_EQ(bytes_of(ct::byteswap(swapped)), bytes_of(x));
  }
}

TEST(Complex, CastsToAndFromEveryDtype) {
  for (const Dtype dtype : complex_dtypes()) {
    const Array x = from({{1, 5}, {0, 0}, {0, 2}, {3, 0}}, {2, 2}, dtype);
    for (int d = 0; d < ct::kDtypes; ++d) {
      const auto to = static_cast<Dtype>(d);
      if (ct::part_dtype(to) == Dtype::float64 && !ct::has_float64(ct::current_device())) continue;
      for (const Array& source : {x, Array(x.T())}) {
        // directly, as part of a program, and back
        const Array cast = source.astype(to), fused = (source * 1).astype(to);
        const bool turned = source.strides()[0] == 1;
        std::vector<C> expected = {{1, 5}, {0, 0}, {0, 2}, {3, 0}};
        if (turned) std::swap(expected[1], expected[2]);
        for (C& z : expected) {
          if (to == Dtype::bool_)
            z = z != 0.0;
          else if (!ct::is_complex(to))
            z = z.real();
        }
        for (const Array& a : {cast, fused}) {
          EXPECT_EQ(a.dtype(), to);
          expect_numbers(a.astype(dtype), expected, dtype);
        }
      }
    }
  }
}

TEST(Complex, ReductionsAndOrder) {
  for (const Dtype dtype : complex_dtypes()) {
    const Dtype part = ct::part_dtype(dtype);
    const double close = dtype == Dtype::complex64 ? 2e-5 : 1e-12;
    const std::vector<C> v = random_numbers(6 * 700, 11, 1);
    const Array x = from(v, {6, 700}, dtype);
    const std::vector<C> given = numbers(x);
    C total = 0;
    std::vector<C> columns(700), running;
    for (std::size_t i = 0; i < given.size(); ++i) total += given[i], columns[i % 700] += given[i];
    expect_numbers(x.sum(), {total}, dtype, close * 50);
    expect_numbers(x.sum(0), columns, dtype, close);
    expect_numbers(x.mean(), {total / 4200.0}, dtype, close);
    double spread = 0;
    for (const C& z : given) spread += std::norm(z - total / 4200.0);
    EXPECT_EQ(x.var().dtype(), part);
    EXPECT_NEAR(x.var().item<double>(), spread / 4200, close * 10);
    EXPECT_NEAR(x.std().item<double>(), std::sqrt(spread / 4200), close * 10);
    const Array few = from({{1, 2}, {1, -2}, {0, 9}, {-3, 0}, {1, 2}, {2, kNan}}, dtype);
    expect_numbers(ct::sort(few(ct::slice(0, 5))), {{-3, 0}, {0, 9}, {1, -2}, {1, 2}, {1, 2}}, dtype);
    expect_array(ct::argsort(few), {3, 2, 1, 0, 4, 5}, {6}, Dtype::int64);
    expect_array(ct::argmax(few(ct::slice(0, 5))), {0}, {}, Dtype::int64);
    expect_array(ct::argmin(few(ct::slice(0, 5)).reshape({5, 1}), 0, true), {3}, {1, 1}, Dtype::int64);
    expect_array(ct::argmax(few), {5}, {}, Dtype::int64);
    expect_numbers(few(ct::slice(0, 5)).max(), {{1, 2}}, dtype);
    expect_numbers(few(ct::slice(0, 5)).min(), {{-3, 0}}, dtype);
    expect_numbers(few(ct::slice(0, 3)).prod(), {C(1, 2) * C(1, -2) * C(0, 9)}, dtype, close);
    expect_numbers(ct::cumsum(few(ct::slice(0, 4))), {{1, 2}, {2, 0}, {2, 9}, {-1, 9}}, dtype);
    expect_numbers(ct::cumprod(few(ct::slice(0, 4))), {{1, 2}, {5, 0}, {0, 45}, {0, -135}}, dtype, close);
    expect_numbers(ct::unique(few(ct::slice(0, 5))), {{-3, 0}, {0, 9}, {1, -2}, {1, 2}}, dtype);
    expect_array(few == few(0), {1, 0, 0, 0, 1, 0}, {6}, Dtype::bool_);
    expect_array(few < C(1, 2), {0, 1, 1, 1, 0, 0}, {6}, Dtype::bool_);
    EXPECT_EQ(ct::count_nonzero(few).item<int>(), 6);
    EXPECT_EQ(ct::any(few - few(0) == 0).item<bool>(), true);
    expect_numbers(Array::empty({0, 2}, dtype).sum(0), {0, 0}, dtype);
    expect_numbers(ct::nansum(few), {{0, 11}}, dtype);
    expect_numbers(ct::nanmax(few), {{1, 2}}, dtype);
    expect_numbers(ct::nanmin(few), {{-3, 0}}, dtype);
    expect_array(ct::nanargmax(few), {0}, {}, Dtype::int64);
    expect_array(ct::nanargmin(few), {3}, {}, Dtype::int64);
    EXPECT_THROW(ct::nanargmax(few(ct::slice(5, 6))), ct::ValueError);
  }
}

TEST(Complex, ProductsAndSystems) {
  for (const Dtype dtype : complex_dtypes()) {
    const double close = dtype == Dtype::complex64 ? 2e-5 : 1e-12;
    const Array a = from(random_numbers(2 * 5 * 3, 1, 1), {2, 5, 3}, dtype),
                b = from(random_numbers(3 * 4, 2, 1), {3, 4}, dtype);
    const auto value = [](const Array& x, std::int64_t i, std::int64_t j) { return numbers(x(i, j))[0]; };
    const Array product = ct::matmul(a, b), turned = ct::matmul(b.T(), a(1).T());
    EXPECT_EQ(product.shape(), (Shape{2, 5, 4}));
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 4; ++j) {
        C expected = 0;
        for (int k = 0; k < 3; ++k) expected += value(a(1), i, k) * value(b, k, j);
        EXPECT_LE(std::abs(value(product(1), i, j) - expected), close);
        EXPECT_LE(std::abs(value(turned, j, i) - expected), close);
      }
    const Array v = from({{1, 2}, {3, -1}, {0, 1}}, dtype);
    expect_numbers(ct::vdot(v, v), {16}, dtype, close);
    expect_numbers(ct::dot(v, v), {C(1, 2) * C(1, 2) + C(3, -1) * C(3, -1) - 1.0}, dtype, close);
    expect_numbers(ct::matmul(from({}, {2, 0}, dtype), from({}, {0, 1}, dtype)), {0, 0}, dtype);
    const Array m = from(random_numbers(16, 5, 1), {4, 4}, dtype), identity = ct::eye(4, {}, 0, ct::part_dtype(dtype));
    const auto same = [&](const Array& x, const Array& y) {
      EXPECT_LE(ct::max(ct::absolute(x - y)).item<double>(), 100 * close);
    };
    same(ct::matmul(ct::linalg::inv(m), m), identity);
    const Array right = from(random_numbers(8, 6, 1), {4, 2}, dtype);
    same(ct::matmul(m, ct::linalg::solve(m, right)), right);
    same(ct::matmul(m, ct::linalg::solve(m, right(ct::slice(), 1))), right(ct::slice(), 1));
    const Array hermitian = ct::matmul(m, ct::conjugate(m.T())) + identity;
    const Array factor = ct::linalg::cholesky(hermitian);
    same(ct::matmul(factor, ct::conjugate(factor.T())), hermitian);
    same(factor, ct::tril(factor));
    EXPECT_NEAR(ct::linalg::norm(v).item<double>(), 4, 1e-5);
  }
}

TEST(Complex, ElementsAreMoved) {
  for (const Dtype dtype : complex_dtypes()) {
    const std::vector<C> v = random_numbers(24, 9);
    const Array x = from(v, {4, 6}, dtype);
    const std::vector<C> given = numbers(x);
    const auto at = [&](int r, int c) { return given[static_cast<std::size_t>(r * 6 + c)]; };
    const Array rows = make<std::int64_t>({3, 0}), columns = make<std::int64_t>({5, 1});
    expect_numbers(x(rows, columns), {at(3, 5), at(0, 1)}, dtype);
    expect_numbers(ct::take(x, rows, 1),
                   {at(0, 3), at(0, 0), at(1, 3), at(1, 0), at(2, 3), at(2, 0), at(3, 3), at(3, 0)}, dtype);
    expect_numbers(ct::take_along_axis(x, make<std::int64_t>({5, 4, 3, 2}, {4, 1}), 1),
                   {at(0, 5), at(1, 4), at(2, 3), at(3, 2)}, dtype);
    expect_numbers(x.T().copy()(5), {at(0, 5), at(1, 5), at(2, 5), at(3, 5)}, dtype);
    expect_numbers(
        ct::concatenate({x(0), x(2)}),
        [&] {
          std::vector<C> all;
          for (int r : {0, 2})
            for (int c = 0; c < 6; ++c) all.push_back(at(r, c));
          return all;
        }(),
        dtype);
    expect_numbers(ct::where(ct::real(x)(0) > 1e9, x(0), x(1)),
                   {at(1, 0), at(1, 1), at(1, 2), at(1, 3), at(1, 4), at(1, 5)}, dtype);
    const Array y = x.copy();
    y.set(C(1, -1), rows, columns);
    expect_numbers(y(rows, columns), {{1, -1}, {1, -1}}, dtype);
    ct::scatter_add(y, {ct::Index(make<std::int64_t>({3, 3}))}, C(0, 1));
    expect_numbers(y(3, 5), {{1, 1}}, dtype, 1e-6);
    expect_numbers(y(3, 0), {at(3, 0) + C(0, 2)}, dtype, 1e-6);
    EXPECT_THROW(ct::scatter_max(y, {ct::Index(rows)}, C(0, 1)), ct::DtypeError);
    expect_numbers(x(x == x(2, 2)), {at(2, 2)}, dtype);
    expect_numbers(ct::full({2}, C(1, 2), dtype), {{1, 2}, {1, 2}}, dtype);
    EXPECT_EQ(x(1, 1).item<std::complex<float>>(), std::complex<float>(at(1, 1)));
  }
}

TEST(Complex, AreWrittenAsNumPyWritesThem) {
  EXPECT_EQ(ct::to_string(from({{1, 2}, {-3.5, -0.25}}, Dtype::complex64)), "[ 1. +2.j   -3.5-0.25j]");
  EXPECT_EQ(ct::repr(from({{0, 1}}, Dtype::complex64)), "array([0.+1.j], dtype=complex64)");
  EXPECT_EQ(ct::to_string(from({{1, 2}}, {}, Dtype::complex64)), "(1+2j)");
  EXPECT_EQ(ct::to_string(from({{0, -2.5}}, {}, Dtype::complex64)), "-2.5j");
  EXPECT_EQ(ct::to_string(from({{kNan, kInf}, {1, -kInf}}, Dtype::complex64)), "[nan+infj  1.-infj]");
  EXPECT_EQ(ct::to_string(Array::empty({0}, Dtype::complex64)), "[]");
}

TEST(Complex, PlacesMiddlesAndCovariances) {
  for (const Dtype d : complex_dtypes()) {
    const Array sorted = from({{1, 1}, {1, 2}, {2, 0}, {2, 0}, {3, -1}}, d);
    const Array wanted = from({{1, 2}, {0, 5}, {2, 0}, {9, 9}, {2, 1}, {kNan, 0}}, {2, 3}, d);
    const auto places = [&](ct::Side side) { return ct::searchsorted(sorted, wanted, side).to_vector<int>(); };
    EXPECT_EQ(places(ct::Side::left), (std::vector<int>{1, 0, 2, 5, 4, 5}));
    EXPECT_EQ(places(ct::Side::right), (std::vector<int>{2, 0, 4, 5, 4, 5}));
    EXPECT_EQ(ct::searchsorted(sorted, wanted).shape(), (Shape{2, 3}));
    EXPECT_EQ(ct::searchsorted(from({}, d), wanted).to_vector<int>(), std::vector<int>(6, 0));
    EXPECT_EQ(ct::searchsorted(sorted, from({}, d)).size(), 0);
    EXPECT_EQ(ct::isin(wanted, sorted).to_vector<bool>(), (std::vector<bool>{true, false, true, false, false, false}));
    const std::vector<C> odd{{3, 1}, {1, 2}, {2, 5}}, even{{3, 1}, {1, 2}, {2, 5}, {4, 0}},
        broken{{3, 1}, {1, kNan}, {2, 5}};
    EXPECT_EQ(numbers(ct::median(from(odd, d))), (std::vector<C>{{2, 5}}));
    EXPECT_EQ(numbers(ct::median(from(even, d))), (std::vector<C>{{2.5, 3}}));
    EXPECT_TRUE(std::isnan(numbers(ct::median(from(broken, d)))[0].real()));
    EXPECT_EQ(numbers(ct::nanmedian(from(broken, d))), (std::vector<C>{{2.5, 3}}));
    EXPECT_EQ(ct::median(from(odd, d)).dtype(), d);
    EXPECT_THROW(ct::quantile(from(odd, d), 0.5), ct::DtypeError);
    EXPECT_THROW(ct::percentile(from(odd, d), std::vector<double>{50}), ct::DtypeError);
    const Array pair =
        from({{1, 1}, {3, -1}, {2, 0}, {0, 2}}, {2, 2}, d);  // deviations (-1 + i, 1 - i) and (1 - i, -1 + i)
    EXPECT_EQ(numbers(ct::cov(pair)), (std::vector<C>{{4, 0}, {-4, 0}, {-4, 0}, {4, 0}}));
    EXPECT_EQ(numbers(ct::corrcoef(pair)), (std::vector<C>{{1, 0}, {-1, 0}, {-1, 0}, {1, 0}}));
    EXPECT_EQ(numbers(ct::interp(ct::ones({1}) * 0.5, ct::arange(2.0), from({{0, 2}, {2, 4}}, d)))[0], (C{1, 3}));
    EXPECT_EQ(numbers(ct::byteswap(ct::byteswap(pair))), numbers(pair));
    EXPECT_EQ(numbers(ct::real(ct::byteswap(pair))), numbers(ct::byteswap(ct::real(pair))));
  }
}

TEST(Complex, RefusesMeaninglessOperations) {
  const Array z = from({{1, 2}, {3, 4}}, Dtype::complex64);
  EXPECT_THROW(ct::floor(z), ct::DtypeError);
  EXPECT_THROW(z % z, ct::DtypeError);
  EXPECT_THROW(ct::floor_divide(z, 2), ct::DtypeError);
  EXPECT_THROW(ct::arctan2(z, z), ct::DtypeError);
  EXPECT_THROW(ct::sigmoid(z), ct::DtypeError);
  EXPECT_THROW(ct::bitwise_and(z, z), ct::DtypeError);
  EXPECT_THROW(ct::topk(z, 1), ct::DtypeError);
  EXPECT_THROW(ct::logsumexp(z), ct::DtypeError);
  const Array real = ct::ones({2}), truth = Array::empty({2}, Dtype::bool_);
  EXPECT_THROW(ct::copyto(real, z), ct::DtypeError);
  EXPECT_THROW(ct::copyto(real, z, ct::ones({2}, Dtype::bool_)), ct::DtypeError);
  EXPECT_THROW(ct::copyto(real, std::complex<double>(0, 1)), ct::DtypeError);
  EXPECT_THROW(real[0].set(z[0]), ct::DtypeError);
  EXPECT_THROW(real.fill(std::complex<double>(0, 1)), ct::DtypeError);
  EXPECT_EQ(real.to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_THROW((void)z[0].item<double>(), ct::DtypeError);
  ct::copyto(truth, z);
  EXPECT_TRUE(ct::all(truth).item<bool>() && z[0].item<bool>());
  try {
    ct::signbit(z);
    FAIL();
  } catch (const ct::DtypeError& error) {
    EXPECT_EQ(std::string(error.what()), "signbit: not defined for complex64; it has no meaning for complex numbers");
  }
}

}  // namespace
