// Attention, rotary embeddings and recurrent cells, as operations.

#include <algorithm>
#include <limits>

#include "catenary/array/elementwise_core.h"
#include "catenary/array/reduction.h"
#include "catenary/onnx/export_call.h"

namespace catenary::onnx::exporting {

namespace {

/// 0, 1, … up to a size, as int64.
std::string range_up_to(const ExportCall& c, const Extent& size) {
  return c.node("Range", {c.number(0, Dtype::int64), c.node("Squeeze", {c.size(size)}), c.number(1, Dtype::int64)});
}

/// Returns where queries [L, 1] see keys [S] of a causal attention.
std::string causal_mask(const ExportCall& c, const Extent& queries, const Extent& keys) {
  const auto moved = [&](const std::string& x, std::int64_t by) {
    return by == 0 ? x : c.node("Add", {x, c.number(static_cast<double>(by), Dtype::int64)});
  };
  const std::string positions = c.node("Unsqueeze", {range_up_to(c, queries), c.constant(Integers{1})});
  const std::string last = moved(positions, c.integer("first")), key = range_up_to(c, keys);
  const std::string seen = c.node("LessOrEqual", {key, last});
  const std::int64_t window = c.integer("window");
  if (window == 0) return seen;
  return c.node("And", {seen, c.node("Greater", {key, moved(last, -window)})});
}

/// Hides scores [B, H, L, S] by the function's mask or causality.
std::string masked_scores(const ExportCall& c, const std::string& scores, const Extent& queries, const Extent& keys) {
  const bool causal = c.flag("causal"), masked = c.has("mask");
  const std::string hidden = c.number(-std::numeric_limits<double>::infinity());
  if (!masked) return causal ? c.node("Where", {causal_mask(c, queries, keys), scores, hidden}) : scores;
  if (causal) c.fail("a mask beside causal attention is not supported");
  const Array mask = c.array("mask");
  const bool numbers = mask.dtype() != Dtype::bool_;
  const Array seen = numbers ? mask != -std::numeric_limits<double>::infinity() : mask;
  if (!seen.any(-1).all()) c.fail("a mask that hides all keys from a query is not supported");
  if (numbers) return c.node("Add", {scores, c.constant(mask)});
  return c.node("Where", {c.constant(mask), scores, hidden});
}

/// q [B, H, L, E], k [B, G, S, E], v [B, G, S, F]
Names attention_as_products(const ExportCall& c) {
  const Extents q = c.extents(0), k = c.extents(1), v = c.extents(2);
  const std::int64_t heads = c.fixed(q[1], "the number of heads"), groups = c.fixed(k[1], "the number of groups");
  const bool shared = heads != groups;
  const Extent together = {heads / groups * q[2].first, heads / groups * q[2].second};
  std::string rows = c.node("Mul", {c.x(0), c.number(c.real("scale"))});
  if (shared) rows = c.reshape(rows, q, {q[0], k[1], together, q[3]});
  std::string scores = c.node("MatMul", {rows, c.transpose(c.x(1), {0, 1, 3, 2})});
  const Extents grouped = {q[0], k[1], together, k[2]}, whole = {q[0], q[1], q[2], k[2]};
  if (shared) scores = c.reshape(scores, grouped, whole);
  std::string weights = c.node("Softmax", {masked_scores(c, scores, q[2], k[2])}, {{"axis", -1}});
  if (shared) weights = c.reshape(weights, whole, grouped);
  const std::string y = c.node("MatMul", {weights, c.x(2)});
  return {shared ? c.reshape(y, {q[0], k[1], together, v[3]}, c.result()) : y};
}

/// Rotates pairs of the last axis by angles with known cosines and sines.
Names rotated(const ExportCall& c) {
  const Array cosines = c.array("cosines"), sines = c.array("sines");
  const Dtype wide = cosines.dtype();
  const std::int64_t pairs = cosines.shape(-1);
  const int last = c.ndim(0) - 1;
  const bool interleaved = c.flag("interleaved");
  const std::string x = c.cast(c.x(0), c.dtype(0), wide), cosine = c.constant(cosines), sine = c.constant(sines);
  const auto part = [&](std::int64_t k) {
    return interleaved ? c.slice(x, last, k, 2 * pairs, 2) : c.slice(x, last, k * pairs, (k + 1) * pairs);
  };
  const std::string a = part(0), b = part(1);
  const std::string ra = c.node("Sub", {c.node("Mul", {a, cosine}), c.node("Mul", {b, sine})}),
                    rb = c.node("Add", {c.node("Mul", {b, cosine}), c.node("Mul", {a, sine})});
  Names parts = {ra, rb};
  if (interleaved) {
    Extents to = c.extents(0);
    to.back() = {2 * pairs, 2 * pairs};
    Extents from = to;
    from.back() = {pairs, pairs};
    from.push_back({2, 2});
    for (std::string& name : parts) name = c.node("Unsqueeze", {name, c.constant(Integers{last + 1})});
    parts = {c.reshape(c.node("Concat", parts, {{"axis", last + 1}}), from, to)};
  }
  if (2 * pairs < c.extents(0).back().first)
    parts.push_back(c.slice(x, last, 2 * pairs, std::numeric_limits<std::int64_t>::max()));
  const std::string y = parts.size() == 1 ? parts[0] : c.node("Concat", parts, {{"axis", last}});
  return {c.cast(y, wide, c.dtype(0))};
}

/// c = sum of tanh(a) sigmoid(i) + sum of sigmoid(f) c_prev, h = sigmoid(sum of o) tanh(c). The inputs are the states
/// and then the gates, which are interleaved by unit or follow each other.
Names gated_cell(const ExportCall& c) {
  const auto states = static_cast<int>(c.integer("states"));
  const std::int64_t gates = c.integer("gates");
  const bool side_by_side = c.flag("side_by_side");
  const auto sum = [&](const Names& terms) {
    std::string total = terms.at(0);
    for (std::size_t i = 1; i < terms.size(); ++i) total = c.node("Add", {total, terms[i]});
    return total;
  };
  const auto open = [&](const std::string& x) { return c.node("Sigmoid", {x}); };
  Names terms, outputs, forgets;
  for (int i = states; i < c.count(); ++i) {
    const Extents from = c.extents(i);
    Extents to = from;
    const std::int64_t units = c.fixed(from[1], "the number of units") / gates;
    const Extent inner = {side_by_side ? gates : units, side_by_side ? gates : units};
    to[1] = {side_by_side ? units : gates, side_by_side ? units : gates};
    to.insert(to.begin() + 2, inner);
    const std::string all = c.reshape(c.x(i), from, to);
    std::int64_t next = 0;
    const auto gate = [&] {
      return c.node("Gather", {all, c.number(static_cast<double>(next++), Dtype::int64)},
                    {{"axis", side_by_side ? 2 : 1}});
    };
    const std::string a = c.node("Tanh", {gate()}), in = open(gate());
    terms.push_back(c.node("Mul", {a, in}));
    if (side_by_side) forgets.push_back(gate());
    outputs.push_back(gate());
    for (int k = 0; !side_by_side && k < states; ++k) forgets.push_back(gate());
  }
  for (int k = 0; k < states; ++k)
    terms.push_back(c.node("Mul", {open(forgets.at(static_cast<std::size_t>(k))), c.x(k)}));
  const std::string cell = sum(terms);
  return {cell, c.node("Mul", {open(sum(outputs)), c.node("Tanh", {cell})})};
}

constexpr ExportRow kSequence[] = {
    {"LSTM", nullptr, gated_cell},     {"RotaryEmbedding", nullptr, rotated},
    {"SLSTM", nullptr, gated_cell},    {"ScaledDotProductAttention", nullptr, attention_as_products},
    {"TreeLSTM", nullptr, gated_cell},
};

}  // namespace

std::span<const ExportRow> exported_sequence() { return kSequence; }

}  // namespace catenary::onnx::exporting
