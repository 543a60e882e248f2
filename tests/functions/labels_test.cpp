// Labels outside the classes: every function and link that takes labels or indices reports the label, its index and the
// allowed values.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/core/format.h"
#include "catenary/functions/functions.h"
#include "catenary/functions/signature.h"
#include "catenary/links/classifier.h"
#include "catenary/links/connection.h"
#include "catenary/links/loss.h"
#include "catenary/links/models/chatglm.h"
#include "catenary/links/models/glm.h"
#include "catenary/links/models/gpt.h"
#include "tests/autograd/helpers.h"
#include "tests/paths.h"
#include "tests/settle.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
using test::values;

/// A function of four labels, or a link.
struct Taker {
  std::string covers;                        ///< as named by scripts/make_coverage
  std::string function, name;                ///< as in messages
  std::int64_t classes;                      ///< labels are in [0, classes),
  std::optional<std::int64_t> ignored;       ///< or this
  std::function<void(const Array& t)> call;  ///< t of shape (4,)
};

L::EmbedID quantised_embedding(std::optional<std::int64_t> ignore_label) {
  L::EmbedID embed(3, 2, {.ignore_label = ignore_label});
  embed.quantize(Quantization::q8_0);
  return embed;
}

std::vector<Taker> takers() {
  const Array x = catenary::sin(arange(12, Dtype::float32)).reshape({4, 3}), row = x(slice(), 0);
  const Array cost = ones({3, 3}, Dtype::float32), W = ones({3, 3}, Dtype::float32);
  const F::Sampler zero_sampler = [](const Shape& shape) { return zeros(shape, Dtype::int32); };
  const auto pixels = [](const Array& t) { return t.reshape({1, 2, 2}); };
  const Array images = ones({3, 1, 4, 4}, Dtype::float32),
              regions = array<float>({0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2}, {4, 4});
  return {
      {"functions::softmax_cross_entropy", "softmax_cross_entropy", "t", 3, -1,
       [x](const Array& t) { F::softmax_cross_entropy(x, t); }},
      {"functions::softmax_cross_entropy", "softmax_cross_entropy", "t", 3, 200,
       [x](const Array& t) {
         F::softmax_cross_entropy(x, t, {.ignore_label = 200, .class_weight = ones({3}, Dtype::float32)});
       }},
      {"functions::sigmoid_cross_entropy", "sigmoid_cross_entropy", "t", 2, -1,
       [row](const Array& t) { F::sigmoid_cross_entropy(row, t); }},
      {"functions::hinge", "hinge", "t", 3, {}, [x](const Array& t) { F::hinge(x, t); }},
      {"functions::contrastive", "contrastive", "y", 2, {}, [x](const Array& t) { F::contrastive(x, x + 1, t); }},
      {"functions::discriminative_margin_based_clustering_loss", "discriminative_margin_based_clustering_loss",
       "labels", 3, -1,
       [pixels](const Array& t) {
         F::discriminative_margin_based_clustering_loss(ones({1, 2, 2, 2}, Dtype::float32), pixels(t), 0.5, 1.5, 2);
       }},
      {"functions::negative_sampling", "negative_sampling", "t", 3, -1,
       [x, W, zero_sampler](const Array& t) { F::negative_sampling(x, t, W, zero_sampler, 2); }},
      {"functions::negative_sampling",
       "negative_sampling",
       "samples[:, 1:]",
       3,
       {},
       [x, W](const Array& t) {
         F::negative_sampling(
             x, zeros({4}, Dtype::int32), W,
             [&](const Shape&) {
               return catenary::concatenate({full({4, 1}, 9, t.dtype()), t.reshape({4, 1})}, 1);
             },
             1);
       }},
      {"functions::black_out",
       "black_out",
       "t",
       3,
       {},
       [x, W](const Array& t) {
         F::black_out(x, t, W, zeros({4, 2}, Dtype::int32));
       }},
      {"functions::black_out",
       "black_out",
       "samples",
       3,
       {},
       [x, W](const Array& t) {
         F::black_out(x, zeros({4}, Dtype::int32), W, t.reshape({4, 1}));
       }},
      {"functions::crf1d", "crf1d", "ys[0]", 3, {}, [x, cost](const Array& t) { F::crf1d(cost, {x}, {t}); }},
      {"functions::crf1d",
       "crf1d",
       "ys[1]",
       3,
       {},
       [x, cost](const Array& t) {
         F::crf1d(cost, {x, x}, {zeros({4}, Dtype::int32), t});
       }},
      {"functions::select_item", "select_item", "t", 3, {}, [x](const Array& t) { F::select_item(x, t); }},
      {"functions::embed_id", "embed_id", "x", 3, {}, [W](const Array& t) { F::embed_id(t, W); }},
      {"functions::embed_id", "embed_id", "x", 3, -1, [W](const Array& t) { F::embed_id(t, W, -1); }},
      {"functions::accuracy", "accuracy", "t", 3, {}, [x](const Array& t) { F::accuracy(x, t); }},
      {"functions::accuracy", "accuracy", "t", 3, -1, [x](const Array& t) { F::accuracy(x, t, -1); }},
      {"functions::binary_accuracy", "binary_accuracy", "t", 2, -1,
       [row](const Array& t) { F::binary_accuracy(row, t); }},
      {"functions::classification_summary", "classification_summary", "t", 3, -1,
       [x](const Array& t) { F::classification_summary(x, t); }},
      {"functions::classification_summary", "classification_summary", "t", 5, -1,
       [x](const Array& t) { F::classification_summary(x, t, 5); }},
      {"functions::precision", "classification_summary", "t", 3, 200,
       [x](const Array& t) { F::precision(x, t, {}, 200); }},
      {"functions::recall", "classification_summary", "t", 3, -1, [x](const Array& t) { F::recall(x, t); }},
      {"functions::fbeta_score", "classification_summary", "t", 3, -1, [x](const Array& t) { F::fbeta_score(x, t); }},
      {"functions::f1_score", "classification_summary", "t", 2, -1, [x](const Array& t) { F::f1_score(x, t, 2); }},
      {"functions::connectionist_temporal_classification",
       "connectionist_temporal_classification",
       "t",
       4,
       {},
       [](const Array& t) {
         const Variable scores(zeros({4, 4}, Dtype::float32));
         F::connectionist_temporal_classification({scores, scores}, t.reshape({4, 1}), 1);
       }},
      {"functions::permutate",
       "permutate",
       "indices",
       4,
       {},
       [](const Array& t) { F::permutate(arange(4, Dtype::float32), t); }},
      {"functions::upsampling_2d",
       "upsampling_2d",
       "indexes",
       4,
       {},
       [](const Array& t) {
         F::upsampling_2d(ones({1, 1, 2, 2}, Dtype::float32), t.reshape({1, 1, 2, 2}), 2);
       }},
      {"functions::roi_pooling_2d",
       "roi_pooling_2d",
       "roi_indices",
       3,
       {},
       [images, regions](const Array& t) {
         const Array first = t.astype(Dtype::float32).reshape({4, 1});
         F::roi_pooling_2d(images, catenary::concatenate({first, regions}, 1), 1, 1, 1);
       }},
      {"functions::roi_max_pooling_2d",
       "roi_max_pooling_2d",
       "roi_indices",
       3,
       {},
       [images, regions](const Array& t) { F::roi_max_pooling_2d(images, regions, t, 1, 1); }},
      {"functions::roi_average_pooling_2d",
       "roi_average_pooling_2d",
       "roi_indices",
       3,
       {},
       [images, regions](const Array& t) { F::roi_average_pooling_2d(images, regions, t, 1, 1); }},
      {"functions::roi_max_align_2d",
       "roi_max_align_2d",
       "roi_indices",
       3,
       {},
       [images, regions](const Array& t) { F::roi_max_align_2d(images, regions, t, 1, 1); }},
      {"functions::roi_average_align_2d",
       "roi_average_align_2d",
       "roi_indices",
       3,
       {},
       [images, regions](const Array& t) { F::roi_average_align_2d(images, regions, t, 1, 1); }},
      {"functions::CooMatrix", "CooMatrix", "row", 3, -1,
       [](const Array& t) {
         const Array other = catenary::where(t == -1, t, 0);
         F::CooMatrix(zeros({4}, Dtype::float32), t, other, {3, 2});
       }},
      {"functions::CooMatrix", "CooMatrix", "col", 2, -1,
       [](const Array& t) {
         const Array other = catenary::where(t == -1, t, 0);
         F::CooMatrix(zeros({4}, Dtype::float32), other, t, {3, 2});
       }},
      {"links::EmbedID", "embed_id", "x", 3, {}, [](const Array& t) { L::EmbedID(3, 2)(t); }},
      {"links::EmbedID", "embed_id", "x", 3, -1, [](const Array& t) { L::EmbedID(3, 2, {.ignore_label = -1})(t); }},
      {"links::EmbedID", "embed_id", "x", 3, {}, [](const Array& t) { quantised_embedding({})(t); }},
      {"links::EmbedID", "embed_id", "x", 3, -1, [](const Array& t) { quantised_embedding(-1)(t); }},
      {"links::GPT",
       "embed_id",
       "x",
       3,
       {},
       [](const Array& t) {
         L::GPT({.vocabulary = 3, .width = 4, .layers = 1, .heads = 1, .dropout = 0})(t.reshape({4, 1}));
       }},
      {"links::Llama",
       "embed_id",
       "x",
       3,
       {},
       [](const Array& t) {
         L::Llama({.vocabulary = 3, .width = 4, .layers = 1, .heads = 1, .hidden = 2})(t.reshape({4, 1}));
       }},
      {"links::Glm",
       "embed_id",
       "x",
       3,
       {},
       [](const Array& t) {
         L::Glm({.vocabulary = 3, .width = 4, .layers = 1, .heads = 1, .groups = 1, .hidden = 2})(t.reshape({4, 1}));
       }},
      {"links::ChatGlm",
       "embed_id",
       "x",
       3,
       {},
       [](const Array& t) {
         L::ChatGlmOptions options{.vocabulary = 3, .width = 4, .layers = 1, .heads = 1, .hidden = 2};
         options.mask = options.gmask = options.begin = 0;
         const L::ChatGlm model(options);
         model(t.reshape({1, 4}));
       }},
      {"links::Classifier", "softmax_cross_entropy", "t", 3, -1,
       [x](const Array& t) {
         const L::Classifier classifier(L::Linear(3, 3));
         classifier(x, t);
       }},
      {"links::BlackOut",
       "black_out",
       "t",
       3,
       {},
       [x](const Array& t) {
         L::BlackOut(3, {1, 1, 1}, 2)(x, t);
       }},
      {"links::NegativeSampling", "negative_sampling", "t", 3, -1,
       [x](const Array& t) {
         L::NegativeSampling(3, {1, 1, 1}, 2)(x, t);
       }},
      {"links::BinaryHierarchicalSoftmax",
       "BinaryHierarchicalSoftmax",
       "t",
       3,
       {},
       [x](const Array& t) { L::BinaryHierarchicalSoftmax(3, L::ClassTree(L::ClassTree(0, 1), 2))(x, t); }},
      {"links::CRF1d", "crf1d", "ys[0]", 3, {}, [x](const Array& t) { L::CRF1d(3)({x}, {t}); }},
  };
}

