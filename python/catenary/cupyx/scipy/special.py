"""cupyx.scipy.special"""

from catenary import _core, _names

digamma = psi = _core.ufuncs['digamma']
erf, erfc, erfcx, erfinv, erfcinv = (_core.ufuncs[n] for n in ('erf', 'erfc', 'erfcx', 'erfinv', 'erfcinv'))
gammaln = _core.ufuncs['lgamma']
ndtr, ndtri, log_ndtr = (_core.ufuncs[n] for n in ('ndtr', 'ndtri', 'log_ndtr'))
expit = _core.ufuncs['sigmoid']
zeta = _core.ufuncs['zeta']
polygamma = _core.ufuncs['polygamma']


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """log(sum(exp(a))), computed without overflow."""
    if b is not None or return_sign:
        raise NotImplementedError('logsumexp: b and return_sign are not supported')
    return _core.logsumexp(a, axis, keepdims)


__getattr__ = _names.getter('cupyx.scipy.special')
