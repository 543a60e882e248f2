#pragma once
// Files from the network, by libcurl where it is found when the program runs.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace catenary::command {

/// What is called while a file comes: its bytes, in order; and how many came, of how many (0: not known).
struct Receiver {
  std::function<void(std::span<const std::byte>)> bytes;
  std::function<void(std::int64_t, std::int64_t)> progress;
};

/// Gets what a URL (http or https) names. Throws FileError where there is no libcurl, and for all that libcurl and the
/// server call an error; what the receiver throws goes through.
void download(const std::string& url, const Receiver& receiver);

}  // namespace catenary::command
