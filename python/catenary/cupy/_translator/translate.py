"""Translates CuPy's kernels from CUDA C++ to OpenCL C 1.2.

A text becomes tokens (`reader`), preprocessed tokens (`macros`), a tree (`tree`, `parse`, `declare`, `texts`), and a text in which each expression
has a type and an address space (`types`, `values`, `write`, `calls`, `complex`, `statements`). Unsupported text raises Untranslatable with kernel,
line and token, as the translator never guesses. Registers hold 16-bit floats as float, and values are rounded when they are stored.

The entry points are `elementwise`, `reduction` and `raw`. `opencl` has the texts of helper functions.
"""

from catenary.cupy._kernel_templates import OF_CLASSES, OF_NUMBERS, STAGES, Parameter, asked, entry, numbers
from catenary.cupy._translator import opencl, tree, variables
from catenary.cupy._translator.reader import DTYPES, MEMORY, REGISTER, RESERVED, Untranslatable, refuse
from catenary.cupy._translator.statements import DYNAMIC, Writer, number_text
from catenary.cupy._translator.texts import class_of, instance_of, number_of, read, type_of
from catenary.cupy._translator.types import BOOL, LONG, ORDER, SCALARS, VOID, Array, Pointer, Scalar, Struct, memory, spelled
from catenary.cupy._translator.values import Unit, Value, names_of

__all__ = ['Parameter', 'Untranslatable', 'begin', 'check', 'elementwise', 'raw', 'reduction']


class Kernel:
    """A kernel in translation: its unit and scope. Variables of a module lie in memory shared by its kernels, other global variables are rejected."""

    def __init__(self, name, types, float64, top, of_module=False):
        self.unit = Unit(name, float64)
        self.names = {name: SCALARS[REGISTER[dtype]] for name, dtype in types.items()}
        names_of(top, self.names)
        self.parameters, self.seen = {}, []
        writer = self.writer({})
        for node in top:
            if isinstance(node, tree.Check):
                writer.check(node)
            elif isinstance(node, tree.Enum):
                writer.enumerate(node, self.names)
            elif isinstance(node, tree.Declaration):
                if not of_module or not variables.add(self, node):
                    _check_outside(node)

    def writer(self, scope, operation=None):
        return Writer(self.unit, [self.names, self.parameters, scope, {}], operation=operation)

    def expression(self, x, scope, type):
        """Returns the text of an expression converted to `type`."""
        writer = self.writer(scope, self.seen)
        return writer.marked_text(writer.converted(writer.rvalue(x), type, x.at))

    def body(self, nodes, scope, operation=False):
        writer = self.writer(scope, self.seen)
        if not operation:
            writer.operation, writer.returned = None, None
        writer.statements(nodes)
        return writer.text()


def _check_outside(node):
    """Rejects global variables that are not constants."""
    for d in node.names:
        if d.value is None:
            refuse(node.at, 'a global variable without a value')
        if not node.spec.const and not {'const', 'constexpr', '__constant__'} & node.words:
            refuse(node.at, 'a variable outside functions')


# ---------------------------------------------------------------------- the ways in
def _own(name):
    return 'u_' + name if name in RESERVED else name


def _bind(kernel, parameters):
    """Declares the parameters of a kernel. Returns (the kernel's own parameters, the code that runs first)."""
    takes, first = [], []
    for p in parameters:
        type, own = SCALARS[REGISTER[p.dtype]], _own(p.name)
        held = '__global ' + memory(type, '__global')
        if p.kind == 'scalar':
            held = 'uchar' if type is BOOL else type.register
            first.append('const %s %s = %s_v%s;' % (type.register, own, own, ' != 0' * (type is BOOL)))
        elif p.kind == 'raw':
            first.append('%s* %s = %s_p + %s_at;' % (held, own, own, own))
        raw = p.kind == 'raw'
        kernel.parameters[p.name] = Value(own, Pointer(type, '__global') if raw else type, '', array=p if raw else None,
                                          members=_members(p, own) if raw else None)
        takes += p.takes(own, held, 'long')
    return takes, '\n'.join(first)


def _members(p, own):
    extents, strides = (['%s_%s%d' % (own, number, k) for k in range(p.ndim)] for number in 'ns')
    return {'ndim': Value(str(p.ndim), SCALARS['int'], const=p.ndim), 'size': Value('(%s)' % (' * '.join(extents) or '1L'), LONG),
            'shape': extents, 'strides': ['(%s * %d)' % (stride, opencl.SIZES[p.dtype]) for stride in strides]}


