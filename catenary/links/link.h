#pragma once
// links/: layers. A Link holds parameters and persistent arrays. A Chain also holds other links. Both know their
// members by name and path, move them between devices and serialise them. links/ must not include optimizers, datasets
// or training.
//
// A link's parameters and persistent arrays are handles (Parameter, Persistent). A C++ copy of a link shares them, and
// hooks and reporters treat the copy as the original link. Use `link.copy(CopyMode::copy)` for an independent link.

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/autograd/parameter.h"
#include "catenary/core/fields.h"
#include "catenary/links/persistent.h"
#include "catenary/serializers/serializer.h"

namespace catenary {

class Link;
class LinkHook;

/// How a copy of a link relates to the original. (chainer.Link.copy)
enum class CopyMode {
  share,  ///< a new link that shares parameters and persistent arrays
  copy,   ///< copies parameters and persistent arrays
  init,   ///< copies persistent arrays and initialises parameters again
};

/// Visits the members of a link, in the order of CT_LINKS.
class CT_API MemberVisitor {
 public:
  virtual ~MemberVisitor();
  virtual void child(const std::string& name, Link& link) = 0;
  virtual void parameter(const std::string& name, Parameter& parameter) = 0;
  virtual void persistent(const std::string& name, Persistent& array) = 0;
  virtual void state(const std::string& name, StateVariable& state);

  void operator()(const std::string& name, Link& link) { child(name, link); }
  void operator()(const std::string& name, Parameter& p) { parameter(name, p); }
  void operator()(const std::string& name, Persistent& a) { persistent(name, a); }
  void operator()(const std::string& name, StateVariable& s) { state(name, s); }
  /// A child that only some objects of a class have.
  template <std::derived_from<Link> L>
  void operator()(const std::string& name, std::optional<L>& link) {
    if (link) child(name, *link);
  }
  /// Several children, named "blocks/0", "blocks/1", … like those of a ChainList.
  template <class M>
  void operator()(const std::string& name, std::vector<M>& all) {
    each(name, all);
  }
  template <class M, std::size_t n>
  void operator()(const std::string& name, std::array<M, n>& all) {
    each(name, all);
  }
  /// Use a Persistent: a plain array would stay behind when another C++ copy of the link is moved.
  void operator()(const std::string& name, Array& a) = delete;
  /// Use a StateVariable: evaluation, snapshots and F::forget() would not know a plain variable.
  void operator()(const std::string& name, Variable& v) = delete;

 private:
  void each(const std::string& name, auto& all) {
    std::size_t i = 0;
    for (auto& member : all) (*this)(name + "/" + std::to_string(i++), member);
  }
};

namespace detail {
/// A link's address, registered while the link lives. Lets a chain find member links that CT_LINKS does not name.
class CT_API LinkPlace {
 protected:
  LinkPlace();
  LinkPlace(const LinkPlace&) : LinkPlace() {}
  LinkPlace& operator=(const LinkPlace&) { return *this; }
  ~LinkPlace();
};
}  // namespace detail

/// Base of all layers. (chainer.Link)
class CT_API Link : private detail::LinkPlace {
 public:
  Link();
  Link(const Link&) = default;
  Link(Link&&) = default;
  Link& operator=(const Link&) = default;
  Link& operator=(Link&&) = default;
  virtual ~Link();

  /// Passes this link's parameters, persistent arrays and children to the visitor. CT_LINKS defines it.
  virtual void visit_members(MemberVisitor& visitor) const;
  /// Visits the members that hooks add (LinkHook::visit_members), then those of visit_members().
  void visit_all_members(MemberVisitor& visitor) const;

  /// Returns the parameters of this link and of all links below, by default also uninitialised ones.
  /// (chainer.Link.params)
  std::vector<Parameter> params(bool include_uninit = true) const;
  /// Returns params() with paths such as "/l1/W".
  std::vector<std::pair<std::string, Parameter>> namedparams(bool include_uninit = true) const;
  /// Returns persistent arrays, which are saved but not learnt, with their paths.
  std::vector<std::pair<std::string, Array>> namedpersistents() const;
  /// Calls f for this link ("/") and all links below, with their paths. (chainer.Link.namedlinks)
  void for_each_link(const std::function<void(const std::string& path, const Link& link)>& f) const;
  /// Returns the names of the direct children.
  std::vector<std::string> children() const;
  /// Returns the number of elements of all initialised parameters.
  std::int64_t count_params() const;

