#pragma once
// Fully connected layers and other links with weights.

#include <functional>
#include <optional>

#include "catenary/core/fields.h"
#include "catenary/core/optional_shape.h"
#include "catenary/links/link.h"
#include "catenary/links/quantized.h"

namespace catenary::links {

/// Options of Linear.
struct LinearOptions {
  bool nobias = false;
  std::optional<ParameterInit> initialW = {};  ///< LeCunNormal by default
  ParameterInit initial_bias = 0;
  int n_batch_axes = 1;  ///< default of each call, -1 to treat the last axis as the input, as torch does
};
CT_FIELDS(LinearOptions, nobias, initialW, initial_bias, n_batch_axes)

/// y = x Wᵀ + b for x (N, in_size) and W (out_size, in_size), which may be quantised. (chainer.links.Linear)
class CT_API Linear : public QuantizableW {
 public:
  /// Determines the input size at the first call.
  explicit Linear(std::int64_t out_size, const LinearOptions& options = {});
  Linear(std::int64_t in_size, std::int64_t out_size, const LinearOptions& options = {});
  /// Uses the option n_batch_axes.
  Variable operator()(const Variable& x) const { return (*this)(x, n_batch_axes); }
  /// Treats the first n_batch_axes axes as the batch and the others as inputs. Negative values count from the end: -1
  /// means all axes but the last.
  Variable operator()(const Variable& x, int n_batch_axes) const;
  std::string type_name() const override { return "Linear"; }
  std::int64_t out_size;
  int n_batch_axes;
  Parameter b;
  CT_MORE_LINKS(QuantizableW, W, b, W_blocks, W_kind)

 private:
  Shape shape_of_W(const QuantizedArray& w) const override { return {out_size, w.columns()}; }
};

/// Options of Bilinear.
struct BilinearOptions {
  bool nobias = false;
  std::optional<ParameterInit> initialW = {};
  ParameterInit initial_bias = 0;
};
CT_FIELDS(BilinearOptions, nobias, initialW, initial_bias)
/// y_k = x1ᵀ W_k x2 + V1 x1 + V2 x2 + b. (chainer.links.Bilinear)
class CT_API Bilinear : public Link {
 public:
  Bilinear(std::int64_t left_size, std::int64_t right_size, std::int64_t out_size, const BilinearOptions& options = {});
  Variable operator()(const Variable& e1, const Variable& e2) const;
  std::string type_name() const override { return "Bilinear"; }
  Parameter W, V1, V2, b;
  CT_LINKS(W, V1, V2, b)

 private:
  bool nobias_;
};

/// Options of EmbedID.
struct EmbedIDOptions {
  std::optional<ParameterInit> initialW = {};     ///< Normal(1) by default
  std::optional<std::int64_t> ignore_label = {};  ///< an id whose vector is 0
};
CT_FIELDS(EmbedIDOptions, initialW, ignore_label)
/// Returns rows of W (in_size, out_size) by id. Rows of a quantised W have config.dtype. (chainer.links.EmbedID)
class CT_API EmbedID : public QuantizableW {
 public:
  EmbedID(std::int64_t in_size, std::int64_t out_size, const EmbedIDOptions& options = {});
  Variable operator()(const Variable& x) const;
  /// Returns x Wᵀ over the last axis: each id's score, for models whose last layer shares W.
  Variable scores(const Variable& x) const;
  std::string type_name() const override { return "EmbedID"; }
  std::optional<std::int64_t> ignore_label;
  CT_MORE_LINKS(QuantizableW, W, W_blocks, W_kind)

