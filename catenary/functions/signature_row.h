#pragma once
// Private to functions/: rows of signatures. The C++ types of a row's arguments come from the function:
//
//   CT_SIGNATURE("activation.selu", selu, "x", otherwise("alpha", 1.67), "scale")
//
// A row names the arguments in their order:
//   "x"                    an argument, whose variables are floats. The last argument has the default of C++
//   labels("t")            a variable of integers
//   values("x")            a variable of any dtype
//   otherwise("alpha", 1.67)   an argument with a default that is not the last one, or that C++ lacks
//   options("stride, pad")     the members of a struct with CT_FIELDS in Chainer's order. "..." are all others, and "="
//                              marks names that Chainer takes by keyword only

#include <array>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "catenary/autograd/attributes.h"
#include "catenary/core/fields.h"
#include "catenary/core/per_axis.h"
#include "catenary/functions/signature.h"

/// The row of a function that is not overloaded, in Chainer's module chainer.functions.`module`.
#define CT_SIGNATURE(module, f, ...)                                                                               \
  ::catenary::functions::detail::signature(                                                                        \
      "chainer.functions." module "." #f, &::catenary::functions::f,                                               \
      [](const auto&... a) -> decltype(::catenary::functions::f(a...)) { return ::catenary::functions::f(a...); }, \
      __VA_ARGS__)

