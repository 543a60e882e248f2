#include "catenary/links/models/language_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "catenary/catenary.h"
#include "tests/autograd/helpers.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
using test::values;

L::GPTOptions small_gpt() {
  return {.vocabulary = 11, .context = 24, .width = 16, .layers = 2, .heads = 4, .dropout = 0};
}

Array ids(const std::vector<std::int64_t>& of) {
  return Array::from_host(of.data(), {1, static_cast<std::int64_t>(of.size())}, Dtype::int64, current_device());
}

TEST(Gpt, WeightsAreAsManyAsGpt2Has) {
  EXPECT_EQ(L::GPT(small_gpt()).count_params(), 11 * 16 + 24 * 16 + 2 * (12 * 16 * 16 + 13 * 16) + 2 * 16);
  const L::GPT model(small_gpt());
  EXPECT_NEAR(values(std(model.blocks[0].fc1.W.array()))[0], 0.02, 0.003);
  EXPECT_NEAR(values(std(model.blocks[1].fc2.W.array()))[0], 0.01, 0.002);
  EXPECT_NEAR(values(std(model.blocks[1].attention.out.W.array()))[0], 0.01, 0.002);
  EXPECT_THROW(L::GPT({.width = 10, .heads = 3}), ValueError);
}

TEST(Gpt, AScoreDependsOnWhatStandsBefore) {
  random::seed(1);
  const L::GPT model(small_gpt());
  const auto mode = test_mode();
  const Array whole = model(ids({1, 2, 3, 4, 5})).array(), other = model(ids({1, 2, 3, 9, 9})).array();
  EXPECT_EQ(whole.shape(), (Shape{1, 5, 11}));
  EXPECT_TRUE(allclose(whole(0, slice(0, 3)), other(0, slice(0, 3)), 1e-5, 1e-6));
  EXPECT_FALSE(allclose(whole(0, 3), other(0, 3), 1e-3, 1e-3));
  EXPECT_THROW(model(ids(std::vector<std::int64_t>(25, 1))), ValueError);
  EXPECT_THROW(model(zeros({5}, Dtype::int64)), ShapeError);
}

TEST(Llama, WeightsAreAsManyAsItsShapeHas) {
  const L::LlamaOptions options{
      .vocabulary = 11, .context = 8, .width = 12, .layers = 2, .heads = 4, .hidden = 7, .groups = 2};
  const std::int64_t block = 2 * 12 * 12 + 2 * 6 * 12 + 3 * 12 * 7 + 2 * 12;
  EXPECT_EQ(L::Llama(options).count_params(), 2 * 11 * 12 + 2 * block + 12);
  L::LlamaOptions more = options;
  more.tied = more.qkv_bias = more.norm_after = true;
  EXPECT_EQ(L::Llama(more).count_params(), 11 * 12 + 2 * (block + 12 + 2 * 6 + 2 * 12) + 12);
  EXPECT_THROW(L::Llama({.width = 10, .heads = 3}), ValueError);
  EXPECT_THROW(L::Llama({.width = 12, .layers = 1, .heads = 4, .groups = 3}), ValueError);
}

TEST(Llama, LearnsToCount) {
  random::seed(1);
  const L::Llama model(
      {.vocabulary = 11, .context = 24, .width = 16, .layers = 2, .heads = 4, .hidden = 24, .groups = 2});
  std::vector<std::int64_t> text;
  for (std::int64_t i = 0; i < 21; ++i) text.push_back(i % 11);
  const Variable x(ids(text)(slice(), slice(0, 20)), false), t(ids(text)(slice(), slice(1, 21)), false);
  const optimizers::Adam optimizer(0.01);
  optimizer.setup(model);
  for (int step = 0; step < 100; ++step)
    optimizer.update([&] { return F::softmax_cross_entropy(F::reshape(model(x), {-1, 11}), F::reshape(t, {-1})); });
  EXPECT_EQ(L::generate(model, {0, 1, 2, 3, 4}, {.tokens = 6, .temperature = 0}),
            (std::vector<std::int64_t>{5, 6, 7, 8, 9, 10}));
}

