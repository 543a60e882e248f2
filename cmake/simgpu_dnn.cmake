# tests/simgpu/dnn: libraries that stand in for the vendors' of convolutions on simulated devices, in
# build/<preset>/simgpu/dnn/{cuda,hip,broken}; `broken` has a cuDNN that lacks functions.
simgpu_vendor_library(dnn cuda libcudnn.so.9 cudnn.cpp)
simgpu_vendor_library(dnn hip libMIOpen.so.1 miopen.cpp)
simgpu_vendor_library(dnn broken libcudnn.so.9 cudnn.cpp SIM_WITHOUT_FILTER)

# The tests of convolutions by each library, and what is said where one cannot be used.
simgpu_library_tests(dnn test_device DeviceConvolution* cuda:cudnn hip:miopen)
