"""A substitute for the part of pkg_resources that Chainer 7.8.1 uses, as setuptools no longer has it: is a distribution installed in a suitable
version?

Versions are compared by their release numbers. A pre-release counts as its release.
"""

import collections
import importlib.metadata
import itertools
import re
import sys


class ResolutionError(Exception):
    """Raised if a requirement is not met."""


class DistributionNotFound(ResolutionError):
    """Raised if a distribution is not installed."""


class VersionConflict(ResolutionError):
    """Raised if the installed version of a distribution does not fit."""


Distribution = collections.namedtuple('Distribution', 'project_name version')


def _release(version):
    return [int(n) for n in re.match(r'v?(\d+(?:\.\d+)*)?', version).group(1).split('.')]


def _fits(version, operator, wanted):
    pairs = list(itertools.zip_longest(_release(version), _release(wanted.removesuffix('.*')), fillvalue=0))
    if wanted.endswith('.*'):
        pairs = pairs[:len(_release(wanted.removesuffix('.*')))]
    have, want = [p[0] for p in pairs], [p[1] for p in pairs]
    if operator == '~=':
        return have >= want and have[:len(_release(wanted)) - 1] == want[:len(_release(wanted)) - 1]
    return {'==': have == want, '!=': have != want, '>=': have >= want, '<=': have <= want, '>': have > want,
            '<': have < want}[operator]


def get_distribution(name):
    """Returns the distribution of this name. Raises DistributionNotFound."""
    try:
        return Distribution(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        raise DistributionNotFound(name) from None


def _distribution_or_ours(name):
    ours = sys.modules.get('catenary.cupy')
    if name == 'cupy' and ours is not None and sys.modules.get('cupy') is ours:
        return Distribution(name, ours.__version__)
    return get_distribution(name)


def require(*requirements, get=get_distribution):
    """Returns the distributions of requirements such as 'numpy>=1.10,<3'. Raises DistributionNotFound or VersionConflict for one
    that is not met, ValueError for one that cannot be read."""
    found = []
    for requirement in requirements:
        match = re.fullmatch(r'\s*([\w.-]+)\s*(.*?)\s*', requirement)
        clauses = [re.fullmatch(r'\s*(==|!=|>=|<=|~=|>|<)\s*(v?\d[\w.*+!-]*)\s*', clause)
                   for clause in match.group(2).split(',')] if match and match.group(2) else []
        if match is None or None in clauses:
            raise ValueError('%r is not a requirement; expected a name and perhaps versions, as in "numpy>=1.10"'
                             % requirement)
        distribution = get(match.group(1))
        for clause in clauses:
            if not _fits(distribution.version, *clause.groups()):
                raise VersionConflict(distribution, requirement)
        found.append(distribution)
    return found


class WorkingSet:
    """The installed distributions, including Catenary's `cupy` if it is in use. Otherwise Chainer would warn about its version."""

    def require(self, *requirements):
        return require(*requirements, get=_distribution_or_ours)
