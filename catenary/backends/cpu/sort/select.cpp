// Nonzero elements: count_nonzero, nonzero.
#include <algorithm>

#include "catenary/backends/cpu/movement/copy.h"
#include "catenary/backends/cpu/movement/index.h"
#include "catenary/backends/cpu/movement/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {
namespace {

// Returns the elements of a view as contiguous bools, in place or in `scratch`.
const bool* as_mask(const StridedView& view, Scratch& scratch) {
  if (view.dtype == Dtype::bool_ && is_contiguous(view.shape, view.strides)) return static_cast<const bool*>(view.data);
  scratch = Scratch(view.shape.product());
  strided_copy(contiguous_view(scratch.as<void>(), Dtype::bool_, view.shape), view);
  return scratch.as<bool>();
}

// Adds eight entries at a time bytewise, as long as no byte can overflow.
std::int64_t count_true(const bool* mask, std::int64_t begin, std::int64_t end) {
  std::int64_t count = 0;
  while (end - begin >= 8) {
    std::uint64_t bytes = 0;
    for (int step = 0; step < 255 && end - begin >= 8; ++step, begin += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, mask + begin, 8);
      bytes += eight;
    }
    constexpr std::uint64_t kEven = 0x00ff00ff00ff00ffu;
    count += static_cast<std::int64_t>(((bytes & kEven) + (bytes >> 8 & kEven)) * 0x0001000100010001u >> 48);
  }
  for (; begin < end; ++begin) count += mask[begin];
  return count;
}

// Returns the numbers of true entries before each piece of kGrain entries, and the total.
std::vector<std::int64_t> counts_before(const bool* mask, std::int64_t n) {
  const std::int64_t pieces = (n + kGrain - 1) / kGrain;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(pieces + 1), 0);
  parallel_for(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p)
      counts[p + 1] = count_true(mask, p * kGrain, std::min(n, (p + 1) * kGrain));
  });
  for (std::int64_t p = 0; p < pieces; ++p) counts[p + 1] += counts[p];
  return counts;
}

// positions = indices of true entries, in order.
void positions_of(std::int64_t* positions, std::int64_t count, const bool* mask, std::int64_t n) {
  const std::vector<std::int64_t> before = counts_before(mask, n);
  if (before.back() != count)
    fail<ValueError>("nonzero: there is room for {} entries, but {} are true", count, before.back());
  parallel_for(static_cast<std::int64_t>(before.size()) - 1, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      std::int64_t at = before[p];
      for (std::int64_t i = p * kGrain; at < before[p + 1]; ++i)
        if (mask[i]) positions[at++] = i;
    }
  });
}

}  // namespace

std::int64_t count_nonzero(const StridedView& view) {
  if (view.shape.product() == 0) return 0;
  Scratch scratch(0);
  return counts_before(as_mask(view, scratch), view.shape.product()).back();
}

void nonzero(std::int64_t* indices, std::int64_t count, const StridedView& view) {
  const std::int64_t n = view.shape.product();
  const int ndim = view.shape.size();
  if (ndim == 0) fail<ValueError>("nonzero: expected an array of one axis at least, got a 0-d one");
  Scratch scratch(0);
  if (n == 0) return;
  // Stores flat positions in the last row, which will hold the last axis's indices.
  std::int64_t* flat = indices + (ndim - 1) * count;
  positions_of(flat, count, as_mask(view, scratch), n);
  parallel_for(count, kGrain / 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t rest = flat[i];
      for (int axis = ndim - 1; axis > 0; --axis) {
        indices[axis * count + i] = rest % view.shape[axis];
        rest /= view.shape[axis];
      }
      indices[i] = rest;
    }
  });
}

template <>
void compute(const Nonzero& p) {
  const StridedView flat = contiguous_view(p.mask.data(), p.mask.dtype, {p.mask.size()});
  p.positions.resize(static_cast<std::size_t>(count_nonzero(flat)));
  nonzero(p.positions.data(), static_cast<std::int64_t>(p.positions.size()), flat);
}

}  // namespace catenary::cpu
