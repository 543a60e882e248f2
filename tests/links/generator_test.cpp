#include "catenary/links/models/generator.h"

#include <gtest/gtest.h>

#include "catenary/catenary.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/io/safetensors.h"
#include "tests/folder.h"

namespace catenary {
namespace {

namespace L = links;
namespace S = serializers;
using tests::Folder;

constexpr const char* kText =
    "the cat sat on the mat and the dog sat on the log; the cat and the dog sat and sat. Übung macht den Meister, "
    "übung macht den meister. <|im_start|>";

L::LlamaOptions small(std::int64_t vocabulary) {
  return {.vocabulary = vocabulary, .context = 40, .width = 16, .layers = 2, .heads = 4, .hidden = 24, .groups = 2};
}
Tokenizer tokenizer() { return train_byte_pairs(kText, 300, {.special = {"<|im_end|>", "<|im_start|>"}}); }

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
bool has(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

/// A folder as Hugging Face's, of a model with random weights.
void write(const Folder& folder, const L::Llama& model, const Tokenizer& tokens) {
  const L::LlamaOptions& o = model.options;
  folder.write("config.json",
               fmt::format(R"({{"model_type": "llama", "vocab_size": {}, "hidden_size": {}, "intermediate_size": {},
                               "num_hidden_layers": {}, "num_attention_heads": {}, "num_key_value_heads": {},
                               "max_position_embeddings": {}, "rms_norm_eps": {}}})",
                           o.vocabulary, o.width, o.hidden, o.layers, o.heads, *o.groups, o.context, o.epsilon));
  std::vector<std::pair<std::string, io::HostArray>> tensors;
  for (const auto& [path, parameter] : model.namedparams()) {
    const Array& array = parameter.array();
    tensors.emplace_back(S::language_tensor_name(S::LanguageFormat::hugging_face, "llama", path.substr(1)),
                         io::HostArray::empty(array.dtype(), array.shape()));
    array.copy_to_host(tensors.back().second.data.get());
  }
  io::write_safetensors(folder / "model.safetensors", tensors);
  tokens.save(folder / "tokenizer.json");
}

TEST(Generator, WritesTheTextOfTheTokens) {
  random::seed(4);
  const Tokenizer tokens = tokenizer();
  const L::Llama model(small(310));  // a few rows more than there are tokens
  Folder folder;
  write(folder, model, tokens);
  const L::Generator generator = L::load_generator(folder.path);
  const std::vector<std::int64_t> prompt = tokens.encode("the cat");
  EXPECT_EQ(generator.encode("the cat"), prompt);

  // a temperature at which all bytes come, and with them characters that stay incomplete
  const L::GenerateOptions options{.tokens = 30, .temperature = 3, .seed = 5};
  std::vector<std::int64_t> ids = L::generate(model, prompt, options);
  std::erase_if(ids, [&](std::int64_t id) { return id >= tokens.vocabulary_size(); });
  TokenStream stream(tokens);
  std::string expected;
  for (const std::int64_t id : ids) expected += stream.put(id);
  expected += stream.finish();

  std::vector<std::string> pieces;
  const std::string text = generator("the cat", {.generate = options, .on_text = [&](std::string_view piece) {
                                                   pieces.emplace_back(piece);
                                                   return true;
                                                 }});
  EXPECT_EQ(text, expected);
  EXPECT_GT(pieces.size(), 3u);
  EXPECT_EQ(fmt::format("{}", fmt::join(pieces, "")), expected);

  int told = 0;
  const std::string shorter =
      generator("the cat", {.generate = options, .on_text = [&](std::string_view) { return ++told < 2; }});
  EXPECT_EQ(told, 2);
  EXPECT_EQ(shorter, pieces[0] + pieces[1]);
  EXPECT_TRUE(has(error_of([&] { generator("the cat", {.chat = true}); }),
                  "no form of chats that is known here; llama-3, chatml, glm-4, zephyr, inst are"));
  EXPECT_TRUE(has(error_of([&] { generator(""); }), "the prompt has no tokens"));
}

TEST(Generator, AMessageHasTheFormOfTheModelsChats) {
  random::seed(4);
  const Tokenizer tokens = tokenizer();
  Folder folder;
  write(folder, L::Llama(small(300)), tokens);
  folder.write("tokenizer_config.json", R"({"chat_template": "{% for m in messages %}<|im_start|>{{ m.role }}"})");
  const L::Generator generator = L::load_generator(folder.path);
  const std::vector<std::int64_t> ids = generator.encode("the cat sat", true);
  EXPECT_EQ(tokens.decode(ids, false),
            "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\nthe cat sat<|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_EQ(std::ranges::count(ids, *tokens.id("<|im_start|>")), 3);
  EXPECT_TRUE(has(error_of([&] { generator.encode("the <|im_end|> cat", true); }), "the special token '<|im_end|>'"));
  EXPECT_EQ(std::ranges::count(generator.encode("the <|im_end|> cat"), *tokens.id("<|im_end|>")), 0);

  // the file by itself comes first, and one of several by name
  folder.write("chat_template.jinja", "{{ '[INST]' }}");
  EXPECT_EQ(tokens.decode(L::load_generator(folder.path).encode("the cat", true), false), "<s>[INST] the cat [/INST]");
  os::remove_file(folder / "chat_template.jinja");
  folder.write("tokenizer_config.json", R"({"chat_template": [{"name": "tool", "template": "[INST]"},
                                                              {"name": "default", "template": "[gMASK]<sop>"}]})");
  EXPECT_EQ(tokens.decode(L::load_generator(folder.path).encode("the cat", true), false),
            "[gMASK]<sop><|user|>\nthe cat<|assistant|>\n");
}

TEST(Generator, RefusesATokenizerOfAnotherModel) {
  random::seed(4);
  Folder folder;
  const std::int64_t size = tokenizer().vocabulary_size();
  write(folder, L::Llama(small(size - 1)), tokenizer());
  EXPECT_TRUE(has(error_of([&] { L::load_generator(folder.path); }),
                  fmt::format("the tokenizer has {} tokens, the model {}", size, size - 1)));
  os::remove_file(folder / "tokenizer.json");
  EXPECT_THROW(L::load_generator(folder.path), FileError);
}

TEST(ChatForm, IsToldByItsMarks) {
  EXPECT_EQ(L::chat_form("{% if x %}<|start_header_id|>user<|user|>")->name, "llama-3");
  EXPECT_EQ(L::chat_form("<|user|> … <|assistant|>")->name, "zephyr");
  EXPECT_EQ(L::chat_form("[gMASK]<sop><|user|>")->name, "glm-4");
  EXPECT_EQ(L::chat_form("[INST] … [/INST]")->name, "inst");
  EXPECT_FALSE(L::chat_form(""));
  EXPECT_FALSE(L::chat_form("### Instruction:"));
  EXPECT_EQ(L::chat_forms().size(), 5u);
}

}  // namespace
}  // namespace catenary
