#!/usr/bin/env python3
"""Makes the files of tests/data/io with NumPy and other packages, because readers must be tested with files of other writers.

Usage: make_io_fixtures.py [FOLDER]     (needs NumPy 1.23 or newer, and Pillow, safetensors and ml_dtypes for the last part)
"""
import gzip
import io
import json
import pathlib
import pickle
import struct
import sys
import zipfile
import zlib

import numpy as np

out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "io")
out.mkdir(parents=True, exist_ok=True)


def numbers(dtype, shape):
    """Returns 0, 1, 2, …, minus 2 for signed types: small enough for every dtype, and exact in float16."""
    n = int(np.prod(shape))
    values = np.arange(n)
    if np.dtype(dtype).kind in "if":
        values = values - 2
    if np.dtype(dtype).kind == "b":
        values = values % 3 == 0
    return values.reshape(shape).astype(dtype)


def npy(name, array, **kwargs):
    with open(out / name, "wb") as file:
        np.lib.format.write_array(file, array, **kwargs)


for code in ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]:
    npy(f"le_{code}.npy", numbers("<" + code, (2, 3)))
    npy(f"be_{code}.npy", numbers(">" + code, (2, 3)))
    npy(f"f_{code}.npy", np.asfortranarray(numbers("<" + code, (2, 3, 4))))
npy("be_fortran.npy", np.asfortranarray(numbers(">f4", (5, 7))))
npy("scalar.npy", np.array(2.5))
npy("empty.npy", np.zeros((3, 0, 2), "f4"))
npy("one.npy", np.arange(4, dtype="i8"))
npy("version2.npy", numbers("<f4", (2, 3)), version=(2, 0))
npy("version3.npy", numbers("<f4", (2, 3)), version=(3, 0))
npy("unicode.npy", np.array("h\u00e9llo \u4e16\u754c \U0001f600"))
npy("unicode_be.npy", np.array("h\u00e9llo").astype(">U5"))
npy("unicode_empty.npy", np.array(""))
npy("unicode_fortran.npy", np.asfortranarray(np.array([["a", "bb", "ccc"], ["d", "", "\u00e9f"]])))
npy("bytes.npy", np.array([b"ab", b"c"]))
npy("complex.npy", np.zeros(2, "c8"))
npy("structured.npy", np.zeros(2, [("x", "<f4"), ("y", "<i4")]))
npy("datetime.npy", np.zeros(2, "M8[s]"))
npy("object.npy", np.array([None, 1], dtype=object))
npy("bool_bytes.npy", np.array([0, 1, 2, 255], "u1").view("?"))
npy("void2.npy", np.array([0x3F80, 0xC000], "<u2").view("V2"))

header = io.BytesIO()
np.lib.format.write_array_header_1_0(header, {"descr": "|O", "fortran_order": False, "shape": ()})
for protocol in range(2, 6):
    for module in [b"numpy.core.multiarray", b"numpy._core.multiarray"]:
        text = pickle.dumps(np.array(None), protocol)
        name = b"numpy._core.multiarray" if b"numpy._core" in text else b"numpy.core.multiarray"
        if name != module:
            if protocol >= 4:  # the lengths of the frame and of the string precede the name
                body = text[11:].replace(bytes([len(name)]) + name, bytes([len(module)]) + module)
                text = text[:3] + struct.pack("<Q", len(body)) + body
            else:
                text = text.replace(name, module)
            assert pickle.loads(text)[()] is None
        kind = "new" if b"_core" in module else "old"
        (out / f"none_{protocol}_{kind}.npy").write_bytes(header.getvalue() + text)

values = {"a": numbers("<f4", (2, 3)), "path/to:x": numbers("<i8", ()), "text": np.array("[1, 2]"), "none": np.array(None),
          "flag": np.array(True), "h\u00e9": numbers("<f8", (3,))}
np.savez(out / "stored.npz", **values)
np.savez_compressed(out / "deflated.npz", **values)
with zipfile.ZipFile(out / "lzma.npz", "w", zipfile.ZIP_LZMA) as archive:
    content = io.BytesIO()
    np.save(content, numbers("<f4", (2, 3)))
    archive.writestr(zipfile.ZipInfo("a.npy"), content.getvalue(), zipfile.ZIP_LZMA)
with zipfile.ZipFile(out / "plain_member.npz", "w") as archive:
    archive.writestr(zipfile.ZipInfo("readme.txt"), "not an array")

codes = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
for code, dtype in codes.items():
    array = numbers(dtype, (2, 3))
    content = struct.pack(">HBBII", 0, code, 2, 2, 3) + array.tobytes()
    (out / f"{code:02x}.idx").write_bytes(content)
    with open(out / f"{code:02x}.idx.gz", "wb") as file:
        with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
            packed.write(content)
parts = struct.pack(">HBBI", 0, 8, 1, 4), bytes([1, 2, 3, 4])
(out / "members.idx.gz").write_bytes(b"".join(gzip.compress(p, mtime=0) for p in parts))

