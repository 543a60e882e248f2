// Tests which library computes attention, and the messages if none can, on simulated devices with the stand-in for
// cuDNN. Each case starts a process of its own, which runs the tests named InsideAttention.
// tests/device/attention_test.cpp checks the values, with the stand-in too.

#include "catenary/functions/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/indexing.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/core/os/library.h"
#include "catenary/device/backend.h"
#include "catenary/device/libraries.h"
#include "tests/simgpu/dnn/process.h"

namespace catenary {
namespace {

using simgpu_tests::Environment;
using simgpu_tests::expect_says;

os::ProcessResult with(const std::string& test, const Environment& environment = {},
                       const std::vector<std::string>& folders = {"dnn/cuda"}) {
  return simgpu_tests::with_libraries("InsideAttention." + test, "cuda", folders, "attention,libraries", environment);
}

void expect_once(const os::ProcessResult& result, const std::string& words) {
  expect_says(result, words);
  EXPECT_EQ(result.errors.find(words), result.errors.rfind(words)) << "it is said once\n" << result.errors;
}

struct Sizes {
  std::int64_t heads = 4, groups = 4, queries = 20, keys = 20, width = 16;
  std::int64_t between = 0;  ///< elements between rows
};

struct Results {
  Array y, gq, gk, gv;
};

/// Computes attention and its gradient, and prints the library that computed them.
Results compute_and_say(const char* name, Dtype dtype, const functions::AttentionOptions& options, const Sizes& sizes) {
  const auto numbers = [&](std::int64_t heads, std::int64_t rows) {
    const std::int64_t row = sizes.width + sizes.between;
    const Array x = sin(arange(2 * heads * rows * row, Dtype::float32)).reshape({2, heads, rows, row}).astype(dtype);
    return x.eval()(ellipsis, slice(0, sizes.width));
  };
  const auto say = [&](const char* pass) {
    const auto last = last_computation(current_device(), "attention");
    if (name) std::printf("%s %s: %s\n", name, pass, last ? last->text().c_str() : "nothing is told");
  };
  const Variable q(numbers(sizes.heads, sizes.queries)), k(numbers(sizes.groups, sizes.keys)),
      v(numbers(sizes.groups, sizes.keys));
  Variable y = functions::scaled_dot_product_attention(q, k, v, options);
  y.array().eval();
  say("forward");
  y.set_grad(cos(y.array()));
  y.backward();
  for (const Variable& x : {q, k, v}) x.grad().eval();
  say("backward");
  return {y.array(), q.grad(), k.grad(), v.grad()};
}

/// Computes attention and its gradient, and compares them with the results of our own kernels.
void attend(const char* name, Dtype dtype, const functions::AttentionOptions& options, const Sizes& sizes = {}) {
  try {
    const Results given = compute_and_say(name, dtype, options, sizes);
    const auto last = last_computation(current_device(), "attention");
    if (!last || last->library == "own") return;
    const auto scope = using_config(config.use_cudnn, false);
    const Results own = compute_and_say(nullptr, dtype, options, sizes);
    const double bound = dtype == Dtype::float16 ? 4.0 / 1024 : 4.0 / 128;
    const auto near = [&](const char* what, const Array& a, const Array& b) {
      const auto x = a.astype(Dtype::float32).to_vector<float>(), y = b.astype(Dtype::float32).to_vector<float>();
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], bound * (1 + std::abs(y[i]))) << name << what;
    };
    near("y", given.y, own.y);
    near("gq", given.gq, own.gq);
    near("gk", given.gk, own.gk);
    near("gv", given.gv, own.gv);
  } catch (const Error& error) {
    std::printf("%s threw: %s\n", name, error.what());
  }
}

void say_counts() {
  try {
    for (const LibraryInfo& library : libraries(current_device(), "attention"))
      std::printf("%d by %s (%s)\n", static_cast<int>(library.computed), library.name.c_str(), library.detail.c_str());
  } catch (const Error& error) {
    std::printf("no counts: %s\n", error.what());
  }
}

TEST(InsideAttention, Halves) {
  attend("float16", Dtype::float16, {});
  say_counts();
}

TEST(InsideAttention, EveryForm) {
  attend("bfloat16", Dtype::bfloat16, {.causal = true});
  attend("grouped", Dtype::float16, {.causal = true}, {.heads = 4, .groups = 2});
  attend("at the end", Dtype::float16, {.causal = true, .first = 4}, {.queries = 20, .keys = 24});
  attend("window", Dtype::float16, {.causal = true, .window = 3});
  attend("apart", Dtype::float16, {.scale = 0.5}, {.between = 8});
  say_counts();
}

