#include "catenary/links/models/unet.h"

#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/array.h"
#include "catenary/functions/pooling.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

using functions::relu;

namespace {

Convolution2D conv(std::int64_t in, std::int64_t out) {
  return {in, out, 3, {.pad = 1, .nobias = true, .initialW = initializers::HeNormal()}};
}

}  // namespace

UNet::Level::Level(std::int64_t in, std::int64_t out)
    : conv1(conv(in, out)), bn1(out), conv2(conv(out, out)), bn2(out) {}

Variable UNet::Level::operator()(const Variable& x) const {
  return hooked(
      *this, [&] { return relu(bn2(conv2(relu(bn1(conv1(x)))))); }, x);
}

UNet::UNet(std::int64_t in, std::int64_t classes, const UNetOptions& options) : last(options.channels, classes, 1) {
  if (options.depth < 1 || options.depth > 16)
    fail<ValueError>("UNet: depth must be from 1 to 16, not {}", options.depth);
  std::int64_t channels = options.channels;
  down.emplace_back(in, channels);
  for (int level = 0; level < options.depth; ++level, channels *= 2) {
    down.emplace_back(channels, 2 * channels);
    grow.emplace_back(2 * channels, channels, 2, DeconvolutionLinkOptions{.stride = 2});
    up.emplace_back(2 * channels, channels);
  }
}

void UNet::visit_members(MemberVisitor& visitor) const {
  const auto visit = [&](const char* name, const auto& links) {
    for (std::size_t i = 0; i < links.size(); ++i)
      visitor(name + std::to_string(i), const_cast<std::remove_cvref_t<decltype(links[i])>&>(links[i]));
  };
  visit("down", down), visit("grow", grow), visit("up", up);
  visitor("last", const_cast<Convolution2D&>(last));
}

Variable UNet::operator()(const Variable& x) const {
  const std::int64_t unit = std::int64_t{1} << grow.size();
  if (x.ndim() != 4 || x.shape(2) % unit != 0 || x.shape(3) % unit != 0)
    fail<ShapeError>("UNet: x must be (n, channels, h, w) with h and w multiples of {}, not {}", unit, x.shape());
  return hooked(
      *this,
      [&] {
        std::vector<Variable> levels = {down[0](x)};
        for (std::size_t i = 0; i < grow.size(); ++i)
          levels.push_back(down[i + 1](functions::max_pooling_2d(levels[i], 2)));
        Variable h = levels.back();
        for (std::size_t i = grow.size(); i-- > 0;) h = up[i](functions::concat({levels[i], grow[i](h)}));
        return last(h);
      },
      x);
}

}  // namespace catenary::links
