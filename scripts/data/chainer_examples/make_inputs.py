"""Makes small random replacements of the files that Chainer's example scripts would download, in the current folder, from a seed.

CHAINER_DATASET_ROOT is the folder of Chainer's downloads. The argument is the folder of Chainer's examples.
"""
import json
import os
import pathlib
import shutil
import sys
import wave

import numpy
from PIL import Image

CACHE = pathlib.Path(os.environ['CHAINER_DATASET_ROOT'])
chosen = numpy.random.RandomState(0)


def words(n):
    return ' '.join('word%d' % chosen.randint(60) for _ in range(n))


def penn_treebank():
    folder = CACHE / 'pfnet/chainer/ptb'
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'vocab.txt').write_text('\n'.join(['<eos>', *('word%d' % k for k in range(99))]) + '\n')
    for name, size in (('train.npz', 3000), ('valid.npz', 500), ('test.npz', 500)):
        numpy.savez(folder / name, x=chosen.randint(0, 100, size).astype('i'))


def cifar():
    """Makes images of 10 classes that differ by brightness."""
    folder = CACHE / 'pfnet/chainer/cifar'
    folder.mkdir(parents=True, exist_ok=True)

    def images(n):
        labels = chosen.randint(0, 10, n).astype('u1')
        return (chosen.randint(0, 128, (n, 3072)) + 12 * labels[:, None]).astype('u1'), labels

    train, test = images(200), images(50)
    numpy.savez(folder / 'cifar-10.npz', train_x=train[0], train_y=train[1], test_x=test[0], test_y=test[1])


def babi():
    for name in ('train', 'test'):
        lines = []
        for _ in range(40):
            where = {}
            for i in range(1, 7, 3):
                for k in range(2):
                    who, place = 'mary john sandra'.split()[chosen.randint(3)], 'kitchen garden hallway office'.split()[chosen.randint(4)]
                    where[who] = place, i + k
                    lines.append('%d %s went to the %s.' % (i + k, who, place))
                place, fact = where[who]
                lines.append('%d Where is %s?\t%s\t%d' % (i + 2, who, place, fact))
        pathlib.Path('babi_%s.txt' % name).write_text('\n'.join(lines) + '\n')


def brown():
    folder = pathlib.Path('nltk_data/corpora/brown')
    folder.mkdir(parents=True, exist_ok=True)
    sentences = [' '.join('word%d/%s' % (k, 'nn vb at jj in'.split()[k % 5]) for k in chosen.randint(0, 60, chosen.randint(2, 12))) for _ in range(3300)]
    (folder / 'ca01').write_text('\n'.join(sentences) + '\n')
    (folder / 'cats.txt').write_text('ca01 news\n')


def voices():
    folder = pathlib.Path('VCTK-Corpus/wav48/p225')
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(8):
        t = numpy.arange(12000) / 16000
        samples = numpy.sin(2 * numpy.pi * (150 + 30 * i) * t) + 0.1 * chosen.normal(size=t.size)
        with wave.open(str(folder / ('p225_%03d.wav' % i)), 'wb') as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16000)
            file.writeframes((12000 * samples).astype('<i2').tobytes())


def image(height, width):
    return chosen.randint(0, 256, (height, width, 3)).astype('u1')


def facades():
    folder = pathlib.Path('facade')
    folder.mkdir(exist_ok=True)
    for i in (1, 2):
        Image.fromarray(image(288, 300)).save(folder / ('cmp_b%04d.jpg' % i))
        Image.fromarray(chosen.randint(1, 13, (288, 300)).astype('u1')).save(folder / ('cmp_b%04d.png' % i))


def image_net():
    folder = pathlib.Path('imagenet')
    folder.mkdir(exist_ok=True)
    for name, count in (('train', 4), ('val', 2)):
        lines = []
        for i in range(count):
            Image.fromarray(image(256, 256)).save(folder / ('%s%d.png' % (name, i)))
            lines.append('%s%d.png %d' % (name, i, chosen.randint(1000)))
        pathlib.Path('imagenet_%s.txt' % name).write_text('\n'.join(lines) + '\n')
    numpy.save('imagenet_mean.npy', numpy.full((3, 256, 256), 128, 'f'))


def captions():
    """Makes captions in the form of MS COCO, and VGG weights: random convolutions, and large layers of zeros except their biases."""
    root = pathlib.Path('mscoco')
    (root / 'annotations').mkdir(parents=True, exist_ok=True)
    for name, count in (('train2014', 6), ('val2014', 2)):
        (root / name).mkdir(exist_ok=True)
        images, annotations = [], []
        for i in range(count):
            images.append({'id': i, 'file_name': '%d.png' % i})
            Image.fromarray(image(240, 260)).save(root / name / ('%d.png' % i))
            annotations += [{'id': 2 * i + k, 'image_id': i, 'caption': words(chosen.randint(3, 8)) + '.'} for k in range(2)]
        with open(root / 'annotations' / ('captions_%s.json' % name), 'w') as file:
            json.dump({'images': images, 'annotations': annotations}, file)
    folder = CACHE / 'pfnet/chainer/models'
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / 'VGG_ILSVRC_16_layers.npz'
    if path.exists():
        return
    weights, inputs = {}, 3
    for stage, (channels, layers) in enumerate(((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)), 1):
        for layer in range(1, layers + 1):
            weights['conv%d_%d/W' % (stage, layer)] = (chosen.normal(size=(channels, inputs, 3, 3)) * (2 / (9 * inputs)) ** 0.5).astype('f')
            weights['conv%d_%d/b' % (stage, layer)] = numpy.zeros(channels, 'f')
            inputs = channels
    for name, outputs, size in (('fc6', 4096, 25088), ('fc7', 4096, 4096), ('fc8', 1000, 4096)):
        weights[name + '/W'], weights[name + '/b'] = numpy.zeros((outputs, size), 'f'), chosen.uniform(0, 1, outputs).astype('f')
    numpy.savez_compressed(path, **weights)


def mushrooms(examples):
    shutil.copy(examples / 'glance/mushrooms.csv', '.')


penn_treebank()
cifar()
babi()
brown()
voices()
facades()
image_net()
captions()
mushrooms(pathlib.Path(sys.argv[1]))
