// check-kernels FOLDER: compiles recorded kernels (from any program run with CATENARY_KERNEL_LOG=FOLDER) by NVRTC and
// hipRTC, also for GPUs that are not installed. A child process compiles for each GPU architecture, so that a
// compiler's crash is a single failure.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "catenary/backends/gpu/drivers/find.h"
#include "catenary/backends/gpu/drivers/runtime_compiler.h"
#include "catenary/backends/gpu/source.h"
#include "catenary/core/command_line.h"
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
  std::string defines, body;
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
    if (kind.ends_with("define")) kernel.defines += fmt::format("#define {} {}\n", name, value);
  }
  if (kernel.text.empty())
    kernel.body.assign(std::istreambuf_iterator<char>(file), {});
  else
    kernel.body = kernels::text(kernel.text);
  return kernel;
}

std::vector<std::string> list_folder(const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& name : os::list_directory(folder))
    if (name.ends_with(".kernel")) paths.push_back(folder + "/" + name);
  return paths;
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

std::string source_of(const Recorded& kernel, bool hip) {
  return gpu::assemble_source(hip ? "hip" : "cuda",
                              hip ? "#define CT_HIP\n#define CT_HAS_F64\n" : "#define CT_HAS_F64\n", kernel.defines,
                              kernel.body);
}

/// Makes a source that can be concatenated with others: in a namespace, with unique kernel names, and with all macros
/// removed.
std::string apart(std::string source, std::size_t number) {
  for (const std::string_view linkage = "extern \"C\" "; source.find(linkage) != std::string::npos;)
    source.erase(source.find(linkage), linkage.size());
  std::string macros;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string directive, name;
    words >> directive >> name;
    if (directive == "#") words >> directive >> name;
    if (directive.ends_with("define")) macros += fmt::format("#undef {}\n", name.substr(0, name.find('(')));
  }
  return fmt::format("namespace text_{} {{\n{}\n}}\n{}", number, source, macros);
}

/// Runs in the child: compiles the kernels from `first` up to `last`, all at once (most time is start-up), or one by
/// one with a line for each. Returns 0 if they compile, or after all lines.
int work(const std::string& folder, const std::string& arch, std::size_t first, std::size_t last, bool together) {
  std::string why;
  const bool hip = is_hip(arch);
  const Compiler compiler = find_compiler(hip, why);
  if (!compiler) return 3;
  const std::vector<std::string> paths = list_folder(folder);
  std::string all;
  for (std::size_t i = first; i < std::min(last, paths.size()); ++i) {
    const std::string source = source_of(read_recorded(paths[i]), hip);
    if (together) {
      all += apart(source, i);
      continue;
    }
    std::string words;
    try {
      compiler->compile(arch, source);
    } catch (const Error& error) {
      words = error.what();
      std::replace(words.begin(), words.end(), '\n', '\t');
    }
    fmt::print("{}\n", words);
    std::fflush(stdout);
  }
  if (together) compiler->compile(arch, all);
  return 0;
}

/// Some kernels for an architecture, and their results.
struct Piece {
  std::string arch;
  std::size_t first, last;
  int failed = 0;
  std::string report = {};
};

void check(const std::string& folder, const std::vector<std::string>& paths, Piece& piece) {
  const auto fail_at = [&](std::size_t i, std::string words) {
    constexpr std::size_t kMost = 800;  // the first error is the most useful
    if (words.size() > kMost) words = words.substr(0, kMost) + " …";
    std::replace(words.begin(), words.end(), '\t', '\n');
    ++piece.failed;
    piece.report += fmt::format("{}: {} ({}): {}\n", piece.arch, read_recorded(paths[i]).name, paths[i], words);
  };
  const auto run_from = [&](std::size_t first, const std::string& how) {
    return os::run_process({os::program_path(), how, piece.arch, "--first", std::to_string(first), "--last",
                            std::to_string(piece.last), folder});
  };
  if (run_from(piece.first, "--together").ok()) return;
  for (std::size_t done = piece.first; done < piece.last;) {
    const os::ProcessResult result = run_from(done, "--one-by-one");
    std::istringstream lines(result.output);
    for (std::string line; done < piece.last && std::getline(lines, line); ++done) {
      if (!line.empty()) fail_at(done, line);
    }
    if (done < piece.last)
      fail_at(done++, result.signal
                          ? fmt::format("the compiler crashed with {}", os::signal_name(result.signal))
                          : fmt::format("the child process exited with {}: {}", result.exit_code, result.errors));
  }
}

/// Chooses an architecture of each vendor. Consecutive turns cycle through the vendor's architectures.
std::vector<std::string> choose(const std::vector<std::string>& archs, std::size_t turn) {
  std::vector<std::string> chosen;
  for (const bool hip : {false, true}) {
    std::vector<std::string> own;
    std::copy_if(archs.begin(), archs.end(), std::back_inserter(own),
                 [&](const std::string& arch) { return is_hip(arch) == hip; });
    if (!own.empty()) chosen.push_back(own[turn % own.size()]);
  }
  return chosen;
}

