#include "catenary/core/environment.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "catenary/core/format.h"
#include "catenary/core/lower.h"
#include "catenary/core/os/process.h"
#include "catenary/core/precision.h"

namespace catenary::environment {

namespace {

bool is_any(std::string_view) { return true; }
bool is_duration(std::string_view value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() && number > 0;
}
bool is_flag(std::string_view value) { return value == "0" || value == "1"; }

/// Returns the number at the beginning, or 0 if it is not 1 or more. OMP_NUM_THREADS may list a number for each level
/// of nesting.
int first_number(std::string_view value, bool alone) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool ends_well = end == value.data() + value.size() || (!alone && *end == ',');
  return error == std::errc() && ends_well && number >= 1 ? number : 0;
}
bool is_number(std::string_view value) { return first_number(value, true) > 0; }
bool begins_with_number(std::string_view value) { return first_number(value, false) > 0; }

bool is_precision(std::string_view value) {
  try {
    precision_from_name(value);
    return true;
  } catch (const Error&) {
    return false;
  }
}

template <class Words = std::initializer_list<std::string_view>>
bool is_one_of(std::string_view value, const Words& words) {
  return std::ranges::find(words, value) != std::ranges::end(words);
}
bool is_simd_level(std::string_view value) { return is_one_of(value, {"v2", "v3", "v4", "native"}); }
bool is_bfloat_unit(std::string_view value) { return is_one_of(value, {"widened", "dots", "tiles"}); }
bool is_float_unit(std::string_view value) { return is_one_of(value, {"vectors", "tiles"}); }

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(", "), list.size());
    if (end > 0) words.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

/// The words of CATENARY_TRACE. Kinds of libraries are added.
std::vector<std::string>& trace_words() {
  static auto& words =
      *new std::vector<std::string>{"compile", "source", "kernels", "ops", "counts", "libraries"};  // never destroyed
  return words;
}
bool is_trace(std::string_view value) {
  return std::ranges::all_of(words_of(value), [](std::string_view word) { return is_one_of(word, trace_words()); });
}
std::string list_of_trace_words() {
  return fmt::format("a list, with commas between, of {}", fmt::join(trace_words(), ", "));
}

constexpr const char* kFlag = "0 or 1";
constexpr const char* kDtype = "a floating dtype, such as float32, or mixed16 or mixed_bf16";
constexpr const char* kThreads = "a number of threads, 1 or more";

struct Variable {
  std::string_view name;
  std::function<bool(std::string_view)> fits;
  std::variant<std::string, std::string (*)()> expected;  ///< the text for messages, or a function that returns it
  std::string_view in_place_of = "";                      ///< an older variable that counts if this one is not set
};
/// All variables. Other rooms add theirs before main (add_library_choice).
std::vector<Variable>& variables() {
  static auto& all = *new std::vector<Variable>{
      // never destroyed, as destructors of other statics may ask
      {"CATENARY_AUTOTUNE", is_flag, kFlag},
      {"CATENARY_BFLOAT16", is_bfloat_unit, "widened, dots or tiles"},
      {"CATENARY_CACHE_DIR", is_any, ""},
      {"CATENARY_COLLECTIVE_TIMEOUT", is_duration, "a number of minutes above 0, such as 30 or 0.5; inf: no limit"},
      {"CATENARY_COMPILE_TIMEOUT", is_duration, "a number of minutes above 0, such as 10 or 0.5; inf: no limit"},
      {"CATENARY_CUDA_ARRAY_INTERFACE", is_flag, kFlag},
      {"CATENARY_CUDNN_DETERMINISTIC", is_flag, kFlag},
      {"CATENARY_CUPY_CPU", is_flag, kFlag},
      {"CATENARY_DATA", is_any, ""},
      {"CATENARY_DEBUG", is_flag, kFlag, "CHAINER_DEBUG"},
      {"CATENARY_DOCTOR_ROOT", is_any, ""},
      {"CATENARY_DTYPE", is_precision, kDtype, "CHAINER_DTYPE"},
      {"CATENARY_FLOAT32", is_float_unit, "vectors or tiles"},
      {"CATENARY_FUSION", is_flag, kFlag},
      {"CATENARY_GPU_FORMS", is_flag, kFlag},
      {"CATENARY_GPU_INCLUDE_CPU", is_flag, kFlag},
      {"CATENARY_GPU_INCLUDE_SIMULATED", is_flag, kFlag},
      {"CATENARY_HOST_ID", is_any, ""},
      {"CATENARY_INT8_PRODUCTS", is_flag, kFlag},
      {"CATENARY_KEEP_GRAPH_ON_REPORT", is_flag, kFlag, "CHAINER_KEEP_GRAPH_ON_REPORT"},
      {"CATENARY_KERNEL_CACHE", is_flag, kFlag},
      {"CATENARY_KERNEL_LOG", is_any, ""},
      {"CATENARY_LAUNCH", is_any, ""},
      {"CATENARY_MPI_PLUGIN", is_any, ""},
      {"CATENARY_NO_FLOAT64", is_flag, kFlag},
      {"CATENARY_NUM_THREADS", is_number, kThreads},
      {"CATENARY_ONEDNN", is_flag, kFlag},
      {"CATENARY_PYTHON", is_any, ""},
      {"CATENARY_SIMD", is_simd_level, "v2, v3 or v4 (native on CPUs that are not x86-64)"},
      {"CATENARY_SYNC", is_flag, kFlag},
      {"CATENARY_TF32", is_flag, kFlag},
      {"CATENARY_TRACE", is_trace, list_of_trace_words},
      {"CATENARY_TRACE_FILE", is_any, ""},
      {"CATENARY_WINOGRAD", is_flag, kFlag},
      {"OMP_NUM_THREADS", begins_with_number, kThreads},
  };
  return all;
}

