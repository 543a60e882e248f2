#pragma once
// Private to the library: records how a device's matrix products, convolutions and attention were computed
// (device/libraries.h). Each plan holds a Computation, and each call notes its address.

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
/// Their names in Computation::kind, in order.
constexpr std::array<std::string_view, 3> kComputationKinds = {"blas", "dnn", "attention"};

/// The computations of a device. Lives as long as the process.
class CT_API Computations {
 public:
  /// Takes the device's name, for CATENARY_TRACE=libraries.
  explicit Computations(std::string device);
  Computations(const Computations&) = delete;
  Computations& operator=(const Computations&) = delete;

  /// Returns whether CATENARY_TRACE=libraries is set.
  static bool are_traced();
  /// Returns the stored computation that equals this one. It lives as long as this object. Prints a new one if they are
  /// traced.
  const Computation& keep(Computation computation);
  /// Notes a kept computation as the calling thread's last one.
  void note(ComputationKind kind, const Computation& computation) const;
  /// Returns the calling thread's last computation, or null.
  const Computation* last(ComputationKind kind) const;

 private:
  const std::string device_;
  const std::size_t number_;  // index into the threads' tables
  std::mutex mutex_;
  std::set<Computation> known_;
};

/// Computations that are identified by a small number, and made on first use.
template <std::size_t N>
class ComputationTable {
 public:
  /// Returns the computation with a number, or makes it with `make`, whose result must be kept.
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

/// Returns a description such as "float32 sums of float16 products".
std::string sums_of(Dtype sums, std::string_view products);
/// Returns the description for operands of a dtype: 16-bit floats are summed in float32, other dtypes in themselves.
std::string sums_of(Dtype operands);

}  // namespace catenary
