#pragma once
// training/: the loop. An Updater makes one step, a Trainer repeats it, extensions run when their triggers say so. A
// snapshot of a trainer continues bit for bit. (chainer.training)

#include <cstdint>
#include <memory>
#include <string>

#include "catenary/serializers/serializer.h"

namespace catenary::training {

class Trainer;

/// Priorities of extensions: those that write observations run before those that edit them, and those before readers.
inline constexpr int kPriorityWriter = 300;
inline constexpr int kPriorityEditor = 200;
inline constexpr int kPriorityReader = 100;

/// Says when something happens. Derive from it to write one.
class CT_API TriggerBase {
 public:
  virtual ~TriggerBase();
  /// Called once an iteration; true when it fires.
  virtual bool operator()(Trainer& trainer) = 0;
  virtual void serialize(Serializer&) {}
  /// Where training ends, when this is a stop trigger that knows: for progress bars.
  virtual bool training_length(std::int64_t&, std::string&) const { return false; }
};

/// A handle to a trigger: an interval (`Trigger(20, "epoch")`, `Trigger(1000, "iteration")`), one of triggers.h, or
/// none, which never fires.
class CT_API Trigger {
 public:
  Trigger() = default;
  /// Fires every `period` epochs or iterations; fractions of epochs are fine. Throws ValueError for another unit or a
  /// period <= 0.
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

/// Something that a trainer does beside updating. Derive from it, or give `Trainer::extend` a function.
class CT_API Extension {
 public:
  virtual ~Extension();
  /// Name unless `extend` gives another; the key in snapshots.
  virtual std::string default_name() const = 0;
  /// The name that `extend` gave.
  std::string name;
  virtual Trigger trigger() const { return Trigger(1, "iteration"); }
  virtual int priority() const { return kPriorityReader; }
  /// Before training, and after a snapshot has been loaded by snapshot's autoload.
  virtual void initialize(Trainer&) {}
  virtual void operator()(Trainer& trainer) = 0;
  /// After training, however it ended.
  virtual void finalize() {}
  /// When an exception leaves the loop.
  virtual void on_error(Trainer&, const std::exception&) {}
  virtual void serialize(Serializer&) {}

  /// Loads what was saved in an earlier run, if that was asked for: before any extension's initialize.
  virtual void autoload(Trainer&) {}
  /// Does it save what training can go on from? Then it runs after all other extensions of an iteration, and saves when
  /// a signal ends training.
  virtual bool saves_trainer() const { return false; }
  /// Saves now; returns the path.
  virtual std::string save(Trainer&) { return {}; }
};

}  // namespace catenary::training
