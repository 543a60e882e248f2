"""Makes blocks of random bytes, and the values that the Python package gguf reads from them.

Usage: python make_k_blocks.py OUT_DIR    (a folder with the manifest of the other vectors; needs gguf 0.19)

The form is that of the other vectors of quantised weights: blocks (rows, bytes) uint8, back (rows, padded) float32, x (4, columns) float32.
w is missing for the kinds to which the package cannot quantise.
"""
import json
import os
import sys

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

out = sys.argv[1]
random = np.random.RandomState(7)
path = os.path.join(out, 'manifest.json')
manifest = json.load(open(path)) if os.path.exists(path) else {'quantised': [], 'seed': 0}


def random_blocks(kind, halves, rows, count, has_zero):
    """Returns random bytes with reasonable float16 scales at these offsets of each block."""
    blocks = random.randint(0, 256, (rows, count, GGML_QUANT_SIZES[GGMLQuantizationType[kind]][1])).astype(np.uint8)
    for at in halves:
        scale = (random.randn(rows, count, 1) * .01).astype(np.float16)
        scale[0, 0, 0] = 0 if has_zero and at else scale[0, 0, 0]
        blocks[:, :, at:at + 2] = scale.view(np.uint8)
    return blocks.reshape(rows, -1)


def save(kind, tag, rows, columns, blocks, **more):
    back = quants.dequantize(blocks, GGMLQuantizationType[kind])
    x = random.uniform(-1, 1, (4, columns)).astype('f')
    name = '%s_%s.npz' % (kind, tag)
    np.savez_compressed(os.path.join(out, name), blocks=blocks, back=back, x=x, **more)
    manifest['quantised'] = [c for c in manifest['quantised'] if c['file'] != name]
    manifest['quantised'].append({'kind': kind, 'rows': rows, 'columns': columns, 'file': name})


scales = {'Q4_K': (0, 2), 'Q6_K': (208,), 'Q5_K': (0, 2), 'Q3_K': (108,), 'Q2_K': (80, 82), 'IQ4_NL': (0,)}
for kind, halves in scales.items():
    size = GGML_QUANT_SIZES[GGMLQuantizationType[kind]][0]
    for tag, rows, columns in (('k_plain', 3, 256), ('k_odd', 2, 300), ('k_one', 1, 1)):
        save(kind, tag, rows, columns, random_blocks(kind, halves, rows, -(-columns // size), tag == 'k_plain'))

# MXFP4, to which the package quantises. The scales of the last case are subnormal.
for tag, rows, columns, factor in (('k_plain', 3, 256, 1), ('k_odd', 2, 300, .01), ('k_one', 1, 1, 1), ('k_small', 2, 64, 2e-38)):
    w = np.zeros((rows, -(-columns // 32) * 32), 'f')
    w[:, :columns] = random.randn(rows, columns) * factor
    save('MXFP4', tag, rows, columns, quants.quantize(w, GGMLQuantizationType.MXFP4), w=w[:, :columns].copy())
json.dump(manifest, open(path, 'w'), indent=1)
print(len(manifest['quantised']), 'cases')
