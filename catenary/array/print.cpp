// Text of arrays, as numpy.array2string formats it.

#include "catenary/array/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <ostream>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/indexing.h"
#include "catenary/array/view.h"
#include "catenary/core/format.h"

namespace catenary {

namespace {

/// PrintOptions with NumPy's defaults.
struct Style {
  int precision = 8;
  std::int64_t threshold = 1000;
  std::int64_t edge_items = 3;
  int line_width = 75;
  bool suppress = false;
  std::string nan = "nan", inf = "inf";
};

/// The style of the process.
class Styles {
 public:
  static Style get() {
    std::lock_guard lock(instance().mutex_);
    return instance().style_;
  }
  static void set(const Style& style) {
    std::lock_guard lock(instance().mutex_);
    instance().style_ = style;
  }

 private:
  static Styles& instance() {
    static Styles styles;
    return styles;
  }
  std::mutex mutex_;
  Style style_;
};

/// |x| = digits[0].digits[1]digits[2]… * 10^exponent, without trailing zeros.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal parse_scientific(const char* begin, const char* end) {
  Decimal d;
  const char* e = std::find(begin, end, 'e');
  for (const char* c = begin; c != e; ++c)
    if (*c >= '0' && *c <= '9') d.digits += *c;
  d.exponent = std::atoi(std::string(e + 1, end).c_str());
  while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  return d;
}

/// Returns `count` digits of |x|, rounded exactly (ties to even).
Decimal rounded(double x, int count) {
  char text[64];
  const int length = std::snprintf(text, sizeof text, "%.*e", count - 1, std::fabs(x));
  return parse_scientific(text, text + length);
}

/// Returns the fewest digits that identify x among the numbers of its type.
template <class T>
Decimal shortest(T x) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    char text[64];
    const auto result = std::to_chars(text, text + sizeof text, std::fabs(x), std::chars_format::scientific);
    return parse_scientific(text, result.ptr);
  } else {
    const double wide = std::fabs(static_cast<double>(float{x}));
    for (int count = 1;; ++count) {
      const Decimal d = rounded(wide, count);
      const double back = std::strtod(
          (d.digits.substr(0, 1) + "." + d.digits.substr(1) + "e" + std::to_string(d.exponent)).c_str(), nullptr);
      if (count >= 9 || static_cast<double>(float{T(static_cast<float>(back))}) == wide) return d;
    }
  }
}

template <class T>
double wide(T x) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return static_cast<double>(float{x});
  } else {
    return static_cast<double>(x);
  }
}

/// A number as whole part with sign, "-12.", and fraction, "5". The fraction has at most `precision` digits.
struct Parts {
  std::string whole, fraction;
  int exponent = 0;
};

template <class T>
Parts positional(T x, int precision) {
  const double value = wide(x);
  Decimal d = shortest(x);
  if (value != 0 && static_cast<int>(d.digits.size()) - 1 - d.exponent > precision) {
    char text[512];
    const int length = std::snprintf(text, sizeof text, "%.*f", precision, std::fabs(value));
    const std::string s(text, static_cast<std::size_t>(length));
    Parts parts{s.substr(0, s.find('.')), precision ? s.substr(s.find('.') + 1) : "", 0};
    while (!parts.fraction.empty() && parts.fraction.back() == '0') parts.fraction.pop_back();
    if (std::signbit(value)) parts.whole.insert(0, "-");
    return parts;
  }
  Parts parts;
  const int point = d.exponent + 1;  // digits before the point
  for (int i = 0; i < point; ++i)
    parts.whole += i < static_cast<int>(d.digits.size()) ? d.digits[static_cast<std::size_t>(i)] : '0';
  if (point <= 0) parts.whole = "0";
  for (int i = point; i < static_cast<int>(d.digits.size()); ++i)
    parts.fraction += i < 0 ? '0' : d.digits[static_cast<std::size_t>(i)];
  if (value == 0 || parts.fraction == "0") parts.fraction.clear();
  if (std::signbit(value)) parts.whole.insert(0, "-");
  return parts;
}

template <class T>
Parts scientific(T x, int precision) {
  Decimal d = shortest(x);
  if (static_cast<int>(d.digits.size()) - 1 > precision) d = rounded(wide(x), precision + 1);
  return {(std::signbit(wide(x)) ? "-" : "") + d.digits.substr(0, 1), d.digits.substr(1),
          wide(x) == 0 ? 0 : d.exponent};
}

