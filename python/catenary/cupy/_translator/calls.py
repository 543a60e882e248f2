"""Calls in a kernel: of its text's functions, which are made for the types and address spaces that they are called with, and of
CUDA's. Classes are made for the arguments of their templates."""

from catenary.cupy._translator import intrinsics, opencl, tree
from catenary.cupy._translator.reader import COMPLEX_FUNCTIONS, OF_CUDA, VALUE_TRAITS, VECTORS, Untranslatable, refuse
from catenary.cupy._translator.types import COMPLEX, DOUBLE, FLOAT, HALF, INT, SCALARS, UINT, VOID, Array, Pointer, Scalar, Struct, decayed, \
    is_complex, is_integer, is_number, joined, promoted, spelled
from catenary.cupy._translator.values import VARIABLES, Classes, Constant, Value, names_of

BARRIERS = {'__syncthreads': 'barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)',
            '__threadfence': 'mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)',
            '__threadfence_block': 'mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)',
            '__threadfence_system': 'mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)'}
LOADS = frozenset(('__ldg', '__ldca', '__ldcg', '__ldcs', '__ldcv', '__ldlu'))
STORES = frozenset(('__stwb', '__stcg', '__stcs', '__stwt'))
NOTHING = frozenset(('__nanosleep', '__builtin_assume', '__assume'))


def atomic_of(name):
    """Removes the scope suffix of an atomic operation: block and system scope behave as device scope."""
    return name.removesuffix('_block').removesuffix('_system') if name.startswith('atomic') else name


