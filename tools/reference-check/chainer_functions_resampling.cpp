// Entries of functions that resample images or displace windows.

#include "catenary/functions/patches.h"
#include "catenary/functions/resampling.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_resampling_functions(FunctionTable& table) {
  table.add("im2col", [](const Inputs& x, Keywords& k) { return F::im2col(x[0], k.integers("ksize"), k.options()); });
  table.add("shift", [](const Inputs& x, Keywords& k) {
    return F::shift(x[0], k.value<catenary::PerAxis>("ksize", 3), k.value<catenary::PerAxis>("dilate", 1));
  });
  table.add("resize_images", [](const Inputs& x, Keywords& k) {
    return F::resize_images(x[0], k.integers("output_shape"), k.options());
  });
  table.add("spatial_transformer_grid",
            [](const Inputs& x, Keywords& k) { return F::spatial_transformer_grid(x[0], k.integers("output_shape")); });
  table.binary("spatial_transformer_sampler", F::spatial_transformer_sampler);
  table.add("deformable_convolution_2d_sampler", [](const Inputs& x, Keywords& k) {
    return x.size() > 3 ? F::deformable_convolution_2d_sampler(x[0], x[1], x[2], x[3], k.options())
                        : F::deformable_convolution_2d_sampler(x.at(0), x.at(1), x.at(2), k.options());
  });
}

}  // namespace reference
