#include "catenary/backends/cpu/solver/libraries.h"

#include <atomic>
#include <utility>
#include <vector>

#include "catenary/backends/cpu/solver/lapack.h"
#include "catenary/core/environment.h"
#include "catenary/core/os/library.h"

namespace catenary::cpu {

namespace {

constexpr const char* kSolverVariable = "CATENARY_SOLVER";
constexpr std::int64_t kSlowSize = 256;  // own code takes noticeably longer than a library from here on

/// A library with LAPACK's functions. `threads` is its function that sets the number of threads.
struct KnownSolver {
  const char* name;
  const char* library;
  const char* version;
  const char* threads;
};

/// OpenBLAS comes first: MKL ends the process if it lacks a part of itself, and a plain LAPACK has one thread.
constexpr KnownSolver kKnownSolvers[] = {{"OpenBLAS", "openblas", "0", "openblas_set_num_threads"},
                                         {"MKL", "mkl_rt", "2", "MKL_Set_Num_Threads"},
                                         {"LAPACK", "lapack", "3", nullptr}};

/// Registers the variable before main, because all variables are checked at once.
const bool kSolverChoice = [] {
  std::vector<std::string> names;
  for (const KnownSolver& known : kKnownSolvers) names.emplace_back(known.name);
  environment::add_library_choice("solver", kSolverVariable, names);
  return true;
}();

}  // namespace

Providers<Solve>& solvers() {
  static auto* const providers = [] {
    std::vector<std::pair<const char*, Providers<Solve>::Open>> list;
    for (const KnownSolver& known : kKnownSolvers)
      list.emplace_back(known.name, [known](std::string& why) {
        return open_lapack(os::library_file(known.library, known.version), known.threads, why);
      });
    auto made = std::make_unique<Providers<Solve>>("solver", "cpu", std::move(list), "");
    const std::string asked = environment::text(kSolverVariable);
    made->choose(asked, fmt::format("{}={}", kSolverVariable, asked));
    return made.release();  // never destroyed: a library's threads may outlive static destruction
  }();
  return *providers;
}

bool solves(Dtype dtype, std::int64_t size) {
  const Dtype part = part_dtype(dtype);
  if ((part == Dtype::float32 || part == Dtype::float64) && size <= kLargestLapack && solvers().any()) return true;
  static std::atomic<bool> reported{false};
  if (size >= kSlowSize && environment::text(kSolverVariable).empty() && !reported.exchange(true))
    fmt::print(stderr,
               "catenary: no LAPACK was found, so Catenary's own slower code computes linear algebra; install OpenBLAS "
               "(libopenblas0 on Debian), or set {}=own to accept it\n",
               kSolverVariable);
  return false;
}

}  // namespace catenary::cpu
