#include "catenary/links/models/chat_form.h"

#include <algorithm>
#include <ctime>

#include "catenary/core/format.h"
#include "catenary/core/os/system.h"

namespace catenary::links {

namespace {

constexpr auto npos = std::string_view::npos;

struct Family {
  const char* mark;  // text that occurs in the family's templates, and not in templates of earlier entries
  ChatForm form;
};
const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"<|start_header_id|>",
       {"llama-3", "<|begin_of_text|>", "<|start_header_id|>user<|end_header_id|>\n\n",
        "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>", true,
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>"}},
      {"<|im_start|>",
       {"chatml", "", "<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>\n", false,
        "<|im_start|>system\n", "<|im_end|>\n"}},
      {"[gMASK]<sop>",
       {"glm-4", "[gMASK]<sop>", "<|user|>\n", "<|assistant|>", "", false, "[gMASK]<sop><|system|>\n", ""}},
      {"<|user|>", {"zephyr", "", "<|user|>\n", "</s>\n<|assistant|>", "</s>\n", false, "<|system|>\n", "</s>\n"}},
      {"[INST]", {"inst", "<s>", "[INST] ", " [/INST]", "</s>", false, "<s>[INST] ", "\n\n", true}},
  };
  return all;
}

bool has(std::string_view text, std::string_view piece) { return text.find(piece) != npos; }

/// The length of a line end at the beginning of `text`: a newline, or the escape \n of a Jinja literal.
std::size_t newline(std::string_view text) { return text.starts_with("\n") ? 1 : text.starts_with("\\n") ? 2 : 0; }

/// The default system message of a ChatML template: literal text between the marks, without Jinja expressions.
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

/// The mark with its adjacent spaces, from a literal that holds nothing else; `otherwise` if there is no such literal.
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

/// Whether the template ends the line after its last "<|assistant|>".
bool ends_line(std::string_view text) {
  constexpr std::string_view mark = "<|assistant|>";
  const std::size_t asked = text.rfind("add_generation_prompt"), at = text.find(mark, asked == npos ? 0 : asked);
  if (at == npos) return false;
  text.remove_prefix(at + mark.size());
  if (newline(text) > 0) return true;
  const std::size_t close = text.find("}}");  // end of an expression that is only the literal
  return close < 4 && text.substr(0, close).find('-') == npos && newline(text.substr(close + 2)) > 0;
}

std::string today() {
  const std::tm local = os::local_time(std::time(nullptr));
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
    form.before_system += fmt::format("Cutting Knowledge Date: December 2023\nToday Date: {}\n\n", told);
    form.begin = form.before_system + form.after_system;
  } else if (form.name == "chatml") {
    form.begin = system_of_chatml(text);
  } else if (form.name == "glm-4") {
    if (ends_line(text)) form.before_answer += "\n";
  } else if (form.name == "zephyr") {
    // templates of other models also contain these marks, but end messages differently: Phi-3 with <|end|>
    if (has(text, "<|end|>") || !(has(text, "eos_token") || has(text, "</s>"))) return {};
    if (ends_line(text)) form.before_answer += "\n";
  } else if (form.name == "inst") {
    if (has(text, "default_system_message")) return {};  // its default message is a page long and contains the date
    form.before_user = with_blanks(text, "[INST]", form.before_user);
    form.before_answer = with_blanks(text, "[/INST]", form.before_answer);
    form.trims = has(text, ".strip()");
    form.before_system = form.begin + form.before_user;
    if (has(text, "<<SYS>>")) {
      form.before_system += "<<SYS>>\n";
      form.after_system = "\n<</SYS>>\n\n";
    } else if (has(text, "[SYSTEM_PROMPT]")) {
      form.before_system = form.begin + with_blanks(text, "[SYSTEM_PROMPT]", "[SYSTEM_PROMPT] ");
      form.after_system = "[/SYSTEM_PROMPT]";
      form.system_in_user = false;
    }
    if (has(text, "+ ' ' + eos_token")) form.after_answer = " </s>";
    if (has(text, "eos_token + ' '")) form.after_answer = "</s> ";
    if (has(text, "bos_token + '[INST]")) form.after_answer += "<s>";
  }
  return form;
}

std::vector<std::int64_t> end_of_turn_tokens(const Tokenizer& tokenizer, const std::optional<ChatForm>& form) {
  static constexpr const char* kNames[] = {"<|eot_id|>",
                                           "<|im_end|>",
                                           "<|end|>",
                                           "<|return|>",
                                           "<|call|>",
                                           "<|flush|>",
                                           "<|calls|>",
                                           "<end_of_turn>",
                                           "</s>",
                                           "<|endoftext|>",
                                           "<EOT>",
                                           "<|eom_id|>",
                                           "_<EOT>",
                                           "[EOT]",
                                           "[EOS]",
                                           "<|end_of_text|>",
                                           "<eos>",
                                           "<end_of_utterance>",
                                           "<turn|>",
                                           "[e~[",
                                           "<|user|>",
                                           "<|tool_response>",
                                           "<|end_of_turn|>",
                                           "<|observation|>",
                                           "<｜end▁of▁sentence｜>"};
  const auto added = [&](const char* name) {
    const auto id = tokenizer.id(name);
    return id && tokenizer.is_added(*id) ? id : std::nullopt;
  };
  // as in llama.cpp, neighbouring tokens in the vocabulary show whether <|end|> ends a turn
  const bool is_harmony = (added("<|return|>") && added("<|call|>")) || (added("<|flush|>") && added("<|calls|>"));
  std::vector<std::int64_t> ends;
  const auto add = [&](std::optional<std::int64_t> id) {
    if (id && std::ranges::count(ends, *id) == 0) ends.push_back(*id);
  };
  add(tokenizer.eos_id());
  for (const char* name : kNames) {
    const std::string_view text = name;
    if (text == "<|end|>" && is_harmony) continue;
    if (text == "</s>" && added("<|tool_response>")) continue;
    if (text == "<|user|>" && !(form && form->name == "glm-4")) continue;
    add(added(name));
  }
  if (!form) return ends;
  for (const std::int64_t id :
       tokenizer.encode(form->after_answer + form->before_user, {.add_special = false, .parse_special = true}))
    if (tokenizer.is_special(id)) {
      add(id);
      break;
    }
  return ends;
}

std::vector<std::string> chat_forms() {
  std::vector<std::string> names;
  for (const Family& family : families()) names.push_back(family.form.name);
  return names;
}

std::string ChatForm::turn(std::string_view message, bool first, const std::optional<std::string>& system) const {
  const auto as_written = [&](std::string_view text) { return trims ? trimmed(text) : std::string(text); };
  const bool has_system = first && system;
  std::string text = !first ? after_answer : system ? before_system + as_written(*system) + after_system : begin;
  if (!has_system || !system_in_user) text += before_user;
  return text + as_written(message) + before_answer;
}

}  // namespace catenary::links
