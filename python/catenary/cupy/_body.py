"""Statements and expressions of CUDA C++ in OpenCL C. `_translate` builds upon it."""

from catenary.cupy import _opencl
from catenary.cupy._reader import MEMORY, QUALIFIERS, RESERVED, REFUSED, HEADERS, ASSIGNMENTS, IDS, Reader, Token, Var, tokens


class Body(Reader):
    """Translates what stands inside functions."""

    # ------------------------------------------------------------------ statements and expressions
    def text(self, ts, start=False):
        """A sequence of tokens in OpenCL C. `start`: it begins where a declaration may stand."""
        out, i, marks = [], 0, {}
        depth = len(self.scopes)
        while i < len(ts):
            t = ts[i]
            marks[i] = len(out)
            if t.text == '?':
                self.condition(ts, i, out, marks)
            if start and t.kind == 'id':
                declared = self.declaration(ts, i)
                if declared is not None:
                    out.append(declared[0])
                    i, start = declared[1], False
                    continue
            piece, after = self.piece(ts, i, out)
            out.append(t.space + piece)
            start = t.text in (';', '{', '}') or t.kind == 'directive' or (t.text == '(' and self.is_op(ts, i - 1, 'for'))
            if t.text == '{':
                self.scopes.append({})
            elif t.text == '}' and len(self.scopes) > depth:
                self.scopes.pop()
            i = after
        del self.scopes[depth:]
        return ''.join(out)

    def condition(self, ts, i, out, marks):
        """What stands before '?' becomes an integer, as OpenCL wants it."""
        k, depth = i, 0
        while k > 0:
            mark = ts[k - 1].text
            if depth == 0 and (mark in ASSIGNMENTS or mark in ('(', '[', '{', ',', ';', ':', '?', 'return')):
                break
            depth += (mark in (')', ']', '}')) - (mark in ('(', '[', '{'))
            k -= 1
        if self.type_of(ts[k:i]) in ('half', 'float', 'double', None) and k in marks:
            text = ''.join(out[marks[k]:])
            space = text[:len(text) - len(text.lstrip())]
            out[marks[k]:] = ['%s((%s) != 0)' % (space, text.strip())]

    def piece(self, ts, i, out):
        """What stands at i, and where it ends. May take back signs from `out` that belong to it."""
        t = ts[i]
        if t.kind == 'directive':
            return self.directive(t), i + 1
        if t.kind == 'num':
            return self.number(t), i + 1
        if t.text == '(':
            return self.bracket(ts, i, out)
        if t.text == '*' and self.unary(ts, i) and i + 1 < len(ts):
            var = self.find(ts[i + 1].text)
            if var is not None and var.packed and var.kind != 'value':
                return self.access(ts, i + 2, var, var.name, '0', out, i)
        if t.text == '::':
            self.refuse(t, 'a qualified name')
        if t.text == '[' and (i == 0 or ts[i - 1].text in ('=', '(', ',', ';')):
            self.refuse(t, 'a lambda')
        if t.text == '<<' and self.is_op(ts, i + 1, '<'):
            self.refuse(t, 'a launch from a kernel')
        if t.kind != 'id' or self.is_op(ts, i - 1, '.', '->'):
            return t.text, i + 1
        return self.word(ts, i, out)

    def unary(self, ts, i):
        return i == 0 or (ts[i - 1].kind == 'op' and ts[i - 1].text not in (')', ']')) or ts[i - 1].text == 'return'

    def number(self, t):
        text = t.text.replace("'", '')
        lower = text.lower()
        if lower.startswith('0x') or lower.startswith('0b'):
            return text.rstrip('lLuU') + ('U' if 'u' in lower else '') + ('L' if 'l' in lower else '')
        if '.' in lower or 'e' in lower or lower.endswith('f'):
            lower = lower.rstrip('l')
            return lower if lower.endswith('f') or self.float64 else lower + 'f'
        return text.rstrip('lLuU') + ('U' if 'u' in lower else '') + ('L' if 'l' in lower else '')

    def directive(self, t):
        words = t.text[1:].split(None, 2)
        if not words or words[0] in ('if', 'ifdef', 'ifndef', 'else', 'elif', 'endif', 'undef', 'error', 'line'):
            return t.text
        if words[0] == 'pragma':
            return t.text if words[1:2] == ['unroll'] else '\n' * t.text.count('\n')
        if words[0] == 'include':
            name = words[1].strip('<>"') if len(words) > 1 else ''
            if not name.startswith(HEADERS):
                self.refuse(t, 'the header')
            return ''
        if words[0] != 'define':
            self.refuse(t, 'the directive')
        body = t.text[t.text.index('define') + 6:]
        inside = tokens(body, self.kernel, t.line)
        end = 1
        if self.is_op(inside, 1, '(') and not inside[1].space:
            end = self.close(inside, 1) + 1
        head = ''.join(x.text for x in inside[:end])
        rest = inside[end:]
        type, after = self.type_at(rest, 0)
        if type and after == len(rest) and end == 1:
            self.types[inside[0].text] = type  # a name for a type
            return ''
        return '#define %s %s' % (head, self.text(rest, True).strip().replace('\\\n', '\n').replace('\n', ' \\\n'))

    def cast(self, type, stars, operand, inner):
        if stars:
            space, number = self.points(inner)
            if number is not None:
                self.refuse(number, 'an address in memory, which kernels of OpenCL cannot follow,')
            return '((%s%s)%s)' % (self.pointer(type, space), '*' * (stars - 1), operand)
        return '((%s)%s)' % (self.register(type), operand)

    def stars(self, ts, i):
        n = 0
        while self.is_op(ts, i, '*', '&', 'const', '__restrict__', 'volatile'):
            n += ts[i].text in ('*', '&')
            i += 1
        return n, i

    def operand_end(self, ts, i):
        """Where the operand of a cast ends that begins at i."""
        while self.is_op(ts, i, '-', '+', '!', '~', '*', '&'):
            i += 1
        if i < len(ts):
            if ts[i].text == '(':
                end = self.close(ts, i)
                kind, j = self.type_at(ts, i + 1)
                j = self.stars(ts, j)[1]
                i = self.operand_end(ts, end + 1) if kind and j == end else end + 1
            else:
                i += 1
                if self.is_op(ts, i, '<') and ts[i - 1].text.endswith('_cast'):
                    i = self.close(ts, i) + 1
        while self.is_op(ts, i, '(', '[', '.', '->'):
            i = self.close(ts, i) + 1 if ts[i].text in '([' else i + 2
        return i

    def bracket(self, ts, i, out):
        """A bracket: perhaps a cast, or a pointer that is then indexed."""
        end = self.close(ts, i)
        kind, j = self.type_at(ts, i + 1)
        stars, j = self.stars(ts, j) if kind else (0, j)
        if kind and j == end and end + 1 < len(ts) and (
                ts[end + 1].kind in ('id', 'num') or ts[end + 1].text in ('(', '-', '+', '!', '~', '*', '&')):
            after = self.operand_end(ts, end + 1)
            operand = ts[end + 1:after]
            return self.cast(kind, stars, self.text(operand).strip(), operand), after
        inner = ts[i + 1:end]
        if self.is_op(ts, end + 1, '[') and inner:
            type, space = self.pointed(inner)
            if type is not None and space == '__global' and type in MEMORY:
                to = self.close(ts, end + 1)
                return self.access(ts, to + 1, Var(type, 'pointer', space), '(%s)' % self.text(inner),
                                   self.text(ts[end + 2:to]), out, i)
        return '(', i + 1

    def pointed(self, ts):
        """The type and the space that a cast to a pointer, which is all of an expression, points to."""
        if self.is_op(ts, 0, '('):
            end = self.close(ts, 0)
            inside, after = ts[1:end], ts[end + 1:]
        elif ts[0].text.endswith('_cast'):
            end = self.close(ts, 1)
            inside, after = ts[2:end], ts[end + 1:]
        else:
            return None, None
        kind, j = self.type_at(inside, 0)
        stars, j = self.stars(inside, j)
        return (kind, self.space_of(after)) if kind and stars and j == len(inside) else (None, None)

    def access(self, ts, after, var, pointer, index, out, i):
        """Reads, writes, or takes the address of, an element that registers hold in another form."""
        before = ts[i - 1].text if i else ''
        if before == '&' and self.unary(ts, i - 1):
            out.pop()
            return '(%s + (%s))' % (pointer, index), after
        load = 'ct_load_%s(%s, %s)' % (var.type, pointer, index)
        self.needs.add('memory_' + var.type)
        store = 'ct_store_%s(%s, %s, %%s)' % (var.type, pointer, index)
        following = ts[after].text if after < len(ts) else ''
        step = following if following in ('++', '--') else before if before in ('++', '--') else ''
        if (step or following in ASSIGNMENTS - {'='}) and any(mark in index for mark in ('++', '--')):
            self.refuse(ts[i], 'an index that changes where its element is read and written')
        if step:
            text = store % ('%s %s 1' % (load, step[0]))
            if following == step:
                return '(%s %s 1)' % (text, '-' if step == '++' else '+'), after + 1
            out.pop()
            return text, after
        if following not in ASSIGNMENTS:
            return load, after
        end, depth = after + 1, 0
        while end < len(ts):
            mark = ts[end].text
            if depth == 0 and mark in (';', ',', ')', ']', '}', ':'):
                break
            depth += (mark in ('(', '[', '{', '?')) - (mark in (')', ']', '}', ':'))
            end += 1
        value = self.text(ts[after + 1:end]).strip()
        return store % (value if following == '=' else '%s %s (%s)' % (load, following[:-1], value)), end

    def element(self, ts, i, var, out):
        """NAME[…] of an array argument or a pointer, at the name."""
        end = self.close(ts, i + 1)
        inside = [t for t in ts[i + 2:end] if t.text]
        many = self.find(inside[0].text) if len(inside) == 1 else None
        whole = ''.join(t.text for t in inside) == '_ind.get()'
        if var.array is not None and (whole or (many is not None and many.kind == 'array')):
            given = self.ndim if whole else many.extent
            if given != var.array.ndim:
                self.refuse(ts[i], '%d indices of an array of %d axes' % (given or 0, var.array.ndim))
            self.uses_index = self.uses_index or whole
            name = '_index' if whole else many.name
            index = ' + '.join('(long)%s[%d] * %s_s%d' % (name, k, var.name, k) for k in range(given)) or '0'
        else:
            index = self.text(ts[i + 2:end]).strip()
            if var.array is not None and not var.array.contiguous:
                self.needs.add('at%d' % var.array.ndim)
                index = 'ct_at%d(%s)' % (var.array.ndim, ', '.join([index] + [
                    '%s_%s%d' % (var.name, kind, k) for k in range(var.array.ndim) for kind in 'ns']))
        if var.packed:
            return self.access(ts, end + 1, var, var.name, index, out, i)
        return '%s[%s]' % (var.name, index), end + 1

    def word(self, ts, i, out):
        """A name or a word of the language."""
        t, name = ts[i], ts[i].text
        var = self.find(name)
        if var is not None:
            if var.kind == 'raw' and self.is_op(ts, i + 1, '.'):
                return self.member(ts, i, var)
            if var.kind == 'ref':
                if var.packed:
                    return self.access(ts, i + 1, var, var.name, '0', out, i)
                return '(*%s)' % var.name, i + 1
            if self.is_op(ts, i + 1, '[') and (var.kind == 'raw' or var.packed):
                return self.element(ts, i, var, out)
            return var.name, i + 1
        if name in ('static_cast', 'reinterpret_cast', 'const_cast'):
            end = self.close(ts, i + 1)
            kind, j = self.type_at(ts, i + 2)
            stars, j = self.stars(ts, j)
            if kind is None or j != end:
                self.refuse(ts[i + 2], 'a cast to this type')
            to = self.close(ts, end + 1)
            inner = ts[end + 2:to]
            text = self.cast(kind, stars, '(%s)' % self.text(inner).strip(), inner)
            if stars and self.is_op(ts, to + 1, '[') and self.space_of(inner) == '__global' and kind in MEMORY:
                last = self.close(ts, to + 1)
                return self.access(ts, last + 1, Var(kind, 'pointer', '__global'), text,
                                   self.text(ts[to + 2:last]), out, i)
            return text, to + 1
        kind, j = self.type_at(ts, i)
        if kind is not None:
            if self.is_op(ts, j, '('):
                end = self.close(ts, j)
                return self.cast(kind, 0, '(%s)' % self.text(ts[j + 1:end]).strip(), []), end + 1
            stars, k = self.stars(ts, j)
            return (self.pointer(kind, '__global') if stars else self.register(kind)), k if stars else j
        if name in self.functions and self.is_op(ts, i + 1, '(', '<'):
            return self.call(ts, i)
        if name == 'std' and self.is_op(ts, i + 1, '::') and ts[i + 2].text in _opencl.MATH:
            return self.piece(ts, i + 2, out)
        if name in IDS and self.is_op(ts, i + 1, '.') and ts[i + 2].text in ('x', 'y', 'z'):
            return self.place(name, 'xyz'.index(ts[i + 2].text)), i + 3
        if name == '_ind' and self.in_operation:
            return self.indexer(ts, i)
        if name == 'return' and self.in_operation:
            if not self.is_op(ts, i + 1, ';'):
                self.refuse(t, 'a value that an operation returns')
            self.returns = True
            return 'goto ct_next', i + 1
        return self.known(ts, i)

    def place(self, name, axis):
        """threadIdx.x and the like, of a launch as it is or of one axis that stands for several."""
        numbers = self.block if name in ('threadIdx', 'blockDim') else self.grid
        if numbers is None:
            if self.block is None or axis == 0:
                return '((uint)%s(%d))' % (IDS[name], axis)
            return '1u' if name == 'gridDim' else '0u'
        if name in ('blockDim', 'gridDim'):
            return '%du' % numbers[axis]
        below = 1
        for n in numbers[:axis]:
            below *= n
        return '((uint)%s(0) / %du %% %du)' % (IDS[name], below, numbers[axis])

    def known(self, ts, i):
        """A word that stands for something of CUDA's."""
        t, name = ts[i], ts[i].text
        call = self.is_op(ts, i + 1, '(')
        if name in ('NULL', 'nullptr'):
            return '0', i + 1
        if name in ('__restrict__', '__restrict'):
            return 'restrict', i + 1
        if name in ('constexpr', '__forceinline__'):
            return 'const' if name == 'constexpr' else '', i + 1
        if name in ('assert', 'static_assert') and call:
            return '(void)0', self.close(ts, i + 1) + 1
        if name == '__syncthreads' and call:
            return 'barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)', self.close(ts, i + 1) + 1
        if name in ('__threadfence', '__threadfence_block') and call:
            return 'mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)', self.close(ts, i + 1) + 1
        if name == '__ldg' and call:
            end = self.close(ts, i + 1)
            inner = ts[i + 2:end]
            if not self.is_op(inner, 0, '&'):
                return '(*(%s))' % self.text(inner), end + 1
            return self.text(inner[1:]), end + 1
        if name in _opencl.ATOMICS and call:
            parts = self.split(ts[i + 2:self.close(ts, i + 1)])
            base = next((self.find(x.text) for x in parts[0] if self.find(x.text)), None) if parts else None
            if base is not None and base.type not in _opencl.ATOMICS[name]:
                self.refuse(t, 'an atomic operation on %s' % base.type)
            self.needs.add(name)
            self.needs.update('memory_half' for kind in (base.type if base else 'half',) if kind == 'half')
            return 'ct_' + name, i + 1
        if name in _opencl.MATH and call:
            self.needs.add(name)
            return 'ct_' + name, i + 1
        if name in REFUSED or (name.startswith('__') and name != '__typeof__') or ((call or self.is_op(ts, i + 1, '<')) and name.startswith((
                'atomic', 'tex', 'surf', 'curand', 'cuC', 'wmma'))):
            self.refuse(t, REFUSED.get(name, 'this word'))
        if name == 'template':
            self.refuse(t, 'a template here')
        return ('u_' + name if name in RESERVED else name), i + 1

    def member(self, ts, i, var):
        """x.size(), x.shape()[k], x.strides()[k], x.ndim of an array argument."""
        method = ts[i + 2].text if i + 2 < len(ts) else ''
        array = var.array
        if method == 'ndim':
            return str(array.ndim), i + 3
        if method not in ('size', 'shape', 'strides') or not self.is_op(ts, i + 3, '('):
            self.refuse(ts[i + 2] if i + 2 < len(ts) else ts[i], 'this member of an array')
        after = self.close(ts, i + 3) + 1
        if method == 'size':
            return '(%s)' % (' * '.join('%s_n%d' % (var.name, k) for k in range(array.ndim)) or '1L'), after
        if not self.is_op(ts, after, '['):
            self.refuse(ts[i + 2], 'a pointer to extents')
        end = self.close(ts, after)
        letter = 'n' if method == 'shape' else 's'
        scale = '' if method == 'shape' else ' * %d' % _opencl.SIZES[array.dtype]
        index = ''.join(x.text for x in ts[after + 1:end])
        if index.isdigit():
            if int(index) >= array.ndim:
                self.refuse(ts[after + 1], 'an axis that an array of %d axes lacks' % array.ndim)
            return '(%s_%s%s%s)' % (var.name, letter, index, scale), end + 1
        index = self.text(ts[after + 1:end])
        chain = ''.join('(%s) == %d ? %s_%s%d : ' % (index, k, var.name, letter, k) for k in range(array.ndim))
        return '((%s0L)%s)' % (chain, scale), end + 1

    def indexer(self, ts, i):
        method = ts[i + 2].text if self.is_op(ts, i + 1, '.') else ''
        if method not in ('size', 'get') or not self.is_op(ts, i + 3, '('):
            self.refuse(ts[i], 'this use of the index')
        after = self.close(ts, i + 3) + 1
        if method == 'size':
            return '_size', after
        self.uses_index = True
        return '_index', after

    # ------------------------------------------------------------------ declarations
    def declaration(self, ts, i):
        """A declaration that begins at i, and where it ends (at its ';', or at the end); None where there is none."""
        j, words = i, []
        while self.is_op(ts, j, '__shared__', '__constant__', 'extern', *QUALIFIERS):
            words.append(ts[j].text)
            j += 1
        if self.is_op(ts, j, 'auto'):
            end = next((k for k in range(j, len(ts)) if ts[k].text == '='), None)
            if end != j + 2:
                self.refuse(ts[j], 'auto in this form')
            stop = self.statement_end(ts, end)
            name = self.declare(ts[j + 1].text, Var(self.type_of(ts[end + 1:stop]) or 'auto'))
            value = self.text(ts[end + 1:stop]).strip()
            return '%s__typeof__(%s) %s = %s' % (ts[i].space, value, name, value), stop
        type, k = self.type_at(ts, i if not words or not set(words) & {'__shared__', '__constant__', 'extern'} else j)
        if type is None or k >= len(ts) or not (ts[k].kind == 'id' or self.is_op(ts, k, '*', '&')):
            return None
        if self.is_op(ts, k, '*', '&'):  # a product of a name that is a type, too, is no declaration
            n = self.stars(ts, k)[1]
            if n >= len(ts) or ts[n].kind != 'id':
                return None
        shared = '__shared__' in words
        if shared and (not self.in_kernel or len(self.scopes) > 3):
            self.refuse(ts[i], '__shared__ memory of an inner block or a helper')
        stop = self.statement_end(ts, k)
        const = 'const ' if any(t.text in ('const', 'constexpr') for t in ts[i:k]) else ''
        plain, pieces = [], []
        for part in self.split(ts[k:stop]):
            text, separate = self.declarator(part, type, const, shared, ts[stop:])
            (pieces if separate else plain).append(text)
        if plain:
            pieces.insert(0, '%s%s%s %s' % ('__local ' if shared else '', '' if shared else const, self.register(type),
                                            ', '.join(plain)))
        return ts[i].space + '; '.join(pieces), stop

    def statement_end(self, ts, i):
        depth = 0
        for k in range(i, len(ts)):
            if depth == 0 and ts[k].text in (';', ')', '}') or ts[k].kind == 'directive':
                return k
            depth += (ts[k].text in ('(', '[', '{')) - (ts[k].text in (')', ']', '}'))
        return len(ts)

    def declarator(self, part, type, const, shared, rest):
        stars, j = self.stars(part, 0)
        reference = any(t.text == '&' for t in part[:j])
        name, k = part[j], j + 1
        space = part[0].space if part else ''
        if self.is_op(part, k, '['):
            extents, count = '', None
            while self.is_op(part, k, '['):
                end = self.close(part, k)
                inside = self.text(part[k + 1:end])
                count = int(inside) if not extents and inside.isdigit() else None if extents or inside else count
                extents += '[%s]' % inside
                k = end + 1
            if self.is_op(part, k, '='):
                if self.is_op(part, k + 1, '{') and count is None:
                    count = len([x for x in self.split(part[k + 2:self.close(part, k + 1)]) if x])
            elif shared and extents == '[]':
                extents = '[%d / sizeof(%s)]' % (self.shared_memory, self.register(type))
            value = self.text(part[k:]).rstrip()
            own = self.declare(name.text, Var(type, 'array', '__local' if shared else '', count))
            if stars:
                return '%s%s%s%s' % (self.pointer(type, self.space_of(part[k:])), own, extents, value), True
            return own + extents + value, False
        value = part[k + 1:] if self.is_op(part, k, '=') else part[k:]
        if stars and not (reference and stars > 1):
            if reference and value and (const and not (value[-1].text == ']' or len(value) == 1)):
                text = self.text(value).strip()
                return '%s = %s' % (self.declare(name.text, Var(type)), text), False  # a reference to a temporary
            source = value or self.assigned(name.text, rest)
            if not source:
                self.refuse(name, 'a pointer of which nothing says where it points to')
            if stars > 1:
                self.refuse(name, 'a pointer to pointers')
            where = '' if reference and not any(v is not None and v.kind != 'value' for v in (
                self.find(x.text) for x in source)) else self.space_of(source)
            text = (' = %s(%s)' % ('&' if reference else '', self.text(value).strip())) if value else ''
            if reference and self.packed_element(value):
                text = ' = ' + self.text([Token('op', '&', name.line)] + value)
            own = self.declare(name.text, Var(type, 'ref' if reference else 'pointer', where))
            return '%s%s %s%s' % (const, self.pointer(type, where), own, text), True
        text = self.text(value).strip()
        own = self.declare(name.text, Var(type))
        return '%s%s%s' % (space if space != '' else '', own, ' = %s' % text if text else ''), False

    def packed_element(self, ts):
        var = self.find(ts[0].text) if ts else None
        return var is not None and var.packed and self.is_op(ts, 1, '[')

    def assigned(self, name, ts):
        for i in range(len(ts) - 2):
            if ts[i].text == name and ts[i + 1].text == '=':
                return ts[i + 2:self.statement_end(ts, i + 2)]
        return None
