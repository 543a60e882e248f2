// Compares primitives::Attention and its gradient on the current device with a direct computation in float64.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/config.h"
#include "catenary/core/parallel.h"
#include "catenary/device/backend.h"
#include "tests/device/same.h"

namespace catenary {
namespace {

using testing_devices::float_dtypes;
using testing_devices::same;
using testing_devices::small;

enum class Masked { no, flags, numbers };
/// Layout of the operands: [batch, head, row, column] C-contiguous, [batch, row, head, column] as from projections, or
/// all axes reversed.
enum class HeadOrder { c, rows_first, reversed };

struct AttentionProblem {
  std::int64_t batches, heads, groups, queries, keys, depth, width;
  AttentionRules rules;
  Masked masked = Masked::no;
  Dtype dtype = Dtype::float32;
  HeadOrder order = HeadOrder::c;

  std::string text() const {
    return "batches " + std::to_string(batches) + " heads " + std::to_string(heads) + "/" + std::to_string(groups) +
           " queries " + std::to_string(queries) + " keys " + std::to_string(keys) + " depth " + std::to_string(depth) +
           " width " + std::to_string(width) + (rules.causal ? " causal" : "") + " first " +
           std::to_string(rules.first) + " window " + std::to_string(rules.window) + " mask " +
           std::to_string(static_cast<int>(masked)) + " " + dtype_name(dtype) + " order " +
           std::to_string(static_cast<int>(order));
  }
};

Array numbers(const Shape& shape, double phase, const AttentionProblem& p) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < shape.product(); ++i)
    all.push_back(1.5 * std::sin(1.7 * static_cast<double>(i) + phase) *
                  (1 + 0.3 * std::cos(0.37 * static_cast<double>(i))));
  const Array a =
      Array::from_host(all.data(), shape, Dtype::float64, Device()).astype(p.dtype).to_device(current_device());
  switch (p.order) {
    case HeadOrder::rows_first:
      return transpose(transpose(a, {0, 2, 1, 3}).copy(), {0, 2, 1, 3});
    case HeadOrder::reversed:
      return flip(flip(a).copy());
    default:
      return a;
  }
}

/// Returns the visible keys, or the numbers added to scores.
Array mask_of(const AttentionProblem& p) {
  const Shape shape{p.batches, 1, p.queries, p.keys};
  if (p.masked == Masked::flags) {
    const Array flags = Array::empty(shape, Dtype::bool_, Device());
    for (std::int64_t i = 0; i < shape.product(); ++i) flags.mutable_data<bool>()[i] = i * 7919 % 11 > 3;
    // the first query sees no key
    if (p.batches > 0 && p.queries > 1)
      std::fill(flags.mutable_data<bool>(), flags.mutable_data<bool>() + p.keys, false);
    return flags.to_device(current_device());
  }
  std::vector<double> all;
  for (std::int64_t i = 0; i < shape.product(); ++i)
    all.push_back(i * 7919 % 11 > 3 ? std::cos(static_cast<double>(i)) : -std::numeric_limits<double>::infinity());
  return Array::from_host(all.data(), shape, Dtype::float64, Device()).astype(p.dtype).to_device(current_device());
}

using Values = std::vector<double>;
Values values_of(const Array& a) { return a.astype(Dtype::float64).to_device(Device()).copy().to_vector<double>(); }

struct Results {
  Values y, sums, gq, gk, gv;
};

