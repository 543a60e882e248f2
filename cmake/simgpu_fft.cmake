# tests/simgpu/fft: libraries that stand in for the vendors' of Fourier transforms on simulated devices, in
# build/<preset>/simgpu/fft/{cuda,hip}.
simgpu_vendor_library(fft cuda libcufft.so.12 cufft.cpp)
simgpu_vendor_library(fft hip libhipfft.so.0 cufft.cpp SIM_HIP)

# The tests of transforms by each library, and what is said where one cannot be used.
foreach(provider cuda:cufft hip:hipfft)
  string(REPLACE ":" ";" provider ${provider})
  list(POP_FRONT provider vendor)
  set(name simgpu_fft_${provider})
  add_test(NAME ${name} COMMAND test_array --gtest_filter=FourierTransforms.* --device ${vendor}:0)
  set(simgpu ${PROJECT_BINARY_DIR}/simgpu)
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 ENVIRONMENT
    "LD_LIBRARY_PATH=${simgpu}/fft/${vendor}:${simgpu}/${vendor};CATENARY_GPU_FFT=${provider};CATENARY_CACHE_DIR=${simgpu}/cache;GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/${name}.xml")
endforeach()
add_executable(test_simgpu_fft tests/simgpu/fft/providers_test.cpp)
target_include_directories(test_simgpu_fft PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(test_simgpu_fft PRIVATE ${test_options})
target_link_libraries(test_simgpu_fft PRIVATE test_main catenary GTest::gtest)
add_dependencies(test_simgpu_fft simgpu)
add_test(NAME simgpu_fft COMMAND test_simgpu_fft)
set_tests_properties(simgpu_fft PROPERTIES TIMEOUT 600 ENVIRONMENT "GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/simgpu_fft.xml;${CATENARY_WHOLE}")