TEST(InsideAttention, UnsupportedForms) {
  attend("float32", Dtype::float32, {});
  attend("mask", Dtype::float16, {.mask = Variable(ones({20, 20}, Dtype::bool_))});
  attend("strides", Dtype::float16, {}, {.between = 1});
  attend("width", Dtype::float16, {}, {.width = 12});
  attend("wide", Dtype::float16, {}, {.width = 136});
  attend("diagonal", Dtype::float16, {.causal = true, .first = 1}, {.queries = 20, .keys = 24});
  attend("hidden", Dtype::float16, {.causal = true, .first = -2});
  attend("token", Dtype::float16, {.causal = true, .first = 23}, {.queries = 1, .keys = 24});
  {
    const auto scope = using_config(config.use_cudnn, false);
    attend("use_cudnn", Dtype::float16, {});
  }
  say_counts();
}

/// Plans are remembered, failed plans too.
TEST(InsideAttention, Twice) {
  for (int i = 0; i < 2; ++i) attend("float16", Dtype::float16, {.causal = true});
  say_counts();
}

/// Only the stand-in proves that our graphs are right, so it must refuse everything that cuDNN's documentation refuses.
TEST(InsideAttention, TheStandInIsStrict) {
  const auto library = os::Library::find("libcudnn.so.9");
  if (current_device().is_cpu()) return;
  ASSERT_TRUE(library);
  auto* const create = library->required<int(int, void**)>("cudnnBackendCreateDescriptor");
  auto* const set = library->required<int(void*, int, int, std::int64_t, const void*)>("cudnnBackendSetAttribute");
  auto* const finalize = library->required<int(void*)>("cudnnBackendFinalize");
  auto* const get =
      library->required<int(void*, int, int, std::int64_t, std::int64_t*, void*)>("cudnnBackendGetAttribute");
  constexpr int kTensor = 17, kProduct = 18, kProductOperation = 19, kGraph = 15;
  constexpr int kType = 901, kShape = 902, kStrides = 903, kId = 906, kAlignment = 900;
  constexpr int kHandles = 0, kDataType = 1, kInt64 = 3, kFloat = 4, kDescriptor = 15;
  const auto made = [&](int kind) {
    void* descriptor = nullptr;
    EXPECT_EQ(create(kind, &descriptor), 0);
    return descriptor;
  };
  const auto tensor = [&](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, std::int64_t id,
                          int without = 0) {
    void* const t = made(kTensor);
    const int type = 2;
    const std::int64_t alignment = 16;
    const auto put = [&](int attribute, int of, std::int64_t count, const void* values) {
      EXPECT_EQ(without == attribute ? 0 : set(t, attribute, of, count, values), 0);
    };
    put(kType, kDataType, 1, &type);
    put(kShape, kInt64, std::ssize(shape), shape.data());
    put(kStrides, kInt64, std::ssize(strides), strides.data());
    put(kId, kInt64, 1, &id);
    put(kAlignment, kInt64, 1, &alignment);
    return t;
  };
  void* nothing = nullptr;
  EXPECT_EQ(create(99, &nothing), 3000);

  const std::int64_t one = 1;
  void* const t = tensor({1, 1, 2, 8}, {16, 16, 8, 1}, 1);
  EXPECT_EQ(set(t, 1520, kDescriptor, 1, &nothing), 2000) << "no attribute of an array";
  EXPECT_EQ(set(t, kId, kFloat, 1, &one), 2010) << "of another type";
  EXPECT_EQ(set(t, kId, kInt64, 2, &one), 2000) << "too many";
  EXPECT_EQ(set(t, kId, kInt64, 0, &one), 2000) << "none";
  EXPECT_EQ(set(t, kId, kInt64, 1, nullptr), 2002);
  std::int64_t count = 0;
  EXPECT_EQ(get(t, kId, kInt64, 1, &count, nullptr), 2000);
  void* const product = made(kProductOperation);
  EXPECT_EQ(set(product, 1520, kDescriptor, 1, &t), 2004) << "of an array that is not finalized";
  EXPECT_EQ(finalize(t), 0);
  EXPECT_EQ(set(t, kId, kInt64, 1, &one), 1001) << "after it is finalized";
  for (const int attribute : {kType, kShape, kStrides, kId, kAlignment})
    EXPECT_EQ(finalize(tensor({1, 1, 2, 8}, {16, 16, 8, 1}, 2, attribute)), 2000) << "without " << attribute;
  EXPECT_EQ(finalize(tensor({1, 1, 2, 8}, {16, 16, 8}, 2)), 2000);
  EXPECT_EQ(finalize(tensor({1, 1, 2, 8}, {16, 16, 0, 1}, 2)), 2000);

  void* const description = made(kProduct);
  EXPECT_EQ(finalize(description), 2000) << "without a dtype";
  const int f32 = 0;
  EXPECT_EQ(set(description, 1500, kDataType, 1, &f32), 0);
  EXPECT_EQ(finalize(description), 0);
  EXPECT_EQ(set(product, 1523, kDescriptor, 1, &t), 2012) << "an array where a description is wanted";
  EXPECT_EQ(set(product, 1523, kDescriptor, 1, &description), 0);
  void *const b = tensor({1, 1, 8, 4}, {32, 32, 4, 1}, 3), *const c = tensor({1, 1, 2, 8}, {16, 16, 8, 1}, 4);
  EXPECT_EQ(finalize(b), 0);
  EXPECT_EQ(finalize(c), 0);
  EXPECT_EQ(set(product, 1520, kDescriptor, 1, &t), 0);
  EXPECT_EQ(set(product, 1521, kDescriptor, 1, &b), 0);
  EXPECT_EQ(finalize(product), 2000) << "without a result";
  EXPECT_EQ(set(product, 1522, kDescriptor, 1, &c), 0);
  EXPECT_EQ(finalize(product), 2008) << "[2, 8] by [8, 4] into [2, 8]";

  void* const graph = made(kGraph);
  EXPECT_EQ(set(graph, 801, kDescriptor, 1, &t), 2012) << "an array where an operation is wanted";
  EXPECT_EQ(set(graph, 801, kDescriptor, 1, &product), 2004);
  EXPECT_EQ(set(graph, 800, kHandles, 1, &nothing), 0);
  EXPECT_EQ(finalize(graph), 2000) << "without operations";
}

