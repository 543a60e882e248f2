"""Expressions and types of CUDA C++: tokens become the tree of `tree`. `declare` reads statements and declarations with it.

Names that stand for types have to be known where they are read, as in C++: `scopes` says of a name whether it is a type, a template
or something else."""

from catenary.cupy._translator import tree
from catenary.cupy._translator.reader import ALIASES, COMPLEX_FUNCTIONS, OF_CUDA, QUALIFIERS, REFUSED, TYPE_TRAITS, VECTORS, WORDS, Token, refuse

LEVELS = {'||': 1, '&&': 2, '|': 3, '^': 4, '&': 5, '==': 6, '!=': 6, '<': 7, '>': 7, '<=': 7, '>=': 7, '<<': 8, '>>': 8, '+': 9,
          '-': 9, '*': 10, '/': 10, '%': 10}
ASSIGNMENTS = frozenset(('=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='))
CASTS = frozenset(('static_cast', 'reinterpret_cast', 'const_cast'))
PREFIXES = frozenset('-+~!*&')
TYPE, TEMPLATE, CLASS, OTHER = 'type', 'template', 'class', 'other'  # CLASS: a template that is a type
STARS = frozenset(('*', '&', 'const', '__restrict__', '__restrict', 'restrict', 'volatile', '&&'))
END = Token('end', '')