  /// Drops all gradients. (chainer.Link.cleargrads)
  void cleargrads() const;
  void zerograds() const;
  /// Copy parameters (and persistents), or add the gradients, of a link of the same structure. Throw ValueError if the
  /// structures differ and ShapeError if shapes differ, before changing anything.
  void copyparams(const Link& from, bool copy_persistent = true) const;
  void addgrads(const Link& from) const;
  /// Moves parameters, persistent arrays and remembered states to a device, in place: all C++ copies of this link move.
  void to_device(const Device& device) const;
  void to_cpu() const { to_device(Device()); }
  void to_gpu(int index = 0) const { to_device(get_device("gpu:" + std::to_string(index))); }
  /// Enables or disables optimizer updates of all parameters below. (chainer.Link.enable_update)
  void enable_update() const;
  void disable_update() const;
  bool update_enabled() const;

  /// Saves or loads parameters and persistents under their names.
  void serialize(Serializer& serializer) const;

  /// Saves or loads the states that links remember (StateVariable), which serialize() leaves out, so that training can
  /// be resumed. Loading clears states that were not saved.
  void serialize_state(const Serializer& serializer) const;

  /// The name of this link in its parent. Empty at the top.
  const std::string& name() const;
  /// The class name for reports and hooks, "Link" unless overridden.
  virtual std::string type_name() const;

  /// Adds a hook that runs around each call of this link (library links, Sequential and call()). Copies of the link get
  /// copies of the hook. Throws ValueError if the link already has a hook of this name, or members with the names of
  /// the hook's members.
  void add_hook(std::shared_ptr<LinkHook> hook) const;
  /// Removes a hook. Throws ValueError if the link has no hook of this name.
  void delete_hook(const std::string& name) const;
  const std::vector<std::shared_ptr<LinkHook>>& hooks() const;

  /// An identifier that C++ copies of a link share, and no other link has.
  const void* identity() const { return state_.get(); }

  /// Throws ValueError if this link, or a link below, has a member that CT_LINKS does not name: a Parameter, or a link
  /// with updatable parameters (call disable_update() on it to allow that). Such a member would never be trained, saved
  /// or moved. Finds only members inside the object itself. Called by Optimizer::setup.
  void check_members() const;

  /// Internal: see copy_link and CT_LINKS.
  virtual void detach(CopyMode mode);
  virtual void ct_links_is_here_once() const {}
  virtual std::span<const std::byte> ct_links_extent() const;
  void set_name(std::string name) const;

