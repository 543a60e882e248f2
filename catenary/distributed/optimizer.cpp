#include "catenary/distributed/optimizer.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "catenary/array/elementwise_core.h"
#include "catenary/array/random.h"
#include "catenary/autograd/variable.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/core/os/signals.h"
#include "catenary/core/sha256.h"
#include "catenary/distributed/gradients.h"
#include "catenary/reporter/reporter.h"

namespace catenary::distributed {

static void pack(Packer& to, const TrainingPlan& plan) {
  to(plan.examples)(plan.batch_size)(plan.length)(plan.in_epochs);
}
static void unpack(Unpacker& from, TrainingPlan& plan) {
  from(plan.examples)(plan.batch_size)(plan.length)(plan.in_epochs);
}

namespace {

/// Restores, at the end of the scope, everything that a forward pass changes in a link beside its outputs.
class Untouched {
 public:
  explicit Untouched(const Link& model) : random_(random::get_state()) {
    struct Collect : MemberVisitor {
      Untouched* self;
      void child(const std::string&, Link&) override {}
      void parameter(const std::string&, Parameter&) override {}
      void persistent(const std::string&, Persistent& array) override {
        self->arrays_.emplace_back(array, array.defined() ? array->copy() : Array());
      }
    } collect;
    collect.self = this;
    model.for_each_link([&](const std::string&, const Link& link) { link.visit_members(collect); });
  }
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;
  ~Untouched() {
    random::set_state(random_);
    for (const auto& [array, before] : arrays_) array = before;
  }

 private:
  random::Generator random_;
  std::vector<std::pair<Persistent, Array>> arrays_;
  StateScope states_;
};

std::string text_of(const TrainingPlan& plan) {
  return fmt::format("{} examples in batches of {} for {} {}s", plan.examples, plan.batch_size, plan.length,
                     plan.in_epochs ? "epoch" : "iteration");
}

/// Names the part of the plans that ends after different iterations; "" if they are equal or a length is unknown.
std::string difference_of(const TrainingPlan& a, const TrainingPlan& b) {
  if (a.length == 0 || b.length == 0) return {};
  if (a.length != b.length || a.in_epochs != b.in_epochs) return "the lengths must be equal";
  if (!a.in_epochs) return {};
  const auto end_of = [](const TrainingPlan& plan, std::int64_t epoch) {
    return (epoch * plan.examples + plan.batch_size - 1) / plan.batch_size;
  };
  for (std::int64_t epoch = 1; epoch <= a.length; ++epoch)
    if (end_of(a, epoch) != end_of(b, epoch))
      return fmt::format(
          "epoch {} ends after iteration {} and after iteration {}; scatter_dataset deals out equal parts", epoch,
          end_of(a, epoch), end_of(b, epoch));
  return {};
}

}  // namespace

class GradientExchange final : public OptimizerHook {
 public:
  GradientExchange(const Communicator& communicator, const MultiNodeOptimizerOptions& options)
      : communicator_(communicator),
        options_(options),
        in_background_(options.double_buffering || options.overlap.value_or(communicator.overlaps())) {
    if (in_background_ && !communicator.exchanges_in_background() &&
        (options.overlap.value_or(false) || !communicator.exchanges_by_devices()))
      fail<ValueError>(
          "create_multi_node_optimizer: {} with the communicator {} over {}; flat or non_cuda_aware is expected, and "
          "with MPI one that lets threads take turns{}",
          options.overlap.value_or(false) ? "overlap" : "double_buffering", communicator.name(),
          communicator.transport(), options.overlap.value_or(false) ? "" : "; or pure_nccl");
  }
  std::string name() const override { return "MultiNodeOptimizer"; }
  Timing timing() const override { return Timing::exchange; }

  /// Ranks whose epochs or trainings end after different iterations would deadlock.
  void begin_training(const TrainingPlan& plan) override {
    if (communicator_.size() == 1) return;
    const std::vector<TrainingPlan> plans = communicator_.allgather_obj(plan);
    for (std::size_t r = 1; r < plans.size(); ++r)
      if (const std::string difference = difference_of(plans[0], plans[r]); !difference.empty())
        fail<ValueError>("ranks would train unequally: rank 0 has {} and rank {} has {}: {}", text_of(plans[0]), r,
                         text_of(plans[r]), difference);
  }

  void before_loss(const Optimizer& optimizer, const std::function<Variable()>& loss) override {
    if (flight_)
      fail<Error>(
          "an exception ended an earlier update of {} while gradients were exchanged, and other ranks may still wait "
          "for "
          "them: end the job, and go on from a snapshot",
          optimizer.name());
    if (communicator_.size() == 1 || options_.first_update_broadcasts_only || !is_new(optimizer)) return;
    const Link& model = optimizer.target().link();
    const std::vector<Parameter> parameters = model.params();
    if (!std::all_of(parameters.begin(), parameters.end(), [](const Parameter& p) { return p.is_initialized(); })) {
      const Untouched untouched(model);
      const auto no_graph = no_backprop_mode();
      Observation ignored;
      std::optional<ReportScope> scope;
      if (const Reporter* reporter = current_reporter()) scope.emplace(*reporter, ignored);
      loss();
    }
    compare_settings(optimizer);
    communicator_.bcast_data(model);
    remember(optimizer);
  }

