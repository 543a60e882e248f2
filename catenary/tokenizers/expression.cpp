// Translates Oniguruma's regular expressions to PCRE2's. Most constructs mean the same in both. The translator rewrites
// the known differences and refuses everything else.

#include <algorithm>
#include <cctype>
#include <vector>

#include "catenary/core/format.h"
#include "catenary/tokenizers/regex.h"
#include "catenary/tokenizers/unicode_tables.h"
#include "catenary/tokenizers/utf8.h"

namespace catenary::tokenizers {

namespace {

std::string hex(char32_t c) { return fmt::format("\\x{{{:x}}}", static_cast<std::uint32_t>(c)); }

std::string hex(char32_t first, char32_t last) { return first == last ? hex(first) : hex(first) + "-" + hex(last); }

template <std::size_t N>
std::string hex(const CodeRange (&ranges)[N]) {
  std::string text;
  for (const CodeRange& r : ranges) text += hex(r.first, r.last);
  return text;
}

/// The groups' characters assigned since Unicode 14, as the inside of a class.
std::string added(std::initializer_list<Group> groups) {
  std::string text;
  for (const Added& a : kAdded)
    if (std::find(groups.begin(), groups.end(), a.group) != groups.end()) text += hex(a.first, a.last);
  return text;
}

const std::string& letters() {
  static const std::string text = "\\p{L}" + added({Group::Lu, Group::Ll, Group::Lm, Group::Lo});
  return text;
}
const std::string& marks() {
  static const std::string text = "\\p{M}" + added({Group::Mark});
  return text;
}
const std::string& decimals() {
  static const std::string text = "\\p{Nd}" + added({Group::Nd});
  return text;
}
const std::string& numbers() {
  static const std::string text = "\\p{N}" + added({Group::Nd, Group::No});
  return text;
}
const std::string& punctuation() {
  static const std::string text = "\\p{P}" + added({Group::Punctuation});
  return text;
}

constexpr char kSpaces[] =
    "\\x{9}-\\x{d} \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}";

/// Alphabetic, Mark, Decimal_Number, Connector_Punctuation. Letters in circles and squares are symbols, but Alphabetic.
std::string word_core() {
  return letters() + marks() + decimals() +
         "\\p{Nl}\\p{Pc}\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}" + "\\x{1f170}-\\x{1f189}";
}

/// Oniguruma's \w, which includes a few numbers of Latin-1.
const std::string& word() {
  static const std::string text = word_core() + "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}";
  return text;
}

/// The inside of a class for a property, or "" for unknown properties.
std::string property(const std::string& name) {
  if (name == "L" || name == "Letter") return letters();
  if (name == "M" || name == "Mark") return marks();
  if (name == "N" || name == "Number") return numbers();
  if (name == "Nd") return decimals();
  if (name == "No") return "\\p{No}" + added({Group::No});
  if (name == "P" || name == "Punctuation") return punctuation();
  if (name == "S" || name == "Symbol") return "\\p{S}" + added({Group::Symbol});
  if (name == "Lu") return "\\p{Lu}" + added({Group::Lu});
  if (name == "Ll") return "\\p{Ll}" + added({Group::Ll});
  if (name == "Lm") return "\\p{Lm}" + added({Group::Lm});
  if (name == "Lo") return "\\p{Lo}" + added({Group::Lo});
  if (name == "Han") return "\\p{sc:Han}" + hex(kAddedHan);
  if (name == "Hiragana") return "\\p{sc:Hiragana}" + hex(kAddedHiragana);
  if (name == "Katakana") return "\\p{sc:Katakana}" + hex(kAddedKatakana);
  if (name == "Hangul") return "\\p{sc:Hangul}";
  for (const char* same : {"Lt", "Me", "Nl", "Pc", "Ps", "Pe", "Pi", "Pf", "Sc", "Sk", "Z", "Zs", "Zl", "Zp", "Cc"})
    if (name == same) return "\\p{" + name + "}";
  return "";
}

class Translator {
 public:
  explicit Translator(std::string_view text) : text_(text) {}

  std::string translate() {
    if (text_.size() > kLongest) refuse("more than 65536 bytes");
    std::string all = alternatives(0, false);
    if (at_ < text_.size()) refuse("a ')' without a '('");
    return all;
  }