Results expected(const AttentionProblem& p, const Values& q, const Values& k, const Values& v, const Values& mask,
                 const Values& gy) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  Results r;
  r.y.resize(size(p.batches * p.heads * p.queries * p.width));
  r.sums.resize(size(p.batches * p.heads * p.queries));
  r.gq.resize(q.size());
  r.gk.resize(k.size());
  r.gv.resize(v.size());
  const double none = -std::numeric_limits<double>::infinity();
  for (std::int64_t b = 0; b < p.batches; ++b) {
    for (std::int64_t h = 0; h < p.heads; ++h) {
      const std::int64_t g = b * p.groups + h / (p.heads / p.groups);
      for (std::int64_t i = 0; i < p.queries; ++i) {
        const std::int64_t row = (b * p.heads + h) * p.queries + i;
        const double *query = q.data() + row * p.depth, *grad = gy.data() + row * p.width;
        Values scores(size(p.keys)), gp(size(p.keys));
        double most = none, sum = 0, dot = 0;
        for (std::int64_t j = 0; j < p.keys; ++j) {
          double score = 0;
          for (std::int64_t c = 0; c < p.depth; ++c) score += query[c] * k[size((g * p.keys + j) * p.depth + c)];
          score *= p.rules.scale;
          if (p.masked != Masked::no) {
            const double m = mask[size((b * p.queries + i) * p.keys + j)];
            if (p.masked == Masked::numbers) score += m;
            if (p.masked == Masked::flags && m == 0) score = none;
          }
          const std::int64_t last = p.rules.first + i;
          if (p.rules.causal && (j > last || (p.rules.window > 0 && j <= last - p.rules.window))) score = none;
          scores[size(j)] = score;
          most = std::max(most, score);
        }
        for (double& s : scores) sum += s = most == none ? 0 : std::exp(s - most);
        r.sums[size(row)] = sum == 0 ? none : most + std::log(sum);
        if (sum == 0) continue;
        for (std::int64_t j = 0; j < p.keys; ++j) {
          double& weight = scores[size(j)];
          weight /= sum;
          for (std::int64_t c = 0; c < p.width; ++c) {
            const std::size_t at = size((g * p.keys + j) * p.width + c);
            r.y[size(row * p.width + c)] += weight * v[at];
            r.gv[at] += weight * grad[c];
            gp[size(j)] += grad[c] * v[at];
          }
          dot += weight * gp[size(j)];
        }
        for (std::int64_t j = 0; j < p.keys; ++j) {
          const double gs = scores[size(j)] * (gp[size(j)] - dot) * p.rules.scale;
          for (std::int64_t c = 0; c < p.depth; ++c) {
            const std::size_t at = size((g * p.keys + j) * p.depth + c);
            r.gq[size(row * p.depth + c)] += gs * k[at];
            r.gk[at] += gs * query[c];
          }
        }
      }
    }
  }
  return r;
}

struct Computed {
  Array y, sums, gq, gk, gv;
};

struct AttentionOperands {
  Array q, k, v, gy, mask;
  explicit AttentionOperands(const AttentionProblem& p)
      : q(numbers({p.batches, p.heads, p.queries, p.depth}, 0, p)),
        k(numbers({p.batches, p.groups, p.keys, p.depth}, 1, p)),
        v(numbers({p.batches, p.groups, p.keys, p.width}, 2, p)),
        gy(numbers({p.batches, p.heads, p.queries, p.width}, 3, p)),
        mask(p.masked == Masked::no ? Array() : broadcast_to(mask_of(p), {p.batches, p.heads, p.queries, p.keys})) {}
};

Computed computed(const AttentionProblem& p, const AttentionOperands& o) {
  const Device& device = current_device();
  Computed r{Array::empty(o.gy.shape(), p.dtype, device),
             Array::empty({p.batches, p.heads, p.queries}, promote(p.dtype, Dtype::float32), device),
             Array::empty(o.q.shape(), p.dtype, device), Array::empty(o.k.shape(), p.dtype, device),
             Array::empty(o.v.shape(), p.dtype, device)};
  const View q = readable(o.q), k = readable(o.k), v = readable(o.v), gy = readable(o.gy), y = writable(r.y),
             sums = writable(r.sums), mask = o.mask.defined() ? readable(o.mask) : View();
  const View* const given = o.mask.defined() ? &mask : nullptr;
  compute(device, primitives::Attention{p.rules, q, k, v, y, sums, given});
  compute(device, primitives::AttentionBack{p.rules, q, k, v, y, sums, gy, writable(r.gq), writable(r.gk),
                                            writable(r.gv), given});
  return r;
}

