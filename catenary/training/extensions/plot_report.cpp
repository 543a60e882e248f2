#include "catenary/training/extensions/plot_report.h"

#include <nlohmann/json.hpp>

#include "catenary/core/format.h"
#include "catenary/training/extensions/plot.h"

namespace catenary::training::extensions {

PlotReport::PlotReport(std::vector<std::string> y_keys, const std::string& x_key, PlotReportOptions options)
    : keys_(std::move(y_keys)), x_key_(x_key), options_(std::move(options)) {
  if (x_key != "epoch" && x_key != "iteration")
    fail<ValueError>("PlotReport: x_key must be 'epoch' or 'iteration', got '{}'", x_key);
}

void PlotReport::operator()(Trainer& trainer) {
  for (const std::string& key : keys_)
    if (const Reported* value = trainer.observation().find(key)) summary_->add(key, *value);
  if (!trainer.is_before_training() && !options_.trigger(trainer)) return;
  const double x =
      x_key_ == "epoch" ? trainer.updater()->epoch_detail() : static_cast<double>(trainer.updater()->iteration());
  for (const auto& [name, mean] : summary_->means()) (*series_)[name].emplace_back(x, mean);
  summary_->clear();
  std::vector<Curve> curves;
  for (const std::string& key : keys_)
    if (series_->count(key)) curves.push_back({key, series_->at(key)});
  if (curves.empty()) return;
  plot(trainer.out() + "/" + options_.filename,
       {{{.x_label = x_key_, .curves = curves, .marker = options_.marker, .grid = options_.grid}}});
}

void PlotReport::serialize(Serializer& serializer) {
  Serializer trigger = serializer["_trigger"], summary = serializer["_summary"];
  if (serializer.loading() && !serializer.contains("_plot_" + options_.filename)) return;
  options_.trigger.serialize(trigger);
  summary_->serialize(summary);
  const std::string key = "_plot_" + options_.filename;
  if (!serializer.loading()) {
    std::string text = nlohmann::json(*series_).dump();
    serializer(key, text);
    return;
  }
  try {
    auto loaded = nlohmann::json::parse(serializer.read_string(key))
                      .get<std::map<std::string, std::vector<std::pair<double, double>>>>();
    serializer.after_loading([series = series_, loaded = std::move(loaded)] { *series = loaded; });
  } catch (const nlohmann::json::exception& e) {
    serializer.reject(key, fmt::format("expected the points of a plot as JSON: {}", e.what()));
  }
}

}  // namespace catenary::training::extensions
