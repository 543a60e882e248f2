// The CPU's C++ compiler: its choice, its cache, and its time limit.

#include "catenary/backends/cpu/host_compiler.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/user_kernel.h"
#include "catenary/core/error.h"
#include "catenary/core/os/process.h"
#include "catenary/device/kernel_cache.h"
#include "tests/folder.h"
#include "tests/texts.h"

namespace catenary::cpu {
namespace {

/// Sets or unsets an environment variable for a while.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) { value ? ::setenv(name_, value->c_str(), 1) : ::unsetenv(name_); }

  const char* name_;
  std::optional<std::string> before_;
};

void write_program(const std::string& path, const std::string& text) {
  std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
  ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
}

/// Returns the number that the kernel `name` writes.
int ran(const os::Library& library, const std::string& name) {
  int x = 0;
  int* const place = &x;
  const KernelArgument argument{static_cast<const void*>(&place), sizeof place};
  HostKernel(library, "entry", name).launch({1, 1}, {&argument, 1});
  return x;
}

std::string text_of(const std::string& name, int value) {
  return "extern \"C\" void " + name + "(int* x) { *x = " + std::to_string(value) + "; }\nCT_ENTRY(entry, " + name +
         ")\n";
}

TEST(HostCompiler, OneThatFailsIsPassedOver) {
  const tests::Folder folder;
  write_program(folder.path + "/c++", "exit 1");
  const Variable none("CXX", std::nullopt), path("PATH", folder.path + ":" + std::getenv("PATH"));
  EXPECT_EQ(ran(compile_on_host(text_of("passed_over", 11), "passed_over"), "passed_over"), 11);
}

TEST(HostCompiler, OneThatComesLaterIsFound) {
  const tests::Folder folder;
  const std::string later = folder.path + "/later";
  const Variable wanted("CXX", later);
  EXPECT_NE(no_host_compiler().find("none was found (CXX=" + later), std::string::npos);
  write_program(later, "exec c++ \"$@\"");
  EXPECT_EQ(no_host_compiler(), "");
  EXPECT_EQ(ran(compile_on_host(text_of("later", 12), "later"), "later"), 12);
}

TEST(HostCompiler, UnloadableCachedLibrariesAreRebuilt) {
  const tests::Folder folder;
  const Variable cache("CATENARY_CACHE_DIR", folder.path), keeps("CATENARY_KERNEL_CACHE", "1");
  const std::string text = text_of("kept", 13);
  EXPECT_EQ(ran(compile_on_host(text, "kept"), "kept"), 13);
  const std::vector<KernelCacheEntry> entries = kernel_cache_entries();
  ASSERT_EQ(entries.size(), 1u);
  const std::string key = entries[0].name.substr(0, entries[0].name.find('.'));
  save_kernel(key, std::vector<std::byte>(100));
  EXPECT_EQ(ran(compile_on_host(text, "kept"), "kept"), 13);
  EXPECT_GT(load_kernel(key).value().size(), 100u);
}

// The C library has a function and a variable with these names.
TEST(HostCompiler, AKernelsNamesAreItsOwn) {
  EXPECT_EQ(ran(compile_on_host("int opterr = 14;\nextern \"C\" void gnu_get_libc_version(int* x) { *x = opterr; }\n"
                                "CT_ENTRY(entry, gnu_get_libc_version)\n",
                                "own"),
                "own"),
            14);
}

TEST(HostCompiler, EntriesThatAreNotThere) {
  const os::Library library = compile_on_host(text_of("there", 15), "there");
  EXPECT_EQ(tests::error_of([&] { HostKernel(library, "missing", "there"); }),
            "kernel there: the compiled library has no missing");
}

// GCC 10 does not know -march=x86-64-v3.
TEST(HostCompiler, OneThatIsOld) {
  const DeviceScope scope{Device()};
  const tests::Folder folder;
  const std::string old = folder.path + "/old";
  write_program(old, "case \"$*\" in *march=x86-64-v*) echo bad value for -march= >&2; exit 1;; esac\nexec c++ \"$@\"");
  const Variable compiler("CXX", old), cache("CATENARY_CACHE_DIR", folder.path + "/cache");
  const ElementwiseKernel kernel("T x", "T y", "y = x + 18", "by_an_old_one");
  EXPECT_EQ(kernel(arange(2)).to_vector<std::int64_t>(), (std::vector<std::int64_t>{18, 19}));
}

TEST(HostCompiler, OneThatHangsIsEnded) {
  const tests::Folder folder;
  const std::string hangs = folder.path + "/hangs";
  write_program(hangs, "case \"$*\" in *--version) echo hangs; exit 0;; esac\nsleep 100");
  const Variable compiler("CXX", hangs), limit("CATENARY_COMPILE_TIMEOUT", "0.005"),
      cache("CATENARY_CACHE_DIR", folder.path + "/cache");
  EXPECT_EQ(tests::error_of<DeviceError>([] { compile_on_host(text_of("endless", 1), "endless"); }),
            "kernel endless: " + hangs +
                " has not compiled it within 0.005 minutes and was ended; CATENARY_COMPILE_TIMEOUT sets another limit, "
                "in minutes");
}

TEST(HostCompiler, FilesOfKilledProcessesAreRemoved) {
  const tests::Folder folder;
  folder.write("catenary-kernel-left/kernel.so", "half of it");
  const os::ProcessResult result =
      os::run_process({os::program_path(), "--gtest_filter=HostCompiler.OneThatFailsIsPassedOver"},
                      {.timeout = 300, .environment = {{"TMPDIR", folder.path}, {"GTEST_OUTPUT", ""}}});
  EXPECT_TRUE(result.ok()) << result.output;
  EXPECT_EQ(os::list_directory(folder.path), std::vector<std::string>());
}

/// Runs a kernel with one number, groups of two work-items, and so many groups.
void run_alone(const std::string& text, const std::string& name, int groups) {
  int x = 0;
  int* const place = &x;
  const KernelArgument argument{static_cast<const void*>(&place), sizeof place};
  HostKernel(compile_on_host(text, name), "entry", name).launch({groups, 2}, {&argument, 1});
}

/// Returns whether a process ended by this signal. A sanitizer handles the signal itself and exits with a special
/// status.
bool ended_by(int signal, int status) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) return true;
#endif
  return WIFSIGNALED(status) && WTERMSIG(status) == signal;
}
bool by_segv(int status) { return ended_by(SIGSEGV, status); }
bool by_fpe(int status) { return ended_by(SIGFPE, status); }

