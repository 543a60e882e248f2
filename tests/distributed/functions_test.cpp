// Gradients that flow between ranks. See on_ranks_test.cpp.

#include <gtest/gtest.h>

#include "catenary/catenary.h"
#include "tests/distributed/on_ranks.h"

namespace ct = catenary;
namespace D = ct::distributed;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

using tests::flat;
using tests::rank;
using tests::size;

/// Returns the array that rank `of` has for rank `other`, which every rank can compute.
ct::Array values(int of, int other = 0) {
  ct::random::Generator generator{static_cast<std::uint64_t>(100 * of + other + 1), 0};
  return ct::random::uniform(-1.0, 1.0, {2, 3}, {.dtype = ct::Dtype::float32, .generator = &generator});
}
ct::Variable input(int of, int other = 0) { return ct::Variable(values(of, other), true); }
/// Returns the weight of an output in a rank's loss.
ct::Array weight(int of, int other = 0) { return values(of + 50, other); }

void expect_near(const ct::Array& got, const ct::Array& expected, const char* what) {
  ASSERT_TRUE(got.defined()) << what;
  EXPECT_LT(ct::absolute(got - expected).max().item<double>(), 1e-5) << what;
}

template <class V>
void backward(const V& ys, const std::function<ct::Array(int)>& weight_of) {
  ct::Variable loss = F::sum(ys[0] * ct::Variable(weight_of(0), false));
  for (std::size_t i = 1; i < ys.size(); ++i)
    loss = loss + F::sum(ys[i] * ct::Variable(weight_of(static_cast<int>(i)), false));
  loss.backward();
}

TEST(OnRanks, GradientsOfCollectives) {
  const int root = size() - 1;
  const bool is_root = rank() == root;
  {
    const ct::Variable x = input(0);
    const ct::Variable y = D::functions::bcast(flat(), is_root ? x : ct::Variable(), root);
    expect_near(y.array(), values(0), "bcast");
    backward(std::vector{y}, [](int) { return weight(rank()); });
    ct::Array expected = weight(0);
    for (int r = 1; r < size(); ++r) expected = expected + weight(r);
    if (is_root) expect_near(x.grad(), expected, "bcast's gradient");
  }
  {
    const ct::Variable x = input(rank());
    const std::vector<ct::Variable> ys = D::functions::gather(flat(), x, root);
    if (is_root) {
      backward(ys, [](int r) { return weight(r); });
    } else {
      ASSERT_EQ(ys.size(), 1u);
      ys[0].backward();
    }
    expect_near(x.grad(), weight(rank()), "gather's gradient");
  }
  {
    std::vector<ct::Variable> xs;
    for (int r = 0; is_root && r < size(); ++r) xs.push_back(input(r));
    const ct::Variable y = D::functions::scatter(flat(), xs, root);
    expect_near(y.array(), values(rank()), "scatter");
    backward(std::vector{y}, [](int) { return weight(rank()); });
    for (int r = 0; is_root && r < size(); ++r)
      expect_near(xs[static_cast<std::size_t>(r)].grad(), weight(r), "scatter's gradient");
  }
  {
    std::vector<ct::Variable> xs;
    for (int r = 0; r < size(); ++r) xs.push_back(input(rank(), r));
    const std::vector<ct::Variable> ys = D::functions::alltoall(flat(), xs);
    for (int r = 0; r < size(); ++r)
      expect_near(ys[static_cast<std::size_t>(r)].array(), values(r, rank()), "alltoall");
    backward(ys, [](int from) { return weight(rank(), from); });
    for (int r = 0; r < size(); ++r)
      expect_near(xs[static_cast<std::size_t>(r)].grad(), weight(r, rank()), "alltoall's gradient");
  }
  {
    const ct::Variable x = input(rank());
    const std::vector<ct::Variable> ys = D::functions::allgather(flat(), x);
    backward(ys, [](int from) { return weight(rank(), from); });
    ct::Array expected = weight(0, rank());
    for (int r = 1; r < size(); ++r) expected = expected + weight(r, rank());
    expect_near(x.grad(), expected, "allgather's gradient");
  }
}

TEST(OnRanks, GradientsOfMessages) {
  if (size() == 1) return;
  // around the ring: each rank sends twice its input to the next rank
  const int next = (rank() + 1) % size(), before = (rank() + size() - 1) % size();
  const ct::Variable x = input(rank());
  const ct::Variable delegate = D::functions::send(x * 2.0f, flat(), next);
  EXPECT_EQ(delegate.shape(), ct::Shape{});
  const ct::Variable y = D::functions::recv(flat(), before, delegate);
  expect_near(y.array(), values(before) * 2.0f, "recv");
  backward(std::vector{y}, [](int) { return weight(rank()); });
  expect_near(x.grad(), weight(next) * 2.0f, "send's gradient");
}

