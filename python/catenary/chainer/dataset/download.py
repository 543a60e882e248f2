"""Files of datasets, in a folder of the user's: downloads, and arrays made of them."""

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import urllib.request

_dataset_root = os.environ.get('CHAINER_DATASET_ROOT', os.path.expanduser('~/.chainer/dataset'))


def get_dataset_root():
    """Returns the folder of all datasets, ~/.chainer/dataset or CHAINER_DATASET_ROOT."""
    return _dataset_root


def get_dataset_directory(dataset_name, create_directory=True):
    """Returns the folder of a dataset, such as 'pfnet/chainer/mnist', and makes it if `create_directory` is true."""
    path = os.path.join(_dataset_root, dataset_name)
    if create_directory:
        os.makedirs(path, exist_ok=True)
    return path


def set_dataset_root(path):
    """Sets the folder of all datasets for this process."""
    global _dataset_root
    _dataset_root = path


@contextlib.contextmanager
def _locked(path):
    """Holds a lock against other processes while the block runs."""
    with open(path, 'a+') as file:
        try:
            import fcntl
        except ImportError:  # Windows
            import msvcrt
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield  # closing the file releases the lock


def cached_download(url):
    """Returns the path of a copy of the file at `url`, which is downloaded the first time."""
    folder = os.path.join(_dataset_root, '_dl_cache')
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, hashlib.md5(url.encode()).hexdigest())
    lock = os.path.join(folder, '_dl_lock')
    with _locked(lock):
        if os.path.exists(path):
            return path
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        download = os.path.join(temporary, 'dl')
        sys.stderr.write(f'Downloading from {url}\n')
        # programs that replace urlretrieve through six expect to be asked
        six = sys.modules.get('six')
        (urllib.request if six is None else six.moves.urllib.request).urlretrieve(url, download)
        with _locked(lock):
            shutil.move(download, path)
    return path


def cache_or_load_file(path, creator, loader):
    """Returns `loader(path)` if the file exists. Otherwise `creator` writes it and returns the content.

    `creator` gets the path of a temporary file, so that an interrupted call leaves no half file behind.
    """
    if os.path.exists(path):
        return loader(path)
    try:
        os.makedirs(_dataset_root, exist_ok=True)
    except OSError as error:
        raise RuntimeError(f'cannot make the folder of datasets {_dataset_root}: set CHAINER_DATASET_ROOT to a folder that you can write to') from error
    with tempfile.TemporaryDirectory(dir=_dataset_root) as temporary:
        made = os.path.join(temporary, os.path.basename(path))
        content = creator(made)
        with _locked(os.path.join(_dataset_root, '_create_lock')):
            if not os.path.exists(path):
                shutil.move(made, path)
    return content
