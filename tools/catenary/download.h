#pragma once
// Downloads files by libcurl, which is loaded at run time.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace catenary::command {

/// Called during a download with bytes, in order, and with the received and the total size (0 if unknown).
struct Receiver {
  std::function<void(std::span<const std::byte>)> bytes;
  std::function<void(std::int64_t, std::int64_t)> progress;
};

/// Downloads a URL (http or https). Throws FileError if there is no libcurl, and for errors of libcurl and the server.
/// Rethrows the receiver's exceptions.
void download(const std::string& url, const Receiver& receiver);

}  // namespace catenary::command
