#include "catenary/autograd/hooks.h"

#include <algorithm>
#include <iostream>

#include "catenary/core/clock.h"
#include "catenary/core/format.h"
#include "catenary/device/backend.h"

namespace catenary {

FunctionHook::~FunctionHook() = default;

namespace {

std::vector<FunctionHook*>& thread_hooks() {
  thread_local std::vector<FunctionHook*> hooks;
  return hooks;
}

void settle() {
  evaluate();
  current_device().synchronize();
}

/// Right-aligned columns, two spaces apart.
void print_table(std::ostream& to, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) to << (i ? "  " : "") << fmt::format("{:>{}}", row[i], widths[i]);
    to << '\n';
  }
  to.flush();
}

struct Unit {
  const char* name;
  double factor;  // of the base unit
};
constexpr Unit kTimeUnits[] = {{"sec", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};
constexpr Unit kByteUnits[] = {
    {"B", 1}, {"KB", 1.0 / 1024}, {"MB", 1.0 / (1 << 20)}, {"GB", 1.0 / (1 << 30)}, {"TB", 1.0 / (1ll << 40)}};

const Unit& time_unit(double seconds) {
  for (const Unit& u : kTimeUnits)
    if (seconds * u.factor >= 1) return u;
  return kTimeUnits[seconds > 0 ? 3 : 0];
}
const Unit& byte_unit(double bytes) {
  for (const Unit& u : kByteUnits)
    if (bytes * u.factor < 1024) return u;
  return kByteUnits[4];
}
const Unit* find_unit(std::span<const Unit> units, const std::string& name) {
  for (const Unit& u : units)
    if (name == u.name) return &u;
  if (name == "auto" || name == "auto_foreach") return nullptr;
  fail<ValueError>("print_report: there is no unit \"{}\"", name);
}
std::string in_unit(double value, const Unit& unit) { return fmt::format("{:3.2f}{}", value * unit.factor, unit.name); }

}  // namespace

const std::vector<FunctionHook*>& get_function_hooks() { return thread_hooks(); }

HookScope::HookScope(FunctionHook& hook) : hook_(hook) {
  for (const FunctionHook* other : thread_hooks())
    if (other->name() == hook.name()) fail<ValueError>("this thread has a hook named {} already", hook.name());
  thread_hooks().push_back(&hook);
  hook.added(nullptr);
}

HookScope::~HookScope() {
  std::erase(thread_hooks(), &hook_);
  hook_.deleted(nullptr);
}

// ---- TimerHook

void TimerHook::start() {
  settle();
  running_.push_back(monotonic_seconds());
}

void TimerHook::stop(FunctionNode& f) {
  settle();
  const double seconds = monotonic_seconds() - running_.back();
  running_.pop_back();
  history_.push_back({f.name(), seconds});
  if (running_.empty()) total_ += seconds;
}

void TimerHook::forward_preprocess(FunctionNode&, Inputs) { start(); }
void TimerHook::forward_postprocess(FunctionNode& f, Inputs) { stop(f); }
void TimerHook::backward_preprocess(FunctionNode&, Inputs, Grads) { start(); }
void TimerHook::backward_postprocess(FunctionNode& f, Inputs, Grads) { stop(f); }

std::vector<TimerHook::Summary> TimerHook::summary() const {
  std::vector<Summary> all;
  for (const Call& call : history_) {
    auto found = std::find_if(all.begin(), all.end(), [&](const Summary& s) { return s.function == call.function; });
    if (found == all.end()) found = all.insert(all.end(), {call.function, 0, 0});
    found->elapsed_time += call.seconds;
    ++found->occurrence;
  }
  return all;
}

void TimerHook::print_report(std::ostream& to, const std::string& unit) const {
  const Unit* fixed = find_unit(kTimeUnits, unit);
  const std::vector<Summary> all = summary();
  double longest = 0;
  for (const Summary& s : all) longest = std::max(longest, s.elapsed_time);
  std::vector<std::vector<std::string>> rows = {{"FunctionName", "ElapsedTime", "Occurrence"}};
  for (const Summary& s : all) {
    const Unit& u = fixed ? *fixed : time_unit(unit == "auto" ? longest : s.elapsed_time);
    rows.push_back({s.function, in_unit(s.elapsed_time, u), std::to_string(s.occurrence)});
  }
  print_table(to, rows);
}
void TimerHook::print_report() const { print_report(std::cout); }

