"""CuPy's kernels, written in CUDA C++, as OpenCL C 1.2.

A text becomes tokens, and each construct that the two languages spell differently is rewritten where it stands; what is
not known is refused by kernel, line and token (`Untranslatable`), never guessed. Registers hold 16-bit floats as float:
values are rounded where they are stored. Line breaks stay where they were, so that a compiler's line is the user's.

`elementwise`, `reduction` and `raw` are the ways in; `_opencl` has the texts of functions that are asked for.
"""

from catenary.cupy import _opencl
from catenary.cupy._body import Body
from catenary.cupy._reader import DTYPES, MEMORY, QUALIFIERS, RANK, REGISTER, RESERVED, SPECIFIERS, Function, Parameter, \
    Token, Untranslatable, Var, entry

__all__ = ['Parameter', 'Untranslatable', 'elementwise', 'raw', 'reduction']


class Translator(Body):
    """Translates the texts of one kernel."""

    # ------------------------------------------------------------------ functions
    def top(self, text):
        """Reads a text outside functions: helpers are kept until they are called. What is left of it in OpenCL C."""
        ts, out, i, template = self.read(text), [], 0, None
        while i < len(ts):
            t = ts[i]
            if t.kind == 'directive' or t.text in (';', ''):
                out.append(t.space + (self.directive(t) if t.kind == 'directive' else ''))
                i += 1
                continue
            if t.text == 'extern' and self.is_op(ts, i + 1, '"C"') and self.is_op(ts, i + 2, '{'):
                end = self.close(ts, i + 2)
                ts = ts[:i] + ts[i + 3:end] + ts[end + 1:]
                continue
            if t.text == 'template':
                end = self.close(ts, i + 1)
                template = []
                for part in self.split(ts[i + 2:end]):
                    if len(part) != 2 or part[0].text not in ('typename', 'class'):
                        self.refuse(part[0] if part else t, 'a parameter of a template that is no type')
                    template.append(part[1].text)
                i = end + 1
                continue
            j, braces = i, None
            while j < len(ts) and ts[j].text != ';':
                if ts[j].text == '(':
                    braces = j
                    j = self.close(ts, j)
                elif ts[j].text == '{':
                    break
                j += 1
            if j < len(ts) and ts[j].text == '{' and ts[j - 1].text == ')':
                end = self.close(ts, j)
                self.function(ts[i:braces], ts[braces + 1:j - 1], ts[j + 1:end], template)
                out.append(''.join('\n' * x.space.count('\n') for x in ts[i:end + 1]))
                i, template = end + 1, None
                continue
            if self.is_op(ts, j, '{'):
                j = self.close(ts, j) + 1
            while j < len(ts) and ts[j].text != ';':
                j += 1
            out.append(self.outside(ts[i:j], braces))
            i = j + 1
        return ''.join(out)

    def outside(self, ts, braces):
        """A declaration outside functions."""
        lines = ts[0].space + '\n' * sum(t.space.count('\n') for t in ts[1:])
        if ts[0].text == 'typedef':
            type, j = self.type_at(ts, 1)
            if type is None or j != len(ts) - 1:
                self.refuse(ts[0], 'a name for this type')
            self.types[ts[-1].text] = type
            return lines
        if ts[0].text in ('struct', 'enum', 'union', 'class', 'using', 'namespace'):
            self.refuse(ts[0], 'a declaration that begins so')
        if braces is not None and not any(t.text == '=' for t in ts):
            return lines  # a function that is declared
        if not any(t.text == '=' for t in ts):
            self.refuse(ts[0], 'memory outside functions that has no value')
        type, j = self.type_at(ts, next((k for k in range(len(ts)) if ts[k].text not in SPECIFIERS | QUALIFIERS | {
            '__constant__'}), 0))
        if type is None or not any(t.text in ('const', 'constexpr', '__constant__') for t in ts):
            self.refuse(ts[0], 'a variable outside functions')
        text = self.declarator(ts[j:], type, '', False, [])[0]
        name = next(t.text for t in ts[j:] if t.kind == 'id')
        var = self.find(name)
        var.space = '__constant' if var.kind == 'array' else ''
        if var.kind == 'value' and type not in ('float', 'double', 'half'):
            return '%senum { %s };' % (ts[0].space, text.strip())  # may be an extent
        return '%s__constant %s %s;' % (ts[0].space, self.register(type), text)

    def function(self, head, parameters, body, template):
        name = head[-1].text
        words = [t for t in head[:-1] if t.text not in SPECIFIERS and not t.text.startswith('__launch_bounds__')]
        while words and words[0].text in ('(', ')') or (words and words[0].kind == 'num'):
            words.pop(0)
        if any(t.text in ('operator', '::') for t in head):
            self.refuse(head[-1], 'a function of a class')
        kernel = any(t.text == '__global__' for t in head)
        if kernel and template:
            self.refuse(head[-1], 'a kernel that is a template')
        made = Function(name, template or [], words, self.split([t for t in parameters if t.text != 'void' or len(
            parameters) > 1]), body)
        made.is_kernel, made.lines = kernel, self.lines
        self.functions.setdefault(name, []).append(made)

    def call(self, ts, i):
        name, j, explicit = ts[i].text, i + 1, []
        if ts[j].text == '<':
            end = self.close(ts, j)
            explicit = [self.type_at(part, 0)[0] for part in self.split(ts[j + 1:end])]
            j = end + 1
            if None in explicit or not self.is_op(ts, j, '('):
                return name, i + 1
        end = self.close(ts, j)
        arguments = self.split(ts[j + 1:end])
        fitting = [f for f in self.functions[name] if len(f.parameters) == len(arguments)]
        if not fitting:
            self.refuse(ts[i], 'a call with %d arguments of a function that takes another number' % len(arguments))
        spaces, texts = [], []
        for argument, parameter in zip(arguments, fitting[0].parameters):
            marks = [t.text for t in parameter]
            if '&' in marks and 'const' not in marks or '&' in marks and self.packed_element(argument):
                spaces.append(self.space_of(argument) if any(v is not None and v.kind != 'value' for v in (
                    self.find(x.text) for x in argument[:1])) else '')
                if self.packed_element(argument):
                    texts.append(self.text([Token('op', '&', ts[i].line)] + argument))
                else:
                    texts.append('&(%s)' % self.text(argument).strip())
            else:
                spaces.append(self.space_of(argument) if '*' in marks or '[' in marks else None)
                texts.append(self.text(argument).strip())
        chosen = []
        for function in fitting:
            for types in self.deduce(function, arguments, explicit):
                chosen.append((function, tuple(spaces), types))
        suffix = ''.join({'__global': 'g', '__local': 'l', '__constant': 'c', '': 'p'}[s] for s in spaces if s is not None)
        if len(chosen) == 1 and chosen[0][2]:
            suffix += '_' + '_'.join(chosen[0][2])
        own = 'u_%s%s' % (name, '_' + suffix if suffix else '')
        for key in chosen:
            self.wanted.setdefault((own,) + key, None)
        return '%s(%s)' % (own, ', '.join(texts)), end + 1

    def deduce(self, function, arguments, explicit):
        """The types that a template is instantiated for: those of the call, or all that the kernel has."""
        if not function.template:
            return [()]
        found = dict(zip(function.template, explicit))
        for parameter, argument in zip(function.parameters, arguments):
            for t in parameter:
                if t.text in function.template and t.text not in found:
                    found[t.text] = self.type_of(argument)
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
                bodies.append(head + ' {%s}\n' % body)
        return ''.join(heads) + ''.join(bodies)

    def instance(self, name, function, spaces, types):
        kept = self.types, self.scopes, self.in_operation, self.in_kernel, self.lines
        self.types = dict(self.types, **dict(zip(function.template, types)))
        self.scopes = [self.scopes[0], {}]
        self.in_operation = self.in_kernel = False
        self.lines = function.lines
        for template in function.template:
            self.scopes[0].pop(template, None)
        parameters = []
        for part, space in zip(function.parameters, spaces):
            parameters.append(self.parameter(part, space))
        type, _ = self.type_at(function.result, 0)
        if type is None or any(t.text in ('*', '&') for t in function.result):
            self.refuse(function.result[0] if function.result else Token('id', function.name, 1), 'this result')
        head = 'static inline __attribute__((overloadable)) %s %s(%s)' % (self.register(type), name, ', '.join(parameters))
        body = self.text(function.body, True)
        self.types, self.scopes, self.in_operation, self.in_kernel, self.lines = kept
        return head, body

    def parameter(self, part, space):
        type, j = self.type_at(part, 0)
        if type is None:
            self.refuse(part[0], 'a parameter of this type')
        stars, k = self.stars(part, j)
        names = [t for t in part[k:] if t.kind == 'id' and t.text not in QUALIFIERS]
        name = names[0] if names else Token('id', '_unused%d' % id(part), part[0].line)
        reference = any(t.text == '&' for t in part[j:k])
        if stars > 1:
            self.refuse(name, 'a pointer to pointers')
        if space is None:
            return '%s %s' % (self.register(type), self.declare(name.text, Var(type)))
        own = self.declare(name.text, Var(type, 'ref' if reference else 'pointer', space))
        const = 'const ' if any(t.text == 'const' for t in part) else ''
        return '%s%s %s' % (const, self.pointer(type, space), own)


