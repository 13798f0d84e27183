"""A very small BERT trained on (documentation, code) pairs, exported to ONNX: what the tests of the ONNX embedder load.

Usage: train.py DATA_DIR OUT_DIR      (DATA_DIR as `code-embedding/prepare.py` writes it)
Writes OUT_DIR/model.onnx, tokenizer.json and samples.json: texts with the tokens and vectors that onnxruntime gives for them.
"""
import collections, json, sys, time
import numpy as np, torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing
from transformers import BertConfig, BertModel
data, out = sys.argv[1:]
dev = 'cuda'; torch.manual_seed(1)
h = np.load(f'{data}/rows.npz')['group']
rows = [r for r, x in zip(json.load(open(f'{data}/rows.json')), h) if x >= 40][::5]
counts = collections.Counter(w for r in rows[::4] for w in (r[1] + ' ' + r[2]).split())
chars = [chr(c) for c in range(33, 127) if not chr(c).isupper()]
vocab = ['[PAD]', '[UNK]', '[CLS]', '[SEP]'] + chars + ['##' + c for c in 'abcdefghijklmnopqrstuvwxyz0123456789'] + [w for w, _ in counts.most_common(3000) if w.isascii() and len(w) > 1][:1400]
ids = {t: i for i, t in enumerate(vocab)}
tok = Tokenizer(WordPiece(ids, unk_token='[UNK]')); tok.normalizer = BertNormalizer(); tok.pre_tokenizer = BertPreTokenizer()
tok.post_processor = BertProcessing(('[SEP]', ids['[SEP]']), ('[CLS]', ids['[CLS]']))
config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, max_position_embeddings=128, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
config._attn_implementation = 'eager'
model = BertModel(config, add_pooling_layer=False).to(dev)


def run(i, m):
    x = model(input_ids=i, attention_mask=m, token_type_ids=torch.zeros_like(i)).last_hidden_state
    m = m[:, :, None].float()
    return F.normalize((x * m).sum(1) / m.sum(1), dim=1)


def flat(texts, n):
    enc = tok.encode_batch(texts)
    i = torch.zeros(len(enc), n, dtype=torch.int16)
    for k, e in enumerate(enc): x = e.ids[:n]; i[k, :len(x)] = torch.tensor(x, dtype=torch.int16)
    return i.to(dev)


D, C = flat([r[1] for r in rows], 40), flat([r[0] + ' ' + r[2] for r in rows], 96)
opt = torch.optim.AdamW(model.parameters(), lr=2e-3); t0 = time.time(); step = 0
while time.time() - t0 < 45:
    pick = torch.randint(0, len(rows), (2048,), device=dev)
    d, c = D[pick].long(), C[pick].long()
    for g in opt.param_groups: g['lr'] = 2e-3 * min(1, (step + 1) / 50) * max(0.02, 1 - (time.time() - t0) / 45)
    with torch.autocast(dev, dtype=torch.bfloat16): q, k = run(d, (d > 0).long()), run(c, (c > 0).long())
    logits = q.float() @ k.float().T / 0.05
    t = torch.arange(len(pick), device=dev); loss = F.cross_entropy(logits, t)
    opt.zero_grad(); loss.backward(); opt.step(); step += 1
print('tiny', step, 'steps, loss', loss.item(), 'accuracy', (logits.argmax(1) == t).float().mean().item(), flush=True)
model.eval().cpu()


class Wrapped(torch.nn.Module):
    def __init__(self): super().__init__(); self.model = model
    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).last_hidden_state


x = torch.ones(2, 9, dtype=torch.long)
torch.onnx.export(Wrapped(), (x, x, x * 0), f'{out}/model.onnx', input_names=['input_ids', 'attention_mask', 'token_type_ids'], output_names=['last_hidden_state'],
                  dynamic_axes={n: {0: 'batch', 1: 'sequence'} for n in ('input_ids', 'attention_mask', 'token_type_ids', 'last_hidden_state')}, opset_version=17, dynamo=False)
tok.save(f'{out}/tokenizer.json')
import onnxruntime
session = onnxruntime.InferenceSession(f'{out}/model.onnx', providers=['CPUExecutionProvider'])
samples = []
for text in ['read a file line by line', 'Öffnet die Datei: parseHTTPRequest(url)!', 'def close(self):\n    self.socket.close()', 'close the connection', '日本 x', '']:
    i = np.array([tok.encode(text).ids], np.int64)
    o = session.run(None, {'input_ids': i, 'attention_mask': np.ones_like(i), 'token_type_ids': np.zeros_like(i)})[0][0].mean(0)
    samples.append({'text': text, 'ids': i[0].tolist(), 'vector': [round(float(v), 5) for v in o / np.linalg.norm(o)]})
json.dump(samples, open(f'{out}/samples.json', 'w'), ensure_ascii=False, separators=(',', ':'))
