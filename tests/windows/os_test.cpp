// Files, processes and libraries of Windows. The program starts itself for tests of other processes.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/core/os/children.h"
#include "catenary/core/os/faults.h"
#include "catenary/core/os/fibers.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/installation.h"
#include "catenary/core/os/library.h"
#include "catenary/core/os/memory.h"
#include "catenary/core/os/private_folder.h"
#include "catenary/core/os/process.h"
#include "catenary/core/os/registry.h"
#include "catenary/core/os/signals.h"
#include "catenary/core/os/system.h"
#include "catenary/core/os/temporary_folder.h"
#include "catenary/core/os/terminal.h"
#include "catenary/core/os/trial.h"
#include "catenary/core/paths.h"
#include "catenary/core/sha256.h"
#include "tests/texts.h"

namespace catenary::os {
namespace {

constexpr const char* kCyrillic = "Загрузки/测试";

std::string text_of(const std::string& path) {
  const auto bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Runs this program as `os_test child WORD…`.
ProcessResult run_child(std::vector<std::string> words, const ProcessOptions& options = {}) {
  words.insert(words.begin(), {program_path(), "child"});
  return run_process(words, options);
}

class WindowsFiles : public ::testing::Test {
 protected:
  std::string folder_ = make_temporary_directory("catenary-os-");
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  ~WindowsFiles() override { remove_directory(folder_); }
};

TEST_F(WindowsFiles, AreReadMappedAndWritten) {
  write_file(at("a"), "one\ntwo\n");
  EXPECT_EQ(text_of(at("a")), "one\ntwo\n");
  EXPECT_EQ(file_size(at("a")), 8u);
  const FileView view(at("a"));
  EXPECT_EQ(std::memcmp(view.bytes().data(), "one\ntwo\n", 8), 0);
  write_file(at("empty"), "");
  EXPECT_TRUE(FileView(at("empty")).bytes().empty());
  EXPECT_TRUE(exists(at("a")));
  EXPECT_FALSE(exists(at("none")));
  EXPECT_TRUE(is_directory(folder_));
  EXPECT_FALSE(is_directory(at("a")));
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_NEAR(modification_time(at("a")), now, 600);
  EXPECT_EQ(list_directory(folder_), (std::vector<std::string>{"a", "empty"}));
  remove_file(at("empty"));
  remove_file(at("empty"));
  EXPECT_FALSE(exists(at("empty")));
}

TEST_F(WindowsFiles, ErrorsNameTheFileAndTheReason) {
  EXPECT_EQ(tests::error_of<FileError>([&] { read_file(at("none")); }),
            at("none") + ": cannot open: No such file or directory");
  EXPECT_EQ(tests::error_of<FileError>([&] { read_file(folder_); }), folder_ + ": cannot read: Is a directory");
  EXPECT_THROW(AtomicFile(at("none/a")), FileError);
  EXPECT_THROW(AtomicFile{folder_}, FileError);
  EXPECT_THROW(AtomicFile(""), FileError);
  EXPECT_THROW(list_directory(at("none")), FileError);
  EXPECT_THROW(exists(std::string("a\0b", 3)), FileError);
  write_file(at("a"), "x");
  EXPECT_THROW(make_directories(at("a/b")), FileError);
}

TEST_F(WindowsFiles, NamesMayHaveAnyLettersAndPathsAnyLength) {
  std::string deep = at(kCyrillic);
  while (deep.size() < 400) deep += "/a folder with a long name";
  make_directories(deep);
  const std::string file = deep + "/модель.npz";
  write_file(file, "weights");
  write_file(file, "new weights");
  EXPECT_EQ(text_of(file), "new weights");
  EXPECT_EQ(list_directory(deep), std::vector<std::string>{"модель.npz"});
  EXPECT_EQ(list_directory(folder_), std::vector<std::string>{"Загрузки"});
  EXPECT_EQ(FileView(file).bytes().size(), 11u);
}

TEST_F(WindowsFiles, PathsMayHaveBackslashes) {
  EXPECT_EQ(folder_of("C:\\Загрузки\\model.npz"), "C:/Загрузки");
  EXPECT_EQ(folder_of("C:\\model.npz"), "C:/");
  EXPECT_EQ(path_text(to_path("a\\b") / to_path("c\\d.png")), "a/b/c/d.png");
}

TEST_F(WindowsFiles, AnAtomicFileAppearsWhole) {
  write_file(at("a"), "old");
  {
    AtomicFile file(at("a"));
    file.write("new");
    EXPECT_TRUE(exists(file.temporary_path()));
    EXPECT_EQ(text_of(at("a")), "old");
  }
  EXPECT_EQ(list_directory(folder_), std::vector<std::string>{"a"});
  AtomicFile file(at("a"));
  file.write("new");
  file.commit();
  EXPECT_EQ(text_of(at("a")), "new");
  EXPECT_THROW(file.write("more"), FileError);
  EXPECT_THROW(file.commit(), FileError);
}

TEST_F(WindowsFiles, TheNextWriterRemovesTheFileOfAKilledOne) {
  write_file(at("a"), "whole");
  EXPECT_EQ(run_child({"write-half", at("a")}).exit_code, 3);
  EXPECT_EQ(list_directory(folder_).size(), 2u);
  EXPECT_EQ(text_of(at("a")), "whole");
  AtomicFile alive(at("a"));
  EXPECT_EQ(list_directory(folder_).size(), 2u);
  write_file(at("a"), "second");
  EXPECT_TRUE(exists(alive.temporary_path()));
  alive.write("third");
  alive.commit();
  EXPECT_EQ(text_of(at("a")), "third");
  EXPECT_EQ(list_directory(folder_), std::vector<std::string>{"a"});
}

TEST_F(WindowsFiles, PrivateFolders) {
  EXPECT_FALSE(PrivateFolder::find(at("none")).has_value());
  const PrivateFolder folder = PrivateFolder::make(at("private/cache"));
  const std::vector<std::byte> content(100, std::byte{7});
  EXPECT_FALSE(folder.read("kernel").has_value());
  folder.write("kernel", content);
  EXPECT_EQ(folder.read("kernel"), content);
  ASSERT_EQ(folder.list().size(), 1u);
  EXPECT_EQ(folder.list()[0].bytes, 100u);
  EXPECT_FALSE(folder.list()[0].unfinished);
  EXPECT_TRUE(folder.remove("kernel"));
  EXPECT_FALSE(folder.remove("kernel"));
  EXPECT_TRUE(PrivateFolder::find(at("private/cache")).has_value());
}

TEST(WindowsTemporaryFolders, AreRemovedWithTheirProcess) {
  std::string path;
  {
    const TemporaryFolder folder("catenary-test-folder-");
    path = folder.path();
    write_file(path + "/a", "x");
    TemporaryFolder::remove_abandoned("catenary-test-folder-");
    EXPECT_TRUE(exists(path + "/a"));
  }
  EXPECT_FALSE(exists(path));
  EXPECT_FALSE(exists(path + ".lock"));
  const std::string left = run_child({"leave-folder"}).output;
  ASSERT_TRUE(is_directory(left)) << left;
  TemporaryFolder::remove_abandoned("catenary-test-folder-");
  EXPECT_FALSE(exists(left));
}

TEST(WindowsProcesses, GetTheirWordsInputAndEnvironment) {
  const std::vector<std::string> words = {"a b",           "",          "\"quoted\"", "back\\slash\\", "end\\\\\"",
                                          "Загрузки/测试", "tab\there", "100%",       "^&|<>"};
  std::vector<std::string> command = {"echo"};
  command.insert(command.end(), words.begin(), words.end());
  const ProcessResult result = run_child(command, {.environment = {{"CATENARY_OS_TEST", "значение"}}, .input = "in\n"});
  EXPECT_TRUE(result.ok()) << result.exit_code << " " << result.errors;
  std::string expected;
  for (const std::string& word : words) expected += "[" + word + "]\n";
  EXPECT_EQ(result.output, expected + "значение\nin\n");
  EXPECT_EQ(result.errors, "done\n");
}

TEST(WindowsProcesses, ReadLinesWithEitherEnd) {
  const ProcessResult result = run_child({"lines"}, {.input = "первая\r\nвторая\n\r\nпоследняя"});
  EXPECT_EQ(result.output, "[первая][вторая][][последняя]");
}

TEST(WindowsProcesses, EndWithTheirChildrenAfterTheTimeLimit) {
  const auto begin = std::chrono::steady_clock::now();
  const ProcessResult result = run_child({"sleep-with-child"}, {.timeout = 1});
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(WindowsProcesses, AreReportedByTheirEnd) {
  EXPECT_EQ(run_child({"exit", "7"}).exit_code, 7);
  const ProcessResult fault = run_child({"fault"});
  EXPECT_EQ(signal_name(fault.signal), "SIGSEGV");
  EXPECT_NE(fault.errors.find("catenary: kernel f: "), std::string::npos) << fault.errors;
  EXPECT_THROW(run_process({"no-such-program-of-catenary"}), FileError);
  EXPECT_THROW(run_process({}), ValueError);
}

TEST(WindowsProcesses, RanksAreRefusedInWords) {
  Children children;
  EXPECT_NE(tests::error_of<FileError>([&] { children.start({"train_mnist"}, {}, {}); }).find("Windows"),
            std::string::npos);
}

TEST(WindowsProcesses, TheEnvironmentIsThatOfGetenv) {
  set_environment_default("CATENARY_OS_TEST_2", "one");
  set_environment_default("CATENARY_OS_TEST_2", "two");
  EXPECT_STREQ(std::getenv("CATENARY_OS_TEST_2"), "one");
  bool found = false;
  for (const std::string& entry : environment_entries()) found = found || entry == "CATENARY_OS_TEST_2=one";
  EXPECT_TRUE(found);
}

TEST(WindowsLibraries, HaveTheirNames) {
  EXPECT_EQ(library_file("OpenCL", "1"), "OpenCL.dll");
  EXPECT_EQ(library_file("cuda", "1"), "nvcuda.dll");
  EXPECT_EQ(library_file("nvrtc", "13"), "nvrtc64_130_0.dll");
  EXPECT_EQ(library_file("nvrtc", "11.2"), "nvrtc64_112_0.dll");
  EXPECT_EQ(library_file("amdhip64", "6"), "amdhip64_6.dll");
  EXPECT_EQ(library_file("hiprtc", "6"), "hiprtc0600.dll");
  EXPECT_EQ(library_file("cublas", "12"), "cublas64_12.dll");
}

TEST(WindowsLibraries, AreLoadedFromTheSystemAlone) {
  const Library kernel("kernel32.dll");
  EXPECT_NE(kernel.symbol("GetTickCount"), nullptr);
  EXPECT_EQ(kernel.symbol("no_such_function"), nullptr);
  EXPECT_NE(kernel.path().find("kernel32.dll"), std::string::npos);
  std::string why;
  EXPECT_TRUE(is_directory(library_search_folder())) << library_search_folder();
  EXPECT_TRUE(exists(library_search_folder() + "/kernel32.dll"));
  EXPECT_FALSE(Library::find("no-such-library.dll", &why));
  EXPECT_NE(why, "");
  EXPECT_FALSE(Library::find("nvcuda.dll", &why));
  EXPECT_NE(why.find("CUDA"), std::string::npos);
  EXPECT_TRUE(Library::find("kernel32.dll", nullptr, Library::Mode::already_loaded).has_value());
  EXPECT_FALSE(Library::find("no-such-library.dll", nullptr, Library::Mode::already_loaded).has_value());
}

TEST(WindowsMemory, IsAligned) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, kHugePage - 1, kHugePage, 3 * kHugePage + 5}) {
    void* const memory = allocate(size, 4096);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % (size >= kHugePage ? kHugePage : 4096), 0u) << size;
    std::memset(memory, 1, size);
    deallocate(memory, size);
  }
  EXPECT_THROW(allocate(8, 3), ValueError);
  EXPECT_THROW(allocate(SIZE_MAX), DeviceError);
  EXPECT_GT(physical_memory_bytes(), 1u << 28);
  EXPECT_GT(resident_bytes(), 1u << 20);
  EXPECT_GE(peak_resident_bytes(), resident_bytes() / 2);
}

