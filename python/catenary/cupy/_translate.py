"""CuPy's kernels, written in CUDA C++, as OpenCL C 1.2.

A text becomes tokens (`_reader`), these become expressions that know their types and where they lie (`_body`), and each that
the two languages spell differently is written anew; what is not known is refused by kernel, line and token
(`Untranslatable`), never guessed. Registers hold 16-bit floats as float: values are rounded where they are stored. Line breaks
stay where they were, so that a compiler's line is the user's.

`elementwise`, `reduction` and `raw` are the ways in; `_opencl` has the texts of functions that are asked for.
"""

import copy
from dataclasses import replace

from catenary.cupy import _opencl
from catenary.cupy._around import STAGES, Parameter, argument_of, entry, instance_of, numbers
from catenary.cupy._body import DYNAMIC, Body
from catenary.cupy._reader import DTYPES, MEMORY, QUALIFIERS, RANK, REGISTER, RESERVED, SPECIFIERS, Cursor, Function, \
    Token, Untranslatable, Value, split

__all__ = ['Parameter', 'Untranslatable', 'elementwise', 'raw', 'reduction']
LETTERS = {'__global': 'g', '__local': 'l', '__constant': 'c', '': 'p'}


class Translator(Body):
    """Translates the texts of one kernel."""

    # ------------------------------------------------------------------ functions
    def top(self, text):
        """Reads a text outside functions: helpers are kept until they are called. What is left of it in OpenCL C."""
        top = self.read(text)
        return self.outside(top.inside) + top.end

    def outside(self, ts):
        c, out, template = Cursor(ts), [], []
        while c.more:
            t = c.peek()
            if t.kind == 'directive':
                out.append(t.space + self.directive(c.take()))
            elif c.accept(';'):
                out.append(t.space)
            elif t.text == 'extern' and c.peek(1).text == '"C"' and c.peek(2).text == '{':
                c.i += 3
                out.append(self.outside(c.peek(-1).inside))
            elif t.text == 'template':
                c.take()
                template = split(self.angle(c))
                if c.at('struct', 'class'):  # refused where it is used
                    self.classes.add(c.peek(1).text)
                    lines = ''
                    while c.more and not c.at(';'):
                        lines += '\n' * line_breaks(c.take())
                    out.append(lines)
                    template = []
            else:
                at = c.i
                while c.more and not c.at(';', '{'):
                    c.take()
                if c.at('{') and c.peek(-1).text == '(':
                    self.function(ts[at:c.i - 1], c.peek(-1).inside, c.take(), template)
                    out.append(''.join('\n' * line_breaks(x) for x in ts[at:c.i]))
                    template = []
                    continue
                while c.more and not c.at(';'):
                    c.take()
                out.append(self.constant(ts[at:c.i]))
        return ''.join(out)

    def constant(self, ts):
        """A declaration outside functions."""
        first, texts = ts[0], {t.text for t in ts}
        lines = first.space + '\n' * (sum(map(line_breaks, ts)) - first.space.count('\n'))
        if first.text == 'typedef':
            type = self.whole_type(ts[1:-1])
            if not type or type[1]:
                self.refuse(first, 'a name for this type')
            self.types[ts[-1].text] = type[0]
            return lines
        if first.text in ('struct', 'enum', 'union', 'class', 'using', 'namespace'):
            self.refuse(first, 'a declaration that begins so')
        if '=' not in texts:
            if '(' in texts:
                return lines  # a function that is declared
            self.refuse(first, 'memory outside functions that has no value')
        c = Cursor(ts)
        while c.at('__constant__', *SPECIFIERS, *QUALIFIERS):
            c.take()
        type = self.type(c)
        if type is None or not texts & {'const', 'constexpr', '__constant__'}:
            self.refuse(first, 'a variable outside functions')
        text = self.declarator(c, type, '', False)[1]
        value = self.scopes[-1][next(reversed(self.scopes[-1]))]
        if value.extent is None and type not in ('float', 'double', 'half'):
            return '%senum { %s };' % (first.space, text.strip())  # may be an extent
        value.points = ('__constant',) * len(value.points)
        return '%s__constant %s %s;' % (first.space, self.register(type), text)

    def function(self, head, parameters, body, template):
        name = head[-1].text
        if any(t.text in ('operator', '::') for t in head):
            self.refuse(head[-1], 'a function of a class')
        kernel = any(t.text == '__global__' for t in head)
        numbers = {}
        for part in template:
            if len(part) == 2 and part[0].text in ('typename', 'class'):
                continue
            type = self.whole_type(part[:-1])
            if not kernel or not type or type[1] or type[0] in ('float', 'double', 'half'):
                self.refuse(part[0] if part else head[-1], 'a parameter of a template that is no type')
            numbers[part[-1].text] = type[0]
        template = [part[-1].text for part in template]
        words = [t for t in head[:-1] if t.text not in SPECIFIERS and t.text not in ('__launch_bounds__', '(')]
        parameters = [] if [t.text for t in parameters] == ['void'] else split(parameters)
        self.functions.setdefault(name, []).append(Function(name, template, words, parameters, body, kernel, self.lines, numbers))

    def call(self, t, c):
        name, at, explicit = t.text, c.i, []
        if c.at('<'):
            explicit = [self.whole_type(part) for part in split(self.angle(c))]
            if None in explicit or not c.at('('):
                c.i = at
                return Value(name)
        arguments, _ = self.parts(c.take())
        fitting = [f for f in self.functions[name] if len(f.parameters) == len(arguments)]
        if not fitting:
            self.refuse(t, 'a call with %d arguments of a function that takes another number' % len(arguments))
        spaces, texts = [], []
        for v, parameter in zip(arguments, fitting[0].parameters):
            marks = {x.text for x in parameter}
            if '&' in marks and 'const' not in marks:
                v = self.address(v, unknown='')
            elif not marks & {'*', '['}:
                v = replace(v, points=(None,))
            spaces.append(v.target())
            texts.append(str(v))
        chosen = [(f, tuple(spaces), types) for f in fitting for types in self.deduce(f, arguments, [x[0] for x in explicit])]
        suffix = ''.join(LETTERS[space] for space in spaces if space is not None)
        if len(chosen) == 1 and chosen[0][2]:
            suffix += '_' + '_'.join(chosen[0][2])
        own = 'u_%s%s' % (name, '_' + suffix if suffix else '')
        for key in chosen:
            self.wanted.setdefault((own,) + key, None)
        type = self.join([v.type for v in arguments]) if fitting[0].template else self.type(Cursor(fitting[0].result))
        return Value('%s(%s)' % (own, ', '.join(texts)), type, name=next((v.name for v in arguments if v.name), None))

    def deduce(self, function, arguments, explicit):
        """The types that a template is instantiated for: those of the call, or all that the kernel has."""
        if not function.template:
            return [()]
        found = dict(zip(function.template, explicit))
        for parameter, argument in zip(function.parameters, arguments):
            for t in parameter:
                if t.text in function.template and t.text not in found:
                    found[t.text] = argument.type
        found = [found.get(name) for name in function.template]
        if None not in found:
            return [tuple(found)]
        if len(found) > 1:
            return [tuple('float' if kind is None else self.register(kind) for kind in found)]
        kinds = {self.register(kind) for kind in self.types.values()} | {'int', 'float'}
        return [(kind,) for kind in sorted(kinds) if kind in RANK]

    def helpers(self):
        """The functions that were called, and those that they call: declared first, then defined."""
        heads, bodies, done = [], [], set()
        while len(done) < len(self.wanted):
            for key in [k for k in self.wanted if k not in done]:
                done.add(key)
                head, body = self.instance(*key)
                heads.append(head + ';\n')
                bodies.append('%s %s\n' % (head, body))
        return ''.join(heads) + ''.join(bodies)

    def instance(self, name, function, spaces, types):
        t = copy.copy(self)
        t.types = dict(self.types, **dict(zip(function.template, types)))
        t.scopes = [{key: v for key, v in self.scopes[0].items() if key not in function.template}, {}]
        t.in_operation, t.in_kernel, t.lines = False, False, function.lines
        parameters = [t.parameter(part, space) for part, space in zip(function.parameters, spaces)]
        result = t.whole_type(function.result)
        if not result or result[1] or any(x.text == '&' for x in function.result):
            t.refuse(function.result[0] if function.result else Token('id', function.name, 1), 'this result')
        head = 'static inline __attribute__((overloadable)) %s %s(%s)' % (t.register(result[0]), name, ', '.join(parameters))
        return head, t.inside(function.body, True)

    def parameter(self, part, space):
        """A parameter, which points into `space` if that is not None."""
        c = Cursor(part)
        type = self.type(c)
        if type is None:
            self.refuse(part[0], 'a parameter of this type')
        stars, reference = self.stars(c)
        name = c.take() if c.peek().kind == 'id' else Token('id', '_unused%d' % id(part), part[0].line)
        if stars + reference > 1:
            self.refuse(name, 'a pointer to pointers')
        if space is None:
            return '%s %s' % (self.register(type), self.declare(name.text, Value('', type, home='')))
        own = self.declare(name.text, Value('', type, (space,), '', ref=reference))
        const = 'const ' if any(t.text == 'const' for t in part) else ''
        return '%s%s* %s' % (const, self.memory(type, space), own)


