// Communication between ranks. These tests use the present ranks: one if the program is started alone, or 2 to 8 if
// launch_test.cpp starts it by `catenary launch`.

#include "tests/distributed/on_ranks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "catenary/catenary.h"
#include "catenary/core/parallel.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace D = ct::distributed;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

using namespace tests;

constexpr ct::Dtype kDtypes[] = {ct::Dtype::bool_,  ct::Dtype::int8,    ct::Dtype::int16,    ct::Dtype::int32,
                                 ct::Dtype::int64,  ct::Dtype::uint8,   ct::Dtype::uint16,   ct::Dtype::uint32,
                                 ct::Dtype::uint64, ct::Dtype::float16, ct::Dtype::bfloat16, ct::Dtype::float32,
                                 ct::Dtype::float64};

const ct::Shape kShapes[] = {{3, 5}, {}, {0, 4}, {7}, {2, 3, 4}};

TEST(OnRanks, WhoIsWho) {
  EXPECT_EQ(comm().name(), "naive");
  const auto is_set = [](const char* name) { return std::getenv(name) && *std::getenv(name); };
  if (is_set("OMPI_COMM_WORLD_SIZE") || is_set("PMI_SIZE")) {
    EXPECT_TRUE(comm().transport().starts_with("Open MPI ") || comm().transport().starts_with("MPICH "))
        << comm().transport();
  } else {
    EXPECT_EQ(comm().transport(), is_set("CATENARY_LAUNCH") ? "shared memory" : "one process");
  }
  EXPECT_EQ(comm().intra_rank(), rank());
  EXPECT_EQ(comm().intra_size(), size());
  EXPECT_EQ(comm().inter_rank(), 0);
  EXPECT_EQ(comm().inter_size(), 1);
  std::vector<int> expected(static_cast<std::size_t>(size()));
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(comm().allgather_obj(rank()), expected);
}

TEST(OnRanks, ArraysOfEveryDtype) {
  for (const ct::Dtype dtype : kDtypes) {
    for (const ct::Shape& shape : kShapes) {
      for (const bool strided : {false, true}) {
        const std::string what = fmt::format("{} {} strided {}", ct::dtype_name(dtype), shape.str(), strided);
        const auto of = [&](int r) { return values_of(r, shape, dtype, strided); };
        const ct::Array mine = of(rank());
        ct::Array sum = of(0).astype(ct::Dtype::float64);
        for (int r = 1; r < size(); ++r) sum = sum + of(r).astype(ct::Dtype::float64);
        expect_same(comm().allreduce(mine), sum.astype(dtype), "allreduce " + what);
        const int root = size() - 1;
        expect_same(comm().bcast(rank() == root ? mine : ct::Array(), root), of(root), "bcast " + what);
        const std::vector<ct::Array> gathered = comm().gather(mine, root), all = comm().allgather(mine);
        ASSERT_EQ(static_cast<int>(gathered.size()), rank() == root ? size() : 0);
        for (int r = 0; r < static_cast<int>(gathered.size()); ++r) expect_same(gathered[r], of(r), "gather " + what);
        for (int r = 0; r < size(); ++r) expect_same(all.at(r), of(r), "allgather " + what);
        std::vector<ct::Array> parts;
        for (int r = 0; r < size(); ++r) parts.push_back(of(10 * rank() + r));
        expect_same(comm().scatter(rank() == root ? parts : std::vector<ct::Array>(), root), of(10 * root + rank()),
                    "scatter " + what);
        const std::vector<ct::Array> turned = comm().alltoall(parts);
        for (int r = 0; r < size(); ++r) expect_same(turned.at(r), of(10 * r + rank()), "alltoall " + what);
        if (size() > 1) {
          comm().send(mine, (rank() + 1) % size(), 5);
          const int before = (rank() + size() - 1) % size();
          expect_same(comm().recv(before, 5), of(before), "send and recv " + what);
        }
      }
    }
  }
}

