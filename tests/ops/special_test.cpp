// Compares the special functions with values from 60-digit arithmetic and, densely, with long double formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "catenary/ops/math.h"

namespace {

using namespace catenary::math;
using Wide = long double;

constexpr double tolerance64 = 1e-13, tolerance32 = 1e-6;
constexpr f64 kInf = std::numeric_limits<f64>::infinity();

struct Fact {
  const char* name;
  f64 (*f)(f64);
  f32 (*g)(f32);
  f64 x;
  Wide expected;
};
struct Fact2 {
  const char* name;
  f64 (*f)(f64, f64);
  f32 (*g)(f32, f32);
  f64 x, y;
  Wide expected;
};

double relative(Wide got, Wide expected) {
  if (got == expected) return 0;
  return static_cast<double>(std::abs(got - expected) / std::abs(expected));
}

const Fact facts[] = {
    // clang-format off
  // erfcx
  {"erfcx", ct_erfcx_f64, ct_erfcx_f32, -5.0, 144009798674.661040411L},
  {"erfcx", ct_erfcx_f64, ct_erfcx_f32, -1.5, 18.6538862562627339387L},
  {"erfcx", ct_erfcx_f64, ct_erfcx_f32, -0.25, 1.35864237010472211521L},
  {"erfcx", ct_erfcx_f64, ct_erfcx_f32, 0.0, 1.0L},
  {"erfcx", ct_erfcx_f64, ct_erfcx_f32, 0.125, 0.873221845082150809604L},
  {"erfcx", ct_erfcx_f64, ct_erfcx_f32, 0.75, 0.506937650293144805791L},
  {"erfcx", ct_erfcx_f64, ct_erfcx_f32, 2.0, 0.255395676310505743865L},
  {"erfcx", ct_erfcx_f64, ct_erfcx_f32, 6.5, 0.0858056701048946017779L},
  {"erfcx", ct_erfcx_f64, ct_erfcx_f32, 25.0, 0.0225495724326413589436L},
  {"erfcx", ct_erfcx_f64, ct_erfcx_f32, 100.0, 0.00564161378298943290356L},
  {"erfcx", ct_erfcx_f64, ct_erfcx_f32, 10000000000.0, 5.64189583547756286945e-11L},
  // erfinv
  {"erfinv", ct_erfinv_f64, ct_erfinv_f32, -0.96875, -1.52301940199695611097L},
  {"erfinv", ct_erfinv_f64, ct_erfinv_f32, -0.75, -0.81341984759761854169L},
  {"erfinv", ct_erfinv_f64, ct_erfinv_f32, -0.5, -0.476936276204469873381L},
  {"erfinv", ct_erfinv_f64, ct_erfinv_f32, -0.25, -0.225312055012178104725L},
  {"erfinv", ct_erfinv_f64, ct_erfinv_f32, 0.0009765625, 0.000865456197967137553451L},
  {"erfinv", ct_erfinv_f64, ct_erfinv_f32, 0.484375, 0.459692996832175770987L},
  {"erfinv", ct_erfinv_f64, ct_erfinv_f32, 0.515625, 0.494467965085697802819L},
  {"erfinv", ct_erfinv_f64, ct_erfinv_f32, 0.9375, 1.31715033498613074888L},
  {"erfinv", ct_erfinv_f64, ct_erfinv_f32, 0.9990234375, 2.33146777362194767232L},
  // erfcinv
  {"erfcinv", ct_erfcinv_f64, ct_erfcinv_f32, 7.174648137343064e-43, 9.7051708785343424501L},
  {"erfcinv", ct_erfcinv_f64, ct_erfcinv_f32, 9.094947017729282e-13, 5.05125408524938996707L},
  {"erfcinv", ct_erfcinv_f64, ct_erfcinv_f32, 0.0009765625, 2.33146777362194767232L},
  {"erfcinv", ct_erfcinv_f64, ct_erfcinv_f32, 0.125, 1.08478704006928314131L},
  {"erfcinv", ct_erfcinv_f64, ct_erfcinv_f32, 0.484375, 0.494467965085697802819L},
  {"erfcinv", ct_erfcinv_f64, ct_erfcinv_f32, 0.515625, 0.459692996832175770987L},
  {"erfcinv", ct_erfcinv_f64, ct_erfcinv_f32, 0.75, 0.225312055012178104725L},
  {"erfcinv", ct_erfcinv_f64, ct_erfcinv_f32, 1.25, -0.225312055012178104725L},
  {"erfcinv", ct_erfcinv_f64, ct_erfcinv_f32, 1.4375, -0.409508279134131520041L},
  {"erfcinv", ct_erfcinv_f64, ct_erfcinv_f32, 1.625, -0.627307347788558961047L},
  {"erfcinv", ct_erfcinv_f64, ct_erfcinv_f32, 1.96875, -1.52301940199695611097L},
  // ndtr
  {"ndtr", ct_ndtr_f64, ct_ndtr_f32, -12.0, 1.7764821120776789977e-33L},
  {"ndtr", ct_ndtr_f64, ct_ndtr_f32, -5.5, 1.89895624658877193839e-8L},
  {"ndtr", ct_ndtr_f64, ct_ndtr_f32, -2.0, 0.0227501319481792072003L},
  {"ndtr", ct_ndtr_f64, ct_ndtr_f32, -1.0, 0.158655253931457051415L},
  {"ndtr", ct_ndtr_f64, ct_ndtr_f32, -0.5, 0.308537538725986896362L},
  {"ndtr", ct_ndtr_f64, ct_ndtr_f32, 0.0, 0.5L},
  {"ndtr", ct_ndtr_f64, ct_ndtr_f32, 0.25, 0.598706325682923724241L},
  {"ndtr", ct_ndtr_f64, ct_ndtr_f32, 1.5, 0.933192798731141933996L},
  {"ndtr", ct_ndtr_f64, ct_ndtr_f32, 4.0, 0.999968328758166880079L},
  {"ndtr", ct_ndtr_f64, ct_ndtr_f32, 8.0, 0.999999999999999377904L},
  // ndtri
  {"ndtri", ct_ndtri_f64, ct_ndtri_f32, 7.346839692639297e-40, -13.1610970295742974716L},
  {"ndtri", ct_ndtri_f64, ct_ndtri_f32, 9.313225746154785e-10, -6.00935356553074389318L},
  {"ndtri", ct_ndtri_f64, ct_ndtri_f32, 0.015625, -2.15387469406145621296L},
  {"ndtri", ct_ndtri_f64, ct_ndtri_f32, 0.125, -1.1503493803760081783L},
  {"ndtri", ct_ndtri_f64, ct_ndtri_f32, 0.234375, -0.724514383492365354462L},
  {"ndtri", ct_ndtri_f64, ct_ndtri_f32, 0.265625, -0.62609901234642118704L},
  {"ndtri", ct_ndtri_f64, ct_ndtri_f32, 0.375, -0.318639363964375163022L},
  {"ndtri", ct_ndtri_f64, ct_ndtri_f32, 0.625, 0.318639363964375163022L},
  {"ndtri", ct_ndtri_f64, ct_ndtri_f32, 0.71875, 0.579132162255555924122L},
  {"ndtri", ct_ndtri_f64, ct_ndtri_f32, 0.78125, 0.776421761147927618304L},
  {"ndtri", ct_ndtri_f64, ct_ndtri_f32, 0.9375, 1.53412054435254631171L},
  {"ndtri", ct_ndtri_f64, ct_ndtri_f32, 0.9990234375, 3.09726907819878446236L},
  // log_ndtr
  {"log_ndtr", ct_log_ndtr_f64, ct_log_ndtr_f32, -100.0, -5005.52420869420508863L},
  {"log_ndtr", ct_log_ndtr_f64, ct_log_ndtr_f32, -30.0, -454.321243956343197107L},
  {"log_ndtr", ct_log_ndtr_f64, ct_log_ndtr_f32, -8.0, -35.0134371599145498955L},
  {"log_ndtr", ct_log_ndtr_f64, ct_log_ndtr_f32, -2.5, -5.08164827727869049838L},
  {"log_ndtr", ct_log_ndtr_f64, ct_log_ndtr_f32, -1.0, -1.84102164500926350577L},
  {"log_ndtr", ct_log_ndtr_f64, ct_log_ndtr_f32, -0.5, -1.17591176159361860888L},
  {"log_ndtr", ct_log_ndtr_f64, ct_log_ndtr_f32, 0.0, -0.693147180559945309417L},
  {"log_ndtr", ct_log_ndtr_f64, ct_log_ndtr_f32, 0.5, -0.368946415288656393066L},
  {"log_ndtr", ct_log_ndtr_f64, ct_log_ndtr_f32, 2.0, -0.0230129093289634884653L},
  {"log_ndtr", ct_log_ndtr_f64, ct_log_ndtr_f32, 4.5, -0.00000339767889683446614453L},
  // lgamma
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, -10.5, -15.1472705907178411461L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, -4.25, -2.07007243425732410804L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, -2.25, 0.555501545020647470594L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, -1.5, 0.860047015376481014511L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, -0.125, 2.16530024890517025175L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 0.0078125, 4.84757077588166486683L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 0.25, 1.28802252469807745737L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 0.75, 0.203280951431295371481L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 1.03125, -0.0172467750017680674029L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 1.5, -0.120782237635245222346L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 1.96875, -0.0128950259801674106214L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 2.0625, 0.0276675215228570234974L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 2.4375, 0.241703066490345794167L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 2.5625, 0.329578419247102816201L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 3.25, 0.935801931108725358258L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 3.5625, 1.2705617637116293824L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 10.0, 12.8018274800814696112L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 100.25, 360.284559637764234968L},
  {"lgamma", ct_lgamma_f64, ct_lgamma_f32, 12345.0, 103953.532472047896394L},
  // digamma
  {"digamma", ct_digamma_f64, ct_digamma_f32, -10.5, 2.39823912953578161337L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, -4.25, 4.70156998999733879065L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, -2.75, -1.95905526497799700982L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, -1.25, 3.71413912021352783037L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, -0.125, 7.19598292845230461768L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 0.0078125, -128.564437472976727637L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 0.25, -4.22745353337626540809L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 0.75, -1.08586087978647216963L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 1.03125, -0.526953288606118111369L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 1.4375, -0.0236135440052978991417L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 1.5, 0.036489973978576520559L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 2.0625, 0.462322980528130927612L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 2.4375, 0.672038629907745579119L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 2.5625, 0.733351580126281789844L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 3.25, 1.01699091106817903635L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 3.5625, 1.12359548256530618009L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 10.0, 2.25175258906672110765L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 100.25, 4.60267124327471255908L},
  {"digamma", ct_digamma_f64, ct_digamma_f32, 12345.0, 9.42096589900484721156L},
  // trigamma
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, -10.5, 9.7787577398148123845L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, -4.25, 19.5294483898814630726L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, -2.75, 19.4338689494884641622L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, -1.5, 9.37924664498912375386L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, -0.125, 66.0057409579249181388L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 0.0078125, 16385.6263481480316636L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 0.25, 17.1973291545071107393L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 0.75, 2.5418796476716064984L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 1.03125, 1.57285447823770888519L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 1.5, 0.934802200544679309417L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 2.0625, 0.62060689412648692831L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 2.4375, 0.505570970825683914633L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 2.5625, 0.476019909876229801462L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 3.25, 0.359798290309579875074L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 3.5625, 0.323729606485391015025L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 10.0, 0.105166335681685746122L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 100.25, 0.0100249786981233661863L},
  {"trigamma", ct_trigamma_f64, ct_trigamma_f32, 12345.0, 0.0000810077361945113659561L},
    // clang-format on
};
const Fact2 facts2[] = {
    // clang-format off
  // zeta
  {"zeta", ct_zeta_f64, ct_zeta_f32, 1.0625, 0.5, 18.0500210218035931706L},
  {"zeta", ct_zeta_f64, ct_zeta_f32, 1.5, 1.0, 2.61237534868548834335L},
  {"zeta", ct_zeta_f64, ct_zeta_f32, 2.0, 0.125, 65.3881334449880344731L},
  {"zeta", ct_zeta_f64, ct_zeta_f32, 2.0, 1.0, 1.64493406684822643647L},
  {"zeta", ct_zeta_f64, ct_zeta_f32, 3.0, 1.0, 1.2020569031595942854L},
  {"zeta", ct_zeta_f64, ct_zeta_f32, 2.5, 10.25, 0.0218620468705265905773L},
  {"zeta", ct_zeta_f64, ct_zeta_f32, 4.0, 1000.0, 3.33833666666500000222e-10L},
  {"zeta", ct_zeta_f64, ct_zeta_f32, 10.0, 0.5, 1024.0174503557579013L},
  {"zeta", ct_zeta_f64, ct_zeta_f32, 20.0, 3.5, 1.3229189094143142578e-11L},
  {"zeta", ct_zeta_f64, ct_zeta_f32, 30.0, 1.0, 1.00000000093132743242L},
  {"zeta", ct_zeta_f64, ct_zeta_f32, 2.0, -0.5, 8.93480220054467930942L},
  {"zeta", ct_zeta_f64, ct_zeta_f32, 3.0, -2.25, -61.9484748870300827906L},
  {"zeta", ct_zeta_f64, ct_zeta_f32, 2.0, -7.75, 19.6181443343522894647L},
  // polygamma
  {"polygamma", ct_polygamma_f64, ct_polygamma_f32, 0.0, 2.5, 0.703156640645243187226L},
  {"polygamma", ct_polygamma_f64, ct_polygamma_f32, 1.0, 0.5, 4.93480220054467930942L},
  {"polygamma", ct_polygamma_f64, ct_polygamma_f32, 1.0, 3.0, 0.394934066848226436472L},
  {"polygamma", ct_polygamma_f64, ct_polygamma_f32, 2.0, 1.0, -2.4041138063191885708L},
  {"polygamma", ct_polygamma_f64, ct_polygamma_f32, 2.0, 10.5, -0.00997514424771516928531L},
  {"polygamma", ct_polygamma_f64, ct_polygamma_f32, 3.0, 0.25, 1538.78214400918839602L},
  {"polygamma", ct_polygamma_f64, ct_polygamma_f32, 4.0, 2.75, -0.202555473371573086387L},
  {"polygamma", ct_polygamma_f64, ct_polygamma_f32, 7.0, 5.5, 0.00843548791857210601841L},
  {"polygamma", ct_polygamma_f64, ct_polygamma_f32, 10.0, 1.5, -42108.8587689754917968L},
  {"polygamma", ct_polygamma_f64, ct_polygamma_f32, 1.0, -1.5, 9.37924664498912375386L},
  {"polygamma", ct_polygamma_f64, ct_polygamma_f32, 2.0, -3.25, 123.955211039422022659L},
    // clang-format on
};