def line_breaks(t):
    """The line breaks in a token's place."""
    return t.space.count('\n') + (sum(map(line_breaks, t.inside)) + t.end.count('\n') if t.inside else 0)


# ---------------------------------------------------------------------- the ways in
def _bind(t, parameters):
    """Declares the parameters of a kernel, and gives (its own parameters, what is done first)."""
    takes, first = [], []
    for p in parameters:
        type, own = REGISTER[p.dtype], 'u_' + p.name if p.name in RESERVED else p.name
        memory = t.memory(type, '__global')
        if p.kind == 'scalar':
            memory = 'uchar' if type == 'bool' else t.register(type)
            first.append('const %s %s = %s_v%s;' % (t.register(type), own, own, ' != 0' * (type == 'bool')))
        elif p.kind == 'raw':
            first.append('%s* %s = %s_p + %s_at;' % (memory, own, own, own))
        raw = p.kind == 'raw'
        t.declare(p.name, Value('', type, ('__global',) * raw, '', array=p if raw else None,
                                members=_members(p, own) if raw else None), own)
        takes += p.takes(own, memory, 'long')
    return takes, '\n'.join(first)


def _members(p, own):
    extents, strides = (['%s_%s%d' % (own, number, k) for k in range(p.ndim)] for number in 'ns')
    return {'ndim': Value(str(p.ndim), 'int'), 'size': Value('(%s)' % (' * '.join(extents) or '1L'), 'long'),
            'shape': extents, 'strides': ['(%s * %d)' % (stride, _opencl.SIZES[p.dtype]) for stride in strides]}


