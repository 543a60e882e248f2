// The domain com.microsoft: fused layers, as ONNX Runtime's tools write them.

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/quantized.h"
#include "catenary/array/reduction.h"
#include "catenary/array/view.h"
#include "catenary/core/config.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

constexpr const char* kMicrosoft = "com.microsoft";

/// Computes the operator of ai.onnx with equal inputs and attributes.
Variable as_standard(const Call& c, const char* name) {
  return find_operator("", name, 22)->compute(c).at(0).variable();
}

/// Applies a named activation with its parameters.
Variable activated(const Call& c, const Variable& x, const std::string& name, const std::vector<float>& given) {
  const auto parameter = [&](std::size_t i, double otherwise) {
    return i < given.size() ? static_cast<double>(given[i]) : otherwise;
  };
  if (name.empty()) return x;
  if (name == "Relu") return F::relu(x);
  if (name == "Tanh") return F::tanh(x);
  if (name == "Sigmoid") return F::sigmoid(x);
  if (name == "LeakyRelu") return F::leaky_relu(x, parameter(0, 0.01));
  if (name == "HardSigmoid") return F::clip(x * parameter(0, 0.2) + parameter(1, 0.5), 0.0, 1.0);
  if (name == "Clip" && given.size() == 2) return F::clip(x, parameter(0, 0), parameter(1, 0));
  c.fail("activation '{}' with {} parameters is not supported", name, given.size());
}

Values fused_product(const Call& c) {
  for (const char* name : {"transBatchA", "transBatchB"})
    if (c.integer(name, 0) != 0) c.fail("{} is not supported", name);
  const double alpha = c.real("alpha", 1.0);
  const Variable a = c.x(0), b = c.x(1);
  const bool transa = c.integer("transA", 0) != 0 && a.ndim() > 1, transb = c.integer("transB", 0) != 0 && b.ndim() > 1;
  const Variable y = F::matmul(a, b, transa, transb);
  return {alpha == 1.0 ? y : y * alpha};
}

Values fused_general_product(const Call& c) {
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (c.find(name)) parameters.push_back(static_cast<float>(c.real(name)));
  return {activated(c, as_standard(c, "Gemm"), c.text("activation", ""), parameters)};
}

Values fused_convolution(const Call& c) {
  const Variable y = as_standard(c, "Conv");
  const std::vector<float> parameters = c.reals("activation_params").value_or(std::vector<float>());
  return {activated(c, c.has(3) ? y + c.x(3) : y, c.text("activation", ""), parameters)};
}

Values biased_gelu(const Call& c, F::GeluForm form) { return {F::gelu(c.has(1) ? c.x(0) + c.x(1) : c.x(0), form)}; }

Values quick_gelu(const Call& c) {
  const Variable x = c.x(0);
  const double alpha = c.real("alpha", 1.702);
  return {x * F::sigmoid(x * alpha)};
}

/// Adds input 1 and the optional input `bias` to input 0, and normalises the rows of the sum.
template <class Normalize>
Values skip_normalization(const Call& c, int bias, Normalize normalize) {
  const double eps = c.real("epsilon", 1e-12);
  if (c.wants(1) || c.wants(2)) c.fail("the mean and the inverse standard deviation are not supported as results");
  Variable sum = c.x(0) + c.x(1);
  if (c.has(bias)) sum = sum + c.x(bias);
  return {normalize(sum, eps), {}, {}, sum};
}

Variable zeros_beside(const Variable& x) { return Variable(zeros(x.shape(), x.dtype()).to_device(x.device())); }

Values skip_layer_normalization(const Call& c) {
  const Variable gamma = c.x(2), beta = c.has(3) ? c.x(3) : zeros_beside(gamma);
  return skip_normalization(c, 4,
                            [&](const Variable& x, double eps) { return F::layer_normalization(x, gamma, beta, eps); });
}

Values skip_rms_normalization(const Call& c) {
  return skip_normalization(c, 3, [&](const Variable& x, double eps) { return F::rms_normalization(x, c.x(2), eps); });
}

