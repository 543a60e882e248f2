"""cupy.cuda.stream"""

from catenary import _core

Stream = _core.Stream
Event = _core.Event
BaseStream = Stream
get_current_stream = _core.get_current_stream
get_elapsed_time = _core.get_elapsed_time


def get_default_stream_ptr():
    """Returns the null stream's handle."""
    return Stream.null.ptr


def get_current_stream_ptr():
    """Returns the current stream's handle."""
    return get_current_stream().ptr


def _add_callback(self, callback, arg):
    """Waits for the stream, then calls the function: a callback never overlaps earlier work of the stream."""
    self.synchronize()
    callback(self, 0, arg)


def _launch_host_func(self, callback, arg):
    """Waits for the stream, and calls."""
    self.synchronize()
    callback(arg)


def _begin_capture(self, mode=None):
    """Raises an error: streams cannot be captured."""
    raise NotImplementedError('Stream.begin_capture: graphs are not supported; call the operations and kernels directly, as they are recorded '
                              'and fused automatically')


def _end_capture(self):
    """Raises an error: streams cannot be captured."""
    raise NotImplementedError('Stream.end_capture: graphs are not supported; call the operations and kernels directly')


def _is_capturing(self):
    """Returns False: streams cannot be captured."""
    return False


Stream.begin_capture, Stream.end_capture, Stream.is_capturing = _begin_capture, _end_capture, _is_capturing
Stream.add_callback = _add_callback
Stream.launch_host_func = _launch_host_func