void check_attention(const AttentionProblem& p) {
  SCOPED_TRACE(p.text());
  const AttentionOperands o(p);
  const Computed r = computed(p, o);
  const Results e = expected(p, values_of(o.q), values_of(o.k), values_of(o.v),
                             o.mask.defined() ? values_of(mask_of(p)) : Values(), values_of(o.gy));
  const double epsilon = p.dtype == Dtype::float64   ? 1e-13
                         : p.dtype == Dtype::float32 ? 1e-5
                         : p.dtype == Dtype::float16 ? 1.0 / 1024
                                                     : 1.0 / 128;
  const auto near = [&](const char* what, const Array& given, const Values& wanted, double bound) {
    const Values values = values_of(given);
    ASSERT_EQ(values.size(), wanted.size()) << what;
    double scale = 1;
    for (double x : wanted)
      if (std::isfinite(x)) scale = std::max(scale, std::abs(x));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == wanted[i]) continue;
      ASSERT_LE(std::abs(values[i] - wanted[i]), bound * scale) << what << " at " << i;
    }
  };
  near("y", r.y, e.y, epsilon);
  near("sums", r.sums, e.sums, p.dtype == Dtype::float64 ? 1e-13 : 1e-5);
  // y is rounded to 16 bits before the gradient reads it
  near("gq", r.gq, e.gq, 3 * epsilon);
  near("gk", r.gk, e.gk, 3 * epsilon);
  near("gv", r.gv, e.gv, 3 * epsilon);
}

constexpr AttentionRules rules(double scale, bool causal = false, std::int64_t first = 0, std::int64_t window = 0) {
  return {scale, causal, first, window};
}

/// Returns the dtypes with separate implementations. On the CPU, bfloat16 may use the matrix unit.
std::vector<Dtype> those_of_their_own() {
  return current_device().is_cpu() ? std::vector{Dtype::float32, Dtype::bfloat16} : std::vector{Dtype::float32};
}

TEST(Attention, EveryRule) {
  for (const AttentionRules& r : {rules(0.3), rules(0.3, true), rules(0.3, true, 5), rules(0.3, true, -3),
                                  rules(0.3, true, 0, 9), rules(0.3, true, 40, 33), rules(-1), rules(0)}) {
    for (const Masked masked : {Masked::no, Masked::flags, Masked::numbers})
      for (const Dtype dtype : those_of_their_own()) check_attention({2, 4, 2, 37, 45, 8, 12, r, masked, dtype});
  }
}

TEST(Attention, EveryDtypeAndOrder) {
  for (const Dtype dtype : float_dtypes())
    for (const HeadOrder order : {HeadOrder::c, HeadOrder::rows_first, HeadOrder::reversed})
      check_attention({2, 3, 1, 33, 40, 20, 17, rules(0.2, true, 7), Masked::numbers, dtype, order});
}

// Forms that a library (cuDNN) computes. The more rules it gets, the longer its graphs.
TEST(Attention, SixteenBitsAsALibraryTakesThem) {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    for (const AttentionRules& r : {rules(0.3), rules(0.3, true), rules(0.3, true, 8), rules(0.3, true, 0, 9),
                                    rules(0.3, true, 8, 9), rules(0.3, true, 100), rules(-0.5)})
      check_attention({2, 4, 2, 37, 45, 8, 16, r, Masked::no, dtype});
    for (const HeadOrder order : {HeadOrder::c, HeadOrder::rows_first})
      check_attention({2, 3, 3, 33, 33, 16, 16, rules(0.2, true), Masked::no, dtype, order});
    check_attention({1, 4, 1, 1, 40, 32, 32, rules(0.2, true, 39), Masked::no, dtype});
    check_attention({1, 2, 1, 50, 20, 64, 128, rules(0.1, true), Masked::no, dtype});
  }
}

TEST(Attention, FewQueriesOrKeys) {
  for (const std::int64_t queries : {1, 2, 3, 8})
    for (const std::int64_t keys : {1, 2, 31, 32, 33, 300})
      check_attention({1, 2, 1, queries, keys, 16, 16, rules(0.25, true, keys - queries)});
  if (!current_device().is_cpu()) return;  // only the CPU treats few queries differently
  for (const Dtype dtype : float_dtypes())
    for (const HeadOrder order : {HeadOrder::c, HeadOrder::rows_first, HeadOrder::reversed})
      check_attention({2, 4, 2, 3, 21, 13, 9, rules(0.25, true, 18), Masked::flags, dtype, order});
}

