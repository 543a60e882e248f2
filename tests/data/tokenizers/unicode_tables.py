#!/usr/bin/env python3
"""Writes catenary/tokenizers/unicode_tables.h: where the Unicode of the Python package `tokenizers` is newer or older than
that of PCRE2 10.42 (Unicode 14) and utf8proc 2.8 (Unicode 15).

    python3.11 -m venv venv && venv/bin/pip install tokenizers==0.23.3 unicodedata2 && venv/bin/python unicode_tables.py

Python 3.11's own unicodedata has Unicode 14, as PCRE2 10.42; unicodedata2 has the newest.
"""
import ctypes
import pathlib
import unicodedata
import unicodedata2
from tokenizers import Regex, normalizers, pre_tokenizers

assert unicodedata.unidata_version == "14.0.0"
POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def ranges(points, inert=lambda c: False):
    """Points as ranges; gaps of inert points are no gaps."""
    found = []
    for c in sorted(points):
        if found and all(inert(g) for g in range(found[-1][1] + 1, c)) and c - found[-1][1] < 200:
            found[-1][1] = c
        else:
            found.append([c, c])
    return found


def matched(step):
    return {c for c in POINTS if not step.pre_tokenize_str(chr(c))}


def of_expression(text):
    return matched(pre_tokenizers.Split(Regex(text), "removed"))


def added():
    """[first, last, category] of what the expressions of `tokenizers` know beyond Unicode 14."""
    rows = []
    for name in "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So".split():
        new = {c for c in of_expression(r"\p{%s}" % name) if unicodedata.category(chr(c)) == "Cn"}
        rows += [(a, b, "Mark" if name[0] == "M" else "Punctuation" if name[0] == "P" else "Symbol" if name[0] == "S" else name)
                 for a, b in ranges(new)]
    return sorted(rows)


def script(name):
    known = {"Han": 0, "Hiragana": 0, "Katakana": 0, "Hangul": 0}
    assert name in known
    return [(a, b, name) for a, b in ranges({c for c in of_expression(r"\p{%s}" % name) if unicodedata.category(chr(c)) == "Cn"})]


def not_punctuation():
    """Punctuation that the crate behind `Punctuation` does not know, and the two that it still takes for such."""
    got = matched(pre_tokenizers.Punctuation("removed"))
    now = {c for c in of_expression(r"\p{P}")}
    return ranges(now - got, lambda c: c not in got), ranges({c for c in got - now if c > 127})


def kept_as_they_are():
    """What the normalizers of `tokenizers` (Unicode 12) copy, though newer tables decompose, reorder or compose it."""
    nfd, nfc, nfkd = normalizers.NFD(), normalizers.NFC(), normalizers.NFKD()
    kept, active = set(), set()
    for c in POINTS:
        ch = chr(c)
        order, decomposition = unicodedata2.combining(ch), unicodedata2.decomposition(ch)
        if order or decomposition:
            active.add(c)
        if decomposition and nfkd.normalize_str(ch) != unicodedata2.normalize("NFKD", ch):
            kept.add(c)
        if order and not decomposition:
            text = "a" + ch + ("\u0334" if order != 1 else "\u0345")
            if nfd.normalize_str(text) != unicodedata2.normalize("NFD", text) and order != 1:
                kept.add(c)
            if order == 1 and nfd.normalize_str("a\u0345" + ch) != "a" + ch + "\u0345":
                kept.add(c)
        parts = decomposition.split()
        if len(parts) == 2 and "<" not in decomposition:
            first, second = (int(part, 16) for part in parts)
            active |= {first, second}
            if nfc.normalize_str(chr(first) + chr(second)) != unicodedata2.normalize("NFC", chr(first) + chr(second)):
                kept.add(second if second > 0xFFFF else first)
    return ranges(kept, lambda c: c not in active)


def lower():
    """What Lowercase makes of characters that utf8proc 2.8 leaves: [first, last, step, to]."""
    library = ctypes.CDLL("libutf8proc.so.2")
    library.utf8proc_tolower.restype = ctypes.c_int32
    lowercase, rows = normalizers.Lowercase(), []
    for c in POINTS:
        made = lowercase.normalize_str(chr(c))
        if len(made) == 1 and ord(made) != library.utf8proc_tolower(c):
            to = ord(made)
            if rows and rows[-1][1] + 1 == c and rows[-1][2] + c - rows[-1][0] == to:
                rows[-1][1] = c
            else:
                rows.append([c, c, to])
    return rows


def rows(items, show):
    lines, line = [], "   "
    for item in items:
        text = " " + show(item) + ","
        if len(line) + len(text) > 118:
            lines.append(line)
            line = "   "
        line += text
    return "\n".join(lines + [line])


pair = lambda r: "{0x%x, 0x%x}" % tuple(r[:2])
missing, extra = not_punctuation()
header = """#pragma once
// Private: where the Unicode of the Python package `tokenizers` 0.23 differs from that of PCRE2 10.42 (Unicode 14) and
// utf8proc 2.8 (15). Made by tests/data/tokenizers/unicode_tables.py.

namespace catenary::tokenizers {

struct CodeRange {
  char32_t first, last;
};

enum class Group { Lu, Ll, Lm, Lo, Mark, Nd, No, Punctuation, Symbol };
/// Of characters assigned since Unicode 14, as its expressions know them (Unicode 16).
struct Added {
  char32_t first, last;
  Group group;
};
// clang-format off
inline constexpr Added kAdded[] = {
%s
};
inline constexpr CodeRange kAddedHan[] = {
%s
};
inline constexpr CodeRange kAddedHiragana[] = {
%s
};
inline constexpr CodeRange kAddedKatakana[] = {
%s
};
/// Punctuation that the pre-tokenizer of that name does not know.
inline constexpr CodeRange kNotPunctuation[] = {
%s
};
/// What it takes for punctuation still.
inline constexpr CodeRange kStillPunctuation[] = {
%s
};
/// Numbers that Digits knows and the expressions do not (Unicode 17).
inline constexpr CodeRange kAddedDigits[] = {
%s
};
/// What its normalizers (Unicode 12) copy, though newer tables decompose, reorder or compose it.
inline constexpr CodeRange kNotNormalized[] = {
%s
};
/// Letters whose small ones utf8proc 2.8 does not know (Unicode 17): `first` becomes `to`, the next the next.
struct Lower {
  char32_t first, last, to;
};
inline constexpr Lower kLower[] = {
%s
};
// clang-format on

}  // namespace catenary::tokenizers
""" % (
    rows([r for r in added() if r[2] not in ("Lt", "Nl")], lambda r: "{0x%x, 0x%x, Group::%s}" % r),
    rows(script("Han"), pair), rows(script("Hiragana"), pair), rows(script("Katakana"), pair),
    rows(missing, pair), rows(extra, pair),
    rows(ranges({c for c in POINTS if len(pre_tokenizers.Digits(False).pre_tokenize_str("a" + chr(c))) == 2} - of_expression(r"\p{N}")), pair),
    rows(kept_as_they_are(), pair),
    rows(lower(), lambda r: "{0x%x, 0x%x, 0x%x}" % tuple(r)),
)
assert not script("Hangul")
root = pathlib.Path(__file__).resolve().parents[3]
(root / "catenary/tokenizers/unicode_tables.h").write_text(header)