TEST(LanguageModel, LastIsTheLastPlacesScores) {
  random::seed(3);
  const L::GPT gpt(small_gpt());
  const L::Glm glm({.vocabulary = 11, .context = 24, .width = 16, .layers = 2, .heads = 4, .groups = 2, .hidden = 20});
  const auto mode = test_mode();
  const auto no_graph = no_backprop_mode();
  for (const L::LanguageModel* model :
       {static_cast<const L::LanguageModel*>(&gpt), static_cast<const L::LanguageModel*>(&glm)}) {
    const Array all = (*model)(ids({1, 2, 3, 4, 5})).array(), last = model->last(ids({1, 2, 3, 4, 5})).array();
    EXPECT_EQ(last.shape(), (Shape{1, 1, 11}));
    EXPECT_TRUE(allclose(last(0, 0), all(0, -1), 1e-5, 1e-6));
    std::vector<L::KeyValueCache> caches(2), wrong(3);
    model->last(ids({1, 2, 3}), &caches);
    EXPECT_TRUE(allclose(model->last(ids({4, 5}), &caches).array()(0, 0), all(0, -1), 1e-5, 1e-6));
    EXPECT_EQ(caches[1].size(), 5);
    EXPECT_THROW(model->last(ids({1}), &wrong), ValueError);
    EXPECT_THROW(model->last(zeros({5}, Dtype::int64)), ShapeError);
    EXPECT_THROW(model->last(ids(std::vector<std::int64_t>(20, 1)), &caches), ValueError);
  }
}

TEST(Gpt, LearnsToCount) {
  random::seed(1);
  const L::GPT model(small_gpt());
  std::vector<std::int64_t> text;
  for (std::int64_t i = 0; i < 21; ++i) text.push_back(i % 11);
  const Variable x(ids(text)(slice(), slice(0, 20)), false), t(ids(text)(slice(), slice(1, 21)), false);
  const optimizers::Adam optimizer(0.01);
  optimizer.setup(model);
  for (int step = 0; step < 100; ++step)
    optimizer.update([&] { return F::softmax_cross_entropy(F::reshape(model(x), {-1, 11}), F::reshape(t, {-1})); });
  EXPECT_EQ(L::generate(model, {0, 1, 2, 3, 4}, {.tokens = 6, .temperature = 0}),
            (std::vector<std::int64_t>{5, 6, 7, 8, 9, 10}));
}

/// A prompt that is read in one piece.
void told_nothing(const L::LanguageModel& model, const std::vector<std::int64_t>& prompt) {
  const auto fails = [](std::int64_t) -> bool { throw 1; };
  EXPECT_EQ(L::generate(model, prompt, {.tokens = 2, .on_prompt = fails}).size(), 2u);
}

TEST(Generate, IsGreedyAsWholeCallsAre) {
  random::seed(2);
  const L::GPT model(small_gpt());
  std::vector<std::int64_t> text = {3, 1};
  const auto mode = test_mode();
  for (int i = 0; i < 10; ++i) {
    const Array scores = model(ids(text)).array();
    text.push_back(argmax(Array(scores[0])[-1]).item<std::int64_t>());
  }
  EXPECT_EQ(L::generate(model, {3, 1}, {.tokens = 10, .temperature = 0}),
            (std::vector<std::int64_t>{text.begin() + 2, text.end()}));
  EXPECT_EQ(L::generate(model, {3, 1}, {.tokens = 10, .top_k = 1, .seed = 5}),
            (std::vector<std::int64_t>{text.begin() + 2, text.end()}));
}

