// The words of <cuda_fp16.h> in kernels, after carray.cuh. hipRTC has them by itself; NVRTC has them only beside a
// toolkit's headers, and the processor not at all: there a half float is a float16, whose arithmetic is float's.
#ifndef CT_HIP
typedef float16 half, __half;
CATENARY_BOTH float __half2float(float x) { return x; }
CATENARY_BOTH float16 __float2half(float x) { return x; }
CATENARY_BOTH float16 __float2half_rn(float x) { return x; }
CATENARY_BOTH float16 __habs(float x) { return fabsf(x); }
CATENARY_BOTH float16 __hmin(float x, float y) { return fminf(x, y); }
CATENARY_BOTH float16 __hmax(float x, float y) { return fmaxf(x, y); }
#endif
