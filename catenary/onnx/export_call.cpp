#include "catenary/onnx/export_call.h"

#include <algorithm>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/reduction.h"

namespace catenary::onnx::exporting {

ExportCall::ExportCall(const Recordings& both, std::size_t index, Names inputs, GraphWriter& writer,
                       std::span<const std::pair<std::string, int>> sources)
    : both_(both), index_(index), inputs_(std::move(inputs)), writer_(writer), sources_(sources) {}

Dtype ExportCall::result_dtype(int i) const {
  int number = first().outputs[static_cast<std::size_t>(i)];
  for (const int other : first().outputs)
    if (number < 0) number = other;
  return both_.first.values.at(static_cast<std::size_t>(number)).dtype;
}

Extents ExportCall::extents_of(int number) const {
  const Shape &a = both_.first.values.at(static_cast<std::size_t>(number)).shape,
              &b = both_.second.values.at(static_cast<std::size_t>(number)).shape;
  if (a.size() != b.size()) fail("an array has {} or {} axes", a.size(), b.size());
  Extents all;
  for (int axis = 0; axis < a.size(); ++axis) all.push_back({a[axis], b[axis]});
  return all;
}

std::int64_t ExportCall::fixed(const Extent& extent, const char* what) const {
  if (extent.varies())
    fail("{} depends on the inputs: it is {} or {}. Fix the size by dynamic_axes", what, extent.first, extent.second);
  return extent.first;
}

std::pair<const FunctionAttribute*, const FunctionAttribute*> ExportCall::both(const char* name) const {
  const auto find = [&](const RecordedCall& call) -> const FunctionAttribute* {
    for (const auto& [key, attribute] : call.attributes)
      if (key == name) return &attribute;
    return nullptr;
  };
  const FunctionAttribute *a = find(first()), *b = find(second());
  if (!a || !b) fail("attribute {} is missing", name);
  return {a, b};
}

const FunctionAttribute& ExportCall::same(const char* name) const {
  const auto [a, b] = both(name);
  // Values of one type with one text are equal, except arrays and lists of indices.
  if (a->index() != b->index() || to_string(*a) != to_string(*b))
    fail("{} depends on the inputs: it is {} or {}. Fix sizes by dynamic_axes", name, to_string(*a), to_string(*b));
  return *a;
}

bool ExportCall::has(const char* name) const {
  const auto [a, b] = both(name);
  return !std::holds_alternative<std::monostate>(*a);
}
std::int64_t ExportCall::integer(const char* name) const {
  const FunctionAttribute& a = same(name);
  if (const auto* i = std::get_if<std::int64_t>(&a)) return *i;
  fail("{} is not an integer", name);
}
double ExportCall::real(const char* name) const {
  const FunctionAttribute& a = same(name);
  if (const auto* i = std::get_if<std::int64_t>(&a)) return static_cast<double>(*i);
  if (const auto* b = std::get_if<bool>(&a)) return *b ? 1 : 0;
  if (const auto* r = std::get_if<double>(&a)) return *r;
  fail("{} is not a number", name);
}
bool ExportCall::flag(const char* name) const {
  if (const auto* b = std::get_if<bool>(&same(name))) return *b;
  fail("{} is not a bool", name);
}
std::string ExportCall::text(const char* name) const {
  if (const auto* t = std::get_if<std::string>(&same(name))) return *t;
  fail("{} is not a text", name);
}
Integers ExportCall::integers(const char* name) const {
  if (const auto* all = std::get_if<std::vector<std::int64_t>>(&same(name))) return *all;
  fail("{} is not a list of integers", name);
}

Integers ExportCall::axes(const char* name) const {
  Integers all;
  if (has(name)) {
    const FunctionAttribute& a = same(name);
    if (const auto* one = std::get_if<std::int64_t>(&a))
      all = {*one};
    else
      all = integers(name);
    for (std::int64_t& axis : all) axis += axis < 0 ? ndim(0) : 0;
  } else {
    for (int axis = 0; axis < ndim(0); ++axis) all.push_back(axis);
  }
  return all;
}
int ExportCall::axis(const char* name) const {
  const std::int64_t axis = integer(name);
  return static_cast<int>(axis < 0 ? axis + ndim(0) : axis);
}

Array ExportCall::array(const char* name) const {
  const auto [a, b] = both(name);
  const auto *first_array = std::get_if<Array>(a), *second_array = std::get_if<Array>(b);
  if (!first_array || !second_array) fail("{} is not an array", name);
  const Array common = common_part(*first_array, *second_array);
  if (!common.defined())
    fail("{} depends on the inputs, but was computed without Variables: compute it by functions", name);
  return common;
}

std::optional<std::string> ExportCall::input_equal_to(const Array& in_first, const Array& in_second) const {
  const auto equal = [](const Array& a, const Array& b) { return a.shape() == b.shape() && (a == b).all(); };
  for (const auto& [name, number] : sources_) {
    const RecordedValue &a = both_.first.values[static_cast<std::size_t>(number)],
                        &b = both_.second.values[static_cast<std::size_t>(number)];
    if (is_floating(a.dtype) || !equal(a.constant, in_first) || !equal(b.constant, in_second)) continue;
    // ONNX indexes by int32 and int64.
    return a.dtype == Dtype::int32 ? name : cast(name, a.dtype, Dtype::int64);
  }
  return {};
}

std::string ExportCall::node(const std::string& type, const Names& inputs, const NodeAttributes& attributes) const {
  return nodes(type, inputs, 1, attributes)[0];
}
Names ExportCall::nodes(const std::string& type, const Names& inputs, int results,
                        const NodeAttributes& attributes) const {
  return writer_.node(type, inputs, results, attributes);
}

std::string ExportCall::number(double value, Dtype dtype) const {
  const DeviceScope scope(get_device("cpu"));
  return writer_.constant(full({}, value, dtype));
}
std::string ExportCall::cast(const std::string& name, Dtype from, Dtype to) const {
  return from == to ? name : node("Cast", {name}, {{"to", type_of_dtype(to)}});
}

std::string ExportCall::slice(const std::string& name, int axis, std::int64_t start, std::int64_t stop,
                              std::int64_t step) const {
  Names inputs = {name, constant(Integers{start}), constant(Integers{stop}), constant(Integers{axis})};
  if (step != 1) inputs.push_back(constant(Integers{step}));
  return node("Slice", inputs);
}

std::string ExportCall::reshape(const std::string& name, const Extents& from, const Extents& to) const {
  // 0 keeps the size of the same axis, and -1 is computed from the others.
  Integers sizes;
  int unknown = 0;
  bool empty = false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const bool kept = i < from.size() && from[i] == to[i] && to[i].varies();
    if (to[i].varies() && !kept) ++unknown;
    empty |= to[i].first == 0;
    sizes.push_back(!to[i].varies() ? to[i].first : kept ? 0 : -1);
  }
  if (unknown > 1 || empty) return node("Reshape", {name, shape(to)}, {{"allowzero", empty ? 1 : 0}});
  return node("Reshape", {name, constant(sizes)});
}

