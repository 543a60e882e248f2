// Entries of poolings.

#include "catenary/functions/pooling.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_pooling_functions(FunctionTable& table) {
#define CT_ENTRY(function) \
  table.add(#function,     \
            [](const Inputs& x, Keywords& k) { return F::function(x[0], k.integers("ksize"), k.options()); });
  CT_ENTRY(max_pooling_1d)
  CT_ENTRY(max_pooling_2d)
  CT_ENTRY(max_pooling_3d)
  CT_ENTRY(max_pooling_nd)
  CT_ENTRY(average_pooling_1d)
  CT_ENTRY(average_pooling_2d)
  CT_ENTRY(average_pooling_3d)
  CT_ENTRY(average_pooling_nd)
  CT_ENTRY(unpooling_1d)
  CT_ENTRY(unpooling_2d)
  CT_ENTRY(unpooling_3d)
  CT_ENTRY(unpooling_nd)
#undef CT_ENTRY
  table.add("upsampling_2d", [](const Inputs& x, Keywords& k) {
    return F::upsampling_2d(x[0], x.at(1).array(), k.integers("ksize"), k.options());
  });
  table.add("spatial_pyramid_pooling_2d", [](const Inputs& x, Keywords& k) {
    return F::spatial_pyramid_pooling_2d(x[0], k.integer("pyramid_height"), k.text("pooling"));
  });
}

}  // namespace reference
