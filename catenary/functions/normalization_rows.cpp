#include "catenary/functions/normalization_rows.h"

#include <algorithm>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/core/memory_order.h"
#include "catenary/functions/rows.h"

namespace catenary::functions::detail {

namespace {

constexpr std::int64_t kShortest = 16, kShortestPiece = 32, kFewColumns = 8;
// Larger arrays need this many groups, so that all threads have work.
constexpr std::int64_t kFewGroups = 4, kLarge = 131072;

/// Adjacent axes that are all reduced or all kept, and the product of their sizes.
struct Run {
  bool is_reduced;
  std::int64_t size;
};
struct Pattern {
  std::vector<bool> reduced;
  std::vector<Run> runs;
  Pattern(const Shape& shape, const Axes& axes) : reduced(static_cast<std::size_t>(shape.size())) {
    for (const std::int64_t axis : axes) reduced[static_cast<std::size_t>(axis)] = true;
    for (int i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) continue;
      const bool is_reduced = reduced[static_cast<std::size_t>(i)];
      if (runs.empty() || runs.back().is_reduced != is_reduced) runs.push_back({is_reduced, 1});
      runs.back().size *= shape[i];
    }
  }
  /// Returns whether gamma has the elements of all axes for which `reduced` is this, and of no others.
  bool is_along(bool kind, const Shape& shape, const Shape& gamma) const {
    for (int i = 0; i < shape.size(); ++i)
      if (shape[i] > 1 && (gamma[i] > 1) != (reduced[static_cast<std::size_t>(i)] == kind)) return false;
    return true;
  }
};

/// Returns the number of elements behind gamma's last axis if these are reduced and gamma repeats along leading axes
/// only. Otherwise returns 0.
std::int64_t length_of_pieces(const Pattern& pattern, const Shape& shape, const Shape& gamma) {
  int last = shape.size() - 1;
  std::int64_t length = 1;
  for (; last >= 0 && gamma[last] == 1; --last) {
    if (shape[last] > 1 && !pattern.reduced[static_cast<std::size_t>(last)]) return 0;
    length *= shape[last];
  }
  bool is_leading = false;
  for (int i = last; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (gamma[i] == 1) is_leading = true;
    if (gamma[i] > 1 && is_leading) return 0;
  }
  return length;
}

/// Columns: [reduced, kept] or [kept, reduced, kept], where gamma has the elements of the last kept axes.
std::optional<RowGroups> columns_of(const Pattern& pattern, const Shape& shape, const Shape& gamma) {
  const std::vector<Run>& runs = pattern.runs;
  if (runs.size() != 2 && runs.size() != 3) return {};
  bool is_last = true;
  for (int i = shape.size() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    if (pattern.reduced[static_cast<std::size_t>(i)]) is_last = false;
    if ((gamma[i] > 1) != is_last) return {};
  }
  RowGroups g;
  g.inner = runs.back().size;
  g.pieces = g.gamma_span = runs[runs.size() - 2].size;
  g.groups = runs.size() == 3 ? runs[0].size * g.inner : g.inner;
  if (g.inner < kFewColumns) return {};
  return g;
}

std::optional<RowGroups> groups_of(const Pattern& pattern, const Shape& shape, const Shape& gamma) {
  const std::vector<Run>& runs = pattern.runs;
  if (runs.empty() || runs.size() > 3) return {};
  if (!runs.back().is_reduced) return columns_of(pattern, shape, gamma);
  RowGroups g;
  if (runs.size() == 3) {
    if (!pattern.is_along(false, shape, gamma)) return {};
    g.groups = g.inner = runs[1].size;
    g.pieces = g.gamma_span = runs[0].size;
    g.length = runs[2].size;
    return g;
  }
  if (runs.size() == 2) g.groups = runs[0].size;
  g.length = runs.back().size;
  g.elementwise = pattern.is_along(true, shape, gamma);
  if (g.elementwise) return g;
  const std::int64_t length = length_of_pieces(pattern, shape, gamma);
  if (length == 0 || g.length % length != 0) return {};
  g.pieces = g.length / length;
  g.length = length;
  return g;
}

/// Returns gamma or beta in x's order of axes in memory.
Array in_order_of(const Array& x, const Array& gamma, Dtype dtype) {
  return with_strides(gamma, strides_like(gamma.shape(), x.strides()), dtype);
}

}  // namespace

