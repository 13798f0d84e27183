"""Writes texts with their words and vectors, for the test that compares the embedder of the product with this one.

Usage: vectors.py CODE-EMBEDDING.bin OUT.json
"""
import json, math, struct, sys
import numpy as np
from tokenize_text import Tokenizer, words

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
# Name, documentation and code of a definition.
CHUNKS = [
    ("read_file", "Reads a whole file.", "def read_file(path):\n    with open(path) as f:\n        return f.read()\n"),
    ("total", "", "def total(items):\n" + "".join(f"    if items.price > {n}: report(items.price)\n" for n in range(40)) + "    return unusual\n"),
]
PROSE = 2.0

source, out = sys.argv[1:]
raw = open(source, "rb").read()
rows, dimensions, length = struct.unpack("<III", raw[4:16])
prose_repeat, code_repeat, name_weight, *places = np.frombuffer(raw, "<f4", 11, 16).tolist()
start = 16 + 44
vocabulary = raw[start:start + length].decode().split("\n")[:rows]
scale = np.frombuffer(raw, "<f4", rows, start + length)
table = np.frombuffer(raw, np.int8, rows * dimensions, start + length + 4 * rows).reshape(rows, dimensions)
tokenizer = Tokenizer(vocabulary)


def unit(vector):
    return [round(float(v), 6) for v in vector / max(np.linalg.norm(vector), 1e-9)]


def prose(text):
    vector = np.zeros(dimensions, np.float64)
    for token, count in tokenizer.bag(text).items():
        vector += (1 + prose_repeat * math.log(count)) * scale[token] * table[token]
    return vector


def code(name, text):
    first = {}
    for at, word in enumerate(words(text)):
        for token in tokenizer.word(word):
            first.setdefault(token, min(7, (at >> 1).bit_length()))
    vector = np.zeros(dimensions, np.float64)
    for token, count in tokenizer.bag(text).items():
        vector += (1 + code_repeat * math.log(count)) * places[first[token]] * scale[token] * table[token]
    for token in tokenizer.bag(name):
        vector += name_weight * scale[token] * table[token]
    return vector


samples = [{"text": text, "words": words(text), "vector": unit(prose(text))} for text in TEXTS]
chunks = [{"name": n, "doc": d, "code": c, "vector": unit(code(n, c) + PROSE * prose(d))} for n, d, c in CHUNKS]
json.dump({"texts": samples, "chunks": chunks}, open(out, "w"), ensure_ascii=False, indent=None, separators=(",", ":"))
