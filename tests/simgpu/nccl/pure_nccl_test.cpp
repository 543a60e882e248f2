// Tests pure_nccl on simulated cards, with stand-ins for NCCL and RCCL: the results of the ranks against those of flat,
// and the end of a job after a failure. Each case is a job of `catenary launch` that runs the tests named Inside, which
// work with any number of ranks.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/lazy.h"
#include "catenary/backends/gpu/nccl.h"
#include "catenary/catenary.h"
#include "catenary/core/os/process.h"
#include "catenary/distributed/launch.h"
#include "tests/distributed/on_ranks.h"
#include "tests/folder.h"
#include "tests/paths.h"

namespace ct = catenary;
namespace D = ct::distributed;
namespace L = ct::links;

namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Runs a job of `size` ranks on simulated cards, with the libraries of build/…/simgpu/nccl/<folder>.
ct::os::ProcessResult job(int ranks, const std::string& vendor, const std::string& folder,
                          const std::vector<std::string>& program, const Environment& environment = {}) {
  const std::string simgpu = tests::build_path("simgpu/");
  ct::os::ProcessOptions options;
  options.timeout = 200;
  options.environment = {{"LD_LIBRARY_PATH", simgpu + "nccl/" + folder + ":" + simgpu + vendor},
                         {"CATENARY_CACHE_DIR", simgpu + "cache"},
                         {"CATENARY_NUM_THREADS", "1"},
                         {"CATENARY_GPU_INCLUDE_SIMULATED", "1"},
                         {"SIMGPU_DEVICES", "4"},
                         {"GTEST_OUTPUT", ""}};
  for (const auto& entry : environment) {
    std::erase_if(options.environment, [&](const auto& known) { return known.first == entry.first; });
    options.environment.push_back(entry);
  }
  std::vector<std::string> command = {tests::build_path("bin/catenary"), "launch", "-n", std::to_string(ranks)};
  command.insert(command.end(), program.begin(), program.end());
  return ct::os::run_process(command, options);
}
ct::os::ProcessResult inside(int ranks, const std::string& vendor, const std::string& test,
                             const Environment& environment = {}) {
  return job(ranks, vendor, vendor, {ct::os::program_path(), "--gtest_filter=Inside." + test}, environment);
}

std::int64_t count_of(const std::string& text, const std::string& piece) {
  std::int64_t n = 0;
  for (std::size_t at = 0; (at = text.find(piece, at)) != std::string::npos; at += piece.size()) ++n;
  return n;
}

void expect_says(const ct::os::ProcessResult& result, const std::string& words) {
  EXPECT_NE((result.output + result.errors).find(words), std::string::npos) << "expected: " << words << "\n"
                                                                            << result.output << result.errors;
}

// The ranks run the following tests.

/// Returns the card of this rank, or the CPU if this program runs by itself.
ct::Device card(const D::Communicator& comm) { return std::getenv("CATENARY_LAUNCH") ? comm.gpu() : ct::Device(); }

struct Net : ct::Chain {
  L::Linear l1, l2;
  L::Linear empty;
  Net() : l1(7, 5), l2(5, 3), empty(4, 0) {}
  CT_LINKS(l1, l2, empty)
};

/// Makes numbers whose sums depend on the order.
ct::Array numbers(int rank, int seed, const ct::Shape& shape) {
  ct::random::Generator generator{static_cast<std::uint64_t>(100 * seed + rank), 0};
  const ct::Array x = ct::random::uniform(-1.0, 1.0, shape, {.dtype = ct::Dtype::float32, .generator = &generator})
                          .to_device(ct::Device());
  return x * (rank % 2 ? 1e3f : 1e-2f);
}

void set_gradients(const Net& net, int rank, const ct::Device& device) {
  int seed = 0;
  for (const auto& [name, p] : net.namedparams()) p.set_grad(numbers(rank, ++seed, p.shape()).to_device(device));
  // not contiguous in C order
  net.l1.W.set_grad(numbers(rank, 50, {7, 5}).to_device(device).T());
}

