"""cupy.cuda.texture: textures are refused."""


def __getattr__(name):
    if name.startswith('_'):
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')

    def refuse(*args, **kwargs):
        raise NotImplementedError(f'{name}: textures are not supported; give the kernel an array')
    return refuse
