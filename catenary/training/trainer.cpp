#include "catenary/training/trainer.h"

#include <algorithm>
#include <system_error>

#include "catenary/array/random.h"
#include "catenary/core/clock.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/signals.h"

namespace catenary::training {

Interrupted::~Interrupted() = default;

namespace {

/// A function as an extension.
class FunctionExtension final : public Extension {
 public:
  explicit FunctionExtension(std::function<void(Trainer&)> f) : f_(std::move(f)) {}
  std::string default_name() const override { return "function"; }
  void operator()(Trainer& trainer) override { f_(trainer); }

 private:
  std::function<void(Trainer&)> f_;
};

struct Entry {
  std::string name;
  std::shared_ptr<Extension> extension;
  Trigger trigger;
  int priority;
  bool call_before_training;
};

/// Calls the extensions that are due. After the terminal is gone (SIGHUP), a report that cannot be written does not
/// stop the trainer from saving.
void call_extensions(const std::vector<Entry*>& order, Trainer& trainer, const os::ScopedSignals& signals) {
  for (Entry* entry : order) {
    try {
      if (entry->trigger(trainer)) (*entry->extension)(trainer);
    } catch (const std::system_error&) {
      if (signals.received() == 0) throw;
    }
  }
}

}  // namespace

struct Trainer::State {
  State(const Updater& updater, const Trigger& stop_trigger, const std::string& out)
      : updater(updater), stop_trigger(stop_trigger), out(out) {}

  Updater updater;
  Trigger stop_trigger;
  std::string out;
  Reporter reporter;
  Observation observation;
  std::vector<Entry> entries;
  double started = 0, elapsed_before = 0, final_elapsed = 0;
  bool running = false, done = false;
  std::optional<random::Generator> loaded_random;  // of the loaded snapshot

  double elapsed() const {
    return running ? monotonic_seconds() - started + elapsed_before : done ? final_elapsed : elapsed_before;
  }
  /// Extensions by priority. The one that saves the trainer is last, so that it includes the effects of all others.
  std::vector<Entry*> in_order() {
    std::vector<Entry*> order;
    for (Entry& entry : entries) order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
      const bool last_a = a->extension->saves_trainer(), last_b = b->extension->saves_trainer();
      return last_a != last_b ? last_b : a->priority > b->priority;
    });
    return order;
  }
  /// Ends the training: notifies extensions and the updater.
  void finish(const std::vector<Entry*>& order) {
    for (Entry* entry : order) {
      try {
        entry->extension->finalize();
      } catch (const std::exception& e) {
        fmt::print(stderr, "Exception while finalizing the extension '{}': {}\n", entry->name, e.what());
      }
    }
    try {
      updater->finalize();
    } catch (const std::exception& e) {
      fmt::print(stderr, "Exception while finalizing the updater: {}\n", e.what());
    }
    final_elapsed = elapsed();
    running = false;
    done = true;
  }
  /// Saves a snapshot if an extension does so, and raises Interrupted.
  [[noreturn]] void stop(int signal, const std::vector<Entry*>& order, Trainer& trainer) const {
    std::string how = "there is no snapshot extension, so nothing was saved that it could go on from";
    for (Entry* entry : order) {
      if (!entry->extension->saves_trainer()) continue;
      how = fmt::format("resume with --resume {}", entry->extension->save(trainer));
      break;
    }
    fail<Interrupted>("training was stopped by {} after iteration {}; {}", os::signal_name(signal),
                      updater->iteration(), how);
  }
};

Trainer::Trainer(const Updater& updater, const Trigger& stop_trigger, const std::string& out)
    : state_(std::make_shared<State>(updater, stop_trigger, out)) {
  for (const auto& [name, optimizer] : updater->optimizers())
    state_->reporter.add_observers(name, optimizer.target().link());
  updater->connect_trainer(*this);
}

const Updater& Trainer::updater() const { return state_->updater; }
const std::string& Trainer::out() const { return state_->out; }
Observation& Trainer::observation() const { return state_->observation; }
const Reporter& Trainer::reporter() const { return state_->reporter; }
const Trigger& Trainer::stop_trigger() const { return state_->stop_trigger; }
double Trainer::elapsed_time() const { return state_->elapsed(); }
bool Trainer::is_before_training() const { return state_->updater->iteration() == 0; }

