// ChatGLM-6B's architecture. load_language_model_test.cpp checks its scores for given weights.

#include "catenary/links/models/chatglm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "catenary/catenary.h"
#include "catenary/core/format.h"
#include "catenary/io/safetensors.h"
#include "tests/folder.h"
#include "tests/language_models.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
using tests::error_of;
using tests::has;

constexpr std::int64_t kMask = 7, kGmask = 8, kBegin = 9;

L::ChatGlmOptions small_chatglm() {
  return {.vocabulary = 11,
          .context = 24,
          .width = 24,
          .layers = 2,
          .heads = 3,
          .hidden = 20,
          .mask = kMask,
          .gmask = kGmask,
          .begin = kBegin};
}
Array ids(const std::vector<std::int64_t>& rows, std::int64_t batch) {
  return Array::from_host(rows.data(), {batch, std::ssize(rows) / batch}, Dtype::int64);
}

TEST(ChatGlm, CachesHoldWhereASequencesPartsBegin) {
  random::seed(1);
  const L::ChatGlm model(small_chatglm());
  const auto mode = test_mode();
  const auto no_graph = no_backprop_mode();
  // masks and begin tokens at different positions, with text before and after them
  const Array text = ids({1, 2, 3, kGmask, kBegin, 4, 5, 6, 1, 0, 4, kMask, 5, 5, 6, kBegin, 2, 10, 3, 3}, 2);
  const Array whole = model(text).array();
  for (const std::int64_t first : {6, 7, 9}) {
    std::vector<L::KeyValueCache> caches(2);
    std::vector<Array> parts = {model(Variable(text(slice(), slice(0, first)), false), &caches).array()};
    for (std::int64_t at = first; at < 10;) {
      const std::int64_t n = at == 7 ? 2 : 1;
      std::vector<L::KeyValueCache> copies = caches;  // copies are independent
      parts.push_back(model(Variable(text(slice(), slice(at, at + n)), false), &copies).array());
      caches = copies;
      at += n;
    }
    EXPECT_TRUE(allclose(concatenate(parts, 1), whole, 1e-5, 1e-6)) << first;
    // another sequence in the same caches
    for (L::KeyValueCache& cache : caches) cache.resize(0);
    const Array other = ids({kMask, 1, kBegin, 2}, 1);
    std::vector<L::KeyValueCache> fresh(2);
    EXPECT_TRUE(allclose(model(other).array(), model(other, &fresh).array(), 1e-5, 1e-6));
  }
}

TEST(ChatGlm, SeesAllThatStandsBeforeTheBeginning) {
  const auto model = L::load_language_model(tests::source_path("tests/data/language_models/chatglm"));
  constexpr std::int64_t mask = 45, begin = 47;
  const auto mode = test_mode();
  const auto no_graph = no_backprop_mode();
  const auto scores = [&](const std::vector<std::int64_t>& row) { return (*model)(ids(row, 1)).array(); };
  const Array before = scores({1, 2, 3, mask, begin, 4, 5}), later = scores({1, 2, 3, mask, begin, 4, 6}),
              sooner = scores({1, 2, 0, mask, begin, 4, 5});
  EXPECT_TRUE(allclose(before(0, slice(0, 6)), later(0, slice(0, 6)), 1e-5, 1e-5));
  EXPECT_FALSE(allclose(before(0, 0), sooner(0, 0), 1e-2, 1e-2));
}

TEST(ChatGlm, LearnsWhatFollows) {
  random::seed(3);
  const L::ChatGlm model(small_chatglm());
  const std::vector<std::int64_t> row = {1, 2, 3, kGmask, kBegin, 4, 5, 6, 0, 4, 5, 6, 0};
  const Variable x(ids(row, 1), false);
  const Array next = ids({-1, -1, -1, -1, 4, 5, 6, 0, 4, 5, 6, 0, -1}, 1);
  const auto loss = [&] {
    return F::softmax_cross_entropy(F::reshape(model(x), {-1, 11}), Variable(next.reshape({-1}), false));
  };
  model.cleargrads();
  loss().backward();
  for (const auto& [path, parameter] : model.namedparams()) EXPECT_TRUE(parameter.grad().defined()) << path;
  const optimizers::Adam optimizer(0.01);
  optimizer.setup(model);
  for (int step = 0; step < 60; ++step) optimizer.update(loss);
  EXPECT_EQ(L::generate(model, {1, 2, 3, kGmask, kBegin}, {.tokens = 6, .temperature = 0}),
            (std::vector<std::int64_t>{4, 5, 6, 0, 4, 5}));
}

