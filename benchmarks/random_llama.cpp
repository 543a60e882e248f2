// Writes a random model of TinyLlama's shape (22 layers, width 2048, 1.1 billion weights) as a GGUF file. After
// `catenary quantize`, peers/llama_cpp.py times it. bench_random_llama FILE.gguf [layers width hidden]

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "catenary/catenary.h"

int main(int argc, char** argv) {
  using namespace catenary;
  const std::string file = argc > 1 ? argv[1] : "";
  if (!file.ends_with(".gguf")) {  // also true for --help
    const bool asked = file == "--help" || file == "-h";
    fmt::print(asked ? stdout : stderr, "usage: bench_random_llama FILE.gguf [layers width hidden]\n");
    return asked ? 0 : 2;
  }
  const auto number = [&](int i, long otherwise) { return argc > i ? std::atol(argv[i]) : otherwise; };
  random::seed(0);
  const auto scope = using_config(config.dtype, Precision(Dtype::float16));
  const links::Llama model({.vocabulary = 32000,
                            .context = 2048,
                            .width = number(3, 2048),
                            .layers = number(2, 22),
                            .heads = 32,
                            .hidden = number(4, 5632),
                            .groups = 4});
  std::string text;
  for (int i = 0; i < 1000; ++i) text += fmt::format("{} and {:x} words, ", i * i, i * 77);
  links::save_language_model(file, model, {.tokenizer = train_byte_pairs(text, 1000)});
}
