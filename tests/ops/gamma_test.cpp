// The gamma function and quotients of it, compared with values from 30-digit arithmetic.
#include <limits>

#include "tests/ops/special_facts.h"

namespace testing_special::gamma {

constexpr double kInf = std::numeric_limits<double>::infinity();

const Fact gamma_facts[] = {
    // clang-format off
  {"gamma", of(ct_gamma_f64), of(ct_gamma_f32), {-20.25}, -8.56903266388512748041e-19L, 1e-13, 2e-5},
  {"gamma", of(ct_gamma_f64), of(ct_gamma_f32), {-2.5}, -0.945308720482941881226L, 1e-13, 2e-5},
  {"gamma", of(ct_gamma_f64), of(ct_gamma_f32), {-0.25}, -4.90166680986071058052L, 1e-13, 2e-5},
  {"gamma", of(ct_gamma_f64), of(ct_gamma_f32), {0.0078125}, 127.430456411429658812L, 1e-13, 2e-5},
  {"gamma", of(ct_gamma_f64), of(ct_gamma_f32), {0.5}, 1.77245385090551602730L, 1e-13, 2e-5},
  {"gamma", of(ct_gamma_f64), of(ct_gamma_f32), {1.5}, 0.886226925452758013649L, 1e-13, 2e-5},
  {"gamma", of(ct_gamma_f64), of(ct_gamma_f32), {4.0}, 6.00000000000000000000L, 1e-13, 2e-5},
  {"gamma", of(ct_gamma_f64), of(ct_gamma_f32), {10.25}, 639232.598779576794284L, 1e-13, 2e-5},
  {"gamma", of(ct_gamma_f64), of(ct_gamma_f32), {30.5}, 4.82269693349090860109e+31L, 1e-13, 2e-5},
  {"rgamma", of(ct_rgamma_f64), of(ct_rgamma_f32), {-20.25}, -1166992867485007804.96L, 1e-13, 2e-5},
  {"rgamma", of(ct_rgamma_f64), of(ct_rgamma_f32), {-2.5}, -1.05785546915204303803L, 1e-13, 2e-5},
  {"rgamma", of(ct_rgamma_f64), of(ct_rgamma_f32), {-0.25}, -0.204012234774565745269L, 1e-13, 2e-5},
  {"rgamma", of(ct_rgamma_f64), of(ct_rgamma_f32), {0.0078125}, 0.00784741754962675229700L, 1e-13, 2e-5},
  {"rgamma", of(ct_rgamma_f64), of(ct_rgamma_f32), {0.5}, 0.564189583547756286948L, 1e-13, 2e-5},
  {"rgamma", of(ct_rgamma_f64), of(ct_rgamma_f32), {1.5}, 1.12837916709551257390L, 1e-13, 2e-5},
  {"rgamma", of(ct_rgamma_f64), of(ct_rgamma_f32), {4.0}, 0.166666666666666666667L, 1e-13, 2e-5},
  {"rgamma", of(ct_rgamma_f64), of(ct_rgamma_f32), {10.25}, 0.00000156437578732561592339L, 1e-13, 2e-5},
  {"rgamma", of(ct_rgamma_f64), of(ct_rgamma_f32), {30.5}, 2.07352859570246749689e-32L, 1e-13, 2e-5},
  {"beta", of(ct_beta_f64), of(ct_beta_f32), {0.5, 0.25}, 5.24411510858423962093L, 1e-13, 2e-5},
  {"beta", of(ct_beta_f64), of(ct_beta_f32), {2.5, 30.0}, 0.000253673239964738660587L, 1e-13, 2e-5},
  {"beta", of(ct_beta_f64), of(ct_beta_f32), {-2.5, 1.25}, -0.218504796191009984205L, 1e-13, 2e-5},
  {"beta", of(ct_beta_f64), of(ct_beta_f32), {1000.0, 0.03125}, 25.3464052288441124661L, 1e-13, 2e-5},
  {"betaln", of(ct_betaln_f64), of(ct_betaln_f32), {0.5, 0.25}, 1.65710651619148217296L, 1e-13, 2e-5},
  {"betaln", of(ct_betaln_f64), of(ct_betaln_f32), {2.5, 30.0}, -8.27946357597343347194L, 1e-13, 2e-5},
  {"betaln", of(ct_betaln_f64), of(ct_betaln_f32), {-2.5, 1.25}, -1.52094731415646344669L, 1e-13, 2e-5},
  {"betaln", of(ct_betaln_f64), of(ct_betaln_f32), {1000.0, 2000.0}, -1911.87461421445156884L, 1e-13, 2e-5},
  {"binom", of(ct_binom_f64), of(ct_binom_f32), {5.0, 2.0}, 10.0000000000000000000L, 1e-13, 2e-5},
  {"binom", of(ct_binom_f64), of(ct_binom_f32), {30.0, 12.0}, 86493225.0000000000000L, 1e-13, 2e-5},
  {"binom", of(ct_binom_f64), of(ct_binom_f32), {3.5, 1.0}, 3.50000000000000000000L, 1e-13, 2e-5},
  {"binom", of(ct_binom_f64), of(ct_binom_f32), {-2.5, 3.0}, -6.56250000000000000000L, 1e-13, 2e-5},
  {"binom", of(ct_binom_f64), of(ct_binom_f32), {100.5, 40.25}, 1.95858276395772399579e+28L, 1e-13, 2e-5},
  {"poch", of(ct_poch_f64), of(ct_poch_f32), {0.5, 3.0}, 1.87500000000000000000L, 1e-13, 2e-5},
  {"poch", of(ct_poch_f64), of(ct_poch_f32), {2.5, -1.25}, 0.681843781408779114407L, 1e-13, 2e-5},
  {"poch", of(ct_poch_f64), of(ct_poch_f32), {100.5, 0.03125}, 1.15478777301324846073L, 1e-13, 2e-5},
  {"poch", of(ct_poch_f64), of(ct_poch_f32), {-2.5, 1.75}, 5.11382836056584335806L, 1e-13, 2e-5},
    // clang-format on
};

TEST(Gamma, KnownValues) { check(gamma_facts); }

TEST(Gamma, Edges) {
  EXPECT_EQ(ct_gamma_f64(5), 24);
  EXPECT_EQ(ct_gamma_f64(0.0), kInf);
  EXPECT_EQ(ct_gamma_f64(-0.0), -kInf);
  EXPECT_TRUE(std::isnan(ct_gamma_f64(-3)));
  EXPECT_EQ(ct_gamma_f64(172), kInf);
  EXPECT_EQ(ct_gamma_f32(36), std::numeric_limits<f32>::infinity());
  EXPECT_EQ(ct_rgamma_f64(-3), 0);
  EXPECT_EQ(ct_gammasgn_f64(-0.5), -1);
  EXPECT_EQ(ct_gammasgn_f64(-1.5), 1);
  EXPECT_EQ(ct_beta_f64(-1, 2), kInf);
  EXPECT_NEAR(ct_binom_f64(60, 30), 118264581564861424.0, 1e4);
  EXPECT_TRUE(std::isnan(ct_binom_f64(-2, 1)));
  EXPECT_EQ(ct_poch_f64(-3, 2), 6);
  EXPECT_EQ(ct_poch_f64(-3, 4), 0);
  EXPECT_EQ(ct_poch_f64(0.5, -1.5), kInf);
}

}  // namespace testing_special::gamma
