// Operators that run graphs: If, Loop and Scan. The host decides which graph runs and how often.

#include <algorithm>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

Value on_host(std::int64_t number) { return Array::from_host(&number, Shape{}, Dtype::int64, Device()); }

bool truth(const Call& c, const Value& condition) {
  const Array& array = condition.array();
  if (array.dtype() != Dtype::bool_ || array.size() != 1) c.fail("the condition must be one bool");
  return array.reshape({}).item<bool>();
}

Values branch(const Call& c) {
  c.graph("then_branch");
  c.graph("else_branch");
  return c.run(truth(c, c.value(0)) ? "then_branch" : "else_branch", {});
}

/// Returns an array without rows, for a loop that never ran. Extents that the file does not give are 0.
Variable no_rows(const Call& c, const ValueInfo& info, int axis = 0) {
  const std::optional<Dtype> dtype = dtype_of_type(info.type);
  if (!dtype) c.fail("the loop never ran, and the file does not give the dtype of its result '{}'", info.name);
  Integers shape;
  if (info.shape)
    for (const auto& extent : *info.shape) {
      const auto* number = std::get_if<std::int64_t>(&extent);
      shape.push_back(number ? *number : 0);
    }
  axis = axis_of(c, axis, static_cast<int>(shape.size()) + 1);
  shape.insert(shape.begin() + axis, 0);
  return zeros(Shape(shape), *dtype).to_device(c.device());
}

/// The results of a body that runs often: the first `states` are passed on, the others are collected.
struct Collected {
  Values states;
  std::vector<std::vector<Variable>> rows;

  void take(Values results, std::size_t skipped = 0) {
    const auto begin = results.begin() + static_cast<std::ptrdiff_t>(skipped);
    const auto middle = begin + static_cast<std::ptrdiff_t>(states.size());
    std::move(begin, middle, states.begin());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(middle[static_cast<std::ptrdiff_t>(i)].variable());
  }
};

Values loop(const Call& c) {
  const Graph& body = c.graph("body");
  const std::size_t states = body.inputs.size() - 2;
  if (body.inputs.size() < 2 || body.outputs.size() < states + 1)
    c.fail("the body has {} inputs and {} results, which do not fit", body.inputs.size(), body.outputs.size());
  if (c.count() > static_cast<int>(body.inputs.size()))
    c.fail("{} inputs are given, but the body has {}", c.count(), body.inputs.size());
  const Integers trips = c.integers(0).value_or(Integers{std::numeric_limits<std::int64_t>::max()});
  if (trips.size() != 1) c.fail("the trip count has {} elements instead of 1", trips.size());
  Value condition = c.has(1) ? c.value(1) : Value(full(Shape{}, true, Dtype::bool_).to_device(Device()));
  Collected all{Values(states), std::vector<std::vector<Variable>>(body.outputs.size() - 1 - states)};
  for (std::size_t i = 0; i < states; ++i)
    if (const int input = static_cast<int>(i) + 2; c.has(input)) all.states[i] = c.value(input);
  for (std::int64_t k = 0; k < trips[0] && truth(c, condition); ++k) {
    Values inputs{on_host(k), condition};
    inputs.insert(inputs.end(), all.states.begin(), all.states.end());
    Values results = c.run("body", inputs);
    condition = results[0];
    all.take(std::move(results), 1);
  }
  Values results = all.states;
  for (std::size_t i = 0; i < all.rows.size(); ++i)
    results.emplace_back(all.rows[i].empty() ? no_rows(c, body.outputs[1 + states + i]) : F::stack(all.rows[i], 0));
  return results;
}

/// The attributes of a Scan.
struct ScanPlan {
  const Graph* body;
  std::size_t states, scans;         ///< how many inputs are states, and how many are scanned
  Integers input_axes, output_axes;  ///< empty where all are 0
  Integers input_reversed, output_reversed;

  static std::int64_t at(const Integers& values, std::size_t i) { return values.empty() ? 0 : values[i]; }
};

ScanPlan scan_plan(const Call& c, int first) {
  const Graph& body = c.graph("body");
  const std::int64_t scans = c.integer("num_scan_inputs"), states = c.count() - first - scans;
  if (scans < 1 || states < 0 || static_cast<int>(body.inputs.size()) != c.count() - first ||
      static_cast<std::int64_t>(body.outputs.size()) < states)
    c.fail("the body has {} inputs and {} results, which do not fit {} inputs with {} scans", body.inputs.size(),
           body.outputs.size(), c.count(), scans);
  ScanPlan plan{&body, static_cast<std::size_t>(states), static_cast<std::size_t>(scans), {}, {}, {}, {}};
  const auto read = [&](Integers& to, const char* name, std::size_t count) {
    to = c.list(name).value_or(Integers());
    if (!to.empty() && to.size() != count) c.fail("{} has {} numbers instead of {}", name, to.size(), count);
  };
  const std::size_t outputs = body.outputs.size() - plan.states;
  if (c.opset() < 9) {
    read(plan.input_reversed, "directions", plan.scans);
  } else {
    read(plan.input_axes, "scan_input_axes", plan.scans);
    read(plan.output_axes, "scan_output_axes", outputs);
    read(plan.input_reversed, "scan_input_directions", plan.scans);
    read(plan.output_reversed, "scan_output_directions", outputs);
  }
  return plan;
}

