#pragma once
// Private to the CPU backend: oneDNN as a provider of float32 products, loaded at run time.

#include <memory>
#include <string>

#include "catenary/backends/cpu/gemm/gemm_kernel.h"
#include "catenary/device/providers.h"

namespace catenary::cpu {

/// Returns null, with the reason, if oneDNN cannot be loaded. Operands need one stride of 1.
std::unique_ptr<Provider<GemmArgs<float>>> open_onednn(std::string& why);
/// Returns its version and the plugin's path, or the reason why it is not loaded.
std::string onednn_info();
/// Describes a product, for messages.
std::string describe(const GemmArgs<float>& g);

}  // namespace catenary::cpu