def _index(ndim):
    """The scope of an operation: the index of the element."""
    return {'_ind': Value('_ind', members={
        'size': Value('_size', 'long'), 'get': Value('_index', 'long', ('',), extent=ndim)})}


def _head(t, name, types, before, group, takes):
    """What stands before a kernel's body: all that has been asked for, and helpers."""
    helpers, size = t.helpers(), '__attribute__((reqd_work_group_size(%d, 1, 1))) ' % group if group else ''
    typedefs = ''.join('typedef %s %s;\n' % (t.register(REGISTER[dtype]), name) for name, dtype in types.items())
    return '%s%s%s\n%s__kernel %svoid %s(%s) {\n' % (
        _opencl.header(t.needs, t.float64), typedefs, before, helpers, size, entry(name), ', '.join(takes))


def _loop(index, size, group):
    """A loop over `size` units: of a work-item, or, in groups of one, of a range that lies together."""
    if group == 1:
        return ('for (long {0} = {1} * get_group_id(0) / get_num_groups(0), _end = {1} * (get_group_id(0) + 1) / '
                'get_num_groups(0); {0} < _end; ++{0})').format(index, size)
    return 'for (long {0} = get_global_id(0); {0} < {1}; {0} += get_global_size(0))'.format(index, size)


def _elements(t, parameters, ndim, place='i'):
    """What reads the elements at `place` into variables, and what writes those of outputs back."""
    loads, stores = [], []
    if t.uses_index or any(not p.contiguous for p in parameters if p.kind == 'element'):
        loads.append('long _index[%d]; { long _rest = %s;' % (max(ndim, 1), place) + ''.join(
            ' _index[%d] = _rest %% _n%d; _rest /= _n%d;' % (k, k, k) for k in reversed(range(ndim))) + ' }')
    for p in parameters:
        if p.kind != 'element':
            continue
        own = t.find(p.name).text
        v = t.element(Value(own + '_p', REGISTER[p.dtype], ('__global',)), p.at(own, place, '_index'))
        loads.append('%s%s %s = %s;' % ('' if p.out else 'const ', t.register(v.type), own, v))
        if p.out:
            stores.append('%s;' % t.assign(v, ' =', Value(own, space=' ')))
    return '\n'.join(loads), '\n'.join(stores)