TEST(ChatGlm, ErrorsSayWhatIsWrong) {
  const L::ChatGlm model(small_chatglm());
  const std::string no_mask = error_of([&] { model(ids({1, 2, kBegin, 3, kMask, 1, kBegin, 2}, 2)); });
  EXPECT_TRUE(has(no_mask, "row 0 of (2, 4) has not")) << no_mask;
  EXPECT_TRUE(has(error_of([&] { model(ids({1, kGmask, 2}, 1)); }), "a mask token, 7 or 8, and the begin token 9"));
  EXPECT_TRUE(has(error_of([&] {
                    L::ChatGlmOptions wide = small_chatglm();
                    wide.width = 30;
                    const L::ChatGlm wrong(wide);
                  }),
                  "width, 30, must be a multiple of 4 times the 3 heads"));
  const auto no_graph = no_backprop_mode();
  std::vector<L::KeyValueCache> caches(2);
  model(ids({1, kGmask, kBegin}, 1), &caches);
  EXPECT_TRUE(has(error_of([&] {
                    model(ids({1, 2}, 2), &caches);
                  }),
                  "the caches hold 1 rows, but ids have shape (2, 1)"));
}

TEST(MultiHeadAttention, PositionsMayBeGiven) {
  random::seed(4);
  const L::MultiHeadAttention plain(12, 3), turned(12, 3, {.rotary = F::RotaryOptions()});
  const Variable x(random::normal(0, 1, Shape{2, 5, 12}, {.dtype = Dtype::float32}));
  const auto no_graph = no_backprop_mode();
  EXPECT_TRUE(allclose(turned(x, {.positions = {arange(5)}}).array(), turned(x).array(), 1e-6, 1e-6));
  // each half of a head has separate pairs
  const Array zero = zeros({5}, Dtype::int64);
  const Array halves = turned(x, {.positions = {arange(5), zero}}).array();
  const auto by_hand = [&](const L::Linear& by) {
    const Variable y = F::transpose(F::reshape(by(x), {2, 5, 3, 4}), {0, 2, 1, 3});
    return F::concat({F::rotary_embedding(y(ellipsis, slice(0, 2)), arange(5)), y(ellipsis, slice(2, 4))}, 3);
  };
  const Variable v = F::transpose(F::reshape(turned.v(x), {2, 5, 3, 4}), {0, 2, 1, 3});
  const Variable y = F::scaled_dot_product_attention(by_hand(turned.q), by_hand(turned.k), v);
  EXPECT_TRUE(allclose(halves, turned.out(F::reshape(F::transpose(y, {0, 2, 1, 3}), {2, 5, 12})).array(), 1e-5, 1e-6));
  EXPECT_FALSE(allclose(halves, turned(x).array(), 1e-3, 1e-3));
  EXPECT_THROW(plain(x, {.positions = {arange(5)}}), ValueError);
  EXPECT_THROW(turned(x, x, {.positions = {arange(5)}}), ValueError);
  EXPECT_THROW(turned(x, {.positions = {zero, zero, zero}}), ValueError);
  EXPECT_THROW(turned(x, {.positions = {arange(4)}}), ShapeError);
}

/// A folder written by `catenary quantize` from chatglm's, and the values of its blocks.
class QuantizedFolder {
 public:
  explicit QuantizedFolder(Quantization kind) {
    const std::string from = tests::source_path("tests/data/language_models/chatglm");
    std::filesystem::copy(from + "/config.json", folder_ / "config.json");
    const io::SafetensorsReader reader(from + "/model.safetensors");
    for (const std::string& name : reader.names()) {
      const io::HostArray values = reader.read(name);
      const Array array = Array::from_host(values.data.get(), values.shape, values.dtype, Device());
      if (array.ndim() < 2) {
        blocks.emplace_back(name, host(array));
        plain.emplace_back(name, host(array));
        continue;
      }
      const QuantizedArray w = quantize(array, kind);
      const std::vector<std::int64_t> told = {static_cast<std::int64_t>(kind), w.shape()[0], w.shape()[1]};
      blocks.emplace_back(name + "_blocks", host(w.blocks()));
      blocks.emplace_back(name + "_kind", host(Array::from_host(told.data(), {3}, Dtype::int64, Device())));
      plain.emplace_back(name, host(dequantize(w)));
    }
  }
  using Tensors = std::vector<std::pair<std::string, io::HostArray>>;
  std::unique_ptr<L::LanguageModel> load(const Tensors& tensors) const {
    io::write_safetensors(folder_ / "model.safetensors", tensors);
    return L::load_language_model(folder_.path);
  }
  Tensors blocks, plain;

