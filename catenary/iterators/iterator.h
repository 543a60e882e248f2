#pragma once
// iterators/: minibatches of a dataset, epoch after epoch, in an order that a snapshot remembers. Training may not come
// in.

#include <functional>
#include <memory>
#include <optional>

#include "catenary/datasets/dataset.h"
#include "catenary/links/model.h"
#include "catenary/serializers/serializer.h"

namespace catenary {

/// A minibatch as an iterator gives it: whole columns where the dataset can make them, else single examples.
struct Minibatch {
  std::vector<Example> examples;
  Columns columns;
  bool has_columns = false;
  std::int64_t size = 0;

  /// Examples first, first + step, first + 2 step, …: a part for one of several devices.
  CT_API Minibatch every(std::int64_t first, std::int64_t step) const;
};

namespace iterators {

/// A minibatch that an iterator has not given yet.
struct Upcoming {
  std::vector<std::int64_t> which;  ///< two that have the same are the same minibatch
  std::function<Minibatch()> make;  ///< to be called once at most, by whatever thread; throws as next() would
};

/// What every iterator does; a handle (Iterator, below) refers to one.
class CT_API IteratorBase {
 public:
  virtual ~IteratorBase();
  /// The next minibatch, or nothing at the end of a dataset that is not repeated.
  virtual std::optional<Minibatch> next() = 0;
  virtual std::int64_t epoch() const = 0;
  virtual bool is_new_epoch() const = 0;
  virtual double epoch_detail() const = 0;
  virtual std::optional<double> previous_epoch_detail() const = 0;
  virtual bool repeat() const = 0;
  virtual std::int64_t batch_size() const = 0;
  virtual const Dataset& dataset() const = 0;
  /// Of an epoch.
  virtual std::int64_t examples() const { return dataset().size(); }
  virtual void reset() = 0;
  virtual void finalize() {}
  virtual void serialize(Serializer& serializer) = 0;

  // What StandardUpdaterOptions::prefetch needs, which refuses an iterator that does not look ahead. One that does
  // overrides all three.

  /// Does it know before next() what next() will give?
  virtual bool looks_ahead() const { return false; }
  /// The minibatch that next() would give now, or nothing where that is not settled before (next() draws an order
  /// first) and at the end. Nothing changes by it, and what makes the minibatch reads nothing that advance() changes:
  /// one thread makes it while another one goes on with the iterator.
  virtual std::optional<Upcoming> upcoming() const { return std::nullopt; }
  /// Goes on as next() does, without making the minibatch.
  virtual void advance() { next(); }
};

}  // namespace iterators

/// A handle to an iterator. (chainer.dataset.Iterator)
class CT_API Iterator {
 public:
  Iterator() = default;
  explicit Iterator(std::shared_ptr<iterators::IteratorBase> implementation)
      : implementation_(std::move(implementation)) {}
  bool defined() const { return implementation_ != nullptr; }
  std::optional<Minibatch> next() const { return implementation().next(); }
  std::int64_t epoch() const { return implementation().epoch(); }
  bool is_new_epoch() const { return implementation().is_new_epoch(); }
  double epoch_detail() const { return implementation().epoch_detail(); }
  std::optional<double> previous_epoch_detail() const { return implementation().previous_epoch_detail(); }
  bool repeat() const { return implementation().repeat(); }
  std::int64_t batch_size() const { return implementation().batch_size(); }
  const Dataset& dataset() const { return implementation().dataset(); }
  std::int64_t examples() const { return implementation().examples(); }
  void reset() const { implementation().reset(); }
  void finalize() const { implementation().finalize(); }
  void serialize(Serializer& serializer) const { implementation().serialize(serializer); }
  bool looks_ahead() const { return implementation().looks_ahead(); }
  std::optional<iterators::Upcoming> upcoming() const { return implementation().upcoming(); }
  void advance() const { implementation().advance(); }
  iterators::IteratorBase& implementation() const;

 private:
  std::shared_ptr<iterators::IteratorBase> implementation_;
};

/// Turns a minibatch into the arguments of a model: columns on the device. (chainer.dataset.concat_examples)
/// With `padding`, arrays of different shapes are padded to the largest with that value; without, they throw
/// ValueError.
CT_API Batch concat_examples(const Minibatch& batch, const std::optional<Device>& device = {},
                             const std::optional<Scalar>& padding = {});

}  // namespace catenary
