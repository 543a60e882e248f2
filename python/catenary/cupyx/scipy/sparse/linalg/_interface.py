"""Linear operators: matrices defined by their products with vectors. The module has CuPy's name, so that modules of a CuPy wheel get this class."""

import numpy

from catenary import _core
from catenary.cupy._array import ndarray
from catenary.cupyx.scipy.sparse._sparse_utils import is_scalar
from catenary.cupyx.scipy.sparse._spbase import _spbase


class LinearOperator:
    """A linear operator defined by functions: matvec(v), and if needed rmatvec(v) of the adjoint, matmat(X) and rmatmat(X).

    Subclasses define `_matvec` (and `_rmatvec`, `_matmat`, `_rmatmat`, `_adjoint`) instead. Sums, products, multiples and powers of operators are
    operators. Raises ValueError if the shapes do not fit.
    """

    ndim = 2
    __array_priority__ = 102
    __array_ufunc__ = None
    _own = dict.fromkeys(('_matvec', '_rmatvec', '_matmat', '_rmatmat'))  # for subclasses that set shape and dtype themselves

    def __init__(self, shape, matvec=None, rmatvec=None, matmat=None, dtype=None, rmatmat=None):
        if matvec is None and isinstance(shape, (type, str, numpy.dtype, type(None))):
            shape, dtype = dtype, shape  # subclasses pass (dtype, shape), as in SciPy and CuPy
        if isinstance(matvec, tuple):
            shape, dtype, matvec = matvec, shape, None
        shape = tuple(int(n) for n in shape)
        if len(shape) != 2 or min(shape) < 0:
            raise ValueError(f'invalid shape {shape!r} (must be 2-d)')
        self.shape, self.dtype = shape, None if dtype is None else numpy.dtype(dtype)
        self._own = {'_matvec': matvec, '_rmatvec': rmatvec, '_matmat': matmat, '_rmatmat': rmatmat}
        if matvec is not None and self.dtype is None:
            self._init_dtype()

    def _init_dtype(self):
        if self.dtype is None:
            self.dtype = numpy.dtype(self.matvec(_core.zeros((self.shape[1],), 'd')).dtype)

    def _by(self, name, x):
        function = self._own[name]
        if function is None:
            raise NotImplementedError(f'{type(self).__name__}: {name[1:]} is not defined')
        return function(x)

    def _columns(self, multiply, X):
        return _core._stack([multiply(X[:, k]).ravel() for k in range(X.shape[1])], 1) if X.shape[1] else _core.zeros((self.shape[0], 0), self.dtype)

    def _matvec(self, x):
        if self._own['_matvec'] is None:
            if type(self)._matmat is LinearOperator._matmat and self._own['_matmat'] is None:
                raise NotImplementedError(f'{type(self).__name__}: matvec is not defined')
            return self.matmat(x.reshape(-1, 1))
        return self._by('_matvec', x)

    def _rmatvec(self, x):
        if self._own['_rmatvec'] is None and type(self)._adjoint is not LinearOperator._adjoint:
            return self.H.matvec(x)
        return self._by('_rmatvec', x)

    def _matmat(self, X):
        return self._columns(self.matvec, X) if self._own['_matmat'] is None else self._by('_matmat', X)

    def _rmatmat(self, X):
        return self._columns(self.rmatvec, X) if self._own['_rmatmat'] is None else self._by('_rmatmat', X)

    def _vector(self, multiply, x, rows, columns):
        if not isinstance(x, ndarray):
            raise TypeError(f'expected a cupy.ndarray, not {type(x)}')
        if x.shape not in ((columns,), (columns, 1)):
            raise ValueError(f'dimension mismatch: {self.shape} and {x.shape}')
        made = multiply(x)
        return made.reshape((rows,) if x.ndim == 1 else (rows, 1))

    def _matrix(self, multiply, X, columns):
        if X.ndim != 2:
            raise ValueError(f'expected 2-d ndarray or matrix, not {X.ndim}-d')
        if X.shape[0] != columns:
            raise ValueError(f'dimension mismatch: {self.shape} and {X.shape}')
        return multiply(X)

    def matvec(self, x):
        """Multiplies the operator by a vector or a one-column matrix."""
        return self._vector(self._matvec, x, *self.shape)

    def rmatvec(self, x):
        """Multiplies the adjoint by a vector."""
        return self._vector(self._rmatvec, x, *self.shape[::-1])

    def matmat(self, X):
        """Multiplies the operator by a matrix."""
        return self._matrix(self._matmat, X, self.shape[1])

    def rmatmat(self, X):
        """Multiplies the adjoint by a matrix."""
        return self._matrix(self._rmatmat, X, self.shape[0])

    def dot(self, x):
        """Multiplies by an operator, a number, a vector or a matrix."""
        if isinstance(x, LinearOperator):
            if self.shape[1] != x.shape[0]:
                raise ValueError(f'cannot multiply operators {self!r} and {x!r}: shape mismatch')
            return _made(self, x, (self.shape[0], x.shape[1]), lambda v: self.matvec(x.matvec(v)), lambda v: x.rmatvec(self.rmatvec(v)),
                         lambda X: self.matmat(x.matmat(X)), lambda X: x.rmatmat(self.rmatmat(X)))
        if is_scalar(x):
            conjugate = numpy.conj(x)
            return _made(self, numpy.asarray(x) if not isinstance(x, ndarray) else x, self.shape, lambda v: self.matvec(v) * x, lambda v: self.rmatvec(v) * conjugate,
                         lambda X: self.matmat(X) * x, lambda X: self.rmatmat(X) * conjugate)
        if isinstance(x, ndarray) and x.ndim in (1, 2):
            return self.matvec(x) if x.ndim == 1 or x.shape[1] == 1 else self.matmat(x)
        raise ValueError(f'expected 1-d or 2-d array or matrix, got {x!r}')

    __mul__ = __call__ = dot

    def __matmul__(self, other):
        if is_scalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self.dot(other)

    def __rmul__(self, x):
        return self.dot(x) if is_scalar(x) else NotImplemented

    def __add__(self, other):
        if not isinstance(other, LinearOperator):
            return NotImplemented
        if self.shape != other.shape:
            raise ValueError(f'cannot add {self!r} and {other!r}: shape mismatch')
        return _made(self, other, self.shape, lambda v: self.matvec(v) + other.matvec(v), lambda v: self.rmatvec(v) + other.rmatvec(v),
                     lambda X: self.matmat(X) + other.matmat(X), lambda X: self.rmatmat(X) + other.rmatmat(X))

    def __neg__(self):
        return self.dot(-1)

    def __sub__(self, other):
        return self + -other

    def __pow__(self, p):
        if self.shape[0] != self.shape[1]:
            raise ValueError(f'square LinearOperator expected, got {self!r}')
        if not isinstance(p, (int, numpy.integer)) or p < 0:
            raise ValueError('non-negative integer expected as p')

        def times(multiply):
            def function(v):
                v = _core._copy(v, 'C')
                for _ in range(p):
                    v = multiply(v)
                return v
            return function
        return _made(self, self, self.shape, *(times(f) for f in (self.matvec, self.rmatvec, self.matmat, self.rmatmat)))

    def __repr__(self):
        return f'<{self.shape[0]}x{self.shape[1]} {type(self).__name__} with {"unspecified dtype" if self.dtype is None else "dtype=" + str(self.dtype)}>'

    def _adjoint(self):
        return _made(self, self, self.shape[::-1], self.rmatvec, self.matvec, self.rmatmat, self.matmat)

    def _transpose(self):
        def turned(multiply):
            conjugate = _core.ufuncs['conjugate']
            return lambda v: conjugate(multiply(conjugate(v)))
        return _made(self, self, self.shape[::-1], *(turned(f) for f in (self.rmatvec, self.matvec, self.rmatmat, self.matmat)))

    def adjoint(self):
        """Returns the adjoint operator."""
        return self._adjoint()

    def transpose(self):
        """Returns the transposed operator."""
        return self._transpose()

    H = property(adjoint, None, None, 'The operator of the transposed conjugates.')
    T = property(transpose, None, None, 'The transposed operator.')


