"""A pytest plugin for tests written for NumPy 1, such as Chainer's: defines names that NumPy 2 removed. The package itself never changes NumPy."""

import numpy

_NAMES = {'alltrue': numpy.all, 'asscalar': lambda a: a.item(), 'bool': bool, 'complex': complex,
          'complex_': numpy.complex128, 'cumproduct': numpy.cumprod, 'float': float, 'float_': numpy.float64,
          'in1d': numpy.isin, 'infty': numpy.inf, 'int': int, 'object': object, 'product': numpy.prod,
          'sometrue': numpy.any, 'str': str}

for _name, _value in _NAMES.items():
    if _name not in vars(numpy):
        setattr(numpy, _name, _value)