void Trainer::extend(std::shared_ptr<Extension> extension, const ExtendOptions& options) const {
  const std::string base = options.name.empty() ? extension->default_name() : options.name;
  if (base == "training") throw ValueError("extend: the name 'training' is reserved");
  const auto taken = [&](const std::string& name) {
    return std::any_of(state_->entries.begin(), state_->entries.end(), [&](const Entry& e) { return e.name == name; });
  };
  std::string name = base;
  for (int ordinal = 1; taken(name); ++ordinal) name = fmt::format("{}_{}", base, ordinal);
  extension->name = name;
  const Trigger trigger = options.trigger ? *options.trigger : extension->trigger();
  const int priority = options.priority ? *options.priority : extension->priority();
  state_->entries.push_back({name, std::move(extension), trigger, priority, options.call_before_training});
}

void Trainer::extend(std::function<void(Trainer&)> f, const ExtendOptions& options) const {
  extend(std::shared_ptr<Extension>(std::make_shared<FunctionExtension>(std::move(f))), options);
}

Extension& Trainer::get_extension(const std::string& name) const {
  std::string names;
  for (const Entry& entry : state_->entries) {
    if (entry.name == name) return *entry.extension;
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  fail<ValueError>("the trainer has no extension '{}'; it has: {}", name, names);
}

void Trainer::run(bool show_loop_exception_msg) const {
  State& s = *state_;
  if (s.done || s.running)
    throw ValueError("Trainer::run: a trainer can run once only; make a new one, or resume a snapshot in it");
  Trainer self = *this;
  os::make_directories(s.out);
  const std::vector<Entry*> order = s.in_order();
  const os::ScopedSignals signals;
  s.started = monotonic_seconds();
  s.running = true;
  // notifies extensions and the updater at every end
  struct Finish {
    State& s;
    const std::vector<Entry*>& order;
    ~Finish() { s.finish(order); }
  } finish{s, order};

  // Loads before extensions initialize, as they start from loaded values. Parts load before the whole, which must be
  // consistent.
  for (Entry* entry : order) entry->extension->autoload(self);
  for (Entry* entry : order) entry->extension->initialize(self);
  s.observation.clear();
  if (is_before_training()) {
    const ReportScope scope(s.reporter, s.observation);
    for (Entry* entry : order)
      if (entry->call_before_training) (*entry->extension)(self);
  }
  // discards numbers drawn since the snapshot was loaded, also if another thread loaded it
  if (s.loaded_random) random::set_state(*s.loaded_random);

  try {
    s.updater->begin_training(self);
    while (!s.stop_trigger(self)) {
      s.observation.clear();
      {
        const ReportScope scope(s.reporter, s.observation);
        s.updater->update();
        call_extensions(order, self, signals);
      }
      int signal = signals.received();
      for (const auto& entry : s.updater->optimizers()) signal = entry.second.agreed_signal(signal);
      if (signal != 0) s.stop(signal, order, self);
    }
  } catch (const std::exception& e) {
    if (show_loop_exception_msg && !dynamic_cast<const Interrupted*>(&e)) {
      fmt::print(stderr,
                 "Exception in main training loop: {}\nWill finalize trainer extensions and updater before reraising "
                 "the exception.\n",
                 e.what());
    }
    for (Entry* entry : order) entry->extension->on_error(self, e);
    throw;
  }
}

void Trainer::serialize(Serializer& serializer) const {
  State& s = *state_;
  Serializer updater = serializer["updater"], stop = serializer["stop_trigger"];
  s.updater->serialize(updater);
  s.stop_trigger.serialize(stop);
  for (const Entry& entry : s.entries) {
    Serializer extension = serializer["extensions"][entry.name], trigger = serializer["extension_triggers"][entry.name];
    entry.extension->serialize(extension);
    entry.trigger.serialize(trigger);
  }
  // Chainer's snapshots lack the state of random numbers, and ignore ours.
  const auto random_state = std::make_shared<std::pair<std::int64_t, std::int64_t>>();
  if (!serializer.loading()) {
    const random::Generator generator = random::get_state();
    *random_state = {static_cast<std::int64_t>(generator.seed), static_cast<std::int64_t>(generator.call)};
  }
  if (!serializer.loading() || serializer.contains("_random_seed")) {
    serializer("_random_seed", random_state->first);
    serializer("_random_call", random_state->second);
    if (serializer.loading()) {
      serializer.after_loading([&s, random_state] {
        s.loaded_random = {static_cast<std::uint64_t>(random_state->first),
                           static_cast<std::uint64_t>(random_state->second)};
        random::set_state(*s.loaded_random);
      });
    }
  }
  if (serializer.loading()) {
    if (serializer.contains("_snapshot_elapsed_time")) serializer("_snapshot_elapsed_time", s.elapsed_before);
    serializer.after_loading([&s] { s.started = monotonic_seconds(); });
  } else {
    double elapsed = s.elapsed();
    serializer("_snapshot_elapsed_time", elapsed);
  }
}

}  // namespace catenary::training
