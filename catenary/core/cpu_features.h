#pragma once
// Which instruction set the *.simd.cpp files are run with. Each such file is compiled once for every level, into a
// namespace of its own, and must keep its functions there (static or in CT_SIMD_NAMESPACE): an inline function of a
// header that was compiled for v4 and not inlined could be the one that the linker keeps for everybody.
//
//   // add.h                                             // add.simd.cpp
//   CT_SIMD_DECLARE(void add(const float*, float*);)     namespace catenary::CT_SIMD_NAMESPACE { void add(…) {…} }
//   // add.cpp
//   CT_SIMD_SELECT(add)(x, y);

#include <string>
#include <string_view>

#include "catenary/core/export.h"

namespace catenary {

/// Levels of x86-64 (v2: SSE4.2, v3: AVX2 and FMA, v4: AVX-512 F, BW, CD, DQ, VL); `native` alone on other processors.
enum class SimdLevel { v2, v3, v4, native };

/// The level in use: the highest that this CPU has, or a lower one asked for by CATENARY_SIMD=v2|v3|v4. Throws
/// ValueError where that names something else or a level that the CPU lacks.
CT_API SimdLevel simd_level();
/// The highest level that this CPU has.
CT_API SimdLevel best_simd_level();
/// Changes simd_level() for the whole process, for tests and comparisons; throws ValueError for a level that the CPU
/// lacks.
CT_API void set_simd_level(SimdLevel level);
/// "v2", "v3", "v4" or "native".
CT_API std::string_view simd_level_name(SimdLevel level);
/// The processor's own name, as its maker spells it; the architecture's where it does not say.
CT_API std::string cpu_model();

}  // namespace catenary

#define CT_SIMD_CONCAT_(a, b) a##b
#define CT_SIMD_CONCAT(a, b) CT_SIMD_CONCAT_(a, b)
#ifdef CT_SIMD
#  define CT_SIMD_NAMESPACE CT_SIMD_CONCAT(simd_, CT_SIMD)
#endif

#if defined(__x86_64__) && defined(CT_SIMD_NO_V4)  // builds that look at the code only (cmake/simd.cmake)
#  define CT_SIMD_DECLARE(...) \
    namespace simd_v2 {        \
    __VA_ARGS__                \
    }                          \
    namespace simd_v3 {        \
    __VA_ARGS__                \
    }
#  define CT_SIMD_SELECT(name) \
    (::catenary::simd_level() == ::catenary::SimdLevel::v3 ? (simd_v3::name) : (simd_v2::name))
#elif defined(__x86_64__)
#  define CT_SIMD_DECLARE(...) \
    namespace simd_v2 {        \
    __VA_ARGS__                \
    }                          \
    namespace simd_v3 {        \
    __VA_ARGS__                \
    }                          \
    namespace simd_v4 {        \
    __VA_ARGS__                \
    }
#  define CT_SIMD_SELECT(name)                                                 \
    (::catenary::simd_level() == ::catenary::SimdLevel::v4   ? (simd_v4::name) \
     : ::catenary::simd_level() == ::catenary::SimdLevel::v3 ? (simd_v3::name) \
                                                             : (simd_v2::name))
#else
#  define CT_SIMD_DECLARE(...) \
    namespace simd_native {    \
    __VA_ARGS__                \
    }
#  define CT_SIMD_SELECT(name) (simd_native::name)
#endif
