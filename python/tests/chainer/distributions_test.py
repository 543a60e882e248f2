"""Distributions of the package catenary/chainer: values against SciPy's, samples, gradients and divergences."""

import pathlib
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from own import run  # noqa: E402

# class, its parameters as arrays of a batch of 3, SciPy's name and parameters, and events
CASES = '''
    import numpy as np
    import chainer
    from chainer import distributions as D, functions as F
    from scipy import stats
    a, b = np.array([.7, 1.5, 4.25]), np.array([2.5, .8, 3.])
    s, p = np.array([-1., .25, 2.]), np.array([.2, .55, .9])
    real, positive, unit = np.array([-1.3, .4, 2.7]), np.array([.3, 1.7, 5.2]), np.array([.15, .5, .85])
    whole = np.array([1., 2., 6.])
    cases = [
        (D.Bernoulli(p), stats.bernoulli(p), np.array([0., 1., 1.])),
        (D.Bernoulli(logit=np.log(p / (1 - p))), stats.bernoulli(p), np.array([1., 1., 0.])),
        (D.Beta(a, b), stats.beta(a, b), unit),
        (D.Cauchy(s, a), stats.cauchy(s, a), real),
        (D.Chisquare(b), stats.chi2(b), positive),
        (D.Exponential(a), stats.expon(scale=1 / a), positive),
        (D.Gamma(a, b), stats.gamma(a, scale=b), positive),
        (D.Geometric(p), stats.geom(p), whole),
        (D.Gumbel(s, a), stats.gumbel_r(s, a), real),
        (D.Laplace(s, a), stats.laplace(s, a), real),
        (D.LogNormal(s, a), stats.lognorm(a, scale=np.exp(s)), positive),
        (D.Normal(s, a), stats.norm(s, a), real),
        (D.Normal(s, log_scale=np.log(a)), stats.norm(s, a), real),
        (D.Pareto(a, b), stats.pareto(b, scale=a), 1 + positive + a),
        (D.Poisson(a), stats.poisson(a), whole),
        (D.Uniform(low=s, high=s + a), stats.uniform(s, a), s + .3 * a),
        (D.Uniform(loc=s, scale=a), stats.uniform(s, a), s + .3 * a),
    ]
'''


def _run(code):
    """Runs code after the cases."""
    return run(textwrap.dedent(CASES) + textwrap.dedent(code))


def test_densities_and_moments_are_scipys():
    _run('''
        import warnings
        warnings.simplefilter('ignore', RuntimeWarning)
        def close(x, y, what):
            np.testing.assert_allclose(x.array, y, rtol=1e-7, atol=1e-10, err_msg=str(what))
        count = 0
        for dist, judge, x in cases:
            density = judge.pmf if hasattr(judge.dist, 'pmf') else judge.pdf
            close(dist.log_prob(x), np.log(density(x)), (dist, 'log_prob'))
            close(dist.prob(x), density(x), (dist, 'prob'))
            for name, theirs in (('mean', judge.mean), ('variance', judge.var), ('stddev', judge.std), ('entropy', judge.entropy)):
                try:
                    value = getattr(dist, name)
                except NotImplementedError:
                    assert (type(dist).__name__, name) == ('Poisson', 'entropy')
                    continue
                assert value.shape == (3,)
                close(value, theirs(), (dist, name))
            count += 1
        assert count == 17
    ''')


