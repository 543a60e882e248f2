#pragma once
// Plots of reported values.

#include <map>
#include <memory>

#include "catenary/training/trainer.h"

namespace catenary::training::extensions {

/// Options of PlotReport.
struct PlotReportOptions {
  Trigger trigger = Trigger(1, "epoch");  ///< when to add a point
  std::string filename = "plot.png";      ///< in the output folder
  bool marker = true;                     ///< draw a cross at each point
  bool grid = true;
};

/// Draws the means of reported values over epochs or iterations to a PNG, again for each new point. (chainer's
/// PlotReport)
class CT_API PlotReport : public Extension {
 public:
  /// x_key must be "epoch" or "iteration", else throws ValueError.
  PlotReport(std::vector<std::string> y_keys, const std::string& x_key = "iteration", PlotReportOptions options = {});
  std::string default_name() const override { return "PlotReport"; }
  void operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;

 private:
  std::vector<std::string> keys_;
  std::string x_key_;
  PlotReportOptions options_;
  std::shared_ptr<DictSummary> summary_ = std::make_shared<DictSummary>();
  std::shared_ptr<std::map<std::string, std::vector<std::pair<double, double>>>> series_ =
      std::make_shared<std::map<std::string, std::vector<std::pair<double, double>>>>();
};

}  // namespace catenary::training::extensions
