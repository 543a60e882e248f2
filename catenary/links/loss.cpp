#include "catenary/links/loss.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/random.h"
#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/array.h"
#include "catenary/functions/connection.h"
#include "catenary/functions/labels.h"
#include "catenary/functions/loss.h"
#include "catenary/functions/math_reduction.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

namespace {

/// Returns counts^power, normalised to probabilities.
Array probabilities_of(const std::vector<double>& counts, double power, const char* what) {
  std::vector<double> p;
  double total = 0;
  for (const double count : counts) {
    if (!(count >= 0)) fail<ValueError>("{}: counts must not be negative, {} was given", what, count);
    p.push_back(std::pow(count, power));
    total += p.back();
  }
  if (!(total > 0)) fail<ValueError>("{}: counts must be positive in sum, {} were given", what, counts.size());
  for (double& each : p) each /= total;
  return Array::from_host(p.data(), {static_cast<std::int64_t>(p.size())}, Dtype::float64, Device());
}

/// Draws classes by these probabilities. Runs on the host, because few devices have float64.
Array drawn(const Array& probabilities, const Shape& shape, const Device& device) {
  return random::choice(probabilities.size(), shape, {.p = probabilities, .device = Device()}).to_device(device);
}

}  // namespace

BlackOut::BlackOut(std::int64_t in_size, const std::vector<double>& counts, std::int64_t samples,
                   const std::optional<ParameterInit>& initialW)
    : sample_size(samples),
      W(initialW ? *initialW : ParameterInit(initializers::LeCunNormal()),
        Shape{static_cast<std::int64_t>(counts.size()), in_size}, "W"),
      probabilities_(probabilities_of(counts, 1, "BlackOut")) {}

Variable BlackOut::operator()(const Variable& x, const Variable& t) const {
  return hooked(
      *this,
      [&] {
        return functions::black_out(x, t, W, drawn(probabilities_, {x.shape(0), sample_size}, x.device()));
      },
      x, t);
}

NegativeSampling::NegativeSampling(std::int64_t in_size, const std::vector<double>& counts, std::int64_t samples,
                                   double power)
    : sample_size(samples),
      W(0, Shape{static_cast<std::int64_t>(counts.size()), in_size}, "W"),
      probabilities_(probabilities_of(counts, power, "NegativeSampling")) {}

Variable NegativeSampling::operator()(const Variable& x, const Variable& t, functions::Reduce reduce) const {
  return hooked(
      *this,
      [&] {
        return functions::negative_sampling(
            x, t, W, [&](const Shape& shape) { return drawn(probabilities_, shape, x.device()); }, sample_size, reduce);
      },
      x, t);
}

namespace {

/// The paths from the root to the leaves: inner nodes, with 1 for left and -1 for right.
class Ways {
 public:
  explicit Ways(const ClassTree& tree) {
    if (tree.children.empty()) throw ValueError("BinaryHierarchicalSoftmax: a tree needs two leaves at least");
    walk(tree);
  }
  std::int64_t inner() const { return inner_; }
  std::int64_t leaves() const { return static_cast<std::int64_t>(ways_.size()); }
  /// One row per class, as long as the longest path.
  std::pair<Array, Array> arrays() const {
    std::size_t depth = 0;
    for (const auto& [leaf, way] : ways_) depth = std::max(depth, way.size());
    const std::size_t classes = static_cast<std::size_t>(ways_.rbegin()->first) + 1;
    std::vector<std::int64_t> nodes(classes * depth, 0);
    std::vector<float> signs(classes * depth, 0);
    for (const auto& [leaf, way] : ways_) {
      for (std::size_t i = 0; i < way.size(); ++i) {
        nodes[static_cast<std::size_t>(leaf) * depth + i] = way[i].first;
        signs[static_cast<std::size_t>(leaf) * depth + i] = way[i].second;
      }
    }
    const Shape shape{static_cast<std::int64_t>(classes), static_cast<std::int64_t>(depth)};
    return {Array::from_host(nodes.data(), shape, Dtype::int64, current_device()),
            Array::from_host(signs.data(), shape, Dtype::float32, current_device())};
  }

