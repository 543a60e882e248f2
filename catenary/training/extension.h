#pragma once
// training/: the training loop. An Updater makes one step, a Trainer repeats it, and extensions run when their triggers
// fire. A trainer restored from a snapshot continues with equal bits. (chainer.training)

#include <cstdint>
#include <memory>
#include <string>

#include "catenary/serializers/serializer.h"

namespace catenary::training {

class Trainer;

/// Priorities of extensions. Extensions that write observations run first, then editors, then readers.
inline constexpr int kPriorityWriter = 300;
inline constexpr int kPriorityEditor = 200;
inline constexpr int kPriorityReader = 100;

/// Decides when an extension runs. Derive from it to write a trigger.
class CT_API TriggerBase {
 public:
  virtual ~TriggerBase();
  /// Called once in each iteration. Returns true to fire.
  virtual bool operator()(Trainer& trainer) = 0;
  virtual void serialize(Serializer&) {}
  /// If this is a stop trigger with a known end, returns true and sets the length and the unit, for progress bars.
  virtual bool training_length(std::int64_t&, std::string&) const { return false; }
};

/// A handle to a trigger: an interval (`Trigger(20, "epoch")`, `Trigger(1000, "iteration")`), a class of triggers.h, or
/// an empty handle, which never fires.
class CT_API Trigger {
 public:
  Trigger() = default;
  /// Fires every `period` epochs or iterations. Epochs may be fractions. Throws ValueError for another unit or period
  /// <= 0.
  Trigger(double period, const std::string& unit);
  Trigger(std::shared_ptr<TriggerBase> implementation) : implementation_(std::move(implementation)) {}
  template <std::derived_from<TriggerBase> T>
  Trigger(const T& trigger) : implementation_(std::make_shared<T>(trigger)) {}

  bool defined() const { return implementation_ != nullptr; }
  bool operator()(Trainer& trainer) const { return implementation_ && (*implementation_)(trainer); }
  void serialize(Serializer& serializer) const {
    if (implementation_) implementation_->serialize(serializer);
  }
  bool training_length(std::int64_t& period, std::string& unit) const {
    return implementation_ && implementation_->training_length(period, unit);
  }

 private:
  std::shared_ptr<TriggerBase> implementation_;
};

/// A task that a trainer runs beside updates. Derive from it, or pass a function to `Trainer::extend`.
class CT_API Extension {
 public:
  virtual ~Extension();
  /// Returns the name used unless `extend` gives another. It is the key in snapshots.
  virtual std::string default_name() const = 0;
  /// The name given by `extend`.
  std::string name;
  virtual Trigger trigger() const { return Trigger(1, "iteration"); }
  virtual int priority() const { return kPriorityReader; }
  /// Called before training, after autoload has loaded a snapshot.
  virtual void initialize(Trainer&) {}
  virtual void operator()(Trainer& trainer) = 0;
  /// Called after training, also after an error.
  virtual void finalize() {}
  /// Called when an exception leaves the loop.
  virtual void on_error(Trainer&, const std::exception&) {}
  virtual void serialize(Serializer&) {}

  /// Loads an earlier run's snapshot if requested. Called before any extension's initialize.
  virtual void autoload(Trainer&) {}
  /// Whether the extension saves a state from which training can resume. It then runs after all other extensions of an
  /// iteration, and saves when a signal ends training.
  virtual bool saves_trainer() const { return false; }
  /// Saves now and returns the path.
  virtual std::string save(Trainer&) { return {}; }
};

}  // namespace catenary::training
