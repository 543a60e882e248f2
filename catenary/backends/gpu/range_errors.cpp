#include "catenary/backends/gpu/range_errors.h"

#include "catenary/core/error.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

/// The record written by ct_report (kernels/memory.kernel).
struct Found {
  std::uint64_t number;  ///< number of the range, or 0 for no error
  std::int64_t value, place;
};
constexpr Found kNothing{};

constexpr const char* kLate =
    " [reported late, since nothing waited for the device; set CATENARY_SYNC=1 to get it from the line that caused it]";

KernelKey key_of(const Range& range) {
  KernelKey key(KernelKey::Kind::range);
  const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  key.add(range.operation).add_content(range.name).add(word(range.axis)).add(word(range.low)).add(word(range.high));
  key.add(std::uint64_t{range.is_value_error} | std::uint64_t{range.ignored.has_value()} << 1);
  key.add(word(range.ignored.value_or(0))).add_content(range.forbidden).add(word(range.mark));
  for (std::int64_t extent : range.shape) key.add(word(extent));
  return key;
}

}  // namespace

RangeErrors::Record& RangeErrors::record_of(void* stream) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Record>& record = records_[stream];
  if (record) return *record;
  auto made = std::make_unique<Record>();
  made->memory = driver_.allocate(device_, sizeof(Found));
  if (!made->memory) fail<DeviceError>("out of memory on {}:{}: {} bytes", driver_.name(), device_, sizeof(Found));
  driver_.write(device_, made->memory, 0, &kNothing, sizeof kNothing);
  record = std::move(made);
  return *record;
}

std::uint32_t RangeErrors::number_of(const Range& range) {
  const KernelKey key = key_of(range);
  std::lock_guard lock(mutex_);
  const auto [number, fresh] = numbers_.try_emplace(key, static_cast<std::uint32_t>(ranges_.size() + 1));
  if (fresh) ranges_.push_back(std::make_unique<const Range>(range));
  return number->second;
}

void* RangeErrors::record() { return record_of(driver_.stream(device_)).memory; }

void RangeErrors::add_arguments(Args& args, const Range& range) { args.add(record()).add(number_of(range)); }

void RangeErrors::launched() {
  void* const stream = driver_.stream(device_);
  // Set after the launch: if another thread read the record before, it would find nothing and clear the flag.
  record_of(stream).unread = true;
  if (is_synchronous()) raise(stream);
}

void RangeErrors::raise(void* stream) {
  Record* record = nullptr;
  {
    std::lock_guard lock(mutex_);
    const auto found = records_.find(stream);
    if (found == records_.end()) return;
    record = found->second.get();
  }
  if (!record->unread.exchange(false)) return;
  Found found{};
  {
    const SwitchedStream switched(driver_, device_, stream);
    driver_.read(device_, &found, record->memory, 0, sizeof found);
    driver_.synchronize_stream(device_, stream);
    if (found.number == 0) return;
    driver_.write(device_, record->memory, 0, &kNothing, sizeof kNothing);
  }
  const Range* range = nullptr;
  {
    std::lock_guard lock(mutex_);
    range = ranges_.at(found.number - 1).get();
  }
  throw_outside(*range, found.value, found.place, is_synchronous() ? "" : kLate);
}

void RangeErrors::raise() {
  std::vector<void*> streams;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [stream, record] : records_) streams.push_back(stream);
  }
  for (void* stream : streams) raise(stream);
}

}  // namespace catenary::gpu
