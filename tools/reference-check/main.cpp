// reference-check DIR: calls the public functions as a manifest of reference vectors describes, and compares the
// results. Use --dtype to check 16-bit results. CATENARY_TEST_SHARE and CATENARY_TEST_TURN select a part of the cases
// (tests/share.h).

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "catenary/core/command_line.h"
#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/device/device.h"
#include "catenary/device/float64.h"
#include "report.h"
#include "tests/share.h"

namespace {

using nlohmann::json;
using reference::Report;
using reference::Verdict;

json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw catenary::FileError(path + ": cannot be read (DIR is a folder with a manifest.json)");
  try {
    return json::parse(file);
  } catch (const json::exception& e) {
    throw catenary::FileError(path + ": " + e.what());
  }
}

/// Keeps the cases of this turn.
void choose(const tests::Share& share, json& cases, bool may_be_empty) {
  std::vector<std::string> names;
  for (const json& c : cases) names.push_back(c.contains("file") ? c["file"].get<std::string>() : c.dump());
  const std::vector<bool> chosen = share.choose(names, may_be_empty);
  json left = json::array();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (chosen[i]) left.push_back(std::move(cases[i]));
  fmt::print(stderr, "{}: {} of {} cases\n", share.words(), left.size(), names.size());
  cases = std::move(left);
}

/// Cases listed in DIR/wrong.json, whose vectors are known to be wrong, must fail.
void expect_wrong(const std::string& directory, Report& report) {
  const std::string path = directory + "/wrong.json";
  if (!catenary::os::exists(path)) return;
  const json wrong = read_json(path);
  for (reference::Line& line : report.lines) {
    if (!wrong.contains(line.id)) continue;
    if (line.verdict == Verdict::failed) {
      line.verdict = Verdict::wrong;
      line.detail = wrong[line.id].get<std::string>();
    } else if (line.verdict == Verdict::passed) {
      line.verdict = Verdict::failed;
      line.detail = "it passes, but wrong.json lists it as wrong: remove it there";
    }
  }
}

/// Chooses the checks by the form of the manifest.
Report run(const std::string& directory, const tests::Share& share, std::optional<catenary::Dtype> sixteen) {
  const std::string path = directory + "/manifest.json";
  const auto has_its_own = [&](const char* whose) {
    if (sixteen)
      throw catenary::ValueError(
          std::string("--dtype is for NumPy's vectors and Chainer's functions, links, models and "
                      "optimizers, ") +
          whose + " have dtypes of their own");
  };
  if (!catenary::os::exists(path) && catenary::os::exists(directory + "/ranks_2.npz")) {
    has_its_own("ChainerMN's");
    return reference::run_chainermn(directory);
  }
  json manifest = read_json(path);
  if (!share.is_whole())
    for (const char* group : {"cases", "functions", "links", "models", "optimizers", "trajectories", "quantised",
                              "language_models", "tokenizers"})
      // each of the few models takes minutes on a simulated card, so not every turn runs one
      if (manifest.contains(group)) choose(share, manifest[group], group == std::string_view("models"));
  Report report;
  if (manifest.is_object() && manifest.contains("cases"))
    report = reference::run_numpy(directory, manifest, sixteen);
  else if (manifest.is_object() &&
           (manifest.contains("functions") || manifest.contains("optimizers") || manifest.contains("trajectories")))
    report = reference::run_chainer(directory, manifest, sixteen);
  else if (manifest.is_object() && manifest.contains("torch"))
    has_its_own("torchvision's"), report = reference::run_torch(directory, manifest);
  else if (manifest.is_object() && manifest.contains("quantised"))
    has_its_own("quantised ones"), report = reference::run_quantised(directory, manifest);
  else if (manifest.is_object() && manifest.contains("language_models"))
    has_its_own("language models"), report = reference::run_language_models(directory, manifest);
  else if (manifest.is_object() && manifest.contains("tokenizers"))
    has_its_own("tokenizers"), report = reference::run_tokenizers(directory, manifest);
  else
    throw catenary::FileError(path + ": unknown form of manifest");
  expect_wrong(directory, report);
  return report;
}

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return "passed";
    case Verdict::failed:
      return "failed";
    case Verdict::not_implemented:
      return "not implemented";
    case Verdict::wrong:
      return "the vectors are wrong";
    case Verdict::not_in_16_bits:
      return "not in 16 bits";
    default:
      return "needs float64";
  }
}

const char* mark(Verdict verdict) {
  return verdict == Verdict::passed ? "ok  " : verdict == Verdict::failed ? "FAIL" : "----";
}

void print_text(const Report& report, bool sixteen) {
  for (const reference::Line& line : report.lines)
    fmt::print("{} {} {}{}{}\n", mark(line.verdict), line.id, line.function, line.detail.empty() ? "" : ": ",
               line.detail);
  const catenary::Device device = catenary::current_device();
  const bool has_float64 = catenary::has_float64(device);
  if (!has_float64 && !sixteen)
    fmt::print("{} has no float64: only cases without float64 were checked\n", device.name());
  const auto more = [&](Verdict verdict, bool always, const char* words) {
    const int n = report.count(verdict);
    return n || always ? fmt::format(", {} {}", n, words) : "";
  };
  fmt::print(
      "{} passed, {} failed, {} not implemented{}{}{}\n", report.count(Verdict::passed), report.count(Verdict::failed),
      report.count(Verdict::not_implemented), more(Verdict::needs_float64, !has_float64 && !sixteen, "need float64"),
      more(Verdict::not_in_16_bits, sixteen, "not in 16 bits"), more(Verdict::wrong, false, "with wrong vectors"));
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
                       {"wrong", report.count(Verdict::wrong)},
                       {"not_in_16_bits", report.count(Verdict::not_in_16_bits)},
                       {"cases", cases}};
  fmt::print("{}\n", object.dump(1));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Checks Catenary against reference vectors of other programs.");
  app.footer("Example: reference-check tests/data/reference/chainer/nets --device opencl:0 --dtype bfloat16");
  std::string directory, device = "cpu", dtype;
  bool as_json = false;
  app.add_option("DIR", directory, "Folder with a manifest.json and its arrays")->required();
  app.add_option("--device,-d", device, "Device: cpu, cuda:0, opencl:0, …");
  app.add_option("--dtype", dtype, "Round inputs to this 16-bit dtype and compute in it")
      ->check(catenary::command_line::one_of({"float16", "bfloat16"}));
  app.add_flag("--json", as_json, "Print the results as one JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return catenary::command_line::exit(app, e);
  }
  try {
    const tests::Share share = tests::Share::of_environment();
    catenary::get_device(device).use();
    const auto sixteen = dtype.empty() ? std::nullopt : std::optional(catenary::dtype_from_name(dtype));
    const Report report = run(directory, share, sixteen);
    if (!report.lines.empty()) as_json ? print_json(report) : print_text(report, sixteen.has_value());
    return report.count(Verdict::failed) > 0 ? 1 : 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "reference-check: {}\n", e.what());
    return 2;
  }
}
