#pragma once
// The text that chat models expect around each message.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"
#include "catenary/tokenizers/tokenizer.h"

namespace catenary::links {

/// The text around a chat's messages, for one family of models.
struct CT_API ChatForm {
  std::string name;
  std::string begin;               ///< at the beginning of a chat without a system message
  std::string before_user;         ///< before each message of the user
  std::string before_answer;       ///< after the user's message, before the answer
  std::string after_answer;        ///< after an answer, before the next message
  bool trims = false;              ///< strip white space around each message
  std::string before_system = {};  ///< replaces `begin` in a chat with a system message
  std::string after_system = {};   ///< after the system message
  bool system_in_user = false;     ///< put the system message after before_user of the first message
  /// Returns a user's message with the text around it, up to the beginning of the answer. Pass first = true for the
  /// chat's first message, which the system message precedes, and false for messages that follow an answer.
  std::string turn(std::string_view message, bool first, const std::optional<std::string>& system = {}) const;
};
/// Returns the form of a chat template written in Jinja (from tokenizer_config.json or GGUF): llama-3, chatml (Qwen2),
/// glm-4, zephyr (TinyLlama) or inst (Llama 2, Mistral). Marks in the template identify the family. The default system
/// message and spaces differ within a family and are read from the template. The template is not executed, so other
/// features such as tools are ignored. Templates that print the date (Llama 3.2) get `date`, by default today's,
/// written as "05 Mar 2026". Returns nullopt for unknown templates.
CT_API std::optional<ChatForm> chat_form(std::string_view chat_template, const std::string& date = "");
/// Returns the tokens that end a text or a chat turn: the tokenizer's eos_id, the added tokens that llama.cpp
/// recognises by name (`<|im_end|>`, `<|eot_id|>`, `<end_of_turn>`, …), and the first special token that the form puts
/// after an answer.
CT_API std::vector<std::int64_t> end_of_turn_tokens(const Tokenizer& tokenizer,
                                                    const std::optional<ChatForm>& form = {});
/// Returns the names of the forms that chat_form can return.
CT_API std::vector<std::string> chat_forms();

}  // namespace catenary::links
