"""Parses whole texts of CUDA C++: preambles and operations, names of types and kernels, kernel parameters, and numbers in #if."""

import functools
import re

from catenary.cupy._translator import tree
from catenary.cupy._translator.declare import Statements
from catenary.cupy._translator.macros import Macros
from catenary.cupy._translator.parse import CLASS, END, OTHER, TYPE
from catenary.cupy._translator.reader import ALIASES, RANK, Untranslatable, balanced, tokens
from catenary.cupy._translator.types import FOLDS


@functools.lru_cache(256)
def read(kernel, types, names, preamble, texts, is_raw=False):
    """Parses the preamble's declarations and each of `texts`: (file, text, whether it is an expression).

    `types` and `names` are known names of types and variables. Results are cached, as most kernels are made for several dtypes.
    """
    base = {'complex': CLASS, **dict.fromkeys(types, TYPE)}
    macros = Macros(kernel, lambda ts: known_number(ts, base))
    parser = Statements(macros.run(preamble, kernel if is_raw else kernel + '_preamble'), [base])
    top, found = tuple(parser.outside()), []
    parser.scopes.append(dict.fromkeys(names, OTHER))
    for file, text, is_expression in texts:
        inner = Statements(macros.run(text, file), parser.scopes + [{}] if is_expression else parser.scopes)
        if is_expression:
            found.append(inner.commas())
            if inner.t is not END:
                inner.misplaced()
        else:
            found.append(inner.statements())
    return top, tuple(found)


def read_name(kernel, name, types=()):
    """Parses `f<float, 4>` to (f, its arguments as trees, or ()), and a type's name to (None, its TypeId)."""
    base = {'complex': CLASS, **dict.fromkeys(types, TYPE)}
    ts = balanced([t for t in tokens(name, kernel) if t.text])
    parser = Statements(ts, [base])
    found = parser.type_id()
    if found:
        return None, found if parser.t is END else None
    at = parser.name()
    return at.text, parser.arguments() if parser.t.text == '<' else ()


def class_of(kernel, word, top):
    """Returns the tree of a type's name among the declarations of a text."""
    base = {'complex': CLASS}
    base.update((node.name, CLASS if isinstance(node, tree.Struct) and node.template else TYPE) for node in top
                if isinstance(node, (tree.Struct, tree.Typedef)))
    parser = Statements(balanced([t for t in tokens(word, kernel) if t.text]), [base])
    found = parser.type_id()
    if found is None or parser.t is not END:
        parser.misplaced()
    return found


def instance_of(name):
    """Splits `f<float, 4>` into ('f', ['float', '4']). A plain name has no arguments."""
    base, _, rest = name.strip().partition('<')
    found, depth = [''] if rest else [], 0
    for c in rest.rstrip()[:-1] if rest.rstrip().endswith('>') else rest:
        depth += (c in '<(') - (c in '>)')
        if c == ',' and not depth:
            found.append('')
        else:
            found[-1] += c
    return base.strip(), [text.strip() for text in found]


def number_of(kernel, parameter, text):
    """Returns the integer value of a template argument. Raises ValueError."""
    if text in ('true', 'false'):
        return int(text == 'true')
    if not re.fullmatch(r'-?\d\w*', text):
        raise ValueError('RawKernel: %s: expected a number for the parameter %s, got %r' % (kernel, parameter, text))
    return int(text.rstrip('uUlL'), 0)


def type_of(kernel, parameter, text, resolve):
    """Returns the type that a template argument names, as `resolve` maps the tree of `text`. Raises ValueError."""
    try:
        base, found = read_name(kernel, text)
        found = resolve(found) if base is None and found is not None and not found.stars else None
    except Untranslatable:
        found = None
    if found is None:
        raise ValueError('RawKernel: %s: expected a type for the parameter %s, got %r' % (kernel, parameter, text))
    return found


def scalar_of(type, types=None):
    """Returns the OpenCL C scalar type of a TypeId without pointers, or None. `types` maps further names."""
    base = type.spec.base
    if base == 'complex' and type.spec.args and isinstance(type.spec.args[0], tree.TypeId):
        return {'float': 'c64', 'double': 'c128'}.get(scalar_of(type.spec.args[0], types))
    if type.spec.args or type.reference:
        return None
    return (types or {}).get(base) or ALIASES.get(base, base if base in RANK else None)


def parameter_kinds(ts, types):
    """Returns for each parameter of a kernel, whose tokens begin with its bracket: 'pointer', its number type, or None."""
    depth, parts = 0, [[]]
    for t in ts:
        depth += (t.text in ('(', '[', '<')) - (t.text in (')', ']', '>'))
        if depth == 0:
            break
        if depth == 1 and t.text == ',':
            parts.append([])
        else:
            parts[-1].append(t)
    parts[0] = parts[0][1:]
    found = []
    for part in parts if [t.text for t in parts[0]] not in ([], ['void']) else ():
        type = Statements(part, [{'complex': CLASS, **dict.fromkeys(types, TYPE)}]).type_id()
        pointer = any(t.text in ('*', '[') for t in part)
        found.append('pointer' if pointer else type and scalar_of(type, types))
    return found


def known_number(ts, base):
    """Returns the value of a constant expression of numbers, for #if, or None."""
    parser = Statements(list(ts), [base])
    x = parser.commas()
    return None if parser.t is not END else fold(x)


def fold(x):
    if isinstance(x, tree.Number):
        text = x.at.text.replace("'", '').rstrip('uUlL')
        return int(text, 8 if text[0] == '0' and text.isdigit() and len(text) > 1 else 0) if text[:2].lower() in (
            '0x', '0b') or text.isdigit() else None
    if isinstance(x, tree.Paren):
        return fold(x.x)
    if isinstance(x, tree.Unary) and x.op in '-+~!':
        v = fold(x.x)
        return None if v is None else {'-': -v, '+': v, '~': ~v, '!': int(not v)}[x.op]
    if isinstance(x, tree.Choice):
        v = fold(x.test)
        return None if v is None else fold(x.yes if v else x.no)
    if isinstance(x, tree.Binary):
        a, b = fold(x.left), fold(x.right)
        if x.op == '&&' and a == 0 or x.op == '||' and a:
            return int(x.op == '||')
        v = None if a is None or b is None else FOLDS[x.op](a, b)
        return None if v is None else int(v)
    return None