std::string ExportCall::shape(const Extents& extents) const {
  if (std::ranges::none_of(extents, &Extent::varies)) {
    Integers sizes;
    for (const Extent& extent : extents) sizes.push_back(extent.first);
    return constant(sizes);
  }
  Names parts;
  for (const Extent& extent : extents) parts.push_back(size(extent));
  return parts.size() == 1 ? parts[0] : node("Concat", parts, {{"axis", 0}});
}

/// Returns a size that an input of the function or of the model has.
std::optional<std::string> ExportCall::measured(const Extent& extent) const {
  const auto search = [&](const std::string& name, const Extents& all) -> std::optional<std::string> {
    for (std::size_t axis = 0; axis < all.size(); ++axis)
      if (all[axis] == extent) return node("Shape", {name}, {{"start", axis}, {"end", axis + 1}});
    return {};
  };
  for (const auto& [name, number] : sources_)
    if (auto found = search(name, extents_of(number))) return found;
  for (int i = 0; i < count(); ++i)
    if (auto found = search(x(i), extents(i))) return found;
  return {};
}

std::string ExportCall::size(const Extent& extent) const {
  if (!extent.varies()) return constant(Integers{extent.first});
  if (const auto found = measured(extent)) return *found;
  // A multiple of a known size, or a product of two.
  std::vector<Extent> known;
  for (const auto& [name, number] : sources_)
    for (const Extent& e : extents_of(number)) known.push_back(e);
  for (int i = 0; i < count(); ++i)
    for (const Extent& e : extents(i)) known.push_back(e);
  for (const Extent& e : known) {
    if (!e.varies() || e.first == 0 || e.second == 0) continue;
    if (extent.first % e.first != 0 || extent.second % e.second != 0) continue;
    const Extent rest = {extent.first / e.first, extent.second / e.second};
    if (!rest.varies()) return node("Mul", {size(e), constant(Integers{rest.first})});
    if (const auto other = measured(rest)) return node("Mul", {size(e), *other});
  }
  fail("a size is {} or {}, which is not a product of the inputs' sizes. Fix sizes by dynamic_axes", extent.first,
       extent.second);
}

const std::vector<const ExportRow*>& all_exported() {
  static const auto& rows = *new std::vector<const ExportRow*>([] {
    std::vector<const ExportRow*> all;
    for (const auto family : {exported_elementwise(), exported_shape(), exported_layer(), exported_sequence(),
                              exported_sampling(), exported_loss()})
      for (const ExportRow& row : family) all.push_back(&row);
    std::ranges::sort(all, {}, [](const ExportRow* row) { return std::string(row->function); });
    return all;
  }());
  return rows;
}

const ExportRow* find_exported(const std::string& function) {
  const auto& rows = all_exported();
  const auto found = std::ranges::find(rows, function, [](const ExportRow* row) { return std::string(row->function); });
  return found == rows.end() ? nullptr : *found;
}

}  // namespace catenary::onnx::exporting
