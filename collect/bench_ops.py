#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure the operators of training steps on one GPU, through PyTorch (CUDA or ROCm), for `orrery op import`.

    python3 collect/bench_ops.py -o h200.csv                     every operator, a few thousand shapes, some minutes
    python3 collect/bench_ops.py -o h200.csv --only gemm,conv2d-forward --dtype bf16 --seconds 120
    python3 collect/bench_ops.py -o h200.csv --shapes wanted.csv    the rows of a table (op, dtype, shape columns)
    orrery op import h200.csv

A row of the output is one operator on one shape: op, device, dtype, the shape's columns (those that do not belong to the
operator stay empty), and three times in microseconds, each the median of --iters:
    us         events around one call, the GPU idle before it: what a lone call takes, the host's share included
    kernel_us  calls behind one another on a busy GPU: what the kernels take, and the gaps between them
    host_us    what the host needs to issue one call
Times are of warm calls on the same tensors. What does not fit into memory or is not supported is left out and counted.
The shapes are taken in an order that mixes sizes, so that a run cut short by --seconds has seen all kinds.
"""
import argparse
import csv
import itertools
import os
import random
import statistics
import sys
import time

import torch
import torch.nn.functional as F

SHAPE = ("batch", "m", "n", "k", "seq", "kv_seq", "heads", "kv_heads", "head_dim", "v_head_dim", "causal", "channels",
         "filters", "height", "width", "kernel", "stride", "groups")
COLUMNS = ("op", "device", "dtype", "layout") + SHAPE + ("us", "kernel_us", "host_us")
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32, "tf32": torch.float32,
          "fp8": torch.float8_e4m3fn}
DEVICE = "cuda"


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("-o", "--output", default="ops.csv", help="the table to write (default: %(default)s)")
    add("--only", help="operators, separated by commas (default: all; --list names them)")
    add("--dtype", help="data types, separated by commas (default: those each operator is listed with)")
    add("--shapes", help="a CSV table with the rows to measure instead of the built-in ones")
    add("--device-name", help="the name to write into the table (default: what the driver says)")
    add("--iters", type=int, default=20, help="timed calls of a shape (default: %(default)s)")
    add("--seconds", type=float, default=600, help="stop after so long (default: %(default)s)")
    add("--skip", type=int, default=0, help="go on behind so many shapes of an earlier run")
    add("--seed", type=int, default=1, help="order of the shapes (default: %(default)s)")
    add("--list", action="store_true", help="name the operators and how many shapes each has, and stop")
    return parser.parse_args()


# ---- the operators: a function of (row, dtype) that makes the tensors and returns the call ----

MAKERS = {}


def operator(name):
    def keep(make):
        MAKERS[name] = make
        return make
    return keep


def tensor(*shape, dtype, grad=False):
    kind = torch.bfloat16 if dtype == torch.float8_e4m3fn else dtype
    made = torch.randn(*shape, device=DEVICE, dtype=kind)
    if dtype == torch.float8_e4m3fn:
        made = made.to(dtype)
    return made.requires_grad_(grad)


def backward_of(output, inputs):
    """The call that takes the gradients of one forward pass, again and again."""
    gradient = torch.randn_like(output)
    return lambda: torch.autograd.grad(output, inputs, gradient, retain_graph=True)


@operator("gemm")
def gemm(row, dtype):
    m, n, k = row["m"], row["n"], row["k"]
    if dtype == torch.float8_e4m3fn:
        a, b = tensor(m, k, dtype=dtype), tensor(n, k, dtype=dtype).t()
        one = torch.ones((), device=DEVICE)
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    layout = row.get("layout") or "nn"  # nt: a linear layer forwards; nn: its input's gradient; tn: its weight's
    a = tensor(k, m, dtype=dtype).t() if layout[0] == "t" else tensor(m, k, dtype=dtype)
    b = tensor(n, k, dtype=dtype).t() if layout[1] == "t" else tensor(k, n, dtype=dtype)
    return lambda: torch.matmul(a, b)


@operator("batched-gemm")
def batched_gemm(row, dtype):
    a = tensor(row["batch"], row["m"], row["k"], dtype=dtype)
    b = tensor(row["batch"], row["k"], row["n"], dtype=dtype)
    return lambda: torch.bmm(a, b)


@operator("grouped-gemm")
def grouped_gemm(row, dtype):
    groups, m = row["batch"], row["m"]  # m rows for each group
    a = tensor(groups * m, row["k"], dtype=dtype)
    b = tensor(groups, row["n"], row["k"], dtype=dtype).transpose(-2, -1)
    ends = torch.arange(m, groups * m + 1, m, device=DEVICE, dtype=torch.int32)
    return lambda: torch._grouped_mm(a, b, offs=ends)


def attention(row, dtype, grad):
    batch, heads, seq, size = row["batch"], row["heads"], row["seq"], row["head_dim"]
    shared, keys, values = row.get("kv_heads") or heads, row.get("kv_seq") or seq, row.get("v_head_dim") or size
    q = tensor(batch, heads, seq, size, dtype=dtype, grad=grad)
    k = tensor(batch, shared, keys, size, dtype=dtype, grad=grad)
    v = tensor(batch, shared, keys, values, dtype=dtype, grad=grad)
    causal = bool(row.get("causal", 1))
    call = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=shared != heads)
    return call, (q, k, v)


@operator("attention-forward")
def attention_forward(row, dtype):
    return attention(row, dtype, False)[0]


@operator("attention-backward")
def attention_backward(row, dtype):
    call, inputs = attention(row, dtype, True)
    return backward_of(call(), inputs)


def row_operator(name, forward, parameters=()):
    """An operator over the rows of an m by n matrix, forwards and backwards; `parameters` are vectors of n."""
    def inputs(row, dtype, grad):
        x = tensor(row["m"], row["n"], dtype=dtype, grad=grad)
        return [x] + [tensor(row["n"], dtype=dtype, grad=grad) for _ in parameters]

    def forwards(row, dtype):
        x = inputs(row, dtype, False)
        return lambda: forward(*x)

    def backwards(row, dtype):
        x = inputs(row, dtype, True)
        return backward_of(forward(*x), x)

    MAKERS[name + "-forward"] = forwards
    MAKERS[name + "-backward"] = backwards


def swiglu(x):
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


row_operator("layernorm", lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b), ("weight", "bias"))
row_operator("rmsnorm", lambda x, w: F.rms_norm(x, x.shape[-1:], w), ("weight",))
row_operator("gelu", F.gelu)
row_operator("silu", F.silu)
row_operator("relu", F.relu)
row_operator("swiglu", swiglu)
row_operator("softmax", lambda x: torch.softmax(x, -1))
row_operator("dropout", lambda x: F.dropout(x, 0.1))


@operator("add")
def add_two(row, dtype):
    a, b = tensor(row["m"], row["n"], dtype=dtype), tensor(row["m"], row["n"], dtype=dtype)
    return lambda: a + b


@operator("mul")
def multiply_two(row, dtype):
    a, b = tensor(row["m"], row["n"], dtype=dtype), tensor(row["m"], row["n"], dtype=dtype)
    return lambda: a * b


@operator("bias-add")
def bias_add(row, dtype):
    a, b = tensor(row["m"], row["n"], dtype=dtype), tensor(row["n"], dtype=dtype)
    return lambda: a + b


@operator("sum-rows")
def sum_rows(row, dtype):
    """A bias's gradient: the sum over the rows."""
    a = tensor(row["m"], row["n"], dtype=dtype)
    return lambda: a.sum(0)


