#include "catenary/reporter/reporter.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/core/json_text.h"
#include "catenary/device/backend.h"

namespace catenary {

Reported::Reported(const Variable& value) : array_(value.array()) {
  if (config.keep_graph_on_report) variable_ = value;
}

double Reported::value() const { return array_.defined() ? array_.item<double>() : value_; }

Reported& Observation::operator[](const std::string& name) {
  for (auto& [known, value] : entries_)
    if (known == name) return value;
  return entries_.emplace_back(name, Reported()).second;
}

const Reported* Observation::find(const std::string& name) const {
  for (const auto& [known, value] : entries_)
    if (known == name) return &value;
  return nullptr;
}

void Observation::update(const Observation& other) {
  for (const auto& [name, value] : other) (*this)[name] = value;
}

struct Reporter::State {
  std::unordered_map<const void*, std::string> names;
  std::vector<std::shared_ptr<const void>> kept;  // keeps the addresses from being reused by another link
  Observation own;
  Observation* observation = &own;
};

Reporter::Reporter() : state_(std::make_shared<State>()) {}

void Reporter::add_observer(const std::string& name, const void* identity, std::shared_ptr<const void> kept) const {
  state_->names[identity] = name;
  state_->kept.push_back(std::move(kept));
}

Observation& Reporter::observation() const { return *state_->observation; }

std::string Reporter::name_of(const void* identity) const {
  const auto known = state_->names.find(identity);
  return known == state_->names.end() ? "" : known->second;
}

namespace {
thread_local const Reporter* reporter_of_thread = nullptr;
}

ReportScope::ReportScope(const Reporter& reporter, Observation& observation)
    : reporter_(reporter), before_observation_(reporter.state_->observation), before_reporter_(reporter_of_thread) {
  reporter_.state_->observation = &observation;
  reporter_of_thread = &reporter_;
}

ReportScope::~ReportScope() {
  reporter_.state_->observation = before_observation_;
  reporter_of_thread = before_reporter_;
}

const Reporter* current_reporter() { return reporter_of_thread; }

void report(const std::vector<std::pair<std::string, Reported>>& values) {
  if (!reporter_of_thread) return;
  for (const auto& [name, value] : values) reporter_of_thread->observation()[name] = value;
}

void Summary::add(const Reported& value, double weight) {
  if (value.is_array() && value.array().size() != 1)
    fail<ShapeError>("Summary: only numbers can be averaged, got an array of shape {}", value.array().shape());
  if (!value.is_array() || value.array().device().backend().host_addressable())
    return add_number(value.value(), weight);
  // Reading a number back makes the host wait for the device, so several numbers are collected and read together.
  // Copies them, since the array may change, and evaluates pending operations first, so that one kernel copies any of
  // them.
  waiting_.emplace_back(value.array().eval().reshape({}).copy(), weight);
  if (waiting_.size() == kWaiting) gather();
}

void Summary::add_number(double value, double weight) const {
  n_ += weight;
  x_ += weight * value;
  x2_ += weight * value * value;
}

void Summary::gather() const {
  for (const auto& [x, weight] : waiting_) add_number(x.item<double>(), weight);
  waiting_.clear();
}

double Summary::mean() const {
  gather();
  return n_ == 0 ? std::numeric_limits<double>::quiet_NaN() : x_ / n_;
}

double Summary::standard_deviation() const {
  const double m = mean();
  return std::sqrt(std::max(0.0, x2_ / n_ - m * m));
}

Summary::Sums Summary::sums() const {
  gather();
  return {x_, x2_, n_};
}

void Summary::add(const Sums& other) {
  x_ += other.x;
  x2_ += other.x2;
  n_ += other.n;
}

void Summary::serialize(Serializer& serializer) const {
  gather();
  serializer("_x", x_);
  serializer("_x2", x2_);
  serializer("_n", n_);
}

void DictSummary::add(const Observation& observation, double weight) {
  for (const auto& [name, value] : observation)
    if (!value.is_array() || value.array().size() == 1) add(name, value, weight);
}

void DictSummary::add(const std::string& name, const Reported& value, double weight) { entry(name).add(value, weight); }

void DictSummary::add(const std::string& name, const Summary::Sums& sums) { entry(name).add(sums); }

Summary& DictSummary::entry(const std::string& name) {
  for (auto& [known, summary] : entries_)
    if (known == name) return summary;
  return entries_.emplace_back(name, Summary()).second;
}

std::vector<std::pair<std::string, double>> DictSummary::means() const {
  std::vector<std::pair<std::string, double>> all;
  for (const auto& [name, summary] : entries_) all.emplace_back(name, summary.mean());
  return all;
}

const Summary* DictSummary::find(const std::string& name) const {
  for (const auto& [known, summary] : entries_)
    if (known == name) return &summary;
  return nullptr;
}

void DictSummary::serialize(Serializer& serializer) {
  if (!serializer.loading()) {
    nlohmann::json names = nlohmann::json::array();
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      names.push_back(entries_[i].first);
      Serializer below = serializer["_summaries"][std::to_string(i)];
      entries_[i].second.serialize(below);
    }
    std::string text = names.dump();
    serializer("_names", text);
    return;
  }
  const auto names = json_text::parse_or_discarded<nlohmann::json>(serializer.read_string("_names"));
  if (!names.is_array()) serializer.reject("_names", "expected a JSON list of names");
  const auto loaded = std::make_shared<std::vector<std::pair<std::string, Summary>>>();
  for (const auto& name : names) {
    if (!name.is_string()) serializer.reject("_names", "expected a JSON list of names");
    loaded->emplace_back(name.get<std::string>(), Summary());
  }
  for (std::size_t i = 0; i < loaded->size(); ++i) {
    Serializer below = serializer["_summaries"][std::to_string(i)];
    (*loaded)[i].second.serialize(below);
  }
  serializer.after_loading([this, loaded] { entries_ = *loaded; });
}

}  // namespace catenary