 private:
  static io::HostArray host(const Array& array) {
    io::HostArray all = io::HostArray::empty(array.dtype(), array.shape());
    array.copy_to_host(all.data.get());
    return all;
  }
  tests::Folder folder_;
};

TEST(LoadLanguageModel, AFolderMayBeQuantized) {
  const tests::ExpectedText expected(tests::source_path("tests/data/language_models/chatglm"));
  for (const Quantization kind : {Quantization::q8_0, Quantization::q4_0, Quantization::int8}) {
    const QuantizedFolder folder(kind);
    const auto blocks = folder.load(folder.blocks), plain = folder.load(folder.plain);
    const auto& glm = dynamic_cast<const L::ChatGlm&>(*blocks);
    EXPECT_EQ(glm.blocks[1].attention.k.quantized()->kind(), kind);
    EXPECT_TRUE(glm.tokens.quantized());
    EXPECT_TRUE(glm.head->quantized());
    EXPECT_FALSE(dynamic_cast<const L::ChatGlm&>(*plain).head->quantized());
    const auto no_graph = no_backprop_mode();
    const Array ids = expected.ids.to_device(current_device());
    EXPECT_TRUE(allclose((*blocks)(ids).array(), (*plain)(ids).array(), 1e-4, 1e-4));
    if (kind == Quantization::q8_0) {
      EXPECT_LE(tests::difference(*blocks, expected), 0.3);
    }
  }
}

TEST(LoadLanguageModel, ABlocksKindThatDoesNotFitIsRefused) {
  const QuantizedFolder folder(Quantization::q8_0);
  const auto refused = [&](const std::function<void(std::vector<std::int64_t>&)>& change) {
    QuantizedFolder::Tensors tensors = folder.blocks;
    for (auto& [name, array] : tensors) {
      if (!name.ends_with("dense.weight_kind")) continue;
      std::vector<std::int64_t> kind(array.as<std::int64_t>(), array.as<std::int64_t>() + 3);
      change(kind);
      array = io::HostArray::empty(Dtype::int64, {std::ssize(kind)});
      std::copy(kind.begin(), kind.end(), array.as<std::int64_t>());
    }
    return error_of([&] { folder.load(tensors); });
  };
  EXPECT_TRUE(
      has(refused([](auto& kind) { kind[0] = 1; }),
          "dense.weight_blocks: blocks of Q4_0 for weights of (24, 24) are uint8 of (24, 18), not uint8 of (24, 34)"));
  EXPECT_TRUE(has(refused([](auto& kind) { kind[0] = 99; }), "not a known kind of quantised weights"));
  EXPECT_TRUE(has(refused([](auto& kind) { kind[1] = 25; }),
                  "blocks of Q8_0 for weights of (25, 24) are uint8 of (25, 34), not"));
  EXPECT_TRUE(has(refused([](auto& kind) { kind[2] = -24; }), "dense.weight_kind: there is no shape (24, -24)"));
  EXPECT_TRUE(has(refused([](auto& kind) { kind.pop_back(); }), "must be the kind of a matrix, not of (24,)"));
  EXPECT_TRUE(has(refused([](auto& kind) { kind.resize(1); }), "dense.weight_kind: there is no shape ()"));
  // without its kind it is an unexpected tensor
  QuantizedFolder::Tensors tensors = folder.blocks;
  std::erase_if(tensors, [](const auto& tensor) { return tensor.first == "lm_head.weight_kind"; });
  const std::string error = error_of([&] { folder.load(tensors); });
  EXPECT_TRUE(has(error, "lm_head.weight_blocks")) << error;
}

}  // namespace
}  // namespace catenary
