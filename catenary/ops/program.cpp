#include "catenary/ops/program.h"

#include <algorithm>

namespace catenary::ops {

void collapse(Program& program, const std::vector<bool>* keep_apart, std::vector<int>* new_axis) {
  const int ndim = program.shape.size();
  std::vector<Access*> accesses;
  for (Access& load : program.loads) accesses.push_back(&load);
  for (Store& store : program.stores) accesses.push_back(&store.to);

  Shape shape;
  std::vector<Strides> strides(accesses.size());
  if (new_axis) new_axis->assign(ndim, -1);
  int previous = -1;  // the last old axis that was kept
  for (int axis = 0; axis < ndim; ++axis) {
    if (program.shape[axis] == 1) continue;
    bool merge = previous >= 0;
    if (merge && keep_apart)
      for (int between = previous; between < axis; ++between) merge = merge && !(*keep_apart)[between];
    for (std::size_t i = 0; merge && i < accesses.size(); ++i)
      merge = strides[i].back() == accesses[i]->strides[axis] * program.shape[axis];
    if (merge) {
      shape[shape.size() - 1] *= program.shape[axis];
      for (std::size_t i = 0; i < accesses.size(); ++i) strides[i][shape.size() - 1] = accesses[i]->strides[axis];
    } else {
      shape.push_back(program.shape[axis]);
      for (std::size_t i = 0; i < accesses.size(); ++i) strides[i].push_back(accesses[i]->strides[axis]);
    }
    previous = axis;
    if (new_axis) (*new_axis)[axis] = shape.size() - 1;
  }
  program.shape = shape;
  for (std::size_t i = 0; i < accesses.size(); ++i) accesses[i]->strides = strides[i];
}

std::vector<bool> collapse_for_reduction(Program& program, unsigned axes) {
  const int ndim = program.shape.size();
  const auto goes = [&](int axis) { return (axes & (1u << axis)) != 0; };
  std::vector<bool> keep_apart;
  for (int axis = 0; axis + 1 < ndim; ++axis) keep_apart.push_back(goes(axis) != goes(axis + 1));
  keep_apart.push_back(false);
  // an axis of extent 1 between two others separates nothing, whichever kind it is
  for (int axis = 0; axis < ndim; ++axis) {
    if (program.shape[axis] != 1) continue;
    int before = axis - 1, after = axis + 1;
    while (before >= 0 && program.shape[before] == 1) --before;
    while (after < ndim && program.shape[after] == 1) ++after;
    const bool apart = before >= 0 && after < ndim && goes(before) != goes(after);
    for (int between = std::max(before, 0); between < after && between < ndim; ++between) keep_apart[between] = apart;
  }
  std::vector<int> new_axis;
  collapse(program, &keep_apart, &new_axis);
  std::vector<bool> reduced(program.shape.size(), false);
  for (int axis = 0; axis < ndim; ++axis)
    if (new_axis[axis] >= 0) reduced[new_axis[axis]] = goes(axis);
  return reduced;
}

}  // namespace catenary::ops
