#pragma once
// Interprets cuDNN's graphs of attention, in three parts:
//   - descriptors with their attributes, which check types, counts, required attributes, shapes, strides and alignment
//     as strictly as NVIDIA's documentation says
//   - the two patterns of operations that the fused engines support
//   - the computation on the host, in doubles that are rounded to the dtype of each array
//
// SIMGPU_DNN is a list of faults. sdpa-new, sdpa-set, sdpa-finalize, sdpa-heuristic, sdpa-plan, sdpa-pack,
// sdpa-execute: that call fails. sdpa-unknown: no engine supports a graph. sdpa-large: engines need a workspace of 1
// GiB.

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "tests/simgpu/dnn/convolution.h"

namespace simgpu_dnn::graph {

constexpr int kSuccess = 0, kNotInitialized = 1001, kBadParam = 2000, kNullPointer = 2002, kMisaligned = 2003,
              kNotFinalized = 2004, kOutOfBound = 2005, kTooSmall = 2006, kShapeMismatch = 2008, kDuplicate = 2009,
              kAttributeType = 2010, kDescriptorType = 2012, kNotSupported = 3000, kUnknownPattern = 3001,
              kUnknownShape = 3002, kUnknownType = 3003, kUnknownLayout = 3004, kInternalError = 4000,
              kExecutionFailed = 5000;

// Types of descriptors.
constexpr int kPointwise = 0, kEngine = 2, kConfig = 3, kHeuristic = 4, kPlan = 5, kPointwiseOp = 13, kGraph = 15,
              kPack = 16, kTensor = 17, kMatmul = 18, kMatmulOp = 19, kReduction = 21, kReductionOp = 22,
              kReshapeOp = 31;
// Types of attributes.
constexpr int kHandle = 0, kDataType = 1, kBoolean = 2, kInt64 = 3, kDouble = 5, kPointer = 6, kHeuristicMode = 8,
              kNote = 11, kPointwiseMode = 14, kDescriptor = 15, kOperator = 18;

inline std::size_t size_of_attribute(int type) {
  return type == kBoolean                                                                                  ? 1
         : type == kHandle || type == kInt64 || type == kDouble || type == kPointer || type == kDescriptor ? 8
                                                                                                           : 4;
}

/// An attribute of a type of descriptor: its type, the least and most elements, whether it is required, and, if it is a
/// descriptor, the type of that descriptor (-1: an operation).
struct Attribute {
  int type;
  std::int64_t least, most;
  bool required;
  int of = -2;
};
inline const std::map<int, std::map<int, Attribute>>& attributes() {
  static const std::map<int, std::map<int, Attribute>> all = {
      {kPointwise, {{0, {kPointwiseMode, 1, 1, true}}, {1, {kDataType, 1, 1, true}}, {9, {kInt64, 1, 1, false}}}},
      {kHeuristic, {{200, {kHeuristicMode, 1, 1, true}}, {201, {kDescriptor, 1, 1, true, kGraph}}}},
      {kEngine, {}},
      {kConfig, {{300, {kDescriptor, 1, 1, true, kEngine}}}},
      {kPlan, {{400, {kHandle, 1, 1, false}}, {401, {kDescriptor, 1, 1, true, kConfig}}}},
      {kPointwiseOp,
       {{750, {kDescriptor, 1, 1, true, kPointwise}},
        {751, {kDescriptor, 1, 1, true, kTensor}},
        {752, {kDescriptor, 1, 1, false, kTensor}},
        {753, {kDescriptor, 1, 1, true, kTensor}},
        {758, {kDescriptor, 1, 1, false, kTensor}}}},
      {kGraph, {{800, {kHandle, 1, 1, true}}, {801, {kDescriptor, 1, 64, true, -1}}}},
      {kTensor,
       {{900, {kInt64, 1, 1, true}},
        {901, {kDataType, 1, 1, true}},
        {902, {kInt64, 1, 8, true}},
        {903, {kInt64, 1, 8, true}},
        {906, {kInt64, 1, 1, true}},
        {907, {kBoolean, 1, 1, false}},
        {908, {kBoolean, 1, 1, false}}}},
      {kPack, {{1000, {kInt64, 1, 64, true}}, {1001, {kPointer, 1, 64, true}}, {1003, {kPointer, 1, 1, true}}}},
      {kMatmul, {{1500, {kDataType, 1, 1, true}}, {1503, {kDouble, 1, 1, false}}}},
      {kMatmulOp,
       {{1520, {kDescriptor, 1, 1, true, kTensor}},
        {1521, {kDescriptor, 1, 1, true, kTensor}},
        {1522, {kDescriptor, 1, 1, true, kTensor}},
        {1523, {kDescriptor, 1, 1, true, kMatmul}}}},
      {kReduction, {{1600, {kOperator, 1, 1, true}}, {1601, {kDataType, 1, 1, true}}}},
      {kReductionOp,
       {{1610, {kDescriptor, 1, 1, true, kTensor}},
        {1611, {kDescriptor, 1, 1, true, kTensor}},
        {1612, {kDescriptor, 1, 1, true, kReduction}}}},
      {kReshapeOp, {{2200, {kDescriptor, 1, 1, true, kTensor}}, {2201, {kDescriptor, 1, 1, true, kTensor}}}}};
  return all;
}

struct Descriptor;
using Pointer = std::shared_ptr<Descriptor>;

struct Descriptor {
  int kind = 0;
  bool finalized = false;
  std::map<int, std::vector<char>> bytes;
  std::map<int, std::vector<Pointer>> parts;
  int engine = 0;  // the number of an engine

