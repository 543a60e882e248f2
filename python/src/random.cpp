// cupy.random upon a generator: the functions of RandomState, of which the module has one for each thread.

#include "catenary/array/random.h"

#include "bind.h"
#include "catenary/core/error.h"

namespace catenary_python {

namespace {

using namespace nb::literals;
using ct::random::Generator;
using ct::random::RandomOptions;

/// size=None, an int or a tuple.
using Size = std::optional<Shape>;
ct::OptionalShape optional_shape(const Size& size) { return size ? ct::OptionalShape(*size) : ct::OptionalShape(); }

RandomOptions options_of(Generator& g, const DtypeArg& dtype = {}) {
  return {.dtype = dtype.get(), .device = current_device(), .generator = &g};
}

}  // namespace

void register_random(nb::module_& m) {
  const auto size = nb::arg("size").none() = nb::none();
  const auto no_dtype = nb::arg("dtype").none() = nb::none();
  nb::class_<Generator> g(m, "RandomState", "Random numbers by Philox4x32-10, as numpy.random.RandomState names them.");
  const auto seeded = [](nb::object seed) {
    const nb::object number = nb::module_::import_("catenary.cupy.random").attr("_seed_of")(seed);
    return Generator{nb::cast<std::uint64_t>(number), 0};
  };
  g.def(
      "__init__", [seeded](Generator* self, nb::object seed, nb::object) { new (self) Generator(seeded(seed)); },
      "seed"_a.none() = nb::none(), "method"_a.none() = nb::none());
  g.def(
      "seed", [seeded](Generator& g, nb::object seed) { g = seeded(seed); }, "seed"_a.none() = nb::none());
  g.def_prop_ro("_state", [](const Generator& g) { return nb::make_tuple(g.seed, g.call); });
  g.def("_set_state", [](Generator& g, std::uint64_t seed, std::uint64_t call) { g = Generator{seed, call}; });
  const auto no_parameter = [&](const char* name, Array (*f)(const Shape&, const RandomOptions&)) {
    g.def(
        name,
        [f](Generator& g, const Size& size, DtypeArg dtype) { return f(size.value_or(Shape{}), options_of(g, dtype)); },
        size, no_dtype);
  };
  no_parameter("random_sample", ct::random::random);
  no_parameter("standard_normal", ct::random::standard_normal);
  no_parameter("standard_exponential", ct::random::standard_exponential);
  no_parameter("standard_cauchy", ct::random::standard_cauchy);
  const auto one = [&](const char* name, auto f, const auto& x) {
    g.def(
        name,
        [f](Generator& g, const Value& x, const Size& size, DtypeArg dtype) {
          return f(x.operand(), optional_shape(size), options_of(g, dtype));
        },
        x, size, no_dtype);
  };
  one("exponential", ct::random::exponential, "scale"_a = 1.0);
  one("rayleigh", ct::random::rayleigh, "scale"_a = 1.0);
  one("pareto", ct::random::pareto, "a"_a);
  one("weibull", ct::random::weibull, "a"_a);
  one("power", ct::random::power, "a"_a);
  one("standard_gamma", ct::random::standard_gamma, "shape"_a);
  one("chisquare", ct::random::chisquare, "df"_a);
  one("standard_t", ct::random::standard_t, "df"_a);
  one("geometric", ct::random::geometric, "p"_a);
  one("poisson", ct::random::poisson, "lam"_a = 1.0);
  const auto two = [&](const char* name, auto f, const auto& x, const auto& y) {
    g.def(
        name,
        [f](Generator& g, const Value& x, const Value& y, const Size& size, DtypeArg dtype) {
          return f(x.operand(), y.operand(), optional_shape(size), options_of(g, dtype));
        },
        x, y, size, no_dtype);
  };
  two("uniform", ct::random::uniform, "low"_a = 0.0, "high"_a = 1.0);
  two("normal", ct::random::normal, "loc"_a = 0.0, "scale"_a = 1.0);
  two("gumbel", ct::random::gumbel, "loc"_a = 0.0, "scale"_a = 1.0);
  two("laplace", ct::random::laplace, "loc"_a = 0.0, "scale"_a = 1.0);
  two("logistic", ct::random::logistic, "loc"_a = 0.0, "scale"_a = 1.0);
  two("lognormal", ct::random::lognormal, "mean"_a = 0.0, "sigma"_a = 1.0);
  two("gamma", ct::random::gamma, "shape"_a, "scale"_a = 1.0);
  two("beta", ct::random::beta, "a"_a, "b"_a);
  two("f", ct::random::f, "dfnum"_a, "dfden"_a);
  two("binomial", ct::random::binomial, "n"_a, "p"_a);
  two("wald", ct::random::wald, "mean"_a, "scale"_a);
  g.def(
      "triangular",
      [](Generator& g, double left, double mode, double right, const Size& size, DtypeArg dtype) {
        return ct::random::triangular(left, mode, right, size.value_or(Shape{}), options_of(g, dtype));
      },
      "left"_a, "mode"_a, "right"_a, size, no_dtype);
  g.def("_integers", [](Generator& g, std::int64_t low, std::int64_t high, const Size& size, DtypeArg dtype) {
    return ct::random::randint(low, high, size.value_or(Shape{}), options_of(g, dtype));
  });
  g.def(
      "hypergeometric",
      [](Generator& g, std::int64_t good, std::int64_t bad, std::int64_t n, const Size& size, DtypeArg dtype) {
        return ct::random::hypergeometric(good, bad, n, size.value_or(Shape{}), options_of(g, dtype));
      },
      "ngood"_a, "nbad"_a, "nsample"_a, size, no_dtype);
  g.def("_multinomial", [](Generator& g, std::int64_t n, const Array& pvals, const Size& size) {
    return ct::random::multinomial(n, pvals, size.value_or(Shape{}), options_of(g));
  });
  g.def("_dirichlet", [](Generator& g, const Array& alpha, const Size& size, DtypeArg dtype) {
    return ct::random::dirichlet(alpha, size.value_or(Shape{}), options_of(g, dtype));
  });
  g.def("_multivariate_normal",
        [](Generator& g, const Array& mean, const Array& cov, const Size& size, DtypeArg dtype) {
          return ct::random::multivariate_normal(mean, cov, size.value_or(Shape{}), options_of(g, dtype));
        });
  g.def(
      "permutation",
      [](Generator& g, nb::handle a) {
        if (is_ndarray(a.ptr())) return ct::random::permutation(array_of(a.ptr()), &g);
        return ct::random::permutation(nb::cast<std::int64_t>(nb::int_(a)), options_of(g));
      },
      "a"_a);
  g.def(
      "shuffle", [](Generator& g, const Array& a) { ct::random::shuffle(a, &g); }, "a"_a);
  g.def(
      "choice",
      [](Generator& g, nb::handle a, const Size& size, bool replace, std::optional<Array> p) {
        ct::random::ChoiceOptions options;
        options.replace = replace;
        options.p = p;
        options.generator = &g;
        if (is_ndarray(a.ptr())) return ct::random::choice(array_of(a.ptr()), size.value_or(Shape{}), options);
        options.device = current_device();
        return ct::random::choice(nb::cast<std::int64_t>(nb::int_(a)), size.value_or(Shape{}), options);
      },
      "a"_a, size, "replace"_a = true, "p"_a.none() = nb::none());
}

}  // namespace catenary_python
