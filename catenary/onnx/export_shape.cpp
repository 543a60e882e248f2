// Functions that move elements, and reductions.

#include <algorithm>
#include <limits>

#include "catenary/onnx/export_call.h"

namespace catenary::onnx::exporting {

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

Integers counted(int n) {
  Integers all;
  for (int i = 0; i < n; ++i) all.push_back(i);
  return all;
}

Names reshaped(const ExportCall& c) { return {c.reshape(c.x(0), c.extents(0), c.result())}; }

Names transposed(const ExportCall& c) {
  Integers axes = c.integers("axes");
  if (axes.empty()) {
    axes = counted(c.ndim(0));
    std::ranges::reverse(axes);
  }
  for (std::int64_t& axis : axes) axis += axis < 0 ? c.ndim(0) : 0;
  return {c.transpose(c.x(0), axes)};
}

Names broadcast(const ExportCall& c) { return {c.node("Expand", {c.x(0), c.shape(c.result())})}; }

/// Sums over leading axes, and over axes that have size 1 in the result.
Names summed_to(const ExportCall& c) {
  const Extents from = c.extents(0), to = c.result();
  const std::size_t lead = from.size() - to.size();
  Integers axes, leading;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i < lead) leading.push_back(static_cast<std::int64_t>(i));
    if (i < lead || from[i] != to[i - lead]) axes.push_back(static_cast<std::int64_t>(i));
  }
  const std::string sums = c.node("ReduceSum", {c.x(0), c.constant(axes)}, {{"keepdims", 1}});
  return {leading.empty() ? sums : c.node("Squeeze", {sums, c.constant(leading)})};
}

Names reduced(const ExportCall& c, const char* type, bool keepdims) {
  const Integers axes = c.axes();
  if (axes.empty()) return {c.as_result(0)};
  return {c.node(type, {c.as_result(0), c.constant(axes)}, {{"keepdims", keepdims ? 1 : 0}})};
}
template <const char* const& type>
Names reduced(const ExportCall& c) {
  return reduced(c, type, c.flag("keepdims"));
}
constexpr const char *kSum = "ReduceSum", *kMean = "ReduceMean", *kMax = "ReduceMax", *kMin = "ReduceMin",
                     *kProd = "ReduceProd", *kArgMax = "ArgMax", *kArgMin = "ArgMin";

template <const char* const& type>
Names position(const ExportCall& c) {
  const bool flat = !c.has("axis");
  const std::string x = flat ? c.node("Reshape", {c.x(0), c.constant(Integers{-1})}) : c.x(0);
  const std::string at = c.node(type, {x}, {{"axis", flat ? 0 : c.axis()}, {"keepdims", 0}});
  return {c.cast(at, Dtype::int64, c.result_dtype())};
}

Names cumulative_sum(const ExportCall& c) {
  return {c.node("CumSum", {c.as_result(0), c.constant(Integers{c.axis()})})};
}

/// Indexes by integers, slices and new axes, and by one array of integers.
class Indexing {
 public:
  explicit Indexing(const ExportCall& c) : c_(c), name_(c.x(0)) {
    const auto [a, b] = c.both("indices");
    first_ = &std::get<std::vector<Index>>(*a);
    second_ = &std::get<std::vector<Index>>(*b);
  }

  std::string write() {
    if (first_->size() != second_->size()) c_.fail("the index depends on the inputs");
    int used = 0;
    for (const Index& index : *first_)
      used += index.kind() != Index::Kind::newaxis && index.kind() != Index::Kind::ellipsis;
    for (std::size_t i = 0; i < first_->size(); ++i) read((*first_)[i], (*second_)[i], c_.ndim(0) - used);
    if (!starts_.empty())
      name_ = c_.node("Slice",
                      {name_, c_.constant(starts_), c_.constant(stops_), c_.constant(sliced_), c_.constant(steps_)});
    if (taken_) name_ = c_.node("Gather", {name_, *taken_}, {{"axis", taken_axis_}});
    if (!dropped_.empty()) name_ = c_.node("Squeeze", {name_, c_.constant(dropped_)});
    if (!added_.empty()) name_ = c_.node("Unsqueeze", {name_, c_.constant(added_)});
    return name_;
  }

