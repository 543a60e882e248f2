#pragma once
// The keyword arguments of Chainer's cases.

#include <set>
#include <string>

#include "json_values.h"
#include "report.h"

namespace reference {

/// A struct that knows its members (CT_FIELDS).
template <class T>
concept WithFields = requires(T& value) {
  visit_fields(value, [](const std::string&, auto&) {});
};

/// The keyword arguments of a case. Whoever asks for one has used it; what is left unused in the end is something that
/// the entry of the table does not know.
class Keywords {
 public:
  explicit Keywords(const json& all) : all_(all) {}

  bool empty() const { return all_.empty(); }
  bool given(const std::string& name) const { return all_.contains(name); }
  /// The value of a name, null when it was not given.
  const json& get(const std::string& name);
  /// The same as one of a kind of arguments; `otherwise` where it was not given, and where null is none of the kind.
  template <class T>
  T value(const std::string& name, T otherwise = made<T>()) {
    set(name, otherwise);
    return otherwise;
  }
  bool flag(const std::string& name, bool otherwise = false) { return value(name, otherwise); }
  int integer(const std::string& name, int otherwise = 0) { return value(name, otherwise); }
  double real(const std::string& name, double otherwise = 0) { return value(name, otherwise); }
  std::string text(const std::string& name, const std::string& otherwise = "") { return value(name, otherwise); }
  /// A list of integers, or one of them.
  catenary::Shape integers(const std::string& name);
  catenary::AxisArg axis(const std::string& name = "axis") { return value<catenary::AxisArg>(name); }

  struct Options {
    Keywords& keywords;
    template <WithFields T>
    operator T() const {
      T options;
      visit_fields(options, [&](const std::string& name, auto& member) {
        if constexpr (requires { read(kNull, member); }) keywords.set(chainers(name), member);
      });
      return options;
    }
  };
  /// The options of a function or of a link, whichever these are: each member that a keyword names is set. Members of
  /// kinds that JSON does not tell are none that one can name.
  Options options() { return {*this}; }

  /// Throws NotImplemented when something was given that nobody asked for.
  void check_all_used() const;

 private:
  static const json kNull;
  /// Chainer's name of an option that has another here.
  static const std::string& chainers(const std::string& name);
  template <class T>
  void set(const std::string& name, T& to) {
    const json& j = get(name);
    if (given(name) && !read(j, to) && !j.is_null()) throw NotImplemented(name + " = " + j.dump());
  }

  const json& all_;
  std::set<std::string> used_;
};

}  // namespace reference
