#pragma once
// Private to the CPU backend: oneDNN as a provider of float32 products, loaded at run time.

#include <string>

#include "catenary/backends/cpu/gemm_kernel.h"

namespace catenary::cpu {

/// Computes g if oneDNN is there and takes its strides; else returns false and has changed nothing.
bool onednn_gemm(const GemmArgs<float>& g);
bool onednn_loaded();
std::string onednn_info();

}  // namespace catenary::cpu