TEST(AttentionProviders, TheStandInIsStrict) { EXPECT_TRUE(with("TheStandInIsStrict").ok()); }

TEST(AttentionProviders, Cudnn) {
  const auto result = with("Halves");
  expect_says(result, "float16 forward: cuDNN, fused, engine 8: float32 sums of float16 products, by Tensor Cores\n");
  expect_says(result,
              "float16 backward: cuDNN, fused gradient, engine 8: float32 sums of float16 products, by Tensor Cores\n");
  expect_says(result, "2 by cuDNN (9.19.0, ");
  expect_says(result, "attention cuda:0 cuDNN is used: 9.19.0, ");
  expect_once(result, "library cuda:0 attention cuDNN, fused, engine 8");
}

TEST(AttentionProviders, EveryForm) { expect_says(with("EveryForm"), "10 by cuDNN"); }

TEST(AttentionProviders, ReasonsAgainstCudnnAreReported) {
  const auto result = with("UnsupportedForms");
  const std::string own = ", and Catenary's own kernels use none\n";
  const auto says = [&](const std::string& name, const std::string& pass, const std::string& dtype,
                        const std::string& why) {
    expect_says(result, name + " " + pass + ": own, attention" + (pass == "backward" ? "_back" : "") +
                            ": float32 sums of " + dtype + " products; no matrix units: " + why + own);
  };
  says("float32", "forward", "float32", "dtype: fused attention supports only float16 and bfloat16");
  says("mask", "backward", "float16",
       "a mask array: it may hide all keys of a query, which fused attention does not support");
  says("strides", "forward", "float16", "strides: fused attention takes rows that begin at multiples of 16 bytes");
  says("width", "forward", "float16", "head size: fused attention is used for multiples of 8 up to 128");
  says("wide", "backward", "float16", "head size: fused attention is used for multiples of 8 up to 128");
  says("diagonal", "forward", "float16",
       "the diagonal: in fused attention it begins at the first key or ends at the last one");
  says("hidden", "forward", "float16", "a query without visible keys, which fused attention does not support");
  says("token", "forward", "float16",
       "few queries: text generation changes the number of keys, and cuDNN needs a plan for each number");
  says("use_cudnn", "forward", "float16", "config.use_cudnn is false");
  expect_says(result, "0 by cuDNN");
  expect_says(result, "18 by own");
}

