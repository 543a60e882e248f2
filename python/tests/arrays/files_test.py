"""Arrays in NumPy's file formats: NumPy reads files that cupy writes, and cupy reads NumPy's."""

import io
import os

import numpy
import pytest

from catenary import cupy
from compare import same, values

ARRAYS = [values((3, 4), 'f'), values((), 'd'), values((0, 2), 'l'), numpy.asfortranarray(values((2, 3), 'e')), numpy.array([True, False])]


@pytest.mark.usefixtures('device')
class TestFiles:
    @pytest.mark.parametrize('array', ARRAYS, ids=lambda a: f'{a.dtype}{a.shape}')
    def test_npy(self, tmp_path, array):
        cupy.save(tmp_path / 'a', cupy.asarray(array))
        assert os.listdir(tmp_path) == ['a.npy']
        same(cupy.load(tmp_path / 'a.npy'), numpy.load(tmp_path / 'a.npy'))
        same(cupy.load(tmp_path / 'a.npy', mmap_mode='r'), array)
        assert cupy.load(tmp_path / 'a.npy').flags.f_contiguous == array.flags.f_contiguous

    @pytest.mark.parametrize('write', ['savez', 'savez_compressed'])
    def test_npz(self, tmp_path, write):
        getattr(cupy, write)(str(tmp_path / 'a.npz'), *map(cupy.asarray, ARRAYS), named=cupy.asarray(ARRAYS[0][::-1]))
        assert os.listdir(tmp_path) == ['a.npz']
        with cupy.load(tmp_path / 'a.npz') as ours, numpy.load(tmp_path / 'a.npz') as theirs:
            assert ours.files == theirs.files and list(ours) == list(theirs) and len(ours) == len(ARRAYS) + 1
            assert 'named' in ours and 'other' not in ours
            for name in theirs:
                assert isinstance(ours[name], cupy.ndarray)
                same(ours[name], theirs[name])

    def test_streams(self):
        stream = io.BytesIO()
        cupy.save(stream, cupy.arange(3))
        stream.seek(0)
        same(cupy.load(stream), numpy.arange(3))

    def test_text(self, tmp_path):
        cupy.savetxt(tmp_path / 'a.txt', cupy.asarray(ARRAYS[0]), delimiter=',', fmt='%.9g')
        same(cupy.loadtxt(tmp_path / 'a.txt', delimiter=',', dtype='f'), ARRAYS[0])


def test_failure_leaves_the_old_file(tmp_path, monkeypatch):
    with cupy.cuda.Device(0):
        cupy.save(tmp_path / 'a.npy', cupy.arange(3))

        def full(stream, *args, **kwargs):
            stream.write(b'half')
            raise OSError(28, 'No space left on device')
        monkeypatch.setattr(numpy, 'save', full)
        with pytest.raises(OSError, match='No space left'):
            cupy.save(tmp_path / 'a.npy', cupy.arange(4))
        assert os.listdir(tmp_path) == ['a.npy']
        same(cupy.load(tmp_path / 'a.npy'), numpy.arange(3))


def test_text_is_written_aside_and_compressed_by_its_name(tmp_path):
    with cupy.cuda.Device(0):
        cupy.savetxt(tmp_path / 'a.txt.gz', cupy.arange(3), fmt='%d')
        assert (tmp_path / 'a.txt.gz').read_bytes()[:2] == b'\x1f\x8b' and os.listdir(tmp_path) == ['a.txt.gz']
        with pytest.raises(ValueError, match='Expected 1D or 2D'):
            cupy.savetxt(tmp_path / 'a.txt.gz', cupy.ones((2, 2, 2)))
        assert os.listdir(tmp_path) == ['a.txt.gz']
        same(cupy.loadtxt(tmp_path / 'a.txt.gz', dtype=int), numpy.arange(3))
        stream = io.StringIO()
        cupy.savetxt(stream, cupy.arange(2), fmt='%d')
        assert stream.getvalue() == '0\n1\n'


def test_unreadable_files_raise(tmp_path):
    numpy.save(tmp_path / 'objects.npy', numpy.array([{}], object), allow_pickle=True)
    numpy.save(tmp_path / 'wide.npy', numpy.array([1j], numpy.complex256))
    with pytest.raises(ValueError, match='allow_pickle'):
        cupy.load(tmp_path / 'objects.npy')
    with pytest.raises(TypeError, match='complex256'):
        cupy.load(tmp_path / 'wide.npy')
    with pytest.raises(FileNotFoundError):
        cupy.load(tmp_path / 'none.npy')
