// The incomplete gamma and beta functions, compared with values from 30-digit arithmetic, and their inverses.
#include <limits>

#include "tests/ops/special_facts.h"

namespace testing_special::incomplete {

constexpr double kInf = std::numeric_limits<double>::infinity();

const Fact incomplete_facts[] = {
    // clang-format off
  {"gammainc", of(ct_gammainc_f64), of(ct_gammainc_f32), {0.5, 0.25}, 0.520499877813046537683L, 2e-12, 2e-3},
  {"gammainc", of(ct_gammainc_f64), of(ct_gammainc_f32), {2.5, 1.0}, 0.150854963915390363774L, 2e-12, 2e-3},
  {"gammainc", of(ct_gammainc_f64), of(ct_gammainc_f32), {2.5, 6.0}, 0.965212219493758150082L, 2e-12, 2e-3},
  {"gammainc", of(ct_gammainc_f64), of(ct_gammainc_f32), {30.0, 20.0}, 0.0218182175255573915591L, 2e-12, 2e-3},
  {"gammainc", of(ct_gammainc_f64), of(ct_gammainc_f32), {30.0, 50.0}, 0.999083171138543920126L, 2e-12, 2e-3},
  {"gammainc", of(ct_gammainc_f64), of(ct_gammainc_f32), {0.03125, 0.5}, 0.982230240536885886646L, 2e-12, 2e-3},
  {"gammainc", of(ct_gammainc_f64), of(ct_gammainc_f32), {2000.0, 1950.0}, 0.131352636956714705947L, 2e-12, 2e-3},
  {"gammainc", of(ct_gammainc_f64), of(ct_gammainc_f32), {2000.0, 2050.0}, 0.867850740403505584243L, 2e-12, 2e-3},
  {"gammaincc", of(ct_gammaincc_f64), of(ct_gammaincc_f32), {0.5, 0.25}, 0.479500122186953462317L, 2e-12, 2e-3},
  {"gammaincc", of(ct_gammaincc_f64), of(ct_gammaincc_f32), {2.5, 1.0}, 0.849145036084609636226L, 2e-12, 2e-3},
  {"gammaincc", of(ct_gammaincc_f64), of(ct_gammaincc_f32), {2.5, 6.0}, 0.0347877805062418499180L, 2e-12, 2e-3},
  {"gammaincc", of(ct_gammaincc_f64), of(ct_gammaincc_f32), {30.0, 20.0}, 0.978181782474442608441L, 2e-12, 2e-3},
  {"gammaincc", of(ct_gammaincc_f64), of(ct_gammaincc_f32), {30.0, 50.0}, 0.000916828861456079873851L, 2e-12, 2e-3},
  {"gammaincc", of(ct_gammaincc_f64), of(ct_gammaincc_f32), {0.03125, 0.5}, 0.0177697594631141133537L, 2e-12, 2e-3},
  {"gammaincc", of(ct_gammaincc_f64), of(ct_gammaincc_f32), {2000.0, 1950.0}, 0.868647363043285294053L, 2e-12, 2e-3},
  {"gammaincc", of(ct_gammaincc_f64), of(ct_gammaincc_f32), {2000.0, 2050.0}, 0.132149259596494415757L, 2e-12, 2e-3},
  {"betainc", of(ct_betainc_f64), of(ct_betainc_f32), {0.5, 0.25, 0.125}, 0.139353284119101217963L, 2e-12, 2e-3},
  {"betainc", of(ct_betainc_f64), of(ct_betainc_f32), {2.5, 1.0, 0.75}, 0.487139289628746738805L, 2e-12, 2e-3},
  {"betainc", of(ct_betainc_f64), of(ct_betainc_f32), {30.0, 20.0, 0.5}, 0.0762038859807390167589L, 2e-12, 2e-3},
  {"betainc", of(ct_betainc_f64), of(ct_betainc_f32), {0.03125, 3.0, 0.25}, 0.988726556270594549463L, 2e-12, 2e-3},
  {"betainc", of(ct_betainc_f64), of(ct_betainc_f32), {2000.0, 3000.0, 0.390625}, 0.0877348693892216686537L, 2e-12, 2e-3},
    // clang-format on
};

TEST(Incomplete, KnownValues) { check(incomplete_facts); }

TEST(Incomplete, Inverses) {
  for (const f64 a : {0.05, 3.0, 60.0, 1e4})
    for (const f64 p : {1e-9, 0.2, 0.5, 0.97}) {
      EXPECT_NEAR(ct_gammainc_f64(a, ct_gammaincinv_f64(a, p)) / p, 1, 1e-10) << a << ' ' << p;
      EXPECT_NEAR(ct_gammaincc_f64(a, ct_gammainccinv_f64(a, p)) / p, 1, 1e-10) << a << ' ' << p;
      EXPECT_NEAR(ct_betainc_f64(a, 7, ct_betaincinv_f64(a, 7, p)) / p, 1, 1e-9) << a << ' ' << p;
      if (a < 1) continue;  // float32's quantile may underflow
      const f32 b = static_cast<f32>(a), q = static_cast<f32>(p);
      EXPECT_NEAR(ct_gammainc_f32(b, ct_gammaincinv_f32(b, q)) / q, 1, 2e-2) << a << ' ' << p;
    }
}

// SciPy's values.
template <class T>
void expect_edges_of_inverses(T (*lower)(T, T), T (*upper)(T, T)) {
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), nan = Limits::quiet_NaN();
  for (const T a : {T(0), T(0.5), T(3), Limits::max(), inf}) {
    EXPECT_EQ(lower(a, 0), 0) << a;
    EXPECT_EQ(lower(a, 1), inf) << a;
    EXPECT_EQ(upper(a, 0), inf) << a;
    EXPECT_EQ(upper(a, 1), 0) << a;
    for (const T p : {-Limits::denorm_min(), T(-1), 1 + Limits::epsilon(), T(2), inf, -inf, nan}) {
      EXPECT_TRUE(std::isnan(lower(a, p))) << a << ' ' << p;
      EXPECT_TRUE(std::isnan(upper(a, p))) << a << ' ' << p;
    }
  }
  for (const T p : {T(0), T(0.5), T(1)})
    for (const T a : {-Limits::denorm_min(), T(-1), -inf, nan}) {
      EXPECT_TRUE(std::isnan(lower(a, p))) << a << ' ' << p;
      EXPECT_TRUE(std::isnan(upper(a, p))) << a << ' ' << p;
    }
  for (const T a : {T(0), inf}) EXPECT_TRUE(std::isnan(lower(a, T(0.5))) && std::isnan(upper(a, T(0.5)))) << a;
}

TEST(Incomplete, EdgesOfInverses) {
  expect_edges_of_inverses(ct_gammaincinv_f64, ct_gammainccinv_f64);
  expect_edges_of_inverses(ct_gammaincinv_f32, ct_gammainccinv_f32);
}

TEST(Incomplete, Edges) {
  EXPECT_EQ(ct_gammainc_f64(2, 0), 0);
  EXPECT_EQ(ct_gammainc_f64(2, kInf), 1);
  EXPECT_TRUE(std::isnan(ct_gammainc_f64(-1, 1)));
  EXPECT_TRUE(std::isnan(ct_gammainc_f64(0, 0)));
  EXPECT_EQ(ct_gammaincinv_f64(2, 1), kInf);
  EXPECT_EQ(ct_betainc_f64(2, 3, 0), 0);
  EXPECT_EQ(ct_betainc_f64(2, 3, 1), 1);
  EXPECT_TRUE(std::isnan(ct_betainc_f64(2, 3, 1.5)));
  EXPECT_EQ(ct_betaincinv_f64(2, 3, 0), 0);
  EXPECT_EQ(ct_betaincinv_f64(2, 3, 1), 1);
}

}  // namespace testing_special::incomplete
