"""The calls that arrays.py times: one expression per line, for every module whose functions have a peer.

`m` is the module, `n` is numpy or cupy. The operands are x, y (vectors), A, B (square matrices), i, j (integers), p (bools), k (31 weights), K (3 x 3
weights), e (51 ascending edges from 0 to 1), L (labels), S (csr), T (csr of the same shape), s (symmetric csr), z (complex). Each is a C-ordered
array of `dtype`, where that is not in the description. A line `@ dtypes` sets the dtypes of the lines below it.
"""

UNARY = {
    'f4 f8': '''arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh deg2rad degrees exp exp2 expm1 fabs fix floor frexp i0 isfinite isinf
                isnan log log10 log1p log2 modf nan_to_num rad2deg radians reciprocal rint signbit sin sinc sinh sqrt tan tanh trunc''',
    'f4 f8 i4 c8': 'absolute negative sign square positive',
    'c8': 'angle conj exp imag iscomplex isreal log real sin sqrt',
    'i4 ?': 'invert logical_not',
    'i4 u1': 'bitwise_count',
}
BINARY = {
    'f4 f8 i4 c8': 'add divide multiply subtract',
    'f4 f8 i4': 'equal floor_divide fmod greater greater_equal less less_equal maximum minimum not_equal power remainder',
    'f4 f8': 'arctan2 copysign divmod float_power fmax fmin heaviside hypot isclose logaddexp logaddexp2 nextafter',
    'i4 ?': 'bitwise_and bitwise_or bitwise_xor',
    'i4': 'gcd lcm left_shift right_shift',
    'f4 i4 ?': 'logical_and logical_or logical_xor',
}
REDUCTIONS = {
    'f4 f8 i4': 'argmax argmin cumsum max mean median min ptp std sum',
    'f4 f8': '''average cumprod nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar prod var''',
    'f4 i4 ?': 'all any count_nonzero',
}

