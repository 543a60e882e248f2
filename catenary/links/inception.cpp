#include "catenary/links/inception.h"

#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/array.h"
#include "catenary/functions/pooling.h"

namespace catenary::links {

using functions::concat;
using functions::relu;

namespace {

ConvolutionLinkOptions padded(const InceptionOptions& options, std::int64_t pad) {
  return {.pad = pad, .initialW = options.conv_init, .initial_bias = options.bias_init};
}
/// no bias, as a normalization follows
ConvolutionLinkOptions unbiased(const InceptionBNOptions& options, const PerAxis& stride, std::int64_t pad) {
  return {.stride = stride, .pad = pad, .nobias = true, .initialW = options.conv_init};
}

}  // namespace

Inception::Inception(const std::optional<std::int64_t>& in, std::int64_t out1, std::int64_t to3, std::int64_t out3,
                     std::int64_t to5, std::int64_t out5, std::int64_t proj_pool, const InceptionOptions& options)
    : conv1(in, out1, 1, padded(options, 0)),
      proj3(in, to3, 1, padded(options, 0)),
      conv3(to3, out3, 3, padded(options, 1)),
      proj5(in, to5, 1, padded(options, 0)),
      conv5(to5, out5, 5, padded(options, 2)),
      projp(in, proj_pool, 1, padded(options, 0)) {}

Variable Inception::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&] {
        const Variable pooled = functions::max_pooling_2d(x, 3, {.stride = 1, .pad = 1});
        return relu(concat({conv1(x), conv3(relu(proj3(x))), conv5(relu(proj5(x))), projp(pooled)}));
      },
      x);
}

InceptionBN::InceptionBN(const std::optional<std::int64_t>& in, std::int64_t out1, std::int64_t to3, std::int64_t out3,
                         std::int64_t to33, std::int64_t out33, const std::string& pooltype,
                         const InceptionBNOptions& options)
    : proj3(in, to3, 1, unbiased(options, 1, 0)),
      conv3(to3, out3, 3, unbiased(options, options.stride, 1)),
      proj33(in, to33, 1, unbiased(options, 1, 0)),
      conv33a(to33, out33, 3, unbiased(options, 1, 1)),
      conv33b(out33, out33, 3, unbiased(options, options.stride, 1)),
      proj3n(to3, {.dtype = options.dtype}),
      conv3n(out3, {.dtype = options.dtype}),
      proj33n(to33, {.dtype = options.dtype}),
      conv33an(out33, {.dtype = options.dtype}),
      conv33bn(out33, {.dtype = options.dtype}),
      max_(pooltype == "max"),
      stride_(options.stride) {
  if (!max_ && pooltype != "avg") fail<ValueError>("InceptionBN: pooltype must be max or avg, not '{}'", pooltype);
  if (options.proj_pool) {
    poolp.emplace(in, *options.proj_pool, 1, unbiased(options, 1, 0));
    poolpn.emplace(*options.proj_pool, BatchNormalizationLinkOptions{.dtype = options.dtype});
  }
  if (out1 == 0) return;
  for (const std::int64_t stride : stride_)
    if (stride != 1) fail<ValueError>("InceptionBN: with out1 ({}) channels stride must be 1, not {}", out1, stride_);
  if (!options.proj_pool) fail<ValueError>("InceptionBN: with out1 ({}) channels proj_pool must be given", out1);
  conv1.emplace(in, out1, 1, unbiased(options, 1, 0));
  conv1n.emplace(out1, BatchNormalizationLinkOptions{.dtype = options.dtype});
}

Variable InceptionBN::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&] {
        std::vector<Variable> parts;
        if (conv1) parts.push_back(relu((*conv1n)((*conv1)(x))));
        parts.push_back(relu(conv3n(conv3(relu(proj3n(proj3(x)))))));
        parts.push_back(relu(conv33bn(conv33b(relu(conv33an(conv33a(relu(proj33n(proj33(x))))))))));
        const Variable pooled = max_
                                    ? functions::max_pooling_2d(x, 3, {.stride = stride_, .pad = 1, .cover_all = false})
                                    : functions::average_pooling_2d(x, 3, {.stride = stride_, .pad = 1});
        parts.push_back(poolp ? relu((*poolpn)((*poolp)(pooled))) : pooled);
        return concat(parts);
      },
      x);
}

}  // namespace catenary::links
