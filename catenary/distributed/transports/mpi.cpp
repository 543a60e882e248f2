// Transport for ranks started by mpiexec (or srun): point-to-point messages through a plugin that is compiled for the
// MPI in use. The first communicator initialises MPI, and only in a process that an MPI launcher started.

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/core/os/installation.h"
#include "catenary/core/os/library.h"
#include "catenary/core/os/obituary.h"
#include "catenary/core/os/process.h"
#include "catenary/core/os/trial.h"
#include "catenary/distributed/launchers.h"
#include "catenary/distributed/mpi/plugin.h"
#include "catenary/distributed/transport.h"

namespace catenary::distributed::transports {
namespace {

using std::chrono::nanoseconds;

/// Returns the launcher that started this process, or null.
const Launcher* launcher() {
  for (const Launcher& l : mpi_launchers())
    if (!l.ranks().empty()) return &l;
  return nullptr;
}

std::string make_line() {
  const std::string source = os::share_folder() + "/mpi";
  return fmt::format("`mpicxx -std=c++17 -O2 -shared -fPIC {}/plugin.cpp -o libcatenary_mpi.so`", source);
}

std::string plugin_path() {
  const std::string named = environment::text("CATENARY_MPI_PLUGIN");
  return named.empty() ? os::library_folder() + "/" + os::plugin_file("mpi") : named;
}

/// Returns the plugin and its MPI, or null with the reason.
const CatenaryMpi* find_plugin(std::string& why) {
  const std::string path = plugin_path();
  const std::optional<os::Library> library = os::Library::find(path, &why);
  auto* const get = library ? library->function<const CatenaryMpi*()>("catenary_mpi") : nullptr;
  const CatenaryMpi* const found = get ? get() : nullptr;
  if (found && found->interface == CT_MPI_INTERFACE) return found;
  if (library) why = path + (found ? " is of another version of Catenary" : " is no plugin of Catenary's");
  return nullptr;
}

const CatenaryMpi& load() {
  std::string why;
  const CatenaryMpi* const found = find_plugin(why);
  if (!found)
    fail<Error>(
        "{} started this process, but there is no plugin for its MPI: {}. Make one with {} and name it in "
        "CATENARY_MPI_PLUGIN; on one machine `catenary launch` needs no MPI",
        launcher()->name, why, make_line());
  return *found;
}

// Shortens "Open MPI v4.1.4, package: …" to "Open MPI 4.1.4", "MPICH Version:\t4.0.2\n…" to "MPICH 4.0.2".
std::string name_of(const CatenaryMpi& mpi) {
  std::array<char, 8192> text{};
  mpi.library(text.data(), static_cast<int>(text.size()));
  const std::string whole(text.data());
  std::istringstream words(whole.substr(0, whole.find_first_of(",\n")));
  std::string name, word;
  while (words >> word) {
    if (word == "Version:") continue;
    const bool is_version = word.size() > 1 && word[0] == 'v' && word[1] >= '0' && word[1] <= '9';
    name += (name.empty() ? "" : " ") + word.substr(is_version ? 1 : 0);
  }
  return name;
}

/// MPI tags of transfers between two ranks. A rank that exits with status 0 sends its numbers of started transfers as a
/// farewell, so that a rank that waits for more knows that it waits in vain.
enum Channel { main_thread, other_thread, letters, farewells, kinds = farewells };
struct Farewell {
  std::int64_t sends[kinds] = {}, receives[kinds] = {};
};

/// The loaded plugin. Threads take turns in calling it.
class Mpi {
 public:
  Mpi(const CatenaryMpi& plugin, const Launcher& launcher) : name(name_of(plugin)), plugin_(plugin) {
    os::end_trials("MPI has begun");
    int threads = 0, ours = 0;
    const std::string hint = hint_for(launcher);
    const bool by_srun = launcher.name == std::string("srun");
    if (by_srun && is_first_rank()) obituary_.note(hint);  // an MPI whose initialisation fails may end the process
    check("begin", plugin_.start(&rank, &size, &threads, &ours));
    obituary_.note({});
    any_thread = threads != 0;
    ours_ = ours != 0;
    if (const std::string told = launcher.ranks(); told != std::to_string(size))
      fail<Error>("{} says that it started {} ranks, but {}, for which the plugin is made, sees {}: {}", launcher.name,
                  told, name, size, hint);
    peers_.resize(static_cast<std::size_t>(size));
  }

