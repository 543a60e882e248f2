#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <thread>

#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/os/fibers.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/library.h"
#include "catenary/core/os/memory.h"
#include "catenary/core/os/obituary.h"
#include "catenary/core/os/private_folder.h"
#include "catenary/core/os/process.h"
#include "catenary/core/os/registry.h"
#include "catenary/core/os/signals.h"
#include "catenary/core/os/system.h"
#include "catenary/core/os/temporary_folder.h"
#include "catenary/core/os/terminal.h"
#include "catenary/core/os/trial.h"
#include "tests/texts.h"

namespace catenary::os {
namespace {

class Files : public ::testing::Test {
 protected:
  std::string folder_ = make_temporary_directory("catenary-os-");
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  ~Files() override { remove_directory(folder_); }
};

std::string text_of(const std::string& path) {
  const auto bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_F(Files, ReadAndView) {
  write_file(at("a"), "hello");
  EXPECT_EQ(text_of(at("a")), "hello");
  FileView view(at("a"));
  EXPECT_EQ(view.bytes().size(), 5u);
  const FileView moved = std::move(view);
  EXPECT_EQ(std::memcmp(moved.bytes().data(), "hello", 5), 0);
  write_file(at("empty"), "");
  EXPECT_TRUE(FileView(at("empty")).bytes().empty());
  EXPECT_TRUE(read_file(at("empty")).empty());
  EXPECT_GT(read_file("/proc/self/status").size(), 100u);  // reports a size of 0
  EXPECT_GT(FileView("/proc/self/status").bytes().size(), 100u);
  EXPECT_THROW(read_file(at("none")), FileError);
  EXPECT_THROW(FileView(at("none")), FileError);
  EXPECT_THROW(read_file(folder_), FileError);
}

TEST_F(Files, AtomicFile) {
  write_file(at("a"), "old");
  {
    AtomicFile file(at("a"));
    file.write("new");
    EXPECT_EQ(file.offset(), 3u);
    EXPECT_TRUE(exists(file.temporary_path()));
    EXPECT_EQ(text_of(at("a")), "old");
  }
  EXPECT_EQ(list_directory(folder_), std::vector<std::string>{"a"});
  AtomicFile file(at("a"));
  file.write("new");
  file.commit();
  EXPECT_EQ(text_of(at("a")), "new");
  EXPECT_EQ(list_directory(folder_), std::vector<std::string>{"a"});
  EXPECT_THROW(file.write("more"), FileError);
  EXPECT_THROW(file.commit(), FileError);
  EXPECT_THROW(AtomicFile(at("none/a")), FileError);
  EXPECT_THROW(AtomicFile{folder_}, FileError);
  EXPECT_THROW(AtomicFile(""), FileError);
  const mode_t mask = ::umask(0077);
  write_file(at("private"), "x");
  ::umask(0022);
  write_file(at("public"), "x");
  ::umask(mask);
  struct stat info {};
  ::stat(at("private").c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ::stat(at("public").c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
}

TEST_F(Files, AtomicFileFollowsLinks) {
  make_directories(at("there"));
  ASSERT_EQ(::symlink("there/target", at("link").c_str()), 0);
  write_file(at("link"), "x");
  EXPECT_EQ(text_of(at("there/target")), "x");
  ASSERT_EQ(::symlink("loop", at("loop").c_str()), 0);
  EXPECT_THROW(write_file(at("loop"), "x"), FileError);
}

// A killed writer cannot remove its temporary file. The next writer of that file removes it, but keeps temporary files
// of other files and of living writers.
TEST_F(Files, NextWriterClearsUpAfterOneThatWasKilled) {
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(run_trial(
                  [&] {
                    AtomicFile file(at(name));
                    file.write("half");
                    ::raise(SIGKILL);
                  },
                  60)
                  .crash,
              "SIGKILL");
  }
  EXPECT_EQ(list_directory(folder_).size(), 2u);
  write_file(at(".a.1-2-3.tmp.not"), "a user's own");
  AtomicFile alive(at("a"));
  EXPECT_EQ(list_directory(folder_).size(), 3u);  // the temporary file of b, the user's file, and the new one
  write_file(at("a"), "whole");
  EXPECT_TRUE(exists(alive.temporary_path()));
  alive.write("later");
  alive.commit();
  write_file(at("b"), "whole");
  EXPECT_EQ(list_directory(folder_), (std::vector<std::string>{".a.1-2-3.tmp.not", "a", "b"}));
  EXPECT_EQ(text_of(at("a")), "later");
}

// A FIFO would block, and /dev/zero has no end.
TEST_F(Files, OnlyRegularFilesAreRead) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("/dev/zero", at("zero").c_str()), 0);
  ASSERT_EQ(::symlink("pipe", at("link").c_str()), 0);
  for (const auto& [name, kind] :
       {std::pair{"pipe", "a pipe (FIFO)"}, {"link", "a pipe (FIFO)"}, {"zero", "a character device"}}) {
    const std::string file = at(name);
    const std::string expected =
        file + ": it is " + kind + "; only regular files can be read: copy its output into one";
    EXPECT_EQ(tests::error_of<FileError>([&] { read_file(file); }), expected);
    EXPECT_EQ(tests::error_of<FileError>([&] { FileView view(file); }), expected);
  }
}

TEST_F(Files, AFileThatDoesNotFitIntoTheMemory) {
  write_file(at("sparse"), "");
  ASSERT_EQ(::truncate(at("sparse").c_str(), off_t{1} << 43), 0);
  EXPECT_EQ(tests::error_of<FileError>([&] { read_file(at("sparse")); }),
            at("sparse") + ": its 8796093022208 bytes do not fit into memory");
}

/// Runs f in another process, which then waits to be killed. Returns that process once f has returned.
pid_t in_another_process(const std::function<void()>& f) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t process = ::fork();
  if (process == 0) {
    f();
    if (::write(ends[1], "x", 1) == 1) ::pause();
    ::_exit(0);
  }
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  ::close(ends[0]);
  ::close(ends[1]);
  return process;
}

void kill_and_wait(pid_t process) {
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
}

TEST(TemporaryFolders, OfKilledProcessesAreRemovedByOthers) {
  const std::string prefix = "catenary-abandoned-" + std::to_string(process_id()) + "-";
  const auto count = [&] {
    int n = 0;
    for (const std::string& name : list_directory(std::filesystem::temp_directory_path().string()))
      n += name.starts_with(prefix);
    return n;
  };
  const TemporaryFolder own(prefix);
  const auto leave = [&] { write_file((new TemporaryFolder(prefix))->path() + "/left", "left"); };
  for (int i = 0; i < 3; ++i) kill_and_wait(in_another_process(leave));
  const pid_t living = in_another_process(leave);
  EXPECT_EQ(count(), 5);
  TemporaryFolder::remove_abandoned(prefix);
  EXPECT_EQ(count(), 2);
  EXPECT_TRUE(is_directory(own.path()));
  kill_and_wait(living);
  TemporaryFolder::remove_abandoned(prefix);
  EXPECT_EQ(count(), 1);
}

TEST(TemporaryFolders, SeveralProcessesMakeAndRemoveThemAtOnce) {
  const std::string prefix = "catenary-at-once-" + std::to_string(process_id()) + "-";
  const auto work = [&] {
    for (int i = 0; i < 100; ++i) {
      const TemporaryFolder folder(prefix);
      TemporaryFolder::remove_abandoned(prefix);
      write_file(folder.path() + "/a", "a");
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { EXPECT_NO_THROW(work()); });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Files, AFolderThatTwoRemove) {
  for (int round = 0; round < 3; ++round) {
    const std::string folder = at("both");
    for (int i = 0; i < 200; ++i) make_directories(folder + "/" + std::to_string(i) + "/below");
    std::thread other([&] { EXPECT_NO_THROW(remove_directory(folder)); });
    EXPECT_NO_THROW(remove_directory(folder));
    other.join();
    EXPECT_FALSE(exists(folder));
  }
}

TEST(Trial, HowTheChildEnds) {
  EXPECT_EQ(run_trial([] {}, 60).crash, "");
  EXPECT_EQ(run_trial([] { throw ValueError("an ordinary error"); }, 60).crash, "");
  EXPECT_EQ(run_trial([] { std::abort(); }, 60).crash, "SIGABRT");
  const TrialResult result = run_trial([] { ::pause(); }, 0.05);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.crash, "");
}

TEST(Trial, NoneAfterTheEnd) {
  // in a child process, because ending affects the whole process
  static int tried;
  const TrialResult result = run_trial(
      [] {
        tried = 0;
        add_trials([] { tried += run_trial([] { std::abort(); }, 60).crash == "SIGABRT"; });
        end_trials("something has begun");
        end_trials("something else has");
        try {
          run_trial([] {}, 60);
        } catch (const Error& error) {
          if (tried == 1 && std::string(error.what()) ==
                                "run_trial: no copy of this process may be made any more: something has begun")
            return;
        }
        std::abort();
      },
      60);
  EXPECT_EQ(result.crash, "");
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(run_trial([] {}, 60).crash, "");  // does not end the process
}

class PrivateFolders : public Files {
 protected:
  /// Returns the reason why the folder is rejected.
  static std::string trouble(const std::string& path) {
    return tests::error_of<FileError>([&] { PrivateFolder::find(path); });
  }
  static mode_t mode_of(const std::string& path) {
    struct stat info {};
    ::stat(path.c_str(), &info);
    return info.st_mode & 07777;
  }
  /// Makes another user the owner, which only root can do. For other users, root's files are as trusted as their own.
  static bool give_away(const std::string& path) {
    return ::geteuid() == 0 && ::lchown(path.c_str(), kAnotherUser, kAnotherUser) == 0;
  }
  static constexpr uid_t kAnotherUser = 54321;
  static constexpr const char* kText = "text";
  static std::span<const std::byte> bytes() { return std::as_bytes(std::span<const char>(kText, 4)); }
};

TEST_F(PrivateFolders, IsMadeForThisUserAlone) {
  const std::string path = at("deep/er/cache");
  EXPECT_FALSE(PrivateFolder::find(path));
  const mode_t mask = ::umask(0);
  const PrivateFolder folder = PrivateFolder::make(path);
  folder.write("a", bytes());
  ::umask(mask);
  EXPECT_EQ(mode_of(path), 0700u);
  EXPECT_EQ(mode_of(at("deep")), 0700u);
  EXPECT_EQ(mode_of(path + "/a"), 0600u);
  EXPECT_EQ(folder.read("a")->size(), 4u);
  EXPECT_FALSE(folder.read("b"));
  ASSERT_EQ(folder.list().size(), 1u);
  EXPECT_EQ(folder.list()[0].name, "a");
  EXPECT_EQ(folder.list()[0].bytes, 4u);
  EXPECT_FALSE(folder.list()[0].unfinished);
  EXPECT_TRUE(folder.remove("a"));
  EXPECT_FALSE(folder.remove("a"));
  write_file(at("file"), "in the way");
  EXPECT_TRUE(
      tests::has(tests::error_of<FileError>([&] { PrivateFolder::make(at("file/cache")); }), "Not a directory"));
}

TEST_F(PrivateFolders, ThatOthersMayWrite) {
  PrivateFolder::make(at("cache"));
  ::chmod(at("cache").c_str(), 0770);
  EXPECT_TRUE(tests::has(trouble(at("cache")), "its group may write it (mode 0770)")) << trouble(at("cache"));
  ::chmod(at("cache").c_str(), 0707);
  EXPECT_TRUE(tests::has(trouble(at("cache")), "everybody may write it")) << trouble(at("cache"));
  ::chmod(at("cache").c_str(), 01777);
  EXPECT_TRUE(tests::has(trouble(at("cache")), "everybody may write it")) << trouble(at("cache"));
  ::chmod(at("cache").c_str(), 0755);
  EXPECT_EQ(trouble(at("cache")), "");
}

TEST_F(PrivateFolders, OfAnotherUser) {
  PrivateFolder::make(at("cache"));
  EXPECT_TRUE(PrivateFolder::find("/usr"));  // owned by root
  if (give_away(at("cache"))) {
    EXPECT_TRUE(tests::has(trouble(at("cache")), "belongs to the user 54321")) << trouble(at("cache"));
  }
}

TEST_F(PrivateFolders, BehindSymbolicLinks) {
  PrivateFolder::make(at("cache")).write("a", bytes());
  ASSERT_EQ(::symlink("cache", at("link").c_str()), 0);
  ASSERT_TRUE(PrivateFolder::find(at("link")));
  EXPECT_TRUE(PrivateFolder::find(at("link"))->read("a"));
  // the target must pass the same checks
  ::chmod(at("cache").c_str(), 0770);
  EXPECT_TRUE(tests::has(trouble(at("link")), "its group may write it"));
  ::chmod(at("cache").c_str(), 0700);
  // and so must the link itself
  if (give_away(at("link"))) {
    EXPECT_TRUE(tests::has(trouble(at("link")), "belongs to the user 54321")) << trouble(at("link"));
  }
}

TEST_F(PrivateFolders, FilesThatAreNotUsed) {
  const PrivateFolder folder = PrivateFolder::make(at("cache"));
  const auto why = [&](const std::string& name) { return tests::error_of<FileError>([&] { folder.read(name); }); };
  folder.write("a", bytes());
  ::chmod(at("cache/a").c_str(), 0620);
  EXPECT_TRUE(tests::has(why("a"), "its group may write it")) << why("a");
  ASSERT_EQ(::symlink(at("elsewhere").c_str(), at("cache/link").c_str()), 0);
  write_file(at("elsewhere"), "kept");
  EXPECT_TRUE(tests::has(why("link"), "it is a symbolic link")) << why("link");
  folder.write("link", bytes());  // removes the link and not its target
  EXPECT_EQ(text_of(at("elsewhere")), "kept");
  EXPECT_EQ(why("link"), "");
  make_directories(at("cache/folder"));
  EXPECT_TRUE(tests::has(why("folder"), "it is a directory")) << why("folder");
  ASSERT_EQ(::mkfifo(at("cache/pipe").c_str(), 0600), 0);
  EXPECT_TRUE(tests::has(why("pipe"), "no regular file")) << why("pipe");
  folder.write("b", bytes());
  if (give_away(at("cache/b"))) {
    EXPECT_TRUE(tests::has(why("b"), "belongs to the user 54321")) << why("b");
    folder.write("b", bytes());
    EXPECT_EQ(why("b"), "");
  }
}

// Checks apply to the opened folder, so replacing the folder meanwhile does not affect reads and writes.
TEST_F(PrivateFolders, ThatIsExchangedMeanwhile) {
  const PrivateFolder folder = PrivateFolder::make(at("cache"));
  folder.write("a", bytes());
  std::filesystem::rename(at("cache"), at("moved"));
  make_directories(at("cache"));
  write_file(at("cache/a"), "somebody else's");
  EXPECT_EQ(folder.read("a")->size(), 4u);
  folder.write("b", bytes());
  EXPECT_TRUE(exists(at("moved/b")));
  EXPECT_FALSE(exists(at("cache/b")));
}

TEST_F(Files, Folders) {
  make_directories(at("a/b/c"));
  make_directories(at("a/b/c"));
  EXPECT_TRUE(is_directory(at("a/b/c")));
  write_file(at("a/f"), "");
  EXPECT_THROW(make_directories(at("a/f")), FileError);
  EXPECT_THROW(make_directories(at("a/f/g")), FileError);
  EXPECT_EQ(list_directory(at("a")), (std::vector<std::string>{"b", "f"}));
  EXPECT_THROW(list_directory(at("none")), FileError);
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_NEAR(modification_time(at("a/f")), now, 60);
  EXPECT_THROW(modification_time(at("none")), FileError);
  remove_file(at("a/f"));
  remove_file(at("a/f"));
  EXPECT_FALSE(exists(at("a/f")));
  EXPECT_THROW(remove_file(at("a")), FileError);
}

TEST(Memory, AlignedAndLarge) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, kHugePage, 3 * kHugePage + 5}) {
    for (const std::size_t alignment : {std::size_t{1}, std::size_t{64}, std::size_t{4096}}) {
      void* memory = allocate(size, alignment);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % std::max(alignment, size >= kHugePage ? kHugePage : 1), 0u);
      std::memset(memory, 1, size);
      deallocate(memory, size);
    }
  }
  deallocate(nullptr, 1);
  deallocate(nullptr, kHugePage);
  EXPECT_THROW(allocate(64, 3), ValueError);
  EXPECT_THROW(allocate(64, 2 * kHugePage), ValueError);
  EXPECT_THROW(allocate(SIZE_MAX), DeviceError);
  EXPECT_GE(peak_resident_bytes(), 3 * kHugePage);
  EXPECT_GT(resident_bytes(), 0u);
}

