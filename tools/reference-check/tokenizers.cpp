// Tokenizers of the Python package `tokenizers` and their results, made by tests/data/tokenizers/make_tokenizers.py.

#include <fstream>

#include "report.h"
#include "tests/cut_texts.h"

namespace reference {

Report run_tokenizers(const std::string& directory, const nlohmann::json& manifest) {
  std::ifstream file(directory + "/cases.json");
  if (!file) throw catenary::FileError(directory + "/cases.json: cannot be read");
  const nlohmann::json cases = nlohmann::json::parse(file);
  Report report;
  for (const std::string name : manifest.at("tokenizers"))
    add_case(report, name, "load_tokenizer", [&] {
      const catenary::Tokenizer tokenizer = catenary::load_tokenizer(directory + "/" + name + ".json");
      const std::vector<tests::CutText> texts = tests::cut_texts(cases, name);
      std::string first;
      int differ = 0;
      for (const tests::CutText& text : texts)
        if (const std::string words = tests::differences(tokenizer, text); !words.empty()) {
          if (differ++ == 0) first = nlohmann::json(text.text).dump() + ": " + words;
        }
      if (differ > 0) throw Mismatch(fmt::format("{} of {} texts, such as {}", differ, texts.size(), first));
    });
  return report;
}

}  // namespace reference
