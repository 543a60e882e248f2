"""Writes SciPy's values of the special functions: special_values.json for special_values_test.py, and special_edges.json for special_edges_test.py: python make_special_values.py, with SciPy 1.17."""

import json
import pathlib

import numpy

FILE = pathlib.Path(__file__).with_name('special_values.json')
FILE_OF_EDGES = FILE.with_name('special_edges.json')
ENDS = [float('nan'), float('inf'), 0.0, -1.0]
REAL = [1e-300, 1e-8, 0.03, 0.3725, 0.5, 1, 1.9, 2.1, 2.75, 3.9, 4.1, 6.25, 7.9, 8.1, 11.7, 25, 39.5, 40.5, 60, 300]
ANGLES = [-7.2, -3.5, -1.5, -0.2, 1e-9, 0.4, 1.57, 2.5, 3.2, 11, 40.5]
SHAPES = [0.05, 0.5, 1, 2.5, 30, 400]
TAILS = [1e-90, 1e-6, 0.02, 0.3, 0.5, 0.75, 0.999]
PARAMETERS = [-1e4, -3, -0.1, 0, 1e-6, 0.1, 0.5, 0.99, 1 - 1e-9, 1]
# For each function, one list of values per argument. All combinations are computed.
ARGUMENTS = {
    **{name: (REAL + ENDS[::2] + [-1.0],) for name in ('j0', 'j1', 'y0', 'y1')},
    **{name: (REAL + ENDS,) for name in ('k0', 'k1', 'k0e', 'k1e', 'exp1')},
    **{name: (REAL + [-x for x in REAL] + ENDS + [-float('inf')],) for name in ('expi', 'sici', 'shichi')},
    **{f'{name} complex': ([complex(a, b) for a in (0, 1e-9, 0.5, 2, 4.75, 9, 39.5, 41, -1, -7) for b in (1e-9, 0.25, 1, 4.75, 12, 30, 45, -0.5, -20, 0.0, -0.0) if a or b] + [ENDS[1]],)
       for name in ('sici', 'shichi')},
    'expn': ([0, 1, 2, 3, 7, 40, 6000], REAL + ENDS),
    'yn': ([0, 1, 2, 5, 40, -1, -4], [0.03, 0.5, 2.1, 7.9, 8.1, 25, 60, 0, -1, ENDS[0]]),
    'spherical_yn': ([0, 1, 2, 5, 40], [0.03, 0.5, 2.1, 7.9, 25, 60, -2.1, 0, *ENDS[:2]]),
    'spherical_yn derivative': ([0, 1, 2, 5, 40], [0.03, 0.5, 2.1, 7.9, 25, 60, -2.1, *ENDS[:2]]),
    'ellipkinc': (ANGLES + [0, ENDS[0]], PARAMETERS + [1.5, ENDS[0]]),
    'ellipeinc': (ANGLES + [0, ENDS[0]], PARAMETERS + [1.5, ENDS[0]]),
    'ellipj': ([-3, -0.4, 0, 1e-9, 0.7, 2, 5.5, ENDS[0]], [0, 1e-6, 0.1, 0.5, 0.99, 1 - 1e-6, 1, -0.1, 1.1, ENDS[0]]),
    'gammaincinv': (SHAPES[1:] + ENDS[::3], TAILS + [1.0, 1.5, *ENDS]),
    'gammainccinv': (SHAPES[1:] + ENDS[::3], TAILS + [1.0, 1.5, *ENDS]),
    'betaincinv': (SHAPES[1:] + ENDS[::3], SHAPES[1:], TAILS[1:] + [1.0, 1.5, *ENDS]),
    'chdtri': (SHAPES[2:], TAILS[1:] + [1.0, 1.5, *ENDS]),
    'pdtri': ([0, 1, 7, 400], TAILS[1:] + [1.5, *ENDS]),
    'fdtri': (SHAPES[1:], SHAPES[1:], TAILS[1:] + [1.5, ENDS[0], -1.0]),
    'bdtri': ([0, 1, 5], [6, 20, 1000], TAILS[1:] + [1.5, ENDS[0], -1.0]),
    'nbdtri': ([0, 1, 5], [0, 1, 6, 300], TAILS[1:] + [0.0, 1.0, 1.5, ENDS[0], -1.0]),
    'lpmv': ([0, 1, 2, 7, -1, -3], [0, 1, 3, 12, 0.5, 2.75, 10.25, -0.5, -2, -3.25], [-0.9, -0.5, -0.2, 0, 0.3, 0.85]),
    'lpmv beyond': ([0], [0, 1, 5], [-3, 1.5, 255]),
    'sph_harm_y': ([0, 1, 2, 9, 60], [0, 1, -1, 2, -6, 40], [0.1, 1.5, 3, -0.5], [0.3, -2, 8]),
    'lambertw': ([complex(a, b) for a in (-5, -1, -0.4, -0.36787, -0.2, -1e-5, 0, 1e-20, 0.3, 1, 10, 1e5) for b in (0.0, -0.0, 0.01, -0.5, 30)] + ENDS[:2],),
    **{f'lambertw {k}': ([complex(a, b) for a in (-5, -1, -0.4, -0.36787, -0.2, -1e-5, 1e-20, 0.3, 10, 1e5) for b in (0.0, -0.0, 0.01, -0.5, 30)] + ENDS[:3],) for k in (-1, 1, 3)},
    'wright_bessel': ([0, 0.1, 0.5, 1, 2.5, -1], [0, 1e-3, 1, 2.5, 50], [0, 1e-10, 0.3, 2, 15, 80, *ENDS]),
    'zetac': ([-50.5, -3.25, -2, -1.5, -1, 0, 1e-5, 0.3, 0.999, 1, 1.001, 2, 3.25, 20, 60, *ENDS],)}


