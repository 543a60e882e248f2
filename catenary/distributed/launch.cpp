#include "catenary/distributed/launch.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "catenary/core/format.h"
#include "catenary/core/os/children.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/core/os/signals.h"
#include "catenary/distributed/job.h"

namespace catenary::distributed {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = os::ChildEvent::Kind;

/// Prints lines that several ranks write once: as often as the rank that writes them most often.
class Chorus {
 public:
  /// Returns the lines of a rank's text that are new.
  std::string what_is_new(int rank, const std::string& text) {
    std::string fresh;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.size() > kLongest) {
        fresh += line + '\n';
        continue;
      }
      bytes_ += line.size();
      if (said_.size() >= kMostLines || bytes_ > kMostBytes) {  // so much output is a log, not a common error
        said_.clear();
        bytes_ = line.size();
      }
      Said& said = said_[line];
      if (++said.by_rank[rank] <= said.times) continue;
      ++said.times;
      fresh += line + '\n';
    }
    return fresh;
  }

 private:
  static constexpr std::size_t kMostLines = 10000, kMostBytes = std::size_t{8} << 20;
  static constexpr std::size_t kLongest = 65536;  // longer lines are printed for each rank
  struct Said {
    int times = 0;
    std::map<int, int> by_rank = {};
  };
  std::unordered_map<std::string, Said> said_;
  std::size_t bytes_ = 0;
};

/// Supervises the ranks of one job until all have exited.
class Launcher {
 public:
  Launcher(const std::vector<std::string>& command, const LaunchOptions& options)
      : options_(options), job_(options.ranks) {
    if (!options.log_dir.empty()) os::make_directories(options.log_dir);
    for (int rank = 0; rank < options.ranks && !options.log_dir.empty(); ++rank) {
      const std::string path = fmt::format("{}/rank-{}.log", options.log_dir, rank);
      if (!logs_.emplace_back(path, std::ios::binary)) fail<FileError>("{}: cannot be written", path);
    }
    const std::string mark = fmt::format("launch-{}-{}", os::process_id(), Clock::now().time_since_epoch().count());
    for (int rank = 0; rank < options.ranks; ++rank) {
      const os::Handle memory = job_.handle(), lifeline = lifeline_.far_end();
      const LaunchedRank told{rank, static_cast<int>(memory), static_cast<int>(lifeline), mark};
      children_.start(command, {{"CATENARY_LAUNCH", told.text()}}, {memory, lifeline});
    }
    children_.guard(mark);
    lifeline_.close_far_end();
  }

  int run() {
    while (children_.running() > 0) {
      for (const os::ChildEvent& event : children_.wait(0.1)) handle(event);
      hand_on_signals();
      press();
    }
    tell_why();
    return status_;
  }

 private:
  void handle(const os::ChildEvent& event) {
    if (event.kind != Kind::ended) return hand_on(event);
    const int status = event.signal ? 128 + event.signal : event.exit_code;
    if (status_ == 0) status_ = status;
    // after a forwarded signal each rank exits in its own time and may save first
    if (status == 0 || handed_on_ != 0) {
      job_.rank(event.child).ended.store(1, std::memory_order_release);
      for (int other = 0; other < job_.size(); ++other) job_.ring_bells(other);
    } else if (!failed_at_) {
      failed_at_ = Clock::now();
      if (!job_.ending()) job_.end(obituary(event));
      tell_why();
    }
  }

  void hand_on(const os::ChildEvent& event) {
    if (!logs_.empty()) logs_[static_cast<std::size_t>(event.child)] << event.text << std::flush;
    if (options_.prefix) {
      std::string text;
      std::istringstream lines(event.text);
      for (std::string line; std::getline(lines, line);) text += fmt::format("[{}] {}\n", event.child, line);
      return write(event.kind == Kind::output ? stdout : stderr, text);
    }
    if (event.kind == Kind::output) return write(stdout, event.text);
    write(stderr, chorus_.what_is_new(event.child, event.text));
  }

  /// Reports why the job ends. A rank that ended the job has given its reason; for a rank that died, report its
  /// operation.
  void tell_why() {
    if (told_ || job_.why().empty()) return;
    write(stderr, fmt::format("catenary launch: {}\n", job_.why()));
    told_ = true;
  }

