# tests/simgpu/blas: stand-ins for the vendors' libraries of matrix products, for simulated devices, in
# build/<preset>/simgpu/blas/{cuda,hip,broken,older}. `broken` has a cuBLAS that lacks a function.
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

# simgpu_library_tests(KIND PROGRAM FILTER VENDOR:LIBRARY…): adds the tests of PROGRAM with each library of a kind alone, and tests/simgpu/KIND/providers_test.cpp.
function(simgpu_library_tests kind program filter)
  set(simgpu ${PROJECT_BINARY_DIR}/simgpu)
  string(TOUPPER ${kind} variable)
  foreach(provider ${ARGN})
    string(REPLACE ":" ";" provider ${provider})
    list(POP_FRONT provider vendor)
    set(name simgpu_${kind}_${provider})
    add_test(NAME ${name} COMMAND ${program} --gtest_filter=${filter} --device ${vendor}:0)
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 ENVIRONMENT
      "LD_LIBRARY_PATH=${simgpu}/${kind}/${vendor}:${simgpu}/${vendor};CATENARY_GPU_${variable}=${provider};CATENARY_CACHE_DIR=${simgpu}/cache;CATENARY_KERNEL_LOG=${simgpu}/kernels;GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/${name}.xml")
  endforeach()
  set(name simgpu_${kind})
  add_executable(test_${name} tests/simgpu/${kind}/providers_test.cpp)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(test_${name} PRIVATE ${test_options})
  target_link_libraries(test_${name} PRIVATE test_main catenary GTest::gtest)
  add_dependencies(test_${name} simgpu)
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 ENVIRONMENT "GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/${name}.xml;${CATENARY_WHOLE}")
endfunction()

simgpu_vendor_library(blas cuda libcublas.so.13 cublas.cpp)
simgpu_vendor_library(blas cuda libcublasLt.so.13 lt.cpp)
simgpu_vendor_library(blas hip librocblas.so.4 rocblas.cpp)
simgpu_vendor_library(blas hip libhipblaslt.so.0 lt.cpp SIM_HIP)
simgpu_vendor_library(blas broken libcublas.so.13 cublas.cpp SIM_WITHOUT_PRODUCT)
simgpu_vendor_library(blas older libcublas.so.12 cublas.cpp)
# The kernels of rocBLAS and hipBLASLt for one chip. hipBLASLt also looks in a folder for each chip.
file(WRITE ${PROJECT_BINARY_DIR}/simgpu/blas/hip/rocblas/library/TensileLibrary_lazy_gfx90a.dat "")
file(WRITE ${PROJECT_BINARY_DIR}/simgpu/blas/hip/hipblaslt/library/gfx90a/TensileLibrary_lazy_gfx90a.dat "")

# Tests of products with each library, and of the messages if a library cannot be used.
simgpu_library_tests(blas test_device DeviceMatmul* cuda:cublaslt cuda:cublas hip:hipblaslt hip:rocblas)
