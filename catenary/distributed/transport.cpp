#include "catenary/distributed/transport.h"

#include <algorithm>
#include <cstring>

#include "catenary/core/environment.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"

namespace catenary::distributed {

SharedBlocks::~SharedBlocks() = default;

Transport::~Transport() = default;

void Transport::listen() {}

void Transport::note(const std::string&) {}

std::string Transport::noted(int) const { return {}; }

std::shared_ptr<Transport> connect() {
  static const std::shared_ptr<Transport> transport = [] {
    for (const auto& find : {transports::shared_memory, transports::mpi, transports::alone})
      if (std::shared_ptr<Transport> found = find()) return found;
    return std::shared_ptr<Transport>();
  }();
  return transport;
}

void put_text(char* to, std::size_t capacity, const std::string& text) {
  const std::size_t n = std::min(text.size(), capacity - 1);
  std::memcpy(to, text.data(), n);
  to[n] = '\0';
}

std::string host_identity() {
  const std::string given = environment::text("CATENARY_HOST_ID");
  return given.empty() ? os::host_name() + " " + os::boot_number() : given;
}

}  // namespace catenary::distributed
