#pragma once
// Private to the library: the libraries that are tried before our own code computes a primitive, for devices of every
// kind. A Spec is what they are asked for: a primitive, or what a library wants to know of one (a product as BLAS
// describes it), with `std::string describe(const Spec&)` for messages.

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "catenary/core/format.h"
#include "catenary/device/libraries.h"
#include "catenary/device/trace.h"

namespace catenary {

/// A primitive in messages: "sort of [2, 3]".
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
  /// Version and file.
  virtual std::string detail() const = 0;
  /// Computes it, or submits it to the device in order with everything else there. False, with nothing done, where the
  /// library does not take it; `why` tells of an error. Threads call it side by side: it locks what its library wants
  /// locked.
  virtual bool run(const Spec& spec, std::string& why) = 0;
};

/// The libraries for one primitive on one device, in the order in which they are tried.
template <class Spec>
class Providers {
 public:
  /// Opens a library; null, with the reason, where it cannot serve.
  using Open = std::function<std::unique_ptr<Provider<Spec>>(std::string& why)>;

  /// `kind` is LibraryInfo's and CATENARY_TRACE's word for them. `useless` is why none is of use unless it is asked
  /// for; empty where they are.
  Providers(const char* kind, std::string device, std::vector<std::pair<const char*, Open>> list, std::string useless)
      : kind_(kind), device_(std::move(device)), useless_(std::move(useless)) {
    for (auto& [name, open] : list) entries_.push_back(std::make_unique<Entry>(name, std::move(open)));
  }

  /// Takes "own" code alone, the library of a name alone, or, for any other word, all that are of use. `because` is
  /// what messages say of the choice. Throws DeviceError where the one of that name cannot be used.
  void choose(std::string asked, const std::string& because) {
    std::lock_guard lock(mutex_);
    const auto lower = [](std::string text) {
      for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return text;
    };
    asked = lower(std::move(asked));
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

  /// Is there one that is asked?
  bool any() const {
    return std::any_of(entries_.begin(), entries_.end(), [](const auto& e) { return e->used.load(); });
  }

  /// The name of the library that computed it, which lives as long as this; null where none takes it.
  const std::string* run(const Spec& spec) {
    for (const auto& e : entries_) {
      if (!e->used.load(std::memory_order_acquire)) continue;
      std::string why;
      if (e->provider->run(spec, why)) {
        e->computed.fetch_add(1, std::memory_order_relaxed);
        return &e->name;
      }
      // once for each library: what follows is tried with it again
      if (why.empty() || e->refused.exchange(true)) continue;
      std::lock_guard lock(mutex_);
      e->detail += fmt::format("; refused {}: {}", describe(spec), why);
      fmt::print(stderr, "catenary: {} on {} {}; the next provider takes it\n", e->name, device_, e->detail);
    }
    return nullptr;
  }
  /// Our own code computed something.
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
  mutable std::mutex mutex_;  // of the choice, and of details
  std::vector<std::unique_ptr<Entry>> entries_;
  std::atomic<std::int64_t> own_{0};
};

/// What a library found out for a key (an algorithm for the sizes of a product, say), once for all threads. All are
/// forgotten when there are too many; one that is in use lives on.
template <class Key, class Plan>
class PlanCache {
 public:
  /// The plan of a key, or a new one, which `make` gives.
  template <class Make>
  std::shared_ptr<Plan> get(const Key& key, const Make& make) {
    {
      std::lock_guard lock(mutex_);
      if (const auto known = plans_.find(key); known != plans_.end()) return known->second;
    }
    std::shared_ptr<Plan> plan = make();  // without the lock: it may take long
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
