// check-kernels FOLDER: compiles recorded kernels (CATENARY_KERNEL_LOG=FOLDER of any program or test) for cards that
// need not be there, by NVRTC and hipRTC. Each card is served by a child process, so that a compiler's crash is one
// failure.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "catenary/backends/gpu/drivers/find.h"
#include "catenary/backends/gpu/drivers/runtime_compiler.h"
#include "catenary/backends/gpu/source.h"
#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/core/os/signals.h"
#include "catenary/kernels/texts.h"

namespace {

using namespace catenary;
using Compiler = std::shared_ptr<gpu::RuntimeCompiler>;

/// A file of the folder.
struct Recorded {
  std::string path, name, text;
  gpu::Defines defines;
  std::string body;
};

Recorded read_recorded(const std::string& path) {
  std::ifstream file(path);
  Recorded kernel{path, "", "", {}, ""};
  for (std::string line; std::getline(file, line) && !line.empty();) {
    std::istringstream words(line);
    std::string kind, name, value;
    words >> kind >> name >> std::ws;
    std::getline(words, value);
    if (kind == "kernel") kernel.name = name;
    if (kind == "text") kernel.text = name;
    if (kind == "define") kernel.defines.emplace_back(name, value);
  }
  if (kernel.text.empty())
    kernel.body.assign(std::istreambuf_iterator<char>(file), {});
  else
    kernel.body = kernels::text(kernel.text);
  return kernel;
}

std::vector<Recorded> read_folder(const std::string& folder) {
  std::vector<Recorded> all;
  for (const std::string& name : os::list_directory(folder))
    if (name.ends_with(".kernel")) all.push_back(read_recorded(folder + "/" + name));
  return all;
}

Compiler find_compiler(bool hip, std::string& why) {
  if (!hip) {
    const auto all = gpu::RuntimeCompiler::nvrtc(why);
    return all.empty() ? nullptr : all.front();
  }
  for (int major = 8; major >= 5; --major)
    if (const auto runtime = gpu::find_library({fmt::format("libamdhip64.so.{}", major)}, gpu::rocm_folders(), why))
      return gpu::RuntimeCompiler::hiprtc(*runtime, major, why);
  return nullptr;
}

bool is_hip(const std::string& arch) { return arch.starts_with("gfx"); }

/// In the child: compiles all kernels from the given one on, a line each.
int work(const std::string& folder, const std::string& arch, std::size_t first, bool written_only) {
  std::string why;
  const Compiler compiler = find_compiler(is_hip(arch), why);
  if (!compiler) return 3;
  const std::string device = is_hip(arch) ? "#define CT_HIP\n#define CT_HAS_F64\n" : "#define CT_HAS_F64\n";
  std::size_t i = 0;
  for (const Recorded& kernel : read_folder(folder)) {
    if (written_only && kernel.text.empty()) continue;
    if (i++ < first) continue;
    std::string words;
    try {
      compiler->compile(arch, gpu::assemble_source(is_hip(arch) ? "hip" : "cuda", device, kernel.defines, kernel.body));
    } catch (const Error& error) {
      words = error.what();
      std::replace(words.begin(), words.end(), '\n', '\t');
    }
    fmt::print("{}\n", words);
    std::fflush(stdout);
  }
  return 0;
}

/// What came of all kernels for one arch.
struct Column {
  std::string arch;
  int passed = 0, failed = 0;
  std::string report;
};

Column check_arch(const std::string& folder, const std::vector<Recorded>& kernels, const std::string& arch,
                  bool written_only) {
  Column column{arch, 0, 0, ""};
  const auto fail_at = [&](std::size_t i, std::string words) {
    constexpr std::size_t kMost = 800;  // the first error tells most
    if (words.size() > kMost) words = words.substr(0, kMost) + " …";
    std::replace(words.begin(), words.end(), '\t', '\n');
    ++column.failed;
    column.report += fmt::format("{}: {} ({}): {}\n", arch, kernels[i].name, kernels[i].path, words);
  };
  for (std::size_t done = 0; done < kernels.size();) {
    std::vector<std::string> command = {os::program_path(), "--worker", arch, "--first", std::to_string(done), folder};
    if (written_only) command.emplace_back("--written-only");
    const os::ProcessResult result = os::run_process(command);
    std::istringstream lines(result.output);
    for (std::string line; done < kernels.size() && std::getline(lines, line); ++done) {
      if (line.empty())
        ++column.passed;
      else
        fail_at(done, line);
    }
    if (done < kernels.size())
      fail_at(done++, result.signal ? fmt::format("the compiler crashed with {}", os::signal_name(result.signal))
                                    : fmt::format("the child ended with {}: {}", result.exit_code, result.errors));
  }
  return column;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Compiles recorded kernels (CATENARY_KERNEL_LOG=FOLDER of any program) for cards that need not be there, by "
      "NVRTC "
      "and hipRTC. Exits with 1 where one fails.");
  std::string folder, worker;
  std::vector<std::string> archs = {"sm_75",  "sm_80",  "sm_86",  "sm_89",  "sm_90",   "sm_100", "sm_120",
                                    "gfx803", "gfx900", "gfx906", "gfx90a", "gfx1030", "gfx1032"};
  std::vector<std::string> full = {"sm_80", "gfx1030"};
  std::size_t first = 0;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  bool some = false, written_only = false;
  app.add_option("FOLDER", folder, "Folder of recorded kernels")->required();
  app.add_option("--archs", archs, "What to compile for")->delimiter(',')->capture_default_str();
  app.add_flag("--some", some, "Generated kernels for one card of each vendor only");
  app.add_option("--jobs", jobs, "Processes at once")->capture_default_str();
  app.add_option("--worker", worker)->group("");
  app.add_option("--first", first)->group("");
  app.add_flag("--written-only", written_only)->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    if (!worker.empty()) return work(folder, worker, first, written_only);
    std::vector<Recorded> all = read_folder(folder), written;
    std::copy_if(all.begin(), all.end(), std::back_inserter(written),
                 [](const Recorded& k) { return !k.text.empty(); });
    if (all.empty()) {
      fmt::print(stderr, "{}: no recorded kernels; run programs or tests with CATENARY_KERNEL_LOG={}\n", folder,
                 folder);
      return 1;
    }
    for (const bool hip : {false, true}) {
      std::string why;
      if (const Compiler compiler = find_compiler(hip, why)) {
        fmt::print("{}\n", compiler->name());
        continue;
      }
      fmt::print("{} archs are left out: {}\n", hip ? "gfx" : "sm", why);
      std::erase_if(archs, [&](const std::string& arch) { return is_hip(arch) == hip; });
    }
    if (archs.empty()) {
      fmt::print("Nothing was checked: there is no compiler, or no arch of one that is here.\n0 passed, 0 failed\n");
      return 0;
    }
    fmt::print("{} kernels: {} of kernels/ with different defines, {} generated\n", all.size(), written.size(),
               all.size() - written.size());
    std::vector<Column> columns(archs.size());
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> threads;
    for (unsigned j = 0; j < jobs; ++j) {
      threads.emplace_back([&] {
        for (std::size_t i; (i = next.fetch_add(1)) < archs.size();) {
          const bool less = some && std::find(full.begin(), full.end(), archs[i]) == full.end();
          columns[i] = check_arch(folder, less ? written : all, archs[i], less);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    int passed = 0, failed = 0;
    for (const Column& column : columns) fmt::print("{}", column.report);
    for (const Column& column : columns) {
      fmt::print("{:10} {:6} passed {:6} failed\n", column.arch, column.passed, column.failed);
      passed += column.passed;
      failed += column.failed;
    }
    fmt::print("{} passed, {} failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
