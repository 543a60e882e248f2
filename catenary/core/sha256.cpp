#include "catenary/core/sha256.h"

#include <openssl/evp.h>

#include "catenary/core/format.h"
#include "catenary/core/os/file.h"

namespace catenary {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  bool finished = false;
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (!state_->context || EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1)
    fail<DeviceError>("cpu: libcrypto cannot begin a SHA-256");
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  if (state_->finished) fail<ValueError>("Sha256: update after hex()");
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1)
    fail<DeviceError>("cpu: libcrypto failed in a SHA-256");
}

void Sha256::update(std::string_view text) { update(std::as_bytes(std::span(text.data(), text.size()))); }

std::string Sha256::hex() {
  if (state_->finished) fail<ValueError>("Sha256: hex() was called before");
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_DigestFinal_ex(state_->context, digest, &size) != 1) fail<DeviceError>("cpu: libcrypto failed in a SHA-256");
  state_->finished = true;
  return fmt::format("{:02x}", fmt::join(digest, digest + size, ""));
}

std::string sha256(std::span<const std::byte> bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

std::string sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text.data(), text.size()))); }

std::string sha256_of_file(const std::string& path) { return sha256(os::FileView(path).bytes()); }

}  // namespace catenary