// Not under sanitizers, which keep freed memory for a while.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Memory, LargeBlocksGoBackToTheSystem) {
  const std::uint64_t before = resident_bytes();
  std::vector<void*> small;
  for (int i = 0; i < 50; ++i) {
    const std::size_t size = 2 * kHugePage + 1000;
    void* memory = allocate(size);
    std::memset(memory, 1, size);
    small.push_back(allocate(100000));
    std::memset(small.back(), 1, 100000);
    deallocate(memory, size);
  }
  EXPECT_LT(resident_bytes(), before + 6 * kHugePage);
  for (void* memory : small) deallocate(memory, 100000);
}
#endif

TEST(Libraries, HaveNamesOfThisSystem) {
  EXPECT_EQ(library_file("cublas", "12"), "libcublas.so.12");
  EXPECT_EQ(library_file("nvrtc", "11.2"), "libnvrtc.so.11.2");
  EXPECT_EQ(plugin_file("onednn"), "libcatenary_onednn.so");
}

TEST(Libraries, LoadAndLook) {
  const Library math("libm.so.6");
  ASSERT_NE(math.function<double(double)>("cos"), nullptr);
  EXPECT_EQ(math.function<double(double)>("cos")(0.0), 1.0);
  EXPECT_EQ(math.symbol("no_such_symbol"), nullptr);
  EXPECT_THROW(math.required<void()>("no_such_symbol"), FileError);
  EXPECT_NE(math.path().find("/libm.so.6"), std::string::npos);
  std::string why;
  EXPECT_FALSE(Library::find("libnone-catenary.so.1", &why));
  EXPECT_NE(why.find("libnone-catenary"), std::string::npos);
  EXPECT_FALSE(Library::find("libnone-catenary.so.1", &why, Library::Mode::already_loaded));
  EXPECT_TRUE(Library::find("libm.so.6", nullptr, Library::Mode::already_loaded));
  EXPECT_THROW(Library("libnone-catenary.so.1"), FileError);
}

