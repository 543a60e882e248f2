#pragma once
// Plots the distribution of parameters over time.

#include <memory>
#include <string>
#include <vector>

#include "catenary/training/trainer.h"

namespace catenary::training::extensions {

/// Options of VariableStatisticsPlot.
struct VariableStatisticsPlotOptions {
  int max_sample_size = 1000;  ///< iterations kept for the plot, sampled at random
  bool report_data = true;
  bool report_grad = true;
  bool plot_mean = true;
  bool plot_std = true;
  std::vector<double> percentile_sigmas = {0, 0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87, 100};
  Trigger trigger = Trigger(1, "epoch");  ///< when to draw the plot
  std::string filename = "statistics.png";
  bool marker = false;
  bool grid = true;
};

/// Collects mean, standard deviation and percentiles over all elements of variables and their gradients in each
/// iteration, and draws them to a PNG: mean and standard deviation above, percentiles below. A handle. (chainer's
/// VariableStatisticsPlot. Here snapshots include the collected data)
class CT_API VariableStatisticsPlot : public Extension {
 public:
  /// Throws ValueError without variables or anything to plot, and for a percentile outside [0, 100] or a sample size <
  /// 1.
  explicit VariableStatisticsPlot(std::vector<Variable> targets, VariableStatisticsPlotOptions options = {});
  /// Collects all parameters of a link.
  explicit VariableStatisticsPlot(const Link& link, VariableStatisticsPlotOptions options = {});
  std::string default_name() const override { return "VariableStatisticsPlot"; }
  void operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;

  /// The statistics of an iteration: of data first, then of gradients, each with mean, standard deviation and
  /// percentiles if plotted.
  struct Sample {
    std::int64_t iteration = 0;
    std::vector<std::vector<double>> statistics;
  };
  /// Returns the kept samples, in the order of iterations.
  std::vector<Sample> samples() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace catenary::training::extensions