TEST(AttentionProviders, TheOneThatIsAskedFor) {
  const auto own = with("Halves", {{"CATENARY_GPU_ATTENTION", "own"}});
  expect_says(own, "2 by own");
  expect_says(own, "no matrix units: no library of attention is used, and");
  expect_says(with("Halves", {{"CATENARY_GPU_ATTENTION", "cudnn"}}), "2 by cuDNN");
  expect_says(with("Halves", {{"CATENARY_GPU_ATTENTION", "cudnn"}}, {}),
              "threw: CATENARY_GPU_ATTENTION=cudnn: cuDNN cannot be used on cuda:0: none of libcudnn.so.9 was found");
  expect_says(with("Halves", {}, {}), "attention cuda:0 cuDNN is not used: none of libcudnn.so.9 was found");
}

// Makes each call of the graph interface fail in turn.
TEST(AttentionProviders, FailuresFallBackToOwnKernels) {
  for (const auto& [fault, words] :
       std::vector<std::pair<std::string, std::string>>{{"sdpa-new", "it cannot make a descriptor (status 4000)"},
                                                        {"sdpa-set", "it cannot describe an array (status 4000)"},
                                                        {"sdpa-finalize", "it cannot describe an array (status 4000)"},
                                                        {"sdpa-heuristic", "it cannot choose an engine (status 4000)"},
                                                        {"sdpa-plan", "it cannot make a plan (status 4000)"},
                                                        {"sdpa-pack", "it cannot take the arrays (status 4000)"},
                                                        {"sdpa-execute", "it cannot compute (status 5000)"}}) {
    const auto result = with("Twice", {{"SIMGPU_DNN", fault}});
    expect_says(result, "4 by own");
    expect_once(result, "refused attention of float16 [2, 4, 20, 16] by 20 keys of 4 heads: " + words);
  }
}

TEST(AttentionProviders, MissingEnginesAreNoErrors) {
  for (const char* fault : {"sdpa-unknown", "sdpa-large"}) {
    const auto result = with("Twice", {{"SIMGPU_DNN", fault}});
    expect_says(result, "no matrix units: cuDNN has no fused form of it, and");
    expect_says(result, "4 by own");
    EXPECT_EQ(result.errors.find("refused"), std::string::npos) << result.errors;
  }
}

// Versions of cuDNN with wrong results are not used for the cases where they are wrong.
TEST(AttentionProviders, Versions) {
  for (const char* version : {"90501", "91000", "91001"})
    expect_says(with("Halves", {{"SIMGPU_CUDNN_VERSION", version}}), "fused attention is taken from 9.6.0 on");
  const auto older = with("Halves", {{"SIMGPU_CUDNN_VERSION", "91002"}});
  expect_says(older, "float16 forward: cuDNN, fused");
  expect_says(older, "up to version 9.15.0, the gradient of cuDNN is used only for multiples of 128 keys");
}

TEST(AttentionProviders, Cards) {
  const auto on = [](const char* arch) { return with("Halves", {{"SIMGPU_ARCH", arch}}); };
  expect_says(on("75"), "cuDNN is not used: fused attention needs sm_80 or newer, and the device is sm_75");
  expect_says(on("80"), "2 by cuDNN");
  const auto blackwell = on("100");
  expect_says(blackwell, "float16 forward: cuDNN, fused");
  expect_says(
      blackwell,
      "own, attention_back: float32 sums of float16 products; no matrix units: cuDNN's deterministic gradient is not "
      "used on Blackwell; set config.cudnn_deterministic to false");
  expect_says(with("Halves", {{"SIMGPU_ARCH", "100"}, {"SIMGPU_CUDNN_VERSION", "90900"}}),
              "fused attention is taken from 9.11.0 on");
}

// The stand-in's fastest gradient has no fixed order of sums. It may be used only if results need not be deterministic.
TEST(AttentionProviders, BitsMayDifferOnlyWhenTheyMay) {
  const auto result = with("EveryForm", {{"CATENARY_CUDNN_DETERMINISTIC", "0"}});
  expect_says(result, "grouped backward: cuDNN, fused gradient, engine 5");
  expect_says(result, "10 by cuDNN");
}

}  // namespace
}  // namespace catenary
