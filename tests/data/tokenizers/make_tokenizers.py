#!/usr/bin/env python3
"""Makes the fixtures of tests/tokenizers: small tokenizers of each kind, and the ids that the Python package gives random texts.

    python3 -m venv venv && venv/bin/pip install tokenizers==0.23.3
    venv/bin/python make_tokenizers.py                         writes NAME.json, cases.json and trained.json beside this script
    venv/bin/python make_tokenizers.py FOLDER                  writes only the tokenizers, to FOLDER
    venv/bin/python make_tokenizers.py FOLDER --texts 10000    also writes cases of other texts (--seed), for `reference-check FOLDER`

The tokenizers are trained on documents of this project and on the words in texts.py.
"""
import argparse
import json
import pathlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import texts

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CORPUS = [(ROOT / "docs" / name).read_text() for name in ("guide/tutorial.md", "design/decisions.md")] + texts.WORDS * 5
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def special(*names):
    return [AddedToken(name, special=True, normalized=False) for name in names]


def bytes_bpe(size, pre, normalizer=None, special_tokens=(), **options):
    made = Tokenizer(models.BPE(**options))
    if normalizer:
        made.normalizer = normalizer
    made.pre_tokenizer = pre
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=size, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=list(special_tokens)))
    return made


def gpt2():
    made = bytes_bpe(400, pre_tokenizers.ByteLevel(add_prefix_space=False), special_tokens=special("<|endoftext|>"))
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    return made


def gpt2_prefix():
    made = bytes_bpe(300, pre_tokenizers.ByteLevel(add_prefix_space=True), special_tokens=special("<s>", "</s>"))
    made.add_tokens([AddedToken("<mask>", lstrip=True, special=True, normalized=False), AddedToken("naïve", normalized=True, single_word=True),
                     AddedToken("!!", rstrip=True, normalized=False), AddedToken("  ", normalized=False), AddedToken("the", single_word=True)])
    return made


def split_bytes(expression, digits=False):
    steps = [pre_tokenizers.Split(Regex(expression), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    return pre_tokenizers.Sequence(([pre_tokenizers.Digits(True)] if digits else []) + steps)


def llama3():
    made = bytes_bpe(400, split_bytes(LLAMA3), ignore_merges=True)
    made.add_special_tokens(special("<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "<|start_header_id|>"))
    begin = made.token_to_id("<|begin_of_text|>")
    made.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing("<|begin_of_text|> $A", "<|begin_of_text|> $A <|begin_of_text|> $B:1", [("<|begin_of_text|>", begin)])])
    return made


def qwen2():
    made = bytes_bpe(400, split_bytes(QWEN2), normalizers.NFC())
    made.add_special_tokens(special("<|endoftext|>", "<|im_start|>", "<|im_end|>"))
    made.add_tokens([AddedToken("<tool_call>", normalized=False)])
    return made


def glm4():
    made = bytes_bpe(350, split_bytes(LLAMA3, digits=True))
    made.add_special_tokens(special("<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>"))
    ids = [(name, made.token_to_id(name)) for name in ("[gMASK]", "<sop>")]
    made.post_processor = processors.TemplateProcessing("[gMASK] <sop> $A", "[gMASK] <sop> $A $B:1", ids)
    return made


def o200k():
    made = bytes_bpe(350, split_bytes(O200K))
    made.add_special_tokens(special("<|endofprompt|>"))
    return made


def han():
    expression = r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}&&[^\p{Han}]]+|\p{N}{1,3}+|\w+|[^\s\w]+|[\s\S]"
    return bytes_bpe(300, split_bytes(expression))




def llama2(metaspace):
    made = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if metaspace:
        made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    else:
        made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    lines = [line for text in CORPUS for line in text.split("\n")] if not metaspace else [word for text in CORPUS for word in text.split()]
    made.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=700, show_progress=False, limit_alphabet=120, max_token_length=12, special_tokens=special("<unk>", "<s>", "</s>") + BYTES))
    # the byte tokens are not special
    document = json.loads(made.to_str())
    document["added_tokens"] = document["added_tokens"][:3]
    made = Tokenizer.from_str(json.dumps(document))
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    made.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A <s>:1 $B:1", [("<s>", 1)])
    return made


def unigram(byte_fallback):
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip(False, True)])
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    made.train_from_iterator(CORPUS, trainers.UnigramTrainer(
        vocab_size=500, show_progress=False, special_tokens=["<pad>", "</s>", "<unk>"] + (BYTES if byte_fallback else []), unk_token="<unk>"))
    document = json.loads(made.to_str())
    document["added_tokens"] = document["added_tokens"][:3]
    document["model"]["byte_fallback"] = byte_fallback
    # fewer digits, which survive writing and reading unchanged
    document["model"]["vocab"] = [[token, round(score, 4)] for token, score in document["model"]["vocab"]]
    made = Tokenizer.from_str(json.dumps(document))
    made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()]) if byte_fallback else decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", 1)])
    made.add_tokens([AddedToken("<extra_id_0>", special=True, normalized=False, lstrip=True, rstrip=True)])
    return made


