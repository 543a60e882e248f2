#!/usr/bin/env python3
"""Times every public function of catenary.cupy and cupyx beside NumPy's or SciPy's, on the processor.

  arrays.py [--only numpy,scipy.ndimage] [--names 'histogram|bincount'] [--share 0.1] [--turn 3] [--sizes 1000,1000000] [--limit 1.2] [--out FILE]
  arrays.py --missing      lists public functions without a call in calls.py

Run it with the interpreter of build/python/venv, and OMP_NUM_THREADS=1 CATENARY_NUM_THREADS=1 for one thread. A share of 0.1 makes ten parts of the calls by the hash of
their names, of which --turn chooses one, so that each part takes minutes.

A figure is the least of several alternating times. The calls above --limit times the peer's are listed, the worst first. FILE gets all figures as
JSON: of calls that it already holds, the new figures replace the old ones.
"""

import argparse
import importlib
import json
import os
import pathlib
import re
import sys
import time
import warnings
import zlib

os.environ.setdefault('CATENARY_CUPY_CPU', '1')

import numpy

from calls import BINARY, CALLS, REDUCTIONS, UNARY

MOST = 0.6  # seconds of a call that is not repeated
_OURS = {'numpy': 'catenary.cupy', 'scipy': 'catenary.cupyx.scipy'}


def expressions():
    """Yields (module, expression, dtype, layout)."""
    for table, layouts in ((UNARY, ('x', 'A[:, ::2]', 'A.T')), (BINARY, ('x, y', 'A, B.T', 'A, B[0]', 'A, B[:, :1]', 'x, 3')),
                           (REDUCTIONS, ('x', 'A, axis=0', 'A, axis=1', 'A.T, axis=0'))):
        for dtypes, names in table.items():
            for name in names.split():
                for dtype in dtypes.split():
                    for layout in layouts:
                        yield 'numpy', f'm.{name}({layout})', dtype
    for module, text in CALLS.items():
        for line in text.strip().splitlines():
            if line.strip().startswith('@'):
                dtypes = line.split()[1:]
                continue
            for expression in line.split(';'):
                for dtype in dtypes:
                    yield module, expression.strip(), dtype


