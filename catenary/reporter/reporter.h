#pragma once
// reporter/: values that models report while they run, such as "main/loss". They stay on the device until they are
// read. (chainer.reporter)

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

/// A reported value: a number, or a 0-d array that is read on demand.
class CT_API Reported {
 public:
  Reported() = default;
  Reported(double value) : value_(value) {}
  Reported(const Array& value) : array_(value) {}
  /// Takes a variable's array. Keeps the graph only with config.keep_graph_on_report.
  Reported(const Variable& value);

  bool is_array() const { return array_.defined(); }
  const Array& array() const { return array_; }
  /// Returns the number, after waiting for the device if necessary. Throws ShapeError for an array of several elements.
  double value() const;
  /// Returns the reported variable if its graph was kept.
  const Variable& variable() const { return variable_; }

 private:
  double value_ = 0;
  Array array_;
  Variable variable_;
};

/// Observed values by name, in the order of reporting.
class CT_API Observation {
 public:
  /// Returns the entry of a name, inserting it if necessary.
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

/// Collects the values reported in its scope. Copies are handles of one reporter. (chainer.Reporter)
class CT_API Reporter {
 public:
  Reporter();
  /// Names a link (with add_observers, all links below it too). Its values appear as "name/value".
  void add_observer(const std::string& name, const Link& observer) const;
  /// Names an observer by another address, which no other object may use while `kept` is alive.
  void add_observer(const std::string& name, const void* identity, std::shared_ptr<const void> kept) const;
  void add_observers(const std::string& prefix, const Link& observer) const;
  /// Returns the present observation.
  Observation& observation() const;
  /// Returns the name of an observer, or "" if unknown.
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

/// Reports values, under the observer's name if given. Does nothing outside of a ReportScope. (chainer.report)
CT_API void report(const std::vector<std::pair<std::string, Reported>>& values);
CT_API void report(const std::vector<std::pair<std::string, Reported>>& values, const Link& observer);
/// Returns the reporter of the scope, or null outside. (chainer.get_current_reporter)
CT_API const Reporter* current_reporter();

/// Mean and standard deviation of numbers added one by one. (chainer.reporter.Summary)
class CT_API Summary {
 public:
  void add(const Reported& value, double weight = 1.0);
  /// Returns whether nothing was added.
  bool empty() const { return n_ == 0 && waiting_.empty(); }
  /// Returns the mean, or NaN if nothing was added.
  double mean() const;
  double standard_deviation() const;
  /// Weighted sums of the numbers and their squares, and the sum of weights, for merging summaries.
  struct Sums {
    double x, x2, n;
  };
  Sums sums() const;
  void add(const Sums& other);
  void serialize(Serializer& serializer) const;

 private:
  static constexpr std::size_t kWaiting = 64;

  mutable double x_ = 0, x2_ = 0, n_ = 0;
  mutable std::vector<std::pair<Array, double>> waiting_;  // numbers on a device that were not read yet, with weights
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
  /// Returns the means in the order in which names were first added.
  std::vector<std::pair<std::string, double>> means() const;
  const Summary* find(const std::string& name) const;
  const std::vector<std::pair<std::string, Summary>>& entries() const { return entries_; }
  void clear() { entries_.clear(); }
  /// Saves or loads as Chainer does: names as JSON in `_names`, summaries in `_summaries/<i>`.
  void serialize(Serializer& serializer);

 private:
  Summary& entry(const std::string& name);
  std::vector<std::pair<std::string, Summary>> entries_;
};

}  // namespace catenary