 private:
  static constexpr std::size_t kLongest = 65536;
  static constexpr int kDeepest = 100;

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail<ValueError>("the regular expression '{}', at byte {}: {}", text_.substr(0, 200), at_,
                     fmt::format(format, std::forward<Args>(args)...));
  }
  bool end() const { return at_ >= text_.size(); }
  bool next_is(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  bool take(std::string_view what) {
    if (!next_is(what)) return false;
    at_ += what.size();
    return true;
  }
  char32_t take_char() {
    if (end()) refuse("it ends too early");
    return next_char(text_, at_);
  }

  static std::string literal(char32_t c) {
    if (c < 0x80 && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) return hex(c);
    std::string text;
    append_char(text, c);
    return text;
  }

  std::string alternatives(int depth, bool fold) {
    if (depth > kDeepest) refuse("more than {} nested groups", kDeepest);
    std::string all;
    char32_t before = 0;  // the previous letter, which may fold together with the next one
    while (!end() && !next_is(")")) {
      if (take("|")) {
        all += '|';
        before = 0;
        continue;
      }
      // In Oniguruma (?i) also covers the following alternatives of its group. PCRE2 differs unless it is first.
      if (next_is("(?i)") || next_is("(?-i)")) {
        if (!all.empty()) refuse("(?i) that is not at the beginning of its group");
        fold = take("(?i)") || !take("(?-i)");
        all += fold ? "(?i)" : "(?-i)";
        all += "(?:" + alternatives(depth + 1, fold) + ")";
        break;
      }
      const std::size_t from = at_;
      std::string atom = one(depth, fold);
      const bool letter = at_ - from == 1 && std::isalpha(static_cast<unsigned char>(text_[from]));
      const char32_t small = letter ? static_cast<char32_t>(text_[from] | 0x20) : 0;
      if (fold && letter && before != 0) check_folds(before, small);
      before = small;
      all += quantified(std::move(atom));
    }
    return all;
  }

  /// Refuses pairs of letters that a single character can stand for: Oniguruma lets (?i:ss) match "ß", PCRE2 does not.
  void check_folds(char32_t first, char32_t second) const {
    for (const char* pair : {"ss", "ff", "fi", "fl", "st"})
      if (first == static_cast<char32_t>(pair[0]) && second == static_cast<char32_t>(pair[1]))
        refuse("'{}' in any case, which may be one character, is not supported", pair);
  }

  /// Refuses letters that a pair can stand for: Oniguruma lets (?i:ß) match "ss", PCRE2 does not.
  void check_fold(char32_t c) const {
    if (c >= 0x80) refuse("a letter beyond ASCII in any case is not supported");
  }

  std::string quantified(std::string atom) {
    if (end()) return atom;
    bool range = false;
    std::string times;
    if (take("*")) {
      times = "*";
    } else if (take("+")) {
      times = "+";
    } else if (take("?")) {
      times = "?";
    } else if (next_is("{")) {
      times = interval();
      if (times.empty()) return atom;
      range = true;
    } else {
      return atom;
    }
    if (take("?")) {
      if (range && times.find(',') == std::string::npos) refuse("'{{n}}?', which Oniguruma reads as optional");
      times += '?';
    } else if (next_is("+")) {
      ++at_;
      if (range) {  // Oniguruma reads "{n,m}+" as a repetition of the repetition
        atom = "(?:" + atom + times + ")";
        times = "+";
      } else {
        times += '+';
      }
    }
    if (next_is("*") || next_is("+") || next_is("?") || (next_is("{") && is_interval()))
      refuse("a repetition of a repetition");
    return atom + times;
  }

  bool is_interval() {
    const std::size_t from = at_;
    const bool is = !interval().empty();
    at_ = from;
    return is;
  }

  /// "{2}", "{2,}", "{,2}" or "{2,3}", or "" if the brace is a literal character.
  std::string interval() {
    const std::size_t from = at_++;
    const auto number = [&] {
      std::string digits;
      while (!end() && text_[at_] >= '0' && text_[at_] <= '9') digits += text_[at_++];
      return digits;
    };
    const std::string least = number();
    const bool comma = take(",");
    const std::string most = comma ? number() : "";
    if ((least.empty() && most.empty()) || !take("}")) {
      at_ = from;
      return "";
    }
    for (const std::string& n : {least, most})
      if (n.size() > 4 || (n.size() == 4 && n > "1000")) refuse("a repetition of more than 1000 times");
    if (!least.empty() && !most.empty() && std::stoi(most) < std::stoi(least))
      refuse("a range that ends before it begins");
    return "{" + (least.empty() ? "0" : least) + (comma ? "," : "") + most + "}";
  }

  std::string one(int depth, bool fold) {
    if (next_is("(")) return group(depth, fold);
    if (next_is("[")) return class_of(depth, fold);
    if (take(".")) return ".";
    if (take("^")) return "^";
    if (take("$")) return "$";
    if (next_is("\\")) return escape(fold);
    if (next_is("*") || next_is("+") || next_is("?")) refuse("a repetition of nothing");
    const char32_t c = take_char();
    if (fold) check_fold(c);
    return literal(c);
  }

  std::string group(int depth, bool fold) {
    ++at_;
    std::string opening = "(?:";
    if (take("?")) {
      static constexpr const char* kGroups[] = {":", "i:", "-i:", "m:", "=", "!", "<=", "<!", ">"};
      const auto* found =
          std::find_if(std::begin(kGroups), std::end(kGroups), [&](const char* kind) { return take(kind); });
      if (found == std::end(kGroups)) refuse("a group '(?{}' that is not supported", text_.substr(at_, 3));
      opening = std::string("(?") + *found;
      if (opening == "(?m:") opening = "(?s:";  // a dot that matches any character
      if (opening == "(?i:") fold = true;
      if (opening == "(?-i:") fold = false;
    }
    const std::string inside = alternatives(depth + 1, fold);
    if (!take(")")) refuse("a group that is not closed");
    return opening + inside + ")";
  }

  /// The inside of a class for \s, \d, \w, \h, \p{…}. `negative` is set for upper-case escapes. "" for other escapes.
  std::string set_escape(bool fold, bool& negative) {
    if (at_ + 1 >= text_.size()) refuse("a '\\' at the end");
    const char name = text_[at_ + 1];
    negative = name >= 'A' && name <= 'Z';
    switch (name) {
      case 's':
      case 'S':
        at_ += 2;
        return kSpaces;
      case 'd':
      case 'D':
        at_ += 2;
        return decimals();
      case 'w':
      case 'W':
        at_ += 2;
        return word();
      case 'h':
      case 'H':
        at_ += 2;
        return "0-9a-fA-F";
      case 'p':
      case 'P':
        break;
      default:
        return "";
    }
    at_ += 2;
    if (!take("{")) refuse("a property without braces");
    if (take("^")) negative = !negative;
    const std::size_t close = text_.find('}', at_);
    if (close == std::string_view::npos) refuse("a property without an end");
    const std::string called(text_.substr(at_, close - at_));
    const std::string inside = property(called);
    if (inside.empty()) refuse("the property '{}' is not supported", called.substr(0, 40));
    if (fold && (called == "Lu" || called == "Ll" || called == "Lt")) refuse("the property '{}' in any case", called);
    at_ = close + 1;
    return inside;
  }

  /// The character of an escape such as \n, \x{e9} or \.
  char32_t char_escape() {
    ++at_;
    const char32_t c = take_char();
    switch (c) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'a':
        return '\a';
      case 'e':
        return 0x1b;
      case 'u':
        return hexadecimal(4, 4);
      case 'x': {
        if (!take("{")) {
          const char32_t code = hexadecimal(2, 2);
          if (code >= 0x80) refuse("'\\x' of a byte that is no character");
          return code;
        }
        const char32_t code = hexadecimal(1, 8);
        if (!take("}")) refuse("'\\x{{' without an end");
        return code;
      }
      default:
        break;
    }
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      refuse("'\\{}' is not supported", static_cast<char>(c));
    return c;
  }

