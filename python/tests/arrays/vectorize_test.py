"""Functions composed in Python: vectorize and apply_along_axis, polynomials, integer functions, ranges and blocks."""

import pickle

import numpy
import pytest

from catenary import cupy
from compare import refused, same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]

CASES = '''
xp.r_[1:5]; xp.r_[0:1:5j, 3]; xp.r_['0,2', [1,2],[3,4]]; xp.r_['0,2,0', [1,2],[3,4]]; xp.r_['-1', [[1,2]],[[3,4]]]; xp.r_['0,3,1',[1,2]]
xp.r_['1,2,0',[1,2],[3,4]]; xp.c_[1:4, 2:5]; xp.c_[xp.array([[1,2,3]]), 0, 0, xp.array([[4,5,6]])]; xp.r_[:3, 1.5]; xp.r_[5:0:-2]
xp.r_['0,3,-2',[[1,2]],[[3,4]]]; xp.c_[1:3:3j]; xp.block([[xp.ones((2,2)), xp.zeros((2,1))],[xp.zeros((1,2)), 5]]); xp.block([1,2,3])
xp.block(xp.ones(3)); xp.block([[xp.ones(2,'f')],[xp.arange(2)]]); xp.poly([1,2,3]); xp.roots([1,-6,11,-6]); xp.polyadd([1,2],[3,4,5])
xp.polysub([1,2,6],[3]); xp.polymul([1,2],[3,4,5]); xp.apply_along_axis(lambda v: v.sum(), 1, xp.arange(24.).reshape(2,3,4))
xp.apply_along_axis(lambda v: v[:2]*2, 1, xp.arange(24.).reshape(2,3,4))
xp.apply_along_axis(lambda v: v[:2,None]*v[None,:3], -1, xp.arange(24.).reshape(2,3,4))
xp.apply_over_axes(xp.sum, xp.arange(24).reshape(2,3,4), [0,2])
xp.piecewise(xp.arange(6.)-3, [xp.arange(6)<2, xp.arange(6)>4], [-1, lambda v: v*2, 7])
xp.piecewise(xp.arange(4), xp.arange(4)>1, [lambda v: -v, 9]); xp.vectorize(lambda a,b: a if a>b else -b)(xp.arange(6).reshape(2,3), 2)
xp.vectorize(lambda a: (a, a*.5))(xp.arange(3))[1]; xp.vectorize(lambda a: xp.sin(a)*2)(xp.arange(4.)); xp.vectorize(lambda a: (xp.sqrt(a), a))(xp.arange(3.))[0]
xp.polymul([0,1],[1,2]); xp.polymul([0,0],[1,2]); xp.arange(6).reshape(3,2).compress([1,0,1],axis=0); xp.arange(4).compress((True,False,True)); xp.arange(4).compress(xp.arange(3)>1)
 xp.poly1d([1,2,3])(xp.arange(4.)); (xp.poly1d([1,2])**3 * 2 - xp.poly1d([1])).coeffs
(3 + xp.poly1d([0,0,1,2])).c; (xp.poly1d([1,2.])/2).c; xp.poly1d([1,2,3]).deriv().c; xp.poly1d([1.,2,3]).integ(2,k=[1,2]).c
xp.poly1d([1,2])(xp.poly1d([3,4])).c; xp.poly1d([2,3],r=True).c; xp.polyval(xp.poly1d([1,2]), xp.arange(3)); xp.poly1d([1,2])[1]
xp.gcd(xp.arange(6), 4); xp.i0(xp.linspace(-30,30,7)); xp.bitwise_count(xp.array([-1,3,7],'b')); (5-xp.poly1d([1,2])).c
xp.block([[xp.arange(2), xp.arange(3)], [xp.arange(5)]]); xp.block([[[1]], [[2]]]); xp.apply_over_axes(xp.max, xp.arange(6.).reshape(1, 3, 2), -1)
xp.apply_along_axis(xp.sort, 0, xp.asarray([[3, 1], [2, 5], [0, 4]])); xp.piecewise(xp.arange(5.), [[0, 1, 0, 0, 1]], [3]); xp.lcm(xp.arange(-3, 4), 6)
xp.gcd(xp.asarray([-128, 6], 'b'), xp.asarray([6, -128], 'b')); xp.gcd(xp.asarray([2 ** 63, 12], 'L'), xp.asarray([2 ** 40, 18], 'L')); xp.lcm(xp.asarray([0, 4], 'H'), xp.asarray([0, 6], 'h'))
xp.gcd(xp.asarray([7540113804746346429]), 4660046610375530309); xp.bitwise_count(xp.asarray([2 ** 63, 2 ** 64 - 1, 0], 'L')); xp.bitwise_count(xp.asarray([True, False])); xp.gcd(xp.zeros((0, 3), 'i'), 2)
xp.bitwise_count(xp.asarray([-2 ** 31, -1, 5], 'i')); xp.i0(xp.asarray([0, 1, 8, 9])); xp.i0(xp.asarray([-3., 700.])); xp.poly([[1., 2], [2, 5]]); xp.polymul(xp.poly1d([1, 2]), [1, 0]).c
'''