class Parser:
    """A position in a list of tokens, and the meaning of names in scope."""

    def __init__(self, ts, scopes):
        self.ts, self.i, self.n, self.scopes, self.angles = ts, 0, len(ts), scopes, 0
        self.t = ts[0] if ts else END

    # ------------------------------------------------------------------ tokens
    def take(self):
        t = self.t
        self.i += 1
        self.t = self.ts[self.i] if self.i < self.n else END
        return t

    def go(self, i):
        self.i = i
        self.t = self.ts[i] if i < self.n else END

    def peek(self, ahead=1):
        return self.ts[self.i + ahead] if self.i + ahead < self.n else END

    def accept(self, text):
        return self.take() if self.t.text == text else None

    def expect(self, text):
        if self.t.text != text:
            self.misplaced()
        return self.take()

    def name(self):
        if self.t.kind != 'id':
            self.misplaced()
        return self.take()

    def misplaced(self):
        t = self.t if self.t is not END or not self.ts else self.ts[-1]
        if t.text in ('<', '<<') and self.peek(-1).text in ('<', '<<'):
            refuse(t, 'a launch from a kernel')
        refuse(t, REFUSED.get(t.text, 'this word in this place'))

    def kind(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    # ------------------------------------------------------------------ types
    def spec(self):
        """Parses a type without its declarator. Returns None and consumes nothing if there is none."""
        start, words, base, args, member, const, first = self.i, [], None, None, None, False, None
        while self.t.kind == 'id':
            word = self.t.text
            if word in WORDS:
                if base:
                    break
                words.append(word)
            elif word in QUALIFIERS:
                const = const or word in ('const', 'constexpr')
                self.take()
                continue
            elif words or base:
                break
            elif word in ('struct', 'class', 'enum', 'typename') and self.peek().kind == 'id':
                self.take()
                continue
            else:
                kind = self.kind(word)
                if word in ('std', 'cupy') and kind is None and self.trait_follows(TYPE_TRAITS, '_t'):
                    self.go(self.i + (4 if self.peek(2).text == 'type_traits' else 2))
                    first = self.take()
                    base = 'std::' + first.text
                    args = self.arguments()
                    if not base.endswith('_t'):
                        if not self.accept('::'):
                            self.misplaced()
                        member = self.name()
                    continue
                if word in ('std', 'thrust') and self.peek().text == '::' and kind is None:
                    if self.peek(2).text not in ALIASES and self.peek(2).text != 'complex':
                        break
                    self.take()
                    self.take()
                    word = self.t.text
                    kind = self.kind(word)
                if kind is None and (word in ALIASES or word in VECTORS or word == 'auto'):
                    kind = TYPE
                if kind not in (TYPE, CLASS):
                    break
                base = word
                first = self.take()
                if kind is CLASS:
                    if self.t.text != '<':
                        break
                    args = self.arguments()
                if self.t.text == '::':
                    if self.ts[start].text != 'typename':
                        base = None
                        break
                    self.take()
                    member = self.name()
                continue
            first = first or self.t
            self.take()
        if words:
            kind = next((k for k in ('double', 'float', 'bool', 'char', 'short', 'long') if k in words), 'int')
            base = 'u' + kind if 'unsigned' in words else kind
        if base is None:
            self.go(start)
            return None
        return tree.Spec(first, base, args, member, const)

    def trait_follows(self, names, end):
        """Does std::NAME< or cupy::type_traits::NAME< follow, with one of these names?"""
        at = 4 if self.peek(2).text == 'type_traits' else 2
        return self.peek().text == '::' and self.peek(at).text.removesuffix(end) in names and self.peek(at + 1).text == '<'

    def stars(self):
        """Parses stars and a reference. Returns (number of pointers, is it a reference?)."""
        count, reference = 0, False
        while self.t.text in STARS:
            text = self.take().text
            count += text == '*'
            reference = reference or text in ('&', '&&')
        return count, reference

    def type_id(self):
        """Parses an unnamed type, as in a cast. Returns None and consumes nothing if there is none."""
        at = self.t
        spec = self.spec()
        return spec and tree.TypeId(at, spec, *self.stars(), ())

    def arguments(self):
        """Returns the arguments of a template, to whose < the parser has come: types and expressions."""
        opened = self.take()
        found, before = [], self.angles
        self.angles = 1
        while self.t.text not in ('>', '>>'):
            found.append(self.type_id() or self.expression(1))
            if not self.accept(',') and self.t.text not in ('>', '>>'):
                refuse(opened, 'a template with this argument')
        self.angles = before
        if self.t.text == '>>':  # closes two brackets
            t = self.t
            self.ts = list(self.ts)
            self.ts[self.i:self.i + 1] = [Token('op', '>', t.line, t.space, t.source), Token('op', '>', t.line, '', t.source)]
            self.n += 1
            self.t = self.ts[self.i]
        self.take()
        return tuple(found)

    # ------------------------------------------------------------------ expressions
    def commas(self):
        x = self.expression()
        while self.t.text == ',':
            x = tree.Comma(self.take(), x, self.expression())
        return x

    def expression(self, least=0):
        """Parses an expression of operators with at least this precedence. Level 0 includes assignments and the conditional operator."""
        x = self.unary()
        while True:
            op = self.t.text
            level = LEVELS.get(op)
            if level is None or level < (least or 1) or self.angles and op in ('>', '>>'):
                break
            t = self.take()
            if op == '<<' and self.t.text == '<':
                refuse(t, 'a launch from a kernel')
            x = tree.Binary(t, op, x, self.expression(level + 1))
        if least:
            return x
        if self.t.text == '?':
            t, before = self.take(), self.angles
            self.angles = 0
            yes = self.commas()
            self.expect(':')
            self.angles = before
            return tree.Choice(t, x, yes, self.expression())
        if self.t.text in ASSIGNMENTS:
            t = self.take()
            return tree.Assign(t, t.text[:-1], x, self.braces() if self.t.text == '{' else self.expression())
        return x

    def unary(self):
        t = self.t
        text = t.text
        start = self.i
        if text in PREFIXES:
            self.take()
            return tree.Unary(t, text, self.unary())
        if text in ('++', '--'):
            self.take()
            return tree.Step(t, text, self.unary(), True)
        if text == '(':
            self.take()
            type = self.type_id()
            if type and self.t.text == ')':
                self.take()
                return tree.Cast(t, type, self.unary())
            if type:
                self.go(start + 1)
            x = tree.Paren(t, self.inside(self.commas, ')'))
        elif text == 'sizeof':
            return self.size()
        elif t.kind == 'num':
            x = tree.Number(self.take())
        else:
            x = self.primary()
        while True:
            text = self.t.text
            if text == '[':
                t = self.take()
                x = tree.Index(t, x, self.inside(self.commas, ']'))
            elif text == '(':
                t = self.take()
                x = tree.Call(t, x, self.listed(')'))
            elif text == '.' or text == '->':
                t = self.take()
                self.accept('template')
                x = tree.Member(t, x, text == '->', self.name())
            elif text == '++' or text == '--':
                x = tree.Step(self.take(), text, x, False)
            else:
                return x

    def inside(self, what, end):
        """Parses a bracketed part, in which > is a comparison."""
        before, self.angles = self.angles, 0
        x = what()
        self.angles = before
        self.expect(end)
        return x

    def listed(self, end):
        found, before = [], self.angles
        self.angles = 0
        while self.t.text != end:
            found.append(self.braces() if self.t.text == '{' else self.expression())
            if not self.accept(',') and self.t.text != end:
                self.misplaced()
        self.angles = before
        self.take()
        return tuple(found)

    def braces(self):
        t = self.expect('{')
        return tree.Braces(t, self.listed('}'))

    def size(self):
        t = self.take()
        if self.t.text == '(':
            start = self.i
            self.take()
            type = self.type_id()
            if type and self.accept(')'):
                return tree.SizeOf(t, type, None)
            self.go(start)
        return tree.SizeOf(t, None, self.unary())

    def primary(self):
        t = self.t
        if t.kind == 'str':
            self.take()
            while self.t.kind == 'str' and t.text[0] == '"':
                self.take()
            return tree.String(t)
        if t.text == '[':
            refuse(t, 'a lambda')
        if t.kind != 'id':
            if t.text == '::':
                refuse(t, 'a qualified name')
            self.misplaced()
        if t.text in CASTS:
            self.take()
            self.expect('<')
            self.go(self.i - 1)
            found = self.arguments()
            if len(found) != 1 or not isinstance(found[0], tree.TypeId):
                refuse(t, 'a cast to this type')
            opened = self.expect('(')
            return tree.Cast(t, found[0], tree.Paren(opened, self.inside(self.commas, ')')))
        kind = self.kind(t.text)
        if kind is not OTHER:
            type = self.type_id() if kind is not TEMPLATE else None
            if type:
                if self.t.text == '(':
                    self.take()
                    return tree.Make(t, type, self.listed(')'), False)
                if self.t.text == '{':
                    return tree.Make(t, type, self.braces().items, True)
                self.go(self.i - 1)
                refuse(self.t, 'a type in this place')
            if t.text == 'thrust' and kind is None and self.peek(2).text in COMPLEX_FUNCTIONS:
                return self.qualified()
            if kind is None and (t.text in REFUSED and not (t.text == 'this' and self.kind('this')) or
                                 t.text.startswith(OF_CUDA) and self.peek().text == '<'):
                refuse(t, REFUSED.get(t.text, 'this word'))
        return self.qualified()

    def qualified(self):
        """Returns a name, with the classes and namespaces before it."""
        at, parts = self.t, []
        while True:
            t = self.name()
            args = None
            known = self.kind(t.text)
            if self.t.text == '<' and (known in (TEMPLATE, CLASS) or parts and (parts[0][0].text == 'std' or self.templated())):
                args = self.arguments()
            parts.append((t, args))
            if self.t.text != '::':
                return tree.Name(at, tuple(parts))
            if known is None and t.text not in ('std', 'thrust') and len(parts) == 1:
                refuse(t, REFUSED.get(t.text, 'a qualified name'))
            self.take()

    def templated(self):
        """Does the `<` here start template arguments, that is, does a matching `>(` follow?"""
        depth, k = 0, self.i
        while k < self.n and self.ts[k].text not in (';', '{', '}'):
            depth += (self.ts[k].text == '<') - (self.ts[k].text == '>')
            if not depth:
                return self.ts[k + 1:k + 2] and self.ts[k + 1].text == '('
            k += 1
        return False
