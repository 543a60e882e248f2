// The functions of <cuda_fp16.h> in kernels, after carray.cuh. hipRTC has them built in. NVRTC has them only with a
// toolkit's headers, and the processor lacks them: there a half is a float16, with arithmetic in float.
#ifndef CT_HIP
typedef float16 half, __half;
CATENARY_BOTH float __half2float(float x) { return x; }
CATENARY_BOTH float16 __float2half(float x) { return x; }
CATENARY_BOTH float16 __float2half_rn(float x) { return x; }
CATENARY_BOTH float16 __habs(float x) { return fabsf(x); }
CATENARY_BOTH float16 __hmin(float x, float y) { return fminf(x, y); }
CATENARY_BOTH float16 __hmax(float x, float y) { return fmaxf(x, y); }
#endif
