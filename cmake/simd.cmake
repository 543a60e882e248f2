# A build for trials compiles sooner without v4. v2 and v3 are always needed.
set(CATENARY_SIMD_LEVELS v2 v3 v4 CACHE STRING "Levels of x86-64 that the library has code for: v2;v3 or v2;v3;v4")
# catenary_simd_sources(TARGET FILE…): compiles each FILE once for every x86-64 level (v2, v3, v4), with CT_SIMD defined as the
# level's name and CT_SIMD_NAMESPACE set. The library chooses the fastest level when it starts.
function(catenary_simd_sources target)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(levels ${CATENARY_SIMD_LEVELS})
  else()
    set(levels native)
  endif()
  set(optimise -O3)
  if(CATENARY_SANITIZE)
    # Here, compile time matters more than speed. v4 has the same source as v2 and v3, and takes as long to compile as both together.
    set(optimise -O1)
    list(REMOVE_ITEM levels v4)
  endif()
  if(NOT "v4" IN_LIST levels)
    add_compile_definitions(CT_SIMD_NO_V4=1)
  endif()
  foreach(level IN LISTS levels)
    set(objects ${target}_simd_${level})
    add_library(${objects} OBJECT ${ARGN})
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                                VISIBILITY_INLINES_HIDDEN ON)
    target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
    target_compile_definitions(${objects} PRIVATE CT_SIMD=${level} CT_SIMD_${level}=1)
    # -fwrapv: integer arithmetic wraps as in NumPy. -O3, no trapping math and no errno let loops vectorise. -ffast-math is not allowed.
    target_compile_options(${objects} PRIVATE ${optimise} ${CATENARY_WARNINGS} -fwrapv -ffp-contract=off -fno-math-errno
                                              -fno-trapping-math)
    if(NOT level STREQUAL "native")
      target_compile_options(${objects} PRIVATE -march=x86-64-${level})
      if(level STREQUAL "v4")
        target_compile_options(${objects} PRIVATE -mprefer-vector-width=512)
      endif()
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()

# Products and convolutions may use fused multiply-add, because their bits are not compared with other implementations.
set_source_files_properties(catenary/backends/cpu/gemm/gemm_kernel.simd.cpp catenary/backends/cpu/gemm/gemm_half.simd.cpp
                            catenary/backends/cpu/convolution/convolution_kernel.simd.cpp
                            catenary/backends/cpu/convolution/convolution_direct.simd.cpp catenary/backends/cpu/convolution/winograd.simd.cpp
                            catenary/backends/cpu/convolution/convolution_tiles.simd.cpp catenary/backends/cpu/attention/attention.simd.cpp
                            catenary/backends/cpu/attention/attention_tiles.simd.cpp catenary/backends/cpu/fft/fft.simd.cpp
                            catenary/backends/cpu/rows/softmax_rows.simd.cpp catenary/backends/cpu/rows/normalize_rows.simd.cpp
                            catenary/backends/cpu/rows/gelu.simd.cpp catenary/backends/cpu/rows/recurrent.simd.cpp
                            catenary/backends/cpu/rows/normalize_columns.simd.cpp
                            PROPERTIES COMPILE_OPTIONS -ffp-contract=fast)
if(CATENARY_SANITIZE)
  # These files have many small loops. Unrolled, each file takes a minute to compile with -O1.
  set_source_files_properties(catenary/backends/cpu/quantized/quantized.simd.cpp catenary/backends/cpu/quantized/quantized_bytes.simd.cpp
                              catenary/backends/cpu/quantized/quantized_panels.simd.cpp
                              catenary/backends/cpu/fft/fft.simd.cpp PROPERTIES COMPILE_OPTIONS -O0)
endif()
