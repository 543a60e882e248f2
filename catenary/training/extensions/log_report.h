#pragma once
// The training log: means of reported values, as a file and as a table.

#include <iosfwd>
#include <memory>

#include "catenary/training/trainer.h"

namespace catenary::training::extensions {

/// A number of the log. Epoch and iteration are integers, all others are floats.
struct LogValue {
  double value = 0;
  bool integer = false;
};
/// An entry of the log: values by name.
using LogEntry = std::vector<std::pair<std::string, LogValue>>;

/// Options of LogReport.
struct LogReportOptions {
  std::vector<std::string> keys = {};     ///< values to log, all if empty
  Trigger trigger = Trigger(1, "epoch");  ///< when to add an entry
  std::string filename = "log";           ///< no file if empty
  std::function<void(LogEntry&)> postprocess = {};
};

/// Averages reported values between entries and rewrites the JSON file `log` in the output folder. A handle. (chainer's
/// LogReport)
class CT_API LogReport : public Extension {
 public:
  explicit LogReport(LogReportOptions options = {});
  std::string default_name() const override { return "LogReport"; }
  void operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;
  const std::vector<LogEntry>& log() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Returns the log as JSON in Chainer's format: an indent of 4, sorted keys, NaN as a word.
CT_API std::string log_to_json(const std::vector<LogEntry>& log, int indent);

/// Options of PrintReport.
struct PrintReportOptions {
  std::string log_report = "LogReport";  ///< name of the LogReport extension to print
  std::FILE* out = stdout;
};

/// Prints the log as a table with the given columns, one line per entry. (chainer's PrintReport)
class CT_API PrintReport : public Extension {
 public:
  explicit PrintReport(std::vector<std::string> entries, PrintReportOptions options = {});
  std::string default_name() const override { return "PrintReport"; }
  void initialize(Trainer& trainer) override;
  void operator()(Trainer& trainer) override;

 private:
  std::vector<std::string> entries_;
  PrintReportOptions options_;
  std::size_t printed_ = 0;
  bool header_ = false;
};

/// Options of ProgressBar.
struct ProgressBarOptions {
  int update_interval = 0;  ///< iterations between updates, 0 to use `seconds`
  double seconds = 0.2;     ///< the least time between updates
  int bar_length = 50;
  std::FILE* out = stdout;
};

/// Shows bars for the whole training and for the epoch, with the rate and the remaining time. Prints nothing if `out`
/// is not a terminal. (chainer's ProgressBar)
class CT_API ProgressBar : public Extension {
 public:
  explicit ProgressBar(ProgressBarOptions options = {});
  std::string default_name() const override { return "ProgressBar"; }
  void initialize(Trainer& trainer) override;
  void operator()(Trainer& trainer) override;
  void finalize() override;
  /// Returns the text of the bar.
  std::string text(Trainer& trainer, double iterations_per_second) const;

 private:
  ProgressBarOptions options_;
  bool terminal_ = false, drawn_ = false;
  std::vector<std::pair<std::int64_t, double>> recent_;  // numbers and end times of updates
};

}  // namespace catenary::training::extensions
