#include "catenary/links/models/mobilenet.h"

#include <algorithm>
#include <cmath>

#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/math_reduction.h"
#include "catenary/functions/noise.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

namespace {

Convolution2D conv(std::int64_t in, std::int64_t out, std::int64_t ksize, std::int64_t stride = 1,
                   std::int64_t groups = 1) {
  return {in,
          out,
          ksize,
          {.stride = stride,
           .pad = ksize / 2,
           .nobias = true,
           .initialW = initializers::HeNormal(1.0, {}, "fan_out"),
           .groups = groups}};
}

Variable relu6(const Variable& x) { return functions::clipped_relu(x, 6); }

/// The nearest multiple of 8 that is at least nine tenths of the scaled channels.
std::int64_t scaled(std::int64_t channels, double width) {
  const double wanted = static_cast<double>(channels) * width;
  const std::int64_t near = std::max<std::int64_t>(8, std::llround(wanted / 8) * 8);
  return static_cast<double>(near) < 0.9 * wanted ? near + 8 : near;
}
/// The last layer never becomes narrower.
std::int64_t last_channels(double width) { return scaled(1280, std::max(width, 1.0)); }

double eps_of(const MobileNetV2Options& options) { return options.torchvision ? 1e-5 : 2e-5; }

std::vector<InvertedResidual> blocks_of(double width, double eps) {
  struct Stage {
    std::int64_t expansion, channels, count, stride;
  };
  std::vector<InvertedResidual> blocks;
  std::int64_t in = scaled(32, width);
  for (const Stage& stage : {Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2}, Stage{6, 32, 3, 2}, Stage{6, 64, 4, 2},
                             Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1}}) {
    const std::int64_t out = scaled(stage.channels, width);
    for (std::int64_t i = 0; i < stage.count; ++i) {
      blocks.emplace_back(in, out, i == 0 ? stage.stride : 1, stage.expansion, eps);
      in = out;
    }
  }
  return blocks;
}

double checked_width(double width) {
  if (!(width > 0)) fail<ValueError>("MobileNetV2: width must be positive, not {}", width);
  return width;
}

}  // namespace

InvertedResidual::InvertedResidual(std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t expansion,
                                   double eps)
    : depthwise(conv(in * expansion, in * expansion, 3, stride, in * expansion)),
      depthwise_bn(in * expansion, {.eps = eps}),
      project(conv(in * expansion, out, 1)),
      project_bn(out, {.eps = eps}),
      adds_input_(stride == 1 && in == out) {
  if (expansion == 1) return;
  expand = conv(in, in * expansion, 1);
  expand_bn.emplace(in * expansion, BatchNormalizationLinkOptions{.eps = eps});
}

Variable InvertedResidual::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&] {
        const Variable wide = expand ? relu6((*expand_bn)((*expand)(x))) : x;
        const Variable y = project_bn(project(relu6(depthwise_bn(depthwise(wide)))));
        return adds_input_ ? x + y : y;
      },
      x);
}

MobileNetV2::MobileNetV2(const MobileNetV2Options& options)
    : first(conv(3, scaled(32, checked_width(options.width)), 3, 2)),
      first_bn(scaled(32, options.width), {.eps = eps_of(options)}),
      blocks(blocks_of(options.width, eps_of(options))),
      last(conv(scaled(320, options.width), last_channels(options.width), 1)),
      last_bn(last_channels(options.width), {.eps = eps_of(options)}),
      fc(last_channels(options.width), options.classes, {.initialW = initializers::Normal(0.01)}),
      dropout_(options.dropout) {}

void MobileNetV2::visit_members(MemberVisitor& visitor) const {
  catenary::detail::visit_all(visitor, {"first", "first_bn", "last", "last_bn", "fc"}, first, first_bn, last, last_bn,
                              fc);
  for (std::size_t i = 0; i < blocks.size(); ++i) visitor(std::to_string(i), const_cast<InvertedResidual&>(blocks[i]));
}

Variable MobileNetV2::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&] {
        Variable h = relu6(first_bn(first(x)));
        for (const InvertedResidual& block : blocks) h = block(h);
        h = relu6(last_bn(last(h)));
        return fc(functions::dropout(functions::mean(h, {2, 3}), dropout_));
      },
      x);
}

}  // namespace catenary::links
