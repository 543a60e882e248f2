#pragma once
// A single type for all links that can be called with Variables, used by optimizers, evaluators and Sequential.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catenary/links/link.h"

namespace catenary {

/// The columns of a minibatch: arrays in order, with names if the examples were dictionaries.
class CT_API Batch {
 public:
  Batch() = default;
  Batch(std::vector<Variable> values) : values_(std::move(values)) {}
  Batch(std::vector<Variable> values, std::vector<std::string> names)
      : values_(std::move(values)), names_(std::move(names)) {}
  /// Returns the number of columns: 2 for inputs and labels.
  int columns() const { return static_cast<int>(values_.size()); }
  /// Returns the number of examples, the length of the first column's first axis. Throws ValueError if there are no
  /// columns, or if the first column is 0-d.
  std::int64_t examples() const;
  int size() const = delete;  // ambiguous: columns() or examples()?
  const Variable& operator[](int i) const { return values_.at(static_cast<std::size_t>(i)); }
  /// Returns a column by name. Throws IndexError that lists the names.
  const Variable& operator[](const std::string& name) const;
  const std::vector<Variable>& values() const { return values_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<Variable> values_;
  std::vector<std::string> names_;
};

namespace detail {
/// Whether a link has operator(), or Chainer's forward, for these arguments.
template <class L, class... V>
concept HasForward = requires(L& link, V... v) {
  link.forward(v...);
};
template <class L, class... V>
inline constexpr bool is_callable = std::is_invocable_v<L&, V...> || HasForward<L, V...>;
/// Calls operator(), or forward if there is no operator().
template <class L, class... V>
decltype(auto) call_link(L& link, const V&... v) {
  if constexpr (std::is_invocable_v<L&, const V&...>) {
    return link(v...);
  } else {
    return link.forward(v...);
  }
}
}  // namespace detail

/// A link with its call. The link's operator() (or `forward`, as in Chainer) takes 1 to 8 Variables or a Batch. It
/// returns a Variable, or a result that is ignored. A handle.
class CT_API Model {
 public:
  Model() = default;
  template <std::derived_from<Link> L>
  Model(const L& link) : holder_(std::make_shared<Holder<L>>(link)) {}

  bool defined() const { return holder_ != nullptr; }
  Link& link() const;
  /// Calls the link. Throws ValueError if the number of arguments is wrong, with both numbers, or if the link has no
  /// operator().
  Variable operator()(const Batch& batch) const;
  template <class... X>
  requires(std::convertible_to<X, Variable>&&...) Variable operator()(const X&... x) const {
    return (*this)(Batch(std::vector<Variable>{Variable(x)...}));
  }
  /// Returns a model with a copy of the link.
  Model copy(CopyMode mode) const;
  void serialize(Serializer& serializer) const { link().serialize(serializer); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual Link& link() = 0;
    virtual Variable call(const Batch& batch) = 0;
    virtual std::shared_ptr<Base> copy(CopyMode mode) const = 0;
  };
  [[noreturn]] static void wrong_arity(const Link& link, int given, const std::string& taken);

  template <class L>
  struct Holder : Base {
    explicit Holder(const L& l) : object(l) {}
    Link& link() override { return object; }
    std::shared_ptr<Base> copy(CopyMode mode) const override {
      if constexpr (std::is_copy_constructible_v<L>) {
        return std::make_shared<Holder<L>>(copy_link(object, mode));
      }
    }
    Variable call(const Batch& batch) override {
      if constexpr (detail::is_callable<L, const Batch&>) {
        return result([&] { return detail::call_link(object, batch); });
      } else {
        return call_with<1>(batch);
      }
    }
    template <class F>
    static Variable result(F&& f) {
      if constexpr (std::is_convertible_v<decltype(f()), Variable>) {
        return f();
      } else {
        f();
        return Variable();
      }
    }
    template <int N, class... V>
    Variable call_with(const Batch& batch, const V&... so_far) {
      if constexpr (N <= 8) {
        const auto next = [&]() -> Variable { return call_with<N + 1>(batch, so_far..., Variable()); };
        if constexpr (detail::is_callable<L, V..., const Variable&>) {
          if (batch.columns() == N) return invoke(batch, std::make_index_sequence<N>());
        }
        return next();
      } else {
        wrong_arity(object, batch.columns(), arities());
      }
    }
    template <std::size_t... I>
    Variable invoke(const Batch& batch, std::index_sequence<I...>) {
      return result([&] { return detail::call_link(object, batch[static_cast<int>(I)]...); });
    }
    template <std::size_t N>
    using Nth = const Variable&;
    template <std::size_t... I>
    static constexpr bool takes(std::index_sequence<I...>) {
      return detail::is_callable<L, Nth<I>...>;
    }
    template <std::size_t... N>
    static std::string list(std::index_sequence<N...>) {
      std::string text;
      ((takes(std::make_index_sequence<N + 1>()) ? void(text += (text.empty() ? "" : " or ") + std::to_string(N + 1))
                                                 : void()),
       ...);
      return text;
    }
    static std::string arities() { return list(std::make_index_sequence<8>()); }
    L object;
  };

  explicit Model(std::shared_ptr<Base> holder) : holder_(std::move(holder)) {}
  std::shared_ptr<Base> holder_;
};

}  // namespace catenary