  char32_t hexadecimal(int least, int most) {
    char32_t code = 0;
    int digits = 0;
    for (; digits < most && !end() && std::isxdigit(static_cast<unsigned char>(text_[at_])); ++digits) {
      const char c = text_[at_++];
      code = code * 16 + static_cast<char32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (digits < least) refuse("too few digits");
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) refuse("a number that is no character's");
    return code;
  }

  std::string escape(bool fold) {
    if (take("\\A")) return "\\A";
    if (take("\\z")) return "\\z";
    if (take("\\Z")) return "\\Z";
    if (take("\\R")) return "(?>\\x{d}\\x{a}|[\\x{a}-\\x{d}\\x{85}\\x{2028}\\x{2029}])";
    if (take("\\b")) return fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", word());
    if (take("\\B")) return fmt::format("(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))", word());
    bool negative = false;
    if (const std::string set = set_escape(fold, negative); !set.empty()) return (negative ? "[^" : "[") + set + "]";
    return literal(char_escape());
  }

  /// Translates a class to an expression that matches one character. PCRE2's brackets cannot nest, so nested classes,
  /// exclusions and intersections become alternatives and lookaheads.
  std::string class_of(int depth, bool fold) {
    if (depth > kDeepest) refuse("more than {} nested classes", kDeepest);
    ++at_;
    const bool negative = take("^");
    std::string inside, intersection;
    std::vector<std::string> others;
    bool some = false;
    const auto united = [&] {
      if (!some) refuse("a class of nothing");
      std::string all = inside.empty() ? "" : "[" + inside + "]";
      for (const std::string& other : others) all += (all.empty() ? "" : "|") + other;
      const bool alone = others.size() + !inside.empty() == 1;
      inside.clear();
      others.clear();
      some = false;
      return alone ? all : "(?:" + all + ")";
    };
    while (!take("]")) {
      if (end()) refuse("a class that is not closed");
      if (take("&&")) {
        intersection += "(?=" + united() + ")";
        continue;
      }
      if (next_is("[:")) refuse("a class of POSIX is not supported");
      some = true;
      if (next_is("[")) {
        others.push_back(class_of(depth + 1, fold));
        continue;
      }
      if (next_is("\\")) {
        bool without = false;
        if (const std::string set = set_escape(fold, without); !set.empty()) {
          if (without) {
            others.push_back("[^" + set + "]");
          } else {
            inside += set;
          }
          if (next_is("-") && at_ + 1 < text_.size() && text_[at_ + 1] != ']') refuse("a range that begins with a set");
          continue;
        }
      }
      const char32_t first = class_char();
      if (fold) check_fold(first);
      if (!next_is("-") || text_.substr(at_, 2) == "-]" || text_.substr(at_, 3) == "-&&") {
        inside += hex(first);
        continue;
      }
      ++at_;
      if (next_is("[")) refuse("a range that ends with a class");
      const char32_t last = class_char();
      if (last < first) refuse("a range that ends before it begins");
      inside += hex(first, last);
    }
    if (intersection.empty() && others.empty() && some) return (negative ? "[^" : "[") + inside + "]";
    const std::string all = intersection.empty() ? united() : "(?:" + intersection + united() + ")";
    return negative ? "(?:(?!" + all + ")(?s:.))" : all;
  }

  char32_t class_char() {
    if (!next_is("\\")) return take_char();
    if (next_is("\\b")) refuse("'\\b' in a class is not supported");
    bool without = false;
    const std::size_t from = at_;
    if (!set_escape(false, without).empty()) {
      at_ = from;
      refuse("a range that ends with a set");
    }
    return char_escape();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string translate_expression(std::string_view expression) { return Translator(expression).translate(); }

std::string word_characters() { return word_core() + "\\x{200c}\\x{200d}"; }
std::string space_characters() { return kSpaces; }
std::string digit_class() { return "[" + numbers() + hex(kAddedDigits) + "]"; }
std::string punctuation_class() {
  std::string known;
  for (char32_t c = '!'; c <= '~'; ++c)
    if (!std::isalnum(static_cast<int>(c))) known += hex(c);
  return "(?![" + hex(kNotPunctuation) + "])[\\p{P}" + known + hex(kStillPunctuation) + "]";
}

}  // namespace catenary::tokenizers
