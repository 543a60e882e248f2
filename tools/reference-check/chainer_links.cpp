// Chainer's vectors of links, and entries of links that are neither convolutional nor recurrent.

#include "chainer_links.h"

#include <fmt/format.h>

#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/config.h"
#include "catenary/functions/math_reduction.h"
#include "catenary/links/connection.h"
#include "catenary/links/loss.h"
#include "catenary/links/normalization.h"
#include "chainer_arrays.h"

namespace reference {

namespace ct = catenary;
namespace L = catenary::links;
using ct::Dtype;

const json& Positions::get(std::size_t i) const {
  if (i >= all_.size()) throw NotImplemented(fmt::format("{} arguments", all_.size()));
  return all_[i];
}

const LinkTable::Maker& LinkTable::find(const std::string& name) const {
  const auto found = makers_.find(name);
  if (found == makers_.end()) throw NotImplemented("no link " + name);
  return found->second;
}

void add_links(LinkTable& table) {
  table.add("Linear", [](const Positions& a, Keywords&) { return L::Linear(a.integer(0), a.integer(1)); });
  table.add("Maxout",
            [](const Positions& a, Keywords&) { return L::Maxout(a.integer(0), a.integer(1), a.integer(2)); });
  table.add("Highway", [](const Positions& a, Keywords&) { return L::Highway(a.integer(0)); });
  table.add("Swish", [](const Positions& a, Keywords&) { return L::Swish(ct::Shape{a.integer(0)}); });
  table.add("BatchNormalization", [](const Positions& a, Keywords&) { return L::BatchNormalization(a.integer(0)); });
  table.add("BatchRenormalization",
            [](const Positions& a, Keywords&) { return L::BatchRenormalization(a.integer(0)); });
  // the scores of all times, then the labels of all times
  table.add_called(
      "CRF1d", [](const Positions& a, Keywords&) { return L::CRF1d(a.integer(0)); },
      [](const L::CRF1d& link, const Inputs& x) {
        const auto half = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
        return std::vector<Variable>{link(Inputs(x.begin(), half), Inputs(half, x.end()))};
      });
}

namespace {

constexpr Tolerance kDoubleStates = {1e-9, 1e-10}, kSingleStates = {1e-3, 1e-4};

/// The keys of arrays for paths below a prefix, such as "p/W".
std::vector<std::string> paths(const ct::io::NpzReader& file, const std::string& prefix) {
  std::vector<std::string> found;
  for (const std::string& key : file.names())
    if (key.starts_with(prefix + "/")) found.push_back(key.substr(prefix.size()));
  return found;
}

class LinkCase {
 public:
  LinkCase(const json& entry, const LinkTable& table, const Vectors& vectors) : entry_(entry), vectors_(vectors) {
    Keywords keywords(entry.at("kwargs"));
    made_ = table.find(entry.at("class"))(Positions(entry.at("args")), keywords);
    keywords.check_all_used();
  }

  void run() {
    set_members();
    Inputs inputs;  // of all calls
    std::vector<std::string> names;
    Variable total;
    for (int k = 0; k < entry_.at("calls").get<int>(); ++k) {
      Inputs x;
      for (int i = 0; vectors_.contains(fmt::format("x{}_{}", k, i)); ++i) {
        names.push_back(fmt::format("x{}_{}", k, i));
        const Array a = vectors_.given(names.back());
        x.push_back(ct::is_floating(a.dtype()) ? Variable(a) : ct::as_variable(a));
      }
      inputs.insert(inputs.end(), x.begin(), x.end());
      const std::vector<Variable> y = made_.call(x);
      for (std::size_t i = 0; i < y.size(); ++i) {
        const std::string place = fmt::format("y{}_{}", k, i);
        compare(place, y[i].array(), Part::value);
        const Variable part = ct::functions::sum(y[i] * vectors_.given("g" + place));
        total = total.defined() ? total + part : part;
      }
      if (vectors_.contains(fmt::format("y{}_{}", k, y.size())))
        throw Mismatch(fmt::format("got {} results, expected more", y.size()));
    }
    total.backward();
    for (const auto& [path, parameter] : made_.link->namedparams())
      compare_gradient("gp" + path, parameter.defined() ? parameter.grad() : Array());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].requires_grad()) compare_gradient("g" + names[i], inputs[i].grad());
    for (const auto& [path, array] : made_.link->namedpersistents())
      if (vectors_.contains("after" + path)) compare("after" + path, array, Part::value);
  }

 private:
  void compare(const std::string& key, const Array& got, Part part) const {
    vectors_.compare(key, got, part, vectors_.dtype() == Dtype::float64 ? kDoubleStates : kSingleStates);
  }

  /// Sets all parameters and persistent arrays from the file, and checks that each exists with the same shape.
  void set_members() {
    std::vector<std::string> expected = paths(vectors_.file(), "p");
    const auto known = [&](const std::string& path) { return std::erase(expected, path) > 0; };
    for (const auto& [path, parameter] : made_.link->namedparams()) {
      if (!parameter.defined()) continue;
      if (!known(path)) throw Mismatch("a parameter that should not be there: " + path);
      const Array values = vectors_.given("p" + path);
      parameter.initialize(values.shape());
      ct::copyto(parameter.array(), values);
      parameter.cleargrad();
    }
    for (const auto& [path, array] : made_.link->namedpersistents())
      if (known(path)) ct::copyto(array, vectors_.given("p" + path));
    if (!expected.empty()) throw Mismatch("there is no " + expected.front());
  }

  void compare_gradient(const std::string& key, const Array& got) const {
    if (vectors_.contains(key)) return compare(key, got, Part::gradient);
    if (got.defined() && got.any()) throw Mismatch("unexpected gradient " + key);
  }

  const json& entry_;
  const Vectors& vectors_;
  MadeLink made_;
};

}  // namespace

void check_link(const json& entry, const LinkTable& table, const Vectors& vectors) {
  const auto train = ct::using_config(ct::config.train, entry.at("train").get<bool>());
  const auto default_dtype = ct::using_config(ct::config.dtype, vectors.dtype());
  LinkCase(entry, table, vectors).run();
}

}  // namespace reference
