#pragma once
// Wrappers that make functions of the library functions of catenary._core and methods of ndarray.

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
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

/// The type of a Python argument for a parameter of the library: the parameter's own type, except for operands and
/// dtypes.
template <class T>
struct Parameter {
  using Given = T;
  static T&& value(T& x) { return std::forward<T>(x); }
};
template <>
struct Parameter<const Operand&> {
  using Given = const Value&;
  static Operand value(const Value& x) {
    current_device();  // for functions of a number
    return x.operand();
  }
};
template <>
struct Parameter<const std::optional<Operand>&> {
  using Given = const std::optional<ArrayLike>&;
  static std::optional<Operand> value(Given x) { return x ? std::optional<Operand>(x->array) : std::nullopt; }
};
template <>
struct Parameter<std::optional<Dtype>> {
  using Given = DtypeArg;
  static std::optional<Dtype> value(DtypeArg x) { return x.get(); }
};

template <>
struct Parameter<ct::Target> {
  using Given = const Array&;
  static ct::Target value(const Array& x) { return x; }
};

/// Wraps a function of the library. The GIL is released for large arguments.
template <class R, class... A>
auto freed(R (*f)(A...)) {
  return [f](typename Parameter<A>::Given... a) -> R {
    std::tuple<decltype(Parameter<A>::value(a))...> values{Parameter<A>::value(a)...};
    return without_gil((is_large(a) || ...), [&]() -> R { return std::apply(f, std::move(values)); });
  };
}

/// Wraps a function of the library whose result is written into the last argument, `out`, if given.
template <class... A>
auto delivered(Array (*f)(A...), const char* name) {
  return [f = freed(f), name](typename Parameter<A>::Given... a, Out out) {
    return out(f(std::forward<typename Parameter<A>::Given>(a)...), name);
  };
}

/// Wraps a function that returns a view of its first argument. The result's base is that array's owner.
template <class... A>
auto viewing(Array (*f)(const Array&, A...)) {
  return [f](Self self, A... a) { return checked(wrap_view(f(self.array(), std::forward<A>(a)...), self.o)); };
}
template <class... A>
auto viewing(const Array (*f)(const Array&, A...)) {  // for functions that may return a copy
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

/// Returns the enumerator whose name is at this index of the table of names.
template <class E, std::size_t N>
std::optional<E> named(const char* const (&names)[N], const std::string& name) {
  for (std::size_t i = 0; i < N; ++i)
    if (name == names[i]) return static_cast<E>(i);
  return std::nullopt;
}

/// Declares an argument whose default is None.
inline auto optional(const char* name) { return nb::arg(name).none() = nb::none(); }
inline auto out_argument() { return optional("out"); }

/// Registers f as a method of ndarray.
template <class F, class... Extra>
void method(const char* name, F f, const Extra&... extra) {
  nb::cpp_function_def<NdArray>(f, nb::scope(nb::handle(reinterpret_cast<PyObject*>(ndarray_type))), nb::name(name),
                                nb::is_method(), extra...);
}
/// Registers f as m.name, and as a method of ndarray of that name: its first parameter is called `first`.
template <class F, class... Extra>
void both(nb::module_& m, const char* name, F f, const char* first, const Extra&... extra) {
  m.def(name, f, nb::arg(first), extra...);
  method(name, f, extra...);
}

}  // namespace catenary_python