 private:
  Shape shape_of_W(const QuantizedArray&) const override { return shape_; }
  Shape shape_;
};

/// x times W, broadcast from `axis` on. W is a parameter, or without `W_shape` the second input. (chainer.links.Scale)
class CT_API Scale : public Link {
 public:
  /// `bias_term` adds a bias of W's shape.
  explicit Scale(int axis = 1, const OptionalShape& W_shape = {}, bool bias_term = false,
                 const OptionalShape& bias_shape = {});
  Variable operator()(const Variable& x) const;
  Variable operator()(const Variable& x, const Variable& W) const;
  std::string type_name() const override { return "Scale"; }
  int axis;
  Parameter W, bias;
  CT_LINKS(W, bias)
};

/// x plus b, broadcast from `axis` on. b is a parameter, or without a shape the second input. (chainer.links.Bias)
class CT_API Bias : public Link {
 public:
  explicit Bias(int axis = 1, const OptionalShape& shape = {});
  Variable operator()(const Variable& x) const;
  Variable operator()(const Variable& x, const Variable& b) const;
  std::string type_name() const override { return "Bias"; }
  int axis;
  Parameter b;
  CT_LINKS(b)
};

/// A Linear with out_size · pool_size outputs, reduced to the maximum of each pool. (chainer.links.Maxout) (Goodfellow
/// et al., arXiv:1302.4389)
class CT_API Maxout : public Chain {
 public:
  Maxout(std::int64_t in_size, std::int64_t out_size, std::int64_t pool_size,
         const std::optional<ParameterInit>& initialW = {}, const ParameterInit& initial_bias = 0);
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "Maxout"; }
  std::int64_t out_size, pool_size;
  Linear linear;
  CT_LINKS(linear)
};

/// y = t · relu(plain(x)) + (1 - t) · x with t = sigmoid(transform(x)). (chainer.links.Highway) (Srivastava et al.,
/// arXiv:1505.00387)
class CT_API Highway : public Chain {
 public:
  explicit Highway(std::int64_t in_out_size, bool nobias = false,
                   std::function<Variable(const Variable&)> activate = {},
                   const std::optional<ParameterInit>& init_Wh = {}, const std::optional<ParameterInit>& init_Wt = {},
                   const ParameterInit& init_bh = 0, const ParameterInit& init_bt = -1);
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "Highway"; }
  std::function<Variable(const Variable&)> activate;
  Linear plain, transform;
  CT_LINKS(plain, transform)
};

/// Leaky relu with a learnt slope for each element of `shape`, by default a single slope. (chainer.links.PReLU) (He et
/// al., arXiv:1502.01852)
class CT_API PReLU : public Link {
 public:
  explicit PReLU(const Shape& shape = {}, double init = 0.25);
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "PReLU"; }
  Parameter W;
  CT_LINKS(W)
};

/// x · sigmoid(beta · x) with a learnt beta. Its shape is `beta_shape`, by default that of x without the first axis,
/// determined at the first call. (chainer.links.Swish) (Ramachandran, Zoph and Le, arXiv:1710.05941)
class CT_API Swish : public Link {
 public:
  explicit Swish(const OptionalShape& beta_shape = {}, const ParameterInit& beta_init = 1.0);
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "Swish"; }
  Parameter beta;
  CT_LINKS(beta)
};

/// Options of SimplifiedDropconnect.
struct SimplifiedDropconnectOptions {
  double ratio = 0.5;  ///< fraction of weights that are dropped
  bool nobias = false;
  std::optional<ParameterInit> initialW = {};  ///< LeCunNormal by default
  ParameterInit initial_bias = 0;
};
CT_FIELDS(SimplifiedDropconnectOptions, ratio, nobias, initialW, initial_bias)
/// A Linear that drops weights in training. (chainer.links.SimplifiedDropconnect) (Wan et al. 2013)
class CT_API SimplifiedDropconnect : public Link {
 public:
  /// Without `in_size`, determines the input size at the first call.
  SimplifiedDropconnect(const std::optional<std::int64_t>& in_size, std::int64_t out_size,
                        const SimplifiedDropconnectOptions& options = {});
  /// Drops nothing if `train` is false. See functions::simplified_dropconnect for `mask` and `use_batchwise_mask`.
  Variable operator()(const Variable& x, bool train = true, const Array& mask = {},
                      bool use_batchwise_mask = true) const;
  std::string type_name() const override { return "SimplifiedDropconnect"; }
  std::int64_t out_size;
  double ratio;
  Parameter W, b;
  CT_LINKS(W, b)
};

/// A link that holds a parameter and returns it when called. (chainer.links.Parameter)
class CT_API ParameterLink : public Link {
 public:
  /// Uses the array as the parameter's data, without a copy.
  explicit ParameterLink(const Array& array);
  Variable operator()() const;
  std::string type_name() const override { return "Parameter"; }
  Parameter W;
  CT_LINKS(W)
};

}  // namespace catenary::links