/// The message without the text added by asynchronous devices and by links.
std::string plain_error_of(const std::function<void()>& f) {
  std::string message = "no error";
  try {
    tests::settle(f);
  } catch (const IndexError& e) {
    message = e.what();
  } catch (const ValueError& e) {
    message = e.what();
  }
  return message.substr(0, std::min(message.find(" [reported late"), message.find("\n  in ")));
}

TEST(Labels, AreCheckedAndNamed) {
  for (const Taker& taker : takers()) {
    SCOPED_TRACE(fmt::format("{} of {} in [0, {})", taker.name, taker.function, taker.classes));
    const std::string range = fmt::format("{}: {} must be in [0, {}){}", taker.function, taker.name, taker.classes,
                                          taker.ignored ? fmt::format(" or {}, which is ignored", *taker.ignored) : "");
    const bool column = taker.covers == "links::GPT" || taker.covers == "links::Llama" ||
                        taker.covers == "links::Glm" || taker.name.starts_with("samples") ||
                        taker.function.starts_with("connectionist");
    // check small dtypes for one function only: each takes several kernels
    const bool all_dtypes = taker.function == "softmax_cross_entropy" && taker.ignored == -1;
    for (const Dtype dtype : {Dtype::int32, Dtype::int8, Dtype::uint8}) {
      if (dtype != Dtype::int32 && !all_dtypes) continue;
      const auto call = [&](std::int64_t third) {
        return plain_error_of([&] {
          const Array t = zeros({4}, Dtype::int64);
          t.set(third, 2);
          taker.call(t.astype(dtype));
        });
      };
      EXPECT_EQ(call(taker.classes - 1), "no error");
      if (taker.ignored && dtype == Dtype::int32) {
        EXPECT_EQ(call(*taker.ignored), "no error");
      }
      std::vector<std::int64_t> wrong = {taker.classes, 100};
      if (dtype != Dtype::uint8) wrong.insert(wrong.end(), {taker.ignored == -1 ? -2 : -1, -3});
      if (dtype == Dtype::uint8) wrong.push_back(255);  // not -1
      for (const std::int64_t value : wrong) {
        const std::string place = taker.name == "labels"             ? "0, 1, 0"
                                  : taker.name == "indexes"          ? "0, 0, 1, 0"
                                  : column                           ? "2, 0"
                                  : taker.covers == "links::ChatGlm" ? "0, 2"
                                                                     : "2";  // of pixels, a column, or a row
        EXPECT_EQ(call(value), fmt::format("{}, but {}[{}] is {}", range, taker.name, place, value));
      }
    }
  }
}

