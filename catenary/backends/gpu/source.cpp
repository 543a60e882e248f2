#include "catenary/backends/gpu/source.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "catenary/core/format.h"
#include "catenary/kernels/texts.h"

namespace catenary::gpu {

namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

template <class F>
void for_each_word(std::string_view text, F&& f) {
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    f(text.substr(i, end - i));
    i = end;
  }
}

/// A function, type, table or macro of the helper texts, or a line of conditional compilation (without a name).
struct Helper {
  std::string_view name, text;
  std::vector<std::string_view> words;
};

/// Splits the helper texts. Helpers follow a format: a helper begins at the start of a line, and ends with a line
/// outside of braces that ends in '}', ';' or without a backslash.
void split_helpers(std::string_view text, std::vector<Helper>& helpers) {
  while (!text.empty()) {
    const std::size_t line_end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, line_end);
    std::size_t end = line_end;
    Helper helper;
    const std::size_t hash = line.find_first_not_of(" ");
    if (line == "\n" || line.starts_with("//")) {
      text.remove_prefix(end);
      continue;
    }
    if (hash != std::string_view::npos && line[hash] == '#') {
      const std::size_t directive = line.find_first_not_of(" ", hash + 1);
      if (line.substr(directive).starts_with("define")) {
        while (text.substr(0, end).ends_with("\\\n")) end = std::min(text.find('\n', end), text.size() - 1) + 1;
        int word = 0;
        for_each_word(text.substr(0, end), [&](std::string_view w) {
          if (++word == 2) helper.name = w;
        });
      }
    } else {
      int depth = 0;
      for (end = 0; end < text.size(); ++end) {
        if (text[end] == '{') ++depth;
        if (text[end] == '}') --depth;
        if (text[end] == '\n' && depth == 0 && end > 0 && (text[end - 1] == '}' || text[end - 1] == ';')) break;
      }
      end = std::min(end + 1, text.size());
      const std::string_view whole = text.substr(0, end);
      if (whole.starts_with("typedef")) {
        for_each_word(whole, [&](std::string_view w) { helper.name = w; });  // the name is the last word
      } else {
        const std::string_view head = whole.substr(0, whole.find_first_of("(["));
        for_each_word(head, [&](std::string_view w) { helper.name = w; });
      }
    }
    helper.text = text.substr(0, end);
    for_each_word(helper.text, [&](std::string_view w) { helper.words.push_back(w); });
    helpers.push_back(helper);
    text.remove_prefix(end);
  }
}

struct Helpers {
  std::vector<Helper> all;
  std::unordered_multimap<std::string_view, std::size_t> by_name;

  Helpers() {
    for (const char* text : {"memory",
                             "math",
                             "special",
                             "special_limits",
                             "special_integers",
                             "special_bessel",
                             "special_bessel_f32",
                             "special_integrals",
                             "special_integrals_f32",
                             "special_elliptic",
                             "special_elliptic_f32",
                             "special_gamma",
                             "special_gamma_f32",
                             "special_incomplete",
                             "special_incomplete_f32",
                             "special_distributions",
                             "special_distributions_f32",
                             "special_wright_zeta",
                             "special_wright_zeta_f32",
                             "rows",
                             "complex",
                             "complex128",
                             "complex_casts",
                             "axes"})
      split_helpers(kernels::text(text), all);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!all[i].name.empty()) by_name.emplace(all[i].name, i);
  }
};

}  // namespace

std::string define_lines(const Defines& defines) {
  std::string lines;
  for (const Define& define : defines)
    lines += define.text ? fmt::format("#define {} {}{}\n", define.name, define.text, define.more)
                         : fmt::format("#define {} {}\n", define.name, define.number);
  return lines;
}

std::string assemble_source(std::string_view dialect, std::string_view device_defines, std::string_view defines,
                            std::string_view kernels) {
  static const Helpers* helpers = new Helpers;
  std::vector<bool> needed(helpers->all.size());
  std::vector<std::size_t> to_read;
  const auto ask_for = [&](std::string_view word) {
    const auto [begin, end] = helpers->by_name.equal_range(word);
    for (auto i = begin; i != end; ++i) {
      if (needed[i->second]) continue;
      needed[i->second] = true;
      to_read.push_back(i->second);
    }
  };
  for_each_word(defines, ask_for);
  for_each_word(kernels, ask_for);
  while (!to_read.empty()) {
    const Helper& helper = helpers->all[to_read.back()];
    to_read.pop_back();
    for (std::string_view word : helper.words) ask_for(word);
  }
  std::string source = fmt::format("{}{}{}", device_defines,
                                   kernels::text(dialect == "opencl" ? "prelude_opencl"
                                                 : dialect == "host" ? "prelude_host"
                                                                     : "prelude_cuda"),
                                   defines);
  std::vector<std::string_view> open;  // conditionals without contents so far
  for (std::size_t i = 0; i < helpers->all.size(); ++i) {
    const Helper& helper = helpers->all[i];
    if (!helper.name.empty()) {
      if (!needed[i]) continue;
      for (std::string_view& condition : open) {
        source += condition;
        condition = {};
      }
      source += helper.text;
    } else if (helper.text.find("#if") != std::string_view::npos) {
      open.push_back(helper.text);
    } else if (helper.text.find("endif") != std::string_view::npos && !open.empty()) {
      if (open.back().empty()) source += helper.text;
      open.pop_back();
    } else {
      source += helper.text;
    }
  }
  source += kernels;
  return source;
}

}  // namespace catenary::gpu
