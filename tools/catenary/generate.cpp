#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>

#include "catenary/catenary.h"
#include "catenary/core/clock.h"
#include "catenary/core/os/memory.h"
#include "catenary/core/os/signals.h"
#include "catenary/core/os/terminal.h"
#include "tools/catenary/commands.h"

namespace catenary::command {

namespace {

/// Integers separated by white space or commas.
std::vector<std::int64_t> ids_of(const std::string& text) {
  std::vector<std::int64_t> ids;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at == ' ' || *at == ',' || *at == '\n') {
      ++at;
      continue;
    }
    std::int64_t id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc() || (next != end && *next != ' ' && *next != ',' && *next != '\n'))
      throw ValueError(fmt::format("--prompt: '{}' is not a list of token ids, which --ids requires", text));
    ids.push_back(id);
    at = next;
  }
  return ids;
}

std::optional<Dtype> dtype_of(const std::string& name) {
  if (name == "stored") return {};
  return dtype_from_name(name);
}

std::string mebibytes(std::uint64_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

/// A model, with or without its tokenizer.
struct Loaded {
  std::unique_ptr<links::LanguageModel> alone;
  std::optional<links::Generator> generator;
  const links::LanguageModel& model() const { return generator ? generator->model() : *alone; }
};
Loaded load(const GenerateArguments& arguments, const links::LoadLanguageModelOptions& options) {
  Loaded loaded;
  if (arguments.ids)
    loaded.alone = links::load_language_model(arguments.model, options);
  else
    loaded.generator.emplace(links::load_generator(arguments.model, options));
  return loaded;
}

void write(std::string_view piece) {
  fmt::print("{}", piece);
  std::fflush(stdout);
}

/// The arguments as options, without callbacks.
links::GenerateOptions options_of(const GenerateArguments& arguments) {
  return {.tokens = arguments.tokens,
          .context = arguments.context,
          .temperature = arguments.temperature,
          .top_k = arguments.top_k,
          .top_p = arguments.top_p,
          .min_p = arguments.min_p,
          .repetition_penalty = arguments.repetition_penalty,
          .seed = arguments.seed};
}

std::int64_t context_of(const GenerateArguments& arguments, const links::LanguageModel& model) {
  return arguments.context > 0 ? arguments.context : model.context();
}

/// Treats each line of standard input as a message.
int converse(const links::Generator& generator, const GenerateArguments& arguments, bool tells) {
  links::Conversation chat(generator, arguments.system);
  // check the options before the first message
  links::GenerateOptions none = options_of(arguments);
  none.tokens = 0;
  links::generate(generator.model(), {0}, none);
  std::string message;
  const auto ask = [&] {
    if (os::is_terminal(os::kStandardError)) fmt::print(stderr, "> ");
    return os::read_line(message);
  };
  while (ask()) {
    const os::ScopedSignals signals;  // Ctrl-C ends an answer, and between answers the chat
    const double begin = monotonic_seconds();
    const std::int64_t before = chat.computed();
    const auto goes_on = [&] { return signals.received() == 0; };
    links::GenerateOptions options = options_of(arguments);
    options.on_prompt = [&](std::int64_t) { return goes_on(); };
    try {
      chat(message, {.generate = options, .stop = arguments.stop, .on_text = [&](std::string_view piece) {
                       write(piece);
                       return goes_on();
                     }});
    } catch (const ValueError& error) {  // report it and continue with the next message
      fmt::print(stderr, "catenary generate: {}\n", error.what());
      continue;
    }
    write("\n");
    if (tells)
      fmt::print(stderr, "{} tokens in total, {} new, in {:.2f} s\n", chat.tokens().size(),
                 std::ssize(chat.tokens()) - before, monotonic_seconds() - begin);
    if (const std::int64_t most = context_of(arguments, generator.model()); chat.computed() >= most) {
      fmt::print(stderr, "catenary generate: the context of {} tokens is full\n", most);
      break;
    }
  }
  return 0;
}

/// Tokens per second, or 0 for no time.
double speed(std::int64_t tokens, double seconds) { return seconds > 0 ? static_cast<double>(tokens) / seconds : 0; }

}  // namespace

int generate(const GenerateArguments& arguments) {
  if (arguments.ids && arguments.chat) throw ValueError("--chat needs text; leave out --ids");
  if (arguments.ids && !arguments.stop.empty()) throw ValueError("--stop needs text; leave out --ids");
  if (arguments.system && !arguments.chat) throw ValueError("--system requires --chat");
  const Device device = get_device(arguments.device);
  const auto rounds = using_config(config.int8_products, !arguments.exact);
  const bool tells = arguments.verbose || os::is_terminal(os::kStandardError);
  if (tells) fmt::print(stderr, "reading {} …\n", arguments.model);
  const double start = monotonic_seconds();
  const Loaded loaded = load(arguments, {.dtype = dtype_of(arguments.dtype), .device = device});
  const links::LanguageModel& model = loaded.model();
  if (tells) fmt::print(stderr, "{}, read in {:.1f} s\n", model.type_name(), monotonic_seconds() - start);
  if (!arguments.prompt) return converse(*loaded.generator, arguments, tells);
  const std::vector<std::int64_t> prompt =
      arguments.ids ? ids_of(*arguments.prompt)
                    : loaded.generator->encode(*arguments.prompt, arguments.chat, arguments.system);

  const os::ScopedSignals signals;
  std::optional<TokenStream> stream;
  links::StopStrings stops(arguments.stop);
  if (loaded.generator) stream.emplace(loaded.generator->tokenizer());
  const double begin = monotonic_seconds();
  double first = begin, last = begin;
  std::int64_t count = 0;
  links::GenerateOptions options = options_of(arguments);
  options.on_prompt = [&](std::int64_t) { return signals.received() == 0; };
  options.on_token = [&](std::int64_t token) {
    last = monotonic_seconds();
    if (count++ == 0) first = last;
    if (arguments.ids)
      write(fmt::format("{}{}", count == 1 ? "" : " ", token));
    else
      write(stops.put(loaded.generator->piece(*stream, token)));
    return signals.received() == 0 && !stops.has_come();
  };
  const std::vector<std::int64_t> tokens = links::generate(model, prompt, options);
  if (stream) write(stops.put(stream->finish()) + stops.finish());
  write("\n");
  const int signal = signals.received();
  const bool is_over = stops.has_come() || (!tokens.empty() && std::ranges::count(model.end_tokens, tokens.back()) > 0);
  if (std::ssize(tokens) < arguments.tokens && signal == 0 && !is_over)
    fmt::print(stderr, "catenary generate: the context of {} tokens is full\n", context_of(arguments, model));
  if (tells) {
    if (count > 0)
      fmt::print(stderr, "{} tokens of prompt in {:.2f} s ({:.1f}/s), {} more at {:.1f} tokens/s\n", prompt.size(),
                 first - begin, speed(std::ssize(prompt), first - begin), count, speed(count - 1, last - first));
    fmt::print(stderr, "memory: {} resident at most; {} on {}\n", mebibytes(os::peak_resident_bytes()),
               mebibytes(memory_pool(device).peak_bytes()), device.name());
  }
  return signal == 0 ? 0 : 128 + signal;
}

}  // namespace catenary::command
