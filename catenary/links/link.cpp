#include "catenary/links/link.h"

#include <algorithm>
#include <map>
#include <set>
#include <typeinfo>
#include <utility>

#include "catenary/core/axis_error.h"
#include "catenary/core/clock.h"
#include "catenary/core/format.h"
#include "catenary/core/overflow_error.h"
#include "catenary/core/places.h"
#include "catenary/device/pool.h"
#include "catenary/functions/array.h"

namespace catenary {

MemberVisitor::~MemberVisitor() = default;
void MemberVisitor::state(const std::string&, StateVariable&) {}
LinkHook::~LinkHook() = default;

struct Link::State {
  std::string name;
  std::vector<std::shared_ptr<LinkHook>> hooks;
  bool update_enabled = true;
};

detail::LinkPlace::LinkPlace() { Places<LinkPlace>::instance().enter(this); }
detail::LinkPlace::~LinkPlace() { Places<LinkPlace>::instance().leave(this); }

Link::Link() : state_(std::make_shared<State>()) {}
Link::~Link() = default;
void Link::visit_members(MemberVisitor&) const {}
void Link::visit_all_members(MemberVisitor& visitor) const {
  for (const auto& hook : hooks()) hook->visit_members(visitor);
  visit_members(visitor);
}
std::string Link::type_name() const { return "Link"; }
std::string Chain::type_name() const { return "Chain"; }
const std::string& Link::name() const { return state_->name; }
void Link::set_name(std::string name) const { state_->name = std::move(name); }

namespace {

/// A visitor made of functions. Members without a function are skipped.
struct Visit : MemberVisitor {
  std::function<void(const std::string&, Link&)> on_child = [](const std::string&, Link&) {};
  std::function<void(const std::string&, Parameter&)> on_parameter = [](const std::string&, Parameter&) {};
  std::function<void(const std::string&, Persistent&)> on_persistent = [](const std::string&, Persistent&) {};
  std::function<void(const std::string&, StateVariable&)> on_state = [](const std::string&, StateVariable&) {};
  void child(const std::string& name, Link& link) override {
    link.set_name(name);
    on_child(name, link);
  }
  void parameter(const std::string& name, Parameter& p) override { on_parameter(name, p); }
  void persistent(const std::string& name, Persistent& a) override { on_persistent(name, a); }
  void state(const std::string& name, StateVariable& s) override { on_state(name, s); }
};

void walk(const std::string& path, const Link& link, const std::function<void(const std::string&, const Link&)>& f) {
  f(path.empty() ? "/" : path, link);
  Visit visit;
  visit.on_child = [&](const std::string& name, Link& child) { walk(path + "/" + name, child, f); };
  link.visit_all_members(visit);
}

std::string member_path(const std::string& link_path, const std::string& name) {
  return link_path == "/" ? "/" + name : link_path + "/" + name;
}

Array copied(const Array& array) { return array.defined() ? array.copy() : array; }

}  // namespace

void Link::for_each_link(const std::function<void(const std::string&, const Link&)>& f) const { walk("", *this, f); }

std::vector<std::pair<std::string, Parameter>> Link::namedparams(bool include_uninit) const {
  std::vector<std::pair<std::string, Parameter>> all;
  for_each_link([&](const std::string& path, const Link& link) {
    Visit visit;
    visit.on_parameter = [&](const std::string& name, Parameter& p) {
      if (p.defined() && (include_uninit || p.is_initialized())) all.emplace_back(member_path(path, name), p.handle());
    };
    link.visit_all_members(visit);
  });
  return all;
}

namespace {
/// The persistent arrays that are defined.
std::vector<std::pair<std::string, Persistent>> persistents_of(const Link& root) {
  std::vector<std::pair<std::string, Persistent>> all;
  root.for_each_link([&](const std::string& path, const Link& link) {
    Visit visit;
    visit.on_persistent = [&](const std::string& name, Persistent& a) {
      if (a.defined()) all.emplace_back(member_path(path, name), a);
    };
    link.visit_all_members(visit);
  });
  return all;
}
}  // namespace

std::vector<std::pair<std::string, Array>> Link::namedpersistents() const {
  std::vector<std::pair<std::string, Array>> all;
  for (const auto& [path, a] : persistents_of(*this)) all.emplace_back(path, a.array());
  return all;
}

std::vector<Parameter> Link::params(bool include_uninit) const {
  std::vector<Parameter> all;
  for (auto& [path, p] : namedparams(include_uninit)) {
    bool known = false;  // list tied weights once
    for (const Parameter& other : all) known = known || other.is(p);
    if (!known) all.push_back(p);
  }
  return all;
}

std::vector<std::string> Link::children() const {
  std::vector<std::string> names;
  Visit visit;
  visit.on_child = [&](const std::string& name, Link&) { names.push_back(name); };
  visit_all_members(visit);
  return names;
}

std::int64_t Link::count_params() const {
  std::int64_t n = 0;
  for (const Parameter& p : params(false)) n += p.size();
  return n;
}

std::span<const std::byte> Link::ct_links_extent() const { return {}; }

void Link::check_members() const {
  const std::vector<Parameter> known = params();
  const auto is_known = [&](const Parameter& p) {
    return std::any_of(known.begin(), known.end(), [&](const Parameter& k) { return k.is(p); });
  };
  std::set<const Parameter*> named_parameters;
  for_each_link([&](const std::string&, const Link& link) {
    Visit visit;
    visit.on_parameter = [&](const std::string&, Parameter& p) { named_parameters.insert(&p); };
    link.visit_all_members(visit);
  });
  for_each_link([&](const std::string& path, const Link& link) {
    const std::span<const std::byte> extent = link.ct_links_extent();
    std::vector<const Parameter*> own = Parameter::inside(extent);
    std::vector<const Link*> members;  // in order of declaration
    for (const detail::LinkPlace* place : Places<detail::LinkPlace>::instance().inside(extent))
      members.push_back(static_cast<const Link*>(place));
    std::vector<const Link*> named;
    Visit visit;
    visit.on_child = [&](const std::string&, Link& child) { named.push_back(&child); };
    link.visit_all_members(visit);
    int number = 0;
    const std::byte* end_of_last = extent.data();
    for (const Link* member : members) {
      const auto* begin = reinterpret_cast<const std::byte*>(member);
      if (member == &link || begin < end_of_last) continue;  // members of a member are checked with that member
      ++number;
      const std::span<const std::byte> whole = member->ct_links_extent();
      end_of_last = std::max(begin + 1, whole.data() + whole.size());
      std::erase_if(own, [&](const Parameter* p) {
        const auto* at = reinterpret_cast<const std::byte*>(p);
        return at >= begin && at < end_of_last;
      });
      if (std::find(named.begin(), named.end(), member) != named.end()) continue;
      bool trains = false;
      member->for_each_link([&](const std::string&, const Link& below) { trains = trains || below.update_enabled(); });
      bool others = false;  // parameters that belong to no named link
      for (const Parameter& p : member->params()) others = others || !is_known(p);
      if (trains && others)
        fail<ValueError>(
            "{} '{}': CT_LINKS does not name the member that is number {} of its links ({}): it would never be "
            "trained, "
            "saved or moved; name it, or call its disable_update() if that is meant",
            link.type_name(), path, number, member->type_name());
    }
    if (!link.update_enabled()) return;
    for (std::size_t k = 0; k < own.size(); ++k) {
      const Parameter& p = *own[k];
      if (named_parameters.contains(&p) || !Parameter::is_parameter(p) || is_known(p)) continue;
      fail<ValueError>(
          "{} '{}': CT_LINKS does not name the member that is number {} of its Parameters{}: it would never be "
          "trained, "
          "saved or moved; name it, or make it a Persistent if it is not to be learnt",
          link.type_name(), path, k + 1, p.name().empty() ? "" : fmt::format(" ('{}')", p.name()));
    }
  });
}

void Link::cleargrads() const {
  for (const Parameter& p : params()) p.cleargrad();
}

void Link::zerograds() const {
  for (const Parameter& p : params()) p.zerograd();
}

namespace {
template <class T>
void check_same_structure(const T& mine, const T& theirs, const char* what) {
  bool same = mine.size() == theirs.size();
  for (std::size_t i = 0; same && i < mine.size(); ++i) same = mine[i].first == theirs[i].first;
  if (same) return;
  std::vector<std::string> a, b;
  for (const auto& entry : mine) a.push_back(entry.first);
  for (const auto& entry : theirs) b.push_back(entry.first);
  fail<ValueError>("{}: the links differ in structure: [{}] and [{}]", what, fmt::join(a, ", "), fmt::join(b, ", "));
}

/// Arrays that are not defined yet accept any shape.
void check_fits(const char* what, const std::string& path, const Array& mine, const Array& theirs) {
  if (mine.defined() && theirs.defined() && mine.shape() != theirs.shape())
    fail<ShapeError>("{}: {} has the shape {} here and {} in the other link", what, path, mine.shape(), theirs.shape());
}
}  // namespace

void Link::copyparams(const Link& from, bool copy_persistent) const {
  const auto mine = namedparams(), theirs = from.namedparams();
  check_same_structure(mine, theirs, "copyparams");
  const auto my_arrays = persistents_of(*this), their_arrays = persistents_of(from);
  if (copy_persistent) check_same_structure(my_arrays, their_arrays, "copyparams");
  // check everything before changing anything
  for (std::size_t i = 0; i < mine.size(); ++i)
    check_fits("copyparams", mine[i].first, mine[i].second.array(), theirs[i].second.array());
  for (std::size_t i = 0; copy_persistent && i < my_arrays.size(); ++i)
    check_fits("copyparams", my_arrays[i].first, my_arrays[i].second, their_arrays[i].second);
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i].second.copydata(theirs[i].second);
  for (std::size_t i = 0; copy_persistent && i < my_arrays.size(); ++i) {
    // replace the array, because links cache values read from it: the kind of quantised weights
    const Persistent& to = my_arrays[i].second;
    const Array fresh = Array::empty(to->shape(), to->dtype(), to->device());
    fresh.set(their_arrays[i].second->to_device(to->device()), ellipsis);
    to = fresh;
  }
}

