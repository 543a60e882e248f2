"""cupy.cuda.stream"""

from catenary import _core

Stream = _core.Stream
Event = _core.Event
BaseStream = Stream
get_current_stream = _core.get_current_stream
get_elapsed_time = _core.get_elapsed_time


def get_default_stream_ptr():
    """The null stream's handle."""
    return Stream.null.ptr


def get_current_stream_ptr():
    """The current stream's handle."""
    return get_current_stream().ptr


def _add_callback(self, callback, arg):
    """Waits for the stream, and calls: a callback never overlaps what was submitted."""
    self.synchronize()
    callback(self, 0, arg)


def _launch_host_func(self, callback, arg):
    """Waits for the stream, and calls."""
    self.synchronize()
    callback(arg)


Stream.add_callback = _add_callback
Stream.launch_host_func = _launch_host_func
