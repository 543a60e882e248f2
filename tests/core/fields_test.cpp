// Structs with named members, and enumerators by name.

#include "catenary/core/fields.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/autograd/attributes.h"
#include "catenary/functions/loss.h"
#include "catenary/functions/normalization.h"
#include "catenary/functions/pooling.h"
#include "tests/paths.h"

namespace fields_test {

struct Two {
  int first = 1;
  std::optional<double> second_ = {};
};
CT_FIELDS(Two, first, second_)
struct Three : Two {
  int third = 3;
};

template <class T>
concept Visited = requires(T& value) {
  visit_fields(value, [](const std::string&, auto&) {});
};

}  // namespace fields_test

namespace {

namespace F = catenary::functions;
using fields_test::Two;

template <class T>
std::vector<std::string> names(T&& value) {
  std::vector<std::string> all;
  visit_fields(value, [&](const std::string& name, const auto&) { all.push_back(name); });
  return all;
}
using Names = std::vector<std::string>;

TEST(Fields, AreSeenAndSetByTheirNames) {
  Two two;
  EXPECT_EQ(names(two), (Names{"first", "second"}));
  EXPECT_EQ(names(std::as_const(two)), (Names{"first", "second"}));
  EXPECT_EQ(names(Two{}), (Names{"first", "second"}));
  visit_fields(two, [](const std::string& name, auto& member) {
    if (name == "second") member = 2;
  });
  EXPECT_EQ(two.first, 1);
  EXPECT_EQ(two.second_, 2.0);
}

TEST(Fields, OfABaseAreNotThoseOfWhatIsDerivedFromIt) {
  static_assert(fields_test::Visited<Two> && fields_test::Visited<const Two>);
  static_assert(!fields_test::Visited<fields_test::Three>);
  EXPECT_EQ(names(F::BatchRenormalizationOptions()),
            (Names{"eps", "running_mean", "running_var", "decay", "axis", "mean_over_processes", "update_statistics"}));
  F::BatchRenormalizationOptions options;
  visit_fields(options, []<class T>(const std::string& name, T& member) {
    if constexpr (std::is_same_v<T, double>) member = name == "eps" ? 1e-3 : 0.5;
    if constexpr (std::is_same_v<T, bool>) member = true;
  });
  EXPECT_EQ(options.eps, 1e-3);
  EXPECT_EQ(options.decay, 0.5);
  EXPECT_TRUE(options.update_statistics);
}

TEST(Fields, OptionsStayAggregates) {
  const F::MaxPoolingOptions options{.stride = 2, .cover_all = false};
  EXPECT_EQ(names(options), (Names{"stride", "pad", "cover_all", "return_indices"}));
}

TEST(Fields, EnumeratorsHaveNames) {
  namespace detail = catenary::detail;
  EXPECT_EQ(detail::enumerator_of(F::Reduce::half_squared_sum), "half_squared_sum");
  EXPECT_EQ(detail::enumerator_named<F::Reduce>("no"), F::Reduce::no);
  EXPECT_EQ(detail::enumerator_named<F::Reduce>("none"), std::nullopt);
  EXPECT_EQ(detail::enumerator_named<F::Reduce>(""), std::nullopt);
}

/// Covers every options struct of a function, a link or an optimizer.
TEST(Fields, OfAllOptionsAreNamed) {
  const std::regex declared("^struct (\\w*Options)\\b"), named("^CT_(?:FIELDS|MORE_FIELD)\\((\\w+)\\b");
  int count = 0;
  for (const char* folder : {"functions", "links", "optimizers"}) {
    std::map<std::string, bool> options;
    for (const auto& entry :
         std::filesystem::directory_iterator(tests::source_path("catenary/" + std::string(folder)))) {
      if (entry.path().extension() != ".h") continue;
      std::ifstream file(entry.path());
      std::smatch found;
      for (std::string line; std::getline(file, line);) {
        if (std::regex_search(line, found, declared)) options[found[1]];
        if (std::regex_search(line, found, named)) options[found[1]] = true;
      }
    }
    for (const auto& [name, known] : options) EXPECT_TRUE(known) << folder << ": " << name << " has no CT_FIELDS";
    count += static_cast<int>(options.size());
  }
  EXPECT_GE(count, 50);
}

}  // namespace
