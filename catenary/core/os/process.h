#pragma once
// Child processes with a time limit, and the identity, environment and end of this process.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::os {

/// Options of run_process.
struct ProcessOptions {
  double timeout = 0;  ///< seconds, after which the child and its children are killed (0: no limit)
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to our environment
  std::string input = {};                                             ///< standard input of the child
  std::size_t max_output = std::size_t{16} << 20;  ///< bytes kept of each stream, more is read and dropped
};

/// The exit status and the output of a program.
struct ProcessResult {
  int exit_code = 0;       ///< of a child that exited, else -1
  int signal = 0;          ///< the signal that ended the child, or 0
  bool timed_out = false;  ///< true if it was killed after the timeout
  std::string output = {}, errors = {};
  bool ok() const { return exit_code == 0 && signal == 0 && !timed_out; }
};

/// Runs a program (searched in PATH unless its name has a slash) and waits for it. Throws FileError if it cannot be
/// started.
CT_API ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& options = {});

/// Returns the environment of this process, as NAME=VALUE.
CT_API std::vector<std::string> environment_entries();
/// Sets an environment variable of this process, unless it is set. Other threads must not read the environment now.
CT_API void set_environment_default(const std::string& name, const std::string& value);
/// Returns the process ID.
CT_API int process_id();
/// Returns the number of cores that this process may run on (its affinity, which batch systems and `taskset` narrow),
/// at least 1.
CT_API int usable_processors();
/// Returns the number of online cores, at least 1.
CT_API int online_processors();
/// Returns the host name.
CT_API std::string host_name();
/// Returns the random number that the kernel drew at boot. Empty if unknown.
CT_API std::string boot_number();
/// Returns how many forks lie between this process and the one of its ancestors that called this first.
CT_API int fork_count();
/// Calls f with the exit status when this process ends by exit() or by returning from main.
CT_API void at_exit(void (*f)(int status));
/// Flushes the standard streams and ends this process at once, without destructors.
[[noreturn]] CT_API void end_process(int status);
/// Returns the file of the running program.
CT_API std::string program_path();

}  // namespace catenary::os
