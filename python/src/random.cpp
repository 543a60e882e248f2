// cupy.random: the functions of RandomState on a generator, one per device. Draws keep the GIL, as all threads share
// the generator.

#include "catenary/array/random.h"

#include <memory>

#include "bind.h"
#include "catenary/core/error.h"

namespace catenary_python {

namespace {

using namespace nb::literals;
using ct::random::Generator;
using ct::random::RandomOptions;

/// size=None, an int or a tuple.
using Size = std::optional<Shape>;

RandomOptions options_of(Generator& g, const DtypeArg& dtype = {}) {
  return {.dtype = dtype.get(), .device = current_device(), .generator = &g};
}

/// The type of a Python argument for a parameter of a function that draws.
template <class T>
struct Drawn : Parameter<T> {};
template <>
struct Drawn<const Operand&> {  // also a list or a NumPy array
  std::unique_ptr<Argument> argument = std::make_unique<Argument>();
  operator Operand() const { return argument->operand(); }
  using Given = nb::handle;
  static Drawn value(Given x) {
    Drawn drawn;
    drawn.argument->parse_values(x.ptr(), current_device());
    return drawn;
  }
};
template <>
struct Drawn<const Shape&> {
  using Given = const Size&;
  static Shape value(Given x) { return x.value_or(Shape{}); }
};
template <>
struct Drawn<const ct::OptionalShape&> {
  using Given = const Size&;
  static ct::OptionalShape value(Given x) { return x; }
};
template <>
struct Drawn<const RandomOptions&> {
  using Given = DtypeArg;
  static RandomOptions value(Given x) { return {.dtype = x.get(), .device = current_device()}; }
};

/// Wraps a function of the library as a method of its generator.
template <class... A>
auto drawing(Array (*f)(A...)) {
  return [f](Generator& g, typename Drawn<A>::Given... a) {
    std::tuple<decltype(Drawn<A>::value(a))...> values{Drawn<A>::value(a)...};
    std::get<RandomOptions>(values).generator = &g;
    return std::apply(f, std::move(values));
  };
}

/// Registers the distributions.
void register_distributions(nb::class_<Generator>& g) {
  const auto size = optional("size");
  const auto no_dtype = optional("dtype");
  g.def("random_sample", drawing(ct::random::random), size, no_dtype);
  g.def("standard_normal", drawing(ct::random::standard_normal), size, no_dtype);
  g.def("standard_exponential", drawing(ct::random::standard_exponential), size, no_dtype);
  g.def("standard_cauchy", drawing(ct::random::standard_cauchy), size, no_dtype);
  g.def("exponential", drawing(ct::random::exponential), "scale"_a = 1.0, size, no_dtype);
  g.def("rayleigh", drawing(ct::random::rayleigh), "scale"_a = 1.0, size, no_dtype);
  g.def("pareto", drawing(ct::random::pareto), "a"_a, size, no_dtype);
  g.def("weibull", drawing(ct::random::weibull), "a"_a, size, no_dtype);
  g.def("power", drawing(ct::random::power), "a"_a, size, no_dtype);
  g.def("standard_gamma", drawing(ct::random::standard_gamma), "shape"_a, size, no_dtype);
  g.def("chisquare", drawing(ct::random::chisquare), "df"_a, size, no_dtype);
  g.def("standard_t", drawing(ct::random::standard_t), "df"_a, size, no_dtype);
  g.def("geometric", drawing(ct::random::geometric), "p"_a, size, no_dtype);
  g.def("logseries", drawing(ct::random::logseries), "p"_a, size, no_dtype);
  g.def("zipf", drawing(ct::random::zipf), "a"_a, size, no_dtype);
  g.def("poisson", drawing(ct::random::poisson), "lam"_a = 1.0, size, no_dtype);
  g.def("uniform", drawing(ct::random::uniform), "low"_a = 0.0, "high"_a = 1.0, size, no_dtype);
  g.def("normal", drawing(ct::random::normal), "loc"_a = 0.0, "scale"_a = 1.0, size, no_dtype);
  g.def("gumbel", drawing(ct::random::gumbel), "loc"_a = 0.0, "scale"_a = 1.0, size, no_dtype);
  g.def("laplace", drawing(ct::random::laplace), "loc"_a = 0.0, "scale"_a = 1.0, size, no_dtype);
  g.def("logistic", drawing(ct::random::logistic), "loc"_a = 0.0, "scale"_a = 1.0, size, no_dtype);
  g.def("lognormal", drawing(ct::random::lognormal), "mean"_a = 0.0, "sigma"_a = 1.0, size, no_dtype);
  g.def("gamma", drawing(ct::random::gamma), "shape"_a, "scale"_a = 1.0, size, no_dtype);
  g.def("beta", drawing(ct::random::beta), "a"_a, "b"_a, size, no_dtype);
  g.def("f", drawing(ct::random::f), "dfnum"_a, "dfden"_a, size, no_dtype);
  g.def("binomial", drawing(ct::random::binomial), "n"_a, "p"_a, size, no_dtype);
  g.def("negative_binomial", drawing(ct::random::negative_binomial), "n"_a, "p"_a, size, no_dtype);
  g.def("_noncentral_chisquare", drawing(ct::random::noncentral_chisquare), "df"_a, "nonc"_a, size, no_dtype);
  g.def("_noncentral_f", drawing(ct::random::noncentral_f), "dfnum"_a, "dfden"_a, "nonc"_a, size, no_dtype);
  g.def("vonmises", drawing(ct::random::vonmises), "mu"_a, "kappa"_a, size, no_dtype);
  g.def("wald", drawing(ct::random::wald), "mean"_a, "scale"_a, size, no_dtype);
  g.def("triangular", drawing(ct::random::triangular), "left"_a, "mode"_a, "right"_a, size, no_dtype);
  g.def("hypergeometric", drawing(ct::random::hypergeometric), "ngood"_a, "nbad"_a, "nsample"_a, size, no_dtype);
  g.def("_multinomial", drawing(ct::random::multinomial), "n"_a, "pvals"_a, size, no_dtype);
  g.def("_dirichlet", drawing(ct::random::dirichlet), "alpha"_a, size, no_dtype);
  g.def("_multivariate_normal", drawing(ct::random::multivariate_normal), "mean"_a, "cov"_a, size, no_dtype);
}

/// Registers integers, permutations and choices.
void register_permutations(nb::class_<Generator>& g) {
  g.def("_integers", [](Generator& g, std::int64_t low, std::int64_t high, const Size& size, DtypeArg dtype) {
    return ct::random::randint(low, high, size.value_or(Shape{}), options_of(g, dtype));
  });
  g.def(
      "permutation",
      [](Generator& g, nb::handle a) {
        if (is_ndarray(a.ptr())) return ct::random::permutation(array_of(a.ptr()), &g);
        return ct::random::permutation(nb::cast<std::int64_t>(nb::int_(a)), options_of(g));
      },
      "a"_a);
  g.def(
      "_shuffle", [](Generator& g, const Array& a) { ct::random::shuffle(a, &g); }, "a"_a);
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
      "a"_a, optional("size"), "replace"_a = true, optional("p"));
}

}  // namespace

void register_random(nb::module_& m) {
  nb::class_<Generator> g(m, "RandomState",
                          "Random numbers by Philox4x32-10 with the interface of numpy.random.RandomState.");
  const auto seeded = [](nb::object seed) {
    const nb::object number = nb::module_::import_("catenary.cupy.random").attr("_seed_of")(seed);
    return Generator{nb::cast<std::uint64_t>(number), 0};
  };
  g.def(
      "__init__", [seeded](Generator* self, nb::object seed, nb::object) { new (self) Generator(seeded(seed)); },
      optional("seed"), optional("method"));
  g.def(
      "seed", [seeded](Generator& g, nb::object seed) { g = seeded(seed); }, optional("seed"));
  g.def_prop_ro("_state", [](const Generator& g) { return nb::make_tuple(g.seed, g.call); });
  g.def("_set_state", [](Generator& g, std::uint64_t seed, std::uint64_t call) { g = Generator{seed, call}; });
  register_distributions(g);
  register_permutations(g);
}

}  // namespace catenary_python
