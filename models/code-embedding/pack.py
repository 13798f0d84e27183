"""Packs a trained table into the file that the product embeds.

Usage: pack.py RUN_DIR VOCABULARY.txt OUT.bin

Layout, little-endian: `LCE1`, u32 rows, u32 dimensions, u32 bytes of vocabulary; the vocabulary, one token a line; the scale of
each row as f32; rows × dimensions int8. A row's vector is its int8 values times its scale.
"""
import struct, sys
import numpy as np

run, vocabulary, out = sys.argv[1:]
table, scale = np.load(f"{run}/table.npy"), np.load(f"{run}/scale.npy").astype("<f4")
words = open(vocabulary, "rb").read()
assert table.dtype == np.int8 and len(words.splitlines()) == len(table) == len(scale)
with open(out, "wb") as sink:
    sink.write(b"LCE1" + struct.pack("<III", *table.shape, len(words)) + words + scale.tobytes() + table.tobytes())
