#pragma once
// Threads: only parallel_for. We do not use OpenMP, because its barriers spin: beside one other busy program, many
// short loops took twenty times as long.

#include <cstdint>
#include <memory>
#include <type_traits>

#include "catenary/core/export.h"

namespace catenary {

/// Returns the number of threads for parallel_for: CATENARY_NUM_THREADS, else OMP_NUM_THREADS, else the number of cores
/// that this process may use. Throws ValueError for a variable without a positive number.
CT_API int num_threads();
/// Sets num_threads() for the whole process. Throws ValueError for n < 1.
CT_API void set_num_threads(int n);

namespace detail {
using RangeBody = void (*)(void* context, std::int64_t begin, std::int64_t end);
CT_API void parallel_run(std::int64_t n, std::int64_t grain, RangeBody body, void* context);
}  // namespace detail

/// Calls body(begin, end) for disjoint ranges that cover [0, n), on up to num_threads() threads. Each range is about
/// `grain` long or longer. A thread gets several ranges and takes over ranges of other threads when it is done. The
/// ranges depend only on n, grain and num_threads(). The loop runs in the calling thread if n <= grain, inside a body,
/// or while another thread's loop uses the workers. The first exception of a body is rethrown after all ranges have
/// ended.
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