TEST(Inside, MeansAreFlats) {
  const D::Communicator nccl = D::create_communicator("pure_nccl"), flat = D::create_communicator("flat");
  EXPECT_EQ(nccl.name(), "pure_nccl");
  const ct::Device device = card(nccl);
  Net a, b;
  a.to_device(device);
  for (int step = 0; step < 3; ++step) {
    set_gradients(a, nccl.rank() + 10 * step, device);
    set_gradients(b, nccl.rank() + 10 * step, ct::Device());
    nccl.multi_node_mean_grad(a);
    flat.multi_node_mean_grad(b);
    const auto of_a = a.namedparams(), of_b = b.namedparams();
    for (std::size_t i = 0; i < of_a.size(); ++i) {
      const ct::Array got = of_a[i].second.grad(), expected = of_b[i].second.grad();
      EXPECT_EQ(got.device(), device);
      EXPECT_EQ(got.shape(), expected.shape());
      EXPECT_EQ(got.to_vector<float>(), expected.to_vector<float>()) << of_a[i].first;
    }
  }
  // zeros for a rank without gradients, the vote, and a rank with other calls
  a.cleargrads();
  if (nccl.rank() == 0) a.l2.b.set_grad(ct::full({3}, 2.0f, ct::Dtype::float32).to_device(device));
  EXPECT_EQ(nccl.multi_node_mean_grad(a, true, nccl.rank() == 0 ? 3 : 1), 3);
  EXPECT_FLOAT_EQ(a.l2.b.grad().to_vector<float>()[1], 2.0f / static_cast<float>(nccl.size()));
  if (nccl.size() > 1) {
    a.cleargrads();
    if (nccl.rank() == 0) a.l2.b.set_grad(ct::full({3}, 2.0f, ct::Dtype::float32).to_device(device));
    EXPECT_THROW(nccl.multi_node_mean_grad(a), ct::ValueError);
  }
  nccl.finalize();
}

TEST(Inside, In16Bits) {
  for (const auto& [dtype, unit] :
       {std::pair{ct::Dtype::float16, std::ldexp(1.0, -11)}, std::pair{ct::Dtype::bfloat16, std::ldexp(1.0, -8)}}) {
    const D::Communicator nccl = D::create_communicator("pure_nccl", {.allreduce_grad_dtype = dtype});
    const ct::Device device = card(nccl);
    Net net;
    net.to_device(device);
    set_gradients(net, nccl.rank(), device);
    nccl.multi_node_mean_grad(net);
    int seed = 0;
    for (const auto& [name, p] : net.namedparams()) {
      EXPECT_EQ(p.grad().dtype(), ct::Dtype::float32);
      const auto got = p.grad().to_vector<double>();
      std::vector<double> sum(got.size()), of_magnitudes(got.size());
      ++seed;
      for (int r = 0; r < nccl.size(); ++r) {
        const bool turned = name == "/l1/W";
        const ct::Array x = turned ? numbers(r, 50, {7, 5}).T() : numbers(r, seed, p.shape());
        const auto values = x.to_vector<double>();
        for (std::size_t i = 0; i < got.size(); ++i) {
          sum[i] += values[i];
          of_magnitudes[i] += std::abs(values[i]);
        }
      }
      // each value is rounded once, and so is each sum
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], sum[i] / nccl.size(),
                    nccl.size() == 1 ? 0 : (unit * (nccl.size() + 1) * of_magnitudes[i] + 1e-7) / nccl.size())
            << name << " " << i;
    }
    nccl.finalize();
  }
}

TEST(Inside, ParametersAndParts) {
  const D::Communicator nccl = D::create_communicator("pure_nccl");
  const ct::Device device = card(nccl);
  Net net;
  net.to_device(device);
  for (const auto& [name, p] : net.namedparams())
    ct::copyto(p.array(), numbers(nccl.rank(), 7, p.shape()).to_device(device));
  nccl.bcast_data(net);
  for (const auto& [name, p] : net.namedparams())
    EXPECT_EQ(p.array().to_vector<float>(), numbers(0, 7, p.shape()).to_vector<float>()) << name;

  const D::Communicator part = nccl.split(nccl.rank() % 2, 0);
  const auto members = part.allgather_obj(nccl.rank());
  set_gradients(net, nccl.rank(), device);
  part.multi_node_mean_grad(net);
  ct::Array expected = numbers(members[0], 3, net.l2.W.shape());
  for (std::size_t i = 1; i < members.size(); ++i) expected = expected + numbers(members[i], 3, net.l2.W.shape());
  EXPECT_EQ(net.l2.W.grad().to_vector<float>(), (expected / static_cast<float>(part.size())).to_vector<float>());
}