# ---------------------------------------------------------------------- the ways in
def _bind(translator, parameters):
    """Declares the parameters of a kernel, and gives (its own parameters, what is done first)."""
    takes, first = [], []
    for p in parameters:
        type = REGISTER[p.dtype]
        own = 'u_' + p.name if p.name in RESERVED else p.name
        if p.kind == 'scalar':
            translator.declare(p.name, Var(type, name=own))
            takes.append('%s %s' % (MEMORY.get(type, type) if type == 'bool' else translator.register(type),
                                    own + '_v' * (type == 'bool')))
            if type == 'bool':
                first.append('const bool %s = %s_v != 0;' % (own, own))
            continue
        takes += ['%s %s_p' % (translator.pointer(type, '__global'), own), 'long %s_at' % own]
        if p.kind == 'raw':
            takes += ['long %s_n%d' % (own, k) for k in range(p.ndim)]
            first.append('%s %s = %s_p + %s_at;' % (translator.pointer(type, '__global'), own, own, own))
            translator.declare(p.name, Var(type, 'raw', '__global', array=p, name=own))
        else:
            translator.declare(p.name, Var(type, name=own))
        if p.kind == 'raw' or not p.contiguous:
            takes += ['long %s_s%d' % (own, k) for k in range(p.ndim)]
    return takes, first


