#!/usr/bin/env python3
"""Makes gguf_words.json: how the Python package splits texts with the regular expressions of each name of tokenizer.ggml.pre.

    python3 -m venv venv && venv/bin/pip install tokenizers==0.23.3
    venv/bin/python make_gguf_words.py                              writes gguf_words.json beside this script
    venv/bin/python make_gguf_words.py FILE --texts 300 --seed 2    writes cases of other texts to FILE

The expressions come from the models' own tokenizer.json. Where llama.cpp splits differently, they are llama.cpp's.
"""
import argparse
import json
import pathlib
import random

from tokenizers import Regex, pre_tokenizers

HERE = pathlib.Path(__file__).resolve().parent
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace("{1,3}", "")
LARGE, SMALL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
# llama.cpp's classes: any letter except a lower-case ASCII letter, or except an upper-case one
NOT_SMALL, NOT_LARGE = r"((?=[\p{L}])([^a-z]))", r"((?=[\p{L}])([^A-Z]))"


def cased(large, small, behind, numbers):
    begin = r"[^\r\n\p{L}\p{N}]?"
    return "|".join([begin + large + "*" + small + "+" + behind, begin + large + "+" + small + "*" + behind, numbers,
                     r" ?[^\s\p{L}\p{N}]+[\r\n/]*", SPACES])


O200K = cased(NOT_SMALL, NOT_LARGE, CONTRACTIONS + "?", r"\p{N}{1,3}")
DEEPSEEK3 = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
             + SPACES)
HAN = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
DEEPSEEK_HAN = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
BLOOM = " ?[^(\\s|.,!?…。，、।۔،)]+"
GROUPS = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
NO_HAN = [f"[{letters}&&[^\\p{{Han}}]]" for letters in (LARGE[1:-1], SMALL[1:-1])]
KIMI = "|".join([r"[\p{Han}]+", r"[^\r\n\p{L}\p{N}]?" + NO_HAN[0] + "*" + NO_HAN[1] + "+" + CONTRACTIONS + "?",
                 r"[^\r\n\p{L}\p{N}]?" + NO_HAN[0] + "+" + NO_HAN[1] + "*" + CONTRACTIONS + "?", r"\p{N}{1,3}",
                 r" ?[^\s\p{L}\p{N}]+[\r\n]*", SPACES])
JAIS2 = LLAMA3[:-len(SPACES)] + r"\s*[\r\n]+|" + "|".join(
    rf"\s{{{n}}}(?!\S)" for n in ("512", "256", "128", "64", "32", "16", "8", "4", "1,2")) + r"|\s{1}"
MODERN = LLAMA3.split(r"\p{N}{1,3}")
ASIAN = ("[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0e7f\u0e80-\u0eff"
         "\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+")
FAMILIES = [
    (["default"], [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"]),
    (["llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano", "dbrx",
      "smaug-bpe", "chatglm-bpe", "glm4"], [LLAMA3]),
    (["gpt-2", "phi-2", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "jina-v1-en", "jina-v2-code", "roberta-bpe", "gigachat",
      "a.x-4.0", "mellum", "modern-bert", "mpt", "olmo", "jais", "trillion", "granite-docling", "exaone4"], [GPT2]),
    (["qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2"], [QWEN2]),
    (["starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"], [r"\p{N}", GPT2]),
    (["falcon"], [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"]),
    (["deepseek-llm"], [r"[\r\n]", r"\s?[\p{Lu}\p{Ll}\p{Lt}]+", "\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+", r"\s+\z", DEEPSEEK_HAN,
                        r"\p{N}+"]),
    (["deepseek-coder"], [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", DEEPSEEK_HAN, r"\p{N}"]),
    (["deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"], [r"\p{N}{1,3}", HAN, DEEPSEEK3]),
    (["spark2_5"], [r"\p{N}{1,3}", HAN, DEEPSEEK3.replace(r"+[\r\n]*|\s*[\r\n]+|", r"+|[\r\n]|"), r"\p{N}"]),
    (["bloom", "poro-chat", "gpt3-finnish"], [BLOOM]),
    (["viking"], [BLOOM, r"\p{N}"]),
    (["tekken"], [cased(NOT_SMALL, NOT_LARGE, "", r"\p{N}")]),
    (["gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"], [O200K]),
    (["granite-embed-multi-97m"], [O200K.replace(r"[\p{L}]", r"[\p{L}\p{M}]")]),
    (["tiny_aya", "cohere2moe"], [GROUPS, cased(LARGE, SMALL, CONTRACTIONS + "?", r"\p{N}{1,3}")]),
    (["youtu"], ["[\uac00-\ud7a3\u3131-\u318e]+|[！…“”‘’—：；，\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|" + HAN,
                 cased(LARGE, SMALL, CONTRACTIONS + "?", r"\p{N}")]),
    (["kimi-k2"], [KIMI]),
    (["chameleon"], ["<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", r"([\t\n]|    |  )", r"\p{N}",
                     r"[\p{P}!-/:-@\[-`{-~]", GPT2]),
    (["qwen35"], [QWEN2.replace(r"\p{L}+", r"[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")]),
    (["jais-2"], [JAIS2]),
    (["superbpe"], [r"\p{N}+", r"(?=(\d{3})+(?!\d))"]),
    (["afmoe"], [GROUPS, ASIAN, DEEPSEEK3]),
    (["bailingmoe", "bailingmoe2", "llada-moe"],
     [r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"]),
    (["seed-coder"], [CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}" + "\r\n" + r"]+|" + SPACES]),
    (["ufakzeka"], [QWEN2.replace(CONTRACTIONS + "|", "")]),
    (["laguna"], [r"[^\n]+|[\n]+", QWEN2]),
    (["exaone-moe"], [CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|"
                      r"\s*[\r\n]|\s+(?!\S)|\s+"]),
    (["minicpm5"], [r"\p{N}{1,3}", MODERN[0] + r"\p{N}+" + MODERN[1]]),
    (["gemma4", "granite-embed-multi-311m", "sarvam-moe"], [r"[^\n]+|[\n]+"]),
]
PIECES = ["'s", "'LL", "'d", "don't", "Hello", "HTML", "aB", "Bär", "ÉÀé", " ", "  ", "     ", "\n", "\r\n", "\n\n", "\t", "\u00a0", "1", "12",
          "345", "6789", "1234567", "½", "٣٤", "你好", "界", "ひら", "カナ", "한글", "ไทย", "မြန်", "नम", "e\u0301", "ก็", "!", "?!", "...", "—", "。",
          "，", "“", "$", "+=", "`", "_x", "#if", "/", "//", "(", ")", "😀", "ǅ", "ꟊ", "ʰ", "<sentinel:12>", "IMGIMGABZ", "।", "・"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=pathlib.Path, default=HERE / "gguf_words.json")
    parser.add_argument("--texts", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    draw = random.Random(args.seed)
    texts = []
    while len(texts) < args.texts:
        text = "".join(draw.choice(PIECES) for _ in range(draw.randint(3, 9)))
        if len(text.encode()) <= 30:
            texts.append(text)
    cases = []
    for names, expressions in FAMILIES:
        splits = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(e), "isolated") for e in expressions])
        cases.append({"names": names, "words": [[word for word, _ in splits.pre_tokenize_str(text)] for text in texts]})
    args.file.write_text(json.dumps({"texts": texts, "families": cases}, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
