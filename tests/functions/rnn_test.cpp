#include "catenary/functions/rnn.h"

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/lazy.h"
#include "catenary/array/linalg.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/core/config.h"
#include "catenary/device/float64.h"
#include "catenary/functions/functions.h"
#include "tests/functions/helpers.h"
#include "tests/gradients.h"

namespace catenary {
namespace {

namespace F = functions;
using gradient_check::assert_allclose;
using V = std::vector<Variable>;

/// In float64 if the device supports it.
Array device_numbers(const Shape& shape, double seed = 1) {
  return tests::waves(shape, seed, widest_float(current_device()));
}
void check_rnn(const char* name, const gradient_check::Function& f, const std::vector<Array>& x) {
  const bool fine = x[0].dtype() == Dtype::float64;
  const double tolerance = fine ? 1e-4 : 3e-2;
  test::check(name, f, x, {.eps = fine ? 1e-4 : 1e-2, .atol = tolerance, .rtol = tolerance});
}
V both(const std::pair<Variable, Variable>& pair) { return {pair.first, pair.second}; }

TEST(Lstm, IsItsFormula) {
  const Array c = device_numbers({3, 2}), x = device_numbers({3, 8}, 2), g = x.reshape({3, 2, 4});
  const auto gate = [&](int k) { return g(slice(), slice(), k); };
  const auto sigmoid = [](const Array& a) { return 1.0 / (1.0 + catenary::exp(-a)); };
  const Array next = catenary::tanh(gate(0)) * sigmoid(gate(1)) + sigmoid(gate(2)) * c;
  const auto [c1, h1] = F::lstm(c, x);
  assert_allclose(c1.array(), next, 1e-6, 1e-6);
  assert_allclose(h1.array(), sigmoid(gate(3)) * catenary::tanh(next), 1e-6, 1e-6);
  // a smaller batch passes the last rows of the state on
  const auto [c2, h2] = F::lstm(c, x(slice(2)));
  EXPECT_EQ(h2.shape(), Shape({2, 2}));
  assert_allclose(c2.array()(slice(2)), next(slice(2)), 1e-6, 1e-6);
  assert_allclose(c2.array()[2], c[2], 0, 0);
  const auto [c3, h3] = F::lstm(c, x(slice(0, 0)));
  EXPECT_EQ(h3.shape(), Shape({0, 2}));
  assert_allclose(c3.array(), c, 0, 0);
}

TEST(Lstm, Gradients) {
  check_rnn("lstm", [](const V& v) { return both(F::lstm(v[0], v[1])); },
            {device_numbers({3, 2}), device_numbers({3, 8}, 2)});
  check_rnn("of c alone", [](const V& v) { return V{F::lstm(v[0], v[1]).first}; },
            {device_numbers({2, 2}), device_numbers({2, 8}, 2)});
  check_rnn("of h alone", [](const V& v) { return V{F::lstm(v[0], v[1]).second}; },
            {device_numbers({2, 2}), device_numbers({2, 8}, 2)});
  check_rnn("further axes, a smaller batch", [](const V& v) { return both(F::lstm(v[0], v[1])); },
            {device_numbers({3, 1, 2}), device_numbers({2, 4, 2}, 2)});
  check_rnn("slstm", [](const V& v) { return both(F::slstm(v[0], v[1], v[2], v[3])); },
            {device_numbers({2, 2}), device_numbers({2, 2}, 2), device_numbers({2, 8}, 3), device_numbers({2, 8}, 4)});
  check_rnn("tree_lstm",
            [](const V& v) {
              return both(F::tree_lstm({v[0], v[1]}, v[2]));
            },
            {device_numbers({2, 2}), device_numbers({2, 2}, 2), device_numbers({2, 10}, 3)});
  check_rnn("a leaf of a tree", [](const V& v) { return both(F::tree_lstm({}, v[0])); }, {device_numbers({2, 6}, 3)});
}

TEST(Lstm, OddLayoutsAndDtypes) {
  const Array c = device_numbers({3, 2}), x = device_numbers({3, 8}, 2);
  const Array expected = F::lstm(c, x).second.array();
  // reversed rows and swapped axes
  const Array turned = device_numbers({3, 8}, 2).T().copy().T();
  assert_allclose(F::lstm(c.T().copy().T(), turned).second.array(), expected, 1e-6, 1e-6);
  assert_allclose(F::lstm(c(slice(none, none, -1)), x(slice(none, none, -1))).second.array(),
                  expected(slice(none, none, -1)), 1e-6, 1e-6);
  const Variable half(x.astype(Dtype::float16));
  const auto [c1, h1] = F::lstm(c.astype(Dtype::float16), half);
  EXPECT_EQ(h1.dtype(), Dtype::float16);
  assert_allclose(h1.array().astype(Dtype::float32), expected.astype(Dtype::float32), 2e-3, 2e-3);
  F::sum(h1).backward();
  EXPECT_EQ(half.grad().dtype(), Dtype::float16);
}

TEST(Lstm, InvalidArgumentsThrow) {
  const Array c = device_numbers({2, 2}), x = device_numbers({2, 8});
  EXPECT_THROW(F::lstm(c, device_numbers({2, 6})), ShapeError);
  EXPECT_THROW(F::lstm(c, device_numbers({3, 8})), ShapeError);
  EXPECT_THROW(F::lstm(c.astype(Dtype::float16), x), DtypeError);
  EXPECT_THROW(F::slstm(c, device_numbers({2, 3}), x, x), ShapeError);
  EXPECT_THROW(F::tree_lstm({c}, device_numbers({2, 10})), ShapeError);
}

/// Layers of `gates` gates, with weights from `seed`.
struct Stack {
  Stack(int gates, int directions, int layers, std::int64_t in, std::int64_t units, double seed = 3)
      : gates(gates), total(layers * directions) {
    for (int l = 0; l < total; ++l)
      for (int k = 0; k < 2 * gates; ++k) {
        const std::int64_t columns = k >= gates ? units : l < directions ? in : directions * units;
        arrays.push_back(device_numbers({units, columns}, seed + 10 * l + k));
      }
    for (int l = 0; l < total; ++l)
      for (int k = 0; k < 2 * gates; ++k) arrays.push_back(device_numbers({units}, seed + 7 * l + k));
  }
  /// Weights or biases, from variables that begin at `from`.
  F::LayerParameters of(const V& v, std::size_t from) const {
    F::LayerParameters all;
    for (int l = 0; l < total; ++l) {
      const auto begin = v.begin() + static_cast<std::ptrdiff_t>(from) + 2 * gates * l;
      all.emplace_back(begin, begin + 2 * gates);
    }
    return all;
  }
  std::size_t count() const { return arrays.size() / 2; }
  int gates, total;
  std::vector<Array> arrays;  // weights, then biases
};

V flat(const F::NStepResult& r) {
  V all = {r.hy};
  if (r.cy.defined()) all.push_back(r.cy);
  all.insert(all.end(), r.ys.begin(), r.ys.end());
  return all;
}

/// The n_step functions on variables: states, weights, biases, xs.
struct Kind {
  const char* name;
  int states, gates, directions;
  std::function<F::NStepResult(int layers, const V& states, const F::LayerParameters& ws, const F::LayerParameters& bs,
                               const V& xs)>
      call;
};
std::vector<Kind> kinds() {
  using P = F::LayerParameters;
  using enum F::RnnActivation;
  return {
      {"lstm", 2, 4, 1,
       [](int n, const V& s, const P& w, const P& b, const V& x) { return F::n_step_lstm(n, 0, s[0], s[1], w, b, x); }},
      {"bilstm", 2, 4, 2,
       [](int n, const V& s, const P& w, const P& b, const V& x) {
         return F::n_step_bilstm(n, 0, s[0], s[1], w, b, x);
       }},
      {"gru", 1, 3, 1,
       [](int n, const V& s, const P& w, const P& b, const V& x) { return F::n_step_gru(n, 0, s[0], w, b, x); }},
      {"bigru", 1, 3, 2,
       [](int n, const V& s, const P& w, const P& b, const V& x) { return F::n_step_bigru(n, 0, s[0], w, b, x); }},
      {"rnn", 1, 1, 1,
       [](int n, const V& s, const P& w, const P& b, const V& x) { return F::n_step_rnn(n, 0, s[0], w, b, x, tanh); }},
      {"birnn", 1, 1, 2,
       [](int n, const V& s, const P& w, const P& b, const V& x) {
         return F::n_step_birnn(n, 0, s[0], w, b, x, relu);
       }},
  };
}

/// The arguments of a call: states, weights, biases, and inputs of batches of these sizes.
std::vector<Array> arguments(const Kind& kind, const Stack& stack, std::int64_t batch, std::int64_t in,
                             std::int64_t units, const std::vector<std::int64_t>& sizes) {
  std::vector<Array> all;
  for (int i = 0; i < kind.states; ++i) all.push_back(device_numbers({stack.total, batch, units}, 0.3 + i));
  all.insert(all.end(), stack.arrays.begin(), stack.arrays.end());
  for (std::size_t t = 0; t < sizes.size(); ++t)
    all.push_back(device_numbers({sizes[t], in}, 5.0 + static_cast<double>(t)));
  return all;
}
F::NStepResult call(const Kind& kind, const Stack& stack, const V& v) {
  const auto states = static_cast<std::size_t>(kind.states);
  const auto at = [&](std::size_t i) { return v.begin() + static_cast<std::ptrdiff_t>(i); };
  return kind.call(stack.total / kind.directions, V(v.begin(), at(states)), stack.of(v, states),
                   stack.of(v, states + stack.count()), V(at(states + 2 * stack.count()), v.end()));
}
V variables(const std::vector<Array>& arrays) {
  V all;
  for (const Array& a : arrays) all.emplace_back(a);
  return all;
}

TEST(NStep, GradientsOfAllKinds) {
  for (const Kind& kind : kinds()) {
    const Stack stack(kind.gates, kind.directions, 1, 2, 2);
    // a sequence that ends earlier, and an empty one
    check_rnn(
        kind.name, [&](const V& v) { return flat(call(kind, stack, v)); }, arguments(kind, stack, 3, 2, 2, {2, 2, 1}));
  }
}

// Gradients are computed in a different way if they are to be differentiated again.
TEST(NStep, BothWaysToGradientsAgree) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Stack stack(kind.gates, kind.directions, 2, 3, 2);
    const V v = variables(arguments(kind, stack, 3, 3, 2, {3, 2, 1}));
    V outputs = flat(call(kind, stack, v)), gys;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      gys.emplace_back(device_numbers(outputs[i].shape(), 0.1 + double(i)));
    const V once = grad(outputs, v, {.grad_outputs = gys});
    const V twice = grad(outputs, v, {.grad_outputs = gys, .enable_double_backprop = true});
    for (std::size_t i = 0; i < v.size(); ++i) assert_allclose(once[i].array(), twice[i].array(), 1e-5, 1e-5);
    // also if only some outputs are used
    for (const V& some : {V{outputs[0]}, V{outputs.back()}}) {
      const V a = grad(some, v, {}), b = grad(some, v, {.enable_double_backprop = true});
      for (std::size_t i = 0; i < v.size(); ++i) {
        ASSERT_EQ(a[i].defined(), b[i].defined());
        if (a[i].defined()) assert_allclose(a[i].array(), b[i].array(), 1e-5, 1e-5);
      }
    }
  }
}