 private:
  void read(const Index& a, const Index& b, int rest) {
    if (a.kind() != b.kind()) c_.fail("the index depends on the inputs");
    switch (a.kind()) {
      case Index::Kind::newaxis:
        added_.push_back(result_++);
        return;
      case Index::Kind::ellipsis:
        axis_ += rest;
        result_ += rest;
        return;
      case Index::Kind::integer:
        if (taken_) c_.fail("an index array beside integers or new axes is not supported");
        read_integer(a.integer(), b.integer());
        dropped_.push_back(axis_++);
        return;
      case Index::Kind::slice:
        read_slice(a.slice(), b.slice());
        ++axis_, ++result_;
        return;
      case Index::Kind::array:
        read_array(a.array(), b.array());
        return;
    }
  }

  Extent extent() const { return c_.extents(0)[static_cast<std::size_t>(axis_)]; }

  /// Returns a position that is equal in both recordings if it counts from the front or from the back.
  std::int64_t settled(std::int64_t first, std::int64_t second) const {
    if (first == second) return first;
    if (const Extent n = extent(); first - n.first == second - n.second && first < n.first) return first - n.first;
    c_.fail("the index {} or {} depends on the inputs", first, second);
  }
  void read_integer(std::int64_t first, std::int64_t second) {
    const std::int64_t at = settled(first, second);
    add_slice(at, at == -1 ? kEnd : at + 1, 1);
  }
  void read_slice(const Slice& a, const Slice& b) {
    if (a.step != b.step || a.start.has_value() != b.start.has_value() || a.stop.has_value() != b.stop.has_value())
      c_.fail("the index depends on the inputs");
    const std::int64_t step = a.step.value_or(1);
    const bool back = step < 0;
    std::int64_t start = back ? kEnd : 0, stop = back ? -kEnd : kEnd;
    if (a.start) start = settled(*a.start, *b.start);
    // The end of an axis is the last stop, whatever its size is.
    if (a.stop)
      stop = !back && *a.stop >= extent().first && *b.stop >= extent().second ? kEnd : settled(*a.stop, *b.stop);
    if (start != 0 || stop != kEnd || step != 1) add_slice(start, stop, step);
  }
  void read_array(const Array& a, const Array& b) {
    if (taken_) c_.fail("several index arrays are not supported");
    if (a.dtype() == Dtype::bool_) c_.fail("a mask as index is not supported");
    if (!dropped_.empty() || (a.ndim() != 1 && !added_.empty()))
      c_.fail("an index array beside integers or new axes is not supported");
    taken_ = c_.input_equal_to(a, b);
    if (!taken_) {
      const Array common = common_part(a, b);
      if (!common.defined() || common.shape() != a.shape())
        c_.fail("an index array depends on the inputs, but was computed without Variables");
      taken_ = c_.constant(common.astype(Dtype::int64));
    }
    taken_axis_ = axis_++;
    result_ += a.ndim();
  }
  void add_slice(std::int64_t start, std::int64_t stop, std::int64_t step) {
    starts_.push_back(start);
    stops_.push_back(stop);
    steps_.push_back(step);
    sliced_.push_back(axis_);
  }

  const ExportCall& c_;
  std::string name_;
  const std::vector<Index>*first_, *second_;
  std::optional<std::string> taken_;            ///< the name of an index array
  int axis_ = 0, result_ = 0, taken_axis_ = 0;  ///< the present axes of the input and of the result
  Integers starts_, stops_, steps_, sliced_, dropped_, added_;
};

Names indexed(const ExportCall& c) { return {Indexing(c).write()}; }

Names flipped_axis(const ExportCall& c) { return {c.slice(c.x(0), c.axis(), kEnd, -kEnd, -1)}; }

Names tiled(const ExportCall& c) {
  Integers counts = c.integers("repetitions");
  const int n = c.ndim(0), lead = static_cast<int>(counts.size()) - n;
  std::string x = c.x(0);
  if (lead > 0) x = c.node("Unsqueeze", {x, c.constant(counted(lead))});
  if (lead < 0) counts.insert(counts.begin(), static_cast<std::size_t>(-lead), 1);
  return {c.node("Tile", {x, c.constant(counts)})};
}