// On every thread, and on the stacks of work-items with barriers.
TEST(HostCompilerDeathTest, AFaultNamesTheKernel) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const std::string entry = "CT_ENTRY(entry, wild)\n";
  const std::string writes = "extern \"C\" void wild(int* x) { x[-(1ll << 40) + (long long)x % 2] = 1; }\n" + entry;
  for (const int groups : {1, 64})
    EXPECT_EXIT(
        run_alone(writes, "wild", groups), by_segv,
        "catenary: kernel wild on the processor: SIGSEGV( at address 0x[0-9a-f]*)?: it reads or writes where no "
        "array is");
  const std::string divides = "extern \"C\" void wild(int* x) { volatile int y = *x; *x = 7 / y; }\n" + entry;
#if defined(__x86_64__)
  EXPECT_EXIT(run_alone(divides, "wild", 1), by_fpe,
              "catenary: kernel wild on the processor: SIGFPE: it divides an integer by 0");
#endif
}

TEST(HostCompilerDeathTest, AFaultIsHandedOnToTheHandlerBefore) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const std::string writes =
      "extern \"C\" void wild(int* x) { x[-(1ll << 40) + (long long)x % 2] = 1; }\n"
      "CT_ENTRY(entry, wild)\n";
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, [](int) { ::_exit(43); });
        run_alone(writes, "wild", 1);
      },
      testing::ExitedWithCode(43), "catenary: kernel wild on the processor: SIGSEGV");
}

// Another kernel runs while a compiler works: the first compiler waits until then.
TEST(HostCompiler, NoKernelWaitsForAnothersCompiler) {
  const DeviceScope scope{Device()};
  const tests::Folder folder;
  const std::string slow = folder.path + "/slow", begun = folder.path + "/begun", go = folder.path + "/go";
  write_program(slow, "case \"$*\" in *--version) echo slow; exit 0;; esac\ntouch " + begun +
                          "\nfor i in $(seq 100); do [ -e " + go + " ] && exec c++ \"$@\"; sleep 0.1; done\nexit 1");
  const Variable cache("CATENARY_CACHE_DIR", folder.path + "/cache");
  const ElementwiseKernel fast("T x", "T y", "y = x + 16", "fast"), waits("T x", "T y", "y = x + 17", "waits");
  EXPECT_EQ(fast(arange(2)).to_vector<std::int64_t>(), (std::vector<std::int64_t>{16, 17}));
  const Variable compiler("CXX", slow);
  std::vector<std::int64_t> late;
  std::thread thread([&] {
    const DeviceScope own{Device()};
    late = waits(arange(2)).to_vector<std::int64_t>();
  });
  while (!std::ifstream(begun)) std::this_thread::yield();
  EXPECT_EQ(fast(arange(2)).to_vector<std::int64_t>(), (std::vector<std::int64_t>{16, 17}));
  std::ofstream(go) << "now";
  thread.join();
  EXPECT_EQ(late, (std::vector<std::int64_t>{17, 18}));
}

}  // namespace
}  // namespace catenary::cpu