def elementwise(name, parameters, operation, types, *, preamble='', loop_prep='', after_loop='', ndim=1, float64=True,
                group=64):
    """The text of a kernel `name` that does `operation` for each element. `types`: placeholders and their dtypes; `ndim`:
    axes of what the elements are of. After the arguments of its parameters (see Parameter) the kernel takes the ndim
    extents and the number of elements, all long. Groups have `group` work-items; 1 means a loop over a range each.
    Throws Untranslatable."""
    t = Translator(name, types, float64)
    before = t.top(preamble)
    t.scopes.append({})
    takes, first = _bind(t, parameters)
    t.declare('i', Value('', 'long', home=''))
    if t.find('n') is None:  # a parameter may have this name
        t.declare('n', Value('', 'long', home=''), '_size')
    preparation = t.translated(loop_prep)
    t.in_operation = True
    t.scopes.append(_index(ndim))
    body = t.translated(operation)
    t.scopes.pop()
    t.in_operation = False
    after = t.translated(after_loop)
    loads, stores = _elements(t, parameters, ndim)
    takes += numbers('long', ndim, '_size')
    # the loop around the operation is left by `continue`, too
    text = '%s\n%s;\n%s {\n%s\ndo {\n#line 1 "%s"\n%s;\n} while (0);\n%s%s\n}\n%s;\n}\n'
    return _head(t, name, types, before, group, takes) + text % (
        first, preparation, _loop('i', '_size', group), loads, name, body, 'ct_next:;\n' if t.returns else '', stores, after)


