// Tests the kernel cache on disk when the disk or another process misbehaves. Results must stay right, the cache must
// keep only complete files, and the process must go on. Each case runs this program again with a cache folder of its
// own, on simulated devices and on OpenCL.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/core/sha256.h"
#include "tests/simgpu/faults.h"
#include "tests/texts.h"

/// These functions replace the C library's, for the library under test too. In the folder CATENARY_TEST_FULL_DISK,
/// writes fail as on a full disk. In the folder CATENARY_TEST_KILL, the first write kills the process.
extern "C" ssize_t write(int file, const void* bytes, size_t count) {
  const auto is_in = [&](const char* variable) {
    const char* folder = std::getenv(variable);
    if (!folder) return false;
    char path[4096];
    const ssize_t length = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
    return length > 0 && std::string(path, static_cast<std::size_t>(length)).starts_with(std::string(folder) + "/");
  };
  if (is_in("CATENARY_TEST_KILL")) ::raise(SIGKILL);
  if (is_in("CATENARY_TEST_FULL_DISK")) {
    errno = ENOSPC;
    return -1;
  }
  return ::syscall(SYS_write, file, bytes, count);
}

namespace catenary::faults {
namespace {

using tests::error_of;
using Strings = std::vector<std::string>;
constexpr uid_t kAnotherUser = 54321;

/// Makes a folder for the kernels of the programs that a test runs.
class KernelCache : public testing::Test {
 protected:
  void SetUp() override { folder_ = os::make_temporary_directory("catenary-kernels-"); }
  void TearDown() override { os::remove_directory(folder_); }

  os::ProcessResult compute(Environment environment = {}) const { return compute_in(folder_, std::move(environment)); }
  static os::ProcessResult compute_in(const std::string& folder, Environment environment = {}) {
    environment.insert(environment.end(), {{"CATENARY_CACHE_DIR", folder}, {"CATENARY_TRACE", "compile"}});
    return again("Computes.WithItsKernels", std::move(environment));
  }

  /// Returns the paths of all files in the folder, hidden files included.
  Strings files() const {
    Strings paths;
    for (const std::string& name : os::list_directory(folder_)) paths.push_back(folder_ + "/" + name);
    return paths;
  }

  void spoil_files(int all, const std::function<std::string(const std::string&)>& spoil) const {
    const Strings paths = files();
    EXPECT_EQ(paths.size(), static_cast<std::size_t>(all));
    for (const std::string& path : paths) {
      const std::vector<std::byte> content = os::read_file(path);
      os::write_file(path, spoil({reinterpret_cast<const char*>(content.data()), content.size()}));
    }
  }

  /// Fills the folder, damages every entry and runs the program twice more. The first run must detect the damage and
  /// write the entries again, and the second must find all of them.
  void expect_healed(const std::function<std::string(const std::string&)>& spoil) const {
    const os::ProcessResult first = compute();
    EXPECT_TRUE(first.ok()) << first.output << first.errors;
    const int all = count(first, "compile ");
    EXPECT_GT(all, 1);
    spoil_files(all, spoil);
    const os::ProcessResult second = compute();
    EXPECT_TRUE(second.ok()) << second.output << second.errors;
    EXPECT_EQ(count(second, "compile "), all) << second.errors;
    EXPECT_EQ(count(second, "load "), 0) << second.errors;
    expect_all_found(all);
  }

  void expect_all_found(int all) const {
    const os::ProcessResult last = compute();
    EXPECT_TRUE(last.ok()) << last.output << last.errors;
    EXPECT_EQ(count(last, "compile "), 0) << last.errors;
    EXPECT_EQ(count(last, "load "), all) << last.errors;
    EXPECT_EQ(files().size(), static_cast<std::size_t>(all));
  }

  /// Expects right results and a single message that kernels cannot be kept on disk.
  static void expect_goes_without(const os::ProcessResult& result, const std::string& why) {
    EXPECT_TRUE(result.ok()) << result.output << result.errors;
    EXPECT_GT(count(result, "compile "), 1) << result.errors;
    EXPECT_EQ(count(result, "catenary: compiled kernels cannot be kept on disk"), 1) << result.errors;
    expect_says(result, why);
  }

  /// Counts the lines of the program's output that begin with `beginning`.
  static int count(const os::ProcessResult& result, const std::string& beginning) {
    const std::string text = "\n" + result.errors;
    int n = 0;
    for (std::size_t at = 0; (at = text.find("\n" + beginning, at)) != std::string::npos; ++at) ++n;
    return n;
  }

