#pragma once
// A chat: answers that know what was said before.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/links/models/generator.h"

namespace catenary::links {

/// A chat with a generator's model, which lives as long: each answer follows all that was said before, whose keys and
/// values are kept and not computed again.
class CT_API Conversation {
 public:
  /// The system's message, where one is given, stands before all others. Throws ValueError where the form of the
  /// model's chats is not known, and for a system's message that has the letters of a special token.
  explicit Conversation(const Generator& generator, std::optional<std::string> system = {});
  /// The answer to a message; `options.chat` and `options.system` are not looked at. Throws what Generator's call
  /// throws; the message is as if it had not been, then, and where `on_prompt` ended it.
  std::string operator()(std::string_view message, const GeneratorOptions& options = {});
  /// All that was said, with what stands around it.
  const std::vector<std::int64_t>& tokens() const { return tokens_; }
  /// How many of them the model will not see again.
  std::int64_t computed() const;

 private:
  const Generator* generator_;
  std::optional<std::string> system_;
  std::vector<KeyValueCache> caches_;
  std::vector<std::int64_t> tokens_;
};

}  // namespace catenary::links
