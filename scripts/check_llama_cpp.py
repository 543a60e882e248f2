#!/usr/bin/env python3
"""Compares Catenary with llama.cpp on GGUF files that Catenary writes: the greedy 20 tokens, and the tokens of texts.

  check_llama_cpp.py BUILD [FILE.gguf…] [--prompts 10] [--texts 10000] [--seed 1]

BUILD is the build folder, for instance build/release. The script needs a Python with llama-cpp-python and NumPy (pip builds
llama-cpp-python from source). Without FILE, it makes files: GPTs and Llamas with random weights by save_language_model, each also in Q8_0
and Q4_0 by `catenary quantize`, and tokenizers of all forms that GGUF has.

llama.cpp keeps keys and values in float32 here. It rounds activations to 16 bits for 16-bit weights, and to 8 bits for quantised weights.
Catenary does not round them (`catenary generate --exact`). So the two may choose different tokens if two tokens are almost equally
likely. Therefore llama.cpp also runs such a file with its weights converted to float32, which must give Catenary's tokens.

For a text that differs, the script prints how much llama.cpp's scores prefer its own token at the first difference, in standard
deviations of all scores. It exits with 1 if that exceeds 0.1 (weights of 16 bits and fewer) or 0.001 (float32, because llama.cpp computes
GELU from a 16-bit table), or if tokens of a text differ.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import llama_cpp
    import numpy as np
except ImportError as error:
    sys.exit('%s\nThis Python lacks the package %s.' % (__doc__, error.name))

TREE = pathlib.Path(__file__).resolve().parent.parent
DATA = TREE / "tests/data/tokenizers"
sys.path.insert(0, str(DATA))
import texts  # noqa: E402
TOKENS, CLOSE = 20, 1e-3
# Letters, marks, numbers and punctuation of Unicode 16, which Catenary and `tokenizers` know and llama.cpp (Unicode 15.1) does not.
UNICODE_16 = [(0x897, 0x897), (0x1B4E, 0x1B4F), (0x1B7F, 0x1B7F), (0x1C89, 0x1C8A), (0xA7CB, 0xA7CD), (0xA7DA, 0xA7DC), (0x105C0, 0x105FF),
              (0x10D40, 0x10D8F), (0x10EC2, 0x10EC4), (0x10EFC, 0x10EFC), (0x11380, 0x113FF), (0x116D0, 0x116E3), (0x11BC0, 0x11BFF),
              (0x11F5A, 0x11F5A), (0x13460, 0x143FF), (0x16100, 0x1613F), (0x16D40, 0x16D7F), (0x1CC00, 0x1CEBF), (0x1E5D0, 0x1E5FF)]
SILENT = llama_cpp.llama_log_callback(lambda level, text, data: None)


def compiled(build, folder):
    program = folder / "llama_cpp"
    subprocess.run(["c++", "-std=c++20", "-O1", "-DFMT_SHARED", "-I", TREE, "-I", build / "include", TREE / "scripts/data/llama_cpp.cpp", "-L", build / "lib",
                    f"-Wl,-rpath,{build / 'lib'}", "-lcatenary", "-lfmt", "-o", program], check=True)
    return program


def made(build, program, folder):
    subprocess.run([program, "models", folder, DATA], check=True)
    for path in sorted(folder.glob("*.gguf")):
        if path.stem.startswith(("words_", "scored")) or path.stem.endswith("f16"):
            continue
        for kind in ("Q8_0", "Q4_0"):
            subprocess.run([build / "bin/catenary", "quantize", path, "-o", path.with_name(f"{path.stem}_{kind}.gguf"), "--kind", kind],
                           check=True, stdout=subprocess.DEVNULL)
    return sorted(folder.glob("*.gguf"))


class Peer:
    """A model that llama.cpp runs."""

    def __init__(self, path):
        self.model = llama_cpp.Llama(str(path), n_ctx=64, n_batch=64, n_threads=1, n_threads_batch=1, verbose=False, type_k=0, type_v=0, logits_all=False)
        self.vocabulary = self.model.n_vocab()

    def greedy(self, prompt):
        """Returns the greedy tokens, and the scores from which each was chosen."""
        self.model.reset()
        chosen, scores, next_ids = [], [], list(prompt)
        for _ in range(TOKENS):
            self.model.eval(next_ids)
            scores.append(np.ctypeslib.as_array(self.model._ctx.get_logits_ith(-1), (self.vocabulary,)).copy())
            chosen.append(int(scores[-1].argmax()))
            next_ids = chosen[-1:]
        return chosen, scores

    def cut(self, text, special):
        return self.model.tokenize(text.encode(), add_bos=True, special=special)


def compare_texts(build, path, peer, prompts, seed):
    """Returns the number of prompts with equal continuations, and the score differences of the others."""
    rng, same, apart = random.Random(seed), 0, []
    for _ in range(prompts):
        prompt = [rng.randrange(peer.vocabulary) for _ in range(rng.randrange(1, 30))]
        theirs, scores = peer.greedy(prompt)
        command = [build / "bin/catenary", "generate", path, "--ids", "--exact", "--prompt", " ".join(map(str, prompt)), "-n", str(TOKENS),
                   "--temperature", "0"]
        ours = [int(i) for i in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()]
        if ours == theirs[:len(ours)]:  # Catenary stops at the file's end token
            same += 1
            continue
        at = next(i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b)
        apart.append((scores[at][theirs[at]] - scores[at][ours[at]]) / scores[at].std())
    return same, apart


def in_words(apart):
    return f" (the others' scores differ by {min(apart):.2g} to {max(apart):.2g} deviations)" if apart else ""


def special_tokens(peer):
    vocab, control = peer.model._model.vocab, 3
    return [llama_cpp.llama_vocab_get_text(vocab, i).decode("utf-8", "replace") for i in range(peer.vocabulary)
            if llama_cpp.llama_vocab_get_attr(vocab, i) & (1 << control) or llama_cpp.llama_vocab_get_attr(vocab, i) & (1 << 4)]


def compare_cuts(program, path, peer, count, seed):
    """Returns the texts with different tokens, and both token lists. Some texts contain special tokens."""
    inputs = []
    rng, special = random.Random(seed), sorted(special_tokens(peer))
    while len(inputs) < count:
        text = texts.text(rng, special)
        if not any(begin <= ord(c) <= end for c in text for begin, end in UNICODE_16):
            inputs.append(text)
    data = b"".join(b"%d\n" % len(t) + t for t in (t.encode() for t in inputs))
    lines = subprocess.run([program, "encode", path], input=data, check=True, capture_output=True).stdout.decode().split("\n")
    bad = []
    for i, text in enumerate(inputs):
        for special in (False, True):
            ours = [int(x) for x in lines[2 * i + special].split()]
            theirs = peer.cut(text, special)
            if ours != theirs:
                bad.append((text, special, ours, theirs))
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--prompts", type=int, default=10)
    parser.add_argument("--texts", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    build = options.build.resolve()
    differ = 0
    llama_cpp.llama_log_set(SILENT, None)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = compiled(build, folder)
        for path in options.files or made(build, program, folder):
            peer = Peer(path)
            few_bits = path.stem.endswith(("f16", "_Q8_0", "_Q4_0"))
            same, apart = compare_texts(build, path, peer, options.prompts, options.seed)
            line = f"{path.name}: {same} of {options.prompts} texts of {TOKENS} tokens are the same{in_words(apart)}"
            differ += sum(by > (0.1 if few_bits else CLOSE) for by in apart)
            if few_bits:
                plain = folder / "plain"
                subprocess.run([program, "plain", path, plain], check=True)
                same, apart = compare_texts(build, path, Peer(plain), options.prompts, options.seed)
                line += f", {same} if llama.cpp has the weights in float32{in_words(apart)}"
                differ += sum(by > CLOSE for by in apart)
            has_tokenizer = llama_cpp.llama_vocab_type(peer.model._model.vocab) != 0
            if has_tokenizer and not path.stem.endswith(("_Q8_0", "_Q4_0")):
                bad = compare_cuts(program, path, peer, options.texts, options.seed)
                line += f"; of {options.texts} texts, each tokenized twice, {len(bad)} have other tokens"
                for text, special, ours, theirs in bad[:3]:
                    line += f"\n    {text!r}{', with special tokens' if special else ''}\n      ours      {ours}\n      llama.cpp {theirs}"
                differ += len(bad)
            print(line, flush=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