// ---- PrintHook

PrintHook::PrintHook() : PrintHook(std::cout) {}

void PrintHook::forward_preprocess(FunctionNode& f, Inputs x) {
  to_ << "function\t" << f.name() << separator_ << end_ << "input data" << end_;
  for (int i = 0; i < x.size(); ++i) to_ << debug_text(x[i]) << end_;
  to_.flush();
}

void PrintHook::backward_preprocess(FunctionNode& f, Inputs x, Grads gy) {
  forward_preprocess(f, x);
  to_ << "output gradient" << end_;
  for (const Variable& g : gy) to_ << debug_text(g.defined() ? g.array() : Array()) << end_;
  to_.flush();
}

std::string PrintHook::debug_text(const Array& a) {
  return a.defined() ? fmt::format("<variable ({}), {}>\n{}", fmt::join(a.shape().begin(), a.shape().end(), ", "),
                                   a.dtype(), to_string(a))
                     : std::string("(removed)");
}

// ---- MemoryHook

MemoryHook::Bytes MemoryHook::bytes() {
  settle();
  const MemoryPool& pool = current_device().backend().pool(current_device().index());
  return {static_cast<std::int64_t>(pool.used_bytes()), static_cast<std::int64_t>(pool.total_bytes())};
}

void MemoryHook::forward_preprocess(FunctionNode&, Inputs) { running_.push_back(bytes()); }
void MemoryHook::forward_postprocess(FunctionNode& f, Inputs) { stop(f); }
void MemoryHook::backward_preprocess(FunctionNode&, Inputs, Grads) { running_.push_back(bytes()); }
void MemoryHook::backward_postprocess(FunctionNode& f, Inputs, Grads) { stop(f); }

void MemoryHook::stop(FunctionNode& f) {
  const Bytes before = running_.back(), after = bytes();
  running_.pop_back();
  const std::int64_t used = after.used - before.used, acquired = after.acquired - before.acquired;
  history_.push_back({f.name(), used, acquired, static_cast<int>(running_.size())});
  if (running_.empty()) {
    total_used_ += used;
    total_acquired_ += acquired;
  }
}

std::vector<MemoryHook::Summary> MemoryHook::summary() const {
  std::vector<Summary> all;
  for (const Call& call : history_) {
    auto found = std::find_if(all.begin(), all.end(), [&](const Summary& s) { return s.function == call.function; });
    if (found == all.end()) found = all.insert(all.end(), {call.function, 0, 0, 0});
    found->used_bytes += call.used_bytes;
    found->acquired_bytes += call.acquired_bytes;
    ++found->occurrence;
  }
  return all;
}

void MemoryHook::print_report(std::ostream& to, const std::string& unit) const {
  const Unit* fixed = find_unit(kByteUnits, unit);
  const std::vector<Summary> all = summary();
  double most_used = 0, most_acquired = 0;
  for (const Summary& s : all) {
    most_used = std::max(most_used, static_cast<double>(s.used_bytes));
    most_acquired = std::max(most_acquired, static_cast<double>(s.acquired_bytes));
  }
  std::vector<std::vector<std::string>> rows = {{"FunctionName", "UsedBytes", "AcquiredBytes", "Occurrence"}};
  for (const Summary& s : all) {
    const double used = static_cast<double>(s.used_bytes), acquired = static_cast<double>(s.acquired_bytes);
    const bool common = unit == "auto";
    rows.push_back({s.function, in_unit(used, fixed ? *fixed : byte_unit(common ? most_used : used)),
                    in_unit(acquired, fixed ? *fixed : byte_unit(common ? most_acquired : acquired)),
                    std::to_string(s.occurrence)});
  }
  print_table(to, rows);
}
void MemoryHook::print_report() const { print_report(std::cout); }

}  // namespace catenary
