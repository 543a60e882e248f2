#pragma once
// Starts the ranks of a job on this machine, without MPI: what `catenary launch` does.

#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::distributed {

/// The most ranks that launch() starts.
inline constexpr int kMaxLaunchedRanks = 256;

/// Options of launch().
struct LaunchOptions {
  int ranks = 1;             ///< at most kMaxLaunchedRanks
  double grace = 3;          ///< seconds that the others have to end by themselves when a rank has failed; after a
                             ///< signal all have five times as long, to save
  std::string log_dir = {};  ///< a folder: what rank R writes goes to rank-R.log in it, too
  bool prefix = false;       ///< lines begin with their rank: "[2] "
};

/// Runs a program as so many ranks, which are children of this process and whose create_communicator() finds the
/// others. Their output is handed on by whole lines; what several of them say alike on standard error, such as an error
/// that all meet, is said once unless lines have prefixes. A rank that fails ends the job, with one message on standard
/// error; SIGINT, SIGTERM, SIGHUP and SIGXCPU are handed on to all, a second one ends the job at once, and ranks that
/// do not end get SIGKILL. Returns 0, or the exit status of the rank that failed first (128 and the signal's number
/// where a signal ended it). When it returns, all are gone. Throws ValueError, and FileError where the program cannot
/// be started. To be called in the main thread.
CT_API int launch(const std::vector<std::string>& command, const LaunchOptions& options);

/// Private: what a rank is told by its launcher, in CATENARY_LAUNCH.
struct CT_API LaunchedRank {
  int rank, memory, lifeline;
  std::string job = {};  ///< a mark of the launcher's, which all that its ranks start inherit
  std::string text() const;
  static LaunchedRank parse(const std::string& text);
};

}  // namespace catenary::distributed
