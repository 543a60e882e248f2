#include "catenary/autograd/attributes.h"

#include "catenary/core/format.h"

namespace catenary {

namespace {

class Collector final : public AttributeVisitor {
 public:
  void operator()(const std::string& name, const Attribute& value) override { all.emplace_back(name, value); }
  std::vector<std::pair<std::string, Attribute>> all;
};

std::string text_of(const Index& index) {
  switch (index.kind()) {
    case Index::Kind::integer:
      return std::to_string(index.integer());
    case Index::Kind::newaxis:
      return "None";
    case Index::Kind::ellipsis:
      return "...";
    case Index::Kind::array:
      return to_string(Attribute(index.array()));
    case Index::Kind::slice:
      break;
  }
  const auto end = [](const std::optional<std::int64_t>& at) { return at ? std::to_string(*at) : ""; };
  const Slice& s = index.slice();
  return end(s.start) + ":" + end(s.stop) + (s.step ? ":" + end(s.step) : "");
}

/// "[a, b]"
template <class T, class Text>
std::string list(const std::vector<T>& values, Text&& text) {
  std::string all;
  for (const T& value : values) all += (all.empty() ? "" : ", ") + text(value);
  return "[" + all + "]";
}

struct Text {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::complex<double>& value) const {
    return fmt::format("({}{:+}j)", value.real(), value.imag());
  }
  std::string operator()(const std::string& value) const { return "'" + value + "'"; }
  std::string operator()(Dtype value) const { return dtype_name(value); }
  std::string operator()(const Device& value) const { return value.name(); }
  std::string operator()(const Array& value) const { return fmt::format("{} {}", value.dtype(), value.shape()); }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    return list(values, *this);
  }
  std::string operator()(const std::vector<Index>& values) const { return list(values, text_of); }
};

}  // namespace

std::vector<std::pair<std::string, Attribute>> attributes_of(const FunctionNode& function) {
  Collector collector;
  if (!function.visit_attributes(collector))
    fail<ValueError>("{}: the function has no description; add CT_ATTRIBUTES to its class", function.label());
  return collector.all;
}

std::string to_string(const Attribute& value) { return std::visit(Text(), value); }

namespace detail {

Attribute attribute(const std::string& value) { return value; }
Attribute attribute(const Dtype& value) { return value; }
Attribute attribute(const Device& value) { return value; }
Attribute attribute(const Dims& value) { return std::vector<std::int64_t>(value.begin(), value.end()); }
Attribute attribute(const AxisArg& value) { return value.all() ? Attribute() : attribute(value.axes()); }
Attribute attribute(const Scalar& value) {
  switch (value.kind()) {
    case Scalar::Kind::boolean:
      return value.integer() != 0;
    case Scalar::Kind::integer:
      return value.integer();
    case Scalar::Kind::real:
      return value.real();
    case Scalar::Kind::complex:
      break;
  }
  return std::complex<double>(value.real(), value.imag());
}
Attribute attribute(const Sections& value) {
  return value.parts() ? Attribute(*value.parts()) : Attribute(value.positions());
}
Attribute attribute(const PerSide<std::int64_t>& value) {
  std::vector<std::int64_t> all;
  for (const auto& [before, after] : value.pairs()) all.insert(all.end(), {before, after});
  return all;
}
Attribute attribute(const PerSide<Scalar>& value) {
  std::vector<double> all;
  for (const auto& [before, after] : value.pairs()) all.insert(all.end(), {before.real(), after.real()});
  return all;
}
Attribute attribute(const std::vector<std::int64_t>& value) { return value; }
Attribute attribute(const std::vector<std::string>& value) { return value; }
Attribute attribute(const std::vector<Index>& value) { return value; }
Attribute attribute(const Array& value) { return value.defined() ? Attribute(value) : Attribute(); }

}  // namespace detail
}  // namespace catenary