namespace catenary::functions::detail {

struct NoDefault {};
template <class Default = NoDefault>
struct Parameter {
  const char* name;
  Takes takes = Takes::floats;
  Default otherwise = {};
};
inline Parameter<> parameter(const char* name) { return {name}; }
template <class Default>
Parameter<Default> parameter(const Parameter<Default>& row) {
  return row;
}
inline Parameter<> labels(const char* name) { return {name, Takes::labels}; }
inline Parameter<> values(const char* name) { return {name, Takes::values}; }
template <class Default>
Parameter<Default> otherwise(const char* name, Default value) {
  return {name, Takes::floats, value};
}
inline Parameter<> options(const char* names) { return {names}; }

using ::catenary::detail::IsOptional;
using ::catenary::detail::WithFields;
template <class T>
constexpr bool is_of_variables = std::is_same_v<T, Variable> || std::is_same_v<T, std::vector<Variable>> ||
                                 std::is_same_v<T, std::optional<Variable>>;
template <class P>
constexpr bool has_default = true;
template <>
inline constexpr bool has_default<Parameter<>> = false;

/// Returns a value of a type that may lack a default constructor.
template <class T>
T initial() {
  if constexpr (std::is_default_constructible_v<T>)
    return T();
  else
    return T(0);
}
template <class T, class Default>
T initial(const Parameter<Default>& row) {
  if constexpr (has_default<Parameter<Default>>)
    return T(row.otherwise);
  else
    return initial<T>();
}

// Each reads an argument as the type that the function takes.

template <class T>
requires requires(Arguments& from, const Argument& argument, T& to) { from.read(argument, to); }
bool read_as(Arguments& from, const Argument& argument, T& to) { return from.read(argument, to); }
inline bool read_as(Arguments& from, const Argument& argument, int& to) {
  std::int64_t wide = to;
  if (!from.read(argument, wide) || wide != static_cast<int>(wide)) return false;
  to = static_cast<int>(wide);
  return true;
}
template <class E>
requires std::is_enum_v<E>
bool read_as(Arguments& from, const Argument& argument, E& to) {
  std::string word;
  if (!from.read(argument, word)) return false;
  const std::optional<E> found = ::catenary::detail::enumerator_named<E>(word);
  if (found) to = *found;
  return found.has_value();
}
inline bool read_as(Arguments& from, const Argument& argument, AxisArg& to) {
  Axes axes;
  const bool is_all = from.is_none(argument);
  if (!is_all && !from.read(argument, axes)) return false;
  to = is_all ? AxisArg() : AxisArg(axes);
  return true;
}
/// A bool requests the array that a member points to.
inline bool read_as(Arguments& from, const Argument& argument, Array*& to) {
  bool is_requested = false;
  if (!from.read(argument, is_requested)) return false;
  to = is_requested ? &from.requested : nullptr;
  return true;
}
template <IsOptional T>
bool read_as(Arguments& from, const Argument& argument, T& to) {
  to.reset();
  return from.is_none(argument) || read_as(from, argument, to.emplace(initial<typename T::value_type>()));
}

template <class T>
concept Readable = requires(Arguments& from, const Argument& argument, T& to) {
  read_as(from, argument, to);
};

/// Appends the description of an argument of type T.
template <class T>
void describe(Signature& to, const char* names, Takes takes, bool is_required) {
  Argument argument{names, to.arguments.size()};
  if (is_of_variables<T>) argument.takes = takes;
  argument.is_list = std::is_same_v<T, std::vector<Variable>>;
  argument.is_required = is_required;
  to.order.push_back(argument.at);
  to.arguments.push_back(argument);
}
/// Appends the members of options, and Chainer's order of them.
CT_API void describe_options(Signature& to, const std::vector<std::string>& members, std::string_view names);
template <WithFields T>
void describe(Signature& to, const char* names, Takes, bool) {
  std::vector<std::string> members;
  T value;
  visit_fields(value, [&](const std::string& name, auto& member) {
    using Member = std::remove_reference_t<decltype(member)>;
    if constexpr (Readable<Member>) members.push_back(name);
    to.may_return_array |= std::is_same_v<Member, Array*>;
  });
  describe_options(to, members, names);
}

/// Reads the next argument, or leaves its default. Returns whether the value has the right type.
template <class T>
bool read_next(const Argument*& next, Arguments& from, bool& is_given, T& to) {
  const Argument& argument = *next++;
  is_given = from.is_given(argument);
  // None stands for an undefined variable
  if (std::is_same_v<T, Variable> && is_given && !argument.is_required && from.is_none(argument)) return true;
  return !is_given || read_as(from, argument, to);
}
template <WithFields T>
bool read_next(const Argument*& next, Arguments& from, bool&, T& to) {
  bool taken = true;
  visit_fields(to, [&](const std::string&, auto& member) {
    if constexpr (Readable<std::remove_reference_t<decltype(member)>>) {
      const Argument& argument = *next++;
      using Member = std::remove_reference_t<decltype(member)>;
      constexpr bool may_be_undefined = std::is_same_v<Member, Array> || std::is_same_v<Member, Variable>;
      if (taken && from.is_given(argument) && !(may_be_undefined && from.is_none(argument)))
        taken = read_as(from, argument, member);
    }
  });
  return taken;
}

/// Returns no results if y is undefined: the row does not take the arguments.
inline Variables as_results(Variable&& y) { return y.defined() ? Variables(std::move(y)) : Variables(); }
inline Variables as_results(Variables&& ys) { return std::move(ys); }
inline Variables as_results(std::pair<Variable, Variable>&& ys) {
  Variables all(std::move(ys.first));
  all.push_back(std::move(ys.second));
  return all;
}
template <std::size_t n>
Variables as_results(std::array<Variable, n>&& ys) {
  Variables all;
  for (Variable& y : ys) all.push_back(std::move(y));
  return all;
}

/// Calls f with all values but the last.
template <class F, class Values>
auto apply_without_last(const F& f, const Values& values) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) { return f(std::get<i>(values)...); }
  (std::make_index_sequence<std::tuple_size_v<Values> - 1>());
}

/// Returns the call of a function. If `last_is_of_cpp`, f can be called without the last argument.
template <bool last_is_of_cpp, class F, class Values>
auto caller(const F& f, const Values& defaults) {
  return [f, defaults](const Signature& signature, Arguments& from, Variables& results) {
    Values values = defaults;
    const Argument* next = signature.arguments.data();
    bool is_given = true;
    const bool taken =
        std::apply([&](auto&... value) { return (read_next(next, from, is_given, value) && ...); }, values);
    if (!taken || !from.fit()) return false;
    if constexpr (last_is_of_cpp) {
      if (!is_given) {
        results = as_results(apply_without_last(f, values));
        return true;
      }
    }
    results = as_results(std::apply(f, std::move(values)));
    if (from.requested.defined()) results.push_back(Variable(from.requested, false));
    return true;
  };
}

