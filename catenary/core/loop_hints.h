// Hints for loops, in the words of the compiler at hand.
#pragma once

// Stands before a loop whose iterations do not depend on one another, although the compiler cannot prove it: pointers
// may be equal (an operation in place), but they never overlap otherwise.
#if defined(__clang__)
#  pragma clang diagnostic ignored "-Wpass-failed"  // some loops, such as gcd, cannot be vectorised
#  define CT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#  define CT_INDEPENDENT _Pragma("GCC ivdep")
#endif
