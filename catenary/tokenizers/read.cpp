// Reads tokenizer.json, and the files beside it.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "catenary/core/json_text.h"
#include "catenary/core/os/file.h"
#include "catenary/core/paths.h"
#include "catenary/io/identify.h"
#include "catenary/tokenizers/gguf_file.h"
#include "catenary/tokenizers/json.h"
#include "catenary/tokenizers/pipeline.h"

namespace catenary {

namespace tokenizers {

namespace {

/// Throws if values are nested so deeply that the JSON library's recursion could exhaust the stack.
void check_depth(std::string_view text, const std::string& file) {
  constexpr int kMost = 200;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_text = !in_text;
    if (in_text) {
      i += c == '\\';
    } else if (c == '[' || c == '{') {
      if (++depth > kMost) fail<FileError>("{}: at byte {}: more than {} nested lists and objects", file, i, kMost);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

}  // namespace

double number_of_tokenizers(std::string_view text) {
  static const std::vector<double> powers = [] {
    std::vector<double> all;
    for (int exponent = 0; exponent <= 308; ++exponent)
      all.push_back(std::strtod(fmt::format("1e{}", exponent).c_str(), nullptr));
    return all;
  }();
  const bool negative = text.starts_with('-');
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
  bool behind_point = false, is_full = false;
  std::size_t at = negative ? 1 : 0;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] < '0' || text[at] > '9') {  // the decimal point, which depends on the locale
      behind_point = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(text[at] - '0');
    is_full = is_full || digits > (UINT64_MAX - digit) / 10;
    if (!is_full) digits = 10 * digits + digit;
    if (is_full != behind_point) exponent += is_full ? 1 : -1;
  }
  if (at < text.size()) {
    std::int64_t told = 0;
    const char* begin = text.data() + at + 1;
    if (*begin == '+') ++begin;
    if (std::from_chars(begin, text.data() + text.size(), told).ec != std::errc())
      told = *begin == '-' ? -99999 : 99999;
    exponent += std::clamp<std::int64_t>(told, -99999, 99999);
  }
  auto value = static_cast<double>(digits);
  for (; exponent < -308 && value != 0; exponent += 308) value /= 1e308;
  if (value != 0) {
    const double power = powers[static_cast<std::size_t>(std::min<std::int64_t>(std::abs(exponent), 308))];
    value = exponent < 0 ? value / power : value * power;
  }
  return negative ? -value : value;
}

namespace {

/// Builds JSON values whose numbers are read like `tokenizers` reads them.
class Values : public nlohmann::detail::json_sax_dom_parser<nlohmann::json> {
 public:
  Values(nlohmann::json& value, const std::string& file) : json_sax_dom_parser(value, true), file_(file) {}
  bool number_float(double, const std::string& text) {
    return json_sax_dom_parser::number_float(number_of_tokenizers(text), text);
  }
  [[noreturn]] void not_json(std::size_t position, const char* what) const {
    fail<FileError>("{}: at byte {}: this is not JSON: {}", file_, position, what);
  }

 private:
  const std::string& file_;
};

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& file, bool numbers_of_tokenizers) {
  check_depth(text, file);
  try {
    if (numbers_of_tokenizers) {
      nlohmann::json value;
      Values values(value, file);
      json_text::sax_parse<nlohmann::json>(text, values);
      return value;
    }
    return json_text::parse<nlohmann::json>(text, [&](std::size_t position) {
      fail<FileError>("{}: at byte {}: this is not JSON: a zero byte", file, position);
    });
  } catch (const nlohmann::json::parse_error& e) {
    fail<FileError>("{}: at byte {}: this is not JSON", file, e.byte);
  } catch (const nlohmann::json::exception& e) {  // for example a number out of range
    fail<FileError>("{}: this is not JSON that can be read ({})", file, e.what());
  }
}

namespace {

void read_added(const Json& list, Tokenizer::State& state) {
  const std::size_t count = list.size();
  const std::uint64_t most = 4 * (static_cast<std::uint64_t>(state.model->vocabulary.size()) + count) + 65536;
  for (std::size_t i = 0; i < count; ++i) {
    const Json entry = list[i];
    entry.only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token;
    token.content = entry.at("content").text();
    token.id = entry.at("id").index(most);
    token.single_word = entry.at("single_word").flag();
    token.lstrip = entry.at("lstrip").flag();
    token.rstrip = entry.at("rstrip").flag();
    token.normalized = entry.at("normalized").flag();
    token.special = entry.at("special").flag();
    const auto id = state.model->vocabulary.id(token.content);
    if (id && *id != token.id)
      entry.at("id").refuse("'{}' has id {} in the model's vocabulary", token.content.substr(0, 80), *id);
    const std::string* other = state.model->vocabulary.token(token.id);
    if (other && *other != token.content)
      entry.at("id").refuse("{} is the id of '{}' in the model's vocabulary", token.id, other->substr(0, 80));
    entry.check([&] { state.added.add(std::move(token)); });
  }
}

}  // namespace

std::shared_ptr<Tokenizer::State> read_tokenizer(std::string_view text, const std::string& name) {
  const nlohmann::json document = parse_json(text, name, true);
  const Json json(document, name, "");
  json.only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
             "decoder", "model"});
  auto state = std::make_shared<Tokenizer::State>();
  state->name = name;
  if (const auto version = json.get("version"); version && version->text() != "1.0")
    version->refuse("unknown version '{}'", version->text().substr(0, 80));
  for (const char* what : {"truncation", "padding"})
    if (const auto found = json.get(what)) found->refuse("not supported; truncate or pad the ids in your program");
  state->model = read_model(json.at("model"));
  if (const auto found = json.get("normalizer")) state->normalizer = read_normalizer(*found);
  if (const auto found = json.get("pre_tokenizer")) state->pre_tokenizer = read_pre_tokenizer(*found);
  if (const auto found = json.get("post_processor")) read_post_processor(*found, state->templates);
  if (const auto found = json.get("decoder")) {
    read_decoder(*found, state->decoders);
  } else {
    state->decoders.push_back(make_join_decoder(" "));
  }
  if (const auto found = json.get("added_tokens")) {
    read_added(*found, *state);
    found->check([&] { state->added.finish(state->normalizer.get()); });
  } else {
    state->added.finish(nullptr);
  }
  for (std::size_t i = 0; i < state->templates.size(); ++i)
    for (const TemplatePart& part : state->templates[i])
      for (const std::int64_t id : part.ids)
        if (!state->added.find(id) && !state->model->vocabulary.token(id))
          json.at("post_processor").refuse("no token has the id {}", id);
  state->json = text;
  return state;
}

