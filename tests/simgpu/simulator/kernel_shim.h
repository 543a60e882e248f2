// In front of a kernel's text when it is compiled for the host: the few words of CUDA and HIP that the preludes use,
// but for __global__ and what says the size of a group, which compiler.cpp reads. A
// device has one thread and each device a copy of its own of the code, so that a group's memory is plain static memory
// and an atomic a plain operation.
struct SimIndex {
  unsigned x, y, z;
};
struct SimState {
  SimIndex thread, block, block_size, grid;
  void (*sim_barrier)();
};
extern "C" {
SimState sim_state;
float sqrtf(float);
float floorf(float);
float ceilf(float);
float truncf(float);
float rintf(float);
float fmaf(float, float, float);
double sqrt(double);
double floor(double);
double ceil(double);
double trunc(double);
double rint(double);
double fma(double, double, double);
}
#define threadIdx sim_state.thread
#define blockIdx sim_state.block
#define blockDim sim_state.block_size
#define gridDim sim_state.grid
#define __syncthreads() sim_state.sim_barrier()
#define __device__
#define __shared__ static
#define __constant__ static
#define __forceinline__ inline

template <class To, class From>
static inline To sim_bits(From x) {
  To to;
  __builtin_memcpy(&to, &x, sizeof(to));
  return to;
}
#define __uint_as_float(x) sim_bits<float>((unsigned)(x))
#define __float_as_uint(x) sim_bits<unsigned>((float)(x))
#define __int_as_float(x) sim_bits<float>((int)(x))
#define __float_as_int(x) sim_bits<int>((float)(x))
#define __longlong_as_double(x) sim_bits<double>((long long)(x))
#define __double_as_longlong(x) sim_bits<long long>((double)(x))

#define SIM_ATOMIC(name, expression)        \
  template <class T>                        \
  static inline T atomic##name(T* p, T x) { \
    T old = *p;                             \
    *p = (expression);                      \
    return old;                             \
  }
SIM_ATOMIC(Add, (T)(old + x))
SIM_ATOMIC(Or, (T)(old | x))
SIM_ATOMIC(And, (T)(old& x))
SIM_ATOMIC(Min, x < old ? x : old)
SIM_ATOMIC(Max, x > old ? x : old)
SIM_ATOMIC(Exch, x)
template <class T>
static inline T atomicCAS(T* p, T expected, T x) {
  T old = *p;
  if (old == expected) *p = x;
  return old;
}

// What PTX's conversions of 16-bit floats do, by the integer steps that IEEE 754 describes.
static inline float sim_f32_of_f16(unsigned short h) {
  unsigned sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 31u, mantissa = h & 0x3ffu;
  if (exponent == 31u) return sim_bits<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent) return sim_bits<float>(sign | (exponent + 112u) << 23 | mantissa << 13);
  float small = (float)mantissa * 5.9604644775390625e-8f;
  return sign ? -small : small;
}
static inline unsigned short sim_f16_of_f32(float f) {
  unsigned bits = sim_bits<unsigned>(f), sign = (bits >> 16) & 0x8000u, x = bits & 0x7fffffffu;
  if (x > 0x7f800000u) return (unsigned short)(sign | 0x7fffu);
  if (x >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
  if (x < 0x38800000u) {
    float magic = sim_bits<float>(x) + 0.5f;  // its last place is that of the subnormal numbers
    return (unsigned short)(sign | (sim_bits<unsigned>(magic) - 0x3f000000u));
  }
  return (unsigned short)(sign | ((x - 0x38000000u + 0xfffu + ((x >> 13) & 1u)) >> 13));
}
