// Exponential, trigonometric and hyperbolic integrals, compared with values from 30-digit arithmetic.
#include <limits>

#include "tests/ops/special_facts.h"

namespace testing_special::integrals {

constexpr double kInf = std::numeric_limits<double>::infinity();

const Fact integrals_facts[] = {
    // clang-format off
  {"exp1", of(ct_exp1_f64), of(ct_exp1_f32), {0.0078125}, 4.28261186668121838535L, 1e-13, 2e-5},
  {"exp1", of(ct_exp1_f64), of(ct_exp1_f32), {0.5}, 0.559773594776160811747L, 1e-13, 2e-5},
  {"exp1", of(ct_exp1_f64), of(ct_exp1_f32), {1.0}, 0.219383934395520273677L, 1e-13, 2e-5},
  {"exp1", of(ct_exp1_f64), of(ct_exp1_f32), {1.25}, 0.146413372525910176693L, 1e-13, 2e-5},
  {"exp1", of(ct_exp1_f64), of(ct_exp1_f32), {4.5}, 0.00207340075471461443289L, 1e-13, 2e-5},
  {"exp1", of(ct_exp1_f64), of(ct_exp1_f32), {30.0}, 3.02155201068881254482e-15L, 1e-13, 2e-5},
  {"exp1", of(ct_exp1_f64), of(ct_exp1_f32), {80.0}, 2.22854325868847291122e-37L, 1e-13, 2e-5},
  {"expi", of(ct_expi_f64), of(ct_expi_f32), {-5.5}, -0.000640926049865762642999L, 1e-13, 2e-5},
  {"expi", of(ct_expi_f64), of(ct_expi_f32), {-0.25}, -1.04428263444373819454L, 1e-13, 2e-5},
  {"expi", of(ct_expi_f64), of(ct_expi_f32), {0.125}, -1.37320852494298333782L, 1e-13, 2e-5},
  {"expi", of(ct_expi_f64), of(ct_expi_f32), {0.5}, 0.454219904863173579921L, 1e-13, 2e-5},
  {"expi", of(ct_expi_f64), of(ct_expi_f32), {2.0}, 4.95423435600189016338L, 1e-13, 2e-5},
  {"expi", of(ct_expi_f64), of(ct_expi_f32), {12.5}, 23565.1175885523357433L, 1e-13, 2e-5},
  {"expi", of(ct_expi_f64), of(ct_expi_f32), {39.0}, 2280446200301902.59534L, 1e-13, 2e-5},
  {"expi", of(ct_expi_f64), of(ct_expi_f32), {41.5}, 26064259707745415.4472L, 1e-13, 2e-5},
  {"expn", of(ct_expn_f64), of(ct_expn_f32), {0.0, 0.5}, 1.21306131942526684721L, 1e-13, 2e-5},
  {"expn", of(ct_expn_f64), of(ct_expn_f32), {1.0, 0.5}, 0.559773594776160811747L, 1e-13, 2e-5},
  {"expn", of(ct_expn_f64), of(ct_expn_f32), {2.0, 0.25}, 0.517730124460470319611L, 1e-13, 2e-5},
  {"expn", of(ct_expn_f64), of(ct_expn_f32), {3.0, 1.0}, 0.109691967197760136839L, 1e-13, 2e-5},
  {"expn", of(ct_expn_f64), of(ct_expn_f32), {3.0, 2.5}, 0.0162953693766688270467L, 1e-13, 2e-5},
  {"expn", of(ct_expn_f64), of(ct_expn_f32), {7.0, 0.75}, 0.0687152840295726292755L, 1e-13, 2e-5},
  {"expn", of(ct_expn_f64), of(ct_expn_f32), {40.0, 12.0}, 1.19915836411058533499e-7L, 1e-13, 2e-5},
  {"expn", of(ct_expn_f64), of(ct_expn_f32), {2.0, 50.0}, 3.71178331886882736679e-24L, 1e-13, 2e-5},
  {"sine_integral", of(ct_sine_integral_f64), of(ct_sine_integral_f32), {-3.5}, -1.83312539866599704794L, 1e-13, 2e-5},
  {"sine_integral", of(ct_sine_integral_f64), of(ct_sine_integral_f32), {0.0078125}, 0.00781247350909527282680L, 1e-13, 2e-5},
  {"sine_integral", of(ct_sine_integral_f64), of(ct_sine_integral_f32), {0.5}, 0.493107418043066689162L, 1e-13, 2e-5},
  {"sine_integral", of(ct_sine_integral_f64), of(ct_sine_integral_f32), {4.0}, 1.75820313894905305811L, 1e-13, 2e-5},
  {"sine_integral", of(ct_sine_integral_f64), of(ct_sine_integral_f32), {7.75}, 1.54252729695846117109L, 1e-13, 2e-5},
  {"sine_integral", of(ct_sine_integral_f64), of(ct_sine_integral_f32), {8.25}, 1.60376339561733956013L, 1e-13, 2e-5},
  {"sine_integral", of(ct_sine_integral_f64), of(ct_sine_integral_f32), {20.0}, 1.54824170104343984016L, 1e-13, 2e-5},
  {"sine_integral", of(ct_sine_integral_f64), of(ct_sine_integral_f32), {1000.5}, 1.57069827434308930173L, 1e-13, 2e-5},
  {"sine_integral", of(ct_sine_integral_f64), of(ct_sine_integral_f32), {1099511627776.0}, 1.57079632679572790109L, 1e-13, 2e-5},
  {"cosine_integral", of(ct_cosine_integral_f64), of(ct_cosine_integral_f32), {-3.5}, -0.0321285485124811156167L, 1e-13, 2e-5},
  {"cosine_integral", of(ct_cosine_integral_f64), of(ct_cosine_integral_f32), {0.0078125}, -4.27482985776834175067L, 1e-13, 2e-5},
  {"cosine_integral", of(ct_cosine_integral_f64), of(ct_cosine_integral_f32), {0.5}, -0.177784078806612901336L, 1e-13, 2e-5},
  {"cosine_integral", of(ct_cosine_integral_f64), of(ct_cosine_integral_f32), {4.0}, -0.140981697886930411639L, 1e-13, 2e-5},
  {"cosine_integral", of(ct_cosine_integral_f64), of(ct_cosine_integral_f32), {7.75}, 0.123078440952857812310L, 1e-13, 2e-5},
  {"cosine_integral", of(ct_cosine_integral_f64), of(ct_cosine_integral_f32), {8.25}, 0.114236331133355428696L, 1e-13, 2e-5},
  {"cosine_integral", of(ct_cosine_integral_f64), of(ct_cosine_integral_f32), {20.0}, 0.0444198208453533165398L, 1e-13, 2e-5},
  {"cosine_integral", of(ct_cosine_integral_f64), of(ct_cosine_integral_f32), {1000.5}, 0.000994677571993695070205L, 1e-13, 2e-5},
  {"hyperbolic_sine_integral", of(ct_hyperbolic_sine_integral_f64), of(ct_hyperbolic_sine_integral_f32), {-3.5}, -6.96616206750494184226L, 1e-13, 2e-5},
  {"hyperbolic_sine_integral", of(ct_hyperbolic_sine_integral_f64), of(ct_hyperbolic_sine_integral_f32), {0.0078125}, 0.00781252649100173994139L, 1e-13, 2e-5},
  {"hyperbolic_sine_integral", of(ct_hyperbolic_sine_integral_f64), of(ct_hyperbolic_sine_integral_f32), {0.5}, 0.506996749819667195834L, 1e-13, 2e-5},
  {"hyperbolic_sine_integral", of(ct_hyperbolic_sine_integral_f64), of(ct_hyperbolic_sine_integral_f32), {4.0}, 9.81732691123303446456L, 1e-13, 2e-5},
  {"hyperbolic_sine_integral", of(ct_hyperbolic_sine_integral_f64), of(ct_hyperbolic_sine_integral_f32), {20.0}, 12807826.3320282944594L, 1e-13, 2e-5},
  {"hyperbolic_sine_integral", of(ct_hyperbolic_sine_integral_f64), of(ct_hyperbolic_sine_integral_f32), {39.5}, 1855459439566985.31703L, 1e-13, 2e-5},
  {"hyperbolic_sine_integral", of(ct_hyperbolic_sine_integral_f64), of(ct_hyperbolic_sine_integral_f32), {41.0}, 8003324571622520.55535L, 1e-13, 2e-5},
  {"hyperbolic_cosine_integral", of(ct_hyperbolic_cosine_integral_f64), of(ct_hyperbolic_cosine_integral_f32), {-3.5}, 6.95919192764739344934L, 1e-13, 2e-5},
  {"hyperbolic_cosine_integral", of(ct_hyperbolic_cosine_integral_f64), of(ct_hyperbolic_cosine_integral_f32), {0.0078125}, -4.27479934019021664541L, 1e-13, 2e-5},
  {"hyperbolic_cosine_integral", of(ct_hyperbolic_cosine_integral_f64), of(ct_hyperbolic_cosine_integral_f32), {0.25}, -0.793412949552825962035L, 1e-13, 2e-5},
  {"hyperbolic_cosine_integral", of(ct_hyperbolic_cosine_integral_f64), of(ct_hyperbolic_cosine_integral_f32), {4.0}, 9.81354755882318555808L, 1e-13, 2e-5},
  {"hyperbolic_cosine_integral", of(ct_hyperbolic_cosine_integral_f64), of(ct_hyperbolic_cosine_integral_f32), {20.0}, 12807826.3320282943611L, 1e-13, 2e-5},
  {"hyperbolic_cosine_integral", of(ct_hyperbolic_cosine_integral_f64), of(ct_hyperbolic_cosine_integral_f32), {39.5}, 1855459439566985.31703L, 1e-13, 2e-5},
  {"hyperbolic_cosine_integral", of(ct_hyperbolic_cosine_integral_f64), of(ct_hyperbolic_cosine_integral_f32), {41.0}, 8003324571622520.55535L, 1e-13, 2e-5},
    // clang-format on
};

TEST(Integrals, KnownValues) { check(integrals_facts); }

TEST(Integrals, Edges) {
  EXPECT_EQ(ct_expi_f64(0), -kInf);
  EXPECT_EQ(ct_expi_f64(kInf), kInf);
  EXPECT_EQ(ct_exp1_f64(0), kInf);
  EXPECT_EQ(ct_exp1_f64(kInf), 0);
  EXPECT_EQ(ct_expn_f64(3, 0), 0.5);
  EXPECT_EQ(ct_sine_integral_f64(-kInf), -std::acos(-1.0) / 2);
  EXPECT_EQ(ct_cosine_integral_f64(kInf), 0);
  EXPECT_EQ(ct_cosine_integral_f64(0), -kInf);
  EXPECT_EQ(ct_hyperbolic_sine_integral_f64(-kInf), -kInf);
  EXPECT_EQ(ct_hyperbolic_cosine_integral_f64(0), -kInf);
  const f64 nan = std::numeric_limits<f64>::quiet_NaN();
  for (const auto f : {ct_expi_f64, ct_exp1_f64, ct_sine_integral_f64, ct_cosine_integral_f64,
                       ct_hyperbolic_sine_integral_f64, ct_hyperbolic_cosine_integral_f64})
    EXPECT_TRUE(std::isnan(f(nan)));
  EXPECT_TRUE(std::isnan(ct_exp1_f64(-1)));
  EXPECT_TRUE(std::isnan(ct_expn_f64(-1, 1)));
  EXPECT_TRUE(std::isnan(ct_expn_f64(kInf, 1)));
  EXPECT_TRUE(std::isnan(ct_cosine_integral_f64(-kInf)));
}

}  // namespace testing_special::integrals
