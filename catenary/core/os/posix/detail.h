#pragma once
// Private to core/os/posix: open files and folders that close themselves, and errors with the system's reason.

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "catenary/core/os/handle.h"

namespace catenary::os {

/// Throw FileError with the message of errno, or of an error code.
[[noreturn]] void fail_errno(const std::string& path, const char* what);
[[noreturn]] void fail_code(const std::string& path, const char* what, const std::error_code& code);

/// An open file or folder, or nothing.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void close() { *this = Descriptor(); }

 private:
  int fd_ = -1;
};

/// Convert between opaque handles and descriptors.
inline Handle to_handle(int descriptor) { return static_cast<Handle>(descriptor); }
inline int descriptor_of(Handle handle) { return static_cast<int>(handle); }

/// Reads everything; `expected` is a hint of the size. Throws FileError with the path.
std::vector<std::byte> read_all(int fd, const std::string& path, std::size_t expected);

/// Returns an open file that exists only in memory, with this content, positioned at its beginning. Throws FileError
/// with the name.
Descriptor memory_file(const char* name, std::span<const std::byte> content);

/// Returns the names in an open folder, without . and .., unsorted. Empty if the folder cannot be read.
std::vector<std::string> names_in(int folder);

/// Removes a temporary file of this user whose writer is gone. Returns false if it is still being written or cannot be
/// removed.
bool remove_abandoned(int folder, const std::string& name);

/// Returns our environment with these variables changed, as NAME=VALUE.
std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& changes);
/// Returns pointers to the strings, followed by null, as exec takes them.
std::vector<char*> pointers(const std::vector<std::string>& strings);

}  // namespace catenary::os
