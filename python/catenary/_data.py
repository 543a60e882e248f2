"""`python -m catenary data mnist`: the MNIST that ships, in the form in which Chainer 7.8.1 keeps what it has downloaded."""

import gzip
import hashlib
import os
import sys
import tempfile

_HERE = os.path.dirname(os.path.abspath(__file__))

# name of Chainer's file: images and labels, each with its SHA-256 (catenary/datasets/mnist.cpp has the same)
MNIST = {
    'train.npz': (('train-images-idx3-ubyte.gz', '0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971'),
                  ('train-labels-idx1-ubyte.gz', '1787548bbe0bff1ec2ecdc0ef292b02df999e2d1a6002d27500982c652b17203')),
    'test.npz': (('t10k-images-idx3-ubyte.gz', '1a1a05eab793c14bb050b398624a11b0ffd1a2953baed553b1b9bd079e2a20be'),
                 ('t10k-labels-idx1-ubyte.gz', 'b91679a0acfe4ba0e50a2437a903084cba1f5f92592b016a25a7dfd00455798b')),
}


def mnist_folder():
    """The folder of the four files: below CATENARY_DATA if that is set, else beside the package or the library. Throws
    FileNotFoundError that names all places."""
    named = os.environ.get('CATENARY_DATA')
    if named:  # what was asked for is what is used, so that a mistake is seen
        folders = [os.path.join(named, 'mnist'), named]
    else:
        folders = [os.path.normpath(os.path.join(start, end)) for start, end in (
            (_HERE, 'share/catenary/mnist'), (_HERE, 'lib/../share/catenary/mnist'),
            (sys.prefix, 'share/catenary/mnist'), (_HERE, '../../data/mnist'), (os.getcwd(), 'data/mnist'))]
    for folder in folders:
        if os.path.exists(os.path.join(folder, 'train-images-idx3-ubyte.gz')):
            return folder
    raise FileNotFoundError('the MNIST files were not found in %s; put the four files of the distribution into a '
                            'folder mnist and name the folder above it with CATENARY_DATA' % ', '.join(folders))


def _read(folder, name, digest, magic):
    import numpy
    path = os.path.join(folder, name)
    with open(path, 'rb') as file:
        packed = file.read()
    found = hashlib.sha256(packed).hexdigest()
    if found != digest:
        raise OSError('%s: the file is short or altered (SHA-256 %s, expected %s)' % (path, found, digest))
    data = gzip.decompress(packed)
    dimensions = data[3]
    if int.from_bytes(data[:4], 'big') != magic:
        raise OSError('%s: expected the IDX magic number %d, found %d' % (path, magic, int.from_bytes(data[:4], 'big')))
    shape = numpy.frombuffer(data, '>i4', dimensions, 4)
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * dimensions).reshape(shape)


def mnist():
    """Writes train.npz and test.npz below CHAINER_DATASET_ROOT (else ~/.chainer/dataset), as chainer.datasets.get_mnist
    reads them: x, uint8 (n, 784), and y, uint8 (n,). Returns their paths."""
    import numpy
    root = os.environ.get('CHAINER_DATASET_ROOT') or os.path.join(os.path.expanduser('~'), '.chainer', 'dataset')
    target = os.path.join(root, 'pfnet', 'chainer', 'mnist')
    folder = mnist_folder()
    os.makedirs(target, exist_ok=True)
    paths = []
    for name, (images, labels) in MNIST.items():
        x = _read(folder, *images, 2051)
        y = _read(folder, *labels, 2049)
        # written aside and renamed: a program that reads it at the same time finds it whole
        with tempfile.NamedTemporaryFile(dir=target, suffix='.npz', delete=False) as file:
            try:
                numpy.savez_compressed(file, x=x.reshape(len(x), -1), y=y)
            except BaseException:
                os.unlink(file.name)
                raise
        os.replace(file.name, os.path.join(target, name))
        paths.append(os.path.join(target, name))
    return paths


def main(arguments):
    """What follows `python -m catenary data`."""
    if arguments != ['mnist']:
        sys.exit('python -m catenary data: expected "mnist", got %s' % (' '.join(arguments) or 'nothing'))
    try:
        for path in mnist():
            print(path)
    except OSError as error:
        sys.exit('python -m catenary data mnist: %s' % error)
