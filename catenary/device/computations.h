#pragma once
// Private to the library: how a device's products, convolutions and attention were computed (device/libraries.h). What
// computes keeps a Computation with its plan, and each call notes its address.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "catenary/core/dtype.h"
#include "catenary/device/libraries.h"

namespace catenary {

enum class ComputationKind : std::uint8_t { product, convolution, attention };

/// Those of a device; it lives as long as the process.
class CT_API Computations {
 public:
  /// The device's name, for CATENARY_TRACE=libraries.
  explicit Computations(std::string device);
  Computations(const Computations&) = delete;
  Computations& operator=(const Computations&) = delete;

  /// Does CATENARY_TRACE=libraries ask for them?
  static bool are_traced();
  /// The one that is equal to it, which lives as long as this. A new one is printed where that is traced.
  const Computation& keep(Computation computation);
  /// The calling thread's last one is this, which was kept.
  void note(ComputationKind kind, const Computation& computation) const;
  /// Null where the thread has computed none.
  const Computation* last(ComputationKind kind) const;

 private:
  const std::string device_;
  const std::size_t number_;  // in the threads' own tables
  std::mutex mutex_;
  std::set<Computation> known_;
};

/// Computations that a small number tells apart, made as they are met.
template <std::size_t N>
class ComputationTable {
 public:
  /// The one of a number, or what `make` gives, which was kept.
  template <class Make>
  const Computation& get(std::size_t number, const Make& make) {
    std::atomic<const Computation*>& place = known_[number];
    if (const Computation* const known = place.load(std::memory_order_acquire)) return *known;
    const Computation& made = make();
    place.store(&made, std::memory_order_release);
    return made;
  }

 private:
  std::array<std::atomic<const Computation*>, N> known_{};
};

/// "float32 sums of float16 products".
std::string sums_of(Dtype sums, std::string_view products);
/// The same for operands of a dtype: 16-bit floats are added up in float32, all else as it is.
std::string sums_of(Dtype operands);

}  // namespace catenary
