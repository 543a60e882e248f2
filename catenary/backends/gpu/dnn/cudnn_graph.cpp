#include "catenary/backends/gpu/dnn/cudnn_graph.h"

#include <algorithm>
#include <cstring>

#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

// cudnnBackendDescriptorType_t
constexpr int kPointwise = 0, kEngine = 2, kEngineConfig = 3, kHeuristic = 4, kPlan = 5, kPointwiseOperation = 13,
              kOperationGraph = 15, kVariantPack = 16, kTensor = 17, kMatmul = 18, kMatmulOperation = 19,
              kReduction = 21, kReductionOperation = 22, kReshapeOperation = 31;

// cudnnBackendAttributeType_t
constexpr int kHandle = 0, kDataType = 1, kBoolean = 2, kInt64 = 3, kPointer = 6, kHeuristicMode = 8,
              kNumericalNote = 11, kPointwiseMode = 14, kDescriptor = 15, kReductionOperator = 18;

// cudnnBackendAttributeName_t
constexpr int kPointwiseModeOf = 0, kPointwisePrecision = 1, kPointwiseAxis = 9;
constexpr int kHeuristicModeOf = 200, kHeuristicGraph = 201, kHeuristicResults = 202;
constexpr int kConfigEngine = 300;
constexpr int kPlanHandle = 400, kPlanConfig = 401, kPlanWorkspace = 402;
constexpr int kPointwiseDescription = 750, kPointwiseX = 751, kPointwiseB = 752, kPointwiseY = 753, kPointwiseT = 758;
constexpr int kGraphHandle = 800, kGraphOperations = 801;
constexpr int kTensorAlignment = 900, kTensorType = 901, kTensorShape = 902, kTensorStrides = 903, kTensorId = 906,
              kTensorIsVirtual = 907, kTensorIsByValue = 908;
constexpr int kPackIds = 1000, kPackPointers = 1001, kPackWorkspace = 1003;
constexpr int kEngineIndex = 1301, kEngineNotes = 1303;
constexpr int kMatmulPrecision = 1500, kMatmulA = 1520, kMatmulB = 1521, kMatmulC = 1522, kMatmulDescription = 1523;
constexpr int kReductionOperatorOf = 1600, kReductionPrecision = 1601, kReductionX = 1610, kReductionY = 1611,
              kReductionDescription = 1612;
constexpr int kReshapeX = 2200, kReshapeY = 2201;

// cudnnPointwiseMode_t: modes used by name, besides CudnnGraph::Pointwise
constexpr int kGenIndex = 501, kBinarySelect = 601;
constexpr int kModeA = 3;                              // cudnnBackendHeurMode_t: its decision tree
constexpr int kTensorCore = 0, kNondeterministic = 4;  // cudnnBackendNumericalNote_t
constexpr std::int64_t kMostNotes = 10;
constexpr std::int64_t kAlignment = 16;

/// cudnnDataType_t
int number_of(CudnnGraph::Type type) {
  constexpr std::array<int, 5> numbers = {0, 2, 9, 4, 11};
  return numbers[static_cast<std::size_t>(type)];
}
/// cudnnPointwiseMode_t
int number_of(CudnnGraph::Pointwise op) {
  constexpr std::array<int, 9> numbers = {0, 9, 1, 6, 13, 15, 21, 302, 303};
  return numbers[static_cast<std::size_t>(op)];
}
/// cudnnReduceTensorOp_t
int number_of(CudnnGraph::Reduction op) { return op == CudnnGraph::Reduction::max ? 3 : 0; }

void check(int status, const char* action) {
  if (status != 0) throw CudnnFailure{status, action};
}

void set_descriptor(CudnnDescriptor& of, int attribute, void* descriptor, const char* action) {
  of.set(attribute, kDescriptor, 1, &descriptor, action);
}
void set_number(CudnnDescriptor& of, int attribute, int type, int number, const char* action) {
  of.set(attribute, type, 1, &number, action);
}

}  // namespace

std::string CudnnFailure::text() const { return fmt::format("it cannot {} (status {})", action, status); }

CudnnGraphApi::CudnnGraphApi(const os::Library& library)
    : create(library.required<int(int, void**)>("cudnnBackendCreateDescriptor")),
      destroy(library.required<int(void*)>("cudnnBackendDestroyDescriptor")),
      set(library.required<int(void*, int, int, std::int64_t, const void*)>("cudnnBackendSetAttribute")),
      get(library.required<int(void*, int, int, std::int64_t, std::int64_t*, void*)>("cudnnBackendGetAttribute")),
      finalize(library.required<int(void*)>("cudnnBackendFinalize")),
      execute(library.required<int(void*, void*, void*)>("cudnnBackendExecute")) {}

