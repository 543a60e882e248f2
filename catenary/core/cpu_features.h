#pragma once
// The instruction set that the *.simd.cpp files run with. Each such file is compiled once for every level, into a
// separate namespace. Its functions must stay there (static or in CT_SIMD_NAMESPACE): if a header's inline function is
// compiled for v4 and not inlined, the linker could use that copy for all levels.
//
// ```cpp
// // add.h                                             // add.simd.cpp
// CT_SIMD_DECLARE(void add(const float*, float*);)     namespace catenary::CT_SIMD_NAMESPACE { void add(…) {…} }
// // add.cpp
// CT_SIMD_SELECT(add)(x, y);
// ```

#include <string>
#include <string_view>

#include "catenary/core/export.h"

namespace catenary {

/// Levels of x86-64 (v2: SSE4.2, v3: AVX2 and FMA, v4: AVX-512 F, BW, CD, DQ, VL). Other CPUs have only `native`.
enum class SimdLevel { v2, v3, v4, native };

/// Returns the level in use: the CPU's highest level, or a lower one from CATENARY_SIMD=v2|v3|v4. Throws ValueError for
/// another value or a level that the CPU lacks.
CT_API SimdLevel simd_level();
/// Returns the CPU's highest level.
CT_API SimdLevel best_simd_level();
/// Changes simd_level() for the whole process, for tests and comparisons. Throws ValueError for a level that the CPU
/// lacks.
CT_API void set_simd_level(SimdLevel level);
/// Returns "v2", "v3", "v4" or "native".
CT_API std::string_view simd_level_name(SimdLevel level);
/// Returns the CPU's model name, or its architecture if the name is unknown.
CT_API std::string cpu_model();

}  // namespace catenary

#define CT_SIMD_CONCAT_(a, b) a##b
#define CT_SIMD_CONCAT(a, b) CT_SIMD_CONCAT_(a, b)
#ifdef CT_SIMD
#  define CT_SIMD_NAMESPACE CT_SIMD_CONCAT(simd_, CT_SIMD)
#endif

#if defined(__x86_64__) && defined(CT_SIMD_NO_V4)  // builds for code analysis only (cmake/simd.cmake)
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
