"""Marks of interfaces that may change."""
import sys
import warnings


def experimental(api_name):
    """Warns with FutureWarning that `api_name` may change, unless such warnings are disabled."""
    package = sys.modules[__name__.rpartition('.utils.')[0]]
    if not package.disable_experimental_feature_warning:
        warnings.warn('{} is experimental. The interface can change in the future.'.format(api_name),
                      FutureWarning, stacklevel=2)