/// Repeats each element along an axis: a new axis behind it is tiled.
Names repeated(const ExportCall& c) {
  const int axis = c.axis();
  Integers counts(static_cast<std::size_t>(c.ndim(0) + 1), 1);
  counts[static_cast<std::size_t>(axis + 1)] = c.integer("count");
  const std::string tall =
      c.node("Tile", {c.node("Unsqueeze", {c.x(0), c.constant(Integers{axis + 1})}), c.constant(counts)});
  Extents from = c.extents(0);
  from.insert(from.begin() + axis + 1, Extent{-1, -1});
  return {c.reshape(tall, from, c.result())};
}

Names padded_by(const ExportCall& c) {
  const Integers width = c.integers("width");  // before and after, for each axis or for all
  Integers pads(static_cast<std::size_t>(2 * c.ndim(0)));
  const std::size_t n = pads.size() / 2;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t from = width.size() == 2 ? 0 : 2 * i;
    pads[i] = width[from];
    pads[n + i] = width[from + 1];
  }
  const std::string mode = c.text("mode");
  if (mode == "edge" || (mode == "reflect" && !c.flag("odd")))
    return {c.node("Pad", {c.x(0), c.constant(pads)}, {{"mode", mode}})};
  if (mode == "wrap" && c.opset() >= 19) return {c.node("Pad", {c.x(0), c.constant(pads)}, {{"mode", mode}})};
  if (mode != "constant") c.fail("mode '{}' is not supported", mode);
  const auto* values = std::get_if<std::vector<double>>(c.both("constant_value").first);
  if (!values || !std::ranges::all_of(*values, [&](double v) { return v == (*values)[0]; }))
    c.fail("padding by several values is not supported");
  return {c.node("Pad", {c.x(0), c.constant(pads), c.number((*values)[0], c.dtype(0))}, {{"mode", "constant"}})};
}

Names concatenated(const ExportCall& c) {
  Names inputs;
  for (int i = 0; i < c.count(); ++i) inputs.push_back(c.as_result(i));
  return {c.node("Concat", inputs, {{"axis", c.axis()}})};
}

Names stacked(const ExportCall& c) {
  const std::int64_t given = c.integer("axis"), axis = given < 0 ? given + c.ndim(0) + 1 : given;
  Names inputs;
  for (int i = 0; i < c.count(); ++i)
    inputs.push_back(c.node("Unsqueeze", {c.as_result(i), c.constant(Integers{axis})}));
  return {c.node("Concat", inputs, {{"axis", axis}})};
}

Names split_by(const ExportCall& c) {
  const int axis = c.axis();
  if (const auto* parts = std::get_if<std::int64_t>(c.both("sections").first);
      parts && c.extents(0)[static_cast<std::size_t>(axis)].varies())
    return c.nodes("Split", {c.x(0)}, c.results(), {{"axis", axis}, {"num_outputs", c.integer("sections")}});
  const std::int64_t size = c.fixed(c.extents(0)[static_cast<std::size_t>(axis)], "the split size");
  Integers sizes;
  if (const auto* parts = std::get_if<std::int64_t>(c.both("sections").first)) {
    sizes.assign(static_cast<std::size_t>(*parts), size / *parts);
  } else {
    std::int64_t begin = 0;
    for (std::int64_t end : c.integers("sections")) {
      end = std::clamp(end < 0 ? end + size : end, begin, size);
      sizes.push_back(end - begin);
      begin = end;
    }
    sizes.push_back(size - begin);
  }
  return c.nodes("Split", {c.x(0), c.constant(sizes)}, c.results(), {{"axis", axis}});
}

Names separated(const ExportCall& c) {
  const int axis = c.axis();
  const std::int64_t size = c.fixed(c.extents(0)[static_cast<std::size_t>(axis)], "the number of results");
  Names all;
  for (std::int64_t i = 0; i < size; ++i)
    all.push_back(c.node("Gather", {c.x(0), c.number(static_cast<double>(i), Dtype::int64)}, {{"axis", axis}}));
  return all;
}

