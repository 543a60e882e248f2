#include "numpy_arguments.h"

#include <limits>

#include "catenary/core/error.h"

namespace reference {

namespace ct = catenary;

namespace {

const json kNull;

ct::Shape to_shape(const json& j) {
  if (j.is_number_integer()) return {j.get<std::int64_t>()};
  if (!j.is_array()) throw NotImplemented("an argument " + j.dump() + " for a shape");
  ct::Shape shape;
  for (const json& extent : j) shape.push_back(extent.get<std::int64_t>());
  return shape;
}

bool is_array_reference(const json& j) { return j.is_object() && j.contains("array"); }

ct::Scalar to_scalar(const json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<std::int64_t>();
  return number(j);
}

}  // namespace

double number(const json& j) {
  if (j.is_number()) return j.get<double>();
  if (j.is_object() && j.contains("inf")) return j["inf"].get<int>() * std::numeric_limits<double>::infinity();
  if (j.is_object() && j.contains("nan")) return std::numeric_limits<double>::quiet_NaN();
  throw NotImplemented("an argument " + j.dump() + " for a number");
}

Array Arrays::load(const std::string& key) const {
  const ct::io::HostArray host = reader_.read_array(key);
  if (!rounding_ || (host.dtype != ct::Dtype::float32 && host.dtype != ct::Dtype::float64))
    return Array::from_host(host.bytes().data(), host.shape, host.dtype);
  // on the CPU, because the current device may not support the dtype
  const Array given = Array::from_host(host.bytes().data(), host.shape, host.dtype, ct::Device());
  return given.astype(rounding_->to).astype(rounding_->computed).to_device(ct::current_device());
}

Array Arrays::decode(const json& j) const {
  Array x = load(j.at("array").get<std::string>());
  const auto prep = j.find("prep");
  if (prep == j.end()) return x;
  for (const json& step : *prep) {
    if (step.contains("getitem")) {
      x = x.get(index(step["getitem"]));
    } else if (step.contains("transpose")) {
      x = x.transpose(to_shape(step["transpose"]));
    } else if (step.contains("broadcast_to")) {
      x = x.broadcast_to(to_shape(step["broadcast_to"]));
    } else {
      throw NotImplemented("a preparation " + step.dump());
    }
  }
  return x;
}

Value Arrays::value(const json& j) const { return is_array_reference(j) ? Value(decode(j)) : Value(to_scalar(j)); }

std::vector<ct::Index> Arrays::index(const json& j) const {
  const auto end = [](const json& e) { return e.is_null() ? std::nullopt : std::optional(e.get<std::int64_t>()); };
  std::vector<ct::Index> result;
  for (const json& i : j) {
    if (i.contains("int")) {
      result.emplace_back(i["int"].get<std::int64_t>());
    } else if (i.contains("slice")) {
      const json& s = i["slice"];
      result.emplace_back(ct::Slice{end(s.at(0)), end(s.at(1)), end(s.at(2))});
    } else if (i.contains("newaxis")) {
      result.emplace_back(ct::newaxis);
    } else if (i.contains("ellipsis")) {
      result.emplace_back(ct::ellipsis);
    } else if (i.contains("array")) {
      result.emplace_back(load(i["array"].get<std::string>()));
    } else {
      throw NotImplemented("an index " + i.dump());
    }
  }
  return result;
}

const json& Arguments::at(std::size_t position) {
  if (position >= positional_.size()) throw NotImplemented("a call without argument " + std::to_string(position));
  used_positions_.insert(position);
  return positional_[position];
}

Array Arguments::array(std::size_t position) {
  const json& j = at(position);
  if (is_array_reference(j)) return arrays_.decode(j);
  const ct::Scalar scalar = to_scalar(j);
  const Array a = Array::empty({}, scalar.default_dtype());
  a.fill(scalar);
  return a;
}

std::vector<Array> Arguments::arrays(std::size_t position) {
  std::vector<Array> result;
  for (const json& j : at(position)) result.push_back(arrays_.decode(j));
  return result;
}

std::vector<Array> Arguments::rest(std::size_t first) {
  std::vector<Array> result;
  for (std::size_t i = first; i < positional_.size(); ++i) result.push_back(array(i));
  return result;
}

Value Arguments::value(std::size_t position) { return arrays_.value(at(position)); }
std::optional<Value> Arguments::optional_value(std::size_t position) {
  const json& j = at(position);
  return j.is_null() ? std::nullopt : std::optional(arrays_.value(j));
}
std::optional<Value> Arguments::find(const std::string& name, int position) {
  const json& j = get(name, position);
  return j.is_null() ? std::nullopt : std::optional(arrays_.value(j));
}
ct::Scalar Arguments::literal(std::size_t position) { return to_scalar(at(position)); }

const json& Arguments::get(const std::string& name, int position) {
  if (const auto found = keywords_.find(name); found != keywords_.end()) {
    used_keywords_.insert(name);
    return *found;
  }
  if (position >= 0 && static_cast<std::size_t>(position) < positional_.size())
    return at(static_cast<std::size_t>(position));
  return kNull;
}

bool Arguments::flag(const std::string& name, int position, bool otherwise) {
  const json& j = get(name, position);
  return j.is_null() ? otherwise : j.get<bool>();
}
std::int64_t Arguments::integer(const std::string& name, int position, std::int64_t otherwise) {
  const json& j = get(name, position);
  return j.is_null() ? otherwise : j.get<std::int64_t>();
}
double Arguments::real(const std::string& name, int position, double otherwise) {
  const json& j = get(name, position);
  return j.is_null() ? otherwise : number(j);
}
std::string Arguments::text(const std::string& name, int position, const std::string& otherwise) {
  const json& j = get(name, position);
  return j.is_null() ? otherwise : j.get<std::string>();
}
ct::Shape Arguments::shape(const std::string& name, int position) { return to_shape(get(name, position)); }
ct::AxisArg Arguments::axis(const std::string& name, int position) {
  const json& j = get(name, position);
  if (j.is_null()) return {};
  return ct::AxisArg(to_shape(j));
}
std::optional<int> Arguments::one_axis(int position, const std::string& name) {
  const json& j = get(name, position);
  return j.is_null() ? std::nullopt : std::optional(j.get<int>());
}
std::optional<ct::Dtype> Arguments::dtype(int position) {
  const json& j = get("dtype", position);
  if (j.is_null()) return std::nullopt;
  return ct::dtype_from_name(j.at("dtype").get<std::string>());
}

void Arguments::check_all_used() const {
  for (std::size_t i = 0; i < positional_.size(); ++i)
    if (!used_positions_.contains(i)) throw NotImplemented("argument " + std::to_string(i) + " is not known here");
  for (const auto& [name, value] : keywords_.items())
    if (!used_keywords_.contains(name)) throw NotImplemented("the keyword '" + name + "' is not known here");
}

}  // namespace reference
