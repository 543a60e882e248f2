import chainer


def get_device(device_specifier=None, use_chainerx=False):
    """Returns the processor, or the GPU with this number. ChainerX is refused where it is not there."""
    if use_chainerx:
        name = 'native:0' if device_specifier is None else 'cuda:%s' % device_specifier
    else:
        name = '@numpy' if device_specifier is None else '@cupy:%s' % device_specifier
    return chainer.get_device(name)
