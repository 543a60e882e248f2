#include "catenary/core/os/digest.h"

#include <openssl/evp.h>

#include "catenary/core/format.h"

namespace catenary::os {

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Digest::Digest() : state_(std::make_unique<State>()) {
  if (!state_->context || EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1)
    fail<DeviceError>("cpu: libcrypto cannot begin a SHA-256");
}
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;
Digest::~Digest() = default;

void Digest::update(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1)
    fail<DeviceError>("cpu: libcrypto failed in a SHA-256");
}

std::array<unsigned char, 32> Digest::finish() {
  std::array<unsigned char, 32> digest;
  if (EVP_DigestFinal_ex(state_->context, digest.data(), nullptr) != 1)
    fail<DeviceError>("cpu: libcrypto failed in a SHA-256");
  return digest;
}

}  // namespace catenary::os
