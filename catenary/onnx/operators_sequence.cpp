// Sequences and optionals.

#include "catenary/array/creation.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

Value host_bool(bool value) { return full(Shape{}, value, Dtype::bool_).to_device(Device()); }

/// Returns input `i` as a position among `count`, from 0 on. Throws ValueError.
std::int64_t place(const Call& c, int i, std::int64_t count, std::int64_t otherwise) {
  const Integers given = c.integers(i).value_or(Integers{otherwise});
  if (given.size() != 1) c.fail("the position has {} elements instead of 1", given.size());
  if (given[0] < -count || given[0] >= count) c.fail("position {} is out of range for {} places", given[0], count);
  return given[0] < 0 ? given[0] + count : given[0];
}

std::int64_t length(const std::vector<Variable>& items) { return static_cast<std::int64_t>(items.size()); }

void require_dtype(const Call& c, const std::vector<Variable>& items, const Variable& x) {
  if (!items.empty() && items[0].dtype() != x.dtype())
    c.fail("an array of {} does not fit into a sequence of {}", x.dtype(), items[0].dtype());
}

Values constructed(const Call& c) {
  std::vector<Variable> items;
  for (int i = 0; i < c.count(); ++i) {
    items.push_back(c.value(i).variable());
    require_dtype(c, items, items.back());
  }
  return {Value::sequence(std::move(items))};
}

Values empty_sequence(const Call& c) {
  const auto type = static_cast<int>(c.integer("dtype", 1));
  if (!dtype_of_type(type)) c.fail("{} is not supported", name_of_type(type));
  return {Value::sequence({})};
}

Values inserted(const Call& c) {
  std::vector<Variable> items = c.value(0).items();
  const Variable& x = c.value(1).variable();
  require_dtype(c, items, x);
  const std::int64_t n = length(items);
  // -1 stands before the last element, and n behind it
  const Integers given = c.integers(2).value_or(Integers{n});
  if (given.size() != 1 || given[0] < -n || given[0] > n) c.fail("the position is out of range for {} elements", n);
  items.insert(items.begin() + (given[0] < 0 ? given[0] + n : given[0]), x);
  return {Value::sequence(std::move(items))};
}

Values erased(const Call& c) {
  std::vector<Variable> items = c.value(0).items();
  items.erase(items.begin() + place(c, 1, length(items), -1));
  return {Value::sequence(std::move(items))};
}

Values item_at(const Call& c) {
  const std::vector<Variable>& items = c.value(0).items();
  c.value(1);
  return {items[static_cast<std::size_t>(place(c, 1, length(items), 0))]};
}

Values length_of(const Call& c) {
  const std::int64_t n = length(c.value(0).items());
  return {Array::from_host(&n, Shape{}, Dtype::int64, Device())};
}

Values split_to_sequence(const Call& c) {
  const Variable x = c.x(0);
  const int axis = axis_of(c, c.integer("axis", 0), x.ndim());
  const bool keeps = c.has(1) || c.integer("keepdims", 1) != 0;
  c.find("keepdims");  // has no meaning if sizes are given
  const std::int64_t n = x.shape(axis);
  Integers sizes = c.integers(1).value_or(Integers{1});
  if (!c.has(1) || c.value(1).variable().ndim() == 0) {
    const std::int64_t size = sizes[0];
    if (size < 1) c.fail("parts of {} elements", size);
    check_arrays(n / size);
    sizes.assign(static_cast<std::size_t>(n / size), size);
    if (n % size) sizes.push_back(n % size);
  }
  std::vector<Variable> items;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > n - at) c.fail("the parts do not fit axis {} of {} elements", axis, n);
    items.push_back(F::get_item(x, along(axis, keeps ? Index(slice(at, at + size)) : Index(at))));
    at += size;
  }
  if (at != n) c.fail("the parts have {} elements together, axis {} has {}", at, axis, n);
  return {Value::sequence(std::move(items))};
}

Values concat_from_sequence(const Call& c) {
  std::vector<Variable> items = c.value(0).items();
  if (items.empty()) c.fail("the sequence is empty");
  for (Variable& x : items) x = Value(x).on(c.device());
  const bool is_new = c.integer("new_axis", 0) != 0;
  const int axis = axis_of(c, c.integer("axis"), items[0].ndim() + (is_new ? 1 : 0));
  return {is_new ? F::stack(items, axis) : F::concat(items, axis)};
}

Values optional(const Call& c) {
  c.find("type");
  return {c.has(0) ? c.value(0) : Value()};
}

/// Runs the body for each position. Inputs besides the first may be sequences or arrays.
Values mapped(const Call& c) {
  const Graph& body = c.graph("body");
  const std::size_t n = c.value(0).items().size();
  std::vector<std::vector<Variable>> collected(body.outputs.size());
  for (std::size_t k = 0; k < n; ++k) {
    Values inputs;
    for (int i = 0; i < c.count(); ++i) {
      const Value& x = c.value(i);
      if (x.is_sequence() && x.items().size() != n)
        c.fail("sequence {} has {} elements where {} are needed", i, x.items().size(), n);
      inputs.push_back(x.is_sequence() ? Value(x.items()[k]) : x);
    }
    const Values results = c.run("body", inputs);
    for (std::size_t i = 0; i < results.size(); ++i) collected[i].push_back(results[i].variable());
  }
  Values results;
  for (std::vector<Variable>& items : collected) results.push_back(Value::sequence(std::move(items)));
  return results;
}

}  // namespace

std::span<const Operator> sequence_operators() {
  static const Operator rows[] = {
      {"Identity", 1, [](const Call& c) { return Values{c.has(0) ? c.value(0) : Value()}; }},
      {"SequenceConstruct", 11, constructed},
      {"SequenceEmpty", 11, empty_sequence},
      {"SequenceInsert", 11, inserted},
      {"SequenceErase", 11, erased},
      {"SequenceAt", 11, item_at},
      {"SequenceLength", 11, length_of},
      {"SequenceMap", 17, mapped},
      {"SplitToSequence", 11, split_to_sequence},
      {"ConcatFromSequence", 11, concat_from_sequence},
      {"Optional", 15, optional},
      {"OptionalGetElement", 15, [](const Call& c) { return Values{c.value(0)}; }},
      {"OptionalHasElement", 15, [](const Call& c) { return Values{host_bool(c.has(0))}; }},
  };
  return rows;
}

}  // namespace catenary::onnx