TEST(Labels, AreIntegers) {
  for (const Taker& taker : takers()) {
    if (taker.covers == "functions::roi_pooling_2d") continue;  // regions contain them as floats
    EXPECT_THROW(tests::settle([&] { taker.call(zeros({4}, Dtype::float32)); }), DtypeError)
        << taker.covers << " " << taker.name;
  }
}

/// The functions and links in the list that scripts/make_coverage makes from the headers, each with the first sentences
/// of its documentation.
std::map<std::string, std::string> functions_and_links() {
  const std::regex line(
      "- `(functions::\\w+)` \\(function\\):(.*)|- `(links::\\w+|functions::CooMatrix)` \\(class\\):(.*)");
  std::map<std::string, std::string> documented;
  std::ifstream file(tests::names_path());
  std::smatch found;
  for (std::string text; std::getline(file, text);)
    if (std::regex_match(text, found, line))
      documented[found[1].str() + found[3].str()] += found[2].str() + found[4].str();
  std::erase_if(documented, [](const auto& entry) { return entry.first.ends_with("Options"); });
  return documented;
}

/// The functions whose rows have an argument of labels.
std::set<std::string> with_labels() {
  std::set<std::string> all;
  for (const F::Signature& each : F::signatures())
    if (std::any_of(each.arguments.begin(), each.arguments.end(),
                    [](const F::Argument& argument) { return argument.takes == F::Takes::labels; }))
      all.insert("functions::" + std::string(each.name()));
  // orders and conditions, which may be any integers
  all.erase("functions::polygamma"), all.erase("functions::where");
  return all;
}

