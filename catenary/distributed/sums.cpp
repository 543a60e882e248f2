#include "catenary/distributed/sums.h"

#include <type_traits>

namespace catenary::distributed {

namespace {

constexpr std::int64_t kBlock = 1024;  // the sums fit into the L1 cache

/// Sums elements [begin, begin + n). n is a compile-time constant for whole blocks, so that the compiler vectorises.
template <class T, class Count>
void sum_block(const std::vector<const void*>& parts, void* result, std::int64_t begin, Count n, int divisor) {
  // unsigned arithmetic wraps without undefined behaviour
  using Sum = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float,
                                 std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>>;
  Sum sums[kBlock];
  const T* part = static_cast<const T*>(parts[0]) + begin;
  const T* const second = static_cast<const T*>(parts[1]) + begin;
  for (std::int64_t i = 0; i < n; ++i) sums[i] = static_cast<Sum>(part[i]) + static_cast<Sum>(second[i]);
  for (std::size_t k = 2; k < parts.size(); ++k) {
    part = static_cast<const T*>(parts[k]) + begin;
    for (std::int64_t i = 0; i < n; ++i) sums[i] += static_cast<Sum>(part[i]);
  }
  if constexpr (!std::is_integral_v<T>) {
    if (divisor != 1)
      for (std::int64_t i = 0; i < n; ++i) sums[i] /= static_cast<Sum>(divisor);
  }
  T* const to = static_cast<T*>(result) + begin;
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(sums[i]);  // for bool, converts to sum != 0
}

template <class T>
void sum(const std::vector<const void*>& parts, void* result, std::int64_t count, int divisor) {
  std::int64_t begin = 0;
  for (; begin + kBlock <= count; begin += kBlock)
    sum_block<T>(parts, result, begin, std::integral_constant<std::int64_t, kBlock>(), divisor);
  sum_block<T>(parts, result, begin, count - begin, divisor);
}

}  // namespace

void sum_in_order(Dtype dtype, const std::vector<const void*>& parts, void* result, std::int64_t count, int divisor) {
  visit_dtype(dtype, [&](auto zero) { sum<decltype(zero)>(parts, result, count, divisor); });
}

}  // namespace catenary::distributed
