"""Functions whose arguments NumPy accepts in more forms than C++ does, by family. All other functions are `catenary._core`'s own."""

from catenary.cupy._functions import (calculus, complex_parts, creation, indexing, inspection, joining, products, shapes, sorting, statistics)

FAMILIES = (calculus, complex_parts, creation, indexing, inspection, joining, products, shapes, sorting, statistics)