// A new function or link whose row has labels or whose documentation speaks of labels or indices must be added to
// takers().
TEST(Labels, OfEveryFunctionAndLinkThatTakesSome) {
  // These return labels, or the words mean something else.
  const std::set<std::string> takes_none = {"functions::argmax_crf1d", "functions::split_axis", "links::ClassTree",
                                            "links::MobileNetV2", "links::UNet"};
  std::set<std::string> takes = {"functions::get_item", "functions::scatter_add"};  // tested with the arrays'
  for (const Taker& taker : takers()) takes.insert(taker.covers);
  const std::map<std::string, std::string> all = functions_and_links();
  EXPECT_GT(all.size(), 300u);
  const std::regex word("\\b(labels?|indices|indexes|integers?|ids|classes)\\b");
  for (const auto& [name, text] : all) {
    const bool speaks = std::regex_search(text, word) && !takes_none.contains(name);
    EXPECT_TRUE(!speaks || takes.contains(name)) << name << " takes labels or indices: add it to takers()";
  }
  for (const std::string& name : with_labels())
    EXPECT_TRUE(takes.contains(name)) << name << " has labels in its row: add it to takers()";
  takes.insert(takes_none.begin(), takes_none.end());
  for (const std::string& name : takes) EXPECT_TRUE(all.contains(name)) << name << " is not there any more";
}

