# tests/simgpu/fft: stand-ins for the vendors' libraries of Fourier transforms, for simulated devices, in
# build/<preset>/simgpu/fft/{cuda,hip}.
simgpu_vendor_library(fft cuda libcufft.so.12 cufft.cpp)
simgpu_vendor_library(fft hip libhipfft.so.0 cufft.cpp SIM_HIP)

# Tests of transforms with each library, and of the messages if a library cannot be used.
simgpu_library_tests(fft test_array FourierTransforms.* cuda:cufft hip:hipfft)
