#include "catenary/training/extensions/evaluator.h"

#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/core/os/terminal.h"
#include "catenary/device/placement.h"

namespace catenary::training::extensions {

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
  const Iterator& batches = iterator();
  batches.reset();
  if (batches.repeat()) throw ValueError("Evaluator: the iterator repeats for ever; make it with .repeat = false");
  const bool bar = options_.progress_bar && os::is_terminal(os::kStandardError);
  while (const auto batch = batches.next()) {
    const auto mode = no_backprop_mode();
    f(options_.converter(*batch, options_.device ? *options_.device : get_device(target().link())));
    if (bar) fmt::print(stderr, "\rvalidation {:3.0f} %", 100 * batches.epoch_detail());
  }
  if (bar) fmt::print(stderr, "\r                \r");
}

DictSummary Evaluator::evaluate() {
  DictSummary summary;
  for_each_batch([&](const Batch& arguments) {
    Observation observation;
    {
      const ReportScope scope(*current_reporter(), observation);
      options_.eval_func ? options_.eval_func(arguments) : target()(arguments);
    }
    summary.add(observation);
  });
  return summary;
}

namespace {
DictSummary evaluate_with_reporter(Evaluator& evaluator, const std::map<std::string, Model>& targets) {
  const Reporter reporter;
  const std::string prefix = evaluator.name.empty() ? "" : evaluator.name + "/";
  for (const auto& [name, target] : targets) reporter.add_observers(prefix + name, target.link());
  Observation ignored;
  const ReportScope scope(reporter, ignored);
  const auto mode = test_mode();
  return evaluator.evaluate();
}
}  // namespace

void Evaluator::operator()(Trainer&) {
  const DictSummary summary = evaluate_with_reporter(*this, targets_);
  for (const auto& [name, mean] : summary.means()) report({{name, mean}});
}

std::vector<std::pair<std::string, double>> Evaluator::operator()() {
  return evaluate_with_reporter(*this, targets_).means();
}

void Evaluator::finalize() {
  for (const auto& entry : iterators_) entry.second.finalize();
}

}  // namespace catenary::training::extensions