CudnnDescriptor::CudnnDescriptor(const CudnnGraphApi& api, int type) : api_(&api) {
  check(api.create(type, &handle_), "make a descriptor");
}
CudnnDescriptor::~CudnnDescriptor() {
  if (handle_) api_->destroy(handle_);
}
void CudnnDescriptor::set(int attribute, int type, std::int64_t count, const void* values, const char* action) {
  check(api_->set(handle_, attribute, type, count, values), action);
}
void CudnnDescriptor::finalize(const char* action) { check(api_->finalize(handle_), action); }

void CudnnPlan::run(void* handle, const std::vector<void*>& addresses, void* workspace) const {
  constexpr const char* action = "take the arrays";
  std::vector<std::int64_t> ids = arrays_;
  std::vector<const void*> pointers(addresses.begin(), addresses.end());
  for (const Scalar& scalar : scalars_) {
    ids.push_back(scalar.id);
    pointers.push_back(scalar.value.data());
  }
  CudnnDescriptor pack(api_, kVariantPack);
  pack.set(kPackIds, kInt64, std::ssize(ids), ids.data(), action);
  pack.set(kPackPointers, kPointer, std::ssize(pointers), static_cast<const void*>(pointers.data()), action);
  pack.set(kPackWorkspace, kPointer, 1, static_cast<const void*>(&workspace), action);
  pack.finalize(action);
  check(api_.execute(handle, plan_.handle(), pack.handle()), "compute");
}

CudnnGraph::Tensor CudnnGraph::tensor(Type type, const Extents& shape, const Extents& strides, bool is_virtual,
                                      bool is_scalar) {
  constexpr const char* action = "describe an array";
  CudnnDescriptor& made = kept_.emplace_back(api_, kTensor);
  const std::int64_t id = next_id_++;
  set_number(made, kTensorType, kDataType, number_of(type), action);
  made.set(kTensorShape, kInt64, std::ssize(shape), shape.data(), action);
  made.set(kTensorStrides, kInt64, std::ssize(strides), strides.data(), action);
  made.set(kTensorId, kInt64, 1, &id, action);
  made.set(kTensorAlignment, kInt64, 1, &kAlignment, action);
  if (is_virtual) made.set(kTensorIsVirtual, kBoolean, 1, &is_virtual, action);
  if (is_scalar) made.set(kTensorIsByValue, kBoolean, 1, &is_scalar, action);
  made.finalize(action);
  return {made.handle(), type, shape, strides};
}

CudnnGraph::Tensor CudnnGraph::array(Type type, const Extents& shape, const Extents& strides) {
  arrays_.push_back(next_id_);
  return tensor(type, shape, strides, false, false);
}
CudnnGraph::Tensor CudnnGraph::between(Type type, const Extents& shape, const Extents& strides) {
  return tensor(type, shape, strides, true, false);
}
CudnnGraph::Tensor CudnnGraph::scalar(Type type, const void* value) {
  CudnnPlan::Scalar& scalar = scalars_.emplace_back();
  scalar.id = next_id_;
  std::memcpy(scalar.value.data(), value, scalar.value.size());
  return tensor(type, {1, 1, 1, 1}, {1, 1, 1, 1}, false, true);
}
CudnnGraph::Tensor CudnnGraph::scalar(float value) { return scalar(Type::f32, &value); }
CudnnGraph::Tensor CudnnGraph::scalar(std::int32_t value) { return scalar(Type::i32, &value); }

void* CudnnGraph::describe(int type, const char* action, const std::function<void(CudnnDescriptor&)>& set) {
  CudnnDescriptor& description = kept_.emplace_back(api_, type);
  set(description);
  description.finalize(action);
  return description.handle();
}

void CudnnGraph::add(int type, const char* action, std::initializer_list<std::pair<int, void*>> parts) {
  CudnnDescriptor& operation = operations_.emplace_back(api_, type);
  for (const auto& [attribute, part] : parts)
    if (part) set_descriptor(operation, attribute, part, action);
  operation.finalize(action);
}