/// The Python package reads these before the library is loaded.
constexpr std::string_view kOfPython[] = {"CATENARY_CHAINER", "CATENARY_CHAINER_API", "CATENARY_CUPY",
                                          "CATENARY_PYTHON_HOOKS"};

/// A variable's value, and the name of the variable that provided it.
struct Value {
  std::string name, text;
};

Value value_of(const Variable& variable) {
  for (const std::string& name : {std::string(variable.name), std::string(variable.in_place_of)})
    if (const char* value = name.empty() ? nullptr : std::getenv(name.c_str()); value && *value) return {name, value};
  return {};
}

/// Returns the position of invalid UTF-8 in a text, or nothing.
std::optional<std::size_t> not_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
    const unsigned first = byte(i);
    const std::size_t more = first < 0x80 ? 0 : first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : first >> 3 == 30 ? 3 : 4;
    if (more == 4) return i;
    unsigned point = more == 0 ? first : first & (0x3fu >> more);
    for (std::size_t k = 1; k <= more; ++k) {
      if (byte(i + k) >> 6 != 2) return i;
      point = point << 6 | (byte(i + k) & 0x3f);
    }
    constexpr unsigned kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (point < kLeast[more] || point > 0x10ffff || point >> 11 == 0x1b) return i;
    i += more + 1;
  }
  return std::nullopt;
}

/// Returns how many letters must be inserted, removed or replaced to turn one name into another.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t exchanged = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, exchanged}));
    }
  }
  return row[b.size()];
}

/// Reports names that nothing reads, except the tests' names, which have a separate prefix.
void tell_of_unknown_names() {
  for (const std::string& entry : os::environment_entries()) {
    const std::string name = entry.substr(0, entry.find('='));
    if (!name.starts_with("CATENARY_") || name.starts_with("CATENARY_TEST_")) continue;
    std::string_view nearest;
    std::size_t least = SIZE_MAX;
    const auto look_at = [&](std::string_view known) {
      const std::size_t d = distance(name, known);
      if (d >= least) return;
      least = d;
      nearest = known;
    };
    for (const Variable& variable : variables()) look_at(variable.name);
    for (const std::string_view known : kOfPython) look_at(known);
    if (least == 0 || not_utf8(name)) continue;
    fmt::print(stderr, "catenary: unknown environment variable {}{}\n", name,
               least <= 4 ? fmt::format("; did you mean {}?", nearest) : "");
  }
}

/// Returns the error in a variable's value, or nothing.
std::string complaint(const Variable& variable) {
  const Value value = value_of(variable);
  if (const auto at = not_utf8(value.text))
    return fmt::format("{}: its value is not UTF-8: byte {} is 0x{:02x}", value.name, *at,
                       static_cast<unsigned char>(value.text[*at]));
  if (value.text.empty() || variable.fits(value.text)) return {};
  const auto* const compose = std::get_if<std::string (*)()>(&variable.expected);
  return fmt::format("{}={}: expected {}", value.name, value.text,
                     compose ? (*compose)() : std::get<std::string>(variable.expected));
}

}  // namespace

void check() {
  static std::atomic<bool> checked{false};
  if (checked.load(std::memory_order_relaxed)) return;
  std::string all;
  for (const Variable& variable : variables())
    if (const std::string wrong = complaint(variable); !wrong.empty()) all += (all.empty() ? "" : "; ") + wrong;
  if (!all.empty()) fail<ValueError>("{}", all);
  if (!checked.exchange(true)) tell_of_unknown_names();
}

std::string text(std::string_view name) {
  check();
  for (const Variable& variable : variables()) {
    if (variable.name != name) continue;
    if (const std::string wrong = complaint(variable); !wrong.empty()) fail<ValueError>("{}", wrong);
    return value_of(variable).text;
  }
  fail<ValueError>("internal: the variable {} is not in the list of core/environment.cpp", name);
}

void add_library_choice(std::string_view kind, std::string_view variable, const std::vector<std::string>& names) {
  std::vector<std::string> words = {"own"};
  for (const std::string& name : names) words.push_back(lower(name));
  const std::string expected = fmt::format("one of {}", fmt::join(words, ", "));
  const auto fits = [words](std::string_view value) { return is_one_of(lower(value), words); };
  variables().push_back({variable, fits, expected});
  trace_words().emplace_back(kind);
}

bool flag(std::string_view name, bool otherwise) {
  const std::string value = text(name);
  return value.empty() ? otherwise : value == "1";
}

int number(std::string_view name) { return first_number(text(name), false); }

bool lists(std::string_view name, std::string_view word) {
  const std::string value = text(name);
  return is_one_of(word, words_of(value));
}

}  // namespace catenary::environment