def test_cumulative_probabilities_are_scipys():
    _run('''
        found = set()
        for dist, judge, x in cases:
            try:
                below = dist.cdf(x)
            except NotImplementedError:
                continue
            found.add(type(dist).__name__)
            np.testing.assert_allclose(below.array, judge.cdf(x), rtol=1e-7)
            np.testing.assert_allclose(dist.log_cdf(x).array, judge.logcdf(x), rtol=1e-7, atol=1e-15)
            np.testing.assert_allclose(dist.survival_function(x).array, judge.sf(x), rtol=1e-7, atol=1e-15)
            np.testing.assert_allclose(dist.log_survival_function(x).array, judge.logsf(x), rtol=1e-7, atol=1e-15)
            if type(dist).__name__ != 'Geometric':
                np.testing.assert_allclose(dist.icdf(below).array, x, rtol=1e-6)
                np.testing.assert_allclose(dist.icdf(.25).array, judge.ppf(.25), rtol=1e-6)
        assert found == set('Cauchy Exponential Geometric Gumbel Laplace LogNormal Normal Pareto Uniform'.split()), found
    ''')


def test_modes_have_the_highest_density():
    _run('''
        for dist, judge, x in cases:
            try:
                mode = dist.mode.array
            except NotImplementedError:
                assert type(dist).__name__ == 'Uniform'
                continue
            peak = dist.log_prob(mode).array
            with np.errstate(all='ignore'):
                for step in ((1.,) if not hasattr(judge.dist, 'pdf') else (1e-3, .1)):
                    for other in (mode - step, mode + step):
                        other = dist.log_prob(other).array
                        if type(dist).__name__ != 'Bernoulli':
                            assert ((other <= peak) | np.isnan(peak) | np.isnan(other)).all(), (dist, mode, peak, other)
    ''')


def test_events_outside_the_support_have_no_probability():
    _run('''
        outside = {'Beta': (-.5, 1.5), 'Chisquare': (-1.,), 'Exponential': (-1.,), 'Gamma': (-1.,), 'LogNormal': (-1., 0.), 'Pareto': (.1,),
                   'Poisson': (-1.,), 'Uniform': (-9., 9.)}
        for dist, judge, x in cases:
            for value in outside.get(type(dist).__name__, ()):
                assert (dist.log_prob(np.full(3, value)).array == -np.inf).all(), dist
                assert (dist.prob(np.full(3, value)).array == 0).all(), dist
        assert (D.Bernoulli(p, binary_check=True).prob(unit).array == 0).all()
        np.testing.assert_array_equal(D.Beta(np.ones(2), np.ones(2)).log_prob(np.array([0., 1.])).array, 0)
        np.testing.assert_array_equal(D.Bernoulli(np.array([0., 1.])).log_prob(np.array([0., 1.])).array, 0)
        np.testing.assert_array_equal(D.Geometric(np.ones(2)).log_prob(np.array([1, 2])).array, [0, -np.inf])
        assert (D.Geometric(p).log_prob(np.zeros(3)).array == -np.inf).all()
    ''')


def test_samples_have_the_moments_and_the_dtype():
    _run('''
        np.random.seed(1)
        for dist, judge, x in cases:
            single = type(dist)(**{name: value.array.astype('f') for name, value in dist.params.items()})
            assert single.sample((2, 5)).shape == (2, 5, 3)
            assert single.sample(4).shape == (4, 3) and single.sample().shape == (3,) and single.sample_n(6).shape == (6, 3)
            drawn = single.sample(40000)
            assert drawn.dtype == ('l' if type(dist).__name__ == 'Bernoulli' else 'f'), dist
            levels = np.array([.1, .5, .9])
            for i in range(3):
                values = np.sort(drawn.array[:, i])
                for level in levels:
                    point = judge.ppf(level)[i]
                    assert abs((values <= point * (1 + 1e-6 * np.sign(point))).mean() - judge.cdf(point)[i]) < .012, (dist, i, level)
    ''')