/// Parameters that are not in C order, are empty, or lie on a second card of each rank.
TEST(Inside, ParametersOfOddKinds) {
  const D::Communicator nccl = D::create_communicator("pure_nccl");
  const ct::Device device = card(nccl);
  const L::Linear turned(7, 5), empty(4, 0, {.nobias = true});
  turned.W.set_array(numbers(nccl.rank(), 7, {7, 5}).to_device(device).T());
  turned.b.set_array(numbers(nccl.rank(), 8, {5}).to_device(device));
  nccl.bcast_data(turned);
  EXPECT_EQ(turned.W.array().to_vector<float>(), numbers(0, 7, {7, 5}).T().to_vector<float>());
  EXPECT_EQ(turned.b.array().to_vector<float>(), numbers(0, 8, {5}).to_vector<float>());

  empty.to_device(device);
  nccl.bcast_data(empty);
  empty.W.set_grad(ct::zeros({0, 4}, ct::Dtype::float32).to_device(device));
  nccl.multi_node_mean_grad(empty);
  EXPECT_EQ(empty.W.grad().shape(), (ct::Shape{0, 4}));

  // rank r has the cards r and r + size
  if (device.is_cpu()) return;
  const ct::Device second = ct::get_device(
      fmt::format("{}:{}", device.name().substr(0, device.name().find(':')), device.index() + nccl.size()));
  Net net;
  net.l1.to_device(device);
  net.l2.to_device(second);
  net.empty.to_device(second);
  int seed = 0;
  for (const auto& [name, p] : net.namedparams()) {
    ct::copyto(p.array(), numbers(nccl.rank(), 7, p.shape()).to_device(p.device()));
    p.set_grad(numbers(nccl.rank(), ++seed, p.shape()).to_device(p.device()));
  }
  nccl.bcast_data(net);
  nccl.multi_node_mean_grad(net);
  seed = 0;
  for (const auto& [name, p] : net.namedparams()) {
    EXPECT_EQ(p.array().to_vector<float>(), numbers(0, 7, p.shape()).to_vector<float>()) << name;
    ct::Array sum = numbers(0, ++seed, p.shape());
    for (int r = 1; r < nccl.size(); ++r) sum = sum + numbers(r, seed, p.shape());
    EXPECT_EQ(p.grad().device(), p.device());
    EXPECT_EQ(p.grad().to_vector<float>(), (sum / static_cast<float>(nccl.size())).to_vector<float>()) << name;
  }
  nccl.finalize();
}

TEST(Inside, GradientsArePackedAtOnce) {
  const D::Communicator nccl = D::create_communicator("pure_nccl");
  const ct::Device device = card(nccl);
  std::vector<std::int64_t> kernels;
  for (const int n : {1, 6}) {
    ct::Sequential net;
    for (int i = 0; i < n; ++i) net.append(L::Linear(3, 3));
    net.to_device(device);
    for (const auto& [name, p] : net.namedparams()) p.set_grad(numbers(nccl.rank(), 1, p.shape()).to_device(device));
    const std::int64_t before = ct::kernel_count();
    nccl.multi_node_mean_grad(net);
    kernels.push_back(ct::kernel_count() - before);
  }
  EXPECT_EQ(kernels[0], kernels[1]);
}

