#include "catenary/training/finite_loss.h"

#include <algorithm>
#include <cmath>

#include "catenary/array/elementwise_core.h"
#include "catenary/array/reduction.h"
#include "catenary/autograd/state_variable.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/datasets/datasets.h"
#include "catenary/device/placement.h"
#include "catenary/iterators/iterators.h"
#include "catenary/reporter/reporter.h"

namespace catenary::training {

namespace {

constexpr std::size_t kNamed = 10;
constexpr std::int64_t kAtOnce = 64;

double loss_of(const Model& model, const Dataset& dataset, std::int64_t first, std::int64_t last) {
  const iterators::SerialIterator one(datasets::SubDataset(dataset, first, last), last - first,
                                      {.repeat = false, .shuffle = false});
  const StateScope states;  // start with empty states
  return model(concat_examples(*one.next(), get_device(model.link()))).array().item<double>();
}

/// Appends the examples in [first, last) whose loss is not finite, by bisection. A finite mean is taken as all finite.
void search(const Model& model, const Dataset& dataset, std::int64_t first, std::int64_t last,
            std::vector<std::int64_t>& found) {
  if (found.size() >= kNamed || std::isfinite(loss_of(model, dataset, first, last))) return;
  if (last - first == 1) return found.push_back(first);
  const std::int64_t middle = first + (last - first) / 2;
  search(model, dataset, first, middle, found);
  search(model, dataset, middle, last, found);
}

std::vector<std::int64_t> examples_without_number(const Model& model, const Dataset& dataset) {
  const Reporter reporter;
  reporter.add_observers("search", model.link());
  Observation ignored;
  const ReportScope scope(reporter, ignored);
  const auto mode = test_mode();
  std::vector<std::int64_t> found;
  for (std::int64_t first = 0; first < dataset.size() && found.size() < kNamed; first += kAtOnce)
    search(model, dataset, first, std::min(first + kAtOnce, dataset.size()), found);
  return found;
}

}  // namespace

FiniteLoss::FiniteLoss(const Model& model, const Dataset& dataset, Name name)
    : model_(model), dataset_(dataset), name_(std::move(name)) {
  if (!name_) name_ = [](std::int64_t i) { return fmt::format("example {}", i); };
}

Variable FiniteLoss::operator()(const Batch& batch) const {
  const Variable loss = model_(batch);
  const double value = loss.array().item<double>();
  if (std::isfinite(value)) return loss;
  std::vector<std::string> names;
  for (const std::int64_t i : examples_without_number(model_, dataset_)) names.push_back(name_(i));
  fail<ValueError>("the loss is {}, so no update was made; {}", std::isnan(value) ? "nan" : "infinite",
                   names.empty() ? "no single example has such a loss"
                                 : fmt::format("by themselves these give such a loss: {}{}", fmt::join(names, ", "),
                                               names.size() == kNamed ? ", …" : ""));
}

void check_finite(const Link& link) {
  const auto check = [](const char* what, const std::string& path, const Array& array) {
    if (is_floating(array.dtype()) && !isfinite(array).all())
      fail<ValueError>("the model's {} {} is not finite: it has become NaN or infinite in training", what, path);
  };
  for (const auto& [path, parameter] : link.namedparams(false)) check("parameter", path, parameter.array());
  for (const auto& [path, array] : link.namedpersistents()) check("persistent array", path, array);
}

}  // namespace catenary::training
