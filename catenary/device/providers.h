#pragma once
// Private to the library: the vendor libraries that are tried before our own code computes a primitive, on all kinds of
// devices. A Spec is a request to a library: a primitive, or a description of one in the library's terms (such as a
// product in the terms of BLAS). `std::string describe(const Spec&)` formats it for messages.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "catenary/core/format.h"
#include "catenary/core/lower.h"
#include "catenary/device/libraries.h"
#include "catenary/device/trace.h"

namespace catenary {

/// Describes a primitive in messages: "sort of [2, 3]".
template <class Primitive>
requires requires(const Primitive& p) { p.work(); }
std::string describe(const Primitive& primitive) {
  const auto work = primitive.work();
  return fmt::format("{} of {}", work.name, work.shape);
}

/// A library, opened for one device.
template <class Spec>
class Provider {
 public:
  virtual ~Provider() = default;
  /// Returns the version and file.
  virtual std::string detail() const = 0;
  /// Computes the request, or submits it to the device in order with other work. Does nothing and returns false if the
  /// library does not support it; `why` is set for an error. Threads call it concurrently, so it takes the locks that
  /// its library needs.
  virtual bool run(const Spec& spec, std::string& why) = 0;
};

/// The libraries for one primitive on one device, in the order in which they are tried.
template <class Spec>
class Providers {
 public:
  /// Opens a library. Returns null, with the reason, if it is unusable.
  using Open = std::function<std::unique_ptr<Provider<Spec>>(std::string& why)>;

  /// `kind` is the name in LibraryInfo and CATENARY_TRACE. `useless` is the reason why these libraries are used only on
  /// request, or empty.
  Providers(const char* kind, std::string device, std::vector<std::pair<const char*, Open>> list, std::string useless)
      : kind_(kind), device_(std::move(device)), useless_(std::move(useless)) {
    for (auto& [name, open] : list) entries_.push_back(std::make_unique<Entry>(name, std::move(open)));
  }

  /// Selects the libraries: "own" for our code alone, the name of one library, or any other word for all useful ones.
  /// `because` explains the choice in messages. Throws DeviceError if the named library cannot be used.
  void choose(std::string asked, const std::string& because) {
    std::lock_guard lock(mutex_);
    asked = lower(asked);
    const bool one =
        std::any_of(entries_.begin(), entries_.end(), [&](const auto& e) { return lower(e->name) == asked; });
    for (const auto& e : entries_) {
      const bool chosen = lower(e->name) == asked;
      e->used = false;
      if (asked == "own" || (one && !chosen)) {
        e->detail = because;
      } else if (!useless_.empty() && !chosen) {
        e->detail = useless_;
      } else {
        e->detail.clear();
        if (!e->provider) e->provider = e->open(e->detail);
        if (e->provider) e->detail = e->provider->detail();
        if (chosen && !e->provider)
          fail<DeviceError>("{}: {} cannot be used on {}: {}", because, e->name, device_, e->detail);
        e->used = e->provider != nullptr;
      }
      if (tracing(kind_))
        fmt::print(stderr, "{} {} {} is {}used: {}\n", kind_, device_, e->name, e->used ? "" : "not ", e->detail);
    }
  }

  /// Returns whether any library is in use.
  bool any() const {
    return std::any_of(entries_.begin(), entries_.end(), [](const auto& e) { return e->used.load(); });
  }

  /// Returns the name of the library that computed the request, which lives as long as this object, or null if none
  /// supports it.
  const std::string* run(const Spec& spec) {
    for (const auto& e : entries_) {
      if (!e->used.load(std::memory_order_acquire)) continue;
      std::string why;
      if (e->provider->run(spec, why)) {
        e->computed.fetch_add(1, std::memory_order_relaxed);
        return &e->name;
      }
      // once for each library, which is still tried later
      if (why.empty() || e->refused.exchange(true)) continue;
      std::lock_guard lock(mutex_);
      e->detail += fmt::format("; refused {}: {}", describe(spec), why);
      fmt::print(stderr, "catenary: {} on {} {}; the next provider takes it\n", e->name, device_, e->detail);
    }
    return nullptr;
  }
  /// Counts a computation by our own code.
  void count_own() { own_.fetch_add(1, std::memory_order_relaxed); }

  std::vector<LibraryInfo> info() const {
    std::lock_guard lock(mutex_);
    std::vector<LibraryInfo> list;
    const auto add = [&](bool used) {
      for (const auto& e : entries_)
        if (e->used == used) list.push_back({kind_, e->name, used, e->detail, e->computed});
    };
    add(true);
    list.push_back({kind_, "own", true, "Catenary's own kernels", own_});
    add(false);
    return list;
  }

 private:
  struct Entry {
    Entry(const char* n, Open o) : name(n), open(std::move(o)) {}
    const std::string name;
    const Open open;
    std::string detail;
    std::unique_ptr<Provider<Spec>> provider;
    std::atomic<bool> used{false}, refused{false};
    std::atomic<std::int64_t> computed{0};
  };

  const char* const kind_;
  const std::string device_, useless_;
  mutable std::mutex mutex_;  // protects the choice and the details
  std::vector<std::unique_ptr<Entry>> entries_;
  std::atomic<std::int64_t> own_{0};
};

/// Results that a library found for a key, such as an algorithm for the sizes of a product, shared by all threads. All
/// are dropped when there are too many; entries in use stay alive.
template <class Key, class Plan>
class PlanCache {
 public:
  /// Returns the plan of a key, or a new plan from `make`.
  template <class Make>
  std::shared_ptr<Plan> get(const Key& key, const Make& make) {
    {
      std::lock_guard lock(mutex_);
      if (const auto known = plans_.find(key); known != plans_.end()) return known->second;
    }
    std::shared_ptr<Plan> plan = make();  // without the lock, because it may take long
    std::lock_guard lock(mutex_);
    if (plans_.size() >= kMost) plans_.clear();
    return plans_.emplace(key, std::move(plan)).first->second;
  }

 private:
  static constexpr std::size_t kMost = 4096;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Plan>> plans_;
};

}  // namespace catenary
