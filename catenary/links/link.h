#pragma once
// links/: layers. A Link holds parameters and persistent arrays, a Chain also other links; both know all of them by
// name and path, move and serialise them. Optimizers, datasets and training may not come in.
//
// A link's parameters and persistent arrays are handles (Parameter, Persistent): a C++ copy of a link shares them, and
// is the same link to hooks and reporters. `link.copy(CopyMode::copy)` makes another.

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

/// What a copy of a link shares with it. (chainer.Link.copy)
enum class CopyMode {
  share,  ///< parameters and persistent arrays, as a C++ copy does; but it is another link
  copy,   ///< nothing: parameters and persistent arrays are copied
  init,   ///< nothing: parameters are initialised anew
};

/// Sees the members of a link, in the order of CT_LINKS.
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
  /// A child that some objects of a class do not have.
  template <std::derived_from<Link> L>
  void operator()(const std::string& name, std::optional<L>& link) {
    if (link) child(name, *link);
  }
  /// Several in a row, as "blocks/0", "blocks/1", …: the paths of a ChainList that is called so.
  template <class M>
  void operator()(const std::string& name, std::vector<M>& all) {
    each(name, all);
  }
  template <class M, std::size_t n>
  void operator()(const std::string& name, std::array<M, n>& all) {
    each(name, all);
  }
  /// A plain array would not follow when another C++ copy of the link is moved: make it a Persistent.
  void operator()(const std::string& name, Array& a) = delete;
  /// A plain variable would be known to no evaluation, snapshot and F::forget(): make it a StateVariable.
  void operator()(const std::string& name, Variable& v) = delete;

 private:
  void each(const std::string& name, auto& all) {
    std::size_t i = 0;
    for (auto& member : all) (*this)(name + "/" + std::to_string(i++), member);
  }
};

namespace detail {
/// A link's place in memory, known while the link lives: so a chain finds links among its members that CT_LINKS does
/// not name.
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

  /// Shows the visitor this link's parameters, persistent arrays and children. CT_LINKS writes it.
  virtual void visit_members(MemberVisitor& visitor) const;
  /// The same, and before them what this link's hooks give it (LinkHook::visit_members).
  void visit_all_members(MemberVisitor& visitor) const;

  /// Own parameters and those of all links below; by default also those that are not initialised. (chainer.Link.params)
  std::vector<Parameter> params(bool include_uninit = true) const;
  /// The same with paths such as "/l1/W".
  std::vector<std::pair<std::string, Parameter>> namedparams(bool include_uninit = true) const;
  /// Persistent arrays with paths. (values that are saved but not learnt)
  std::vector<std::pair<std::string, Array>> namedpersistents() const;
  /// Calls f for this link ("/") and all links below, with their paths. (chainer.Link.namedlinks)
  void for_each_link(const std::function<void(const std::string& path, const Link& link)>& f) const;
  /// Names of the direct children.
  std::vector<std::string> children() const;
  /// Number of elements of all initialised parameters.
  std::int64_t count_params() const;

  /// Forgets all gradients. (chainer.Link.cleargrads)
  void cleargrads() const;
  void zerograds() const;
  /// Copies parameters (and persistents) of a link of the same structure; adds its gradients. Throws ValueError when
  /// the structures differ, ShapeError when shapes do, and then changes nothing.
  void copyparams(const Link& from, bool copy_persistent = true) const;
  void addgrads(const Link& from) const;
  /// Moves everything (what links remember, too) to a device, in place: for all C++ copies of this link.
  void to_device(const Device& device) const;
  void to_cpu() const { to_device(Device()); }
  void to_gpu(int index = 0) const { to_device(get_device("gpu:" + std::to_string(index))); }
  /// Lets optimizers update the parameters below, or not. (chainer.Link.enable_update)
  void enable_update() const;
  void disable_update() const;
  bool update_enabled() const;

  /// Saves or loads parameters and persistents under their names.
  void serialize(Serializer& serializer) const;

  /// Saves or loads what the links remember (StateVariable), which serialize() leaves out: a training that is resumed
  /// goes on from there. What was not saved is forgotten.
  void serialize_state(const Serializer& serializer) const;

  /// The name under which the parent knows this link; empty at the top.
  const std::string& name() const;
  /// Class name for reports and hooks; "Link" unless a class says otherwise.
  virtual std::string type_name() const;

  /// Hooks run around each call of this link (library links, Sequential and call()); copies of the link have copies of
  /// them. Throws ValueError for a second hook of one name, and for one whose members have names that are taken.
  void add_hook(std::shared_ptr<LinkHook> hook) const;
  /// Throws ValueError when there is none of the name.
  void delete_hook(const std::string& name) const;
  const std::vector<std::shared_ptr<LinkHook>>& hooks() const;

