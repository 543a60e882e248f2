#pragma once
// Settings of the calling thread, with process-wide defaults behind them (chainer.config, chainer.global_config).
//
//   config.train                              read: the thread's value, else the global one
//   config.dtype = Dtype::float64             set for this thread
//   global_config.dtype = Dtype::float64      set for every thread that has no value of its own
//   UsingConfig scope(config.train, false);   set until the end of the scope

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "catenary/core/dtype.h"
#include "catenary/core/export.h"

namespace catenary {

namespace detail {

enum class Setting : std::uint8_t {
  train,
  enable_backprop,
  keep_graph_on_report,
  debug,
  fusion,
  in_recomputing,
  winograd,
  use_cudnn,
  cudnn_deterministic,
  autotune,
  dtype,
};
inline constexpr int kSettings = 11;

/// The value in effect.
CT_API std::uint8_t setting(Setting s);
/// The calling thread's own value, or -1.
CT_API int local_setting(Setting s);
/// -1 takes the thread's own value away.
CT_API void set_local_setting(Setting s, int value);
CT_API void set_global_setting(Setting s, std::uint8_t value);
CT_API std::uint8_t global_setting(Setting s);

template <class T, Setting S>
struct LocalEntry {
  using value_type = T;
  static constexpr Setting which = S;
  operator T() const { return static_cast<T>(setting(S)); }
  const LocalEntry& operator=(T value) const {
    set_local_setting(S, static_cast<int>(value));
    return *this;
  }
  /// Forgets the thread's own value: the global one holds again.
  void reset() const { set_local_setting(S, -1); }
};

template <class T, Setting S>
struct GlobalEntry {
  operator T() const { return static_cast<T>(global_setting(S)); }
  const GlobalEntry& operator=(T value) const {
    set_global_setting(S, static_cast<std::uint8_t>(value));
    return *this;
  }
};

template <template <class, Setting> class Entry>
struct Settings {
  /// Is this training? dropout and batch normalisation ask.
  Entry<bool, Setting::train> train{};
  /// Do functions keep what backward needs?
  Entry<bool, Setting::enable_backprop> enable_backprop{};
  /// Do reported variables keep their graph? (CHAINER_KEEP_GRAPH_ON_REPORT)
  Entry<bool, Setting::keep_graph_on_report> keep_graph_on_report{};
  /// Looks for NaN in what functions return, forward and backward, and names the function. (CHAINER_DEBUG)
  Entry<bool, Setting::debug> debug{};
  /// May elementwise operations wait, to run as one kernel? The results are the same bits either way, but for 16-bit
  /// floats, which stay float32 inside of a kernel. (CATENARY_FUSION)
  Entry<bool, Setting::fusion> fusion{};
  /// Is this the second forward pass of functions that recompute (F.forget)?
  Entry<bool, Setting::in_recomputing> in_recomputing{};
  /// May float32 convolutions with windows of 3 x 3 be computed by Winograd's minimal filtering, with 2.25 to 4 times
  /// fewer multiplications? An error is then at most 1e-6 of the largest sum of the magnitudes of an element's terms,
  /// up to three times that of direct sums, and an inf or a NaN may reach elements beside those that it is a term of.
  /// (CATENARY_WINOGRAD)
  Entry<bool, Setting::winograd> winograd{};
  /// May the vendors' libraries compute convolutions, MIOpen as well as cuDNN? (Chainer's "never" is false)
  Entry<bool, Setting::use_cudnn> use_cudnn{};
  /// Must their algorithms give the same bits each time? True, other than in Chainer. (CATENARY_CUDNN_DETERMINISTIC)
  Entry<bool, Setting::cudnn_deterministic> cudnn_deterministic{};
  /// Does cuDNN try its algorithms for a convolution that it has not met? What it found is kept in the cache's folder.
  /// (CATENARY_AUTOTUNE)
  Entry<bool, Setting::autotune> autotune{};
  /// dtype of new parameters and of float results of integers in functions. (CHAINER_DTYPE)
  Entry<Dtype, Setting::dtype> dtype{};
};

}  // namespace detail

/// Settings of the calling thread.
inline constexpr detail::Settings<detail::LocalEntry> config{};
/// Settings of threads that have none of their own. Read from CATENARY_DEBUG, CATENARY_FUSION,
/// CATENARY_KEEP_GRAPH_ON_REPORT, CATENARY_WINOGRAD and CATENARY_DTYPE at first, else from the variables that Chainer
/// reads (CHAINER_…). Chainer's type_check has no counterpart: dtypes and shapes are always checked.
inline constexpr detail::Settings<detail::GlobalEntry> global_config{};

/// Gives a setting a value until the end of the scope, in this thread. (chainer.using_config)
template <class Entry>
class UsingConfig {
 public:
  UsingConfig(const Entry&, typename Entry::value_type value) : before_(detail::local_setting(Entry::which)) {
    detail::set_local_setting(Entry::which, static_cast<int>(value));
  }
  ~UsingConfig() { detail::set_local_setting(Entry::which, before_); }
  UsingConfig(const UsingConfig&) = delete;
  UsingConfig& operator=(const UsingConfig&) = delete;

 private:
  int before_;
};
template <class Entry, class T>
UsingConfig(const Entry&, T) -> UsingConfig<Entry>;

/// `auto scope = using_config(config.train, false);`
template <class Entry>
[[nodiscard]] UsingConfig<Entry> using_config(const Entry& entry, typename Entry::value_type value) {
  return UsingConfig<Entry>(entry, value);
}
/// The scopes that no_backprop_mode, train_mode and the like return.
using BackpropScope = UsingConfig<detail::LocalEntry<bool, detail::Setting::enable_backprop>>;
using TrainScope = UsingConfig<detail::LocalEntry<bool, detail::Setting::train>>;
/// Until the end of the scope no graph is built: `auto scope = no_backprop_mode();`
[[nodiscard]] inline BackpropScope no_backprop_mode() { return BackpropScope(config.enable_backprop, false); }
/// Until the end of the scope graphs are built, also inside of no_backprop_mode.
[[nodiscard]] inline BackpropScope force_backprop_mode() { return BackpropScope(config.enable_backprop, true); }
/// Until the end of the scope config.train is false or true.
[[nodiscard]] inline TrainScope test_mode() { return TrainScope(config.train, false); }
[[nodiscard]] inline TrainScope train_mode() { return TrainScope(config.train, true); }

/// The given dtype, or config.dtype. (chainer.get_dtype)
inline Dtype get_dtype(std::optional<Dtype> dtype = {}) { return dtype ? *dtype : static_cast<Dtype>(config.dtype); }
/// One line an entry, "name value", as chainer.config.show() prints.
CT_API std::string config_to_string();

}  // namespace catenary
