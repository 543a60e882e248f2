#pragma once
// A part of the tests instead of all. Python's tests and Chainer's are cut in the same way (python/tests/place.py).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "catenary/core/sha256.h"

namespace tests {

/// Cuts the tests into parts by the hashes of their names. A share of 0.05 makes 20 parts; turn t runs part t modulo
/// 20, so any 20 turns in a row run every test.
class Share {
 public:
  /// `size` is from 0 to 1, and 1 runs everything.
  Share(double size, std::uint64_t turn) : size_(size), turn_(turn) {}
  /// Reads CATENARY_TEST_SHARE (1 where it is not set) and CATENARY_TEST_TURN (0). Both leave the environment, so the
  /// programs that a test starts run whole.
  static Share of_environment() {
    const std::string size = take("CATENARY_TEST_SHARE"), turn = take("CATENARY_TEST_TURN");
    char* end = nullptr;
    const double number = size.empty() ? 1 : std::strtod(size.c_str(), &end);
    if (end && (*end || !(number >= 0 && number <= 1)))
      throw std::invalid_argument("CATENARY_TEST_SHARE=" + size + ": a share is a number from 0 to 1");
    if (turn.size() > 18 || turn.find_first_not_of("0123456789") != std::string::npos)
      throw std::invalid_argument("CATENARY_TEST_TURN=" + turn + ": a turn is a whole number of at most 18 digits");
    return {number, turn.empty() ? 0 : std::stoull(turn)};
  }

  bool is_whole() const { return size_ == 1; }
  /// The number of parts: the least that makes a part no larger than the share.
  std::uint64_t parts() const { return static_cast<std::uint64_t>(std::ceil(1 / std::max(size_, 1e-6) - 1e-6)); }
  /// "part 7 of 20".
  std::string words() const { return "part " + std::to_string(turn_ % parts() + 1) + " of " + std::to_string(parts()); }
  /// Where the hash of a name lies between 0 and 1.
  static double place(const std::string& name) {
    return static_cast<double>(std::stoull(catenary::sha256(name).substr(0, 16), nullptr, 16)) * 0x1p-64;
  }
  /// For each of these names, does this turn run it? If the part is empty, the name that follows it is chosen, unless
  /// the part `may_be_empty`.
  std::vector<bool> choose(const std::vector<std::string>& names, bool may_be_empty = false) const {
    const double n = static_cast<double>(parts()), first = static_cast<double>(turn_ % parts()) / n;
    std::vector<double> distances;
    for (const std::string& name : names) {
      const double distance = place(name) - first;
      distances.push_back(distance < 0 ? distance + 1 : distance);
    }
    const double least = distances.empty() ? 0 : *std::min_element(distances.begin(), distances.end());
    std::vector<bool> chosen;
    for (const double distance : distances) chosen.push_back(distance < 1 / n || (!may_be_empty && distance == least));
    return chosen;
  }

 private:
  static std::string take(const char* name) {
    const char* value = std::getenv(name);
    const std::string text = value ? value : "";
    ::unsetenv(name);
    return text;
  }

  double size_;
  std::uint64_t turn_;
};

}  // namespace tests
