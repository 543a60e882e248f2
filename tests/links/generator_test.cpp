#include "catenary/links/models/generator.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "catenary/catenary.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/io/safetensors.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace L = links;
namespace S = serializers;
using tests::error_of;
using tests::Folder;
using tests::has;

constexpr const char* kText =
    "the cat sat on the mat and the dog sat on the log; the cat and the dog sat and sat. Übung macht den Meister, "
    "übung macht den meister. <|im_start|>";

L::LlamaOptions small_llama(std::int64_t vocabulary) {
  return {.vocabulary = vocabulary, .context = 40, .width = 16, .layers = 2, .heads = 4, .hidden = 24, .groups = 2};
}
Tokenizer tokenizer() { return train_byte_pairs(kText, 300, {.special = {"<|im_end|>", "<|im_start|>"}}); }

/// Writes a Hugging Face folder of a model with random weights.
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
  const L::Llama model(small_llama(310));  // a few more rows than tokens
  Folder folder;
  write(folder, model, tokens);
  const L::Generator generator = L::load_generator(folder.path);
  const std::vector<std::int64_t> prompt = tokens.encode("the cat");
  EXPECT_EQ(generator.encode("the cat"), prompt);

  // at this temperature all bytes occur, including incomplete characters
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
                  "no known chat form; known forms are llama-3, chatml, glm-4, zephyr, inst"));
  EXPECT_TRUE(has(error_of([&] { generator(""); }), "the prompt has no tokens"));
}

TEST(Generator, AMessageHasTheFormOfTheModelsChats) {
  random::seed(4);
  const Tokenizer tokens = tokenizer();
  Folder folder;
  write(folder, L::Llama(small_llama(300)), tokens);
  folder.write("tokenizer_config.json", R"({"chat_template": "{% for m in messages %}<|im_start|>{{ m.role }}"})");
  const L::Generator generator = L::load_generator(folder.path);
  const std::vector<std::int64_t> ids = generator.encode("the cat sat", true);
  EXPECT_EQ(tokens.decode(ids, false), "<|im_start|>user\nthe cat sat<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(std::ranges::count(ids, *tokens.id("<|im_start|>")), 2);
  EXPECT_TRUE(has(error_of([&] { generator.encode("the <|im_end|> cat", true); }), "the special token '<|im_end|>'"));
  EXPECT_EQ(std::ranges::count(generator.encode("the <|im_end|> cat"), *tokens.id("<|im_end|>")), 0);

  // a separate file takes precedence, then one of several named templates
  folder.write("chat_template.jinja", "{{ '[INST] ' + x + ' [/INST]' }}");
  EXPECT_EQ(tokens.decode(L::load_generator(folder.path).encode("the cat", true), false), "<s>[INST] the cat [/INST]");
  os::remove_file(folder / "chat_template.jinja");
  folder.write("tokenizer_config.json", R"({"chat_template": [{"name": "tool", "template": "[INST]"},
                                                              {"name": "default", "template": "[gMASK]<sop>"}]})");
  EXPECT_EQ(tokens.decode(L::load_generator(folder.path).encode("the cat", true), false),
            "[gMASK]<sop><|user|>\nthe cat<|assistant|>");
}

TEST(Generator, RefusesATokenizerOfAnotherModel) {
  random::seed(4);
  Folder folder;
  const std::int64_t size = tokenizer().vocabulary_size();
  write(folder, L::Llama(small_llama(size - 1)), tokenizer());
  EXPECT_TRUE(has(error_of([&] { L::load_generator(folder.path); }),
                  fmt::format("the tokenizer has {} tokens, more than the model's {}", size, size - 1)));
  os::remove_file(folder / "tokenizer.json");
  EXPECT_THROW(L::load_generator(folder.path), FileError);
}

/// The number of tokens after the first end-of-turn token, over answers with many seeds.
std::int64_t tokens_behind_the_end(const L::Generator& generator, std::int64_t end, int& ended) {
  std::int64_t behind = 0;
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    L::Conversation chat(generator);
    chat("hi", {.generate = {.tokens = 250, .seed = seed}});
    const std::vector<std::int64_t>& all = chat.tokens();
    const auto prompt = std::ssize(generator.encode_message("hi", true));
    const auto at = std::find(all.begin() + prompt, all.end(), end);
    behind += at == all.end() ? 0 : all.end() - at;
    ended += std::ssize(all) < prompt + 250;
  }
  return behind;
}