  Transfer send(int to, Channel channel, const void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Transfer transfer = 0;
    check("send", plugin_.send(to, channel, data, static_cast<std::int64_t>(bytes), &transfer));
    return started(transfer, {to, channel, true, peer(to).own.sends[channel]++});
  }
  Transfer receive(int from, Channel channel, void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Transfer transfer = 0;
    check("receive", plugin_.receive(from, channel, data, static_cast<std::int64_t>(bytes), &transfer));
    return started(transfer, {from, channel, false, peer(from).own.receives[channel]++});
  }
  bool done(Transfer transfer) {
    const std::lock_guard lock(mutex_);
    if (test(transfer)) return true;
    const Started& s = started_[static_cast<std::size_t>(transfer)];
    if (const std::optional<Farewell>& farewell = peer(s.peer).farewell;
        farewell && s.number >= (s.sends ? farewell->receives : farewell->sends)[s.channel])
      fail<Error>("rank {} has ended", s.peer);
    return false;
  }
  /// Returns a rank that has sent a message on a channel for which no receive was started, or -1. Checks one rank or
  /// all.
  int probe(Channel channel, int from = -1) {
    const std::lock_guard lock(mutex_);
    return probe_held(channel, from);
  }
  /// Returns whether a rank has exited and all its messages on this channel were received.
  bool has_ended(int who, Channel channel) {
    const std::lock_guard lock(mutex_);
    const Peer& of = peer(who);
    return of.farewell && of.own.receives[channel] >= of.farewell->sends[channel];
  }
  /// Receives the farewells of ranks that have exited.
  void hear_farewells() {
    const std::lock_guard lock(mutex_);
    take_farewells();
  }

