#include "catenary/ops/program.h"

#include <algorithm>

#include "catenary/core/memory_order.h"

namespace catenary::ops {

namespace {

template <class F>
void for_each_access(Program& program, F&& f) {
  for (Access& load : program.loads) f(load.strides);
  for (Store& store : program.stores) f(store.to.strides);
}

// In place, without allocation: it runs for every small kernel.
void merge(Program& program, const std::vector<bool>* keep_apart, std::vector<int>* new_axis) {
  Shape& shape = program.shape;
  const int ndim = shape.size();
  if (new_axis) new_axis->assign(ndim, -1);
  int kept = 0;       // new axes so far
  int previous = -1;  // the last old axis that was kept
  for (int axis = 0; axis < ndim; ++axis) {
    const std::int64_t extent = shape[axis];
    if (extent == 1) continue;
    bool merge = previous >= 0;
    if (merge && keep_apart)
      for (int between = previous; between < axis; ++between) merge = merge && !(*keep_apart)[between];
    if (merge) for_each_access(program, [&](const Strides& s) { merge = merge && s[kept - 1] == s[axis] * extent; });
    if (!merge) shape[kept++] = 1;
    shape[kept - 1] *= extent;
    for_each_access(program, [&](Strides& s) { s[kept - 1] = s[axis]; });
    previous = axis;
    if (new_axis) (*new_axis)[axis] = kept - 1;
  }
  const auto shorten = [&](Dims& dims) {
    while (dims.size() > kept) dims.pop_back();
  };
  shorten(shape);
  for_each_access(program, shorten);
}

/// Sorts the axes by memory order. Returns false if they were sorted already.
bool sort_axes(Program& program) {
  constexpr std::size_t kMost = 64;
  if (program.shape.size() < 2 || program.loads.size() + program.stores.size() > kMost) return false;
  const Strides* all[kMost];
  std::size_t n = 0;
  for_each_access(program, [&](const Strides& strides) { all[n++] = &strides; });
  const Axes order = memory_order(program.shape.size(), {all, n});
  if (is_c_order(order)) return false;
  permute(program, order);
  return true;
}

}  // namespace

void permute(Program& program, const Axes& order) {
  program.shape = permuted(program.shape, order);
  for_each_access(program, [&](Strides& strides) { strides = permuted(strides, order); });
}

void collapse(Program& program) {
  if (program.shape.size() == 1 && program.shape[0] != 1) return;  // nothing to merge
  merge(program, nullptr, nullptr);
  if (sort_axes(program)) merge(program, nullptr, nullptr);
}

std::vector<bool> collapse_for_reduction(Program& program, unsigned axes) {
  const int ndim = program.shape.size();
  const auto goes = [&](int axis) { return (axes & (1u << axis)) != 0; };
  std::vector<bool> keep_apart;
  for (int axis = 0; axis + 1 < ndim; ++axis) keep_apart.push_back(goes(axis) != goes(axis + 1));
  keep_apart.push_back(false);
  // an axis of size 1 separates nothing, whether it is kept or reduced
  for (int axis = 0; axis < ndim; ++axis) {
    if (program.shape[axis] != 1) continue;
    int before = axis - 1, after = axis + 1;
    while (before >= 0 && program.shape[before] == 1) --before;
    while (after < ndim && program.shape[after] == 1) ++after;
    const bool apart = before >= 0 && after < ndim && goes(before) != goes(after);
    for (int between = std::max(before, 0); between < after && between < ndim; ++between) keep_apart[between] = apart;
  }
  std::vector<int> new_axis;
  merge(program, &keep_apart, &new_axis);
  std::vector<bool> reduced(program.shape.size(), false);
  for (int axis = 0; axis < ndim; ++axis)
    if (new_axis[axis] >= 0) reduced[new_axis[axis]] = goes(axis);
  return reduced;
}

}  // namespace catenary::ops
