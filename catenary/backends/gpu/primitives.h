#pragma once
// What is neither elementwise nor a reduction, on a GPU; each function is the Backend's of its name. The kernels are in
// kernels/.

#include "catenary/backends/gpu/context.h"
#include "catenary/device/backend.h"

namespace catenary::gpu {

// index.cpp
void take(Context& context, const View& x, const View& indices, const View& out, IndexMode mode);
void take_along_axis(Context& context, const View& x, const View& indices, const View& out, int axis);
void gather(Context& context, const View& x, const std::vector<View>& indices, const View& out);
void scatter(Context& context, const View& x, const std::vector<View>& indices, const View& values, ScatterMode mode);

// select.cpp
void arg_reduce(Context& context, bool largest, const View& x, int axis, const View& out);
std::vector<std::int64_t> nonzero(Context& context, const View& mask);
void scan(Context& context, Scan op, const View& x, int axis, const View& out);
void searchsorted(Context& context, const View& sorted, const View& values, bool right, const View& out);

// sort.cpp
void sort(Context& context, const View& rows, const View& out);
void argsort(Context& context, const View& rows, const View& indices);
void select(Context& context, Selection what, bool descending, const View& rows, const std::vector<std::int64_t>& kth,
            const View& out);

// matmul.cpp
void matmul(Context& context, const View& a, const View& b, const View& c, const MatmulEpilogue& epilogue);

// linalg.cpp
void linalg(Context& context, Linalg op, const View& a, const View& b, const View& out, std::vector<bool>& ok);

// random.cpp
void random_bits(Context& context, std::uint64_t seed, std::uint64_t call, const View& out);

}  // namespace catenary::gpu