  std::string obituary(const os::ChildEvent& event) const {
    const std::string doing = job_.noted(event.child);
    return fmt::format("rank {} of {} on {} {}{}{}", event.child, job_.size(), os::host_name(),
                       event.signal ? fmt::format("was ended by {}", os::signal_name(event.signal))
                                    : fmt::format("ended with status {}", event.exit_code),
                       doing.empty() ? "" : ", in or after ", doing);
  }

  static void write(std::FILE* stream, const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fflush(stream);
  }

  void hand_on_signals() {
    const int number = signals_.received();
    if (number == handed_on_) return;
    handed_on_ = number;
    signalled_at_ = Clock::now();
    for (int rank = 0; rank < job_.size(); ++rank) {
      children_.signal(rank, number);
      children_.signal(rank, os::kContinue);  // a stopped process does not handle signals
    }
  }

  /// After a failure, ranks exit at their next look at the shared memory. Those that do not get a message on the
  /// lifeline, then SIGTERM, then SIGKILL.
  void press() {
    if (signalled_at_ && !failed_at_) return press_after_signal();
    if (!failed_at_) return;
    const double share = std::chrono::duration<double>(Clock::now() - *failed_at_).count() / options_.grace;
    static constexpr double kWhen[] = {0.3, 0.5, 1};
    if (pressed_ >= 3 || share < kWhen[pressed_]) return;
    if (pressed_ == 0) lifeline_.cut();
    for (int rank = 0; pressed_ > 0 && rank < job_.size(); ++rank)
      children_.signal(rank, pressed_ == 1 ? os::kTerminate : os::kKill);
    ++pressed_;
  }

  /// A rank that received a signal may be saving, so leave it alone until the limit.
  void press_after_signal() {
    const double limit = kSaving * options_.grace;
    if (pressed_ > 0 || std::chrono::duration<double>(Clock::now() - *signalled_at_).count() < limit) return;
    pressed_ = 1;
    write(stderr, fmt::format("catenary launch: {} of {} ranks did not end within {:g} seconds of {} and are killed; "
                              "they have 5 times --grace, which is {:g}\n",
                              children_.running(), job_.size(), limit, os::signal_name(handed_on_), options_.grace));
    for (int rank = 0; rank < job_.size(); ++rank) children_.signal(rank, os::kKill);
  }

  static constexpr double kSaving = 5;  // times the grace

  LaunchOptions options_;
  os::ScopedSignals signals_;
  Job job_;
  os::Lifeline lifeline_;
  os::Children children_;  // destroyed first, which ends the remaining processes
  int status_ = 0, handed_on_ = 0, pressed_ = 0;
  bool told_ = false;
  std::optional<Clock::time_point> failed_at_, signalled_at_;
  std::vector<std::ofstream> logs_;
  Chorus chorus_;
};

}  // namespace

static_assert(kMaxLaunchedRanks == Job::max_ranks);

int launch(const std::vector<std::string>& command, const LaunchOptions& options) {
  if (command.empty()) fail<ValueError>("launch: no program is named");
  if (options.ranks < 1 || options.ranks > kMaxLaunchedRanks)
    fail<ValueError>("launch: {} ranks; 1 to {} can be started", options.ranks, kMaxLaunchedRanks);
  if (!(options.grace > 0)) fail<ValueError>("launch: a grace of {} seconds; it must be above 0", options.grace);
  return Launcher(command, options).run();
}

std::string LaunchedRank::text() const {
  return fmt::format("{}:{}:{}{}{}", rank, memory, lifeline, job.empty() ? "" : ":", job);
}

LaunchedRank LaunchedRank::parse(const std::string& text) {
  LaunchedRank self{-1, -1, -1};
  int end = 0;
  const int numbers = std::sscanf(text.c_str(), "%d:%d:%d%n", &self.rank, &self.memory, &self.lifeline, &end);
  const std::string rest = text.substr(static_cast<std::size_t>(end));
  if (!rest.empty()) self.job = rest.substr(1);
  if (numbers != 3 || (!rest.empty() && rest[0] != ':'))
    fail<ValueError>("CATENARY_LAUNCH={}: expected a value set by catenary launch; unset the variable", text);
  return self;
}

}  // namespace catenary::distributed