void Link::addgrads(const Link& from) const {
  const auto mine = namedparams(), theirs = from.namedparams();
  check_same_structure(mine, theirs, "addgrads");
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const Array values = mine[i].second.array(), own = mine[i].second.grad(), other = theirs[i].second.grad();
    check_fits("addgrads", mine[i].first, values, other);
    if (!values.defined() || !other.defined()) continue;
    if (const Dtype sum = own.defined() ? promote(own.dtype(), other.dtype()) : other.dtype(); sum != values.dtype())
      fail<DtypeError>("addgrads: {} is {} here, and its gradient would be {}", mine[i].first, values.dtype(), sum);
  }
  std::set<std::pair<const void*, const void*>> added;  // weights tied in both links appear under several paths
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (added.emplace(&mine[i].second.node(), &theirs[i].second.node()).second)
      mine[i].second.addgrad(theirs[i].second);
}

void Link::to_device(const Device& device) const {
  for (const Parameter& p : params()) p.to_device(device);
  for_each_link([&](const std::string&, const Link& link) {
    Visit visit;
    visit.on_persistent = [&](const std::string&, Persistent& a) {
      if (a.defined()) a = a->to_device(device);
    };
    visit.on_state = [&](const std::string&, StateVariable& s) {
      if (s.defined() && s->device() != device) s = Variable(s->array().to_device(device));
    };
    link.visit_all_members(visit);
  });
}