TEST(Libraries, FromMemory) {
  const std::vector<std::byte> bytes = read_file(Library("libm.so.6").path());
  const Library one = Library::from_memory("mine", bytes), other = Library::from_memory("mine", bytes);
  EXPECT_DOUBLE_EQ(one.required<double(double)>("cbrt")(27), 3);
  EXPECT_NE(one.symbol("cbrt"), other.symbol("cbrt"));  // each copy has separate symbols
  EXPECT_NE(one.variable("signgam").first, other.variable("signgam").first);
  EXPECT_EQ(one.variable("signgam").second, sizeof(int));
  EXPECT_THROW(one.variable("cbrt"), FileError);
  EXPECT_THROW(one.variable("no_such_variable"), FileError);
  EXPECT_THROW(Library::from_memory("broken", std::span(bytes).first(100)), FileError);
}

TEST(Signals, SetAFlagAndAreRestored) {
  struct sigaction before {
  }, after{};
  ::sigaction(SIGTERM, nullptr, &before);
  {
    const ScopedSignals signals;
    EXPECT_EQ(signals.received(), 0);
    { const ScopedSignals second; }  // the first one still owns the flag
    ::raise(SIGTERM);
    EXPECT_EQ(signals.received(), SIGTERM);
  }
  ::sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  EXPECT_EQ(ScopedSignals().received(), 0);
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(35), "signal 35");
}