  bool has(int name) const { return bytes.contains(name) || parts.contains(name); }
  template <class T>
  std::vector<T> list(int name) const {
    const auto found = bytes.find(name);
    if (found == bytes.end()) return {};
    std::vector<T> values(found->second.size() / sizeof(T));
    std::memcpy(values.data(), found->second.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T>
  T one(int name, T otherwise = {}) const {
    const auto found = bytes.find(name);
    if (found != bytes.end()) std::memcpy(&otherwise, found->second.data(), sizeof(T));
    return otherwise;
  }
  const Descriptor& part(int name) const { return *parts.at(name)[0]; }
  const Descriptor* part_or_null(int name) const { return has(name) ? &part(name) : nullptr; }

  // attributes of a tensor
  std::int64_t id() const { return one<std::int64_t>(906); }
  int type() const { return one<int>(901); }
  std::vector<std::int64_t> shape() const { return list<std::int64_t>(902); }
  std::vector<std::int64_t> strides() const { return list<std::int64_t>(903); }
  bool is_virtual() const { return one<bool>(907); }
  bool is_scalar() const { return one<bool>(908); }
};

/// The object that a caller's handle points to.
struct Holder {
  std::uint64_t magic = 0x64e5c;
  Pointer descriptor;
};
inline Pointer descriptor_of(Handle handle) {
  Holder* const holder = as<Holder>(handle);
  return holder ? holder->descriptor : nullptr;
}

constexpr int kF32 = 0, kF16 = 2, kI32 = 4, kBf16 = 9, kBool = 11;  // cudnnDataType_t
inline bool is_16bit(int type) { return type == kF16 || type == kBf16; }
inline std::int64_t bytes_of(int type) { return is_16bit(type) ? 2 : type == kBool ? 1 : 4; }
inline double rounded(double x, int type) {
  if (type == kI32) return std::trunc(x);
  if (type == kBool) return x != 0;
  std::uint64_t room = 0;
  const Type as_type = type == kF32 ? Type::f32 : type == kF16 ? Type::f16 : Type::bf16;
  store(&room, 0, as_type, x);
  return load(&room, 0, as_type);
}
inline double read(const void* from, std::int64_t at, int type) {
  if (type == kI32) return static_cast<const std::int32_t*>(from)[at];
  return load(from, at, type == kF32 ? Type::f32 : type == kF16 ? Type::f16 : Type::bf16);
}

// An operation: its name and its arrays.
struct Operation {
  std::string name;
  std::vector<const Descriptor*> inputs;
  const Descriptor* output = nullptr;
  std::int64_t axis = 0;
};
inline std::string pointwise_name(int mode) {
  static const std::map<int, std::string> names = {{0, "add"},  {1, "mul"},     {6, "div"},       {9, "sub"},
                                                   {13, "exp"}, {15, "log"},    {21, "identity"}, {302, "gt"},
                                                   {303, "ge"}, {501, "index"}, {601, "select"}};
  const auto found = names.find(mode);
  return found == names.end() ? "" : found->second;
}
inline Operation operation_of(const Descriptor& d) {
  Operation o;
  if (d.kind == kMatmulOp) {
    o = {"matmul", {&d.part(1520), &d.part(1521)}, &d.part(1522)};
  } else if (d.kind == kReductionOp) {
    o = {d.part(1612).one<int>(1600) == 3 ? "max" : "sum", {&d.part(1610)}, &d.part(1611)};
  } else if (d.kind == kReshapeOp) {
    o = {"reshape", {&d.part(2200)}, &d.part(2201)};
  } else {
    o = {pointwise_name(d.part(750).one<int>(0)), {&d.part(751)}, &d.part(753)};
    for (const int name : {752, 758})
      if (const Descriptor* more = d.part_or_null(name)) o.inputs.push_back(more);
    o.axis = d.part(750).one<std::int64_t>(9, -1);
  }
  return o;
}

inline std::int64_t product(const std::vector<std::int64_t>& shape) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

// Checks that run when a descriptor is finalized.
inline int check_tensor(const Descriptor& d) {
  const auto shape = d.shape(), strides = d.strides();
  const auto alignment = d.one<std::int64_t>(900);
  if (shape.size() != strides.size() || shape.size() < 3) return kBadParam;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < 1 || strides[i] < 1) return kBadParam;
  if (alignment < 1 || (alignment & (alignment - 1)) != 0 || alignment % bytes_of(d.type()) != 0) return kBadParam;
  const int type = d.type();
  if (type != kF32 && type != kI32 && type != kBool && !is_16bit(type)) return kNotSupported;
  if (d.is_virtual() && d.is_scalar()) return kBadParam;
  if (d.is_scalar() && product(shape) != 1) return kBadParam;
  return kSuccess;
}
inline bool broadcasts(const Descriptor& from, const Descriptor& to) {
  const auto a = from.shape(), b = to.shape();
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && a[i] != 1) return false;
  return true;
}
inline int check_pointwise(const Descriptor& d) {
  const Operation o = operation_of(d);
  const int precision = d.part(750).one<int>(1), type = o.output->type();
  if (o.name.empty()) return kNotSupported;
  const bool unary = o.name == "exp" || o.name == "log" || o.name == "identity" || o.name == "index";
  if (o.inputs.size() != (unary ? 1u : o.name == "select" ? 3u : 2u)) return kBadParam;
  if (d.has(758) != (o.name == "select")) return kBadParam;
  for (const Descriptor* input : o.inputs)
    if (!broadcasts(*input, *o.output)) return kShapeMismatch;
  const bool compares = o.name == "ge" || o.name == "gt";
  if (compares != (type == kBool) || compares != (precision == kBool)) return kUnknownType;
  if (o.name == "index" &&
      (o.axis < 0 || o.axis >= static_cast<std::int64_t>(o.output->shape().size()) || type != kI32))
    return kBadParam;
  if (o.name == "select" && o.inputs[2]->type() != kBool) return kUnknownType;
  if (!compares && o.name != "index" && type == kI32 && precision != kI32) return kUnknownType;
  return kSuccess;
}
inline int check_matmul(const Descriptor& d) {
  const auto a = d.part(1520).shape(), b = d.part(1521).shape(), c = d.part(1522).shape();
  if (a.size() != 4 || b.size() != 4 || c.size() != 4) return kShapeMismatch;
  if (d.part(1523).one<int>(1500) != kF32) return kUnknownType;
  if (a[0] != b[0] || a[0] != c[0] || a[1] != c[1] || a[1] % b[1] != 0) return kShapeMismatch;
  if (a[2] != c[2] || a[3] != b[2] || b[3] != c[3]) return kShapeMismatch;
  return kSuccess;
}
inline int check_reduction(const Descriptor& d) {
  const auto x = d.part(1610).shape(), y = d.part(1611).shape();
  const int op = d.part(1612).one<int>(1600);
  if ((op != 0 && op != 3) || d.part(1612).one<int>(1601) != kF32) return kNotSupported;
  if (x.size() != 4 || y.size() != 4 || x == y) return kShapeMismatch;
  for (std::size_t i = 0; i < 4; ++i)
    if (x[i] != y[i] && y[i] != 1 && (i != 1 || x[i] % y[i] != 0)) return kShapeMismatch;
  return kSuccess;
}
inline std::vector<Operation> operations_of(const Descriptor& graph) {
  std::vector<Operation> all;
  for (const Pointer& part : graph.parts.at(801)) all.push_back(operation_of(*part));
  return all;
}
inline int check_graph(const Descriptor& d, bool (*is_handle)(Handle)) {
  if (!is_handle(d.one<Handle>(800))) return kNotInitialized;
  std::map<std::int64_t, const Descriptor*> known;
  std::set<std::int64_t> written, read;
  for (const Operation& o : operations_of(d)) {
    for (const Descriptor* input : o.inputs) {
      const auto [place, is_new] = known.emplace(input->id(), input);
      if (place->second != input) return kDuplicate;
      if (input->is_virtual() && !written.contains(input->id())) return kBadParam;  // no operation writes it
      read.insert(input->id());
    }
    const auto [place, is_new] = known.emplace(o.output->id(), o.output);
    if (place->second != o.output || !written.insert(o.output->id()).second) return kDuplicate;
    if (!is_new || o.output->is_scalar()) return kBadParam;  // it was read before it was written
  }
  for (const auto& [id, tensor] : known)
    if (tensor->is_virtual() && !read.contains(id)) return kBadParam;  // no operation reads it
  return kSuccess;
}

/// Checks whether the fused engines support the graph. They support two patterns, and 16-bit arrays with heads of 8 to
/// 128 in the required layouts.
inline int check_support(const Descriptor& graph) {
  if (fault("sdpa-unknown")) return kUnknownPattern;
  const std::vector<Operation> all = operations_of(graph);
  std::string pattern;
  for (const Operation& o : all) pattern += o.name + " ";
  const std::string mask = "(index index (add sub )?ge select )?(index index add gt select )?";
  static const std::regex forward("matmul mul " + mask + "max sub exp sum log add div matmul "),
      backward("mul sum mul matmul mul sub " + mask +
               "exp reshape matmul (sum )?matmul sub mul mul reshape matmul (sum )?reshape matmul (identity )?");
  if (!std::regex_match(pattern, forward) && !std::regex_match(pattern, backward)) return kUnknownPattern;
  int type = -1;
  for (const Operation& o : all) {
    for (const Descriptor* t : {o.inputs[0], o.name == "matmul" ? o.inputs[1] : o.output}) {
      if (t->is_virtual() || t->is_scalar() || !is_16bit(t->type())) continue;
      if (type == -1) type = t->type();
      if (t->type() != type) return kUnknownType;
      const auto shape = t->shape(), strides = t->strides();
      const std::size_t unit = strides[3] == 1 && shape[3] % 8 == 0 ? 3 : 2;  // rows, or transposed rows
      if (strides[unit] != 1) return kUnknownLayout;
      if (shape[unit] % 8 != 0 || shape[unit] > 128) return kUnknownShape;
      for (std::size_t i = 0; i < 4; ++i)
        if (i != unit && strides[i] % 8 != 0) return kUnknownLayout;
      if (t->one<std::int64_t>(900) < 16) return kUnknownLayout;
    }
    if (o.name != "matmul") continue;
    // the second operand of a product is an array in memory or the transpose of such an array
    if (!is_16bit(o.inputs[1]->type()) || (!is_16bit(o.inputs[0]->type()) && !o.inputs[0]->is_virtual()))
      return kUnknownType;
  }
  return type == -1 ? kUnknownType : kSuccess;
}

inline bool has_gradient(const Descriptor& graph) {
  const std::vector<Operation> all = operations_of(graph);
  return std::count_if(all.begin(), all.end(), [](const Operation& o) { return o.name == "matmul"; }) == 5;
}

// The fastest engine for a gradient has no fixed order of sums. The next engine cannot be compiled.
constexpr int kAnyOrder = 5, kBroken = 6, kGood = 8;
inline std::vector<int> engines_for(const Descriptor& graph) {
  return has_gradient(graph) ? std::vector<int>{kAnyOrder, kBroken, kGood} : std::vector<int>{kBroken, kGood};
}
inline std::int64_t workspace_of(int engine) {
  return fault("sdpa-large") ? std::int64_t{1} << 30 : engine == kGood ? 4096 : 0;
}

/// Runs the operations in order.
class Computation {
 public:
  Computation(Pointer graph, std::map<std::int64_t, void*> addresses, std::map<std::int64_t, double> scalars)
      : graph_(std::move(graph)), addresses_(std::move(addresses)), scalars_(std::move(scalars)) {}