 private:
  void walk(const ClassTree& tree) {
    if (tree.children.empty()) {
      if (tree.leaf < 0) fail<ValueError>("BinaryHierarchicalSoftmax: class {} is negative", tree.leaf);
      if (!ways_.emplace(tree.leaf, way_).second)
        fail<ValueError>("BinaryHierarchicalSoftmax: class {} is a leaf twice", tree.leaf);
      return;
    }
    const std::int64_t node = inner_++;
    for (const float sign : {1.0f, -1.0f}) {
      way_.emplace_back(node, sign);
      walk(tree.children[sign > 0 ? 0 : 1]);
      way_.pop_back();
    }
  }

  std::int64_t inner_ = 0;
  std::vector<std::pair<std::int64_t, float>> way_;
  std::map<std::int64_t, std::vector<std::pair<std::int64_t, float>>> ways_;
};

}  // namespace

BinaryHierarchicalSoftmax::BinaryHierarchicalSoftmax(std::int64_t in_size, const ClassTree& tree) {
  const Ways ways(tree);
  W = Parameter(initializers::Uniform(1.0), Shape{ways.inner(), in_size}, "W");
  std::tie(nodes_, signs_) = ways.arrays();
  has_gaps_ = signs_.shape(0) > ways.leaves();
}

ClassTree BinaryHierarchicalSoftmax::create_huffman_tree(const std::map<std::int64_t, double>& counts) {
  if (counts.empty()) throw ValueError("create_huffman_tree: there are no classes");
  // among equal counts, earlier nodes come first
  using Entry = std::tuple<double, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<ClassTree> trees;
  const auto add = [&](double count, ClassTree tree) {
    queue.emplace(count, trees.size());
    trees.push_back(std::move(tree));
  };
  for (const auto& [leaf, count] : counts) add(count, leaf);
  while (queue.size() > 1) {
    const auto [rarest, left] = queue.top();
    queue.pop();
    const auto [rare, right] = queue.top();
    queue.pop();
    add(rarest + rare, ClassTree(std::move(trees[left]), std::move(trees[right])));
  }
  return std::move(trees.back());
}

Variable BinaryHierarchicalSoftmax::operator()(const Variable& x, const Variable& t) const {
  return hooked(
      *this,
      [&] {
        if (x.ndim() != 2 || t.shape() != Shape{x.shape(0)})
          fail<ShapeError>("BinaryHierarchicalSoftmax: x must be (n, in_size) and t (n,), not {} and {}", x.shape(),
                           t.shape());
        functions::detail::Labels classes{"BinaryHierarchicalSoftmax", "t", t.array(), signs_.shape(0)};
        classes.check();
        const Array signs = take(signs_.to_device(x.device()), classes.values(), 0).astype(x.dtype());
        const Array nodes = take(nodes_.to_device(x.device()), classes.values(), 0);
        if (has_gaps_) {
          classes.forbidden = signs(slice(), 0) == 0;
          classes.what_is_forbidden = "a number missing from the tree";
          classes.check();
        }
        const Variable scores = functions::sum(functions::embed_id(nodes, W) * functions::expand_dims(x, 1), 2) * signs;
        return functions::sum(functions::softplus(-scores) * absolute(signs));
      },
      x, t);
}

CRF1d::CRF1d(std::int64_t n_label, const ParameterInit& initial_cost)
    : cost(initial_cost, Shape{n_label, n_label}, "cost") {}

Variable CRF1d::operator()(const std::vector<Variable>& xs, const std::vector<Variable>& ys,
                           functions::Reduce reduce) const {
  return hooked(
      *this, [&] { return functions::crf1d(cost, xs, ys, reduce); }, xs.empty() ? Variable() : xs[0]);
}

std::pair<Variable, std::vector<Array>> CRF1d::argmax(const std::vector<Variable>& xs) const {
  return functions::argmax_crf1d(cost, xs);
}

}  // namespace catenary::links
