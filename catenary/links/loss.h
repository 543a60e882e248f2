#pragma once
// Links that are losses: of few words out of many, and of sequences of labels.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "catenary/functions/loss.h"
#include "catenary/links/link.h"

namespace catenary::links {

/// functions::black_out with negative classes drawn as often as they were counted; W (classes, in_size). Throws
/// ValueError unless counts are positive in sum. (chainer.links.BlackOut, whose W has no first value; here LeCunNormal)
class CT_API BlackOut : public Link {
 public:
  BlackOut(std::int64_t in_size, const std::vector<double>& counts, std::int64_t sample_size,
           const std::optional<ParameterInit>& initialW = {});
  /// The loss of x (n, in_size) and classes t (n), a mean.
  Variable operator()(const Variable& x, const Variable& t) const;
  std::string type_name() const override { return "BlackOut"; }
  std::int64_t sample_size;
  Parameter W;
  CT_LINKS(W)

 private:
  Array probabilities_;
};

/// functions::negative_sampling with classes drawn by counts^power; W (classes, in_size) begins as 0. Throws ValueError
/// unless counts are positive in sum. (chainer.links.NegativeSampling)
class CT_API NegativeSampling : public Link {
 public:
  NegativeSampling(std::int64_t in_size, const std::vector<double>& counts, std::int64_t sample_size,
                   double power = 0.75);
  Variable operator()(const Variable& x, const Variable& t, functions::Reduce reduce = functions::Reduce::sum) const;
  std::string type_name() const override { return "NegativeSampling"; }
  std::int64_t sample_size;
  Parameter W;
  CT_LINKS(W)

 private:
  Array probabilities_;
};

/// A binary tree whose leaves are classes.
struct ClassTree {
  /// A leaf.
  ClassTree(std::int64_t leaf) : leaf(leaf) {}
  ClassTree(ClassTree left, ClassTree right) : children{std::move(left), std::move(right)} {}
  std::int64_t leaf = -1;
  std::vector<ClassTree> children;  ///< none, or two
};
/// Softmax over the leaves of a tree by a decision at each of its inner nodes: the loss of x (n, in_size) and classes t
/// (n) is Σ softplus(-± W[node]·x) over the nodes on the way to t, a sum over the examples. W is (inner nodes,
/// in_size), Uniform(1). Throws ValueError for a tree that is a leaf, names a leaf twice or has a negative one, and
/// IndexError for a class that is no leaf. (chainer.links.BinaryHierarchicalSoftmax; Mikolov et al.,
/// arXiv:1310.4546)
class CT_API BinaryHierarchicalSoftmax : public Link {
 public:
  BinaryHierarchicalSoftmax(std::int64_t in_size, const ClassTree& tree);
  /// The Huffman tree of counts by class: the rarer a class, the longer the way to it. Throws ValueError for none.
  static ClassTree create_huffman_tree(const std::map<std::int64_t, double>& counts);
  Variable operator()(const Variable& x, const Variable& t) const;
  std::string type_name() const override { return "BinaryHierarchicalSoftmax"; }
  Parameter W;
  CT_LINKS(W)

 private:
  Array nodes_, signs_;    // of the ways to the leaves, [classes, depth]; a sign of 0 is behind a way's end
  bool has_gaps_ = false;  // are there numbers below the largest leaf that are none?
};

/// A linear chain of labels: transition costs (labels, labels), which begin as `initial_cost`. (chainer.links.CRF1d)
class CT_API CRF1d : public Link {
 public:
  explicit CRF1d(std::int64_t n_label, const ParameterInit& initial_cost = 0);
  /// functions::crf1d.
  Variable operator()(const std::vector<Variable>& xs, const std::vector<Variable>& ys,
                      functions::Reduce reduce = functions::Reduce::mean) const;
  /// functions::argmax_crf1d.
  std::pair<Variable, std::vector<Array>> argmax(const std::vector<Variable>& xs) const;
  std::string type_name() const override { return "CRF1d"; }
  Parameter cost;
  CT_LINKS(cost)
};

}  // namespace catenary::links