TEST(Inside, OneCardForAll) {
  const D::Communicator nccl = D::create_communicator("pure_nccl");
  const ct::Device device = card(nccl);
  if (!device.is_cpu()) {
    EXPECT_EQ(device.index(), nccl.intra_rank() % 2);
  }
  Net net;
  net.to_device(device);
  set_gradients(net, nccl.rank(), device);
  try {
    nccl.multi_node_mean_grad(net);
    std::printf("nothing was thrown\n");
  } catch (const ct::DeviceError& error) {
    std::printf("threw: %s\n", error.what());
  }
  nccl.barrier();  // all ranks may go on
}

/// Two ranks on each of two hosts, each of which has a card with the same bus address.
TEST(Inside, TwoHosts) {
  if (const char* launched = std::getenv("CATENARY_LAUNCH"))
    ::setenv("CATENARY_HOST_ID", D::LaunchedRank::parse(launched).rank < 2 ? "one" : "two", 1);
  const D::Communicator nccl = D::create_communicator("pure_nccl");
  if (nccl.size() == 4) {
    EXPECT_EQ(nccl.gpu().index(), nccl.rank() % 2);
  }
  const ct::Device device = card(nccl);
  Net net;
  net.to_device(device);
  net.l2.b.set_grad(ct::full({3}, nccl.rank(), ct::Dtype::float32).to_device(device));
  nccl.multi_node_mean_grad(net, true);
  EXPECT_FLOAT_EQ(net.l2.b.grad().to_vector<float>()[0], static_cast<float>(nccl.size() - 1) / 2);
}

TEST(Inside, DoubleBuffering) {
  const D::Communicator nccl = D::create_communicator("pure_nccl"), flat = D::create_communicator("flat");
  const ct::Device device = card(nccl);
  std::vector<std::vector<float>> ends;
  for (const D::Communicator& comm : {nccl, flat}) {
    const ct::Device where = comm.name() == "flat" ? ct::Device() : device;
    const ct::DeviceScope scope(where);
    L::Linear model(3, 2, {.nobias = true});
    model.W.set_array(numbers(0, 7, {2, 3}).to_device(where));
    const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(0.125), comm, {.double_buffering = true});
    optimizer.setup(model);
    comm.bcast_data(model);
    for (int i = 0; i < 5; ++i) {
      optimizer.set_loss_scale(i % 2 ? 8.0 : 2.0);
      const ct::Array factors = (numbers(comm.rank(), i, {2, 3}) * 1e-3f).to_device(where);
      optimizer.update(
          [&] { return ct::functions::sum(model.W * factors) + ct::functions::sum(model.W * model.W) * 0.5f; });
      EXPECT_EQ(optimizer.t(), i);  // the first update only starts
    }
    ends.push_back(model.W.array().to_vector<float>());
  }
  for (std::size_t k = 0; k < ends[0].size(); ++k) EXPECT_FLOAT_EQ(ends[0][k], ends[1][k]);
  EXPECT_THROW(D::create_multi_node_optimizer(ct::optimizers::SGD(0.1), nccl, {.overlap = true}), ct::ValueError);
  nccl.finalize();
}

// An inf in the last rank's gradient reaches the mean, so all ranks skip the update, in the next iteration where
// updates are delayed.
TEST(Inside, AnUpdateIsSkippedByAll) {
  const D::Communicator nccl = D::create_communicator("pure_nccl");
  const ct::Device device = card(nccl);
  const ct::DeviceScope scope(device);
  for (const bool later : {false, true}) {
    tests::Half model;
    model.to_device(device);
    const auto optimizer =
        D::create_multi_node_optimizer(ct::optimizers::SGD(0.125), nccl, {.double_buffering = later});
    optimizer.setup(model);
    double expected = 1;
    for (int i = 0; i < 7; ++i) {
      const double factor = i == 3 && nccl.rank() == nccl.size() - 1 ? 60000 : 0.25 * (nccl.rank() + 1);
      optimizer.update([&] { return ct::functions::sum(model.w * ct::full({5}, factor, ct::Dtype::float16)); });
      const int of = later ? i - 1 : i;
      EXPECT_EQ(optimizer.is_safe_to_update(), of != 3) << i;
      if (of >= 0 && of != 3) expected -= 0.125 * 0.125 * (nccl.size() + 1);
      for (const double w : model.w.array().to_vector<double>()) EXPECT_NEAR(w, expected, 2e-3) << i;
    }
  }
  nccl.finalize();
}