TEST(NStep, LstmIsTheCellStepByStep) {
  const Kind kind = kinds()[0];
  const Stack stack(4, 1, 1, 3, 2);
  const V v = variables(arguments(kind, stack, 2, 3, 2, {2, 2, 2}));
  const F::NStepResult result = call(kind, stack, v);
  const auto weights = stack.of(v, 2)[0], biases = stack.of(v, 2 + stack.count())[0];
  Variable h = v[0][0], c = v[1][0];
  for (std::size_t t = 0; t < 3; ++t) {
    V gates;  // Chainer's w0 … w3 are i, f, a, o
    for (const std::size_t k : {2, 0, 1, 3})
      gates.push_back(F::linear(v[v.size() - 3 + t], weights[k], biases[k]) +
                      F::linear(h, weights[k + 4], biases[k + 4]));
    const Variable x = F::reshape(F::stack(gates, 2), {2, 8});
    std::tie(c, h) = F::lstm(c, x);
    assert_allclose(result.ys[t].array(), h.array(), 1e-6, 1e-6);
  }
  assert_allclose(result.hy.array()[0], h.array(), 1e-6, 1e-6);
  assert_allclose(result.cy.array()[0], c.array(), 1e-6, 1e-6);
}

/// Returns the states h of all steps, by formulas on arrays.
std::vector<Array> states_by_formula(const Kind& kind, const Stack& stack, const V& v, std::int64_t units) {
  const auto first = static_cast<std::size_t>(kind.states);
  const auto weights = stack.of(v, first)[0], biases = stack.of(v, first + stack.count())[0];
  Array h = v[0].array()(0), c = v[first - 1].array()(0);
  std::vector<Array> all;
  for (std::size_t t = first + 2 * stack.count(); t < v.size(); ++t) {
    std::vector<Array> p, q;
    for (std::size_t k = 0; k < static_cast<std::size_t>(kind.gates); ++k) {
      const auto recurrent = k + static_cast<std::size_t>(kind.gates);
      p.push_back(matmul(v[t].array(), weights[k].array().T()) + biases[k].array());
      q.push_back(matmul(h, weights[recurrent].array().T()) + biases[recurrent].array());
    }
    if (kind.gates == 4) {
      c = sigmoid(p[1] + q[1]) * c + sigmoid(p[0] + q[0]) * tanh(p[2] + q[2]);
      h = sigmoid(p[3] + q[3]) * tanh(c);
    } else {
      const Array z = sigmoid(p[1] + q[1]);
      h = (1.0 - z) * tanh(p[2] + sigmoid(p[0] + q[0]) * q[2]) + z * h;
    }
    EXPECT_EQ(h.shape(1), units);
    all.push_back(h);
  }
  return all;
}