TEST(WindowsSystem, HasFacts) {
  EXPECT_TRUE(system_name().starts_with("Windows 10")) << system_name();
  EXPECT_NE(user_name(), "");
  EXPECT_NE(host_name(), "");
  EXPECT_GE(usable_processors(), 1);
  EXPECT_GE(online_processors(), usable_processors());
  EXPECT_NE(user_cache_folder(), "");
  EXPECT_EQ(user_cache_folder().find('\\'), std::string::npos);
  EXPECT_TRUE(exists(program_path())) << program_path();
  EXPECT_TRUE(program_path().starts_with(library_folder()));
  const std::string folder = make_temporary_directory("catenary-os-");
  EXPECT_TRUE(is_writable_folder(folder + "/below"));
  EXPECT_EQ(open_error(folder + "/none"), "ENOENT");
  EXPECT_GT(free_bytes(folder), 0u);
  EXPECT_GE(total_bytes(folder), free_bytes(folder));
  EXPECT_FALSE(is_network_folder(folder));
  EXPECT_TRUE(list_directory(folder).empty());
  remove_directory(folder);
  EXPECT_GE(local_time(86400 * 365).tm_year, 70);
  EXPECT_GT(terminal_width(), 0);
}

TEST(WindowsSystem, ComputesDigests) {
  EXPECT_EQ(sha256(std::string("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(WindowsSystem, SignalsSetAFlag) {
  const ScopedSignals signals;
  EXPECT_EQ(signals.received(), 0);
  std::raise(SIGINT);
  EXPECT_EQ(signal_name(signals.received()), "SIGINT");
  EXPECT_EQ(received_signal(), signals.received());
}

TEST(WindowsSystem, TrialsEndNormally) {
  const TrialResult result = run_trial([] { std::abort(); }, 1);
  EXPECT_EQ(result.crash, "");
  EXPECT_FALSE(result.timed_out);
}

TEST(WindowsSystem, ReadsItsRegistry) {
  const std::string key = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
  std::map<std::string, std::string> values;
  for (const auto& [name, text] : registry_values(key)) values[name] = text;
  EXPECT_NE(values["SystemRoot"].find(":\\"), std::string::npos) << values["SystemRoot"];
  EXPECT_NE(values["CurrentBuildNumber"], "");
  EXPECT_EQ(values["CurrentMajorVersionNumber"], "10");  // a number
  EXPECT_TRUE(registry_values("SOFTWARE\\no such key").empty());
  const std::vector<std::string> keys = registry_keys("SOFTWARE\\Microsoft");
  EXPECT_NE(std::find(keys.begin(), keys.end(), "Windows NT"), keys.end());
  EXPECT_TRUE(registry_keys("SOFTWARE\\no such key").empty());
}

TEST(WindowsSystem, GivesProgramsUtf8) { EXPECT_EQ(code_page(), 65001); }

// Windows moves one guard page along each stack.
TEST(WindowsFibers, HaveAGuardBelowTheirStacks) {
  Fibers fibers(2);
  std::vector<int> guarded(2), here_guarded(2);
  fibers.run([&](int k) {
    const char here = 0;
    const auto at = static_cast<std::size_t>(k);
    constexpr std::ptrdiff_t kPage = 4096, kPages = 320;  // Wine's stacks have 1 MiB
    for (std::ptrdiff_t page = 0; page < kPages; ++page) guarded[at] += Fibers::is_guard(&here - page * kPage);
    here_guarded[at] += Fibers::is_guard(&here);
  });
  EXPECT_EQ(here_guarded, std::vector<int>(2, 0));
  for (const int pages : guarded) EXPECT_GE(pages, 1);
  const char here = 0;
  EXPECT_FALSE(Fibers::is_guard(&here));
}

/// Runs in the program that a test starts.
int act(const std::vector<std::string>& words) {
  if (words[0] == "echo") {
    for (std::size_t i = 1; i < words.size(); ++i) std::printf("[%s]\n", words[i].c_str());
    char line[100] = {};
    const char* const variable = std::getenv("CATENARY_OS_TEST");
    std::printf("%s\n%s", variable ? variable : "?", std::fgets(line, sizeof line, stdin) ? line : "?");
    std::fputs("done\n", stderr);
    return 0;
  }
  if (words[0] == "lines") {
    for (std::string line; read_line(line);) std::printf("[%s]", line.c_str());
    return 0;
  }
  if (words[0] == "exit") return std::atoi(words[1].c_str());
  if (words[0] == "sleep-with-child") {
    if (words.size() == 1) run_child({"sleep-with-child", "alone"});
    std::this_thread::sleep_for(std::chrono::seconds(100));
    return 0;
  }
  if (words[0] == "write-half") {
    AtomicFile file(words[1]);
    file.write("half");
    end_process(3);
  }
  if (words[0] == "leave-folder") {
    const TemporaryFolder folder("catenary-test-folder-");
    write_file(folder.path() + "/a", "x");
    std::printf("%s", folder.path().c_str());
    end_process(0);
  }
  if (words[0] == "fault") {
    const FaultScope scope("kernel f");
    *reinterpret_cast<volatile int*>(std::uintptr_t{64}) = 1;
  }
  return 2;
}

}  // namespace
}  // namespace catenary::os

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "child") return catenary::os::act({argv + 2, argv + argc});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