TEST(Signals, OfALostTerminalAndOfTheProcessorsLimitSetTheFlagToo) {
  for (const int number : {SIGHUP, SIGXCPU}) {
    const ScopedSignals signals;
    ::raise(number);
    EXPECT_EQ(signals.received(), number);
  }
  const ScopedSignals signals;
  ::raise(SIGXCPU);
  ::raise(SIGXCPU);  // the system repeats it every second
  EXPECT_EQ(signals.received(), SIGXCPU);
  EXPECT_EQ(signal_name(SIGXCPU), "SIGXCPU");
}

TEST_F(Files, AboveTheLimitOfFileSizesAreErrorsWhileSignalsAreHeld) {
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit low = before;
  low.rlim_cur = 4096;
  const ScopedSignals signals;
  ::setrlimit(RLIMIT_FSIZE, &low);
  const std::string text = tests::error_of<FileError>([&] { write_file(at("large"), std::string(10000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(tests::has(text, "File too large") && tests::has(text, at("large"))) << text;
  EXPECT_EQ(signals.received(), 0);
}

TEST(SignalsDeathTest, TheSecondOneEndsTheProgram) {
  EXPECT_EXIT(
      {
        const ScopedSignals signals;
        ::raise(SIGINT);
        ::raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

/// Runs `end` in a process with an obituary, and returns its standard error after all writers have exited.
std::string written(const std::function<void(Obituary&)>& end) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t process = ::fork();
  if (process == 0) {
    ::setpgid(0, 0);
    ::dup2(ends[1], 2);
    ::close(ends[1]);
    Obituary obituary;
    obituary.note("first");
    obituary.note("second");
    end(obituary);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[1024];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  ::waitpid(process, nullptr, 0);
  return text;
}

TEST(Obituaries, AreWrittenWhereAProcessDiesWithoutAWord) {
  EXPECT_EQ(written([](Obituary&) { ::raise(SIGKILL); }), "second\n");
  EXPECT_EQ(written([](Obituary&) {}), "second\n");
  EXPECT_EQ(written([](Obituary& obituary) { obituary.note(std::string(2000, 'x')); }), std::string(510, 'x') + "\n");
  EXPECT_EQ(written([](Obituary& obituary) {
              obituary.withdraw();
              ::raise(SIGKILL);
            }),
            "");
  // if the whole group is killed, its killer knows the reason
  EXPECT_EQ(written([](Obituary&) { ::kill(0, SIGTERM); }), "");
  // a process must not wait for a child that it has not created
  EXPECT_EQ(written([](Obituary& obituary) {
              if (::waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) obituary.note("no child");
            }),
            "no child\n");
}

TEST(Processes, CaptureExitCodeAndSignal) {
  const ProcessResult r = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_EQ(r.output, "out\n");
  EXPECT_EQ(r.errors, "err\n");
  EXPECT_FALSE(r.ok());
  EXPECT_TRUE(run_process({"true"}).ok());
  EXPECT_EQ(run_process({"sh", "-c", "kill -SEGV $$"}).signal, SIGSEGV);
  EXPECT_EQ(run_process({"sh", "-c", "echo $CT_X"}, {.environment = {{"CT_X", "y"}}}).output, "y\n");
  EXPECT_EQ(run_process({"sh", "-c", "cat; echo end"}).output, "end\n");  // standard input is empty
  const std::string large(300000, 'x');
  EXPECT_EQ(run_process({"cat"}, {.input = large}).output, large);
  EXPECT_THROW(run_process({"/no/such/program"}), FileError);
  EXPECT_THROW(run_process({}), ValueError);
}

TEST(Processes, MuchOutputIsReadAndCut) {
  const ProcessResult r = run_process({"sh", "-c", "head -c 3000000 /dev/zero"}, {.max_output = 1000000});
  EXPECT_TRUE(r.ok());
  EXPECT_EQ(r.output.size(), 1000000u);
}

TEST(Processes, TimeLimitReachesGrandchildren) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult r = run_process({"sh", "-c", "echo begun; sleep 60 & sleep 60"}, {.timeout = 0.2});
  EXPECT_TRUE(r.timed_out);
  EXPECT_EQ(r.signal, SIGKILL);
  EXPECT_EQ(r.output, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Processes, AStreamKeptOpenByAGrandchildDoesNotHold) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run_process({"sh", "-c", "sleep 30 & echo x"}).output, "x\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Processes, Names) {
  EXPECT_EQ(process_id(), ::getpid());
  EXPECT_GE(usable_processors(), 1);
  EXPECT_FALSE(host_name().empty());
  EXPECT_TRUE(exists(program_path()));
}

TEST(Processes, ForksAreCounted) {
  const int before = fork_count();
  const auto exit_codes = [&] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(fork_count() - before);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(exit_codes(), 1);
  EXPECT_EQ(fork_count(), before);
}

TEST(Processes, ASetVariableKeepsItsValue) {
  set_environment_default("CATENARY_OS_TEST", "first");
  set_environment_default("CATENARY_OS_TEST", "second");
  EXPECT_STREQ(std::getenv("CATENARY_OS_TEST"), "first");
  ::unsetenv("CATENARY_OS_TEST");
}

TEST(ProcessesDeathTest, FunctionsAtTheExitGetTheStatus) {
  EXPECT_EXIT(
      {
        at_exit([](int status) { fmt::print(stderr, "ends with {}", status); });
        std::exit(3);
      },
      ::testing::ExitedWithCode(3), "ends with 3");
}

TEST(Fibers, HaveGuardsBelowTheirStacks) {
  Fibers fibers(2);
  int guarded = 0, stack = 0;
  fibers.run([&](int) {
    const char here = 0;
    constexpr std::ptrdiff_t kPage = 4096, kPages = 192;
    for (std::ptrdiff_t k = 0; k < kPages; ++k) guarded += Fibers::is_guard(&here - k * kPage);
    stack += Fibers::is_guard(&here);
  });
  EXPECT_EQ(stack, 0);
  EXPECT_EQ(guarded, 2 * 32);
  EXPECT_FALSE(Fibers::is_guard(&stack));
}

TEST(Times, AreThoseOfTheTimeZone) {
  std::tm local = local_time(86400 * 365);
  EXPECT_EQ(std::mktime(&local), 86400 * 365);
}

TEST(Registry, BelongsToWindows) {
  EXPECT_TRUE(registry_values("SOFTWARE\\Microsoft").empty());
  EXPECT_TRUE(registry_keys("SOFTWARE").empty());
  EXPECT_EQ(code_page(), 65001);
  EXPECT_EQ(library_search_folder(), "");
}

TEST(Terminal, AFileIsNone) {
  const auto file = std::tmpfile();
  EXPECT_FALSE(is_terminal(::fileno(file)));
  EXPECT_GT(terminal_width(::fileno(file)), 0);
  std::fclose(file);
}

}  // namespace
}  // namespace catenary::os
