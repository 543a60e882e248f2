#include "catenary/training/extensions/log_report.h"

#include <cmath>
#include <limits>

#include "catenary/core/clock.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/terminal.h"
#include "catenary/device/compilation_notice.h"
#include "catenary/training/extensions/python_json.h"

namespace catenary::training::extensions {

struct LogReport::State {
  LogReportOptions options;
  DictSummary summary;
  std::vector<LogEntry> log;
};

LogReport::LogReport(LogReportOptions options) : state_(std::make_shared<State>()) {
  state_->options = std::move(options);
}
const std::vector<LogEntry>& LogReport::log() const { return state_->log; }

namespace {

/// Formats a float or an int like Python's repr.
std::string number(const LogValue& v) {
  return v.integer ? fmt::format("{}", static_cast<std::int64_t>(v.value)) : python_number(v.value);
}

const LogValue* find(const LogEntry& entry, const std::string& name) {
  for (const auto& [known, value] : entry)
    if (known == name) return &value;
  return nullptr;
}

}  // namespace

std::string log_to_json(const std::vector<LogEntry>& log, int indent) {
  const std::string line = indent > 0 ? "\n" : "", one(static_cast<std::size_t>(indent), ' '),
                    comma = indent > 0 ? "," : ", ";
  if (log.empty()) return "[]";
  std::string text = "[" + line;
  for (std::size_t i = 0; i < log.size(); ++i) {
    text += one + "{" + line;
    for (std::size_t k = 0; k < log[i].size(); ++k) {
      text += one + one + nlohmann::json(log[i][k].first).dump() + ": " + number(log[i][k].second);
      text += (k + 1 < log[i].size() ? comma : "") + line;
    }
    text += one + "}" + (i + 1 < log.size() ? comma : "") + line;
  }
  return text + "]";
}

void LogReport::operator()(Trainer& trainer) {
  State& s = *state_;
  if (s.options.keys.empty()) {
    s.summary.add(trainer.observation());
  } else {
    for (const std::string& key : s.options.keys)
      if (const Reported* value = trainer.observation().find(key)) s.summary.add(key, *value);
  }
  if (!trainer.is_before_training() && !s.options.trigger(trainer)) return;
  LogEntry entry;
  for (const auto& [name, mean] : s.summary.means()) entry.emplace_back(name, LogValue{mean, false});
  entry.emplace_back("epoch", LogValue{static_cast<double>(trainer.updater()->epoch()), true});
  entry.emplace_back("iteration", LogValue{static_cast<double>(trainer.updater()->iteration()), true});
  entry.emplace_back("elapsed_time", LogValue{trainer.elapsed_time(), false});
  if (s.options.postprocess) s.options.postprocess(entry);
  s.log.push_back(entry);
  if (!s.options.filename.empty()) {
    std::string file = s.options.filename;
    for (const auto& [name, value] : entry) {
      const std::string field = "{" + name + "}";
      for (std::size_t at; (at = file.find(field)) != std::string::npos;) file.replace(at, field.size(), number(value));
    }
    os::write_file(trainer.out() + "/" + file, log_to_json(s.log, 4));
  }
  s.summary.clear();
}

void LogReport::serialize(Serializer& serializer) {
  State& s = *state_;
  Serializer trigger = serializer["_trigger"], summary = serializer["_summary"];
  s.options.trigger.serialize(trigger);
  s.summary.serialize(summary);
  if (!serializer.loading()) {
    std::string text = log_to_json(s.log, 0);
    serializer("_log", text);
    return;
  }
  const nlohmann::ordered_json parsed = parse_python_json(serializer.read_string("_log"));
  if (!parsed.is_array()) serializer.reject("_log", "expected a JSON list of log entries");
  std::vector<LogEntry> log;
  for (const auto& object : parsed) {
    if (!object.is_object()) serializer.reject("_log", "expected a JSON list of log entries");
    LogEntry& entry = log.emplace_back();
    for (const auto& [name, value] : object.items()) {
      try {
        entry.emplace_back(name, LogValue{python_number(value), value.is_number_integer()});
      } catch (const ValueError& e) {
        serializer.reject("_log", e.what());
      }
    }
  }
  serializer.after_loading([state = state_, log] { state->log = log; });
}

PrintReport::PrintReport(std::vector<std::string> entries, PrintReportOptions options)
    : entries_(std::move(entries)), options_(options) {}

void PrintReport::initialize(Trainer& trainer) {
  if (!dynamic_cast<LogReport*>(&trainer.get_extension(options_.log_report)))
    fail<ValueError>("PrintReport: the extension '{}' is not a LogReport", options_.log_report);
}

void PrintReport::operator()(Trainer& trainer) {
  const std::vector<LogEntry>& log = dynamic_cast<LogReport&>(trainer.get_extension(options_.log_report)).log();
  const bool terminal = os::is_terminal(fileno(options_.out));
  if (!header_) {
    std::string line;
    for (std::size_t i = 0; i < entries_.size(); ++i)
      line += fmt::format("{}{:<{}}", i ? "  " : "", entries_[i], std::max<std::size_t>(10, entries_[i].size()));
    fmt::print(options_.out, "{}\n", line);
    header_ = true;
  }
  for (; printed_ < log.size(); ++printed_) {
    // erase the progress bar below
    std::string line = terminal ? "\033[J" : "";
    for (const std::string& name : entries_) {
      const std::size_t width = std::max<std::size_t>(10, name.size());
      const LogValue* value = find(log[printed_], name);
      line += value ? fmt::format("{:<{}g}  ", value->value, width) : std::string(width + 2, ' ');
    }
    fmt::print(options_.out, "{}\n", line);
  }
  std::fflush(options_.out);
  conclude_compilations();
}

ProgressBar::ProgressBar(ProgressBarOptions options) : options_(options) {}

namespace {
std::string clock_text(double seconds) {
  // Python's format of timedelta
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9) return "unknown";
  const std::int64_t micro = static_cast<std::int64_t>(seconds * 1e6), whole = micro / 1000000, days = whole / 86400;
  const std::string day = days ? fmt::format("{} day{}, ", days, days == 1 ? "" : "s") : "";
  const std::string fraction = micro % 1000000 ? fmt::format(".{:06}", micro % 1000000) : "";
  return fmt::format("{}{}:{:02}:{:02}{}", day, whole % 86400 / 3600, whole % 3600 / 60, whole % 60, fraction);
}
}  // namespace

