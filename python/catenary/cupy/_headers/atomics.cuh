// CUDA's names that hipRTC lacks, after carray.cuh: atomic functions by scope, and assert.
#ifdef CT_HIP
#ifndef CATENARY_HAS_SCOPES
// An overload of hipRTC itself is preferred. The others have device scope, which includes block scope.
#define CATENARY_SCOPED(name, scope)                  \
  template <class T, class... A>                      \
  CATENARY_BOTH T name##_##scope(T* p, A... values) { \
    return name(p, static_cast<T>(values)...);        \
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
#ifndef assert
#define assert(condition) ((condition) ? static_cast<void>(0) : __builtin_trap())
#endif
#endif
