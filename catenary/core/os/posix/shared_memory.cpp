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
#include "catenary/core/os/posix/detail.h"

namespace catenary::os {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) {
  static_assert(sizeof word == 4 && std::atomic<std::uint32_t>::is_always_lock_free);
  return ::syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes) : size_(bytes) {
  Descriptor memory(::memfd_create("catenary", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const bool ready = memory && ::ftruncate(memory.get(), static_cast<off_t>(bytes)) == 0 &&
                     ::fcntl(memory.get(), F_ADD_SEALS, kSeals) == 0;
  if (!ready) fail<DeviceError>("shared memory of {} bytes: {}", bytes, std::strerror(errno));
  handle_ = to_handle(memory.release());
  map();
}

SharedMemory SharedMemory::inherited(Handle handle) {
  const int descriptor = descriptor_of(handle);
  struct stat status {};
  if (::fcntl(descriptor, F_GET_SEALS) != kSeals || ::fstat(descriptor, &status) != 0)
    fail<FileError>("descriptor {} is not the shared memory that it is said to be", descriptor);
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  SharedMemory memory;
  memory.handle_ = handle;
  memory.size_ = static_cast<std::size_t>(status.st_size);
  memory.map();
  return memory;
}

void SharedMemory::map() {
  void* const at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_of(handle_), 0);
  if (at == MAP_FAILED) {
    const std::string reason = std::strerror(errno);
    ::close(descriptor_of(std::exchange(handle_, Handle::none)));
    fail<DeviceError>("shared memory of {} bytes cannot be mapped: {}", size_, reason);
  }
  data_ = static_cast<std::byte*>(at);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : handle_(std::exchange(other.handle_, Handle::none)),
      data_(std::exchange(other.data_, nullptr)),
      size_(other.size_) {}

SharedMemory::~SharedMemory() {
  if (data_) ::munmap(data_, size_);
  if (handle_ != Handle::none) ::close(descriptor_of(handle_));
}

void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::chrono::nanoseconds limit) {
  timespec time{};
  time.tv_sec = limit.count() / 1000000000;
  time.tv_nsec = limit.count() % 1000000000;
  futex(word, FUTEX_WAIT, value, &time);
}

void wake_all(const std::atomic<std::uint32_t>& word) { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

}  // namespace catenary::os
