// Error messages for calls that nanobind rejects: catenary.cupy._refusals parses the call again and says in one
// sentence how to correct it. Accepted calls cost one additional jump.

#include "refusals.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "nb_internals.h"  // nanobind's internals: the position of a function's entry point

namespace catenary_python {

namespace {

using Entry = PyObject* (*)(PyObject*, PyObject* const*, std::size_t, PyObject*);
constexpr std::size_t kEntries = 12;
/// The entry points of nanobind, one for each kind of function.
std::array<Entry, kEntries> entries{};

/// Is it nanobind's list of signatures, a number that fits nowhere, or a dtype that is named without its function?
bool is_unclear(const nb::python_error& error) {
  if (!error.matches(PyExc_TypeError)) return false;
  const std::string says = nb::cast<std::string>(nb::str(error.value()));
  return says.find("(): incompatible function arguments. The following") != std::string::npos ||
         says.starts_with("an argument has a value of the wrong type") || says.starts_with("dtype ");
}

/// Answers a call that has just failed.
PyObject* answer(PyObject* function, PyObject* const* given, std::size_t flags, PyObject* names) {
  nb::python_error error;  // takes the current Python error
  return guarded([&]() -> PyObject* {
    if (!is_unclear(error)) {
      error.restore();
      return nullptr;
    }
    const auto positional = static_cast<std::size_t>(NB_VECTORCALL_NARGS_EXT(flags));
    nb::list args;
    nb::dict keywords;
    for (std::size_t i = 0; i < positional; ++i) args.append(nb::handle(given[i]));
    for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); ++i)
      keywords[nb::handle(PyTuple_GetItem(names, i))] = nb::handle(given[positional + static_cast<std::size_t>(i)]);
    const nb::object again = nb::module_::import_("catenary.cupy._refusals").attr("answer");
    return again(nb::handle(function), args, keywords, error.value()).release().ptr();
  });
}

template <std::size_t I>
PyObject* enter(PyObject* function, PyObject* const* given, std::size_t flags, PyObject* names) {
  PyObject* result = entries[I](function, given, flags, names);
  if (!result) [[unlikely]]
    return answer(function, given, flags, names);
  return result;
}

template <std::size_t... I>
constexpr std::array<Entry, kEntries> all_entered(std::index_sequence<I...>) {
  return {enter<I>...};
}

}  // namespace

void register_refusals(nb::module_& m) {
  constexpr auto entered = all_entered(std::make_index_sequence<kEntries>());
  const auto* one = reinterpret_cast<nb::detail::nb_func*>(nb::object(m.attr("arange")).ptr());
  for (const auto& [known, unused] : one->internals->funcs) {
    auto* function = static_cast<nb::detail::nb_func*>(known);
    if (std::ranges::find(entered, function->vectorcall) != entered.end()) continue;  // from an earlier interpreter
    std::size_t i = 0;
    while (i < kEntries && entries[i] && entries[i] != function->vectorcall) ++i;
    if (i == kEntries) raise(PyExc_SystemError, "nanobind has more forms of functions than refusals.cpp knows");
    entries[i] = function->vectorcall;
    function->vectorcall = entered[i];
  }
}

}  // namespace catenary_python
