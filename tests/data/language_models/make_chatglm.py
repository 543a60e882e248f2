"""Makes small models of ChatGLM-6B's architecture with random weights, and their expected results.

The model is written in PyTorch after its published description (Du et al. 2022, Zeng et al. 2023), because `transformers` lacks it.

Usage: python make_chatglm.py OUT_DIR               makes the folder that the tests read, beside the folders of make.py
       python make_chatglm.py OUT_DIR --random N    makes N folders with random settings. --seed S chooses others.

make.py describes the folders. Each row of ids has one mask ([gMASK], or [MASK] in the second row) and one <sop>, at different positions.
"""
import json
import os

import numpy as np
import torch
from common import GREEDY, VARIETY, arguments, write_manifest
from safetensors.torch import save_file
from torch.nn import functional as F



class Model:
    """Holds the weights by their names in files, and computes scores in float64."""

    def __init__(self, config, seed):
        self.config = config
        width, hidden, vocabulary = config["hidden_size"], config["inner_hidden_size"], config["vocab_size"]
        shapes = {"transformer.word_embeddings.weight": (vocabulary, width), "transformer.final_layernorm.weight": (width,),
                  "transformer.final_layernorm.bias": (width,), "lm_head.weight": (vocabulary, width)}
        for i in range(config["num_layers"]):
            for norm in ("input_layernorm", "post_attention_layernorm"):
                shapes |= {f"transformer.layers.{i}.{norm}.{leaf}": (width,) for leaf in ("weight", "bias")}
            for name, rows, columns in (("attention.query_key_value", 3 * width, width), ("attention.dense", width, width),
                                        ("mlp.dense_h_to_4h", hidden, width), ("mlp.dense_4h_to_h", width, hidden)):
                shapes |= {f"transformer.layers.{i}.{name}.weight": (rows, columns), f"transformer.layers.{i}.{name}.bias": (rows,)}
        generator = torch.Generator().manual_seed(seed)
        deviation = 1.1 / width**0.5
        self.weights = {name: torch.randn(shape, generator=generator) * deviation + ("layernorm.weight" in name) for name, shape in shapes.items()}

    def linear(self, name, x):
        bias = self.weights.get(f"{name}.bias")
        return F.linear(x, self.weights[f"{name}.weight"].double(), None if bias is None else bias.double())

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.weights[f"{name}.weight"].double(), self.weights[f"{name}.bias"].double(),
                            self.config["layernorm_epsilon"])

    def turned(self, x, positions):
        """Rotates x [heads, length, elements] by its positions. Element i is paired with element i + half."""
        half = x.shape[-1] // 2
        angles = positions[:, None].double() * 10000.0 ** -(torch.arange(half).double() / half)
        first, second = x[..., :half], x[..., half:]
        return torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)

    def scores(self, ids):
        """Returns the scores of one row."""
        config, row = self.config, ids.tolist()
        heads, length, alpha = config["num_attention_heads"], len(row), (2 * config["num_layers"]) ** 0.5
        mask = config["gmask_token_id"] if config["gmask_token_id"] in row else config["mask_token_id"]
        begin, place = row.index(config["bos_token_id"]), row.index(mask)
        positions = torch.tensor(list(range(begin)) + [place] * (length - begin))
        blocks = torch.tensor([0] * begin + list(range(1, length - begin + 1)))
        seen = torch.ones(length, length).tril().bool()
        seen[:, :begin] = True
        x = self.weights["transformer.word_embeddings.weight"].double()[ids]
        for i in range(config["num_layers"]):
            name = f"transformer.layers.{i}"
            h = self.norm(f"{name}.input_layernorm", x)
            size = h.shape[-1] // heads
            mixed = self.linear(f"{name}.attention.query_key_value", h).reshape(length, heads, 3 * size).transpose(0, 1)
            q, k, v = mixed.split(size, -1)
            q, k = (torch.cat([self.turned(y[..., : size // 2], positions), self.turned(y[..., size // 2 :], blocks)], -1) for y in (q, k))
            weights = (q @ k.transpose(1, 2) / size**0.5).masked_fill(~seen, float("-inf")).softmax(-1)
            x = h * alpha + self.linear(f"{name}.attention.dense", (weights @ v).transpose(0, 1).reshape(length, -1))
            h = self.norm(f"{name}.post_attention_layernorm", x)
            x = h * alpha + self.linear(f"{name}.mlp.dense_4h_to_h", F.gelu(self.linear(f"{name}.mlp.dense_h_to_4h", h), approximate="tanh"))
        return F.linear(self.norm("transformer.final_layernorm", x), self.weights["lm_head.weight"].double())


def expected(model, rng):
    """Computes the results. Raises AssertionError for near ties or monotonous texts, after which the caller tries another seed."""
    config = model.config
    special = config["mask_token_id"]  # this id and higher ones are special
    ids = torch.from_numpy(rng.integers(0, special, (2, 19)))
    for row, (mask, begin) in enumerate(((11, 12), (4, 15))):
        ids[row, mask] = config["mask_token_id"] if row else config["gmask_token_id"]
        ids[row, begin] = config["bos_token_id"]
    text = ids[0]
    for _ in range(GREEDY):
        best = model.scores(text)[-1].topk(2)
        assert best.values[0] - best.values[1] > 2e-3, "two tokens are as likely"
        text = torch.cat([text, best.indices[:1]])
    assert len(set(text[-GREEDY:].tolist())) >= VARIETY, "the text is monotonous"
    return {"ids": ids, "logits": torch.stack([model.scores(row) for row in ids]).float(), "greedy": text[-GREEDY:].contiguous()}


def config_of(vocabulary, width, layers, heads, hidden, epsilon=1e-5):
    return {"architectures": ["ChatGLMModel"], "model_type": "chatglm", "vocab_size": vocabulary, "hidden_size": width, "num_layers": layers,
            "num_attention_heads": heads, "inner_hidden_size": hidden, "layernorm_epsilon": epsilon, "max_sequence_length": 64,
            "position_encoding_2d": True, "quantization_bit": 0, "pre_seq_len": None, "mask_token_id": vocabulary - 5,
            "gmask_token_id": vocabulary - 4, "bos_token_id": vocabulary - 2, "eos_token_id": None, "pad_token_id": 3}


def write(out, name, config, seed):
    while True:
        model = Model(config, seed)
        try:
            told = expected(model, np.random.default_rng(seed))
            break
        except AssertionError:
            seed += 100
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file, indent=2)
        file.write("\n")
    save_file(model.weights, os.path.join(folder, "model.safetensors"))
    save_file(told, os.path.join(folder, "expected.safetensors"))


def main():
    args = arguments(__doc__.splitlines()[0])
    if not args.random:
        write(args.out, "chatglm", config_of(49, 24, 2, 3, 37), args.seed)
        return
    made = []
    for seed in range(args.seed, args.seed + args.random):
        rng = np.random.default_rng(seed)
        heads = int(rng.integers(1, 5))
        config = config_of(int(rng.integers(30, 200)), 4 * heads * int(rng.integers(1, 6)), int(rng.integers(1, 5)), heads,
                           int(rng.integers(1, 90)), float(rng.choice([1e-5, 1e-3])))
        made.append(f"chatglm_{seed}")
        write(args.out, made[-1], config, seed)
    write_manifest(args.out, made)


if __name__ == "__main__":
    main()