class Calls:
    """Translates calls. `unit` records the functions made so far."""

    def call(self, x):
        f = x.function
        if f.__class__ is tree.Member:
            return self.method(x, f)
        if f.__class__ is not tree.Name:
            refuse(x.at, 'a call of something other than a function')
        t, args = f.parts[-1]
        if len(f.parts) > 1 and f.parts[0][0].text not in ('std', 'thrust'):
            return self.static_call(x, f, t, args)
        found = self.find(t.text) if len(f.parts) == 1 else None
        if found.__class__ is list:
            if self.this and found[0].owner:
                return self.method_call(x, t, self.this, self.this_value(t), found, args)
            return self.called(t, found, x.args, args)
        if found is not None:
            refuse(t, 'a call of something other than a function')
        if f.parts[0][0].text == 'std' and (len(f.parts) > 2 or t.text not in opencl.MATH and
                                                t.text not in COMPLEX_FUNCTIONS):
            return self.standard(x, f)
        return self.known(t, x)

    def values(self, args):
        """Evaluates arguments. Braced lists wait for their type."""
        return [a if a.__class__ is tree.Braces else self.rvalue(a) for a in args]

    # ------------------------------------------------------------------ functions of the text
    def called(self, t, functions, args, explicit, this=None, this_space=None):
        values = [a if a.__class__ in (tree.Braces, Value) else self.value(a) for a in args]
        explicit = [self.argument(a) for a in explicit or ()]
        refused = next((f.body for f in functions if f.body.__class__ is tree.Refused), None)
        if refused:
            raise Untranslatable(refused.words)
        fitting = [m for m in (self.matched(f, values, explicit, this) for f in functions) if m]
        if not fitting:
            refuse(t, 'a call with %d arguments of a function that takes another number' % len(values) if not any(
                len(f.parameters) == len(values) for f in functions) else 'a call with arguments that no function of this name takes')
        fitting.sort(key=lambda m: m[0])
        if len(fitting) > 1 and fitting[0][0] == fitting[1][0]:
            if (fitting[0][1].body is None) == (fitting[1][1].body is None):
                refuse(t, 'an ambiguous call')
        _, function, bindings, types = next((m for m in fitting if m[1].body and m[0] == fitting[0][0]), fitting[0])
        if function.body is None:
            refuse(t, 'a function without a body')
        texts = []
        for k, (p, type) in enumerate(zip(function.parameters, types)):
            if k >= len(values):
                v = self.within(bindings, this).rvalue(p.default)
            else:
                v = values[k]
            if by_reference(p, v):
                pointer = self.address(t, v)
                self.same(v.at or t, Pointer(type, pointer.type.space), pointer.type)
                types[k] = Pointer(type, pointer.type.space)
                texts.append(pointer.text)
            else:
                if type.__class__ is Pointer and v.__class__ is not tree.Braces:
                    if v.null:
                        type.space = type.space or ''
                    self.settle(type, decayed(v.type, v.home))
                texts.append(self.literal(v, type) if v.__class__ is tree.Braces else self.converted(v, type, t))
        if self.unit.variables:
            texts.append(VARIABLES)
        own, result = self.instance(t, function, bindings, types, this, this_space)
        return Value('%s(%s)' % (own, ', '.join(texts)), result, at=next((v.at for v in values if v.__class__ is Value and v.at), None))

    def matched(self, function, values, explicit, this):
        """Returns (conversion penalty, template bindings, parameter types) if a function accepts these arguments, else None."""
        parameters = function.parameters
        if len(values) > len(parameters) or any(p.default is None for p in parameters[len(values):]):
            return None
        if len(explicit) > len(function.template):
            return None
        bindings = {p.name: a for p, a in zip(function.template, explicit)}
        open_names = {p.name for p in function.template}
        for p, v in zip(parameters, values):
            if open_names and v.__class__ is Value:
                self.deduced(p.type, v.type if v.type.__class__ is not Array or p.type.sizes else decayed(v.type, v.home), bindings,
                             open_names)
        for p in function.template:
            if p.name not in bindings:
                if p.default is None:
                    return None
                bindings[p.name] = self.within(bindings, this).argument(p.default)
            if (p.type is None) == (bindings[p.name].__class__ is Value):
                return None
        inner, score, types = self.within(bindings, this), 0, []
        for k, p in enumerate(parameters):
            type = inner.type(p.type)
            type = Pointer(type.to, None) if type.__class__ is Array and not p.type.reference else type
            types.append(type)
            if k < len(values):
                worse = fit(values[k], type, by_reference(p, values[k]))
                if worse is None:
                    return None
                score += worse
        return (score, bool(function.template)), function, bindings, types

    def deduced(self, wanted, given, bindings, names):
        """Binds a template's parameters by the type of an argument."""
        stars = wanted.stars
        while stars and given.__class__ is Pointer:
            given, stars = given.to, stars - 1
        if stars:
            return
        for size in wanted.sizes if wanted.reference else wanted.sizes[1:]:
            if given.__class__ is not Array:
                return
            if size.__class__ is tree.Name and size.at.text in names and size.at.text not in bindings:
                bindings[size.at.text] = Value(str(given.count), INT, const=given.count)
            given = given.to
        if wanted.sizes and not wanted.reference and given.__class__ is Pointer:
            given = given.to
        spec = wanted.spec
        if spec.__class__ is tree.TypeId:
            self.deduced(spec, given, bindings, names)
        elif spec.base in names and not spec.member:
            bindings.setdefault(spec.base, given)
        elif spec.args and given.__class__ is Struct and given.node is not None and given.node.name == spec.base:
            for a, b in zip(spec.args, given.bindings):
                if a.__class__ is tree.TypeId and b.__class__ is not Value:
                    self.deduced(a, b, bindings, names)
                elif a.__class__ is tree.Name and b.__class__ is Value and a.at.text in names:
                    bindings.setdefault(a.at.text, b)
        elif spec.args and is_complex(given) and spec.base == 'complex':
            self.deduced(spec.args[0], COMPLEX[given.name], bindings, names)

    def within(self, bindings, this):
        """Returns a writer for a function's body, whose scopes are the global names and the template bindings."""
        return self.fresh([self.scopes[0], bindings], this)

    def instance(self, t, function, bindings, types, this, this_space):
        """Returns the name of a function for these types, and its result's type."""
        key = (id(function), this, this_space, tuple(spelled(type, '') for type in types), tuple(
            b.const if b.__class__ is Value else spelled(b, '') + b.__class__.__name__ + str(b) for b in bindings.values()))
        made = self.unit.instances.get(key)
        if made is None:
            if key in self.unit.instances:
                refuse(t, 'a function that calls itself')
            self.unit.instances[key] = None
            made = self.unit.instances[key] = self.within(bindings, this).function(function, types, this, this_space)
        return made

    # ------------------------------------------------------------------ classes
    def made(self, classes, at, args):
        """Returns the type that a class, or a template for these arguments, is."""
        primary = classes.nodes[0]
        node, bindings = primary, {}
        for p, a in zip(primary.template, args):
            bindings[p.name] = a
        if len(args) > len(primary.template):
            refuse(at, 'a template with more arguments than it takes')
        for p in primary.template[len(args):]:
            if p.default is None:
                refuse(at, 'a class template without arguments')
            bindings[p.name] = self.fresh([self.scopes[0], bindings], None).argument(p.default)
        args = list(bindings.values())
        key = tuple(a.const if a.__class__ is Value else spelled(a, '') + str(a) for a in args)
        if key in classes.made:
            found = classes.made[key]
            if found is None:
                refuse(at, 'a class inside itself')
            return found
        classes.made[key] = None
        for special in classes.nodes[1:]:
            if key == tuple(a.const if a.__class__ is Value else spelled(a, '') + str(a) for a in (
                    self.argument(x) for x in special.special)):
                node, bindings = special, {}
        if node.fields.__class__ is tree.Refused:
            raise Untranslatable(node.fields.words)
        scope = dict(bindings)
        names_of(node.types, scope)
        inner = self.fresh([self.scopes[0], scope], None)
        fields = {}
        for declaration in node.fields:
            for d in declaration.names:
                if d.value is not None or d.type.reference:
                    refuse(d.at, 'a default member initialiser' if d.value is not None else 'a reference in a class')
                type = fields[d.at.text] = inner.type(tree.TypeId(d.at, declaration.spec, d.type.stars, False, d.type.sizes)
                                                      if d.type.spec.__class__ is tree.Spec else d.type)
                kind = type
                while kind.__class__ is Array:
                    kind = kind.to
                if kind is HALF or type.__class__ is Array and kind is SCALARS['bool']:
                    refuse(d.at, 'a 16-bit float or an array of bool in a class')
        made = Struct(node.name + ('<%s>' % ', '.join(str(a.const if a.__class__ is Value else a) for a in args) if args else ''),
                      self.unit.own(node.name), fields, 0, node, args)
        classes.made[key] = made
        self.unit.classes[made] = (classes, scope, {})
        self.unit.add_struct(made, node.at)
        return made

    def members(self, struct):
        """Returns the scope of a class: its template bindings, constants and functions."""
        classes, scope, members = self.unit.classes[struct]
        if not members:
            members.update(scope)
            for d in struct.node.constants:
                for name in d.names:
                    members[name.at.text] = Constant(d, name)
            names_of(struct.node.methods, members)
            for enum in struct.node.types:
                if enum.__class__ is tree.Enum:
                    self.fresh([self.scopes[0], members], None).enumerate(enum, members)
        return members

    def static(self, struct, t):
        """Returns a class's static constant as a Value, or None."""
        if struct not in self.unit.classes:
            return None
        found = self.members(struct).get(t.text)
        if found.__class__ is Constant:
            return self.fresh([self.scopes[0], self.members(struct)], None).constant(found).named(t)
        return found.named(t) if found.__class__ is Value else None

    def type_in(self, struct, t):
        if is_complex(struct) and t.text == 'value_type':
            return COMPLEX[struct.name]
        found = self.members(struct).get(t.text) if struct in self.unit.classes else None
        if found.__class__ is tree.Typedef:
            return self.fresh([self.scopes[0], self.members(struct)], None).type(found.type)
        refuse(t, 'this type')

    def struct_of(self, f):
        """Returns the class before the :: of a qualified name."""
        t, args = f.parts[0]
        found = self.find(t.text)
        if found.__class__ is Classes:
            return self.made(found, t, [self.argument(a) for a in args or ()])
        if found.__class__ is tree.Typedef:
            found = self.type(found.type)
        if found.__class__ is not Struct or len(f.parts) != 2:
            refuse(t, 'a qualified name')
        return found

    def qualified(self, x):
        """Translates CLASS::CONSTANT."""
        if x.parts[0][0].text == 'std':
            t, args = x.parts[1]
            if args is not None and t.text.removesuffix('_v') in VALUE_TRAITS and (
                    len(x.parts) == 2 if t.text.endswith('_v') else len(x.parts) == 3 and x.parts[2][0].text == 'value'):
                return self.trait_value(t, t.text.removesuffix('_v'), args)
            refuse(x.parts[1][0], 'this name of the standard library')
        found = self.static(self.struct_of(x), x.parts[1][0])
        if found is None:
            refuse(x.parts[1][0], 'this member')
        return found

    def static_call(self, x, f, t, args):
        struct = self.struct_of(f)
        found = self.members(struct).get(t.text) if struct in self.unit.classes else None
        if found.__class__ is not list or not all('static' in m.words for m in found):
            refuse(t, 'this member')
        return self.called(t, found, x.args, args, struct)

    def method(self, x, f):
        """Translates x.NAME(...) of an array argument, a complex number or a class."""
        v, t = self.value(f.x), f.name
        if v.members is not None:
            found = v.members.get(t.text)
            if not found or t.text == 'ndim':
                refuse(t if v.array else v.at, 'this member')
            self.uses_index(found)
            if found.__class__ is Value:
                return found
            return Value('', Pointer(SCALARS['long'], ''), at=t, table=found)
        if is_complex(v.type):
            return self.complex_method(x, v, t)
        if f.arrow and v.type.__class__ is Pointer:
            v = self.element(v, '0', '(*%s)' % v.text)
        struct = v.type
        found = self.members(struct).get(t.text) if struct in self.unit.classes else None
        if found.__class__ is not list:
            refuse(t, 'this member')
        return self.method_call(x, t, struct, v, found, None)

    def method_call(self, x, t, struct, v, found, args):
        if all('static' in m.words for m in found):
            return self.called(t, found, x.args, args, struct)
        if v.home is None:
            refuse(t, 'a method of a temporary value')
        made = self.called(t, found, x.args, args, struct, v.home)
        pointer = self.address(t, v).text
        name, rest = made.text.split('(', 1)
        made.text = '%s(%s%s%s' % (name, pointer, '' if rest == ')' else ', ', rest)
        return made

    # ------------------------------------------------------------------ constructors
    def constructors(self, type):
        """Returns the constructors of a class, or None."""
        return self.members(type).get(tree.CONSTRUCTOR) if type.__class__ is Struct and type in self.unit.classes else None

    def constructed(self, t, type, args):
        """Returns the text of a class that a constructor makes of arguments, trees or Values."""
        return self.called(t, self.constructors(type), args, None, type, '').text

    def begins_itself(self, type):
        """Does a variable of this type need initialisation even without an initialiser?"""
        while type.__class__ is Array:
            type = type.to
        found = self.constructors(type) or ()
        return any(not f.parameters and getattr(f.body, 'body', True) for f in found) or type.__class__ is Struct and not found and any(
            map(self.begins_itself, type.fields.values()))

    # ------------------------------------------------------------------ functions of CUDA's
    def known(self, t, x):
        name = t.text
        if name in BARRIERS:
            if x.args:
                refuse(t, 'arguments of this')
            return Value(BARRIERS[name], VOID)
        if name in ('nan', 'nanf') and len(x.args) == 1 and x.args[0].__class__ is tree.String:
            return Value(*('((double)NAN)', DOUBLE) if name == 'nan' and self.unit.float64 else ('NAN', FLOAT))
        if name == 'assert' or name in NOTHING:
            return Value('(void)0', VOID)
        if name == 'printf':
            return self.printed(t, x)
        if name.startswith('make_') and name[5:] in VECTORS:
            struct = self.unit.vector(name[5:])
            if len(x.args) != len(struct.fields):
                refuse(t, 'a vector of %d numbers of %d' % (len(struct.fields), len(x.args)))
            return Value(self.literal(tree.Braces(t, x.args), struct), struct)
        values = self.values(x.args)
        if any(v.__class__ is tree.Braces for v in values):
            refuse(t, 'a list in braces')
        if name in LOADS and len(values) == 1 and values[0].type.__class__ is Pointer:
            v = self.element(values[0], '0')
            return Value(v.text, v.type, at=v.at)
        if name in STORES and len(values) == 2 and values[0].type.__class__ is Pointer:
            v = self.stored(self.element(values[0], '0'), '', values[1], t)
            return Value('((void)(%s))' % v.text, VOID, at=v.at)
        if name in COMPLEX_FUNCTIONS and name not in opencl.MATH or any(
                is_complex(v.type) or v.type.__class__ is Pointer and is_complex(v.type.to) for v in values):
            return self.complex_call(t, values)
        text = ', '.join(v.text for v in values)
        at = next((v.at for v in values if v.at), None)
        if atomic_of(name) in opencl.ATOMICS:
            return self.atomic(t, values)
        if name not in opencl.MATH:
            refuse(t, 'this word' if name.startswith(OF_CUDA) or name.startswith('__') else self.why(name) if name in (
                'malloc', 'free', 'thrust') else 'an unknown function')
        count, result, kinds = opencl.signature(name)
        if len(values) != count:
            refuse(t, 'a call with %d arguments of a function that takes another number' % len(values))
        numbers = [v.type for v, kind in zip(values, kinds) if not kind]
        for v, kind in zip(values, kinds):
            kind = self.result(name, numbers).name if kind == '=' and all(map(is_number, numbers)) else kind
            if kind and (v.type.__class__ is not Pointer or v.type.space != '' or v.type.to is not SCALARS[kind]):
                refuse(t, 'a result argument other than a variable of type %s' % kind)
            if not kind and not is_number(v.type):
                refuse(t, 'a call with %s' % v.type)
        self.unit.needs.add(name)
        if result:
            type = SCALARS[result]
            if type is DOUBLE and not self.unit.float64:
                refuse(t, 'double, which the device lacks,')
        else:
            type = self.result(name, numbers) if name not in intrinsics.DOTS else UINT if all(n is UINT for n in numbers) else INT
        if name in intrinsics.SEVERAL or name in intrinsics.DOTS or name in intrinsics.OUTS:  # each overload has a single type
            text = ', '.join(v.text if kind else '(%s)(%s)' % (type.register, v.text) for v, kind in zip(values, kinds))
        return Value('ct_%s(%s)' % (name, text), type, at=at)

    def result(self, name, types):
        """Returns the type of a function that takes several."""
        real = DOUBLE if self.unit.float64 else FLOAT
        if name in ('min', 'max') and types[0] is types[1] is HALF:
            return HALF
        type = promoted(types[0])
        for other in types[1:]:
            type = joined(type, other)
        if name in ('ldexp', 'scalbn', 'scalbln'):
            type = promoted(types[0])
        return real if is_integer(type) and name not in ('min', 'max', 'abs') else type

    def atomic(self, t, values):
        name = atomic_of(t.text)
        if len(values) != (3 if name == 'atomicCAS' else 2):
            refuse(t, 'a call with %d arguments of a function that takes another number' % len(values))
        pointer = values[0].type
        if pointer.__class__ is not Pointer or pointer.space not in ('__global', '__local'):
            refuse(t, 'an atomic operation on private memory')
        if pointer.to.__class__ is not Scalar or pointer.to.name not in opencl.ATOMICS[name] or (
                pointer.to is HALF and pointer.space != '__global'):
            refuse(t, 'an atomic operation on %s' % pointer.to)
        self.unit.needs.add(name)
        texts = [values[0].text]
        for v in values[1:]:
            if not is_number(v.type):
                refuse(t, 'a call with %s' % v.type)
            texts.append(v.text if v.type is pointer.to else '(%s)(%s)' % (pointer.to.register, v.text))
        return Value('ct_%s(%s)' % (name, ', '.join(texts)), pointer.to, at=values[0].at)

    def printed(self, t, x):
        if not x.args or x.args[0].__class__ is not tree.String or x.args[0].at.text[0] != '"':
            refuse(t, 'a format that is not a string literal')
        values = [self.rvalue(a) for a in x.args[1:]]
        for v in values:
            if not is_number(v.type):
                refuse(t, 'a call with %s' % v.type)
        text = x.args[0].at.text.replace('ll', 'l') if '%' in x.args[0].at.text else x.args[0].at.text
        return Value('printf(%s)' % ', '.join([text] + [v.text for v in values]), INT)

    def standard(self, x, f):
        """Translates std::numeric_limits<T>::NAME()."""
        if [t.text for t, _ in f.parts[:2]] == ['std', 'numeric_limits'] and len(f.parts) == 3 and f.parts[1][1]:
            type, t = self.argument(f.parts[1][1][0]), f.parts[2][0]
            found = opencl.NUMERIC.get(t.text, {}).get(type.name) if type.__class__ is Scalar else None
            if found and not x.args:
                const = opencl.LIMITS.get(found) if is_integer(type) else None
                return Value('((%s)%s)' % (type.register, found), type, const=const)
            refuse(t, 'this limit of %s' % type)
        refuse(f.parts[-1][0], 'this name of the standard library')


def by_reference(parameter, v):
    """Is an argument passed by address, as a reference that may be modified?"""
    return parameter.type.reference and v.__class__ is Value and (not const_of(parameter.type) or v.type.__class__ is Array)


def const_of(type):
    return getattr(type.spec, 'const', False) and not type.stars


def fit(v, type, reference):
    """Returns the conversion penalty of a value for a type: 0 for an exact match, None for no conversion."""
    if v.__class__ is tree.Braces:
        return 1
    given = v.type if reference else decayed(v.type, v.home)
    if reference and v.home is None:
        return None
    if given is type or given == type:
        return 0
    if is_number(given) and is_number(type):
        return None if reference else 1 if promoted(given) is type else 2
    if type.__class__ is Pointer:
        if v.null:
            return 2
        if given.__class__ is Pointer:
            a, b = type, given
            while a.__class__ is Pointer and b.__class__ is Pointer and (a.space is None or a.space == b.space):
                a, b = a.to, b.to
            if a == b:
                return 0
            return 1 if type.to is VOID else None
    if is_complex(type) and (is_number(given) or is_complex(given)):
        return None if reference else 3
    return None


