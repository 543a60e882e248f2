# tests/simgpu/dnn: libraries that stand in for the vendors' of convolutions on simulated devices, in
# build/<preset>/simgpu/dnn/{cuda,hip,broken}; `broken` has a cuDNN that lacks functions.
simgpu_vendor_library(dnn cuda libcudnn.so.9 cudnn.cpp)
simgpu_vendor_library(dnn hip libMIOpen.so.1 miopen.cpp)
simgpu_vendor_library(dnn broken libcudnn.so.9 cudnn.cpp SIM_WITHOUT_FILTER)

# The tests of convolutions by each library, and what is said where one cannot be used.
foreach(provider cuda:cudnn hip:miopen)
  string(REPLACE ":" ";" provider ${provider})
  list(POP_FRONT provider vendor)
  set(name simgpu_dnn_${provider})
  add_test(NAME ${name} COMMAND test_device --gtest_filter=DeviceConvolution* --device ${vendor}:0)
  set(simgpu ${PROJECT_BINARY_DIR}/simgpu)
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 ENVIRONMENT
    "LD_LIBRARY_PATH=${simgpu}/dnn/${vendor}:${simgpu}/${vendor};CATENARY_GPU_DNN=${provider};CATENARY_CACHE_DIR=${simgpu}/cache;GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/${name}.xml")
endforeach()
add_executable(test_simgpu_dnn tests/simgpu/dnn/providers_test.cpp)
target_include_directories(test_simgpu_dnn PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(test_simgpu_dnn PRIVATE ${test_options})
target_link_libraries(test_simgpu_dnn PRIVATE test_main catenary GTest::gtest)
add_dependencies(test_simgpu_dnn simgpu)
add_test(NAME simgpu_dnn COMMAND test_simgpu_dnn)
set_tests_properties(simgpu_dnn PROPERTIES TIMEOUT 600 ENVIRONMENT "GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/simgpu_dnn.xml;${CATENARY_WHOLE}")
