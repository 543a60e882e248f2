#pragma once
// Child processes with a time limit, and who we are.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::os {

/// How a program is run.
struct ProcessOptions {
  double timeout = 0;  ///< seconds, after which the child and its children are killed; 0: no limit
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< set on top of ours
  std::string input = {};                                             ///< what the child reads
  std::size_t max_output = std::size_t{16} << 20;  ///< bytes kept of each stream; the rest is read and dropped
};

/// How a program ended, and what it wrote.
struct ProcessResult {
  int exit_code = 0;       ///< of a child that ended by itself, else -1
  int signal = 0;          ///< that ended the child, or 0
  bool timed_out = false;  ///< it was killed as the time was up
  std::string output = {}, errors = {};
  bool ok() const { return exit_code == 0 && signal == 0 && !timed_out; }
};

/// Runs a program (searched in PATH unless its name has a slash) and waits for it. Throws
/// FileError when it cannot be started; how it ends is in the result.
CT_API ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& options = {});

/// The environment of this process, as NAME=VALUE.
CT_API std::vector<std::string> environment_entries();
/// The number of this process.
CT_API int process_id();
/// Cores that this process may run on (its affinity, which batch systems and `taskset` narrow), at least 1.
CT_API int usable_processors();
/// Cores of this machine that are running, at least 1.
CT_API int online_processors();
/// The name of this machine.
CT_API std::string host_name();
/// The number that this machine's kernel drew when it started; empty where it says none.
CT_API std::string boot_number();
/// Ends this process at once, without destructors, once what is buffered on its streams is written.
[[noreturn]] CT_API void end_process(int status);
/// The file of the running program.
CT_API std::string program_path();

}  // namespace catenary::os