TEST(OnRanks, ShapesMayDifferWhereTheyCan) {
  const auto of = [](int r) { return values_of(r, {r, 2}, r % 2 ? ct::Dtype::float32 : ct::Dtype::int16); };
  const std::vector<ct::Array> all = comm().allgather(of(rank()));
  for (int r = 0; r < size(); ++r) expect_same(all[r], of(r), "allgather");
}

TEST(OnRanks, SumsHaveTheOrderOfRanks) {
  // numbers whose sum depends on the order, more than fit one pass
  const std::int64_t n = (std::int64_t{3} << 20) + 17;
  const auto of = [&](int r) {
    ct::random::Generator generator{static_cast<std::uint64_t>(r + 1), 0};
    return ct::random::uniform(-1.0, 1.0, ct::Shape{n}, {.dtype = ct::Dtype::float32, .generator = &generator}) *
           (r % 2 ? 1e4f : 1e-3f);
  };
  const ct::Array got = comm().allreduce(of(rank()));
  ct::Array expected = of(0);
  for (int r = 1; r < size(); ++r) expected = expected + of(r);
  EXPECT_TRUE((got == expected).all());
  EXPECT_TRUE((comm().allreduce_mean(of(rank())) == expected / static_cast<float>(size())).all());

  // 16 bits: summed in float32 and rounded once
  const ct::Array half = comm().allreduce(of(rank()).astype(ct::Dtype::float16));
  expected = of(0).astype(ct::Dtype::float16).astype(ct::Dtype::float32);
  for (int r = 1; r < size(); ++r) expected = expected + of(r).astype(ct::Dtype::float16).astype(ct::Dtype::float32);
  EXPECT_TRUE((half == expected.astype(ct::Dtype::float16)).all());
}

TEST(OnRanks, SumsOfEverySize) {
  // sizes around a piece of shared memory and a block of sums, and fewer elements than ranks
  for (const std::int64_t n : {1, 2, 5, 2047, 2048, 2049, 16383, 16384, 16385, 32767, 32768, 32769, 98304, 131073}) {
    for (const ct::Dtype dtype : {ct::Dtype::float32, ct::Dtype::float64, ct::Dtype::uint8}) {
      const ct::Array mine = values_of(rank(), {n}, dtype);
      ct::Array sum = values_of(0, {n}, dtype);
      for (int r = 1; r < size(); ++r) sum = sum + values_of(r, {n}, dtype);
      expect_same(comm().allreduce(mine), sum, fmt::format("{} of {}", n, ct::dtype_name(dtype)));
      expect_same(mine, values_of(rank(), {n}, dtype), "what was given");
    }
  }
}

