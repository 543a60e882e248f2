// Ranks with a GPU each, skipped if there is none. cmake/devices.cmake runs this program as the ranks of a job with
// CATENARY_TEST_GPUS OpenCL devices.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "catenary/catenary.h"

namespace ct = catenary;
namespace D = ct::distributed;
namespace L = ct::links;

namespace {

struct Net : ct::Chain {
  L::Linear l1{6, 4}, l2{4, 2};
  CT_LINKS(l1, l2)
};

TEST(GpusOfRanks, GradientsAreExchangedThroughTheHost) {
  const char* const told = std::getenv("CATENARY_TEST_GPUS");
  const int gpus = told ? std::atoi(told) : 0;
  for (const char* name : {"naive", "flat", "non_cuda_aware", "pure_nccl"}) {
    const D::Communicator comm = D::create_communicator(name);
    ct::Device device;
    if (gpus > 0) {
      device = comm.gpu();
      EXPECT_EQ(device.index(), comm.intra_rank() % gpus);
      EXPECT_FALSE(device == ct::Device());
    }
    const auto gradient = [&](int rank, const ct::Shape& shape) {
      return (ct::arange(shape.product(), ct::Dtype::float32) * 0.37f + static_cast<float>(rank * rank)).reshape(shape);
    };
    Net net;
    net.to_device(device);
    for (const auto& [path, p] : net.namedparams()) {
      ct::copyto(p.array(), gradient(10 + comm.rank(), p.shape()).to_device(device));
      p.set_grad(gradient(comm.rank(), p.shape()).to_device(device));
    }
    comm.bcast_data(net);
    comm.multi_node_mean_grad(net);
    for (const auto& [path, p] : net.namedparams()) {
      EXPECT_EQ(p.array().device(), device);
      EXPECT_EQ(p.array().to_vector<float>(), gradient(10, p.shape()).to_vector<float>()) << path;
      ct::Array sum = gradient(0, p.shape());
      for (int r = 1; r < comm.size(); ++r) sum = sum + gradient(r, p.shape());
      EXPECT_EQ(p.grad().device(), device);
      EXPECT_EQ(p.grad().to_vector<float>(), (sum / static_cast<float>(comm.size())).to_vector<float>()) << path;
    }
  }
}

}  // namespace
