"""ufuncs composed of other functions: those of NumPy and CuPy that are not rows of elementwise.def."""

import numpy

from catenary import _core
from catenary.cupy._array import asarray, at_on_host, ndarray, refuse_complex
from catenary.cupy._arguments import delivered as _delivered, operand as _operand


def _letter(dtype):
    return numpy.dtype(dtype).char


class Made(_core.ufunc):
    """A ufunc computed by `function`, which takes `nin` arrays or numbers and returns an array or a tuple of `nout` arrays.

    `types` lists its loops if operands and results differ in kind ('di->d'). dtype= then selects the dtype of the results, as in NumPy, and
    otherwise that of all.
    """

    nin = nout = nargs = 0  # the base class has those of its row

    def __init__(self, function, nin, nout=1, types=None):
        super().__init__()
        self._function, self._types = function, types
        self.nin, self.nout, self.nargs = nin, nout, nin + nout
        self._name, self._doc = function.__name__, function.__doc__

    __name__ = property(lambda self: self._name)
    __doc__ = property(lambda self: self._doc)
    __module__ = 'catenary.cupy'

    def __repr__(self):
        return f"<ufunc '{self._name}'>"

    def __reduce__(self):
        return self._name

    def __call__(self, *args, out=None, where=True, casting='same_kind', order='K', dtype=None):
        given, name = len(args), self._name
        if not self.nin <= given <= self.nargs:
            raise TypeError(f'{name}() takes from {self.nin} to {self.nargs} positional arguments but {given} were given')
        if given > self.nin and out is not None:
            raise TypeError(f"{name}: cannot specify 'out' as both a positional and keyword argument")
        args, outs = args[:self.nin], args[self.nin:] if out is None else out if isinstance(out, tuple) else (out,)
        if len(outs) > self.nout:
            raise ValueError(f'{name}: out must have {self.nout} arrays, not {len(outs)}')
        for x in args:
            if isinstance(x, numpy.ndarray):
                _operand(x, name)  # raises for this operand
        numpy.can_cast('b', 'b', casting)  # raises ValueError for an unknown casting rule
        if dtype is not None:
            dtypes = (dtype,) * self.nin if self._types is None else self._dtypes_for(numpy.dtype(dtype), args)
            args = [x.astype(dtype, casting=casting) if isinstance(x, ndarray) else asarray(_operand(x, name), dtype) for x, dtype in zip(args, dtypes)]
        results = self._function(*args)
        results = results if self.nout > 1 else (results,)
        if dtype is not None and results[0].dtype != dtype:
            raise TypeError(f'{name}: no loop with the result dtype {numpy.dtype(dtype)}')
        results = tuple(self._written(result, out, where, casting, order) for result, out in zip(results, (*outs, *[None] * self.nout)))
        return results if self.nout > 1 else results[0]

    def _dtypes_for(self, dtype, args):
        """Returns the operands' dtypes for a requested result dtype: the first loop to which all operands can be cast safely."""
        given = [_operand(x, self._name).dtype for x in args]
        for takes, gives in (t.split('->') for t in self._types):
            if all(numpy.dtype(letter) == dtype for letter in gives) and all(map(numpy.can_cast, given, takes)):
                return takes
        raise TypeError(f'{self._name}: no loop with the result dtype {dtype} takes {", ".join(map(str, given))}')

    def _written(self, result, out, where, casting, order):
        if out is None and where is True:
            return result if order == 'K' else _core._copy(result, order)
        where = None if where is True else where if isinstance(where, ndarray) else asarray(where, bool)
        if out is None:
            out = _core.zeros(tuple(_core._broadcast_shapes([result.shape, where.shape])), result.dtype)
        elif not isinstance(out, ndarray):
            raise TypeError(f'{self._name}: out must be a cupy.ndarray, not {type(out)}')
        shapes = [out.shape, result.shape] + ([] if where is None else [where.shape])
        try:
            fits = tuple(_core._broadcast_shapes(shapes)) == out.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f'{self._name}: out has shape {out.shape}, the result has {result.shape}')
        if where is None:
            _core.copyto(out, result, casting)
        else:
            _core.copyto(out, result, casting, _core.broadcast_to(where, out.shape))
        return out

    @property
    def types(self):
        """The loops: 'll->l'."""
        if self._types is not None:
            return list(self._types)
        types = []
        for letter in '?bBhHiIlLefdFD':
            try:
                results = self._function(*[_core.empty(0, letter)] * self.nin)
            except TypeError:
                continue
            types.append(letter * self.nin + '->' + ''.join(r.dtype.char for r in (results if self.nout > 1 else (results,))))
        return types

    def at(self, a, indices, b=None):
        """Computes a[indices] op= b by NumPy on the host. Raises TypeError if NumPy has no such ufunc."""
        if not isinstance(getattr(numpy, self._name, None), numpy.ufunc):
            raise TypeError(f'{self._name}.at: not defined')
        at_on_host(self, a, indices, b)


def made(nin, nout=1, types=None):
    """Decorates a function to make it a ufunc."""
    return lambda function: Made(function, nin, nout, types and types.split())


@made(1)
def positive(x):
    """Returns the elements unchanged in a new array. Raises TypeError for bools."""
    return _core.positive(_operand(x, 'positive'))


@made(1)
def fabs(x):
    """Returns the absolute values of real numbers as floats."""
    return _core.fabs(_operand(x, 'fabs'))


@made(1)
def fix(x):
    """Rounds towards 0."""
    return _core.fix(_operand(x, 'fix'))


@made(2, 1, 'ei->e fi->f el->e fl->f di->d dl->d')
def ldexp(x1, x2):
    """Returns x1 * 2**x2 for integers x2."""
    refuse_complex('ldexp', x1, x2)
    return _core.ldexp(x1, x2)


@made(1, 2, 'e->ei f->fi d->di')
def frexp(x):
    """Returns (mantissas in [0.5, 1), exponents of 2)."""
    refuse_complex('frexp', x)
    return _core.frexp(_operand(x, 'frexp'))


@made(1, 2)
def modf(x):
    """Returns (fractional parts, integral parts), with the numbers' signs."""
    refuse_complex('modf', x)
    return _core.modf(_operand(x, 'modf'))


@made(2, 2)
def divmod(x1, x2):
    """Returns (floor_divide, remainder)."""
    return _core.ufuncs['floor_divide'](x1, x2), _core.ufuncs['remainder'](x1, x2)


@made(2)
def float_power(x1, x2):
    """Returns x1**x2 in float64, or in complex128 if either is complex."""
    dtype = numpy.result_type(float, *(x.dtype if isinstance(x, ndarray) else x for x in (x1, x2)))
    if isinstance(x1, ndarray) and not isinstance(x2, ndarray) and x2 == 0.5 and dtype == float:
        with x1.device:
            x2 = asarray(x2, dtype)  # with a Python number it would be a square root, which differs for -inf and -0
    return _core.ufuncs['power'](x1, x2, dtype=dtype)


@made(1)
def sinc(x):
    """Returns sin(pi x) / (pi x), and 1 at 0."""
    y = _core.ufuncs['multiply'](_operand(x, 'sinc'), numpy.pi)
    return _core.where(_core.ufuncs['equal'](y, 0), 1.0, _core.ufuncs['divide'](_core.ufuncs['sin'](y), y))
