"""Memory pools, host memory, profiling, and captured streams."""

import numpy
import pytest

import catenary.cupyx.profiler
from catenary import cupy, cupyx

pytestmark = pytest.mark.usefixtures('device')


def test_benchmark():
    x, calls = cupy.ones(1000, 'f'), []

    def twice(a, by=2):
        calls.append(by)
        return a * by
    result = cupyx.profiler.benchmark(twice, (x,), {'by': 3}, n_repeat=4, n_warmup=2)
    assert calls == [3] * 6 and result.name == 'twice' and result.cpu_times.shape == (4,) and result.gpu_times.shape == (1, 4)
    assert (result.cpu_times > 0).all() and (result.gpu_times >= 0).all()
    assert str(result).startswith('twice               :') and 'GPU-' in str(result) and 'GPU' not in result.to_str()
    assert cupyx.profiler.benchmark(twice, (x,), n_repeat=10 ** 9, n_warmup=0, max_duration=0, name='once').cpu_times.size == 1
    for arguments in ((1,), (twice, [x]), (twice, (x,), [1]), (twice, (x,), {}, 1.5)):
        with pytest.raises(ValueError, match='should be'):
            cupyx.profiler.benchmark(*arguments)
    with cupyx.profiler.time_range('part', sync=True), cupyx.profiler.profile():
        pass
    with pytest.raises(ValueError, match='Only either'), cupyx.profiler.time_range('part', color_id=1, argb_color=2):
        pass


def test_host_memory():
    a = cupyx.empty_pinned((2, 3), 'f', 'F')
    assert isinstance(a, numpy.ndarray) and (a.shape, a.dtype, a.flags.f_contiguous) == ((2, 3), 'f', True)
    assert cupyx.zeros_pinned(4).tolist() == [0] * 4
    for like in (a, cupy.asarray(a)):
        b = cupyx.zeros_like_pinned(like)
        assert (b.shape, b.dtype, b.flags.f_contiguous, b.any()) == ((2, 3), 'f', True, False)
        assert cupyx.empty_like_pinned(like, 'i', 'C', shape=(5,)).shape == (5,)
    with pytest.raises(TypeError, match='subok'):
        cupyx.empty_like_pinned(a, subok=True)
    memory = cupy.cuda.PinnedMemory(16)
    assert memory.size == 16 and memory.ptr and isinstance(cupy.cuda.alloc_pinned_memory(3), cupy.cuda.PinnedMemoryPointer)


def test_pools():
    pool = cupy.cuda.MemoryAsyncPool()
    cupy.cuda.set_allocator(pool.malloc)
    assert pool.malloc(16).mem.size == cupy.cuda.malloc_async(16).mem.size == 16
    for use in (lambda: cupy.cuda.malloc_managed(16), lambda: cupy.cuda.set_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc)):
        with pytest.raises(NotImplementedError, match='malloc_managed: managed memory is not supported'):
            use()


def test_streams():
    stream = cupy.cuda.Stream()
    with stream:
        current = cupy.cuda.get_current_stream()
    assert current == stream and hash(current) == hash(stream) and current.ptr == stream.ptr and len({current, stream}) == 1
    assert not stream.is_capturing()
    for use in (stream.begin_capture, stream.end_capture):
        with pytest.raises(NotImplementedError, match='graphs are not supported'):
            use()
