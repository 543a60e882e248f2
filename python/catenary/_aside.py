"""Files that are there whole or not at all."""

import contextlib
import os
import threading


@contextlib.contextmanager
def written_aside(path):
    """A name beside `path`, with its ending, for a file that takes its place when the block ends. When the block fails, what is
    there stays: a program that reads it at the same time finds it whole."""
    folder, name = os.path.split(os.fsdecode(path))
    new = os.path.join(folder, f'.{os.getpid()}-{threading.get_ident()}-{name}')
    try:
        yield new
        os.replace(new, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise
