#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Record a PyTorch training step for Orrery: what the host did, what the device did, how long a step takes.

    torchrun --nproc-per-node 2 record_pytorch.py --model resnet50 --output-dir recording
    orrery trace import recording -o traces/resnet50

Each rank R writes into the output folder, with a suffix _TAG where --tag is given:
    host_R.json         execution trace (torch.profiler.ExecutionTraceObserver)
    device_R.json       Kineto trace (torch.profiler)
    training_R.json     times of the steps that were not traced and their median, parameters, world size
    gpu_metrics_R.json  core clock while training (AMD: sysfs, amd-smi or rocm-smi; NVIDIA: nvidia-smi)

Needs PyTorch 2.1 or later, CUDA or ROCm; without a device it records the host alone. Models are built here with random
weights and trained on random data: times do not depend on the values, and nothing is downloaded. --dataset sets the
shape of a sample and the number of classes, no more:
    mnist 1x28x28, 10 classes             cifar10 3x32x32, 10          cifar100 3x32x32, 100
    tiny-imagenet 3x64x64, 200            imagenet 3x224x224, 1000     tokens --seq-len tokens of the vocabulary
To record a program of your own, copy the four marked places (1) to (4) into it.
"""
import argparse
import contextlib
import gzip
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from datetime import timedelta
from typing import Callable, NamedTuple

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile, record_function, schedule

PICKED = {}  # what `orrery trace recipe` was asked for: defaults of this copy
LARGE_MB = 200  # of traces a rank: more takes minutes to write and to read


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--model", choices=sorted(MODELS), default="cifar10", help="what to train (default: %(default)s)")
    add("--dataset", choices=sorted(DATASETS),
        help="shape of the random data (default: cifar10, or tokens for a language model)")
    add("--epochs", type=int, default=3, help="default: %(default)s")
    add("--steps-per-epoch", type=int, default=64, help="default: %(default)s, or more where tracing needs it")
    add("--batch-size", type=int, default=128, help="samples a rank and step (default: %(default)s)")
    add("--seq-len", type=int, default=256, help="tokens a sample, language models (default: %(default)s)")
    add("--workers", type=int, default=0, help="threads that prepare batches (default: %(default)s)")
    add("--omp-threads", type=int, default=2, help="host threads of an operator (default: %(default)s)")
    add("--profile-epoch", type=int, default=2, help="the epoch to trace, from 1 (default: %(default)s)")
    add("--trace-wait", type=int, default=32, help="steps of that epoch before tracing (default: %(default)s)")
    add("--trace-steps", type=int, default=4, help="steps to trace (default: %(default)s)")
    add("--trace-shapes", action="store_true", help="keep tensor shapes in the device trace")
    add("--trace-stack", action="store_true", help="keep Python stacks (large files)")
    add("--trace-mem", action="store_true", help="keep allocations")
    add("--no-sync-events", action="store_true", help="do not ask the profiler for synchronisation events")
    add("--inject-sync-hack", action="store_true",
        help="ROCm: one event record, stream wait and synchronise a step, so that the trace holds some")
    add("--disable-gpu-monitoring", action="store_true", help="do not log the core clock")
    add("--gpu-sample-interval", type=float, default=0.01, help="seconds between samples (default: %(default)s)")
    add("--debug-epoch-print", action="store_true", help="print each epoch's time and loss")
    add("--no-cleanup", action="store_true", help="keep older recordings in the output folder")
    add("--backend", choices=["auto", "nccl", "gloo", "mpi"], default="auto",
        help="default: nccl (RCCL on AMD) where every rank has a device of its own, else gloo")
    add("--output-dir", default="recording", help="default: %(default)s")
    add("--tag", default="", help="suffix of the file names, such as the model's name")
    add("--gzip", action="store_true", help="compress the traces")
    add("--seed", type=int, default=1, help="default: %(default)s")
    parser.set_defaults(**PICKED)
    chosen = parser.parse_args()
    for name in ("epochs", "batch_size", "seq_len", "trace_steps", "profile_epoch", "steps_per_epoch"):
        if getattr(chosen, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1")
    if chosen.trace_wait < 0:
        parser.error("--trace-wait must not be negative")
    if chosen.profile_epoch > chosen.epochs:
        parser.error(f"--profile-epoch {chosen.profile_epoch} lies after the last of {chosen.epochs} epochs")
    language = MODELS[chosen.model].language
    if chosen.dataset is None:
        chosen.dataset = "tokens" if language else "cifar10"
    if language != (chosen.dataset == "tokens"):
        fitting = sorted(name for name in DATASETS if language == (name == "tokens"))
        parser.error(f"--dataset {chosen.dataset} does not fit --model {chosen.model}: it takes {', '.join(fitting)}")
    if chosen.model == "bert" and chosen.seq_len > Bert.POSITIONS:
        parser.error(f"--seq-len {chosen.seq_len}: BERT has {Bert.POSITIONS} positions")
    if not re.fullmatch(r"[A-Za-z0-9.-]*", chosen.tag):
        parser.error("--tag: letters, digits, '.' and '-' only, since it becomes part of file names")
    return chosen


# ---- models -------------------------------------------------------------------------------------------------------


class Picture(NamedTuple):
    channels: int
    side: int
    classes: int


DATASETS = {
    "mnist": Picture(1, 28, 10),
    "cifar10": Picture(3, 32, 10),
    "cifar100": Picture(3, 32, 100),
    "tiny-imagenet": Picture(3, 64, 200),
    "imagenet": Picture(3, 224, 1000),
    "tokens": None,
}


class Cifar10(nn.Module):
    """Three convolutions and two linear layers: 17,159,306 parameters for 3x32x32 pictures, most of them in the first
    linear layer, so that one gradient bucket is much larger than the others."""

    def __init__(self, picture):
        super().__init__()
        self.conv1 = nn.Conv2d(picture.channels, 64, 3, padding=1)
        self.conv2, self.conv3 = nn.Conv2d(64, 128, 3, padding=1), nn.Conv2d(128, 256, 3, padding=1)
        self.fc1 = nn.Linear(256 * (picture.side // 4) ** 2, 1024)
        self.fc2 = nn.Linear(1024, picture.classes)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.max_pool2d(F.relu(self.conv3(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def shortcut(inner, outer, stride):
    if stride == 1 and inner == outer:
        return nn.Sequential()
    return nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))


class Basic(nn.Module):
    """The block of ResNet-18 and ResNet-34."""

    WIDER = 1

    def __init__(self, inner, planes, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inner, planes, 3, stride, 1, bias=False), nn.BatchNorm2d(planes)
        self.conv2, self.bn2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False), nn.BatchNorm2d(planes)
        self.shortcut = shortcut(inner, planes, stride)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class Bottleneck(nn.Module):
    """The block of ResNet-50 and the deeper ones."""

    WIDER = 4

    def __init__(self, inner, planes, stride):
        super().__init__()
        outer = planes * self.WIDER
        self.conv1, self.bn1 = nn.Conv2d(inner, planes, 1, bias=False), nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3, self.bn3 = nn.Conv2d(planes, outer, 1, bias=False), nn.BatchNorm2d(outer)
        self.shortcut = shortcut(inner, outer, stride)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        return F.relu(self.bn3(self.conv3(y)) + self.shortcut(x))


class ResNet(nn.Module):
    """For pictures wider than 64 as published: 7x7 first convolution and a max pool; for smaller ones a 3x3 convolution
    and no pool, as is usual for CIFAR. Parameters of ResNet-18: 11,689,512 (imagenet), 11,173,962 (cifar10); of
    ResNet-50: 25,557,032 and 23,520,842."""

    def __init__(self, picture, block, counts):
        super().__init__()
        if picture.side > 64:
            self.stem = nn.Sequential(nn.Conv2d(picture.channels, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64),
                                      nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        else:
            self.stem = nn.Sequential(nn.Conv2d(picture.channels, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64),
                                      nn.ReLU())
        blocks, inner = [], 64
        for planes, count, stride in zip((64, 128, 256, 512), counts, (1, 2, 2, 2)):
            for i in range(count):
                blocks.append(block(inner, planes, stride if i == 0 else 1))
                inner = planes * block.WIDER
        self.blocks, self.fc = nn.Sequential(*blocks), nn.Linear(inner, picture.classes)

    def forward(self, x):
        return self.fc(self.blocks(self.stem(x)).mean((2, 3)))


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6).to(x.dtype) * self.weight


class Block(nn.Module):
    """One decoder layer with grouped queries and a gated feed-forward part."""

    def __init__(self, hidden, heads, kv_heads, inner, qkv_bias):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, hidden // heads
        self.q = nn.Linear(hidden, heads * self.size, bias=qkv_bias)
        self.k = nn.Linear(hidden, kv_heads * self.size, bias=qkv_bias)
        self.v = nn.Linear(hidden, kv_heads * self.size, bias=qkv_bias)
        self.o = nn.Linear(heads * self.size, hidden, bias=False)
        self.gate, self.up = nn.Linear(hidden, inner, bias=False), nn.Linear(hidden, inner, bias=False)
        self.down = nn.Linear(inner, hidden, bias=False)
        self.norm1, self.norm2 = Norm(hidden), Norm(hidden)

    def split(self, x, heads):
        return x.view(x.shape[0], x.shape[1], heads, self.size).transpose(1, 2)

    def forward(self, x, cos, sin):
        def turn(y):
            half = self.size // 2
            return y * cos + torch.cat((-y[..., half:], y[..., :half]), -1) * sin

        y = self.norm1(x)
        q, k = turn(self.split(self.q(y), self.heads)), turn(self.split(self.k(y), self.kv_heads))
        v, repeat = self.split(self.v(y), self.kv_heads), self.heads // self.kv_heads
        k, v = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """A decoder-only language model with tied embedding, of a published model's shape."""

    def __init__(self, vocabulary, hidden, layers, heads, kv_heads, inner, qkv_bias):
        super().__init__()
        self.vocabulary, self.size = vocabulary, hidden // heads
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.layers = nn.ModuleList(Block(hidden, heads, kv_heads, inner, qkv_bias) for _ in range(layers))
        self.norm = Norm(hidden)

    def forward(self, tokens):
        x = self.embedding(tokens)
        rates = 1e6 ** (-torch.arange(0, self.size, 2, device=x.device) / self.size)
        angles = torch.arange(tokens.shape[1], device=x.device)[:, None] * rates
        angles = torch.cat((angles, angles), -1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return F.linear(self.norm(x), self.embedding.weight)


class Encoder(nn.Module):
    """One layer of BERT: attention in both directions, normalised after each part."""

    def __init__(self, hidden, heads, inner, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.q, self.k, self.v = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.o, self.norm1 = nn.Linear(hidden, hidden), nn.LayerNorm(hidden)
        self.up, self.down, self.norm2 = nn.Linear(hidden, inner), nn.Linear(inner, hidden), nn.LayerNorm(hidden)

    def forward(self, x):
        q, k, v = (part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0)
        y = F.dropout(self.o(y.transpose(1, 2).flatten(2)), self.dropout, self.training)
        x = self.norm1(x + y)
        y = F.dropout(self.down(F.gelu(self.up(x))), self.dropout, self.training)
        return self.norm2(x + y)


class Bert(nn.Module):
    """BERT base with its masked-language head, tied to the embedding: 109,514,298 parameters."""

    POSITIONS, MASK, MASKED_SHARE = 512, 103, 0.15

    def __init__(self, vocabulary=30522, hidden=768, layers=12, heads=12, inner=3072, dropout=0.1):
        super().__init__()
        self.vocabulary, self.dropout = vocabulary, dropout
        self.embedding, self.position = nn.Embedding(vocabulary, hidden), nn.Embedding(self.POSITIONS, hidden)
        self.segment, self.norm = nn.Embedding(2, hidden), nn.LayerNorm(hidden)
        self.layers = nn.Sequential(*(Encoder(hidden, heads, inner, dropout) for _ in range(layers)))
        self.transform, self.norm2 = nn.Linear(hidden, hidden), nn.LayerNorm(hidden)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.embedding(tokens) + self.position(places) + self.segment(torch.zeros_like(tokens))
        x = self.layers(F.dropout(self.norm(x), self.dropout, self.training))
        return F.linear(self.norm2(F.gelu(self.transform(x))), self.embedding.weight, self.bias)


class Model(NamedTuple):
    step_kb: int  # traces a rank and step, as recorded without shapes and stacks
    language: bool
    make: Callable  # of a Picture, or of nothing


MODELS = {
    "cifar10": Model(660, False, Cifar10),
    "resnet18": Model(3200, False, lambda picture: ResNet(picture, Basic, (2, 2, 2, 2))),
    "resnet50": Model(7600, False, lambda picture: ResNet(picture, Bottleneck, (3, 4, 6, 3))),
    "bert": Model(10200, True, Bert),
    "qwen05b": Model(28000, True, lambda: Decoder(151936, 896, 24, 14, 2, 4864, True)),
    "llama1b": Model(19000, True, lambda: Decoder(128256, 2048, 16, 32, 8, 8192, False)),
}


def make_model(chosen):
    model, picture = MODELS[chosen.model], DATASETS[chosen.dataset]
    return model.make() if model.language else model.make(picture)


def random_batch(chosen, model, generator):
    """Inputs and what is to be learnt of them: classes of pictures, next tokens, or masked tokens (-100: none)."""
    picture, several = DATASETS[chosen.dataset], chosen.batch_size
    if picture is not None:
        return (torch.randn(several, picture.channels, picture.side, picture.side, generator=generator),
                torch.randint(picture.classes, (several,), generator=generator))
    tokens = torch.randint(model.vocabulary, (several, chosen.seq_len + 1), generator=generator)
    if isinstance(model, Decoder):
        return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    tokens = tokens[:, 1:].contiguous()
    masked = torch.rand(tokens.shape, generator=generator) < model.MASKED_SHARE
    return tokens.masked_fill(masked, model.MASK), tokens.masked_fill(~masked, -100)


def batches(chosen, model, device):
    """Endless random batches, the same for every run with one seed and rank; the first is reused, so that preparing
    data costs what copying it costs."""
    x, y = random_batch(chosen, model, torch.Generator().manual_seed(chosen.seed))
    data = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(data, chosen.batch_size, num_workers=chosen.workers,
                                         pin_memory=device.type == "cuda")
    while True:
        for x, y in loader:
            yield x.to(device, non_blocking=True), y.to(device, non_blocking=True)


# ---- the core clock -----------------------------------------------------------------------------------------------


def clock_from_sysfs(index):
    """MHz of an AMD device's core clock: the line marked '*' in pp_dpm_sclk."""
    root = "/sys/class/drm"
    cards = sorted((name for name in os.listdir(root) if re.fullmatch(r"card\d+", name)), key=lambda n: int(n[4:])) \
        if os.path.isdir(root) else []
    files = [path for path in (f"{root}/{card}/device/pp_dpm_sclk" for card in cards) if os.path.exists(path)]
    if index >= len(files):
        return None
    with open(files[index], encoding="ascii", errors="replace") as file:
        match = re.search(r"(\d+)\s*Mhz\s*\*", file.read(), re.I)
    return float(match.group(1)) if match else None


def clock_from_command(index):
    """MHz from the vendor's tool, or None."""
    tools = (
        (["nvidia-smi", f"--id={index}", "--query-gpu=clocks.sm", "--format=csv,noheader,nounits"], r"^\s*(\d+)"),
        (["amd-smi", "metric", "-g", str(index), "-c"], r"GFX_0:\s*CLK:\s*(\d+)\s*MHz"),
        (["rocm-smi", "-d", str(index), "--showclocks"], r"sclk clock level:[^(]*\((\d+)Mhz\)"),
    )
    for command, pattern in tools:
        if shutil.which(command[0]) is None:
            continue
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            text = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout
            match = re.search(pattern, text, re.I | re.S)
            if match:
                return float(match.group(1))
    return None


class ClockLog(threading.Thread):
    """Samples one device's core clock until stopped."""

    def __init__(self, index, interval):
        super().__init__(daemon=True)
        self.index, self.interval, self.samples, self.over = index, interval, [], threading.Event()
        self.read = clock_from_sysfs if clock_from_sysfs(index) is not None else clock_from_command

    def run(self):
        while not self.over.is_set():
            value = self.read(self.index)
            if value is None:
                return
            if value > 0:
                self.samples.append(value)
            self.over.wait(self.interval)

    def stop(self, rank):
        self.over.set()
        self.join(10)
        if not self.samples:
            return None
        return {"rank": rank, "device_id": self.index, "sclk_avg_mhz": statistics.fmean(self.samples),
                "sclk_median_mhz": statistics.median(self.samples), "sclk_max_mhz": max(self.samples),
                "samples_count": len(self.samples)}


# ---- recording ----------------------------------------------------------------------------------------------------


def place(chosen, kind, rank):
    suffix = f"_{chosen.tag}" if chosen.tag else ""
    return os.path.join(chosen.output_dir, f"{kind}_{rank}{suffix}.json")


def clean(chosen, rank):
    for kind in ("host", "device", "training", "gpu_metrics"):
        for path in (place(chosen, kind, rank), place(chosen, kind, rank) + ".gz"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)


def put_json(path, value):
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.write("\n")
    os.replace(path + ".part", path)


def pack(path):
    with open(path, "rb") as plain, gzip.open(path + ".gz", "wb", 6) as packed:
        shutil.copyfileobj(plain, packed)
    os.remove(path)


def sync_hack(streams, last):
    """The pattern the linker looks for: record on the main stream, wait on another, work there, and once block."""
    with record_function("manual_sync_event_hack"):
        event = torch.cuda.Event()
        event.record(torch.cuda.current_stream())
        streams["side"].wait_event(event)
        with torch.cuda.stream(streams["side"]):
            streams["word"].add_(1)
    if last:
        with record_function("manual_blocking_sync"):
            torch.cuda.synchronize()


def profiler(chosen, device):
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device.type == "cuda" else [])
    more = {}
    if not chosen.no_sync_events:
        with contextlib.suppress(ImportError, TypeError):
            from torch._C._profiler import _ExperimentalConfig
            more["experimental_config"] = _ExperimentalConfig(enable_cuda_sync_events=True)
    # (1) One cycle: wait, no warm-up (it would record nothing), then the steps to keep.
    plan = schedule(wait=chosen.trace_wait, warmup=0, active=chosen.trace_steps, repeat=1)
    return profile(activities=activities, schedule=plan, record_shapes=chosen.trace_shapes,
                   with_stack=chosen.trace_stack, profile_memory=chosen.trace_mem, **more)


def check_device_trace(path, device):
    """What a linker will miss, said while the program can still be run again."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    missing = [] if "ProfilerStep#" in text else ["ProfilerStep marks"]
    if device.type == "cuda":
        missing += [] if re.search(r'"(cuda|hip)EventRecord', text) else ["event records (see --inject-sync-hack)"]
        missing += [] if re.search(r'"(cuda|hip)StreamWaitEvent', text) else ["stream waits (see --inject-sync-hack)"]
        missing += [] if '"cat": "kernel"' in text else ["device kernels"]
    return missing


def train(chosen, rank, world, device, backend):
    torch.manual_seed(chosen.seed)
    model = make_model(chosen).to(device)
    params = sum(p.numel() for p in model.parameters() if p.requires_grad)
    wrapped = model
    if world > 1 or backend == "nccl":
        wrapped = nn.parallel.DistributedDataParallel(model, device_ids=[device] if device.type == "cuda" else None)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.01, momentum=0.9)
    data = batches(chosen, model, device)
    streams = {}
    if chosen.inject_sync_hack and device.type == "cuda":
        streams = {"side": torch.cuda.Stream(), "word": torch.zeros(1, device=device)}

    def step(last):
        x, y = next(data)
        loss = F.cross_entropy(wrapped(x).flatten(0, -2).float(), y.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if streams:
            sync_hack(streams, last)
        return loss

    def wait_for_device():
        if device.type == "cuda":
            torch.cuda.synchronize()

    times, host_path, device_path = [], place(chosen, "host", rank), place(chosen, "device", rank)
    for epoch in range(1, chosen.epochs + 1):
        traced = epoch == chosen.profile_epoch
        steps = max(chosen.steps_per_epoch, chosen.trace_wait + chosen.trace_steps) if traced else chosen.steps_per_epoch
        began = time.perf_counter()
        with contextlib.ExitStack() as stack:
            observer = prof = None
            if traced:
                # (2) The host trace covers the same steps as the device trace.
                observer = ExecutionTraceObserver().register_callback(host_path)
                stack.callback(observer.unregister_callback)
                prof = stack.enter_context(profiler(chosen, device))
            for i in range(steps):
                if traced and i == chosen.trace_wait:
                    wait_for_device()
                    observer.start()
                wait_for_device()
                start = time.perf_counter()
                loss = step(traced and i == chosen.trace_wait + chosen.trace_steps - 1)
                wait_for_device()
                if epoch > 1 and not traced:
                    times.append(1e3 * (time.perf_counter() - start))
                if traced:
                    if i == chosen.trace_wait + chosen.trace_steps - 1:
                        observer.stop()
                    # (3) Ends ProfilerStep#i and begins the next.
                    prof.step()
        if traced:
            # (4) The device trace, once the profiler has ended.
            prof.export_chrome_trace(device_path)
        if chosen.debug_epoch_print and rank == 0:
            print(f"epoch {epoch}: {time.perf_counter() - began:.2f} s, loss {loss.item():.4f}", flush=True)
    return params, times


def backend_for(chosen, device, world):
    if chosen.backend != "auto":
        return chosen.backend
    local = int(os.environ.get("LOCAL_WORLD_SIZE", world))
    return "nccl" if device.type == "cuda" and torch.cuda.device_count() >= local else "gloo"


def main():
    chosen = options()
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    local = int(os.environ.get("LOCAL_RANK", 0))
    torch.set_num_threads(chosen.omp_threads)
    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", local % torch.cuda.device_count())
        torch.cuda.set_device(device)
    os.makedirs(chosen.output_dir, exist_ok=True)
    if not chosen.no_cleanup:
        clean(chosen, rank)
    predicted_mb = MODELS[chosen.model].step_kb * chosen.trace_steps / 1000
    if rank == 0 and predicted_mb > LARGE_MB:
        print(f"--trace-steps {chosen.trace_steps}: about {predicted_mb:.0f} MB of traces a rank; 2 to 4 steps tell as "
              "much, and --gzip packs them", file=sys.stderr)
    backend = backend_for(chosen, device, world)
    os.environ.setdefault("MASTER_ADDR", "localhost")
    os.environ.setdefault("MASTER_PORT", "29531")
    dist.init_process_group(backend, rank=rank, world_size=world, timeout=timedelta(minutes=5))
    clock = None
    if device.type == "cuda" and not chosen.disable_gpu_monitoring:
        clock = ClockLog(device.index, chosen.gpu_sample_interval)
        clock.start()
    params, times = train(chosen, rank, world, device, backend)
    if times:
        put_json(place(chosen, "training", rank), {
            "model": chosen.model, "dataset": chosen.dataset, "backend": backend, "world": world, "rank": rank,
            "step_ms_median": statistics.median(times), "step_times_ms": [round(time, 4) for time in times],
            "params": params, "steps": len(times)})
    elif rank == 0:
        print("no untraced step after the first epoch: training_*.json is not written (more --epochs)", file=sys.stderr)
    metrics = clock.stop(rank) if clock else None
    if metrics:
        put_json(place(chosen, "gpu_metrics", rank), metrics)
    missing = check_device_trace(place(chosen, "device", rank), device)
    if missing:
        print(f"rank {rank}: the device trace has no {', no '.join(missing)}", file=sys.stderr)
    if chosen.gzip:
        pack(place(chosen, "host", rank))
        pack(place(chosen, "device", rank))
    dist.barrier()
    dist.destroy_process_group()
    if rank == 0:
        print(f"{world} rank{'s' if world > 1 else ''} of {chosen.model} on {chosen.dataset} ({params:,} parameters, "
              f"{backend}) recorded in {chosen.output_dir}; next: orrery trace import {chosen.output_dir} "
              f"-o traces/{chosen.model}")


if __name__ == "__main__":
    main()
