"""The information in cupy.show_config and cupyx.get_runtime_info."""

from catenary import _core, _names


class RuntimeInfo:
    """The output of `catenary info`, as an object that prints itself."""

    def __str__(self):
        return f'CuPy Version                 : {_names.CUPY} (Catenary {_core.version})\n' + _core.runtime_info()

    __repr__ = __str__
