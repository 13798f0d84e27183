"""Turns harvested pairs into token bags for training, and makes the vocabulary and its initial vectors.

Usage: prepare.py OUT_DIR MINILM_DIR MANIFEST.tsv PAIRS.jsonl...
MINILM_DIR holds tokenizer.json and an ONNX model; packages that the manifest does not allow are left out.
Writes OUT_DIR/vocabulary.txt, init.npy, shard-N.npz, heldout.npz, cosqa.npz.
"""
import collections, hashlib, json, os, random, sys
import numpy as np
from tokenize_text import Tokenizer, weight, words

SIZE, DIMENSIONS = 32_768, 256
COSQA = os.environ["COSQA_DIR"]


def held_out(language, package):
    return hashlib.md5(f"{language}/{package}".encode()).digest()[0] < 20


def load(manifest, paths):
    with open(manifest) as lines:
        allowed = {tuple(row[:2]) for row in (line.rstrip("\n").split("\t") for line in lines) if row[4] == "yes"}
    for path in paths:
        language = os.path.basename(path).split(".")[0]
        with open(path) as lines:
            for line in lines:
                row = json.loads(line)
                if (language, row["package"]) not in allowed:
                    continue
                yield language, row["package"], row["doc"], row["code"]


def make_vocabulary(minilm, counts):
    base = json.load(open(os.path.join(minilm, "tokenizer.json")))["model"]["vocab"]
    keep = []
    for token in sorted(base, key=base.get):
        bare = token[2:] if token.startswith("##") else token
        if bare.isascii() and bare.isalnum() and (counts.get(token, 0) > 0 or token.startswith("##") or len(bare) == 1 or counts.get(bare, 0) >= 1):
            keep.append(token)
    known = set(keep)
    mined = [w for w, c in counts.most_common() if w not in known and c >= 20 and w.isascii() and w.isalpha() and 2 <= len(w) <= 24]
    return (keep + mined)[:SIZE]


def initial(minilm, vocabulary, counts):
    import onnxruntime
    from tokenizers import Tokenizer as HubTokenizer
    tokenizer = HubTokenizer.from_file(os.path.join(minilm, "tokenizer.json"))
    tokenizer.no_padding()
    model = [f for f in os.listdir(minilm) if f.endswith(".onnx")][0]
    session = onnxruntime.InferenceSession(os.path.join(minilm, model), providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    vectors = np.zeros((len(vocabulary), 384), np.float32)
    encoded = [tokenizer.encode(t[2:] if t.startswith("##") else t).ids for t in vocabulary]
    for size in sorted({len(e) for e in encoded}):
        rows = [i for i, e in enumerate(encoded) if len(e) == size]
        for start in range(0, len(rows), 512):
            part = rows[start:start + 512]
            ids = np.array([encoded[i] for i in part], np.int64)
            feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            out = session.run(None, {k: v for k, v in feed.items() if k in names})[0]
            vectors[part] = out.mean(1) if out.ndim == 3 else out
    vectors -= vectors.mean(0)
    _, _, axes = np.linalg.svd(vectors[:: max(1, len(vectors) // 20000)], full_matrices=False)
    vectors = vectors @ axes[:DIMENSIONS].T
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    total = sum(counts.values())
    rarity = np.array([1e-3 / (1e-3 + counts.get(t.removeprefix("##"), 1) / total) for t in vocabulary], np.float32)
    return (vectors * rarity[:, None]).astype(np.float16)


def pack(bags):
    ids = np.fromiter((t for bag in bags for t in bag), np.uint16)
    counts = np.fromiter((min(c, 255) for bag in bags for c in bag.values()), np.uint8)
    ends = np.cumsum([len(bag) for bag in bags]).astype(np.uint32)
    return ids, counts, ends


def main():
    out, minilm, manifest, *paths = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    counts = collections.Counter()
    cosqa = json.load(open(os.path.join(COSQA, "code_idx_map.txt")))
    forbidden = {tuple(words(code)[:60]) for code in cosqa}
    rows = []
    for language, package, doc, code in load(manifest, paths):
        if language == "python" and tuple(words(code)[:60]) in forbidden:
            continue
        rows.append((language, package, doc, code))
        counts.update(words(doc))
        counts.update(words(code))
    vocabulary = make_vocabulary(minilm, counts)
    open(os.path.join(out, "vocabulary.txt"), "w").write("\n".join(vocabulary) + "\n")
    print("vocabulary", len(vocabulary), "rows", len(rows))
    np.save(os.path.join(out, "init.npy"), initial(minilm, vocabulary, counts))
    tokenizer = Tokenizer(vocabulary)
    languages = sorted({r[0] for r in rows})
    train, held = [], []
    for row in rows:
        (held if held_out(row[0], row[1]) else train).append(row)
    train.sort(key=lambda r: (r[0], r[1]))
    random.Random(1).shuffle(held)

    def save(name, part):
        docs, codes = [tokenizer.bag(r[2]) for r in part], [tokenizer.bag(r[3]) for r in part]
        di, dc, de = pack(docs)
        ci, cc, ce = pack(codes)
        np.savez_compressed(os.path.join(out, name), di=di, dc=dc, de=de, ci=ci, cc=cc, ce=ce,
                            language=np.array([languages.index(r[0]) for r in part], np.uint8), languages=np.array(languages))

    shard = 220_000
    for n, start in enumerate(range(0, len(train), shard)):
        save(f"shard-{n}.npz", train[start:start + shard])
    limited = collections.Counter()
    part = []
    for row in held:
        if limited[row[0]] < 5000:
            limited[row[0]] += 1
            part.append(row)
    save("heldout.npz", part)
    dev = json.load(open(os.path.join(COSQA, "cosqa-dev.json")))
    codes = sorted(cosqa, key=cosqa.get)
    qi, qc, qe = pack([tokenizer.bag(d["doc"]) for d in dev])
    ci, cc, ce = pack([tokenizer.bag(c) for c in codes])
    np.savez_compressed(os.path.join(out, "cosqa.npz"), qi=qi, qc=qc, qe=qe, ci=ci, cc=cc, ce=ce,
                        answer=np.array([d["retrieval_idx"] for d in dev], np.uint32))
    print(collections.Counter(r[0] for r in train), limited)


main()
