#pragma once
// Hooks that compute a link's weight for each call from a learnt parameter.

#include <optional>
#include <string>

#include "catenary/core/fields.h"
#include "catenary/links/link.h"

namespace catenary::link_hooks {

/// Replaces one of a link's parameters by normalized(weight) during calls. Gradients flow to the original parameter
/// through normalized(). A hook belongs to a single link, and only one thread may call that link at a time. Throws
/// ValueError when added to a link without such a parameter, to a second link, or to a thread.
class CT_API WeightHook : public LinkHook {
 public:
  std::string name() const override { return name_; }
  const std::string& weight_name() const { return weight_name_; }

  void added(const Link* link) override;
  void deleted(const Link* link) noexcept override;
  void forward_preprocess(const LinkCall& call) override;
  void forward_postprocess(const LinkCall& call) override { restore(call.link); }
  void forward_failed(const LinkCall& call) noexcept override { restore(call.link); }

 protected:
  WeightHook(std::string name, std::string weight_name);
  /// Called when the hook is added, with the link's parameter, whose shape may still be unknown.
  virtual void start(const Link&, const Parameter&) {}
  virtual Variable normalized(const Variable& weight) = 0;

 private:
  void restore(const Link& link) noexcept;
  std::string name_, weight_name_;
  bool in_use_ = false;
  Parameter learnt_;  ///< the original parameter, during a call
};

/// Options of SpectralNormalization.
struct SpectralNormalizationOptions {
  int n_power_iteration = 1;
  double eps = 1e-6;
  bool use_gamma = false;             ///< multiply by a learnt factor that starts as the largest singular value
  std::optional<double> factor = {};  ///< divides the singular value if given
  std::string weight_name = "W";
  std::string name = "SpectralNormalization";
};
CT_FIELDS(SpectralNormalizationOptions, n_power_iteration, eps, use_gamma, factor, weight_name, name)
/// Divides a weight by its largest singular value. The matrix has the weight's first axis (a deconvolution's second) as
/// rows and all others as columns. Each call in training continues the power iteration by `n_power_iteration` steps
/// from the link's persistent "W_u" (named after the weight), which starts random. use_gamma adds a parameter "gamma"
/// to the link. Throws ValueError for less than one iteration, and for a weight without elements along the axis.
/// (chainer.link_hooks.SpectralNormalization) (Miyato et al., arXiv:1802.05957)
class CT_API SpectralNormalization : public WeightHook {
 public:
  explicit SpectralNormalization(const SpectralNormalizationOptions& options = {});
  /// Returns the name of the persistent singular vector, such as "W_u".
  std::string vector_name() const { return weight_name() + "_u"; }
  /// Returns the left singular vector, undefined until the weight's shape is known.
  const Array& u() const { return u_.array(); }
  /// Returns the right singular vector of the last call.
  const Array& v() const { return v_; }
  /// Undefined without use_gamma.
  const Parameter& gamma() const { return gamma_; }

  void deleted(const Link* link) noexcept override;
  void visit_members(MemberVisitor& visitor) override;
  std::shared_ptr<LinkHook> copy() const override { return std::make_shared<SpectralNormalization>(*this); }

 protected:
  void start(const Link& link, const Parameter& weight) override;
  Variable normalized(const Variable& weight) override;

 private:
  void prepare(const Array& weight);
  template <class T>
  T as_matrix(const T& weight) const;
  SpectralNormalizationOptions options_;
  int axis_ = 0;
  Persistent u_;
  Array v_;
  Parameter gamma_;
};

/// Options of WeightStandardization.
struct WeightStandardizationOptions {
  double eps = 1e-5;
  std::string weight_name = "W";
  std::string name = "WeightStandardization";
};
CT_FIELDS(WeightStandardizationOptions, eps, weight_name, name)
/// Normalises each filter W[i] of a weight to mean 0 and variance 1: (W[i] - mean) / sqrt(var + eps).
/// (chainer.link_hooks.WeightStandardization) (Qiao et al., arXiv:1903.10520)
class CT_API WeightStandardization : public WeightHook {
 public:
  explicit WeightStandardization(const WeightStandardizationOptions& options = {});
  std::shared_ptr<LinkHook> copy() const override { return std::make_shared<WeightStandardization>(*this); }

 protected:
  Variable normalized(const Variable& weight) override;

 private:
  double eps_;
};

}  // namespace catenary::link_hooks
