#include "catenary/backends/gpu/staging.h"

#include <algorithm>
#include <cstring>

namespace catenary::gpu {

Staging::Piece& Staging::next() {
  Piece& piece = pieces_[count_ % kPieces];
  if (!piece.memory) piece.memory = driver_.allocate_host(device_, kPieceBytes);
  if (!piece.event) {
    piece.event = driver_.create_event(device_, false);
  } else {
    driver_.synchronize_event(device_, piece.event);
  }
  ++count_;
  return piece;
}

void Staging::upload(void* handle, std::size_t offset, const void* from, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t n = std::min(bytes - done, kPieceBytes);
    Piece& piece = next();
    std::memcpy(piece.memory, static_cast<const char*>(from) + done, n);
    driver_.write(device_, handle, offset + done, piece.memory, n);
    driver_.record(device_, piece.event);
    done += n;
  }
}

void Staging::download(void* to, void* handle, std::size_t offset, std::size_t bytes) {
  constexpr std::size_t kAhead = 4;
  std::lock_guard lock(mutex_);
  Piece* pieces[kAhead];
  const std::size_t count = (bytes + kPieceBytes - 1) / kPieceBytes;
  const auto size = [&](std::size_t k) { return std::min(bytes - k * kPieceBytes, kPieceBytes); };
  for (std::size_t k = 0; k < count + kAhead; ++k) {
    if (k >= kAhead && k - kAhead < count) {
      const std::size_t come = k - kAhead;
      Piece& piece = *pieces[come % kAhead];
      driver_.synchronize_event(device_, piece.event);
      std::memcpy(static_cast<char*>(to) + come * kPieceBytes, piece.memory, size(come));
    }
    if (k >= count) continue;
    Piece& piece = next();
    pieces[k % kAhead] = &piece;
    driver_.read(device_, piece.memory, handle, offset + k * kPieceBytes, size(k));
    driver_.record(device_, piece.event);
  }
}

}  // namespace catenary::gpu