Values simplified_layer_normalization(const Call& c) {
  const Variable x = c.x(0), scale = c.x(1);
  const int axis = axis_of(c, c.integer("axis", -1), x.ndim());
  const double eps = c.real("epsilon", 1e-5);
  c.integer("stash_type", 1);
  if (c.wants(1)) c.fail("the inverse standard deviation is not supported as a result");
  const Shape rows(x.shape().data() + axis, x.ndim() - axis);
  if (scale.shape() != rows) c.fail("a scale of shape {} does not fit an input of shape {}", scale.shape(), x.shape());
  return {F::rms_normalization(x, scale, eps)};
}

Values embedded_and_normalized(const Call& c) {
  const double eps = c.real("epsilon", 1e-12);
  c.integer("mask_index_type", 0);
  const Array ids = c.array(0).astype(Dtype::int64);
  if (ids.ndim() != 2) c.fail("ids of shape {} must have 2 axes", ids.shape());
  const auto rows = [&](int table, const Array& at) { return F::get_item(c.x(table), {Index(at)}); };
  const Array positions =
      c.has(8) ? c.array(8).astype(Dtype::int64) : arange(ids.shape(1), Dtype::int64).to_device(c.device());
  Variable sum = rows(2, ids) + rows(3, positions);
  if (c.has(1)) sum = sum + rows(4, c.array(1).astype(Dtype::int64));
  const Variable y = F::layer_normalization(sum, c.x(5), c.x(6), eps);
  const Array lengths = c.has(7) ? c.array(7).astype(Dtype::int32).sum(AxisArg(1))
                                 : zeros({ids.shape(0)}, Dtype::int32).to_device(c.device());
  return {y, Variable(lengths.astype(Dtype::int32)), sum};
}

/// Returns the elements of `bits` bits in the bytes of x [n, blocks, bytes], as [n, blocks, elements].
Array unpacked_bits(const Array& x, std::int64_t bits) {
  std::vector<Array> parts;
  for (std::int64_t at = 0; at < 8; at += bits) parts.push_back(bitwise_and(right_shift(x, at), (1 << bits) - 1));
  const Array all = stack(parts, x.ndim());
  Shape shape = x.shape();
  shape[x.ndim() - 1] *= 8 / bits;
  return all.reshape(shape);
}

/// The sizes of a product with weights of few bits: input 1 holds [N, blocks, bytes of a block].
struct FewBits {
  std::int64_t bits, N, K, block, blocks;
};

FewBits few_bits_of(const Call& c) {
  FewBits w{c.integer("bits", 4), c.integer("N"), c.integer("K"), c.integer("block_size"), 0};
  c.integer("accuracy_level", 0);
  if (c.integer("weight_prepacked", 0) != 0) c.fail("prepacked weights are not supported");
  if (c.has(4)) c.fail("g_idx is not supported");
  if (w.bits != 2 && w.bits != 4 && w.bits != 8)
    c.fail("weights of {} bits are not supported (2, 4 and 8 are)", w.bits);
  if (w.N < 1 || w.K < 1 || w.block < 16) c.fail("N, K and block_size are {}, {} and {}", w.N, w.K, w.block);
  w.blocks = (w.K + w.block - 1) / w.block;
  const Variable packed = c.x(1), scales = c.x(2);
  if (packed.dtype() != Dtype::uint8 || packed.size() != w.N * w.blocks * w.block * w.bits / 8 ||
      scales.size() != w.N * w.blocks)
    c.fail("weights of shape {} and scales of shape {} do not hold {} rows of {} elements", packed.shape(),
           scales.shape(), w.N, w.K);
  return w;
}

/// Returns the elements as integers [N, blocks, block].
Array elements_of(const Call& c, const FewBits& w) {
  return unpacked_bits(c.array(1).reshape({w.N, w.blocks, w.block * w.bits / 8}), w.bits);
}

/// Returns the zero points as [N, blocks, 1], or one for all.
Array zeros_of(const Call& c, const FewBits& w, Dtype dtype) {
  if (!c.has(3)) return full({1}, std::int64_t{1} << (w.bits - 1), dtype).to_device(c.device());
  const Array given = c.array(3);
  const Array all =
      given.dtype() == Dtype::uint8 ? unpacked_bits(given.reshape({w.N, given.size() / w.N}), w.bits) : given;
  return all.reshape({w.N, all.size() / w.N})
      .get({Index(slice()), Index(slice(w.blocks))})
      .astype(dtype)
      .reshape({w.N, w.blocks, 1});
}

