#pragma once
// Hooks that compute a link's weight anew for each call, from the parameter that is learnt.

#include <optional>
#include <string>

#include "catenary/core/fields.h"
#include "catenary/links/link.h"

namespace catenary::link_hooks {

/// Has a link's calls see normalized(weight) in the place of one of its parameters, which is back when a call has
/// ended: gradients reach it through normalized(). A hook belongs to one link, which one thread at a time may call.
/// Throws ValueError when it is added to a link without such a parameter, to a second link, or to a thread.
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
  /// The first sight of the link's parameter, when it is added; it may wait for its shape still.
  virtual void start(const Link&, const Parameter&) {}
  virtual Variable normalized(const Variable& weight) = 0;

 private:
  void restore(const Link& link) noexcept;
  std::string name_, weight_name_;
  bool in_use_ = false;
  Parameter learnt_;  ///< during a call
};

/// Options of SpectralNormalization.
struct SpectralNormalizationOptions {
  int n_power_iteration = 1;
  double eps = 1e-6;
  bool use_gamma = false;             ///< multiply by a learnt number, which begins as the largest singular value?
  std::optional<double> factor = {};  ///< divides the singular value, where given
  std::string weight_name = "W";
  std::string name = "SpectralNormalization";
};
CT_FIELDS(SpectralNormalizationOptions, n_power_iteration, eps, use_gamma, factor, weight_name, name)
/// Divides a weight by its largest singular value, that of the matrix of its first axis (a deconvolution's second) by
/// all others. Each call in training goes `n_power_iteration` steps of the power iteration on from the singular vector
/// that the link saves as the persistent "W_u" (after the weight's name); it begins at random. With use_gamma the link
/// has a parameter "gamma". Throws ValueError without iterations, and for a weight without elements along the axis.
/// (chainer.link_hooks.SpectralNormalization; Miyato et al., arXiv:1802.05957)
class CT_API SpectralNormalization : public WeightHook {
 public:
  explicit SpectralNormalization(const SpectralNormalizationOptions& options = {});
  /// Name of the persistent singular vector, such as "W_u".
  std::string vector_name() const { return weight_name() + "_u"; }
  /// The singular vector on the side of the outputs, undefined while the weight waits for its shape.
  const Array& u() const { return u_.array(); }
  /// The one on the other side, of the last call.
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
/// Brings each filter W[i] of a weight to mean 0 and variance 1: (W[i] - mean) / sqrt(var + eps).
/// (chainer.link_hooks.WeightStandardization; Qiao et al., arXiv:1903.10520)
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
