#include "catenary/training/extensions/variable_statistics_plot.h"

#include <algorithm>
#include <limits>
#include <random>
#include <sstream>

#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/core/format.h"
#include "catenary/training/extensions/plot.h"

namespace catenary::training::extensions {

struct VariableStatisticsPlot::State {
  std::vector<Variable> targets;
  VariableStatisticsPlotOptions options;
  std::vector<Sample> samples;
  std::int64_t seen = 0;
  std::mt19937_64 random{0};  // a separate generator, so that training draws the same numbers with and without it

  std::size_t width() const {
    return std::size_t{options.plot_mean} + std::size_t{options.plot_std} + options.percentile_sigmas.size();
  }
  /// Describes the collected statistics as text, to compare snapshots.
  std::string layout() const {
    return fmt::format("{}{}: {}{}{}", options.report_data ? "data " : "", options.report_grad ? "grad " : "",
                       options.plot_mean ? "mean " : "", options.plot_std ? "std " : "",
                       fmt::join(options.percentile_sigmas, " "));
  }
  std::vector<double> describe(const std::vector<Array>& arrays) const {
    if (arrays.empty()) return std::vector<double>(width(), std::numeric_limits<double>::quiet_NaN());
    const Array all = concatenate(arrays);
    std::vector<double> values;
    if (options.plot_mean) values.push_back(mean(all).item<double>());
    if (options.plot_std) values.push_back(std(all).item<double>());
    if (!options.percentile_sigmas.empty())
      for (double value : percentile(all, options.percentile_sigmas).to_vector<double>()) values.push_back(value);
    return values;
  }
  /// Reservoir sampling: each iteration is kept with equal probability.
  void add(Sample sample) {
    const auto room = static_cast<std::int64_t>(options.max_sample_size);
    if (seen++ < room) {
      samples.push_back(std::move(sample));
      return;
    }
    const std::int64_t at = std::uniform_int_distribution<std::int64_t>(0, seen - 1)(random);
    if (at < room) samples[static_cast<std::size_t>(at)] = std::move(sample);
  }
};

namespace {

std::vector<Variable> parameters_of(const Link& link) {
  std::vector<Variable> parameters;
  for (const auto& [path, parameter] : link.namedparams()) parameters.push_back(parameter);
  return parameters;
}

/// The curve of a statistic of data or gradients.
Curve curve_of(const std::vector<VariableStatisticsPlot::Sample>& samples, std::size_t kind, std::size_t statistic,
               std::string label) {
  Curve curve{std::move(label), {}};
  for (const auto& sample : samples)
    curve.points.emplace_back(static_cast<double>(sample.iteration), sample.statistics[kind][statistic]);
  return curve;
}

Band band_between(const Curve& lower, const Curve& upper) {
  Band band;
  for (std::size_t i = 0; i < lower.points.size(); ++i) {
    band.x.push_back(lower.points[i].first);
    band.lower.push_back(lower.points[i].second);
    band.upper.push_back(upper.points[i].second);
  }
  return band;
}

}  // namespace

VariableStatisticsPlot::VariableStatisticsPlot(std::vector<Variable> targets, VariableStatisticsPlotOptions options)
    : state_(std::make_shared<State>()) {
  if (targets.empty()) throw ValueError("VariableStatisticsPlot: there are no variables");
  state_->targets = std::move(targets);
  state_->options = std::move(options);
  const VariableStatisticsPlotOptions& o = state_->options;
  if (state_->width() == 0 || (!o.report_data && !o.report_grad))
    throw ValueError("VariableStatisticsPlot: there is nothing to plot");
  if (o.max_sample_size < 1)
    fail<ValueError>("VariableStatisticsPlot: max_sample_size must be positive, got {}", o.max_sample_size);
  for (double q : o.percentile_sigmas)
    if (!(q >= 0 && q <= 100)) fail<ValueError>("VariableStatisticsPlot: a percentile of {} is not in [0, 100]", q);
  std::sort(state_->options.percentile_sigmas.begin(), state_->options.percentile_sigmas.end());
}

VariableStatisticsPlot::VariableStatisticsPlot(const Link& link, VariableStatisticsPlotOptions options)
    : VariableStatisticsPlot(parameters_of(link), std::move(options)) {}

std::vector<VariableStatisticsPlot::Sample> VariableStatisticsPlot::samples() const {
  std::vector<Sample> sorted = state_->samples;
  std::sort(sorted.begin(), sorted.end(), [](const Sample& a, const Sample& b) { return a.iteration < b.iteration; });
  return sorted;
}

void VariableStatisticsPlot::operator()(Trainer& trainer) {
  State& s = *state_;
  const VariableStatisticsPlotOptions& options = s.options;
  std::vector<Array> data, gradients;
  for (const Variable& target : s.targets) {
    if (Parameter::is_parameter(target) && !Parameter::of(target).is_initialized()) continue;
    if (target.array().defined()) data.push_back(target.array().ravel());
    if (target.grad().defined()) gradients.push_back(target.grad().ravel());
  }
  Sample sample{trainer.updater()->iteration(), {}};
  if (options.report_data) sample.statistics.push_back(s.describe(data));
  if (options.report_grad) sample.statistics.push_back(s.describe(gradients));
  s.add(std::move(sample));
  if (!options.trigger(trainer)) return;

  const std::vector<Sample> kept = samples();
  std::vector<Panel> above, below;
  std::vector<std::string> kinds;
  if (options.report_data) kinds.push_back("data");
  if (options.report_grad) kinds.push_back("grad");
  const std::size_t first = std::size_t{options.plot_mean} + std::size_t{options.plot_std};
  const std::size_t n = options.percentile_sigmas.size();
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    Panel panel{.title = kinds[kind], .x_label = "iteration", .marker = options.marker, .grid = options.grid};
    Panel percentiles = panel;
    if (options.plot_mean && options.plot_std) {
      Curve middle = curve_of(kept, kind, 0, "mean, std"), lower = middle, upper = middle;
      for (std::size_t i = 0; i < kept.size(); ++i) {
        lower.points[i].second -= kept[i].statistics[kind][1];
        upper.points[i].second += kept[i].statistics[kind][1];
      }
      panel.bands.push_back(band_between(lower, upper));
      panel.curves.push_back(std::move(middle));
    } else if (first > 0) {
      panel.curves.push_back(curve_of(kept, kind, 0, options.plot_mean ? "mean" : "std"));
    }
    if (first > 0) above.push_back(std::move(panel));
    for (std::size_t i = 0; i < n / 2; ++i)
      percentiles.bands.push_back(
          band_between(curve_of(kept, kind, first + i, ""), curve_of(kept, kind, first + n - 1 - i, "")));
    if (n % 2 == 1) percentiles.curves.push_back(curve_of(kept, kind, first + n / 2, "percentile"));
    if (n > 0) below.push_back(std::move(percentiles));
  }
  std::vector<std::vector<Panel>> rows;
  for (auto* row : {&above, &below})
    if (!row->empty()) rows.push_back(std::move(*row));
  plot(trainer.out() + "/" + options.filename, rows);
}