Names permuted(const ExportCall& c) {
  return {c.node("Gather", {c.x(0), c.constant(c.array("order").astype(Dtype::int64))}, {{"axis", c.axis()}})};
}

/// Picks the diagonal of the last two axes, as elements of one axis.
Names diagonal_of(const ExportCall& c) {
  const int n = c.ndim(0);
  const auto wrapped = [&](const char* name) { return c.integer(name) + (c.integer(name) < 0 ? n : 0); };
  const std::int64_t axis1 = wrapped("axis1"), axis2 = wrapped("axis2"), offset = c.integer("offset");
  Integers order;
  for (int i = 0; i < n; ++i)
    if (i != axis1 && i != axis2) order.push_back(i);
  order.insert(order.end(), {axis1, axis2});
  Extents from;
  for (const std::int64_t axis : order) from.push_back(c.extents(0)[static_cast<std::size_t>(axis)]);
  const std::int64_t rows = c.fixed(from[static_cast<std::size_t>(n - 2)], "the number of rows"),
                     columns = c.fixed(from[static_cast<std::size_t>(n - 1)], "the number of columns");
  Integers picked;
  for (std::int64_t row = std::max<std::int64_t>(-offset, 0); row < rows && row + offset < columns; ++row)
    picked.push_back(row * columns + row + offset);
  Extents flat(from.begin(), from.end() - 2);
  flat.push_back({rows * columns, rows * columns});
  const std::string x = c.reshape(c.transpose(c.x(0), order), from, flat);
  return {c.node("Gather", {x, c.constant(picked)}, {{"axis", n - 2}})};
}

/// Stacks sequences, with numbers behind the shorter ones.
Names padded_sequences(const ExportCall& c) {
  const Extent length = c.result()[1];
  Names rows;
  for (int i = 0; i < c.count(); ++i) {
    const Extent own = c.extents(i)[0];
    const std::int64_t more = c.fixed({length.first - own.first, length.second - own.second}, "the padding");
    std::string x = c.as_result(i);
    if (more > 0) {
      Integers pads(static_cast<std::size_t>(2 * c.ndim(i)), 0);
      pads[static_cast<std::size_t>(c.ndim(i))] = more;
      x = c.node("Pad", {x, c.constant(pads), c.number(c.real("padding"))}, {{"mode", "constant"}});
    }
    rows.push_back(c.node("Unsqueeze", {x, c.constant(Integers{0})}));
  }
  return {c.node("Concat", rows, {{"axis", 0}})};
}

constexpr ExportRow kShape[] = {
    {"ArgMax", nullptr, position<kArgMax>},
    {"ArgMin", nullptr, position<kArgMin>},
    {"BroadcastTo", nullptr, broadcast},
    {"Concat", nullptr, concatenated},
    {"Cumsum", nullptr, cumulative_sum},
    {"Diagonal", nullptr, diagonal_of},
    {"Flip", nullptr, flipped_axis},
    {"GetItem", nullptr, indexed},
    {"LogSumExp", nullptr, [](const ExportCall& c) { return reduced(c, "ReduceLogSumExp", false); }},
    {"Max", nullptr, reduced<kMax>},
    {"Mean", nullptr, reduced<kMean>},
    {"Min", nullptr, reduced<kMin>},
    {"Pad", nullptr, padded_by},
    {"PadSequence", nullptr, padded_sequences},
    {"Permutate", nullptr, permuted},
    {"Prod", nullptr, reduced<kProd>},
    {"Repeat", nullptr, repeated},
    {"Reshape", nullptr, reshaped},
    {"Separate", nullptr, separated},
    {"SplitAxis", nullptr, split_by},
    {"Stack", nullptr, stacked},
    {"Sum", nullptr, reduced<kSum>},
    {"SumTo", nullptr, summed_to},
    {"Tile", nullptr, tiled},
    {"Transpose", nullptr, transposed},
};

}  // namespace

std::span<const ExportRow> exported_shape() { return kShape; }

}  // namespace catenary::onnx::exporting