def _bind_whole(kernel, parameters, texts, extents, axes=None):
    """Declares _raw_NAME, the whole array, for parameters whose array a text names. Returns the code that runs first."""
    first = []
    for p in asked(parameters, texts):
        if p.kind == 'raw':
            kernel.parameters['_raw_' + p.name] = kernel.parameters[p.name]
            continue
        own, raw = '_raw_' + _own(p.name), Parameter('_raw_' + p.name, p.dtype, 'raw', p.ndim, p.contiguous, p.out)
        type = SCALARS[REGISTER[p.dtype]]
        first.append('__global %s* %s = %s_p + %s_at;' % (memory(type, '__global'), own, _own(p.name), _own(p.name)))
        for number, values in zip('ns', p.whole(_own(p.name), extents, axes)):
            first += ['const long %s_%s%d = %s;' % (own, number, k, value) for k, value in enumerate(values)]
        kernel.parameters[raw.name] = Value(own, Pointer(type, '__global'), '', array=raw, members=_members(raw, own))
    return '\n'.join([''] + first) if first else ''


def _index(ndim):
    """Returns the scope of an operation: the index of the element."""
    return {'_ind': Value('_ind', VOID, members={
        'size': Value('_size', LONG), 'get': Value('_index', Pointer(LONG, ''), counted=ndim)})}


def _head(kernel, name, group, takes):
    """Returns the text before a kernel's body: used features, classes and helpers."""
    unit, size = kernel.unit, '__attribute__((reqd_work_group_size(%d, 1, 1))) ' % group if group else ''
    return '%s%s%s__kernel %svoid %s(%s) {\n' % (
        opencl.header(unit.needs, unit.float64), unit.struct_texts(), ''.join(unit.functions), size, entry(name), ', '.join(takes))


def _loop(index, size, group):
    """Returns a loop over `size` units: of a work-item, or, in groups of one, of a range that lies together."""
    if group == 1:
        return ('for (long {0} = {1} * get_group_id(0) / get_num_groups(0), _end = {1} * (get_group_id(0) + 1) / '
                'get_num_groups(0); {0} < _end; ++{0})').format(index, size)
    return 'for (long {0} = get_global_id(0); {0} < {1}; {0} += get_global_size(0))'.format(index, size)


def _elements(kernel, parameters, ndim, place='i'):
    """Returns (code that loads the elements at `place` into variables, code that stores the outputs)."""
    loads, stores = [], []
    if 'index' in kernel.seen or any(not p.contiguous for p in parameters if p.kind == 'element'):
        loads.append('long _index[%d]; { long _rest = %s;' % (max(ndim, 1), place) + ''.join(
            ' _index[%d] = _rest %% _n%d; _rest /= _n%d;' % (k, k, k) for k in reversed(range(ndim))) + ' }')
    writer = kernel.writer({})
    for p in parameters:
        if p.kind != 'element':
            continue
        own, type = _own(p.name), SCALARS[REGISTER[p.dtype]]
        v = writer.element(Value(own + '_p', Pointer(type, '__global')), p.at(own, place, '_index'))
        loads.append('%s%s %s = %s;' % ('' if p.out else 'const ', type.register, own, v.text))
        if p.out:
            stores.append('%s;' % writer.stored(v, '', Value(own, type), None).text)
    return '\n'.join(loads), '\n'.join(stores)


def elementwise(name, parameters, operation, types, *, preamble='', loop_prep='', after_loop='', ndim=1, float64=True,
                group=64):
    """Returns the text of a kernel `name` that performs `operation` for each element.

    `types` maps placeholders to dtypes, and `ndim` is the number of loop axes. After the arguments of its parameters (see Parameter) the kernel
    takes ndim sizes and the number of elements, all long. Work-groups have `group` work-items. With 1, each work-item loops over a range. Raises
    Untranslatable.
    """
    top, (preparation, body, after) = read(
        name, tuple(types), (*(p.name for p in parameters), 'i', 'n', '_ind'), preamble,
        ((name + '_prep', loop_prep, False), (name, operation, False), (name + '_after', after_loop, False)))
    kernel = Kernel(name, types, float64, top)
    takes, first = _bind(kernel, parameters)
    first += _bind_whole(kernel, parameters, (operation, loop_prep, after_loop), ['_n%d' % k for k in range(ndim)])
    kernel.parameters['i'] = Value('i', LONG, '')
    kernel.parameters.setdefault('n', Value('_size', LONG, ''))  # unless a parameter has this name
    around = kernel.writer({})
    around.scopes = around.scopes[:2]  # the operation sees names of the preparation
    around.statements(preparation)
    preparation = around.text()
    body = kernel.body(body, _index(ndim), True)
    after = kernel.body(after, {})
    loads, stores = _elements(kernel, parameters, ndim, '_at')  # an operation may change i
    takes += numbers('long', ndim, '_size')
    # a loop around the operation, which `continue` leaves
    text = '%s\n%s;\n%s {\nlong i = _at;\n%s\ndo {\n#line 1 "%s"\n%s;\n} while (0);\n%s%s\n}\n%s;\n}\n'
    return _head(kernel, name, group, takes) + text % (
        first, preparation, _loop('_at', '_size', group), loads, name, body, 'ct_next:;\n' if 'return' in kernel.seen else '', stores, after)