def test_gradients_reach_the_parameters_through_samples():
    _run('''
        np.random.seed(2)
        slopes = {'Cauchy': 'loc scale', 'Exponential': 'lam', 'Gamma': 'theta', 'Gumbel': 'loc scale', 'Laplace': 'loc scale',
                  'LogNormal': 'mu sigma', 'Normal': 'loc scale', 'Pareto': 'scale alpha', 'Uniform': 'low high'}
        for dist, judge, x in cases:
            names = slopes.get(type(dist).__name__, '').split()
            given = {name: chainer.Parameter(value.array.copy()) for name, value in dist.params.items() if name in names or not names}
            fixed = {name: value for name, value in dist.params.items() if name not in given}
            if set(given) - set(names):
                continue
            def total():
                np.random.seed(7)
                return F.sum(F.log(1 + type(dist)(**given, **fixed).sample(3) ** 2))
            for value in given.values():
                value.cleargrad()
            total().backward()
            for name, value in given.items():
                wanted, step = np.empty(3), 1e-6
                for i in range(3):
                    value.array[i] += step
                    up = float(total().array)
                    value.array[i] -= 2 * step
                    wanted[i] = (up - float(total().array)) / (2 * step)
                    value.array[i] += step
                np.testing.assert_allclose(value.grad, wanted, rtol=1e-5, atol=1e-7, err_msg=str((dist, name)))
    ''')


def test_gradients_of_log_prob_and_entropy():
    _run('''
        from chainer import gradient_check
        for dist, judge, x in cases:
            params = dist.params
            def value(*arrays):
                made = type(dist)(**dict(zip(params, arrays)))
                return made.log_prob(x) + (made.entropy if type(dist).__name__ != 'Poisson' else 0)
            gradient_check.check_backward(value, tuple(v.array for v in params.values()), np.array([.5, -1., 2.]), rtol=1e-4, atol=1e-4, eps=1e-5)
    ''')


def test_vectors_of_categories_and_shares():
    run('''
        import numpy as np
        import chainer
        from chainer import distributions as D
        from scipy import stats
        p = np.array([[.2, .5, .3], [.6, 0., .4]])
        alpha = np.array([[.8, 2., 3.5], [1.2, 1., 6.]])
        x = np.array([[1, 0], [2, 2], [0, 1], [1, 2]])
        for dist in (D.Categorical(p), D.Categorical(logit=np.log(np.maximum(p, 1e-300)))):
            wanted = np.log(np.maximum(p, 1e-300))[np.arange(2), x]
            found = dist.log_prob(x).array
            np.testing.assert_allclose(np.exp(found), np.exp(wanted), rtol=1e-7, atol=1e-12)
            np.testing.assert_allclose(dist.entropy.array, [stats.entropy(row) for row in p], rtol=1e-7)
            np.testing.assert_array_equal(dist.mode.array, [1, 0])
        np.random.seed(0)
        drawn = D.Categorical(p).sample(50000).array
        assert drawn.shape == (50000, 2) and not (drawn[:, 1] == 1).any()
        counts = np.stack([np.bincount(drawn[:, i], minlength=3) for i in range(2)]) / 50000
        np.testing.assert_allclose(counts, p, atol=.01)
        hot = D.OneHotCategorical(p)
        assert hot.event_shape == (3,) and hot.batch_shape == (2,)
        vectors = hot.sample((4, 5)).array
        assert vectors.shape == (4, 5, 2, 3) and (vectors.sum(axis=-1) == 1).all() and vectors.dtype == p.dtype
        np.testing.assert_allclose(hot.log_prob(np.eye(3)[x]).array, D.Categorical(p).log_prob(x).array)
        np.testing.assert_allclose(hot.variance.array, p * (1 - p))
        shares = D.Dirichlet(alpha)
        for i in range(2):
            judge = stats.dirichlet(alpha[i])
            np.testing.assert_allclose(shares.mean.array[i], judge.mean())
            np.testing.assert_allclose(shares.variance.array[i], judge.var())
            np.testing.assert_allclose(shares.entropy.array[i], judge.entropy())
            np.testing.assert_allclose(shares.log_prob(np.array([.2, .3, .5])).array[i], judge.logpdf([.2, .3, .5]))
        drawn = shares.sample(20000).array
        np.testing.assert_allclose(drawn.sum(axis=-1), 1)
        np.testing.assert_allclose(drawn.mean(axis=0), shares.mean.array, atol=.01)
    ''')


