"""NumPy's reference vectors (tests/data/reference) through cupy, by NumPy's names.

tests/data/reference/numpy/make_numpy_reference.py describes the format.
"""

import collections
import json
import operator
import pathlib

import numpy
import pytest

from catenary import cupy
import catenary.cupyx.scipy.linalg as linalg

ROOT = pathlib.Path(__file__).resolve().parents[3] / 'tests/data/reference'
# functions in the vectors that NumPy lacks
NOT_NUMPYS = {'astype': lambda x, dtype: x.astype(dtype), 'partition_kth': lambda x, k: cupy.partition(x, k)[k],
              'solve_triangular': linalg.solve_triangular}
ERRORS = (TypeError, ValueError, IndexError, ZeroDivisionError)


class Vectors:
    def __init__(self, folder):
        self.arrays = numpy.load(ROOT / folder / 'arrays.npz')
        self.cases = json.loads((ROOT / folder / 'manifest.json').read_text())['cases']

    def index(self, items):
        def one(item):
            (kind, value), = item.items()
            return {'slice': lambda: slice(*value), 'newaxis': lambda: None, 'ellipsis': lambda: Ellipsis,
                    'array': lambda: cupy.array(self.arrays[value]), 'int': lambda: value}[kind]()
        return tuple(one(item) for item in items)

    def value(self, v):
        if isinstance(v, list):
            return [self.value(x) for x in v]
        if not isinstance(v, dict):
            return v
        if 'array' not in v:
            return numpy.dtype(v['dtype']) if 'dtype' in v else numpy.nan if 'nan' in v else v['inf'] * numpy.inf
        x = cupy.array(self.arrays[v['array']])
        for step in v.get('prep', ()):
            (kind, how), = step.items()
            x = (x[self.index(how)] if kind == 'getitem' else x.transpose(how) if kind == 'transpose' else
                 cupy.broadcast_to(x, tuple(how)))
        return x

    def run(self, case):
        """Returns (the results as ndarrays, whether a result shares the operand's memory)."""
        kind = case['of'] if case['kind'] == 'error' else case['kind']
        if kind == 'call':
            args = [tuple(v) if isinstance(v, list) and all(isinstance(x, int) for x in v) else v
                    for v in map(self.value, case['args'])]
            kwargs = {name: tuple(v) if isinstance(v, list) and name in ('axis', 'axes', 'shape') else v
                      for name, v in ((name, self.value(v)) for name, v in case['kwargs'].items())}
            results = named(case['function'])(*args, **kwargs)
            return list(results) if isinstance(results, (tuple, list)) else [results]
        x = self.value(case['x'])
        if kind == 'getitem':
            result = x[self.index(case['index'])]
            if case.get('view') is not None:
                assert (result.base is x) == (case['view'] or result.ndim == 0 and not any(
                    'array' in i for i in case['index'])), 'a view or a copy?'
            return [result]
        if kind == 'setitem':
            x[self.index(case['index'])] = self.value(case['value'])
            return [x]
        result = getattr(operator, case['op'])(x, self.value(case['value']))
        assert result is x
        return [result]

    def check(self, case):
        if case['kind'] == 'error':
            with pytest.raises(ERRORS):
                for result in self.run(case):
                    cupy.asnumpy(result)  # a GPU reports the error when it is synchronised
            return
        results = self.run(case)
        assert len(results) == len(case['results'])
        for ours, key in zip(results, case['results']):
            theirs = self.arrays[key]
            # Python numbers stand for NumPy's scalars
            ours = cupy.asnumpy(ours) if isinstance(ours, cupy.ndarray) else numpy.asarray(ours).astype(theirs.dtype)
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
            if theirs.dtype.kind != 'f':
                numpy.testing.assert_array_equal(ours, theirs)
                continue
            finite = theirs[numpy.isfinite(theirs)]
            numpy.testing.assert_allclose(ours, theirs, rtol=case['rtol'], atol=case['rtol'] * max(
                numpy.abs(finite).max(initial=0), 1))
            if case.get('signed_zero'):
                zeros = theirs == 0
                numpy.testing.assert_array_equal(numpy.signbit(ours[zeros]), numpy.signbit(theirs[zeros]))


def named(function):
    if function in NOT_NUMPYS:
        return NOT_NUMPYS[function]
    found = cupy
    for part in function.split('.'):
        found = getattr(found, part)
    return found


VECTORS = {folder: Vectors(folder) for folder in ('numpy', 'numpy_linalg')}
GROUPS = collections.defaultdict(list)
for folder, vectors in VECTORS.items():
    for case in vectors.cases:
        kind = case['kind']
        GROUPS[folder, case['function'] if kind == 'call' else kind].append(case)


COMPUTED = [pytest.param(*group, marks=[pytest.mark.host] if group[1] not in ('getitem', 'setitem', 'inplace', 'error')
                         else []) for group in sorted(GROUPS)]


@pytest.mark.parametrize('folder, name', COMPUTED)
def test_reference_vectors(device, folder, name):
    failures = []
    for case in GROUPS[folder, name]:
        try:
            VECTORS[folder].check(case)
        except Exception as error:
            failures.append('case %d: %s: %s' % (case['id'], type(error).__name__, ' '.join(str(error).split())[:300]))
    assert not failures, '%d of %d\n%s' % (len(failures), len(GROUPS[folder, name]), '\n'.join(failures))


def test_every_case_is_run():
    assert sum(len(cases) for cases in GROUPS.values()) == 1143 + 573
