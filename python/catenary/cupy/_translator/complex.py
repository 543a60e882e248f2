"""complex<float> and complex<double> in kernels for OpenCL: structs of two numbers (c64, c128), computed by the functions of the
library's prelude (complex.inc), with its bits, as _headers/complex.cuh does it in C++."""

from catenary.cupy._translator.reader import refuse
from catenary.cupy._translator.types import BOOL, COMPLEX, DOUBLE, SCALARS, VOID, Pointer, is_complex, is_number
from catenary.cupy._translator.values import Value

OPERATORS = {'+': 'add', '-': 'subtract', '*': 'multiply', '/': 'divide', '==': 'equal', '!=': 'not_equal'}
# CUDA C++ name -> name in the library. Names of functions with a real result end with the type.
OF_ONE = {**{name: name for name in 'exp expm1 log log2 log10 log1p sqrt sin cos tan sinh cosh tanh'.split()},
          **{short: 'arc' + short[1:] for short in 'asin acos atan asinh acosh atanh'.split()}, 'conj': 'conjugate'}
PARTS = {'real': 're', 'imag': 'im'}
CU_OPERATORS = {'ct_cadd': 'add', 'ct_csub': 'subtract', 'ct_cmul': 'multiply', 'ct_cdiv': 'divide'}
TESTS = frozenset(('isnan', 'isinf', 'isfinite'))


class Complex:
    """Translates complex numbers."""

    def complex_type(self, spec):
        """Returns the type of complex<...>."""
        part = self.argument(spec.args[0]) if spec.args and len(spec.args) == 1 else None
        found = next((SCALARS[name] for name, type in COMPLEX.items() if type is part), None)
        if found is None:
            refuse(spec.at, 'this type')
        if part is DOUBLE and not self.unit.float64:
            refuse(spec.at, 'double, which the device lacks,')
        return found

    def wider(self, a, b):
        """Returns the common type of two numbers of which at least one is complex: the wider complex type."""
        return SCALARS['c128' if SCALARS['c128'] in (a.type, b.type) else 'c64']

    def to_complex(self, v, type, at):
        """Returns the text of a number as a complex one."""
        if v.type is type:
            return v.text
        if is_number(v.type):
            return 'ct_complex_%s(%s, 0)' % (type.name, v.text)
        if not is_complex(v.type):
            refuse(v.at or at, '%s where %s is expected' % (v.type, type))
        self.unit.needs.add('to_' + type.name)
        return 'ct_to_%s(%s)' % (type.name, v.text)

    def make_complex(self, at, type, values):
        if len(values) == 2 and all(is_number(v.type) for v in values):
            return Value('ct_complex_%s(%s, %s)' % (type.name, values[0].text, values[1].text), type, at=values[0].at)
        if len(values) > 1:
            refuse(at, 'a complex number of these')
        return Value(self.to_complex(values[0], type, at) if values else 'ct_complex_%s(0, 0)' % type.name, type)

    def complex_unary(self, x, v):
        if x.op not in '+-':
            refuse(x.at, 'this operator on a complex number')
        return Value('ct_negative_%s(%s)' % (v.type.name, v.text) if x.op == '-' else v.text, v.type, at=v.at)

    def complex_binary(self, x, a, b):
        name, type = OPERATORS.get(x.op), self.wider(a, b)
        if name is None:
            refuse(x.at, 'this operator on a complex number')
        text = 'ct_%s_%s(%s, %s)' % (name, type.name, self.to_complex(a, type, x.at), self.to_complex(b, type, x.at))
        return Value(text, BOOL if x.op in ('==', '!=') else type, at=a.at or b.at)

    def complex_method(self, x, v, t):
        """Translates z.real(), z.imag() and z.real(x)."""
        part = PARTS.get(t.text)
        if part is None or len(x.args) > 1:
            refuse(t, 'this member')
        text = '%s.%s' % (v.text if v.text.isidentifier() or v.text[-1] in ')]' else '(%s)' % v.text, part)
        if not x.args:
            return Value(text, COMPLEX[v.type.name], at=v.at)
        if v.home is None:
            refuse(v.at or t, 'an assignment to an rvalue')
        return Value('%s = %s' % (text, self.converted(self.rvalue(x.args[0]), COMPLEX[v.type.name], t)), VOID)

    def complex_call(self, t, values):
        """Returns a function of complex numbers."""
        name, first = t.text, values[0] if values else refuse(t, 'a call without arguments')
        if name == 'atomicAdd' and len(values) == 2 and first.type.__class__ is Pointer and is_complex(first.type.to):
            if first.type.space != '__global':
                refuse(t, 'an atomic operation on %s there' % first.type.to)
            self.unit.needs.update(('atomicAdd', 'add_' + first.type.to.name))
            return Value('ct_add_to_%s(%s, %s)' % (first.type.to.name, first.text, self.converted(values[1], first.type.to, t)), VOID)
        if name == 'polar' and len(values) in (1, 2) and all(is_number(v.type) for v in values):
            type = SCALARS['c128' if first.type is DOUBLE else 'c64']
            self.unit.needs.add('of_' + type.name)
            return Value('ct_polar_%s(%s, %s)' % (type.name, first.text, values[1].text if len(values) == 2 else '0'), type)
        if name == 'pow' and len(values) == 2:
            type = self.wider(*values)
            return Value('ct_power_%s(%s)' % (type.name, ', '.join(self.to_complex(v, type, t) for v in values)), type, at=first.at)
        if name in CU_OPERATORS and len(values) == 2 or name == 'ct_cfma' and len(values) == 3:
            type = self.wider(*values[:2])
            texts = [self.to_complex(v, type, t) for v in values]
            text = 'ct_%s_%s(%s, %s)' % (CU_OPERATORS.get(name, 'multiply'), type.name, *texts[:2])
            return Value(text if len(texts) == 2 else 'ct_add_%s(%s, %s)' % (type.name, text, texts[2]), type, at=first.at)
        if len(values) != 1 or not is_complex(first.type):
            refuse(t, 'a call with %s' % ', '.join(str(v.type) for v in values))
        kind, part = first.type.name, COMPLEX[first.type.name]
        if name in OF_ONE:
            return Value('ct_%s_%s(%s)' % (OF_ONE[name], kind, first.text), first.type, at=first.at)
        if name in TESTS:
            return Value('ct_%s_%s(%s)' % (name, kind, first.text), BOOL, at=first.at)
        if name == 'abs':
            return Value('ct_absolute_%s(%s)' % (kind, first.text), part, at=first.at)
        if name in ('arg', 'norm', 'real', 'imag'):
            self.unit.needs.add('of_' + kind)
            return Value('ct_%s_%s(%s)' % (name, kind, first.text), part, at=first.at)
        refuse(t, 'this function of complex numbers')
