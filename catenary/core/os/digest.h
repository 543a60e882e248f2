#pragma once
// Private to core: SHA-256 by the system's library for cryptography.

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace catenary::os {

/// Computes a digest over pieces.
class Digest {
 public:
  Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();
  void update(std::span<const std::byte> bytes);
  /// Returns the digest. Call it once, last.
  std::array<unsigned char, 32> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace catenary::os
