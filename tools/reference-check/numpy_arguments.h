#pragma once
// The arguments of a NumPy case, decoded from the manifest. Every read marks an argument as used. Arguments left unused
// at the end are unsupported.

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/io/npz.h"
#include "report.h"

namespace reference {

using catenary::Array;
using nlohmann::json;

/// An argument that may be an array or a literal.
class Value {
 public:
  Value(Array array) : array_(std::move(array)) {}
  Value(const catenary::Scalar& scalar) : scalar_(scalar) {}
  bool is_array() const { return array_.defined(); }
  const Array& array() const { return array_; }
  operator catenary::Operand() const { return is_array() ? catenary::Operand(array_) : catenary::Operand(scalar_); }
  const catenary::Scalar& scalar() const { return scalar_; }

 private:
  Array array_;
  catenary::Scalar scalar_ = false;
};

/// How float32 and float64 are treated: rounded to 16 bits, and then computed in another dtype or in 16 bits.
struct Rounding {
  catenary::Dtype to, computed;
};

/// The arrays of a manifest, on the current device.
class Arrays {
 public:
  explicit Arrays(const std::string& directory, const std::optional<Rounding>& rounding = {})
      : reader_(directory + "/arrays.npz"), rounding_(rounding) {}
  /// Returns a new array with the values of a key.
  Array load(const std::string& key) const;
  /// Returns the stored dtype.
  catenary::Dtype dtype(const std::string& key) const { return reader_.read_array(key).dtype; }
  /// Decodes {"array": key, "prep": […]}: a new array after the steps of "prep".
  Array decode(const json& j) const;
  /// Decodes an array or a literal.
  Value value(const json& j) const;
  std::vector<catenary::Index> index(const json& j) const;

 private:
  catenary::io::NpzReader reader_;
  std::optional<Rounding> rounding_;
};

class Arguments {
 public:
  Arguments(const Arrays& arrays, const json& positional, const json& keywords)
      : arrays_(arrays), positional_(positional), keywords_(keywords) {}

  std::size_t count() const { return positional_.size(); }
  Array array(std::size_t position);
  std::vector<Array> arrays(std::size_t position);
  /// Returns all positional arguments from `first` on.
  std::vector<Array> rest(std::size_t first);
  Value value(std::size_t position);
  std::optional<Value> optional_value(std::size_t position);
  /// Returns an argument by name or position (-1: keyword only), or nullopt if it is missing or null.
  std::optional<Value> find(const std::string& name, int position = -1);
  /// Decodes an array or a literal inside of another argument.
  Value decode(const json& j) const { return arrays_.value(j); }

  /// Returns an argument by name or position (-1: keyword only), or null if it is missing.
  const json& get(const std::string& name, int position = -1);
  bool given(const std::string& name, int position) const {
    return keywords_.contains(name) || (position >= 0 && static_cast<std::size_t>(position) < positional_.size());
  }
  bool flag(const std::string& name, int position = -1, bool otherwise = false);
  std::int64_t integer(const std::string& name, int position = -1, std::int64_t otherwise = 0);
  double real(const std::string& name, int position = -1, double otherwise = 0);
  std::string text(const std::string& name, int position = -1, const std::string& otherwise = "");
  catenary::Shape shape(const std::string& name, int position = -1);
  catenary::AxisArg axis(const std::string& name = "axis", int position = 1);
  std::optional<int> one_axis(int position = 1, const std::string& name = "axis");
  std::optional<catenary::Dtype> dtype(int position = -1);
  /// Returns an integer or real literal.
  catenary::Scalar literal(std::size_t position);

  /// Throws NotImplemented if an argument was never read.
  void check_all_used() const;

 private:
  const json& at(std::size_t position);

  const Arrays& arrays_;
  const json& positional_;
  const json& keywords_;
  std::set<std::size_t> used_positions_;
  std::set<std::string> used_keywords_;
};

/// A number: literal, {"inf": ±1} or {"nan": 1}.
double number(const json& j);

/// Calls the function with this name in NumPy. Throws NotImplemented, or the function's errors.
std::vector<Array> call_numpy(const std::string& function, Arguments& arguments);

}  // namespace reference
