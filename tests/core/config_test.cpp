// The settings of a thread. The tests cover all settings.

#include "catenary/core/config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/core/os/process.h"

namespace catenary {
namespace {

using detail::Setting;

struct Row {
  const char* name;
  Setting setting;
  std::uint8_t other;  // differs from the global value
};

std::vector<Row> rows() {
  std::vector<Row> all;
  const auto add = [&](const char* name, Setting s, bool is_dtype) {
    const std::uint8_t now = detail::global_setting(s);
    const auto wide = static_cast<std::uint8_t>(Dtype::float64), narrow = static_cast<std::uint8_t>(Dtype::float32);
    all.push_back({name, s, is_dtype ? (now == wide ? narrow : wide) : static_cast<std::uint8_t>(!now)});
  };
#define CT_SETTING(type, name, initial) add(#name, Setting::name, std::is_same_v<type, Precision>);
#include "catenary/core/settings.def"
#undef CT_SETTING
  return all;
}

/// Prints the settings, for a test in another process.
TEST(Inside, Settings) { std::printf("%s", config_to_string().c_str()); }

/// The environment variable in each setting's comment.
TEST(Config, VariablesOfTheEnvironment) {
  const std::vector<std::pair<std::string, std::string>> flags = {
      {"CATENARY_KEEP_GRAPH_ON_REPORT", "keep_graph_on_report"},
      {"CATENARY_DEBUG", "debug"},
      {"CATENARY_FUSION", "fusion"},
      {"CATENARY_WINOGRAD", "winograd"},
      {"CATENARY_CUDNN_DETERMINISTIC", "cudnn_deterministic"},
      {"CATENARY_AUTOTUNE", "autotune"},
      {"CATENARY_TF32", "tf32"},
      {"CATENARY_INT8_PRODUCTS", "int8_products"}};
  for (const auto& [variable, name] : flags)
    for (const std::string value : {"0", "1"}) {
      const os::ProcessResult result = os::run_process({os::program_path(), "--gtest_filter=Inside.Settings"},
                                                       {.environment = {{variable, value}, {"GTEST_OUTPUT", ""}}});
      const std::string row = name + std::string(21 - name.size(), ' ') + (value == "1" ? "true" : "false") + "\n";
      EXPECT_NE(result.output.find("\n" + row), std::string::npos) << variable << "\n" << result.output;
    }
}

TEST(Config, AThreadBeginsWithNoValueOfItsOwn) {
  for (const Row& row : rows()) {
    const std::uint8_t before = detail::global_setting(row.setting);
    detail::set_global_setting(row.setting, row.other);
    int own = 0;
    std::uint8_t seen = 0;
    std::thread([&] {
      own = detail::local_setting(row.setting);
      seen = detail::setting(row.setting);
    }).join();
    detail::set_global_setting(row.setting, before);
    EXPECT_EQ(own, -1) << row.name;
    EXPECT_EQ(seen, row.other) << row.name;
  }
}

TEST(Config, AThreadsValueIsItsOwnUntilItIsTakenAway) {
  std::thread([] {
    for (const Row& row : rows()) {
      const std::uint8_t global = detail::global_setting(row.setting);
      detail::set_local_setting(row.setting, row.other);
      EXPECT_EQ(detail::local_setting(row.setting), row.other) << row.name;
      EXPECT_EQ(detail::setting(row.setting), row.other) << row.name;
      EXPECT_EQ(detail::global_setting(row.setting), global) << row.name;
      for (const Row& beside : rows())
        if (beside.setting != row.setting) {
          EXPECT_EQ(detail::local_setting(beside.setting), -1) << row.name << ", " << beside.name;
        }
      detail::set_local_setting(row.setting, -1);
      EXPECT_EQ(detail::setting(row.setting), global) << row.name;
    }
  }).join();
}

TEST(Config, APrecisionIsADtypeOrMixed) {
  EXPECT_EQ(precision_from_name("float64"), Precision(Dtype::float64));
  for (const Precision precision : {mixed16, mixed_bf16, Precision(Dtype::float16), Precision(Dtype::float32)}) {
    EXPECT_EQ(precision_from_name(precision_name(precision)), precision);
    const auto scope = using_config(config.dtype, precision);
    EXPECT_EQ(config.dtype.value(), precision);
    EXPECT_NE(config_to_string().find("dtype                " + precision_name(precision) + "\n"), std::string::npos);
    EXPECT_EQ(get_dtype({}, Dtype::float64), precision.is_mixed() ? Dtype::float64 : static_cast<Dtype>(precision));
  }
  EXPECT_EQ(mixed16.wide(), Dtype::float32);
  EXPECT_EQ(static_cast<Dtype>(mixed_bf16), Dtype::bfloat16);
  EXPECT_FALSE(mixed16 == Precision(Dtype::float16));
  EXPECT_THROW(precision_from_name("int32"), DtypeError);
  EXPECT_THROW(precision_from_name("mixed"), DtypeError);
}

TEST(Config, EachIsShownByItsName) {
  const std::string shown = config_to_string();
  std::set<std::string> names;
  for (const Row& row : rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_NE(("\n" + shown).find("\n" + std::string(row.name) + " "), std::string::npos) << shown;
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(std::count(shown.begin(), shown.end(), '\n')));
  EXPECT_NE(shown.find("dtype                float32\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("train                true\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("in_recomputing       false\n"), std::string::npos) << shown;
}

}  // namespace
}  // namespace catenary
