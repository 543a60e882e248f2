// Products, numpy.linalg and polynomials, mapped to their counterparts.

#include "catenary/array/creation.h"
#include "catenary/array/linalg.h"
#include "catenary/array/polynomial.h"
#include "numpy_functions.h"

namespace reference {

namespace ct = catenary;

namespace {

ct::linalg::NormOrder order(const json& j) {
  if (j.is_null()) return {};
  return j.is_string() ? ct::linalg::NormOrder(j.get<std::string>()) : ct::linalg::NormOrder(number(j));
}

std::optional<double> optional_real(Arguments& a, const char* name, int position) {
  const json& j = a.get(name, position);
  return j.is_null() ? std::nullopt : std::optional(number(j));
}

}  // namespace

void add_linalg(Table& table) {
  table["matmul"] = [](Arguments& a) -> Results { return {ct::matmul(a.array(0), a.array(1))}; };
  table["dot"] = [](Arguments& a) -> Results { return {ct::dot(a.array(0), a.array(1))}; };
  table["vdot"] = [](Arguments& a) -> Results { return {ct::vdot(a.array(0), a.array(1))}; };
  table["inner"] = [](Arguments& a) -> Results { return {ct::inner(a.array(0), a.array(1))}; };
  table["outer"] = [](Arguments& a) -> Results { return {ct::outer(a.array(0), a.array(1))}; };
  table["kron"] = [](Arguments& a) -> Results { return {ct::kron(a.array(0), a.array(1))}; };
  table["tensordot"] = [](Arguments& a) -> Results {
    const json& axes = a.get("axes", 2);
    if (axes.is_null() || axes.is_number())
      return {ct::tensordot(a.array(0), a.array(1), axes.is_null() ? 2 : axes.get<int>())};
    return {ct::tensordot(a.array(0), a.array(1), ct::Axes(integers(axes.at(0))), ct::Axes(integers(axes.at(1))))};
  };
  table["einsum"] = [](Arguments& a) -> Results { return {ct::einsum(a.text("subscripts", 0), a.rest(1))}; };
  table["trace"] = [](Arguments& a) -> Results {
    return {ct::trace(a.array(0), a.integer("offset", 1), static_cast<int>(a.integer("axis1", 2, 0)),
                      static_cast<int>(a.integer("axis2", 3, 1)))};
  };
  table["linalg.cholesky"] = [](Arguments& a) -> Results { return {ct::linalg::cholesky(a.array(0))}; };
  table["linalg.inv"] = [](Arguments& a) -> Results { return {ct::linalg::inv(a.array(0))}; };
  table["linalg.det"] = [](Arguments& a) -> Results { return {ct::linalg::det(a.array(0))}; };
  table["linalg.slogdet"] = [](Arguments& a) -> Results {
    const ct::linalg::SlogdetResult r = ct::linalg::slogdet(a.array(0));
    return {r.sign, r.logabsdet};
  };
  table["linalg.solve"] = [](Arguments& a) -> Results { return {ct::linalg::solve(a.array(0), a.array(1))}; };
  table["linalg.matrix_power"] = [](Arguments& a) -> Results {
    return {ct::linalg::matrix_power(a.array(0), a.integer("n", 1))};
  };
  table["linalg.norm"] = [](Arguments& a) -> Results {
    const ct::linalg::NormOrder ord = order(a.get("ord", 1));
    return {ct::linalg::norm(a.array(0), ord, a.axis("axis", 2), a.flag("keepdims", 3))};
  };
  table["linalg.cond"] = [](Arguments& a) -> Results { return {ct::linalg::cond(a.array(0), order(a.get("p", 1)))}; };
  table["linalg.svd"] = [](Arguments& a) -> Results {
    const bool full = a.flag("full_matrices", 1, true), vectors = a.flag("compute_uv", 2, true);
    const ct::linalg::SvdResult r = ct::linalg::svd(a.array(0), full, vectors, a.flag("hermitian", 3));
    return vectors ? Results{r.u, r.s, r.vh} : Results{r.s};
  };
  table["linalg.svdvals"] = [](Arguments& a) -> Results { return {ct::linalg::svdvals(a.array(0))}; };
  table["linalg.qr"] = [](Arguments& a) -> Results {
    const std::string mode = a.text("mode", 1, "reduced");
    const ct::linalg::QrResult r = ct::linalg::qr(a.array(0), mode);
    return mode == "r" ? Results{r.r} : Results{r.q, r.r};
  };
  table["linalg.eigh"] = [](Arguments& a) -> Results {
    const ct::linalg::EighResult r = ct::linalg::eigh(a.array(0), a.text("UPLO", 1, "L"));
    return {r.values, r.vectors};
  };
  table["linalg.eigvalsh"] = [](Arguments& a) -> Results {
    return {ct::linalg::eigvalsh(a.array(0), a.text("UPLO", 1, "L"))};
  };
  table["linalg.pinv"] = [](Arguments& a) -> Results {
    return {ct::linalg::pinv(a.array(0), optional_real(a, "rcond", 1), a.flag("hermitian", 2))};
  };
  table["linalg.matrix_rank"] = [](Arguments& a) -> Results {
    return {ct::linalg::matrix_rank(a.array(0), optional_real(a, "tol", 1), a.flag("hermitian", 2),
                                    optional_real(a, "rtol", -1))};
  };
  table["linalg.lstsq"] = [](Arguments& a) -> Results {
    const ct::linalg::LstsqResult r = ct::linalg::lstsq(a.array(0), a.array(1), optional_real(a, "rcond", 2));
    return {r.x, r.residuals, ct::array(static_cast<int>(r.rank)), r.singular_values};
  };
  table["linalg.multi_dot"] = [](Arguments& a) -> Results { return {ct::linalg::multi_dot(a.arrays(0))}; };
  table["solve_triangular"] = table["linalg.solve_triangular"] = [](Arguments& a) -> Results {
    return {ct::linalg::solve_triangular(a.array(0), a.array(1),
                                         {.trans = a.integer("trans", 2) != 0,
                                          .lower = a.flag("lower", 3),
                                          .unit_diagonal = a.flag("unit_diagonal", 4)})};
  };
  table["convolve"] = [](Arguments& a) -> Results {
    return {ct::convolve(a.array(0), a.array(1), a.text("mode", 2, "full"))};
  };
  table["correlate"] = [](Arguments& a) -> Results {
    return {ct::correlate(a.array(0), a.array(1), a.text("mode", 2, "valid"))};
  };
  table["polyval"] = [](Arguments& a) -> Results { return {ct::polyval(a.array(0), a.value(1))}; };
  table["polyfit"] = [](Arguments& a) -> Results {
    using Cov = ct::PolyfitOptions::Cov;
    ct::PolyfitOptions options{.rcond = optional_real(a, "rcond", 3)};
    if (const std::optional<Value> w = a.find("w", 5)) options.w = w->array();
    const json& cov = a.get("cov", 6);
    if (cov.is_string() || (cov.is_boolean() && cov.get<bool>()))
      options.cov = cov == "unscaled" ? Cov::unscaled : Cov::scaled;
    const bool full = a.flag("full", 4);
    const ct::PolyfitResult r = ct::polyfit(a.array(0), a.array(1), static_cast<int>(a.integer("deg", 2)), options);
    if (full) {
      const ct::Dtype x = a.array(0).dtype();  // the default rcond depends on x's dtype
      const Array rcond = ct::array(r.rcond).astype(options.rcond || !ct::is_floating(x) ? ct::Dtype::float64 : x);
      return {r.coefficients, r.residuals, ct::array(static_cast<int>(r.rank)), r.singular_values, rcond};
    }
    return r.covariance.defined() ? Results{r.coefficients, r.covariance} : Results{r.coefficients};
  };
}

}  // namespace reference
