#pragma once
// Private to *.simd.cpp files: the prelude of kernel texts on the host, where they are plain loops. A text is included
// in the body of a class with the members `group` and `groups`, which is a work-group of one work-item: its kernels
// are the class's functions, and T may be the class's parameter.
//
//   template <class T>
//   struct LinalgText {
//     i32 group, groups;
//   #include "catenary/kernels/linalg.kernel"
//   };
//
// A text that is as fast in this form as one written for the processor is written once. It must be in an unnamed
// namespace, as everything that is compiled for several instruction sets.

#include "catenary/ops/math.h"

#define KERNEL void
#define REQD(n)
#define GLOBAL
#define LOCAL
#define LOCAL_ARG
#define RESTRICT __restrict__
#define GROUP 1
#define LOCAL_ID 0
#define GROUP_ID group
#define NUM_GROUPS groups
#define GLOBAL_ID group
#define GLOBAL_SIZE groups