TEST(Special, KnownValues) {
  for (const Fact& k : facts) {
    EXPECT_LE(relative(k.f(k.x), k.expected), tolerance64)
        << k.name << "(" << k.x << ") = " << k.f(k.x) << ", expected " << k.expected;
    // below the smallest normal number, a float has fewer digits
    const Wide floor = std::numeric_limits<f32>::min();
    const f32 got = k.g(static_cast<f32>(k.x));
    if (std::abs(k.expected) < std::numeric_limits<f32>::max()) {
      EXPECT_LE(std::abs(got - k.expected), tolerance32 * std::max(std::abs(k.expected), floor))
          << k.name << "(" << k.x << "f) = " << got << ", expected " << k.expected;
    } else {
      EXPECT_TRUE(std::isinf(got)) << k.name << "(" << k.x << "f) = " << got;
    }
  }
  for (const Fact2& k : facts2) {
    EXPECT_LE(relative(k.f(k.x, k.y), k.expected), tolerance64)
        << k.name << "(" << k.x << ", " << k.y << ") = " << k.f(k.x, k.y) << ", expected " << k.expected;
    const f32 got = k.g(static_cast<f32>(k.x), static_cast<f32>(k.y));
    EXPECT_LE(relative(got, k.expected), tolerance32) << k.name << "(" << k.x << "f, " << k.y << "f) = " << got;
  }
}