// All checks of integers use Labels, which also checks their values.
TEST(Labels, AreCheckedInOnePlace) {
  for (const char* room : {"catenary/functions", "catenary/links"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tests::source_path(room))) {
      if (!entry.is_regular_file() || entry.path().filename() == "labels.cpp") continue;
      std::ifstream file(entry.path());
      for (std::string text; std::getline(file, text);)
        EXPECT_EQ(text.find("is_integer("), std::string::npos) << entry.path() << ": " << text;
    }
  }
}

TEST(Labels, IndexArraysCountFromTheEndAndNoFurther) {
  const Variable x(arange(3, Dtype::float32));
  for (const int wrong : {3, -4}) {
    const Array at = array<int>({0, wrong});
    const std::string words = fmt::format("index {} is out of bounds for axis 0 with size 3", wrong);
    EXPECT_NE(plain_error_of([&] { F::get_item(x, {at}); }).find(words), std::string::npos);
    EXPECT_NE(plain_error_of([&] { F::scatter_add(x, {at}, ones({2}, Dtype::float32)); }).find(words),
              std::string::npos);
  }
  EXPECT_EQ(values(F::get_item(x, {array<int>({0, -1})}).array()), (std::vector<double>{0, 2}));
}

TEST(Labels, TheBlankIsNone) {
  const Variable scores(zeros({2, 3}, Dtype::float32));
  const Array t = array<int>({0, 1, 2, 0}, {2, 2});
  EXPECT_EQ(plain_error_of([&] {
              F::connectionist_temporal_classification({scores, scores}, t, 2);
            }),
            "connectionist_temporal_classification: t must not be 2, the blank, but t[1, 0] is 2");
  // allowed after a sequence's labels
  const F::CtcOptions one{.label_length = Variable(array<int>({2, 0}))};
  EXPECT_EQ(plain_error_of([&] { F::connectionist_temporal_classification({scores, scores}, t, 2, one); }), "no error");
}

TEST(Labels, AClassThatIsNoLeafIsNone) {
  const L::BinaryHierarchicalSoftmax link(3, L::ClassTree(L::ClassTree(0, 1), 4));
  const Array x = ones({2, 3}, Dtype::float32);
  EXPECT_EQ(plain_error_of([&] {
              link(x, array<int>({4, 3}));
            }),
            "BinaryHierarchicalSoftmax: t must not be a number missing from the tree, but t[1] is 3");
  EXPECT_EQ(plain_error_of([&] {
              link(x, array<int>({5, 3}));
            }),
            "BinaryHierarchicalSoftmax: t must be in [0, 5), but t[0] is 5");
  EXPECT_EQ(plain_error_of([&] { link(x, array<int>({4, 1})); }), "no error");
}

TEST(Labels, OfASparseMatrixAreWhereThereIsNoElement) {
  const Array data = array<float>({1, 5, 2});
  const auto matrix = [&](std::vector<int> row, std::vector<int> col) {
    return plain_error_of([&] { F::CooMatrix(data, array<int>(row), array<int>(col), {3, 2}); });
  };
  EXPECT_EQ(matrix({0, -1, 2}, {1, -1, 0}), "no error");
  EXPECT_EQ(matrix({0, -1, 2}, {1, 1, 0}), "CooMatrix: row must not be -1 where the other is not, but row[1] is -1");
  EXPECT_EQ(matrix({0, 1, 2}, {1, -1, 0}), "CooMatrix: col must not be -1 where the other is not, but col[1] is -1");
}

