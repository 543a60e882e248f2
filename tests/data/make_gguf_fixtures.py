#!/usr/bin/env python3
"""Makes the files of tests/data/io/gguf with the package gguf, because readers must be tested with files of other writers.

Usage: make_gguf_fixtures.py [FOLDER]     (needs gguf 0.19 and NumPy)

NAME.values holds the values to which the package dequantises the tensor NAME.
"""
import pathlib
import sys

import numpy as np
import gguf
from gguf import GGMLQuantizationType as Type
from gguf import GGUFValueType as Value

out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "io" / "gguf")
out.mkdir(parents=True, exist_ok=True)


def numbers(dtype, shape):
    """Returns -2, -1, 0, …, like make_io_fixtures.py."""
    return (np.arange(int(np.prod(shape))) - 2).reshape(shape).astype(dtype)


def write(name, fill, arch="llama", **options):
    writer = gguf.GGUFWriter(out / name, arch, **options)
    fill(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def model(writer):
    """Adds a value of every type, and a tensor of every supported type."""
    writer.add_uint8("t.u8", 200)
    writer.add_int8("t.i8", -100)
    writer.add_uint16("t.u16", 60000)
    writer.add_int16("t.i16", -30000)
    writer.add_uint32("t.u32", 4000000000)
    writer.add_int32("t.i32", -2000000000)
    writer.add_uint64("t.u64", 2**63 + 1)
    writer.add_int64("t.i64", -2**62)
    writer.add_float32("t.f32", 0.1)
    writer.add_float64("t.f64", 0.1)
    writer.add_bool("t.yes", True)
    writer.add_bool("t.no", False)
    writer.add_string("t.text", "h\u00e9 \"quoted\"")
    writer.add_key_value("t.none", "", Value.STRING)
    writer.add_array("t.texts", ["<s>", "\u2581a", "", "\u4e16"])
    writer.add_array("t.ints", [3, -1, 7])
    writer.add_array("t.floats", [0.5, -1.25])
    writer.add_array("t.bools", [True, False, True])
    writer.add_key_value("t.u8s", bytes([1, 2, 255]), Value.ARRAY, Value.UINT8)
    writer.add_key_value("t.u64s", [2**63 - 1, 5], Value.ARRAY, Value.UINT64)
    for name, dtype in [("i8", "i1"), ("i16", "<i2"), ("i32", "<i4"), ("i64", "<i8"), ("f16", "<f2"), ("f32", "<f4"), ("f64", "<f8")]:
        writer.add_tensor(name, numbers(dtype, (2, 3)))
    writer.add_tensor("bf16", gguf.quants.quantize(numbers("<f4", (4,)), Type.BF16), raw_dtype=Type.BF16)
    writer.add_tensor("four", numbers("<f4", (2, 1, 3, 2)))
    random = np.random.default_rng(5)
    for name, kind, shape in [("q8_0", Type.Q8_0, (3, 64)), ("q4_0", Type.Q4_0, (2, 32)), ("stack", Type.Q8_0, (2, 2, 32))]:
        blocks = gguf.quants.quantize(random.standard_normal(shape).astype("<f4"), kind)
        writer.add_tensor(name, blocks, raw_dtype=kind)
        writer.add_tensor(name + ".values", gguf.quants.dequantize(blocks, kind))
    # The package cannot quantise to these kinds, so byte i is 7 i + 3.
    for name, kind, rows in [("q4_k", Type.Q4_K, 2), ("q6_k", Type.Q6_K, 1)]:
        size = gguf.GGML_QUANT_SIZES[kind][1]
        writer.add_tensor(name, (np.arange(rows * size) * 7 + 3).astype("u1").reshape(rows, size), raw_dtype=kind)


def listed(writer):
    """Adds a tensor of a known but unsupported type, and a supported one."""
    size = gguf.GGML_QUANT_SIZES[Type.IQ4_XS][1]
    writer.add_tensor("iq4_xs", numbers("u1", (2, size)), raw_dtype=Type.IQ4_XS)
    writer.add_tensor("f32", numbers("<f4", (2,)))


def blocks(writer):
    """Adds blocks of random bytes, with reasonable float16 scales at these offsets."""
    random = np.random.default_rng(8)
    for kind, halves in [(Type.Q2_K, (80, 82)), (Type.Q3_K, (108,)), (Type.Q5_K, (0, 2)), (Type.IQ4_NL, (0,))]:
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        tensor = random.integers(0, 256, (3, 512 // elements, size)).astype("u1")
        for at in halves:
            tensor[:, :, at : at + 2] = random.standard_normal(tensor.shape[:2] + (1,)).astype("<f2").view("u1")
        tensor = tensor.reshape(3, -1)
        writer.add_tensor(kind.name.lower(), tensor, raw_dtype=kind)
        writer.add_tensor(kind.name.lower() + ".values", gguf.quants.dequantize(tensor, kind))
    tensor = gguf.quants.quantize(random.standard_normal((3, 512)).astype("<f4"), Type.MXFP4)
    writer.add_tensor("mxfp4", tensor, raw_dtype=Type.MXFP4)
    writer.add_tensor("mxfp4.values", gguf.quants.dequantize(tensor, Type.MXFP4))


def numbers_of_blocks(writer):
    """Adds blocks that are read as numbers."""
    random = np.random.default_rng(6)
    for name, kind in [("q4_1", Type.Q4_1), ("q5_0", Type.Q5_0), ("q5_1", Type.Q5_1)]:
        blocks = gguf.quants.quantize(random.standard_normal((3, 2, 64)).astype("<f4"), kind)
        writer.add_tensor(name, blocks, raw_dtype=kind)
        writer.add_tensor(name + ".values", gguf.quants.dequantize(blocks, kind))


def aligned(writer):
    writer.add_custom_alignment(128)
    writer.add_tensor("a", numbers("<f4", (3,)))
    writer.add_tensor("b", numbers("<f2", (5,)))


write("model.gguf", model)
write("listed.gguf", listed)
write("blocks.gguf", blocks)
write("numbers_of_blocks.gguf", numbers_of_blocks)
write("aligned.gguf", aligned, arch="")
write("vocabulary.gguf", lambda writer: writer.add_array("tokenizer.ggml.tokens", [f"t{i}" for i in range(50)]))
write("big_endian.gguf", lambda writer: writer.add_tensor("a", numbers("<f4", (3,))), endianess=gguf.GGUFEndian.BIG)
