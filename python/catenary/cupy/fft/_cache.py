"""cupy.fft._cache: CuPy's interface to its plan cache. The library keeps its own cache of recently used lengths."""


class PlanCache:
    """CuPy's interface to a plan cache. There are no plans of cuFFT here, so sizes are stored without effect."""

    def __init__(self, size=16, memsize=-1, dev=-1):
        self._size, self._memsize = size, memsize

    def get_size(self):
        """Returns the size that was set."""
        return self._size

    def set_size(self, size):
        """Keeps a size."""
        self._size = size

    def get_memsize(self):
        """Returns the size in bytes that was set."""
        return self._memsize

    def set_memsize(self, memsize):
        """Keeps a number of bytes."""
        self._memsize = memsize

    def get_curr_size(self):
        """Returns 0, as no plans are kept."""
        return 0

    get_curr_memsize = get_curr_size

    def clear(self):
        """Does nothing: no plan is kept here."""

    def show_info(self):
        """Prints that no plan is kept here."""
        print('cuFFT plans: none, transforms are the library\'s own')


_cache = PlanCache()


def get_plan_cache():
    """Returns a cache that keeps no plans."""
    return _cache


def clear_plan_cache():
    """Does nothing: no plan is kept here."""


def get_plan_cache_size():
    """Returns the size that was set."""
    return _cache.get_size()


def set_plan_cache_size(size):
    """Keeps a size, which nothing heeds."""
    _cache.set_size(size)


def get_plan_cache_max_memsize():
    """Returns the size in bytes that was set."""
    return _cache.get_memsize()


def set_plan_cache_max_memsize(size):
    """Keeps a number of bytes, which nothing heeds."""
    _cache.set_memsize(size)


def show_plan_cache_info():
    """Prints that no plan is kept here."""
    _cache.show_info()