  std::string folder_;
};

// The other tests run this one: it uses generated and handwritten kernels.
TEST(Computes, WithItsKernels) {
  const Array x = arange(1000, Dtype::int32);
  EXPECT_EQ(sum(x * x).item<std::int64_t>(), 332833500);
  EXPECT_EQ(sort(-x).to_vector<std::int32_t>().front(), -999);
  EXPECT_EQ((x + 1).to_vector<std::int32_t>().back(), 1000);
}

TEST_F(KernelCache, IsFoundAgain) {
  const os::ProcessResult first = compute();
  EXPECT_TRUE(first.ok()) << first.output << first.errors;
  expect_all_found(count(first, "compile "));
}

TEST_F(KernelCache, IsTurnedOff) {
  const os::ProcessResult first = compute();
  const int all = count(first, "compile ");
  for (int kept : {all, 0}) {  // existing files are not read, and none are added
    const os::ProcessResult without = compute({{"CATENARY_KERNEL_CACHE", "0"}});
    EXPECT_TRUE(without.ok()) << without.output << without.errors;
    EXPECT_EQ(count(without, "compile "), all) << without.errors;
    EXPECT_EQ(files().size(), static_cast<std::size_t>(kept));
    for (const std::string& path : files()) os::remove_file(path);
  }
}

TEST_F(KernelCache, FlippedBits) {
  expect_healed([](std::string content) {
    content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 4);
    return content;
  });
}

TEST_F(KernelCache, TruncatedToHalf) {
  expect_healed([](const std::string& content) { return content.substr(0, content.size() / 2); });
}

TEST_F(KernelCache, TruncatedInTheHeader) {
  expect_healed([](const std::string& content) { return content.substr(0, 30); });
}

TEST_F(KernelCache, TruncatedToNothing) {
  expect_healed([](const std::string&) { return std::string(); });
}

// The digest matches, but the driver rejects the binary. Entries are found by the driver's version, so this happens
// only if somebody replaced the file. Mesa's rusticl aborts a process that loads such a binary, so rusticl is left out.
TEST_F(KernelCache, BinaryOfAnotherDriver) {
  const auto spoil = [](const std::string& content) {
    const std::string other = "this is not a binary of any device at all";
    return content.substr(0, content.find('\n') + 1) + sha256(other) + "\n" + other;
  };
  if (current_device().info().platform != "rusticl") return expect_healed(spoil);
  const os::ProcessResult first = compute();
  EXPECT_TRUE(first.ok()) << first.output << first.errors;
  spoil_files(count(first, "compile "), spoil);
  expect_says(compute(), "panicked");
}

TEST_F(KernelCache, FolderThatCannotBeMade) {
  const std::string file = folder_ + "/file";
  os::write_file(file, std::string_view("in the way"));
  expect_goes_without(compute_in(file + "/cache"), file);
}

// No file can be made here, not even by root.
TEST_F(KernelCache, FolderThatTakesNoFile) { expect_goes_without(compute_in("/sys/kernel"), "/sys/kernel"); }

TEST_F(KernelCache, EntryThatCannotBeReadOrReplaced) {
  const os::ProcessResult first = compute();
  EXPECT_TRUE(first.ok()) << first.errors;
  for (const std::string& path : files()) {
    os::remove_file(path);
    os::make_directories(path);
  }
  expect_goes_without(compute(), "directory");
}

TEST_F(KernelCache, IsForThisUserAlone) {
  const os::ProcessResult first = compute_in(folder_ + "/new/cache");
  EXPECT_TRUE(first.ok()) << first.output << first.errors;
  for (const char* name : {"/new", "/new/cache"}) {
    struct stat info {};
    ASSERT_EQ(::stat((folder_ + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u) << name;
  }
}

// Cached kernels run as machine code on the CPU, so nobody else may have been able to write them.
TEST_F(KernelCache, FolderOfAnotherUserOrForAll) {
  const int all = count(compute(), "compile ");
  ::chmod(folder_.c_str(), 0770);
  expect_goes_without(compute(), "its group may write it");
  ::chmod(folder_.c_str(), 01777);
  expect_goes_without(compute(), "everybody may write it");
  ::chmod(folder_.c_str(), 0700);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder_.c_str(), kAnotherUser, kAnotherUser), 0);
    expect_goes_without(compute(), "belongs to the user 54321");
    ASSERT_EQ(::chown(folder_.c_str(), 0, 0), 0);
  }
  expect_all_found(all);
}

TEST_F(KernelCache, FilesOfAnotherUserOrForAll) {
  const int all = count(compute(), "compile ");
  const auto expect_replaced = [&](const std::string& why) {
    const os::ProcessResult result = compute();
    EXPECT_TRUE(result.ok()) << result.output << result.errors;
    EXPECT_EQ(count(result, "compile "), all) << result.errors;
    EXPECT_EQ(count(result, "catenary: a cached file is not used and is made again: "), 1);
    expect_says(result, why);
    expect_all_found(all);
  };
  for (const std::string& path : files()) ::chmod(path.c_str(), 0666);
  expect_replaced("everybody may write it");
  if (::geteuid() == 0) {
    for (const std::string& path : files()) ASSERT_EQ(::chown(path.c_str(), kAnotherUser, kAnotherUser), 0);
    expect_replaced("belongs to the user 54321");
  }
}

