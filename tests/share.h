#pragma once
// A share of the tests instead of all, chosen by words such as the hash of a commit. Python's tests and Chainer's
// choose likewise (python/tests/share.py).

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "catenary/core/sha256.h"

namespace tests {

class Share {
 public:
  /// `size` is from 0 to 1.
  Share(double size, std::string seed) : size_(size), seed_(std::move(seed)) {}
  /// Of CATENARY_TEST_SHARE, all where it is not set, and CATENARY_TEST_SEED. Both leave the environment: what a test
  /// starts runs whole.
  static Share of_environment() {
    const auto take = [](const char* name) {
      const char* value = std::getenv(name);
      const std::string text = value ? value : "";
      ::unsetenv(name);
      return text;
    };
    const std::string text = take("CATENARY_TEST_SHARE"), seed = take("CATENARY_TEST_SEED");
    if (text.empty()) return {1, seed};
    char* end = nullptr;
    const double size = std::strtod(text.c_str(), &end);
    if (*end || !(size >= 0 && size <= 1))
      throw std::invalid_argument("CATENARY_TEST_SHARE=" + text + ": a share is a number from 0 to 1");
    return {size, seed};
  }

  bool is_whole() const { return size_ == 1; }
  /// A part of a share, which other words choose; all of what is whole.
  Share part(double size, const std::string& words) const {
    return is_whole() ? *this : Share(size * size_, seed_ + words);
  }
  /// "share 0.25 of seed 1a2b".
  std::string words() const {
    std::string size = std::to_string(size_);
    size.erase(size.find_last_not_of('0') + 1);
    if (size.back() == '.') size.pop_back();
    return "share " + size + " of seed '" + seed_ + "'";
  }
  /// Where a name stands between 0 and 1.
  double place(const std::string& name) const {
    return static_cast<double>(std::stoull(catenary::sha256(seed_ + name).substr(0, 16), nullptr, 16)) * 0x1p-64;
  }
  /// For each of these names, is it chosen? It is where it stands within the share, or lowest of all.
  std::vector<bool> choose(const std::vector<std::string>& names) const {
    std::vector<double> places;
    for (const std::string& name : names) places.push_back(place(name));
    const double end = places.empty() ? 1 : std::max(size_, *std::min_element(places.begin(), places.end()));
    std::vector<bool> chosen;
    for (const double p : places) chosen.push_back(p <= end);
    return chosen;
  }

 private:
  double size_;
  std::string seed_;
};

}  // namespace tests
