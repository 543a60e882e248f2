// Gradients and wrong inputs of attention, and cases that ONNX's own do not reach.

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/core/error.h"
#include "tests/arrays.h"
#include "tests/gradients.h"
#include "tests/onnx/node.h"
#include "tests/texts.h"

namespace catenary {
namespace {

using namespace onnx_writer;
using tests::error_of;
using tests::has;

Array wave64(const Shape& shape, double phase) { return tests::waves(shape, phase, Dtype::float64); }

/// Checks gradients of an operator's results with regard to all inputs.
void check_operator(const std::string& type, const std::vector<Array>& inputs, const std::vector<Message>& attributes,
                    int outputs = 1) {
  tests::check_gradients([&](const std::vector<Variable>& x) { return run_node(type, x, attributes, outputs, 27); },
                         inputs);
}

TEST(OnnxAttention, HasGradients) {
  const std::vector<Array> inputs{wave64({2, 4, 2, 3}, 0), wave64({2, 2, 3, 3}, 1), wave64({2, 2, 3, 2}, 2),
                                  wave64({2, 3}, 3)};
  check_operator("Attention", inputs, {});
  check_operator("Attention", inputs, {attribute("softcap", 0.7)});
  check_operator("Attention", inputs, {number("left_window_size", 1), number("right_window_size", 1)});
}

TEST(OnnxAttention, LinearAttentionHasGradients) {
  const std::vector<Message> heads{number("q_num_heads", 4), number("kv_num_heads", 2)};
  check_operator("LinearAttention",
                 {wave64({1, 3, 12}, 0), wave64({1, 3, 6}, 1), wave64({1, 3, 4}, 2), wave64({1, 2, 3, 2}, 3),
                  wave64({1, 3, 2}, 4), wave64({1, 3, 1}, 5)},
                 heads, 2);
}

TEST(OnnxAttention, OtherOperatorsHaveGradients) {
  check_operator("RotaryEmbedding", {wave64({2, 3, 8}, 0), wave64({2, 3, 1}, 1), wave64({2, 3, 1}, 2)},
                 {number("num_heads", 2), number("rotary_embedding_dim", 2)});
  check_operator("CausalConvWithState",
                 {wave64({2, 3, 4}, 0), wave64({3, 1, 3}, 1), wave64({3}, 2), wave64({2, 3, 2}, 3)},
                 {attribute("activation", "silu")}, 2);
  const Variable first(array({std::int64_t{4}, 1}));
  tests::check_gradients(
      [&](const std::vector<Variable>& x) {
        return run_node("TensorScatter", {x[0], x[1], first}, {attribute("mode", "circular")}, 1, 27);
      },
      {wave64({2, 5, 3}, 0), wave64({2, 2, 3}, 1)});
}

TEST(OnnxAttention, WrongInputsRaiseValueError) {
  const auto fault = [](const std::string& type, const std::vector<Array>& inputs,
                        const std::vector<Message>& attributes) {
    const std::vector<Variable> x(inputs.begin(), inputs.end());
    return error_of<ValueError>([&] { run_node(type, x, attributes, 1, 27); });
  };
  const Array x = wave64({2, 3, 6}, 0), heads = wave64({2, 3, 4, 5}, 0);
  EXPECT_TRUE(has(fault("Attention", {x, x, x}, {number("q_num_heads", 4), number("kv_num_heads", 2)}),
                  "an array of shape (2, 3, 6) has no 4 heads in its last axis"));
  EXPECT_TRUE(has(fault("Attention", {heads, wave64({2, 2, 4, 5}, 0), wave64({2, 2, 4, 5}, 0)}, {}),
                  "3 heads do not share the keys of 2"));
  EXPECT_TRUE(has(fault("Attention", {heads, heads, heads, array({1, 2, 3, 4})}, {}), "bool or float64 is needed"));
  EXPECT_TRUE(has(fault("Attention", {heads, heads, heads}, {number("qk_matmul_output_mode", 4)}), "0 to 3 are known"));
  EXPECT_TRUE(has(fault("TensorScatter", {x, wave64({2, 2, 6}, 1), array({std::int64_t{0}, 2})}, {}),
                  "an update of 2 elements at position 2 does not fit a cache of 3"));
  EXPECT_TRUE(has(fault("LinearAttention", {x, x, x},
                        {number("q_num_heads", 2), number("kv_num_heads", 2), attribute("update_rule", "gated")}),
                  "decay is missing"));
  EXPECT_TRUE(has(fault("CausalConvWithState", {x, wave64({3, 1, 2}, 0)}, {attribute("activation", "gelu")}),
                  "activation 'gelu' is not known"));
}

}  // namespace
}  // namespace catenary
