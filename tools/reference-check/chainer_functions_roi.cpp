// Entries of functions on regions of images.

#include "catenary/functions/roi.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_roi_functions(FunctionTable& table) {
  table.add("roi_pooling_2d", [](const Inputs& x, Keywords& k) {
    return F::roi_pooling_2d(x[0], x[1], k.integer("outh"), k.integer("outw"), k.real("spatial_scale"));
  });
  const auto pooling = [&](const char* name, auto f) {
    table.add(name, [f](const Inputs& x, Keywords& k) {
      return f(x[0], x[1], x[2], k.integers("outsize"), k.real("spatial_scale"));
    });
  };
  pooling("roi_max_pooling_2d", F::roi_max_pooling_2d);
  pooling("roi_average_pooling_2d", F::roi_average_pooling_2d);
  const auto align = [&](const char* name, auto f) {
    table.add(name, [f](const Inputs& x, Keywords& k) {
      return f(x[0], x[1], x[2], k.integers("outsize"), k.real("spatial_scale"),
               k.value<catenary::PerAxis>("sampling_ratio", 0));
    });
  };
  align("roi_max_align_2d", F::roi_max_align_2d);
  align("roi_average_align_2d", F::roi_average_align_2d);
}

}  // namespace reference
