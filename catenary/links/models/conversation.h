#pragma once
// A chat whose answers depend on all earlier messages.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/links/models/generator.h"

namespace catenary::links {

/// A chat with a generator's model. Keys and values of earlier messages stay in caches, so they are computed once. The
/// generator must outlive the conversation.
class CT_API Conversation {
 public:
  /// Starts a chat, with an optional system message. Throws ValueError if the model has no known chat form, or if the
  /// system message contains the text of a special token.
  explicit Conversation(const Generator& generator, std::optional<std::string> system = {});
  /// Returns the answer to a message. Ignores `options.chat` and `options.system`. Throws the errors of Generator's
  /// call. After an error, or when `on_prompt` stops the call, the conversation continues as if the message had not
  /// been sent.
  std::string operator()(std::string_view message, const GeneratorOptions& options = {});
  /// All tokens so far, including those of the chat form.
  const std::vector<std::int64_t>& tokens() const { return tokens_; }
  /// How many of these tokens the caches hold; the model does not process them again.
  std::int64_t computed() const;

 private:
  const Generator* generator_;
  std::optional<std::string> system_;
  std::vector<KeyValueCache> caches_;
  std::vector<std::int64_t> tokens_;
};

}  // namespace catenary::links
