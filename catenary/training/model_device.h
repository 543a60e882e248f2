#pragma once
// Private.

#include "catenary/device/device.h"
#include "catenary/links/model.h"

namespace catenary::training {

/// Where a model's parameters are: where batches go when nothing else was said. The current device if it has none yet.
inline Device model_device(const Model& model) {
  for (const auto& parameter : model.link().params())
    if (parameter.is_initialized()) return parameter.array().device();
  return current_device();
}

}  // namespace catenary::training
