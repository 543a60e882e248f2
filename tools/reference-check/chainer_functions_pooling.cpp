// Entries of poolings.

#include "catenary/functions/pooling.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

namespace {

template <class Options>
Options window_options(Keywords& k) {
  Options options;
  if (!k.get("stride").is_null()) options.stride = k.integers("stride");
  if (k.given("pad")) options.pad = k.integers("pad");
  return options;
}

F::MaxPoolingOptions max_options(Keywords& k) {
  auto options = window_options<F::MaxPoolingOptions>(k);
  k.set("cover_all", options.cover_all);
  return options;
}

F::AveragePoolingOptions average_options(Keywords& k) {
  auto options = window_options<F::AveragePoolingOptions>(k);
  if (k.given("pad_value") && k.get("pad_value").is_null()) {
    options.pad_value = std::nullopt;
  } else {
    options.pad_value = k.real("pad_value");
  }
  return options;
}

F::UnpoolingOptions unpooling_options(Keywords& k) {
  auto options = window_options<F::UnpoolingOptions>(k);
  if (!k.get("outsize").is_null()) options.outsize = k.integers("outsize");
  k.set("cover_all", options.cover_all);
  return options;
}

}  // namespace

void add_pooling_functions(FunctionTable& table) {
#define CT_ENTRY(function, options) \
  table.add(#function, [](const Inputs& x, Keywords& k) { return F::function(x[0], k.integers("ksize"), options(k)); });
  CT_ENTRY(max_pooling_1d, max_options)
  CT_ENTRY(max_pooling_2d, max_options)
  CT_ENTRY(max_pooling_3d, max_options)
  CT_ENTRY(max_pooling_nd, max_options)
  CT_ENTRY(average_pooling_1d, average_options)
  CT_ENTRY(average_pooling_2d, average_options)
  CT_ENTRY(average_pooling_3d, average_options)
  CT_ENTRY(average_pooling_nd, average_options)
  CT_ENTRY(unpooling_1d, unpooling_options)
  CT_ENTRY(unpooling_2d, unpooling_options)
  CT_ENTRY(unpooling_3d, unpooling_options)
  CT_ENTRY(unpooling_nd, unpooling_options)
#undef CT_ENTRY
  table.add("upsampling_2d", [](const Inputs& x, Keywords& k) {
    return F::upsampling_2d(x[0], x.at(1).array(), k.integers("ksize"), unpooling_options(k));
  });
  table.add("spatial_pyramid_pooling_2d", [](const Inputs& x, Keywords& k) {
    return F::spatial_pyramid_pooling_2d(x[0], k.integer("pyramid_height"), k.text("pooling"));
  });
}

}  // namespace reference
