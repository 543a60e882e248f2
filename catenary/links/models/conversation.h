#pragma once
// A chat: answers that know what was said before.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/links/models/generator.h"

namespace catenary::links {

/// A chat with a generator's model, which lives as long: each answer follows all that was said before, whose keys and
/// values are kept and not computed again.
class CT_API Conversation {
 public:
  /// Throws ValueError where the form of the model's chats is not known.
  explicit Conversation(const Generator& generator);
  /// The answer to a message; `options.chat` is not looked at. Throws what Generator's call throws; the message is as
  /// if it had not been, then, and where `on_prompt` ended it.
  std::string operator()(std::string_view message, const GeneratorOptions& options = {});
  /// All that was said, with what stands around it.
  const std::vector<std::int64_t>& tokens() const { return tokens_; }
  /// How many of them the model will not see again.
  std::int64_t computed() const;

 private:
  const Generator* generator_;
  std::vector<KeyValueCache> caches_;
  std::vector<std::int64_t> tokens_;
};

}  // namespace catenary::links