// Uses the recurrence up to 40, then the asymptotic series.
Wide digamma_of(Wide x) {
  Wide r = 0;
  for (; x < 40; ++x) r -= 1 / x;
  const Wide z = 1 / (x * x);
  return r + std::log(x) - 1 / (2 * x) -
         z * (1.0L / 12 - z * (1.0L / 120 - z * (1.0L / 252 - z * (1.0L / 240 - z / 132))));
}
Wide zeta_of(Wide s, Wide x) {
  Wide r = 0;
  for (; x < 400; ++x) r += std::pow(x, -s);
  const Wide t = std::pow(x, -s);
  const Wide series = s / 12 - s * (s + 1) * (s + 2) / (720 * x * x) +
                      s * (s + 1) * (s + 2) * (s + 3) * (s + 4) / (30240 * x * x * x * x);
  return r + t * x / (s - 1) + t / 2 + t * series / x;
}
// Uses Lentz's continued fraction from 6 on.
Wide erfcx_of(Wide x) {
  if (x < 6) return std::exp(x * x) * std::erfc(x);
  Wide t = 0;
  for (int k = 60; k > 0; --k) t = k / (2 * (x + t));
  return 1 / (std::sqrt(std::acos(Wide(-1))) * (x + t));
}
Wide ndtr_of(Wide x) { return std::erfc(-x * std::sqrt(Wide(0.5))) / 2; }

