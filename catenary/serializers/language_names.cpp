#include "catenary/serializers/language_names.h"

#include <algorithm>
#include <set>

namespace catenary::serializers {

namespace {

constexpr LanguageFormat kHuggingFace = LanguageFormat::hugging_face, kGguf = LanguageFormat::gguf;
using enum LanguageLayout;

constexpr const char *kLlamas = "llama mistral qwen2", *kAll = "llama mistral qwen2 glm glm4", *kGlms = "glm glm4",
                     *kGgufAll = "llama qwen2 chatglm glm4", *kGgufGlms = "chatglm glm4";
constexpr const char *kQkvW = "blocks/*/attention/q/W blocks/*/attention/k/W blocks/*/attention/v/W",
                     *kQkvB = "blocks/*/attention/q/b blocks/*/attention/k/b blocks/*/attention/v/b",
                     *kGateUp = "blocks/*/gate/W blocks/*/up/W";

constexpr LanguageName kNames[] = {
    {kHuggingFace, kAll, "model.embed_tokens.weight", "tokens/W"},
    {kHuggingFace, kAll, "model.layers.*.input_layernorm.weight", "blocks/*/norm1/gamma"},
    {kHuggingFace, kAll, "model.layers.*.self_attn.q_proj.weight", "blocks/*/attention/q/W"},
    {kHuggingFace, kAll, "model.layers.*.self_attn.q_proj.bias", "blocks/*/attention/q/b"},
    {kHuggingFace, kAll, "model.layers.*.self_attn.k_proj.weight", "blocks/*/attention/k/W"},
    {kHuggingFace, kAll, "model.layers.*.self_attn.k_proj.bias", "blocks/*/attention/k/b"},
    {kHuggingFace, kAll, "model.layers.*.self_attn.v_proj.weight", "blocks/*/attention/v/W"},
    {kHuggingFace, kAll, "model.layers.*.self_attn.v_proj.bias", "blocks/*/attention/v/b"},
    {kHuggingFace, kAll, "model.layers.*.self_attn.o_proj.weight", "blocks/*/attention/out/W"},
    {kHuggingFace, kAll, "model.layers.*.self_attn.o_proj.bias", "blocks/*/attention/out/b"},
    {kHuggingFace, kAll, "model.layers.*.self_attn.rotary_emb.inv_freq", "", ignored},
    {kHuggingFace, "glm4", "model.layers.*.post_self_attn_layernorm.weight", "blocks/*/after_attention/gamma"},
    {kHuggingFace, kAll, "model.layers.*.post_attention_layernorm.weight", "blocks/*/norm2/gamma"},
    {kHuggingFace, kLlamas, "model.layers.*.mlp.gate_proj.weight", "blocks/*/gate/W"},
    {kHuggingFace, kLlamas, "model.layers.*.mlp.up_proj.weight", "blocks/*/up/W"},
    {kHuggingFace, kGlms, "model.layers.*.mlp.gate_up_proj.weight", kGateUp},
    {kHuggingFace, kAll, "model.layers.*.mlp.down_proj.weight", "blocks/*/down/W"},
    {kHuggingFace, "glm4", "model.layers.*.post_mlp_layernorm.weight", "blocks/*/after_layers/gamma"},
    {kHuggingFace, kAll, "model.norm.weight", "norm/gamma"},
    {kHuggingFace, kAll, "lm_head.weight", "head/W"},

    {kHuggingFace, "gpt2", "transformer.wte.weight", "tokens/W"},
    {kHuggingFace, "gpt2", "transformer.wpe.weight", "positions/W"},
    {kHuggingFace, "gpt2", "transformer.h.*.ln_1.weight", "blocks/*/norm1/gamma"},
    {kHuggingFace, "gpt2", "transformer.h.*.ln_1.bias", "blocks/*/norm1/beta"},
    {kHuggingFace, "gpt2", "transformer.h.*.attn.c_attn.weight", kQkvW, transposed},
    {kHuggingFace, "gpt2", "transformer.h.*.attn.c_attn.bias", kQkvB},
    {kHuggingFace, "gpt2", "transformer.h.*.attn.c_proj.weight", "blocks/*/attention/out/W", transposed},
    {kHuggingFace, "gpt2", "transformer.h.*.attn.c_proj.bias", "blocks/*/attention/out/b"},
    {kHuggingFace, "gpt2", "transformer.h.*.attn.bias", "", ignored},
    {kHuggingFace, "gpt2", "transformer.h.*.attn.masked_bias", "", ignored},
    {kHuggingFace, "gpt2", "transformer.h.*.ln_2.weight", "blocks/*/norm2/gamma"},
    {kHuggingFace, "gpt2", "transformer.h.*.ln_2.bias", "blocks/*/norm2/beta"},
    {kHuggingFace, "gpt2", "transformer.h.*.mlp.c_fc.weight", "blocks/*/fc1/W", transposed},
    {kHuggingFace, "gpt2", "transformer.h.*.mlp.c_fc.bias", "blocks/*/fc1/b"},
    {kHuggingFace, "gpt2", "transformer.h.*.mlp.c_proj.weight", "blocks/*/fc2/W", transposed},
    {kHuggingFace, "gpt2", "transformer.h.*.mlp.c_proj.bias", "blocks/*/fc2/b"},
    {kHuggingFace, "gpt2", "transformer.ln_f.weight", "norm/gamma"},
    {kHuggingFace, "gpt2", "transformer.ln_f.bias", "norm/beta"},
    {kHuggingFace, "gpt2", "lm_head.weight", "head/W"},

    {kHuggingFace, "chatglm", "transformer.word_embeddings.weight", "tokens/W"},
    {kHuggingFace, "chatglm", "transformer.layers.*.input_layernorm.weight", "blocks/*/norm1/gamma"},
    {kHuggingFace, "chatglm", "transformer.layers.*.input_layernorm.bias", "blocks/*/norm1/beta"},
    {kHuggingFace, "chatglm", "transformer.layers.*.attention.query_key_value.weight", kQkvW, by_heads},
    {kHuggingFace, "chatglm", "transformer.layers.*.attention.query_key_value.bias", kQkvB, by_heads},
    {kHuggingFace, "chatglm", "transformer.layers.*.attention.dense.weight", "blocks/*/attention/out/W"},
    {kHuggingFace, "chatglm", "transformer.layers.*.attention.dense.bias", "blocks/*/attention/out/b"},
    {kHuggingFace, "chatglm", "transformer.layers.*.attention.rotary_emb.inv_freq", "", ignored},
    {kHuggingFace, "chatglm", "transformer.layers.*.post_attention_layernorm.weight", "blocks/*/norm2/gamma"},
    {kHuggingFace, "chatglm", "transformer.layers.*.post_attention_layernorm.bias", "blocks/*/norm2/beta"},
    {kHuggingFace, "chatglm", "transformer.layers.*.mlp.dense_h_to_4h.weight", "blocks/*/fc1/W"},
    {kHuggingFace, "chatglm", "transformer.layers.*.mlp.dense_h_to_4h.bias", "blocks/*/fc1/b"},
    {kHuggingFace, "chatglm", "transformer.layers.*.mlp.dense_4h_to_h.weight", "blocks/*/fc2/W"},
    {kHuggingFace, "chatglm", "transformer.layers.*.mlp.dense_4h_to_h.bias", "blocks/*/fc2/b"},
    {kHuggingFace, "chatglm", "transformer.final_layernorm.weight", "norm/gamma"},
    {kHuggingFace, "chatglm", "transformer.final_layernorm.bias", "norm/beta"},
    {kHuggingFace, "chatglm", "lm_head.weight", "head/W"},

    {kGguf, kGgufAll, "token_embd.weight", "tokens/W"},
    {kGguf, kGgufAll, "blk.*.attn_norm.weight", "blocks/*/norm1/gamma"},
    {kGguf, "llama", "blk.*.attn_q.weight", "blocks/*/attention/q/W", paired},
    {kGguf, "llama", "blk.*.attn_q.bias", "blocks/*/attention/q/b", paired},
    {kGguf, "llama", "blk.*.attn_k.weight", "blocks/*/attention/k/W", paired},
    {kGguf, "llama", "blk.*.attn_k.bias", "blocks/*/attention/k/b", paired},
    {kGguf, "qwen2 chatglm glm4", "blk.*.attn_q.weight", "blocks/*/attention/q/W"},
    {kGguf, "qwen2 chatglm glm4", "blk.*.attn_q.bias", "blocks/*/attention/q/b"},
    {kGguf, "qwen2 chatglm glm4", "blk.*.attn_k.weight", "blocks/*/attention/k/W"},
    {kGguf, "qwen2 chatglm glm4", "blk.*.attn_k.bias", "blocks/*/attention/k/b"},
    {kGguf, kGgufAll, "blk.*.attn_v.weight", "blocks/*/attention/v/W"},
    {kGguf, kGgufAll, "blk.*.attn_v.bias", "blocks/*/attention/v/b"},
    {kGguf, kGgufGlms, "blk.*.attn_qkv.weight", kQkvW},
    {kGguf, kGgufGlms, "blk.*.attn_qkv.bias", kQkvB},
    {kGguf, kGgufAll, "blk.*.attn_output.weight", "blocks/*/attention/out/W"},
    {kGguf, kGgufAll, "blk.*.attn_output.bias", "blocks/*/attention/out/b"},
    {kGguf, "glm4", "blk.*.post_attention_norm.weight", "blocks/*/after_attention/gamma"},
    {kGguf, kGgufAll, "blk.*.ffn_norm.weight", "blocks/*/norm2/gamma"},
    {kGguf, "llama qwen2", "blk.*.ffn_gate.weight", "blocks/*/gate/W"},
    {kGguf, "llama qwen2", "blk.*.ffn_up.weight", "blocks/*/up/W"},
    {kGguf, kGgufGlms, "blk.*.ffn_up.weight", kGateUp},
    {kGguf, kGgufAll, "blk.*.ffn_down.weight", "blocks/*/down/W"},
    {kGguf, "glm4", "blk.*.post_ffw_norm.weight", "blocks/*/after_layers/gamma"},
    {kGguf, kGgufAll, "output_norm.weight", "norm/gamma"},
    {kGguf, kGgufAll, "output.weight", "head/W"},
    {kGguf, kGgufAll, "rope_freqs.weight", "", ignored},  // part of the rotary embedding, read with the options

    {kGguf, "gpt2", "token_embd.weight", "tokens/W"},
    {kGguf, "gpt2", "position_embd.weight", "positions/W"},
    {kGguf, "gpt2", "blk.*.attn_norm.weight", "blocks/*/norm1/gamma"},
    {kGguf, "gpt2", "blk.*.attn_norm.bias", "blocks/*/norm1/beta"},
    {kGguf, "gpt2", "blk.*.attn_qkv.weight", kQkvW},
    {kGguf, "gpt2", "blk.*.attn_qkv.bias", kQkvB},
    {kGguf, "gpt2", "blk.*.attn_output.weight", "blocks/*/attention/out/W"},
    {kGguf, "gpt2", "blk.*.attn_output.bias", "blocks/*/attention/out/b"},
    {kGguf, "gpt2", "blk.*.ffn_norm.weight", "blocks/*/norm2/gamma"},
    {kGguf, "gpt2", "blk.*.ffn_norm.bias", "blocks/*/norm2/beta"},
    {kGguf, "gpt2", "blk.*.ffn_up.weight", "blocks/*/fc1/W"},
    {kGguf, "gpt2", "blk.*.ffn_up.bias", "blocks/*/fc1/b"},
    {kGguf, "gpt2", "blk.*.ffn_down.weight", "blocks/*/fc2/W"},
    {kGguf, "gpt2", "blk.*.ffn_down.bias", "blocks/*/fc2/b"},
    {kGguf, "gpt2", "output_norm.weight", "norm/gamma"},
    {kGguf, "gpt2", "output_norm.bias", "norm/beta"},
    {kGguf, "gpt2", "output.weight", "head/W"},
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// Returns the text that matches the pattern's '*', or "" without one; nothing if the name does not match.
std::optional<std::string> fit(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern ? std::optional<std::string>("") : std::nullopt;
  const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) return {};
  const std::string number(name.substr(before.size(), name.size() - before.size() - after.size()));
  const bool is_number = std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  return is_number && (number == "0" || number[0] != '0') ? std::optional<std::string>(number) : std::nullopt;
}

std::string with_number(std::string pattern, const std::string& number) {
  if (const std::size_t star = pattern.find('*'); star != std::string::npos) pattern.replace(star, 1, number);
  return pattern;
}

bool is_of(const LanguageName& row, LanguageFormat format, std::string_view architecture) {
  const std::vector<std::string> all = words_of(row.architectures);
  return row.format == format && std::ranges::count(all, architecture) > 0;
}

/// Removes the prefix of the base model, which files may lack.
std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"model.", "transformer."})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

}  // namespace

