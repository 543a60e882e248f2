"""Names of `collections` that older code imports from here."""
from collections import OrderedDict  # NOQA