/// Returns the weights [N, K].
Array unpacked_weights(const Call& c, const FewBits& w, Dtype dtype) {
  return multiply(subtract(elements_of(c, w).astype(dtype), zeros_of(c, w, dtype)),
                  c.array(2).astype(dtype).reshape({w.N, w.blocks, 1}))
      .reshape({w.N, w.blocks * w.block})
      .get({Index(slice()), Index(slice(w.K))});
}

/// Returns the weights as blocks of Quantization::q4_0, which have no zero points and scales of float16. Returns an
/// undefined array if the weights are not of this kind.
Array blocks_of_32(const Call& c, const FewBits& w) {
  if (w.bits != 4 || w.block % 32 != 0 || w.K % w.block != 0) return {};
  const Array scales = c.array(2), halves = scales.astype(Dtype::float16);
  if (!equal(halves.astype(scales.dtype()), scales).all() || !equal(zeros_of(c, w, Dtype::float32), 8).all()) return {};
  const std::int64_t count = w.K / 32;
  const Array elements = elements_of(c, w).reshape({w.N, count, 2, 16});
  const Array bytes = bitwise_or(elements.get({Index(ellipsis), Index(0), Index(slice())}),
                                 left_shift(elements.get({Index(ellipsis), Index(1), Index(slice())}), 4));
  const Array each = repeat(halves.reshape({w.N, w.blocks, 1}), w.block / 32, 1).copy();
  return concatenate({view(each, Dtype::uint8), bytes.astype(Dtype::uint8)}, 2).reshape({w.N, count * 18});
}

Values product_of_few_bits(const Call& c) {
  const FewBits w = few_bits_of(c);
  const Variable x = c.x(0);
  const bool learns = config.enable_backprop && x.requires_grad();
  if (!learns && c.are_constant({1, 2, 3})) {
    if (const Array blocks = c.kept(0, {1, 2, 3}, [&] { return blocks_of_32(c, w); }); blocks.defined()) {
      const Array y = linear(x.array(), QuantizedArray(blocks, Quantization::q4_0, {w.N, w.K}));
      return {c.has(5) ? Variable(y) + c.x(5) : Variable(y)};
    }
  }
  const int key = 1 + static_cast<int>(x.dtype());
  const Variable weights = c.kept(key, {1, 2, 3}, [&] { return unpacked_weights(c, w, x.dtype()); });
  const Variable y = F::matmul(x, weights, false, true);
  return {c.has(5) ? y + c.x(5) : y};
}

}  // namespace

std::span<const Operator> microsoft_operators() {
  static const Operator rows[] = {
      {"FusedMatMul", 1, fused_product, kMicrosoft},
      {"FusedGemm", 1, fused_general_product, kMicrosoft},
      {"FusedConv", 1, fused_convolution, kMicrosoft},
      {"Gelu", 1, [](const Call& c) { return Values{F::gelu(c.x(0))}; }, kMicrosoft},
      {"BiasGelu", 1, [](const Call& c) { return biased_gelu(c, F::GeluForm::erf); }, kMicrosoft},
      {"FastGelu", 1, [](const Call& c) { return biased_gelu(c, F::GeluForm::tanh); }, kMicrosoft},
      {"QuickGelu", 1, quick_gelu, kMicrosoft},
      {"SkipLayerNormalization", 1, skip_layer_normalization, kMicrosoft},
      {"SkipSimplifiedLayerNormalization", 1, skip_rms_normalization, kMicrosoft},
      // ONNX Runtime puts this one into ai.onnx
      {"SimplifiedLayerNormalization", 1, simplified_layer_normalization},
      {"EmbedLayerNormalization", 1, embedded_and_normalized, kMicrosoft},
      {"MatMulNBits", 1, product_of_few_bits, kMicrosoft},
  };
  return rows;
}

}  // namespace catenary::onnx
