// CUDA's atomic functions by scope, after the functions themselves: for the processor's C++ compiler, for simulated
// cards, and for hipRTC, which lacks them. They have device scope, which includes block scope.
#ifndef CATENARY_ATOMIC_SCOPES
#define CATENARY_ATOMIC_SCOPES
// An overload of hipRTC itself is preferred.
#define CATENARY_SCOPED(name, scope)                             \
  template <class T, class... A>                                 \
  static inline __device__ T name##_##scope(T* p, A... values) { \
    return name(p, (T)values...);                                \
  }
#define CATENARY_SCOPES(name)  \
  CATENARY_SCOPED(name, block) \
  CATENARY_SCOPED(name, system)
CATENARY_SCOPES(atomicAdd)
CATENARY_SCOPES(atomicSub)
CATENARY_SCOPES(atomicMax)
CATENARY_SCOPES(atomicMin)
CATENARY_SCOPES(atomicInc)
CATENARY_SCOPES(atomicDec)
CATENARY_SCOPES(atomicAnd)
CATENARY_SCOPES(atomicOr)
CATENARY_SCOPES(atomicXor)
CATENARY_SCOPES(atomicExch)
CATENARY_SCOPES(atomicCAS)
#undef CATENARY_SCOPES
#undef CATENARY_SCOPED
#endif
