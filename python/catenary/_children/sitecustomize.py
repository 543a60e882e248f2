"""Installs the hook in the Python processes that a program run by `python -m catenary` starts (PYTHONPATH leads here)."""

import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_package = os.path.dirname(_here)
if os.path.dirname(_package) not in sys.path:
    sys.path.append(os.path.dirname(_package))
from catenary._finder import install  # noqa: E402

install()

# The one that this module stands before, if there is one.
sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _here]
_spec = importlib.util.find_spec('sitecustomize') if sys.modules.pop('sitecustomize', None) else None
if _spec is not None and _spec.loader is not None:
    _module = importlib.util.module_from_spec(_spec)
    sys.modules['sitecustomize'] = _module
    _spec.loader.exec_module(_module)
