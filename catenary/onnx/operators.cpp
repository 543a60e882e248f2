#include "catenary/onnx/operators.h"

#include <algorithm>
#include <map>

#include "catenary/core/config.h"
#include "catenary/device/allocation_limit.h"

namespace catenary::onnx {

Array Kept::get(int key, const Device& device, const std::function<Array()>& compute) {
  const std::scoped_lock lock(mutex_);
  for (const Entry& entry : entries_)
    if (entry.key == key && entry.device == device) return entry.array;
  const auto no_graph = no_backprop_mode();
  Array array = compute();
  if (array.defined()) array.eval();
  return entries_.emplace_back(Entry{key, device, std::move(array)}).array;
}

Call::Call(const Node& node, std::int64_t opset, Values inputs, const Device& device, RunBody run_body, Kept* kept)
    : node_(node),
      opset_(opset),
      inputs_(std::move(inputs)),
      run_body_(std::move(run_body)),
      kept_(kept),
      asked_(node.attributes.size()) {
  const auto on_device = [&](const Value& v) { return v.is_on(device); };
  if (std::any_of(inputs_.begin(), inputs_.end(), on_device)) device_ = device;
}

bool Call::wants(int i) const { return i < outputs() && !node_.outputs[static_cast<std::size_t>(i)].empty(); }

const Value& Call::value(int i) const {
  if (!has(i)) fail("input {} is missing", i);
  return inputs_[static_cast<std::size_t>(i)];
}

bool Call::are_constant(std::initializer_list<int> inputs) const {
  return std::ranges::all_of(inputs, [&](int i) { return !has(i) || value(i).is_constant(); });
}

Array Call::kept(int key, std::initializer_list<int> inputs, const std::function<Array()>& compute) const {
  return kept_ && are_constant(inputs) ? kept_->get(key, device_, compute) : compute();
}

Variable Call::x(int i) const {
  const Value& given = value(i);
  if (given.is_sequence()) fail("input {} is a sequence, where an array is needed", i);
  return given.on(device_);
}

std::optional<Integers> Call::integers(int i) const {
  if (!has(i)) return {};
  const Array& a = value(i).array();
  if (!is_integer(a.dtype()) && a.dtype() != Dtype::bool_)
    fail("input {} has {} where integers are needed", i, a.dtype());
  return a.to_vector<std::int64_t>();
}

const Attribute* Call::find(const char* name) const {
  for (std::size_t i = 0; i < asked_.size(); ++i)
    if (node_.attributes[i].name == name) {
      asked_[i] = true;
      return &node_.attributes[i];
    }
  return nullptr;
}

namespace {

/// AttributeProto.AttributeType
enum AttributeType : int { kReal = 1, kInteger = 2, kText = 3, kGraph = 5, kReals = 6, kIntegers = 7 };

const Attribute* typed(const Call& call, const char* name, AttributeType type, bool required) {
  const Attribute* a = call.find(name);
  if (!a && required) call.fail("attribute '{}' is missing", name);
  if (a && a->type != type) call.fail("attribute '{}' has another type than ONNX gives it", name);
  return a;
}

/// Throws ValueError for numbers with which the arithmetic of operators could overflow.
void check_range(const Call& call, const Attribute* a) {
  static constexpr std::string_view kWide[] = {"value_int", "value_ints", "starts", "ends", "start", "end"};
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (!a || std::ranges::count(kWide, a->name)) return;
  const auto check = [&](std::int64_t n) {
    if (n < -kMost || n > kMost) call.fail("attribute '{}' has {}, which is out of range", a->name, n);
  };
  check(a->integer);
  std::ranges::for_each(a->integers, check);
}

}  // namespace

std::int64_t Call::integer(const char* name, std::optional<std::int64_t> otherwise) const {
  const Attribute* a = typed(*this, name, kInteger, !otherwise);
  check_range(*this, a);
  return a ? a->integer : *otherwise;
}
double Call::real(const char* name, std::optional<double> otherwise) const {
  const Attribute* a = typed(*this, name, kReal, !otherwise);
  return a ? static_cast<double>(a->real) : *otherwise;
}
std::string Call::text(const char* name, const std::optional<std::string>& otherwise) const {
  const Attribute* a = typed(*this, name, kText, !otherwise);
  return a ? a->text : *otherwise;
}
std::optional<Integers> Call::list(const char* name) const {
  const Attribute* a = typed(*this, name, kIntegers, false);
  check_range(*this, a);
  return a ? std::optional(a->integers) : std::nullopt;
}
std::optional<std::vector<float>> Call::reals(const char* name) const {
  const Attribute* a = typed(*this, name, kReals, false);
  return a ? std::optional(a->reals) : std::nullopt;
}

std::optional<Integers> Call::axes(int i, std::int64_t since, const char* name) const {
  return opset_ >= since ? integers(i) : list(name);
}

const Graph& Call::graph(const char* name) const {
  const Attribute* a = typed(*this, name, kGraph, true);
  if (!a->graph) fail("attribute '{}' is not a graph", name);
  return *a->graph;
}

void Call::refuse_other_attributes() const {
  for (std::size_t i = 0; i < asked_.size(); ++i)
    if (!asked_[i]) fail("attribute '{}' is not known", node_.attributes[i].name);
}

void check_count(double count) {
  constexpr double kMost = 1e15;
  AllocationLimit::check(static_cast<std::uint64_t>(std::clamp(count, 0.0, kMost) * sizeof(std::int64_t)));
}

void check_arrays(std::int64_t count) {
  constexpr double kNumbers = 64;  // as large as an array without elements
  check_count(static_cast<double>(count) * kNumbers);
}

Dtype dtype_to(const Call& call, std::int64_t type) {
  const std::optional<Dtype> dtype = dtype_of_type(static_cast<int>(type));
  if (!dtype) call.fail("{} is not supported", name_of_type(static_cast<int>(type)));
  return *dtype;
}

int axis_of(const Call& call, std::int64_t axis, int ndim) {
  if (axis < -ndim || axis >= ndim) call.fail("axis {} is out of range for an array with {} axes", axis, ndim);
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

AxisArg axes_from(int first, int ndim) {
  Axes axes;
  for (int i = first; i < ndim; ++i) axes.push_back(i);
  return AxisArg(axes);
}

Shape shape_along(int ndim, int axis, std::int64_t size) {
  Shape shape;
  for (int i = 0; i < ndim; ++i) shape.push_back(i == axis ? size : 1);
  return shape;
}

Variable as_rows(const Variable& x, int axis) {
  const std::int64_t rows = Shape(x.shape().data(), axis).product();
  return F::reshape(x, {rows, rows ? x.size() / rows : 0});
}

std::vector<Index> along(int axis, const Index& index) {
  std::vector<Index> all(static_cast<std::size_t>(axis), Index(slice()));
  all.push_back(index);
  return all;
}

const Operator* find_operator(const std::string& domain, const std::string& name, std::int64_t opset) {
  using Key = std::pair<std::string, std::string>;
  static const auto table = [] {
    std::map<Key, std::vector<const Operator*>> rows;
    for (const Operator* row : all_operators()) rows[{row->domain, row->name}].push_back(row);
    return rows;
  }();
  const auto found = table.find({domain, name});
  const Operator* best = nullptr;
  if (found == table.end()) return best;
  for (const Operator* row : found->second)
    if (row->since <= opset && (!best || row->since > best->since)) best = row;
  return best;
}

std::vector<const Operator*> all_operators() {
  std::vector<const Operator*> rows;
  for (const auto family : {elementwise_operators(),
                            shape_operators(),
                            index_operators(),
                            layer_operators(),
                            pooling_operators(),
                            reduction_operators(),
                            recurrent_operators(),
                            resize_operators(),
                            quantised_operators(),
                            loss_operators(),
                            control_operators(),
                            roi_operators(),
                            sampling_operators(),
                            training_operators(),
                            signal_operators(),
                            random_operators(),
                            attention_operators(),
                            microsoft_operators(),
                            microsoft_attention_operators(),
                            microsoft_quantised_operators(),
                            sequence_operators(),
                            early_operators()})
    for (const Operator& row : family) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Operator* a, const Operator* b) { return std::string(a->name) < b->name; });
  return rows;
}

}  // namespace catenary::onnx
