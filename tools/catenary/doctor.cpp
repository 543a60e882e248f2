#include "tools/catenary/doctor.h"

#include <fmt/format.h>

#include <algorithm>

#include "catenary/core/os/system.h"
#include "catenary/core/version.h"
#include "tools/catenary/commands.h"

namespace catenary::command {

namespace {

const char* level_name(doctor::Level level) {
  return level == doctor::Level::ok ? "OK" : level == doctor::Level::warn ? "WARN" : "FAIL";
}

/// Joins a compiler's messages into one line; --json shows all lines.
std::string one_line(std::string text) {
  constexpr std::size_t kMost = 400;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.size() <= kMost ? text : text.substr(0, kMost) + "…";
}

}  // namespace

int doctor(const DoctorOptions& options) {
  using namespace doctor;
  const Machine machine(options.root);
  Facts facts;
  Report report;
  std::size_t told = 0;
  const auto tell = [&] {  // print while the next check runs, which may take seconds
    for (; !options.json && told < report.findings().size(); ++told) {
      const Finding& finding = report.findings()[told];
      fmt::print("{:<5}{:<4}{}{}{}\n", level_name(finding.level), finding.id, one_line(finding.message),
                 finding.advice.empty() ? "" : " -> ", finding.advice);
    }
    std::fflush(stdout);
  };
  if (machine.is_windows()) {
    check_windows(machine, facts, report);
  } else {
    check_hardware(machine, facts, report);
    tell();
    check_amd(machine, facts, report);
    tell();
    check_nvidia(machine, facts, report);
    tell();
    check_opencl(machine, facts, report);
  }
  tell();
  check_backends(machine, facts, report);
  tell();
  check_general(machine, facts, report);
  tell();
  if (!machine.is_windows()) {  // which has no ranks, and no package for Python yet
    check_mpi(machine, report);
    check_nccl(machine, facts, report);
    tell();
    check_python(machine, report);
    tell();
  }

  int counts[3] = {};
  for (const Finding& finding : report.findings()) ++counts[static_cast<int>(finding.level)];
  const bool untested = !machine.is_this_one() && !machine.probe("test:cpu");
  const bool ok = counts[2] == 0 && (facts.usable > 0 || untested);
  if (options.json) {
    nlohmann::ordered_json findings = nlohmann::ordered_json::array();
    for (const Finding& finding : report.findings())
      findings.push_back({{"level", level_name(finding.level)},
                          {"id", finding.id},
                          {"message", finding.message},
                          {"advice", finding.advice}});
    fmt::print("{}\n", nlohmann::ordered_json{{"schema", 1},
                                              {"version", version()},
                                              {"system", machine.system()},
                                              {"ok", ok},
                                              {"usable_devices", facts.usable},
                                              {"devices", facts.devices},
                                              {"findings", findings}}
                           .dump(2));
  } else {
    fmt::print("{} OK, {} warnings, {} failures; {} usable device{}{}\n", counts[0], counts[1], counts[2], facts.usable,
               facts.usable == 1 ? "" : "s", untested ? " (none was tested)" : "");
  }
  return ok ? 0 : 1;
}

int probe(const std::string& name) {
  nlohmann::ordered_json answer;
  if (name.rfind("test:", 0) == 0)
    answer = doctor::test_device(name.substr(5));
  else if (name == "nvml")
    answer = doctor::ask_nvml();
  else if (name == "mpi")
    answer = doctor::ask_mpi();
  else if (name == "nccl")
    answer = doctor::ask_nccl();
  else if (name == "python")
    answer = doctor::ask_python();
  else if (name.rfind("library:", 0) == 0)
    answer = doctor::ask_library(name.substr(8));
  else
    answer = doctor::ask_backend(name);
  fmt::print("{}\n", answer.dump());
  return 0;
}

}  // namespace catenary::command