TEST(OnRanks, SumsOfSeveralGroupsInTurn) {
  // only the sums synchronize: a group must not overwrite memory that the previous group still reads
  const D::Communicator half = comm().split(rank() % 2, rank()), pair = comm().split(rank() / 2, rank());
  const auto of = [](int r, int i) { return ct::full({50'000}, r + i, ct::Dtype::float32); };
  for (int i = 0; i < 20; ++i) {
    float all = 0, mine = 0, two = 0;
    for (int r = 0; r < size(); ++r) {
      const auto value = static_cast<float>(r + i);
      all += value;
      if (r % 2 == rank() % 2) mine += value;
      if (r / 2 == rank() / 2) two += value;
    }
    EXPECT_TRUE((comm().allreduce(of(rank(), i)) == all).all()) << i;
    EXPECT_TRUE((half.allreduce(of(rank(), i)) == mine).all()) << i;
    EXPECT_TRUE((pair.allreduce(of(rank(), i)) == two).all()) << i;
  }
}

struct Point {
  double x = 0;
  std::string name;
  bool operator==(const Point&) const = default;
};
void pack(D::Packer& to, const Point& p) { to(p.x)(p.name); }
void unpack(D::Unpacker& from, Point& p) { from(p.x)(p.name); }

TEST(OnRanks, Objects) {
  const auto of = [](int r) {
    return std::map<std::string, std::vector<std::pair<int, Point>>>{{"a", {{r, {0.5 * r, "p"}}}},
                                                                     {std::string(r, 'x'), {}}};
  };
  EXPECT_EQ(comm().bcast_obj(of(rank()), size() - 1), of(size() - 1));
  const auto gathered = comm().gather_obj(of(rank()), 0), all = comm().allgather_obj(of(rank()));
  EXPECT_EQ(static_cast<int>(gathered.size()), rank() == 0 ? size() : 0);
  for (int r = 0; r < size(); ++r) EXPECT_EQ(all[r], of(r));
  std::vector<std::string> words;
  for (int r = 0; r < size(); ++r) words.push_back(fmt::format("{} to {}", rank(), r));
  EXPECT_EQ(comm().scatter_obj(words, 0), fmt::format("0 to {}", rank()));
  EXPECT_EQ(comm().allreduce_obj(rank() + 1), size() * (size() + 1) / 2);
  EXPECT_EQ(comm().allreduce_obj<int>(rank(), [](const int& a, const int& b) { return std::max(a, b); }), size() - 1);
  const std::vector<bool> bits = {true, false, rank() == 0};
  EXPECT_EQ(comm().bcast_obj(bits), (std::vector<bool>{true, false, true}));
  const auto example = comm().bcast_obj(ct::Example{{ct::arange(3)}, {"x"}});
  EXPECT_EQ(example.names, std::vector<std::string>{"x"});
  EXPECT_EQ(example.values.at(0).to_vector<int>(), (std::vector<int>{0, 1, 2}));
  ct::Observation seen;
  seen["loss"] = 1.5 * rank();
  EXPECT_EQ(comm().bcast_obj(seen, size() - 1)["loss"].value(), 1.5 * (size() - 1));
}

TEST(OnRanks, TagsMayBeTakenInAnotherOrder) {
  if (size() == 1) {
    EXPECT_THROW(comm().send_obj(1, 0), ct::ValueError);
    return;
  }
  const int next = (rank() + 1) % size(), before = (rank() + size() - 1) % size();
  comm().send_obj(std::string("one"), next, 1);
  comm().send(ct::arange(4), next, 2);
  comm().send_obj(std::string("again"), next, 1);
  comm().barrier();  // pending messages do not block it
  EXPECT_EQ(comm().recv(before, 2).to_vector<int>(), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(comm().recv_obj<std::string>(before, 1), "one");
  EXPECT_EQ(comm().recv_obj<std::string>(before, 1), "again");
  comm().send_obj(3, next);
  EXPECT_THROW(comm().recv_obj<std::string>(before), ct::ValueError);  // another type
  comm().send_obj(3, next);
  EXPECT_THROW(comm().recv(before), ct::ValueError);  // an object, not an array
  comm().send_obj(5, next, 7);
  comm().send(ct::arange(2), next, 8);
  EXPECT_EQ(comm().recv_obj<int>(before, D::Communicator::any_tag), 5);  // in the order of sending
  EXPECT_EQ(comm().recv(before, D::Communicator::any_tag).size(), 2);
}

TEST(OnRanks, LargeMessages) {
  const std::vector<std::int32_t> many(std::size_t{1} << 21, rank());
  const auto all = comm().allgather_obj(many);
  for (int r = 0; r < size(); ++r) EXPECT_EQ(all[r][many.size() - 1], r);
  EXPECT_EQ(comm().bcast_obj(many, size() - 1).back(), size() - 1);
}

TEST(OnRanks, AllMaySendBeforeAnyReceives) {
  // far more than fits the buffers at once
  const auto of = [](int from, int to) { return ct::full({std::int64_t{2} << 20}, from * 10 + to, ct::Dtype::int32); };
  if (size() == 1) return;
  const int next = (rank() + 1) % size(), before = (rank() + size() - 1) % size();
  comm().send(of(rank(), next), next, 1);
  comm().send(of(rank(), before), before, 2);
  EXPECT_TRUE((comm().recv(before, 1) == of(before, rank())).all());
  EXPECT_TRUE((comm().recv(next, 2) == of(next, rank())).all());
}

TEST(OnRanks, LettersComeWhileTheirReceiverIsInACollective) {
  // the sender waits for the receivers, while a barrier does not connect all pairs of ranks
  const ct::Array large = ct::full({std::int64_t{1} << 20}, rank(), ct::Dtype::int32);
  for (int r = 0; r < size(); ++r)
    if (r != rank() && rank() % 2 == 1) comm().send(large, r);
  comm().barrier();
  EXPECT_EQ(comm().allreduce(ct::ones({3})).to_vector<int>(), std::vector<int>(3, size()));
  for (int r = 1; r < size(); r += 2)
    if (r != rank()) {
      EXPECT_EQ(comm().recv(r).to_vector<int>().back(), r);
    }
}

TEST(OnRanks, RandomNumbersDiffer) {
  comm();
  ct::random::seed(3);
  const ct::Array mine = ct::random::bits({4});
  const std::vector<ct::Array> all = comm().allgather(mine);
  for (int r = 1; r < size(); ++r) EXPECT_NE(all[r].to_vector<std::int64_t>(), all[0].to_vector<std::int64_t>());
  ct::random::set_state({3, 0});  // rank 0 draws the numbers of a single process
  expect_same(all[0], ct::random::bits({4}), "rank 0");
}

TEST(OnRanks, Split) {
  const D::Communicator half = comm().split(rank() % 2, -rank());  // in the opposite order
  EXPECT_EQ(half.size(), (size() + (rank() % 2 ? 0 : 1)) / 2);
  const std::vector<int> members = half.allgather_obj(rank());
  for (std::size_t i = 1; i < members.size(); ++i) EXPECT_EQ(members[i], members[i - 1] - 2);
  EXPECT_EQ(members[static_cast<std::size_t>(half.rank())], rank());
  int sum = 0;
  for (const int member : members) sum += member;
  EXPECT_EQ(half.allreduce(ct::full({2}, rank(), ct::Dtype::int32)).to_vector<int>(), (std::vector<int>{sum, sum}));
  const D::Communicator alone = half.split(half.rank(), 0);
  EXPECT_EQ(alone.size(), 1);
  EXPECT_EQ(alone.allreduce_obj(7), 7);
}

TEST(OnRanks, SomeRanksOfTheJob) {
  // meanwhile the other ranks do something else
  const std::vector<int> last_first = size() > 2 ? std::vector<int>{size() - 1, 0} : std::vector<int>{rank()};
  const auto is_in = [](const std::vector<int>& ranks) {
    return std::find(ranks.begin(), ranks.end(), rank()) != ranks.end();
  };
  const auto draw = [] { return ct::random::randint(0, 1 << 30, ct::Shape{}).item<std::int64_t>(); };
  ct::random::seed(5);
  const std::int64_t before = draw();
  ct::random::seed(5);
  if (is_in(last_first)) {
    for (int i = 0; i < 2; ++i) {  // two groups of these ranks
      const D::Communicator some = D::create_communicator("flat", {.ranks = last_first});
      EXPECT_EQ(some.size(), static_cast<int>(last_first.size()));
      EXPECT_EQ(some.allgather_obj(rank()), last_first);
      EXPECT_EQ(last_first[static_cast<std::size_t>(some.rank())], rank());
    }
  }
  EXPECT_EQ(draw(), before);  // each rank keeps its random numbers
  EXPECT_NE(error_of<ct::ValueError>([] {
              D::create_communicator("flat", {.ranks = {rank(), size()}});
            }).find("rank"),
            std::string::npos);
  EXPECT_NE(error_of<ct::ValueError>([] {
              D::create_communicator("flat", {.ranks = {rank(), rank()}});
            }).find("named twice"),
            std::string::npos);
  const std::vector<int> another{(rank() + 1) % size()};
  EXPECT_EQ(error_of<ct::ValueError>([&] { D::create_communicator("flat", {.ranks = another}); }).find("is none of") !=
                std::string::npos,
            size() > 1);
}

TEST(OnRanks, TheSameRanksByAnotherName) {
  const D::Communicator half = comm().split(rank() % 2, rank());
  const D::Communicator flat = half.as("flat", {.allreduce_grad_dtype = ct::Dtype::float16});
  EXPECT_EQ(flat.name(), "flat");
  EXPECT_EQ(flat.size(), half.size());
  L::Linear link(1, 1);
  link.W.set_grad(filled({1, 1}, half.rank() == 0 ? 1 + 1.0 / 4096 : 1));  // 1 in float16
  link.b.set_grad(filled({1}, 0));
  flat.multi_node_mean_grad(link);
  EXPECT_EQ(link.W.grad().to_vector<float>()[0], half.size() == 1 ? 1 + 1.0f / 4096 : 1.0f);
  EXPECT_NE(error_of<ct::ValueError>([&] { half.as("rings"); }).find("'rings' is unknown"), std::string::npos);
  EXPECT_NE(error_of<ct::ValueError>([&] { half.as("flat", {.ranks = {0}}); }).find("split() divides"),
            std::string::npos);
}

TEST(OnRanks, DifferencesAreToldToAll) {
  if (size() == 1) {
    EXPECT_THROW(comm().bcast(ct::arange(2), 1), ct::ValueError);
    return;
  }
  std::string text = error_of<ct::ValueError>([] { comm().allreduce(filled({rank() == 1 ? 3 : 2}, 1)); });
  EXPECT_TRUE(has(text, "allreduce of float32 (3,)") && has(text, "allreduce of float32 (2,)") && has(text, "rank 1"))
      << text;
  text = error_of<ct::ValueError>([] {
    if (rank() == 0) {
      comm().bcast(ct::arange(2));
    } else {
      comm().barrier();
    }
  });
  EXPECT_TRUE(has(text, "rank 0 calls bcast") || has(text, "calls barrier")) << text;
  text = error_of<ct::ValueError>([] { comm().bcast_obj(1, rank() == 0 ? 0 : 1); });
  EXPECT_TRUE(has(text, "from rank 0") && has(text, "from rank 1")) << text;
  if (size() > 1)
    text = error_of<ct::ValueError>([] {
      D::create_communicator("flat", {.allreduce_grad_dtype = rank() == 1 ? std::optional(ct::Dtype::float16)
                                                                          : std::optional<ct::Dtype>()});
    });
  EXPECT_TRUE(has(text, "create_communicator flat, gradients as float16")) << text;
  comm().barrier();  // all ranks remain usable
}

TEST(OnRanks, ArgumentsThatMakeNoSense) {
  const auto names = [](const std::function<void()>& f, const std::string& piece) {
    const std::string text = error_of<ct::ValueError>(f);
    EXPECT_NE(text.find(piece), std::string::npos) << text;
  };
  names([] { D::create_communicator("rings"); }, "'rings' is unknown; expected one of naive, flat");
  names([] { comm().send(ct::arange(1), size()); }, "send: rank");
  names([] { comm().recv(-1); }, "recv: rank -1");
  names([] { comm().recv_obj<int>(rank()); }, "is this rank itself");
  names([] { comm().gather(ct::arange(1), size()); }, "gather: root");
  names([] { comm().alltoall({}); }, "0 parts for");
  names([] { comm().set_config("colour", 1); }, "colour");
  names([] { comm().set_config("collective_timeout", 0); }, "above 0");
  names([] { D::Communicator().rank(); }, "create_communicator");
  EXPECT_THROW(comm().allreduce_mean(ct::arange(2)), ct::DtypeError);
  comm().set_config("collective_timeout", 2.5);
  EXPECT_DOUBLE_EQ(comm().get_config("collective_timeout"), 2.5);
  comm().set_config("collective_timeout", std::numeric_limits<double>::infinity());
  EXPECT_EQ(comm().get_config("collective_timeout"), std::numeric_limits<double>::infinity());
  comm().barrier();
  comm().set_config("collective_timeout", 30);
  EXPECT_DOUBLE_EQ(comm().get_config("collective_timeout"), 30);
}

}  // namespace
