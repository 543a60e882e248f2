#pragma once
// A plot of how parameters are distributed.

#include <memory>
#include <string>
#include <vector>

#include "catenary/training/trainer.h"

namespace catenary::training::extensions {

/// What VariableStatisticsPlot collects and draws.
struct VariableStatisticsPlotOptions {
  int max_sample_size = 1000;  ///< iterations that are kept for the plot, drawn at random from all
  bool report_data = true;
  bool report_grad = true;
  bool plot_mean = true;
  bool plot_std = true;
  std::vector<double> percentile_sigmas = {0, 0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87, 100};
  Trigger trigger = Trigger(1, "epoch");  ///< when the plot is drawn
  std::string filename = "statistics.png";
  bool marker = false;
  bool grid = true;
};

/// Collects mean, standard deviation and percentiles over all elements of variables and of their gradients, each
/// iteration, and draws them as a PNG: mean and standard deviation above, percentiles below. A handle. (chainer's
/// VariableStatisticsPlot; what was collected is part of snapshots here)
class CT_API VariableStatisticsPlot : public Extension {
 public:
  /// Throws ValueError without variables, without anything to plot, for a percentile outside [0, 100] or a sample size
  /// < 1.
  explicit VariableStatisticsPlot(std::vector<Variable> targets, VariableStatisticsPlotOptions options = {});
  /// All parameters of a link.
  explicit VariableStatisticsPlot(const Link& link, VariableStatisticsPlotOptions options = {});
  std::string default_name() const override { return "VariableStatisticsPlot"; }
  void operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;

  /// What an iteration gave: data first, then gradients, each with mean, standard deviation and percentiles as far as
  /// they are plotted.
  struct Sample {
    std::int64_t iteration = 0;
    std::vector<std::vector<double>> statistics;
  };
  /// What is kept, in the order of iterations.
  std::vector<Sample> samples() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace catenary::training::extensions
