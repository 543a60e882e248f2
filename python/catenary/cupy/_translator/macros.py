"""The preprocessor for CUDA C++: executes directives, expands macros, and returns the remaining tokens."""

from catenary.cupy._translator.reader import HEADERS, LONGEST, Source, Token, balanced, refuse, tokens

KNOWN = {'__cplusplus': '201703L', '__OPENCL_VERSION__': '120'}


class Macro:
    """A macro. `parameters` is None for an object-like macro. `rest` marks a variadic one."""
    __slots__ = ('parameters', 'body', 'rest')

    def __init__(self, parameters, body, rest):
        self.parameters, self.body, self.rest = parameters, body, rest


class Macros:
    """The macros of a kernel's texts, in sequence. `value` evaluates the condition of #if."""

    def __init__(self, kernel, value):
        self.kernel, self.value, self.made = kernel, value, 0
        self.known = {name: Macro(None, [Token('num', text)], False) for name, text in KNOWN.items()}

    def run(self, text, file=None):
        """Returns the preprocessed tokens of a text. `#pragma unroll` is kept."""
        ts = tokens(text, self.kernel, 1, Source(self.kernel, text, file))
        if len(self.known) == len(KNOWN) and '#' not in text:
            return balanced([t for t in ts if t.text])
        out, plain, open_ifs = [], [], []  # per #if: is its current part active, and was one before?
        for t in ts:
            if t.kind == 'directive':
                out += self.expand(plain)
                plain = []
                kept = self.directive(t, open_ifs)
                if kept:
                    out.append(kept)
            elif t.text and (not open_ifs or all(part[0] for part in open_ifs)):
                plain.append(t)
        if open_ifs:
            refuse(open_ifs[-1][2], 'a condition without #endif')
        return balanced(out + self.expand(plain))

    # ------------------------------------------------------------------ directives
    def directive(self, t, open_ifs):
        ts = [x for x in tokens(t.text[1:], self.kernel, t.line, t.source) if x.text]
        word = ts[0].text if ts else ''
        if word in ('if', 'ifdef', 'ifndef'):
            read = all(part[0] for part in open_ifs) and self.holds(t, word, ts[1:])
            open_ifs.append([read, read, t])
            return None
        if word in ('elif', 'else', 'endif'):
            if not open_ifs:
                refuse(t, 'a part of a condition without #if')
            part = open_ifs[-1]
            if word == 'endif':
                open_ifs.pop()
            else:
                part[0] = not part[1] and all(x[0] for x in open_ifs[:-1]) and (word == 'else' or self.holds(t, 'if', ts[1:]))
                part[1] = part[1] or part[0]
            return None
        if not all(part[0] for part in open_ifs) or word in ('', 'line'):
            return None
        if word == 'define':
            self.define(t, ts[1:])
        elif word == 'undef' and len(ts) == 2:
            self.known.pop(ts[1].text, None)
        elif word == 'pragma':
            return t if len(ts) > 1 and ts[1].text == 'unroll' else None
        elif word == 'include':
            name = ''.join(x.text for x in ts[1:]).strip('<>"')
            if name not in HEADERS and not name.startswith('cupy/'):
                refuse(t, 'the header')
        else:
            refuse(t, 'the directive')
        return None

    def holds(self, t, word, ts):
        if word != 'if':
            if not ts:
                refuse(t, 'the directive')
            return (ts[0].text in self.known) == (word == 'ifdef')
        asked, k = [], 0
        while k < len(ts):
            if ts[k].text == 'defined':
                name = ts[k + 2:k + 3] if ts[k + 1:k + 2] and ts[k + 1].text == '(' else ts[k + 1:k + 2]
                if not name:
                    refuse(t, 'the directive')
                k += 4 if name[0] is not ts[k + 1] else 2
                asked.append(Token('num', '1' if name[0].text in self.known else '0', t.line, '', t.source))
            else:
                asked.append(ts[k])
                k += 1
        left = [Token('num', '1' if x.text == 'true' else '0', x.line, '', x.source) if x.kind == 'id' else x
                for x in self.expand(asked)]
        found = self.value(left) if left else None
        if found is None:
            refuse(t, 'the condition')
        return bool(found)

    def define(self, t, ts):
        if not ts or ts[0].kind != 'id':
            refuse(t, 'the directive')
        name, parameters, rest = ts[0].text, None, False
        body = ts[1:]
        if body and body[0].text == '(' and not body[0].space:
            end = next((k for k, x in enumerate(body) if x.text == ')'), None)
            if end is None:
                refuse(t, 'the directive')
            words = [x.text for x in body[1:end] if x.text != ',']
            rest = words[-1:] == ['...']
            parameters = ['__VA_ARGS__' if x == '...' else x for x in words]
            body = body[end + 1:]
        self.known[name] = Macro(parameters, body, rest)

    # ------------------------------------------------------------------ expansion
    def expand(self, ts):
        if not ts or not self.known:
            return ts
        known, out, left = self.known, [], ts[::-1]
        while left:
            t = left.pop()
            macro = known.get(t.text)
            if macro is None or t.text in t.hidden or t.kind != 'id':
                out.append(t)
                continue
            if macro.parameters is None:
                made = self.filled(macro, t, {}, t)
            elif left and left[-1].text == '(':
                made = self.filled(macro, t, self.arguments(macro, t, left), t)
            else:
                out.append(t)
                continue
            self.made += len(made)
            if self.made > LONGEST:
                refuse(t, 'a macro that becomes more than %d words' % LONGEST)
            left += made[::-1]
        return out

    def arguments(self, macro, t, left):
        """Takes the arguments of a macro from `left`. Returns the tokens of each."""
        found, depth = [[]], 0
        left.pop()
        while True:
            if not left:
                refuse(t, 'a macro with an unclosed bracket')
            x = left.pop()
            if x.text == ')' and not depth:
                break
            depth += (x.text in '([{') - (x.text in ')]}') if x.kind == 'op' and len(x.text) == 1 else 0
            if x.text == ',' and not depth and not (macro.rest and len(found) == len(macro.parameters)):
                found.append([])
            else:
                found[-1].append(x)
        if macro.rest and len(found) == len(macro.parameters) - 1:
            found.append([])
        if found == [[]] and not macro.parameters:
            found = []
        if len(found) != len(macro.parameters):
            refuse(t, 'a macro of %d parameters with %d' % (len(macro.parameters), len(found)))
        return dict(zip(macro.parameters, found))

    def filled(self, macro, t, given, use):
        """Returns the macro's body with its arguments, positioned at the use."""
        hidden, out, body, k = t.hidden | {t.text}, [], macro.body, 0
        while k < len(body):
            x = body[k]
            beside = k + 1 < len(body) and body[k + 1].text == '##'
            if x.text == '#' and k + 1 < len(body) and body[k + 1].text in given and macro.parameters is not None:
                text = ''.join(y.space + y.text for y in given[body[k + 1].text]).strip()
                made = [Token('str', '"%s"' % text.replace('\\', '\\\\').replace('"', '\\"'))]
                k += 1
            elif x.text in given:
                made = given[x.text] if beside or out and out[-1].text == '##' else self.expand(list(given[x.text]))
            else:
                made = [x]
            if out and out[-1].text == '##' and x.text != '##':
                out.pop()
                last = [out.pop()] if out else []
                made = self.pasted(use, last, made)
            out += [Token(y.kind, y.text, use.line, y.space, use.source, y.hidden | hidden) if y.text != '##' else y for y in made]
            if beside:
                out.append(body[k + 1])
                k += 1
            k += 1
        return [x for x in out if x.text != '##']

    def pasted(self, use, left, right):
        if not left or not right:
            return left + right
        made = [x for x in tokens(left[0].text + right[0].text, self.kernel, use.line, use.source) if x.text]
        if len(made) != 1:
            refuse(use, 'a macro that makes %r' % (left[0].text + right[0].text))
        return made + right[1:]
