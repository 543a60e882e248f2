"""Small language models with random weights by `transformers`, what they say, and GGUF files of them by `gguf`.

Usage: python make.py OUT_DIR               the folders that the tests read
       python make.py OUT_DIR --random N    N folders with random settings; --seed S begins elsewhere
PyPI's torch, transformers, safetensors and gguf are needed. `reference-check OUT_DIR` compares them, too.

A folder NAME holds config.json and model.safetensors (or its parts) as save_pretrained writes them, and expected.safetensors:
ids [batch, length], logits [batch, length, vocabulary] in float32 of float64's sums, greedy [20], the tokens that follow the first row
one by one. NAME.gguf, where there is one, has the same weights by the names and in the order that llama.cpp reads. manifest.json lists the
folders. Weights are normal with a deviation of 1.1 by the root of the width, and every number among them is random: biases and normalizations, too.
"""
import argparse
import json
import os
import shutil

import numpy as np
import torch
import transformers
from safetensors.torch import save_file

GREEDY = 20
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16,
          "rope_theta": 500.0}
COMMON = {"num_hidden_layers": 2, "max_position_embeddings": 64, "bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
MODELS = {
    "llama": ("llama", 1, dict(vocab_size=53, hidden_size=20, intermediate_size=33, num_attention_heads=4, num_key_value_heads=2, head_dim=6,
                               rope_parameters=LLAMA3, rms_norm_eps=1e-5)),
    "llama_tied": ("llama", 2, dict(vocab_size=61, hidden_size=24, intermediate_size=35, num_attention_heads=3, num_key_value_heads=1,
                                    tie_word_embeddings=True, attention_bias=True,
                                    rope_parameters={"rope_type": "linear", "factor": 2.5, "rope_theta": 10000.0})),
    "mistral": ("mistral", 3, dict(vocab_size=47, hidden_size=24, intermediate_size=31, num_attention_heads=6, num_key_value_heads=3, head_dim=4,
                                   sliding_window=5)),
    "qwen2": ("qwen2", 4, dict(vocab_size=59, hidden_size=28, intermediate_size=37, num_attention_heads=2, num_key_value_heads=1,
                               tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": 1000000.0})),
    "gpt2": ("gpt2", 5, dict(vocab_size=57, n_embd=21, n_layer=2, n_head=3, n_positions=48, n_inner=50)),
    "glm": ("glm", 6, dict(vocab_size=51, hidden_size=20, intermediate_size=29, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
                           rms_norm_eps=1.5625e-7)),
    "glm4": ("glm4", 7, dict(vocab_size=43, hidden_size=18, intermediate_size=27, num_attention_heads=2, num_key_value_heads=1, head_dim=12,
                             attention_bias=True)),
}
PARTS = {"qwen2": "10KB"}  # of those that are saved in several files


def config_of(kind, settings):
    common = {k: v for k, v in COMMON.items() if kind != "gpt2" or not k.startswith(("num_", "max_"))}
    return transformers.AutoConfig.for_model(kind, **{**common, **settings})


def make(kind, seed, settings):
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(config_of(kind, settings), attn_implementation="eager").eval()
    deviation = 1.1 / model.config.hidden_size**0.5
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            normalizes = parameter.ndim == 1 and "norm" in name or ".ln_" in name
            parameter.copy_(torch.randn(parameter.shape) * deviation + (1 if normalizes and name.endswith("weight") else 0))
    return model


def expected(model, seed):
    """In float64. Tokens that another rounding could change are an error, which another seed mends."""
    rng = np.random.default_rng(seed)
    wide, vocabulary = model.double(), model.config.vocab_size
    ids = torch.from_numpy(rng.integers(0, vocabulary, (2, 19)))
    with torch.no_grad():
        logits = wide(ids).logits.float()
        text = ids[:1]
        for _ in range(GREEDY):
            best = wide(text).logits[0, -1].topk(2)
            assert best.values[0] - best.values[1] > 2e-3, "two tokens are as likely"
            text = torch.cat([text, best.indices[:1].reshape(1, 1)], 1)
    model.float()
    return {"ids": ids, "logits": logits.contiguous(), "greedy": text[0, -GREEDY:].contiguous()}


def write(out, name, kind, seed, settings, parts=None):
    folder = os.path.join(out, name)
    shutil.rmtree(folder, ignore_errors=True)
    model = make(kind, seed, settings)
    told = expected(model, seed)
    model.save_pretrained(folder, **({"max_shard_size": parts} if parts else {}))
    generation = os.path.join(folder, "generation_config.json")
    if os.path.exists(generation):
        os.remove(generation)
    save_file(told, os.path.join(folder, "expected.safetensors"))


def random_settings(rng):
    kind = str(rng.choice(["llama", "mistral", "qwen2", "gpt2", "glm", "glm4"]))
    pick = lambda *of: of[int(rng.integers(len(of)))]
    if kind == "gpt2":
        heads, size = int(rng.integers(1, 6)), int(rng.integers(1, 14))
        return kind, dict(vocab_size=int(rng.integers(30, 300)), n_embd=heads * size, n_layer=int(rng.integers(1, 5)), n_head=heads,
                          n_positions=int(rng.integers(40, 80)), n_inner=pick(None, int(rng.integers(1, 90))), layer_norm_epsilon=pick(1e-5, 1e-3),
                          tie_word_embeddings=pick(True, True, False))
    groups = int(rng.integers(1, 4))
    heads, size = groups * int(rng.integers(1, 4)), 4 * int(rng.integers(1, 9))
    settings = dict(vocab_size=int(rng.integers(30, 300)), hidden_size=heads * int(rng.integers(2, 14)), intermediate_size=int(rng.integers(1, 90)),
                    num_hidden_layers=int(rng.integers(1, 5)), num_attention_heads=heads, num_key_value_heads=groups, head_dim=size,
                    rms_norm_eps=pick(1e-6, 1e-5, 1e-3), tie_word_embeddings=pick(True, False))
    if kind == "qwen2":
        settings.pop("head_dim")
        settings["hidden_size"] = heads * size
    if kind in ("llama", "glm", "glm4"):
        settings["attention_bias"] = pick(True, False)
    if kind == "mistral":
        settings["sliding_window"] = pick(None, int(rng.integers(1, 30)))
    if kind in ("llama", "mistral", "qwen2"):
        settings["rope_parameters"] = pick({"rope_type": "default", "rope_theta": pick(100.0, 10000.0, 1e6)},
                                           {"rope_type": "linear", "factor": float(rng.uniform(0.5, 8)), "rope_theta": 10000.0},
                                           {**LLAMA3, "factor": float(rng.uniform(1, 16)), "original_max_position_embeddings": int(rng.integers(8, 64)),
                                            "low_freq_factor": float(rng.uniform(0.5, 2)), "high_freq_factor": float(rng.uniform(2.5, 8))})
    return kind, settings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    made, seed = [], args.seed
    if args.random:
        while len(made) < args.random:
            seed += 1
            rng = np.random.default_rng(seed)
            kind, settings = random_settings(rng)
            try:
                write(args.out, f"{kind}_{seed}", kind, seed, settings, "20KB" if rng.integers(4) == 0 else None)
            except AssertionError:
                shutil.rmtree(os.path.join(args.out, f"{kind}_{seed}"), ignore_errors=True)
                continue
            made.append(f"{kind}_{seed}")
    else:
        for name, (kind, seed, settings) in MODELS.items():
            while True:
                try:
                    write(args.out, name, kind, seed, settings, PARTS.get(name))
                    break
                except AssertionError:
                    seed += 100
            made.append(name)
    with open(os.path.join(args.out, "manifest.json"), "w") as file:
        json.dump({"language_models": made}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
