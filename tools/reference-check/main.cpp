// reference-check DIR: runs the calls that a manifest of reference vectors describes through the public functions and
// compares.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/device/device.h"
#include "catenary/device/float64.h"
#include "report.h"

namespace {

using nlohmann::json;
using reference::Report;
using reference::Verdict;

json read_manifest(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw catenary::FileError(path + ": cannot be read (DIR is a folder with a manifest.json)");
  try {
    return json::parse(file);
  } catch (const json::exception& e) {
    throw catenary::FileError(path + ": " + e.what());
  }
}

/// Tells by the manifest's form who made the vectors.
Report run(const std::string& directory) {
  const std::string path = directory + "/manifest.json";
  if (!catenary::os::exists(path) && catenary::os::exists(directory + "/ranks_2.npz"))
    return reference::run_chainermn(directory);
  const json manifest = read_manifest(path);
  if (manifest.is_object() && manifest.contains("cases")) return reference::run_numpy(directory, manifest);
  if (manifest.is_object() && (manifest.contains("functions") || manifest.contains("optimizers")))
    return reference::run_chainer(directory, manifest);
  throw catenary::FileError(path + ": a manifest of a form that is not known here");
}

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return "passed";
    case Verdict::failed:
      return "failed";
    case Verdict::not_implemented:
      return "not implemented";
    default:
      return "needs float64";
  }
}

const char* mark(Verdict verdict) {
  return verdict == Verdict::passed ? "ok  " : verdict == Verdict::failed ? "FAIL" : "----";
}

void print_text(const Report& report) {
  for (const reference::Line& line : report.lines)
    fmt::print("{} {} {}{}{}\n", mark(line.verdict), line.id, line.function, line.detail.empty() ? "" : ": ",
               line.detail);
  const catenary::Device device = catenary::current_device();
  const bool has_float64 = catenary::has_float64(device);
  if (!has_float64) fmt::print("{} has no float64: what needs none was checked\n", device.name());
  fmt::print("{} passed, {} failed, {} not implemented{}\n", report.count(Verdict::passed),
             report.count(Verdict::failed), report.count(Verdict::not_implemented),
             has_float64 ? "" : fmt::format(", {} need float64", report.count(Verdict::needs_float64)));
}

void print_json(const Report& report) {
  json cases = json::array();
  for (const reference::Line& line : report.lines) {
    cases.push_back(
        {{"id", line.id}, {"function", line.function}, {"result", name(line.verdict)}, {"detail", line.detail}});
  }
  const json object = {{"schema", 1},
                       {"passed", report.count(Verdict::passed)},
                       {"failed", report.count(Verdict::failed)},
                       {"not_implemented", report.count(Verdict::not_implemented)},
                       {"needs_float64", report.count(Verdict::needs_float64)},
                       {"cases", cases}};
  fmt::print("{}\n", object.dump(1));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Checks Catenary against reference vectors of other programs.");
  std::string directory, device = "cpu";
  bool as_json = false;
  app.add_option("DIR", directory, "folder with manifest.json and its arrays")->required();
  app.add_option("--device,-d", device, "where to compute");
  app.add_flag("--json", as_json, "print one JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  try {
    catenary::get_device(device).use();
    const Report report = run(directory);
    if (!report.lines.empty()) as_json ? print_json(report) : print_text(report);
    return report.count(Verdict::failed) > 0 ? 1 : 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "reference-check: {}\n", e.what());
    return 2;
  }
}