/// Prints the compilers that are present, and removes the architectures of missing ones. Returns what was removed.
std::vector<std::string> remove_without_compiler(std::vector<std::string>& archs) {
  std::vector<std::string> lacks;
  for (const bool hip : {false, true}) {
    if (std::none_of(archs.begin(), archs.end(), [&](const std::string& arch) { return is_hip(arch) == hip; }))
      continue;
    std::string why;
    if (const Compiler compiler = find_compiler(hip, why)) {
      fmt::print("{}\n", compiler->name());
      continue;
    }
    const auto rest =
        std::stable_partition(archs.begin(), archs.end(), [&](const std::string& arch) { return is_hip(arch) != hip; });
    lacks.push_back(fmt::format("not compiled for {}: {}", fmt::join(rest, archs.end(), ", "), why));
    archs.erase(rest, archs.end());
  }
  return lacks;
}

/// Compiles all kernels for all architectures in child processes.
std::vector<Piece> check_all(const std::string& folder, const std::vector<std::string>& paths,
                             const std::vector<std::string>& archs, unsigned jobs) {
  // Children take pieces in turn, because the vendors' compilers differ in speed.
  constexpr std::size_t kPiece = 64;
  std::vector<Piece> pieces;
  for (const std::string& arch : archs)
    for (std::size_t i = 0; i < paths.size(); i += kPiece)
      pieces.push_back({arch, i, std::min(i + kPiece, paths.size())});
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned j = 0; j < jobs; ++j)
    threads.emplace_back([&] {
      for (std::size_t i; (i = next.fetch_add(1)) < pieces.size();) check(folder, paths, pieces[i]);
    });
  for (std::thread& thread : threads) thread.join();
  return pieces;
}

/// Prints errors and counts. Returns whether all kernels were compiled by all compilers.
bool report(const std::vector<Piece>& pieces, const std::vector<std::string>& archs, std::size_t kernels,
            const std::vector<std::string>& lacks) {
  for (const Piece& piece : pieces) fmt::print("{}", piece.report);
  int passed = 0, failed = 0;
  for (const std::string& arch : archs) {
    int here = 0;
    for (const Piece& piece : pieces)
      if (piece.arch == arch) here += piece.failed;
    fmt::print("{:10} {:6} passed {:6} failed\n", arch, static_cast<int>(kernels) - here, here);
    failed += here;
    passed += static_cast<int>(kernels) - here;
  }
  for (const std::string& line : lacks) fmt::print("{}\n", line);
  failed += static_cast<int>(lacks.size());
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Compiles recorded kernels with NVRTC and hipRTC for several architectures. No GPU is needed. Any program "
      "records its kernels with CATENARY_KERNEL_LOG=FOLDER. Exits with 1 if a kernel does not compile or a compiler is "
      "missing.");
  app.footer("Example: check-kernels --archs sm_80,gfx90a kernels");
  std::string folder, together, one_by_one;
  std::optional<std::size_t> turn;
  std::vector<std::string> archs = {"sm_75",  "sm_80",  "sm_86",  "sm_89",  "sm_90",   "sm_100", "sm_120",
                                    "gfx803", "gfx900", "gfx906", "gfx90a", "gfx1030", "gfx1032"};
  std::size_t first = 0, last = 0;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  app.add_option("FOLDER", folder, "Folder of recorded kernels")->required();
  app.add_option("--archs", archs, "Architectures to compile for")->delimiter(',')->capture_default_str();
  app.add_option("--turn", turn,
                 "Compile for only one architecture of each vendor. Consecutive turns go through all of them")
      ->check(catenary::command_line::whole_number(0, ~std::uint64_t{0}));
  app.add_option("--jobs", jobs, "Number of processes")
      ->capture_default_str()
      ->check(catenary::command_line::whole_number(1, 1000));
  app.add_option("--together", together)->group("");
  app.add_option("--one-by-one", one_by_one)->group("");
  app.add_option("--first", first)->group("");
  app.add_option("--last", last)->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return catenary::command_line::exit(app, error);
  }
  try {
    if (!together.empty()) return work(folder, together, first, last, true);
    if (!one_by_one.empty()) return work(folder, one_by_one, first, last, false);
    const std::vector<std::string> paths = list_folder(folder);
    if (paths.empty()) {
      fmt::print(stderr, "{}: no recorded kernels. Run programs or tests with CATENARY_KERNEL_LOG={} first\n", folder,
                 folder);
      return 1;
    }
    if (turn) archs = choose(archs, *turn);
    const std::vector<std::string> lacks = remove_without_compiler(archs);
    fmt::print("{} kernels\n", paths.size());
    return report(check_all(folder, paths, archs, jobs), archs, paths.size(), lacks) ? 0 : 1;
  } catch (const std::exception& error) {
    return catenary::command_line::failure("check-kernels", error);
  }
}