@pytest.mark.parametrize('text', [c.strip() for line in CASES.strip().splitlines() for c in line.split('; ')])
def test_against_numpy(text):
    same(eval(text, {'xp': cupy}), eval(text, {'xp': numpy}))


@pytest.mark.parametrize('text, error, says', [
    ("cupy.r_['r', 1]", NotImplementedError, "matrices are not supported: instead of 'r' use"), ("cupy.r_[1, '0']", ValueError, 'must be the first entry'),
    ("cupy.r_['x', 1]", ValueError, "unknown special directive 'x'"), ("cupy.r_['1,2,3,4', 1]", ValueError, "unknown special directive '1,2,3,4'"),
    ('cupy.block([])', ValueError, 'a list is empty'), ('cupy.block([1, [2]])', ValueError, 'nested to different depths'),
    ('cupy.block([(1, 2)])', TypeError, 'blocks must be in lists, not tuples'),
    ('cupy.poly1d([[1]])', ValueError, 'Polynomial must be 1d only'), ('cupy.poly1d([1, 2]) ** -1', ValueError, 'non-negative integers only'),
    ('cupy.poly1d([1, 2]) / cupy.poly1d([1, 2])', NotImplementedError, 'division by a polynomial is not supported; use numpy.polydiv'),
    ('cupy.apply_along_axis(cupy.sum, 2, cupy.ones((2, 3)))', cupy.AxisError, 'axis 2 is out of bounds'),
    ('cupy.apply_along_axis(cupy.sum, 0, cupy.ones((2, 0)))', ValueError, 'iteration dimensions are 0'),
    ('cupy.apply_over_axes(lambda a, k: a.sum(), cupy.ones((2, 3, 4)), [0])', ValueError, 'correct shape'),
    ('cupy.piecewise(cupy.arange(2), [cupy.arange(2) > 0], [numpy.nan])', ValueError, 'cannot convert float NaN to integer'),
    ('cupy.piecewise(cupy.ones(2), [cupy.arange(2) > 0], [1j])', TypeError, "not 'complex'"),
    ('cupy.piecewise(cupy.ones(2), [True, False], [1, 2, 3, 4])', ValueError, 'condition(s), either'),
    ("cupy.vectorize(abs, signature='(n)->()')", NotImplementedError, 'a signature is not supported'),
    ('cupy.gcd(cupy.ones(2), 2)', TypeError, 'gcd: not defined for float64'), ("cupy.lcm(cupy.ones(2, '?'), True)", TypeError, 'lcm: not defined for bool'),
    ("cupy.gcd(cupy.ones(2, 'b'), 300)", OverflowError, 'does not fit into int8'), ("cupy.gcd(numpy.ones(2, 'b'), 3)", TypeError, "numpy.ndarray'>"),
    ('cupy.i0(numpy.ones(2))', TypeError, 'use cupy.asarray'), ("cupy.gcd(cupy.ones(2, 'i'), 2, cupy.ones(3, 'i'))", ValueError, 'gcd: shapes')])
def test_unsupported_functions_raise(text, error, says):
    refused(text, error, says)