std::span<const LanguageName> language_names() { return kNames; }

std::vector<std::string> language_architectures(LanguageFormat format) {
  std::set<std::string> all;
  for (const LanguageName& row : kNames)
    if (row.format == format)
      for (const std::string& word : words_of(row.architectures)) all.insert(word);
  return {all.begin(), all.end()};
}

std::optional<LanguageTensor> language_tensor(LanguageFormat format, std::string_view architecture,
                                              std::string_view theirs) {
  for (const LanguageName& row : kNames) {
    if (!is_of(row, format, architecture)) continue;
    std::optional<std::string> number = fit(row.theirs, theirs);
    if (!number && format == LanguageFormat::hugging_face) number = fit(without_prefix(row.theirs), theirs);
    if (!number) continue;
    LanguageTensor tensor{words_of(row.ours), row.layout};
    for (std::string& path : tensor.ours) path = with_number(path, *number);
    return tensor;
  }
  return {};
}

std::string language_tensor_name(LanguageFormat format, std::string_view architecture, std::string_view ours) {
  std::string names;
  for (const LanguageName& row : kNames) {
    if (!is_of(row, format, architecture)) continue;
    for (const std::string& path : words_of(row.ours))
      if (const std::optional<std::string> number = fit(path, ours))
        names += (names.empty() ? "" : " or ") + with_number(row.theirs, *number);
  }
  return names;
}

}  // namespace catenary::serializers
