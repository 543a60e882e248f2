# tests/simgpu/blas: libraries that stand in for the vendors' of matrix products on simulated devices, in
# build/<preset>/simgpu/blas/{cuda,hip,broken,older}; `broken` has a cuBLAS that lacks a function.
# simgpu_vendor_library(KIND FOLDER SONAME SOURCE [DEFINITION…]): KIND is blas, dnn, fft or nccl.
function(simgpu_vendor_library kind folder soname source)
  string(MAKE_C_IDENTIFIER simgpu_${kind}_${folder}_${soname} target)
  add_library(${target} SHARED tests/simgpu/${kind}/${source})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE ${ARGN})
  target_compile_options(${target} PRIVATE ${CATENARY_WARNINGS} $<$<CONFIG:Release>:-O1>)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${soname} CXX_VISIBILITY_PRESET hidden NO_SONAME ON
                                             LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/simgpu/${kind}/${folder})
  add_dependencies(simgpu ${target})
endfunction()

simgpu_vendor_library(blas cuda libcublas.so.13 cublas.cpp)
simgpu_vendor_library(blas cuda libcublasLt.so.13 lt.cpp)
simgpu_vendor_library(blas hip librocblas.so.4 rocblas.cpp)
simgpu_vendor_library(blas hip libhipblaslt.so.0 lt.cpp SIM_HIP)
simgpu_vendor_library(blas broken libcublas.so.13 cublas.cpp SIM_WITHOUT_PRODUCT)
simgpu_vendor_library(blas older libcublas.so.12 cublas.cpp)
# Their kernels, for one chip; hipBLASLt looks for them in a folder for each chip as well.
file(WRITE ${PROJECT_BINARY_DIR}/simgpu/blas/hip/rocblas/library/TensileLibrary_lazy_gfx90a.dat "")
file(WRITE ${PROJECT_BINARY_DIR}/simgpu/blas/hip/hipblaslt/library/gfx90a/TensileLibrary_lazy_gfx90a.dat "")

# The tests of products by each library, and what is said where one cannot be used.
foreach(provider cuda:cublaslt cuda:cublas hip:hipblaslt hip:rocblas)
  string(REPLACE ":" ";" provider ${provider})
  list(POP_FRONT provider vendor)
  set(name simgpu_blas_${provider})
  add_test(NAME ${name} COMMAND test_device --gtest_filter=DeviceMatmul* --device ${vendor}:0)
  set(simgpu ${PROJECT_BINARY_DIR}/simgpu)
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 ENVIRONMENT
    "LD_LIBRARY_PATH=${simgpu}/blas/${vendor}:${simgpu}/${vendor};CATENARY_GPU_BLAS=${provider};CATENARY_CACHE_DIR=${simgpu}/cache;GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/${name}.xml")
endforeach()
add_executable(test_simgpu_blas tests/simgpu/blas/providers_test.cpp)
target_include_directories(test_simgpu_blas PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(test_simgpu_blas PRIVATE ${test_options})
target_link_libraries(test_simgpu_blas PRIVATE test_main catenary GTest::gtest)
add_dependencies(test_simgpu_blas simgpu)
add_test(NAME simgpu_blas COMMAND test_simgpu_blas)
set_tests_properties(simgpu_blas PROPERTIES TIMEOUT 600 ENVIRONMENT "GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/simgpu_blas.xml;${CATENARY_WHOLE}")
