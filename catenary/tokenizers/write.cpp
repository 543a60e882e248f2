// Writes tokenizer.json as it was read, and tokenizer_config.json.

#include "catenary/core/os/file.h"
#include "catenary/tokenizers/json.h"
#include "catenary/tokenizers/pipeline.h"

namespace catenary {

void Tokenizer::save(const std::string& path) const {
  if (state_->json.empty())
    fail<ValueError>("Tokenizer::save: {}: {} was not read from a tokenizer.json, so there is no such file to write",
                     path, state_->name);
  const bool folder = !path.ends_with(".json");
  if (folder) os::make_directories(path);
  os::AtomicFile file(folder ? path + "/tokenizer.json" : path);
  file.write(state_->json);
  file.commit();
  if (!folder) return;
  nlohmann::ordered_json config = nlohmann::ordered_json::object();
  if (state_->bos) config["bos_token"] = token(*state_->bos);
  if (state_->eos) config["eos_token"] = token(*state_->eos);
  if (!state_->chat_template.empty()) config["chat_template"] = state_->chat_template;
  os::AtomicFile beside(path + "/tokenizer_config.json");
  beside.write(config.dump(1) + "\n");
  beside.commit();
}

}  // namespace catenary
