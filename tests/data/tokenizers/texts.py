"""Makes random texts from all of Unicode, for make_tokenizers.py and for use by hand."""
import random

WORDS = ("the tokenizer reads a text and writes numbers It's don't WE'LL they're I'd can't "
         "Über naïve façade Straße ﬁne ﬀ Ĳ ŉ İstanbul ǅ ΑΣ ΐ привет мир Ёж שלום עולם مرحبا بالعالم नमस्ते दुनिया สวัสดี "
         "안녕하세요 세계 你好 世界 こんにちは カタカナ ｶﾞ ℌ ① Ⅻ ½ ² x² 10⁻³ ㎏ 2024 12345678 3.14 ٠١٢٣ १२३").split()
MARKS = "\u0300\u0301\u0308\u0327\u0323\u0334\u0345\u05b4\u064b\u093c\u0e48\u3099\u20dd\U0001d165"
SPACES = " \t\n\r\v\f\x85\xa0\u1680\u180e\u2000\u2007\u2009\u200b\u2028\u2029\u202f\u205f\u3000\ufeff"
EMOJI = ["\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f3f3\ufe0f\u200d\U0001f308", "\u2764\ufe0f",
         "\U0001f1e9\U0001f1ea", "\U0001f44d\U0001f3fd", "1\ufe0f\u20e3"]
EDGES = ["\0", "\x01", "\x1b", "\x7f", "\x80", "\x9f", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\ufffd", "\uffff", "\U00010000",
         "\U0010ffff", "\U0001fffe", "\ufdd0", "\u200c", "\u200d", "\u202e", "\u2066", "\u00ad", "\u2581", "\u2581\u2581", "\u0120",
         "\u017f", "\u212a", "\u0130", "\u1e9e", "\u00df"]
ASCII = "".join(map(chr, range(32, 127)))


def piece(rng, tokens):
    kind = rng.randrange(14)
    if kind == 0:
        return rng.choice(WORDS)
    if kind == 1:
        return " " + rng.choice(WORDS)
    if kind == 2:
        return "".join(rng.choice(ASCII) for _ in range(rng.randrange(1, 8)))
    if kind == 3:
        return rng.choice(SPACES) * rng.randrange(1, 4)
    if kind == 4:
        return "".join(rng.choice(" \n\r\t") for _ in range(rng.randrange(1, 6)))
    if kind == 5:
        return rng.choice("aeouAEnN한가\u05d0\u0915") + "".join(rng.choice(MARKS) for _ in range(rng.randrange(1, 4)))
    if kind == 6:
        return rng.choice(EMOJI)
    if kind == 7:
        return rng.choice(EDGES)
    if kind == 8:
        return str(rng.randrange(10 ** rng.randrange(1, 9)))
    if kind == 9:
        return rng.choice(["'s", "'S", "'ll", "'RE", "'t", "'\u017f", "\u2019s", "...", "!!", "--", "\r\n", " \n ", "  x"])
    if kind == 10:
        return rng.choice(tokens) if tokens else "<s>"
    if kind == 11:  # any assigned plane, small and large code points equally often
        return "".join(anything(rng, rng.choice([0x100, 0x800, 0x3000, 0x10000, 0x20000])) for _ in range(rng.randrange(1, 5)))
    return "".join(anything(rng, 0x110000) for _ in range(rng.randrange(1, 5)))


def anything(rng, end):
    while True:
        c = rng.randrange(end)
        if not 0xD800 <= c < 0xE000:
            return chr(c)


def text(rng, tokens=(), most=12):
    return "".join(piece(rng, tokens) for _ in range(rng.randrange(most)))


def texts(seed, count, tokens=(), most=12):
    rng = random.Random(seed)
    return [text(rng, tokens, most) for _ in range(count)]
