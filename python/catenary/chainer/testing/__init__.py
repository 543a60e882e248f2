"""Helpers of tests: parameters, devices, comparisons, and test cases for functions, links and distributions.

Importing this package needs no pytest. Marks and decorators that use it import it when they are called.
"""

from . import array, attr, backend, condition, function_link, helper, matrix, parameterized, random, serializer, training, unary_math_function_test
from .array import assert_allclose
from .backend import BackendConfig, inject_backend_tests
from .distribution_test import distribution_unittest
from .function_link import FunctionTestCase, FunctionTestError, InitializerArgument, LinkInitializersTestCase, LinkTestCase, LinkTestError
from .helper import assert_warns, patch, run_module, with_requires, without_requires
from .matrix import generate_matrix
from .parameterized import from_pytest_parameterize, parameterize, parameterize_pytest, product, product_dict
from .random import fix_random, generate_seed
from .serializer import save_and_load, save_and_load_hdf5, save_and_load_npz
from .training import get_trainer_with_mock_updater
from .unary_math_function_test import unary_math_function_unittest

__all__ = [name for name in dir() if not name.startswith('_')]
