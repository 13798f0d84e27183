"""Sets for `lacon bench search --pairs`: documentation and code of packages that were not trained on.

Usage: sets.py OUT_DIR MANIFEST.tsv held-out|development PAIRS.jsonl...
Writes OUT_DIR/LANGUAGE.jsonl with up to 5,000 pairs in an order that is always the same.
"""
import json, os, random, sys
from split_words import group

out, manifest, which, *paths = sys.argv[1:]
low, high = {"held-out": (0, 20), "development": (20, 40)}[which]
os.makedirs(out, exist_ok=True)
with open(manifest) as lines:
    allowed = {tuple(row[:2]) for row in (line.rstrip("\n").split("\t") for line in lines) if row[4] == "yes"}
for path in paths:
    language = os.path.basename(path).split(".")[0]
    rows = [(r["doc"], r["code"]) for r in map(json.loads, open(path)) if (language, r["package"]) in allowed and low <= group(language, r["package"]) < high]
    rows = list(dict.fromkeys(rows))
    random.Random(1).shuffle(rows)
    with open(os.path.join(out, f"{language}.jsonl"), "w") as sink:
        for doc, code in rows[:5000]:
            sink.write(json.dumps({"doc": doc, "code": code}) + "\n")