def characters(pre, normalizer, fuse=False, **options):
    made = Tokenizer(models.BPE(unk_token="[UNK]", fuse_unk=fuse, **options))
    made.normalizer = normalizer
    made.pre_tokenizer = pre
    keys = {key: options[key] for key in ("continuing_subword_prefix", "end_of_word_suffix") if key in options}
    made.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=300, limit_alphabet=90, show_progress=False, special_tokens=special("[UNK]"), **keys))
    return made


def pieces_1():
    made = characters(pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(False)]),
                      normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.Strip(True, True)]), continuing_subword_prefix="##")
    made.add_tokens([AddedToken("Naïve", normalized=True), AddedToken("İ", normalized=True), AddedToken("[x]", normalized=False, single_word=True)])
    return made


def pieces_2():
    return characters(pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Digits(True)]),
                      normalizers.NFKD(), fuse=True, end_of_word_suffix="</w>")


def pieces_3():
    return characters(pre_tokenizers.Sequence([
        pre_tokenizers.Split("e", "merged_with_previous"), pre_tokenizers.Split(Regex(r"\p{P}"), "merged_with_next"),
        pre_tokenizers.Split(Regex(r"\s+"), "removed"), pre_tokenizers.Split(Regex(r"\w+"), "contiguous", invert=True),
        pre_tokenizers.Split(Regex(r"[\p{Nd}]{2}|^a|$"), "merged_with_previous", invert=True)]),
        normalizers.Replace(Regex(r"(?<!o)o{2}(?!o)|\u00df"), "0"))


def metaspaces():
    made = characters(pre_tokenizers.Metaspace(prepend_scheme="never", replacement="_"), normalizers.NFC())
    made.decoder = decoders.Metaspace(prepend_scheme="never", replacement="_")
    return made


MAKERS = {
    "gpt2": gpt2, "gpt2_prefix": gpt2_prefix, "llama3": llama3, "qwen2": qwen2, "glm4": glm4, "o200k": o200k, "han": han,
    "llama2": lambda: llama2(False), "mistral": lambda: llama2(True), "unigram": lambda: unigram(False), "unigram_bytes": lambda: unigram(True),
    "pieces_1": pieces_1, "pieces_2": pieces_2, "pieces_3": pieces_3, "metaspaces": metaspaces,
}


def results(tokenizer, text):
    """Returns the ids with all special tokens, the ids without, and both decoded: the first in full, the second without special tokens."""
    tokenizer.encode_special_tokens = False
    full = tokenizer.encode(text, add_special_tokens=True).ids
    tokenizer.encode_special_tokens = True
    plain = tokenizer.encode(text, add_special_tokens=False).ids
    return full, plain, tokenizer.decode(full, skip_special_tokens=False), tokenizer.decode(plain, skip_special_tokens=True)


def added(tokenizer):
    return [token.content for token in tokenizer.get_added_tokens_decoder().values()]


def trained():
    """Returns vocabularies trained on small texts. In some, two different merges give the same token."""
    rows = []
    repeated = "".join("abcd"[i * i * 7 % 4] * (1 + i % 3) + " " * (i % 5 == 0) for i in range(400))
    for text, size, names, least in [(CORPUS[1][:2500], 330, ["<|endoftext|>"], 2), (" ".join(texts.WORDS) * 3, 300, [], 0),
                                     (repeated, 290, ["<s>", "</s>"], 2), ("aaaaaaa aaaa\n\n\n  aaa", 300, [], 1)]:
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.train_from_iterator([text], trainers.BpeTrainer(
            vocab_size=size, min_frequency=least, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=special(*names)))
        made.encode_special_tokens = True
        rows.append({"text": text, "size": size, "special": names, "min_count": least, "count": len(made.encode(text).ids),
                     "tokens": [made.id_to_token(i) for i in range(made.get_vocab_size())]})
    return rows


def cases_of(tokenizers, inputs):
    """Returns the texts and the results of each tokenizer. A decoded text that equals the original is written as null."""
    cases = {"texts": inputs, "results": {}}
    for name, tokenizer in tokenizers.items():
        rows = [results(tokenizer, text) for text in inputs]
        cases["results"][name] = {"full": [r[0] for r in rows], "plain": [r[1] for r in rows],
                                  "text_of_full": [None if r[2] == text else r[2] for r, text in zip(rows, inputs)],
                                  "text_of_plain": [None if r[3] == text else r[3] for r, text in zip(rows, inputs)]}
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--texts", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = options.folder or HERE
    everything = {name: make() for name, make in MAKERS.items()}
    for name, tokenizer in everything.items():
        document = json.loads(tokenizer.to_str())
        if name in ("gpt2", "llama2"):  # the form of older files
            document["model"]["merges"] = [" ".join(pair) for pair in document["model"]["merges"]]
        (folder / (name + ".json")).write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n")
    names = sorted({content for tokenizer in everything.values() for content in added(tokenizer)})
    if not options.folder:
        (HERE / "trained.json").write_text(json.dumps(trained(), ensure_ascii=False, separators=(",", ":")) + "\n")
        inputs = texts.texts(28, 100, names, most=6)
    elif options.texts:
        (folder / "manifest.json").write_text(json.dumps({"tokenizers": list(everything)}) + "\n")
        inputs = texts.texts(options.seed, options.texts, names)
    else:
        return
    (folder / "cases.json").write_text(json.dumps(cases_of(everything, inputs), separators=(",", ":"), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