// Rows longer than the vectors and the parts of a device's loops, and gradients by the formulas in float64.
TEST(NStep, StepsOfAllDtypesAreTheirFormula) {
  const bool is_cpu = current_device().is_cpu();
  for (const Kind& kind : {kinds()[0], kinds()[2]})
    for (const std::int64_t units : is_cpu ? std::vector<std::int64_t>{1, 19, 301} : std::vector<std::int64_t>{19})
      for (const auto& [dtype, tolerance] : {std::pair(Dtype::float32, 1e-5), std::pair(Dtype::float64, 1e-12),
                                             std::pair(Dtype::float16, 1e-2), std::pair(Dtype::bfloat16, 8e-2)}) {
        if (!is_cpu && dtype != Dtype::float32) continue;
        SCOPED_TRACE(std::string(kind.name) + " " + std::to_string(units) + " " + std::string(dtype_name(dtype)));
        const Stack stack(kind.gates, 1, 1, 5, units);
        V v, reference;
        for (const Array& a : arguments(kind, stack, 3, 5, units, {3, 3, 3})) {
          v.emplace_back((a * 0.1).astype(dtype));
          reference.emplace_back(v.back().array().to_device(Device()).astype(Dtype::float64));
        }
        const V ys = call(kind, stack, v).ys, wanted = call(kind, stack, reference).ys;
        const std::vector<Array> states = states_by_formula(kind, stack, reference, units);
        for (std::size_t t = 0; t < ys.size(); ++t)
          assert_allclose(ys[t].array().to_device(Device()).astype(Dtype::float64), states[t], tolerance, tolerance);
        const V once = grad(ys, v, {}), twice = grad(wanted, reference, {.enable_double_backprop = true});
        for (std::size_t i = 0; i < v.size(); ++i) {
          const Array exact = twice[i].array();
          const double scale = std::max(1.0, catenary::abs(exact).max().item<double>());
          assert_allclose(once[i].array().to_device(Device()).astype(Dtype::float64), exact, tolerance * scale,
                          tolerance);
        }
      }
}

