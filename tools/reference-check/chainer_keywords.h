#pragma once
// The keyword arguments of Chainer's cases.

#include <set>
#include <string>

#include "json_values.h"
#include "report.h"

namespace reference {

/// A struct with CT_FIELDS.
template <class T>
concept WithFields = requires(T& value) {
  visit_fields(value, [](const std::string&, auto&) {});
};

/// The keyword arguments of a case. Every read marks an argument as used. Arguments left unused at the end are
/// unsupported.
class Keywords {
 public:
  explicit Keywords(const json& all) : all_(all) {}

  bool empty() const { return all_.empty(); }
  bool given(const std::string& name) const { return all_.contains(name); }
  /// Returns a value by name, null if not given.
  const json& get(const std::string& name);
  /// Returns a value as a T, or `otherwise` if not given, or if null and T has no null.
  template <class T>
  T value(const std::string& name, T otherwise = made<T>()) {
    set(name, otherwise);
    return otherwise;
  }
  bool flag(const std::string& name, bool otherwise = false) { return value(name, otherwise); }
  int integer(const std::string& name, int otherwise = 0) { return value(name, otherwise); }
  double real(const std::string& name, double otherwise = 0) { return value(name, otherwise); }
  std::string text(const std::string& name, const std::string& otherwise = "") { return value(name, otherwise); }
  /// Returns a list of integers. A single integer is a list of one.
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
  /// Converts to the options of a function or link: sets each member that a keyword names. Members of types that JSON
  /// cannot express cannot be set.
  Options options() { return {*this}; }

  /// Throws NotImplemented if an argument was never read.
  void check_all_used() const;

 private:
  static const json kNull;
  /// Returns Chainer's name of an option that has another name here.
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
