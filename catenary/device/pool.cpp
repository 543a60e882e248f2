#include "catenary/device/pool.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "catenary/core/format.h"
#include "catenary/device/allocation_limit.h"

namespace catenary {

OutOfMemoryError::~OutOfMemoryError() = default;

MemorySource::~MemorySource() = default;
void* MemorySource::part(void*, std::size_t, std::size_t) { return nullptr; }
void MemorySource::free_part(void*) noexcept {}
void MemorySource::order_after_current(void*) noexcept {}

/// A part of an allocation, in use or free. The parts of an allocation form a list of neighbours.
struct MemoryPool::Block {
  void* allocation;
  std::size_t offset, bytes;
  void* stream;
  void* handle = nullptr;  // made when the block is handed out
  Block *before = nullptr, *after = nullptr;
  std::uint64_t freed = 0;  // order of freeing, or 0 while in use

  bool whole() const { return !before && !after; }
};

bool MemoryPool::SmallestFirst::operator()(const Block* a, const Block* b) const {
  // of equal sizes the most recently freed block, whose memory is likelier to be in a cache
  return a->bytes != b->bytes ? a->bytes < b->bytes : a->freed > b->freed;
}
bool MemoryPool::SmallestFirst::operator()(const Block* a, std::size_t bytes) const { return a->bytes < bytes; }

namespace {
thread_local std::vector<MemoryEvent>* watching = nullptr;
}

std::vector<MemoryEvent>* watch_memory(std::vector<MemoryEvent>* events) noexcept {
  return std::exchange(watching, events);
}

void MemoryPool::note(MemoryEvent::Kind kind, std::size_t bytes, std::size_t block_bytes, void* block) const noexcept {
  if (!watching) return;
  try {
    watching->push_back({kind, source_->name(), bytes, block_bytes, block});
  } catch (...) {  // no memory to record the event
  }
}

MemoryPool::MemoryPool(std::unique_ptr<MemorySource> source, const Options& options)
    : source_(std::move(source)), options_(options) {}

MemoryPool::~MemoryPool() {
  free_all_blocks();
  // memory that is still in use stays allocated
  for (auto& [stream, blocks] : free_)
    for (Block* block : blocks) delete block;
  for (auto& [handle, block] : in_use_) delete block;
}

void* MemoryPool::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  AllocationLimit::check(bytes);
  if (bytes <= options_.direct_below) {
    if (void* block = source_->allocate(bytes)) {
      AllocationLimit::count(static_cast<std::int64_t>(bytes));
      note(MemoryEvent::allocated, 0, bytes, nullptr);
      note(MemoryEvent::taken, bytes, bytes, block);
      return block;
    }
    fail<OutOfMemoryError>("out of memory on {}: {} bytes could not be allocated", source_->name(), bytes);
  }
  const std::size_t rounded = (bytes + options_.unit - 1) / options_.unit * options_.unit;
  void* stream = source_->stream();
  std::lock_guard lock(mutex_);
  Block* block = find(stream, rounded);
  if (!block) throw OutOfMemoryError(report(bytes));
  void* handle = nullptr;
  try {
    handle = handle_of(*block);
    in_use_.emplace(handle, block);
  } catch (...) {
    put(block);
    throw;
  }
  used_ += block->bytes;
  peak_ = std::max(peak_, used_);
  AllocationLimit::count(static_cast<std::int64_t>(block->bytes));
  note(MemoryEvent::taken, bytes, block->bytes, handle);
  return handle;
}

void MemoryPool::free(void* handle, std::size_t bytes) noexcept {
  if (!handle) return;
  if (bytes <= options_.direct_below) {
    AllocationLimit::count(-static_cast<std::int64_t>(bytes));
    note(MemoryEvent::freed, 0, bytes, handle);
    return source_->free(handle, bytes);
  }
  void* stream = source_->stream();
  std::lock_guard lock(mutex_);
  const auto found = in_use_.find(handle);
  if (found == in_use_.end()) return;
  Block* block = found->second;
  in_use_.erase(found);
  used_ -= block->bytes;
  AllocationLimit::count(-static_cast<std::int64_t>(block->bytes));
  note(MemoryEvent::freed, 0, block->bytes, handle);
  if (stream != block->stream) source_->order_after_current(block->stream);
  put(block);
}

