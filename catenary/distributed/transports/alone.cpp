// Transport of a single process without a launcher.

#include <cstdio>
#include <cstdlib>

#include "catenary/core/format.h"
#include "catenary/core/os/process.h"
#include "catenary/distributed/transport.h"

namespace catenary::distributed::transports {

namespace {

class Alone final : public Transport {
 public:
  std::string name() const override { return "one process"; }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string host() const override { return host_identity(); }
  Transfer send(int to, const void*, std::size_t, Lane) override { nobody(to); }
  Transfer receive(int from, void*, std::size_t, Lane) override { nobody(from); }
  Coming coming(int from, Lane) override { nobody(from); }
  int letter_from() override { return -1; }
  std::shared_ptr<Transport> background() override { return std::make_shared<Alone>(); }
  bool done(Transfer) override { return true; }
  void pause(std::chrono::nanoseconds) override {}
  [[noreturn]] void abort(const std::string& why) noexcept override {
    std::fprintf(stderr, "%s\n", why.c_str());
    os::end_process(1);
  }

 private:
  [[noreturn]] static void nobody(int rank) { fail<ValueError>("rank {}: this process runs alone, as rank 0", rank); }
};

}  // namespace

std::shared_ptr<Transport> alone() { return std::make_shared<Alone>(); }

}  // namespace catenary::distributed::transports
