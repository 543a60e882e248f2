#include "catenary/core/config.h"

#include <algorithm>
#include <array>
#include <vector>

#include "catenary/core/environment.h"
#include "catenary/core/format.h"

namespace catenary {

namespace detail {
namespace {

constexpr std::size_t kSettings = 0
#define CT_SETTING(type, name, initial) +1
#include "catenary/core/settings.def"
#undef CT_SETTING
    ;

std::size_t place_of(Setting s) { return static_cast<std::size_t>(s); }

Precision precision_from_environment() {
  const std::string name = environment::text("CATENARY_DTYPE");
  return name.empty() ? Precision(Dtype::float32) : precision_from_name(name);
}

struct Globals {
  std::array<std::atomic<std::uint8_t>, kSettings> values;
  Globals() {
#define CT_SETTING(type, name, initial) values[place_of(Setting::name)] = to_byte(type{initial});
#include "catenary/core/settings.def"
#undef CT_SETTING
  }
};

Globals& globals() {
  static Globals& g = *new Globals;
  return g;
}

// A thread's value plus 1, or 0 if it has none.
thread_local std::array<std::uint8_t, kSettings> locals{};

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(Precision value) { return precision_name(value); }

}  // namespace

std::uint8_t setting(Setting s) {
  const int own = local_setting(s);
  return own >= 0 ? static_cast<std::uint8_t>(own) : global_setting(s);
}
int local_setting(Setting s) { return locals[place_of(s)] - 1; }
void set_local_setting(Setting s, int value) { locals[place_of(s)] = static_cast<std::uint8_t>(value + 1); }
std::uint8_t global_setting(Setting s) { return globals().values[place_of(s)].load(std::memory_order_relaxed); }
void set_global_setting(Setting s, std::uint8_t value) {
  globals().values[place_of(s)].store(value, std::memory_order_relaxed);
}

}  // namespace detail

std::string config_to_string() {
  std::vector<std::string> lines;
#define CT_SETTING(type, name, initial) \
  lines.push_back(fmt::format("{:<20} {}\n", #name, detail::text_of(config.name.value())));
#include "catenary/core/settings.def"
#undef CT_SETTING
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace catenary