void Link::enable_update() const {
  for_each_link([](const std::string&, const Link& link) { link.state_->update_enabled = true; });
}
void Link::disable_update() const {
  for_each_link([](const std::string&, const Link& link) { link.state_->update_enabled = false; });
}
bool Link::update_enabled() const { return state_->update_enabled; }

void Link::serialize(Serializer& serializer) const {
  Visit own;
  own.on_parameter = [&](const std::string& name, Parameter& p) { serialize_member(serializer, name, p); };
  own.on_persistent = [&](const std::string& name, Persistent& a) { serialize_member(serializer, name, a); };
  own.on_child = [&](const std::string& name, Link& child) {
    Serializer below = serializer[name];
    child.serialize(below);
  };
  visit_all_members(own);
}

void Link::serialize_member(const Serializer& serializer, const std::string& name, Parameter& p) const {
  if (p.defined()) serializer(name, p);
}

void Link::serialize_member(const Serializer& serializer, const std::string& name, Persistent& a) const {
  // undefined arrays take the file's value
  if (a.defined() || (serializer.loading() && serializer.contains(name))) serializer(name, a.slot());
}

void Link::serialize_state(const Serializer& serializer) const {
  Visit own;
  own.on_state = [&](const std::string& name, StateVariable& s) {
    if (!serializer.loading()) {
      Array values = s.defined() ? s->array() : Array();
      if (values.defined()) serializer(name, values);
      return;
    }
    const auto values = std::make_shared<Array>();
    if (serializer.contains(name)) serializer(name, *values);
    serializer.after_loading([s, values] { s = values->defined() ? Variable(*values) : Variable(); });
  };
  own.on_child = [&](const std::string& name, Link& child) { child.serialize_state(serializer[name]); };
  visit_all_members(own);
}

