#pragma once
// initializers/: what new parameters are filled with, as Chainer's. (chainer.initializers)

#include "catenary/autograd/parameter.h"

namespace catenary::initializers {

/// How many inputs and outputs an element of a weight of this shape connects: for (out, in, k…) in·Πk and out·Πk.
/// Throws ValueError for fewer than 2 axes. (chainer.initializer.get_fans)
CT_API std::pair<std::int64_t, std::int64_t> get_fans(const Shape& shape);

#define CT_INITIALIZER_BODY void operator()(const Array& array) const override;

/// One value everywhere.
class CT_API Constant : public Initializer {
 public:
  explicit Constant(Scalar value, std::optional<Dtype> dtype = {}) : Initializer(dtype), value_(value) {}
  CT_INITIALIZER_BODY
 private:
  Scalar value_;
};
/// 0, 1, NaN.
CT_API Constant Zero(std::optional<Dtype> dtype = {});
CT_API Constant One(std::optional<Dtype> dtype = {});
CT_API Constant NaN(std::optional<Dtype> dtype = {});

/// `scale` on the diagonal of a square matrix, 0 elsewhere.
class CT_API Identity : public Initializer {
 public:
  explicit Identity(double scale = 1.0, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};

/// Orthogonal rows (or columns, where there are fewer of them), times `scale` (Saxe et al., arXiv:1312.6120). `mode`
/// says what may be done to a weight with more outputs than inputs: "embedding" allows it, "projection" the opposite,
/// "basis" neither, "auto" both. Throws ValueError for a shape that does not fit, and for one without elements.
class CT_API Orthogonal : public Initializer {
 public:
  explicit Orthogonal(double scale = 1.1, std::optional<Dtype> dtype = {}, std::string mode = "auto");
  CT_INITIALIZER_BODY
 private:
  double scale_;
  std::string mode_;
};

/// Uniform in [-scale, scale].
class CT_API Uniform : public Initializer {
 public:
  explicit Uniform(double scale = 0.05, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};
/// Normal with deviation `scale`.
class CT_API Normal : public Initializer {
 public:
  explicit Normal(double scale = 0.05, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};

/// Uniform in ±scale·sqrt(3 / fan_in) (LeCun et al., 1998).
class CT_API LeCunUniform : public Initializer {
 public:
  explicit LeCunUniform(double scale = 1.0, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};
/// Normal with deviation scale·sqrt(1 / fan_in): what links use when nothing is said.
class CT_API LeCunNormal : public Initializer {
 public:
  explicit LeCunNormal(double scale = 1.0, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};
/// Uniform in ±scale·sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010).
class CT_API GlorotUniform : public Initializer {
 public:
  explicit GlorotUniform(double scale = 1.0, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};
/// Normal with deviation scale·sqrt(2 / (fan_in + fan_out)).
class CT_API GlorotNormal : public Initializer {
 public:
  explicit GlorotNormal(double scale = 1.0, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};
/// Uniform in ±scale·sqrt(6 / fan_in) (He et al., arXiv:1502.01852).
class CT_API HeUniform : public Initializer {
 public:
  explicit HeUniform(double scale = 1.0, std::optional<Dtype> dtype = {}) : Initializer(dtype), scale_(scale) {}
  CT_INITIALIZER_BODY
 private:
  double scale_;
};
/// Normal with deviation scale·sqrt(2 / fan); fan is fan_in, or fan_out when `fan_option` says so.
class CT_API HeNormal : public Initializer {
 public:
  explicit HeNormal(double scale = 1.0, std::optional<Dtype> dtype = {}, std::string fan_option = "fan_in");
  CT_INITIALIZER_BODY
 private:
  double scale_;
  std::string fan_option_;
};

/// Kernels of linear interpolation along each axis, for deconvolutions that scale up, and the same with a sum of 1, for
/// convolutions that scale down: from channel i to channel i of a weight (n, n, k, k, …), or for each channel of a
/// weight (n, 1, k, k, …). Throw ValueError for other shapes. (Long et al., arXiv:1411.4038)
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
