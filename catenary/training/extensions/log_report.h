#pragma once
// The log of a training: means of what was reported, as a file and as a table.

#include <iosfwd>
#include <memory>

#include "catenary/training/trainer.h"

namespace catenary::training::extensions {

/// A number of the log: epoch and iteration are integers, the rest is not.
struct LogValue {
  double value = 0;
  bool integer = false;
};
/// What was logged at one time, by name.
using LogEntry = std::vector<std::pair<std::string, LogValue>>;

/// Options of LogReport.
struct LogReportOptions {
  std::vector<std::string> keys = {};     ///< values to log; all when empty
  Trigger trigger = Trigger(1, "epoch");  ///< when an entry is made
  std::string filename = "log";           ///< "" writes no file
  std::function<void(LogEntry&)> postprocess = {};
};

/// Averages what is reported between two entries and rewrites the JSON file `log` in the output folder. A handle.
/// (chainer's LogReport)
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

/// The log as JSON, as Chainer writes it: an indent of 4, keys in order, NaN spelt out.
CT_API std::string log_to_json(const std::vector<LogEntry>& log, int indent);

/// Options of PrintReport.
struct PrintReportOptions {
  std::string log_report = "LogReport";  ///< name of the LogReport extension that is printed
  std::FILE* out = stdout;
};

/// Prints the log as a table, a line an entry, the columns as given. (chainer's PrintReport)
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
  int update_interval = 0;  ///< iterations between two updates; 0: `seconds` decide
  double seconds = 0.2;     ///< at least between two updates
  int bar_length = 50;
  std::FILE* out = stdout;
};

/// A bar of the whole training and of the epoch, with the rate and the time that is left. Nothing when `out` is no
/// terminal. (chainer's ProgressBar)
class CT_API ProgressBar : public Extension {
 public:
  explicit ProgressBar(ProgressBarOptions options = {});
  std::string default_name() const override { return "ProgressBar"; }
  void initialize(Trainer& trainer) override;
  void operator()(Trainer& trainer) override;
  void finalize() override;
  /// The text of the bar.
  std::string text(Trainer& trainer, double iterations_per_second) const;

 private:
  ProgressBarOptions options_;
  bool terminal_ = false, drawn_ = false;
  std::vector<std::pair<std::int64_t, double>> recent_;  // updates, and when they ended
};

}  // namespace catenary::training::extensions