def _typedefs(translator, types):
    return ''.join('typedef %s %s;\n' % (translator.register(REGISTER[dtype]), name) for name, dtype in types.items())


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
        type, own = REGISTER[p.dtype], t.find(p.name).name
        at = own + '_at + ' + (place if p.contiguous else ' + '.join(
            ['0'] + ['_index[%d] * %s_s%d' % (k, own, k) for k in range(ndim)]))
        if type in MEMORY:
            t.needs.add('memory_' + type)
        load, store = ('ct_load_%s(%s_p, %s)', 'ct_store_%s(%s_p, %s, %s);') if type in MEMORY else (
            '%.0s%s_p[%s]', '%.0s%s_p[%s] = %s;')
        loads.append('%s%s %s = %s;' % ('' if p.out else 'const ', t.register(type), own, load % (type, own, at)))
        if p.out:
            stores.append(store % (type, own, at, own))
    return '\n'.join(loads), '\n'.join(stores)


_KERNEL = '%s%s%s\n%s__kernel __attribute__((reqd_work_group_size(%d, 1, 1))) void %s(%s) {\n%s\n'


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
    t.ndim = ndim
    t.declare('i', Var('long'))
    if t.find('n') is None:  # a parameter may have this name
        t.declare('n', Var('long', name='_size'))
    preparation = t.text(t.read(loop_prep), True)
    t.in_operation = True
    body = t.text(t.read(operation), True)
    t.in_operation = False
    after = t.text(t.read(after_loop), True)
    helpers = t.helpers()
    loads, stores = _elements(t, parameters, ndim)
    takes += ['long _n%d' % k for k in range(ndim)] + ['long _size']
    # the loop around the operation is left by `continue`, too
    return (_KERNEL + '%s;\n%s {\n%s\ndo {\n#line 1 "%s"\n%s;\n} while (0);\n%s%s\n}\n%s;\n}\n') % (
        _opencl.header(t.needs, float64), _typedefs(t, types), before, helpers, group, entry(name), ', '.join(takes),
        '\n'.join(first), preparation, _loop('i', '_size', group), loads, name, body,
        'ct_next:;\n' if t.returns else '', stores, after)


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
    t.ndim = ndim
    kind = REGISTER[reduce_type or parameters[-1].dtype]
    for extra, own in (('_j', 'i'), ('i', 'i'), ('_i', '_out'), ('n', '_size')):
        if t.find(extra) is None:
            t.declare(extra, Var('long', name=own))
    texts = {}
    for key, text, names in (('map', map_expr, ''), ('reduce', reduce_expr, 'ab'), ('post', post_map_expr, 'a'),
                             ('identity', identity or '0', '')):
        t.scopes.append({extra: Var(kind, name=extra) for extra in names})
        texts[key] = '\n#line 1 "%s_%s"\n%s' % (name, key, t.text(t.read(text), key == 'post'))
        t.scopes.pop()
    helpers = t.helpers()
    loads = _elements(t, parameters[:-1], ndim)[0]
    read, write = _elements(t, parameters[-1:], 0, '_out')
    register = t.register(kind)
    takes += ['__global %s* _partial_p' % ('uchar' if kind == 'bool' else register), 'long _partial_at']
    takes += ['long _n%d' % k for k in range(ndim)] + ['long _outs', 'long _rows', 'long _chunks', 'long _stage']
    return (_KERNEL + """const long _size = _outs * _rows, _units = _stage == 1 ? _outs * _chunks : _outs;
%s {
const long _out = _unit %% _outs, _chunk = _unit / _outs;
%s _total = (%s)(%s);
if (_stage == 2) {
for (long _k = 0; _k < _chunks; ++_k) {
const %s a = _total, b = _partial_p[_partial_at + _k * _outs + _out];
_total = (%s)(%s);
}
} else {
const long _from = _stage == 1 ? _rows * _chunk / _chunks : 0, _to = _stage == 1 ? _rows * (_chunk + 1) / _chunks : _rows;
for (long _row = _from; _row < _to; ++_row) {
const long i = _out * _rows + _row;
%s _mapped;
{
%s
_mapped = (%s)(%s);
}
{
const %s a = _total, b = _mapped;
_total = (%s)(%s);
}
}
}
if (_stage == 1) {
_partial_p[_partial_at + _chunk * _outs + _out] = _total;
} else {
%s
{
const %s a = _total;
%s;
}
%s
}
}
}
""") % (_opencl.header(t.needs, float64), _typedefs(t, types), before, helpers, group, entry(name), ', '.join(takes),
        '\n'.join(first), _loop('_unit', '_units', group), register, register, texts['identity'], register, register,
        texts['reduce'], register, loads, register, texts['map'], register, register, texts['reduce'], read, register,
        texts['post'], write)