// The file may name another end token, or none: the end of a turn is known by name, in each form.
TEST(Conversation, NothingFollowsTheEndOfAMessage) {
  struct Case {
    const char *mark, *end;
    std::vector<std::string> special;
  };
  for (const Case& c :
       {Case{"<|im_start|>", "<|im_end|>", {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}},
        Case{"<|start_header_id|>",
             "<|eot_id|>",
             {"<|end_of_text|>", "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}},
        Case{"<|start_header_id|>", "<|eom_id|>", {"<|end_of_text|>", "<|begin_of_text|>", "<|eom_id|>", "<|eot_id|>"}},
        Case{"[gMASK]<sop>", "<|user|>", {"<|endoftext|>", "[gMASK]", "<sop>", "<|user|>", "<|assistant|>"}},
        Case{"[gMASK]<sop>", "<|observation|>", {"<|endoftext|>", "<|user|>", "<|assistant|>", "<|observation|>"}},
        Case{"<|user|> eos_token", "</s>", {"<unk>", "<s>", "</s>", "<|user|>", "<|assistant|>"}},
        Case{"[INST]", "</s>", {"<unk>", "<s>", "</s>", "[INST]", "[/INST]"}}}) {
    const Tokenizer words = train_byte_pairs("once upon a time", 256 + std::ssize(c.special), {.special = c.special});
    const std::int64_t end = *words.id(c.end);
    for (const bool names_another : {true, false}) {
      random::seed(3);
      L::LlamaOptions options = small_llama(words.vocabulary_size());
      options.context = 400;
      auto model = std::make_unique<L::Llama>(options);
      if (names_another) model->end_tokens = {0};
      const L::Generator generator(std::move(model), words, L::chat_form(c.mark));
      EXPECT_EQ(std::ranges::count(generator.model().end_tokens, end), 1) << c.end;
      int ended = 0;
      EXPECT_EQ(tokens_behind_the_end(generator, end, ended), 0) << c.mark << " " << c.end;
      EXPECT_GT(ended, 0);
    }
  }
}

TEST(Generator, EndsAreAddedTokensAlone) {
  const auto ends = [](const Tokenizer& tokens) {
    std::vector<std::string> names;
    for (const std::int64_t id : L::end_of_turn_tokens(tokens)) names.push_back(tokens.token(id));
    std::ranges::sort(names);
    return names;
  };
  using Names = std::vector<std::string>;
  // the vocabulary may have such a text as an ordinary word
  GgufTokens words{.model = "gpt2", .pre = "gpt-2", .tokens = {"</s>", "<|im_end|>"}};
  words.token_types = {1, 3};
  EXPECT_EQ(ends(make_tokenizer(words)), Names{"<|im_end|>"});
  EXPECT_EQ(ends(train_byte_pairs("a", 260, {.special = {"<a>", "<|user|>", "<|end|>", "<|return|>"}})),
            (Names{"<a>", "<|end|>", "<|return|>"}));
  EXPECT_EQ(ends(train_byte_pairs("a", 260, {.special = {"<|call|>", "<|user|>", "<|end|>", "<|return|>"}})),
            (Names{"<|call|>", "<|return|>"}));
}

TEST(Generator, TakesAllEndsOfGenerationConfig) {
  random::seed(4);
  const Tokenizer tokens = train_byte_pairs(kText, 300, {.special = {"<a>", "<b>", "<c>"}});
  Folder folder;
  write(folder, L::Llama(small_llama(300)), tokens);
  folder.write("generation_config.json", R"({"eos_token_id": [1, 2]})");
  std::vector<std::int64_t> ends = L::load_generator(folder.path).model().end_tokens;
  std::ranges::sort(ends);
  EXPECT_EQ(ends, (std::vector<std::int64_t>{1, 2}));
}

TEST(StopStrings, ATextEndsBeforeTheFirst) {
  const auto shown = [](const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
    L::StopStrings text(stops);
    std::vector<std::string> told;
    for (const std::string& piece : pieces)
      if (std::string more = text.put(piece); !more.empty()) told.push_back(std::move(more));
    if (std::string rest = text.finish(); !rest.empty()) told.push_back(std::move(rest));
    return fmt::format("{}", fmt::join(told, "|"));
  };
  EXPECT_EQ(shown({}, {"a", "b"}), "a|b");
  EXPECT_EQ(shown({"END"}, {"ab", "cEND", "d"}), "ab|c");
  EXPECT_EQ(shown({"END"}, {"abE", "N", "Dd"}), "ab");
  EXPECT_EQ(shown({"END"}, {"abE", "N", "d"}), "ab|ENd");
  EXPECT_EQ(shown({"END"}, {"abE", "N"}), "ab|EN");
  EXPECT_EQ(shown({"END"}, {"EEND"}), "E");
  EXPECT_EQ(shown({"long one", "on"}, {"a long", " on"}), "a l");
  EXPECT_EQ(shown({"\n\n", "User:"}, {"a\n", "Us", "er", ":"}), "a|\n");
  // the longest beginning of any stop string waits
  EXPECT_EQ(shown({"abcd", "cx"}, {"abc", "d"}), "");
  EXPECT_EQ(shown({"cx", "abcd"}, {"abc", "x!"}), "ab");
  EXPECT_EQ(shown({"abcd", "cx"}, {"abc", "e"}), "abce");
  EXPECT_THROW(L::StopStrings({""}), ValueError);
}

TEST(Generator, StopsAtAStringAndSaysNothingOfIt) {
  random::seed(4);
  const L::Generator generator(std::make_unique<L::Llama>(small_llama(300)), tokenizer());
  const L::GenerateOptions options{.tokens = 30, .temperature = 3, .seed = 5};
  const std::string whole = generator("the cat", {.generate = options});
  ASSERT_GT(whole.size(), 12u);
  const std::string stop = whole.substr(8, 3);
  std::string told;
  const std::string text =
      generator("the cat", {.generate = options, .stop = {stop}, .on_text = [&](std::string_view piece) {
                              told += piece;
                              return true;
                            }});
  EXPECT_EQ(text, whole.substr(0, whole.find(stop)));
  EXPECT_EQ(told, text);
}

// With a system message, as in the families' templates.
TEST(ChatForm, ASystemsMessageStandsBeforeAll) {
  const auto turn = [](const char* marks, bool first) { return L::chat_form(marks)->turn("hi ", first, "Be brief. "); };
  EXPECT_EQ(turn("<|start_header_id|>", true),
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|><|start_header_id|>user"
            "<|end_header_id|>\n\nhi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(
      turn("<|start_header_id|>Cutting Knowledge Date", true),
      "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday "
      "Date: 26 Jul 2024\n\nBe brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>"
      "<|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(turn("<|im_start|>system\nYou are Qwen.<|im_end|>", true),
            "<|im_start|>system\nBe brief. <|im_end|>\n<|im_start|>user\nhi <|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(turn("[gMASK]<sop>", true), "[gMASK]<sop><|system|>\nBe brief. <|user|>\nhi <|assistant|>");
  EXPECT_EQ(turn("<|user|> eos_token", true), "<|system|>\nBe brief. </s>\n<|user|>\nhi </s>\n<|assistant|>");
  EXPECT_EQ(turn("[INST] <<SYS>>", true), "<s>[INST] <<SYS>>\nBe brief. \n<</SYS>>\n\nhi  [/INST]");
  EXPECT_EQ(turn("'[INST] ' '[/INST]'", true), "<s>[INST] Be brief. \n\nhi [/INST]");
  EXPECT_EQ(turn("'[SYSTEM_PROMPT] ' '[INST] ' '[/INST]'", true),
            "<s>[SYSTEM_PROMPT] Be brief. [/SYSTEM_PROMPT][INST] hi [/INST]");
  EXPECT_EQ(turn("<|im_start|>", false), L::chat_form("<|im_start|>")->turn("hi ", false));
}

TEST(Conversation, BeginsWithTheSystemsMessage) {
  random::seed(4);
  const Tokenizer tokens = tokenizer();
  L::LlamaOptions options = small_llama(tokens.vocabulary_size());
  options.context = 400;
  const L::Generator generator(std::make_unique<L::Llama>(options), tokens, L::chat_form("<|im_start|>"));
  L::Conversation chat(generator, "Be brief.");
  chat("hi", {.generate = {.tokens = 3}});
  chat("ho", {.generate = {.tokens = 3}});
  const std::string all = tokens.decode(chat.tokens(), false);
  EXPECT_EQ(all.find("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nhi<|im_end|>"), 0u) << all;
  EXPECT_EQ(all.find("Be brief.", 40), std::string::npos) << all;
  EXPECT_THROW(L::Conversation(generator, "<|im_end|>"), ValueError);
  EXPECT_EQ(generator.encode("hi", true, "Be brief."), generator.encode_message("hi", true, "Be brief."));
}

TEST(ChatForm, IsToldByItsMarks) {
  EXPECT_EQ(L::chat_form("{% if x %}<|start_header_id|>user<|user|>")->name, "llama-3");
  EXPECT_EQ(L::chat_form("<|user|> … eos_token <|assistant|>")->name, "zephyr");
  EXPECT_EQ(L::chat_form("[gMASK]<sop><|user|>")->name, "glm-4");
  EXPECT_EQ(L::chat_form("[INST] … [/INST]")->name, "inst");
  for (const char* other : {"", "### Instruction:", "<|user|>\n … <|end|>\n<|assistant|> eos_token",
                            "<|user|> … <|assistant|>", "default_system_message [INST]"})
    EXPECT_FALSE(L::chat_form(other)) << other;
  EXPECT_EQ(L::chat_forms().size(), 5u);
  // texts that look like a literal, and marks at the ends of the text
  EXPECT_EQ(L::chat_form("<|im_start|>system\n")->begin, "");
  EXPECT_EQ(L::chat_form("<|im_start|>system\\n' + x + '<|im_end|>")->begin, "");
  EXPECT_EQ(L::chat_form("[INST]")->before_user, "[INST] ");
  EXPECT_EQ(L::chat_form("'[INST]")->before_user, "[INST] ");
  EXPECT_EQ(L::chat_form("[gMASK]<sop>add_generation_prompt <|assistant|>")->before_answer, "<|assistant|>");
  // today's date by default
  const std::string begin = L::chat_form("<|start_header_id|>Cutting Knowledge Date strftime_now")->begin;
  EXPECT_TRUE(has(begin, "Today Date: ") && has(begin, " 20")) << begin;
}

// tests/data/chat/make_chat.py
TEST(ChatForm, WritesWhatTransformersWrites) {
  const std::vector<std::byte> bytes = os::read_file(tests::source_path("tests/data/chat/chats.json"));
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const auto all = nlohmann::json::parse(text, text + bytes.size());
  EXPECT_EQ(all.size(), 16u);
  for (const auto& entry : all) {
    const std::string name = entry["name"], first = entry["first"], second = entry["second"],
                      answer = entry["messages"][1];
    const auto form = L::chat_form(entry["template"].get<std::string>(), "05 Mar 2026");
    ASSERT_TRUE(form) << name;
    EXPECT_EQ(form->name, entry["form"].get<std::string>()) << name;
    EXPECT_EQ(form->turn(entry["messages"][0].get<std::string>(), true), first) << name;
    ASSERT_TRUE(second.starts_with(first)) << name;
    // the model generates a space or a line end before the answer
    const std::size_t blank = second[first.size()] == ' ' || second[first.size()] == '\n' ? 1 : 0;
    EXPECT_EQ(answer + form->turn(entry["messages"][2].get<std::string>(), false), second.substr(first.size() + blank))
        << name;
  }
}

/// Counts the tokens passed to a model's embeddings.
class CountTokens : public LinkHook {
 public:
  std::string name() const override { return "CountTokens"; }
  void forward_preprocess(const LinkCall& call) override {
    if (call.link.type_name() == "EmbedID") tokens += call.inputs[0].size();
  }
  std::int64_t tokens = 0;
};

TEST(Conversation, AnAnswerFollowsAllThatWasSaid) {
  random::seed(4);
  const Tokenizer tokens = tokenizer();
  L::LlamaOptions options = small_llama(tokens.vocabulary_size());
  options.context = 160;
  const auto form = L::chat_form("<|im_start|>").value();
  const auto generator_of = [&](const std::vector<std::int64_t>& end_tokens) {
    random::seed(4);
    auto model = std::make_unique<L::Llama>(options);
    for (const Parameter& p : model->params()) p.set_array(p.array() * 20);  // so that earlier messages matter
    model->end_tokens = end_tokens;
    return L::Generator(std::move(model), tokens, form);
  };
  const L::Generator generator = generator_of({});
  const L::GeneratorOptions greedy{.generate = {.tokens = 6, .temperature = 0}};
  L::Conversation chat(generator);
  const auto counted = std::make_shared<CountTokens>();
  const LinkHookScope scope(counted);
  const std::string first = chat("the cat", greedy);
  const std::vector<std::int64_t> said = chat.tokens();
  EXPECT_EQ(first, generator("the cat", {.generate = greedy.generate, .chat = true}));
  counted->tokens = chat.computed();

  const std::string second = chat("the dog", greedy);
  EXPECT_EQ(counted->tokens, chat.computed());  // each token once
  EXPECT_EQ(chat.computed(), std::ssize(chat.tokens()) - 1);
  // all messages at once, without caches
  std::vector<std::int64_t> prompt = said;
  for (const std::int64_t id : generator.encode_message("the dog", false)) prompt.push_back(id);
  EXPECT_EQ(tokens.decode(prompt, false), form.turn("the cat", true) + first + form.turn("the dog", false));
  const std::vector<std::int64_t> answer = L::generate(generator.model(), prompt, greedy.generate);
  EXPECT_EQ(second, tokens.decode(answer));
  EXPECT_NE(second, L::Conversation(generator)("the dog", greedy));  // earlier messages matter

  // a refused message, or an answer ended by an exception, leaves no trace
  L::Conversation other(generator);
  other("the cat", greedy);
  EXPECT_TRUE(has(error_of([&] { other("the <|im_end|> cat", greedy); }), "the special token '<|im_end|>'"));
  EXPECT_THROW(other("a mat", {.generate = greedy.generate, .on_text = [](std::string_view) -> bool { throw 1; }}),
               int);
  EXPECT_EQ(other.tokens(), said);
  EXPECT_EQ(other("the dog", greedy), second);
  // also a message whose reading was stopped
  std::string many;
  for (int i = 0; i < 300; ++i) many += "the cat sat ";
  L::LlamaOptions longer = options;
  longer.context = 4000;
  const L::Generator reader(std::make_unique<L::Llama>(longer), tokens, form);
  L::Conversation read(reader);
  const auto unread = [](std::int64_t) { return false; };
  read("the cat", greedy);
  const std::vector<std::int64_t> so_far = read.tokens();
  EXPECT_EQ(read(many, {.generate = {.tokens = 6, .temperature = 0, .on_prompt = unread}}), "");
  EXPECT_EQ(read.tokens(), so_far);
  const std::string then = read("the dog", greedy);
  L::Conversation same(reader);
  same("the cat", greedy);
  EXPECT_EQ(then, same("the dog", greedy));
  // the context ends a chat
  EXPECT_TRUE(has(error_of([&] {
                    for (int i = 0; i < 20; ++i) other("the dog sat on the mat and the log", greedy);
                  }),
                  "the context 160"));

  // the form adds an end token that the model has already generated
  const L::Generator ends = generator_of({answer[2]});
  L::Conversation ending(ends);
  ending("the cat", greedy);
  std::vector<std::int64_t> before = ending.tokens();
  EXPECT_EQ(std::ranges::count(before, answer[2]), std::ranges::count(ends.encode_message("the cat", true), answer[2]));
  for (const std::int64_t id : ends.encode_message("the dog", false)) before.push_back(id);
  const std::string end_answer = ending("the dog", greedy);
  EXPECT_EQ(end_answer, tokens.decode(L::generate(ends.model(), before, greedy.generate)));

  EXPECT_TRUE(has(error_of([&] {
                    const L::Generator none(std::make_unique<L::Llama>(options), tokens);
                    L::Conversation silent(none);
                  }),
                  "no known chat form"));
}

TEST(Generate, CachesHoldWhatThePromptBeginsWith) {
  random::seed(4);
  const L::Llama model(small_llama(300));
  const std::vector<std::int64_t> prompt = {5, 6, 7, 8, 9};
  std::vector<L::KeyValueCache> caches(2), few(1);
  L::GenerateOptions options{.tokens = 4, .temperature = 0};
  const std::vector<std::int64_t> plain = L::generate(model, prompt, options);
  options.caches = &caches;
  EXPECT_EQ(L::generate(model, prompt, options), plain);
  EXPECT_EQ(caches[0].size(), 8);
  EXPECT_TRUE(has(error_of([&] { L::generate(model, prompt, options); }),
                  "the caches hold 8 tokens; the prompt must have more, but has 5"));
  for (L::KeyValueCache& cache : caches) cache.resize(4);
  EXPECT_EQ(L::generate(model, prompt, options), plain);
  options.caches = &few;
  EXPECT_TRUE(has(error_of([&] { L::generate(model, prompt, options); }),
                  "expected one cache for each of the 2 layers, not 1 caches"));
}

}  // namespace
}  // namespace catenary
