// Which library computes attention, and what is said where none does: on simulated devices with the stand-in for cuDNN,
// each case in a process of its own, which runs the tests named InsideAttention. That the values are right is
// tests/device/attention_test.cpp's affair, which runs with the stand-in too.

#include "catenary/functions/attention.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
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
};

/// Forward and, where it is asked for, backward; says who computed each.
void attend(const char* name, Dtype dtype, const functions::AttentionOptions& options, const Sizes& sizes = {},
            bool backward = true) {
  const auto numbers = [&](std::int64_t heads, std::int64_t rows) {
    const Array x = arange(2 * heads * rows * sizes.width, Dtype::float32).reshape({2, heads, rows, sizes.width});
    return sin(x).astype(dtype);
  };
  const auto say = [&](const char* pass) {
    const auto last = last_computation(current_device(), "attention");
    std::printf("%s %s: %s\n", name, pass, last ? last->text().c_str() : "nothing is told");
  };
  try {
    const Variable q(numbers(sizes.heads, sizes.queries)), k(numbers(sizes.groups, sizes.keys)),
        v(numbers(sizes.groups, sizes.keys));
    Variable y = functions::scaled_dot_product_attention(q, k, v, options);
    y.array().eval();
    say("forward");
    if (!backward) return;
    y.set_grad(ones_like(y.array()));
    y.backward();
    k.grad().eval();
    say("backward");
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
  say_counts();
}

TEST(InsideAttention, WhatItDoesNotTake) {
  attend("float32", Dtype::float32, {});
  attend("mask", Dtype::float16, {.mask = Variable(ones({20, 20}, Dtype::bool_))});
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

/// Plans are remembered, the bad ones too.
TEST(InsideAttention, Twice) {
  for (int i = 0; i < 2; ++i) attend("float16", Dtype::float16, {.causal = true});
  say_counts();
}

TEST(AttentionProviders, Cudnn) {
  const auto result = with("Halves");
  expect_says(result, "float16 forward: cuDNN, fused, engine 8: float32 sums of float16 products, by Tensor Cores\n");
  expect_says(result,
              "float16 backward: cuDNN, fused gradient, engine 8: float32 sums of float16 products, by Tensor Cores\n");
  expect_says(result, "2 by cuDNN (9.19.0, ");
  expect_says(result, "attention cuda:0 cuDNN is used: 9.19.0, ");
  expect_once(result, "library cuda:0 attention cuDNN, fused, engine 8");
}

TEST(AttentionProviders, EveryForm) { expect_says(with("EveryForm"), "8 by cuDNN"); }

TEST(AttentionProviders, WhatCudnnDoesNotTakeIsToldWhy) {
  const auto result = with("WhatItDoesNotTake");
  const std::string own = ", and Catenary's own kernels use none\n";
  const auto says = [&](const std::string& name, const std::string& pass, const std::string& dtype,
                        const std::string& why) {
    expect_says(result, name + " " + pass + ": own, attention" + (pass == "backward" ? "_back" : "") +
                            ": float32 sums of " + dtype + " products; no matrix units: " + why + own);
  };
  says("float32", "forward", "float32", "dtype: fused attention takes float16 and bfloat16 alone");
  says("mask", "backward", "float16",
       "a mask array: it may hide all keys of a query, for which fused attention has no rule");
  says("width", "forward", "float16", "widths of heads: fused attention takes multiples of 8 up to 128");
  says("wide", "backward", "float16", "widths of heads: fused attention takes multiples of 8 up to 128");
  says("diagonal", "forward", "float16",
       "the diagonal: fused attention has it begin at the first key or end at the last one");
  says("hidden", "forward", "float16", "a query that sees no key, for which fused attention has no rule");
  says("token", "forward", "float16",
       "few queries: a text that is generated has another number of keys for each, and cuDNN a plan for each number");
  says("use_cudnn", "forward", "float16", "config.use_cudnn is false");
  expect_says(result, "0 by cuDNN");
  expect_says(result, "16 by own");
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

// Each call of the graph's interface fails in turn.
TEST(AttentionProviders, WhatFailsIsLeftToOurOwnKernels) {
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

TEST(AttentionProviders, WhatNoEngineTakesIsNotAnError) {
  for (const char* fault : {"sdpa-unknown", "sdpa-large"}) {
    const auto result = with("Twice", {{"SIMGPU_DNN", fault}});
    expect_says(result, "no matrix units: cuDNN has no fused form of it, and");
    expect_says(result, "4 by own");
    EXPECT_EQ(result.errors.find("refused"), std::string::npos) << result.errors;
  }
}

// What versions compute wrongly is not asked of them.
TEST(AttentionProviders, Versions) {
  for (const char* version : {"90501", "91000", "91001"})
    expect_says(with("Halves", {{"SIMGPU_CUDNN_VERSION", version}}), "fused attention is taken from 9.6.0 on");
  const auto older = with("Halves", {{"SIMGPU_CUDNN_VERSION", "91002"}});
  expect_says(older, "float16 forward: cuDNN, fused");
  expect_says(older, "cuDNN up to 9.15.0 takes the gradient of multiples of 128 keys alone");
}

// The fastest gradient of the stand-in has no order of sums: it computes with that one only when it may.
TEST(AttentionProviders, BitsMayDifferOnlyWhenTheyMay) {
  const auto result = with("EveryForm", {{"CATENARY_CUDNN_DETERMINISTIC", "0"}});
  expect_says(result, "grouped backward: cuDNN, fused gradient, engine 5");
  expect_says(result, "8 by cuDNN");
}

}  // namespace
}  // namespace catenary