/// A program that does not check whether the gradients have arrived.
TEST(Inside, Exchanges) {
  const D::Communicator nccl = D::create_communicator("pure_nccl");
  const ct::Device device = card(nccl);
  Net net;
  net.to_device(device);
  set_gradients(net, nccl.rank(), device);
  try {
    nccl.multi_node_mean_grad(net);
    std::printf("first is %g\n", net.l1.W.grad().to_vector<double>()[0]);
  } catch (const ct::Error& error) {
    std::printf("threw: %s\n", error.what());
  }
}

/// The first rank keeps its communicator while the other ranks drop theirs.
TEST(Inside, SomeLeave) {
  const D::Communicator flat = D::create_communicator("flat");
  D::Communicator nccl = D::create_communicator("pure_nccl");
  const ct::Device device = card(nccl);
  Net net;
  net.to_device(device);
  set_gradients(net, nccl.rank(), device);
  nccl.multi_node_mean_grad(net);
  if (flat.rank() != 0) nccl = D::Communicator();
  flat.barrier();
  EXPECT_EQ(nccl.defined(), flat.rank() == 0);
}

TEST(Inside, TheLastThrows) {
  const D::Communicator flat = D::create_communicator("flat");
  {
    const D::Communicator nccl = D::create_communicator("pure_nccl");
    const ct::Device device = card(nccl);
    Net net;
    net.to_device(device);
    set_gradients(net, nccl.rank(), device);
    nccl.multi_node_mean_grad(net);
    if (flat.size() > 1 && flat.rank() == flat.size() - 1) throw std::runtime_error("thrown by a rank");
    flat.barrier();
  }
}

// Tests that start jobs.

class PureNccl : public testing::TestWithParam<const char*> {
 protected:
  std::string vendor() const { return GetParam(); }
  std::string library() const { return vendor() == "cuda" ? "NCCL" : "RCCL"; }
};
INSTANTIATE_TEST_SUITE_P(Simulated, PureNccl, testing::Values("cuda", "hip"));

TEST_P(PureNccl, RanksDoTogether) {
  for (const int ranks : {1, 2, 4}) {
    for (const char* test : {"MeansAreFlats", "In16Bits", "ParametersAndParts", "GradientsArePackedAtOnce",
                             "DoubleBuffering", "AnUpdateIsSkippedByAll"}) {
      const auto result = inside(ranks, vendor(), test);
      EXPECT_TRUE(result.ok()) << result.output << result.errors;
      EXPECT_EQ(count_of(result.output, "[  PASSED  ] 1 test"), ranks) << result.output << result.errors;
    }
  }
}

TEST_P(PureNccl, ParametersOfOddKinds) {
  const auto result = inside(2, vendor(), "ParametersOfOddKinds");
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
  EXPECT_EQ(count_of(result.output, "[  PASSED  ] 1 test"), 2) << result.output << result.errors;
}

TEST_P(PureNccl, RanksWithOtherVersions) {
  const auto result = job(2, vendor(), vendor(),
                          {"sh", "-c", "case $CATENARY_LAUNCH in 1:*) export SIMGPU_NCCL=newer;; esac; exec \"$@\"",
                           "sh", ct::os::program_path(), "--gtest_filter=Inside.Exchanges"});
  EXPECT_EQ(
      count_of(result.output, fmt::format("threw: pure_nccl: rank 0 on {0} uses {1} by version 2.27.3 of its library, "
                                          "rank 1 on {0} uses {1} by version 2.28.0; the same is expected of all\n",
                                          ct::os::host_name(), vendor())),
      2)
      << result.output << result.errors;
}