namespace {

/// Reads the tokens that begin and end a text: strings, or objects with a content. `of` is the tokenizer's file. With
/// `surrounds`, that file itself defines the tokens put around a text.
void read_config(const std::string& path, const std::string& of, bool surrounds, Tokenizer::State& state) {
  const auto bytes = os::read_file(path);
  const nlohmann::json document = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  const Json json(document, path, "");
  const auto id = [&](const char* name) -> std::optional<std::int64_t> {
    const auto found = json.get(name);
    if (!found) return std::nullopt;
    const std::string& content = found->is_string() ? found->text() : found->at("content").text();
    if (const auto* token = state.added.find(content)) return token->id;
    if (const auto known = state.model->vocabulary.id(content)) return *known;
    found->refuse("'{}' is not a token of {}", content.substr(0, 80), of);
  };
  if (const auto bos = id("bos_token"); bos || surrounds) state.bos = bos;
  if (const auto eos = id("eos_token"); eos || surrounds) state.eos = eos;
  if (surrounds || !state.templates.empty()) return;
  const auto named = json.get("tokenizer_class");
  const std::string name = named && named->is_string() ? named->text() : "";
  const auto asked = [&](const char* flag, const char* by, const std::optional<std::int64_t>& token) {
    const auto found = json.get(flag);
    const bool wanted = found ? found->flag() : name.find(by) != std::string::npos;
    if (found && wanted && !token) found->refuse("there is no such token");
    return wanted && token ? std::vector<std::int64_t>{*token} : std::vector<std::int64_t>();
  };
  state.templates.push_back(
      {{false, asked("add_bos_token", "Llama", state.bos)}, {true}, {false, asked("add_eos_token", "T5", state.eos)}});
}

/// Reads a folder's chat template.
std::string read_chat_template(const std::string& folder) {
  if (const std::string file = folder + "/chat_template.jinja"; os::exists(file)) {
    const std::vector<std::byte> bytes = os::read_file(file);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  const std::string file = folder + "/tokenizer_config.json";
  if (!os::exists(file)) return "";
  const auto bytes = os::read_file(file);
  const nlohmann::json config = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file);
  const auto member = [](const nlohmann::json& value, const char* name) {
    return value.is_object() ? value.value(name, nlohmann::json()) : nlohmann::json();
  };
  const nlohmann::json told = member(config, "chat_template");
  if (told.is_string()) return told.get<std::string>();
  // several named templates, of which "default" is used
  if (told.is_array())
    for (const nlohmann::json& one : told)
      if (member(one, "name") == "default" && member(one, "template").is_string())
        return one["template"].get<std::string>();
  return "";
}

/// The path of the tokenizer's file in a folder.
std::string file_in(const std::string& folder) {
  for (const char* name : {"/tokenizer.json", "/tokenizer.model", "/spiece.model", "/ice_text.model"})
    if (os::exists(folder + name)) return folder + name;
  return folder + "/tokenizer.json";
}

}  // namespace

}  // namespace tokenizers

Tokenizer parse_tokenizer(std::string_view json, const std::string& name) {
  return Tokenizer(tokenizers::read_tokenizer(json, name));
}

Tokenizer load_tokenizer(const std::string& path) {
  std::string folder = path;
  std::string file = path;
  if (os::is_directory(path)) {
    file = tokenizers::file_in(path);
  } else {
    folder = folder_of(path);
    if (folder.empty()) folder = ".";
  }
  const os::FileView view(file);
  const std::string_view text(reinterpret_cast<const char*>(view.bytes().data()), view.bytes().size());
  if (text.starts_with("GGUF")) return make_tokenizer(gguf_tokens(io::GgufReader(view.bytes(), file), file), file);
  const bool pieces = file.ends_with(".model");
  if (const std::size_t first = text.find_first_not_of(" \t\r\n");
      !pieces && (first == std::string_view::npos || text[first] != '{')) {
    const std::string what = io::what_it_is(view.bytes());
    fail<FileError>(
        "{}: this is {}; expected a tokenizer: tokenizer.json, SentencePiece's *.model, a GGUF file, or the folder of "
        "one",
        file, what.empty() ? "no kind of file that is known" : what);
  }
  auto state = pieces ? tokenizers::read_sentencepiece(text, file) : tokenizers::read_tokenizer(text, file);
  if (const std::string config = folder + "/tokenizer_config.json"; os::exists(config))
    tokenizers::read_config(config, path_text(to_path(file).filename()), !pieces, *state);
  state->chat_template = tokenizers::read_chat_template(folder);
  return Tokenizer(std::move(state));
}

}  // namespace catenary
