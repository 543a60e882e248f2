#pragma once
// The training loop.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catenary/reporter/reporter.h"
#include "catenary/training/extension.h"
#include "catenary/training/updater.h"

namespace catenary::training {

/// Options of `extend`. The extension supplies defaults.
struct ExtendOptions {
  std::string name = {};
  std::optional<Trigger> trigger = {};
  std::optional<int> priority = {};
  bool call_before_training = false;  ///< also call once before the first iteration, but not when resuming
};

/// Repeats updates until the stop trigger fires, and runs extensions. A handle. (chainer.training.Trainer)
class CT_API Trainer {
 public:
  /// Extensions write to the folder `out`, which is created when training starts.
  Trainer(const Updater& updater, const Trigger& stop_trigger, const std::string& out = "result");

  const Updater& updater() const;
  const std::string& out() const;
  /// The values reported in this iteration.
  Observation& observation() const;
  const Reporter& reporter() const;
  const Trigger& stop_trigger() const;
  /// Returns the seconds of training, including those before a snapshot.
  double elapsed_time() const;
  bool is_before_training() const;

  /// Adds an extension. A name that exists gets "_1", "_2", … appended.
  template <std::derived_from<Extension> E>
  void extend(const E& extension, const ExtendOptions& options = {}) const {
    extend(std::shared_ptr<Extension>(std::make_shared<E>(extension)), options);
  }
  void extend(std::shared_ptr<Extension> extension, const ExtendOptions& options = {}) const;
  /// Adds a function as an extension, which needs a name.
  void extend(std::function<void(Trainer&)> f, const ExtendOptions& options) const;
  /// Returns an extension by name. Throws ValueError that lists the names.
  Extension& get_extension(const std::string& name) const;

  /// Trains. Can be called once. SIGINT, SIGTERM, SIGHUP and SIGXCPU end all trainers of the process after the current
  /// iteration, with a snapshot (if there is a snapshot extension of the whole trainer) and an Interrupted exception.
  /// Exceptions of updates and extensions are passed to the extensions' on_error and rethrown.
  void run(bool show_loop_exception_msg = true) const;

  void serialize(Serializer& serializer) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Thrown by Trainer::run when a signal ended it. The message says how to resume.
class CT_API Interrupted : public Error {
 public:
  using Error::Error;
  ~Interrupted() override;
};

}  // namespace catenary::training
