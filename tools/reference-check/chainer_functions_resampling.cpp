// Entries of functions that resample images and move their windows.

#include "catenary/functions/patches.h"
#include "catenary/functions/resampling.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_resampling_functions(FunctionTable& table) {
  table.add("im2col", [](const Inputs& x, Keywords& k) {
    F::Im2ColOptions options;
    if (k.given("stride")) options.stride = k.integers("stride");
    if (k.given("pad")) options.pad = k.integers("pad");
    if (k.given("dilate")) options.dilate = k.integers("dilate");
    k.set("cover_all", options.cover_all);
    return F::im2col(x[0], k.integers("ksize"), options);
  });
  table.add("shift", [](const Inputs& x, Keywords& k) {
    return F::shift(x[0], k.given("ksize") ? k.integers("ksize") : catenary::Shape{3},
                    k.given("dilate") ? k.integers("dilate") : catenary::Shape{1});
  });
  table.add("resize_images", [](const Inputs& x, Keywords& k) {
    F::ResizeOptions options;
    if (k.text("mode") == "nearest") options.mode = F::ResizeMode::nearest;
    options.align_corners = k.flag("align_corners", true);
    return F::resize_images(x[0], k.integers("output_shape"), options);
  });
  table.add("spatial_transformer_grid",
            [](const Inputs& x, Keywords& k) { return F::spatial_transformer_grid(x[0], k.integers("output_shape")); });
  table.binary("spatial_transformer_sampler", F::spatial_transformer_sampler);
  table.add("deformable_convolution_2d_sampler", [](const Inputs& x, Keywords& k) {
    F::DeformableConvolutionOptions options;
    if (k.given("stride")) options.stride = k.integers("stride");
    if (k.given("pad")) options.pad = k.integers("pad");
    return x.size() > 3 ? F::deformable_convolution_2d_sampler(x[0], x[1], x[2], x[3], options)
                        : F::deformable_convolution_2d_sampler(x.at(0), x.at(1), x.at(2), options);
  });
}

}  // namespace reference