void ProgressBar::initialize(Trainer& trainer) {
  terminal_ = os::is_terminal(fileno(options_.out));
  announce_compilations();
  if (options_.update_interval == 0) recent_.emplace_back(trainer.updater()->iteration(), monotonic_seconds());
}

std::string ProgressBar::text(Trainer& trainer, double speed) const {
  UpdaterBase& updater = *trainer.updater();
  const double iteration = static_cast<double>(updater.iteration()), epoch_detail = updater.epoch_detail();
  std::int64_t length = 0;
  std::string unit, text;
  const bool known = trainer.stop_trigger().training_length(length, unit);
  const auto bar = [&](double rate) {
    const int marks = static_cast<int>(std::min(1.0, rate) * options_.bar_length);
    return fmt::format("[{}{}] {:>6}\n", std::string(static_cast<std::size_t>(marks), '#'),
                       std::string(static_cast<std::size_t>(options_.bar_length - marks), '.'),
                       fmt::format("{:.2f}%", rate * 100));
  };
  const double n = static_cast<double>(length);
  const double rate = !known ? 0 : (unit == "iteration" ? iteration : epoch_detail) / n;
  if (known) text += "     total " + bar(rate);
  const double epoch_rate = epoch_detail - std::floor(epoch_detail);
  text += "this epoch " + bar(epoch_rate);
  if (known) {
    text += unit == "iteration"
                ? fmt::format("{:10} iter, {} epoch / {} iterations\n", updater.iteration(), updater.epoch(), length)
                : fmt::format("{:10} iter, {} epoch / {} epochs\n", updater.iteration(), updater.epoch(), length);
  } else {
    text += fmt::format("{:10} iter, {} epoch\n", updater.iteration(), updater.epoch());
  }
  const double left =
      unit == "iteration" ? (n - iteration) / speed : iteration / epoch_detail * (n - epoch_detail) / speed;
  text +=
      fmt::format("{:10.5g} iters/sec. Estimated time to finish: {}.\n", speed, known ? clock_text(left) : "unknown");
  return text;
}

void ProgressBar::operator()(Trainer& trainer) {
  if (!terminal_) return;
  const std::int64_t iteration = trainer.updater()->iteration();
  const double now = monotonic_seconds();
  if (options_.update_interval > 0 ? iteration % options_.update_interval != 0
                                   : now - recent_.back().second < options_.seconds)
    return;
  // the rate in this process only, over the last hundred updates
  recent_.emplace_back(iteration, now);
  if (recent_.size() > 100) recent_.erase(recent_.begin());
  if (recent_.size() < 2) return;
  const double seconds = recent_.back().second - recent_.front().second;
  const double speed = seconds > 0 ? static_cast<double>(recent_.back().first - recent_.front().first) / seconds
                                   : std::numeric_limits<double>::infinity();
  const std::string lines = text(trainer, speed);
  const auto height = std::count(lines.begin(), lines.end(), '\n');
  fmt::print(options_.out, "\033[J{}\033[{}A", lines, height);
  drawn_ = true;
  conclude_compilations(1);
  std::fflush(options_.out);
}

void ProgressBar::finalize() {
  if (drawn_) fmt::print(options_.out, "\033[J");
  drawn_ = false;
  std::fflush(options_.out);
}

}  // namespace catenary::training::extensions
