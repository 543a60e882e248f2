"""Statements and expressions of CUDA C++ in OpenCL C. `_translate` builds upon it."""

import copy
import itertools
from dataclasses import replace

from catenary.cupy import _opencl
from catenary.cupy._reader import BRACKETS, HEADERS, MEMORY, QUALIFIERS, RANK, REFUSED, RESERVED, Cursor, Reader, Value, \
    split, tokens

ASSIGNMENTS = frozenset(('=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='))
TESTS = frozenset(('==', '!=', '<', '>', '<=', '>=', '&&', '||'))
SHIFTS = frozenset(('<<', '>>'))
WEAKER_THAN_SHIFTS = TESTS | frozenset('&|^')
BINARY = TESTS | frozenset('+-*/%&|^') | SHIFTS
STARTS = frozenset(('(', '++', '--', *'-+~!*&'))
KEYWORDS = frozenset(('if', 'while', 'for', 'switch', 'else', 'do', 'case', 'default', 'break', 'continue'))
INTEGERS = frozenset(RANK[:RANK.index('half')])
IDS = {'threadIdx': 'get_local_id', 'blockIdx': 'get_group_id', 'blockDim': 'get_local_size', 'gridDim': 'get_num_groups'}
DYNAMIC = 'ct_dynamic'  # a kernel's last parameter: memory of a group, of the size that the launch says
PLAIN = {'NULL': '0', 'nullptr': '0', '__restrict__': 'restrict', '__restrict': 'restrict', 'constexpr': 'const',
         '__forceinline__': '', '__typeof__': '__typeof__'}
CALLS = {'assert': '(void)0', 'static_assert': '(void)0',
         '__syncthreads': 'barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)',
         '__threadfence': 'mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)',
         '__threadfence_block': 'mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)'}
OF_CUDA = ('atomic', 'tex', 'surf', 'curand', 'cuC', 'wmma')  # how names of its functions begin


def joined(text, values, type=None, **more):
    """What several values make together, named by the first variable among them."""
    return Value(text, type, name=next((v.name for v in values if v.name), None), **more)


