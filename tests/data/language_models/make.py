"""Makes small language models with random weights and their expected results with `transformers`, and GGUF files of them with `gguf`.

Usage: python make.py OUT_DIR               makes the folders that the tests read
       python make.py OUT_DIR --random N    makes N folders with random settings. --seed S chooses others.
Needs torch, transformers, safetensors and gguf from PyPI. `reference-check OUT_DIR` compares the results too.

A folder NAME holds config.json and model.safetensors (or its parts), written by save_pretrained, and expected.safetensors with:
  ids [batch, length]
  logits [batch, length, vocabulary]  computed in float64, stored as float32
  greedy [20]                         the greedy continuation of the first row
NAME.gguf has the same weights, with the names and the order that llama.cpp reads. It also states a sliding window, which llama.cpp ignores.
Models such as NAME_q8_0 and NAME_q4_0 have no safetensors file, and their results are those of the dequantised weights.
manifest.json lists the folders.

Weights are normally distributed with a standard deviation of 1.1 / sqrt(width). Biases and normalizations are random too.
"""
import os
import shutil

import gguf
import numpy as np
import torch
import transformers
from common import GREEDY, VARIETY, arguments, write_manifest
from safetensors.torch import save_file

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
WIDE = dict(vocab_size=53, hidden_size=32, intermediate_size=64, num_attention_heads=4, num_key_value_heads=2)
MODELS["llama_q8_0"] = ("llama", 8, {**WIDE, "quantization": "Q8_0"})
MODELS["qwen2_q4_0"] = ("qwen2", 9, {**WIDE, "tie_word_embeddings": True, "quantization": "Q4_0"})
MODELS["glm_q8_0"] = ("glm", 10, {**WIDE, "head_dim": 8, "quantization": "Q8_0"})
PARTS = {"qwen2": "10KB"}  # maximum file size of models saved in parts


def config_of(kind, settings):
    settings = {k: v for k, v in settings.items() if k != "quantization"}
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
    """Computes the results in float64. Raises AssertionError for near ties or monotonous texts, after which the caller tries another seed."""
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
    assert len(set(text[0, -GREEDY:].tolist())) >= VARIETY, "the text is monotonous"
    model.float()
    return {"ids": ids, "logits": logits.contiguous(), "greedy": text[0, -GREEDY:].contiguous()}


BLOCK = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output", "post_self_attn_layernorm": "post_attention_norm", "post_attention_layernorm": "ffn_norm",
         "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.gate_up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
         "post_mlp_layernorm": "post_ffw_norm", "ln_1": "attn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "ln_2": "ffn_norm",
         "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}
WHOLE = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output", "transformer.wte": "token_embd",
         "transformer.wpe": "position_embd", "transformer.ln_f": "output_norm"}
ARCHITECTURES = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "gpt2": "gpt2", "glm": "chatglm", "glm4": "glm4"}


