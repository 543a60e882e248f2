"""Comparison of gradients with finite differences."""

import contextlib

import numpy

from . import backend, configuration
from .backends import cuda
from .function_node import FunctionNode
from .testing.array import assert_allclose

__all__ = ['NondifferentiableError', 'assert_allclose', 'check_backward', 'check_double_backward', 'numerical_grad']


class NondifferentiableError(Exception):
    """A function has no derivative at a point where it was to be computed."""


def _as_tuple(xs):
    return xs if isinstance(xs, tuple) else tuple(xs) if isinstance(xs, list) else (xs,)


def _copy_arrays(xs):
    return tuple([x.copy() if hasattr(x, 'copy') else x for x in xs])


def _check_devices(arrays):
    """Raises RuntimeError for arrays of the host and of GPUs together."""
    kinds = {isinstance(array, cuda.ndarray) for array in arrays if backend.is_array(array)}
    if len(kinds) > 1:
        raise RuntimeError('inputs and gradients have to be all on the host or all on a GPU')


def numerical_grad(f, inputs, grad_outputs, eps=1e-3, detect_nondifferentiable=False, diff_atol=0, diff_rtol=1e-2, center_outputs=None):
    """Returns the gradients of `sum(grad_outputs * f())` with respect to the arrays `inputs`, which `f` reads, by central differences.

    `detect_nondifferentiable` raises NondifferentiableError where five values along an axis deviate from a parabola by more than
    `diff_atol + diff_rtol * deviation from the mean`. `center_outputs` are the outputs for unchanged inputs if they are known.
    """
    assert eps > 0, 'eps has to be positive'
    _check_devices([*inputs, *grad_outputs])
    for x in inputs:
        if x.dtype.kind != 'f':
            raise RuntimeError(f'numerical gradients need inputs of floats, not {x.dtype}')
    with configuration.using_config('type_check', False):  # arrays that a function closes over keep their type
        if center_outputs is None and detect_nondifferentiable:
            center_outputs = _copy_arrays(f())
        return tuple([_numerical_grad_of(x, f, grad_outputs, eps, center_outputs, detect_nondifferentiable, diff_atol, diff_rtol) for x in inputs])


def _numerical_grad_of(x, f, grad_outputs, eps, center_outputs, detect_nondifferentiable, diff_atol, diff_rtol):
    """Returns the gradient with respect to one array."""
    grad = numpy.zeros(x.shape, numpy.float64)
    before = x.copy()
    for index in numpy.ndindex(x.shape):
        def shifted(shift):
            x[index] = before[index] + shift
            outputs = _copy_arrays(f())
            x[index] = before[index]
            return outputs
        below, above = shifted(-eps), shifted(eps)
        if detect_nondifferentiable:
            points = [below, shifted(-eps / 2), center_outputs, shifted(eps / 2), above]
            _check_differentiable(points, index, diff_atol, diff_rtol)
        grad[index] = _difference(below, above, grad_outputs) / (2 * eps)
    return backend.get_device_from_array(x).send(grad.astype(x.dtype))


def _host(value):
    """Returns a number or array as an array of doubles on the host."""
    return numpy.asarray(cuda.to_cpu(value) if isinstance(value, cuda.ndarray) else value).astype(numpy.float64)


def _difference(below, above, grad_outputs):
    total = 0.
    for low, high, grad in zip(below, above, grad_outputs):
        if grad is not None:
            total += float(((_host(high) - _host(low)) * _host(grad)).sum())
    return total


# Projects five values at -1, -1/2, 0, 1/2 and 1 onto the deviation from a parabola.
_POINTS = numpy.array([-1, -.5, 0, .5, 1])
_DEVIATION = numpy.eye(5) - numpy.vander(_POINTS, 3) @ numpy.linalg.pinv(numpy.vander(_POINTS, 3))