// Checks the largest relative errors of f and g over points that are evenly distributed in the logarithm.
template <class F, class G, class R>
void sweep(const char* name, F f, G g, R reference, double low, double high, int signs, double limit64 = tolerance64,
           double limit32 = tolerance32) {
  std::mt19937_64 rng(3);
  std::uniform_real_distribution<double> exponent(std::log(low), std::log(high));
  double worst64 = 0, worst32 = 0, at64 = 0, at32 = 0;
  for (int k = 0; k < 40'000; ++k) {
    f64 x = std::exp(exponent(rng));
    if (signs < 0 || (signs == 0 && k % 2)) x = -x;
    const double e64 = relative(f(x), reference(x));
    if (!(e64 <= worst64)) worst64 = e64, at64 = x;
    const f32 x32 = static_cast<f32>(x);
    const Wide expected = reference(x32);
    if (std::abs(expected) > std::numeric_limits<f32>::max() || std::abs(expected) < std::numeric_limits<f32>::min())
      continue;
    const double e32 = relative(g(x32), expected);
    if (!(e32 <= worst32)) worst32 = e32, at32 = x32;
  }
  if (std::getenv("CATENARY_TEST_VERBOSE"))
    printf("%-10s f64 %.2e at %.17g   f32 %.2e at %.9g\n", name, worst64, at64, worst32, at32);
  EXPECT_LE(worst64, limit64) << name << " at " << at64 << ": " << f(at64) << ", expected " << reference(at64);
  EXPECT_LE(worst32, limit32) << name << " at " << at32 << ": " << g(static_cast<f32>(at32)) << ", expected "
                              << reference(at32);
}
#define SWEEP(name, reference, ...) \
  sweep(                            \
      #name, ct_##name##_f64, ct_##name##_f32, [](Wide x) -> Wide { return reference; }, __VA_ARGS__)

TEST(Special, ErrorFunctions) {
  SWEEP(erf, std::erf(x), 1e-30, 20, 0);
  SWEEP(erfc, std::erfc(x), 1e-30, 26, 0);
  SWEEP(erfcx, erfcx_of(x), 1e-30, 1e30, 1);
  SWEEP(erfcx, erfcx_of(x), 1e-30, 26, -1);
  SWEEP(ndtr, ndtr_of(x), 1e-30, 37, 0);
  SWEEP(log_ndtr, x < 0 ? std::log(ndtr_of(x)) : std::log1p(-ndtr_of(-x)), 1e-30, 37, 0);
}

// Checks erf(erfinv(x)) = x and the like. The residual is divided by the slope.
TEST(Special, InverseErrorFunctions) {
  const Wide root_pi = std::sqrt(std::acos(Wide(-1)));
  auto erfinv_residual = [&](Wide x, Wide z) {
    const Wide r =
        std::abs(x) < 0.5 ? std::erf(z) - x : (std::signbit(x) ? -1 : 1) * ((1 - std::abs(x)) - std::erfc(std::abs(z)));
    return static_cast<double>(std::abs(r * root_pi / 2 * std::exp(z * z) / z));
  };
  auto erfcinv_residual = [&](Wide y, Wide z) {
    return static_cast<double>(std::abs((std::erfc(z) - y) * root_pi / 2 * std::exp(z * z) / z));
  };
  std::mt19937_64 rng(4);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int k = 0; k < 40'000; ++k) {
    const f64 x = unit(rng);
    EXPECT_LE(erfinv_residual(x, ct_erfinv_f64(x)), tolerance64) << x;
    const f32 x32 = static_cast<f32>(x);
    if (std::abs(x32) < 1) {
      EXPECT_LE(erfinv_residual(x32, ct_erfinv_f32(x32)), tolerance32) << x;
    }
    const f64 y = std::exp(-700 * std::abs(unit(rng)) * std::abs(unit(rng)));
    EXPECT_LE(erfcinv_residual(y, ct_erfcinv_f64(y)), tolerance64) << y;
    const f32 y32 = static_cast<f32>(std::exp(-85 * std::abs(unit(rng))));
    if (y32 < 1) {
      EXPECT_LE(erfcinv_residual(y32, ct_erfcinv_f32(y32)), tolerance32) << y32;
    }
    EXPECT_LE(erfcinv_residual(2 * Wide(y), ct_ndtri_f64(y) * -std::sqrt(Wide(0.5))),
              y > 0.49 && y < 0.51 ? 1 : tolerance64)
        << y;
  }
}

