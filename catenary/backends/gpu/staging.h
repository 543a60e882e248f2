#pragma once
// Copies between host and device through pinned memory, which the device accesses directly. An upload returns once its
// values are in the ring buffer. A download copies one piece out while the next one arrives.

#include <cstddef>
#include <mutex>

#include "catenary/backends/gpu/driver.h"

namespace catenary::gpu {

class Staging {
 public:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  Staging(Driver& driver, int device) : driver_(driver), device_(device) {}

  /// Uploads bytes. The host's memory may be changed as soon as it returns.
  void upload(void* handle, std::size_t offset, const void* from, std::size_t bytes);
  /// Downloads bytes. Waits for the calling thread's stream.
  void download(void* to, void* handle, std::size_t offset, std::size_t bytes);

 private:
  static constexpr std::size_t kPieces = 16;
  struct Piece {
    void* memory = nullptr;
    void* event = nullptr;
  };
  /// Returns the next piece, once the device has finished with it.
  Piece& next();

  Driver& driver_;
  const int device_;
  std::mutex mutex_;
  Piece pieces_[kPieces];
  std::size_t count_ = 0;
};

}  // namespace catenary::gpu
