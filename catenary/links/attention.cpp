#include "catenary/links/attention.h"

#include <algorithm>

#include "catenary/array/creation.h"
#include "catenary/array/manipulation.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/array.h"

namespace catenary::links {

KeyValueCache::KeyValueCache(const KeyValueCache& other) : notes(other.notes), size_(other.size_) {
  if (!other.keys_.defined()) return;
  keys_ = other.keys_.copy();
  values_ = other.values_.copy();
}

void KeyValueCache::resize(std::int64_t size) {
  if (size < 0 || size > size_) fail<ValueError>("KeyValueCache: it holds {} positions, not {}", size_, size);
  size_ = size;
  if (size == 0) notes.clear();
}

void KeyValueCache::append(const Array& keys, const Array& values) {
  const auto check = [&](const char* what, const Array& held, const Array& given) {
    if (given.ndim() != 4)
      fail<ShapeError>("KeyValueCache: {} must be (batch, groups, n, size), not {}", what, given.shape());
    if (size_ == 0) return;
    Shape wanted = held.shape();
    wanted[2] = given.shape(2);
    if (given.shape() != wanted)
      fail<ShapeError>("KeyValueCache: {} must be {} as those before them, not {}", what, wanted, given.shape());
    if (given.dtype() != held.dtype())
      fail<DtypeError>("KeyValueCache: {} must be {} as those before them, not {}", what, held.dtype(), given.dtype());
  };
  check("keys", keys_, keys);
  check("values", values_, values);
  if (keys.shape(2) != values.shape(2))
    fail<ShapeError>("KeyValueCache: as many keys as values, not {} and {}", keys.shape(), values.shape());
  const std::int64_t size = size_ + keys.shape(2);
  const auto grown = [&](const Array& held, const Array& given) {
    Shape shape = given.shape();
    if (held.defined()) shape[2] = held.shape(2);
    if (held.defined() && held.shape(2) >= size && held.shape() == shape && held.dtype() == given.dtype() &&
        held.device() == given.device())
      return held;
    shape[2] = std::max<std::int64_t>(16, held.defined() ? 2 * size : size);
    const Array fresh = Array::empty(shape, given.dtype(), given.device());
    if (size_ > 0)
      fresh.set(held(slice(), slice(), slice(0, size_)).to_device(given.device()), slice(), slice(), slice(0, size_));
    return fresh;
  };
  const Array all_keys = grown(keys_, keys), all_values = grown(values_, values);
  all_keys.set(keys, slice(), slice(), slice(size_, size));
  all_values.set(values, slice(), slice(), slice(size_, size));
  keys_ = all_keys;
  values_ = all_values;
  size_ = size;
}

const Array KeyValueCache::keys() const { return keys_(slice(), slice(), slice(0, size_)); }
const Array KeyValueCache::values() const { return values_(slice(), slice(), slice(0, size_)); }

namespace {

std::int64_t size_of_head(std::int64_t size, std::int64_t heads, const MultiHeadAttentionOptions& options) {
  const std::int64_t groups = options.groups.value_or(heads);
  if (heads < 1 || groups < 1 || heads % groups != 0)
    fail<ValueError>("MultiHeadAttention: {} heads do not share the keys of {} groups", heads, groups);
  if (!options.head_size && size % heads != 0)
    fail<ValueError>("MultiHeadAttention: size {} is no multiple of {} heads; give head_size", size, heads);
  return options.head_size.value_or(size / heads);
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(std::int64_t size, std::int64_t heads0, const MultiHeadAttentionOptions& options)
    : heads(heads0),
      groups(options.groups.value_or(heads0)),
      head_size(size_of_head(size, heads0, options)),
      dropout(options.dropout),
      rotary(options.rotary),
      q(size, heads * head_size, {.nobias = options.nobias, .initialW = options.initialW, .n_batch_axes = -1}),
      k(size, groups * head_size, {.nobias = options.nobias, .initialW = options.initialW, .n_batch_axes = -1}),
      v(size, groups * head_size, {.nobias = options.nobias, .initialW = options.initialW, .n_batch_axes = -1}),
      out(heads * head_size, size, {.nobias = options.nobias, .initialW = options.initialW, .n_batch_axes = -1}) {}

Variable MultiHeadAttention::operator()(const Variable& x, const Call& call) const {
  return hooked(
      *this, [&] { return attend(x, x, call); }, x);
}
Variable MultiHeadAttention::operator()(const Variable& x, const Variable& other, const Call& call) const {
  if (call.cache) throw ValueError("MultiHeadAttention: a cache holds x's own keys, not another sequence's");
  if (!call.positions.empty()) throw ValueError("MultiHeadAttention: positions are x's own, not another sequence's");
  return hooked(
      *this, [&] { return attend(x, other, call); }, x);
}

Variable MultiHeadAttention::attend(const Variable& x, const Variable& other, const Call& call) const {
  if (x.ndim() != 3 || other.ndim() != 3)
    fail<ShapeError>("MultiHeadAttention: x must be (batch, L, size), not {}",
                     x.ndim() != 3 ? x.shape() : other.shape());
  if (call.cache && config.enable_backprop)
    throw ValueError(
        "MultiHeadAttention: a cache is for generating: no gradient reaches the calls before (set "
        "config.enable_backprop to false)");
  if (!call.positions.empty() && !rotary)
    throw ValueError("MultiHeadAttention: positions turn queries and keys where there are rotary options");
  if (const auto parts = std::ssize(call.positions); parts > 1 && head_size % parts != 0)
    fail<ValueError>("MultiHeadAttention: heads of {} have no {} equal parts", head_size, parts);
  const std::int64_t before = call.cache ? call.cache->size() : 0;
  // views with the heads before the rows, as attention accepts any strides
  const auto projected = [&](const Linear& by, const Variable& from, std::int64_t n) {
    return functions::transpose(functions::reshape(by(from), {from.shape(0), from.shape(1), n, head_size}),
                                {0, 2, 1, 3});
  };
  Variable queries = projected(q, x, heads), keys = projected(k, other, groups), values = projected(v, other, groups);
  if (rotary) {
    const DeviceScope scope(x.device());
    const auto turned = [&](const Variable& y) {
      if (call.positions.empty()) return functions::rotary_embedding(y, arange(before, before + y.shape(2)), *rotary);
      const std::int64_t parts = std::ssize(call.positions), part = head_size / parts;
      std::vector<Variable> all;
      for (std::int64_t i = 0; i < parts; ++i)
        all.push_back(functions::rotary_embedding(y(ellipsis, slice(i * part, (i + 1) * part)),
                                                  call.positions[static_cast<std::size_t>(i)], *rotary));
      return parts == 1 ? all[0] : functions::concat(all, 3);
    };
    queries = turned(queries);
    keys = turned(keys);
  }
  if (call.cache) {
    call.cache->append(keys.array(), values.array());
    keys = Variable(call.cache->keys(), false);
    values = Variable(call.cache->values(), false);
  }
  const Variable y = functions::scaled_dot_product_attention(
      queries, keys, values,
      {.mask = call.mask, .causal = call.causal, .first = before, .window = call.window, .dropout = dropout});
  return out(functions::reshape(functions::transpose(y, {0, 2, 1, 3}), {x.shape(0), x.shape(1), heads * head_size}));
}

}  // namespace catenary::links