# Edges of domains: for each number of arguments, the values. float32 represents all of them.
EDGES_OF_ONE = [0.0, -0.0, 2.0 ** -140, 2.0 ** -100, 2.0 ** -20, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 20.0, 40.0, 171.0, 172.5, 1000.0, 2.0 ** 33]
EDGES_OF_ONE += [-x for x in EDGES_OF_ONE[2:]] + [float('inf'), -float('inf'), float('nan')]
EDGES_OF_TWO = [0.0, -0.0, 2.0 ** -100, 0.5, 1.0, 2.0, 2.5, 20.0, float('inf'), -2.0 ** -100, -0.5, -1.0, -2.0, -20.0, -float('inf'), float('nan')]
EDGES_OF_THREE = [0.0, 0.5, 1.0, 2.0, 20.0, float('inf'), -0.5, -1.0, float('nan')]
ORDERS = [0.0, 1.0, 2.0, 5.0, 20.0, -1.0, -2.0]
EDGES = {
    **{name: (EDGES_OF_ONE,) for name in ('cbrt cosdg cosm1 cotdg digamma ellipk ellipkm1 entr erf erfc erfcinv erfcx erfinv exp1 exp10 exp2 expi expit expm1 exprel gamma gammaln gammasgn i0 i0e i1 i1e '
                                          'j0 j1 k0 k0e k1 k1e log1p log_expit log_ndtr loggamma logit ndtr ndtri psi rgamma round shichi sici sindg tandg y0 y1 zetac').split()},
    **{name: (EDGES_OF_TWO,) * 2 for name in ('beta betaln binom boxcox boxcox1p chdtr chdtrc chdtri ellipeinc ellipj ellipkinc gammainc gammaincc gammainccinv gammaincinv huber inv_boxcox inv_boxcox1p '
                                              'kl_div pdtr pdtrc pdtri poch pseudo_huber rel_entr xlog1py xlogy zeta').split()},
    **{name: (ORDERS, EDGES_OF_TWO) for name in ('expn', 'polygamma', 'yn')},
    **{name: (EDGES_OF_THREE,) * 3 for name in 'bdtr bdtrc bdtri betainc betaincinv fdtr fdtrc fdtri gdtr gdtrc nbdtr nbdtrc nbdtri radian wright_bessel'.split()},
    'lpmv': ([0.0, 1.0, 2.0, -1.0, -2.0], EDGES_OF_THREE, EDGES_OF_THREE)}
