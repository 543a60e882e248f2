#pragma once
// What stands around the messages of a chat.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"
#include "catenary/tokenizers/tokenizer.h"

namespace catenary::links {

/// What stands around a chat's messages, of a family of models that has learnt it.
struct CT_API ChatForm {
  std::string name;
  std::string begin;               ///< before all
  std::string before_user;         ///< before a user's message
  std::string before_answer;       ///< behind it, before the answer
  std::string after_answer;        ///< behind an answer, before the next message
  bool trims = false;              ///< blanks around a message are left out
  std::string before_system = {};  ///< before all, where a system's message is given: in place of `begin`
  std::string after_system = {};   ///< behind that message
  bool system_in_user = false;     ///< the system's message stands inside the first one, behind before_user
  /// A user's message up to where the answer begins: the chat's first, or one behind an answer. The system's message
  /// stands before the first.
  std::string turn(std::string_view message, bool first, const std::optional<std::string>& system = {}) const;
};
/// The form that a chat template (tokenizer_config.json's or GGUF's, in Jinja) is written in: llama-3, chatml (Qwen2),
/// glm-4, zephyr (TinyLlama) or inst (Llama 2, Mistral). The family is told by its marks; the system's message and
/// blanks, which differ within a family, by what the template writes. The template is not run: what else it does
/// (tools) is left out. A template that tells the date (Llama 3.2) gets `date`, or today's
/// as "05 Mar 2026". Nothing for another template.
CT_API std::optional<ChatForm> chat_form(std::string_view chat_template, const std::string& date = "");
/// The tokens that end a text, or a turn of a chat in any form: the tokenizer's eos_id, the added tokens that llama.cpp
/// knows by their names (`<|im_end|>`, `<|eot_id|>`, `<end_of_turn>`, …), and the first special token that the form has
/// behind an answer.
CT_API std::vector<std::int64_t> end_of_turn_tokens(const Tokenizer& tokenizer,
                                                    const std::optional<ChatForm>& form = {});
/// The forms that chat_form knows.
CT_API std::vector<std::string> chat_forms();

}  // namespace catenary::links
