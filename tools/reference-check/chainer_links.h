#pragma once
// The links of Chainer's vectors: Chainer's names, and how to construct our links from a case's arguments.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "catenary/links/link.h"
#include "chainer_arrays.h"
#include "chainer_functions.h"

namespace reference {

/// A link and its call.
struct MadeLink {
  std::shared_ptr<catenary::Link> link;
  std::function<std::vector<Variable>(const Inputs& x)> call;
};

/// Positional arguments of a constructor.
class Positions {
 public:
  explicit Positions(const json& all) : all_(all) {}
  std::size_t size() const { return all_.size(); }
  const json& get(std::size_t i) const;
  template <class T>
  T value(std::size_t i) const {
    T to = made<T>();
    if (!read(get(i), to)) throw NotImplemented("an argument " + get(i).dump());
    return to;
  }
  std::int64_t integer(std::size_t i) const { return value<std::int64_t>(i); }

 private:
  const json& all_;
};

class LinkTable {
 public:
  using Maker = std::function<MadeLink(const Positions& args, Keywords& keywords)>;

  /// `make` returns a link with one input and one result.
  template <class Make>
  void add(const std::string& name, Make make) {
    add_called(name, make, [](const auto& link, const Inputs& x) { return std::vector<Variable>{link(x.at(0))}; });
  }
  /// `call` maps the link and its inputs to a vector of variables.
  template <class Make, class Call>
  void add_called(const std::string& name, Make make, Call call) {
    makers_[name] = [make, call](const Positions& args, Keywords& keywords) {
      using L = decltype(make(args, keywords));
      const auto link = std::make_shared<L>(make(args, keywords));
      return MadeLink{link, [link, call](const Inputs& x) { return call(*link, x); }};
    };
  }
  /// Throws NotImplemented for unknown names.
  const Maker& find(const std::string& name) const;

 private:
  std::map<std::string, Maker> makers_;
};

/// Convolutional and recurrent links have separate files.
void add_links(LinkTable& table);
void add_convolution_links(LinkTable& table);
void add_rnn_links(LinkTable& table);

/// Runs a case of "links": sets parameters and persistent arrays, calls the link as often as the case says, and
/// compares results, gradients and persistent arrays.
void check_link(const json& entry, const LinkTable& table, const Vectors& vectors);

}  // namespace reference
