"""Tests of catenary.cupy compare with NumPy on the processor and on ordinal 0, which is PoCL on machines without a GPU."""

import os
import pathlib

os.environ.setdefault('CATENARY_GPU_INCLUDE_CPU', '1')
if _worker := os.environ.get('PYTEST_XDIST_WORKER'):
    # concurrent processes must not share PoCL's cache
    os.environ.setdefault('POCL_CACHE_DIR', str(pathlib.Path(__file__).parents[2] / f'build/python/pocl-{_worker}'))

import pytest  # noqa: E402
from place import is_chosen, names_in  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line('markers', 'host: many combinations of dtypes, whose kernels would take minutes to compile '
                                       'and are compared by the tests of the library: on the processor only')
    config.addinivalue_line('markers', 'kernels: each compiles kernels of its own: on a device a part of them, if CATENARY_TEST_SHARE and '
                                       'CATENARY_TEST_TURN are set (place.py). The part of the other tests is four times as large on PoCL, and eight '
                                       'times on the processor')


def pytest_collection_modifyitems(config, items):
    # Both leave the environment, so the tests that a test starts run whole.
    share, turn = float(os.environ.pop('CATENARY_TEST_SHARE', None) or 1), int(os.environ.pop('CATENARY_TEST_TURN', None) or 0)
    simulated = os.environ.get('CATENARY_GPU_INCLUDE_SIMULATED') == '1'  # where --share selects the tests
    on_gpu, on_cpu = (1, 1) if simulated else (min(1, 4 * share), min(1, 8 * share))
    first = names_in(config.getoption('share_first', None))

    def is_left(item):
        device = item.callspec.params.get('device') if hasattr(item, 'callspec') else None
        if device == 'gpu' and item.get_closest_marker('host'):
            return False
        compiles = item.get_closest_marker('kernels')
        part = on_cpu if device == 'cpu' or not (compiles or device == 'gpu') else share if compiles else on_gpu
        return item.nodeid in first or is_chosen(item.nodeid, part, turn)

    left = [item for item in items if is_left(item)]
    if len(left) < len(items):
        chosen = set(left)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = left


@pytest.fixture(params=['cpu', 'gpu'])
def device(request):
    """Makes the processor or ordinal 0 the current device."""
    from catenary import _core
    if request.param == 'gpu' and _core.getDeviceCount() == 0:
        pytest.fail('there is no device: scripts/setup --with-test installs PoCL')
    with _core.Device('cpu' if request.param == 'cpu' else 0) as chosen:
        yield chosen