def test_multivariate_normal_is_scipys():
    run('''
        import numpy as np
        import chainer
        from chainer import distributions as D, functions as F
        from scipy import stats
        rng = np.random.RandomState(0)
        loc, tril = rng.randn(2, 3), np.tril(rng.randn(2, 3, 3)) + 2 * np.eye(3)
        dist, x = D.MultivariateNormal(loc, scale_tril=tril), rng.randn(5, 2, 3)
        found = dist.log_prob(x).array
        for i in range(2):
            judge = stats.multivariate_normal(loc[i], tril[i] @ tril[i].T)
            np.testing.assert_allclose(found[:, i], judge.logpdf(x[:, i]))
            np.testing.assert_allclose(dist.entropy.array[i], judge.entropy())
            np.testing.assert_allclose(dist.covariance.array[i], judge.cov)
            np.testing.assert_allclose(dist.variance.array[i], np.diag(judge.cov))
        np.random.seed(3)
        drawn = dist.sample(60000).array
        for i in range(2):
            np.testing.assert_allclose(np.cov(drawn[:, i].T), dist.covariance.array[i], atol=.3)
        scale = chainer.Variable(tril)
        F.sum(D.MultivariateNormal(loc, scale).sample(2)).backward()
        assert (scale.grad[:, np.tril_indices(3)[0], np.tril_indices(3)[1]] != 0).all()
    ''')


def test_divergences_are_means_of_log_ratios():
    _run('''
        import chainer
        np.random.seed(4)
        for dist, judge, x in cases:
            if type(dist).__name__ in ('Cauchy', 'Chisquare'):
                continue
            params = {name: value.array for name, value in dist.params.items()}
            if type(dist).__name__ == 'Uniform':
                other = D.Uniform(low=dist.low.array - .5, high=dist.high.array + 1)
            elif type(dist).__name__ == 'Bernoulli':
                other = D.Bernoulli(1 - .9 * p)
            elif type(dist).__name__ == 'Pareto':
                other = D.Pareto(.5 * a, b + 1)
            else:
                other = type(dist)(**{name: (.6 if name not in ('loc', 'mu') else 1.1) * value for name, value in params.items()})
            assert np.allclose(chainer.kl_divergence(dist, dist).array, 0, atol=1e-12)
            drawn = dist.sample(200000).array
            ratios = dist.log_prob(drawn).array - other.log_prob(drawn).array
            found = chainer.kl_divergence(dist, other).array
            np.testing.assert_allclose(found, ratios.mean(axis=0), atol=5 * (ratios.std(axis=0) / 447).max() + 1e-9, err_msg=str(dist))
            if type(dist).__name__ != 'Poisson':
                np.testing.assert_allclose(chainer.cross_entropy(dist, other).array, dist.entropy.array + found)
    ''')


def test_divergences_of_users_and_bad_parameters():
    run('''
        import numpy as np
        import pytest
        import chainer
        from chainer import distributions as D
        x = np.ones(3, 'f')
        class Mine(D.Normal):
            pass
        assert (chainer.kl_divergence(Mine(x, x), D.Normal(x, x)).array == 0).all()
        with pytest.raises(KeyError, match='register_kl'):
            chainer.kl_divergence(D.Cauchy(x, x), D.Normal(x, x))
        @chainer.register_kl(D.Cauchy, D.Normal)
        def kl(a, b):
            return 'mine'
        assert chainer.kl_divergence(D.Cauchy(x, x), Mine(x, x)) == 'mine'
        for make in (lambda: D.Normal(x), lambda: D.Normal(x, x, log_scale=x), lambda: D.Bernoulli(), lambda: D.Uniform(low=x),
                     lambda: D.Categorical(x, logit=x), lambda: D.MultivariateNormal(x)):
            with pytest.raises(ValueError):
                make()
        with pytest.raises(TypeError, match='scales'):
            D.Normal(x, scales=x)
        with pytest.raises(NotImplementedError, match='Beta has no cdf'):
            D.Beta(x, x).cdf(x)
        with pytest.raises(ValueError):
            D.Independent(D.Normal(x, x), 2)
        broad = D.Normal(np.zeros((2, 1), 'f'), x)
        assert broad.batch_shape == (2, 3) and broad.entropy.shape == (2, 3) and broad.sample(4).shape == (4, 2, 3)
        assert D.Normal(x, x).log_prob(np.zeros(3)).dtype == 'f' and D.Poisson(x).log_prob(np.arange(3)).dtype == 'f'
        with pytest.warns(RuntimeWarning, match='not defined'):
            assert np.isnan(D.Cauchy(x, x).mean.array).all()
    ''')


