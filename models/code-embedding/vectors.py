"""Writes texts with their words and vectors, for the test that compares the embedder of the product with this one.

Usage: vectors.py CODE-EMBEDDING.bin OUT.json
"""
import json, struct, sys
import numpy as np
from tokenize_text import Tokenizer, weight, words

TEXTS = [
    "parseHTTPRequest2",
    "def read_file(path):\n    \"\"\"Reads a whole file.\"\"\"\n    with open(path) as f:\n        return f.read()\n",
    "func (c *Client) FetchJSON(ctx context.Context, url string) ([]byte, error) { return nil, nil }",
    "how to convert a string to an integer in python",
    "XMLHttpRequest ABc aB A1b2 snake_case_v2 __init__ SCREAMING_CASE",
    "größe 日本語 naïve café ٣ ² x₂",
    "unbelievablyLongishIdentifierThatNobodyWouldWrite qqqqzzzzxxxx",
    "a" * 41 + " " + "b" * 40,
    "",
    "!!! ??? ...",
    "word " * 600 + "beyond",
    "for for for if if else",
]

source, out = sys.argv[1:]
raw = open(source, "rb").read()
rows, dimensions, length = struct.unpack("<III", raw[4:16])
vocabulary = raw[16:16 + length].decode().split("\n")[:rows]
scale = np.frombuffer(raw, "<f4", rows, 16 + length)
table = np.frombuffer(raw, np.int8, rows * dimensions, 16 + length + 4 * rows).reshape(rows, dimensions)
tokenizer = Tokenizer(vocabulary)
samples = []
for text in TEXTS:
    vector = np.zeros(dimensions, np.float64)
    for token, count in tokenizer.bag(text).items():
        vector += weight(count) * scale[token] * table[token]
    vector /= max(np.linalg.norm(vector), 1e-9)
    samples.append({"text": text, "words": words(text), "vector": [round(float(v), 6) for v in vector]})
json.dump(samples, open(out, "w"), ensure_ascii=False, indent=None, separators=(",", ":"))
