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

/// What `extend` may say; what is not said the extension decides.
struct ExtendOptions {
  std::string name = {};
  std::optional<Trigger> trigger = {};
  std::optional<int> priority = {};
  bool call_before_training = false;  ///< called once before the first iteration, too; not when training is resumed
};

/// Repeats updates until the stop trigger fires, and runs extensions. A handle. (chainer.training.Trainer)
class CT_API Trainer {
 public:
  /// Output of extensions goes to the folder `out`, which is made when training starts.
  Trainer(const Updater& updater, const Trigger& stop_trigger, const std::string& out = "result");

  const Updater& updater() const;
  const std::string& out() const;
  /// What was reported in this iteration.
  Observation& observation() const;
  const Reporter& reporter() const;
  const Trigger& stop_trigger() const;
  /// Seconds of training, those before a snapshot included.
  double elapsed_time() const;
  bool is_before_training() const;

  /// Adds an extension; a name that is there already gets "_1", "_2", … appended.
  template <std::derived_from<Extension> E>
  void extend(const E& extension, const ExtendOptions& options = {}) const {
    extend(std::shared_ptr<Extension>(std::make_shared<E>(extension)), options);
  }
  void extend(std::shared_ptr<Extension> extension, const ExtendOptions& options = {}) const;
  /// A function as an extension; it needs a name.
  void extend(std::function<void(Trainer&)> f, const ExtendOptions& options) const;
  /// The extension of a name; throws ValueError that lists the names.
  Extension& get_extension(const std::string& name) const;

  /// Trains. Can be called once. SIGINT, SIGTERM, SIGHUP and SIGXCPU end it, and all others that run in the process,
  /// after the current iteration with a snapshot (if there is a snapshot extension, of the trainer: snapshot_object is
  /// left alone) and an Interrupted exception; an exception of an update or extension is told to the extensions and
  /// thrown on.
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
