#include "catenary/device/pool.h"

#include "catenary/core/format.h"

namespace catenary {

namespace {
constexpr std::size_t kUnit = 512;
std::size_t rounded_up(std::size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }
}  // namespace

MemoryPool::MemoryPool(std::function<void*(std::size_t)> raw_allocate, std::function<void(void*, std::size_t)> raw_free,
                       std::size_t direct_below)
    : raw_allocate_(std::move(raw_allocate)), raw_free_(std::move(raw_free)), direct_below_(direct_below) {}

void* MemoryPool::take_cached(std::size_t rounded) {
  const auto best = cached_.lower_bound(rounded);
  // a much larger block stays for those who need it
  if (best == cached_.end() || best->first > rounded + rounded / 4) return nullptr;
  void* block = best->second;
  free_ -= best->first;
  used_ += best->first;
  if (best->first != rounded) block_sizes_.emplace(block, best->first);
  cached_.erase(best);
  return block;
}

void* MemoryPool::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes <= direct_below_) {
    if (void* block = raw_allocate_(bytes)) return block;
    fail<DeviceError>("out of memory: {} bytes could not be allocated", bytes);
  }
  const std::size_t rounded = rounded_up(bytes);
  std::lock_guard lock(mutex_);
  void* block = take_cached(rounded);
  if (!block) {
    if (limit_ && used_ + free_ + rounded > limit_)
      release_cached(limit_ > used_ + rounded ? limit_ - used_ - rounded : 0);
    const bool allowed = !limit_ || used_ + free_ + rounded <= limit_;
    if (allowed) block = raw_allocate_(rounded);
    if (allowed && !block) {
      release_cached(0);
      block = raw_allocate_(rounded);
    }
    if (!block) {
      fail<DeviceError>("out of memory: {} bytes asked for; {} in use, {} cached, limit {}", bytes, used_, free_,
                        limit_ ? std::to_string(limit_) : "none");
    }
    used_ += rounded;
  }
  if (used_ > peak_) peak_ = used_;
  return block;
}

void MemoryPool::free(void* block, std::size_t bytes) noexcept {
  if (!block) return;
  if (bytes <= direct_below_) return raw_free_(block, bytes);
  std::lock_guard lock(mutex_);
  std::size_t size = rounded_up(bytes);
  if (const auto it = block_sizes_.find(block); it != block_sizes_.end()) {
    size = it->second;
    block_sizes_.erase(it);
  }
  used_ -= size;
  free_ += size;
  cached_.emplace(size, block);
}

void MemoryPool::release_cached(std::size_t keep) {
  while (free_ > keep && !cached_.empty()) {
    const auto largest = std::prev(cached_.end());
    free_ -= largest->first;
    raw_free_(largest->second, largest->first);
    cached_.erase(largest);
  }
}

std::size_t MemoryPool::used_bytes() const {
  std::lock_guard lock(mutex_);
  return used_;
}
std::size_t MemoryPool::free_bytes() const {
  std::lock_guard lock(mutex_);
  return free_;
}
std::size_t MemoryPool::total_bytes() const {
  std::lock_guard lock(mutex_);
  return used_ + free_;
}
std::size_t MemoryPool::n_free_blocks() const {
  std::lock_guard lock(mutex_);
  return cached_.size();
}
std::size_t MemoryPool::peak_bytes() const {
  std::lock_guard lock(mutex_);
  return peak_;
}
void MemoryPool::free_all_blocks() {
  std::lock_guard lock(mutex_);
  release_cached(0);
}
void MemoryPool::set_limit(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
}
std::size_t MemoryPool::limit() const {
  std::lock_guard lock(mutex_);
  return limit_;
}

}  // namespace catenary
