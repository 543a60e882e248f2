#!/usr/bin/env python3
"""Makes three files with SentencePiece:

sentencepiece.json         a small BPE model in the form of GGUF files, and the ids that SentencePiece gives random texts
charsmap.json              a small normalization table, and the texts that `tokenizers` normalizes with it
sentencepiece_models.json  small model files, and the ids that SentencePiece gives random texts with them

    python3 -m venv venv && venv/bin/pip install sentencepiece protobuf tokenizers==0.23.3 && venv/bin/python make_sentencepiece.py
"""
import base64
import io
import json
import pathlib
import random
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import normalizers

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


# Replacements in hexadecimal: a ligature, letters with marks, a long cluster, a deletion, and prefixes of other rules.
RULES = """fb01\t66 69
41\t61
41 300\te0
e9\t65
65 301\te9 21
20ac\t45 55 52
ad\t
1f600\t3a 29
3000\t20
0e33\te4d e32
61 62 63\t78
"""


def charsmap():
    model = io.BytesIO()
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
        rules.write(RULES)
        rules.flush()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["hello", "world"]), model_writer=model, model_type="char", vocab_size=12,
                                                 hard_vocab_limit=False, normalization_rule_tsv=rules.name, minloglevel=2)
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    table = proto.normalizer_spec.precompiled_charsmap
    rng = random.Random(4)
    parts = ["\ufb01", "A", "\u0300", "\u0301", "e", "\u00e9", "\u20ac", "\u00ad", "\U0001f600", "\u3000", "\u0e33", "\u0e01", "abc", "a", "b", "\0", "x",
             "\U0001f468\u200d\U0001f469", "\r\n", "\u1100\u1161", "\U0001f1e9\U0001f1ea", " "]
    inputs = ["".join(rng.choice(parts) for _ in range(rng.randrange(1, 9))) for _ in range(150)]
    step = normalizers.Precompiled(table)
    return {"precompiled_charsmap": base64.b64encode(table).decode(), "texts": inputs, "normalized": [step.normalize_str(text) for text in inputs]}


# The tokenizer of chatglm-6b replaces line ends, tabs and runs of spaces by these before it calls SentencePiece.
CHATGLM = ["<n>", "<|tab|>"] + [f"<|blank_{n}|>" for n in range(2, 81)] + ["[MASK]", "[gMASK]", "<sop>", "<eop>"]
MODELS = {
    "pairs": {"model_type": "bpe", "vocab_size": 420, "byte_fallback": True, "normalization_rule_name": "identity", "remove_extra_whitespaces": False,
              "user_defined_symbols": ["<tool>", "ing"]},
    "pairs_without_bytes": {"model_type": "bpe", "vocab_size": 150, "user_defined_symbols": ["<tool>"], "add_dummy_prefix": False, "eos_id": -1},
    "unigram": {"model_type": "unigram", "vocab_size": 160, "user_defined_symbols": ["<tool>", "ing", "\u2581the"], "control_symbols": ["<c>"]},
    "unigram_with_bytes": {"model_type": "unigram", "vocab_size": 400, "byte_fallback": True, "remove_extra_whitespaces": False,
                           "normalization_rule_name": "identity"},
    "chatglm": {"model_type": "unigram", "vocab_size": 260, "user_defined_symbols": CHATGLM, "normalization_rule_name": "identity",
                "remove_extra_whitespaces": False},
}


def of_chatglm(model, text):
    text = text.replace("\n", "<n>").replace("\t", "<|tab|>")
    for count in range(80, 1, -1):
        text = text.replace(" " * count, f"<|blank_{count}|>")
    return model.encode(text)


def text_of_chatglm(model, ids):
    text = model.decode(ids).replace("<n>", "\n").replace("<|tab|>", "\t")
    for count in range(2, 81):
        text = text.replace(f"<|blank_{count}|>", " " * count)
    return text


def models():
    made = {}
    for name, options in MODELS.items():
        options = {"hard_vocab_limit": False, "character_coverage": 0.99, "minloglevel": 2} | options
        with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
            rules.write(RULES)
            rules.flush()
            if "normalization_rule_name" not in options:
                options["normalization_rule_tsv"] = rules.name
            stream = io.BytesIO()
            sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter([line for text in CORPUS for line in text.split("\n") if line]),
                                                     model_writer=stream, **options)
        model = sentencepiece.SentencePieceProcessor(model_proto=stream.getvalue())
        rng = random.Random(len(name))
        parts = ["<tool>", "ing", " the", "  ", "\t", "\n", " " * 5, " " * 90, "<c>", "<s>", "</s>", "<unk>", "<0x41>", "abc", "A\u0300", "\ufb01", "\u00ad",
                 "\u3000", "e\u0301", "\u4e2d\u6587", "\U0001f600"]
        inputs = [text.replace("\u2581", "").replace("\0", "") for text in texts.texts(31, 60, (), most=6)]
        inputs += ["".join(rng.choice(parts + ["a", "the", " "]) for _ in range(rng.randrange(1, 8))) for _ in range(100)] + ["", " ", "   ", "hello world "]
        encode, decode = (of_chatglm, text_of_chatglm) if name == "chatglm" else (type(model).encode, type(model).decode)
        ids = [encode(model, text) for text in inputs]
        end = [model.piece_to_id(piece) for piece in ("[gMASK]", "<sop>")] if name == "chatglm" else []
        known = [i for i in range(model.get_piece_size()) if not model.is_unknown(i) and not model.is_control(i)]
        of_bytes = [i for i in known if model.is_byte(i)]
        lists = [[rng.choice(of_bytes if of_bytes and rng.random() < 0.5 else known) for _ in range(rng.randrange(1, 9))] for _ in range(60)]
        made[name] = {"model": base64.b64encode(stream.getvalue()).decode(), "texts": inputs, "ids": ids, "end": end,
                      "decoded": [decode(model, of) for of in ids], "lists": lists, "decoded_lists": [decode(model, of) for of in lists]}
    return made


def main():
    (HERE / "sentencepiece_models.json").write_text(json.dumps(models(), ensure_ascii=False, separators=(",", ":")) + "\n")
    (HERE / "charsmap.json").write_text(json.dumps(charsmap(), ensure_ascii=False, separators=(",", ":")) + "\n")
    model = train(480)
    # SentencePiece reads U+2581 as a space, and its Python package ends a text at NUL
    inputs = [text.replace("\u2581", "").replace("\0", "") for text in texts.texts(29, 100, (), most=6)]
    document = gguf(model) | {"texts": inputs, "ids": [model.encode(text) if text else [] for text in inputs]}
    (HERE / "sentencepiece.json").write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