TEST(NStep, DropoutIsBetweenLayersAndInTrainingOnly) {
  const Stack stack(1, 1, 2, 3, 4);
  const V v = variables(arguments(kinds()[4], stack, 2, 3, 4, {2, 2}));
  const auto run = [&](double ratio, int layers) {
    auto ws = stack.of(v, 1), bs = stack.of(v, 1 + stack.count());
    ws.resize(static_cast<std::size_t>(layers)), bs.resize(static_cast<std::size_t>(layers));
    const Variable h = v[0](slice(layers));
    return F::n_step_rnn(layers, ratio, h, ws, bs, {v[v.size() - 2], v.back()}).ys[1].array();
  };
  assert_allclose(run(0.5, 1), run(0, 1), 0, 0);
  EXPECT_TRUE((run(0.5, 2) != run(0, 2)).any());
  const auto scope = test_mode();
  assert_allclose(run(0.5, 2), run(0, 2), 0, 0);
}

TEST(NStep, HalfAndEmpty) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Stack stack(kind.gates, kind.directions, 1, 3, 2);
    std::vector<Array> given = arguments(kind, stack, 2, 3, 2, {2, 1});
    const Array expected = call(kind, stack, variables(given)).ys[1].array();
    for (Array& a : given) a = a.astype(Dtype::float16);
    const V v = variables(given);
    const Variable y = call(kind, stack, v).ys[1];
    EXPECT_EQ(y.dtype(), Dtype::float16);
    assert_allclose(y.array().astype(Dtype::float32), expected.astype(Dtype::float32), 1e-2, 1e-2);
    F::sum(y).backward();
    EXPECT_EQ(v.back().grad().dtype(), Dtype::float16);
    const V none = variables(arguments(kind, stack, 0, 3, 2, {0, 0}));
    const F::NStepResult empty = call(kind, stack, none);
    EXPECT_EQ(empty.ys[1].shape(), Shape({0, 2 * kind.directions}));
    F::sum(empty.ys[1]).backward();
    EXPECT_EQ(none.back().grad().shape(), Shape({0, 3}));
  }
}