  void run() {
    for (const Operation& o : operations_of(*graph_)) {
      std::vector<double> y(static_cast<std::size_t>(product(o.output->shape())));
      if (o.name == "matmul") {
        matmul(o, y);
      } else if (o.name == "max" || o.name == "sum") {
        reduce(o, y);
      } else if (o.name == "reshape") {
        reshape(o, y);
      } else {
        pointwise(o, y);
      }
      for (double& value : y) value = rounded(value, o.output->type());
      if (!o.output->is_virtual()) write(*o.output, y);
      values_[o.output->id()] = std::move(y);
    }
  }

 private:
  using Index = std::vector<std::int64_t>;

  template <class F>
  static void each(const Index& shape, const F& f) {
    Index at(shape.size());
    for (std::int64_t n = 0, size = product(shape); n < size; ++n) {
      f(n, at);
      for (std::size_t axis = shape.size(); axis-- > 0 && ++at[axis] == shape[axis];) at[axis] = 0;
    }
  }
  static std::int64_t place(const Index& at, const Index& strides) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < at.size(); ++i) sum += at[i] * strides[i];
    return sum;
  }
  /// Returns the index in C order, where axes of size 1 broadcast.
  static std::int64_t number(const Index& at, const Index& shape) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < at.size(); ++i) sum = sum * shape[i] + (shape[i] == 1 ? 0 : at[i]);
    return sum;
  }

  const std::vector<double>& values(const Descriptor& t) {
    const auto known = values_.find(t.id());
    if (known != values_.end()) return known->second;
    std::vector<double>& made = values_[t.id()];
    made.resize(static_cast<std::size_t>(product(t.shape())));
    if (t.is_scalar()) {
      made[0] = scalars_.at(t.id());
    } else {
      const Index strides = t.strides();
      each(t.shape(), [&](std::int64_t n, const Index& at) {
        made[static_cast<std::size_t>(n)] = read(addresses_.at(t.id()), place(at, strides), t.type());
      });
    }
    return made;
  }
  void write(const Descriptor& t, const std::vector<double>& y) {
    const Index strides = t.strides();
    const Type type = t.type() == kF32 ? Type::f32 : t.type() == kF16 ? Type::f16 : Type::bf16;
    each(t.shape(), [&](std::int64_t n, const Index& at) {
      store(addresses_.at(t.id()), place(at, strides), type, y[static_cast<std::size_t>(n)]);
    });
  }

  void matmul(const Operation& o, std::vector<double>& y) {
    const std::vector<double>&a = values(*o.inputs[0]), &b = values(*o.inputs[1]);
    const Index as = o.inputs[0]->shape(), bs = o.inputs[1]->shape();
    const std::int64_t m = as[2], k = as[3], n = bs[3], sharing = as[1] / bs[1];
    for (std::int64_t i = 0; i < as[0] * as[1]; ++i) {
      const double* const x = &a[static_cast<std::size_t>(i * m * k)];
      const double* const w = &b[static_cast<std::size_t>((i / as[1] * bs[1] + i % as[1] / sharing) * k * n)];
      double* const to = &y[static_cast<std::size_t>(i * m * n)];
      for (std::int64_t row = 0; row < m; ++row)
        for (std::int64_t l = 0; l < k; ++l)
          for (std::int64_t column = 0; column < n; ++column)
            to[row * n + column] += x[row * k + l] * w[l * n + column];
    }
  }
  void reduce(const Operation& o, std::vector<double>& y) {
    const std::vector<double>& x = values(*o.inputs[0]);
    const Index from = o.inputs[0]->shape(), to = o.output->shape();
    const bool is_max = o.name == "max";
    std::fill(y.begin(), y.end(), is_max ? -std::numeric_limits<double>::infinity() : 0);
    each(from, [&](std::int64_t n, Index at) {
      at[1] /= from[1] / to[1];  // sums over heads that share keys
      double& sum = y[static_cast<std::size_t>(number(at, to))];
      const double value = x[static_cast<std::size_t>(n)];
      sum = is_max ? std::fmax(sum, value) : sum + value;
    });
  }
  /// Reads the same memory with other strides.
  void reshape(const Operation& o, std::vector<double>& y) {
    const std::vector<double>& x = values(*o.inputs[0]);
    const Index from = o.inputs[0]->strides(), to = o.output->strides();
    std::map<std::int64_t, double> memory;
    each(o.inputs[0]->shape(),
         [&](std::int64_t n, const Index& at) { memory[place(at, from)] = x[static_cast<std::size_t>(n)]; });
    each(o.output->shape(),
         [&](std::int64_t n, const Index& at) { y[static_cast<std::size_t>(n)] = memory.at(place(at, to)); });
  }
  void pointwise(const Operation& o, std::vector<double>& y) {
    std::vector<const std::vector<double>*> inputs;
    std::vector<Index> shapes;
    for (const Descriptor* input : o.inputs) {
      values(*input);
      shapes.push_back(input->shape());
    }
    for (const Descriptor* input : o.inputs) inputs.push_back(&values(*input));
    each(o.output->shape(), [&](std::int64_t n, const Index& at) {
      const auto in = [&](std::size_t i) { return (*inputs[i])[static_cast<std::size_t>(number(at, shapes[i]))]; };
      y[static_cast<std::size_t>(n)] = o.name == "index"    ? static_cast<double>(at[static_cast<std::size_t>(o.axis)])
                                       : o.name == "add"    ? in(0) + in(1)
                                       : o.name == "sub"    ? in(0) - in(1)
                                       : o.name == "mul"    ? in(0) * in(1)
                                       : o.name == "div"    ? in(0) / in(1)
                                       : o.name == "exp"    ? std::exp(in(0))
                                       : o.name == "log"    ? std::log(in(0))
                                       : o.name == "ge"     ? in(0) >= in(1)
                                       : o.name == "gt"     ? in(0) > in(1)
                                       : o.name == "select" ? in(2) != 0 ? in(0) : in(1)
                                                            : in(0);
    });
  }

  const Pointer graph_;
  const std::map<std::int64_t, void*> addresses_;
  const std::map<std::int64_t, double> scalars_;
  std::map<std::int64_t, std::vector<double>> values_;
};