std::optional<RowGroups> row_groups(const Array& x, const Axes& axes, const Shape& gamma) {
  if (!is_floating(x.dtype()) || x.size() == 0 || has_gaps(x) || !has_row_functions(x.device())) return {};
  const Strides* const all[] = {&x.strides()};
  const Axes order = memory_order(x.ndim(), all);
  const Shape shape(permuted(x.shape(), order));
  Axes reduced;
  for (int i = 0; i < x.ndim(); ++i)
    if (std::find(axes.begin(), axes.end(), order[i]) != axes.end()) reduced.push_back(i);
  const std::optional<RowGroups> g = groups_of(Pattern(shape, reduced), shape, permuted(gamma, order));
  if (g && g->are_columns()) return g;
  if (!g || g->length < (g->elementwise ? kShortest : kShortestPiece)) return {};
  if (g->groups < kFewGroups && x.size() > kLarge) return {};
  return g;
}

StandardizedRows standardize_rows(const RowGroups& groups, const Array& x, const Array& gamma, const Array& beta,
                                  const Axes& axes, double eps) {
  const Dtype wide = dtype_of_statistics(x);
  Shape kept = x.shape();
  for (const std::int64_t axis : axes) kept[static_cast<int>(axis)] = 1;
  const auto statistic = [&] { return empty_beside(x, kept, wide); };
  const StandardizedRows rows{empty_beside(x, x.shape(), x.dtype()), statistic(), statistic(), statistic()};
  const Array weights = in_order_of(x, gamma, wide), shifts = in_order_of(x, beta, wide);
  const View from = readable(x), scale = readable(weights), shift = readable(shifts), y = writable(rows.y),
             mean = writable(rows.mean), var = writable(rows.var), inv_std = writable(rows.inv_std);
  StandardizeRows all{groups, eps, from, scale, mean, inv_std};
  all.beta = &shift, all.var = &var, all.y = &y;
  compute_rows(x.device(), all);
  return rows;
}

std::array<Array, 3> standardize_rows_back(const RowGroups& groups, const Array& x, const Array& output_gradient,
                                           const Array& gamma, const Array& mean, const Array& inv_std) {
  const Dtype wide = dtype_of_statistics(x);
  const Array gy = with_strides(output_gradient, x.strides(), x.dtype()), weights = in_order_of(x, gamma, wide),
              gx = empty_beside(x, x.shape(), x.dtype());
  Shape parts{groups.groups * groups.pieces / weights.size(), weights.size()};
  if (groups.elementwise) parts = {standardize_parts(groups.groups, groups.length), groups.length};
  if (groups.are_columns()) parts = {groups.groups / weights.size(), weights.size()};
  const bool is_transposed = !groups.elementwise && !groups.are_columns() && groups.gamma_span > 1;
  if (is_transposed) parts = {groups.groups, groups.pieces};
  const Array ggamma = Array::empty(parts, wide, x.device()), gbeta = Array::empty(parts, wide, x.device());
  const View from = readable(x), gradient = readable(gy), scale = readable(weights), means = readable(mean),
             inv_stds = readable(inv_std), to = writable(gx), to_gamma = writable(ggamma), to_beta = writable(gbeta);
  StandardizeRows all{groups, 0, from, scale, means, inv_stds};
  all.gy = &gradient, all.gx = &to, all.ggamma = &to_gamma, all.gbeta = &to_beta;
  compute_rows(x.device(), all);
  const auto total = [&](const Array& a) {
    return a.sum(is_transposed ? 1 : 0).as_strided(gamma.shape(), weights.strides());
  };
  return {gx, total(ggamma), total(gbeta)};
}

}  // namespace catenary::functions::detail