// Padding has no gradient and is not multiplied with anything, not even with an infinity.
TEST(Labels, ElementsOfASparseMatrixThatAreNotThereCountNothing) {
  const Variable data(array<float>({3, INFINITY}));
  const F::CooMatrix m(data, array<int>({1, -1}), array<int>({0, -1}), {2, 2});
  EXPECT_EQ(values(m.to_dense().array()), (std::vector<double>{0, 0, 3, 0}));
  F::sum(m.to_dense()).backward();
  EXPECT_EQ(values(data.grad()), (std::vector<double>{1, 0}));
  data.cleargrad();
  // row 0 of the other matrix, which indices of 0 would select, and its last row, which -1 would
  const F::CooMatrix first(data, array<int>({1, -1}), array<int>({1, -1}), {2, 3});
  const Variable b(array<float>({INFINITY, 2, NAN}, {3, 1}));
  const Variable y = F::sparse_matmul(first, b);
  EXPECT_EQ(values(y.array()), (std::vector<double>{0, 6}));
  F::sum(y).backward();
  EXPECT_EQ(values(data.grad()), (std::vector<double>{2, 0}));
  EXPECT_EQ(values(b.grad()), (std::vector<double>{0, 3, 0}));
}

TEST(Labels, TooLargeForInt64AreNone) {
  const Array x = ones({2, 3}, Dtype::float32), t = zeros({2}, Dtype::uint64);
  t.set(~t(0), 1);  // 2^64 - 1, which int64 would read as -1
  EXPECT_NE(plain_error_of([&] { F::softmax_cross_entropy(x, t); }), "no error");
}

TEST(Labels, NothingToCheck) {
  const Array none = zeros({0}, Dtype::int32), x = zeros({0, 3}, Dtype::float32);
  EXPECT_EQ(F::softmax_cross_entropy(x, none, {.reduce = F::Reduce::no}).shape(), (Shape{0}));
  EXPECT_EQ(F::sigmoid_cross_entropy(zeros({0}, Dtype::float32), none).item<float>(), 0);
  EXPECT_EQ(F::embed_id(none, zeros({3, 2}, Dtype::float32)).shape(), (Shape{0, 2}));
  EXPECT_EQ(F::classification_summary(x, none).support.shape(), (Shape{0}));
}

TEST(Labels, OfEveryPixel) {
  const Array x = zeros({2, 3, 2, 2}, Dtype::float32), t = zeros({2, 2, 2}, Dtype::int32);
  t.set(-5, 1, 0, 1);
  EXPECT_EQ(plain_error_of([&] { F::softmax_cross_entropy(x, t); }),
            "softmax_cross_entropy: t must be in [0, 3) or -1, which is ignored, but t[1, 0, 1] is -5");
  EXPECT_EQ(plain_error_of([&] {
              F::accuracy(x, t.transpose({2, 1, 0}));
            }),
            "accuracy: t must be in [0, 3), but t[1, 0, 1] is -5");
}

TEST(Labels, ThatAreIgnoredLeaveNoGradient) {
  const Variable W(ones({3, 2}, Dtype::float32));
  F::sum(F::embed_id(array<int>({1, -1, 1}), W, -1)).backward();
  EXPECT_EQ(values(W.grad()), (std::vector<double>{0, 0, 2, 2, 0, 0}));
  const Variable words(ones({3, 2}, Dtype::float32));
  F::negative_sampling(
      ones({2, 2}, Dtype::float32), array<int>({-1, -1}), words,
      [](const Shape& shape) { return zeros(shape, Dtype::int32); }, 1)
      .backward();
  EXPECT_EQ(values(words.grad()), std::vector<double>(6, 0.0));
}

}  // namespace
}  // namespace catenary
