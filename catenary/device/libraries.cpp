#include "catenary/device/libraries.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <utility>

#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/device/backend.h"
#include "catenary/device/computations.h"
#include "catenary/device/deferred.h"
#include "catenary/device/trace.h"

namespace catenary {

namespace {

using Lasts = std::array<const Computation*, kComputationKinds.size()>;

/// Returns the calling thread's last computations, indexed by device number.
std::vector<Lasts>& lasts() {
  thread_local std::vector<Lasts> all;
  return all;
}

const ThreadState kLasts([] { lasts(); });

std::size_t next_number() {
  static std::atomic<std::size_t> number{0};
  return number.fetch_add(1);
}

}  // namespace

std::vector<LibraryInfo> Backend::libraries(int, std::string_view) { return {}; }
const Computation* Backend::last_computation(int, ComputationKind) { return nullptr; }

std::vector<LibraryInfo> libraries(const Device& device, std::string_view kind) {
  return device.backend().libraries(device.index(), kind);
}

std::string Computation::text() const {
  std::string line = library;
  if (!algorithm.empty()) line += fmt::format(", {}", algorithm);
  line += fmt::format(": {}", compute);
  if (!units.empty()) return line + fmt::format(", by {}", units);
  return line + fmt::format("; {}: {}", told ? "no matrix units" : "matrix units are not told", why_not);
}

std::optional<Computation> last_computation(const Device& device, std::string_view kind) {
  const auto at = std::find(kComputationKinds.begin(), kComputationKinds.end(), kind);
  if (at == kComputationKinds.end())
    fail<ValueError>("last_computation: expected a kind of {}, got '{}'", fmt::join(kComputationKinds, ", "), kind);
  const auto index = static_cast<std::size_t>(at - kComputationKinds.begin());
  const Computation* const last =
      device.backend().last_computation(device.index(), static_cast<ComputationKind>(index));
  return last ? std::optional(*last) : std::nullopt;
}

Computations::Computations(std::string device) : device_(std::move(device)), number_(next_number()) {}

bool Computations::are_traced() {
  static const bool traced = tracing("libraries");
  return traced;
}

const Computation& Computations::keep(Computation computation) {
  std::lock_guard lock(mutex_);
  const auto [place, is_new] = known_.insert(std::move(computation));
  if (is_new && are_traced()) fmt::print(stderr, "library {} {} {}\n", device_, place->kind, place->text());
  return *place;
}

void Computations::note(ComputationKind kind, const Computation& computation) const {
  std::vector<Lasts>& mine = lasts();
  if (mine.size() <= number_) mine.resize(number_ + 1);
  mine[number_][static_cast<std::size_t>(kind)] = &computation;
}

const Computation* Computations::last(ComputationKind kind) const {
  const std::vector<Lasts>& mine = lasts();
  return number_ < mine.size() ? mine[number_][static_cast<std::size_t>(kind)] : nullptr;
}

std::string sums_of(Dtype sums, std::string_view products) {
  return fmt::format("{} sums of {} products", sums, products);
}

std::string sums_of(Dtype operands) {
  if (operands == Dtype::bool_) return "any of both";
  return sums_of(is_16bit_float(operands) ? Dtype::float32 : operands, dtype_name(operands));
}

}  // namespace catenary
