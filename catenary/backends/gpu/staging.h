#pragma once
// Copies between the host and a device by way of pinned memory, which the device copies by itself: an upload is over
// for the host once its values are in the ring, a download copies one piece out while the next one comes.

#include <cstddef>
#include <mutex>

#include "catenary/backends/gpu/driver.h"

namespace catenary::gpu {

class Staging {
 public:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  Staging(Driver& driver, int device) : driver_(driver), device_(device) {}

  /// The host's memory may be changed at once.
  void upload(void* handle, std::size_t offset, const void* from, std::size_t bytes);
  /// Waits for the calling thread's stream.
  void download(void* to, void* handle, std::size_t offset, std::size_t bytes);

 private:
  static constexpr std::size_t kPieces = 16;
  struct Piece {
    void* memory = nullptr;
    void* event = nullptr;
  };
  /// The next piece, with which the device is done.
  Piece& next();

  Driver& driver_;
  const int device_;
  std::mutex mutex_;
  Piece pieces_[kPieces];
  std::size_t count_ = 0;
};

}  // namespace catenary::gpu