TEST(Generate, DrawsByProbabilities) {
  /// A model with equal scores at every position.
  struct Fixed : L::LanguageModel {
    std::vector<double> p = {0.5, 0.3, 0.15, 0.05};
    L::Linear none{1, 1};
    CT_LINKS(none)
    std::int64_t vocabulary() const override { return 4; }
    std::int64_t context() const override { return 100000; }
    std::int64_t layers() const override { return 0; }
    Variable features(const Variable& ids, std::int64_t, std::vector<L::KeyValueCache>*) const override {
      return Variable(zeros({1, ids.shape(1), 1}), false);
    }
    Variable scores(const Variable& x) const override {
      std::vector<double> logits;
      for (double q : p) logits.push_back(std::log(q));
      const Array row = Array::from_host(logits.data(), {1, 1, 4}, Dtype::float64, Device());
      return Variable(broadcast_to(row, {1, x.shape(1), 4}), false);
    }
  };
  const Fixed model;
  const auto counts = [&](const L::GenerateOptions& options) {
    std::vector<double> parts(4);
    for (const std::int64_t token : L::generate(model, {0}, options))
      parts[static_cast<std::size_t>(token)] += 1.0 / 4000;
    return parts;
  };
  const auto all = counts({.tokens = 4000});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(all[i], model.p[i], 0.03);
  const auto two = counts({.tokens = 4000, .top_k = 2});
  EXPECT_NEAR(two[0], 0.5 / 0.8, 0.03);
  EXPECT_EQ(two[2] + two[3], 0);
  const auto likely = counts({.tokens = 4000, .top_p = 0.75});
  EXPECT_NEAR(likely[1], 0.3 / 0.8, 0.03);
  EXPECT_EQ(likely[2] + likely[3], 0);
  const auto sharp = counts({.tokens = 4000, .temperature = 0.5});
  EXPECT_NEAR(sharp[0], 0.25 / (0.25 + 0.09 + 0.0225 + 0.0025), 0.03);
  const auto close = counts({.tokens = 4000, .min_p = 0.29});  // of 0.5, so 0.15 is left
  EXPECT_NEAR(close[2], 0.15 / 0.95, 0.03);
  EXPECT_EQ(close[3], 0);
  EXPECT_NEAR(counts({.tokens = 4000, .min_p = 1})[0], 1, 1e-9);
  // all tokens soon occur: logarithms are negative and multiplied, so probabilities are squared
  const auto varied = counts({.tokens = 4000, .repetition_penalty = 2});
  EXPECT_NEAR(varied[0], 0.25 / (0.25 + 0.09 + 0.0225 + 0.0025), 0.03);
  // the prompt's token becomes less likely, the others do not
  EXPECT_EQ(L::generate(model, {0}, {.tokens = 1, .temperature = 0, .repetition_penalty = 2}),
            std::vector<std::int64_t>{1});
  // the first of equal scores, and an error for NaN
  Fixed other;
  other.p = {0.2, 0.4, 0.4, 0};
  EXPECT_EQ(L::generate(other, {0}, {.tokens = 2, .temperature = 0}), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(L::generate(other, {0}, {.tokens = 2, .top_k = 1}), (std::vector<std::int64_t>{1, 1}));
  other.p[3] = -1;
  EXPECT_THROW(L::generate(other, {0}, {.tokens = 2}), ValueError);
}

TEST(Generate, ALongPromptIsReadInPieces) {
  random::seed(7);
  std::vector<std::int64_t> prompt;
  for (std::int64_t i = 0; i < 1200; ++i) prompt.push_back(i * i % 11);
  const L::GPT gpt({.vocabulary = 11, .context = 1220, .width = 16, .layers = 2, .heads = 4});
  const L::Llama llama({.vocabulary = 11,
                        .context = 1220,
                        .width = 16,
                        .layers = 2,
                        .heads = 4,
                        .hidden = 24,
                        .groups = 2,
                        .window = 90});
  const L::Glm glm(
      {.vocabulary = 11, .context = 1220, .width = 16, .layers = 2, .heads = 4, .groups = 2, .hidden = 20});
  for (const L::LanguageModel* model : std::vector<const L::LanguageModel*>{&gpt, &llama, &glm}) {
    std::vector<L::KeyValueCache> whole(2), pieces(2);
    std::vector<std::int64_t> told;
    const std::vector<std::int64_t> text = L::generate(
        *model, prompt, {.tokens = 5, .temperature = 0, .caches = &pieces, .on_prompt = [&](std::int64_t read) {
                           told.push_back(read);
                           return true;
                         }});
    EXPECT_EQ(told, (std::vector<std::int64_t>{400, 800}));
    const auto mode = test_mode();
    const auto no_graph = no_backprop_mode();
    std::vector<std::int64_t> expected;
    Array scores = model->last(ids(prompt), &whole).array();
    for (int i = 0; i < 5; ++i) {
      expected.push_back(argmax(Array(scores[0])[0]).item<std::int64_t>());
      if (i < 4) scores = model->last(ids({expected.back()}), &whole).array();
    }
    EXPECT_EQ(text, expected) << model->type_name();
    // equal bits: sums at each position have a fixed order
    for (std::size_t layer = 0; layer < 2; ++layer) {
      EXPECT_EQ(values(pieces[layer].keys()), values(whole[layer].keys())) << model->type_name();
      EXPECT_EQ(values(pieces[layer].values()), values(whole[layer].values())) << model->type_name();
    }
    // after existing cache entries, and stopped on request
    for (L::KeyValueCache& cache : pieces) cache.resize(10);
    told.clear();
    const auto ends = [&](std::int64_t read) {
      told.push_back(read);
      return read < 600;
    };
    EXPECT_TRUE(L::generate(*model, prompt, {.caches = &pieces, .on_prompt = ends}).empty());
    EXPECT_EQ(told, (std::vector<std::int64_t>{406, 803}));
    EXPECT_EQ(pieces[1].size(), 803);
  }
  told_nothing(gpt, {prompt.begin(), prompt.begin() + 512});
  // models that need the whole prompt get it at once
  const L::ChatGlm chat({.vocabulary = 60,
                         .context = 1220,
                         .width = 16,
                         .layers = 1,
                         .heads = 2,
                         .hidden = 20,
                         .mask = 50,
                         .gmask = 51,
                         .begin = 52});
  prompt.insert(prompt.end(), {51, 52});
  told_nothing(chat, prompt);
}

// The scores after a prompt are equal for reading in pieces and at once, for all kinds of weights.
TEST(Generate, PiecesGiveTheScoresOfTheWhole) {
  const auto mode = test_mode();
  const auto no_graph = no_backprop_mode();
  const std::int64_t n = 600;
  std::vector<std::int64_t> prompt;
  for (std::int64_t i = 0; i < n; ++i) prompt.push_back(i * i % 11);
  const std::vector<std::int64_t> first(prompt.begin(), prompt.begin() + n / 2),
      rest(prompt.begin() + n / 2, prompt.end());
  const auto expect_same = [&](const L::LanguageModel& model, const std::string& what) {
    std::vector<L::KeyValueCache> whole(2), pieces(2), by_hand(2);
    const auto expected = values(model.last(ids(prompt), &whole).array());
    model.read(ids(first), by_hand);
    EXPECT_EQ(values(model.last(ids(rest), &by_hand).array()), expected) << what;
    std::vector<std::int64_t> told;
    const auto text = L::generate(
        model, prompt, {.tokens = 1, .temperature = 0, .caches = &pieces, .on_prompt = [&](std::int64_t read) {
                          told.push_back(read);
                          return true;
                        }});
    EXPECT_EQ(told, std::vector<std::int64_t>{n / 2}) << what;
    EXPECT_EQ(text[0], std::max_element(expected.begin(), expected.end()) - expected.begin()) << what;
    for (std::size_t layer = 0; layer < 2; ++layer) {
      EXPECT_EQ(values(pieces[layer].keys()), values(whole[layer].keys())) << what;
      EXPECT_EQ(values(pieces[layer].values()), values(whole[layer].values())) << what;
    }
  };
  const auto made = [&] {
    random::seed(7);
    return L::Llama(
        {.vocabulary = 11, .context = 640, .width = 32, .layers = 2, .heads = 4, .hidden = 64, .groups = 2});
  };
  for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    const L::Llama model = made();
    for (const Parameter& p : model.params()) p.set_array(p.array().astype(dtype));
    expect_same(model, dtype_name(dtype));
  }
  const bool on_cpu = current_device().is_cpu();
  for (const Quantization kind : kAllQuantizations) {
    // other devices dequantise all kinds by common code, without rounding x
    if (!on_cpu && kind != Quantization::q8_0 && kind != Quantization::q4_0) continue;
    L::Llama model = made();
    L::quantize(model, kind);
    expect_same(model, quantization_info(kind).name);
    const auto scope = using_config(config.int8_products, true);
    if (on_cpu) expect_same(model, fmt::format("{}, x in 8 bits", quantization_info(kind).name));
  }
}

