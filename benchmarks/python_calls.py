#!/usr/bin/env python3
"""Times calls from Python beside NumPy's and C++'s, in one run ("Calls from Python" in docs/measurements/history.md).

    build/python/venv/bin/python benchmarks/python_calls.py build/release

BUILD has bin/bench_calls, and simulated CUDA in simgpu/cuda. Each figure is the median of rounds that time every program
in turn. opencl:0 is the OpenCL driver for the processor, if there is one.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import timeit

ROUNDS = 9


def each(statement, names, number):
    """Microseconds of one statement."""
    return timeit.timeit(statement, globals=names, number=number) / number * 1e6


def medians(tasks):
    """For each task of {name: function} the median of the rounds."""
    samples = {name: [] for name in tasks}
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            samples[name].append(task())
    return {name: statistics.median(values) for name, values in samples.items()}


def in_a_process(what, **environment):
    """Runs this file with --part in a process with other devices, and returns its figures."""
    done = subprocess.run([sys.executable, __file__, '--part', what], env=dict(os.environ, **environment), text=True,
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def small():
    import numpy
    from catenary import _core, cupy
    with _core.Device('cpu'):
        a, b = cupy.ones(10, 'f'), cupy.ones(10, 'f')
        seen, square = cupy.ones(10, 'f'), cupy.ones((10, 10), 'f')
        (a + b).get(), square.T.get(), seen.data.ptr  # other libraries see these arrays, so they are computed at once
        x, y = numpy.ones(10, 'f'), numpy.ones(10, 'f')
        names = dict(a=a, b=b, seen=seen, square=square, x=x, y=y)
        return medians({name: lambda s=statement: each(s, names, 20000) for name, statement in {
            'NumPy': 'x + y', 'recorded': 'a + b', 'computed': 'seen + b', 'a.T': 'square.T'}.items()})


def on_opencl():
    from catenary import cupy
    a, b = cupy.ones(10, 'f'), cupy.ones(10, 'f')
    (a + b).get()
    return medians({'computed and waited for': lambda: each('(a + b).get()', dict(a=a, b=b), 500),
                    'recorded': lambda: each('a + b', dict(a=a, b=b), 20000)})


def kernel():
    from catenary import cupy
    k = cupy.ElementwiseKernel('T x, T y', 'T z', 'z = x + y', 'sum')
    a, b, c = cupy.ones(10, 'f'), cupy.ones(10, 'f'), cupy.ones(10, 'f')
    k(a, b, c)
    wait = cupy.cuda.Device().synchronize
    def once():
        t = each('k(a, b, c)', dict(k=k, a=a, b=b, c=c), 300)
        wait()
        return t
    return medians({'ElementwiseKernel': once})


def large():
    import numpy
    from catenary import _core, cupy
    n = 1 << 24
    x, y = numpy.random.rand(n).astype('f'), numpy.random.rand(n).astype('f')
    with _core.Device('cpu'):
        a, b = cupy.asarray(x), cupy.asarray(y)
        found = {}
        for text in ('{0} * 2 + {1}', 'xp.exp({0} - {1}) / (1 + {0})', 'xp.sqrt({0} * {0} + {1} * {1}) - {0}',
                     '(({0} - {1}) ** 2).sum()'):
            ours = text.format('a', 'b') + ('' if 'sum' in text else '; _ = r.data.ptr')
            tasks = medians({'ours': lambda: timeit.timeit('r = ' + ours, globals=dict(xp=cupy, a=a, b=b), number=1) if 'sum' not in text
                             else timeit.timeit('r = float(' + ours + ')', globals=dict(xp=cupy, a=a, b=b), number=1),
                             'NumPy': lambda: timeit.timeit('r = ' + text.format('x', 'y'), globals=dict(xp=numpy, x=x, y=y), number=1)})
            found[text.format('x', 'y').replace('xp.', '')] = [tasks['ours'] * 1e3, tasks['NumPy'] * 1e3]
        return found


PARTS = {'small': small, 'on_opencl': on_opencl, 'kernel': kernel, 'large': large}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', nargs='?', type=pathlib.Path, metavar='BUILD')
    parser.add_argument('--part', choices=PARTS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.part:
        print(json.dumps(PARTS[args.part]()))
        return
    if args.build is None:
        parser.error('BUILD is missing')
    build = args.build.resolve()
    times = in_a_process('small')
    cpp = subprocess.run([build / 'bin/bench_calls', '--benchmark_format=json', '--benchmark_repetitions=9'], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    cpp = {b['run_name']: b['real_time'] / 1e3 for b in json.loads(cpp.stdout)['benchmarks']
           if b.get('aggregate_name') == 'median'}
    print('| a + b of 10 float32 | µs | x NumPy | C++ |\n|---|---|---|---|')
    print(f"| NumPy | {times['NumPy']:.3f} | 1 | |")
    for name, of_cpp in (('recorded', 'Recorded'), ('computed', 'Computed')):
        print(f"| {name} | {times[name]:.3f} | {times[name] / times['NumPy']:.2f} | {cpp[of_cpp]:.3f} |")
    print(f"| `a.T` | {times['a.T']:.3f} | | {cpp['Views']:.3f} |")
    for name, value in in_a_process('on_opencl', CATENARY_GPU_INCLUDE_CPU='1').items():
        print(f'| opencl:0, {name} | {value:.3f} | | |')
    simulated = in_a_process('kernel', CATENARY_GPU_INCLUDE_CPU='0', CATENARY_GPU_INCLUDE_SIMULATED='1',
                             LD_LIBRARY_PATH=str(build / 'simgpu/cuda'))
    print(f"| a cached ElementwiseKernel, simulated CUDA | {simulated['ElementwiseKernel']:.3f} | | |")
    print('\n| 16 Mi float32 | ms | NumPy, ms | ratio |\n|---|---|---|---|')
    for text, (ours, theirs) in in_a_process('large').items():
        print(f'| `{text}` | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} |')


if __name__ == '__main__':
    main()