/// Tries sources of memory, the cheapest first.
MemoryPool::Block* MemoryPool::find(void* stream, std::size_t bytes) {
  if (Block* block = take(free_[stream], bytes)) return block;
  if (Block* block = grow(stream, bytes)) return block;
  release_unused();
  if (Block* block = grow(stream, bytes)) return block;
  source_->synchronize();  // now all free blocks are free for every stream
  std::vector<void*> others;
  for (const auto& [other, blocks] : free_)
    if (other != stream) others.push_back(other);
  for (void* other : others) move_free(other, stream);
  if (Block* block = take(free_[stream], bytes)) return block;
  release_unused();
  return grow(stream, bytes);
}

MemoryPool::Block* MemoryPool::take(FreeBlocks& from, std::size_t bytes) {
  const auto best = from.lower_bound(bytes);
  if (best == from.end()) return nullptr;
  Block* block = *best;
  // a block that cannot be split is not used for much smaller requests
  if (!source_->has_parts() && block->bytes > bytes + bytes / 4) return nullptr;
  from.erase(best);
  block->freed = 0;
  if (source_->has_parts() && block->bytes > bytes) split(*block, bytes);
  return block;
}

MemoryPool::Block* MemoryPool::grow(void* stream, std::size_t bytes) {
  if (limit_ && total_ + bytes > limit_) return nullptr;
  void* allocation = source_->allocate(bytes);
  if (!allocation) return nullptr;
  total_ += bytes;
  note(MemoryEvent::allocated, 0, bytes, nullptr);
  return new Block{.allocation = allocation, .offset = 0, .bytes = bytes, .stream = stream};
}

void MemoryPool::split(Block& block, std::size_t bytes) {
  drop_handle(block);
  auto* rest = new Block{.allocation = block.allocation,
                         .offset = block.offset + bytes,
                         .bytes = block.bytes - bytes,
                         .stream = block.stream,
                         .before = &block,
                         .after = block.after};
  if (rest->after) rest->after->before = rest;
  block.after = rest;
  block.bytes = bytes;
  put(rest);
}

/// Makes a block free and merges it with its free neighbours.
void MemoryPool::put(Block* block) {
  FreeBlocks& blocks = free_[block->stream];
  const auto joins = [&](const Block* other) { return other && other->freed && other->stream == block->stream; };
  if (joins(block->before)) {
    blocks.erase(block->before);
    block = merged(block->before, block);
  }
  if (joins(block->after)) {
    blocks.erase(block->after);
    block = merged(block, block->after);
  }
  block->freed = ++frees_;
  blocks.insert(block);
}

MemoryPool::Block* MemoryPool::merged(Block* first, Block* second) {
  drop_handle(*first);
  drop_handle(*second);
  first->bytes += second->bytes;
  first->after = second->after;
  if (first->after) first->after->before = first;
  delete second;
  return first;
}

void* MemoryPool::handle_of(Block& block) {
  if (!block.handle)
    block.handle = block.whole() ? block.allocation : source_->part(block.allocation, block.offset, block.bytes);
  return block.handle;
}

void MemoryPool::drop_handle(Block& block) noexcept {
  if (block.handle && !block.whole()) source_->free_part(block.handle);
  block.handle = nullptr;
}

void MemoryPool::release_unused() {
  for (auto& [stream, blocks] : free_) {
    for (auto it = blocks.begin(); it != blocks.end();) {
      Block* block = *it;
      if (!block->whole()) {
        ++it;
        continue;
      }
      it = blocks.erase(it);
      total_ -= block->bytes;
      source_->free(block->allocation, block->bytes);
      delete block;
    }
  }
}