namespace {

/// Copies made so far by the outermost detach() and its members, so that tied weights stay tied.
struct Copies {
  std::map<const VariableNode*, Parameter> parameters;
  std::map<const Array*, Persistent> persistents;
};
thread_local Copies* copies = nullptr;

class CopiesScope {
 public:
  CopiesScope() : is_outermost_(!copies) {
    if (is_outermost_) copies = &own_;
  }
  ~CopiesScope() {
    if (is_outermost_) copies = nullptr;
  }
  CopiesScope(const CopiesScope&) = delete;
  CopiesScope& operator=(const CopiesScope&) = delete;

 private:
  Copies own_;
  const bool is_outermost_;
};

Parameter copied(const Parameter& p, CopyMode mode) {
  if (mode == CopyMode::copy && p.is_initialized()) {
    Parameter fresh = Parameter::from_array(p.array().copy(), p.name());
    if (p.grad().defined()) fresh.set_grad(p.grad().copy());
    fresh.set_loss_scale(p.loss_scale());
    return fresh;
  }
  if (!p.initializer()) throw ValueError("copy: a parameter without an initializer cannot be initialised anew");
  return p.is_initialized() ? Parameter(p.initializer(), p.shape(), p.name()) : Parameter(p.initializer(), p.name());
}

}  // namespace

void Link::detach(CopyMode mode) {
  const CopiesScope scope;
  auto state = std::make_shared<State>();
  state->name = state_->name;
  state->update_enabled = state_->update_enabled;
  for (const auto& hook : hooks()) {
    const std::shared_ptr<LinkHook> another = hook->copy();
    state->hooks.push_back(another ? another : hook);
  }
  state_ = std::move(state);
  Visit visit;
  visit.on_parameter = [&](const std::string&, Parameter& p) {
    if (!p.defined() || mode == CopyMode::share) return;
    const VariableNode* const before = &p.node();
    const auto known = copies->parameters.find(before);
    p = known != copies->parameters.end() ? known->second : copied(p, mode);
    copies->parameters.emplace(before, p);
  };
  visit.on_persistent = [&](const std::string&, Persistent& a) {
    if (mode == CopyMode::share) return;
    const Array* const before = &a.slot();
    const auto known = copies->persistents.find(before);
    a = known != copies->persistents.end() ? known->second : Persistent(copied(a));
    copies->persistents.emplace(before, a);
  };
  visit.on_state = [&](const std::string&, StateVariable& s) {
    s = StateVariable(mode == CopyMode::init ? Variable() : s.variable());
  };
  visit.on_child = [&](const std::string&, Link& child) { child.detach(mode); };
  visit_all_members(visit);
}

void Link::add_hook(std::shared_ptr<LinkHook> hook) const {
  for (const auto& known : state_->hooks)
    if (known->name() == hook->name())
      fail<ValueError>("add_hook: the link has a hook named '{}' already", hook->name());
  std::set<std::string> names;
  Visit own;
  own.on_child = [&](const std::string& name, Link&) { names.insert(name); };
  own.on_parameter = [&](const std::string& name, Parameter&) { names.insert(name); };
  own.on_persistent = [&](const std::string& name, Persistent&) { names.insert(name); };
  visit_all_members(own);
  Visit given;
  const auto check = [&](const std::string& name) {
    if (names.contains(name))
      fail<ValueError>("add_hook: '{}' would give {} a second member named '{}'", hook->name(), type_name(), name);
  };
  given.on_parameter = [&](const std::string& name, Parameter&) { check(name); };
  given.on_persistent = [&](const std::string& name, Persistent&) { check(name); };
  hook->visit_members(given);
  hook->added(this);
  state_->hooks.push_back(std::move(hook));
}
void Link::delete_hook(const std::string& name) const {
  const auto at =
      std::find_if(state_->hooks.begin(), state_->hooks.end(), [&](const auto& hook) { return hook->name() == name; });
  if (at == state_->hooks.end()) fail<ValueError>("delete_hook: the link has no hook named '{}'", name);
  (*at)->deleted(this);
  state_->hooks.erase(at);
}
const std::vector<std::shared_ptr<LinkHook>>& Link::hooks() const { return state_->hooks; }

