"""CuPy's kernels, written in CUDA C++, as OpenCL C 1.2: `translate` has the ways in and says how a text travels."""