template <class F, class Values>
constexpr bool without_last = false;
template <class F, class... A>
constexpr bool without_last<F, std::tuple<A...>> = []<std::size_t... i>(std::index_sequence<i...>) {
  return std::is_invocable_v<F, const std::tuple_element_t<i, std::tuple<A...>>&...>;
}
(std::make_index_sequence<sizeof...(A) - 1>());

/// Makes a signature of a function, of a lambda that calls it with or without its last argument, and of the row.
template <class R, class... A, class F, class... P>
Signature signature(const char* path, R (*f)(A...), const F& with_defaults, const P&... row) {
  static_assert(sizeof...(A) == sizeof...(P), "a row names each argument once");
  using Values = std::tuple<std::remove_cvref_t<A>...>;
  using Last = std::tuple_element_t<sizeof...(A) - 1, Values>;
  using LastRow = std::tuple_element_t<sizeof...(A) - 1, std::tuple<decltype(parameter(row))...>>;
  constexpr bool last_is_of_cpp = without_last<F, Values> && !WithFields<Last> && !has_default<LastRow>;
  Signature made;
  made.path = path;
  made.is_single = std::is_same_v<R, Variable>;
  std::size_t i = 0;
  const auto add = [&]<class T>(std::type_identity<T>, const auto& parameter) {
    const bool is_last = ++i == sizeof...(A);
    describe<T>(made, parameter.name, parameter.takes,
                !has_default<std::remove_cvref_t<decltype(parameter)>> && !(is_last && last_is_of_cpp));
  };
  (add(std::type_identity<std::remove_cvref_t<A>>(), parameter(row)), ...);
  const Values defaults(initial<std::remove_cvref_t<A>>(parameter(row))...);
  if constexpr (last_is_of_cpp)
    made.call = caller<true>(with_defaults, defaults);
  else
    made.call = caller<false>(f, defaults);
  return made;
}

/// Makes a signature of a lambda without captures, for functions that are overloaded or whose arguments differ from
/// Chainer's.
template <class F, class... P>
Signature signature_of(const char* path, const F& f, const P&... row) {
  return signature(path, +f, f, row...);
}

/// Marks a function for which Chainer raises ValueError if labels are out of range.
inline Signature refusing_labels(Signature row) {
  row.refuses_labels = true;
  return row;
}

// The rows of each family, at the end of its source.
std::span<const Signature> activation_signatures();
std::span<const Signature> math_basic_signatures();
std::span<const Signature> math_elementwise_signatures();
std::span<const Signature> math_special_signatures();
std::span<const Signature> math_reduction_signatures();
std::span<const Signature> math_matrix_signatures();
std::span<const Signature> array_axes_signatures();
std::span<const Signature> array_join_signatures();
std::span<const Signature> patch_signatures();
std::span<const Signature> resampling_signatures();
std::span<const Signature> roi_signatures();
std::span<const Signature> pooling_signatures();
std::span<const Signature> convolution_signatures();
std::span<const Signature> connection_signatures();
std::span<const Signature> embed_signatures();
std::span<const Signature> normalization_signatures();
std::span<const Signature> decorrelation_signatures();
std::span<const Signature> rnn_signatures();
std::span<const Signature> loss_signatures();
std::span<const Signature> ctc_signatures();
std::span<const Signature> metric_loss_signatures();
std::span<const Signature> number_loss_signatures();
std::span<const Signature> structured_loss_signatures();
std::span<const Signature> evaluation_signatures();
std::span<const Signature> fft_signatures();

}  // namespace catenary::functions::detail