/// Scans the first `length` rows, or all.
Values scanned(const Call& c, const ScanPlan& plan, Values states, const std::vector<Variable>& scans,
               std::optional<std::int64_t> length = {}) {
  std::vector<Variables> rows;
  for (std::size_t i = 0; i < scans.size(); ++i) {
    const int axis = axis_of(c, plan.at(plan.input_axes, i), scans[i].ndim());
    const std::int64_t n = scans[i].shape(axis);
    if (!length) length = n;
    if (*length < 0 || n < *length || (c.opset() >= 9 && n != *length))
      c.fail("scan input {} has {} elements along axis {} where {} are needed", i, n, axis, *length);
    check_arrays(n);
    rows.push_back(F::separate(scans[i], axis));
  }
  Collected all{std::move(states), std::vector<std::vector<Variable>>(plan.body->outputs.size() - plan.states)};
  for (std::int64_t k = 0; k < *length; ++k) {
    Values inputs = all.states;
    for (std::size_t i = 0; i < rows.size(); ++i)
      inputs.push_back(rows[i][static_cast<std::size_t>(plan.at(plan.input_reversed, i) ? *length - 1 - k : k)]);
    all.take(c.run("body", inputs));
  }
  Values results = all.states;
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    std::vector<Variable>& row = all.rows[i];
    if (plan.at(plan.output_reversed, i)) std::ranges::reverse(row);
    const auto axis = static_cast<int>(plan.at(plan.output_axes, i));
    results.emplace_back(row.empty() ? no_rows(c, plan.body->outputs[plan.states + i], axis)
                                     : F::stack(row, axis_of(c, axis, row[0].ndim() + 1)));
  }
  return results;
}

Values scan(const Call& c) {
  const ScanPlan plan = scan_plan(c, 0);
  const auto states = static_cast<int>(plan.states);
  Values initial;
  std::vector<Variable> scans;
  for (int i = 0; i < c.count(); ++i) {
    if (i < states)
      initial.push_back(c.value(i));
    else
      scans.push_back(c.x(i));
  }
  return scanned(c, plan, std::move(initial), scans);
}

/// Scan of opset 8: all arrays have a batch axis in front, and input 0 has the length of each sequence.
Values batched_scan(const Call& c) {
  const ScanPlan plan = scan_plan(c, 1);
  const auto states = static_cast<int>(plan.states);
  const std::optional<Integers> lengths = c.integers(0);
  const std::int64_t batch = c.x(1).shape(0);
  if (lengths && static_cast<std::int64_t>(lengths->size()) != batch)
    c.fail("{} lengths are given for {} sequences", lengths->size(), batch);
  std::vector<std::vector<Variable>> collected(plan.body->outputs.size());
  for (std::int64_t b = 0; b < batch; ++b) {
    Values initial;
    std::vector<Variable> scans;
    for (int i = 1; i < c.count(); ++i) {
      const Variable x = F::get_item(c.x(i), {Index(b)});
      if (i <= states)
        initial.push_back(x);
      else
        scans.push_back(x);
    }
    const std::int64_t longest = scans[0].shape(0),
                       length = lengths ? lengths->at(static_cast<std::size_t>(b)) : longest;
    const Values results = scanned(c, plan, std::move(initial), scans, length);
    for (std::size_t i = 0; i < results.size(); ++i) {
      Variable y = results[i].variable();
      if (i >= plan.states && length < longest) {  // zeros stand where a shorter sequence has no rows
        std::vector<PerSide<std::int64_t>::Pair> widths(static_cast<std::size_t>(y.ndim()), {0, 0});
        widths[0].second = longest - length;
        y = F::pad(y, PerSide<std::int64_t>(widths));
      }
      collected[i].push_back(y);
    }
  }
  Values results;
  for (const std::vector<Variable>& rows : collected) {
    if (rows.empty()) c.fail("the batch is empty");
    results.push_back(F::stack(rows, 0));
  }
  return results;
}

}  // namespace

std::span<const Operator> control_operators() {
  static const Operator rows[] = {
      {"If", 1, branch},
      {"Loop", 1, loop},
      {"Scan", 8, batched_scan},
      {"Scan", 9, scan},
  };
  return rows;
}

}  // namespace catenary::onnx