def test_polynomials():
    p = cupy.poly1d([1, 2, 3])
    assert str(p) == str(numpy.poly1d([1, 2, 3])) and repr(p) == repr(numpy.poly1d([1, 2, 3])) and len(p) == p.order == p.o == 2
    assert p == cupy.poly1d([0, 1, 2, 3]) and p != cupy.poly1d([1, 2]) and [int(x) for x in p] == [1, 2, 3] and p[2] == 1 and p[7] == 0
    p[4] = 9
    same(p.c, numpy.asarray([9, 0, 1, 2, 3]))
    assert isinstance(p.get(), numpy.poly1d)
    p.set(numpy.poly1d([4, 5]))
    same((cupy.asarray(2) * p).coeffs, numpy.asarray([8, 10]))
    same((-p - 1).coeffs, numpy.asarray([-4, -6]))
    same(cupy.poly1d(p.get(), variable='z').coeffs, p.get().coeffs)
    same(cupy.poly1d([1., -3, 2]).roots, numpy.asarray([2., 1]), 1e-9)
    same(cupy.add(cupy.ones(2), cupy.poly1d([4, 5])), numpy.asarray([5., 6]))
    with pytest.warns(numpy.exceptions.RankWarning):
        cupy.polyfit(cupy.arange(3.), cupy.arange(3.), 4.0)
    for x, y, w in ((3, 4, None), ((2, 2), 4, None), (3, (3, 2, 1), None), (3, 3, 2), (0, 0, None)):
        with pytest.raises(TypeError, match='polyfit: . has shape'):
            cupy.polyfit(cupy.ones(x), cupy.ones(y), 1, w=None if w is None else cupy.ones(w))
    with pytest.raises(TypeError, match='expected coefficients'):
        cupy.polyval(2, cupy.ones(3))
    same(cupy.polymul(cupy.ones(0), cupy.ones(2)), numpy.polymul(numpy.ones(0), numpy.ones(2)))
    with pytest.raises(ValueError, match='Negative powers'):
        p[-1] = 2
    assert isinstance(cupy.polyadd(p, [1]), cupy.poly1d) and isinstance(cupy.polyadd([2], [1]), cupy.ndarray)


def test_polynomials_as_numpys():
    """Checks which numbers are valid exponents, that a number has no roots, and dtypes of composed polynomials."""
    for xp in (numpy, cupy):
        for power, error in (([1, 2], ValueError), (2.5, ValueError), (2.0, TypeError), (numpy.float64(2), TypeError)):
            with pytest.raises(error):
                xp.poly1d([1, 2]) ** power
        with pytest.raises(TypeError):
            xp.roots(xp.asarray(3.))
        x, w = xp.arange(4.), xp.arange(1, 5) * 1j
        for kinds in ((x, x), (x * 1j, x), (x, x * 1j)):
            with pytest.raises(TypeError):
                xp.polyfit(*kinds, 1, w=w)
        assert xp.polyfit(x * 1j, x * 1j, 1, w=w).dtype == 'D'
    a = numpy.arange(1, 5, dtype='f')
    for p in (numpy.poly1d(a), a):
        expected = numpy.polyval(p, numpy.poly1d(a)).coeffs
        found = cupy.polyval(cupy.poly1d(cupy.asarray(a)) if isinstance(p, numpy.poly1d) else cupy.asarray(a), cupy.poly1d(cupy.asarray(a)))
        same(found.coeffs, expected)


def test_grids_of_limits_that_have_axes():
    start, stop = numpy.arange(4.)[:, None], numpy.arange(4.)[:, None] * 3 + 1
    x, y = cupy.asarray(start), cupy.asarray(stop)
    for name in ('mgrid', 'ogrid'):
        theirs, ours = getattr(numpy, name), getattr(cupy, name)
        same(ours[x:y:5j], theirs[start:stop:5j])
        same(ours[0:y:5j], theirs[0:stop:5j])
        found, expected = ours[x:y:4j, x:y:4j], theirs[start:stop:4j, start:stop:4j]
        if name == 'mgrid':
            same(found, expected)
        else:
            for a, b in zip(found, expected, strict=True):
                same(a, b)
        with pytest.raises(TypeError, match='need a number of steps'):
            ours[x:y:2]


