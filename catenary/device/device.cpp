#include "catenary/device/device.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/device/backend.h"
#include "catenary/device/cupy_devices.h"
#include "catenary/device/deferred.h"
#include "catenary/device/storage.h"

namespace catenary {

Backend::~Backend() = default;
void Backend::raise_errors(int, void*) {}
bool Backend::copy_between(int, void*, std::size_t, int, void*, std::size_t, std::size_t) { return false; }

namespace {
thread_local Device current;

[[noreturn]] void not_a_name(std::string_view name) {
  fail<DeviceError>("device '{}' is not a device name; expected cpu, cuda:N, hip:N, opencl:N or gpu:N", name);
}

/// Throws DeviceError with the known devices, and a line for each backend that says why it offers no more. `kind` is
/// the part before the colon: only its backends are named.
[[noreturn]] void no_such_device(std::string_view name, std::string_view kind) {
  std::string known, why;
  for (const Device& device : devices()) known += (known.empty() ? "" : ", ") + device.name();
  bool is_kind = kind == "gpu";
  for (Backend* backend : backends()) {
    if (kind != "gpu" && kind != backend->name()) continue;
    is_kind = true;
    if (const std::string reason = backend->reason(); !reason.empty())
      why += fmt::format("\n  {}: {}", backend->name(), reason);
    if (kind != "gpu" || backend == backends().front()) continue;
    for (int i = 0; i < backend->device_count(); ++i)
      if (backend->info(i).is_cpu)
        why += fmt::format("\n  {0}: {0}:{1} is a processor, which gpu:N counts only with CATENARY_GPU_INCLUDE_CPU=1",
                           backend->name(), i);
  }
  if (name.starts_with("dml"))
    fail<DeviceError>(
        "device '{}': DirectML is not a backend here; on the same card use 'opencl:0'. Available devices: {}", name,
        known);
  if (!is_kind) not_a_name(name);
  fail<DeviceError>(
      "device '{}' is not available: this machine offers {}{}\n`catenary doctor` checks drivers and devices, and names "
      "remedies",
      name, known, why);
}
}  // namespace

Device::Device() : backend_(backends().front()), index_(0) {}
std::string Device::name() const {
  return is_cpu() ? std::string("cpu") : fmt::format("{}:{}", backend_->name(), index_);
}
bool Device::is_cpu() const { return backend_ == backends().front(); }
DeviceInfo Device::info() const { return backend_->info(index_); }
void Device::use() const { current = *this; }
void Device::synchronize() const {
  evaluate();
  backend_->synchronize(index_);
}
void compute(const Device& device, const Primitive& primitive) { device.backend().compute(device.index(), primitive); }
MemoryPool& memory_pool(const Device& device) { return device.backend().pool(device.index()); }

Device current_device() { return current; }

std::vector<Device> devices() {
  std::vector<Device> result;
  for (Backend* backend : backends())
    for (int i = 0; i < backend->device_count(); ++i) result.emplace_back(*backend, i);
  return result;
}

namespace {

/// A GPU that one or several interfaces offer.
struct Card {
  DeviceInfo info;
  std::set<std::pair<const Backend*, std::string>> interfaces;  // with their platforms
};

/// Returns whether another interface's device is this GPU. Compares bus addresses if both have one (the domain may be
/// missing), else names and memory. Without addresses, a card matches at most one device of each interface.
bool is_card(const Card& card, const DeviceInfo& info, const Backend& backend) {
  const std::string &a = card.info.pci, &b = info.pci;
  if (!a.empty() && !b.empty()) return a == b || a.ends_with(":" + b) || b.ends_with(":" + a);
  if (info.is_cpu || card.info.is_cpu || card.interfaces.contains({&backend, info.platform})) return false;
  const auto named_by_arch = [](const DeviceInfo& x, const DeviceInfo& y) {
    return x.name == y.arch.substr(0, y.arch.find(':'));
  };
  if (info.name != card.info.name && !named_by_arch(info, card.info) && !named_by_arch(card.info, info)) return false;
  const auto [less, more] = std::minmax(info.memory_bytes, card.info.memory_bytes);
  return more - less <= more / 16;
}

}  // namespace

std::vector<Device> gpus() {
  const bool processors = environment::flag("CATENARY_GPU_INCLUDE_CPU");
  const bool simulations = environment::flag("CATENARY_GPU_INCLUDE_SIMULATED");
  std::vector<Device> cards, integrated, rest;
  std::vector<Card> known;
  for (const Device& device : devices()) {
    if (device.is_cpu()) continue;
    const DeviceInfo info = device.info();
    if ((info.is_simulated && !simulations) || (info.is_cpu && !processors)) continue;
    const auto same = std::find_if(known.begin(), known.end(),
                                   [&](const Card& card) { return is_card(card, info, device.backend()); });
    if (same != known.end()) {
      same->interfaces.emplace(&device.backend(), info.platform);
      continue;
    }
    known.push_back({info, {{&device.backend(), info.platform}}});
    (info.is_cpu ? rest : info.is_integrated ? integrated : cards).push_back(device);
  }
  cards.insert(cards.end(), integrated.begin(), integrated.end());
  cards.insert(cards.end(), rest.begin(), rest.end());
  return cards;
}

std::vector<Device> cupy_devices() {
  std::vector<Device> found = gpus();
  if (environment::flag("CATENARY_CUPY_CPU")) found.insert(found.begin(), Device());
  return found;
}

Device get_device(std::string_view name) {
  std::string_view rest = name;
  if (rest == "cpu" || rest == "cpu:0" || rest == "-1" || rest == "@numpy" || rest == "native" || rest == "native:0")
    return Device();
  std::string_view kind = "gpu";
  if (rest.starts_with("@cupy")) {
    rest.remove_prefix(5);
    if (rest.starts_with(":")) rest.remove_prefix(1);
    if (rest.empty()) rest = "0";
  } else if (const auto colon = rest.find(':'); colon != std::string_view::npos) {
    kind = rest.substr(0, colon);
    rest.remove_prefix(colon + 1);
  } else if (!rest.empty() && (rest[0] < '0' || rest[0] > '9')) {
    kind = rest;
    rest = "0";
  }
  int index = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
  if (error != std::errc() || end != rest.data() + rest.size() || index < 0) not_a_name(name);
  if (kind == "gpu") {
    const std::vector<Device> found = gpus();
    if (index < static_cast<int>(found.size())) return found[static_cast<std::size_t>(index)];
  }
  for (Backend* backend : backends())
    if (backend != backends().front() && kind == backend->name() && index < backend->device_count())
      return Device(*backend, index);
  no_such_device(name, kind);
}

namespace {
std::vector<void (*)()>& thread_states() {
  static std::vector<void (*)()> all;
  return all;
}
}  // namespace

ThreadState::ThreadState(void (*make)()) { thread_states().push_back(make); }
void ThreadState::make_all() {
  for (const auto make : thread_states()) make();
}

namespace {
std::atomic<bool> process_ends{false};
std::atomic<int> ending_threads{0};
}  // namespace

EndOfThread::EndOfThread() {
  ++ending_threads;  // before the check, so that leave_deferred_work cannot miss it
  may_run_ = !process_ends;
}
EndOfThread::~EndOfThread() { --ending_threads; }
void leave_deferred_work() {
  process_ends = true;
  while (ending_threads > 0) std::this_thread::yield();
}

std::vector<DeferredWork*>& deferred_work() {
  thread_local std::vector<DeferredWork*> all;
  return all;
}
void evaluate() {
  for (DeferredWork* work : deferred_work()) work->run("evaluate()");
}

Storage::Storage(const Device& device, std::size_t bytes)
    : device_(device), handle_(device.backend().pool(device.index()).allocate(bytes)), bytes_(bytes) {}
Storage::Storage(const Device& device, void* handle, std::size_t bytes, std::shared_ptr<void> owner)
    : device_(device), handle_(handle), bytes_(bytes), owner_(std::move(owner)) {}
Storage::~Storage() {
  if (!owner_) device_.backend().pool(device_.index()).free(handle_, bytes_);
}

}  // namespace catenary
