#pragma once
// Inception modules of GoogLeNet.

#include <optional>
#include <string>

#include "catenary/core/fields.h"
#include "catenary/links/convolution.h"
#include "catenary/links/normalization.h"

namespace catenary::links {

/// Options of Inception.
struct InceptionOptions {
  std::optional<ParameterInit> conv_init = {};  ///< LeCunNormal by default
  ParameterInit bias_init = 0;
};
CT_FIELDS(InceptionOptions, conv_init, bias_init)
/// Four parallel branches, concatenated along channels:
///
/// - a 1 × 1 convolution to out1 channels
/// - a 1 × 1 convolution to proj3 channels, then a 3 × 3 one to out3
/// - a 1 × 1 convolution to proj5 channels, then a 5 × 5 one to out5
/// - a max pooling, then a 1 × 1 convolution to proj_pool channels
///
/// (chainer.links.Inception) (Szegedy et al., arXiv:1409.4842)
class CT_API Inception : public Chain {
 public:
  Inception(const std::optional<std::int64_t>& in_channels, std::int64_t out1, std::int64_t proj3, std::int64_t out3,
            std::int64_t proj5, std::int64_t out5, std::int64_t proj_pool, const InceptionOptions& options = {});
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "Inception"; }
  Convolution2D conv1, proj3, conv3, proj5, conv5, projp;
  CT_LINKS(conv1, proj3, conv3, proj5, conv5, projp)
};

/// Options of InceptionBN.
struct InceptionBNOptions {
  std::optional<std::int64_t> proj_pool = {};  ///< nullopt keeps the pooled channels unchanged
  PerAxis stride = 1;
  std::optional<ParameterInit> conv_init = {};  ///< LeCunNormal by default
  std::optional<Dtype> dtype = {};              ///< of the normalizations, config.dtype by default
};
CT_FIELDS(InceptionBNOptions, proj_pool, stride, conv_init, dtype)
/// Inception with two 3 × 3 convolutions instead of the 5 × 5 one, a batch normalization after each convolution, and a
/// "max" or "avg" pooling. out1 may be 0. Throws ValueError for other poolings, and for out1 channels with a stride or
/// without proj_pool. (chainer.links.InceptionBN) (Ioffe and Szegedy, arXiv:1502.03167)
class CT_API InceptionBN : public Chain {
 public:
  InceptionBN(const std::optional<std::int64_t>& in_channels, std::int64_t out1, std::int64_t proj3, std::int64_t out3,
              std::int64_t proj33, std::int64_t out33, const std::string& pooltype,
              const InceptionBNOptions& options = {});
  Variable operator()(const Variable& x) const;
  std::string type_name() const override { return "InceptionBN"; }
  Convolution2D proj3, conv3, proj33, conv33a, conv33b;
  BatchNormalization proj3n, conv3n, proj33n, conv33an, conv33bn;
  std::optional<Convolution2D> conv1, poolp;
  std::optional<BatchNormalization> conv1n, poolpn;
  CT_LINKS(proj3, conv3, proj33, conv33a, conv33b, conv1, proj3n, conv3n, proj33n, conv33an, conv33bn, conv1n, poolp,
           poolpn)

 private:
  bool max_;
  PerAxis stride_;
};

}  // namespace catenary::links