def paired(weight, heads):
    """Interleaves the two halves of each head, as llama.cpp's converter does."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def head_size(config):
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def gguf_tensors(model, kind, fused):
    """Returns names and float32 arrays in the form that llama.cpp reads."""
    config, tensors = model.config, {}
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        module, leaf = name.rsplit(".", 1)
        value = tensor.numpy()
        if module in WHOLE:
            tensors[f"{WHOLE[module]}.{leaf}"] = value
            continue
        _, _, block, part = module.split(".", 3)
        if kind == "gpt2" and part.split(".")[-1].startswith("c_") and leaf == "weight":
            value = value.T
        if ARCHITECTURES[kind] == "llama" and part in ("self_attn.q_proj", "self_attn.k_proj"):
            value = paired(value, config.num_attention_heads if "q_" in part else config.num_key_value_heads)
        tensors[f"blk.{block}.{BLOCK[part]}.{leaf}"] = np.ascontiguousarray(value)
    if fused:
        for block in range(config.num_hidden_layers):
            for leaf in ("weight", "bias"):
                parts = [tensors.pop(f"blk.{block}.attn_{part}.{leaf}", None) for part in "qkv"]
                if parts[0] is not None:
                    tensors[f"blk.{block}.attn_qkv.{leaf}"] = np.concatenate(parts)
    if config.to_dict().get("rope_parameters", {}).get("rope_type") == "llama3":
        rope = config.rope_parameters
        size = head_size(config)
        rate = rope["rope_theta"] ** -(np.arange(0, size, 2) / size)
        turns = rope["original_max_position_embeddings"] * rate / (2 * np.pi)
        kept = np.clip((turns - rope["low_freq_factor"]) / (rope["high_freq_factor"] - rope["low_freq_factor"]), 0, 1)
        tensors["rope_freqs.weight"] = (1 / (kept + (1 - kept) / rope["factor"])).astype("f")
    return tensors


def write_gguf(path, model, kind, fused=False, quantization=None):
    config = model.config
    writer = gguf.GGUFWriter(path, ARCHITECTURES[kind])
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    if kind == "gpt2":
        writer.add_feed_forward_length(config.n_inner or 4 * config.n_embd)
        writer.add_layer_norm_eps(config.layer_norm_epsilon)
    else:
        size = head_size(config)
        writer.add_feed_forward_length(config.intermediate_size)
        writer.add_head_count_kv(config.num_key_value_heads)
        writer.add_key_length(size)
        writer.add_value_length(size)
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
        rope = config.rope_parameters
        writer.add_rope_freq_base(rope["rope_theta"])
        writer.add_rope_dimension_count(int(size * rope.get("partial_rotary_factor", 1)))
        if rope["rope_type"] == "linear":
            writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
            writer.add_rope_scaling_factor(rope["factor"])
        if kind == "mistral" and config.sliding_window:
            writer.add_sliding_window(config.sliding_window)
    for name, value in gguf_tensors(model, kind, fused).items():
        if quantization and value.ndim == 2:
            writer.add_tensor(name, gguf.quants.quantize(value, quantization), raw_dtype=quantization)
        else:
            writer.add_tensor(name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def rounded(model, quantization):
    """Replaces the weights, in place, by their values after quantisation."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 2:
                blocks = gguf.quants.quantize(parameter.numpy(), quantization)
                parameter.copy_(torch.from_numpy(gguf.quants.dequantize(blocks, quantization)))


def write(out, name, kind, seed, settings, parts=None):
    folder = os.path.join(out, name)
    shutil.rmtree(folder, ignore_errors=True)
    model = make(kind, seed, settings)
    quantization = gguf.GGMLQuantizationType[settings["quantization"]] if "quantization" in settings else None
    if quantization:
        rounded(model, quantization)
    told = expected(model, seed)
    if quantization:
        os.makedirs(folder)
    else:
        model.save_pretrained(folder, **({"max_shard_size": parts} if parts else {}))
    generation = os.path.join(folder, "generation_config.json")
    if os.path.exists(generation):
        os.remove(generation)
    save_file(told, os.path.join(folder, "expected.safetensors"))
    write_gguf(folder + ".gguf", model, kind, kind.startswith("glm") and seed % 2 == 0, quantization)


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
    if rng.integers(4) == 0:  # sizes for blocks of 32 numbers
        settings["hidden_size"] = 32 * heads if kind == "qwen2" else int(32 * rng.integers(1, 4) * heads // np.gcd(heads, 32))
        settings["intermediate_size"], settings["quantization"] = 32 * int(rng.integers(1, 4)), pick("Q8_0", "Q4_0")
        if kind != "qwen2":
            settings["head_dim"] = 32 * int(rng.integers(1, 3)) if groups * 4 < 8 else 32
    return kind, settings


def main():
    args = arguments(__doc__.splitlines()[0])
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
    write_manifest(args.out, made + ([] if args.random else ["chatglm"]))  # chatglm is made by make_chatglm.py


if __name__ == "__main__":
    main()
