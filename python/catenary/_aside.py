"""Atomic replacement of files: readers find the old or the new file, never a part."""

import contextlib
import os
import threading


@contextlib.contextmanager
def written_aside(path):
    """Yields a temporary name beside `path`, with its extension, and renames the file to `path` when the block ends. If the block fails, the old file
    stays, so that readers always find a complete file. Symbolic links stay and lead to the new file. Pipes and devices are written as they are."""
    path = os.path.realpath(os.fsdecode(path))
    if os.path.exists(path) and not os.path.isfile(path):
        yield path
        return
    folder, name = os.path.split(path)
    new = os.path.join(folder, f'.{os.getpid()}-{threading.get_ident()}-{name}')
    try:
        yield new
        os.replace(new, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise
