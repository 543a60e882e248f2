"""Files of measurements (benchmarks/peers/results.py) and the pages that are made of them."""
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / 'benchmarks/peers'))  # last, because compare.py of both folders has the same name
import results  # noqa: E402

CPUINFO = 'processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nflags\t\t: sse2 avx2 fma\n\nprocessor\t: 1\nflags\t\t: avx512f\n'


def test_a_processor_is_named_by_its_generation_and_vectors():
    assert results.processor(CPUINFO) == 'AMD EPYC, Zen 4, AVX2'
    assert results.processor(CPUINFO.replace('sse2 avx2', 'avx2 avx512f')) == 'AMD EPYC, Zen 4, AVX-512'
    assert results.processor(CPUINFO.replace('25', '99')) == 'AMD EPYC, AVX2'


def test_a_row_replaces_the_last_figures_of_its_device_and_dtype(tmp_path):
    old = [results.row('A', 'work', 'ms', {'Catenary': [1.0], 'PyTorch': [2.0]}, 1.0, date='2000-01-01'),
           results.row('B', 'more', 'ms', {'Catenary': [3.0], 'PyTorch': [2.0]}, 1.0, date='2000-01-01')]
    path = results.record(old, 'Some CPU', tmp_path)
    new = [results.row('A', 'work', 'ms', {'Catenary': [0.5], 'PyTorch': [2.0]}, 1.0, date='2000-01-02'),
           results.row('A', 'work', 'ms', {'Catenary': [0.7], 'PyTorch': [2.0]}, 1.0, device='opencl:0', date='2000-01-02')]
    assert results.record(new, 'Some CPU', tmp_path) == path
    rows = results.read(tmp_path)['Some CPU']
    assert [(row['row'], row['device'], row['figures']['Catenary'][0]) for row in rows] == [('A', 'cpu', 0.5), ('B', 'cpu', 3.0), ('A', 'opencl:0', 0.7)]
    assert [entry.name for entry in tmp_path.iterdir()] == ['some-cpu.json']


def test_samples_become_median_least_and_greatest():
    assert results.spread([0.003, 0.001, 0.002], 1e3) == [2.0, 1.0, 3.0]


def test_pages_follow_the_results(tmp_path):
    for folder in ('benchmarks/peers', 'benchmarks/results', 'docs/measurements', 'scripts'):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    command = [sys.executable, str(tmp_path / 'scripts/make_measurements')]
    assert subprocess.run([*command, '--check']).returncode == 0
    path = next((tmp_path / 'benchmarks/results').glob('*zen-4*512*'))
    found = json.loads(path.read_text())
    row = next(row for row in found['rows'] if row['row'] == 'A')
    row['figures']['Catenary'] = [99.0, 98.0, 99.5]
    path.write_text(json.dumps(found))
    stale = subprocess.run([*command, '--check'], capture_output=True, text=True)
    assert stale.returncode == 1 and 'performance.md' in stale.stdout and 'speed.svg' in stale.stdout
    assert subprocess.run(command).returncode == 0
    assert '| 99 s (98 to 99.5) | JAX 4.48 | 22.10 | ≤ 0.80, **missed** |' in (tmp_path / 'docs/measurements/performance.md').read_text()
    assert subprocess.run([*command, '--check']).returncode == 0