def test_independent_joins_members():
    run('''
        import numpy as np
        import chainer
        from chainer import distributions as D
        from scipy import stats
        rng = np.random.RandomState(0)
        loc, scale, x = rng.randn(2, 3), rng.rand(2, 3) + .5, rng.randn(5, 2, 3)
        dist = D.Independent(D.Normal(loc, scale))
        assert dist.batch_shape == (2,) and dist.event_shape == (3,) and dist.sample(4).shape == (4, 2, 3)
        np.testing.assert_allclose(dist.log_prob(x).array, stats.norm(loc, scale).logpdf(x).sum(axis=-1))
        np.testing.assert_allclose(dist.cdf(x).array, stats.norm(loc, scale).cdf(x).prod(axis=-1))
        np.testing.assert_allclose(dist.entropy.array, stats.norm(loc, scale).entropy().sum(axis=-1))
        np.testing.assert_allclose(dist.covariance.array, [np.diag(row ** 2) for row in scale])
        other = D.Independent(D.Normal(loc + 1, scale))
        np.testing.assert_allclose(chainer.kl_divergence(dist, other).array, (.5 / scale ** 2).sum(axis=-1))
        tril = np.tril(rng.randn(2, 3, 3))
        blocks = D.Independent(D.MultivariateNormal(loc, tril), 1).covariance.array
        np.testing.assert_allclose(blocks[:3, :3], tril[0] @ tril[0].T)
        np.testing.assert_allclose(blocks[3:, 3:], tril[1] @ tril[1].T)
        assert (blocks[:3, 3:] == 0).all() and (blocks[3:, :3] == 0).all()
    ''')


def test_arrays_of_cupy_stay_on_their_device():
    _run('''
        import warnings
        import cupy
        warnings.simplefilter('ignore', RuntimeWarning)
        for dist, judge, x in cases:
            params = {name: cupy.asarray(value.array.astype('f')) for name, value in dist.params.items()}
            there = type(dist)(**params)
            assert there.xp is cupy
            drawn = there.sample(500)
            assert isinstance(drawn.array, cupy.ndarray) and drawn.shape == (500, 3), dist
            assert np.isfinite(there.log_prob(drawn).array.get()).all(), dist
            np.testing.assert_allclose(there.log_prob(cupy.asarray(x.astype('f'))).array.get(), dist.log_prob(x).array, rtol=3e-4, atol=1e-5)
            np.testing.assert_allclose(there.mean.array.get(), dist.mean.array, rtol=1e-4)
        p = cupy.asarray([[.2, .8], [.5, .5]], 'f')
        for dist in (D.Categorical(p), D.OneHotCategorical(p), D.Dirichlet(p), D.MultivariateNormal(p[0], p)):
            drawn = dist.sample(7)
            assert isinstance(drawn.array, cupy.ndarray) and drawn.shape == (7, *dist.batch_shape, *dist.event_shape)
            assert isinstance(dist.log_prob(drawn).array, cupy.ndarray)
    ''')