def _made(first, second, shape, matvec, rmatvec, matmat, rmatmat):
    kinds = [x.dtype for x in (first, second) if x.dtype is not None]
    return LinearOperator(shape, matvec, rmatvec, matmat, numpy.result_type(*kinds), rmatmat)


class MatrixLinearOperator(LinearOperator):
    """The operator of a sparse or dense matrix."""

    def __init__(self, A):
        super().__init__(A.dtype, A.shape)
        self.A, self._turned = A, None

    def _matvec(self, x):
        return self.A @ x

    _matmat = _matvec

    def _adjoint(self):
        if self._turned is None:
            self._turned = self.A.conj().T
        made = MatrixLinearOperator(self._turned)
        made._turned = self.A
        return made

    def _rmatmat(self, X):
        return self.H.matmat(X)


class IdentityOperator(LinearOperator):
    """The identity operator."""

    def __init__(self, shape, dtype=None):
        super().__init__(dtype, shape)

    def _same(self, x):
        return x

    _matvec = _rmatvec = _matmat = _rmatmat = _same

    def _adjoint(self):
        return self


def aslinearoperator(A):
    """Returns the operator of a 2-d array, a sparse matrix, or an object with shape and matvec. Raises TypeError for other objects."""
    if isinstance(A, LinearOperator):
        return A
    if isinstance(A, _spbase):
        return MatrixLinearOperator(A)
    if isinstance(A, ndarray):
        if A.ndim > 2:
            raise ValueError('array must have ndim <= 2')
        return MatrixLinearOperator(A.reshape((1,) * (2 - A.ndim) + A.shape))
    if hasattr(A, 'shape') and hasattr(A, 'matvec'):
        return LinearOperator(A.shape, A.matvec, getattr(A, 'rmatvec', None), None, getattr(A, 'dtype', None))
    if hasattr(A, 'shape') and hasattr(A, '__matmul__') and hasattr(A, 'dtype') and not isinstance(A, numpy.ndarray):
        return LinearOperator(A.shape, lambda v: A @ v, None, None, A.dtype)
    raise TypeError(f'type not understood: expected a matrix or an operator, not {type(A)}')