TEST(Special, GammaFunctions) {
  SWEEP(lgamma, std::lgamma(x), 1e-30, 1e30, 1);
  SWEEP(digamma, digamma_of(x), 1e-30, 1e30, 1, 1e-13, 2e-6);
  SWEEP(trigamma, zeta_of(2, x), 1e-15, 1e15, 1);
  std::mt19937_64 rng(5);
  std::uniform_real_distribution<double> unit(0, 1);
  double worst64 = 0, worst32 = 0;
  for (int k = 0; k < 1500; ++k) {
    const f64 s = 1.01 + unit(rng) * (k % 2 ? 8 : 40);
    const f64 x = std::exp(unit(rng) * 8 - 3);
    const f32 s32 = static_cast<f32>(s), x32 = static_cast<f32>(x);
    worst64 = std::max(worst64, relative(ct_zeta_f64(s, x), zeta_of(s, x)));
    const Wide expected = zeta_of(s32, x32);
    if (expected > std::numeric_limits<f32>::min() && expected < std::numeric_limits<f32>::max())
      worst32 = std::max(worst32, relative(ct_zeta_f32(s32, x32), expected));
  }
  if (std::getenv("CATENARY_TEST_VERBOSE")) printf("zeta %.2e %.2e\n", worst64, worst32);
  EXPECT_LE(worst64, tolerance64);
  EXPECT_LE(worst32, tolerance32);
}

