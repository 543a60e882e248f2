#include "catenary/backends/gpu/dnn/attention_spec.h"

#include <bit>
#include <limits>

#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

constexpr const char* kStrides = "strides: fused attention takes rows that begin at multiples of 16 bytes";
constexpr std::int64_t kMostWidth = 128, kWidthStep = 8;  // for a head; 8 elements are 16 bytes

bool is_aligned(const View& view) { return std::bit_cast<std::uintptr_t>(view.data()) % 16 == 0; }

std::optional<AttentionSpec::Array> as_array(const View& view) {
  AttentionSpec::Array array{view, {}, {}};
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const int at = static_cast<int>(axis);
    array.shape[axis] = view.shape[at];
    if (axis == 3) {
      array.strides[axis] = view.strides[at];
    } else {
      array.strides[axis] = view.shape[at] == 1 ? view.shape[3] : view.strides[at];
      if (array.strides[axis] < kWidthStep || array.strides[axis] % kWidthStep != 0) return std::nullopt;
    }
  }
  if (array.strides[3] != 1 || !is_aligned(view)) return std::nullopt;
  return array;
}

/// Fills the fields of both primitives. Returns null, or the reason why no library supports it.
const char* fill(AttentionSpec& spec, const AttentionRules& rules, const View& q, const View& k, const View& v,
                 const View& y, const View& sums, const View* mask) {
  if (!is_16bit_float(q.dtype)) return "dtype: fused attention supports only float16 and bfloat16";
  if (mask) return "a mask array: it may hide all keys of a query, which fused attention does not support";
  const std::int64_t queries = q.shape[2], keys = k.shape[2];
  if (!is_aligned(sums)) return kStrides;
  if (q.size() == 0 || k.size() == 0 || v.size() == 0) return "nothing to compute";
  for (const std::int64_t width : {q.shape[3], v.shape[3]})
    if (width > kMostWidth || width % kWidthStep != 0)
      return "head size: fused attention is used for multiples of 8 up to 128";
  if (std::max(queries, keys) > std::numeric_limits<std::int32_t>::max() / 2) return "too many queries or keys";
  if (rules.causal) {
    // query i sees the keys (first + i - window, first + i]
    if (rules.first < 0 || (rules.window > 0 && rules.first + queries - rules.window > keys - 1))
      return "a query without visible keys, which fused attention does not support";
    const bool cut_left = rules.window > 0 && rules.first + queries - rules.window > 0,
               cut_right = rules.first < keys - 1;
    if (rules.first == 0 && (cut_left || cut_right)) {
      spec.diagonal = AttentionSpec::Diagonal::top_left;
    } else if (rules.first == keys - queries && (cut_left || cut_right)) {
      spec.diagonal = AttentionSpec::Diagonal::bottom_right;
    } else if (cut_left || cut_right) {
      return "the diagonal: in fused attention it begins at the first key or ends at the last one";
    }
    spec.window = cut_left ? rules.window : 0;
  }
  spec.dtype = q.dtype;
  spec.scale = rules.scale;
  spec.sums = sums;
  for (const auto& [to, from] : {std::pair(&spec.q, &q), {&spec.k, &k}, {&spec.v, &v}, {&spec.y, &y}}) {
    const auto array = as_array(*from);
    if (!array) return kStrides;
    *to = *array;
  }
  return nullptr;
}

}  // namespace

std::vector<std::int64_t> AttentionSpec::key() const {
  std::vector<std::int64_t> key = {backward,
                                   static_cast<std::int64_t>(dtype),
                                   std::bit_cast<std::int64_t>(scale),
                                   static_cast<std::int64_t>(diagonal),
                                   window,
                                   width()};
  for (const auto* shape : {&q.shape, &k.shape}) key.insert(key.end(), shape->begin(), shape->end());
  const auto add = [&](const Array& array) { key.insert(key.end(), array.strides.begin(), array.strides.end()); };
  for (const Array* array : {&q, &k, &v, &y}) add(*array);
  if (backward)
    for (const auto* array : {&gy, &gq, &gk, &gv}) add(**array);
  return key;
}

std::optional<AttentionSpec> as_spec(const primitives::Attention& p, const char*& why) {
  AttentionSpec spec;
  why = fill(spec, p.rules, p.q, p.k, p.v, p.y, p.sums, p.mask);
  return why ? std::nullopt : std::optional(std::move(spec));
}

std::optional<AttentionSpec> as_spec(const primitives::AttentionBack& p, const char*& why) {
  AttentionSpec spec;
  spec.backward = true;
  why = fill(spec, p.rules, p.q, p.k, p.v, p.y, p.sums, p.mask);
  if (why) return std::nullopt;
  spec.gy = as_array(p.gy);
  spec.gq = as_array(p.gq);
  spec.gk = as_array(p.gk);
  spec.gv = as_array(p.gv);
  if (spec.gy && spec.gq && spec.gk && spec.gv) return spec;
  why = kStrides;
  return std::nullopt;
}

std::string describe(const AttentionSpec& spec) {
  return fmt::format("{} of {} [{}, {}, {}, {}] by {} keys of {} heads", spec.backward ? "attention_back" : "attention",
                     spec.dtype, spec.batch(), spec.heads(), spec.queries(), spec.depth(), spec.keys(), spec.groups());
}

}  // namespace catenary::gpu
