#!/usr/bin/env python3
"""Makes ties.json: tokenizations by the Python package that depend on the last bit of a score, or on where a normalized text begins.

    python3 -m venv venv && venv/bin/pip install tokenizers==0.23.3
    venv/bin/python make_ties.py                writes ties.json beside this script
    venv/bin/python make_ties.py FILE --seed 2  writes other cases to FILE
"""
import argparse
import json
import pathlib
import random

from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).resolve().parent


def unigram(draw):
    """Returns a model whose tokens repeat one letter. Different cuts of a text have scores that differ only in their last bits."""
    one = -draw.uniform(0.5, 13)
    vocab = [["<unk>", 0.0], ["-", one]]
    for length in sorted(draw.sample(range(2, 9), 4)):
        score = one * length / draw.choice([1, 1, 2])
        vocab.append(["-" * length, float(repr(score)) if draw.random() < 0.5 else round(score, draw.randint(12, 15))])
    return {"version": "1.0", "added_tokens": [], "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}}


def metaspace(normalizer):
    letters = ["<unk>", "▁", "a", "b", "x", "y", "é", "e"]
    added = [{"id": 8, "content": "<s>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True},
             {"id": 9, "content": "<n>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "special": False}]
    return {"version": "1.0", "added_tokens": added, "normalizer": normalizer,
            "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
            "model": {"type": "BPE", "unk_token": "<unk>", "vocab": {letter: i for i, letter in enumerate(letters)}, "merges": []}}


def replace(what, by, kind="String"):
    return {"type": "Replace", "pattern": {kind: what}, "content": by}


STRIP, PREPEND = {"type": "Strip", "strip_left": True, "strip_right": False}, {"type": "Prepend", "prepend": "y"}
NORMALIZERS = [None, STRIP, PREPEND, replace("x", ""), replace("x", "a"), replace(" ", "▁"), replace("^\\s+", "", "Regex"), {"type": "NFC"},
               {"type": "NFD"}, {"type": "Lowercase"}] + [{"type": "Sequence", "normalizers": steps} for steps in (
                   [STRIP, PREPEND], [PREPEND, STRIP], [replace("x", ""), STRIP], [replace("x", "y"), replace("y", "")],
                   [STRIP, replace("a", "b")])]
TEXTS = ["a b", " a", "  a b", "xa", "xxb a", "x a", " xa", "ax", "é", "\u00e9a", "A", "<s>a", "<s> a", " <s>a", "<n>a", "a<n>b", " <n>a", "x<n>a",
         "x", " "]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=pathlib.Path, default=HERE / "ties.json")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    draw = random.Random(args.seed)

    def cases(model, texts):
        text = json.dumps(model, ensure_ascii=False)
        tokenizer = Tokenizer.from_str(text)
        return {"tokenizer": text, "texts": texts, "ids": [tokenizer.encode(t, add_special_tokens=False).ids for t in texts]}

    runs = ["-" * n for n in range(1, 30)]
    made = {"unigrams": [cases(unigram(draw), runs) for _ in range(40)], "beginnings": [cases(metaspace(n), TEXTS) for n in NORMALIZERS]}
    args.file.write_text(json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
