"""Contrastive training of the embedding table on token bags, with a teacher; one GPU, a minute.

Usage: train.py DATA_DIR OUT_DIR [key=value …]
`from=40` trains on the training packages and is how options were chosen; `from=20` adds the development packages and is what is shipped.
Held-out packages are measured with `test=1` only.
"""
import json, math, os, sys, time
import numpy as np
import torch
import torch.nn.functional as F

options = {"epochs": 9, "batch": 16384, "rate": 2e-3, "temperature": 0.05, "block": 512, "teach": 0.8, "softness": 0.05, "from": 40, "seed": 1, "test": 0}
data, out, *rest = sys.argv[1:]
for item in rest:
    key, value = item.split("=")
    options[key] = type(options[key])(float(value))
torch.manual_seed(options["seed"])
torch.backends.cuda.matmul.allow_tf32 = True
device = "cuda"
rows = np.load(os.path.join(data, "rows.npz"))
languages = [str(name) for name in rows["languages"]]
on_device = lambda name: torch.tensor(rows[name].astype(np.int64), device=device)
language, group, package, doc_hash, code_hash, answer = map(on_device, ("language", "group", "package", "doc", "code", "answer"))


class Bags:
    """Token bags as flat arrays on the device."""

    def __init__(self, name):
        bags = np.load(os.path.join(data, f"{name}.npz"))
        self.ids = torch.tensor(bags["ids"].astype(np.int32), device=device)
        self.logs = torch.log(torch.tensor(bags["counts"], device=device).float())
        self.named = torch.tensor(bags["flags"] & 1, device=device)
        self.place = torch.tensor(bags["flags"] >> 1, device=device)
        self.lengths = torch.tensor(bags["lengths"].astype(np.int64), device=device)
        self.starts = torch.cumsum(self.lengths, 0) - self.lengths

    def __len__(self):
        return len(self.lengths)

    def take(self, picked):
        lengths = self.lengths[picked]
        offsets = torch.cumsum(lengths, 0) - lengths
        flat = torch.repeat_interleave(self.starts[picked] - offsets, lengths) + torch.arange(int(lengths.sum()), device=device)
        return flat, offsets


docs, codes = Bags("pairs-d"), Bags("pairs-c")
asked, cosqa_docs, cosqa_codes = Bags("asked-d"), Bags("cosqa-d"), Bags("cosqa-c")
table = torch.nn.Parameter(torch.tensor(np.load(os.path.join(data, "init.npy"))[:, :256].astype(np.float32), device=device))
# How much repetition counts in prose and in code, and what the name adds; then the logarithm of what each place in the code counts.
fields = torch.nn.Parameter(torch.tensor([0.7, 0.4, 1.5], device=device))
places = torch.nn.Parameter(torch.zeros(8, device=device))
vocabulary = open(os.path.join(data, "vocabulary.txt")).read().split()
language_words = torch.tensor([vocabulary.index(name) if name in vocabulary else -1 for name in languages], device=device)


def prose(bags, picked, weights):
    flat, offsets = bags.take(picked)
    return F.embedding_bag(bags.ids[flat].long(), weights, offsets, mode="sum", per_sample_weights=1 + fields[0] * bags.logs[flat])


def code(bags, picked, weights):
    flat, offsets = bags.take(picked)
    weight = (1 + fields[1] * bags.logs[flat]) * torch.exp(places[bags.place[flat].long()]) + fields[2] * bags.named[flat]
    return F.embedding_bag(bags.ids[flat].long(), weights, offsets, mode="sum", per_sample_weights=weight)


def ranks(q, c, answer):
    scores = F.normalize(q, dim=1) @ F.normalize(c, dim=1).T
    return ((scores > scores.gather(1, answer[:, None])).sum(1) + 1).float()


def in_steps(vectors):
    """As the index keeps them: four bits a dimension."""
    step = vectors.pow(2).mean(1, keepdim=True).sqrt().clamp_min(1e-9) * 2.5 / 7
    return (vectors / step).round().clamp(-7, 7)


def pools(low, high):
    """Up to 5,000 functions of each language; the documentation of the first thousand is asked for."""
    random = np.random.default_rng(5)
    for number, name in enumerate(languages):
        found = np.nonzero((rows["language"] == number) & (rows["group"] >= low) & (rows["group"] < high))[0]
        if len(found) >= 500:
            yield name, torch.tensor(random.permutation(found)[:5000], device=device)


