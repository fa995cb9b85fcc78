#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure whole training steps of well-known models on one GPU, through PyTorch (CUDA or ROCm).

    python3 collect/bench_steps.py -o steps.csv                       the built-in list, some ten minutes
    python3 collect/bench_steps.py -o steps.csv --only gpt2-124M,resnet50
    python3 collect/bench_steps.py -o steps.csv --configs mine.csv    rows with name, kind, config, compile, recompute, optimizer

Random data and weights; parameters, gradients and optimizer states in bfloat16, fused optimizers, PyTorch's own attention,
cross entropy on float32 logits, images in channels-last, experts as batched products of equal capacity, recompute of whole
blocks. A row of the output: name, kind, config (JSON), dtype, compile, recompute, optimizer, the median times in ms of
forward, backward, optimizer and step, the parameters, and the most bytes that the allocator held.
"""
import argparse
import csv
import gc
import json
import math
import os
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

COLUMNS = ("name", "kind", "config", "dtype", "compile", "recompute", "optimizer", "fwd_ms", "bwd_ms", "opt_ms", "step_ms",
           "params", "peak_bytes")
LANGUAGE = ("layers", "hidden", "ffn", "heads", "kv_heads", "vocab", "seq", "mbs", "experts", "topk")


# ---- language models ----


def rotate(x, cos, sin):
    low, high = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-high, low), dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, shape, bias, causal, rotary):
        super().__init__()
        hidden, self.heads = shape["hidden"], shape["heads"]
        self.shared, self.size = shape.get("kv_heads") or self.heads, shape["hidden"] // shape["heads"]
        widths = [self.heads * self.size, self.shared * self.size, self.shared * self.size]
        # rotated queries and keys are new tensors: were they parts of one, the values' part would hold all of it
        self.into = nn.ModuleList(nn.Linear(hidden, width, bias=bias) for width in (widths if rotary else [sum(widths)]))
        self.widths = widths
        self.out = nn.Linear(hidden, hidden, bias=bias)
        self.causal, self.rotary = causal, rotary

    def forward(self, x, turn):
        batch, seq, _ = x.shape
        parts = [linear(x) for linear in self.into] if self.rotary else self.into[0](x).split(self.widths, dim=-1)
        q, k, v = (part.view(batch, seq, -1, self.size) for part in parts)
        if self.rotary:
            q, k = rotate(q, *turn), rotate(k, *turn)
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=self.shared != self.heads)
        return self.out(y.transpose(1, 2).reshape(batch, seq, -1))


class Mlp(nn.Module):
    def __init__(self, hidden, ffn):
        super().__init__()
        self.up, self.down = nn.Linear(hidden, ffn), nn.Linear(ffn, hidden)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Gated(nn.Module):
    def __init__(self, hidden, ffn):
        super().__init__()
        self.gate, self.up = nn.Linear(hidden, ffn, bias=False), nn.Linear(hidden, ffn, bias=False)
        self.down = nn.Linear(ffn, hidden, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """Each expert takes the same number of tokens, so that a step does not depend on the data."""

    def __init__(self, hidden, ffn, experts, topk):
        super().__init__()
        self.router = nn.Linear(hidden, experts, bias=False)
        self.experts, self.topk = experts, topk
        make = lambda a, b: nn.Parameter(torch.randn(experts, a, b) * 0.02)
        self.gate, self.up, self.down = make(hidden, ffn), make(hidden, ffn), make(ffn, hidden)

    def forward(self, x):
        shape = x.shape
        x = x.view(-1, shape[-1])
        weight, chosen = torch.softmax(self.router(x).float(), -1).topk(self.topk, dim=-1)
        order = chosen.flatten().argsort(stable=True)
        token = order // self.topk
        sent = x[token].view(self.experts, -1, shape[-1])
        back = torch.bmm(F.silu(torch.bmm(sent, self.gate)) * torch.bmm(sent, self.up), self.down)
        back = back.view(-1, shape[-1]) * weight.flatten()[order].unsqueeze(-1).to(x.dtype)
        return torch.zeros_like(x).index_add_(0, token, back).view(shape)


class Block(nn.Module):
    def __init__(self, shape, kind):
        super().__init__()
        hidden = shape["hidden"]
        plain = kind in ("gpt", "bert", "vit")
        norm = (lambda: nn.LayerNorm(hidden)) if plain else (lambda: nn.RMSNorm(hidden))
        self.first, self.second, self.after = norm(), norm(), kind == "bert"
        self.attention = Attention(shape, plain, kind not in ("bert", "vit"), not plain)
        if shape.get("experts"):
            self.mlp = Experts(hidden, shape["ffn"], shape["experts"], shape["topk"])
        else:
            self.mlp = Mlp(hidden, shape["ffn"]) if plain else Gated(hidden, shape["ffn"])

    def forward(self, x, cos, sin):
        if self.after:
            x = self.first(x + self.attention(x, (cos, sin)))
            return self.second(x + self.mlp(x))
        x = x + self.attention(self.first(x), (cos, sin))
        return x + self.mlp(self.second(x))


class Language(nn.Module):
    def __init__(self, shape, kind, recompute):
        super().__init__()
        hidden, self.recompute = shape["hidden"], recompute
        self.token = nn.Embedding(shape["vocab"], hidden)
        self.place = nn.Embedding(shape["seq"], hidden) if kind in ("gpt", "bert") else None
        self.blocks = nn.ModuleList(Block(shape, kind) for _ in range(shape["layers"]))
        self.last = nn.LayerNorm(hidden) if kind in ("gpt", "bert") else nn.RMSNorm(hidden)
        self.head = nn.Linear(hidden, shape["vocab"], bias=False)
        if kind in ("gpt", "bert"):
            self.cos = self.sin = None
            return
        size = hidden // shape["heads"]
        angle = torch.outer(torch.arange(shape["seq"]), 1e4 ** (-torch.arange(0, size, 2) / size))
        angle = torch.cat((angle, angle), dim=-1).unsqueeze(1)
        self.cos, self.sin = nn.Buffer(angle.cos(), persistent=False), nn.Buffer(angle.sin(), persistent=False)

    def forward(self, tokens, target):
        x = self.token(tokens)
        if self.place is not None:
            x = x + self.place(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            if self.recompute:
                x = checkpoint(block, x, self.cos, self.sin, use_reentrant=False)
            else:
                x = block(x, self.cos, self.sin)
        logits = self.head(self.last(x)).float()
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), target.view(-1))


# ---- images ----


class Vision(nn.Module):
    """ViT: patches, a class token, learned positions."""

    def __init__(self, shape, recompute):
        super().__init__()
        hidden, patch = shape["hidden"], shape["patch"]
        self.recompute = recompute
        self.patch = nn.Conv2d(3, hidden, patch, patch)
        self.kind = nn.Parameter(torch.zeros(1, 1, hidden))
        self.place = nn.Parameter(torch.zeros(1, (shape["image"] // patch) ** 2 + 1, hidden))
        self.blocks = nn.ModuleList(Block(shape, "vit") for _ in range(shape["layers"]))
        self.last, self.head = nn.LayerNorm(hidden), nn.Linear(hidden, 1000)

    def forward(self, x, target):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.kind.expand(x.shape[0], -1, -1), x), dim=1) + self.place
        for block in self.blocks:
            x = checkpoint(block, x, None, None, use_reentrant=False) if self.recompute else block(x, None, None)
        return F.cross_entropy(self.head(self.last(x)[:, 0]).float(), target)


class Residual(nn.Module):
    def __init__(self, into, width, stride, wide):
        super().__init__()
        out = width * (4 if wide else 1)
        sizes = [(into, width, 1, 1), (width, width, 3, stride), (width, out, 1, 1)] if wide else \
            [(into, width, 3, stride), (width, width, 3, 1)]
        self.convs = nn.ModuleList(nn.Conv2d(a, b, k, s, k // 2, bias=False) for a, b, k, s in sizes)
        self.norms = nn.ModuleList(nn.BatchNorm2d(b) for _, b, _, _ in sizes)
        same = into == out and stride == 1
        self.short = None if same else nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = x
        for i, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            y = norm(conv(y))
            if i + 1 < len(self.convs):
                y = F.relu(y, inplace=True)
        return F.relu(y + (x if self.short is None else self.short(x)), inplace=True)


class Resnet(nn.Module):
    def __init__(self, shape):
        super().__init__()
        wide = shape["net"] not in ("resnet18", "resnet34")
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
                                  nn.MaxPool2d(3, 2, 1))
        blocks, into = [], 64
        for stage, count in enumerate(shape["layers"]):
            width = 64 << stage
            for i in range(count):
                blocks.append(Residual(into, width, 2 if stage and not i else 1, wide))
                into = width * (4 if wide else 1)
        self.body, self.head = nn.Sequential(*blocks), nn.Linear(into, 1000)

    def forward(self, x, target):
        x = self.body(self.stem(x)).mean((2, 3))
        return F.cross_entropy(self.head(x).float(), target)


class Vgg(nn.Module):
    def __init__(self, shape):
        super().__init__()
        parts, into = [], 3
        for stage, count in enumerate(shape["layers"]):
            for _ in range(count):
                parts += [nn.Conv2d(into, min(64 << stage, 512), 3, 1, 1), nn.ReLU(inplace=True)]
                into = min(64 << stage, 512)
            parts.append(nn.MaxPool2d(2, 2))
        self.body, side = nn.Sequential(*parts), shape["image"] // 32
        self.head = nn.Sequential(nn.Linear(into * side * side, 4096), nn.ReLU(inplace=True), nn.Linear(4096, 4096),
                                  nn.ReLU(inplace=True), nn.Linear(4096, 1000))

    def forward(self, x, target):
        return F.cross_entropy(self.head(self.body(x).flatten(1)).float(), target)


def model_and_data(kind, shape, recompute):
    mbs = shape["mbs"]
    if kind in ("cnn", "vit"):
        with torch.device("cuda"):
            model = Vision(shape, recompute) if kind == "vit" else (Vgg if shape["net"] == "vgg16" else Resnet)(shape)
        image = torch.randn(mbs, 3, shape["image"], shape["image"], device="cuda", dtype=torch.bfloat16)
        data = image.to(memory_format=torch.channels_last), torch.randint(0, 1000, (mbs,), device="cuda")
    else:
        with torch.device("cuda"):
            model = Language(shape, kind, recompute)
        data = tuple(torch.randint(0, shape["vocab"], (mbs, shape["seq"]), device="cuda") for _ in range(2))
    model = model.to(device="cuda", dtype=torch.bfloat16)
    return (model.to(memory_format=torch.channels_last) if kind == "cnn" else model), data


# ---- measuring ----


def timed_step(model, data, optimizer):
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(4)]
    marks[0].record()
    loss = model(*data)
    marks[1].record()
    loss.backward()
    marks[2].record()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    marks[3].record()
    return marks


def measure(row, steps):
    shape = json.loads(row["config"])
    model, data = model_and_data(row["kind"], shape, int(row["recompute"]))
    torch.cuda.reset_peak_memory_stats()
    row["params"] = sum(weight.numel() for weight in model.parameters())
    weights = list(model.parameters())
    optimizer = torch.optim.AdamW(weights, lr=1e-5, fused=True) if row["optimizer"] == "adamw" else \
        torch.optim.SGD(weights, lr=1e-3, momentum=0.9, fused=True)
    if int(row["compile"]):
        model = torch.compile(model)
    for _ in range(5):
        timed_step(model, data, optimizer)
    torch.cuda.synchronize()
    all_marks = []
    for _ in range(steps):
        all_marks.append(timed_step(model, data, optimizer))
        torch.cuda.synchronize()
    spans = lambda a, b: statistics.median(marks[a].elapsed_time(marks[b]) for marks in all_marks)
    row.update(fwd_ms=f"{spans(0, 1):.3f}", bwd_ms=f"{spans(1, 2):.3f}", opt_ms=f"{spans(2, 3):.3f}",
               step_ms=f"{spans(0, 3):.3f}", peak_bytes=torch.cuda.max_memory_allocated())


def language(name, kind, *values, **more):
    return {"name": name, "kind": kind, "config": json.dumps(dict(zip(LANGUAGE, values + (0, 0)[len(values) - 8:]))), **more}


def built_in():
    rows = []
    for name, layers, hidden, heads, mbs in (("gpt2-124M", 12, 768, 12, 8), ("gpt2-124M-b32", 12, 768, 12, 32),
                                             ("gpt2-774M", 36, 1280, 20, 8), ("gpt2-1.5B", 48, 1600, 25, 4)):
        rows.append(language(name, "gpt", layers, hidden, 4 * hidden, heads, heads, 50304, 1024, mbs))
    rows += [
        language("gpt2-124M-compiled", "gpt", 12, 768, 3072, 12, 12, 50304, 1024, 16, compile=1),
        language("gpt3-2.7B-8L", "gpt", 8, 2560, 10240, 32, 32, 50304, 2048, 4),
        language("llama-160M", "llama", 12, 768, 2048, 12, 12, 32000, 2048, 8),
        language("llama3.2-1B", "llama", 16, 2048, 8192, 32, 8, 128256, 4096, 1),
        language("llama3.2-1B-compiled", "llama", 16, 2048, 8192, 32, 8, 128256, 4096, 2, compile=1),
        language("llama3-8B-4L", "llama", 4, 4096, 14336, 32, 8, 128256, 8192, 1),
        language("llama3-8B-4L-32k", "llama", 4, 4096, 14336, 32, 8, 128256, 32768, 1, recompute=1),
        language("llama2-13B-4L", "llama", 4, 5120, 13824, 40, 40, 32000, 4096, 2),
        language("llama2-13B-4L-sgd", "llama", 4, 5120, 13824, 40, 40, 32000, 4096, 2, optimizer="sgd"),
        language("llama2-7B-8L-rc", "llama", 8, 4096, 11008, 32, 32, 32000, 4096, 4, recompute=1),
        language("llama-70B-2L", "llama", 2, 8192, 28672, 64, 8, 32000, 4096, 1),
        language("moe-8x160M-top2", "moe", 12, 768, 2048, 12, 12, 32000, 2048, 8, 8, 2),
        language("moe-16x1B-top1", "moe", 6, 2048, 5632, 16, 16, 32000, 4096, 1, 16, 1),
        language("moe-64-fine", "moe", 4, 2048, 1408, 16, 16, 102400, 4096, 2, 64, 8),
        language("bert-base", "bert", 12, 768, 3072, 12, 12, 30522, 512, 32),
        language("bert-large", "bert", 24, 1024, 4096, 16, 16, 30522, 512, 16),
        language("bert-large-compiled", "bert", 24, 1024, 4096, 16, 16, 30522, 512, 16, compile=1),
    ]
    for name, layers, hidden, heads, mbs in (("vit-s16", 12, 384, 6, 64), ("vit-l16", 24, 1024, 16, 64)):
        shape = {"layers": layers, "hidden": hidden, "ffn": 4 * hidden, "heads": heads, "image": 224, "patch": 16, "mbs": mbs}
        rows.append({"name": name, "kind": "vit", "config": json.dumps(shape)})
    for net, layers, mbs, compiled in (("resnet18", [2, 2, 2, 2], 256, 0), ("resnet50", [3, 4, 6, 3], 32, 0),
                                       ("resnet50", [3, 4, 6, 3], 256, 0), ("resnet152", [3, 8, 36, 3], 64, 0),
                                       ("resnet50", [3, 4, 6, 3], 128, 1)):
        shape = {"net": net, "layers": layers, "image": 224, "mbs": mbs}
        rows.append({"name": f"{net}-b{mbs}" + "-compiled" * compiled, "kind": "cnn", "config": json.dumps(shape),
                     "optimizer": "sgd", "compile": compiled})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("-o", "--output", default="steps.csv", help="the table to write (default: %(default)s)")
    add("--configs", help="a CSV table of the steps to measure")
    add("--only", help="names, separated by commas (default: all)")
    add("--steps", type=int, default=10, help="timed steps behind five others (default: %(default)s)")
    add("--seconds", type=float, default=math.inf, help="start no further model after so long")
    given = parser.parse_args()
    rows = list(csv.DictReader(open(given.configs, encoding="utf-8", newline=""))) if given.configs else built_in()
    if given.only:
        wanted = given.only.split(",")
        unknown = [name for name in wanted if name not in {row["name"] for row in rows}]
        if unknown:
            sys.exit(f"no step '{unknown[0]}'; there are {', '.join(row['name'] for row in rows)}")
        rows = [row for row in rows if row["name"] in wanted]
    if not torch.cuda.is_available():
        sys.exit("no GPU that PyTorch can use")
    start = time.time()
    with open(given.output + ".part", "w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        for row in rows:
            if time.time() - start > given.seconds:
                print(f"stopped before {row['name']}", file=sys.stderr)
                break
            for key, value in (("compile", 0), ("recompute", 0), ("optimizer", "adamw"), ("dtype", "bf16")):
                row[key] = row.get(key) or value
            try:
                measure(row, given.steps)
            except RuntimeError as error:
                print(f"{row['name']}: left out: {str(error).splitlines()[0]}", file=sys.stderr)
            else:
                table.writerow(row)
                stream.flush()
                print(f"{row['name']}: {row['step_ms']} ms, {time.time() - start:.0f} s", file=sys.stderr)
            gc.collect()
            torch.compiler.reset()
            torch.cuda.empty_cache()
    os.replace(given.output + ".part", given.output)


if __name__ == "__main__":
    main()