# Values for the real and imaginary parts of complex numbers. float32 represents all of them.
EDGES_OF_PARTS = [0.0, -0.0, 2.0 ** -100, -2.0 ** -100, 0.5, 1.0, 1 + 2.0 ** -10, 2.0, 30.0, -1.0, -2.5, -3.0, -30.0, float('inf'), -float('inf'), float('nan')]
OF_COMPLEX = ('digamma', 'gamma', 'lambertw', 'loggamma', 'psi', 'rgamma', 'shichi', 'sici')
_isinf, _isnan, _size = numpy.isinf, numpy.isnan, numpy.abs
# Not compared: SciPy loses digits, returns no limit, or differs between an array and a single number
UNCLEAR = {
    **{name: lambda x: _size(x) > 1e6 for name in ('j0', 'j1', 'y0', 'y1')}, 'cotdg': lambda x: (_size(x) < 1e-3) & (x != 0), 'yn': lambda n, x: _isinf(x), 'zetac': lambda x: x > 100,
    'ellipj': lambda u, m: (m == 1) & (_isinf(u) | (_size(u) < 1e-20)),  **{name: lambda a, p: _size(a) < 1e-20 for name in ('chdtri', 'gammaincinv', 'gammainccinv')}, **{name: lambda k, m: _isnan(k) for name in ('pdtr', 'pdtrc')},
    'nbdtri': lambda k, n, y: _isinf(n), 'polygamma': lambda n, x: (n == 20) & (x == -0.5),
    'lpmv': lambda m, v, x: (_size(x) > 1) | _isnan(x + v) | _isinf(v), 'betaincinv': lambda a, b, p: _isinf(a) | _isinf(b)}


def edges(name, dtype='d'):
    """Returns the arguments of EDGES, shaped to broadcast."""
    lists = EDGES[name]
    return [numpy.asarray(values, dtype).reshape((-1,) + (1,) * (len(lists) - 1 - i)) for i, values in enumerate(lists)]


def complex_edges():
    return numpy.asarray([complex(x, y) for x in EDGES_OF_PARTS for y in EDGES_OF_PARTS])


def clear(name):
    """Returns a mask of SciPy's reliable values."""
    args = numpy.broadcast_arrays(*edges(name))
    return ~UNCLEAR[name](*args) if name in UNCLEAR else numpy.ones(args[0].shape, bool)


def call(special, name, *arrays):
    """Returns the function's values from SciPy or from our module."""
    name, _, more = name.partition(' ')
    if more == 'derivative':
        return special.spherical_yn(*arrays, derivative=True)
    return getattr(special, name)(*arrays, *([int(more)] if more not in ('', 'complex', 'beyond') else []))


def arrays(name, dtype=None):
    """Returns the arguments, shaped to broadcast."""
    whole = {'sph_harm_y': 2, 'spherical_yn': 1}.get(name.partition(' ')[0], 0)
    lists = [numpy.asarray(values) if i < whole or dtype is None or numpy.iscomplexobj(values) else numpy.asarray(values, dtype) for i, values in enumerate(ARGUMENTS[name])]
    lists = [a.astype('d') if a.dtype.kind in 'iu' and i >= whole and dtype is None else a for i, a in enumerate(lists)]
    return [a.reshape((-1,) + (1,) * (len(lists) - 1 - i)) for i, a in enumerate(lists)]


def kept(value):
    if value.dtype.kind == 'c':
        return {'real': kept(value.real), 'imag': kept(value.imag)}
    return [list(value.shape), [float('%.15g' % v) for v in value.ravel()]]


def edge_answers():
    import warnings
    from scipy import special
    warnings.simplefilter('ignore')
    made = {}
    for name in OF_COMPLEX:
        found = getattr(special, name)(complex_edges())
        made[f'{name} complex'] = [kept(v) for v in (found if isinstance(found, tuple) else (found,))]
    for name in EDGES:
        found = getattr(special, name)(*edges(name))
        made[name] = [kept(numpy.where(clear(name), v, 0)) for v in (found if isinstance(found, tuple) else (found,))]
    return made


def answers():
    import warnings
    from scipy import special
    warnings.simplefilter('ignore')
    made = {}
    for name in ARGUMENTS:
        found = call(special, name, *arrays(name))
        small = {}
        for dtype in 'hlef':
            try:
                of_small = call(special, name, *(numpy.ones(1, 'l' if a.dtype == 'l' and name.startswith('sph') else dtype) for a in arrays(name)))
                small[dtype] = (of_small[0] if isinstance(of_small, tuple) else of_small).dtype.char
            except TypeError:
                pass
        made[name] = {'values': [kept(v) for v in found] if isinstance(found, tuple) else [kept(found)], 'dtypes': small}
    return made


if __name__ == '__main__':
    for file, values in ((FILE, answers()), (FILE_OF_EDGES, edge_answers())):
        file.write_text('{\n' + ',\n'.join(f'{json.dumps(name)}: {json.dumps(value)}' for name, value in values.items()) + '\n}\n')