@operator("cast-fp32")
def cast_up(row, dtype):
    a = tensor(row["m"], row["n"], dtype=dtype)
    return lambda: a.float()


@operator("transpose")
def transpose(row, dtype):
    a = tensor(row["m"], row["n"], dtype=dtype)
    return lambda: a.t().contiguous()


@operator("rope")
def rope(row, dtype):
    """Rotary positions as plain PyTorch writes them: two products, a rotation, a sum."""
    batch, heads, seq, size = row["batch"], row["heads"], row["seq"], row["head_dim"]
    x, cos, sin = tensor(batch, heads, seq, size, dtype=dtype), tensor(seq, size, dtype=dtype), tensor(seq, size, dtype=dtype)

    def call():
        low, high = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-high, low), dim=-1) * sin
    return call


def cross_entropy(row, dtype, grad):
    logits = tensor(row["m"], row["n"], dtype=dtype, grad=grad)
    target = torch.randint(0, row["n"], (row["m"],), device=DEVICE)
    return (lambda: F.cross_entropy(logits.float(), target)), logits


@operator("cross-entropy-forward")
def cross_entropy_forward(row, dtype):
    return cross_entropy(row, dtype, False)[0]


@operator("cross-entropy-backward")
def cross_entropy_backward(row, dtype):
    call, logits = cross_entropy(row, dtype, True)
    return backward_of(call(), (logits,))