# PNG files of every colour type, depth and interlacing. A formula gives the pixels, so tests need no other decoder.


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_pack(samples, depth):
    """Packs one row of samples (a flat list) into bytes."""
    if depth == 16:
        return b"".join(struct.pack(">H", s) for s in samples)
    per_byte = 8 // depth
    row = bytearray()
    for i in range(0, len(samples), per_byte):
        byte = 0
        for k, s in enumerate(samples[i:i + per_byte]):
            byte |= s << (8 - depth * (k + 1))
        row.append(byte)
    return bytes(row)


def make_png(width, height, depth, colour, channels, interlace, extra=b""):
    most = min((1 << depth) - 1, 3 if colour == 3 else 65535)
    step = 257 * 7 if depth == 16 else 7

    def sample(y, x, c):
        return ((y * width + x) * channels + c) * step % (most + 1)

    passes = [(0, 0, 1, 1)]
    if interlace:
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    raw = b""
    for x0, y0, dx, dy in passes:
        columns = range(x0, width, dx)
        if not len(columns):
            continue
        for y in range(y0, height, dy):
            raw += b"\0" + png_pack([sample(y, x, c) for x in columns for c in range(channels)], depth)
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + extra + png_chunk(b"IDAT", zlib.compress(raw, 9)) +
            png_chunk(b"IEND", b""))


palette = png_chunk(b"PLTE", bytes([255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30]))
gamma = png_chunk(b"gAMA", struct.pack(">I", 100000))
for interlace in (0, 1):
    suffix = "_interlaced" if interlace else ""
    for depth in (1, 2, 4, 8, 16):
        (out / f"gray{depth}{suffix}.png").write_bytes(make_png(11, 5, depth, 0, 1, interlace, gamma))
    for depth in (8, 16):
        (out / f"rgb{depth}{suffix}.png").write_bytes(make_png(11, 5, depth, 2, 3, interlace))
        (out / f"graya{depth}{suffix}.png").write_bytes(make_png(11, 5, depth, 4, 2, interlace))
        (out / f"rgba{depth}{suffix}.png").write_bytes(make_png(11, 5, depth, 6, 4, interlace))
    for depth in (2, 8):
        (out / f"palette{depth}{suffix}.png").write_bytes(make_png(11, 5, depth, 3, 1, interlace, palette))
(out / "palette_transparent.png").write_bytes(
    make_png(11, 5, 2, 3, 1, 0, palette + png_chunk(b"tRNS", bytes([255, 0, 128]))))

# Files that only other packages can make: JPEGs by Pillow, with its own decoded pixels beside them, and files by
# safetensors.
try:
    import ml_dtypes
    from PIL import Image
    from safetensors.numpy import save_file
except ImportError as missing:
    sys.exit(f"{missing}: the JPEG and safetensors files were not made again")

y, x = np.mgrid[0:24, 0:35]
smooth = np.stack([x * 7, y * 10, 255 - x * 3 - y * 4], axis=-1).clip(0, 255).astype("u1")
for name, image, options in [("gray", Image.fromarray(smooth[..., 0]), {}), ("rgb", Image.fromarray(smooth), {"quality": 92}),
                             ("progressive", Image.fromarray(smooth), {"progressive": True, "subsampling": 2}),
                             ("cmyk", Image.fromarray(smooth).convert("CMYK"), {"quality": 95})]:
    image.save(out / f"{name}.jpg", **options)
    decoded = Image.open(out / f"{name}.jpg")
    np.save(out / f"{name}.jpg.npy", np.asarray(decoded.convert("RGB") if name == "cmyk" else decoded))
np.save(out / "luma.npy", np.asarray(Image.fromarray(smooth).convert("L")))
Image.fromarray(smooth).save(out / "luma.png")

tensors = {"weight": numbers("<f4", (2, 3)), "half": numbers("<f2", (3,)), "flag": numbers("?", (5,)), "scalar": np.array(7, "i8"),
           "empty": np.zeros((0, 4), "f4"), "brain": numbers("<f4", (4,)).astype(ml_dtypes.bfloat16),
           "eight": numbers("<f4", (3,)).astype(ml_dtypes.float8_e4m3fn)}
save_file(tensors, out / "model.safetensors", metadata={"format": "pt", "note": "h\u00e9 \"quoted\""})

# Two files and their index, as save_pretrained of transformers writes them.
sharded = out / "sharded"
sharded.mkdir(exist_ok=True)
parts = [{"embed.weight": numbers("<f4", (2, 3))},
         {"layer.bias": numbers("<f4", (4,)).astype(ml_dtypes.bfloat16), "layer.weight": numbers("<f2", (3,))}]
index = {"metadata": {"total_size": sum(a.nbytes for part in parts for a in part.values())}, "weight_map": {}}
for i, part in enumerate(parts):
    file = f"model-{i + 1:05}-of-{len(parts):05}.safetensors"
    save_file(part, sharded / file, metadata={"format": "pt"})
    index["weight_map"].update({name: file for name in part})
(sharded / "model.safetensors.index.json").write_text(json.dumps(index, indent=2, sort_keys=True) + "\n")