inline int create(int kind, Handle* made) {
  if (!made) return kNullPointer;
  if (fault("sdpa-new")) return kInternalError;
  if (!attributes().contains(kind)) return kNotSupported;
  auto* const holder = new Holder;
  holder->descriptor = std::make_shared<Descriptor>();
  holder->descriptor->kind = kind;
  *made = holder;
  return kSuccess;
}
inline int destroy(Handle handle) {
  Holder* const holder = as<Holder>(handle);
  if (!holder) return kBadParam;
  holder->magic = 0;
  delete holder;
  return kSuccess;
}

inline int set(Handle handle, int name, int type, std::int64_t count, const void* values) {
  const Pointer d = descriptor_of(handle);
  if (!d) return kBadParam;
  if (fault("sdpa-set")) return kInternalError;
  if (d->finalized) return kNotInitialized;
  if (d->kind == kEngine || d->kind == kConfig) return kNotSupported;  // only the heuristic makes these
  const auto& known = attributes().at(d->kind);
  const auto found = known.find(name);
  if (found == known.end()) return kBadParam;
  const Attribute& attribute = found->second;
  if (type != attribute.type) return kAttributeType;
  if (count < attribute.least || count > attribute.most) return kBadParam;
  if (!values) return kNullPointer;
  if (type != kDescriptor) {
    const auto* const first = static_cast<const char*>(values);
    d->bytes[name].assign(first, first + static_cast<std::size_t>(count) * size_of_attribute(type));
    return kSuccess;
  }
  std::vector<Pointer> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    const Pointer part = descriptor_of(static_cast<const Handle*>(values)[i]);
    if (!part) return kBadParam;
    if (!part->finalized) return kNotFinalized;
    const bool is_operation =
        part->kind == kPointwiseOp || part->kind == kMatmulOp || part->kind == kReductionOp || part->kind == kReshapeOp;
    if (attribute.of == -1 ? !is_operation : part->kind != attribute.of) return kDescriptorType;
    parts.push_back(part);
  }
  d->parts[name] = std::move(parts);
  return kSuccess;
}

