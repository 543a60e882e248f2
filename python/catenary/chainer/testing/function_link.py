"""Test cases for functions and links: forward values, gradients, gradients of gradients, and initial parameters."""

import contextlib
import unittest

import numpy

from .. import gradient_check
from ..backends import cuda
from . import array as array_module


class _TestError(AssertionError):
    """A failed check of a function or link."""

    @classmethod
    def fail(cls, message, exc=None):
        """Raises the error, with `exc` as its cause."""
        if exc is not None:
            message = f'{message}\n\n{type(exc).__name__}: {exc}'
        raise cls(message) from exc

    @classmethod
    @contextlib.contextmanager
    def raise_if_fail(cls, message, error_types=AssertionError):
        """Turns the errors of a block into this error."""
        try:
            yield
        except cls:
            raise
        except error_types as error:
            cls.fail(message, error)

    @classmethod
    def check(cls, expr, message):
        """Raises the error if `expr` is false."""
        if not expr:
            raise cls(message)


class FunctionTestError(_TestError):
    """A failed check of a function."""


class LinkTestError(_TestError):
    """A failed check of a link."""


class InitializerArgument:
    """An initial value that a link's constructor takes, and the initializer that it means."""

    def __init__(self, argument_value, expected_initializer):
        self.argument_value = argument_value
        self.expected_initializer = expected_initializer


def _check_tuple(value, method):
    if not isinstance(value, tuple):
        raise TypeError(f'{method} has to return a tuple, not {type(value).__name__}')
    return value


def _check_arrays(values, method, may_be_none=False):
    for value in _check_tuple(values, method):
        if not (isinstance(value, numpy.ndarray) or (may_be_none and value is None)):
            raise TypeError(f'{method} has to return numpy.ndarray objects, not {type(value).__name__}')
    return values


def _check_variables(variables, device, method, error):
    from .. import Variable
    error.check(isinstance(variables, tuple), f'{method} has to return a tuple, not {type(variables).__name__}')
    for variable in variables:
        error.check(isinstance(variable, Variable), f'{method} has to return variables, not {type(variable).__name__}')
        error.check(isinstance(variable.array, device.supported_array_types), f'{method} returned an array on another device than {device}')
    return variables


def _compare(actual, expected, error, **options):
    """Compares lists of arrays."""
    error.check(len(actual) == len(expected), f'{len(actual)} arrays were returned, but {len(expected)} are expected')
    problems = []
    for index, (got, wanted) in enumerate(zip(actual, expected)):
        try:
            error.check(got.shape == wanted.shape, f'the shape {got.shape} was returned, but {wanted.shape} is expected')
            array_module.assert_allclose(got, wanted, **options)
        except AssertionError as problem:
            problems.append(f'array {index}: {problem}')
    if problems:
        error.fail('\n'.join(problems))


def _random_like(templates):
    """Returns random arrays with the shapes and types of the templates."""
    return tuple([numpy.random.uniform(-1, 1, template.shape).astype(template.dtype) for template in templates])


class _TestBase:
    """The parts that tests of functions and links share."""

    backend_config = None
    contiguous = None

    def before_test(self, test_name):
        """Is called before a test and may raise `unittest.SkipTest`."""

    def generate_inputs(self):
        """Returns a tuple of NumPy arrays."""
        raise NotImplementedError(f'{type(self).__name__} has to define generate_inputs()')

    def generate_grad_outputs(self, outputs_template):
        """Returns the gradients of the outputs, a tuple of NumPy arrays or None like the templates."""
        return _random_like(outputs_template)

    def _start(self, test_name, is_skipped, backend_config):
        if is_skipped:
            raise unittest.SkipTest(f'skip_{test_name[5:]}_test is set')
        self.backend_config = backend_config
        self.test_name = test_name
        self.before_test(test_name)

    def _arranged(self, arrays):
        """Makes arrays contiguous or not as the attribute `contiguous` says: 'C' or None for not contiguous."""
        if self.contiguous is None:
            return tuple([array_module._as_noncontiguous_array(array) for array in arrays])
        if self.contiguous == 'C':
            return tuple(arrays)
        raise ValueError(f"contiguous has to be None or 'C', not {self.contiguous!r}")

    def _numpy_inputs(self):
        return self._arranged(_check_arrays(self.generate_inputs(), 'generate_inputs'))

    def _on_device(self, arrays, backend_config):
        return self._arranged(tuple([backend_config.get_array(array) for array in arrays]))

    def _numpy_grad_outputs(self, outputs):
        templates = tuple([cuda.to_cpu(output.array) for output in outputs])
        grads = _check_arrays(self.generate_grad_outputs(templates), 'generate_grad_outputs', True)
        return grads

    def _until_differentiable(self, check):
        """Runs a check, again with other inputs as long as they are near points where the function has no gradient."""
        while True:
            try:
                return check()
            except gradient_check.NondifferentiableError:
                if not self.dodge_nondifferentiable:
                    raise


