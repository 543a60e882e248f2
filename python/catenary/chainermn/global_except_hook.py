"""Ends the whole job at once after an uncaught exception, if CHAINERMN_FORCE_ABORT_ON_EXCEPTION is set or add_hook() was called.

Without it the job ends when this process exits. Threads that it waits for then delay the other ranks.
"""

import os
import sys
import warnings

_before = None


def _hook(kind, value, traceback):
    from catenary import _core
    try:
        _before(kind, value, traceback)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        _core.abort_job('an exception that nobody has caught: %s: %s' % (kind.__name__, value))


def add_hook():
    """Installs the hook before sys.excepthook. A second call only warns."""
    global _before
    if _before is not None:
        warnings.warn('chainermn.global_except_hook.add_hook() was called before; this call does nothing', stacklevel=2)
        return
    _before = sys.excepthook
    sys.excepthook = _hook


def _add_hook_if_enabled():
    if os.environ.get('CHAINERMN_FORCE_ABORT_ON_EXCEPTION'):
        add_hook()
