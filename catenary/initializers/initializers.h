#pragma once
// initializers/: initial values of parameters, as in Chainer. (chainer.initializers)

#include "catenary/autograd/parameter.h"

namespace catenary::initializers {

/// Returns the fan-in and fan-out of a weight of this shape: in·Πk and out·Πk for (out, in, k…). Throws ValueError for
/// fewer than 2 axes. (chainer.initializer.get_fans)
CT_API std::pair<std::int64_t, std::int64_t> get_fans(const Shape& shape);

#define CT_INITIALIZER_BODY void operator()(const Array& array) const override;

/// Fills with one value.
class CT_API Constant : public Initializer {
 public:
  explicit Constant(Scalar value, std::optional<Dtype> dtype = {}) : Initializer(dtype), value_(value) {}
  CT_INITIALIZER_BODY
 private:
  Scalar value_;
};
/// Fills with 0, 1 or NaN.
CT_API Constant Zero(std::optional<Dtype> dtype = {});
CT_API Constant One(std::optional<Dtype> dtype = {});
CT_API Constant NaN(std::optional<Dtype> dtype = {});

/// Sets the diagonal of a square matrix to `scale`, the rest to 0.
class CT_API Identity : public Initializer {
 public:
  explicit Identity(double scale = 1.0, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};

/// Makes orthogonal rows (or columns, if there are fewer columns), times `scale` (Saxe et al., arXiv:1312.6120). `mode`
/// restricts the shape: "embedding" requires at least as many outputs as inputs, "projection" at most as many, "basis"
/// equal numbers, and "auto" accepts all. Throws ValueError for other shapes and for a shape without elements.
class CT_API Orthogonal : public Initializer {
 public:
  explicit Orthogonal(double scale = 1.1, std::optional<Dtype> dtype = {}, std::string mode = "auto");
  CT_INITIALIZER_BODY
 private:
  double scale_;
  std::string mode_;
};

/// Draws from the uniform distribution on [-scale, scale].
class CT_API Uniform : public Initializer {
 public:
  explicit Uniform(double scale = 0.05, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};
/// Draws from the normal distribution with standard deviation `scale`.
class CT_API Normal : public Initializer {
 public:
  explicit Normal(double scale = 0.05, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};

/// Draws uniformly from ±scale·sqrt(3 / fan_in) (LeCun et al., 1998).
class CT_API LeCunUniform : public Initializer {
 public:
  explicit LeCunUniform(double scale = 1.0, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};
/// Draws normally with standard deviation scale·sqrt(1 / fan_in). The default of links.
class CT_API LeCunNormal : public Initializer {
 public:
  explicit LeCunNormal(double scale = 1.0, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};
/// Draws uniformly from ±scale·sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010).
class CT_API GlorotUniform : public Initializer {
 public:
  explicit GlorotUniform(double scale = 1.0, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};
/// Draws normally with standard deviation scale·sqrt(2 / (fan_in + fan_out)).
class CT_API GlorotNormal : public Initializer {
 public:
  explicit GlorotNormal(double scale = 1.0, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};
/// Draws uniformly from ±scale·sqrt(6 / fan_in) (He et al., arXiv:1502.01852).
class CT_API HeUniform : public Initializer {
 public:
  explicit HeUniform(double scale = 1.0, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};
/// Draws normally with standard deviation scale·sqrt(2 / fan), where `fan_option` chooses fan_in or fan_out.
class CT_API HeNormal : public Initializer {
 public:
  explicit HeNormal(double scale = 1.0, std::optional<Dtype> dtype = {}, std::string fan_option = "fan_in");
  CT_INITIALIZER_BODY
 private:
  double scale_;
  std::string fan_option_;
};

/// Kernels of linear interpolation along each axis: for deconvolutions that upsample and, with a sum of 1, for
/// convolutions that downsample. A weight (n, n, k, k, …) connects channel i to channel i; a weight (n, 1, k, k, …) is
/// one kernel per channel. Throw ValueError for other shapes. (Long et al., arXiv:1411.4038)
class CT_API UpsamplingDeconvFilter : public Initializer {
 public:
  explicit UpsamplingDeconvFilter(std::optional<Dtype> dtype = {}) : Initializer(dtype) {}
  CT_INITIALIZER_BODY
};
class CT_API DownsamplingConvFilter : public Initializer {
 public:
  explicit DownsamplingConvFilter(std::optional<Dtype> dtype = {}) : Initializer(dtype) {}
  CT_INITIALIZER_BODY
};
#undef CT_INITIALIZER_BODY

}  // namespace catenary::initializers
