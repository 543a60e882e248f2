# tests/simgpu/dnn: stand-ins for the vendors' libraries of convolutions and attention, for simulated devices, in
# build/<preset>/simgpu/dnn/{cuda,hip,broken}. `broken` has a cuDNN that lacks functions.
simgpu_vendor_library(dnn cuda libcudnn.so.9 cudnn.cpp)
simgpu_vendor_library(dnn hip libMIOpen.so.1 miopen.cpp)
simgpu_vendor_library(dnn broken libcudnn.so.9 cudnn.cpp SIM_WITHOUT_FILTER)

# Tests of convolutions with each library, and of the messages if a library cannot be used.
simgpu_library_tests(dnn test_device DeviceConvolution* cuda:cudnn hip:miopen)
target_sources(test_simgpu_dnn PRIVATE tests/simgpu/dnn/attention_test.cpp)

# Tests of attention with cuDNN.
set(simgpu ${PROJECT_BINARY_DIR}/simgpu)
add_test(NAME simgpu_attention_cudnn COMMAND test_device --gtest_filter=Attention.* --device cuda:0)
set_tests_properties(simgpu_attention_cudnn PROPERTIES TIMEOUT 600 ENVIRONMENT
  "LD_LIBRARY_PATH=${simgpu}/dnn/cuda:${simgpu}/cuda;CATENARY_GPU_ATTENTION=cudnn;CATENARY_CACHE_DIR=${simgpu}/cache;CATENARY_KERNEL_LOG=${simgpu}/kernels;GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/simgpu_attention_cudnn.xml")