def _check_differentiable(points, index, atol, rtol):
    """Raises NondifferentiableError if the outputs at five points are not near a parabola."""
    for outputs in zip(*points):
        precision = numpy.finfo(outputs[0].dtype).eps if getattr(getattr(outputs[0], 'dtype', None), 'kind', '') == 'f' else 2 ** -52
        values = numpy.stack([_host(output) for output in outputs]).reshape(5, -1)
        finite = numpy.isfinite(values)
        if (finite.any(axis=0) != finite.all(axis=0)).any():
            raise NondifferentiableError(f'some values near the input at {index} are not finite')
        values = values[:, finite.all(axis=0)]
        deviation = numpy.sqrt(((_DEVIATION @ values) ** 2).sum(axis=0))
        spread = numpy.sqrt(((values - values.mean(axis=0)) ** 2).sum(axis=0))
        rounding = 8 * precision * abs(values).max(axis=0, initial=0)
        if (deviation > numpy.maximum(atol + rtol * spread, rounding)).any():
            raise NondifferentiableError(f'the function has no derivative at the input at {index}: it deviates by {deviation.max():.3g} from a parabola')


def check_backward(func, x_data, y_grad, params=(), eps=0.001, atol=1e-05, rtol=0.0001, no_grads=None, dtype=None, detect_nondifferentiable=False):
    """Raises AssertionError if gradients differ from the finite difference in a random direction by more than `atol + rtol * |difference|`.

    `func` takes variables of the arrays `x_data` and returns variables, whose gradients are `y_grad`. `params` are variables that it uses as well.
    `no_grads` is a list of bools, true for inputs without gradient. Integers have none. Differences are computed in `dtype`.
    """
    _CheckBackward(lambda xs, _: func(*xs), x_data, y_grad, params, no_grads, _Settings(eps, atol, rtol, dtype, detect_nondifferentiable)).run()


def _check_backward_with_params(func, x_data, y_grad, params=(), eps=0.001, atol=1e-05, rtol=0.0001, no_grads=None, dtype=None,
                                detect_nondifferentiable=False):
    """Is `check_backward` for a function that takes a list of inputs and a list of parameters."""
    assert all(isinstance(param, _variable_class()) for param in _as_tuple(params))
    _CheckBackward(func, x_data, y_grad, params, no_grads, _Settings(eps, atol, rtol, dtype, detect_nondifferentiable), True).run()


def _variable_class():
    from . import Variable
    return Variable


class _Joined(FunctionNode):
    """Passes several variables on, as outputs of one node."""

    def forward(self, inputs):
        return tuple(inputs)

    def backward(self, indexes, grad_outputs):
        return grad_outputs


def _run_backward(outputs, grads, **options):
    """Runs one backward pass from several outputs. Gradients are arrays (copied, as some functions change them), variables or None."""
    from . import backward
    Variable = _variable_class()
    pairs = [(output, grad if isinstance(grad, Variable) else Variable(grad.copy())) for output, grad in zip(outputs, grads) if grad is not None]
    if pairs:
        outputs, grads = zip(*pairs)
        # an output may be an input, or come twice
        backward(_Joined().apply(outputs), grads, **options)


def _check_outputs_and_grad_outputs(outputs, grad_outputs):
    """Raises ValueError unless gradients have the shapes and types of their outputs."""
    if len(outputs) != len(grad_outputs):
        raise ValueError(f'the function has {len(outputs)} outputs, but there are {len(grad_outputs)} gradients')
    for index, (output, grad) in enumerate(zip(outputs, grad_outputs)):
        if grad is not None and (output.shape != grad.shape or output.dtype != grad.dtype):
            raise ValueError(f'the gradient of output {index} has the shape {grad.shape} and type {grad.dtype}, '
                             f'but the output has {output.shape} and {output.dtype}')


class _Settings:
    """The tolerances and options of a check."""

    def __init__(self, eps, atol, rtol, dtype, detect_nondifferentiable):
        self.eps, self.atol, self.rtol = eps, atol, rtol
        self.dtype = None if dtype is None else numpy.dtype(dtype)
        if dtype is not None and self.dtype.kind != 'f':
            raise ValueError(f'gradients are computed in a type of floats, not {self.dtype}')
        self.detect_nondifferentiable = detect_nondifferentiable

    def __str__(self):
        return f'eps={self.eps} atol={self.atol} rtol={self.rtol} dtype={self.dtype}'