inline int finalize(Handle handle, bool (*is_handle)(Handle)) {
  const Pointer d = descriptor_of(handle);
  if (!d) return kBadParam;
  if (fault("sdpa-finalize")) return kInternalError;
  for (const auto& [name, attribute] : attributes().at(d->kind))
    if (attribute.required && !d->has(name)) return kBadParam;
  int status = kSuccess;
  switch (d->kind) {
    case kTensor:
      status = check_tensor(*d);
      break;
    case kPointwiseOp:
      status = check_pointwise(*d);
      break;
    case kMatmulOp:
      status = check_matmul(*d);
      break;
    case kReductionOp:
      status = check_reduction(*d);
      break;
    case kReshapeOp:
      status = product(d->part(2200).shape()) == product(d->part(2201).shape()) ? kSuccess : kShapeMismatch;
      break;
    case kGraph:
      status = check_graph(*d, is_handle);
      break;
    case kHeuristic:
      if (fault("sdpa-heuristic")) return kInternalError;
      status = d->one<int>(200) == 3 ? check_support(d->part(201)) : kNotSupported;
      break;
    case kPlan:
      if (fault("sdpa-plan")) return kInternalError;
      if (!is_handle(d->one<Handle>(400))) return kNotInitialized;
      status = d->part(401).part(300).engine == kBroken ? kNotSupported : kSuccess;
      break;
    case kPack: {
      if (fault("sdpa-pack")) return kInternalError;
      const auto ids = d->list<std::int64_t>(1000);
      if (ids.size() != d->list<void*>(1001).size()) return kBadParam;
      if (std::set<std::int64_t>(ids.begin(), ids.end()).size() != ids.size()) return kDuplicate;
      break;
    }
    default:
      break;
  }
  d->finalized = status == kSuccess;
  return status;
}