TEST(OnRanks, ChainLists) {
  if (size() == 1) {
    D::MultiNodeChainList empty(flat());
    EXPECT_THROW(empty(input(0)), ct::ValueError);
    return;
  }
  // rank 0 has the first and last layers, rank 1 the middle one
  ct::random::set_state({3, 0});
  L::Linear l1(3, 4), l2(4, 4), l3(4, 2);
  const ct::Array x = values(0);
  const ct::Variable expected = F::sum(l3(F::tanh(l2(F::tanh(l1(x))))));
  for (const L::Linear& link : {l1, l2, l3}) link.cleargrads();
  expected.backward();
  const auto tanh_of = [](const L::Linear& link) {
    ct::Sequential steps(link, [](const ct::Variable& v) { return F::tanh(v); });
    return steps;
  };
  L::Linear a = l1.copy(ct::CopyMode::copy), b = l2.copy(ct::CopyMode::copy), c = l3.copy(ct::CopyMode::copy);
  for (const L::Linear& link : {a, b, c}) link.cleargrads();
  D::MultiNodeChainList list(flat());
  if (rank() == 0) {
    list.add_link(tanh_of(a), {}, {1});
    list.add_link(c, {1});
    const ct::Variable loss = F::sum(list(ct::Variable(x)));
    EXPECT_NEAR(loss.array().item<double>(), expected.array().item<double>(), 1e-5);
    loss.backward();
    expect_near(a.W.grad(), l1.W.grad(), "l1");
    expect_near(c.W.grad(), l3.W.grad(), "l3");
    EXPECT_EQ(list.params().size(), 4u);
  } else if (rank() == 1) {
    list.add_link(tanh_of(b), {0}, {0});
    const ct::Variable end = list();
    end.backward();
    expect_near(b.W.grad(), l2.W.grad(), "l2");
  }
  EXPECT_THROW(list.add_link(a, {rank()}), ct::ValueError);
}

/// Returns part `of` of two sequences, with 3 or 2 and with 1 or 2 elements.
std::vector<ct::Array> sequences(int of) {
  std::vector<ct::Array> parts;
  for (const int i : {0, 1}) {
    ct::random::Generator generator{static_cast<std::uint64_t>(1000 + 2 * of + i), 0};
    const std::int64_t length = i == 0 ? 3 - of % 2 : 1 + of % 2;
    parts.push_back(
        ct::random::uniform(-1.0, 1.0, {length, 4}, {.dtype = ct::Dtype::float32, .generator = &generator}));
  }
  return parts;
}
std::vector<ct::Variable> variables(const std::vector<ct::Array>& arrays) {
  std::vector<ct::Variable> result;
  for (const ct::Array& a : arrays) result.emplace_back(a, true);
  return result;
}

/// A sequence through all ranks must equal a sequence through one link: values, states and gradients.
template <class Link, class Run>
void expect_sequence_goes_through(const Run& run) {
  ct::random::set_state({11, 0});
  const Link whole(2, 4, 3, 0.0);
  const Link mine = whole.copy(ct::CopyMode::copy);
  std::vector<ct::Array> xs = sequences(0);
  for (int r = 1; r < size(); ++r)
    for (const std::size_t i : {0u, 1u}) xs[i] = ct::concatenate(std::vector<ct::Array>{xs[i], sequences(r)[i]});
  const std::vector<ct::Variable> all = variables(xs);
  const F::NStepResult expected = run(whole, all);
  // the loss is the sum of squares of the outputs and, optionally, of the last states
  const auto loss_of = [](const F::NStepResult& result, bool with_states) {
    ct::Variable loss = F::sum(F::square(result.ys[0])) + F::sum(F::square(result.ys[1]));
    if (with_states) loss = loss + F::sum(F::square(result.hy));
    if (with_states && result.cy.defined()) loss = loss + F::sum(F::square(result.cy));
    return loss;
  };
  whole.cleargrads();
  loss_of(expected, true).backward();

  const bool last = rank() == size() - 1;
  const auto link =
      D::create_multi_node_n_step_rnn(mine, flat(), rank() == 0 ? std::nullopt : std::optional<int>(rank() - 1),
                                      last ? std::nullopt : std::optional<int>(rank() + 1));
  link.cleargrads();
  const std::vector<ct::Variable> own = variables(sequences(rank()));
  const D::MultiNodeNStepResult result = link(own);
  EXPECT_EQ(result.delegate.defined(), !last);
  const ct::Variable loss = loss_of(result, last);
  (last ? loss : D::functions::pseudo_connect(result.delegate, loss)).backward();

  for (const std::size_t i : {0u, 1u}) {
    std::int64_t begin = 0;
    for (int r = 0; r < rank(); ++r) begin += sequences(r)[i].len();
    const auto part = ct::slice(begin, begin + own[i].len());
    expect_near(result.ys[i].array(), expected.ys[i].array()(part), "outputs");
    expect_near(own[i].grad(), all[i].grad()(part), "gradients of the inputs");
  }
  if (last) {
    expect_near(result.hy.array(), expected.hy.array(), "hy");
    if (expected.cy.defined()) expect_near(result.cy.array(), expected.cy.array(), "cy");
  }
  std::map<std::string, ct::Array> gradients;
  for (const auto& [path, p] : whole.namedparams()) gradients["/actual_rnn" + path] = p.grad();
  const auto parameters = link.namedparams();
  EXPECT_EQ(parameters.size(), gradients.size());
  for (const auto& [path, p] : parameters) {
    const ct::Array sum = flat().allreduce(p.grad());
    expect_near(sum, gradients.at(path), path.c_str());
  }
}

TEST(OnRanks, SequencesGoThroughRanks) {
  const auto lstm = [](const auto& link, const auto& xs) { return link({}, {}, xs); };
  const auto other = [](const auto& link, const auto& xs) { return link({}, xs); };
  expect_sequence_goes_through<L::NStepLSTM>(lstm);
  expect_sequence_goes_through<L::NStepGRU>(other);
  expect_sequence_goes_through<L::NStepRNNTanh>(other);
  const L::NStepLSTM link(1, 2, 2, 0.0);
  EXPECT_THROW(D::create_multi_node_n_step_rnn(link, flat(), size()), ct::ValueError);
  EXPECT_THROW(D::create_multi_node_n_step_rnn(link, flat(), {}, rank()), ct::ValueError);
  // a bidirectional link, without neighbours
  const auto both = D::create_multi_node_n_step_rnn(L::NStepBiLSTM(1, 4, 2, 0.0), flat());
  EXPECT_EQ(both(variables(sequences(0))).ys[0].shape(), (ct::Shape{3, 4}));
}

}  // namespace