TEST(Attention, ManyQueriesAndKeys) {
  if (small()) return check_attention({1, 1, 1, 70, 65, 16, 16, rules(0.2, true)});
  for (const AttentionRules& r : {rules(0.125), rules(0.125, true), rules(0.125, true, 0, 100)})
    for (const Dtype dtype : those_of_their_own()) check_attention({1, 2, 1, 530, 600, 64, 64, r, Masked::no, dtype});
  check_attention({1, 1, 1, 70, 2100, 16, 8, rules(0.2)});  // the gradient splits the keys
}

TEST(Attention, WideAndNarrowHeads) {
  for (const std::int64_t size : {1, 2, 7, 31, 33, 100, 128}) {
    for (const Dtype dtype : those_of_their_own())
      check_attention({1, 2, 2, 20, 50, size, size + 1, rules(0.1), Masked::no, dtype});
  }
}

TEST(Attention, NothingToDo) {
  for (const std::int64_t n : {0, 1}) {
    check_attention({n, 2, 2, 3, 4, 8, 8, rules(1)});
    check_attention({1, 2, 1, n, 4, 8, 8, rules(1)});
    check_attention({1, 2, 1, 30, n, 8, 8, rules(1)});
    check_attention({1, 2, 1, 3, n, 8, 8, rules(1)});
    check_attention({1, 2, 1, 30, 4, n, 8, rules(1)});
    check_attention({1, 2, 1, 30, 4, 8, n, rules(1)});
  }
  for (const std::int64_t queries : {3, 30}) check_attention({1, 0, 0, queries, 4, 8, 8, rules(1)});
  for (const std::int64_t queries : {3, 30}) check_attention({1, 0, 2, queries, 4, 8, 8, rules(1)});
  // no query sees a key
  check_attention({1, 2, 1, 30, 40, 8, 8, rules(1, true, -100)});
  check_attention({1, 2, 1, 3, 40, 8, 8, rules(1, true, -100)});
}

TEST(Attention, LargeScoresAndNumbersThatAreNone) {
  AttentionProblem p{1, 1, 1, 40, 70, 8, 8, rules(1)};
  AttentionOperands o(p);
  o.q = o.q * 1e4;
  const Computed large = computed(p, o);
  for (double x : values_of(large.y)) EXPECT_TRUE(std::isfinite(x));
  for (double x : values_of(large.gq)) EXPECT_TRUE(std::isfinite(x));
  o = AttentionOperands(p);
  o.k.set(std::nan(""), 0, 0, 50, 3);  // a key that all queries see
  for (double x : values_of(computed(p, o).y)) EXPECT_TRUE(std::isnan(x));
  p.rules = rules(1, true);
  const Values seen_late = values_of(computed(p, o).y);
  EXPECT_TRUE(std::isfinite(seen_late[39 * 8]));  // queries 0 to 39 see the keys up to 39
}

TEST(Attention, BitsDoNotDependOnThreads) {
  const int threads = num_threads();
  for (const AttentionProblem& p : {AttentionProblem{1, 3, 1, 530, 1100, 16, 16, rules(0.2, true, 500), Masked::no},
                                    AttentionProblem{2, 6, 3, 90, 600, 8, 8, rules(0.2, true, 500), Masked::no}}) {
    const AttentionOperands o(p);
    set_num_threads(1);
    const Computed one = computed(p, o);
    for (const int n : {2, 3, 5}) {
      set_num_threads(n);
      const Computed many = computed(p, o);
      EXPECT_TRUE(same(one.y, many.y) && same(one.sums, many.sums)) << p.text() << n;
      EXPECT_TRUE(same(one.gq, many.gq) && same(one.gk, many.gk) && same(one.gv, many.gv)) << p.text() << n;
    }
  }
  set_num_threads(threads);
}

}  // namespace
}  // namespace catenary
