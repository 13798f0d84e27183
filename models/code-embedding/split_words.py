"""Harvested pairs as words: identifiers split, lower case, one line a function, sorted by package.

Usage: split_words.py OUT_DIR MANIFEST.tsv PAIRS.jsonl...      (COSQA_DIR names the folder of CoSQA)
Packages that the manifest does not allow are left out, and so are duplicates and functions that occur in CoSQA. Writes
OUT_DIR/words.xz and OUT_DIR/cosqa.words.json. A line that starts with \\x01 names language, package and the package's hash, which decides
where it belongs: below 20 held out, below 40 development, the rest training.
"""
import hashlib, json, lzma, os, re, sys
from tokenize_text import words

COSQA = os.environ.get("COSQA_DIR", "")
CODE_WORDS, DOC_WORDS, NAME_WORDS = 200, 90, 12
DOCSTRING = re.compile(r"[rRuU]?(\"\"\"|''')(.|\n)*?\1")


def group(language, package):
    return hashlib.md5(f"{language}/{package}".encode()).digest()[0]


def main():
    out, manifest, *paths = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    with open(manifest) as lines:
        allowed = {tuple(row[:2]) for row in (line.rstrip("\n").split("\t") for line in lines) if row[4] == "yes"}
    cosqa = json.load(open(os.path.join(COSQA, "code_idx_map.txt")))
    forbidden = {tuple(words(text)[:60]) for code in cosqa for text in (code, DOCSTRING.sub("", code, count=1))}
    with lzma.open(os.path.join(out, "words.xz"), "wt", preset=3) as sink:
        for path in sorted(paths):
            language = os.path.basename(path).split(".")[0]
            rows, seen = [], set()
            for line in open(path):
                row = json.loads(line)
                if (language, row["package"]) not in allowed:
                    continue
                name, doc, code = words(row["name"])[:NAME_WORDS], words(row["doc"])[:DOC_WORDS], words(row["code"])[:CODE_WORDS]
                key = (tuple(doc), tuple(code[:80]))
                if key in seen or (language == "python" and tuple(code[:60]) in forbidden):
                    continue
                seen.add(key)
                rows.append((row["package"], " ".join(name), " ".join(doc), " ".join(code)))
            rows.sort(key=lambda row: row[0])
            last = None
            for package, *fields in rows:
                if package != last:
                    sink.write(f"\x01{language}\t{package}\t{group(language, package)}\n")
                    last = package
                sink.write("\t".join(fields) + "\n")
            print(language, len(rows), "pairs", flush=True)
    codes = sorted(cosqa, key=cosqa.get)
    number = {cosqa[code]: at for at, code in enumerate(codes)}
    dev = json.load(open(os.path.join(COSQA, "cosqa-dev.json")))
    result = {"queries": [" ".join(words(d["doc"])) for d in dev], "answer": [number[d["retrieval_idx"]] for d in dev], "codes": []}
    for code in codes:
        name, doc = re.search(r"def\s+(\w+)", code), DOCSTRING.search(code)
        doc = doc.group(0) if doc else ""
        rest = code.replace(doc, " ", 1) if doc else code
        result["codes"].append([" ".join(words(t)) for t in (name.group(1) if name else "", doc, rest)])
    json.dump(result, open(os.path.join(out, "cosqa.words.json"), "w"))


if __name__ == "__main__":
    main()