TEST_F(KernelCache, BehindASymbolicLink) {
  const std::string there = folder_ + "/there", link = folder_ + "/link";
  ASSERT_EQ(::mkdir(there.c_str(), 0700), 0);
  ASSERT_EQ(::symlink("there", link.c_str()), 0);
  const int all = count(compute_in(link), "compile ");
  EXPECT_EQ(count(compute_in(link), "load "), all);
  ::chmod(there.c_str(), 0770);
  expect_goes_without(compute_in(link), "its group may write it");
}

// CATENARY_TEST_KILL kills the process in its first write. The next run must clean up.
TEST_F(KernelCache, ProcessThatIsKilledWhileItWrites) {
  EXPECT_EQ(compute({{"CATENARY_TEST_KILL", folder_}}).signal, SIGKILL);
  EXPECT_EQ(files().size(), 1u);
  const os::ProcessResult after = compute();
  EXPECT_TRUE(after.ok()) << after.output << after.errors;
  expect_all_found(count(after, "compile "));
}

// A killed process left a sparse file that is larger than the folder may be.
TEST_F(KernelCache, UnfinishedFilesCountTowardsTheLimit) {
  const std::string left = folder_ + "/.ab.kernel.1-0-f.tmp";
  os::write_file(left, std::string_view("begun"));
  ASSERT_EQ(::truncate(left.c_str(), off_t{600} << 20), 0);
  const os::ProcessResult result = compute();
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
  expect_all_found(count(result, "compile "));
}

TEST_F(KernelCache, FullDisk) {
  expect_goes_without(compute({{"CATENARY_TEST_FULL_DISK", folder_}}), "No space left on device");
  EXPECT_EQ(files(), Strings());  // no partly written file
  const os::ProcessResult after = compute();
  EXPECT_TRUE(after.ok()) << after.output << after.errors;
  expect_all_found(count(after, "compile "));
}

TEST_F(KernelCache, TwoProcessesAtOnce) {
  auto other = std::async(std::launch::async, [this, device = current_device()] {
    device.use();
    return compute();
  });
  const os::ProcessResult mine = compute(), theirs = other.get();
  EXPECT_TRUE(mine.ok()) << mine.output << mine.errors;
  EXPECT_TRUE(theirs.ok()) << theirs.output << theirs.errors;
  const int all = count(mine, "compile ") + count(mine, "load ");
  EXPECT_EQ(count(theirs, "compile ") + count(theirs, "load "), all);
  expect_all_found(all);
}

// The result fits into memory, but the temporary memory of the operation does not.
TEST(Memory, IsMissingInTheMiddleOfAnOperation) {
  constexpr std::int64_t kCount = 300000;
  MemoryPool& pool = current_device().backend().pool(current_device().index());
  const Array x = arange(kCount, 0, -1, Dtype::int32);
  EXPECT_EQ(x.to_vector<std::int32_t>().front(), kCount);
  pool.free_all_blocks();
  pool.set_limit(pool.used_bytes() + std::size_t{4} * kCount + 1024);
  const std::string message = error_of<DeviceError>([&] { sort(x).to_vector<std::int32_t>(); });
  EXPECT_NE(message.find("out of memory"), std::string::npos) << message;
  pool.set_limit(0);
  EXPECT_EQ(x.to_vector<std::int32_t>().front(), kCount);
  const auto sorted = sort(x).to_vector<std::int32_t>();
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  EXPECT_EQ(sorted.back(), kCount);
}

// The pool must serve requests from its free blocks and report when nothing is left.
TEST(Memory, IsFoundInThePool) {
  MemoryPool& pool = current_device().backend().pool(current_device().index());
  pool.free_all_blocks();
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  pool.set_limit(pool.used_bytes() + 12 * kMiB);
  { empty({7, kMiB}, Dtype::uint8); }
  EXPECT_GE(pool.free_bytes(), std::size_t{7} * kMiB);
  Array larger = empty({10, kMiB}, Dtype::uint8);
  EXPECT_EQ(pool.free_bytes(), 0u);
  const std::string message = error_of<DeviceError>([] { empty({3, kMiB}, Dtype::uint8); });
  EXPECT_NE(message.find("out of memory"), std::string::npos) << message;
  EXPECT_NE(message.find("in use"), std::string::npos) << message;
  larger = Array();
  EXPECT_EQ(sum(ones({3, kMiB}, Dtype::uint8)).item<std::int64_t>(), 3 * kMiB);
  pool.set_limit(0);
  pool.free_all_blocks();
}

}  // namespace
}  // namespace catenary::faults
