#include "catenary/links/models/chat_form.h"

#include <algorithm>
#include <ctime>

#include "catenary/core/format.h"

namespace catenary::links {

namespace {

constexpr auto npos = std::string_view::npos;

struct Family {
  const char* mark;  // that its templates have, and those of the forms before it do not
  ChatForm form;
};
const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"<|start_header_id|>",
       {"llama-3", "<|begin_of_text|>", "<|start_header_id|>user<|end_header_id|>\n\n",
        "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>", true}},
      {"<|im_start|>", {"chatml", "", "<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>\n"}},
      {"[gMASK]<sop>", {"glm-4", "[gMASK]<sop>", "<|user|>\n", "<|assistant|>", ""}},
      {"<|user|>", {"zephyr", "", "<|user|>\n", "</s>\n<|assistant|>", "</s>\n"}},
      {"[INST]", {"inst", "<s>", "[INST] ", " [/INST]", "</s>"}},
  };
  return all;
}

bool has(std::string_view text, std::string_view piece) { return text.find(piece) != npos; }

/// The length of the end of a line at the beginning of a text: itself, or as a literal has it.
std::size_t newline(std::string_view text) { return text.starts_with("\n") ? 1 : text.starts_with("\\n") ? 2 : 0; }

/// What a template writes as the message of a system that was not told: text between the marks, without a value.
std::string system_of_chatml(std::string_view text) {
  constexpr std::string_view begin = "<|im_start|>system", end = "<|im_end|>";
  for (std::size_t at = text.find(begin); at != npos; at = text.find(begin, at + 1)) {
    const std::string_view rest = text.substr(at + begin.size());
    const std::size_t from = newline(rest), to = rest.find(end);
    if (from == 0 || to == npos) continue;
    const std::string_view message = rest.substr(from, to - from);
    if (message.find_first_of("'\"{\\") == npos) return fmt::format("{}\n{}{}\n", begin, message, end);
  }
  return "";
}

/// A mark with the blanks that stand beside it in a literal of nothing else; `otherwise` where there is none.
std::string with_blanks(std::string_view text, std::string_view mark, const std::string& otherwise) {
  for (std::size_t at = text.find(mark); at != npos; at = text.find(mark, at + 1)) {
    std::size_t begin = at, end = at + mark.size();
    while (begin > 0 && text[begin - 1] == ' ') --begin;
    while (end < text.size() && text[end] == ' ') ++end;
    if (begin > 0 && end < text.size() && (text[end] == '\'' || text[end] == '"') && text[begin - 1] == text[end])
      return std::string(text.substr(begin, end - begin));
  }
  return otherwise;
}

/// Whether a line ends behind what the template writes last, "<|assistant|>".
bool ends_line(std::string_view text) {
  constexpr std::string_view mark = "<|assistant|>";
  const std::size_t asked = text.rfind("add_generation_prompt"), at = text.find(mark, asked == npos ? 0 : asked);
  if (at == npos) return false;
  text.remove_prefix(at + mark.size());
  if (newline(text) > 0) return true;
  const std::size_t close = text.find("}}");  // of a literal by itself
  return close < 4 && text.substr(0, close).find('-') == npos && newline(text.substr(close + 2)) > 0;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{:02} {} {}", local.tm_mday, kMonths[local.tm_mon], 1900 + local.tm_year);
}

std::string trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kBlanks), end = text.find_last_not_of(kBlanks);
  return begin == npos ? "" : std::string(text.substr(begin, end + 1 - begin));
}

}  // namespace

std::optional<ChatForm> chat_form(std::string_view text, const std::string& date) {
  const auto& all = families();
  const auto found = std::ranges::find_if(all, [&](const Family& family) { return has(text, family.mark); });
  if (found == all.end()) return {};
  ChatForm form = found->form;
  if (form.name == "llama-3" && has(text, "Cutting Knowledge Date")) {
    const std::string told = !has(text, "strftime_now") ? "26 Jul 2024" : date.empty() ? today() : date;
    form.begin += fmt::format(
        "<|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: {}\n\n"
        "<|eot_id|>",
        told);
  } else if (form.name == "chatml") {
    form.begin = system_of_chatml(text);
  } else if (form.name == "glm-4") {
    if (ends_line(text)) form.before_answer += "\n";
  } else if (form.name == "zephyr") {
    // others have these marks, too, and end messages otherwise: Phi-3 by <|end|>
    if (has(text, "<|end|>") || !(has(text, "eos_token") || has(text, "</s>"))) return {};
    if (ends_line(text)) form.before_answer += "\n";
  } else if (form.name == "inst") {
    if (has(text, "default_system_message")) return {};  // which is a page long, and has the date in it
    form.before_user = with_blanks(text, "[INST]", form.before_user);
    form.before_answer = with_blanks(text, "[/INST]", form.before_answer);
    form.trims = has(text, ".strip()");
    if (has(text, "+ ' ' + eos_token")) form.after_answer = " </s>";
    if (has(text, "eos_token + ' '")) form.after_answer = "</s> ";
    if (has(text, "bos_token + '[INST]")) form.after_answer += "<s>";
  }
  return form;
}

std::vector<std::string> chat_forms() {
  std::vector<std::string> names;
  for (const Family& family : families()) names.push_back(family.form.name);
  return names;
}

std::string ChatForm::turn(std::string_view message, bool first) const {
  return (first ? begin : after_answer) + before_user + (trims ? trimmed(message) : std::string(message)) +
         before_answer;
}

}  // namespace catenary::links