class _CheckBackward:
    """One check: all inputs and parameters move along a random direction."""

    def __init__(self, func, xs, gys, params, no_gxs, settings, is_immutable_params=False):
        self.settings = settings
        self.func = func
        self.xs = _as_tuple(xs)
        self.gys = None if gys is None else _as_tuple(gys)
        self.params = _as_tuple(params)
        self.no_gxs = [x.dtype.kind != 'f' for x in self.xs] if no_gxs is None else list(no_gxs)
        if len(self.no_gxs) != len(self.xs):
            raise ValueError(f'no_grads has {len(self.no_gxs)} elements for {len(self.xs)} inputs')
        self.is_immutable_params = is_immutable_params
        _check_devices([*self.xs, *(self.gys or ())])

    def run(self):
        with backend.using_device(backend.get_device_from_array(*self.xs)):
            self._run()

    def _run(self):
        Variable = _variable_class()
        xs = [Variable(x) for x in self.xs]
        params = [Variable(param.array) if self.is_immutable_params else param for param in self.params]
        ys = _as_tuple(self.func(xs, params))
        gys = self.gys
        if gys is None:
            if len(ys) != 1:
                raise ValueError('a function with several outputs needs y_grad')
            gys = (_ones_like(ys[0].array),)
        _check_outputs_and_grad_outputs(ys, gys)
        y0 = _copy_arrays([y.array for y in ys])
        for variable in [*xs, *params]:
            variable.cleargrad()
        _run_backward(ys, gys)
        self._check_no_grads(xs)
        moved = [x for x, is_skipped in zip(xs, self.no_gxs) if not is_skipped] + params
        directions = self._sample_directions([variable.shape for variable in moved])
        analytic = sum(float((_host(variable.grad) * _host(direction)).sum()) for variable, direction in zip(moved, directions)
                       if variable.grad is not None)
        self._compare(self._numeric(directions, y0, gys), analytic, moved)

    def _check_no_grads(self, xs):
        for index, (x, is_skipped) in enumerate(zip(xs, self.no_gxs)):
            if is_skipped and x.grad is not None:
                raise RuntimeError(f'input {index} has a gradient, although no_grads says that it has none')

    def _sample_directions(self, shapes):
        """Returns arrays that together are a random unit vector."""
        xp = backend.get_array_module(*self.xs, *[param.array for param in self.params])
        sizes = [int(numpy.prod(shape)) for shape in shapes]
        vector = self._sample_unit_vector(sum(sizes), xp)
        ends = numpy.cumsum(sizes)
        return [vector[end - size:end].reshape(shape) for shape, size, end in zip(shapes, sizes, ends)]

    @staticmethod
    def _sample_unit_vector(size, xp):
        """Returns a random vector of length 1. No element is near 0, so that each one counts."""
        vector = xp.random.uniform(.2, 1., (size,))
        vector *= xp.where(xp.random.uniform(-1, 1, (size,)) < 0, -1., 1.)
        return vector / xp.sqrt((vector * vector).sum()) if size else vector

    def _cast(self, array):
        dtype = self.settings.dtype
        return array if dtype is None or array.dtype.kind != 'f' else array.astype(dtype, copy=False)

    def _numeric(self, directions, y0, gys):
        """Returns the finite difference along the directions."""
        Variable = _variable_class()
        delta = numpy.array(0., numpy.float64)
        moved = iter(directions)
        starts = [(self._cast(x), None if is_skipped else next(moved)) for x, is_skipped in zip(self.xs, self.no_gxs)]
        param_starts = [(self._cast(param.array), next(moved)) for param in self.params]

        def move(start, direction):
            if direction is None:
                return start
            xp = backend.get_array_module(start)
            return xp.asarray(start.astype(numpy.float64) + float(delta) * direction, start.dtype)

        def evaluate():
            xs = [Variable(move(*start)) for start in starts]
            arrays = [move(*start) for start in param_starts]
            if self.is_immutable_params:
                return [y.array for y in _as_tuple(self.func(xs, [Variable(array) for array in arrays]))]
            with _replaced(self.params, arrays):
                return [y.array for y in _as_tuple(self.func(xs, self.params))]
        gys = [None if gy is None else _host(gy) for gy in gys]
        center = y0 if self.settings.dtype is None else None
        on_host = lambda: [cuda.to_cpu(y) for y in evaluate()]  # noqa: E731
        grad, = numerical_grad(on_host, (delta,), gys, self.settings.eps, self.settings.detect_nondifferentiable,
                               center_outputs=None if center is None else [cuda.to_cpu(y) for y in center])
        return float(grad)

    def _compare(self, numeric, analytic, moved):
        try:
            assert_allclose(numeric, analytic, atol=self.settings.atol, rtol=self.settings.rtol)
        except AssertionError as error:
            lines = [f'check_backward failed ({self.settings})',
                     f'finite difference: {numeric}', f'gradient: {analytic}']
            lines += [f'input or parameter {index}: {variable.array}\nits gradient: {variable.grad}' for index, variable in enumerate(moved)]
            raise AssertionError('\n'.join([*lines, str(error)])) from None


