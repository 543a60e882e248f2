#pragma once
// What transformers are made of, beside Linear, EmbedID and RMSNorm.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/core/fields.h"
#include "catenary/functions/attention.h"
#include "catenary/links/connection.h"
#include "catenary/links/link.h"

namespace catenary::links {

/// The keys and values of what MultiHeadAttention has been called with, for the queries that follow. It belongs to
/// whoever generates; a copy goes its own way from then on. Memory is made for twice as many when it is full.
class CT_API KeyValueCache {
 public:
  KeyValueCache() = default;
  KeyValueCache(const KeyValueCache& other);
  KeyValueCache(KeyValueCache&&) = default;
  KeyValueCache& operator=(KeyValueCache other) {
    std::swap(keys_, other.keys_);
    std::swap(values_, other.values_);
    size_ = other.size_;
    notes = std::move(other.notes);
    return *this;
  }
  /// How many positions it holds.
  std::int64_t size() const { return size_; }
  /// Forgets all from this position on. Throws ValueError beyond size().
  void resize(std::int64_t size);
  /// Adds [batch, groups, n, E] and [batch, groups, n, F]. Throws ShapeError where they do not go with what is there,
  /// DtypeError likewise.
  void append(const Array& keys, const Array& values);
  /// [batch, groups, size(), E or F], views that live until the next append.
  const Array keys() const;
  const Array values() const;
  /// What a model has to know of a sequence beside its keys, in the first layer's cache (ChatGlm: where its parts
  /// begin). resize(0) forgets it.
  std::vector<std::int64_t> notes;

 private:
  Array keys_, values_;
  std::int64_t size_ = 0;
};

/// Options of MultiHeadAttention.
struct MultiHeadAttentionOptions {
  std::optional<std::int64_t> groups = {};  ///< of heads that share keys and values: their number; heads' if not given
  std::optional<std::int64_t> head_size = {};  ///< size / heads when not given
  bool nobias = false;
  double dropout = 0;  ///< of attention's weights, in training
  std::optional<ParameterInit> initialW = {};
  /// Turns queries and keys by their positions; a cache's positions come first.
  std::optional<functions::RotaryOptions> rotary = {};
};
CT_FIELDS(MultiHeadAttentionOptions, groups, head_size, nobias, dropout, initialW, rotary)

/// Attention with several heads between projections: q, k, v, and out, which takes the heads' results together. Of x
/// [batch, L, size] it makes [batch, L, size]. (torch.nn.MultiheadAttention with batch_first; Vaswani et al. 2017)
class CT_API MultiHeadAttention : public Link {
 public:
  /// What a call is told: scaled_dot_product_attention's.
  struct Call {
    Variable mask = {};  ///< broadcast to [batch, heads, L, keys]
    bool causal = false;
    std::int64_t window = 0;
    /// Keys and values of earlier calls come before x's own, and x's are added. No gradient reaches earlier calls: it
    /// is refused while a graph is recorded (config.enable_backprop).
    KeyValueCache* cache = nullptr;
    /// Of x, in place of its places behind the cache's: of shape [L] or what broadcasts to [batch, heads, L]. Where
    /// there are several, each head has as many equal parts, and each part is turned by its own (GLM has two).
    std::vector<Array> positions = {};
  };

  /// Throws ValueError where size is no multiple of heads (unless head_size is given), or heads of groups.
  MultiHeadAttention(std::int64_t size, std::int64_t heads, const MultiHeadAttentionOptions& options = {});
  /// Of x to itself.
  Variable operator()(const Variable& x) const { return (*this)(x, Call()); }
  Variable operator()(const Variable& x, const Call& call) const;
  /// Of x to another sequence [batch, S, size]. Throws ValueError for a cache and for positions.
  Variable operator()(const Variable& x, const Variable& other) const { return (*this)(x, other, Call()); }
  Variable operator()(const Variable& x, const Variable& other, const Call& call) const;
  std::string type_name() const override { return "MultiHeadAttention"; }
  std::int64_t heads, groups, head_size;
  double dropout;
  std::optional<functions::RotaryOptions> rotary;
  Linear q, k, v, out;
  CT_LINKS(q, k, v, out)

 private:
  Variable attend(const Variable& x, const Variable& other, const Call& call) const;
};

}  // namespace catenary::links