inline int get(Handle handle, int name, int type, std::int64_t wanted, std::int64_t* count, void* values) {
  const Pointer d = descriptor_of(handle);
  if (!d || !count || wanted < 0 || (wanted > 0 && !values)) return kBadParam;
  if (!d->finalized) return kNotInitialized;
  const auto give = [&]<class T>(int wanted_type, const std::vector<T>& list) {
    if (type != wanted_type) return kAttributeType;
    *count = std::min<std::int64_t>(wanted ? wanted : std::ssize(list), std::ssize(list));
    if (wanted > 0) std::copy(list.begin(), list.begin() + *count, static_cast<T*>(values));
    return kSuccess;
  };
  if (d->kind == kHeuristic && name == 202) {
    if (type != kDescriptor) return kAttributeType;
    const std::vector<int> engines = engines_for(d->part(201));
    *count = wanted ? std::min(wanted, std::ssize(engines)) : std::ssize(engines);
    for (std::int64_t i = 0; i < std::min(wanted, *count); ++i) {
      const Pointer config = descriptor_of(static_cast<Handle*>(values)[i]);
      if (!config || config->kind != kConfig || config->finalized) return kDescriptorType;
      const auto engine = std::make_shared<Descriptor>();
      engine->kind = kEngine;
      engine->engine = engines[static_cast<std::size_t>(i)];
      engine->parts[1300] = d->parts.at(201);
      engine->finalized = config->finalized = true;
      config->parts[300] = {engine};
    }
    return kSuccess;
  }
  if (d->kind == kConfig && name == 300) {
    if (type != kDescriptor) return kAttributeType;
    const Pointer into = wanted == 1 ? descriptor_of(*static_cast<Handle*>(values)) : nullptr;
    if (!into || into->kind != kEngine || into->finalized) return kDescriptorType;
    *into = d->part(300);
    *count = 1;
    return kSuccess;
  }
  if (d->kind == kEngine && name == 1301) return give(kInt64, std::vector<std::int64_t>{d->engine});
  if (d->kind == kEngine && name == 1303)
    return give(kNote, d->engine == kAnyOrder ? std::vector<int>{0, 4} : std::vector<int>{0});
  if (d->kind == kPlan && name == 402)
    return give(kInt64, std::vector<std::int64_t>{workspace_of(d->part(401).part(300).engine)});
  return kNotSupported;
}

