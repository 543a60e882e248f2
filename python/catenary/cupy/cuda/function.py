"""cupy.cuda.function: kernels are cupy.RawKernel's."""
