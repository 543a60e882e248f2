#pragma once
// Private to *.simd.cpp files: the width of the vectors of the instruction set for which the file is compiled.

#include "catenary/core/cpu_features.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
