#include "catenary/device/compilation_notice.h"

#include <mutex>

#include "catenary/core/clock.h"
#include "catenary/core/format.h"
#include "catenary/core/os/terminal.h"
#include "catenary/device/kernel_cache.h"

namespace catenary {

namespace {

/// All compilations of this process.
struct Compilations {
  std::mutex mutex;
  bool wanted = false, announced = false;
  int count = 0, concluded = 0;
  double seconds = 0, last_end = 0;

  static void say(const std::string& line) {
    // clears a progress bar that may be on this line
    fmt::print(stderr, "{}{}\n", os::is_terminal(os::kStandardError) ? "\r\033[J" : "", line);
  }
  void conclude() {
    if (!announced || count == concluded) return;
    concluded = count;
    say(fmt::format("compiled {} kernels in {:.1f} s", count, seconds));
  }
  ~Compilations() { conclude(); }
};
Compilations& compilations() {
  static Compilations all;
  return all;
}

}  // namespace

CompilationNotice::CompilationNotice(const std::string& device) : start_(monotonic_seconds()) {
  constexpr double kPatience = 1;  // seconds
  Compilations& all = compilations();
  const std::lock_guard lock(all.mutex);
  if (all.announced || all.seconds < kPatience || !(all.wanted || os::is_terminal(os::kStandardError))) return;
  all.announced = true;
  const std::string folder = keeps_kernels() ? kernel_cache_folder() : "";
  Compilations::say(
      fmt::format("compiling kernels for {} …{}", device,
                  folder.empty() ? "" : fmt::format(" (only at their first use: {} keeps them)", folder)));
}

CompilationNotice::~CompilationNotice() {
  Compilations& all = compilations();
  const std::lock_guard lock(all.mutex);
  ++all.count;
  all.last_end = monotonic_seconds();
  all.seconds += all.last_end - start_;
}

void announce_compilations() {
  Compilations& all = compilations();
  const std::lock_guard lock(all.mutex);
  all.wanted = true;
}

void conclude_compilations(double idle) {
  Compilations& all = compilations();
  const std::lock_guard lock(all.mutex);
  if (idle > 0 && monotonic_seconds() - all.last_end < idle) return;
  all.conclude();
}

}  // namespace catenary
