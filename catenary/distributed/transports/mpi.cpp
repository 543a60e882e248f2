// Ranks that an MPI's mpiexec (or srun) started: its point-to-point messages, through a plugin that is compiled for
// that MPI. MPI is begun when the first communicator is made, and only in a process that an MPI started.

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
#include "catenary/core/os/process.h"
#include "catenary/core/os/trial.h"
#include "catenary/distributed/launchers.h"
#include "catenary/distributed/mpi/plugin.h"
#include "catenary/distributed/transport.h"

namespace catenary::distributed::transports {
namespace {

using std::chrono::nanoseconds;

/// Who started this process as one of several.
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
  return named.empty() ? os::library_folder() + "/libcatenary_mpi.so" : named;
}

/// The plugin, with the MPI that it is made for; null and the reason where there is none.
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

// "Open MPI 4.1.4" of "Open MPI v4.1.4, package: …", "MPICH 4.0.2" of "MPICH Version:\t4.0.2\n…".
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

/// The plugin in use. Threads take turns in calling it.
class Mpi {
 public:
  Mpi(const CatenaryMpi& plugin, const Launcher& launcher) : name(name_of(plugin)), plugin_(plugin) {
    os::end_trials("MPI has begun");
    int threads = 0;
    check("begin", plugin_.start(&rank, &size, &threads));
    any_thread = threads != 0;
    if (const std::string told = launcher.ranks(); told != std::to_string(size))
      fail<Error>(
          "{} says that it started {} ranks, but {}, for which the plugin is made, sees {}: they are of two "
          "MPIs. Make a plugin with {}, by the mpicxx of that mpiexec, and name it in CATENARY_MPI_PLUGIN",
          launcher.name, told, name, size, make_line());
  }

  /// A function of the plugin's, whose code is looked at.
  template <class... P, class... A>
  void call(const char* what, int (*CatenaryMpi::*function)(P...), A... arguments) {
    const std::lock_guard lock(mutex_);
    check(what, (plugin_.*function)(arguments...));
  }

  /// A rank that ends without finishing ends the job, and one that failed does not wait for the others. Nobody calls
  /// MPI any more from here on: the lock is kept.
  void end(int status) {
    mutex_.lock();
    status == 0 ? void(plugin_.finish()) : plugin_.abort(status);
  }
  void abort() const { plugin_.abort(1); }

  const std::string name;
  int rank = 0, size = 1;
  bool any_thread = false;

 private:
  void check(const char* what, int code) const {
    if (code == 0) return;
    std::array<char, 1024> reason{};
    plugin_.message(code, reason.data(), static_cast<int>(reason.size()));
    fail<Error>("{} cannot {}: {}", name, what, reason.data());
  }

  const CatenaryMpi& plugin_;
  std::mutex mutex_;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(Mpi& mpi, int channel) : mpi_(mpi), channel_(channel) {}

  std::string name() const override { return mpi_.name; }
  int rank() const override { return mpi_.rank; }
  int size() const override { return mpi_.size; }
  std::string host() const override { return host_identity(); }

  Transfer send(int to, const void* data, std::size_t bytes) override {
    Transfer transfer = 0;
    mpi_.call("send", &CatenaryMpi::send, to, channel_, data, static_cast<std::int64_t>(bytes), &transfer);
    return transfer;
  }
  Transfer receive(int from, void* data, std::size_t bytes) override {
    Transfer transfer = 0;
    mpi_.call("receive", &CatenaryMpi::receive, from, channel_, data, static_cast<std::int64_t>(bytes), &transfer);
    return transfer;
  }
  bool done(Transfer transfer) override {
    int is_done = 0;
    mpi_.call("go on with a transfer", &CatenaryMpi::done, transfer, &is_done);
    return is_done != 0;
  }
  std::shared_ptr<Transport> background() override {
    return mpi_.any_thread ? std::make_shared<MpiTransport>(mpi_, channel_ + 1) : nullptr;
  }

  // MPI moves bytes only while it is called: it is asked often at first, as ranks wait for each other for
  // microseconds mostly, and leaves the core to others when one computes for long.
  void pause(nanoseconds waited) override {
    if (waited < std::chrono::microseconds(50)) {
#if defined(__x86_64__)
      for (int i = 0; i < 16; ++i) __builtin_ia32_pause();
#endif
    } else if (waited < std::chrono::milliseconds(2)) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::clamp(waited / 20, nanoseconds(100'000), nanoseconds(2'000'000)));
    }
  }

  [[noreturn]] void abort(const std::string& why) noexcept override {
    fmt::print(stderr, "{}\n", why);
    std::fflush(nullptr);
    // Some MPIs do not return from it, and do not end the process either.
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::seconds(2));
      os::end_process(1);
    }).detach();
    mpi_.abort();
    os::end_process(1);
  }

 private:
  Mpi& mpi_;
  int channel_;
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
  static Mpi& mpi = *new Mpi(load(), *by);  // to the end of the process, which a thread in the background may see
  static const int at_exit = on_exit([](int status, void*) { mpi.end(status); }, nullptr);
  (void)at_exit;
  return std::make_shared<MpiTransport>(mpi, 0);
}

}  // namespace catenary::distributed::transports
