"""Functions whose arguments NumPy takes in more forms than C++ does, a module for each family. The others are `catenary._core`'s own."""

from catenary.cupy._functions import (creation, curves, descriptions, indexing, joining, numbers, products, shapes, sorting, statistics)

FAMILIES = (creation, curves, descriptions, indexing, joining, numbers, products, shapes, sorting, statistics)
