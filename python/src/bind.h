#pragma once
// How functions of the library become functions of catenary._core, and methods of ndarray.

#include <utility>
#include <vector>

#include "core.h"

namespace catenary_python {

/// Is an argument large enough to let other threads run meanwhile?
template <class T>
bool is_large(const T&) {
  return false;
}
inline bool is_large(const Array& a) { return a.size() >= kReleaseFrom; }
inline bool is_large(const std::vector<Array>& arrays) {
  for (const Array& a : arrays)
    if (is_large(a)) return true;
  return false;
}

/// A function of the library, without the GIL where an argument is large.
template <class R, class... A>
auto freed(R (*f)(A...)) {
  return
      [f](A... a) -> R { return without_gil((is_large(a) || ...), [&]() -> R { return f(std::forward<A>(a)...); }); };
}

/// A function that gives a view of its first argument: the result's base is its owner.
template <class... A>
auto viewing(Array (*f)(const Array&, A...)) {
  return [f](Self self, A... a) { return checked(wrap_view(f(self.array(), std::forward<A>(a)...), self.o)); };
}
template <class... A>
auto viewing(std::vector<Array> (*f)(const Array&, A...)) {
  return [f](Self self, A... a) {
    nb::list views;
    for (Array& view : f(self.array(), std::forward<A>(a)...))
      views.append(checked(wrap_view(std::move(view), self.o)));
    return views;
  };
}

/// A function that takes the name `function` and `out=` last: f gives the result.
inline auto out_argument() { return nb::arg("out").none() = nb::none(); }

/// Registers f as m.name, and as a method of ndarray of that name: its first parameter is called `first`.
template <class F, class... Extra>
void both(nb::module_& m, const char* name, F f, const char* first, const Extra&... extra) {
  m.def(name, f, nb::arg(first), extra...);
  nb::cpp_function_def<NdArray>(f, nb::scope(nb::handle(reinterpret_cast<PyObject*>(ndarray_type))), nb::name(name),
                                nb::is_method(), extra...);
}

}  // namespace catenary_python