class FunctionTestBase(_TestBase):
    """The checks of a function. Subclasses define `generate_inputs`, `forward` and `forward_expected`."""

    check_forward_options = None
    check_backward_options = None
    check_double_backward_options = None
    skip_forward_test = False
    skip_backward_test = False
    skip_double_backward_test = False
    dodge_nondifferentiable = False
    numerical_grad_dtype = numpy.float64

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.check_forward_options = {}
        self.check_backward_options = {}
        self.check_double_backward_options = {}

    def forward(self, inputs, device):
        """Returns the function's outputs, a tuple of variables."""
        raise NotImplementedError(f'{type(self).__name__} has to define forward(inputs, device)')

    def forward_expected(self, inputs):
        """Returns the expected outputs, a tuple of NumPy arrays."""
        raise NotImplementedError(f'{type(self).__name__} has to define forward_expected(inputs)')

    def generate_grad_grad_inputs(self, inputs_template):
        """Returns gradients of the gradients of the inputs, a tuple of NumPy arrays or None like the templates."""
        return _random_like(inputs_template)

    def check_forward_outputs(self, outputs, expected_outputs):
        """Compares the arrays of outputs with the expected ones."""
        with FunctionTestError.raise_if_fail('forward outputs do not match the expected ones'):
            _compare(outputs, expected_outputs, FunctionTestError, **self.check_forward_options)

    def _forward(self, inputs, backend_config):
        outputs = self.forward(inputs, backend_config.device)
        return _check_variables(outputs, backend_config.device, 'forward', FunctionTestError)

    def run_test_forward(self, backend_config):
        """Compares the outputs with the expected ones."""
        from .. import Variable
        self._start('test_forward', self.skip_forward_test, backend_config)
        host = self._numpy_inputs()
        expected = _check_arrays(self.forward_expected(tuple([array.copy() for array in host])), 'forward_expected')
        inputs = self._on_device(host, backend_config)
        before = [array.copy() for array in inputs]
        with backend_config:
            outputs = self._forward(tuple([Variable(array) for array in inputs]), backend_config)
        for index, (array, copied) in enumerate(zip(inputs, before)):
            with FunctionTestError.raise_if_fail(f'forward changed input {index}'):
                array_module.assert_allclose(array, copied, atol=0, rtol=0)
        self.check_forward_outputs(tuple([output.array for output in outputs]), expected)

    def _inputs_and_grads(self, backend_config):
        """Returns inputs and gradients of outputs on the device."""
        from .. import Variable
        host = self._numpy_inputs()
        inputs = self._on_device(host, backend_config)
        with backend_config:
            outputs = self._forward(tuple([Variable(array.copy()) for array in inputs]), backend_config)
        return host, inputs, self._on_device(self._numpy_grad_outputs(outputs), backend_config)

    def run_test_backward(self, backend_config):
        """Compares gradients with numerical ones."""
        self._start('test_backward', self.skip_backward_test, backend_config)

        def check():
            _, inputs, grad_outputs = self._inputs_and_grads(backend_config)
            with FunctionTestError.raise_if_fail('backward is not implemented correctly'), backend_config:
                gradient_check.check_backward(
                    lambda *variables: self._forward(variables, backend_config), inputs, grad_outputs, dtype=self.numerical_grad_dtype,
                    detect_nondifferentiable=self.dodge_nondifferentiable, **self.check_backward_options)
        self._until_differentiable(check)

    def run_test_double_backward(self, backend_config):
        """Compares gradients of gradients with numerical ones."""
        self._start('test_double_backward', self.skip_double_backward_test, backend_config)

        def check():
            host, inputs, grad_outputs = self._inputs_and_grads(backend_config)
            grads = _check_arrays(self.generate_grad_grad_inputs(host), 'generate_grad_grad_inputs', True)
            grad_grad_inputs = self._on_device(grads, backend_config)
            with FunctionTestError.raise_if_fail('double backward is not implemented correctly'), backend_config:
                gradient_check.check_double_backward(
                    lambda *variables: self._forward(variables, backend_config), inputs, grad_outputs, grad_grad_inputs,
                    dtype=self.numerical_grad_dtype, detect_nondifferentiable=self.dodge_nondifferentiable, **self.check_double_backward_options)
        self._until_differentiable(check)


