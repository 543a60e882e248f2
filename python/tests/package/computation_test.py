"""catenary.last_computation."""

import threading

import numpy as np
import pytest

import catenary
from catenary import cupy


def test_a_product_names_its_units_or_the_reason_for_none(device):
    a = cupy.ones((33, 17), np.float32)
    assert (a @ a.T)[0, 0] == 17
    how = catenary.last_computation(device, 'blas')
    assert how.kind == 'blas' and how.library and how.dtype == 'float32' and 'float32' in how.compute
    assert how.units or how.why_not
    assert str(how) == how.text() and how.library in str(how) and (how.units or how.why_not) in str(how)


def test_each_thread_has_its_own_and_other_kinds_are_errors():
    found = []
    thread = threading.Thread(target=lambda: found.append(catenary.last_computation('cpu', 'dnn')))
    thread.start()
    thread.join()
    assert found == [None]
    for kind, device, error in (('product', 'cpu', ValueError), ('blas', 'abacus', cupy.cuda.runtime.CUDARuntimeError)):
        with pytest.raises(error):
            catenary.last_computation(device, kind)
