"""Trains a tagger with Thinc on CupyOps: embedded words, two dense layers and softmax, on generated sentences."""

import numpy
from thinc.api import Adam, CupyOps, Embed, Relu, Softmax, chain, expand_window, fix_random_seed, set_current_ops, with_array

WORDS, TAGS = 30, 3


def sentences(ops, tag):
    chosen = numpy.random.default_rng(3)
    words = [chosen.integers(0, WORDS, chosen.integers(2, 12)) for _ in range(60)]
    return ([ops.asarray(w.astype('i')) for w in words],
            [ops.asarray(numpy.eye(TAGS, dtype='f')[[tag(w, k) for k in range(len(w))]]) for w in words])


def learned(window, tag):
    ops = CupyOps()
    set_current_ops(ops)
    fix_random_seed(0)
    layers = [Embed(16, WORDS, column=None)] + ([expand_window(1)] if window else [])
    model = with_array(chain(*layers, Relu(48), Relu(32), Softmax(TAGS)))
    X, Y = sentences(ops, tag)
    model.initialize(X[:2], Y[:2])
    optimizer, losses = Adam(0.01), []
    for _ in range(20):
        losses.append(0.0)
        for at in range(0, len(X), 10):
            scores, back = model.begin_update(X[at:at + 10])
            slopes = [s - y for s, y in zip(scores, Y[at:at + 10])]
            losses[-1] += sum(float((d ** 2).sum()) for d in slopes)
            back([d / 10 for d in slopes])
            model.finish_update(optimizer)
    right = [s.argmax(1) == y.argmax(1) for s, y in zip(model.predict(X), Y)]
    assert type(right[0]).__module__.startswith('cupy')
    assert losses[-1] < losses[0] / 5, losses
    assert float(sum(r.sum() for r in right)) > 0.97 * sum(len(r) for r in right)


def test_tags_of_words():
    learned(False, lambda words, k: words[k] % TAGS)


def test_tags_of_words_and_those_before():
    learned(True, lambda words, k: (words[k] + (words[k - 1] if k else 0)) % TAGS if words[k] < 6 else words[k] % TAGS)
