#pragma once
// The key of a kernel (or of a range to check): numbers that describe its text, so that launching a known kernel builds
// no text.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace catenary::gpu {

/// A list of words with their hash. The first word begins with the kind, so that lists of two kinds are never equal.
class KernelKey {
 public:
  enum class Kind : std::uint64_t { text, program, user, range };

  explicit KernelKey(Kind kind) { add(static_cast<std::uint64_t>(kind)); }
  KernelKey(const KernelKey& other) : size_(other.size_), hash_(other.hash_), more_(other.more_) {
    std::copy_n(other.words_.begin(), std::min(size_, kInline), words_.begin());
  }
  KernelKey& operator=(const KernelKey&) = delete;

  KernelKey& add(std::uint64_t word) {
    if (size_ < kInline)
      words_[size_] = word;
    else
      more_.push_back(word);
    ++size_;
    hash_ = (std::rotl(hash_, 5) ^ word) * 0x9e3779b97f4a7c15u;
    return *this;
  }
  /// Adds the address of a text that is never freed, usually a literal.
  KernelKey& add(const char* text) { return add(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(text))); }
  /// Adds the text's contents.
  KernelKey& add_content(std::string_view text) {
    add(text.size());
    for (std::size_t i = 0; i < text.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + i, std::min<std::size_t>(8, text.size() - i));
      add(word);
    }
    return *this;
  }

  friend bool operator==(const KernelKey& a, const KernelKey& b) {
    return a.hash_ == b.hash_ && a.size_ == b.size_ &&
           std::equal(a.words_.begin(), a.words_.begin() + std::min(a.size_, kInline), b.words_.begin()) &&
           a.more_ == b.more_;
  }
  struct Hash {
    std::size_t operator()(const KernelKey& key) const { return key.hash_ ^ key.hash_ >> 32; }
  };

 private:
  static constexpr std::size_t kInline = 96;  // enough for most programs
  std::array<std::uint64_t, kInline> words_;  // elements past size_ are never read
  std::size_t size_ = 0;
  std::uint64_t hash_ = 0;
  std::vector<std::uint64_t> more_;
};

}  // namespace catenary::gpu
