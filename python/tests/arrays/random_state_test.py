"""Pickles and copies of random states, bit generators and generators continue the original's numbers."""

import copy
import pickle
import pickletools

import pytest

from catenary import cupy

pytestmark = pytest.mark.usefixtures('device')
COPIES = [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: pickle.loads(pickle.dumps(x, 2))]


class Own(cupy.random.RandomState):
    """A state with an argument and an attribute of its own."""

    def __init__(self, name):
        super().__init__(3)
        self.name = name


@pytest.mark.parametrize('copied', [copy.copy] + COPIES)
def test_random_states(copied):
    state = cupy.random.RandomState(5)
    state.rand(3)
    other = copied(state)
    expected = state.standard_normal(7).tolist()
    assert other.standard_normal(7).tolist() == expected and type(other) is cupy.random.RandomState
    assert state.standard_normal(7).tolist() == other.standard_normal(7).tolist() != expected


@pytest.mark.parametrize('copied', [copy.copy] + COPIES)
def test_own_classes(copied):
    state = Own('a')
    other = copied(state)
    assert type(other) is Own and other.name == 'a'
    assert other.rand(4).tolist() == state.rand(4).tolist()


@pytest.mark.parametrize('copied', COPIES)
@pytest.mark.parametrize('kind', ['XORWOW', 'MRG32k3a', 'Philox4x3210'])
def test_generators(copied, kind):
    generator = cupy.random.Generator(getattr(cupy.random, kind)(11))
    generator.random(3)
    other = copied(generator)
    assert type(other.bit_generator) is getattr(cupy.random, kind)
    assert other.random(5).tolist() == generator.random(5).tolist()
    assert other.bit_generator._seed_seq.entropy == generator.bit_generator._seed_seq.entropy == 11


def test_shallow_copies():
    """As in NumPy, the copy of a generator draws from the same bit generator; the copy of a bit generator is independent."""
    generator = cupy.random.default_rng(2)
    assert copy.copy(generator).bit_generator is generator.bit_generator
    bits = copy.copy(generator.bit_generator)
    assert bits.random_raw(4).tolist() == generator.bit_generator.random_raw(4).tolist()


def test_pickles_name_only_functions_of_ours():
    names = {argument for _, argument, _ in pickletools.genops(pickle.dumps(cupy.random.RandomState(5), 2)) if isinstance(argument, str)}
    assert names == {'catenary.cupy.random _restored', 'RandomState'}
