// SentencePiece's normalization by a table in the tokenizer's file: replacements, and a trie (Darts double array) of
// the replaced texts.

#include <utf8proc.h>

#include <cstring>
#include <optional>

#include "catenary/core/format.h"
#include "catenary/tokenizers/pieces.h"
#include "catenary/tokenizers/utf8.h"

namespace catenary::tokenizers {

namespace {

std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) fail<ValueError>("this is not base64");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

std::size_t offset(std::uint32_t unit) { return std::size_t{unit >> 10} << ((unit & 0x200) >> 6); }

/// Applies the table as `tokenizers` does.
class ByClusters : public Normalizer {
 public:
  explicit ByClusters(std::string_view base64) : table_(from_base64(base64)) {}

  /// Looks up clusters of less than six bytes as a whole. Longer clusters, and those not found, are looked up by
  /// character.
  std::string apply(std::string text, Normalizing&) const override {
    std::string made;
    std::size_t begin = 0;
    const auto finish = [&](std::size_t end) {
      const std::string_view cluster = std::string_view(text).substr(begin, end - begin);
      begin = end;
      constexpr std::size_t kLong = 6;
      if (const auto found = cluster.size() < kLong ? table_.shortest(cluster) : std::nullopt) {
        made += found->content;
        return;
      }
      for (std::size_t at = 0; at < cluster.size();) {
        const std::string_view character = cluster.substr(at, bytes_of_char(cluster[at]));
        const auto found = table_.shortest(character);
        made += found ? found->content : character;
        at += character.size();
      }
    };
    utf8proc_int32_t state = 0, before = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t here = at;
      const auto c = static_cast<utf8proc_int32_t>(next_char(text, at));
      if (here > 0 && utf8proc_grapheme_break_stateful(before, c, &state)) finish(here);
      before = c;
    }
    if (!text.empty()) finish(text.size());
    return made;
  }

 private:
  Charsmap table_;
};

}  // namespace

Charsmap::Charsmap(std::string_view bytes) {
  std::uint32_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  if (size == 0 || size % sizeof(std::uint32_t) != 0 || size > bytes.size() - sizeof size)
    fail<ValueError>("a table of {} bytes says that its trie has {}", bytes.size(), size);
  units_.resize(size / sizeof(std::uint32_t));
  std::memcpy(units_.data(), bytes.data() + sizeof size, size);
  texts_ = bytes.substr(sizeof size + size);
  if (!is_valid(texts_)) fail<ValueError>("a table whose texts are not UTF-8");
  for (std::size_t at = 0, end = 0; at < texts_.size(); at = end + 1) {
    end = std::min(texts_.find('\0', at), texts_.size());
    if (end - at > kMost) fail<ValueError>("a text of {} bytes in a table, which is more than {}", end - at, kMost);
  }
}

template <class F>
void Charsmap::beginnings(std::string_view text, F f) const {
  std::size_t node = offset(units_[0]);
  text = text.substr(0, kMost);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (byte == 0 || node >= units_.size() || (units_[node] & 0x800000ff) != byte) return;
    const std::uint32_t unit = units_[node];
    node ^= offset(unit);
    if (!(unit & 0x100)) continue;
    const std::size_t at = node < units_.size() ? units_[node] & 0x7fffffff : texts_.size();
    if (at >= texts_.size() || (static_cast<unsigned char>(texts_[at]) & 0xc0) == 0x80) return;
    if (i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xc0) == 0x80)
      continue;  // within a character
    if (!f(i + 1, at)) return;
  }
}

std::optional<Charsmap::Match> Charsmap::shortest(std::string_view text) const { return match(text, true); }
std::optional<Charsmap::Match> Charsmap::longest(std::string_view text) const { return match(text, false); }

std::optional<Charsmap::Match> Charsmap::match(std::string_view text, bool first) const {
  std::size_t bytes = 0, from = 0;
  beginnings(text, [&](std::size_t length, std::size_t at) {
    bytes = length;
    from = at;
    return !first;
  });
  if (bytes == 0) return std::nullopt;
  return Match{bytes, std::string_view(texts_).substr(from, texts_.find('\0', from) - from)};
}

std::unique_ptr<Normalizer> make_charsmap(std::string_view base64) { return std::make_unique<ByClusters>(base64); }

}  // namespace catenary::tokenizers