def _tests(*kinds):
    """Returns the methods test_KIND, which call run_test_KIND."""
    def test_of(name):
        def test(self, backend_config):
            getattr(self, 'run_' + name)(backend_config)
        test.__name__ = name
        return test
    return [test_of('test_' + kind) for kind in kinds]


class FunctionTestCase(FunctionTestBase, unittest.TestCase):
    """A test case of a function, for the devices of `inject_backend_tests`."""

    test_forward, test_backward, test_double_backward = _tests('forward', 'backward', 'double_backward')


class _LinkTestBase(_TestBase):
    """The parts that both test cases of links share."""

    # The names of the link's parameters, in the order of `generate_params()`.
    param_names = ()

    def generate_params(self):
        """Returns the initial values of the parameters: initializers, arrays or numbers."""
        raise NotImplementedError(f'{type(self).__name__} has to define generate_params()')

    def create_link(self, initializers):
        """Returns the link with these initial values."""
        raise NotImplementedError(f'{type(self).__name__} has to define create_link(initializers)')

    def forward(self, link, inputs, device):
        """Returns the link's outputs, a tuple of variables."""
        outputs = link(*inputs)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def check_forward_outputs(self, outputs, expected_outputs):
        """Compares the arrays of outputs with the expected ones."""
        with LinkTestError.raise_if_fail('forward outputs do not match the expected ones'):
            _compare(outputs, expected_outputs, LinkTestError, **self.check_forward_options)

    def _initial_params(self):
        params = self.generate_params()
        if not isinstance(params, (tuple, list)):
            raise TypeError(f'generate_params has to return a tuple or list, not {type(params).__name__}')
        for init in params:
            _check_generated_initializer(init)
        return params

    def _create_initialized_link(self, inits, backend_config):
        """Returns a link on the device whose parameters have their arrays."""
        from .. import Link, Variable
        link = self.create_link([_argument(init) for init in inits])
        if not isinstance(link, Link):
            raise TypeError(f'create_link has to return a link, not {type(link).__name__}')
        link.to_device(backend_config.device)
        inputs = self._on_device(self._numpy_inputs(), backend_config)
        with backend_config:
            self._forward(link, tuple([Variable(array) for array in inputs]), backend_config)
        link.cleargrads()
        return link

    def _forward(self, link, inputs, backend_config):
        outputs = self.forward(link, inputs, backend_config.device)
        return _check_variables(outputs, backend_config.device, 'forward', LinkTestError)


class LinkTestCase(_LinkTestBase, unittest.TestCase):
    """A test case of a link's outputs and gradients, for the devices of `inject_backend_tests`."""

    numerical_grad_dtype = numpy.float64
    dodge_nondifferentiable = skip_backward_test = skip_forward_test = False
    check_backward_options = check_forward_options = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.check_forward_options = {}
        self.check_backward_options = {}

    def forward_expected(self, link, inputs):
        """Returns the expected outputs, a tuple of NumPy arrays."""
        raise NotImplementedError(f'{type(self).__name__} has to define forward_expected(link, inputs)')

    def test_forward(self, backend_config):
        from .. import Variable
        self._start('test_forward', self.skip_forward_test, backend_config)
        inits = self._initial_params()
        link = self._create_initialized_link(inits, backend_config)
        host = self._numpy_inputs()
        # the expected outputs come from a copy of the link on the host
        link_on_host = link.copy(mode='copy')
        link_on_host.to_device('@numpy')
        expected = _check_arrays(self.forward_expected(link_on_host, tuple([array.copy() for array in host])), 'forward_expected')
        inputs = self._on_device(host, backend_config)
        with backend_config:
            outputs = self._forward(link, tuple([Variable(array) for array in inputs]), backend_config)
        self.check_forward_outputs(tuple([output.array for output in outputs]), expected)

    def test_backward(self, backend_config):
        self._start('test_backward', self.skip_backward_test, backend_config)
        self._until_differentiable(lambda: self._check_backward(backend_config))

    def _check_backward(self, backend_config):
        from .. import Variable
        link = self._create_initialized_link(self._initial_params(), backend_config)
        inputs = self._on_device(self._numpy_inputs(), backend_config)
        with backend_config:
            outputs = self._forward(link, tuple([Variable(array.copy()) for array in inputs]), backend_config)
        grad_outputs = self._on_device(self._numpy_grad_outputs(outputs), backend_config)
        params = [getattr(link, name) for name in self.param_names]

        def forward(variables, given):
            with link.init_scope():
                for name, param in zip(self.param_names, given):
                    setattr(link, name, param)
            return self._forward(link, variables, backend_config)
        with LinkTestError.raise_if_fail('backward is not implemented correctly'), backend_config:
            gradient_check._check_backward_with_params(
                forward, inputs, grad_outputs, params=params, dtype=self.numerical_grad_dtype,
                detect_nondifferentiable=self.dodge_nondifferentiable, **self.check_backward_options)


