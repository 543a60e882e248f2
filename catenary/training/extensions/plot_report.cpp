#include "catenary/training/extensions/plot_report.h"

#include "catenary/core/format.h"
#include "catenary/training/extensions/plot.h"
#include "catenary/training/extensions/python_json.h"

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
    std::string text;
    for (const auto& [name, points] : *series_) {
      text += fmt::format("{}{}: [", text.empty() ? "" : ", ", nlohmann::json(name).dump());
      for (std::size_t i = 0; i < points.size(); ++i)
        text +=
            fmt::format("{}[{}, {}]", i ? ", " : "", python_number(points[i].first), python_number(points[i].second));
      text += "]";
    }
    text = "{" + text + "}";
    serializer(key, text);
    return;
  }
  const nlohmann::ordered_json parsed = parse_python_json(serializer.read_string(key));
  if (!parsed.is_object()) serializer.reject(key, "expected the points of a plot as JSON");
  std::map<std::string, std::vector<std::pair<double, double>>> loaded;
  try {
    for (const auto& [name, points] : parsed.items())
      for (const auto& point : points)
        loaded[name].emplace_back(python_number(point.at(0)), python_number(point.at(1)));
  } catch (const std::exception& e) {  // of the JSON parser, or no number
    serializer.reject(key, fmt::format("expected the points of a plot as JSON: {}", e.what()));
  }
  serializer.after_loading([series = series_, loaded = std::move(loaded)] { *series = loaded; });
}

}  // namespace catenary::training::extensions
