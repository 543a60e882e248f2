#include "catenary/core/sha256.h"

#include "catenary/core/format.h"
#include "catenary/core/os/digest.h"
#include "catenary/core/os/file.h"

namespace catenary {

struct Sha256::State {
  os::Digest digest;
  bool finished = false;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  if (state_->finished) fail<ValueError>("Sha256: update after hex()");
  state_->digest.update(bytes);
}

void Sha256::update(std::string_view text) { update(std::as_bytes(std::span(text.data(), text.size()))); }

std::string Sha256::hex() {
  if (state_->finished) fail<ValueError>("Sha256: hex() was called before");
  state_->finished = true;
  return fmt::format("{:02x}", fmt::join(state_->digest.finish(), ""));
}

std::string sha256(std::span<const std::byte> bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

std::string sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text.data(), text.size()))); }

std::string sha256_of_file(const std::string& path) { return sha256(os::FileView(path).bytes()); }

}  // namespace catenary
