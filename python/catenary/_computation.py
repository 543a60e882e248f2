"""Which units computed the last product."""

from catenary import _core


def last_computation(device, kind):
    """Returns how the calling thread's last product ('blas'), convolution ('dnn') or attention ('attention') on a device was computed.

    The device is a name such as 'cpu' or 'cuda:0', or a cupy.cuda.Device. `units` names the matrix units that ran. If it is empty, `why_not` is the reason.
    str() gives all of it in one line. Before the first computation, the result is None.
    """
    return _core.last_computation(_core.Device(device), kind)
