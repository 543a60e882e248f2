#include "catenary/distributed/job.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "catenary/core/format.h"
#include "catenary/distributed/transport.h"

namespace catenary::distributed {

namespace {

constexpr std::uint64_t kMark = 0x3430626f6a5f7463;  // "ct_job04", change it with the layout

std::size_t bytes_of(int size, std::size_t head) {
  const auto n = static_cast<std::size_t>(size);
  return head + n * sizeof(Job::Rank) + Job::rings * n * n * sizeof(Job::Ring) +
         Job::channels * n * SharedBlocks::bytes;
}

std::string get(const char* from, std::size_t capacity) { return {from, ::strnlen(from, capacity)}; }

}  // namespace

struct Job::Head {
  std::uint64_t mark;
  std::uint32_t size;
  enum : std::uint32_t { going, being_told, told };
  std::atomic<std::uint32_t> end;
  char why[4096 - 16];
};

Job::Job(int size) : Job(os::SharedMemory(bytes_of(size, sizeof(Head))), size) {
  head().size = static_cast<std::uint32_t>(size);
  head().mark = kMark;
}

Job Job::inherited(os::Handle handle) {
  os::SharedMemory memory = os::SharedMemory::inherited(handle);
  const Head& head = *reinterpret_cast<const Head*>(memory.data());
  if (memory.size() < sizeof(Head) || head.mark != kMark || head.size > max_ranks ||
      memory.size() != bytes_of(static_cast<int>(head.size), sizeof(Head)))
    fail<FileError>("the shared memory of descriptor {} was made by another version of catenary launch",
                    static_cast<int>(handle));
  const int size = static_cast<int>(head.size);
  return Job(std::move(memory), size);
}

Job::Head& Job::head() const {
  static_assert(sizeof(Head) == 4096 && sizeof(Rank) % 64 == 0 && sizeof(Ring) % 64 == 0);
  return *reinterpret_cast<Head*>(memory_.data());
}

Job::Rank& Job::rank(int i) const { return reinterpret_cast<Rank*>(memory_.data() + sizeof(Head))[i]; }

Job::Ring& Job::ring(int number, int from, int to) const {
  std::byte* const all = memory_.data() + sizeof(Head) + static_cast<std::size_t>(size_) * sizeof(Rank);
  return reinterpret_cast<Ring*>(all)[(number * size_ + from) * size_ + to];
}

std::byte* Job::block(int channel, int i) const {
  return reinterpret_cast<std::byte*>(&ring(rings, 0, 0)) +
         static_cast<std::size_t>(channel * size_ + i) * SharedBlocks::bytes;
}

// Acquire and release of each character guarantee that a reader who sees a character of an unfinished note also sees an
// odd `edits`.
void Job::note(int i, const std::string& text) const {
  static std::mutex one_writer;  // among the threads of the channels
  const std::lock_guard lock(one_writer);
  Rank& at = rank(i);
  const std::size_t n = std::min(text.size(), at.note.size() - 1);
  at.edits.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t k = 0; k < n; ++k) at.note[k].store(text[k], std::memory_order_release);
  at.note[n].store('\0', std::memory_order_release);
  at.edits.fetch_add(1, std::memory_order_release);
}

std::string Job::noted(int i) const {
  const Rank& at = rank(i);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::uint32_t before = at.edits.load(std::memory_order_acquire);
    std::string text;
    for (const std::atomic<char>& from : at.note) {
      const char c = from.load(std::memory_order_acquire);
      if (c == '\0') break;
      text += c;
    }
    if (before % 2 == 0 && at.edits.load(std::memory_order_relaxed) == before) return text;
  }
  return {};  // its writer died in the middle
}

void Job::end(const std::string& why) const {
  std::uint32_t state = Head::going;
  if (head().end.compare_exchange_strong(state, Head::being_told)) {
    put_text(head().why, sizeof head().why, why);
    head().end.store(Head::told, std::memory_order_release);
  }
  for (int i = 0; i < size_; ++i) ring_bells(i);
}

bool Job::ending() const { return head().end.load(std::memory_order_relaxed) != Head::going; }

std::string Job::why() const {
  if (head().end.load(std::memory_order_acquire) != Head::told) return {};
  return get(head().why, sizeof head().why);
}

void Job::ring_bell(int channel, int i) const {
  Bell& bell = rank(i).bells[static_cast<std::size_t>(channel)];
  bell.rings.fetch_add(1, std::memory_order_seq_cst);
  if (bell.asleep.load(std::memory_order_seq_cst) != 0) os::wake_all(bell.rings);
}

void Job::ring_bells(int i) const {
  for (int channel = 0; channel < channels; ++channel) ring_bell(channel, i);
}

}  // namespace catenary::distributed
