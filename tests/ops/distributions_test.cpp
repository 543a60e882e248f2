// Distribution functions, compared with values from 30-digit arithmetic, and their inverses.
#include <limits>

#include "tests/ops/special_facts.h"

namespace testing_special::distributions {

constexpr double kInf = std::numeric_limits<double>::infinity();

const Fact distributions_facts[] = {
    // clang-format off
  {"pdtr", of(ct_pdtr_f64), of(ct_pdtr_f32), {3.0, 2.5}, 0.757576133133065963752L, 2e-12, 2e-4},
  {"pdtr", of(ct_pdtr_f64), of(ct_pdtr_f32), {20.0, 12.0}, 0.988402262785192540960L, 2e-12, 2e-4},
  {"pdtrc", of(ct_pdtrc_f64), of(ct_pdtrc_f32), {3.0, 2.5}, 0.242423866866934036248L, 2e-12, 2e-4},
  {"pdtrc", of(ct_pdtrc_f64), of(ct_pdtrc_f32), {20.0, 12.0}, 0.0115977372148074590403L, 2e-12, 2e-4},
  {"chdtr", of(ct_chdtr_f64), of(ct_chdtr_f32), {3.0, 2.5}, 0.524708916656979409841L, 2e-12, 2e-4},
  {"chdtr", of(ct_chdtr_f64), of(ct_chdtr_f32), {20.0, 12.0}, 0.0839240169948758227975L, 2e-12, 2e-4},
  {"chdtrc", of(ct_chdtrc_f64), of(ct_chdtrc_f32), {3.0, 2.5}, 0.475291083343020590159L, 2e-12, 2e-4},
  {"chdtrc", of(ct_chdtrc_f64), of(ct_chdtrc_f32), {20.0, 12.0}, 0.916075983005124177203L, 2e-12, 2e-4},
  {"gdtr", of(ct_gdtr_f64), of(ct_gdtr_f32), {2.0, 2.5, 0.75}, 0.300014164121372490900L, 2e-12, 2e-4},
  {"gdtr", of(ct_gdtr_f64), of(ct_gdtr_f32), {0.5, 20.0, 50.0}, 0.866425165914349594321L, 2e-12, 2e-4},
  {"gdtrc", of(ct_gdtrc_f64), of(ct_gdtrc_f32), {2.0, 2.5, 0.75}, 0.699985835878627509100L, 2e-12, 2e-4},
  {"gdtrc", of(ct_gdtrc_f64), of(ct_gdtrc_f32), {0.5, 20.0, 50.0}, 0.133574834085650405679L, 2e-12, 2e-4},
  {"fdtr", of(ct_fdtr_f64), of(ct_fdtr_f32), {2.0, 6.0, 0.75}, 0.488000000000000000000L, 2e-12, 2e-4},
  {"fdtr", of(ct_fdtr_f64), of(ct_fdtr_f32), {12.0, 5.0, 2.5}, 0.839652871648022571851L, 2e-12, 2e-4},
  {"fdtrc", of(ct_fdtrc_f64), of(ct_fdtrc_f32), {2.0, 6.0, 0.75}, 0.512000000000000000000L, 2e-12, 2e-4},
  {"fdtrc", of(ct_fdtrc_f64), of(ct_fdtrc_f32), {12.0, 5.0, 2.5}, 0.160347128351977428149L, 2e-12, 2e-4},
  {"bdtr", of(ct_bdtr_f64), of(ct_bdtr_f32), {3.0, 10.0, 0.25}, 0.775875091552734375000L, 2e-12, 2e-4},
  {"bdtr", of(ct_bdtr_f64), of(ct_bdtr_f32), {12.0, 30.0, 0.5}, 0.180797304026782512665L, 2e-12, 2e-4},
  {"bdtrc", of(ct_bdtrc_f64), of(ct_bdtrc_f32), {3.0, 10.0, 0.25}, 0.224124908447265625000L, 2e-12, 2e-4},
  {"bdtrc", of(ct_bdtrc_f64), of(ct_bdtrc_f32), {12.0, 30.0, 0.5}, 0.819202695973217487335L, 2e-12, 2e-4},
  {"nbdtr", of(ct_nbdtr_f64), of(ct_nbdtr_f32), {3.0, 10.0, 0.75}, 0.584252715110778808594L, 2e-12, 2e-4},
  {"nbdtr", of(ct_nbdtr_f64), of(ct_nbdtr_f32), {12.0, 3.0, 0.25}, 0.763912188820540904999L, 2e-12, 2e-4},
  {"nbdtrc", of(ct_nbdtrc_f64), of(ct_nbdtrc_f32), {3.0, 10.0, 0.75}, 0.415747284889221191406L, 2e-12, 2e-4},
  {"nbdtrc", of(ct_nbdtrc_f64), of(ct_nbdtrc_f32), {12.0, 3.0, 0.25}, 0.236087811179459095001L, 2e-12, 2e-4},
    // clang-format on
};

TEST(Distributions, KnownValues) { check(distributions_facts); }

TEST(Distributions, Inverses) {
  for (const f64 p : {0.02, 0.5, 0.9}) {
    EXPECT_NEAR(ct_pdtr_f64(4, ct_pdtri_f64(4, p)), p, 1e-12);
    EXPECT_NEAR(ct_chdtrc_f64(5, ct_chdtri_f64(5, p)), p, 1e-12);
    EXPECT_NEAR(ct_fdtr_f64(3, 8, ct_fdtri_f64(3, 8, p)), p, 1e-12);
    EXPECT_NEAR(ct_bdtr_f64(4, 12, ct_bdtri_f64(4, 12, p)), p, 1e-12);
    EXPECT_NEAR(ct_nbdtr_f64(4, 12, ct_nbdtri_f64(4, 12, p)), p, 1e-12);
  }
}

TEST(Distributions, OutsideTheirDomains) {
  EXPECT_TRUE(std::isnan(ct_pdtr_f64(1, -1)));
  EXPECT_TRUE(std::isnan(ct_gdtr_f64(1, 2, -0.5)));
  EXPECT_TRUE(std::isnan(ct_fdtr_f64(0, 1, 0.5)));
  EXPECT_TRUE(std::isnan(ct_bdtr_f64(3, 2, 0.5)));
  EXPECT_EQ(ct_bdtr_f64(4, 4, 0.5), 1);
  EXPECT_EQ(ct_bdtrc_f64(-1, 4, 0.5), 1);
  EXPECT_TRUE(std::isnan(ct_bdtr_f64(1, kInf, 0.5)));
  EXPECT_TRUE(std::isnan(ct_nbdtr_f64(1, 0, 0.5)));
}

}  // namespace testing_special::distributions
