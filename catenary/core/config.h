#pragma once
// Settings of the calling thread, and process-wide defaults (chainer.config, chainer.global_config).
//
//   config.train                              read: the thread's value, else the global one
//   config.dtype = Dtype::float64             set for this thread
//   global_config.dtype = mixed16             set for every thread without a value
//   UsingConfig scope(config.train, false);   set until the end of the scope

#include <atomic>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "catenary/core/export.h"
#include "catenary/core/precision.h"

namespace catenary {

namespace detail {

enum class Setting : std::uint8_t {
#define CT_SETTING(type, name, initial) name,
#include "catenary/core/settings.def"
#undef CT_SETTING
};

/// Returns the value in effect.
CT_API std::uint8_t setting(Setting s);
/// Returns the calling thread's value, or -1 if it has none.
CT_API int local_setting(Setting s);
/// Sets the calling thread's value; -1 removes it.
CT_API void set_local_setting(Setting s, int value);
CT_API void set_global_setting(Setting s, std::uint8_t value);
CT_API std::uint8_t global_setting(Setting s);

// Values are stored in less than a byte.
constexpr std::uint8_t to_byte(bool value) { return value ? 1 : 0; }
constexpr std::uint8_t to_byte(Precision value) {
  return static_cast<std::uint8_t>(static_cast<int>(static_cast<Dtype>(value)) + (value.is_mixed() ? 64 : 0));
}
template <class T>
constexpr T from_byte(std::uint8_t byte) {
  if constexpr (std::same_as<T, Precision>) {
    return Precision(static_cast<Dtype>(byte % 64), byte >= 64);
  } else {
    return byte != 0;
  }
}

template <class T, Setting S>
struct LocalEntry {
  using value_type = T;
  static constexpr Setting which = S;
  T value() const { return from_byte<T>(setting(S)); }
  operator T() const { return value(); }
  operator Dtype() const requires std::same_as<T, Precision> { return value(); }
  const LocalEntry& operator=(T value) const {
    set_local_setting(S, to_byte(value));
    return *this;
  }
  /// Removes the thread's value, so that the global value is in effect.
  void reset() const { set_local_setting(S, -1); }
};

template <class T, Setting S>
struct GlobalEntry {
  T value() const { return from_byte<T>(global_setting(S)); }
  operator T() const { return value(); }
  operator Dtype() const requires std::same_as<T, Precision> { return value(); }
  const GlobalEntry& operator=(T value) const {
    set_global_setting(S, to_byte(value));
    return *this;
  }
};

/// One entry for each row.
template <template <class, Setting> class Entry>
struct Settings {
#define CT_SETTING(type, name, initial) Entry<type, Setting::name> name{};
#include "catenary/core/settings.def"
#undef CT_SETTING
};

}  // namespace detail

/// The settings of the calling thread.
inline constexpr detail::Settings<detail::LocalEntry> config{};
/// The settings of threads without values. Initial values come from CATENARY_DEBUG, CATENARY_FUSION,
/// CATENARY_KEEP_GRAPH_ON_REPORT, CATENARY_WINOGRAD, CATENARY_INT8_PRODUCTS and CATENARY_DTYPE, else from Chainer's
/// variables (CHAINER_…). Chainer's type_check has no counterpart: dtypes and shapes are always checked.
inline constexpr detail::Settings<detail::GlobalEntry> global_config{};

/// Gives a setting a value in this thread until the end of the scope. (chainer.using_config)
template <class Entry>
class UsingConfig {
 public:
  UsingConfig(const Entry&, typename Entry::value_type value) : before_(detail::local_setting(Entry::which)) {
    detail::set_local_setting(Entry::which, detail::to_byte(value));
  }
  ~UsingConfig() { detail::set_local_setting(Entry::which, before_); }
  UsingConfig(const UsingConfig&) = delete;
  UsingConfig& operator=(const UsingConfig&) = delete;

 private:
  int before_;
};
template <class Entry, class T>
UsingConfig(const Entry&, T) -> UsingConfig<Entry>;

/// Makes a UsingConfig: `auto scope = using_config(config.train, false);`
template <class Entry>
[[nodiscard]] UsingConfig<Entry> using_config(const Entry& entry, typename Entry::value_type value) {
  return UsingConfig<Entry>(entry, value);
}
/// The scopes that no_backprop_mode, train_mode and similar functions return.
using BackpropScope = UsingConfig<detail::LocalEntry<bool, detail::Setting::enable_backprop>>;
using TrainScope = UsingConfig<detail::LocalEntry<bool, detail::Setting::train>>;
/// Disables graphs until the end of the scope: `auto scope = no_backprop_mode();`
[[nodiscard]] inline BackpropScope no_backprop_mode() { return BackpropScope(config.enable_backprop, false); }
/// Enables graphs until the end of the scope, also inside no_backprop_mode.
[[nodiscard]] inline BackpropScope force_backprop_mode() { return BackpropScope(config.enable_backprop, true); }
/// Set config.train to false or true until the end of the scope.
[[nodiscard]] inline TrainScope test_mode() { return TrainScope(config.train, false); }
[[nodiscard]] inline TrainScope train_mode() { return TrainScope(config.train, true); }

/// Returns the given dtype, or config.dtype. If that is mixed16 or mixed_bf16, returns `map_mixed` if given.
/// (chainer.get_dtype)
inline Dtype get_dtype(std::optional<Dtype> dtype = {}, std::optional<Dtype> map_mixed = {}) {
  if (dtype) return *dtype;
  const Precision precision = config.dtype;
  return precision.is_mixed() && map_mixed ? *map_mixed : static_cast<Dtype>(precision);
}
/// Returns one line for each entry, "name value", as chainer.config.show() prints.
CT_API std::string config_to_string();

}  // namespace catenary
