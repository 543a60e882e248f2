"""Functions whose arguments NumPy takes in more forms than C++ does, a module for each family. The others are `catenary._core`'s own."""

from catenary.cupy._functions import (calculus, complex_parts, creation, indexing, inspection, joining, products, shapes, sorting, statistics)

FAMILIES = (calculus, complex_parts, creation, indexing, inspection, joining, products, shapes, sorting, statistics)
