#include <algorithm>

#include "catenary/backends/cpu/movement/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/backends/cpu/texts/texts.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"
#include "catenary/kernels/signature.h"

namespace catenary::cpu {

namespace {
constexpr std::int64_t kBlock = 1024;  // elements
}

template <>
void compute(const RunText& p) {
  kernels::check_arguments(p);
  const TextFunction run = CT_SIMD_SELECT(find_text)(p.text, p.kernel, p.dtype);
  if (!run)
    fail<DtypeError>("{}.{}: backends/cpu/texts/texts.simd.cpp has no such kernel for {}", p.text, p.kernel, p.dtype);
  if (p.units == 0) return;
  // Divides the units into blocks for threads, into few blocks if there is little memory to access.
  std::int64_t elements = p.units;
  for (const TextArgument& argument : p.arguments)
    if (argument.view) elements += argument.view->size();
  const std::int64_t groups = std::clamp<std::int64_t>(elements / kBlock, 1, std::min<std::int64_t>(p.units, 256));
  const std::int64_t grain = std::max<std::int64_t>(1, groups * kGrain / elements);
  parallel_for(groups, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group)
      run(p.arguments.data(), p.units, static_cast<int>(group), static_cast<int>(groups));
  });
}

}  // namespace catenary::cpu
