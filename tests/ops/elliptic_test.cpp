// Elliptic integrals and functions, compared with values from 30-digit arithmetic.
#include <limits>

#include "tests/ops/special_facts.h"

namespace testing_special::elliptic {

constexpr double kInf = std::numeric_limits<double>::infinity();

const Fact elliptic_facts[] = {
    // clang-format off
  {"ellipk", of(ct_ellipk_f64), of(ct_ellipk_f32), {-3.5}, 1.04156071196962004785L, 1e-13, 2e-5},
  {"ellipk", of(ct_ellipk_f64), of(ct_ellipk_f32), {0.0}, 1.57079632679489661923L, 1e-13, 2e-5},
  {"ellipk", of(ct_ellipk_f64), of(ct_ellipk_f32), {0.25}, 1.68575035481259604287L, 1e-13, 2e-5},
  {"ellipk", of(ct_ellipk_f64), of(ct_ellipk_f32), {0.5}, 1.85407467730137191843L, 1e-13, 2e-5},
  {"ellipk", of(ct_ellipk_f64), of(ct_ellipk_f32), {0.9375}, 2.80120608466520404636L, 1e-13, 2e-5},
  {"ellipkm1", of(ct_ellipkm1_f64), of(ct_ellipkm1_f32), {0.0009765625}, 4.85297119557090500888L, 1e-13, 2e-5},
  {"ellipkm1", of(ct_ellipkm1_f64), of(ct_ellipkm1_f32), {0.25}, 2.15651564749964323544L, 1e-13, 2e-5},
  {"ellipkm1", of(ct_ellipkm1_f64), of(ct_ellipkm1_f32), {1.5}, 1.41573720842595619889L, 1e-13, 2e-5},
  {"ellipkinc", of(ct_ellipkinc_f64), of(ct_ellipkinc_f32), {0.5, 0.25}, 0.505088727578648078883L, 1e-13, 2e-5},
  {"ellipkinc", of(ct_ellipkinc_f64), of(ct_ellipkinc_f32), {1.5, -3.0}, 1.04283746758354860506L, 1e-13, 2e-5},
  {"ellipkinc", of(ct_ellipkinc_f64), of(ct_ellipkinc_f32), {-2.5, 0.75}, -3.63651763282887928250L, 1e-13, 2e-5},
  {"ellipkinc", of(ct_ellipkinc_f64), of(ct_ellipkinc_f32), {11.0, 0.5}, 12.9847816232275122877L, 1e-13, 2e-5},
  {"ellipkinc", of(ct_ellipkinc_f64), of(ct_ellipkinc_f32), {0.25, 0.984375}, 0.252603094765504779558L, 1e-13, 2e-5},
  {"ellipeinc", of(ct_ellipeinc_f64), of(ct_ellipeinc_f32), {0.5, 0.25}, 0.495001703016415192887L, 1e-13, 2e-5},
  {"ellipeinc", of(ct_ellipeinc_f64), of(ct_ellipeinc_f32), {1.5, -3.0}, 2.28060807255204121519L, 1e-13, 2e-5},
  {"ellipeinc", of(ct_ellipeinc_f64), of(ct_ellipeinc_f32), {-2.5, 0.75}, -1.81231656118372524130L, 1e-13, 2e-5},
  {"ellipeinc", of(ct_ellipeinc_f64), of(ct_ellipeinc_f32), {11.0, 0.5}, 9.45763662882459778952L, 1e-13, 2e-5},
  {"ellipeinc", of(ct_ellipeinc_f64), of(ct_ellipeinc_f32), {0.25, 0.984375}, 0.247444903466119981395L, 1e-13, 2e-5},
  {"jacobi_sn", of(ct_jacobi_sn_f64), of(ct_jacobi_sn_f32), {0.5, 0.25}, 0.475082936028536510082L, 1e-13, 2e-5},
  {"jacobi_sn", of(ct_jacobi_sn_f64), of(ct_jacobi_sn_f32), {-3.0, 0.5}, -0.630028998242033164495L, 1e-13, 2e-5},
  {"jacobi_sn", of(ct_jacobi_sn_f64), of(ct_jacobi_sn_f32), {2.0, 0.9375}, 0.975718685028060512360L, 1e-13, 2e-5},
  {"jacobi_sn", of(ct_jacobi_sn_f64), of(ct_jacobi_sn_f32), {5.5, 0.125}, -0.829319060695100626840L, 1e-13, 2e-5},
  {"jacobi_cn", of(ct_jacobi_cn_f64), of(ct_jacobi_cn_f32), {0.5, 0.25}, 0.879941022963758342138L, 1e-13, 2e-5},
  {"jacobi_cn", of(ct_jacobi_cn_f64), of(ct_jacobi_cn_f32), {-3.0, 0.5}, -0.776571607370588956252L, 1e-13, 2e-5},
  {"jacobi_cn", of(ct_jacobi_cn_f64), of(ct_jacobi_cn_f32), {2.0, 0.9375}, 0.219027504407808204747L, 1e-13, 2e-5},
  {"jacobi_cn", of(ct_jacobi_cn_f64), of(ct_jacobi_cn_f32), {5.5, 0.125}, 0.558775353400448401170L, 1e-13, 2e-5},
  {"jacobi_dn", of(ct_jacobi_dn_f64), of(ct_jacobi_dn_f32), {0.5, 0.25}, 0.971377398838178842823L, 1e-13, 2e-5},
  {"jacobi_dn", of(ct_jacobi_dn_f64), of(ct_jacobi_dn_f32), {-3.0, 0.5}, 0.895283045012620623716L, 1e-13, 2e-5},
  {"jacobi_dn", of(ct_jacobi_dn_f64), of(ct_jacobi_dn_f32), {2.0, 0.9375}, 0.327833390926958376692L, 1e-13, 2e-5},
  {"jacobi_dn", of(ct_jacobi_dn_f64), of(ct_jacobi_dn_f32), {5.5, 0.125}, 0.956048501356481652597L, 1e-13, 2e-5},
    // clang-format on
};

TEST(Elliptic, KnownValues) { check(elliptic_facts); }

TEST(Elliptic, Edges) {
  EXPECT_EQ(ct_ellipk_f64(1), kInf);
  EXPECT_TRUE(std::isnan(ct_ellipk_f64(1.5)));
  EXPECT_EQ(ct_ellipkinc_f64(2, 1), kInf);
  EXPECT_EQ(ct_ellipkinc_f64(2, -kInf), 0);
  EXPECT_EQ(ct_ellipeinc_f64(2, -kInf), kInf);
  EXPECT_EQ(ct_ellipeinc_f64(kInf, 0.5), kInf);
  EXPECT_TRUE(std::isnan(ct_ellipkinc_f64(1, 1.5)));
  EXPECT_NEAR(ct_jacobi_sn_f64(0.7, 1), std::tanh(0.7), 1e-15);
  EXPECT_NEAR(ct_jacobi_cn_f64(0.7, 1), 1 / std::cosh(0.7), 1e-15);
  EXPECT_NEAR(ct_jacobi_am_f64(0.7, 0), 0.7, 1e-15);
  for (const auto f : {ct_jacobi_sn_f64, ct_jacobi_cn_f64, ct_jacobi_dn_f64, ct_jacobi_am_f64})
    EXPECT_TRUE(std::isnan(f(1, -0.5)) && std::isnan(f(1, 1.5)));
}

}  // namespace testing_special::elliptic
