"""`python -m catenary data mnist`: writes the bundled MNIST into Chainer's cache, in the format of Chainer 7.8.1's downloads."""

import os
import sys


def mnist():
    """Writes train.npz and test.npz below CHAINER_DATASET_ROOT (else ~/.chainer/dataset), as chainer.datasets.get_mnist
    reads them: x, uint8 (n, 784), and y, uint8 (n,). Returns their paths. Raises OSError for files that are missing,
    short or altered."""
    import numpy

    from catenary import _core
    from catenary._aside import written_aside
    root = os.environ.get('CHAINER_DATASET_ROOT') or os.path.join(os.path.expanduser('~'), '.chainer', 'dataset')
    target = os.path.join(root, 'pfnet', 'chainer', 'mnist')
    parts = _core._mnist()
    os.makedirs(target, exist_ok=True)
    paths = [os.path.join(target, name) for name in ('train.npz', 'test.npz')]
    for path, (x, y) in zip(paths, parts):
        with written_aside(path) as new:
            numpy.savez_compressed(new, x=x, y=y)
    return paths


def main(arguments):
    """Runs `python -m catenary data` with these arguments."""
    if arguments != ['mnist']:
        sys.exit('python -m catenary data mnist: unexpected argument %s' % ' '.join(arguments[1:]))
    try:
        print('\n'.join(mnist()))
    except OSError as error:
        sys.exit('python -m catenary data mnist: %s' % error)