def operands(size, dtype):
    """Returns the operands of calls.py as NumPy arrays."""
    dtype, random = numpy.dtype(dtype), numpy.random.default_rng(size)
    side = int(size ** 0.5)

    def array(*shape):
        if dtype.kind == 'b':
            return random.random(shape) > 0.5
        if dtype.kind in 'iu':
            return random.integers(1, 100, shape).astype(dtype)
        values = random.uniform(0.05, 0.95, shape)
        return (values + 1j * random.uniform(0.05, 0.95, shape) if dtype.kind == 'c' else values).astype(dtype)
    real = dtype if dtype.kind == 'f' else numpy.dtype('f8')
    return {'x': array(size), 'y': array(size), 'A': array(side, side), 'B': array(side, side), 'i': random.integers(0, size, size).astype('i4'),
            'j': numpy.arange(0, side, 3), 'p': random.random(size) > 0.5, 'k': random.random(31).astype(real), 'K': random.random((3, 3)).astype(real),
            'e': numpy.linspace(0, 1, 51), 'L': (numpy.arange(side * side).reshape(side, side) // side // 8 % 9).astype('i4'),
            'z': numpy.fft.rfft(random.random(size)).astype('c8' if dtype == 'f4' else 'c16')}


def sparse_operands(size, dtype):
    """Returns matrices of SciPy with ten elements in each row."""
    import scipy.sparse
    n = max(int(size ** 0.5) * 10, 100)
    return {name: scipy.sparse.random(n, n, density=10 / n, format='csr', dtype=dtype, random_state=seed) for seed, name in enumerate('ST')}


def both_sides(module, size, dtype):
    """Returns the names of an expression for the peer and for us."""
    from catenary import cupy
    peer = {**operands(size, dtype), 'n': numpy, 'm': importlib.import_module(module)}
    ours = {**{name: cupy.asarray(value) for name, value in operands(size, dtype).items()}, 'n': cupy}
    top, _, rest = module.partition('.')
    ours['m'] = importlib.import_module('.'.join([_OURS[top], *([rest] if rest else [])]))
    if module == 'scipy.sparse':
        peer.update(sparse_operands(size, dtype))
        ours.update({name: ours['m'].csr_matrix(value) for name, value in sparse_operands(size, dtype).items()})
    return peer, ours


def once(call, count=1):
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def timed(expression, peer, ours):
    """Returns the seconds of both, the least of alternating times."""
    from catenary import _core
    code = compile(expression, expression, 'eval')

    def waiting():
        result = eval(code, ours)
        _core.deviceSynchronize()
        return result  # a result that nobody holds is not computed
    calls = [lambda: eval(code, peer), waiting]
    for call in calls:
        call()
    best = [once(call) for call in calls]
    counts = [max(1, min(200, int(0.001 / max(seconds, 1e-7)))) for seconds in best]
    for _ in range(1 if sum(best) > MOST else 3 if sum(best) > MOST / 5 else 6):
        best = [min(least, once(call, count)) for least, call, count in zip(best, calls, counts)]
    return best


def missing():
    """Lists public functions that both sides have and calls.py does not name."""
    text = ' '.join([*(x for table in (UNARY, BINARY, REDUCTIONS) for x in table.values()), *CALLS.values()])
    named = set(re.findall(r'\w+', text))
    for module in CALLS:
        top, _, rest = module.partition('.')
        peer, ours = importlib.import_module(module), importlib.import_module('.'.join([_OURS[top], *([rest] if rest else [])]))
        names = [name for name in dir(peer) if name[0] != '_' and callable(getattr(peer, name)) and not isinstance(getattr(peer, name), type)
                 and hasattr(ours, name) and name not in named]
        print(f'{module}: {len(names)} without a call: {" ".join(names)}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', default='')
    parser.add_argument('--names', default='')
    parser.add_argument('--share', type=float, default=1)
    parser.add_argument('--turn', type=int, default=0)
    parser.add_argument('--sizes', default='1000,1000000')
    parser.add_argument('--limit', type=float, default=1.2)
    parser.add_argument('--out', type=pathlib.Path)
    parser.add_argument('--missing', action='store_true')
    options = parser.parse_args()
    if options.missing:
        return missing()
    warnings.simplefilter('ignore')
    numpy.seterr(all='ignore')
    parts, only, found, sides = round(1 / options.share), options.only.split(',') if options.only else None, {}, {}
    for module, expression, dtype in expressions():
        name = f'{module} {expression}'
        if only and module not in only or not re.search(options.names, name) or zlib.crc32(name.encode()) % parts != options.turn % parts:
            continue
        for size in map(int, options.sizes.split(',')):
            key = (module, size, dtype)
            if key not in sides:
                sides.clear()
                sides[key] = both_sides(*key)
            try:
                peer, ours = timed(expression, *sides[key])
            except Exception as error:
                print(f'{name} {dtype} {size}: {type(error).__name__}: {str(error)[:100]}', file=sys.stderr)
                continue
            found[f'{name} | {dtype} | {size}'] = {'ours_ms': round(ours * 1e3, 5), 'peer_ms': round(peer * 1e3, 5), 'ratio': round(ours / peer, 2)}
    slow = sorted((row['ratio'], name) for name, row in found.items() if row['ratio'] > options.limit)
    for ratio, name in reversed(slow):
        print(f'{ratio:8.2f}  {name}  ({found[name]["ours_ms"]:.3f} ms, peer {found[name]["peer_ms"]:.3f} ms)')
    print(f'{len(found)} calls, {len(slow)} above {options.limit}')
    if options.out:
        before = json.loads(options.out.read_text()) if options.out.exists() else {}
        options.out.write_text(json.dumps(dict(sorted({**before, **found}.items())), indent=1) + '\n')


if __name__ == '__main__':
    main()