void VariableStatisticsPlot::serialize(Serializer& serializer) {
  // start empty if the snapshot has other statistics or none
  if (serializer.loading() &&
      (!serializer.contains("_layout") || serializer.read_string("_layout") != state_->layout()))
    return;
  Serializer trigger = serializer["_trigger"];
  state_->options.trigger.serialize(trigger);
  const std::int64_t kinds = std::int64_t{state_->options.report_data} + std::int64_t{state_->options.report_grad},
                     width = static_cast<std::int64_t>(state_->width());
  if (!serializer.loading()) {
    std::vector<std::int64_t> iterations;
    std::vector<double> numbers;
    for (const Sample& sample : state_->samples) {
      iterations.push_back(sample.iteration);
      for (const auto& kind : sample.statistics) numbers.insert(numbers.end(), kind.begin(), kind.end());
    }
    const auto n = static_cast<std::int64_t>(iterations.size());
    Array at = Array::from_host(iterations.data(), {n}, Dtype::int64, Device()),
          statistics = Array::from_host(numbers.data(), {n, kinds, width}, Dtype::float64, Device());
    std::ostringstream random;
    random << state_->random;
    std::string text = random.str(), layout = state_->layout();
    serializer("_layout", layout);
    serializer("_seen", state_->seen);
    serializer("_random", text);
    serializer("_iterations", at);
    serializer("_statistics", statistics);
    return;
  }
  const auto loaded = std::make_shared<State>();
  std::istringstream random(serializer.read_string("_random"));
  if (!(random >> loaded->random)) serializer.reject("_random", "expected the state of random numbers");
  const auto at = std::make_shared<Array>(), statistics = std::make_shared<Array>();
  serializer("_seen", loaded->seen);
  {
    const DeviceScope host((Device()));
    serializer("_iterations", *at);
    serializer("_statistics", *statistics);
  }
  serializer.after_loading([state = state_, loaded, at, statistics, kinds, width] {
    const std::vector<std::int64_t> iterations = at->to_vector<std::int64_t>();
    const std::vector<double> numbers = statistics->to_vector<double>();
    const auto n = static_cast<std::int64_t>(iterations.size());
    if (statistics->shape() != Shape{n, kinds, width})
      fail<FileError>("VariableStatisticsPlot: the snapshot has statistics {}, expected {}", statistics->shape(),
                      Shape{n, kinds, width});
    state->seen = loaded->seen;
    state->random = loaded->random;
    state->samples.clear();
    auto next = numbers.begin();
    for (const std::int64_t iteration : iterations) {
      Sample& sample = state->samples.emplace_back(Sample{iteration, {}});
      for (std::int64_t kind = 0; kind < kinds; ++kind, next += width)
        sample.statistics.emplace_back(next, next + width);
    }
  });
}

}  // namespace catenary::training::extensions
