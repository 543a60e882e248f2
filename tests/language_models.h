#pragma once
// Language models with the expected results of `transformers` (tests/data/language_models/make.py).

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "catenary/catenary.h"
#include "catenary/io/safetensors.h"
#include "tests/paths.h"

namespace tests {

/// Returns the folder of a model.
inline std::string language_model(const std::string& name) { return source_path("tests/data/language_models/" + name); }

/// Results of `transformers`: the scores of ids [batch, length], and the next tokens after the first row, one by one.
struct ExpectedText {
  catenary::Array ids;
  std::vector<double> scores;
  std::vector<std::int64_t> first, greedy;

  explicit ExpectedText(const std::string& folder) {
    namespace ct = catenary;
    const ct::io::SafetensorsReader file(folder + "/expected.safetensors");
    const auto array = [&](const char* name) {
      const ct::io::HostArray a = file.read(name);
      return ct::Array::from_host(a.data.get(), a.shape, a.dtype, ct::Device());
    };
    ids = array("ids");
    first = ids[0].copy().to_vector<std::int64_t>();
    scores = array("logits").astype(ct::Dtype::float64).to_vector<double>();
    greedy = array("greedy").to_vector<std::int64_t>();
  }
};

/// Returns the largest difference between a model's scores and the expected scores.
inline double difference(const catenary::links::LanguageModel& model, const ExpectedText& expected) {
  namespace ct = catenary;
  const auto mode = ct::test_mode();
  const auto no_graph = ct::no_backprop_mode();
  const ct::Array scores = model(expected.ids.to_device(ct::get_device(model))).array();
  const std::vector<double> found = scores.to_device(ct::Device()).astype(ct::Dtype::float64).to_vector<double>();
  if (found.size() != expected.scores.size()) return INFINITY;
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double one = std::abs(found[i] - expected.scores[i]);
    most = one <= most ? most : one;  // true for NaN as well
  }
  return most;
}

/// Returns the most likely next tokens, each from a call with all previous tokens. Caches must not change this result.
inline std::vector<std::int64_t> greedy_without_cache(const catenary::links::LanguageModel& model,
                                                      std::vector<std::int64_t> text, std::size_t tokens) {
  namespace ct = catenary;
  const auto mode = ct::test_mode();
  const auto no_graph = ct::no_backprop_mode();
  const std::size_t prompt = text.size();
  while (text.size() < prompt + tokens) {
    const ct::Array ids = ct::Array::from_host(text.data(), {1, static_cast<std::int64_t>(text.size())},
                                               ct::Dtype::int64, ct::get_device(model));
    text.push_back(ct::argmax(ct::Array(model(ids).array()[0])[-1]).item<std::int64_t>());
  }
  return {text.begin() + static_cast<std::ptrdiff_t>(prompt), text.end()};
}

/// Returns a description of the differences of the model in `path` from the expected results, or "".
inline std::string differences(const std::string& path, const ExpectedText& expected) {
  namespace L = catenary::links;
  const std::unique_ptr<L::LanguageModel> model = L::load_language_model(path);
  const auto tokens = static_cast<std::int64_t>(expected.greedy.size());
  std::string words;
  if (const double most = difference(*model, expected); !(most <= 1e-4))
    words += fmt::format("scores differ by {:.3g}; ", most);
  if (const auto found = L::generate(*model, expected.first, {.tokens = tokens, .temperature = 0});
      found != expected.greedy)
    words += fmt::format("tokens are {}; ", fmt::join(found, " "));
  if (const auto found = greedy_without_cache(*model, expected.first, expected.greedy.size()); found != expected.greedy)
    words += fmt::format("without a cache they are {}; ", fmt::join(found, " "));
  return words;
}

}  // namespace tests
