"""cupy._core.create_ufunc: elementwise functions defined by CUDA C++ text for each combination of dtypes."""

import numpy

from catenary import _core
from catenary.cupy._array import asarray, ndarray
from catenary.cupy._kernels import ElementwiseKernel

_RANKS = 'biufc'  # kinds in ascending order
# the dtype of a Python number, and the kinds of array dtypes that it adopts
_NUMBERS = {bool: ('?', 'biufc'), int: ('l', 'iufc'), float: ('d', 'fc'), complex: ('D', 'c')}


def _kinds(args):
    """Returns for each argument its dtype, or the kinds that a Python number may adopt, as it has no dtype of its own beside arrays."""
    strongest = max((_RANKS.index(a.dtype.kind) for a in args if type(a) not in _NUMBERS), default=-1)
    for a in args:
        if type(a) not in _NUMBERS:
            yield a.dtype
        else:
            own, kinds = _NUMBERS[type(a)]
            yield numpy.dtype(own) if _RANKS.index(kinds[0]) > strongest else kinds


class _Row:
    """A loop: the dtypes of inputs and outputs, and the text."""

    def __init__(self, name, types, routine):
        given, _, made = types.partition('->')
        self.types, self.routine = types if made else f'{given}->{given}', routine
        self.inputs, self.outputs = (tuple(map(numpy.dtype, part)) for part in (given, made or given))

    def takes(self, kinds):
        return all(dtype.kind in kind if isinstance(kind, str) else numpy.can_cast(kind, dtype) for kind, dtype in zip(kinds, self.inputs))


class TypedUfunc:
    """An elementwise function of arrays and numbers. It uses the first row of dtypes to which all arguments can be cast safely."""

    def __init__(self, name, rows, preamble, loop_prep, doc, casting):
        self.name = self.__name__ = name
        self.__doc__ = doc
        self._rows, self._preamble, self._loop_prep, self._casting = rows, preamble, loop_prep, casting
        self.nin, self.nout = len(rows[0].inputs), len(rows[0].outputs)
        self.nargs = self.nin + self.nout
        self._kernels = {}

    def __repr__(self):
        return f'<ufunc {self.name!r}>'

    @property
    def types(self):
        return [row.types for row in self._rows]

    def _row(self, args, dtype):
        kinds = list(_kinds(args))
        for row in self._rows:
            if row.outputs[0] == dtype if dtype is not None else row.takes(kinds):
                return row
        raise TypeError('%s: none of the types (%s) accepts %s' % (self.name, ', '.join(self.types), dtype if dtype is not None else ', '.join(
            str(a.dtype) if hasattr(a, 'dtype') else type(a).__name__ for a in args)))

    def _kernel(self, row):
        if row not in self._kernels:
            named = {f'{what}{k}': dtype for what, dtypes in (('in', row.inputs), ('out', row.outputs)) for k, dtype in enumerate(dtypes)}
            takes = [f'{dtype.name} {name}' for name, dtype in named.items()]
            kernel = ElementwiseKernel(', '.join(takes[:self.nin]), ', '.join(takes[self.nin:]), row.routine, self.name, preamble=self._preamble,
                                       loop_prep=self._loop_prep, return_tuple=True)
            kernel.named_types = {f'{name}_type': dtype for name, dtype in named.items()}
            self._kernels[row] = kernel
        return self._kernels[row]

    def __call__(self, *args, out=None, dtype=None, casting=None):
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(f'Wrong number of arguments for {self.name!r}. It must be either {self.nin} or {self.nargs} (with outputs), but given {len(args)}.')
        args, outs = args[:self.nin], args[self.nin:]
        if out is not None:
            if outs:
                raise ValueError(f"{self.name}: cannot specify 'out' as both a positional and keyword argument")
            outs = out if isinstance(out, tuple) else (out,)
            if len(outs) != self.nout:
                raise ValueError(f"{self.name}: 'out' must be a tuple of {self.nout} arrays")
        for a in args:
            if not isinstance(a, (ndarray, numpy.generic, bool, int, float, complex)):
                raise TypeError(f'{self.name}: unsupported type {type(a)}; expected cupy.ndarray or a number')
        row = self._row(args, None if dtype is None else numpy.dtype(dtype))
        inputs = [a.astype(to, copy=False) if isinstance(a, ndarray) else a for a, to in zip(args, row.inputs)]
        if not any(isinstance(a, ndarray) for a in inputs):
            inputs[0] = asarray(inputs[0], row.inputs[0])
        outs = outs + (None,) * (self.nout - len(outs))
        shape = tuple(_core._broadcast_shapes([a.shape for a in (*inputs, *outs) if isinstance(a, ndarray)]))
        for given, made in zip(outs, row.outputs):
            if given is not None and given.shape != shape:
                raise ValueError(f'{self.name}: the output has shape {given.shape}, expected {shape}')
            if given is not None and not numpy.can_cast(made, given.dtype, casting or self._casting):
                raise TypeError(f'{self.name}: output of {made} cannot be cast to {given.dtype} by casting={casting or self._casting!r}')
        beside = next(a for a in inputs if isinstance(a, ndarray))
        results = [given if given is not None and given.dtype == made else _core.empty_like(beside, made, 'C', None, shape)
                   for given, made in zip(outs, row.outputs)]
        self._kernel(row)(*inputs, *results)
        for k, given in enumerate(outs):
            if given is not None and results[k] is not given:
                given[...] = results[k].astype(given.dtype)
                results[k] = given
        return results[0] if self.nout == 1 else tuple(results)


def create_ufunc(name, ops, routine=None, preamble='', doc='', default_casting=None, loop_prep='', out_ops=None, **more):
    """Makes an elementwise function of rows such as 'ff->f', or ('ff->f', text) with its own text. The text computes out0 from in0 and in1, whose
    types are in0_type and out0_type."""
    if out_ops is not None or any(value is not None for value in more.values()):
        raise NotImplementedError(f'create_ufunc: {name}: out_ops and {", ".join(more)} are not supported')
    rows = [_Row(name, *(op if isinstance(op, tuple) else (op, routine))) for op in ops]
    return TypedUfunc(name, rows, preamble, loop_prep, doc, default_casting or 'same_kind')