CALLS = {
    'numpy': '''
        @ f4 f8 i4
        m.append(A, A, 0); m.array_equal(x, x); m.ascontiguousarray(A.T); m.argsort(x); m.argsort(A, 0); m.argsort(A, 1); m.argwhere(x)
        m.block([[A, A], [A, A]])
        m.broadcast_to(x, (4, x.size)).copy(); m.clip(x, 2, 50); m.compress(p, x); m.concatenate([A, A], 1); m.copy(A); m.delete(x, 5)
        m.diag(A[0]); m.diff(x)
        m.dot(A, B); m.extract(p, x); m.flatnonzero(x); m.flip(A).copy(); m.full_like(x, 1); m.insert(x, 5, 1); m.isin(x, x[:100]); m.isin(x, y)
        m.kron(A[:32, :32], A[:8, :8])
        m.lexsort(n.stack([x, y])); m.matmul(A, B); m.nonzero(x); m.outer(A[0], A[1]); m.pad(A, 3); m.pad(A, 3, mode='edge')
        m.pad(A, 3, mode='reflect')
        m.partition(x, x.size // 2); m.percentile(x, [5, 50, 95]); m.percentile(A, [5, 50, 95], axis=1); m.quantile(A, 0.3, axis=0)
        m.repeat(x, 2); m.repeat(A, 2, axis=1); m.roll(A, 7)
        m.roll(A, 7, axis=1); m.rot90(A).copy(); m.searchsorted(m.sort(x), y); m.sort(x); m.sort(A, 0); m.sort(A, 1); m.stack([A, A], -1)
        m.take(x, i); m.take(A, j, axis=1)
        m.take_along_axis(A, m.argsort(A, 1), 1); m.tensordot(A, B, 1); m.tile(A, (2, 2)); m.trace(A); m.tril(A); m.unique(x); m.unique(i)
        m.where(p, x, y); m.einsum('ij,kj->ik', A, B)
        m.add.reduceat(x, j); m.maximum.reduceat(x, j); m.multiply.reduceat(A, j, axis=1); m.add.reduceat(A, j); m.add.at(x, i, y)
        m.add.accumulate(A, 1); x[i]; x[p]; A[j]; A[:, j]; A[::2, ::2].copy(); A[:, None, :8] * A[None, :, :8]
        m.union1d(x, y); m.intersect1d(i, j); m.setdiff1d(i, j)
        @ f4 f8
        m.allclose(x, x); m.convolve(x, k); m.corrcoef(x.reshape(10, -1)); m.correlate(x, k); m.cov(x.reshape(10, -1)); m.digitize(x, e)
        m.ediff1d(x); m.gradient(x); m.histogram(x, 50)
        m.histogram(x, e); m.histogram(x, 50, weights=y); m.histogram2d(x, y, 20); m.histogramdd(n.stack([x, y], 1), 10); m.interp(x, e, e)
        m.linspace(0, 1, x.size); m.logspace(0, 1, x.size); m.polyfit(x, y, 3)
        m.polyval(k[:4], x); m.trapezoid(x); m.unwrap(x); m.vander(x[:1000], 5); m.around(x, 2); m.bincount(i, y); m.nanpercentile(A, 30, axis=1)
        m.meshgrid(x[:1000], x[:1000])
        @ i4
        m.bincount(i); m.packbits(p); m.packbits(A > 50, axis=0); m.unpackbits(x.astype('u1')); m.count_nonzero(p); m.flatnonzero(p)
        m.arange(x.size); m.indices((100, 100)); m.ravel_multi_index((j, j), (10000, 10000))
        m.array(x[:1000].tolist()); m.tri(1000); m.eye(1000)''',
    'numpy.linalg': '''
        @ f4 f8
        m.cholesky(n.eye(200, dtype=A.dtype) * 400 + A[:200, :200] @ A[:200, :200].T); m.cond(A[:100, :100]); m.det(A[:200, :200])
        m.eigh(A[:100, :100]); m.eigvalsh(A[:100, :100]); m.inv(A[:200, :200])
        m.lstsq(A[:200, :50], A[:200, 0], rcond=None); m.matrix_power(A[:100, :100], 5); m.matrix_rank(A[:100, :100]); m.norm(x)
        m.norm(A, axis=1); m.norm(A, 'fro'); m.pinv(A[:100, :100]); m.qr(A[:200, :200])
        m.slogdet(A[:200, :200]); m.solve(A[:200, :200], A[:200, :5]); m.svd(A[:100, :100])''',
    'numpy.fft': '''
        @ f4 f8
        m.fft(x); m.fft(A); m.fft2(A); m.fftfreq(x.size); m.fftn(A); m.fftshift(x); m.hfft(x); m.ifft(z); m.ifft2(A); m.ihfft(x); m.irfft(z)
        m.irfft2(A); m.rfft(x); m.rfft(A, axis=0); m.rfft2(A)''',
    'numpy.random': '''
        @ f8
        m.beta(2, 3, x.size); m.binomial(10, 0.3, x.size); m.bytes(x.size); m.chisquare(3, x.size); m.choice(x.size, 100)
        m.dirichlet([1, 2, 3], x.size // 10); m.exponential(1, x.size); m.gamma(2, 1, x.size)
        m.geometric(0.3, x.size); m.gumbel(0, 1, x.size); m.laplace(0, 1, x.size); m.logistic(0, 1, x.size); m.lognormal(0, 1, x.size)
        m.multinomial(100, [0.2, 0.3, 0.5], x.size // 10)
        m.negative_binomial(3, 0.4, x.size); m.normal(0, 1, x.size); m.pareto(3, x.size); m.permutation(x.size); m.poisson(4, x.size)
        m.power(3, x.size); m.rand(x.size); m.randint(0, 100, x.size)
        m.randn(x.size); m.random_sample(x.size); m.rayleigh(1, x.size); m.standard_cauchy(x.size); m.standard_t(4, x.size)
        m.triangular(0, 1, 2, x.size); m.uniform(0, 1, x.size); m.vonmises(0, 1, x.size)
        m.wald(1, 1, x.size); m.weibull(2, x.size); m.zipf(3, x.size)''',
    'scipy.fft': '''
        @ f4 f8
        m.dct(x); m.dct(A, axis=0); m.dctn(A); m.dst(x); m.dstn(A); m.fft(x); m.idct(x); m.idst(x); m.irfft(z); m.rfft(x)''',
    'scipy.linalg': '''
        @ f8
        m.block_diag(A[:50, :50], A[:50, :50]); m.expm(A[:50, :50] / 100); m.hankel(x[:300]); m.lu(A[:100, :100]); m.lu_factor(A[:100, :100])
        m.solve_triangular(A[:100, :100], A[:100, 0]); m.toeplitz(x[:300])''',
    'scipy.ndimage': '''
        @ f4 u1
        m.affine_transform(A, n.array([[.9, .1], [-.1, .9]]), order=1); m.binary_closing(A > A.mean()); m.binary_dilation(A > A.mean())
        m.binary_fill_holes(A > A.mean()); m.binary_opening(A > A.mean())
        m.center_of_mass(A); m.convolve(A, K); m.convolve1d(A, k[:7]); m.correlate(A, K); m.correlate1d(A, k, 0)
        m.distance_transform_edt(A > A.mean()); m.extrema(A); m.extrema(A, L, n.arange(1, 9)); m.find_objects(L)
        m.fourier_gaussian(A, 2); m.gaussian_filter(A, 2); m.gaussian_filter1d(A, 2, 0); m.gaussian_gradient_magnitude(A, 2)
        m.gaussian_laplace(A, 2); m.grey_closing(A, 3); m.grey_dilation(A, 3); m.grey_erosion(A, (5, 2)); m.histogram(A, 0, 99, 50)
        m.label(A > A.mean()); m.label(A > A.mean(), n.ones((3, 3))); m.labeled_comprehension(A, L, n.arange(1, 5), n.sum, float, 0); m.laplace(A)
        m.map_coordinates(A, n.stack([A % 50, A.T % 50]), order=1); m.map_coordinates(A, n.stack([A % 50, A.T % 50]))
        m.maximum(A, L, n.arange(1, 9)); m.maximum_filter(A, 5); m.maximum_filter1d(A, 15); m.maximum_position(A, L, n.arange(1, 9))
        m.mean(A, L, n.arange(1, 9)); m.median(A, L, n.arange(1, 9)); m.median_filter(A, 3); m.minimum_filter(A, 15)
        m.minimum_position(A); m.morphological_gradient(A, 3); m.percentile_filter(A, 30, 3); m.prewitt(A); m.rank_filter(A, 2, 3)
        m.rotate(A, 20); m.rotate(A, 20, order=1); m.shift(A, 2.5); m.shift(A, (1.5, 2), order=1); m.sobel(A)
        m.spline_filter(A); m.standard_deviation(A, L, n.arange(1, 9)); m.sum_labels(A, L, n.arange(1, 9)); m.uniform_filter(A, 15)
        m.uniform_filter1d(A, 5, 0); m.value_indices(L); m.variance(A, L, n.arange(1, 9)); m.white_tophat(A, 3); m.zoom(A, 1.5)
        m.zoom(A, .5, order=1)''',
    'scipy.signal': '''
        @ f4 f8
        m.argrelmax(x); m.convolve(x, k); m.convolve2d(A[:200, :200], K); m.correlate(x, k); m.csd(x, y); m.decimate(x, 4); m.detrend(x)
        m.fftconvolve(x, x); m.filtfilt(k[:3] / 9, [1, -.5, .1], x); m.find_peaks(x); m.find_peaks(x, prominence=.5)
        m.hilbert(x); m.lfilter(k, [1.0], x); m.lfilter(k[:3] / 9, [1, -.5, .1], x); m.lfilter([1.0], [1, -.9], A); m.medfilt(x, 5)
        m.oaconvolve(x, k); m.order_filter(A[:200, :200], n.ones((3, 3)), 4); m.periodogram(x); m.resample(x, x.size // 2)
        m.resample_poly(x, 2, 3); m.savgol_filter(x, 21, 3); m.sosfilt([[.1, .2, .1, 1, -.5, .1]] * 3, x)
        m.sosfiltfilt([[.1, .2, .1, 1, -.5, .1]] * 3, x); m.spectrogram(x); m.stft(x); m.symiirorder1(x, .5, .5); m.upfirdn(k, x, 2, 3)
        m.welch(x); m.wiener(A[:200, :200], 5)''',
    'scipy.special': '''
        @ f4 f8
        m.beta(x, y); m.betainc(x, y, .3); m.betaln(x, y); m.binom(x, y); m.boxcox(x, y); m.chdtr(x, y); m.digamma(x); m.ellipk(x / 101)
        m.entr(x); m.erf(x); m.erfc(x); m.erfinv(x / 101); m.exp1(x); m.expi(x); m.expit(x); m.gamma(x / 9); m.gammainc(x, y); m.gammaln(x)
        m.i0(x); m.i1(x); m.j0(x); m.j1(x); m.k0(x); m.kl_div(x, y); m.log_ndtr(x); m.log_softmax(A, axis=1); m.logit(x / 101)
        m.logsumexp(A, axis=0); m.ndtr(x); m.ndtri(x / 101); m.polygamma(2, x); m.psi(x); m.rel_entr(x, y); m.sici(x); m.softmax(A, axis=1)
        m.xlogy(x, y); m.y0(x); m.zeta(x + 1, y)''',
    'scipy.sparse': '''
        @ f4 f8
        S @ S.data[:1].repeat(S.shape[1]); S @ S; S @ n.ones((S.shape[1], 8), S.dtype); S.T @ n.ones(S.shape[0], S.dtype); S + T; S - T; S * 2
        S.multiply(T); S.maximum(T); S > 0.5; abs(S); S.power(2); S.sum(); S.sum(0); S.sum(1); S.max(0); S.max(1); S.min(1); S.mean(1)
        S.diagonal()
        S[3, 4]; S[10:50]; S[:, 10:50]; S[n.arange(0, 90, 3)]; S[:, n.arange(0, 90, 3)]; S.tocoo(); S.tocsc(); S.T.tocsr(); S.tocoo().tocsr()
        S.copy(); m.vstack([S, S]); m.hstack([S, S]); m.bmat([[S, None], [None, S]]); m.block_diag([S, S]); m.kron(S[:50, :50], T[:50, :50])
        m.tril(S); m.find(S)
        m.eye(S.shape[0], format='csr'); m.diags([1., -2., 1.], [-1, 0, 1], shape=S.shape); m.random(*S.shape, density=.001); S.getnnz(1)
        S.nonzero()''',
}
