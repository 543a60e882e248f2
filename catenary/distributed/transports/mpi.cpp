// Ranks that an MPI's mpiexec (or srun) started: its point-to-point messages, through a plugin that is compiled for
// that MPI. MPI is begun when the first communicator is made, and only in a process that an MPI started.

#include <algorithm>
#include <array>
#include <cstdio>
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

class MpiTransport final : public Transport {
 public:
  MpiTransport(const CatenaryMpi& mpi, const Launcher& launcher) : mpi_(mpi), name_(name_of(mpi)) {
    os::end_trials("MPI has begun");
    check(mpi_.start(&rank_, &size_), "begin");
    if (const std::string size = launcher.ranks(); size != std::to_string(size_))
      fail<Error>(
          "{} says that it started {} ranks, but {}, for which the plugin is made, sees {}: they are of two "
          "MPIs. Make a plugin with {}, by the mpicxx of that mpiexec, and name it in CATENARY_MPI_PLUGIN",
          launcher.name, size, name_, size_, make_line());
    // A rank that ends without finishing ends the job, and one that failed does not wait for the others.
    static const CatenaryMpi* const at_exit = &mpi_;
    on_exit([](int status, void*) { status == 0 ? void(at_exit->finish()) : at_exit->abort(status); }, nullptr);
  }

  std::string name() const override { return name_; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string host() const override { return host_identity(); }

  Transfer send(int to, const void* data, std::size_t bytes) override {
    Transfer transfer = 0;
    check(mpi_.send(to, data, static_cast<std::int64_t>(bytes), &transfer), "send");
    return transfer;
  }
  Transfer receive(int from, void* data, std::size_t bytes) override {
    Transfer transfer = 0;
    check(mpi_.receive(from, data, static_cast<std::int64_t>(bytes), &transfer), "receive");
    return transfer;
  }
  bool done(Transfer transfer) override {
    int is_done = 0;
    check(mpi_.done(transfer, &is_done), "go on with a transfer");
    return is_done != 0;
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
    mpi_.abort(1);
    os::end_process(1);
  }

 private:
  void check(int code, const char* what) const {
    if (code == 0) return;
    std::array<char, 1024> reason{};
    mpi_.message(code, reason.data(), static_cast<int>(reason.size()));
    fail<Error>("{} cannot {}: {}", name_, what, reason.data());
  }

  const CatenaryMpi& mpi_;
  std::string name_;
  int rank_ = 0, size_ = 1;
};

}  // namespace

std::string mpi_info() {
  std::string why;
  const CatenaryMpi* const found = find_plugin(why);
  return found ? fmt::format("{}, by {}", name_of(*found), plugin_path()) : "none: " + why;
}

std::shared_ptr<Transport> mpi() {
  const Launcher* const by = launcher();
  return by ? std::make_shared<MpiTransport>(load(), *by) : nullptr;
}

}  // namespace catenary::distributed::transports