  /// Equal for C++ copies of one link, different for all others.
  const void* identity() const { return state_.get(); }

  /// Throws ValueError when this link, or one below, has a Parameter as a member that CT_LINKS does not name, or a link
  /// whose parameters may be updated (disable_update() says that they are not to be): it would never be trained, saved
  /// or moved. Known of members that lie in the object itself. Optimizer::setup calls it.
  void check_members() const;

  /// Internal: see copy_link and CT_LINKS.
  virtual void detach(CopyMode mode);
  virtual void ct_links_is_here_once() const {}
  virtual std::span<const std::byte> ct_links_extent() const;
  void set_name(std::string name) const;

 protected:
  /// Saves or loads one of the link's own members: serialize() calls it for each.
  virtual void serialize_member(const Serializer& serializer, const std::string& name, Parameter& parameter) const;
  virtual void serialize_member(const Serializer& serializer, const std::string& name, Persistent& array) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A link made of links. (chainer.Chain)
class CT_API Chain : public Link {
 public:
  std::string type_name() const override;
};

/// Another link with the same structure. (chainer.Link.copy)
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

/// Names the links, parameters, persistent arrays and states that are members of a class, by their identifiers:
/// `CT_LINKS(l1, l2)` for a Chain's children, `CT_LINKS(W, b, mean)` for a Link's Parameters and Persistents. A
/// std::vector or std::array of one of these is named like one member, and a std::optional link may be missing. In a
/// class derived from one that has CT_LINKS use CT_MORE_LINKS(Base, …), which keeps the base's; CT_LINKS there does not
/// compile.
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

/// What a hook sees of a call.
struct LinkCall {
  const Link& link;
  std::span<const Variable> inputs;
  std::span<const Variable> outputs;  ///< empty before the call
};

/// Runs around calls of links. Register it for a thread by LinkHookScope, or for one link by add_hook.
/// (chainer.LinkHook)
class CT_API LinkHook {
 public:
  virtual ~LinkHook();
  virtual std::string name() const = 0;
  virtual void forward_preprocess(const LinkCall&) {}
  virtual void forward_postprocess(const LinkCall&) {}
  /// In place of forward_postprocess when the call, or the preprocessing of a hook, has thrown.
  virtual void forward_failed(const LinkCall&) noexcept {}
  /// When the hook is added to a link, or taken away from it; null stands for all links of a thread (LinkHookScope).
  virtual void added(const Link*) {}
  virtual void deleted(const Link*) noexcept {}
  /// Shows what the hook gives its link: it is saved, moved, learnt and copied with the link's own members.
  virtual void visit_members(MemberVisitor&) {}
  /// Another hook for a copy of the link; null where one hook serves both.
  virtual std::shared_ptr<LinkHook> copy() const { return nullptr; }
};

/// Has a hook see all calls of the thread until the end of the scope.
class CT_API LinkHookScope {
 public:
  explicit LinkHookScope(std::shared_ptr<LinkHook> hook);
  ~LinkHookScope();
  LinkHookScope(const LinkHookScope&) = delete;
  LinkHookScope& operator=(const LinkHookScope&) = delete;
};

/// Sums up the time of each link's calls. (chainer.link_hooks.TimerHook)
class CT_API LinkTimerHook : public LinkHook {
 public:
  std::string name() const override { return "LinkTimerHook"; }
  void forward_preprocess(const LinkCall& call) override;
  void forward_postprocess(const LinkCall& call) override;
  void forward_failed(const LinkCall& call) noexcept override;
  /// Seconds of all outermost calls.
  double total_time() const;
  /// A table of the calls by class: time and number.
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
/// Are there hooks to run for this link? Cheap when there are none.
CT_API bool has_hooks(const Link& link);

/// A call of a link with hooks around it, the thread's first.
class CT_API HookedCall {
 public:
  HookedCall(const Link& link, std::span<const Variable> inputs);
  /// Hooks that have begun and not ended are told that the call failed.
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

/// In a handler of the error: throws one of the same class that names the link, too.
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
/// What hooks see of arguments and results: Variables, lists and pairs.
template <class... X>
std::vector<Variable> variables_of(const X&... values) {
  std::vector<Variable> all;
  (collect(all, values), ...);
  return all;
}
}  // namespace detail

/// Runs `f()`, which computes the link's output from the inputs, with the hooks around it. Inputs and output are
/// Variables, lists of them, or pairs. An error says in which link it was met.
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
