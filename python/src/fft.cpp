// Fourier transforms.

#include "catenary/array/fft.h"

#include <string>
#include <utility>

#include "bind.h"
#include "catenary/core/error.h"

namespace catenary_python {

namespace {

using namespace nb::literals;
namespace fft = ct::fft;

fft::Norm norm_from(nb::handle o) {
  if (o.is_none()) return fft::Norm::backward;
  const std::string name = nb::isinstance<nb::str>(o) ? nb::cast<std::string>(o) : "";
  if (name == "backward") return fft::Norm::backward;
  if (name == "ortho") return fft::Norm::ortho;
  if (name == "forward") return fft::Norm::forward;
  raise(PyExc_ValueError, "Invalid norm value " + nb::cast<std::string>(nb::repr(o)) +
                              ", should be None, \"backward\", \"ortho\" or \"forward\".");
}

template <class F>
F named(const std::string& name, std::initializer_list<std::pair<const char*, F>> all) {
  for (const auto& [known, f] : all)
    if (name == known) return f;
  raise(PyExc_ValueError, "unknown transform " + name);
}

}  // namespace

void register_fft(nb::module_& m) {
  m.def(
      "_fft",
      [](const std::string& name, const Array& a, std::optional<std::int64_t> n, int axis, nb::handle norm) {
        const auto f = named<Array (*)(const Array&, const fft::Options&)>(name, {{"fft", fft::fft},
                                                                                  {"ifft", fft::ifft},
                                                                                  {"rfft", fft::rfft},
                                                                                  {"irfft", fft::irfft},
                                                                                  {"hfft", fft::hfft},
                                                                                  {"ihfft", fft::ihfft}});
        const fft::Options options{n, axis, norm_from(norm)};
        return without_gil(is_large(a), [&] { return f(a, options); });
      },
      "name"_a, "a"_a, nb::arg("n").none(), "axis"_a, nb::arg("norm").none());
  m.def(
      "_fftn",
      [](const std::string& name, const Array& a, std::optional<Shape> s, std::optional<ct::Axes> axes,
         nb::handle norm) {
        const auto f = named<Array (*)(const Array&, const fft::OptionsN&)>(
            name, {{"fftn", fft::fftn}, {"ifftn", fft::ifftn}, {"rfftn", fft::rfftn}, {"irfftn", fft::irfftn}});
        const fft::OptionsN options{s, axes, norm_from(norm)};
        return without_gil(is_large(a), [&] { return f(a, options); });
      },
      "name"_a, "a"_a, nb::arg("s").none(), nb::arg("axes").none(), nb::arg("norm").none());
  m.def("_fftshift", freed(fft::fftshift), "x"_a, nb::arg("axes").none());
  m.def("_ifftshift", freed(fft::ifftshift), "x"_a, nb::arg("axes").none());
}

}  // namespace catenary_python
