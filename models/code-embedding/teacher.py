"""all-MiniLM-L6-v2, twice: the vectors that tokens start with, and, tuned on the training pairs, the teacher of the table. One GPU, five minutes.

Usage: teacher.py MINILM_DIR DATA_DIR [seconds=200]
MINILM_DIR holds config.json, tokenizer.json and model.safetensors. Writes DATA_DIR/init.npy, teacher-d.pt and teacher-c.pt.
"""
import json, os, sys, time
import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

source, data, *rest = sys.argv[1:]
options = dict(epochs=2, batch=2048, rate=3e-4, temperature=0.05, code=160, doc=48, seconds=200)
for item in rest:
    key, value = item.split("=")
    options[key] = type(options[key])(float(value))
device = "cuda"
torch.backends.cuda.matmul.allow_tf32 = True
config = BertConfig(**json.load(open(os.path.join(source, "config.json"))))
config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
model = BertModel(config, add_pooling_layer=False)
state = {k.removeprefix("bert."): v.float() for k, v in load_file(os.path.join(source, "model.safetensors")).items()}
missing, _ = model.load_state_dict(state, strict=False)
assert not [k for k in missing if "position_ids" not in k], missing
model.to(device)
tokenizer = Tokenizer.from_file(os.path.join(source, "tokenizer.json"))
tokenizer.no_padding()
tokenizer.no_truncation()
rows = np.load(os.path.join(data, "rows.npz"))


def run(ids, mask):
    with torch.autocast(device, dtype=torch.bfloat16):
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
    return (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True).clamp_min(1)


class Texts:
    """Token sequences as one flat array on the device."""

    def __init__(self, texts, limit):
        encoded = [np.array(e.ids[:limit], np.int32) for s in range(0, len(texts), 50_000) for e in tokenizer.encode_batch(texts[s:s + 50_000])]
        self.ids = torch.tensor(np.concatenate(encoded), device=device)
        self.lengths = torch.tensor([len(e) for e in encoded], device=device)
        self.starts = torch.cumsum(self.lengths, 0) - self.lengths

    def pick(self, rows):
        lengths = self.lengths[rows]
        columns = torch.arange(int(lengths.max()), device=device)
        mask = columns < lengths[:, None]
        return self.ids[(self.starts[rows][:, None] + columns).clamp_max(len(self.ids) - 1)].long() * mask, mask.long()

    def pieces(self, rows):
        """Rows of about the same length together, so that little padding is computed."""
        return torch.argsort(self.lengths[rows]).split(512)

    def vectors(self, rows):
        pieces = self.pieces(rows)
        order = torch.cat(pieces)
        made = torch.cat([run(*self.pick(rows[piece])) for piece in pieces])
        return F.normalize(torch.empty_like(made).index_copy_(0, order, made), dim=1)


vocabulary = open(os.path.join(data, "vocabulary.txt")).read().split()
with torch.no_grad():
    tokens = Texts([token.removeprefix("##") for token in vocabulary], 16)
    every = torch.arange(len(vocabulary), device=device)
    start = tokens.vectors(every)
    start = start - start.mean(0)
    start = F.normalize(start @ torch.linalg.svd(start, full_matrices=False)[2].T, dim=1)
    start *= torch.tensor(rows["rarity"], device=device)[:, None]
    np.save(os.path.join(data, "init.npy"), start.half().cpu().numpy())

texts = json.load(open(os.path.join(data, "rows.json")))
docs, codes = Texts([row[1] for row in texts], options["doc"]), Texts([f"{row[0]} : {row[2]}" for row in texts], options["code"])
train = torch.tensor(np.nonzero(rows["group"] >= 40)[0], device=device)
package = torch.tensor(rows["package"].astype(np.int64), device=device)[train]
said = torch.tensor(rows["doc"].astype(np.int64), device=device)
optimizer = torch.optim.AdamW(model.parameters(), lr=options["rate"], weight_decay=0.01)
batch, count, step, began = options["batch"], len(train), 0, time.time()
steps = options["epochs"] * (count // batch)
while step < steps and time.time() - began < options["seconds"]:
    if step % (count // batch) == 0:
        order = torch.randperm(count, device=device)
        grouped = torch.argsort(torch.rand(int(package.max()) + 1, device=device)[package].double() * 1e6 + torch.rand(count, device=device))
        blocks = grouped[:count // 128 * 128].view(-1, 128)
        near = blocks[torch.randperm(len(blocks), device=device)].reshape(-1)
    at = step % (count // batch) * batch
    picked = train[(near if step % 2 else order)[at:at + batch]]
    done = max(step / steps, (time.time() - began) / options["seconds"])
    for group in optimizer.param_groups:
        group["lr"] = options["rate"] * min(1, (step + 1) / 40) * max(0, 1 - done)
    # The vectors of the whole batch without gradients, then piece by piece with them: a batch need not fit at once.
    with torch.no_grad():
        q, c = docs.vectors(picked), codes.vectors(picked)
    q.requires_grad_()
    c.requires_grad_()
    same = said[picked][:, None] == said[picked]
    logits = (q @ c.T / options["temperature"]).masked_fill(same & ~torch.eye(len(picked), dtype=torch.bool, device=device), -1e4)
    target = torch.arange(len(picked), device=device)
    loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2
    loss.backward()
    for side, gradient in ((docs, q.grad), (codes, c.grad)):
        for piece in side.pieces(picked):
            F.normalize(run(*side.pick(picked[piece])), dim=1).backward(gradient[piece])
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    step += 1
    if step % 100 == 0:
        print(f"step {step}/{steps} loss {loss.item():.3f}", flush=True)
with torch.no_grad():
    every = torch.arange(len(texts), device=device)
    for name, side in (("d", docs), ("c", codes)):
        torch.save(torch.cat([side.vectors(part).half() for part in every.split(8192)]).cpu(), os.path.join(data, f"teacher-{name}.pt"))
