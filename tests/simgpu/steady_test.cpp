// Tests a training step in steady state: the host never waits, and the driver is never asked for memory.

#include <gtest/gtest.h>

#include <string>

#include "catenary/catenary.h"
#include "catenary/core/os/library.h"
#include "tests/simgpu/faults.h"

namespace catenary::faults {
namespace {

struct Network : Chain {
  links::Linear l1, l2, l3;
  Network() : l1(100), l2(100), l3(10) {}
  CT_LINKS(l1, l2, l3)
  Variable operator()(const Variable& x) { return l3(functions::relu(l2(functions::relu(l1(x))))); }
};

/// Returns how often the simulated driver had to wait ("wait") or was asked for memory ("alloc").
int count(const char* what) {
  std::string why;
  const auto library = os::Library::find(vendor() == "cuda" ? "libcuda.so.1" : "libamdhip64.so.6", &why,
                                         os::Library::Mode::already_loaded);
  return library ? library->required<int(const char*)>("simgpu_count")(what) : -1;
}

TEST(SteadyState, AStepOfMnistWaitsForNothing) {
  links::Classifier model{Network()};
  optimizers::Adam optimizer;
  optimizer.setup(model);
  random::Generator generator{1, 0};
  const random::RandomOptions options{.device = Device(), .generator = &generator};
  const auto step = [&] {
    const Array x = random::random({100, 784}, options).astype(Dtype::float32).eval();
    const Array t = (random::bits({100}, options) % 10).astype(Dtype::int32).eval();
    const Batch batch({Variable(x.to_device(current_device())), Variable(t.to_device(current_device()))});
    model.cleargrads();
    model(batch).backward();
    optimizer.update();
  };
  for (int i = 0; i < 20; ++i) step();  // warms up memory, pinned memory and both kinds of Adam's updates
  current_device().synchronize();
  const int waits = count("wait"), allocations = count("alloc");
  ASSERT_GE(waits, 1);
  ASSERT_GE(allocations, 1);
  // Few enough for the ring of pinned memory. Beyond it, an upload waits for the upload sixteen before it.
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(count("wait"), waits);
  EXPECT_EQ(count("alloc"), allocations);
  current_device().synchronize();
  EXPECT_GT(count("wait"), waits);
}

}  // namespace
}  // namespace catenary::faults