std::string exponent_text(int exponent, int digits) {
  return fmt::format("e{}{:0{}d}", exponent < 0 ? '-' : '+', std::abs(exponent), digits);
}
int exponent_digits(int exponent) { return std::abs(exponent) >= 100 ? 3 : 2; }

/// The decimal digits that a type always preserves (NumPy's finfo.precision).
template <class T>
constexpr int sure_digits = std::is_same_v<T, double>    ? 15
                            : std::is_same_v<T, float>   ? 6
                            : std::is_same_v<T, float16> ? 3
                                                         : 2;

/// The common format of all elements of an array, which aligns them in columns.
template <class T>
class Format;

template <class T>
requires(!std::is_integral_v<T>) class Format<T> {
 public:
  /// `plus` writes the sign of positive numbers, too.
  Format(const std::vector<T>& values, const Style& style, bool plus = false) : style_(style), plus_(plus) {
    double largest = 0, smallest = INFINITY;
    bool finite = false, special = false, negative_infinity = false;
    for (T x : values) {
      const double v = wide(x);
      if (!std::isfinite(v)) {
        special = true;
        negative_infinity |= v == -INFINITY;
        continue;
      }
      finite = true;
      if (v != 0) {
        largest = std::max(largest, std::fabs(v));
        smallest = std::min(smallest, std::fabs(v));
      }
    }
    if (largest > 0) {
      // NumPy compares in the array's own type
      const T small = narrow(1e-4), quotient = narrow(largest / smallest);
      scientific_ = largest >= std::pow(10.0, std::min(8, sure_digits<T>)) ||
                    (!style.suppress && (smallest < wide(small) || wide(quotient) > 1000));
    }
    if (finite && scientific_) {
      precision_ = 0;
      for (T x : values) {
        if (!std::isfinite(wide(x))) continue;
        const Parts parts = scientific(x, style.precision);
        precision_ = std::max(precision_, static_cast<int>(parts.fraction.size()));
        left_ = std::max(left_, static_cast<int>(signed_text(parts.whole).size()));
        exponent_digits_ = std::max(exponent_digits_, exponent_digits(parts.exponent));
      }
      right_ = exponent_digits_ + 2 + precision_;
    } else if (finite) {
      for (T x : values) {
        if (!std::isfinite(wide(x))) continue;
        const Parts parts = positional(x, style.precision);
        left_ = std::max(left_, static_cast<int>(signed_text(parts.whole).size()));
        right_ = std::max(right_, static_cast<int>(parts.fraction.size()));
      }
    }
    const auto nan = static_cast<int>(style.nan.size()),
               inf = static_cast<int>(style.inf.size()) + (negative_infinity || plus);
    if (special) left_ = std::max({left_, nan - (right_ + 1), inf - (right_ + 1)});
  }

  std::string operator()(T x) const {
    const double v = wide(x);
    if (!std::isfinite(v))
      return fmt::format("{:>{}}",
                         std::isnan(v) ? signed_text(style_.nan)
                         : v < 0       ? "-" + style_.inf
                                       : signed_text(style_.inf),
                         left_ + right_ + 1);
    if (scientific_) {
      // uses as many digits as the longest number, beyond the shortest representation
      Decimal d = rounded(v, precision_ + 1);
      d.digits.resize(static_cast<std::size_t>(precision_) + 1, '0');
      const std::string whole = signed_text((std::signbit(v) ? "-" : "") + d.digits.substr(0, 1));
      return fmt::format("{:>{}}.{}{}", whole, left_, d.digits.substr(1), exponent_text(d.exponent, exponent_digits_));
    }
    const Parts parts = positional(x, style_.precision);
    return fmt::format("{:>{}}.{:<{}}", signed_text(parts.whole), left_, parts.fraction, right_);
  }

 private:
  std::string signed_text(const std::string& text) const { return plus_ && text[0] != '-' ? "+" + text : text; }
  static T narrow(double v) {
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
      return T(static_cast<float>(v));
    } else {
      return static_cast<T>(v);
    }
  }

  const Style& style_;
  bool plus_;
  bool scientific_ = false;
  int left_ = 0, right_ = 0, precision_ = 0, exponent_digits_ = 2;
};

