"""Tests of distributions against SciPy's."""

import unittest

import numpy

from .. import backend
from ..backends import cuda
from . import attr
from .array import assert_allclose


class distribution_unittest(unittest.TestCase):
    """Base class of tests of a distribution.

    `setUp_configure` sets `dist` (the class), `scipy_dist`, `params` (a dict of arrays), `scipy_params`, `test_targets` (names of methods),
    `continuous`, `event_shape`, `support`, and perhaps `options` of the constructor. `sample_for_test` returns points. With `scipy_onebyone`, SciPy's
    function is called for each element of the batch, whose parameters `scipy_onebyone_params_iter` yields.
    """

    scipy_onebyone = False

    def setUp(self):
        defaults = {'support': 'real', 'continuous': True, 'options': {}, 'test_targets': set(), 'event_shape': getattr(self, 'event_shape', ())}
        for name, value in defaults.items():
            setattr(self, name, value)
        self.setUp_configure()
        self.test_targets = set(self.test_targets)

    def setUp_configure(self):
        raise NotImplementedError(f'{type(self).__name__} has to define setUp_configure()')

    def scipy_onebyone_params_iter(self):
        """Yields the parameters of SciPy's distribution for each element of the batch."""
        for index in numpy.ndindex(self.shape):
            yield {name: value[index] for name, value in self.scipy_params.items()}

    @property
    def cpu_dist(self):
        return self._made(False)

    @property
    def gpu_dist(self):
        return self._made(True)

    def _made(self, is_gpu):
        """Returns the distribution, which is made once."""
        name = '_gpu_dist' if is_gpu else '_cpu_dist'
        if name not in self.__dict__:
            from .. import Variable
            params = {key: cuda.to_gpu(value) for key, value in self.params.items()} if is_gpu else dict(self.params)
            if getattr(self, 'is_variable', False):
                params = {key: Variable(value) for key, value in params.items()}
            self.__dict__[name] = self.dist(**params, **self.options)
        return self.__dict__[name]

    def _expected(self, target, *points):
        """Returns SciPy's values, of each element of the batch if `scipy_onebyone` is set."""
        if not self.scipy_onebyone:
            return getattr(self.scipy_dist, target)(*points, **self.scipy_params)
        count = int(numpy.prod(self.shape))
        samples = [point.reshape(-1, count, *point.shape[len(self.sample_shape) + len(self.shape):]) for point in points]
        found = []
        for number, params in enumerate(self.scipy_onebyone_params_iter()):
            function = getattr(self.scipy_dist(**params), target)
            found.append([function(sample[number]) for sample in samples[0]] if samples else function())
        found = numpy.asarray(found)
        if not samples:
            return found.reshape((*self.shape, *found.shape[1:]))
        return numpy.moveaxis(found, 1, 0).reshape((*self.sample_shape, *self.shape, *found.shape[2:]))

    def _check(self, is_gpu, target, expected_name, sampled=False):
        points = ()
        if target == 'icdf':
            points = (numpy.random.uniform(1e-3, 1 - 1e-3, (*self.sample_shape, *self.shape)).astype(numpy.float32),)
        elif sampled:
            points = (self.sample_for_test(),)
        given = [cuda.to_gpu(point) for point in points] if is_gpu else points
        attribute = getattr(self._made(is_gpu), target)
        actual = attribute(*given) if points else attribute
        if not backend.is_array(getattr(actual, 'array', None)) and callable(actual):
            actual = actual()
        self.assertIsInstance(actual.array, cuda.ndarray if is_gpu else numpy.ndarray)
        assert_allclose(actual.array, self._expected(expected_name, *points), **self._tolerance())

    def _tolerance(self):
        return getattr(self, 'tolerance', {'atol': 1e-4, 'rtol': 1e-3})

    def sample_for_test(self):
        """Returns points at which densities are compared."""
        shape = (*self.sample_shape, *self.shape, *self.event_shape)
        return numpy.random.normal(size=shape).astype(numpy.float32)

    def check_batch_shape(self, is_gpu):
        self.assertEqual(self._made(is_gpu).batch_shape, self.shape)

    def check_event_shape(self, is_gpu):
        self.assertEqual(self._made(is_gpu).event_shape, self.event_shape)

    def check_support(self, is_gpu):
        self.assertEqual(self._made(is_gpu).support, self.support)

    def check_cdf(self, is_gpu):
        self._check(is_gpu, 'cdf', 'cdf', True)

    def check_icdf(self, is_gpu):
        self._check(is_gpu, 'icdf', 'ppf', True)

    def check_entropy(self, is_gpu):
        self._check(is_gpu, 'entropy', 'entropy')

    def check_log_cdf(self, is_gpu):
        self._check(is_gpu, 'log_cdf', 'logcdf', True)

    def check_log_prob(self, is_gpu):
        self._check(is_gpu, 'log_prob', 'logpdf' if self.continuous else 'logpmf', True)

    def check_log_survival(self, is_gpu):
        self._check(is_gpu, 'log_survival_function', 'logsf', True)

    def check_mean(self, is_gpu):
        self._check(is_gpu, 'mean', 'mean')

    def check_prob(self, is_gpu):
        self._check(is_gpu, 'prob', 'pdf' if self.continuous else 'pmf', True)

    def check_sample(self, is_gpu):
        samples = self._made(is_gpu).sample(sample_shape=(100000, *self.sample_shape)).array
        self.assertIsInstance(samples, cuda.ndarray if is_gpu else numpy.ndarray)
        self.assertEqual(samples.shape, (100000, *self.sample_shape, *self.shape, *self.event_shape))
        samples = cuda.to_cpu(samples)
        size = (100000, *self.sample_shape, *self.shape)
        if self.scipy_onebyone:
            drawn = numpy.stack([self.scipy_dist(**params).rvs(size=(100000, *self.sample_shape)) for params in self.scipy_onebyone_params_iter()],
                                axis=1 + len(self.sample_shape)).reshape(samples.shape)
        else:
            drawn = self.scipy_dist.rvs(size=(*size, *self.event_shape), **self.scipy_params)
        assert_allclose(samples.mean(axis=0), drawn.mean(axis=0), atol=3e-2, rtol=3e-2)
        assert_allclose(samples.std(axis=0), drawn.std(axis=0), atol=3e-2, rtol=3e-2)

    def check_stddev(self, is_gpu):
        self._check(is_gpu, 'stddev', 'std')

    def check_survival(self, is_gpu):
        self._check(is_gpu, 'survival_function', 'sf', True)

    def check_variance(self, is_gpu):
        self._check(is_gpu, 'variance', 'var')


def _add_tests():
    """Adds a test on the CPU and one on a GPU for each check."""
    for name in [name for name in vars(distribution_unittest) if name.startswith('check_')]:
        target = name[len('check_'):]
        for is_gpu in (False, True):
            def test(self, target=target, is_gpu=is_gpu):
                if not self.test_targets & {target, target + '_function'}:
                    raise unittest.SkipTest(f'{target} is not among test_targets')
                getattr(self, 'check_' + target)(is_gpu)
            test.__name__ = f'test_{target}_{"gpu" if is_gpu else "cpu"}'
            setattr(distribution_unittest, test.__name__, attr.gpu(test) if is_gpu else test)


_add_tests()
