// Tests that `gpu:N` counts each card once if two interfaces offer it: simulated CUDA or HIP, and simulated OpenCL.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/paths.h"
#include "tests/simgpu/faults.h"

namespace catenary::faults {
namespace {

// The tests below run this one in a process with other libraries.
TEST(Counted, Cards) {
  if (!std::getenv("CATENARY_TEST_CARDS")) return;
  std::string names;
  for (const Device& device : gpus()) names += device.name() + " ";
  for (Backend* backend : backends())
    if (std::string(backend->name()) == "opencl")
      std::printf("offered: %d; reason: %s\n", backend->device_count(), backend->reason().c_str());
  std::printf("cards: %s\n", names.c_str());
}

/// `opencl` describes the OpenCL devices as simulator/opencl.cpp says.
void expect_cards(const std::string& opencl, int own, const std::string& cards, const std::string& offered) {
  SCOPED_TRACE(opencl);
  const auto result =
      again("Counted.Cards", {{"CATENARY_TEST_CARDS", "1"},
                              {"CATENARY_GPU_INCLUDE_SIMULATED", "1"},
                              {"LD_LIBRARY_PATH", tests::build_path("simgpu/both:") + std::getenv("LD_LIBRARY_PATH")},
                              {"SIMGPU_DEVICES", std::to_string(own)},
                              {"SIMGPU_NAME", "Simulated card"},
                              {"SIMGPU_OPENCL", opencl}});
  EXPECT_TRUE(result.ok()) << result.errors;
  expect_says(result, "cards: " + cards + " \n");
  expect_says(result, "offered: " + offered);
}

TEST(Cards, OfTwoInterfacesCountOnce) {
  const std::string both = vendor() + ":0 " + vendor() + ":1";
  for (const std::string how : {"khr", "nv", "amd", "none"}) expect_cards(how + " " + how, 2, both, "2; reason: \n");
}

TEST(Cards, OfOpenclAloneCountToo) {
  for (const std::string how : {"khr", "nv", "amd", "none"})
    expect_cards(how + " " + how, 1, vendor() + ":0 opencl:1", "2; reason: \n");
  // three cards without an address: two of them count as the vendor's own
  expect_cards("none none none", 2, vendor() + ":0 " + vendor() + ":1 opencl:2", "3; reason: \n");
}

TEST(Cards, OneThatOpensNoContextIsLeftOutAlone) {
  expect_cards("khr! khr", 1, vendor() + ":0 opencl:0",
               "1; reason: 'Simulated card' of Simulated platform is left out: OpenCL: clCreateContext failed with "
               "CL_DEVICE_NOT_AVAILABLE (-2): Simulated card\n");
  expect_cards("none! none!", 1, vendor() + ":0", "0; reason: 'Simulated card' of Simulated platform is left out");
}

}  // namespace
}  // namespace catenary::faults