 protected:
  /// Saves or loads a member of the link itself. serialize() calls it for each member.
  virtual void serialize_member(const Serializer& serializer, const std::string& name, Parameter& parameter) const;
  virtual void serialize_member(const Serializer& serializer, const std::string& name, Persistent& array) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A link that contains other links. (chainer.Chain)
class CT_API Chain : public Link {
 public:
  std::string type_name() const override;
};

/// Returns another link with the same structure. (chainer.Link.copy)
template <std::derived_from<Link> L>
L copy_link(const L& link, CopyMode mode) {
  L result = link;
  result.detach(mode);
  return result;
}

namespace detail {
template <class... M>
void visit_all(MemberVisitor& visitor, const std::vector<std::string>& names, const M&... members) {
  std::size_t i = 0;
  (visitor(names[i++], const_cast<M&>(members)), ...);
}
}  // namespace detail

/// Names the members of a class by their identifiers: `CT_LINKS(l1, l2)` for a Chain's children, `CT_LINKS(W, b, mean)`
/// for a Link's parameters, persistent arrays and states. Members may also be std::vector or std::array of these, and
/// std::optional links. In a class derived from a class with CT_LINKS use CT_MORE_LINKS(Base, …), which keeps the
/// base's members; CT_LINKS does not compile there.
#define CT_LINKS(...)                         \
  void ct_links_is_here_once() const final {} \
  CT_MORE_LINKS_OF_(::catenary::Link::visit_members(visitor), __VA_ARGS__)
#define CT_MORE_LINKS(Base, ...) CT_MORE_LINKS_OF_(Base::visit_members(visitor), __VA_ARGS__)
#define CT_MORE_LINKS_OF_(base, ...)                                                             \
  void visit_members(::catenary::MemberVisitor& visitor) const override {                        \
    base;                                                                                        \
    static const std::vector<std::string> names = ::catenary::detail::split_names(#__VA_ARGS__); \
    ::catenary::detail::visit_all(visitor, names, __VA_ARGS__);                                  \
  }                                                                                              \
  std::span<const std::byte> ct_links_extent() const override {                                  \
    return {reinterpret_cast<const std::byte*>(this), sizeof(*this)};                            \
  }                                                                                              \
  auto copy(::catenary::CopyMode mode = ::catenary::CopyMode::share) const {                     \
    return ::catenary::copy_link(*this, mode);                                                   \
  }

/// A call, as hooks see it.
struct LinkCall {
  const Link& link;
  std::span<const Variable> inputs;
  std::span<const Variable> outputs;  ///< empty before the call
};

/// Runs code around calls of links. Register it for a thread with LinkHookScope, or for one link with add_hook.
/// (chainer.LinkHook)
class CT_API LinkHook {
 public:
  virtual ~LinkHook();
  virtual std::string name() const = 0;
  virtual void forward_preprocess(const LinkCall&) {}
  virtual void forward_postprocess(const LinkCall&) {}
  /// Called instead of forward_postprocess if the call, or a hook's preprocessing, has thrown.
  virtual void forward_failed(const LinkCall&) noexcept {}
  /// Called when the hook is added to (removed from) a link. Null stands for all links of a thread (LinkHookScope).
  virtual void added(const Link*) {}
  virtual void deleted(const Link*) noexcept {}
  /// Visits members that the hook adds to its link. They are saved, moved, learnt and copied with the link.
  virtual void visit_members(MemberVisitor&) {}
  /// Returns another hook for a copy of the link, or null if the copy uses this hook, too.
  virtual std::shared_ptr<LinkHook> copy() const { return nullptr; }
};

/// Registers a hook for all calls of the thread until the end of the scope.
class CT_API LinkHookScope {
 public:
  explicit LinkHookScope(std::shared_ptr<LinkHook> hook);
  ~LinkHookScope();
  LinkHookScope(const LinkHookScope&) = delete;
  LinkHookScope& operator=(const LinkHookScope&) = delete;
};

/// Adds up the time of each link's calls. (chainer.link_hooks.TimerHook)
class CT_API LinkTimerHook : public LinkHook {
 public:
  std::string name() const override { return "LinkTimerHook"; }
  void forward_preprocess(const LinkCall& call) override;
  void forward_postprocess(const LinkCall& call) override;
  void forward_failed(const LinkCall& call) noexcept override;
  /// Returns the seconds spent in outermost calls.
  double total_time() const;
  /// Returns a table of calls by class, with time and number.
  std::string report() const;

 private:
  struct Entry {
    std::string name;
    double seconds = 0;
    std::int64_t calls = 0;
  };
  std::vector<double> started_;
  std::vector<Entry> entries_;
  double total_ = 0;
};

namespace detail {
/// Whether any hooks run for this link. Cheap if there are none.
CT_API bool has_hooks(const Link& link);

/// Runs hooks around a call, the thread's hooks first.
class CT_API HookedCall {
 public:
  HookedCall(const Link& link, std::span<const Variable> inputs);
  /// Reports a failed call to hooks that have begun and not ended.
  ~HookedCall();
  HookedCall(const HookedCall&) = delete;
  HookedCall& operator=(const HookedCall&) = delete;
  void begin();
  void end(std::span<const Variable> outputs);

 private:
  LinkCall call_;
  std::vector<std::shared_ptr<LinkHook>> hooks_;
  std::size_t begun_ = 0, ended_ = 0;
};

/// In a handler of `error`, throws an error of the same class that also names the link.
[[noreturn]] CT_API void throw_in(const Link& link, const Error& error);

inline void collect(std::vector<Variable>& all, const Variable& v) { all.push_back(v); }
inline void collect(std::vector<Variable>& all, const std::vector<Variable>& vs) {
  all.insert(all.end(), vs.begin(), vs.end());
}
template <class A, class B>
void collect(std::vector<Variable>& all, const std::pair<A, B>& values) {
  collect(all, values.first);
  collect(all, values.second);
}
/// Collects arguments and results for hooks: Variables, lists and pairs.
template <class... X>
std::vector<Variable> variables_of(const X&... values) {
  std::vector<Variable> all;
  (collect(all, values), ...);
  return all;
}
}  // namespace detail

/// Runs `f()`, which computes the link's output from the inputs, with hooks around it. Inputs and output are Variables,
/// lists of them, or pairs. Errors name the link.
template <class F, class... X>
auto hooked(const Link& link, F&& f, const X&... inputs) {
  try {
    if (!detail::has_hooks(link)) return f();
    const std::vector<Variable> in = detail::variables_of(inputs...);
    detail::HookedCall call(link, in);
    call.begin();
    auto result = f();
    call.end(detail::variables_of(result));
    return result;
  } catch (const Error& error) {
    detail::throw_in(link, error);
  }
}

}  // namespace catenary
