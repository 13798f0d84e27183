"""Contrastive training of the embedding table on token bags; one GPU, a few minutes.

Usage: train.py DATA_DIR OUT_DIR [key=value …]
"""
import glob, json, math, os, sys, time
import numpy as np
import torch
import torch.nn.functional as F

options = dict(epochs=10, batch=12288, rate=2e-3, temperature=0.05, drop=0.15, hard=0.5, pull=0.0, seed=1)
data, out, *rest = sys.argv[1:]
for item in rest:
    key, value = item.split("=")
    options[key] = type(options[key])(float(value))
torch.manual_seed(options["seed"])
device = "cuda" if torch.cuda.is_available() else "cpu"
os.makedirs(out, exist_ok=True)


class Bags:
    """Token bags as one flat array on the device."""

    def __init__(self, ids, counts, ends):
        self.ids = torch.tensor(ids.astype(np.int64), device=device)
        self.weights = torch.tensor(1.0 + np.log(np.maximum(counts, 1)), dtype=torch.float32, device=device)
        self.ends = torch.tensor(ends.astype(np.int64), device=device)
        self.starts = torch.cat([torch.zeros(1, dtype=torch.int64, device=device), self.ends[:-1]])

    def __len__(self):
        return len(self.ends)

    def take(self, rows, drop=0.0):
        lengths = (self.ends - self.starts)[rows]
        offsets = torch.cumsum(lengths, 0) - lengths
        flat = torch.repeat_interleave(self.starts[rows] - offsets, lengths) + torch.arange(int(lengths.sum()), device=device)
        weights = self.weights[flat]
        if drop:
            weights = weights * (torch.rand_like(weights) > drop)
        return self.ids[flat], offsets, weights


def load(names, keys):
    parts = [np.load(n) for n in names]
    ids = np.concatenate([p[keys[0]] for p in parts])
    counts = np.concatenate([p[keys[1]] for p in parts])
    ends, base = [], 0
    for p in parts:
        ends.append(p[keys[2]].astype(np.int64) + base)
        base += len(p[keys[0]])
    return Bags(ids, counts, np.concatenate(ends))


shards = sorted(glob.glob(os.path.join(data, "shard-*.npz")))
docs, codes = load(shards, ("di", "dc", "de")), load(shards, ("ci", "cc", "ce"))
language = torch.tensor(np.concatenate([np.load(s)["language"] for s in shards]).astype(np.int64), device=device)
languages = [str(x) for x in np.load(shards[0])["languages"]]
held = [os.path.join(data, "heldout.npz")]
held_docs, held_codes = load(held, ("di", "dc", "de")), load(held, ("ci", "cc", "ce"))
held_language = np.load(held[0])["language"]
cosqa = [os.path.join(data, "cosqa.npz")]
queries, targets = load(cosqa, ("qi", "qc", "qe")), load(cosqa, ("ci", "cc", "ce"))
answer = torch.tensor(np.load(cosqa[0])["answer"].astype(np.int64), device=device)

start = torch.tensor(np.load(os.path.join(data, "init.npy")).astype(np.float32), device=device)
table = torch.nn.Parameter(start.clone())
vocabulary = open(os.path.join(data, "vocabulary.txt")).read().split("\n")
language_words = [vocabulary.index({"javascript": "javascript", "typescript": "typescript"}.get(x, x)) if x in vocabulary else -1 for x in languages]
language_words = torch.tensor(language_words, device=device)


def embed(bags, rows, weights=None, drop=0.0):
    ids, offsets, weight = bags.take(rows, drop)
    return F.embedding_bag(ids, table if weights is None else weights, offsets, mode="sum", per_sample_weights=weight)


def ranks(q, c, answer):
    q, c = F.normalize(q, dim=1), F.normalize(c, dim=1)
    scores = q @ c.T
    own = scores.gather(1, answer[:, None])
    return (scores > own).sum(1) + 1


def measure(weights, dims=256):
    result = {}
    with torch.no_grad():
        w = weights[:, :dims]
        every = lambda b: embed(b, torch.arange(len(b), device=device), w)
        r = ranks(every(queries), every(targets), answer).float()
        result["cosqa"] = ((1 / r).mean().item(), (r <= 10).float().mean().item())
        d, c = every(held_docs), every(held_codes)
        for n, name in enumerate(languages):
            rows = torch.tensor(np.nonzero(held_language == n)[0], device=device)
            if len(rows) < 500:
                continue
            r = ranks(d[rows[:1000]], c[rows], torch.arange(min(1000, len(rows)), device=device)).float()
            result[name] = ((1 / r).mean().item(), (r <= 10).float().mean().item())
    return result


def show(label, result):
    print(label, " ".join(f"{k} {a:.3f}/{b:.3f}" for k, (a, b) in result.items()), flush=True)


def quantised(weights):
    scale = weights.abs().amax(1, keepdim=True).clamp_min(1e-8) / 127
    return (weights / scale).round().clamp(-127, 127), scale


show("start", measure(table.data))
optimizer = torch.optim.Adam([table], lr=options["rate"], betas=(0.9, 0.99))
count, batch = len(docs), options["batch"]
steps = options["epochs"] * (count // batch)
step, best, began = 0, (0, None), time.time()
for epoch in range(options["epochs"]):
    # Half of the batches are runs of neighbouring rows (one language, few packages): their negatives are hard.
    order = torch.randperm(count, device=device)
    block = 256
    blocks = torch.randperm(count // block, device=device)
    near = (blocks[:, None] * block + torch.arange(block, device=device)).reshape(-1)
    total = 0.0
    for i in range(count // batch):
        rows = (near if torch.rand(1).item() < options["hard"] else order)[i * batch:(i + 1) * batch]
        if len(rows) < batch // 2:
            continue
        rate = options["rate"] * min(1, (step + 1) / 50) * 0.5 * (1 + math.cos(math.pi * step / steps))
        for group in optimizer.param_groups:
            group["lr"] = rate
        q, c = embed(docs, rows, drop=options["drop"]), embed(codes, rows, drop=options["drop"] / 2)
        word = language_words[language[rows]]
        named = (torch.rand(len(rows), device=device) < 0.25) & (word >= 0)
        q = q + table[word.clamp_min(0)] * named[:, None]
        loss = 0.0
        target = torch.arange(len(rows), device=device)
        for dims, share in ((256, 1.0), (128, 0.3), (64, 0.15)):
            with torch.autocast(device, dtype=torch.bfloat16):
                logits = F.normalize(q[:, :dims], dim=1) @ F.normalize(c[:, :dims], dim=1).T / options["temperature"]
            logits = logits.float()
            loss = loss + share * (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2
        if options["pull"]:
            loss = loss + options["pull"] * ((table - start) ** 2).sum(1).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.item()
        step += 1
    result = measure(table.data)
    show(f"epoch {epoch} loss {total / (count // batch):.3f} {time.time() - began:.0f}s", result)
    score = 0.5 * result["cosqa"][0] + 0.5 * float(np.mean([v[0] for k, v in result.items() if k != "cosqa"]))
    if score > best[0]:
        best = (score, table.data.clone())
values, scale = quantised(best[1])
restored = values * scale
show("int8 256", measure(restored))
show("int8 128", measure(restored, 128))
show("int8 64", measure(restored, 64))
np.save(os.path.join(out, "table.npy"), values.to(torch.int8).cpu().numpy())
np.save(os.path.join(out, "scale.npy"), scale[:, 0].to(torch.float16).cpu().numpy())
json.dump({"options": options, "pairs": count, "vocabulary": len(start), "result": measure(restored)}, open(os.path.join(out, "report.json"), "w"), indent=1)
