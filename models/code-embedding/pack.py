"""Packs a trained table into the file that the product embeds.

Usage: pack.py RUN_DIR OUT.bin

Layout, little-endian: `LCE2`, u32 rows, u32 dimensions, u32 bytes of vocabulary; eleven f32 weights (how much repetition counts in prose and
in code, the name, eight places in the code); the vocabulary, one token a line; the scale of each row as f32; rows × dimensions
int8. A row's vector is its int8 values times its scale.
"""
import json, struct, sys
import numpy as np

run, out = sys.argv[1:]
table, scale = np.load(f"{run}/table.npy"), np.load(f"{run}/scale.npy").astype("<f4")
report = json.load(open(f"{run}/report.json"))
weights = np.array(report["P"] + report["Q"], "<f4")
words = open(f"{run}/vocabulary.txt", "rb").read()
assert table.dtype == np.int8 and len(words.splitlines()) == len(table) == len(scale) and len(weights) == 11
with open(out, "wb") as sink:
    sink.write(b"LCE2" + struct.pack("<III", *table.shape, len(words)) + weights.tobytes() + words + scale.tobytes() + table.tobytes())
