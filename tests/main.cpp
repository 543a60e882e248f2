// The main() of every test program: `test_<folder> --device opencl:0` runs its tests with that device as the current
// one. CATENARY_TEST_SHARE=0.25 CATENARY_TEST_TURN=2 runs the third of four parts (tests/share.h).

#include <fnmatch.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/device/device.h"
#include "tests/paths.h"
#include "tests/share.h"

namespace tests {

std::string source_path(const std::string& name) {
  const char* root = std::getenv("CATENARY_TEST_ROOT");
  return std::string(root ? root : CT_SOURCE_DIR) + "/" + name;
}

std::string names_path() {
  return std::getenv("CATENARY_TEST_ROOT") ? source_path("coverage.md") : build_path("coverage.md");
}

std::string build_path(const std::string& name) { return CT_BINARY_DIR "/" + name; }

namespace {

/// For devices without float64, which must refuse it with a clear message. A test that is refused float64 passes, and
/// later messages that an array has no value are ignored. Any other failure in the test counts.
class Float64IsRefused final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo&) override {
    results_ = std::make_unique<testing::TestPartResultArray>();
    reporter_ = std::make_unique<testing::ScopedFakeTestPartResultReporter>(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, results_.get());
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    reporter_.reset();
    bool refused = false;
    for (int i = 0; i < results_->size(); ++i) {
      const testing::TestPartResult& result = results_->GetTestPartResult(i);
      if (!result.failed()) continue;
      if (std::strstr(result.message(), " has no float64") ||
          (refused && std::strstr(result.message(), "the array has no value"))) {
        refused = true;
      } else {
        GTEST_MESSAGE_AT_(result.file_name() ? result.file_name() : "unknown file", result.line_number(),
                          result.message(), result.type());
      }
    }
    if (refused) std::printf("[ REFUSED  ] %s.%s: float64\n", test.test_suite_name(), test.name());
    refused_ += refused;
  }
  void OnTestProgramEnd(const testing::UnitTest& all) override {
    std::printf("%d of %d tests were refused float64, as the device has none\n", refused_, all.test_to_run_count());
  }

 private:
  std::unique_ptr<testing::TestPartResultArray> results_;
  std::unique_ptr<testing::ScopedFakeTestPartResultReporter> reporter_;
  int refused_ = 0;
};

/// A device may report an error late. Synchronizing after each test keeps the error out of the next test.
class NothingIsSaidLate final : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo&) override {
    try {
      catenary::current_device().synchronize();
    } catch (const catenary::DeviceError&) {  // tests of faults lose the device
    } catch (const catenary::Error& error) {
      ADD_FAILURE() << "after the test: " << error.what();
    }
  }
};

}  // namespace

}  // namespace tests

namespace {

/// Returns whether a GoogleTest filter selects a test. Patterns are separated by ':', and patterns after a '-' exclude.
bool matches(const std::string& filter, const std::string& name) {
  const std::size_t minus = filter.find('-');
  const auto any = [&](const std::string& patterns) {
    std::istringstream list(patterns);
    for (std::string pattern; std::getline(list, pattern, ':');)
      if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
    return false;
  };
  return (minus == 0 || any(filter.substr(0, minus))) && (minus == std::string::npos || !any(filter.substr(minus + 1)));
}

/// Narrows GoogleTest's filter to the tests of this turn.
void run_a_share(const tests::Share& share) {
  if (share.is_whole()) return;
  std::string filter = GTEST_FLAG_GET(filter);
  std::vector<std::string> names;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j)
      if (std::string name = suite.name() + std::string(".") + suite.GetTestInfo(j)->name(); matches(filter, name))
        names.push_back(std::move(name));
  }
  const std::vector<bool> chosen = share.choose(names);
  filter += filter.find('-') == std::string::npos ? "-" : ":";
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!chosen[i]) filter += names[i] + ":";
  GTEST_FLAG_SET(filter, filter);
  std::printf("%s: %zu of %zu tests\n", share.words().c_str(),
              static_cast<std::size_t>(std::count(chosen.begin(), chosen.end(), true)), names.size());
}

/// Gives this process a folder for temporary files, which must be empty after the tests. A process that a test starts
/// inherits the folder.
class TemporaryFiles : public testing::Environment {
 public:
  void SetUp() override {
    if (folder_.empty() && std::getenv("TEST_TMPDIR")) return;
    folder_ = catenary::os::make_temporary_directory("catenary-test-");
    ::setenv("TMPDIR", folder_.c_str(), 1);
    ::setenv("TEST_TMPDIR", folder_.c_str(), 1);  // the name that GoogleTest reads
  }
  void TearDown() override {
    if (folder_.empty()) return;
    for (const std::string& name : catenary::os::list_directory(folder_))
      ADD_FAILURE() << "the tests left a file in the temporary folder: " << name;
    catenary::os::remove_directory(folder_);
  }

 private:
  std::string folder_;
};

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
// GCC 12's leak check misreads thread-local blocks of loaded libraries that begin 16 bytes into a page: it expects a
// header before them and follows a wrong address. Leaks can be found without looking at such blocks.
extern "C" const char* __asan_default_options() { return "intercept_tls_get_addr=0"; }
#endif

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 3 && (std::string_view(argv[1]) == "--device" || std::string_view(argv[1]) == "-d")) {
    try {
      const catenary::Device device = catenary::get_device(argv[2]);
      device.use();
      if (!device.is_cpu() && !device.info().has_f64)
        testing::UnitTest::GetInstance()->listeners().Append(new tests::Float64IsRefused);
    } catch (const catenary::Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 2;
    }
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: %s [--device NAME] [GoogleTest's options]\n", argv[0]);
    return 2;
  }
  try {
    run_a_share(tests::Share::of_environment());
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  testing::AddGlobalTestEnvironment(new TemporaryFiles);
  testing::UnitTest::GetInstance()->listeners().Append(new tests::NothingIsSaidLate);
  return RUN_ALL_TESTS();
}