TEST_P(PureNccl, Messages) {
  // 7·5 + 5 + 5·3 + 3 + 0 numbers
  auto result = inside(2, vendor(), "MeansAreFlats", {{"SIMGPU_NCCL_LOG", "1"}});
  EXPECT_EQ(count_of(result.errors, "sum of 232 bytes, type 7"), 8) << result.errors;
  result = inside(2, vendor(), "In16Bits", {{"SIMGPU_NCCL_LOG", "1"}});
  expect_says(result, "sum of 116 bytes, type 6");
  expect_says(result, "sum of 116 bytes, type 9");
  result = inside(2, vendor(), "DoubleBuffering", {{"SIMGPU_NCCL_LOG", "1"}});
  EXPECT_EQ(count_of(result.errors, "sum of 24 bytes, type 7"), 10) << result.errors;
  result = inside(2, vendor(), "ParametersAndParts", {{"SIMGPU_NCCL_LOG", "1"}});
  expect_says(result, "broadcast of 140 bytes");
}

TEST_P(PureNccl, TwoRanksOnOneCard) {
  const auto result = inside(3, vendor(), "OneCardForAll", {{"SIMGPU_DEVICES", "2"}, {"SIMGPU_NCCL_LOG", "1"}});
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
  EXPECT_EQ(count_of(result.output, "threw: pure_nccl: rank 0 and rank 2 on " + ct::os::host_name() +
                                        " both use the card 0000:01:00.0; " + library() +
                                        " needs a card for each rank: start no more ranks on a host than it has cards"),
            3)
      << result.output;
  EXPECT_EQ(count_of(result.errors, "simgpu nccl"), 0) << result.errors;
}

TEST_P(PureNccl, HostsHaveCardsOfOneAddress) {
  const auto result = inside(4, vendor(), "TwoHosts", {{"SIMGPU_DEVICES", "2"}});
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
}

TEST_P(PureNccl, NoLibrary) {
  const auto none = job(2, vendor(), "none", {ct::os::program_path(), "--gtest_filter=Inside.Exchanges"});
  EXPECT_TRUE(none.ok()) << none.output << none.errors;
  EXPECT_EQ(count_of(none.output, fmt::format("threw: pure_nccl: rank 0 on {} has no {} that can be used: ",
                                              ct::os::host_name(), library())),
            2)
      << none.output;
  expect_says(none, vendor() == "cuda" ? "none of libnccl.so.2 was found" : "librccl.so.1 (of HIP 6) was not found on");
  const auto old = inside(2, vendor(), "Exchanges", {{"SIMGPU_NCCL", "old"}});
  expect_says(old, fmt::format("is {} 2.12.12; 2.14.0 or newer is needed", library()));
  if (vendor() == "cuda")
    expect_says(job(2, "cuda", "broken", {ct::os::program_path(), "--gtest_filter=Inside.Exchanges"}), "ncclAllReduce");
  const auto id = inside(2, vendor(), "Exchanges", {{"SIMGPU_NCCL", "id"}});
  EXPECT_EQ(count_of(id.output,
                     fmt::format(
                         "threw: pure_nccl: rank 0 on {}: {} cannot make the id of a group: "
                         "unhandled system error (run with NCCL_DEBUG=INFO for details) (2): a fault of the stand-in\n",
                         ct::os::host_name(), library())),
            2)
      << id.output;
}

TEST_P(PureNccl, FailuresEndTheJob) {
  const std::string mean = "mean of 6 gradients from /l1/W to /empty/b";
  struct Case {
    const char* fault;
    std::string doing, why;
  };
  const Case cases[] = {
      {"init:1", "joining 2 cards by " + library() + " 2.27.3",
       "cannot go on on " + vendor() + ":1: unhandled system error (run with NCCL_DEBUG=INFO for details) (2)"},
      {"late:1", "joining 2 cards by " + library() + " 2.27.3", "it took longer than 0.02 minutes"},
      {"call:1", mean,
       "cannot all-reduce on " + vendor() +
           ":1: unhandled cuda error (1): a fault of the stand-in; NCCL_DEBUG=INFO has it print why"},
      {"async:1", mean, "remote process exited or there was a network error (6)"},
      {"hang:0", mean, "it took longer than 0.02 minutes; CATENARY_COLLECTIVE_TIMEOUT sets the limit"},
  };
  for (const Case& c : cases) {
    // a time limit only where the fault is to wait: on a busy machine, the other faults may take longer
    const bool waits = c.why.starts_with("it took longer");
    const auto result = inside(2, vendor(), "Exchanges",
                               {{"SIMGPU_NCCL", c.fault}, {"CATENARY_COLLECTIVE_TIMEOUT", waits ? "0.02" : "30"}});
    EXPECT_EQ(result.exit_code, 1) << c.fault << result.output << result.errors;
    EXPECT_EQ(count_of(result.output, "first is"), 0) << c.fault << result.output;
    EXPECT_EQ(count_of(result.errors, "\n"), 1) << c.fault << result.errors;
    EXPECT_TRUE(result.errors.starts_with("catenary launch: rank ")) << result.errors;
    expect_says(result, " of 2 on " + ct::os::host_name() + ", " + c.doing);
    expect_says(result, c.why);
    if (c.doing == mean) expect_says(result, ", 58 elements as float32");
  }
}