// Below 0, where the functions have zeros, the absolute error is compared with the terms that cancel.
TEST(Special, GammaFunctionsBelowZero) {
  const Wide pi = std::acos(Wide(-1));
  std::mt19937_64 rng(6);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int k = 0; k < 20'000; ++k) {
    const f64 x = -30 * unit(rng);
    const Wide l = std::lgamma(Wide(x)), scale = std::abs(l) + std::lgamma(1 - Wide(x)) + 1;
    EXPECT_LE(std::abs(ct_lgamma_f64(x) - l), 1e-14 * scale) << x;
    const Wide cot = pi / std::tan(pi * (Wide(x) - std::floor(Wide(x))));
    const Wide d = digamma_of(1 - Wide(x)) - cot;
    EXPECT_LE(std::abs(ct_digamma_f64(x) - d), 1e-14 * (std::abs(d) + std::abs(cot) + 4)) << x;
    const Wide sine = std::sin(pi * (Wide(x) - std::floor(Wide(x))));
    const Wide t = pi * pi / (sine * sine) - zeta_of(2, 1 - Wide(x));
    EXPECT_LE(relative(ct_trigamma_f64(x), t), tolerance64) << x;
  }
}

TEST(Special, Edges) {
  const f64 nan = std::numeric_limits<f64>::quiet_NaN();
  EXPECT_EQ(ct_erf_f64(kInf), 1);
  EXPECT_EQ(ct_erf_f64(-kInf), -1);
  EXPECT_TRUE(std::signbit(ct_erf_f64(-0.0)));
  EXPECT_EQ(ct_erfc_f64(kInf), 0);
  EXPECT_EQ(ct_erfc_f64(-kInf), 2);
  EXPECT_EQ(ct_erfcx_f64(kInf), 0);
  EXPECT_EQ(ct_erfcx_f64(-kInf), kInf);
  EXPECT_EQ(ct_ndtr_f64(kInf), 1);
  EXPECT_EQ(ct_ndtr_f64(-kInf), 0);
  EXPECT_EQ(ct_log_ndtr_f64(kInf), 0);
  EXPECT_EQ(ct_log_ndtr_f64(-kInf), -kInf);
  EXPECT_EQ(ct_erfinv_f64(1), kInf);
  EXPECT_EQ(ct_erfinv_f64(-1), -kInf);
  EXPECT_TRUE(std::isnan(ct_erfinv_f64(1.5)));
  EXPECT_EQ(ct_erfinv_f64(0), 0);
  EXPECT_EQ(ct_erfcinv_f64(0), kInf);
  EXPECT_EQ(ct_erfcinv_f64(2), -kInf);
  EXPECT_EQ(ct_erfcinv_f64(1), 0);
  EXPECT_TRUE(std::isnan(ct_erfcinv_f64(-0.5)));
  EXPECT_TRUE(std::isnan(ct_erfcinv_f64(2.5)));
  EXPECT_EQ(ct_ndtri_f64(0), -kInf);
  EXPECT_EQ(ct_ndtri_f64(1), kInf);
  EXPECT_EQ(ct_ndtri_f64(0.5), 0);
  EXPECT_TRUE(std::isnan(ct_ndtri_f64(-0.5)));
  EXPECT_TRUE(std::isnan(ct_ndtri_f64(1.5)));
  EXPECT_EQ(ct_lgamma_f64(0), kInf);
  EXPECT_EQ(ct_lgamma_f64(1), 0);
  EXPECT_EQ(ct_lgamma_f64(2), 0);
  EXPECT_EQ(ct_lgamma_f64(-3), kInf);
  EXPECT_EQ(ct_lgamma_f64(kInf), kInf);
  EXPECT_EQ(ct_lgamma_f64(-kInf), kInf);
  EXPECT_EQ(ct_digamma_f64(0.0), -kInf);
  EXPECT_EQ(ct_digamma_f64(-0.0), kInf);
  EXPECT_EQ(ct_digamma_f64(kInf), kInf);
  EXPECT_TRUE(std::isnan(ct_digamma_f64(-2)));
  EXPECT_EQ(ct_trigamma_f64(0), kInf);
  EXPECT_EQ(ct_trigamma_f64(-2), kInf);
  EXPECT_EQ(ct_trigamma_f64(kInf), 0);
  EXPECT_EQ(ct_zeta_f64(1, 2), kInf);
  EXPECT_EQ(ct_zeta_f64(2, 0), kInf);
  EXPECT_EQ(ct_zeta_f64(2, -3), kInf);
  EXPECT_EQ(ct_zeta_f64(2, kInf), 0);
  EXPECT_TRUE(std::isnan(ct_zeta_f64(0.5, 1)));
  EXPECT_TRUE(std::isnan(ct_zeta_f64(2.5, -1.5)));
  EXPECT_TRUE(std::isnan(ct_polygamma_f64(1.5, 1)));
  for (auto f : {ct_erf_f64, ct_erfc_f64, ct_erfcx_f64, ct_erfinv_f64, ct_erfcinv_f64, ct_ndtr_f64, ct_ndtri_f64,
                 ct_log_ndtr_f64, ct_lgamma_f64, ct_digamma_f64, ct_trigamma_f64})
    EXPECT_TRUE(std::isnan(f(nan)));
  for (auto f : {ct_erf_f32, ct_erfc_f32, ct_erfcx_f32, ct_erfinv_f32, ct_erfcinv_f32, ct_ndtr_f32, ct_ndtri_f32,
                 ct_log_ndtr_f32, ct_lgamma_f32, ct_digamma_f32, ct_trigamma_f32})
    EXPECT_TRUE(std::isnan(f(std::numeric_limits<f32>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(ct_zeta_f64(nan, 1)));
  EXPECT_TRUE(std::isnan(ct_polygamma_f64(1, nan)));
}

// Poles beside 0 whose values overflow, and negative numbers so large that all are integers, hence poles.
template <class T>
void expect_extremes(T (*lgamma)(T), T (*digamma)(T), T (*trigamma)(T)) {
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity();
  for (const T x : {Limits::denorm_min(), Limits::min() / 8}) {
    EXPECT_EQ(digamma(x), -inf) << x;
    EXPECT_EQ(digamma(-x), inf) << x;
    EXPECT_EQ(trigamma(x), inf) << x;
    EXPECT_EQ(trigamma(-x), inf) << x;
    EXPECT_LE(relative(lgamma(-x), -std::log(Wide(x))), 4 * Limits::epsilon()) << x;
  }
  for (const T x : {Limits::min(), Limits::epsilon() / 512, Limits::epsilon() / 2})
    for (const T signed_x : {x, -x})
      EXPECT_LE(relative(digamma(signed_x), -1 / Wide(signed_x) - 0.5772156649015328606L), 4 * Limits::epsilon())
          << signed_x;
  const T whole = std::ldexp(T(1), Limits::digits - 1);  // from here on all numbers are integers
  for (const T x : {whole - 1, whole, whole + 1, whole * 8, Limits::max() / 1000, Limits::max() / 2, Limits::max()}) {
    EXPECT_EQ(lgamma(-x), inf) << x;
    EXPECT_TRUE(std::isnan(digamma(-x))) << x;
    EXPECT_EQ(trigamma(-x), inf) << x;
  }
  const T half = whole - T(0.5);
  EXPECT_LE(relative(lgamma(-half), -std::lgamma(Wide(half) + 1) + std::log(std::acos(Wide(-1)))),
            4 * Limits::epsilon());
  EXPECT_LE(relative(digamma(-half), std::log(Wide(half))), 4 * Limits::epsilon());
}

TEST(Special, GammaFunctionsAtExtremes) {
  expect_extremes(ct_lgamma_f64, ct_digamma_f64, ct_trigamma_f64);
  expect_extremes(ct_lgamma_f32, ct_digamma_f32, ct_trigamma_f32);
}

}  // namespace