TEST(Generate, EndsAtTheContextOrWhenItIsToldTo) {
  const L::GPT model(small_gpt());
  // the context holds 24 tokens, and one more follows
  EXPECT_EQ(L::generate(model, {1, 2, 3, 4}, {.tokens = 100}).size(), 21u);
  int told = 0;
  EXPECT_EQ(L::generate(model, {1}, {.on_token = [&](std::int64_t) { return ++told < 3; }}).size(), 3u);
  EXPECT_TRUE(L::generate(model, {1}, {.tokens = 0}).empty());
  EXPECT_EQ(L::generate(model, {1, 2, 3, 4}, {.tokens = 100, .context = 6}).size(), 3u);
  EXPECT_THROW(L::generate(model, {1, 2, 3}, {.context = 2}), ValueError);
  EXPECT_THROW(L::generate(model, {1}, {.context = 25}), ValueError);
  EXPECT_THROW(L::generate(model, {}), ValueError);
  EXPECT_THROW(L::generate(model, std::vector<std::int64_t>(25, 1)), ValueError);
  EXPECT_THROW(L::generate(model, {1}, {.temperature = -1}), ValueError);
  EXPECT_THROW(L::generate(model, {1}, {.top_k = -1}), ValueError);
  EXPECT_THROW(L::generate(model, {1}, {.top_p = 0}), ValueError);
  EXPECT_THROW(L::generate(model, {1}, {.min_p = -0.1}), ValueError);
  EXPECT_THROW(L::generate(model, {1}, {.min_p = 1.1}), ValueError);
  EXPECT_THROW(L::generate(model, {1}, {.repetition_penalty = 0}), ValueError);
}

}  // namespace
}  // namespace catenary
