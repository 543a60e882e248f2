#!/usr/bin/env python3
"""Makes sentencepiece.json: a small model of SentencePiece's pairs as GGUF files hold it, and what SentencePiece makes of random texts.

    python3 -m venv venv && venv/bin/pip install sentencepiece tokenizers==0.23.3 && venv/bin/python make_sentencepiece.py
"""
import io
import json
import pathlib
import sys

import sentencepiece

import texts
from make_tokenizers import CORPUS

HERE = pathlib.Path(__file__).resolve().parent


def train(size):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for text in CORPUS for line in text.split("\n") if line]), model_writer=model, model_type="bpe", vocab_size=size,
        byte_fallback=True, character_coverage=0.998, normalization_rule_name="identity", remove_extra_whitespaces=False,
        user_defined_symbols=["<tool>"], minloglevel=2)
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def gguf(model):
    kinds = [6 if model.is_byte(i) else 3 if model.is_control(i) else 2 if model.is_unknown(i) else 5 if model.is_unused(i) else
             4 if model.id_to_piece(i) == "<tool>" else 1 for i in range(model.get_piece_size())]
    return {"tokens": [model.id_to_piece(i) for i in range(model.get_piece_size())],
            "scores": [round(model.get_score(i), 3) for i in range(model.get_piece_size())], "token_types": kinds}


def main():
    model = train(480)
    # SentencePiece takes the character for a space, and NUL ends a text of its Python package
    inputs = [text.replace("\u2581", "").replace("\0", "") for text in texts.texts(29, 100, (), most=6)]
    document = gguf(model) | {"texts": inputs, "ids": [model.encode(text) if text else [] for text in inputs]}
    (HERE / "sentencepiece.json").write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