class LinkInitializersTestCase(_LinkTestBase, unittest.TestCase):
    """A test case of the initial values that a link takes, for the devices of `inject_backend_tests`."""

    check_initializers_options = None
    check_forward_options = {}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.check_initializers_options = {}

    def get_initializers(self):
        """Returns for each parameter a list of initial values: initializers, arrays, numbers or `InitializerArgument` objects."""
        raise NotImplementedError(f'{type(self).__name__} has to define get_initializers()')

    def _candidates(self):
        given = self.get_initializers()
        if not isinstance(given, (tuple, list)):
            raise TypeError(f'get_initializers has to return a tuple or list, not {type(given).__name__}')
        if len(self.param_names) == 1 and not any(isinstance(values, (tuple, list)) for values in given):
            given = [given]
        candidates = [values if isinstance(values, (tuple, list)) else [values] for values in given]
        for values in candidates:
            for init in values:
                _check_generated_initializer(init)
        return candidates

    def test_initializers(self, backend_config):
        self._start('test_initializers', False, backend_config)
        candidates = self._candidates()
        for index, values in enumerate(candidates):
            for value in values:
                inits = [others[0] for others in candidates]
                inits[index] = value
                self._check_initializer(index, inits, backend_config)

    def _check_initializer(self, index, inits, backend_config):
        name = self.param_names[index]
        expected = _expected(inits[index])  # before the link, which may use the same random numbers
        param = getattr(self._create_initialized_link(inits, backend_config), name)
        wanted = numpy.empty(param.shape, param.dtype)
        expected(wanted)
        with LinkTestError.raise_if_fail(f'the parameter {name} is not initialized correctly'):
            _compare([param.array], [wanted], LinkTestError, **self.check_initializers_options)


def _check_generated_initializer(init):
    """Raises TypeError for an object that is no initial value."""
    from .. import Initializer, Variable
    if isinstance(init, InitializerArgument):
        _check_generated_initializer(init.expected_initializer)
        return
    is_one = init is None or numpy.isscalar(init) or isinstance(init, (numpy.ndarray, cuda.ndarray, Initializer)) or callable(init)
    if isinstance(init, Variable) or not is_one:
        raise TypeError(f'an initial value is an initializer, an array or a number, not {type(init).__name__}')


def _argument(init):
    return init.argument_value if isinstance(init, InitializerArgument) else init


def _expected(init):
    """Returns the initializer that an initial value means."""
    from .. import initializers
    if isinstance(init, InitializerArgument):
        init = init.expected_initializer
    if isinstance(init, numpy.ndarray) or numpy.isscalar(init):
        return initializers.Constant(init)
    return init


def _check_contiguousness(arr, expected_contiguous):
    """Raises AssertionError if an array is contiguous where it should not be, or the other way round. Small arrays are always contiguous."""
    arr = getattr(arr, 'array', arr)
    if arr.size <= 1:
        return
    flags = arr.flags
    if expected_contiguous is None:
        assert not flags.c_contiguous and not flags.f_contiguous, 'the array is contiguous'
    else:
        assert flags.c_contiguous, 'the array is not contiguous'
