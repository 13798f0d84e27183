"""Turns word files into the vocabulary and token bags for training.

Usage: prepare.py WORDS_DIR OUT_DIR      (WORDS_DIR also holds tokenizer.json of MiniLM)
A bag lists, for each distinct token of a text, how often it occurs, whether it is part of the name, and where in the code it stands first.
"""
import collections, json, lzma, os, sys, zlib
import multiprocessing
import numpy as np
from tokenize_text import Tokenizer

SIZE, PART, CORES = 32_768, 4000, os.cpu_count()
source, out = sys.argv[1:]
os.makedirs(out, exist_ok=True)


def read():
    with lzma.open(os.path.join(source, "words.xz"), "rt", encoding="utf8", newline="\n") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if line[0] == "\x01":
                language, package, group = fields[0][1:], fields[1], int(fields[2])
            else:
                yield language, package, group, *fields


def count(part):
    counts = collections.Counter()
    for row in part:
        if row[2] >= 40:
            counts.update(row[4].split())
            counts.update(row[5].split())
    return counts


def make_vocabulary(counts):
    """MiniLM's tokens that the training packages use, then the most frequent other words of those packages."""
    base = json.load(open(os.path.join(source, "tokenizer.json")))["model"]["vocab"]
    keep = []
    for token in sorted(base, key=base.get):
        bare = token.removeprefix("##")
        if bare.isascii() and bare.isalnum() and (token != bare or len(bare) == 1 or counts[bare] >= 5):
            keep.append(token)
    known = set(keep)
    mined = [w for w, c in counts.most_common() if w not in known and c >= 8 and w.isascii() and w.isalpha() and 2 <= len(w) <= 24]
    return (keep + mined)[:SIZE]


def bags(part):
    tokenizer = Tokenizer(vocabulary)
    sides = {side: ([], [], [], []) for side in "dc"}
    for row in part:
        named = {token for word in row[3].split() for token in tokenizer.word(word)}
        for side, text in (("d", row[4]), ("c", row[5])):
            counted, first = {}, {}
            for at, word in enumerate(text.split()):
                for token in tokenizer.word(word):
                    counted[token] = counted.get(token, 0) + 1
                    first.setdefault(token, min(7, (at >> 1).bit_length()))
            if side == "c":
                for token in named:
                    counted.setdefault(token, 1)
            ids, counts, flags, lengths = sides[side]
            ids.extend(counted)
            counts.extend(min(c, 255) for c in counted.values())
            flags.extend((side == "c" and token in named) | first.get(token, 0) << 1 for token in counted)
            lengths.append(len(counted))
    kinds = (np.uint16, np.uint8, np.uint8, np.uint32)
    return {side: [np.array(a, kind) for a, kind in zip(arrays, kinds)] for side, arrays in sides.items()}


def save(name, made):
    for side in "dc":
        ids, counts, flags, lengths = (np.concatenate([part[side][n] for part in made]) for n in range(4))
        np.savez(os.path.join(out, f"{name}-{side}.npz"), ids=ids, counts=counts, flags=flags, lengths=lengths)


rows = list(read())
parts = [rows[start:start + PART] for start in range(0, len(rows), PART)]
with multiprocessing.Pool(CORES) as pool:
    counts = sum(pool.imap_unordered(count, parts), collections.Counter())
vocabulary = make_vocabulary(counts)
open(os.path.join(out, "vocabulary.txt"), "w").write("\n".join(vocabulary) + "\n")
cosqa = json.load(open(os.path.join(source, "cosqa.words.json")))
with multiprocessing.Pool(CORES) as pool:
    save("pairs", list(pool.imap(bags, parts)))
save("cosqa", [bags([("python", "", 0, *code) for code in cosqa["codes"]])])
save("asked", [bags([("python", "", 0, "", query, "") for query in cosqa["queries"]])])
languages, packages = sorted({row[0] for row in rows}), {}
total = sum(counts.values())
np.savez(os.path.join(out, "rows.npz"), languages=np.array(languages), answer=np.array(cosqa["answer"]),
         language=np.array([languages.index(row[0]) for row in rows], np.uint8), group=np.array([row[2] for row in rows], np.uint8),
         package=np.array([packages.setdefault(row[:2], len(packages)) for row in rows], np.uint32),
         doc=np.array([zlib.crc32(row[4].encode()) for row in rows], np.uint32), code=np.array([zlib.crc32(row[5].encode()) for row in rows], np.uint32),
         rarity=np.array([1e-3 / (1e-3 + counts[token.removeprefix("##")] / total) for token in vocabulary], np.float32))
json.dump([row[3:] for row in rows], open(os.path.join(out, "rows.json"), "w"))
print(len(rows), "pairs,", len(vocabulary), "tokens")
