#include "catenary/core/config.h"

#include <algorithm>
#include <array>

#include "catenary/core/environment.h"
#include "catenary/core/format.h"

namespace catenary {

namespace detail {
namespace {

constexpr const char* kNames[kSettings] = {
    "train",    "enable_backprop", "keep_graph_on_report", "debug",    "fusion", "in_recomputing",
    "winograd", "use_cudnn",       "cudnn_deterministic",  "autotune", "dtype"};

struct Globals {
  std::array<std::atomic<std::uint8_t>, kSettings> values;
  Globals() {
    const bool flags[kSettings] = {true,
                                   true,
                                   environment::flag("CATENARY_KEEP_GRAPH_ON_REPORT"),
                                   environment::flag("CATENARY_DEBUG"),
                                   environment::flag("CATENARY_FUSION", !environment::flag("CATENARY_SYNC")),
                                   false,
                                   environment::flag("CATENARY_WINOGRAD", true),
                                   true,
                                   environment::flag("CATENARY_CUDNN_DETERMINISTIC", true),
                                   environment::flag("CATENARY_AUTOTUNE")};
    for (int i = 0; i < kSettings; ++i) values[static_cast<std::size_t>(i)] = flags[i];
    const std::string dtype = environment::text("CATENARY_DTYPE");
    const Dtype d = dtype.empty() ? Dtype::float32 : dtype_from_name(dtype);
    values[static_cast<std::size_t>(Setting::dtype)] = static_cast<std::uint8_t>(d);
  }
};

Globals& globals() {
  static Globals& g = *new Globals;
  return g;
}

// -1: the thread has no value of its own.
thread_local std::array<std::int8_t, kSettings> locals = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

}  // namespace

std::uint8_t setting(Setting s) {
  const std::int8_t own = locals[static_cast<std::size_t>(s)];
  return own >= 0 ? static_cast<std::uint8_t>(own) : global_setting(s);
}
int local_setting(Setting s) { return locals[static_cast<std::size_t>(s)]; }
void set_local_setting(Setting s, int value) { locals[static_cast<std::size_t>(s)] = static_cast<std::int8_t>(value); }
std::uint8_t global_setting(Setting s) {
  return globals().values[static_cast<std::size_t>(s)].load(std::memory_order_relaxed);
}
void set_global_setting(Setting s, std::uint8_t value) {
  globals().values[static_cast<std::size_t>(s)].store(value, std::memory_order_relaxed);
}

}  // namespace detail

std::string config_to_string() {
  std::string lines[detail::kSettings];
  for (int i = 0; i < detail::kSettings; ++i) {
    const auto s = static_cast<detail::Setting>(i);
    const std::uint8_t value = detail::setting(s);
    const char* text = s == detail::Setting::dtype ? dtype_name(static_cast<Dtype>(value)) : value ? "true" : "false";
    lines[i] = fmt::format("{:<20} {}\n", detail::kNames[i], text);
  }
  std::sort(std::begin(lines), std::end(lines));
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

}  // namespace catenary
