#include "catenary/core/os/shared_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <utility>

#include "catenary/core/format.h"

namespace catenary::os {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) {
  static_assert(sizeof word == 4 && std::atomic<std::uint32_t>::is_always_lock_free);
  return ::syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes) : size_(bytes) {
  descriptor_ = ::memfd_create("catenary", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const bool ready = descriptor_ >= 0 && ::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0 &&
                     ::fcntl(descriptor_, F_ADD_SEALS, kSeals) == 0;
  if (!ready) {
    const std::string reason = std::strerror(errno);
    if (descriptor_ >= 0) ::close(descriptor_);
    fail<DeviceError>("shared memory of {} bytes: {}", bytes, reason);
  }
  map();
}

SharedMemory SharedMemory::inherited(int descriptor) {
  struct stat status {};
  if (::fcntl(descriptor, F_GET_SEALS) != kSeals || ::fstat(descriptor, &status) != 0)
    fail<FileError>("descriptor {} is not the shared memory that it is said to be", descriptor);
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  SharedMemory memory;
  memory.descriptor_ = descriptor;
  memory.size_ = static_cast<std::size_t>(status.st_size);
  memory.map();
  return memory;
}

void SharedMemory::map() {
  void* const at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (at == MAP_FAILED) {
    const std::string reason = std::strerror(errno);
    ::close(std::exchange(descriptor_, -1));
    fail<DeviceError>("shared memory of {} bytes cannot be mapped: {}", size_, reason);
  }
  data_ = static_cast<std::byte*>(at);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(other.size_) {}

SharedMemory::~SharedMemory() {
  if (data_) ::munmap(data_, size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::chrono::nanoseconds limit) {
  timespec time{};
  time.tv_sec = limit.count() / 1000000000;
  time.tv_nsec = limit.count() % 1000000000;
  futex(word, FUTEX_WAIT, value, &time);
}

void wake_all(const std::atomic<std::uint32_t>& word) { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

}  // namespace catenary::os
