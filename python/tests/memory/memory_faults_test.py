"""Memory that cannot be had: a MemoryError that names the bytes, on the processor, on devices and of the host."""

import numpy
import pytest

from catenary import cupy

# Lines that need more memory than a machine has, and the bytes of the array that fails
REQUESTS = (
    ('cupy.zeros(2 ** 50)', 2 ** 53), ('cupy.ones((2 ** 20, 2 ** 20, 2 ** 8), "i1")', 2 ** 48), ('cupy.empty((2 ** 40, 3), "D")', 3 * 2 ** 44),
    ('cupy.full(2 ** 45, 3.5)', 2 ** 48), ('cupy.eye(2 ** 25)', 2 ** 53), ('cupy.tile(cupy.ones(4), 2 ** 45)', 2 ** 50), ('cupy.repeat(cupy.ones(2), 2 ** 45)', 2 ** 49),
    ('cupy.random.rand(2 ** 45)', 2 ** 47), ('cupy.cuda.alloc(2 ** 50)', 2 ** 50), ('cupy.histogram(cupy.ones(3), bins=2 ** 45)', 2 ** 48 + 8),
    ('cupy.histogramdd(cupy.ones((3, 2)), bins=(2, 2 ** 45))', 2 ** 48 + 8))


@pytest.mark.usefixtures('device')
@pytest.mark.parametrize('line, size', REQUESTS)
def test_arrays_name_their_bytes_and_the_device(line, size):
    with pytest.raises(MemoryError) as error:
        eval(line, {'cupy': cupy})
    assert isinstance(error.value, cupy.cuda.memory.OutOfMemoryError)
    text = str(error.value)
    assert f'{size} bytes' in text and ('cpu' in text or ':' in text.split('out of memory on ')[1][:12]) and 'smaller batch' in text, text
    x = cupy.arange(4)  # the device goes on
    assert int(x.sum()) == 6


def test_lists_in_the_extension_say_what_the_process_holds():
    """Containers of C++ do not say how much they asked for."""
    with cupy.cuda.Device('cpu'), pytest.raises(MemoryError, match=r'on the processor: the process holds .* GiB.*smaller batches') as error:
        cupy.percentile(cupy.ones(3), cupy.broadcast_to(cupy.asarray(5, 'i1'), (2 ** 45,)))
    assert isinstance(error.value, cupy.cuda.memory.OutOfMemoryError)


@pytest.mark.usefixtures('device')
def test_a_limit_of_the_pool_is_named():
    pool = cupy.get_default_memory_pool()
    x = cupy.ones(1000)
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + 2 ** 20)
    try:
        with pytest.raises(MemoryError, match=f'{2 ** 24} bytes'):
            cupy.zeros(2 ** 21)
        assert float(x.sum()) == 1000
    finally:
        pool.set_limit(size=0)
    assert cupy.zeros(2 ** 21).nbytes == 2 ** 24


@pytest.mark.host
@pytest.mark.parametrize('line', ['cupy.ndarray((2 ** 62,), "d")', 'cupy.zeros((2 ** 31, 2 ** 31))'])
def test_shapes_without_a_size_are_named(line):
    """No number of bytes is left to ask for: NumPy's ValueError."""
    with pytest.raises(ValueError, match='too large'):
        eval(line, {'cupy': cupy})


@pytest.mark.host
@pytest.mark.parametrize('make', [lambda: cupy.cuda.alloc_pinned_memory(2 ** 50), lambda: cupy.cuda.PinnedMemory(2 ** 50),
                                  lambda: cupy.broadcast_to(cupy.ones(1), (2 ** 45,)).get(), lambda: numpy.asarray(cupy.broadcast_to(cupy.ones(1), (2 ** 45,)).get())])
def test_host_memory_names_its_size(make):
    with pytest.raises(MemoryError, match=r'\d'):
        make()
