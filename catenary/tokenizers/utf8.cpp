#include "catenary/tokenizers/utf8.h"

#include <array>

namespace catenary::tokenizers {

Sequence first_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true, false};
  if (lead < 0xc2 || lead > 0xf4) return {1, false, false};
  const std::size_t bytes = bytes_of_char(text[0]);
  // The second byte reveals overlong forms, surrogates and values past U+10FFFF.
  unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (i == text.size()) return {i, false, true};
    if (byte(i) < low || byte(i) > high) return {i, false, false};
    low = 0x80;
    high = 0xbf;
  }
  return {bytes, true, false};
}

void append_valid(std::string& to, std::string_view text) {
  std::size_t good = 0;
  const auto flush = [&](std::size_t end) { to.append(text.substr(good, end - good)); };
  for (std::size_t at = 0; at < text.size();) {
    const Sequence s = first_sequence(text.substr(at));
    if (!s.valid) {
      flush(at);
      to += "\xef\xbf\xbd";
      good = at + s.bytes;
    }
    at += s.bytes;
  }
  flush(text.size());
}

bool is_valid(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Sequence s = first_sequence(text.substr(at));
    if (!s.valid) return false;
    at += s.bytes;
  }
  return true;
}

std::size_t complete_size(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const std::size_t at = text.size() - back;
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte & 0xc0) == 0x80) continue;
    return byte >= 0x80 && first_sequence(text.substr(at)).cut ? at : text.size();
  }
  return text.size();
}

void append_char(std::string& to, char32_t c) {
  const auto put = [&](char32_t byte) { to += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
    return;
  }
  if (c < 0x800) {
    put(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xe0 | c >> 12);
    } else {
      put(0xf0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3f));
    }
    put(0x80 | (c >> 6 & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

char32_t next_char(std::string_view text, std::size_t& at) {
  const std::size_t bytes = bytes_of_char(text[at]);
  auto c = static_cast<char32_t>(static_cast<unsigned char>(text[at]));
  if (bytes > 1) c &= 0xffu >> (bytes + 1);
  for (std::size_t i = 1; i < bytes; ++i) c = c << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3f);
  at += bytes;
  return c;
}

bool is_space(char32_t c) {
  return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

char32_t char_of_byte(unsigned char byte) {
  // Printable Latin-1 characters represent themselves, the other bytes map to 256 and up, in order.
  if ((byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae) return byte;
  if (byte <= 0x20) return 256u + byte;
  if (byte <= 0xa0) return 256u + 33 + (byte - 0x7fu);
  return 256u + 67;
}

int byte_of_char(char32_t c) {
  static const auto table = [] {
    std::array<int, 324> bytes;
    bytes.fill(-1);
    for (int byte = 0; byte < 256; ++byte) bytes[char_of_byte(static_cast<unsigned char>(byte))] = byte;
    return bytes;
  }();
  return c < table.size() ? table[c] : -1;
}

std::string name_of_byte(unsigned char byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  return {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
}

int byte_of_name(std::string_view name) {
  if (name.size() != 6 || name.substr(0, 3) != "<0x" || name[5] != '>') return -1;
  int byte = 0;
  for (const char c : name.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return -1;
    byte = byte * 16 + digit;
  }
  return byte;
}

}  // namespace catenary::tokenizers
