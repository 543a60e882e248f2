#include "catenary/core/format.h"
#include "catenary/tokenizers/model.h"

namespace catenary::tokenizers {

void Vocabulary::add(std::string_view token, std::uint32_t id) {
  if (const std::string* other = this->token(id))
    fail<ValueError>("'{}' and '{}' have both id {}", other->substr(0, 40), token.substr(0, 40), id);
  if (const auto other = this->id(token); other && *other != id)
    fail<ValueError>("'{}' has the ids {} and {}", token.substr(0, 40), *other, id);
  add_again(token, id);
}

void Vocabulary::add_again(std::string_view token, std::uint32_t id) {
  if (id >= tokens_.size()) tokens_.resize(std::size_t{id} + 1, nullptr);
  const auto [place, made] = ids_.emplace(token, id);
  if (made) {
    tokens_[id] = &place->first;
  } else {
    place->second = id;
    tokens_[id] = repeated_.emplace_back(std::make_unique<std::string>(token)).get();
  }
}

std::optional<std::uint32_t> Vocabulary::id(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string* Vocabulary::token(std::int64_t id) const {
  return id >= 0 && id < size() ? tokens_[static_cast<std::size_t>(id)] : nullptr;
}

}  // namespace catenary::tokenizers