def embedding(row, dtype, grad):
    table = tensor(row["n"], row["k"], dtype=dtype, grad=grad)
    token = torch.randint(0, row["n"], (row["m"],), device=DEVICE)
    return (lambda: F.embedding(token, table)), table


@operator("embedding-forward")
def embedding_forward(row, dtype):
    return embedding(row, dtype, False)[0]


@operator("embedding-backward")
def embedding_backward(row, dtype):
    call, table = embedding(row, dtype, True)
    return backward_of(call(), (table,))


def convolution(row, dtype, grad):
    groups, size = row.get("groups") or 1, row["kernel"]
    x = tensor(row["batch"], row["channels"], row["height"], row["width"], dtype=dtype)
    x = x.to(memory_format=torch.channels_last).requires_grad_(grad)
    w = tensor(row["filters"], row["channels"] // groups, size, size, dtype=dtype)
    w = w.to(memory_format=torch.channels_last).requires_grad_(grad)
    return (lambda: F.conv2d(x, w, stride=row["stride"], padding=size // 2, groups=groups)), (x, w)


@operator("conv2d-forward")
def conv2d_forward(row, dtype):
    return convolution(row, dtype, False)[0]


@operator("conv2d-backward")
def conv2d_backward(row, dtype):
    call, inputs = convolution(row, dtype, True)
    return backward_of(call(), inputs)


def image(row, dtype, grad=False):
    x = tensor(row["batch"], row["channels"], row["height"], row["width"], dtype=dtype)
    return x.to(memory_format=torch.channels_last).requires_grad_(grad)


def batchnorm(row, dtype, grad):
    x, channels = image(row, dtype, grad), row["channels"]
    w, b = tensor(channels, dtype=dtype, grad=grad), tensor(channels, dtype=dtype, grad=grad)
    mean, var = torch.zeros(channels, device=DEVICE, dtype=dtype), torch.ones(channels, device=DEVICE, dtype=dtype)
    return (lambda: F.batch_norm(x, mean, var, w, b, training=True)), (x, w, b)


@operator("batchnorm-forward")
def batchnorm_forward(row, dtype):
    return batchnorm(row, dtype, False)[0]


@operator("batchnorm-backward")
def batchnorm_backward(row, dtype):
    call, inputs = batchnorm(row, dtype, True)
    return backward_of(call(), inputs)


@operator("maxpool-forward")
def maxpool_forward(row, dtype):
    x = image(row, dtype)
    return lambda: F.max_pool2d(x, row["kernel"], row["stride"], row["kernel"] // 2)


@operator("maxpool-backward")
def maxpool_backward(row, dtype):
    x = image(row, dtype, True)
    return backward_of(F.max_pool2d(x, row["kernel"], row["stride"], row["kernel"] // 2), (x,))


def optimizer(row, dtype, make):
    """`batch` tensors of m elements in all, their gradients filled once."""
    count = row.get("batch") or 1
    weights = [tensor(row["m"] // count, dtype=dtype, grad=True) for _ in range(count)]
    for weight in weights:
        weight.grad = torch.zeros_like(weight)
    return make(weights).step


@operator("adamw")
def adamw(row, dtype):
    return optimizer(row, dtype, lambda weights: torch.optim.AdamW(weights, lr=1e-3, fused=True))


@operator("sgd")
def sgd(row, dtype):
    return optimizer(row, dtype, lambda weights: torch.optim.SGD(weights, lr=1e-3, momentum=0.9, fused=True))


@operator("zero")
def zero(row, dtype):
    a = tensor(row["m"], dtype=dtype)
    return a.zero_


@operator("copy-d2d")
def copy_inside(row, dtype):
    a, b = tensor(row["m"], dtype=dtype), tensor(row["m"], dtype=dtype)
    return lambda: b.copy_(a)


@operator("copy-h2d")
def copy_in(row, dtype):
    a, b = torch.randn(row["m"]).to(dtype).pin_memory(), tensor(row["m"], dtype=dtype)
    return lambda: b.copy_(a, non_blocking=True)


@operator("copy-d2h")
def copy_out(row, dtype):
    a, b = torch.randn(row["m"]).to(dtype).pin_memory(), tensor(row["m"], dtype=dtype)
    return lambda: a.copy_(b, non_blocking=True)


# ---- which shapes ----

WIDTHS = (512, 768, 1024, 1536, 2048, 2560, 3072, 4096, 5120, 6144, 7168, 8192, 10240, 11008, 12288, 14336, 16384, 18432,
          20480, 24576, 28672)


def product(op, dtypes, keep=1.0, **axes):
    """All combinations of the axes, or a share of them that does not change from run to run."""
    names = list(axes)
    draw = random.Random(op + " ".join(dtypes) + " ".join(names))
    for values in itertools.product(*axes.values()):
        for dtype in dtypes:
            if draw.random() < keep:
                yield {"op": op, "dtype": dtype, **dict(zip(names, values))}


def built_in():
    rows = []
    put = lambda *args, **axes: rows.extend(product(*args, **axes))
    tokens = (128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
    put("gemm", ("bf16",), 0.55, m=tokens, n=WIDTHS, k=WIDTHS)
    put("gemm", ("bf16",), 0.12, m=tokens, n=WIDTHS, k=WIDTHS, layout=("nt", "tn"))
    put("gemm", ("bf16", "fp8"), 0.3, m=(1, 16, 64, 192, 768, 1536, 3072, 6144, 12288), n=WIDTHS[::3], k=WIDTHS[::3])
    put("gemm", ("bf16",), 1, m=(2048, 4096, 8192, 16384, 32768), n=(32000, 50304, 128256), k=(768, 1024, 2048, 4096, 8192),
        layout=("nt",))
    put("gemm", ("fp8",), 0.45, m=tokens, n=WIDTHS, k=WIDTHS)
    put("gemm", ("fp16", "tf32", "fp32"), 0.04, m=(256, 1024, 4096, 8192), n=WIDTHS, k=WIDTHS)
    put("batched-gemm", ("bf16",), 0.2, batch=(2, 4, 8, 16, 32, 64, 128), m=(64, 128, 256, 512, 1024, 2048, 4096),
        n=(512, 1024, 1536, 2048, 2560, 3072, 4096, 5120, 6144, 7168, 8192, 11008, 14336),
        k=(512, 1024, 1536, 2048, 2560, 3072, 4096, 5120, 6144, 7168, 8192, 11008, 14336))
    put("batched-gemm", ("bf16",), 0.5, batch=(16, 64, 256), m=(128, 512, 1024, 2048), n=(64, 128, 512, 2048),
        k=(64, 128, 512, 2048))
    put("grouped-gemm", ("bf16",), 0.3, batch=(4, 8, 16, 32, 64), m=(64, 256, 1024, 4096), n=(1024, 2048, 4096, 7168, 14336),
        k=(1024, 2048, 4096, 7168, 14336))
    for op in ("attention-forward", "attention-backward"):
        put(op, ("bf16",), 1, batch=(1, 2, 4, 8), heads=(8, 16, 32, 64), seq=(512, 1024, 2048, 4096, 8192, 16384),
            head_dim=(64, 128), causal=(1,))
        put(op, ("bf16",), 0.5, batch=(1, 2, 8), heads=(12, 16, 32), seq=(197, 512, 1024, 2048, 4096), head_dim=(64, 128),
            causal=(0,))
        put(op, ("bf16",), 0.4, batch=(1, 2, 4), heads=(16, 32, 64), kv_heads=(1, 4, 8), seq=(1024, 2048, 4096, 8192, 16384, 32768),
            head_dim=(64, 128), causal=(1,))
        put(op, ("bf16",), 0.4, batch=(1, 4), heads=(12, 16, 25, 40), seq=(1024, 2048, 4096, 8192), head_dim=(64, 80, 96, 128, 256),
            causal=(1,))
        put(op, ("bf16",), 1, batch=(1, 2), heads=(16, 128), seq=(1024, 4096, 8192), head_dim=(192,), v_head_dim=(128,),
            causal=(1,))
    rows_ = (512, 1024, 2048, 4096, 8192, 16384, 32768)
    widths = (768, 1024, 1536, 2048, 3072, 4096, 5120, 6144, 8192, 11008, 12288, 16384)
    for op in ("layernorm", "rmsnorm", "gelu", "silu", "relu", "swiglu", "softmax", "dropout"):
        put(op + "-forward", ("bf16",), 0.9, m=rows_, n=widths)
        put(op + "-backward", ("bf16",), 0.9, m=rows_, n=widths)
    for op in ("add", "mul", "bias-add", "sum-rows", "cast-fp32", "transpose"):
        put(op, ("bf16",), 0.9, m=rows_, n=widths)
    put("add", ("fp32",), 0.5, m=rows_, n=widths)
    put("rope", ("bf16",), 1, batch=(1, 4), heads=(8, 16, 32), seq=(1024, 2048, 4096, 8192), head_dim=(64, 128))
    for op in ("cross-entropy-forward", "cross-entropy-backward"):
        put(op, ("bf16",), 1, m=(512, 1024, 2048, 4096, 8192, 16384), n=(1000, 30522, 32000, 50304, 65536, 128256, 152064))
    for op in ("embedding-forward", "embedding-backward"):
        put(op, ("bf16",), 1, m=(1024, 2048, 4096, 8192, 16384, 32768), n=(32000, 50304, 128256), k=(768, 1024, 2048, 4096, 8192))
    for op in ("conv2d-forward", "conv2d-backward"):
        put(op, ("bf16",), 0.5, batch=(8, 16, 32, 64, 128), channels=(64, 128, 256, 512, 1024), filters=(64, 128, 256, 512, 1024),
            height=(7, 14, 28, 56), kernel=(1, 3), stride=(1, 2))
        put(op, ("bf16",), 1, batch=(8, 32, 64, 128, 256), channels=(3,), filters=(64,), height=(32, 224), kernel=(3, 7), stride=(1, 2))
        put(op, ("bf16",), 1, batch=(8, 64, 128), channels=(3,), filters=(768,), height=(224,), kernel=(16,), stride=(16,))
    for op in ("batchnorm-forward", "batchnorm-backward"):
        put(op, ("bf16",), 0.8, batch=(8, 32, 64, 128), channels=(64, 128, 256, 512, 1024, 2048), height=(7, 14, 28, 56, 112))
    for op in ("maxpool-forward", "maxpool-backward"):
        put(op, ("bf16",), 1, batch=(8, 32, 128), channels=(64,), height=(112, 224), kernel=(3,), stride=(2,))
    for op in ("adamw", "sgd"):
        put(op, ("bf16", "fp32"), 1, m=[2 ** e for e in range(16, 30)], batch=(1,))
        put(op, ("bf16",), 1, m=[2 ** e for e in range(20, 31, 2)], batch=(64, 256))
    for op in ("zero", "copy-d2d", "copy-h2d", "copy-d2h"):
        put(op, ("fp32",), 1, m=[2 ** e for e in range(12, 30)])
    for row in rows:
        if "height" in row:
            row["width"] = row["height"]
    return rows


def read_shapes(path):
    with open(path, encoding="utf-8", newline="") as stream:
        rows = []
        for line, row in enumerate(csv.DictReader(stream), 2):
            if row.get("op") not in MAKERS:
                sys.exit(f"{path}:{line}: operator '{row.get('op')}' is not one of {', '.join(sorted(MAKERS))}")
            shape = {name: int(row[name]) for name in SHAPE if row.get(name)}
            rows.append({"op": row["op"], "dtype": row.get("dtype") or "bf16", "layout": row.get("layout") or "", **shape})
    return rows


# ---- measuring ----


def lone_calls(call, iters):
    times = []
    for _ in range(iters):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def calls_in_a_row(call, iters, host_us):
    """The GPU sleeps until the host has issued all calls, so that nothing waits for the host."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    torch.cuda._sleep(int(2e3 * (host_us * 1.3 * iters + 50)))  # cycles: some 2,000 a microsecond
    begin.record()
    host = time.perf_counter()
    for _ in range(iters):
        call()
    host = time.perf_counter() - host
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / iters, host * 1e6 / iters


def measure(row, iters):
    torch.backends.cuda.matmul.allow_tf32 = row["dtype"] == "tf32"
    call = MAKERS[row["op"]](row, DTYPES[row["dtype"]])
    for _ in range(3):
        call()
    first = lone_calls(call, 3)
    few = max(4, min(iters, int(30e3 / first)))
    us = lone_calls(call, few)
    _, host_us = calls_in_a_row(call, 4, min(us, 150))
    trials = [calls_in_a_row(call, few, host_us) for _ in range(2 if first < 1e3 else 1)]
    return us, min(trial[0] for trial in trials), min(trial[1] for trial in trials)


def main():
    given = options()
    rows = read_shapes(given.shapes) if given.shapes else built_in()
    if given.only:
        wanted = set(given.only.split(","))
        unknown = wanted - set(MAKERS)
        if unknown:
            sys.exit(f"no operator '{min(unknown)}'; there are {', '.join(sorted(MAKERS))}")
        rows = [row for row in rows if row["op"] in wanted]
    if given.dtype:
        rows = [row for row in rows if row["dtype"] in given.dtype.split(",")]
    if given.list:
        for op in sorted(MAKERS):
            print(f"{op:24}{sum(row['op'] == op for row in rows):6}")
        return
    if not torch.cuda.is_available():
        sys.exit("no GPU that PyTorch can use")
    if not given.shapes:
        random.Random(given.seed).shuffle(rows)
    rows = rows[given.skip:]
    name = given.device_name or torch.cuda.get_device_name().lower().replace("nvidia ", "").replace(" ", "-")
    print(f"{len(rows)} shapes on {torch.cuda.get_device_name()}, PyTorch {torch.__version__}", file=sys.stderr)
    start, done, left_out, reasons = time.time(), 0, 0, {}
    with open(given.output + ".part", "w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        for i, row in enumerate(rows):
            if time.time() - start > given.seconds:
                print(f"stopped after {given.seconds:g} s with {len(rows) - i} shapes to go", file=sys.stderr)
                break
            try:
                us, kernel_us, host_us = measure(row, given.iters)
            except (RuntimeError, AttributeError, TypeError, ValueError) as error:
                left_out += 1
                reasons.setdefault((row["op"], row["dtype"], str(error).splitlines()[0][:90]), 0)
                reasons[(row["op"], row["dtype"], str(error).splitlines()[0][:90])] += 1
                torch.cuda.empty_cache()
                continue
            times = {"us": f"{us:.3f}", "kernel_us": f"{kernel_us:.3f}", "host_us": f"{host_us:.3f}"}
            table.writerow({**row, "device": name, **times})
            done += 1
            if done % 500 == 0:
                stream.flush()
                torch.cuda.empty_cache()
                print(f"{i + 1} of {len(rows)} shapes, {time.time() - start:.0f} s", file=sys.stderr)
    os.replace(given.output + ".part", given.output)
    for (op, dtype, reason), count in sorted(reasons.items()):
        print(f"left out: {count} of {op} in {dtype}: {reason}", file=sys.stderr)
    print(f"{done} rows in {given.output}, {left_out} left out, {time.time() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
