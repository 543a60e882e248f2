"""Parses statements and declarations of CUDA C++, as `parse` does expressions."""

from catenary.cupy._translator import tree
from catenary.cupy._translator.parse import CLASS, END, OTHER, TEMPLATE, TYPE, Parser
from catenary.cupy._translator.reader import BRACKETS, CLOSING, QUALIFIERS, REFUSED, SPECIFIERS, Token, Untranslatable, refuse

STORAGE = frozenset(('__shared__', '__constant__', '__managed__', 'extern', '__device__')) | QUALIFIERS | SPECIFIERS
_CLASSES = frozenset(('struct', 'class', 'enum', 'typedef', 'using'))
JUMPS = frozenset(('break', 'continue'))


class Statements(Parser):
    """Parses the contents of functions and of the global scope."""

    # ------------------------------------------------------------------ statements
    def statements(self, end=None):
        """Parses statements up to `end` or the end of the text. The last one may lack its semicolon."""
        found = []
        while self.t is not END if end is None else self.t.text != end:
            if not self.accept(';'):
                found.append(self.statement())
        return tuple(found)

    def block(self):
        t = self.expect('{')
        self.scopes.append({})
        body = self.statements('}')
        self.scopes.pop()
        self.take()
        return tree.Block(t, body)

    def ended(self, node):
        if self.t is not END:
            self.expect(';')
        return node

    def statement(self):
        t = self.t
        if t.kind == 'id':
            way = _WAYS.get(t.text)
            if way:
                return way(self)
            if t.text in JUMPS:
                return self.ended(tree.Jump(self.take()))
            if t.text in REFUSED and self.kind(t.text) is None and self.peek().text not in ('<', '::') and not (
                    t.text == 'using' and self.peek(2).text == '='):
                refuse(t, REFUSED[t.text])
            if self.peek().text == ':' and self.kind(t.text) is not OTHER:
                refuse(t, 'a jump')
            if self.peek().kind == 'id' and self.kind(t.text) is None and self.declaration_words(t):
                refuse(t, REFUSED.get(t.text, 'this word'))
            return self.declaration() or self.evaluated()
        if t.text == '{':
            return self.block()
        if t.kind == 'directive':
            return tree.Pragma(self.take())
        if t.text == ';':
            return tree.Block(self.take(), ())
        return self.evaluated()

    def evaluated(self):
        t = self.t
        return self.ended(tree.Evaluate(t, self.commas()))

    def condition(self):
        self.expect('(')
        return self.inside(self.commas, ')')

    def _if(self):
        t = self.take()
        constant = bool(self.accept('constexpr'))
        test = self.condition()
        yes = self.statement()
        return tree.If(t, test, yes, self.statement() if self.accept('else') else None, constant)

    def _while(self):
        return tree.While(self.take(), self.condition(), self.statement())

    def _do(self):
        t = self.take()
        body = self.statement()
        self.expect('while')
        return self.ended(tree.Do(t, body, self.condition()))

    def _for(self):
        t = self.take()
        self.expect('(')
        self.scopes.append({})
        first = None if self.accept(';') else self.declaration() or self.evaluated()
        if isinstance(first, tree.Declaration) and self.peek(-1).text != ';':
            self.misplaced()
        test = None if self.t.text == ';' else self.commas()
        self.expect(';')
        step = None if self.t.text == ')' else self.commas()
        self.expect(')')
        body = self.statement()
        self.scopes.pop()
        return tree.For(t, first, test, step, body)

    def _switch(self):
        return tree.Switch(self.take(), self.condition(), self.statement())

    def _case(self):
        t = self.take()
        value = self.expression() if t.text == 'case' else None
        self.expect(':')
        return tree.Case(t, value)

    def _return(self):
        t = self.take()
        x = None if self.t.text == ';' or self.t is END else self.braces() if self.t.text == '{' else self.commas()
        return self.ended(tree.Return(t, x))

    def _check(self):
        t = self.take()
        self.expect('(')
        return self.ended(tree.Check(t, self.listed(')')[0]))

    # ------------------------------------------------------------------ declarations
    def words(self):
        """Reads the specifiers before a type. __launch_bounds__ with its arguments is skipped."""
        found = []
        while self.t.text in STORAGE or self.t.text == '__launch_bounds__':
            t = self.take()
            if t.text == '__launch_bounds__':
                self.expect('(')
                self.listed(')')
            else:
                found.append(t.text)
        return found

    def declaration(self):
        """Parses a declaration of variables or of a type. Returns None and consumes nothing if there is none."""
        start, t = self.i, self.t
        if t.text in ('typedef', 'using'):
            return self.typedef()
        if t.text in ('struct', 'class', 'enum') and (self.peek().text == '{' or self.peek(2).text in ('{', ':')):
            return self.enum() if t.text == 'enum' else self.struct((), [])
        found = self.words()
        spec = self.spec()
        if spec is None or self.t.text not in ('*', '&', '&&', '(') and self.t.kind != 'id':
            if found and spec is None and self.t.kind == 'id':
                self.misplaced()
            self.go(start)
            return None
        if self.t.text == '(':
            if self.peek().text not in ('*', '&'):
                self.go(start)
                return None
        elif self.t.kind != 'id':  # `name * x` is a product, even if name is also a type
            at = self.i
            self.stars()
            if self.t.kind != 'id' and self.t.text != '(':
                self.go(start)
                return None
            self.go(at)
        found += [x.text for x in self.ts[start:self.i] if x.text in STORAGE and x.text not in found]
        spec.const = spec.const or 'const' in found or 'constexpr' in found
        names = [self.declarator(spec)]
        while self.accept(','):
            names.append(self.declarator(spec))
        return self.ended(tree.Declaration(t, frozenset(found), spec, tuple(names)))

    def declaration_words(self, t):
        """Is there an unknown word in the position of a type?"""
        return self.peek().text not in REFUSED and t.text not in STORAGE | _CLASSES and self.type_here() is None

    def type_here(self):
        start = self.i
        found = self.spec()
        self.go(start)
        return found

    def declared(self, spec):
        """Returns a declarator without its value: (name, type)."""
        stars, reference = self.stars()
        inner = 0
        if self.t.text == '(':  # a pointer or reference to an array
            self.take()
            inner, more = self.stars()
            reference = reference or more
            at = self.name()
            self.expect(')')
            if self.t.text != '[':
                refuse(at, 'a pointer to a function')
        else:
            at = self.name() if self.t.kind == 'id' else self.t
        sizes = []
        while self.accept('['):
            if self.accept(']'):
                sizes.append(None)
            else:
                sizes.append(self.inside(self.commas, ']'))
        type = tree.TypeId(at, spec, stars, reference, tuple(sizes))
        if inner:
            if len(sizes) != 1 or stars:
                refuse(at, 'a pointer to this')
            type = tree.TypeId(at, type, inner, reference, ())
        return at, type

    def declarator(self, spec):
        if self.t.kind != 'id' and self.t.text not in ('*', '&', '&&', '('):
            self.misplaced()
        at, type = self.declared(spec)
        self.scopes[-1][at.text] = OTHER
        value = None
        if self.accept('='):
            value = self.braces() if self.t.text == '{' else self.expression()
        elif self.t.text == '{':
            value = self.braces()
        elif self.accept('('):
            value = self.listed(')')
        return tree.Declarator(at, type, value)

    def typedef(self):
        """Parses `typedef A B;` and `using B = A;`."""
        t = self.take()
        if t.text == 'using':
            at = self.name()
            if self.t.text != '=':
                refuse(t, REFUSED['using'])
            self.take()
            type = self.type_id()
            if type is None:
                self.misplaced()
        else:
            struct = self.struct((), [], True) if self.t.text == 'struct' and '{' in (self.peek().text, self.peek(2).text) else None
            if struct:
                self.go(self.i - 1)
                at = self.name()
                self.scopes[-1][at.text] = TYPE
                self.expect(';')
                return tree.Struct(at, at.text, (), None, struct.fields, struct.constants, struct.methods, struct.types)
            spec = self.spec()
            if spec is None:
                refuse(t, 'a name for this type')
            at, type = self.declared(spec)
        self.scopes[-1][at.text] = TYPE
        return self.ended(tree.Typedef(t, at.text, type, ()))

    def enum(self):
        t = self.take()
        scoped = self.accept('class') or self.accept('struct')
        name = self.name().text if self.t.kind == 'id' else ''
        if scoped or self.t.text == ':':
            refuse(t, 'an enumeration of its own type')
        self.expect('{')
        items = []
        if name:
            self.scopes[-1][name] = TYPE
        while self.t.text != '}':
            at = self.name()
            self.scopes[-1][at.text] = OTHER
            items.append((at, self.expression() if self.accept('=') else None))
            if not self.accept(','):
                break
        self.expect('}')
        return self.ended(tree.Enum(t, name, tuple(items)))

    # ------------------------------------------------------------------ classes and functions
    def template(self):
        """Returns the parameters behind `template`."""
        self.take()
        opened, found = self.expect('<'), []
        while self.t.text != '>':
            at = self.t
            if at.text in ('typename', 'class'):
                self.take()
                type = None
            else:
                spec = self.spec()
                if spec is None:
                    refuse(at, 'a template parameter that is not a type')
                type = tree.TypeId(at, spec, *self.stars(), ())
            if self.t.text == '...':
                refuse(self.t, 'a variadic template')
            name = self.take().text if self.t.kind == 'id' else ''
            default = None
            if self.accept('='):
                self.angles += 1
                default = self.type_id() if type is None else self.expression(1)
                self.angles -= 1
            found.append(tree.Template(at, name, type, default))
            self.scopes[-1][name] = OTHER if type else TYPE
            if not self.accept(',') and self.t.text != '>':
                refuse(opened, 'a template with this argument')
        self.take()
        return tuple(found)

    def outside(self, end=None):
        """Parses all global declarations."""
        found = []
        while self.t is not END if end is None else self.t.text != end:
            if self.t.kind == 'directive' or self.t.text == ';':
                self.take()
            elif self.t.text == 'extern' and self.peek().text == '"C"' and self.peek(2).text == '{':
                self.go(self.i + 3)
                found += self.outside('}')
                self.take()
            else:
                found += self.top()
        return found

    def top(self):
        if self.t.text == 'template':
            self.scopes.append({})
            template = self.template()
            if self.t.text == 'template':
                refuse(self.t, 'a template inside a template')
            inner = self.scopes.pop()
            return [self.templated_top(template, inner)]
        if self.t.text == 'static_assert':
            return [self._check()]
        if self.t.text in ('union', 'namespace', 'using') and not (self.t.text == 'using' and self.peek(2).text == '='):
            refuse(self.t, 'this kind of declaration')
        start = self.i
        found = self.function((), {})
        if found:
            return [found]
        self.go(start)
        if self.t.text in ('struct', 'class') and self.peek(2).text == ';':  # a forward declaration
            self.take()
            self.scopes[-1][self.name().text] = TYPE
            return []
        found = self.declaration()
        if found is None:
            refuse(self.t, REFUSED.get(self.t.text, 'this kind of declaration'))
        return [found]

    def templated_top(self, template, inner):
        if self.t.text in ('struct', 'class'):
            return self.struct(template, inner)
        if self.t.text == 'using':
            refuse(self.t, 'an alias template')
        found = self.function(template, inner)
        if found is None:
            refuse(self.t, 'a template of this')
        return found

    def function(self, template, inner, owner=None):
        """Parses a function declaration or definition. Returns None if there is none."""
        start = self.i
        found = self.words()
        self.scopes.append(inner)
        try:
            spec = self.spec()
            if spec is None:
                return None
            found += [x.text for x in self.ts[start:self.i] if x.text in STORAGE]
            at = self.t
            stars, reference = self.stars()
            found += self.words()  # __launch_bounds__ may follow the result type
            if self.t.text == 'operator':
                refuse(self.t, REFUSED['operator'])
            if self.t.kind != 'id' or self.peek().text not in ('(', '::'):
                return None
            if self.peek().text == '::':
                refuse(self.t, 'a function of a class')
            name = self.take()
            if not owner and not {'__device__', '__global__', '__host__'} & set(found) and self.t.text == '(' and not self.parameters_follow():
                return None
            result = tree.TypeId(at, spec, stars, reference, ())
            self.scopes[-2][name.text] = TEMPLATE if template else OTHER
            self.scopes.append({})
            parameters = self.unless_refused(self.parameters)
            while self.t.text in ('const', 'noexcept'):
                self.take()
            body = None
            if self.t.text == '{':
                body = self.unless_refused(self.block)
            elif not self.accept(';'):
                self.misplaced()
            if isinstance(parameters, tree.Refused):
                parameters, body = (), body and parameters
            self.scopes.pop()
            return tree.Function(name, name.text, template, result, parameters, body, frozenset(found), owner)
        finally:
            self.scopes.pop()

    def unless_refused(self, what):
        """Parses a bracketed part. If it is rejected, returns Refused and skips to the closing bracket."""
        start, t, scopes = self.i, self.t, len(self.scopes)
        try:
            return what()
        except Untranslatable as error:
            del self.scopes[scopes:]
            self.angles = 0
            self.go(start)
            depth = 0
            while True:
                depth += (self.t.text in BRACKETS) - (self.t.text in CLOSING)
                self.take()
                if not depth:
                    return tree.Refused(t, str(error))

    def parameters_follow(self):
        """Do the brackets contain parameters rather than a value?"""
        start = self.i
        self.take()
        found = self.t.text == ')' or self.spec() is not None
        self.go(start)
        return found

    def parameters(self):
        self.expect('(')
        found = []
        if self.t.text == 'void' and self.peek().text == ')':
            self.take()
        while self.t.text != ')':
            at = self.t
            spec = self.spec()
            if spec is None:
                refuse(at, REFUSED.get(at.text, 'a parameter of this type'))
            name, type = self.declared(spec)
            if name.kind == 'id':
                self.scopes[-1][name.text] = OTHER
            default = self.expression() if self.accept('=') else None
            found.append(tree.Parameter(name, name.text if name.kind == 'id' else '', type, default))
            if not self.accept(',') and self.t.text != ')':
                self.misplaced()
        self.take()
        return tuple(found)

    def struct(self, template, inner, named=False):
        self.take()
        at = self.name() if self.t.kind == 'id' else self.t
        self.scopes[-1][at.text] = CLASS if template or self.scopes[-1].get(at.text) == CLASS else TYPE
        special = None
        if self.t.text == '<':
            special = self.arguments()
            self.scopes[-1][at.text] = CLASS
        if self.t.text == ':':
            refuse(self.t, 'a derived class')
        self.scopes.append(dict(inner or {}))
        if template:
            self.scopes[-1][at.text] = CLASS
        inside = self.unless_refused(lambda: self.members(at))
        self.scopes.pop()
        self.take() if named and self.t.kind == 'id' else self.expect(';')
        if isinstance(inside, tree.Refused):
            inside = inside, (), (), ()
        return tree.Struct(at, at.text, template, special, *inside)

    def members(self, owner):
        """Returns the members of a class: its fields, constants, functions and types."""
        self.expect('{')
        found = [], [], [], []
        self.scopes[-1]['this'] = OTHER
        while self.t.text != '}':
            if self.t.text in ('public', 'private', 'protected') and self.peek().text == ':':
                self.go(self.i + 2)
            elif not self.accept(';'):
                self.member(owner, *found)
        self.take()
        return tuple(map(tuple, found))

    def constructor(self, owner):
        """Parses a constructor, whose member initialisers become the first statements of its body. Returns None for a defaulted copy constructor."""
        at = self.take()
        self.scopes.append({})
        parameters = self.parameters()
        copies = len(parameters) == 1 and getattr(parameters[0].type.spec, 'base', None) == owner.text
        self.accept('noexcept')
        first, body = [], tree.Block(at, ())
        if self.accept('='):
            if self.take().text != 'default':
                refuse(at, 'a constructor that is deleted')
            self.expect(';')
        else:
            if copies:
                refuse(at, 'a constructor that copies')
            if self.accept(':'):
                first.append(self.begun(owner))
                while self.accept(','):
                    first.append(self.begun(owner))
            body = self.unless_refused(self.block)
        self.scopes.pop()
        if isinstance(body, tree.Block):
            body = tree.Block(body.at, (*first, *body.body))
        return [] if copies else [tree.Function(at, tree.CONSTRUCTOR, (), None, parameters, body, frozenset(), owner)]

    def begun(self, owner):
        """Turns a member initialiser MEMBER(VALUE) into `this->MEMBER = VALUE`."""
        at = self.name()
        if at.text == owner.text or self.t.text not in ('(', '{'):
            refuse(at, 'this kind of initialiser')
        values = self.listed(')') if self.accept('(') else self.braces().items
        this = Token('id', 'this', at.line, '', at.source)
        place = tree.Member(at, tree.Name(this, ((this, None),)), True, at)
        return tree.Evaluate(at, tree.Assign(at, '', place, values[0] if len(values) == 1 else tree.Braces(at, values)))

    def member(self, owner, fields, constants, methods, types):
        t = self.t
        start = self.i
        self.words()
        if self.accept('explicit'):
            self.words()
        if self.t.text == '~':
            refuse(self.t, 'a destructor')
        if self.t.text == owner.text and self.peek().text == '(':
            methods += self.constructor(owner)
            return
        self.go(start)
        if t.text == 'template':
            self.scopes.append({})
            template = self.template()
            inner = self.scopes.pop()
            method = self.function(template, inner, owner)
            if method is None:
                refuse(t, 'a template here')
            methods.append(method)
            return
        if t.text in ('struct', 'class', 'union', 'friend', 'virtual'):
            refuse(t, REFUSED.get(t.text, 'a class'))
        if t.text not in ('typedef', 'using', 'enum'):
            method = self.function((), {}, owner)
            if method:
                methods.append(method)
                return
            self.go(start)
        found = self.declaration()
        if found is None:
            self.misplaced()
        if isinstance(found, (tree.Typedef, tree.Enum)):
            types.append(found)
        elif 'static' in found.words:
            constants.append(found)
        else:
            fields.append(found)


_WAYS = {'if': Statements._if, 'while': Statements._while, 'do': Statements._do, 'for': Statements._for,
         'switch': Statements._switch, 'case': Statements._case, 'default': Statements._case, 'return': Statements._return,
         'static_assert': Statements._check}
