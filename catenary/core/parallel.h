#pragma once
// Threads: parallel_for and nothing else. They are our own and not OpenMP's, whose barriers wait with the core in hand:
// beside one other busy program a loop of many short ones took twenty times as long.

#include <cstdint>
#include <memory>
#include <type_traits>

#include "catenary/core/export.h"

namespace catenary {

/// Threads that parallel_for uses: CATENARY_NUM_THREADS, else OMP_NUM_THREADS, else the cores that this process may
/// use. Throws ValueError where a variable does not hold a positive number.
CT_API int num_threads();
/// Sets num_threads() for the whole process; throws ValueError for n < 1.
CT_API void set_num_threads(int n);

namespace detail {
using RangeBody = void (*)(void* context, std::int64_t begin, std::int64_t end);
CT_API void parallel_run(std::int64_t n, std::int64_t grain, RangeBody body, void* context);
}  // namespace detail

/// Calls body(begin, end) for disjoint ranges that cover [0, n), on up to num_threads() threads, each range about
/// `grain` long or longer. A thread has several, and takes those of others when it is done. The ranges depend on n,
/// grain and num_threads() only. n <= grain, calls from inside a body and calls while another thread's loop has the
/// workers run in the calling thread. The first exception that a body
/// throws is thrown again here, after all ranges have ended.
template <class F>
void parallel_for(std::int64_t n, std::int64_t grain, F&& body) {
  if (n <= 0) return;
  if (n <= grain) {
    body(std::int64_t{0}, n);
    return;
  }
  using Body = std::remove_reference_t<F>;
  auto call = [](void* context, std::int64_t begin, std::int64_t end) { (*static_cast<Body*>(context))(begin, end); };
  detail::parallel_run(n, grain, call, const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace catenary
