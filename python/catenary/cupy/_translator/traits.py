"""Traits of types (std and cupy::type_traits) in kernels for OpenCL: types and numbers that are known when a kernel is written."""

from catenary.cupy._translator.reader import refuse
from catenary.cupy._translator.types import BOOL, SCALARS, VOID, Array, Pointer, is_integer, is_number
from catenary.cupy._translator.values import Value

_REALS = ('half', 'float', 'double')
TESTS = {
    'is_integral': is_integer, 'is_arithmetic': is_number, 'is_floating_point': lambda type: is_number(type) and type.name in _REALS,
    'is_pointer': lambda type: type.__class__ is Pointer, 'is_void': lambda type: type is VOID,
    'is_signed': lambda type: is_number(type) and type.name[0] != 'u' and type is not BOOL,
    'is_unsigned': lambda type: is_number(type) and (type.name[0] == 'u' or type is BOOL)}


class Traits:
    """Writes traits."""

    def trait_type(self, spec):
        """Returns the type of std::NAME<...>::type and std::NAME_t<...>."""
        name = spec.base.removeprefix('std::').removesuffix('_t')
        given = [self.argument(x) for x in spec.args]
        if spec.member is not None and spec.member.text != 'type':
            refuse(spec.member, 'this type')
        if name == 'conditional' and len(given) == 3 and given[0].__class__ is Value:
            return given[1] if given[0].const else given[2]
        if name == 'enable_if' and given and given[0].__class__ is Value:
            if not given[0].const:
                refuse(spec.at, 'a condition that does not hold here')
            return given[1] if len(given) > 1 else VOID
        if len(given) != 1 or given[0].__class__ is Value or name in ('conditional', 'enable_if'):
            refuse(spec.at, 'this type')
        type = given[0]
        if name == 'remove_pointer':
            return type.to if type.__class__ is Pointer else type
        if name in ('make_signed', 'make_unsigned'):
            if not is_integer(type) or type is BOOL:
                refuse(spec.at, '%s of %s' % (name, type))
            plain = type.name.removeprefix('u')
            return SCALARS[plain if name == 'make_signed' else 'u' + plain]
        return Pointer(type.to, None) if name == 'decay' and type.__class__ is Array else type  # const and references are already removed

    def trait_value(self, t, name, args):
        """Returns the Value of std::NAME<...>::value and std::NAME_v<...>."""
        given = [self.argument(x) for x in args]
        if any(x.__class__ is Value for x in given) or len(given) != (2 if name == 'is_same' else 1):
            refuse(t, 'a template with this argument')
        holds = given[0] is given[1] or given[0] == given[1] if name == 'is_same' else TESTS[name](given[0])
        return Value(str(int(holds)), BOOL, const=int(holds), at=t)
