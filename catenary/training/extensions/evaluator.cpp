#include "catenary/training/extensions/evaluator.h"

#include "catenary/autograd/state_variable.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/core/os/terminal.h"
#include "catenary/device/placement.h"

namespace catenary::training::extensions {

namespace {

/// The number of examples in a minibatch, also from iterators that do not set its size.
std::int64_t examples_of(const Minibatch& batch) {
  if (batch.size > 0) return batch.size;
  if (!batch.has_columns) return static_cast<std::int64_t>(batch.examples.size());
  return batch.columns.values.empty() ? 0 : batch.columns.values[0].shape(0);
}

}  // namespace

Evaluator::Evaluator(const Iterator& iterator, const Model& target, const EvaluatorOptions& options)
    : Evaluator(std::map<std::string, Iterator>{{"main", iterator}}, std::map<std::string, Model>{{"main", target}},
                options) {}

Evaluator::Evaluator(const std::map<std::string, Iterator>& iterators, const std::map<std::string, Model>& targets,
                     const EvaluatorOptions& options)
    : iterators_(iterators), targets_(targets), options_(options) {
  if (!options_.converter)
    options_.converter = [](const Minibatch& batch, const std::optional<Device>& device) {
      return concat_examples(batch, device);
    };
  iterator();
  target();
}

const Iterator& Evaluator::iterator(const std::string& name) const {
  const auto found = iterators_.find(name);
  if (found == iterators_.end()) fail<ValueError>("Evaluator: there is no iterator '{}'", name);
  return found->second;
}

const Model& Evaluator::target(const std::string& name) const {
  const auto found = targets_.find(name);
  if (found == targets_.end()) fail<ValueError>("Evaluator: there is no target '{}'", name);
  return found->second;
}

void Evaluator::for_each_batch(const std::function<void(const Batch&)>& f) const {
  for_each([&](const Batch& arguments, std::int64_t) { f(arguments); });
}

void Evaluator::for_each(const std::function<void(const Batch&, std::int64_t)>& f) const {
  const Iterator& batches = iterator();
  batches.reset();
  if (batches.repeat()) throw ValueError("Evaluator: the iterator repeats for ever; make it with .repeat = false");
  const bool bar = options_.progress_bar && os::is_terminal(os::kStandardError);
  const StateScope states;
  const auto testing = test_mode();
  const auto mode = no_backprop_mode();
  while (const auto batch = batches.next()) {
    f(options_.converter(*batch, options_.device ? *options_.device : get_device(target().link())),
      examples_of(*batch));
    if (bar) fmt::print(stderr, "\rvalidation {:3.0f} %", 100 * batches.epoch_detail());
  }
  if (bar) fmt::print(stderr, "\r                \r");
}

DictSummary Evaluator::evaluate() {
  Observation ignored;
  std::optional<ReportScope> own;  // unless a trainer or another caller has a reporter
  if (!current_reporter()) own.emplace(reporter(), ignored);
  DictSummary summary;
  for_each([&](const Batch& arguments, std::int64_t examples) {
    Observation observation;
    {
      const ReportScope scope(*current_reporter(), observation);
      options_.eval_func ? options_.eval_func(arguments) : target()(arguments);
    }
    summary.add(observation, options_.weigh_batches_equally ? 1.0 : static_cast<double>(examples));
  });
  return summary;
}

Reporter Evaluator::reporter() const {
  const Reporter reporter;
  const std::string prefix = name.empty() ? "" : name + "/";
  for (const auto& [target_name, target] : targets_) reporter.add_observers(prefix + target_name, target.link());
  return reporter;
}

DictSummary Evaluator::evaluate_by_name() {
  Observation ignored;
  const ReportScope scope(reporter(), ignored);
  // also if an overridden evaluate() uses other batches
  const StateScope states;
  const auto mode = test_mode();
  return evaluate();
}

void Evaluator::operator()(Trainer&) {
  const DictSummary summary = evaluate_by_name();
  for (const auto& [name, mean] : summary.means()) report({{name, mean}});
}

std::vector<std::pair<std::string, double>> Evaluator::operator()() { return evaluate_by_name().means(); }

void Evaluator::finalize() {
  for (const auto& entry : iterators_) entry.second.finalize();
}

}  // namespace catenary::training::extensions