_OF_CLASSES = {**OF_CLASSES, 'sized': OF_CLASSES['sized'] % {'global': '__global '}}


def reduction(name, parameters, map_expr, reduce_expr, post_map_expr, identity, types, *, preamble='', reduce_type=None,
              ndim=1, float64=True, group=64, axes=None):
    """Returns the text of a reduction kernel `name`.

    `parameters` are the inputs, whose kept axes precede the reduced ones (`axes`: the arrays' axes in this order, if it differs), and the output,
    a contiguous element. After their arguments the kernel takes a buffer of partial results of `reduce_type` (bool as bytes, 16-bit floats as
    floats, classes as 8-byte words) and its offset, ndim sizes, the numbers of outputs, of elements per output (rows) and of chunks, and the
    stage.

    Stage 0 performs the whole reduction, stage 1 reduces chunks to partial results [chunk, output], stage 2 reduces these to outputs, and stage 3
    reports the size of a class. Raises Untranslatable.
    """
    extras = ('_j', 'i'), ('i', 'i'), ('_i', '_out'), ('n', '_size')
    of_class = reduce_type is not None and reduce_type not in REGISTER
    given = {'map': map_expr, 'reduce': reduce_expr, 'post': post_map_expr, 'identity': identity or (reduce_type + '()' if of_class else '0')}
    top, trees = read(name, tuple(types), (*(p.name for p in parameters), *(x for x, _ in extras), '_ind', 'a', 'b'), preamble,
                      tuple(('%s_%s' % (name, key), text, key != 'post') for key, text in given.items()))
    kernel = Kernel(name, types, float64, top)
    takes, first = _bind(kernel, parameters)
    first += _bind_whole(kernel, parameters[:-1], given.values(), ['_n%d' % k for k in range(ndim)], axes)
    first += _bind_whole(kernel, parameters[-1:], given.values(), ['_outs'])
    kind = kernel.writer({}).type(class_of(name, reduce_type, top)) if of_class else SCALARS[REGISTER[reduce_type or parameters[-1].dtype]]
    for extra, own in extras:
        kernel.parameters.setdefault(extra, Value(own, LONG, ''))
    texts = {}
    scopes = {'map': _index(ndim), 'reduce': {x: Value(x, kind, '') for x in 'ab'}, 'post': {'a': Value('a', kind, '')},
              'identity': {}}
    for (key, scope), x in zip(scopes.items(), trees):
        texts[key] = '\n#line 1 "%s_%s"\n%s' % (name, key, kernel.body(x, scope) if key == 'post' else kernel.expression(x, scope, kind))
    loads = _elements(kernel, parameters[:-1], ndim)[0]
    read_, write = _elements(kernel, parameters[-1:], 0, '_out')
    takes += ['__global %s* _partial_p' % ('long' if of_class else 'uchar' if kind is BOOL else kind.register), 'long _partial_at']
    takes += numbers('long', ndim, '_outs', '_rows', '_chunks', '_stage')
    return _head(kernel, name, group, takes) + STAGES % dict(
        texts, **_OF_CLASSES if of_class else OF_NUMBERS, long='long', kind=kind.own if of_class else kind.register, cast='(_kind)' if kind.name in ORDER else '', first=first,
        loop=_loop('_unit', '_units', group), loads=loads, read=read_, write=write)


