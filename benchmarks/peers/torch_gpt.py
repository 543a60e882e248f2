"""Trains the model of examples/gpt in PyTorch, from the same weights and on the same minibatches, and compares the losses.

  python torch_gpt.py TEXT --gpt build/release/bin/gpt    # everything: 20 updates one by one, 500 by 50, and both comparisons
  python torch_gpt.py TEXT --gpt build/release/bin/gpt --width 128 --context 128      # takes a sixth of the time

The single steps, if you want to keep the runs:

  gpt TEXT -s 0 -o start                                  # the initial weights
  gpt TEXT -s 20 --report 1 --sample 0 --windows 8 -o first   # the loss of each of 20 updates
  gpt TEXT -s 500 --report 50 --sample 0 -o whole         # the mean loss of every 50 updates
  python torch_gpt.py TEXT start first --windows 8        # both losses and their difference
  python torch_gpt.py TEXT start whole
  python torch_gpt.py TEXT start whole --time 20          # only the median time of 20 updates, eager and compiled

gpt must run with its default values for all other options: bytes, 8 windows of 256, 4 layers, float32, one process. Its snapshot gives the
order of the minibatches, and its log the updates.

Exits with 1 if a mean loss differs from PyTorch's by more than 1 %, or one of the first 20 losses by more than 1e-5 of it. Needs PyTorch,
NumPy and safetensors.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional as F

BATCH, RATE, DECAY, BETAS, EPSILON, CLIP = 8, 1e-3, 0.1, (0.9, 0.95), 1e-8, 1.0


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.ln_1(x)).split(width, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.proj(F.gelu(self.fc(self.ln_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """GPT-2's layers with the weights of a folder in Hugging Face's format."""

    def __init__(self, folder):
        super().__init__()
        config = json.loads((folder / "config.json").read_text())
        self.context, width, self.vocabulary = config["n_positions"], config["n_embd"], config["vocab_size"]
        self.wte, self.wpe = nn.Embedding(self.vocabulary, width), nn.Embedding(self.context, width)
        self.h = nn.ModuleList(Block(width, config["n_head"]) for _ in range(config["n_layer"]))
        self.ln_f = nn.LayerNorm(width)
        names = {"attn.c_attn": "qkv", "attn.c_proj": "out", "mlp.c_fc": "fc", "mlp.c_proj": "proj"}
        weights = {}
        for name, value in load_file(folder / "model.safetensors").items():
            name = name.removeprefix("transformer.")
            for theirs, ours in names.items():
                if theirs in name:
                    name, value = name.replace(theirs, ours), value.T.contiguous() if value.ndim == 2 else value
            weights[name] = value
        self.load_state_dict(weights)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe.weight[:ids.shape[1]]
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T


def tokens_of(text, folder):
    """Returns the ids of a text's bytes, as the folder's tokenizer.json maps them."""
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    letters, others = {}, 0x100
    for byte in range(256):
        prints = 0x20 < byte < 0x7f or byte > 0xa0 and byte != 0xad
        letters[byte] = chr(byte if prints else others)
        others += not prints
    table = np.array([vocabulary[letters[byte]] for byte in range(256)])
    return table[np.frombuffer(text.read_bytes(), np.uint8)]


class Training:
    def __init__(self, options):
        self.log = json.loads((options.run / "log").read_text())
        self.steps = self.log[-1]["iteration"]
        self.ids = tokens_of(options.text, options.start)
        self.net = Gpt(options.start)
        with np.load(next(options.run.glob("snapshot_iter_*"))) as snapshot:
            order = [key for key in snapshot.files if key.endswith("iterator:main/order")]
            self.order = snapshot[order[0]]
        assert len(self.order) >= BATCH * self.steps, "the updates are of more than one epoch"
        matrices = [p for p in self.net.parameters() if p.ndim >= 2]
        vectors = [p for p in self.net.parameters() if p.ndim < 2]
        self.optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0}],
                                           RATE, BETAS, EPSILON, fused=True)
        self.run, self.windows = self.net, options.windows

    def loss(self, begins):
        windows = torch.from_numpy(np.stack([self.ids[i:i + self.net.context + 1] for i in begins]).astype(np.int64))
        scores = self.run(windows[:, :-1])
        return F.cross_entropy(scores.reshape(-1, self.net.vocabulary), windows[:, 1:].reshape(-1))

    def update(self, step):
        warmup = min(100, self.steps // 10)
        rate = RATE * (step + 1) / (warmup + 1) if step < warmup else RATE * (1 + math.cos(math.pi * (step - warmup) / self.steps)) / 2
        for group in self.optimizer.param_groups:
            group["lr"] = rate
            group["eps"] = EPSILON / math.sqrt(1 - BETAS[1]**(step + 1))  # gpt adds eps before the bias correction
        self.optimizer.zero_grad()
        loss = self.loss(self.order[BATCH * step:BATCH * (step + 1)])
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), CLIP)
        self.optimizer.step()
        return loss.item()

    def validation(self):
        """Returns the mean of the minibatches' losses, as in gpt's log: the last minibatch may be smaller but counts as much."""
        cut = len(self.ids) * 9 // 10
        begins = range(cut, len(self.ids) - self.net.context, max(self.net.context, (len(self.ids) - cut) // self.windows))
        with torch.no_grad():
            return statistics.mean(self.loss(begins[i:i + BATCH]).item() for i in range(0, len(begins), BATCH))


def compare(training):
    losses, furthest = [], 0
    print("iteration  loss of gpt      of torch         apart     validation       of torch         apart")
    for entry in training.log:
        while len(losses) < entry["iteration"]:
            losses.append(training.update(len(losses)))
        since = entry["iteration"] - (training.log[1]["iteration"] - training.log[0]["iteration"])
        theirs, unseen = statistics.mean(losses[since:]), training.validation()
        apart = [theirs / entry["main/loss"] - 1, unseen / entry["validation/main/loss"] - 1]
        furthest = max(furthest, *map(abs, apart))
        print(f"{entry['iteration']:9}  {entry['main/loss']:.9f}  {theirs:.9f}  {apart[0]:9.1e}  {entry['validation/main/loss']:.9f}  "
              f"{unseen:.9f}  {apart[1]:9.1e}", flush=True)
    print(f"at most {furthest:.1e} apart")
    return furthest


def whole(options):
    """Runs gpt for its initial weights, 20 updates and 500 updates in a temporary folder. Exits with 1 if PyTorch's losses differ."""
    with tempfile.TemporaryDirectory() as folder:
        def gpt(name, *arguments):
            subprocess.run([options.gpt, options.text, "-o", f"{folder}/{name}", "--width", str(options.width), "--context",
                            str(options.context), "--sample", "0", "--windows", str(options.windows), *arguments], check=True,
                           stdout=subprocess.DEVNULL, env=os.environ | {"CATENARY_NUM_THREADS": str(options.threads)})
            return pathlib.Path(folder, name)

        start, wrong = gpt("start", "-s", "0"), []
        for name, steps, report, limit in (("first", 20, 1, 1e-5), ("whole", options.steps, max(1, options.steps // 10), 0.01)):
            run = gpt(name, "-s", str(steps), "--report", str(report))
            print(f"\n{steps} updates, width {options.width}, windows of {options.context}")
            furthest = compare(Training(argparse.Namespace(text=options.text, start=start, run=run, windows=options.windows)))
            if not furthest <= limit:
                wrong.append(f"{steps} updates: {furthest:.1e} apart, at most {limit} wanted")
        sys.exit("\n".join(wrong))


def measure(training, count):
    for name in ("eager", "compiled"):
        if name == "compiled":
            training.run = torch.compile(training.net)
        samples = []
        for i in range(count + 3):
            start = time.perf_counter()
            training.update(i)
            samples.append(time.perf_counter() - start)
        print(f"torch {torch.__version__} {name}: {1e3 * statistics.median(samples[3:]):.1f} ms an update", flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("text", type=pathlib.Path)
parser.add_argument("start", type=pathlib.Path, nargs="?")
parser.add_argument("run", type=pathlib.Path, nargs="?")
parser.add_argument("--gpt", type=pathlib.Path, help="runs this program; START and RUN are not given then")
parser.add_argument("--steps", type=int, default=500, help="updates of the long run, a multiple of 10 (only with --gpt)")
parser.add_argument("--width", type=int, default=256, help="width of the model (only with --gpt)")
parser.add_argument("--context", type=int, default=256, help="tokens per window (only with --gpt)")
parser.add_argument("--time", type=int, default=0)
parser.add_argument("--windows", type=int, default=256)
parser.add_argument("--threads", type=int, default=2)
arguments = parser.parse_args()
if (arguments.gpt is None) == (arguments.run is None):
    parser.error("expected either --gpt PROGRAM, or START and RUN")
torch.set_num_threads(arguments.threads)
if arguments.gpt:
    whole(arguments)
elif arguments.time:
    measure(Training(arguments), arguments.time)
else:
    compare(Training(arguments))
