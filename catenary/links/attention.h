#pragma once
// Links for transformers, beside Linear, EmbedID and RMSNorm.

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

/// The keys and values of earlier calls of MultiHeadAttention, for later queries. The caller of the model owns it.
/// Copies are independent. A full cache doubles its memory.
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
  /// Returns the number of positions in the cache.
  std::int64_t size() const { return size_; }
  /// Drops all positions from `size` on. Throws ValueError if `size` exceeds size().
  void resize(std::int64_t size);
  /// Adds [batch, groups, n, E] and [batch, groups, n, F]. Throws ShapeError and DtypeError unless they match the
  /// cache.
  void append(const Array& keys, const Array& values);
  /// Returns views [batch, groups, size(), E or F], valid until the next append.
  const Array keys() const;
  const Array values() const;
  /// Further state of a sequence, kept in the first layer's cache (ChatGlm: the positions of its special tokens).
  /// resize(0) clears it.
  std::vector<std::int64_t> notes;

 private:
  Array keys_, values_;
  std::int64_t size_ = 0;
};

/// Options of MultiHeadAttention.
struct MultiHeadAttentionOptions {
  std::optional<std::int64_t> groups = {};     ///< key and value heads, shared by query heads (default: heads)
  std::optional<std::int64_t> head_size = {};  ///< size / heads by default
  bool nobias = false;
  double dropout = 0;  ///< rate for attention weights, in training
  std::optional<ParameterInit> initialW = {};
  /// Rotates queries and keys by their positions, which continue after a cache's positions.
  std::optional<functions::RotaryOptions> rotary = {};
};
CT_FIELDS(MultiHeadAttentionOptions, groups, head_size, nobias, dropout, initialW, rotary)

/// Multi-head attention with the projections q, k, v and out. Maps x [batch, L, size] to [batch, L, size].
/// (torch.nn.MultiheadAttention with batch_first) (Vaswani et al. 2017)
class CT_API MultiHeadAttention : public Link {
 public:
  /// Options of a call, see scaled_dot_product_attention.
  struct Call {
    Variable mask = {};  ///< must broadcast to [batch, heads, L, keys]
    bool causal = false;
    std::int64_t window = 0;
    /// Keys and values of earlier calls. They precede x's, which are added. A cache cannot be used while a graph is
    /// recorded (config.enable_backprop), because gradients do not reach earlier calls.
    KeyValueCache* cache = nullptr;
    /// Positions of x, by default its indices after the cache's. Shape [L], or any that broadcasts to [batch, heads,
    /// L]. With several arrays each head is split into equal parts, and each array rotates one part (GLM has two).
    std::vector<Array> positions = {};
  };

  /// Throws ValueError if size is not a multiple of heads (unless head_size is given), or heads not a multiple of
  /// groups.
  MultiHeadAttention(std::int64_t size, std::int64_t heads, const MultiHeadAttentionOptions& options = {});
  /// Self-attention.
  Variable operator()(const Variable& x) const { return (*this)(x, Call()); }
  Variable operator()(const Variable& x, const Call& call) const;
  /// Cross-attention to a sequence [batch, S, size]. Throws ValueError if the call has a cache or positions.
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
