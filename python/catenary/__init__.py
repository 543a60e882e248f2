"""Catenary in Python: `catenary.cupy` is CuPy's interface on every device that Catenary finds."""


def __getattr__(name):
    # catenary_hook.pth imports this package in every interpreter, so the extension is loaded on first use.
    if name == '__version__':
        from catenary import _core
        return _core.version
    if name == 'last_computation':
        from catenary._computation import last_computation
        return last_computation
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
