#include "tools/catenary/mixture.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

#include "catenary/core/format.h"

namespace catenary::command {

namespace {

/// A tensor's name in parts: "blk.3.attn_v.weight" has the layer 3 and the role "attn_v".
struct Name {
  std::optional<std::int64_t> layer;
  std::string_view role;
};

Name parts_of(std::string_view name) {
  Name parts;
  std::vector<std::string_view> words;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("./"), name.size());
    words.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  for (const std::string_view word : words) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size() && number >= 0) {
      parts.layer = number;
      break;
    }
  }
  if (words.size() >= 2) parts.role = words[words.size() - 2];
  return parts;
}

template <std::size_t N>
bool is_one_of(std::string_view role, const std::array<const char*, N>& roles) {
  return std::ranges::count(roles, role) > 0;
}

// the names in GGUF, transformers and Catenary
constexpr std::array kOutputs = {"output", "lm_head", "head"};
constexpr std::array kEmbeddings = {"token_embd", "embed_tokens", "tokens"};
constexpr std::array kValues = {"attn_v", "v_proj", "attn_qkv"};
constexpr std::array kLastProjections = {"ffn_down", "down_proj"};

bool is_weight(const std::string& name) { return name.ends_with("weight") || name.ends_with("/W"); }

bool equal(std::string_view a, std::string_view b) {
  const auto small = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, small, small);
}

}  // namespace

Mixture::Mixture(const std::string& name) {
  if (equal(name, "Q4_K_M") || equal(name, "Q4_K_S")) {
    size_ = equal(name, "Q4_K_M") ? Size::medium : Size::small;
    base_ = Quantization::q4_k;
  } else if (const auto kind = quantization_from_name(name)) {
    base_ = *kind;
  } else {
    fail<ValueError>("quantize: unknown kind '{}'; expected one of Q8_0, Q6_K, Q4_K_M, Q4_K_S, Q4_K, Q4_0, int8", name);
  }
}

void Mixture::look_at(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Name parts = parts_of(name);
    if (parts.layer) layers_ = std::max(layers_, *parts.layer + 1);
    if (is_weight(name) && is_one_of(parts.role, kOutputs)) has_output_ = true;
  }
}

bool Mixture::has_more_bits(const std::string& name) const {
  if (!is_weight(name)) return false;
  const Name parts = parts_of(name);
  if (!parts.layer) return is_one_of(parts.role, kOutputs) || (!has_output_ && is_one_of(parts.role, kEmbeddings));
  const bool is_value = is_one_of(parts.role, kValues), is_last = is_one_of(parts.role, kLastProjections);
  if (!is_value && !is_last) return false;
  const std::int64_t layer = *parts.layer, eighth = layers_ / 8;
  if (size_ == Size::small) return parts.role != "attn_qkv" && layer < (is_value ? 4 : eighth);
  if (parts.role == "attn_qkv") return true;
  return layer < eighth || layer >= 7 * layers_ / 8 || (layer - eighth) % 3 == 2;
}

Quantization Mixture::kind(const std::string& name, std::int64_t columns) const {
  if (size_ == Size::none) return base_;
  if (columns % quantization_info(base_).elements != 0) return Quantization::q8_0;
  return has_more_bits(name) ? Quantization::q6_k : base_;
}

std::string Mixture::description() const {
  if (size_ == Size::none) return "";
  return fmt::format("{}: Q4_K, and Q6_K for the last layer{}; Q8_0 for rows that are no multiple of 256\n",
                     size_ == Size::medium ? "Q4_K_M" : "Q4_K_S",
                     size_ == Size::medium ? ", joined queries, keys and values, and half of attn_v and ffn_down"
                                           : " and where llama.cpp has Q5_K (attn_v and ffn_down of the first layers)");
}

std::optional<std::uint32_t> Mixture::file_type() const {
  constexpr std::uint32_t kSmall = 14, kMedium = 15;
  if (size_ == Size::none) return {};
  return size_ == Size::medium ? kMedium : kSmall;
}

}  // namespace catenary::command