inline int execute(Handle stream, Handle plan_handle, Handle pack_handle) {
  const Pointer plan = descriptor_of(plan_handle), pack = descriptor_of(pack_handle);
  if (!plan || !pack || plan->kind != kPlan || pack->kind != kPack) return kDescriptorType;
  if (!plan->finalized || !pack->finalized) return kNotFinalized;
  if (fault("sdpa-execute")) return kExecutionFailed;
  const Descriptor& engine = plan->part(401).part(300);
  if (engine.engine == kAnyOrder && !std::getenv("CATENARY_CUDNN_DETERMINISTIC")) return kBadParam;
  const Pointer graph = engine.parts.at(1300)[0];
  const auto ids = pack->list<std::int64_t>(1000);
  const auto pointers = pack->list<void*>(1001);
  const auto bytes = static_cast<std::size_t>(workspace_of(engine.engine));
  if (bytes && !is_allocated(pack->one<void*>(1003), bytes)) return kBadParam;

  std::map<std::int64_t, const Descriptor*> wanted;
  for (const Operation& o : operations_of(*graph)) {
    for (const Descriptor* input : o.inputs)
      if (!input->is_virtual()) wanted[input->id()] = input;
    if (!o.output->is_virtual()) wanted[o.output->id()] = o.output;
  }
  if (wanted.size() != ids.size()) return kBadParam;
  std::map<std::int64_t, void*> addresses;
  std::map<std::int64_t, double> scalars;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto found = wanted.find(ids[i]);
    if (found == wanted.end()) return kBadParam;
    const Descriptor& t = *found->second;
    void* const at = pointers[i];
    if (!at) return kNullPointer;
    if (t.is_scalar()) {
      if (is_allocated(at, 1)) return kBadParam;  // scalars are read on the host
      scalars[ids[i]] = read(at, 0, t.type());
      continue;
    }
    std::int64_t last = 0;
    const auto shape = t.shape(), strides = t.strides();
    for (std::size_t axis = 0; axis < shape.size(); ++axis) last += (shape[axis] - 1) * strides[axis];
    if (reinterpret_cast<std::uintptr_t>(at) % static_cast<std::uintptr_t>(t.one<std::int64_t>(900)) != 0)
      return kMisaligned;
    if (!is_allocated(at, static_cast<std::size_t>((last + 1) * bytes_of(t.type())))) return kOutOfBound;
    addresses[ids[i]] = at;
  }
  static auto* const put = driver_function<int(Handle, void (*)(void*), void*)>("simgpu_submit");
  const auto work = [](void* data) {
    auto* const computation = static_cast<Computation*>(data);
    computation->run();
    delete computation;
  };
  return put(stream, work, new Computation(graph, std::move(addresses), std::move(scalars))) == 0 ? kSuccess
                                                                                                  : kExecutionFailed;
}

}  // namespace simgpu_dnn::graph
