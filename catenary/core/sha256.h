#pragma once
// SHA-256 (FIPS 180-4).

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "catenary/core/export.h"

namespace catenary {

/// Computes a digest over pieces.
class CT_API Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  /// Returns the digest as 64 hexadecimal digits. Nothing can be added after it.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Return the digest of bytes or of a file's content as 64 hexadecimal digits. Throw FileError for a file that cannot
/// be read.
CT_API std::string sha256(std::span<const std::byte> bytes);
CT_API std::string sha256(std::string_view text);
CT_API std::string sha256_of_file(const std::string& path);

}  // namespace catenary