def raw(code, name, *, float64=True, of_module=False):
    """Returns (text, parameter kinds, whether there is dynamic shared memory) of a whole kernel `name` in `code`.

    A pointer parameter becomes two: the buffer and the offset of the first element (long). Dynamic shared memory, declared `extern __shared__`, is
    an additional last parameter. A kind is 'pointer', the dtype of a number, or the size in bytes of a class, which is passed in 8-byte words.
    `name<float, 4>` instantiates a template. A kernel `of_module` takes the memory of the variables from `begin` and its offset before the shared
    memory. Raises Untranslatable, and ValueError if there is no such kernel.
    """
    base, arguments = instance_of(name)
    top, _ = read(name, (), (), code, (), True)
    kernel = Kernel(name, {}, float64, top, of_module)
    kernels = {f.name: f for f in top if isinstance(f, tree.Function) and '__global__' in f.words and f.body}
    if base not in kernels:
        raise ValueError('RawKernel: the text has no kernel %r; it has %s' % (
            base, ', '.join(sorted(kernels)) or 'none (a kernel begins with extern "C" __global__)'))
    function = kernels[base]
    if isinstance(function.body, tree.Refused):
        raise Untranslatable(function.body.words)
    if len(arguments) != len(function.template):
        refuse(function.body.at, 'a kernel that is a template of %d parameters, called for %d of them,' % (
            len(function.template), len(arguments)))
    for parameter, given in zip(function.template, arguments):
        writer = kernel.writer({})
        if parameter.type is None:
            kernel.parameters[parameter.name] = type_of(name, parameter.name, given, writer.type)
        else:
            type, number = writer.type(parameter.type), number_of(name, parameter.name, given)
            kernel.parameters[parameter.name] = Value(number_text(number, type), type, const=number)
    writer = kernel.writer({})
    writer.scopes, writer.in_kernel = [kernel.names, kernel.parameters], True
    takes, first, kinds = [], [], []
    for p in function.parameters:
        if p.type.reference:
            refuse(p.at, 'a reference that a kernel takes')
        type = writer.type(p.type)
        type = Pointer(type.to, None) if isinstance(type, Array) else type
        if isinstance(type, Pointer):
            if not isinstance(type.to, (Scalar, Struct)):
                refuse(p.at, 'a pointer to pointers')
            type.space = '__global'
            text = writer.parameter(p, type)
            own = text.rsplit('*', 1)[1].strip()
            kinds.append('pointer')
            takes += ['__global %s* %s_p' % ('uchar' if type.to is VOID else memory(type.to, '__global'), own), 'long %s_at' % own]
            first.append('%s = (%s)(%s_p + %s_at);' % (text, spelled(type, ''), own, own))
            continue
        if isinstance(type, Struct):
            own = writer.parameter(p, type).split()[-1]
            words = range(-(-type.size // 8))
            kinds.append(type.size)
            takes += ['long %s_w%d' % (own, k) for k in words]
            first.append('const long %s_w[] __attribute__((aligned(16))) = {%s};\n%s %s = *(const %s*)%s_w;' % (
                own, ', '.join('%s_w%d' % (own, k) for k in words), type.own, own, type.own, own))
            continue
        if not isinstance(type, Scalar) or type.name not in DTYPES:
            refuse(p.at, 'a parameter of this type')
        text = writer.parameter(p, type)
        own = text.split()[-1]
        kinds.append(DTYPES[type.name])
        if type.name in MEMORY:
            takes.append('%s %s_v' % (MEMORY[type.name], own))
            first.append('%s = %s;' % (text, '%s_v != 0' % own if type is BOOL else
                                       'vload_half(0, (const __private half*)&%s_v)' % own))
        else:
            takes.append(text)
    writer.scopes.append({})
    writer.line = function.body.at.line
    writer.statements(function.body.body)
    body = writer.text()
    if kernel.unit.variables:
        variables.take(takes, first)
    if kernel.unit.takes_memory:
        takes.append('__local ulong4* %s' % DYNAMIC)
    return _head(kernel, name, None, takes) + '%s\n#line %d "%s"\n%s\n}\n' % (
        '\n'.join(first), function.body.at.line, name, body), kinds, kernel.unit.takes_memory


def begin(code, name, *, float64=True):
    """Lays out a module's variables. Returns (offset and size of each in bytes, total size, text of a kernel that initialises zeroed memory, or None
    without initial values). Raises Untranslatable."""
    kernel = Kernel(name, {}, float64, read(name, (), (), code, (), True)[0], True)
    places, size, nodes = variables.layout(kernel)
    if not nodes:
        return places, size, None
    writer = kernel.writer({})
    writer.line = -100
    writer.statements(nodes)
    body, takes, first = writer.text(), [], []
    variables.take(takes, first)
    return places, size, _head(kernel, name, None, takes) + '%s\n%s\n}\n' % ('\n'.join(first), body)


def check(code, name):
    """Parses and checks the text of a module. Raises Untranslatable."""
    Kernel(name, {}, True, read(name, (), (), code, (), True)[0], True)