namespace {
thread_local std::vector<std::shared_ptr<LinkHook>> thread_hooks;
}  // namespace

LinkHookScope::LinkHookScope(std::shared_ptr<LinkHook> hook) {
  for (const auto& known : thread_hooks)
    if (known->name() == hook->name()) fail<ValueError>("a hook named '{}' is registered already", hook->name());
  hook->added(nullptr);
  thread_hooks.push_back(std::move(hook));
}
LinkHookScope::~LinkHookScope() {
  thread_hooks.back()->deleted(nullptr);
  thread_hooks.pop_back();
}

void LinkTimerHook::forward_preprocess(const LinkCall&) { started_.push_back(monotonic_seconds()); }
void LinkTimerHook::forward_postprocess(const LinkCall& call) {
  const double seconds = monotonic_seconds() - started_.back();
  started_.pop_back();
  if (started_.empty()) total_ += seconds;
  const std::string type = call.link.type_name();
  for (Entry& entry : entries_) {
    if (entry.name != type) continue;
    entry.seconds += seconds;
    ++entry.calls;
    return;
  }
  entries_.push_back({type, seconds, 1});
}
void LinkTimerHook::forward_failed(const LinkCall&) noexcept { started_.pop_back(); }
double LinkTimerHook::total_time() const { return total_; }
std::string LinkTimerHook::report() const {
  std::string text = fmt::format("{:<24}{:>12}{:>12}\n", "LinkName", "ElapsedTime", "Occurrence");
  for (const Entry& entry : entries_)
    text += fmt::format("{:<24}{:>10.3f}ms{:>12}\n", entry.name, entry.seconds * 1e3, entry.calls);
  return text;
}

Variable state_rows(const Link& link, const StateVariable& state, std::int64_t n) {
  if (!state.defined()) return Variable();
  const std::int64_t known = state->ndim() > 0 ? state->shape(0) : 0;
  if (n > known)
    fail<ShapeError>("{}: x has {} rows, but the state has {}: a batch may not grow without reset_state()",
                     link.type_name(), n, known);
  return n == known ? state.variable() : functions::split_axis(state, Sections({n}), 0)[0];
}

void remember_rows(const StateVariable& state, const Variable& rows) {
  const std::int64_t n = rows.shape(0);
  if (!state.defined() || n >= state->shape(0)) {
    state = rows;
  } else {
    state = functions::concat({rows, functions::split_axis(state, Sections({n}), 0)[1]}, 0);
  }
}

namespace {
template <class E>
void throw_again(const Error& error, const std::string& text) {
  if (typeid(error) == typeid(E)) throw E(text);
}
}  // namespace

namespace detail {

void throw_in(const Link& link, const Error& error) {
  const std::string name = link.name().empty() ? "" : fmt::format(" '{}'", link.name());
  const std::string text = fmt::format("{}\n  in {}{}", error.what(), link.type_name(), name);
  throw_again<ShapeError>(error, text);
  throw_again<AxisError>(error, text);
  throw_again<ArgumentShapeError>(error, text);
  throw_again<DtypeError>(error, text);
  throw_again<IndexError>(error, text);
  throw_again<IndexCountError>(error, text);
  throw_again<EllipsisError>(error, text);
  throw_again<ValueError>(error, text);
  throw_again<NanError>(error, text);
  throw_again<OverflowError>(error, text);
  throw_again<LinAlgError>(error, text);
  throw_again<OutOfMemoryError>(error, text);
  throw_again<DeviceError>(error, text);
  throw;  // an error with more members than its text
}

bool has_hooks(const Link& link) { return !thread_hooks.empty() || !link.hooks().empty(); }

HookedCall::HookedCall(const Link& link, std::span<const Variable> inputs)
    : call_{link, inputs, {}}, hooks_(thread_hooks) {
  hooks_.insert(hooks_.end(), link.hooks().begin(), link.hooks().end());
}

void HookedCall::begin() {
  for (; begun_ < hooks_.size(); ++begun_) hooks_[begun_]->forward_preprocess(call_);
}

void HookedCall::end(std::span<const Variable> outputs) {
  call_.outputs = outputs;
  while (ended_ < hooks_.size()) hooks_[ended_++]->forward_postprocess(call_);
}

HookedCall::~HookedCall() {
  for (; ended_ < begun_; ++ended_) hooks_[ended_]->forward_failed(call_);
}

}  // namespace detail

}  // namespace catenary
