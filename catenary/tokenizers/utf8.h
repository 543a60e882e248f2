#pragma once
// Private: UTF-8, and a hash table of integers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace catenary::tokenizers {

/// The beginning of a text: a character of `bytes` bytes, or an invalid part of that size. `cut`: the text ends inside
/// it.
struct Sequence {
  std::size_t bytes;
  bool valid, cut;
};
Sequence first_sequence(std::string_view text);

/// Appends `text` with U+FFFD for each maximal invalid part (Unicode 3.9, "U+FFFD Substitution").
void append_valid(std::string& to, std::string_view text);
bool is_valid(std::string_view text);
/// The offset of an incomplete character at the end of a text, or the text's size.
std::size_t complete_size(std::string_view text);

void append_char(std::string& to, char32_t c);
/// Returns the character at `at` and advances. The text must be valid.
char32_t next_char(std::string_view text, std::size_t& at);
inline std::size_t bytes_of_char(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
/// Whether a character has the property White_Space.
bool is_space(char32_t c);
/// Maps a byte to the character that represents it in GPT-2's vocabularies, and back (-1 for other characters).
char32_t char_of_byte(unsigned char byte);
int byte_of_char(char32_t c);
/// Returns the byte's name, "<0x0A>", and the byte of a name (-1 for other texts).
std::string name_of_byte(unsigned char byte);
int byte_of_name(std::string_view name);

/// A hash table with keys below 2^64 - 1, by open addressing, at most half full.
template <class Value>
class NumberMap {
 public:
  void reserve(std::size_t count) {
    std::size_t size = 16;
    while (size < 2 * count) size *= 2;
    if (size > slots_.size()) resize(size);
  }
  /// Returns the key's value, inserted if missing. Sets `made` if it was inserted.
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

/// Texts, searched for as prefixes of a text.
class Trie {
 public:
  /// Sets the value of a text, which must not be empty. Later values replace earlier ones.
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
  /// Calls f(length, value) for each stored prefix of `text`, shortest first.
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
