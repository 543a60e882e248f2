# tests/simgpu/fft: libraries that stand in for the vendors' of Fourier transforms on simulated devices, in
# build/<preset>/simgpu/fft/{cuda,hip}.
simgpu_vendor_library(fft cuda libcufft.so.12 cufft.cpp)
simgpu_vendor_library(fft hip libhipfft.so.0 cufft.cpp SIM_HIP)

# The tests of transforms by each library, and what is said where one cannot be used.
simgpu_library_tests(fft test_array FourierTransforms.* cuda:cufft hip:hipfft)
