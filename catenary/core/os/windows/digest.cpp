#include "catenary/core/os/digest.h"

#include <algorithm>

#include "catenary/core/format.h"
#include "catenary/core/os/windows/detail.h"
// after windows.h
#include <bcrypt.h>

namespace catenary::os {

struct Digest::State {
  BCRYPT_ALG_HANDLE algorithm = nullptr;
  BCRYPT_HASH_HANDLE hash = nullptr;
  State() {
    if (::BCryptOpenAlgorithmProvider(&algorithm, BCRYPT_SHA256_ALGORITHM, nullptr, 0) != 0 ||
        ::BCryptCreateHash(algorithm, &hash, nullptr, 0, nullptr, 0, 0) != 0)
      hash = nullptr;
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (hash) ::BCryptDestroyHash(hash);
    if (algorithm) ::BCryptCloseAlgorithmProvider(algorithm, 0);
  }
};

Digest::Digest() : state_(std::make_unique<State>()) {
  if (!state_->hash) fail<DeviceError>("cpu: Windows cannot begin a SHA-256");
}
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;
Digest::~Digest() = default;

void Digest::update(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), std::size_t{1} << 30));
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data()));
    if (::BCryptHashData(state_->hash, data, static_cast<ULONG>(piece.size()), 0) != 0)
      fail<DeviceError>("cpu: Windows failed in a SHA-256");
    bytes = bytes.subspan(piece.size());
  }
}

std::array<unsigned char, 32> Digest::finish() {
  std::array<unsigned char, 32> digest;
  if (::BCryptFinishHash(state_->hash, digest.data(), static_cast<ULONG>(digest.size()), 0) != 0)
    fail<DeviceError>("cpu: Windows failed in a SHA-256");
  return digest;
}

}  // namespace catenary::os
