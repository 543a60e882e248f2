// Language models of `transformers` with their scores, made by tests/data/language_models/make.py.

#include "tests/language_models.h"

#include "catenary/core/os/file.h"
#include "report.h"

namespace reference {

Report run_language_models(const std::string& directory, const nlohmann::json& manifest) {
  Report report;
  for (const std::string name : manifest.at("language_models")) {
    const std::string folder = directory + "/" + name;
    for (const char* ending : {"", ".gguf"}) {
      if (!catenary::os::exists(folder + (*ending ? ending : "/config.json"))) continue;
      Line line{name + ending, "load_language_model", Verdict::passed, ""};
      try {
        line.detail = tests::differences(folder + ending, tests::ExpectedText(folder));
        if (!line.detail.empty()) line.verdict = Verdict::failed;
      } catch (const catenary::Error& e) {
        line.verdict = Verdict::failed, line.detail = e.what();
      }
      report.lines.push_back(std::move(line));
    }
  }
  return report;
}

}  // namespace reference
