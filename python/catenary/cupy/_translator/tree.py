"""The syntax tree that `parse` makes of CUDA C++ and `write` reads. It is immutable, so that it can be reused for other dtypes.

Each node has `at`, the token that messages name. A type is a `Spec` (a name with template arguments) and its declarator's additions (`TypeId`:
stars, a reference, array sizes).
"""


def _node(name, fields, doc=''):
    """Returns a class with these fields, in order."""
    fields = fields.split()
    body = '\n'.join(['class %s:' % name, '    __slots__ = %r' % (tuple(fields),), '    def __init__(self, %s):' % ', '.join(fields)]
                     + ['        self.%s = %s' % (f, f) for f in fields])
    space = {'__name__': __name__}
    exec(body, space)  # generated like dataclasses, as constructors take most of the time
    space[name].__doc__ = doc
    return space[name]


# types
Spec = _node('Spec', 'at base args member const', 'A word for a type, with the arguments of a template; `member` is a type in that one.')
TypeId = _node('TypeId', 'at spec stars reference sizes', 'A type: `sizes` are those of an array, None where one is empty.')

# expressions
Number = _node('Number', 'at')
String = _node('String', 'at')
Name = _node('Name', 'at parts', '`parts`: tokens with the arguments of a template or None; several are a qualified name.')
Unary = _node('Unary', 'at op x')
Step = _node('Step', 'at op x before', '++ and --')
Binary = _node('Binary', 'at op left right')
Assign = _node('Assign', 'at op left right')
Choice = _node('Choice', 'at test yes no')
Cast = _node('Cast', 'at type x')
Make = _node('Make', 'at type args braces', 'T(x), T{x, y}')
Call = _node('Call', 'at function args')
Index = _node('Index', 'at x index')
Member = _node('Member', 'at x arrow name')
Paren = _node('Paren', 'at x')
Comma = _node('Comma', 'at left right')
SizeOf = _node('SizeOf', 'at type x')
Braces = _node('Braces', 'at items')

# statements
Block = _node('Block', 'at body')
Declaration = _node('Declaration', 'at words spec names', '`words`: its specifiers; `names`: Declarators.')
Declarator = _node('Declarator', 'at type value', '`value`: an expression, Braces, a list of arguments, or None.')
Evaluate = _node('Evaluate', 'at x')
If = _node('If', 'at test yes no constant')
While = _node('While', 'at test body')
Do = _node('Do', 'at body test')
For = _node('For', 'at first test step body')
Switch = _node('Switch', 'at x body')
Case = _node('Case', 'at value', '`value` is None for `default`.')
Jump = _node('Jump', 'at')
Return = _node('Return', 'at x')
Pragma = _node('Pragma', 'at')
Check = _node('Check', 'at test', 'static_assert')

Refused = _node('Refused', 'at words', 'A body that cannot be read, and why: it is refused where it is used.')

# global declarations
CONSTRUCTOR = '(constructor)'
Typedef = _node('Typedef', 'at name type template')
Template = _node('Template', 'at name type default', 'A parameter: `type` is None for a type, else what the number is.')
Parameter = _node('Parameter', 'at name type default')
Function = _node('Function', 'at name template result parameters body words owner', 'A constructor has the name CONSTRUCTOR and no result.')
Struct = _node('Struct', 'at name template special fields constants methods types', '`special`: the arguments that it is for.')
Enum = _node('Enum', 'at name items')