class Body(Reader):
    """Translates what stands inside functions."""

    # ------------------------------------------------------------------ statements
    def text(self, ts, start=False):
        """A sequence of tokens in OpenCL C. `start`: it begins where a declaration may stand."""
        c, out = Cursor(ts), []
        while c.more:
            declared = self.declaration(c) if start and c.peek().kind == 'id' else None
            out.append(str(declared or self.expression(c)))
            last = c.peek(-1)
            start = last.text in (';', '{', '}') or last.kind == 'directive'
        return ''.join(out)

    def translated(self, text, start=True):
        """A text from inside a function."""
        top = self.read(text)
        return self.text(top.inside, start) + top.end

    def inside(self, t, start=False):
        """A bracket with what stands inside it."""
        return t.text + self.text(t.inside, start) + t.end + BRACKETS[t.text]

    def braces(self, t):
        self.scopes.append({})
        text = self.inside(t, True)
        self.scopes.pop()
        return text

    def part(self, c, *ends):
        """What stands until one of these or the end: one expression, or what a macro makes of several."""
        values = []
        while c.more and not c.at(*ends):
            values.append(self.expression(c))
        if len(values) == 1:
            return values[0]
        return joined(''.join(map(str, values)), values, points=next((v.points for v in values if v.points), ()))

    def parts(self, t):
        """The values between the commas in a bracket, and its text."""
        c, values = Cursor(t.inside), []
        while c.more:
            values.append(self.part(c, ','))
            c.accept(',')
        return values, '%s(%s%s)' % (t.space, ','.join(map(str, values)), t.end)

    def directive(self, t):
        words = t.text[1:].split(None, 2)
        if not words or words[0] in ('if', 'ifdef', 'ifndef', 'else', 'elif', 'endif', 'undef', 'error', 'line'):
            return t.text
        if words[0] == 'pragma':
            return t.text if words[1:2] == ['unroll'] else '\n' * t.text.count('\n')
        if words[0] == 'include':
            if not (words[1].strip('<>"') if len(words) > 1 else '').startswith(HEADERS):
                self.refuse(t, 'the header')
            return ''
        if words[0] != 'define':
            self.refuse(t, 'the directive')
        c = Cursor(self.nest(tokens(t.text[t.text.index('define') + 6:], self.kernel, t.line), True).inside)
        name = c.take().text
        if not c.at('(') or c.peek().space:
            at = c.i
            type = self.type(c)
            if type and not c.more:
                self.types[name] = type  # a name for a type
                return ''
            c.i = at
            head = name
        else:
            head = '%s(%s)' % (name, ''.join(x.text for x in c.take().inside))
        return '#define %s %s' % (head, self.text(c.ts[c.i:], True).strip().replace('\n', ' \\\n'))

    # ------------------------------------------------------------------ expressions
    def expression(self, c):
        """One expression, or one word that stands by itself."""
        t = c.peek()
        if c.accept(*KEYWORDS):
            group = c.take() if c.at('(') and t.text in ('if', 'while', 'for', 'switch') else None
            return Value(t.text + (group.space + self.inside(group, t.text == 'for') if group else ''), space=t.space)
        if t.text == 'return':
            return self.leave(c)
        v = self.operand(c)
        if t.text == '{' or t.kind == 'directive' or t.kind == 'op' and t.text not in STARTS:
            return v
        if c.peek().text in ASSIGNMENTS:
            t = c.take()
            return self.assign(v, t.space + t.text, self.expression(c))
        values, text, tests = [v], v.text, False
        count, joining = False, [v]  # what a shift is by has no part in the sum's type, down to a weaker operator
        while c.peek().text in BINARY:
            t = c.take()
            if t.text == '<<' and c.at('<'):
                self.refuse(t, 'a launch from a kernel')
            values.append(self.operand(c))
            text += t.space + t.text + str(values[-1])
            tests = tests or t.text in TESTS
            count = t.text in SHIFTS or count and t.text not in WEAKER_THAN_SHIFTS
            if not count:
                joining.append(values[-1])
            elif len(joining) == 1:
                joining.append(Value('', 'int'))  # as narrow integers become
        if len(values) > 1:
            pointers = [v for v in values if v.points]
            if len(pointers) == 1 and not tests:
                type, points = pointers[0].type, pointers[0].points
            else:
                type, points = 'bool' if tests else 'long' if pointers else self.join([v.type for v in joining]), ()
            v = joined(text, values, type, points=points, space=v.space)
        return self.choice(v, c) if c.at('?') else v

    def leave(self, c):
        t = c.take()
        if not self.in_operation:
            return Value(t.text, space=t.space)
        if not c.at(';'):
            self.refuse(t, 'a value that an operation returns')
        self.returns = True
        return Value('goto ct_next', space=t.space)

    def choice(self, v, c):
        """What stands before '?' becomes an integer, as OpenCL wants it."""
        t = c.take()
        yes = self.expression(c)
        colon = c.accept(':')
        no = self.expression(c) if colon else Value('')
        condition = v.text if v.type in INTEGERS and not v.points else '((%s) != 0)' % v.text
        return joined('%s%s?%s%s%s' % (condition, t.space, yes, colon.space + ':' if colon else '', no), [yes, no],
                      self.join([yes.type, no.type]), points=yes.points or no.points, space=v.space)

    def operand(self, c):
        """An operand with the signs before and the brackets and members behind it."""
        t = c.take()
        return replace(self.signed(t, c), space=t.space)

    def signed(self, t, c):
        if t.text in ('++', '--'):
            return self.step(t, self.operand(c), True)
        if t.text in ('-', '+', '~', '!'):
            v = self.operand(c)
            type = self.join([v.type, 'int']) if v.type in INTEGERS else v.type  # as narrow integers become
            return joined(t.text + str(v), [v], 'bool' if t.text == '!' else type)
        if t.text == '*':
            v = self.operand(c)
            return self.element(v, '0', '*' + str(v))
        if t.text == '&':
            return self.address(self.operand(c))
        if t.text == '(':
            cast = self.whole_type(t.inside)
            is_cast = cast and (c.peek().kind in ('id', 'num') or c.at('(', '-', '+', '!', '~', '*', '&'))
            return self.postfix(self.cast(*cast, self.operand(c)) if is_cast else self.bracket(t), c)
        if t.kind == 'id':
            return self.postfix(self.word(t, c), c)
        if t.kind == 'num':
            return self.number(t)
        if t.kind == 'directive':
            return Value(self.directive(t))
        if t.text == '{' and t.inside is not None:
            return Value(self.braces(t))
        if t.text in ('::', '['):
            self.refuse(t, 'a qualified name' if t.text == '::' else 'a lambda')
        return Value(t.text)

    def postfix(self, v, c):
        while True:
            if c.at('['):
                v = self.indexed(v, self.part(Cursor(c.take().inside)))
            elif c.at('('):
                values, text = self.parts(c.take())
                v = joined(v.text + text, values, points=next((x.points for x in values if x.points), ()))
            elif c.at('.', '->'):
                v = self.member(v, c)
            elif c.at('++', '--'):
                v = self.step(c.take(), v, False)
            else:
                return v

    def number(self, t):
        text = t.text.replace("'", '').lower()
        if not text.startswith(('0x', '0b')) and ('.' in text or 'e' in text or text.endswith('f')):
            text = text.rstrip('l')
            text += '' if text.endswith('f') or self.float64 else 'f'
            return Value(text, 'float' if text.endswith('f') else 'double')
        unsigned, long = 'u' in text, 'l' in text
        return Value(text.rstrip('lu') + 'U' * unsigned + 'L' * long, 'u' * unsigned + ('long' if long else 'int'))

    # ------------------------------------------------------------------ places in memory
    def element(self, v, index, text=None):
        """What a pointer points to. `text` says it where memory and registers hold it alike."""
        text, packed = text or '%s[%s]' % (v.text, index), None
        if v.points == ('__global',) and v.type in MEMORY:
            self.needs.add('memory_' + v.type)
            text, packed = 'ct_load_%s(%s, %s)' % (v.type, v.text, index), (v.text, index)
        return Value(text, v.type, v.points[1:], v.points[0] if v.points else v.home, packed, name=v.name)

    def indexed(self, v, index):
        array, text = v.array, str(index).strip()
        if array and index.extent is not None:
            if index.extent != array.ndim:
                self.refuse(v.name, '%d indices of an array of %d axes' % (index.extent, array.ndim))
            text = ' + '.join('(long)%s[%d] * %s_s%d' % (text, k, v.text, k) for k in range(array.ndim)) or '0'
        elif array and not array.contiguous:
            self.needs.add('at%d' % array.ndim)
            text = 'ct_at%d(%s)' % (array.ndim, ', '.join([text] + [
                '%s_%s%d' % (v.text, kind, k) for k in range(array.ndim) for kind in 'ns']))
        return self.element(v, text)

    def address(self, v, unknown='__global'):
        """A pointer to a place, into the space `unknown` where nothing is known of it."""
        points = v.points or (unknown,) if v.home is None else (v.home,) + v.points
        return joined('(%s + (%s))' % v.packed if v.packed else '&(%s)' % v.text, [v], v.type, points=points)

    def assign(self, v, sign, value):
        """v = value, or another assignment."""
        operation = sign.strip()[:-1]
        if not v.packed:
            return replace(v, text=v.text + sign + str(value))
        if operation and any(step in part for part in v.packed for step in ('++', '--')):
            self.refuse(v.name, 'an index that changes where its element is read and written')
        text = '%s %s (%s)' % (v.text, operation, str(value).strip()) if operation else str(value).strip()
        return joined('ct_store_%s(%s, %s, %s)' % (v.type, *v.packed, text), [v], v.type, space=v.space)

    def step(self, t, v, before):
        """++ and --"""
        if v.packed:
            stored = self.assign(v, t.text[0] + '=', Value('1'))
            return stored if before else replace(stored, text='(%s %s 1)' % (stored.text, '+' if t.text == '--' else '-'))
        if before:
            return replace(v, text=t.text + str(v))
        return replace(v, text=v.text + t.space + t.text, home=None)

    def cast(self, type, stars, v):
        if not stars:
            return joined('((%s)%s)' % (self.register(type), v), [v], type)
        if v.name and not v.points:
            self.refuse(v.name, 'an address in memory, which kernels of OpenCL cannot follow,')
        return joined('((%s%s)%s)' % (self.memory(type, v.target()), '*' * stars, v), [v], type, points=(v.target(),) * stars)

    def bracket(self, t):
        values, text = self.parts(t)
        last = values[-1] if values else Value('')
        last = last if len(values) == 1 else joined('', values, last.type)
        return replace(last, text=text[len(t.space):])

    # ------------------------------------------------------------------ words
    def word(self, t, c):
        """A name or a word of the language."""
        name = t.text
        v = self.find(name)
        if v:
            v = replace(v, name=t)
            return self.element(v, '0', '(*%s)' % v.text) if v.ref else v
        if name in ('static_cast', 'reinterpret_cast', 'const_cast') and c.at('<'):
            inside = self.angle(c)
            type = self.whole_type(inside)
            if not type:
                self.refuse(inside[0], 'a cast to this type')
            return self.cast(*type, self.bracket(c.take()))
        c.i -= 1
        type = self.type(c)
        if type:
            if c.at('('):
                return self.cast(type, 0, self.bracket(c.take()))
            stars = self.stars(c)[0]
            return Value(self.memory(type, '__global') + '*' if stars else self.register(type), type)
        c.take()
        if name in self.functions and c.at('(', '<'):
            return self.call(t, c)
        if name == 'sizeof' and c.at('('):
            return self.size(t, c.take())
        if name == 'std' and c.at('::') and c.peek(1).text in _opencl.MATH:
            c.take()
            return self.word(c.take(), c)
        if name in IDS and c.at('.') and c.peek(1).text in ('x', 'y', 'z'):
            c.take()
            return Value('((uint)%s(%d))' % (IDS[name], 'xyz'.index(c.take().text)), 'uint')
        return self.known(t, c)

    def size(self, t, of):
        """sizeof of a type or a value, in memory: a 16-bit float is wider in a register."""
        whole = self.whole_type(of.inside)
        if whole:
            return Value('2ul' if whole == ('half', 0) else 'sizeof(%s%s)' % (self.register(whole[0]), '*' * whole[1]), 'ulong')
        v = self.bracket(of)
        if v.type == 'half':
            self.refuse(t, 'the size of 16-bit floats, which are wider within a kernel,')
        return joined('sizeof' + v.text, [v], 'ulong')

    def known(self, t, c):
        """A word that stands for something of CUDA's."""
        name, call = t.text, c.at('(')
        if name in PLAIN:
            return Value(PLAIN[name])
        if call and name in CALLS:
            c.take()
            return Value(CALLS[name])
        if call and name == '__ldg':
            v = self.parts(c.take())[0][0]
            return self.element(v, '0', '(*%s)' % v)
        if call and (name in _opencl.MATH or name in _opencl.ATOMICS):
            values, text = self.parts(c.take())
            self.needs.add(name)
            type = self.join([v.type for v in values])
            if name in _opencl.ATOMICS:
                type = values[0].type if values else None
                if type and type not in _opencl.ATOMICS[name]:
                    self.refuse(t, 'an atomic operation on %s' % type)
            elif name not in ('min', 'max', 'abs') and type in INTEGERS:
                type = 'double' if self.float64 else 'float'
            return joined('ct_' + name + text, values, type)
        if name in REFUSED or name.startswith('__') or c.at('(', '<') and name.startswith(OF_CUDA):
            self.refuse(t, REFUSED.get(name, 'this word'))
        if name == 'template':
            self.refuse(t, 'a template here')
        if name in self.classes:
            self.refuse(t, 'a class')
        if name.removeprefix('make_') in RESERVED and name[-1].isdigit():
            self.refuse(t, "a vector of CUDA's")
        return Value('u_' + name if name in RESERVED else name)

    def member(self, v, c):
        """x.size(), x.shape()[k], x.strides()[k], x.ndim of an array argument, _ind.size(), _ind.get(); others as they are."""
        dot, t = c.take(), c.take()
        if v.members is None:
            return joined(v.text + dot.space + dot.text + t.space + t.text, [v])
        found = v.members.get(t.text)
        if not found or t.text != 'ndim' and not c.accept('('):
            self.refuse(t if v.array else v.name, 'this member')
        if isinstance(found, Value):
            self.uses_index = self.uses_index or found.extent is not None
            return found
        if not c.at('['):
            self.refuse(t, 'a pointer to extents')
        inside = c.take().inside
        index = self.text(inside).strip()
        if not index.isdigit():
            return Value('(%s0L)' % ''.join('(%s) == %d ? %s : ' % (index, k, text) for k, text in enumerate(found)), 'long')
        if int(index) >= len(found):
            self.refuse(inside[0], 'an axis that an array of %d axes lacks' % len(found))
        return Value(found[int(index)], 'long')

    # ------------------------------------------------------------------ declarations
    def declaration(self, c):
        """The declaration to which c has come; None where there is none."""
        start, space = c.i, c.peek().space
        while c.at('__shared__', '__constant__', 'extern', *QUALIFIERS):
            c.take()
        if c.at('auto'):
            auto, name, equals = c.take(), c.take(), c.take()
            if equals.text != '=':
                self.refuse(auto, 'auto in this form')
            v = self.part(c, ';')
            own = self.declare(name.text, Value('', v.type, v.points, ''))
            return Value('__typeof__(%s) %s = %s' % (v.text, own, v.text), space=space)
        type = self.type(c)
        at = c.i
        self.stars(c)
        if type is None or c.peek().kind != 'id':  # a product of a name that is a type, too, is no declaration
            c.i = start
            return None
        c.i = at
        words = {t.text for t in c.ts[start:at]}
        const = 'const ' * bool(words & {'const', 'constexpr'})
        shared = '__shared__' in words
        if shared and (not self.in_kernel or len(self.scopes) > 3):
            self.refuse(c.ts[start], '__shared__ memory of an inner block or a helper')
        made = []
        while not made or c.accept(','):
            made.append(self.declarator(c, type, const, shared))
        return Value('; '.join('%s %s' % (base, ', '.join(text for _, text in group))
                               for base, group in itertools.groupby(made, lambda pair: pair[0])), space=space)

    def declarator(self, c, type, const, shared):
        """One of the names that a declaration declares: (what stands before it and others, itself with its value)."""
        space, home = c.peek().space, '__local' if shared else ''
        stars, reference = self.stars(c)
        name, sizes = c.take(), []
        while c.at('['):
            sizes.append(self.text(c.take().inside))
        c.accept('=')
        extent = None
        if sizes:
            count = str(len(split(c.peek().inside))) if sizes == [''] and c.at('{') else sizes[0] if len(sizes) == 1 else ''
            extent = int(count) if count.isdigit() else 0
            if shared and sizes == ['']:
                self.takes_memory = True
                memory = '__local %s' % self.register(type)
                return memory, '%s* %s = (%s*)%s' % (space, self.declare(name.text, Value('', type, (home,), home)), memory, DYNAMIC)
        rest = c.ts[c.i:]
        v = self.part(c, ',', ';')
        value = v.text and ' = ' + str(v).strip()
        if stars > 1 or stars and reference:
            self.refuse(name, 'a pointer to pointers')
        if reference and not (const and v.text and v.home is None):
            v = self.address(v, unknown='')
            value, points = value and ' = ' + v.text, v.points[:1]
        elif stars:
            points = (v.target() if v.text else self.assigned(name, rest),)
        else:
            reference, points = False, ()
        own = self.declare(name.text, Value('', type, (home,) * len(sizes) + points, home, extent=extent, ref=reference))
        text = space + '*' * len(points) + own + ''.join('[%s]' % size for size in sizes) + value
        return (const + self.memory(type, points[0]) if points else '__local ' + self.register(type) if shared else
                const + self.register(type)), text

    def assigned(self, name, ts):
        """Where a pointer points to that gets its value later."""
        def look(ts):
            for k, t in enumerate(ts):
                if t.inside:
                    yield from look(t.inside)
                if t.text == name.text and ts[k + 1:k + 2] and ts[k + 1].text == '=':
                    yield Cursor(ts[k + 2:])
        c = next(look(ts), None)
        if c is None:
            self.refuse(name, 'a pointer of which nothing says where it points to')
        looker = copy.copy(self)
        looker.wanted = {}
        return looker.part(c, ',', ';').target()
