#pragma once
// Private to the CPU backend: oneDNN as a provider of float32 products, loaded at run time.

#include <memory>
#include <string>

#include "catenary/backends/cpu/gemm_kernel.h"
#include "catenary/device/providers.h"

namespace catenary::cpu {

/// Null, with the reason, where it cannot be loaded. It takes operands with one stride of 1.
std::unique_ptr<Provider<GemmArgs<float>>> open_onednn(std::string& why);
/// Its version and the plugin's path, or why it is not loaded.
std::string onednn_info();
/// For messages.
std::string describe(const GemmArgs<float>& g);

}  // namespace catenary::cpu
