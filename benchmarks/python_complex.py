#!/usr/bin/env python3
"""Complex numbers and Fourier transforms beside NumPy's (and PyTorch's, with --torch), in turn in one process.

    OMP_WAIT_POLICY=passive build/python/venv/bin/python benchmarks/python_complex.py [--device opencl:0] [--torch SITE-PACKAGES] [--rounds 5]

Without the variable PyTorch's threads wait with a core in hand while the next one computes.

Prints milliseconds: the least of the rounds of each, and ours as a part of theirs."""
import argparse
import sys
import time

import numpy

SIZES = {'fft of 4096 × 2^10': (4096, 1024), 'fft of 2^20': (1 << 20,), 'fft2 of 1000 × 1000': (1000, 1000),
         'fft of 1009 (prime) × 1000': (1000, 1009), 'fftn of 128³': (128, 128, 128)}


def tasks(xp, to_array, wait):
    """{name: a function that computes it and waits}, of a library with NumPy's names."""
    random = numpy.random.RandomState(0)

    def numbers(shape):
        return to_array((random.uniform(-1, 1, shape) + 1j * random.uniform(-1, 1, shape)).astype('F'))
    x, y, a, b = numbers(1 << 24), numbers(1 << 24), numbers((1024, 1024)), numbers((1024, 1024))
    found = {'x * y of 16 Mi complex64': lambda: wait(x * y), 'exp(x) of 16 Mi complex64': lambda: wait(xp.exp(x)),
             'abs(x) of 16 Mi complex64': lambda: wait(xp.abs(x)), 'product of 1024 × 1024': lambda: wait(a @ b)}
    for name, shape in SIZES.items():
        z, whole = numbers(shape), name.startswith(('fft2', 'fftn'))
        found[name] = (lambda z=z: wait(xp.fft.fftn(z))) if whole else (lambda z=z: wait(xp.fft.fft(z)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--device', default='cpu')
    parser.add_argument('--torch', metavar='FOLDER', help='site-packages that have PyTorch')
    parser.add_argument('--rounds', type=int, default=5)
    args = parser.parse_args()
    from catenary import _core, cupy
    _core.Device(args.device).use()

    def computed(x):
        x.data.ptr if args.device == 'cpu' else None  # an address makes it be computed
        cupy.cuda.runtime.deviceSynchronize()
    columns = {'ours': tasks(cupy, cupy.asarray, computed), 'NumPy': tasks(numpy, lambda a: a, lambda x: None)}
    if args.torch:
        sys.path.append(args.torch)
        import torch
        columns['PyTorch'] = tasks(torch, torch.from_numpy, lambda x: None)
    print('| | ' + ' | '.join(columns) + ' | ' + ' | '.join(f'ours of {name}' for name in list(columns)[1:]) + ' |')
    print('|---' * (2 * len(columns)) + '|')
    for name in columns['ours']:
        least = dict.fromkeys(columns, float('inf'))
        for _ in range(args.rounds + 1):
            for column, own in columns.items():
                begin = time.perf_counter()
                own[name]()
                least[column] = min(least[column], (time.perf_counter() - begin) * 1e3)
        times = list(least.values())
        print(f'| {name} | ' + ' | '.join(f'{t:.1f}' for t in times) + ' | ' + ' | '.join(f'{times[0] / t:.2f}' for t in times[1:]) + ' |',
              flush=True)


if __name__ == '__main__':
    main()