def raw(code, name, *, float64=True, shared_memory=0, block=None, grid=None):
    """The text of a whole kernel `name` in `code`. A pointer among its parameters becomes two of the kernel's: the buffer
    and the offset of the first element (long). `shared_memory`: bytes of what is declared `extern __shared__`. With
    `block` (and `grid`, if that has several axes) the text is for a launch of one axis, which these three numbers take
    apart. Gives the text and, for each parameter, 'pointer' or the dtype in which it takes a number. Throws Untranslatable,
    ValueError where the text has no such kernel."""
    t = Translator(name, {}, float64, shared_memory)
    t.block, t.grid = block, grid
    before = t.top(code)
    kernels = {f.name: f for group in t.functions.values() for f in group if f.is_kernel}
    if name not in kernels:
        raise ValueError('RawKernel: the text has no kernel %r; it has %s' % (
            name, ', '.join(sorted(kernels)) or 'none (a kernel begins with extern "C" __global__)'))
    function = kernels[name]
    t.lines, t.in_kernel = function.lines, True
    t.scopes.append({})
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
            takes += ['__global %s* %s_p' % (kind, var.name), 'long %s_at' % var.name]
            first.append('%s = %s_p + %s_at;' % (text, var.name, var.name))
        elif var.type in MEMORY:
            takes.append('%s %s_v' % (MEMORY[var.type], var.name))
            first.append('const %s = %s;' % (text, '%s_v != 0' % var.name if var.type == 'bool' else
                                             'vload_half(0, (const __private half*)&%s_v)' % var.name))
        else:
            takes.append(text)
    line = function.body[0].line if function.body else 1
    body = t.text(function.body, True)
    helpers = t.helpers()
    size = '__attribute__((reqd_work_group_size(%d, 1, 1))) ' % (block[0] * block[1] * block[2]) if block else ''
    text = '%s%s\n%s__kernel %svoid %s(%s) {\n%s\n#line %d "%s"\n%s\n}\n' % (
        _opencl.header(t.needs, float64), before, helpers, size, entry(name), ', '.join(takes), '\n'.join(first),
        line - (function.body[0].space.count('\n') if function.body else 0), name, body)
    return text, kinds
