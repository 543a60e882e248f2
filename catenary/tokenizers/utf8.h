#pragma once
// Private: UTF-8, and a table of numbers by numbers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace catenary::tokenizers {

/// What a text begins with: a character of `bytes` bytes, or as many that make none. `cut`: it ends within one.
struct Sequence {
  std::size_t bytes;
  bool valid, cut;
};
Sequence first_sequence(std::string_view text);

/// Appends `text`, U+FFFD for each longest part that makes no character (Unicode 3.9, "U+FFFD Substitution").
void append_valid(std::string& to, std::string_view text);
bool is_valid(std::string_view text);
/// Where an incomplete character at the end of a text begins; its size when there is none.
std::size_t complete_size(std::string_view text);

void append_char(std::string& to, char32_t c);
/// The character at `at`, which moves behind it. The text is valid.
char32_t next_char(std::string_view text, std::size_t& at);
inline std::size_t bytes_of_char(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
/// White_Space.
bool is_space(char32_t c);
/// The byte as one of the 256 characters that stand for bytes in vocabularies of bytes (GPT-2's); and back, or -1.
char32_t char_of_byte(unsigned char byte);
int byte_of_char(char32_t c);
/// "<0x0A>"; and back, or -1.
std::string name_of_byte(unsigned char byte);
int byte_of_name(std::string_view name);

/// Values by numbers below 2^64 - 1: open addressing, at most half full.
template <class Value>
class NumberMap {
 public:
  void reserve(std::size_t count) {
    std::size_t size = 16;
    while (size < 2 * count) size *= 2;
    if (size > slots_.size()) resize(size);
  }
  /// The value's place, made when there is none; `made` says which.
  Value& at(std::uint64_t key, bool* made = nullptr) {
    if (2 * (count_ + 1) > slots_.size()) resize(slots_.empty() ? 16 : 2 * slots_.size());
    Slot& slot = slots_[place(key)];
    if (made) *made = slot.key == kNone;
    if (slot.key == kNone) {
      slot.key = key;
      ++count_;
    }
    return slot.value;
  }
  const Value* find(std::uint64_t key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place(key)];
    return slot.key == kNone ? nullptr : &slot.value;
  }

 private:
  static constexpr std::uint64_t kNone = UINT64_MAX;
  struct Slot {
    std::uint64_t key = kNone;
    Value value{};
  };
  std::size_t place(std::uint64_t key) const {
    std::uint64_t hash = key * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].key != kNone && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void resize(std::size_t size) {
    std::vector<Slot> old(size);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.key != kNone) slots_[place(slot.key)] = slot;
  }
  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

/// Texts, found where a text begins with one.
class Trie {
 public:
  /// Gives a text, which is not empty, a value; a later one takes its place.
  void add(std::string_view text, std::uint32_t value) {
    std::uint32_t node = 0;
    for (const char c : text) {
      bool made = false;
      std::uint32_t& next = edges_.at(key(node, c), &made);
      if (made) {
        next = static_cast<std::uint32_t>(values_.size());
        values_.push_back(kNothing);
      }
      node = next;
    }
    values_[node] = value;
    first_[static_cast<unsigned char>(text[0])] = true;
  }
  /// Calls f(length, value) for each text that `text` begins with, short ones first.
  template <class F>
  void prefixes(std::string_view text, F f) const {
    if (text.empty() || !first_[static_cast<unsigned char>(text[0])]) return;
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::uint32_t* next = edges_.find(key(node, text[i]));
      if (!next) return;
      node = *next;
      if (values_[node] != kNothing) f(i + 1, values_[node]);
    }
  }
  bool empty() const { return values_.size() == 1; }

 private:
  static constexpr std::uint32_t kNothing = UINT32_MAX;
  static std::uint64_t key(std::uint32_t node, char c) {
    return std::uint64_t{node} << 8 | static_cast<unsigned char>(c);
  }
  NumberMap<std::uint32_t> edges_;
  std::vector<std::uint32_t> values_ = {kNothing};
  bool first_[256] = {};
};

}  // namespace catenary::tokenizers