void CudnnGraph::matmul(const Tensor& a, const Tensor& b, const Tensor& y) {
  constexpr const char* action = "describe a product";
  void* const description = describe(kMatmul, action, [&](CudnnDescriptor& of) {
    set_number(of, kMatmulPrecision, kDataType, number_of(Type::f32), action);
  });
  add(kMatmulOperation, action,
      {{kMatmulA, a.descriptor},
       {kMatmulB, b.descriptor},
       {kMatmulC, y.descriptor},
       {kMatmulDescription, description}});
}
CudnnGraph::Tensor CudnnGraph::matmul(const Tensor& a, const Tensor& b, Type type) {
  const Tensor y = between(type, {a.shape[0], a.shape[1], a.shape[2], b.shape[3]});
  matmul(a, b, y);
  return y;
}

void CudnnGraph::pointwise(int mode, const Tensor& x, const Tensor* b, const Tensor* t, const Tensor& y,
                           std::int64_t axis) {
  constexpr const char* action = "describe an operation";
  // integers are added as integers, and comparisons give bools
  const bool as_it_is = mode != kGenIndex && (y.type == Type::i32 || y.type == Type::boolean);
  void* const description = describe(kPointwise, action, [&](CudnnDescriptor& of) {
    set_number(of, kPointwiseModeOf, kPointwiseMode, mode, action);
    set_number(of, kPointwisePrecision, kDataType, number_of(as_it_is ? y.type : Type::f32), action);
    if (axis >= 0) of.set(kPointwiseAxis, kInt64, 1, &axis, action);
  });
  add(kPointwiseOperation, action,
      {{kPointwiseDescription, description},
       {kPointwiseX, x.descriptor},
       {kPointwiseB, b ? b->descriptor : nullptr},
       {kPointwiseT, t ? t->descriptor : nullptr},
       {kPointwiseY, y.descriptor}});
}
void CudnnGraph::pointwise(Pointwise op, const Tensor& x, const Tensor& b, const Tensor& y) {
  pointwise(number_of(op), x, &b, nullptr, y);
}
CudnnGraph::Tensor CudnnGraph::pointwise(Pointwise op, const Tensor& x, const Tensor& b, Type type) {
  const Tensor y = between(type, x.shape);
  pointwise(op, x, b, y);
  return y;
}
void CudnnGraph::unary(Pointwise op, const Tensor& x, const Tensor& y) {
  pointwise(number_of(op), x, nullptr, nullptr, y);
}
CudnnGraph::Tensor CudnnGraph::unary(Pointwise op, const Tensor& x) {
  const Tensor y = between(Type::f32, x.shape);
  unary(op, x, y);
  return y;
}
CudnnGraph::Tensor CudnnGraph::index(const Tensor& x, std::int64_t axis) {
  const Tensor y = between(Type::i32, x.shape);
  pointwise(kGenIndex, x, nullptr, nullptr, y, axis);
  return y;
}
CudnnGraph::Tensor CudnnGraph::select(const Tensor& which, const Tensor& x, const Tensor& b) {
  const Tensor y = between(Type::f32, x.shape);
  pointwise(kBinarySelect, x, &b, &which, y);
  return y;
}

void CudnnGraph::reduce(Reduction op, const Tensor& x, const Tensor& y) {
  constexpr const char* action = "describe a reduction";
  void* const description = describe(kReduction, action, [&](CudnnDescriptor& of) {
    set_number(of, kReductionOperatorOf, kReductionOperator, number_of(op), action);
    set_number(of, kReductionPrecision, kDataType, number_of(Type::f32), action);
  });
  add(kReductionOperation, action,
      {{kReductionX, x.descriptor}, {kReductionY, y.descriptor}, {kReductionDescription, description}});
}
CudnnGraph::Tensor CudnnGraph::reduce(Reduction op, const Tensor& x) {
  const Tensor y = between(Type::f32, {x.shape[0], x.shape[1], x.shape[2], 1});
  reduce(op, x, y);
  return y;
}

CudnnGraph::Tensor CudnnGraph::transposed(const Tensor& x, Type type) {
  constexpr const char* action = "describe a transposed array";
  Extents shape = x.shape, strides = x.strides;
  std::swap(shape[2], shape[3]);
  std::swap(strides[2], strides[3]);
  const Tensor y = between(type, shape, strides);
  add(kReshapeOperation, action, {{kReshapeX, x.descriptor}, {kReshapeY, y.descriptor}});
  return y;
}

