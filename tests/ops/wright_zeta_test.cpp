// Wright's generalized Bessel function and zeta minus 1, compared with values from 30-digit arithmetic.
#include <limits>

#include "tests/ops/special_facts.h"

namespace testing_special::wright_zeta {

constexpr double kInf = std::numeric_limits<double>::infinity();

const Fact wright_zeta_facts[] = {
    // clang-format off
  {"wright_bessel", of(ct_wright_bessel_f64), of(ct_wright_bessel_f32), {0.5, 1.0, 2.0}, 6.69062794050714413570L, 2e-12, 2e-4},
  {"wright_bessel", of(ct_wright_bessel_f64), of(ct_wright_bessel_f32), {2.5, 0.25, 15.0}, 12.9843371660642203553L, 2e-12, 2e-4},
  {"wright_bessel", of(ct_wright_bessel_f64), of(ct_wright_bessel_f32), {0.0, 2.5, 1.5}, 3.37136305357941843429L, 2e-12, 2e-4},
  {"wright_bessel", of(ct_wright_bessel_f64), of(ct_wright_bessel_f32), {1.0, 50.0, 0.5}, 1.66049530129721104519e-63L, 2e-12, 2e-4},
  {"zetac", of(ct_zetac_f64), of(ct_zetac_f32), {-3.25}, -0.993380523412777856960L, 2e-13, 2e-4},
  {"zetac", of(ct_zetac_f64), of(ct_zetac_f32), {-0.5}, -1.20788622497735456602L, 2e-13, 2e-4},
  {"zetac", of(ct_zetac_f64), of(ct_zetac_f32), {0.25}, -1.81327840526189165652L, 2e-13, 2e-4},
  {"zetac", of(ct_zetac_f64), of(ct_zetac_f32), {1.5}, 1.61237534868548834335L, 2e-13, 2e-4},
  {"zetac", of(ct_zetac_f64), of(ct_zetac_f32), {3.0}, 0.202056903159594285400L, 2e-13, 2e-4},
  {"zetac", of(ct_zetac_f64), of(ct_zetac_f32), {20.0}, 9.53962033872796113152e-7L, 2e-13, 2e-4},
    // clang-format on
};

TEST(WrightZeta, KnownValues) { check(wright_zeta_facts); }

TEST(WrightZeta, Edges) {
  EXPECT_EQ(ct_wright_bessel_f64(1, 2, kInf), kInf);
  EXPECT_TRUE(std::isnan(ct_wright_bessel_f64(-1, 2, 1)));
  EXPECT_EQ(ct_zetac_f64(1), kInf);
  EXPECT_EQ(ct_zetac_f64(kInf), 0);
  EXPECT_EQ(ct_zetac_f64(-2), -1);
  EXPECT_NEAR(ct_zetac_f64(200), std::ldexp(1.0, -200), std::ldexp(1e-13, -200));
  EXPECT_TRUE(std::isnan(ct_zetac_f64(-kInf)));
}

}  // namespace testing_special::wright_zeta