  bool follows_backward(const Optimizer& optimizer) override {
    return (communicator_.size() > 1 || options_.double_buffering) && communicator_.exchanges_in_background() &&
           !is_new(optimizer) && begin(optimizer);
  }
  void after_gradient(const Optimizer&, const VariableNode& leaf, const Array& gradient) override {
    flight_->add(leaf, gradient);
  }

  void operator()(const Optimizer& optimizer) override {
    if (communicator_.size() == 1 && !options_.double_buffering) return;
    const Link& model = optimizer.target().link();
    if (is_new(optimizer)) {
      flight_.reset();
      previous_.reset();
      compare_settings(optimizer);
      remember(optimizer);
      if (options_.first_update_broadcasts_only || differs(model)) {
        communicator_.bcast_data(model);
        return optimizer.skip_update();
      }
    }
    if (!flight_ && !begin(optimizer)) {
      agreed_signal_ =
          communicator_.mean_grad(model, options_.zero_fill, os::received_signal(), settings_of(optimizer));
      return;
    }
    flight_->add_rest();
    // separate from the buckets, so that all ranks learn if one of them calls something else
    agreed_signal_ =
        communicator_.agree_on_gradients(flight_->buckets(), os::received_signal(), settings_of(optimizer));
    std::unique_ptr<Flight> landing = std::move(flight_);
    if (options_.double_buffering) std::swap(landing, previous_);
    landing ? landing->finish() : optimizer.skip_update();
  }

  /// Any rank may receive a signal: all end after the iteration whose exchange announced it.
  int agreed_signal(int own) const override { return communicator_.size() == 1 ? own : agreed_signal_; }

  ~GradientExchange() override {
    if (previous_) previous_->wait();  // other ranks rely on this exchange
  }

 private:
  /// Different rates, hooks or loss scales would make different parameters from equal gradients.
  void compare_settings(const Optimizer& optimizer) const {
    if (communicator_.size() == 1) return;
    const auto all = communicator_.allgather_obj(optimizer.settings());
    for (std::size_t r = 1; r < all.size(); ++r) {
      const auto [zeroth, other] = std::mismatch(all[0].begin(), all[0].end(), all[r].begin(), all[r].end());
      if (zeroth == all[0].end() && other == all[r].end()) continue;
      const auto text = [](auto at, const std::vector<std::string>& of) { return at == of.end() ? "nothing" : *at; };
      fail<ValueError>(
          "ranks would train apart: the first difference between their optimizers: rank 0 has {} and rank {} has {}",
          text(zeroth, all[0]), r, text(other, all[r]));
    }
  }
  /// Summarizes the settings for each exchange without an extra message: the rate, and a hash of all settings.
  static std::string settings_of(const Optimizer& optimizer) {
    const Hyperparameters& numbers = optimizer.hyperparam();
    const std::string key = numbers.rate_name();
    const std::string rate = numbers.contains(key) ? fmt::format("{} {}, ", key, numbers.get(key)) : "";
    const std::string all = fmt::format("{}", fmt::join(optimizer.settings(), "\n"));
    return fmt::format(" for {} ({}settings {:x})", optimizer.name(), rate, std::hash<std::string>()(all));
  }

  bool begin(const Optimizer& optimizer) {
    if (!in_background_) return false;
    flight_ = communicator_.begin_flight(optimizer.target().link());
    return flight_ != nullptr;
  }

  /// Returns whether the target is another model or has additional parameters.
  bool is_new(const Optimizer& optimizer) const { return known_ != parameters_of(optimizer); }
  void remember(const Optimizer& optimizer) { known_ = parameters_of(optimizer); }
  static std::vector<const void*> parameters_of(const Optimizer& optimizer) {
    std::vector<const void*> nodes;
    for (const Parameter& p : optimizer.target().link().params(false)) nodes.push_back(&p.node());
    return nodes;
  }

  /// Returns whether the ranks' parameters differ.
  bool differs(const Link& model) const {
    Packer packer;
    for (const auto& [name, p] : model.namedparams()) packer(name)(p.array());
    for (const auto& [name, blocks] : quantized_blocks(model)) packer(name)(blocks);
    const std::vector<std::string> all = communicator_.allgather_obj(sha256(packer.bytes()));
    return std::any_of(all.begin(), all.end(), [&](const std::string& digest) { return digest != all[0]; });
  }

  Communicator communicator_;
  MultiNodeOptimizerOptions options_;
  bool in_background_;
  std::vector<const void*> known_;
  std::unique_ptr<Flight> flight_, previous_;  // for this update, and for the previous one with double_buffering
  int agreed_signal_ = 0;
};

void detail::add_exchange(const Optimizer& optimizer, const Communicator& communicator,
                          const MultiNodeOptimizerOptions& options) {
  optimizer.add_hook(std::make_shared<GradientExchange>(communicator, options));
}

}  // namespace catenary::distributed