namespace {

constexpr const char* kSearch = "choose an engine";

std::vector<void*> handles_of(const std::vector<CudnnDescriptor>& list) {
  std::vector<void*> all;
  for (const CudnnDescriptor& one : list) all.push_back(one.handle());
  return all;
}

/// Returns the configurations of engines that cuDNN's heuristic suggests for a graph, the best first.
std::vector<CudnnDescriptor> suggested_configs(const CudnnGraphApi& api, const CudnnDescriptor& graph) {
  CudnnDescriptor heuristic(api, kHeuristic);
  set_descriptor(heuristic, kHeuristicGraph, graph.handle(), kSearch);
  set_number(heuristic, kHeuristicModeOf, kHeuristicMode, kModeA, kSearch);
  heuristic.finalize(kSearch);
  std::int64_t count = 0;
  check(api.get(heuristic.handle(), kHeuristicResults, kDescriptor, 0, &count, nullptr), kSearch);
  std::vector<CudnnDescriptor> configs;
  for (std::int64_t i = 0; i < count; ++i) configs.emplace_back(api, kEngineConfig);
  std::vector<void*> results = handles_of(configs);
  if (count > 0)
    check(
        api.get(heuristic.handle(), kHeuristicResults, kDescriptor, count, &count, static_cast<void*>(results.data())),
        kSearch);
  while (std::ssize(configs) > count) configs.pop_back();
  return configs;
}

struct EngineFacts {
  std::int64_t index = 0;
  bool uses_tensor_cores = false, is_deterministic = true;
};

EngineFacts facts_of_engine(const CudnnGraphApi& api, const CudnnDescriptor& config) {
  CudnnDescriptor engine(api, kEngine);
  void* const of_engine = engine.handle();
  void* into = of_engine;
  std::int64_t got = 0, noted = 0;
  std::array<int, kMostNotes> notes{};
  EngineFacts facts;
  check(api.get(config.handle(), kConfigEngine, kDescriptor, 1, &got, static_cast<void*>(&into)), kSearch);
  check(api.get(of_engine, kEngineIndex, kInt64, 1, &got, &facts.index), kSearch);
  check(api.get(of_engine, kEngineNotes, kNumericalNote, kMostNotes, &noted, notes.data()), kSearch);
  const auto has = [&](int note) {
    const auto end = notes.begin() + std::min(noted, kMostNotes);
    return std::find(notes.begin(), end, note) != end;
  };
  facts.uses_tensor_cores = has(kTensorCore);
  facts.is_deterministic = !has(kNondeterministic);
  return facts;
}

}  // namespace

std::unique_ptr<CudnnPlan> CudnnGraph::plan(void* handle, std::int64_t most_workspace, bool deterministic) {
  constexpr const char* action = "describe the operations";
  CudnnDescriptor graph(api_, kOperationGraph);
  const std::vector<void*> operations = handles_of(operations_);
  graph.set(kGraphOperations, kDescriptor, std::ssize(operations), static_cast<const void*>(operations.data()), action);
  graph.set(kGraphHandle, kHandle, 1, static_cast<const void*>(&handle), action);
  graph.finalize(action);

  int failed = 0;
  for (CudnnDescriptor& config : suggested_configs(api_, graph)) {
    const EngineFacts engine = facts_of_engine(api_, config);
    if (deterministic && !engine.is_deterministic) continue;
    CudnnDescriptor made(api_, kPlan);
    made.set(kPlanHandle, kHandle, 1, static_cast<const void*>(&handle), kSearch);
    set_descriptor(made, kPlanConfig, config.handle(), kSearch);
    // cuDNN compiles the engine here, which may fail: then try the next engine
    if (const int status = api_.finalize(made.handle()); status != 0) {
      failed = status;
      continue;
    }
    std::int64_t got = 0, workspace = 0;
    check(api_.get(made.handle(), kPlanWorkspace, kInt64, 1, &got, &workspace), kSearch);
    if (workspace > most_workspace) continue;
    std::unique_ptr<CudnnPlan> plan(new CudnnPlan(api_, std::move(made)));
    plan->workspace_ = workspace;
    plan->engine_ = engine.index;
    plan->uses_tensor_cores_ = engine.uses_tensor_cores;
    plan->arrays_ = arrays_;
    plan->scalars_ = scalars_;
    plan->kept_ = std::move(kept_);
    for (CudnnDescriptor& operation : operations_) plan->kept_.push_back(std::move(operation));
    plan->kept_.push_back(std::move(graph));
    plan->kept_.push_back(std::move(config));
    return plan;
  }
  check(failed, "make a plan");
  return nullptr;
}

}  // namespace catenary::gpu
