#include "catenary/core/os/children.h"

#include "catenary/core/format.h"
#include "catenary/core/os/shared_memory.h"
#include "catenary/core/os/windows/detail.h"

namespace catenary::os {

namespace {

constexpr const char* kNoRanks =
    "this build for Windows cannot start several processes that train together: run the program alone, or on Linux";

}  // namespace

struct Children::Child {};

Children::Children() = default;
Children::~Children() = default;

int Children::start(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>&,
                    const std::vector<Handle>&) {
  if (command.empty()) fail<ValueError>("Children::start: no program is named");
  fail<FileError>("{}: {}", command[0], kNoRanks);
}
void Children::guard(const std::string&) {}
void Children::read(Child&, int, std::vector<ChildEvent>&) {}
std::vector<ChildEvent> Children::wait(double) { return {}; }
void Children::signal(int, int) const {}
int Children::running() const { return 0; }

Lifeline::Lifeline() { fail<FileError>("{}", kNoRanks); }
Lifeline::~Lifeline() = default;
void Lifeline::close_far_end() {}
void Lifeline::cut() {}
void when_cut(Handle, void (*)()) { fail<FileError>("{}", kNoRanks); }

SharedMemory::SharedMemory(std::size_t) { fail<DeviceError>("{}", kNoRanks); }
SharedMemory SharedMemory::inherited(Handle) { fail<FileError>("{}", kNoRanks); }
void SharedMemory::map() {}
SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : handle_(std::exchange(other.handle_, Handle::none)),
      data_(std::exchange(other.data_, nullptr)),
      size_(other.size_) {}
SharedMemory::~SharedMemory() = default;

// No object of SharedMemory exists, so nobody waits.
void wait_for_change(const std::atomic<std::uint32_t>&, std::uint32_t, std::chrono::nanoseconds) {}
void wake_all(const std::atomic<std::uint32_t>&) {}

}  // namespace catenary::os