void MemoryPool::move_free(void* from, void* to) {
  auto moved = free_.extract(from);
  if (moved.empty()) return;
  // marks them as used, so that none is merged, and deleted, before its turn
  for (Block* block : moved.mapped()) block->freed = 0;
  for (Block* block : moved.mapped()) {
    block->stream = to;
    put(block);
  }
}

void MemoryPool::end_stream(void* stream) {
  std::lock_guard lock(mutex_);
  for (auto& [handle, block] : in_use_)
    if (block->stream == stream) block->stream = nullptr;
  move_free(stream, nullptr);
}

std::string MemoryPool::report(std::size_t bytes) const {
  const auto size = [](std::size_t n) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(n);
    int unit = 0;
    for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
    return unit ? fmt::format("{:.2f} {}", value, units[unit]) : fmt::format("{} B", n);
  };
  std::size_t largest = 0, cached_blocks = 0;
  for (const auto& [stream, blocks] : free_) {
    cached_blocks += blocks.size();
    if (!blocks.empty()) largest = std::max(largest, (*blocks.rbegin())->bytes);
  }
  std::string text = fmt::format("out of memory on {}: {} bytes ({}) requested\n", source_->name(), bytes, size(bytes));
  text += fmt::format("  in use  {:>12} in {} blocks\n", size(used_), in_use_.size());
  text += fmt::format("  cached  {:>12} in {} blocks, the largest of {}\n", size(total_ - used_), cached_blocks,
                      size(largest));
  text += fmt::format("  limit   {:>12}\n", limit_ ? size(limit_) : "none");
  text += fmt::format("  device  {:>12}", size(source_->total_bytes()));
  std::map<std::size_t, std::size_t> counts;
  for (const auto& [handle, block] : in_use_) ++counts[block->bytes];
  std::vector<std::pair<std::size_t, std::size_t>> sizes(counts.begin(), counts.end());
  const auto weight = [](const auto& entry) { return entry.first * entry.second; };
  std::stable_sort(sizes.begin(), sizes.end(), [&](const auto& a, const auto& b) { return weight(a) > weight(b); });
  constexpr std::size_t kMost = 8;
  if (!sizes.empty()) text += "\nin use, the largest sizes first:";
  for (std::size_t i = 0; i < sizes.size() && i < kMost; ++i)
    text += fmt::format("\n  {:>12} = {} of {}", size(weight(sizes[i])), sizes[i].second, size(sizes[i].first));
  if (sizes.size() > kMost) text += fmt::format("\n  and {} more sizes", sizes.size() - kMost);
  text += "\nto need less: a smaller batch, a 16-bit dtype, or forget() around parts of the model";
  return text;
}

std::size_t MemoryPool::used_bytes() const {
  std::lock_guard lock(mutex_);
  return used_;
}
std::size_t MemoryPool::free_bytes() const {
  std::lock_guard lock(mutex_);
  return total_ - used_;
}
std::size_t MemoryPool::total_bytes() const {
  std::lock_guard lock(mutex_);
  return total_;
}
std::size_t MemoryPool::n_free_blocks() const {
  std::lock_guard lock(mutex_);
  std::size_t n = 0;
  for (const auto& [stream, blocks] : free_) n += blocks.size();
  return n;
}
std::size_t MemoryPool::peak_bytes() const {
  std::lock_guard lock(mutex_);
  return peak_;
}
void MemoryPool::free_all_blocks() {
  std::lock_guard lock(mutex_);
  release_unused();
}
void MemoryPool::set_limit(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
}
void MemoryPool::set_limit_fraction(double fraction) {
  if (!(fraction >= 0 && fraction <= 1)) fail<ValueError>("set_limit_fraction: {} is not in [0, 1]", fraction);
  set_limit(static_cast<std::size_t>(fraction * static_cast<double>(source_->total_bytes())));
}
std::size_t MemoryPool::get_limit() const {
  std::lock_guard lock(mutex_);
  return limit_;
}

}  // namespace catenary
