"""Makes Q4_K and Q6_K blocks of random bytes, and the values that the Python package gguf reads from them.

Usage: python make_k_blocks.py OUT_DIR    (a folder with the manifest of the other vectors)

The form is that of the other vectors of quantised weights: blocks (rows, bytes) uint8, back (rows, padded) float32, x (4, columns) float32.
w is missing, because the package cannot quantise to these kinds.
"""
import json
import os
import sys

import numpy as np
from gguf import GGMLQuantizationType, quants

out = sys.argv[1]
random = np.random.RandomState(7)
path = os.path.join(out, 'manifest.json')
manifest = json.load(open(path)) if os.path.exists(path) else {'quantised': [], 'seed': 0}
scales = {'Q4_K': (144, (0, 2)), 'Q6_K': (210, (208,))}
for kind, (size, halves) in scales.items():
    for tag, rows, columns in (('k_plain', 3, 256), ('k_odd', 2, 300), ('k_one', 1, 1)):
        count = -(-columns // 256)
        blocks = random.randint(0, 256, (rows, count, size)).astype(np.uint8)
        for at in halves:
            scale = (random.randn(rows, count, 1) * .01).astype(np.float16)
            scale[0, 0, 0] = 0 if tag == 'k_plain' and at else scale[0, 0, 0]
            blocks[:, :, at:at + 2] = scale.view(np.uint8)
        blocks = blocks.reshape(rows, -1)
        back = quants.dequantize(blocks, GGMLQuantizationType[kind])
        x = random.uniform(-1, 1, (4, columns)).astype('f')
        name = '%s_%s.npz' % (kind, tag)
        np.savez_compressed(os.path.join(out, name), blocks=blocks, back=back, x=x)
        manifest['quantised'] = [c for c in manifest['quantised'] if c['file'] != name]
        manifest['quantised'].append({'kind': kind, 'rows': rows, 'columns': columns, 'file': name})
json.dump(manifest, open(path, 'w'), indent=1)
print(len(manifest['quantised']), 'cases')
