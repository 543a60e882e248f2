#include "tools/catenary/mixture.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "catenary/core/format.h"
#include "catenary/core/lower.h"

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
constexpr std::array kAttentionOutputs = {"attn_output", "o_proj"};

bool is_weight(const std::string& name) { return name.ends_with("weight") || name.ends_with("/W"); }

bool equal(std::string_view a, std::string_view b) { return lower(a) == lower(b); }

}  // namespace

struct Recipe {
  /// Some of a model's layers.
  enum class Layers : std::uint8_t { first_two, first_four, first_sixteenth, first_eighth, half, all };

  /// The kind of a role's tensors in some layers, and in the others, where it may be the base.
  struct Choice {
    Layers layers;
    Quantization there;
    std::optional<Quantization> elsewhere = {};
  };

  const char* name;
  std::uint32_t file_type;  // GGUF's
  Quantization base;
  std::optional<Choice> values, last_projections, attention_outputs;  // else the base
  const char* text;
};

namespace {

using Layers = Recipe::Layers;
using Choice = Recipe::Choice;

bool contains(Layers layers, std::int64_t layer, std::int64_t count) {
  const std::int64_t eighth = count / 8;
  switch (layers) {
    case Layers::first_two:
      return layer < 2;
    case Layers::first_four:
      return layer < 4;
    case Layers::first_sixteenth:
      return layer < count / 16;
    case Layers::first_eighth:
      return layer < eighth;
    case Layers::half:  // the first and last eighth, and every third layer between them
      return layer < eighth || layer >= 7 * count / 8 || (layer - eighth) % 3 == 2;
    case Layers::all:
      break;
  }
  return true;
}

using enum Quantization;
constexpr Choice kHalf{Layers::half, q6_k, std::nullopt};
constexpr Recipe kRecipes[] = {
    {"Q3_K_S", 11, q3_k, {}, {}, {}, ""},
    {"Q3_K_M", 12, q3_k, Choice{Layers::first_two, q5_k, q4_k}, Choice{Layers::first_sixteenth, q5_k, q4_k},
     Choice{Layers::all, q4_k}, ", Q4_K for attn_v, ffn_down and attn_output (Q5_K in the first layers)"},
    {"Q3_K_L", 13, q3_k, Choice{Layers::all, q5_k}, Choice{Layers::all, q5_k}, Choice{Layers::all, q5_k},
     ", Q5_K for attn_v, ffn_down and attn_output"},
    {"Q4_K_S",
     14,
     q4_k,
     Choice{Layers::first_four, q5_k},
     Choice{Layers::first_eighth, q5_k},
     {},
     ", Q5_K for attn_v and ffn_down of the first layers"},
    {"Q4_K_M", 15, q4_k, kHalf, kHalf, {}, " and half of attn_v and ffn_down"},
    {"Q5_K_S", 16, q5_k, {}, {}, {}, ""},
    {"Q5_K_M", 17, q5_k, kHalf, kHalf, {}, " and half of attn_v and ffn_down"},
};

}  // namespace

Mixture::Mixture(const std::string& name) {
  for (const Recipe& recipe : kRecipes)
    if (equal(name, recipe.name)) recipe_ = &recipe;
  const auto kind = quantization_from_name(name);
  if (!recipe_ && !kind)
    fail<ValueError>("quantize: unknown kind '{}'; expected one of {}, {}", name, quantization_names(), names());
  base_ = recipe_ ? recipe_->base : *kind;
}

std::string Mixture::names() {
  std::string all;
  for (const Recipe& recipe : kRecipes) all += (all.empty() ? "" : ", ") + std::string(recipe.name);
  return all;
}

void Mixture::look_at(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Name parts = parts_of(name);
    if (parts.layer) layers_ = std::max(layers_, *parts.layer + 1);
    if (is_weight(name) && is_one_of(parts.role, kOutputs)) has_output_ = true;
  }
}

Quantization Mixture::kind(const std::string& name, std::int64_t columns) const {
  if (!recipe_) return base_;
  if (columns % quantization_info(base_).elements != 0) return Quantization::q8_0;
  if (!is_weight(name)) return base_;
  const Name parts = parts_of(name);
  if (!parts.layer) {
    const bool is_last = is_one_of(parts.role, kOutputs) || (!has_output_ && is_one_of(parts.role, kEmbeddings));
    return is_last ? Quantization::q6_k : base_;
  }
  const auto chosen = [&](const std::optional<Choice>& choice) {
    if (!choice) return base_;
    return contains(choice->layers, *parts.layer, layers_) ? choice->there : choice->elsewhere.value_or(base_);
  };
  if (is_one_of(parts.role, kValues)) return chosen(recipe_->values);
  if (is_one_of(parts.role, kLastProjections)) return chosen(recipe_->last_projections);
  if (is_one_of(parts.role, kAttentionOutputs)) return chosen(recipe_->attention_outputs);
  return base_;
}

std::string Mixture::description() const {
  if (!recipe_) return "";
  return fmt::format("{}: {}, and Q6_K for the last layer{}; Q8_0 for rows that are no multiple of 256\n",
                     recipe_->name, quantization_info(base_).name, recipe_->text);
}

std::optional<std::uint32_t> Mixture::file_type() const {
  if (!recipe_) return {};
  return recipe_->file_type;
}

}  // namespace catenary::command