@torch.no_grad()
def measure(label, weights, low=20, high=40):
    every = lambda bags: torch.arange(len(bags), device=device)
    found = in_steps(code(cosqa_codes, every(cosqa_codes), weights) + 2 * prose(cosqa_docs, every(cosqa_docs), weights))
    r = ranks(prose(asked, every(asked), weights), found, answer)
    result = {"cosqa": ((1 / r).mean().item(), (r <= 10).float().mean().item())}
    for name, picked in pools(low, high):
        r = ranks(prose(docs, picked[:1000], weights), in_steps(code(codes, picked, weights)), torch.arange(min(1000, len(picked)), device=device))
        result[name] = ((1 / r).mean().item(), (r <= 10).float().mean().item())
    mean = np.mean([mrr for name, (mrr, _) in result.items() if name != "cosqa"])
    print(f"{label}: mean {mean:.4f}", " ".join(f"{name} {mrr:.3f}/{recall:.3f}" for name, (mrr, recall) in result.items()), flush=True)
    return result


train = torch.nonzero(group >= options["from"])[:, 0]
teacher_docs, teacher_codes = (torch.load(os.path.join(data, f"teacher-{side}.pt"), map_location=device) for side in "dc")
optimizer = torch.optim.Adam([{"params": [table]}, {"params": [fields, places]}], lr=options["rate"], betas=(0.9, 0.99))
count, batch = len(train), options["batch"]
steps, step, began = options["epochs"] * (count // batch), 0, time.time()
for epoch in range(options["epochs"]):
    # Every batch is made of blocks of one package each: what must be told apart in use lies in the same package.
    grouped = torch.argsort(torch.rand(int(package.max()) + 1, device=device)[package[train]].double() * 1e6 + torch.rand(count, device=device))
    blocks = grouped[:count // options["block"] * options["block"]].view(-1, options["block"])
    order = blocks[torch.randperm(len(blocks), device=device)].reshape(-1)
    for start in range(0, len(order) - batch + 1, batch):
        picked = train[order[start:start + batch]]
        rate = options["rate"] * min(1, (step + 1) / 50) * 0.5 * (1 + math.cos(math.pi * min(1, step / steps)))
        for parameters, factor in zip(optimizer.param_groups, (1, 2)):
            parameters["lr"] = rate * factor
        q, c = prose(docs, picked, table), code(codes, picked, table)
        # People name the language: a quarter of the questions do, too.
        word = language_words[language[picked]]
        named = (torch.rand(len(picked), device=device) < 0.25) & (word >= 0)
        q = q + table[word.clamp_min(0)] * named[:, None]
        # The same documentation or code twice is no mistake.
        same = (doc_hash[picked][:, None] == doc_hash[picked]) | (code_hash[picked][:, None] == code_hash[picked])
        same.fill_diagonal_(False)
        taught = (teacher_docs[picked].float() @ teacher_codes[picked].float().T / options["softness"]).masked_fill(same, -1e4)
        target, loss = torch.arange(len(picked), device=device), 0.0
        for dimensions, share in ((256, 1.0), (128, 0.3), (64, 0.15)):
            logits = F.normalize(q[:, :dimensions], dim=1) @ F.normalize(c[:, :dimensions], dim=1).T / options["temperature"]
            logits = logits.masked_fill(same, -1e4)
            hard = (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2
            soft = sum(F.kl_div(F.log_softmax(ours, 1), F.log_softmax(theirs, 1), log_target=True, reduction="batchmean")
                       for ours, theirs in ((logits, taught), (logits.T, taught.T))) / 2
            loss = loss + share * ((1 - options["teach"]) * hard + options["teach"] * soft)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        step += 1
    measure(f"epoch {epoch} {time.time() - began:.0f}s", table.data)
scale = table.data.abs().amax(1, keepdim=True).clamp_min(1e-9) / 127
values = (table.data / scale).round()
result = measure("int8", values * scale)
if options["test"]:
    result = {"development": result, "held out": measure("held out, int8", values * scale, 0, 20)}
os.makedirs(out, exist_ok=True)
np.save(os.path.join(out, "table.npy"), values.to(torch.int8).cpu().numpy())
np.save(os.path.join(out, "scale.npy"), scale[:, 0].cpu().numpy())
open(os.path.join(out, "vocabulary.txt"), "w").write("\n".join(vocabulary) + "\n")
json.dump({"options": options, "pairs": count, "P": fields.tolist(), "Q": places.exp().tolist(), "result": result}, open(os.path.join(out, "report.json"), "w"), indent=1)