TEST_P(PureNccl, RanksThatLeave) {
  const auto some = inside(2, vendor(), "SomeLeave");
  EXPECT_TRUE(some.ok()) << some.output << some.errors;
  const auto thrown = inside(2, vendor(), "TheLastThrows");
  EXPECT_EQ(thrown.exit_code, 1);
  expect_says(thrown, "thrown by a rank");
  expect_says(thrown, "catenary launch: rank ");
}

TEST_P(PureNccl, TrainMnist) {
  const tests::Folder folder;
  const auto train = [&](const std::string& name, const std::string& out) {
    return job(2, vendor(), vendor(),
               {tests::build_path("bin/train_mnist_mn"), "-g", "--communicator", name, "-e", "1", "-u", "10", "-b",
                "50", "-n", "400", "--seed", "1", "-o", folder / out},
               {{"CATENARY_DATA", tests::source_path("data")}, {"SIMGPU_NCCL_LOG", "1"}});
  };
  for (const char* name : {"pure_nccl", "flat"}) {
    const auto result = train(name, name);
    // 4 iterations on 2 ranks of 784 · 10 + 10 + 10 · 10 + 10 + 10 · 10 + 10 numbers
    EXPECT_EQ(count_of(result.errors, "sum of 32280 bytes, type 7"), name == std::string("flat") ? 0 : 8)
        << result.errors;
    ASSERT_TRUE(result.ok()) << result.output << result.errors;
    expect_says(result, fmt::format("Num process (COMM_WORLD): 2\nUsing GPUs\nUsing {} communicator\n", name));
  }
  const auto log = [&](const std::string& name) {
    auto rows = nlohmann::json::parse(std::ifstream(folder / (name + "/log")));
    for (auto& row : rows) row.erase("elapsed_time");
    return rows;
  };
  EXPECT_EQ(log("pure_nccl"), log("flat"));
}

TEST(PureNcclElsewhere, NoCard) {
  const auto result = inside(2, "cuda", "Exchanges", {{"SIMGPU_INIT", "100"}});  // no card, so comm.gpu() throws
  EXPECT_FALSE(result.ok());
  expect_says(result, "no NVIDIA GPU is visible");
}

TEST(PureNcclElsewhere, TheProcessor) {
  const tests::Folder folder;
  const auto result = job(2, "cuda", "cuda",
                          {tests::build_path("bin/train_mnist_mn"), "--communicator", "pure_nccl", "-e", "1", "-u",
                           "10", "-b", "50", "-n", "400", "-o", folder / "out"},
                          {{"CATENARY_DATA", tests::source_path("data")}});
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
  EXPECT_EQ(count_of(result.errors, "pure_nccl: arrays on cpu are exchanged through the host, as in 'flat'"), 1)
      << result.errors;
}

TEST(NcclVersion, Text) {
  EXPECT_EQ(ct::gpu::nccl_version(22703), "2.27.3");
  EXPECT_EQ(ct::gpu::nccl_version(21400), "2.14.0");
  EXPECT_EQ(ct::gpu::nccl_version(2804), "2.8.4");
}

}  // namespace