def _ones_like(arr):
    device = backend.get_device_from_array(arr)
    with backend.using_device(device):
        return device.xp.ones_like(arr)


@contextlib.contextmanager
def _replaced(params, arrays):
    """Gives variables other arrays in a block."""
    before = [param.array for param in params]
    for param, array in zip(params, arrays):
        param.array = array
    try:
        yield
    finally:
        for param, array in zip(params, before):
            param.array = array


def check_double_backward(func, x_data, y_grad, x_grad_grad, params=(), params_grad_grad=(), eps=0.001, atol=0.0001, rtol=0.001, no_grads=None, dtype=None,
                          detect_nondifferentiable=False):
    """Raises AssertionError if gradients of gradients differ from finite differences.

    `x_grad_grad` and `params_grad_grad` are the gradients of the gradients of the inputs and parameters. The other arguments are those of
    `check_backward`.
    """
    x_data, params = _as_tuple(x_data), _as_tuple(params)
    y_grad = _as_tuple(y_grad)
    grad_grads = [*_as_tuple(x_grad_grad), *_as_tuple(params_grad_grad)]
    skipped = [x.dtype.kind != 'f' for x in x_data] if no_grads is None else list(no_grads)
    given = [index for index, grad in enumerate(y_grad) if grad is not None]

    def first_order_grad(*inputs):
        xs = inputs[:len(x_data)]
        gys = [None] * len(y_grad)
        for index, gy in zip(given, inputs[len(x_data):]):
            gys[index] = gy
        for param in params:
            param.cleargrad()  # gradients are added up
        ys = _as_tuple(func(*xs))
        _check_outputs_and_grad_outputs(ys, gys)
        _run_backward(ys, gys, enable_double_backprop=True)
        grads = [x.grad_var for x, is_skipped in zip(xs, skipped) if not is_skipped] + [param.grad_var for param in params]
        for variable in [*xs, *params]:
            variable.cleargrad()
        for index, grad in enumerate(grads):
            if grad is None:
                raise ValueError(f'gradient {index} is None: name inputs without gradient in no_grads')
        return tuple(grads)
    outer_grads = [grad for grad, is_skipped in zip(grad_grads, skipped) if not is_skipped] + grad_grads[len(x_data):]
    try:
        check_backward(first_order_grad, (*x_data, *[y_grad[index] for index in given]), tuple(outer_grads), params, eps, atol, rtol,
                       [*skipped, *[False] * len(given)], dtype, detect_nondifferentiable)
    except AssertionError as error:
        raise AssertionError(f'check_double_backward failed (eps={eps} atol={atol} rtol={rtol} dtype={dtype})\n{error}') from None