def test_places_among_all_elements():
    for a in (numpy.arange(9).reshape(3, 3), numpy.arange(9.).reshape(3, 3).T, numpy.zeros((2, 6))[:, ::2]):
        ours, theirs = cupy.asarray(a)[:], a.copy('K')
        assert cupy.put_along_axis(ours, cupy.asarray([1, -1]), cupy.asarray([99, 100]), axis=None) is None
        theirs.flat[[1, -1]] = 99, 100  # NumPy's own function takes arrays in C order alone
        same(ours, theirs)


def test_windows_of_lists():
    view = cupy.lib.stride_tricks.sliding_window_view
    theirs = numpy.lib.stride_tricks.sliding_window_view
    same(view([0., 1, 2, 3], 2), theirs([0., 1, 2, 3], 2))
    same(view(cupy.arange(12).reshape(3, 4), (2, 3)), theirs(numpy.arange(12).reshape(3, 4), (2, 3)))
    same(view(cupy.arange(12).reshape(3, 4), 2, -1), theirs(numpy.arange(12).reshape(3, 4), 2, -1))
    for xp, f in ((numpy, theirs), (cupy, view)):
        with pytest.raises(ValueError, match='Since axis is `None`'):
            f(xp.zeros((2, 3, 4)), (2, 2))
    with pytest.raises(NotImplementedError, match='windows share'):
        view(cupy.arange(3), 2, writeable=True)


def test_diagonals_beyond_all_corners():
    for k in (1 << 63, -(1 << 63), 4, -5, 3, -4):
        for order in 'CF':
            same(cupy.eye(5, 4, k, order=order), numpy.eye(5, 4, k, order=order))
            same(cupy.eye(5, None, k, 'i', order), numpy.eye(5, None, k, 'i', order))


def test_out_of_take_is_looked_at_first():
    a, at = cupy.arange(6, dtype='i').reshape(2, 3), cupy.asarray([[5, 0]])
    for out in (cupy.empty((1, 2), 'i'), cupy.empty((1, 2), 'h')):
        assert a.take(at, out=out) is out and out.tolist() == [[5, 0]]
    assert a.take([1], axis=0, out=cupy.empty((1, 3), 'i')).tolist() == [[3, 4, 5]]
    for xp, x, places in ((numpy, a.get(), numpy.asarray([[50, 0]])), (cupy, a, cupy.asarray([[50, 0]]))):
        with pytest.raises(TypeError):
            x.take(places, out=xp.empty((1, 2), 'f'))
        with pytest.raises(ValueError):
            x.take(places, out=xp.empty((2, 2), 'i'))
        with pytest.raises(IndexError):
            x.take(places, out=xp.empty((1, 2), 'i')).tolist()  # a device tells late


def test_functions_called_for_parts_see_arrays_of_the_device():
    seen = []
    cupy.apply_along_axis(lambda row, more, by=0: seen.append((type(row), row.shape, more, by)) or row.sum(), 0, cupy.ones((3, 2)), 5, by=7)
    assert seen == [(cupy.ndarray, (3,), 5, 7)] * 2
    f = cupy.vectorize(lambda a, b: a + b, otypes='f', doc='Adds.')
    assert f(cupy.arange(3), 2).dtype == 'f' and f.__doc__ == 'Adds.'
    out = cupy.zeros(3, 'i')
    assert cupy.gcd(cupy.arange(3, dtype='i'), 2, out) is out and numpy.gcd(cupy.arange(4), 2).get().tolist() == [2, 1, 2, 1]


def test_files(tmp_path):
    x = cupy.arange(6, dtype='f').reshape(2, 3).T
    x.tofile(tmp_path / 'a')
    x.tofile(str(tmp_path / 'b'), sep=' ')
    same(cupy.fromfile(tmp_path / 'a', 'f'), x.get().ravel())
    same(cupy.fromfile(tmp_path / 'b', 'f', sep=' '), x.get().ravel())
    x.dump(tmp_path / 'c')
    with open(tmp_path / 'd', 'wb') as file:
        x.dump(file)
    for name in 'cd':
        with open(tmp_path / name, 'rb') as file:
            same(pickle.load(file), x.get())
    same(pickle.loads(x.dumps()), x.get())
