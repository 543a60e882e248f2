// Runs each part of scripts/gpu_check on a simulated card.

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/device/device.h"
#include "tests/folder.h"
#include "tests/paths.h"

namespace os = catenary::os;

namespace {

const std::string script = tests::source_path("scripts/gpu_check");

/// Returns the parts that the header comment of the script lists.
std::vector<std::string> parts() {
  const std::vector<std::byte> bytes = os::read_file(script);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t from = text.find("# Parts: ") + 9, end = text.find('.', from);
  std::istringstream words(text.substr(from, end - from));
  std::vector<std::string> names{std::istream_iterator<std::string>(words), {}};
  std::erase(names, "sanitizer");  // needs NVIDIA's compute-sanitizer
  return names;
}

class GpuCheck : public testing::TestWithParam<std::string> {};

/// Returns the folders of the vendor's simulated libraries. The simulated cuDNN is left out: it takes minutes for one
/// step of ResNet-50.
std::string libraries(const std::string& vendor, const std::string& part) {
  std::vector<std::string> kinds = {"blas", "fft", "nccl"};
  if (part == "info" || part == "doctor" || part == "networks") kinds.push_back("dnn");
  std::string folders = tests::build_path("simgpu/" + vendor);
  for (const std::string& kind : kinds) folders += ":" + tests::build_path("simgpu/" + kind + "/" + vendor);
  return folders;
}

TEST_P(GpuCheck, RunsOnASimulatedCard) {
  const std::string device = catenary::current_device().name();
  const tests::Folder logs;
  const os::ProcessResult result = os::run_process(
      {script, "run", device, GetParam()},
      {.timeout = 500,
       .environment = {{"CATENARY_TEST_SHARE", "0.005"},  // these tests also run on simulated cards by themselves
                       {"CATENARY_GPU_INCLUDE_SIMULATED", "1"},
                       {"GPU_CHECK_BUILD", tests::build_path("")},
                       {"LD_LIBRARY_PATH", libraries(device.substr(0, device.find(':')), GetParam())},
                       {"TMPDIR", logs.path}}});
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
  EXPECT_NE(result.output.find("\n" + GetParam() +
                               std::string(GetParam().size() < 13 ? 13 - GetParam().size() : 1, ' ') + "fine"),
            std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find(" passed, 0 failed\n"), std::string::npos) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Parts, GpuCheck, testing::ValuesIn(parts()), [](const auto& part) { return part.param; });

TEST(GpuCheckTable, SaysWhatFailed) {
  const tests::Folder logs;
  const os::ProcessResult result = os::run_process(
      {script, "run", "cuda:63", "mnist"},
      {.timeout = 60, .environment = {{"GPU_CHECK_BUILD", tests::build_path("")}, {"TMPDIR", logs.path}}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.output.find("\nmnist        FAILED 1"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("\n0 passed, 1 failed\n"), std::string::npos) << result.output;
  const os::ProcessResult unknown = os::run_process({script, "run", "cuda:0", "minst"}, {.timeout = 60});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.errors, "gpu_check: unknown part minst (gpu_check --help lists the parts)\n");
}

}  // namespace
