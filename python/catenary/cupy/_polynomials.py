"""poly1d and functions of polynomials, whose coefficients have the highest power first. The host computes roots."""

import numpy

from catenary import _core
from catenary.cupy._arguments import given
from catenary.cupy._array import array, asarray, asnumpy, ndarray


def roots(p):
    """Returns the roots of a polynomial, complex if any root is. Raises TypeError for a number."""
    if not isinstance(p, poly1d) and given(p).ndim == 0:
        raise TypeError(f'roots: expected coefficients, given the number {p}')
    return asarray(numpy.roots(asnumpy(_coefficients(p))))


def poly(seq_of_zeros):
    """Returns the polynomial with these roots, or the characteristic polynomial of a square matrix."""
    return asarray(numpy.poly(asnumpy(seq_of_zeros)))


def _coefficients(p):
    """Returns a polynomial's or sequence's coefficients as a 1-d array."""
    a = p.coeffs if isinstance(p, poly1d) else given(p)
    if a.ndim > 1:
        raise ValueError(f'Multidimensional inputs are not supported: the coefficients have shape {a.shape}')
    return a.reshape(-1)


def _of_two(a1, a2, compute):
    result = compute(_coefficients(a1), _coefficients(a2))
    return poly1d(result) if isinstance(a1, poly1d) or isinstance(a2, poly1d) else result


def _aligned(a, b, sign):
    extra = a.size - b.size
    if extra > 0:
        b = _core._concatenate([_core.zeros((extra,), b.dtype), b], 0)
    elif extra < 0:
        a = _core._concatenate([_core.zeros((-extra,), a.dtype), a], 0)
    return a + b if sign > 0 else a - b


def polyadd(a1, a2):
    """Returns the sum of two polynomials, a poly1d if either is one."""
    return _of_two(a1, a2, lambda a, b: _aligned(a, b, 1))


def polysub(a1, a2):
    """Returns the difference of two polynomials, a poly1d if either is one."""
    return _of_two(a1, a2, lambda a, b: _aligned(a, b, -1))


def polymul(a1, a2):
    """Returns the product of two polynomials, a poly1d if either is one."""
    def product(a, b):  # without leading zeros, and 0 if nothing is left
        a, b = (_core.trim_zeros(x, 'f') for x in (a, b))
        return _core.convolve(*(x if x.size else _core.zeros((1,), x.dtype) for x in (a, b)))
    return _of_two(a1, a2, product)


def polyval(p, x):
    """Returns the values of a polynomial at x. For a poly1d x it returns the composed polynomial."""
    coefficients = _coefficients(p)
    if not isinstance(p, poly1d) and given(p).ndim == 0:
        raise TypeError(f'polyval: expected coefficients, given the number {p}')
    if not isinstance(x, poly1d):
        return _core.polyval(coefficients, given(x))
    result = poly1d(_core.zeros((1,), x.coeffs.dtype))
    for k in range(coefficients.size):
        result = result * x + coefficients[k]
    return result


class poly1d:
    """A polynomial. c_or_r are its coefficients, highest power first, or with r=True its roots. Leading zeros are removed."""

    __hash__ = None
    __array_ufunc__ = None  # so that an array's operators defer to poly1d

    def __init__(self, c_or_r, r=False, variable=None):
        self._variable = 'x'
        if isinstance(c_or_r, poly1d):
            self._variable, values = c_or_r.variable, c_or_r.coeffs
        elif isinstance(c_or_r, numpy.poly1d):
            self._variable, values = c_or_r.variable, asarray(c_or_r.coeffs)
        else:
            values = poly(c_or_r) if r else array(c_or_r, ndmin=1)
        if values.ndim > 1:
            raise ValueError('Polynomial must be 1d only.')
        self._variable = variable or self._variable
        self.coeffs = values

    @property
    def coeffs(self):
        """The coefficients, the highest power first."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, values):
        values = given(values)
        found = numpy.flatnonzero(asnumpy(values))
        self._coeffs = values[int(found[0]):] if found.size else _core.zeros((1,), values.dtype)

    def __cupy_get_ndarray__(self):
        return self._coeffs

    c = coef = coefficients = coeffs
    variable = property(lambda self: self._variable)
    order = o = property(lambda self: self._coeffs.size - 1, None, None, 'The highest power.')
    roots = r = property(lambda self: roots(self), None, None, 'The zeros, complex where one of them is.')

    def get(self, stream=None, out=None):
        """Returns the polynomial as numpy.poly1d."""
        return numpy.poly1d(self._coeffs.get(stream=stream), variable=self._variable)

    def set(self, polyin, stream=None):
        """Takes the coefficients of a numpy.poly1d."""
        self.coeffs, self._variable = asarray(polyin.coeffs), polyin.variable

    def __call__(self, val):
        return polyval(self, val)

    def __len__(self):
        return self.order

    def __iter__(self):
        return iter(self._coeffs)

    def __getitem__(self, power):
        return self._coeffs[self.order - power] if 0 <= power <= self.order else _core.zeros((), self._coeffs.dtype)

    def __setitem__(self, power, value):
        if power < 0:
            raise ValueError('Negative powers are not supported.')
        if power > self.order:
            self._coeffs = _core._concatenate([_core.zeros((power - self.order,), self._coeffs.dtype), self._coeffs], 0)
        self._coeffs[self.order - power] = value

    def __eq__(self, other):
        return NotImplemented if not isinstance(other, poly1d) else bool(_core.array_equal(self._coeffs, other._coeffs))

    def __neg__(self):
        return poly1d(-self._coeffs, variable=self._variable)

    def __pos__(self):
        return self

    def __add__(self, other):
        return polyadd(self, other)

    __radd__ = __add__

    def __sub__(self, other):
        return polysub(self, other)

    def __rsub__(self, other):
        return polysub(other, self)

    def __mul__(self, other):
        return polymul(self, other)

    __rmul__ = __mul__

    def __pow__(self, power):
        if isinstance(power, bool) or not numpy.isscalar(power) or int(power) != power or power < 0:
            raise ValueError(f'Power to non-negative integers only, not {power!r}.')
        result = poly1d([1])
        for _ in range(power):  # raises TypeError for 2.0, as NumPy does
            result = result * self
        return result

    def __truediv__(self, other):
        if not numpy.isscalar(other) and not (isinstance(other, ndarray) and other.ndim == 0):
            raise NotImplementedError('poly1d: division by a polynomial is not supported; use numpy.polydiv with cupy.asnumpy(p)')
        return poly1d(self._coeffs / other, variable=self._variable)

    def deriv(self, m=1):
        """Returns the m-th derivative."""
        return poly1d(asarray(numpy.polyder(self._coeffs.get(), m)), variable=self._variable)

    def integ(self, m=1, k=0):
        """Returns the m-th antiderivative with the integration constants k."""
        return poly1d(asarray(numpy.polyint(self._coeffs.get(), m, asnumpy(k))), variable=self._variable)

    def __str__(self):
        return str(self.get())

    def __repr__(self):
        return repr(self.get())