// The gates are adjacent in one array: a step is a product and one program, a backward step two.
TEST(NStep, AStepIsAFewKernels) {
  const Kind kind = kinds()[0];
  const Stack stack(4, 1, 1, 3, 2);
  const auto kernels = [&](std::size_t steps) {
    const V v = variables(arguments(kind, stack, 2, 3, 2, std::vector<std::int64_t>(steps, 2)));
    V ys = call(kind, stack, v).ys;
    for (const Variable& y : ys) y.array().eval();
    const std::int64_t before = kernel_count();
    const F::NStepResult result = call(kind, stack, v);
    result.hy.array().eval();
    const std::int64_t forward = kernel_count() - before;
    F::sum(result.hy).backward();
    v[0].grad().eval();
    return std::pair(forward, kernel_count() - before - forward);
  };
  const auto few = kernels(4), many = kernels(14);
  EXPECT_LE(many.first - few.first, 20);  // one more per time, to copy its input
  EXPECT_LE(many.second - few.second, 20);
}

TEST(NStep, InvalidArgumentsThrow) {
  const Kind kind = kinds()[2];
  const Stack stack(3, 1, 1, 3, 2);
  const std::vector<Array> good = arguments(kind, stack, 2, 3, 2, {2, 1});
  const auto with = [&](std::size_t i, const Array& a) {
    std::vector<Array> all = good;
    all[i] = a;
    return call(kind, stack, variables(all));
  };
  EXPECT_NO_THROW(with(0, good[0]));
  EXPECT_THROW(with(0, device_numbers({2, 2, 2})), ShapeError);
  EXPECT_THROW(with(0, device_numbers({1, 1, 2})), ShapeError);
  EXPECT_THROW(with(1, device_numbers({2, 4})), ShapeError);
  EXPECT_THROW(with(1, good[1].astype(Dtype::float16)), DtypeError);
  EXPECT_THROW(with(8, device_numbers({3})), ShapeError);
  EXPECT_THROW(with(good.size() - 1, device_numbers({2, 4})), ShapeError);
  EXPECT_THROW(with(good.size() - 1, device_numbers({3, 3})), ShapeError)
      << "the second time has more rows than the first";
  const V v = variables(good);
  EXPECT_THROW(F::n_step_gru(2, 0, v[0], stack.of(v, 1), stack.of(v, 7), {v.back()}), ShapeError);
  EXPECT_THROW(F::n_step_gru(1, 0, v[0], {}, stack.of(v, 7), {v.back()}), ValueError);
  EXPECT_THROW(F::n_step_gru(1, 0, v[0], stack.of(v, 1), stack.of(v, 7), {}), ValueError);
}

}  // namespace
}  // namespace catenary
