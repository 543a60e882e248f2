#pragma once
// Starts the ranks of a job on this machine, without MPI. Implements `catenary launch`.

#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::distributed {

/// Maximum number of ranks of launch().
inline constexpr int kMaxLaunchedRanks = 256;

/// Options of launch().
struct LaunchOptions {
  int ranks = 1;             ///< at most kMaxLaunchedRanks
  double grace = 3;          ///< seconds that the other ranks get to exit after a failure (five times as long after a
                             ///< signal, so that they can save)
  std::string log_dir = {};  ///< folder for copies of the ranks' output, rank-R.log
  bool prefix = false;       ///< prefixes lines with their rank: "[2] "
};

/// Runs a program in several processes, whose create_communicator() finds the other ranks.
///
/// - Output is forwarded in whole lines. Without prefixes, a line that several ranks print on standard error, such as a
///   common error, appears once.
/// - If a rank fails, the job ends with one message on standard error.
/// - SIGINT, SIGTERM, SIGHUP and SIGXCPU are forwarded to all ranks. A second signal ends the job at once. Ranks that
///   do not exit in time get SIGKILL.
///
/// Returns, when all ranks have exited, 0 or the exit status of the rank that failed first (128 + signal number if a
/// signal ended it). Throws ValueError, and FileError if the program cannot be started. Call it in the main thread.
CT_API int launch(const std::vector<std::string>& command, const LaunchOptions& options);

/// Private: the contents of CATENARY_LAUNCH, by which the launcher configures a rank.
struct CT_API LaunchedRank {
  int rank, memory, lifeline;
  std::string job = {};  ///< identifies the job; inherited by all processes that its ranks start
  std::string text() const;
  static LaunchedRank parse(const std::string& text);
};

}  // namespace catenary::distributed
