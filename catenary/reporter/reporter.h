#pragma once
// reporter/: values that models report while they run, such as "main/loss". They stay on the device until somebody
// prints them. (chainer.reporter)

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catenary/autograd/variable.h"
#include "catenary/serializers/serializer.h"

namespace catenary {

class Link;

/// A reported value: a number, or a 0-d array that is read when it is wanted.
class CT_API Reported {
 public:
  Reported() = default;
  Reported(double value) : value_(value) {}
  Reported(const Array& value) : array_(value) {}
  /// A variable's array; its graph is dropped unless config.keep_graph_on_report.
  Reported(const Variable& value);

  bool is_array() const { return array_.defined(); }
  const Array& array() const { return array_; }
  /// The number; waits for the device if need be. Throws ShapeError for an array of several elements.
  double value() const;
  /// The reported variable, where its graph was kept.
  const Variable& variable() const { return variable_; }

 private:
  double value_ = 0;
  Array array_;
  Variable variable_;
};

/// What was observed, by name, in the order of reporting.
class CT_API Observation {
 public:
  /// The entry of a name, made if it is not there.
  Reported& operator[](const std::string& name);
  const Reported* find(const std::string& name) const;
  bool contains(const std::string& name) const { return find(name) != nullptr; }
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }
  void update(const Observation& other);
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<std::pair<std::string, Reported>> entries_;
};

/// Collects what is reported in its scope. A handle. (chainer.Reporter)
class CT_API Reporter {
 public:
  Reporter();
  /// Gives a link (and, by add_observers, all below it) a name: what it reports appears as "name/value".
  void add_observer(const std::string& name, const Link& observer) const;
  /// The same for what has an identity of its own, which is not given to anything else while `kept` is.
  void add_observer(const std::string& name, const void* identity, std::shared_ptr<const void> kept) const;
  void add_observers(const std::string& prefix, const Link& observer) const;
  /// What is collected now.
  Observation& observation() const;
  /// Name of an observer, or "" for one that is not known.
  std::string name_of(const void* identity) const;

 private:
  friend class ReportScope;
  struct State;
  std::shared_ptr<State> state_;
};

/// Until the end of the scope, reports of this thread go to `reporter` and are collected in `observation`.
class CT_API ReportScope {
 public:
  ReportScope(const Reporter& reporter, Observation& observation);
  ~ReportScope();
  ReportScope(const ReportScope&) = delete;
  ReportScope& operator=(const ReportScope&) = delete;

 private:
  Reporter reporter_;
  Observation* before_observation_;
  const Reporter* before_reporter_;
};

/// Reports values, under the observer's name where one is given; nothing happens outside of a ReportScope.
/// (chainer.report)
CT_API void report(const std::vector<std::pair<std::string, Reported>>& values);
CT_API void report(const std::vector<std::pair<std::string, Reported>>& values, const Link& observer);
/// The reporter of the scope; null outside. (chainer.get_current_reporter)
CT_API const Reporter* current_reporter();

/// Mean and deviation of numbers that are reported one by one. (chainer.reporter.Summary)
class CT_API Summary {
 public:
  void add(const Reported& value, double weight = 1.0);
  /// Was nothing added?
  bool empty() const { return n_ == 0 && waiting_.empty(); }
  /// NaN when there was none.
  double mean() const;
  double standard_deviation() const;
  /// Weighted sums of the numbers and of their squares, and the weights' sum: what several summaries can be made one
  /// of.
  struct Sums {
    double x, x2, n;
  };
  Sums sums() const;
  void add(const Sums& other);
  void serialize(Serializer& serializer) const;

 private:
  static constexpr std::size_t kWaiting = 64;

  mutable double x_ = 0, x2_ = 0, n_ = 0;
  mutable std::vector<std::pair<Array, double>> waiting_;  // numbers on a device that were not read yet, and weights
  void add_number(double value, double weight) const;
  void gather() const;
};

/// Summaries by name. (chainer.reporter.DictSummary)
class CT_API DictSummary {
 public:
  /// Adds every entry that is a number or has one element.
  void add(const Observation& observation, double weight = 1.0);
  void add(const std::string& name, const Reported& value, double weight = 1.0);
  void add(const std::string& name, const Summary::Sums& sums);
  /// Means in the order in which names were first seen.
  std::vector<std::pair<std::string, double>> means() const;
  const Summary* find(const std::string& name) const;
  const std::vector<std::pair<std::string, Summary>>& entries() const { return entries_; }
  void clear() { entries_.clear(); }
  /// As Chainer: names as JSON in `_names`, summaries in `_summaries/<i>`.
  void serialize(Serializer& serializer);

 private:
  Summary& entry(const std::string& name);
  std::vector<std::pair<std::string, Summary>> entries_;
};

}  // namespace catenary
