#pragma once
// Losses with parameters: for large vocabularies, and for sequences of labels.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "catenary/functions/loss.h"
#include "catenary/links/link.h"

namespace catenary::links {

/// functions::black_out with W (classes, in_size) and negative classes drawn in proportion to their counts. Throws
/// ValueError unless the counts have a positive sum. W starts as LeCunNormal. Chainer leaves it uninitialised.
/// (chainer.links.BlackOut)
class CT_API BlackOut : public Link {
 public:
  BlackOut(std::int64_t in_size, const std::vector<double>& counts, std::int64_t sample_size,
           const std::optional<ParameterInit>& initialW = {});
  /// Returns the mean loss of x (n, in_size) and classes t (n).
  Variable operator()(const Variable& x, const Variable& t) const;
  std::string type_name() const override { return "BlackOut"; }
  std::int64_t sample_size;
  Parameter W;
  CT_LINKS(W)

 private:
  Array probabilities_;
};

/// functions::negative_sampling with W (classes, in_size), which starts as 0, and negative classes drawn in proportion
/// to counts^power. Throws ValueError unless the counts have a positive sum. (chainer.links.NegativeSampling)
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
  /// Makes a leaf.
  ClassTree(std::int64_t leaf) : leaf(leaf) {}
  ClassTree(ClassTree left, ClassTree right) : children{std::move(left), std::move(right)} {}
  std::int64_t leaf = -1;
  std::vector<ClassTree> children;  ///< empty or two
};
/// Softmax over the leaves of a binary tree, by one decision at each inner node. Returns the sum over the examples x
/// (n, in_size) with classes t (n) of Σ softplus(-± W[node]·x) over the nodes on the path to t. W is (inner nodes,
/// in_size) and starts as Uniform(1). Throws ValueError if the tree is only a leaf or contains repeated or negative
/// leaves, and IndexError for classes outside the tree. (chainer.links.BinaryHierarchicalSoftmax) (Mikolov et al.,
/// arXiv:1310.4546)
class CT_API BinaryHierarchicalSoftmax : public Link {
 public:
  BinaryHierarchicalSoftmax(std::int64_t in_size, const ClassTree& tree);
  /// Returns the Huffman tree of counts by class: rarer classes have longer paths. Throws ValueError if there are no
  /// counts.
  static ClassTree create_huffman_tree(const std::map<std::int64_t, double>& counts);
  Variable operator()(const Variable& x, const Variable& t) const;
  std::string type_name() const override { return "BinaryHierarchicalSoftmax"; }
  Parameter W;
  CT_LINKS(W)

 private:
  Array nodes_, signs_;    // paths to the leaves, [classes, depth], padded with signs of 0
  bool has_gaps_ = false;  // some integers below the largest leaf are not leaves
};

/// A linear-chain conditional random field with transition costs (labels, labels) that start as `initial_cost`.
/// (chainer.links.CRF1d)
class CT_API CRF1d : public Link {
 public:
  explicit CRF1d(std::int64_t n_label, const ParameterInit& initial_cost = 0);
  /// See functions::crf1d.
  Variable operator()(const std::vector<Variable>& xs, const std::vector<Variable>& ys,
                      functions::Reduce reduce = functions::Reduce::mean) const;
  /// See functions::argmax_crf1d.
  std::pair<Variable, std::vector<Array>> argmax(const std::vector<Variable>& xs) const;
  std::string type_name() const override { return "CRF1d"; }
  Parameter cost;
  CT_LINKS(cost)
};

}  // namespace catenary::links
