#pragma once
// iterators/: minibatches of a dataset, epoch after epoch, in an order that snapshots save. May not include training.

#include <functional>
#include <memory>
#include <optional>

#include "catenary/datasets/dataset.h"
#include "catenary/links/model.h"
#include "catenary/serializers/serializer.h"

namespace catenary {

/// A minibatch from an iterator: whole columns if the dataset provides them, otherwise single examples.
struct Minibatch {
  std::vector<Example> examples;
  Columns columns;
  bool has_columns = false;
  std::int64_t size = 0;

  /// Returns examples first, first + step, first + 2 step, …: the part for one of several devices.
  CT_API Minibatch every(std::int64_t first, std::int64_t step) const;
};

namespace iterators {

/// A future minibatch of an iterator.
struct Upcoming {
  std::vector<std::int64_t> which;  ///< identifies the minibatch
  std::function<Minibatch()> make;  ///< makes the minibatch (call it once at most, from any thread), throws like next()
};

/// Base class of iterators. An Iterator (below) is a handle to an implementation.
class CT_API IteratorBase {
 public:
  virtual ~IteratorBase();
  /// Returns the next minibatch, or nothing at the end of a dataset that does not repeat.
  virtual std::optional<Minibatch> next() = 0;
  virtual std::int64_t epoch() const = 0;
  virtual bool is_new_epoch() const = 0;
  virtual double epoch_detail() const = 0;
  virtual std::optional<double> previous_epoch_detail() const = 0;
  virtual bool repeat() const = 0;
  virtual std::int64_t batch_size() const = 0;
  virtual const Dataset& dataset() const = 0;
  /// Returns the number of examples in an epoch.
  virtual std::int64_t examples() const { return dataset().size(); }
  virtual void reset() = 0;
  virtual void finalize() {}
  virtual void serialize(Serializer& serializer) = 0;

  // For StandardUpdaterOptions::prefetch, which rejects iterators without looks_ahead(). Override all three or none.

  /// Returns whether the iterator can describe the result of next() in advance.
  virtual bool looks_ahead() const { return false; }
  /// Returns the minibatch that next() would return, without changing the iterator. Returns nothing at the end, and if
  /// next() must first draw an order. Making the minibatch reads nothing that advance() changes, so one thread may make
  /// it while another continues with the iterator.
  virtual std::optional<Upcoming> upcoming() const { return std::nullopt; }
  /// Moves on like next() without making the minibatch.
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

/// Converts a minibatch to the arguments of a model: columns on the device. Arrays of different shapes throw ValueError
/// unless `padding` is given, a value that pads them to the largest shape. (chainer.dataset.concat_examples)
CT_API Batch concat_examples(const Minibatch& batch, const std::optional<Device>& device = {},
                             const std::optional<Scalar>& padding = {});

}  // namespace catenary
