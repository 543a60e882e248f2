// Attention of bfloat16 of one thread, by AMX: forward with many queries. Like attention.simd.cpp, except that the
// matrix unit makes the tiles of scores and takes the softmax factors rounded to bfloat16.

#include <algorithm>
#include <cstdint>

#include "catenary/backends/cpu/attention/attention.h"
#include "catenary/backends/cpu/attention/attention_softmax.h"
#include "catenary/backends/cpu/gemm/gemm_pairs.h"

#if defined(CT_SIMD_v4)

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

using E = bfloat16;
using M = TilePairs;
using TileArgs = AttentionArgs<float, E>;

constexpr int64_t kQueries = 64, kKeys = 256, kPart = 8 * kQueries;
constexpr int64_t kScores = kKeys + 16, kFactors = kKeys + 32;  // distance between rows

// Scratch memory: sums in float32, then panels and rows in bfloat16.
struct TileRoom {
  int64_t depth, width;  // padded to whole steps
  float *scores, *out, *most, *sums;
  E *q, *factors, *k, *v;
  TileRoom(const TileArgs& g, float* memory)
      : depth(round_up(g.depth, M::step)),
        width(round_up(g.width, M::columns)),
        scores(memory),
        out(scores + kQueries * kScores),
        most(out + kPart * y_row()),
        sums(most + kPart),
        q(reinterpret_cast<E*>(sums + kPart)),
        factors(q + kQueries * q_row()),
        k(factors + kQueries * kFactors),
        v(k + kKeys * depth) {}
  // odd numbers of cache lines, so that rows do not share sets of the cache
  int64_t y_row() const { return width + 16; }
  int64_t q_row() const { return depth | 32; }
  int64_t size() const { return reinterpret_cast<float*>(v + kKeys * width) - scores; }
};

int64_t scratch(const TileArgs& g) { return TileRoom(g, nullptr).size(); }

// Copies rows of queries, padded with zeros.
void copy_rows(const HeadRows<const E>& x, int64_t first, int64_t rows, int64_t n, int64_t whole, E* to, int64_t ld) {
  for (int64_t r = 0; r < rows; ++r, to += ld) {
    const E* const from = x.data + (first + r) * x.row;
    for (int64_t c = 0; c < n; ++c) to[c] = from[c * x.column];
    std::fill(to + n, to + whole, E{});
  }
}

// Rounds `whole` elements, 32 at a time.
CT_BFLOAT_UNITS void round_row(const float* x, int64_t whole, E* y) {
  for (int64_t i = 0; i < whole; i += 32)
    _mm512_storeu_si512(
        y + i, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + i + 16), _mm512_loadu_ps(x + i))));
}

// c (+)= a b for whole tiles, with panels of b that are `panel` deep.
void multiply_tiles(const E* a, int64_t a_row, int64_t m, const E* b, int64_t panel, int64_t n, int64_t k, float* c,
                    int64_t ld, bool accumulate) {
  for (int64_t j = 0; j < n; j += M::columns)
    for (int64_t i = 0; i < m; i += M::rows)
      M::multiply(M::placed(a + i * a_row, a_row), b + j * panel, k, M::rows, M::columns, c + i * ld + j, ld,
                  accumulate);
}

void forward(const TileArgs& g, int64_t b, int64_t h, int64_t i0, int64_t i1, float* memory) {
  const TileRoom room(g, memory);
  const HeadRows<const E> q = g.q.at(b, h), k = g.k.at(b, h / g.sharing()), v = g.v.at(b, h / g.sharing());
  const int64_t y_row = room.y_row(), q_row = room.q_row();
  std::fill(room.out, room.out + (i1 - i0) * y_row, 0.0F);
  std::fill(room.most, room.most + (i1 - i0), kNone<float>);
  std::fill(room.sums, room.sums + (i1 - i0), 0.0F);
  const int64_t begin = g.first_key(i0) / kKeys * kKeys, end = g.last_key(i1 - 1);
  M::begin();
  for (int64_t j = begin; j < end; j += kKeys) {
    const int64_t keys = std::min(kKeys, end - j), whole_keys = round_up(keys, M::step);
    M::pack_b(k.data + j * k.row, k.column, k.row, keys, g.depth, room.k);
    M::pack_b(v.data + j * v.row, v.row, v.column, g.width, keys, room.v);
    for (int64_t i = i0; i < i1; i += kQueries) {
      const int64_t rows = std::min(kQueries, i1 - i), seen = std::min(keys, g.last_key(i + rows - 1) - j);
      if (seen <= 0 || g.first_key(i) >= j + keys) continue;
      const int64_t whole = round_up(seen, M::columns);
      copy_rows(q, i, rows, g.depth, room.depth, room.q, q_row);
      multiply_tiles(room.q, q_row, rows, room.k, room.depth, seen, room.depth, room.scores, kScores, false);
      for (int64_t r = 0; r < rows; ++r) {
        float* const line = room.scores + r * kScores;
        const int64_t from = std::clamp<int64_t>(g.first_key(i + r) - j, 0, seen),
                      upto = std::clamp<int64_t>(g.last_key(i + r) - j, from, seen), at = i - i0 + r;
        std::fill(line, line + from, 0.0F);
        std::fill(line + upto, line + whole, 0.0F);
        multiply(line + from, upto - from, g.scale);
        apply_mask(g, b, h, i + r, j + from, upto - from, line + from);
        const float factor = soften(line + from, upto - from, room.most[at], room.sums[at]);
        if (factor != 1) multiply(room.out + at * y_row, g.width, factor);
        round_row(line, whole, room.factors + r * kFactors);
      }
      multiply_tiles(room.factors, kFactors, rows, room.v, whole_keys, g.width, whole, room.out + (i - i0) * y_row,
                     y_row, true);
    }
  }
  M::end();
  for (int64_t i = i0; i < i1; ++i)
    finish_row(g, b, h, i, room.out + (i - i0) * y_row, room.most[i - i0], room.sums[i - i0]);
}

}  // namespace

extern const AttentionTiles attention_tiles;
const AttentionTiles attention_tiles = {kPart, scratch, forward};

}  // namespace catenary::cpu::CT_SIMD_NAMESPACE

#endif