def reduction(name, parameters, map_expr, reduce_expr, post_map_expr, identity, types, *, preamble='', reduce_type=None,
              ndim=1, float64=True, group=64):
    """The text of a kernel `name` that reduces. `parameters`: inputs, whose elements have the axes that stay before those
    that go, then the output (an element, contiguous). After their arguments the kernel takes a buffer of partial results
    of `reduce_type` (bool as bytes, 16-bit floats as floats) and its offset, the ndim extents, the numbers of outputs, of
    elements of each (rows) and of chunks, and the stage: 0 does all of it, 1 reduces chunks into partial results
    [chunk, output], 2 those into outputs. Throws Untranslatable."""
    t = Translator(name, types, float64)
    before = t.top(preamble)
    t.scopes.append({})
    takes, first = _bind(t, parameters)
    kind = REGISTER[reduce_type or parameters[-1].dtype]
    for extra, own in (('_j', 'i'), ('i', 'i'), ('_i', '_out'), ('n', '_size')):
        if t.find(extra) is None:
            t.declare(extra, Value('', 'long', home=''), own)
    texts = {}
    a, b = ({name: Value(name, kind, home='')} for name in 'ab')
    for key, text, scope in (('map', map_expr, _index(ndim)), ('reduce', reduce_expr, dict(a, **b)), ('post', post_map_expr, a),
                             ('identity', identity or '0', {})):
        t.scopes.append(scope)
        texts[key] = '\n#line 1 "%s_%s"\n%s' % (name, key, t.translated(text, key == 'post'))
        t.scopes.pop()
    loads = _elements(t, parameters[:-1], ndim)[0]
    read, write = _elements(t, parameters[-1:], 0, '_out')
    takes += ['__global %s* _partial_p' % ('uchar' if kind == 'bool' else t.register(kind)), 'long _partial_at']
    takes += numbers('long', ndim, '_outs', '_rows', '_chunks', '_stage')
    return _head(t, name, types, before, group, takes) + STAGES % dict(
        texts, long='long', kind=t.register(kind), first=first, loop=_loop('_unit', '_units', group), loads=loads, read=read,
        write=write)


def raw(code, name, *, float64=True):
    """The text of a whole kernel `name` in `code`. A pointer among its parameters becomes two of the kernel's: the buffer
    and the offset of the first element (long). What it declares `extern __shared__` is one more, the last one. Gives the text;
    for each parameter 'pointer' or the dtype in which it takes a number; and whether there is that last one. `name<float, 4>` is
    what a template makes of a type and a number. Throws Untranslatable, ValueError where the text has no such kernel."""
    t = Translator(name, {}, float64)
    base, arguments = instance_of(t, name)
    before = t.top(code)
    kernels = {f.name: f for group in t.functions.values() for f in group if f.is_kernel}
    if base not in kernels:
        raise ValueError('RawKernel: the text has no kernel %r; it has %s' % (
            base, ', '.join(sorted(kernels)) or 'none (a kernel begins with extern "C" __global__)'))
    function = kernels[base]
    t.lines, t.in_kernel = function.lines, True
    if len(arguments) != len(function.template):
        t.refuse(Token('id', name, function.body.line), 'a kernel that is a template of %d parameters, called for %d of them,' % (
            len(function.template), len(arguments)))
    t.scopes.append({})
    for parameter, given in zip(function.template, arguments):
        type, number = argument_of(t, name, parameter, function.numbers.get(parameter), given)
        if number is None:
            t.types[parameter] = type
        else:
            t.declare(parameter, Value('', type), number)
    takes, first, kinds = [], [], []
    for part in function.parameters:
        stars = any(x.text == '*' for x in part)
        if any(x.text == '&' for x in part):
            t.refuse(part[0], 'a reference that a kernel takes')
        text = t.parameter(part, '__global' if stars else None)
        var = t.scopes[-1][next(reversed(t.scopes[-1]))]
        kinds.append('pointer' if stars else DTYPES[var.type])
        if stars:
            kind = 'uchar' if var.type == 'void' else MEMORY.get(var.type, var.type)
            takes += ['__global %s* %s_p' % (kind, var.text), 'long %s_at' % var.text]
            first.append('%s = %s_p + %s_at;' % (text, var.text, var.text))
        elif var.type in MEMORY:
            takes.append('%s %s_v' % (MEMORY[var.type], var.text))
            first.append('const %s = %s;' % (text, '%s_v != 0' % var.text if var.type == 'bool' else
                                             'vload_half(0, (const __private half*)&%s_v)' % var.text))
        else:
            takes.append(text)
    inside = function.body.inside
    line = inside[0].line - inside[0].space.count('\n') if inside else 1
    body = t.text(inside, True)
    if t.takes_memory:
        takes.append('__local ulong4* %s' % DYNAMIC)
    return _head(t, name, {}, before, None, takes) + '%s\n#line %d "%s"\n%s\n}\n' % (
        '\n'.join(first), line, name, body), kinds, t.takes_memory