template <class T>
requires(std::is_integral_v<T>) class Format<T> {
 public:
  Format(const std::vector<T>& values, const Style&) {
    if (values.empty()) return;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    width_ = std::max(fmt::formatted_size("{}", *low), fmt::formatted_size("{}", *high));
  }
  std::string operator()(T x) const { return fmt::format("{:>{}}", x, width_); }

 private:
  std::size_t width_ = 0;
};

/// Returns the positions of a long axis that are printed: some at both ends.
std::vector<std::int64_t> shown_positions(std::int64_t n, std::int64_t edge_items) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < n; ++i) {
    if (n > 2 * edge_items && i == edge_items) i = n - edge_items;
    positions.push_back(i);
  }
  return positions;
}

/// Writes nested brackets around elements that are already formatted.
class Layout {
 public:
  Layout(const Shape& full, const Shape& shown, const std::vector<std::string>& words, std::string_view separator,
         std::int64_t edge_items)
      : full_(full), shown_(shown), words_(words), separator_(separator), edge_items_(edge_items) {}

  std::string text(int axis, std::size_t& word, const std::string& indent, int width) const {
    if (axis == full_.size()) return words_[word++];
    const std::string inner_indent = indent + ' ';
    const bool gap = shown_[axis] != full_[axis];
    std::string text;
    if (axis + 1 == full_.size()) {
      const auto limit = static_cast<std::size_t>(std::max(width - std::max(static_cast<int>(trimmed().size()), 1), 1));
      std::string line = indent;
      const auto put = [&](const std::string& w) {
        if (line.size() + w.size() > limit && line.size() > indent.size()) {
          while (!line.empty() && line.back() == ' ') line.pop_back();
          text += line + "\n";
          line = indent;
        }
        line += w;
      };
      for (std::int64_t i = 0; i < shown_[axis]; ++i) {
        if (gap && i == edge_items_) {
          put("...");
          line += separator_;
        }
        put(words_[word++]);
        if (i + 1 < shown_[axis]) line += separator_;
      }
      text += line;
    } else {
      const std::string line_end =
          std::string(trimmed()) + std::string(static_cast<std::size_t>(full_.size() - axis - 1), '\n');
      for (std::int64_t i = 0; i < shown_[axis]; ++i) {
        if (gap && i == edge_items_) text += indent + "..." + line_end;
        text += indent + this->text(axis + 1, word, inner_indent, width - 1);
        if (i + 1 < shown_[axis]) text += line_end;
      }
    }
    return '[' + text.substr(indent.size()) + ']';
  }

 private:
  std::string_view trimmed() const { return separator_.substr(0, separator_.find_last_not_of(' ') + 1); }

  const Shape& full_;
  const Shape& shown_;
  const std::vector<std::string>& words_;
  std::string_view separator_;
  std::int64_t edge_items_;
};

/// Formats complex numbers: both parts, with j before the padding of the second part.
template <class T>
std::vector<std::string> complex_words(const Array& a, const Style& style) {
  const std::vector<T> re = real(a).to_vector<T>(), im = imag(a).to_vector<T>();
  const Format<T> format_re(re, style), format_im(im, style, true);
  std::vector<std::string> words;
  words.reserve(re.size());
  for (std::size_t i = 0; i < re.size(); ++i) {
    std::string second = format_im(im[i]);
    second.insert(second.find_last_not_of(' ') + 1, "j");
    words.push_back(format_re(re[i]) + second);
  }
  return words;
}

/// Formats the elements that are shown.
std::vector<std::string> words_of(const Array& a, const Style& style) {
  if (a.dtype() == Dtype::complex64) return complex_words<float>(a, style);
  if (a.dtype() == Dtype::complex128) return complex_words<double>(a, style);
  return visit_dtype(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<std::string> words;
    if constexpr (std::is_same_v<T, bool>) {
      for (bool x : a.to_vector<bool>()) words.push_back(x ? a.ndim() ? " True" : "True" : "False");
    } else {
      const std::vector<T> values = a.to_vector<T>();
      const Format<T> format(values, style);
      words.reserve(values.size());
      for (T x : values) words.push_back(format(x));
    }
    return words;
  });
}

