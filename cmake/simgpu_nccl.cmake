# tests/simgpu/nccl: stand-ins for NCCL and RCCL on simulated devices, in build/<preset>/simgpu/nccl/{cuda,hip,broken}.
# `broken` lacks a function.
simgpu_vendor_library(nccl cuda libnccl.so.2 nccl.cpp)
simgpu_vendor_library(nccl hip librccl.so.1 nccl.cpp)
simgpu_vendor_library(nccl broken libnccl.so.2 nccl.cpp SIM_WITHOUT_SUM)

# Tests with a group of one card.
foreach(vendor cuda hip)
  set(name simgpu_nccl_${vendor})
  add_test(NAME ${name} COMMAND test_device --gtest_filter=DeviceCollectives* --device ${vendor}:0)
  set(simgpu ${PROJECT_BINARY_DIR}/simgpu)
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 ENVIRONMENT
    "LD_LIBRARY_PATH=${simgpu}/nccl/${vendor}:${simgpu}/${vendor};CATENARY_TEST_NCCL=2.27.3;CATENARY_CACHE_DIR=${simgpu}/cache;GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/${name}.xml;${CATENARY_WHOLE}")
endforeach()

if(TARGET test_distributed) # this target builds `catenary launch`
  add_executable(test_simgpu_nccl tests/simgpu/nccl/pure_nccl_test.cpp)
  target_include_directories(test_simgpu_nccl PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(test_simgpu_nccl PRIVATE ${test_options})
  target_link_libraries(test_simgpu_nccl PRIVATE test_main ${test_libraries})
  add_dependencies(test_simgpu_nccl simgpu catenary_command train_mnist_mn)
  add_test(NAME simgpu_nccl COMMAND test_simgpu_nccl)
  set_tests_properties(simgpu_nccl PROPERTIES TIMEOUT 2400 ENVIRONMENT "GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/simgpu_nccl.xml;${CATENARY_WHOLE}")
endif()
