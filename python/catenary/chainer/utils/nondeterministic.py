"""A warning about results that differ from run to run."""
import warnings

from ..configuration import config


def nondeterministic(f_name):
    """Warns that `f_name` may give different results, where ``config.warn_nondeterministic`` is set."""
    if config.warn_nondeterministic:
        warnings.warn('{} can be nondeterministic'.format(f_name), stacklevel=2)