std::string array_text(const Array& a, const Style& style, std::string_view separator, int prefix, int width) {
  if (a.size() == 0) return "[]";
  const bool summarise = a.size() > style.threshold;
  Array shown = a;
  for (int axis = 0; summarise && axis < a.ndim(); ++axis) {
    const std::vector<std::int64_t> positions = shown_positions(a.shape()[axis], style.edge_items);
    if (static_cast<std::int64_t>(positions.size()) == a.shape()[axis]) continue;
    shown = take(
        shown,
        Array::from_host(positions.data(), {static_cast<std::int64_t>(positions.size())}, Dtype::int64, a.device()),
        axis);
  }
  const std::vector<std::string> words = words_of(shown, style);
  std::size_t word = 0;
  return Layout(a.shape(), shown.shape(), words, separator, style.edge_items)
      .text(0, word, std::string(static_cast<std::size_t>(prefix) + 1, ' '), width);
}

/// Formats a single number with all digits that it needs.
std::string scalar_text(const Array& a) {
  if (is_complex(a.dtype())) {
    const auto short_text = [](const Array& part) {
      const std::string text = scalar_text(part);
      return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
    };
    const std::string re = short_text(real(a)), im = short_text(imag(a));
    if (re == "0") return im + "j";
    return fmt::format("({}{}{}j)", re, im[0] == '-' ? "" : "+", im);
  }
  return visit_dtype(a.dtype(), [&](auto zero) -> std::string {
    using T = decltype(zero);
    const T x = a.item<T>();
    if constexpr (std::is_same_v<T, bool>) {
      return x ? "True" : "False";
    } else if constexpr (std::is_integral_v<T>) {
      return fmt::format("{}", x);
    } else {
      const double v = wide(x);
      if (!std::isfinite(v)) return std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";
      const double limit = std::is_same_v<T, double> ? 1e16 : std::pow(10.0, sure_digits<T>);
      if (v == 0 || (std::fabs(v) >= 1e-4 && std::fabs(v) < limit)) {
        const Parts parts = positional(x, 400);
        return parts.whole + "." + (parts.fraction.empty() ? "0" : parts.fraction);
      }
      const Parts parts = scientific(x, 40);
      return parts.whole + (parts.fraction.empty() ? "" : "." + parts.fraction) +
             exponent_text(parts.exponent, exponent_digits(parts.exponent));
    }
  });
}

}  // namespace

void set_printoptions(const PrintOptions& options) {
  Style style = Styles::get();
  const auto put = [](auto& to, const auto& from, std::int64_t least, const char* name) {
    if (!from) return;
    if (*from < least) fail<ValueError>("set_printoptions: {} must be at least {}, {} was given", name, least, *from);
    to = *from;
  };
  put(style.precision, options.precision, 0, "precision");
  put(style.threshold, options.threshold, 0, "threshold");
  put(style.edge_items, options.edgeitems, 1, "edgeitems");
  put(style.line_width, options.linewidth, 1, "linewidth");
  if (options.suppress) style.suppress = *options.suppress;
  if (options.nanstr) style.nan = *options.nanstr;
  if (options.infstr) style.inf = *options.infstr;
  Styles::set(style);
}

PrintOptions get_printoptions() {
  const Style style = Styles::get();
  return {style.precision, style.threshold, style.edge_items, style.line_width, style.suppress, style.nan, style.inf};
}

std::string to_string(const Array& a) {
  const Style style = Styles::get();
  return a.ndim() == 0 ? scalar_text(a) : array_text(a, style, " ", 0, style.line_width);
}

std::string repr(const Array& a) {
  const Style style = Styles::get();
  const std::string prefix = "array(";
  std::string text = prefix + array_text(a, style, ", ", static_cast<int>(prefix.size()), style.line_width - 1);
  std::vector<std::string> extras;
  if ((a.size() == 0 && !(a.shape() == Shape{0})) || a.size() > style.threshold)
    extras.push_back("shape=" + a.shape().str());
  const bool implied = a.dtype() == Dtype::float64 || a.dtype() == Dtype::int64 || a.dtype() == Dtype::bool_ ||
                       a.dtype() == Dtype::complex128;
  if (!implied || a.size() == 0) extras.push_back(std::string("dtype=") + dtype_name(a.dtype()));
  if (extras.empty()) return text + ")";
  text += ",";
  const std::string tail = fmt::format("{})", fmt::join(extras, ", "));
  const std::size_t last_line = text.size() - (text.rfind('\n') + 1);
  const bool fits = last_line + tail.size() + 1 <= static_cast<std::size_t>(style.line_width);
  return text + (fits ? " " : "\n" + std::string(prefix.size(), ' ')) + tail;
}

std::ostream& operator<<(std::ostream& stream, const Array& a) { return stream << to_string(a); }

}  // namespace catenary
