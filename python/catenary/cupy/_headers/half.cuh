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
#define CATENARY_HALF(type, name, value)               \
  CATENARY_BOTH type name(float16 first, float16 second) { \
    const float x = first, y = second;                 \
    return value;                                      \
  }
CATENARY_HALF(float16, __hadd, x + y)
CATENARY_HALF(float16, __hsub, x - y)
CATENARY_HALF(float16, __hmul, x* y)
CATENARY_HALF(float16, __hdiv, x / y)
CATENARY_HALF(bool, __heq, x == y)
CATENARY_HALF(bool, __hne, x < y || x > y)
CATENARY_HALF(bool, __hlt, x < y)
CATENARY_HALF(bool, __hle, x <= y)
CATENARY_HALF(bool, __hgt, x > y)
CATENARY_HALF(bool, __hge, x >= y)
#undef CATENARY_HALF
CATENARY_BOTH float16 __hfma(float x, float y, float z) { return fmaf(x, y, z); }
CATENARY_BOTH float16 __hneg(float x) { return -x; }
CATENARY_BOTH bool __hisnan(float x) { return x != x; }
CATENARY_BOTH float16 hsqrt(float x) { return sqrtf(x); }
CATENARY_BOTH float16 hexp(float x) { return expf(x); }
CATENARY_BOTH float16 hlog(float x) { return logf(x); }
CATENARY_BOTH float16 hsin(float x) { return sinf(x); }
CATENARY_BOTH float16 hcos(float x) { return cosf(x); }
#endif