  /// Says farewell to the other ranks and waits for them, so that none waits in vain; after a failure, ends the job.
  /// Keeps the lock, so that no thread calls MPI afterwards.
  void end(int status) noexcept {
    if (os::process_id() != process_) return;  // a forked child of the program
    obituary_.withdraw();
    mutex_.lock();
    if (status != 0) {
      fmt::print(stderr, "{} ended with status {}{}\n", own_name(), status, in_or_after());
      return plugin_.abort(status);
    }
    if (plugin_.is_over()) return;
    try {
      std::vector<Transfer> sent(peers_.size());
      for (int to = 0; to < size; ++to)
        if (to != rank)
          check("send",
                plugin_.send(to, farewells, &peer(to).own, sizeof(Farewell), &sent[static_cast<std::size_t>(to)]));
      if (!ours_) return;  // the program finalises MPI itself
      for (int to = 0; to < size; ++to)
        while (to != rank && !(peer(to).farewell && test(sent[static_cast<std::size_t>(to)]))) {
          take_farewells();
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      plugin_.finish();
    } catch (const Error& error) {
      fmt::print(stderr, "{}\n", error.what());
      plugin_.abort(1);
    }
  }
  void withdraw() { obituary_.withdraw(); }
  void abort() const { plugin_.abort(1); }
  /// mpiexec reports that a rank died and by which signal, but not its operation, so record it.
  void note(const std::string& doing) {
    const std::lock_guard lock(noting_);
    doing_ = doing;
    obituary_.note(own_name() + " has died" + in_or_after());
  }

  const std::string name;
  int rank = 0, size = 1;
  bool any_thread = false;

 private:
  struct Started {
    int peer;
    Channel channel;
    bool sends;
    std::int64_t number;  // number among such transfers, from 0
  };
  struct Peer {
    Farewell own;  // farewell that this rank would send
    std::optional<Farewell> farewell;
  };

  /// Returns a remedy for ranks that do not find each other.
  std::string hint_for(const Launcher& launcher) const {
    if (launcher.name != std::string("srun"))
      return fmt::format(
          "they are of two MPIs. Make a plugin with {}, by the mpicxx of that mpiexec, and name it in "
          "CATENARY_MPI_PLUGIN",
          make_line());
    return fmt::format(
        "srun has not told the ranks how they find each other. Start them by `srun --mpi={}` (`srun --mpi=list` says "
        "what there is), or by mpiexec",
        name.starts_with("Open MPI") ? "pmix" : "pmi2");
  }
  std::string own_name() const { return fmt::format("rank {} of {} on {}", rank, size, host_); }
  std::string in_or_after() const { return doing_.empty() ? "" : ", in or after " + doing_; }

  void check(const char* what, int code) const {
    if (code == 0) return;
    std::array<char, 1024> reason{};
    plugin_.message(code, reason.data(), static_cast<int>(reason.size()));
    fail<Error>("{} cannot {}: {}", name, what, reason.data());
  }
  // The functions below require the lock.
  Peer& peer(int who) { return peers_[static_cast<std::size_t>(who)]; }
  Transfer started(Transfer transfer, const Started& what) {
    const auto at = static_cast<std::size_t>(transfer);
    if (started_.size() <= at) started_.resize(at + 1);
    started_[at] = what;
    return transfer;
  }
  bool test(Transfer transfer) {
    int is_done = 0;
    check("go on with a transfer", plugin_.done(transfer, &is_done));
    return is_done != 0;
  }
  int probe_held(Channel channel, int from) {
    int source = -1;
    check("look for messages", plugin_.probe(from, channel, &source));
    return source;
  }
  void take_farewells() {
    for (int from; (from = probe_held(farewells, -1)) >= 0;) {
      Farewell farewell;
      Transfer transfer = 0;
      check("receive", plugin_.receive(from, farewells, &farewell, sizeof farewell, &transfer));
      while (!test(transfer)) {  // the message has arrived
      }
      peer(from).farewell = farewell;
    }
  }

  os::Obituary obituary_;  // before MPI is initialised
  const CatenaryMpi& plugin_;
  std::mutex mutex_, noting_;
  const std::string host_ = os::host_name();
  const int process_ = os::process_id();
  std::string doing_;
  bool ours_ = false;
  std::vector<Started> started_;  // indexed by the number of the transfer
  std::vector<Peer> peers_;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(Mpi& mpi, Channel channel) : mpi_(mpi), channel_(channel) {}

  std::string name() const override { return mpi_.name; }
  int rank() const override { return mpi_.rank; }
  int size() const override { return mpi_.size; }
  std::string host() const override { return host_identity(); }

  Transfer send(int to, const void* data, std::size_t bytes, Lane lane) override {
    return mpi_.send(to, channel_of(lane), data, bytes);
  }
  Transfer receive(int from, void* data, std::size_t bytes, Lane lane) override {
    return mpi_.receive(from, channel_of(lane), data, bytes);
  }
  bool done(Transfer transfer) override { return mpi_.done(transfer); }
  Coming coming(int from, Lane lane) override {
    if (mpi_.probe(channel_of(lane), from) >= 0) return Coming::something;
    return mpi_.has_ended(from, channel_of(lane)) ? Coming::never : Coming::nothing_yet;
  }
  int letter_from() override { return mpi_.probe(letters); }
  std::shared_ptr<Transport> background() override {
    return mpi_.any_thread ? std::make_shared<MpiTransport>(mpi_, other_thread) : nullptr;
  }

  void note(const std::string& doing) override { mpi_.note(doing); }

  // MPI makes progress only during calls. Poll often at first, because most waits take microseconds, then yield the
  // core, in case a rank computes for long.
  void pause(nanoseconds waited) override {
    if (waited < std::chrono::microseconds(50)) {
#if defined(__x86_64__)
      for (int i = 0; i < 16; ++i) __builtin_ia32_pause();
#endif
    } else if (waited < std::chrono::milliseconds(2)) {
      std::this_thread::yield();
    } else {
      mpi_.hear_farewells();
      std::this_thread::sleep_for(std::clamp(waited / 20, nanoseconds(100'000), nanoseconds(2'000'000)));
    }
  }

  [[noreturn]] void abort(const std::string& why) noexcept override {
    mpi_.withdraw();
    fmt::print(stderr, "{}\n", why);
    std::fflush(nullptr);
    // Some MPIs neither return from it nor end the process.
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::seconds(2));
      os::end_process(1);
    }).detach();
    mpi_.abort();
    os::end_process(1);
  }

 private:
  Channel channel_of(Lane lane) const { return lane == Lane::letters ? letters : channel_; }

  Mpi& mpi_;
  Channel channel_;
};

}  // namespace

std::string mpi_info() {
  std::string why;
  const CatenaryMpi* const found = find_plugin(why);
  return found ? fmt::format("{}, by {}", name_of(*found), plugin_path()) : "none: " + why;
}

std::shared_ptr<Transport> mpi() {
  const Launcher* const by = launcher();
  if (!by) return nullptr;
  static Mpi& mpi = *new Mpi(load(), *by);  // never destroyed, because a background thread may use it until the process
                                            // ends
  static const bool registered = (os::at_exit([](int status) { mpi.end(status); }), true);
  (void)registered;
  return std::make_shared<MpiTransport>(mpi, main_thread);
}

}  // namespace catenary::distributed::transports
