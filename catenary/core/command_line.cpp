#include "catenary/core/command_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "catenary/core/format.h"
#include "catenary/core/os/memory.h"
#include "catenary/core/paths.h"

namespace catenary::command_line {

namespace {

/// Parses a whole text as a number.
template <class T>
bool parse(const std::string& text, T& value) {
  const char* const begin = text.data() + (text.starts_with("+") ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && begin != end;
}

bool is_whole_between(const std::string& text, std::int64_t low, std::uint64_t high) {
  if (std::int64_t value = 0; parse(text, value))
    return value >= low && (value < 0 || static_cast<std::uint64_t>(value) <= high);
  std::uint64_t value = 0;
  return parse(text, value) && value <= high;
}

std::string range_text(const std::string& what, const std::string& low, const std::string& high) {
  return fmt::format("{}{}{}", what, low.empty() ? "" : (high.empty() ? " of at least " : " from ") + low,
                     high.empty() ? "" : (low.empty() ? " of at most " : " to ") + high);
}

std::string got(const std::string& value) { return fmt::format(", got '{}'", value); }

/// Returns "a, b or c".
std::string either(const std::vector<std::string>& words) {
  if (words.size() < 2) return fmt::format("{}", fmt::join(words, ""));
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

/// Returns how many letters must be inserted, removed, replaced or swapped with their neighbours to turn a into b.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

/// Words that other programs use for these options.
constexpr std::pair<const char*, const char*> kOtherWords[] = {{"gpu", "device"},
                                                               {"cuda", "device"},
                                                               {"lr", "learnrate"},
                                                               {"lr", "rate"},
                                                               {"learning-rate", "lr"},
                                                               {"learning-rate", "rate"},
                                                               {"learning-rate", "learnrate"},
                                                               {"alpha", "lr"},
                                                               {"max-tokens", "tokens"},
                                                               {"n-predict", "tokens"},
                                                               {"max-new-tokens", "tokens"},
                                                               {"output", "out"},
                                                               {"hidden", "unit"},
                                                               {"checkpoint", "resume"},
                                                               {"np", "ranks"},
                                                               {"workers", "threads"},
                                                               {"pretrained", "weights"},
                                                               {"random-seed", "seed"},
                                                               {"test", "evaluate"},
                                                               {"validate", "evaluate"}};

std::string bare(std::string word) {
  word.erase(0, std::min(word.find_first_not_of('-'), word.size()));
  std::replace(word.begin(), word.end(), '_', '-');
  return word;
}

}  // namespace

Check whole_number(std::int64_t low, std::uint64_t high) {
  const bool endless = high >= std::numeric_limits<std::int64_t>::max();
  const std::string expected =
      range_text("a whole number", fmt::format("{}", low), endless ? "" : fmt::format("{}", high));
  return {[=](const std::string& value) {
            return is_whole_between(value, low, high) ? "" : "expected " + expected + got(value);
          },
          low > 0    ? "POSITIVE"
          : low == 0 ? "COUNT"
                     : "NUMBER"};
}

Check zero_or_whole_number(std::int64_t low, std::uint64_t high) {
  const std::string expected = fmt::format("0 or a whole number from {} to {}", low, high);
  return {[=](const std::string& value) {
            return value == "0" || is_whole_between(value, low, high) ? "" : "expected " + expected + got(value);
          },
          "COUNT"};
}

Check number(double low, double high) {
  const auto bound = [](double x) { return std::isfinite(x) ? fmt::format("{:g}", x) : ""; };
  const std::string expected = range_text("a number", bound(low), bound(high));
  return {[=](const std::string& value) {
            double x = 0;
            return parse(value, x) && std::isfinite(x) && x >= low && x <= high ? ""
                                                                                : "expected " + expected + got(value);
          },
          low >= 0 ? "NONNEGATIVE" : "NUMBER"};
}

Check positive_number() {
  return {[](const std::string& value) {
            double x = 0;
            return parse(value, x) && std::isfinite(x) && x > 0 ? "" : "expected a number above 0" + got(value);
          },
          "POSITIVE"};
}

Check one_of(std::vector<std::string> words) {
  const std::string expects = fmt::format("{{{}}}", fmt::join(words, ","));
  return {[words = std::move(words)](const std::string& value) {
            if (std::ranges::find(words, value) != words.end()) return std::string();
            const std::string meant = nearest(value, words);
            return fmt::format("expected {}{}{}", either(words), got(value),
                               meant.empty() ? "" : "; did you mean '" + meant + "'?");
          },
          expects};
}

std::string nearest(const std::string& word, const std::vector<std::string>& names) {
  const std::string wanted = bare(word);
  std::string best;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  const auto offer = [&](const std::string& name, std::size_t cost) {
    if (cost < least) least = cost, best = name;
  };
  for (const std::string& name : names) {
    const std::string known = bare(name);
    if (known.size() < 2 || wanted.empty()) continue;
    for (const auto& [theirs, ours] : kOtherWords)
      if (wanted == theirs && known == ours) offer(name, 1);
    const std::size_t common = std::min(known.size(), wanted.size());
    // a prefix of a name, or a name with a suffix
    if (common > 2 && known.compare(0, common, wanted, 0, common) == 0)
      offer(name, 1 + (std::max(known.size(), wanted.size()) - common) / 4);
    const std::size_t apart = distance(wanted, known);
    if (apart <= std::max<std::size_t>(1, common / 3)) offer(name, apart);
  }
  return best;
}

std::string message(const Mistake& mistake) {
  std::string what = mistake.message;
  const auto option =
      std::ranges::find_if(mistake.rest, [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
  // CLI11 2.1 gives this exception the program's name
  const bool is_extra = mistake.kind == "ExtrasError" || what.starts_with("The following argument");
  // report an unknown option before a missing one, which may be a consequence of a misspelt name
  if ((is_extra || mistake.kind == "RequiredError") && option != mistake.rest.end()) {
    const std::string name = option->substr(0, option->find('=')), meant = nearest(name, mistake.options);
    what = fmt::format("there is no option {}{}", name, meant.empty() ? "" : "; did you mean " + meant + "?");
  } else if (is_extra) {
    what = fmt::format("unexpected argument '{}'", fmt::join(mistake.rest, " "));
  } else if (mistake.kind == "ArgumentMismatch" && what.ends_with(" missing")) {
    what = what.substr(0, what.find(':')) + " needs a value";
  }
  return fmt::format("{}: {} ({} --help lists the options)", mistake.program, what, mistake.program);
}

std::string file_name(const std::string& path) { return path_text(to_path(path).filename()); }

void complain(const std::string& line) { fmt::print(stderr, "{}\n", line); }

int failure(const std::string& program, const std::exception& error) {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  // thrown by containers for sizes that no memory holds
  const bool too_long = dynamic_cast<const std::length_error*>(&error) != nullptr;
  complain(program + ": " +
           (no_memory || too_long ? "out of memory on the CPU: " + os::memory_advice() : error.what()));
  return 1;
}

}  // namespace catenary::command_line
