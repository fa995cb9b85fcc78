#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure a workload's collectives for real, through PyTorch on any backend (nccl, RCCL under that name, gloo).

    torchrun --nproc-per-node 8 measure_collectives.py --workload gpt7b.txt -o measured
    orrery simai analytical -w gpt7b.txt -g 64 -g_p_s 8 -busbw measured.busbw.yaml
    orrery calib fit --bench measured.csv

The workload is SimAI's text, or AICB's table (CSV); without one each collective is measured over a range of sizes
(--begin, --end). Rank 0 writes
    OUT.csv          collective, ranks, size in bytes (the whole buffer, as nccl-tests count), time in us
    OUT.busbw.yaml   bus bandwidth by group and operation, in GB/s of 2^30 bytes, weighted by what the workload sends
    OUT.log.csv      AICB's table with _elapsed_time (ms), algbw and busbw filled in, where the workload is one

A group larger than the job is measured on the ranks there are, and the files say so. What a backend cannot do is left
out, with its reason. A time is the slowest rank's mean over --iters calls behind --warmup of them.
"""
import argparse
import csv
import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

GROUPS = ("TP", "DP", "EP", "DP_EP")
OPS = ("allreduce", "allgather", "reducescatter", "alltoall")
NAMES = {"allreduce": "all-reduce", "allgather": "all-gather", "reducescatter": "reduce-scatter",
         "alltoall": "all-to-all"}
TABLE_OPS = {"all_reduce": "allreduce", "all_gather": "allgather", "all_gather_into_tensor": "allgather",
             "reduce_scatter": "reducescatter", "reduce_scatter_tensor": "reducescatter", "all_to_all": "alltoall"}
TABLE_GROUPS = {"tp_group": "TP", "dp_group": "DP", "ep_group": "EP", "all": "DP"}
ELEMENT = 2  # bytes: bfloat16
GIB = 1 << 30


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--workload", help="SimAI's text or AICB's CSV; without one: every collective over a range of sizes")
    add("-o", "--output", default="measured", help="prefix of the files (default: %(default)s)")
    add("--backend", help="nccl, gloo … (default: nccl where there is a GPU, else gloo)")
    add("--iters", type=int, default=20, help="calls that are timed (default: %(default)s)")
    add("--warmup", type=int, default=5, help="calls before them (default: %(default)s)")
    add("--max-bytes", type=int, help="larger collectives are measured at this size (default: 1 GiB, gloo 64 MiB)")
    add("--begin", type=int, default=1 << 10, help="first size without a workload (default: %(default)s)")
    add("--end", type=int, help="last size without a workload (default: --max-bytes)")
    add("--timeout", type=float, default=300, help="seconds until a collective counts as hung (default: %(default)s)")
    return parser.parse_args()


# ---- what a workload asks for ----


def split_word(word, plain):
    """ALLGATHER_DP_EP is an operation and a group; None for what is none."""
    for op in OPS:
        if word.lower().startswith(op):
            suffix = word[len(op):]
            return (op, {"": plain, "_EP": "EP", "_DP_EP": "DP_EP"}.get(suffix))
    return (None, None)


def read_text(path):
    """Degrees, and how often each (group, operation, bytes) is called."""
    with open(path, encoding="utf-8") as stream:
        head = stream.readline().split()
        rows = [line.split() for line in stream.readlines()[1:] if line.strip()]
    key = {word.rstrip(":"): head[i + 1] for i, word in enumerate(head[:-1]) if word.endswith(":")}
    degree = lambda name: max(1, int(float(key.get(name, 1))))
    degrees = {"TP": degree("model_parallel_NPU_group"), "EP": degree("ep")}
    world = degree("all_gpus")
    degrees["DP"] = max(1, world // degrees["TP"] // degree("pp"))
    degrees["DP_EP"] = max(1, degrees["DP"] // degrees["EP"])
    calls = {}
    for row in rows:
        for column, plain in ((3, "TP"), (6, "TP"), (9, "DP")):
            op, group = split_word(row[column], plain)
            size = int(row[column + 1]) if op else 0
            if op and group and size > 0:
                calls[group, op, size] = calls.get((group, op, size), 0) + 1
    return degrees, calls


def table_call(row):
    """Group, operation and bytes of a row of AICB's table; None for what is no collective."""
    op = TABLE_OPS.get(row["comm_type"].replace("CommType.", ""))
    group = TABLE_GROUPS.get(row["comm_group"].replace("CommGroup.", ""))
    size = 0 if op is None else int(float(row["msg_size"]))
    return (group, op, size) if op and group and size > 0 else None


def read_table(path):
    with open(path, encoding="utf-8", newline="") as stream:
        lines = [line for line in stream if line.strip() and not line.startswith("[")]
    rows = list(csv.DictReader(lines))
    if not rows or "comm_type" not in rows[0]:
        sys.exit(f"{path}: no table of AICB's, which begins with comm_type,comm_group,…")
    degrees, calls = {group: 1 for group in GROUPS}, {}
    for row in rows:
        call = table_call(row)
        if call:
            calls[call] = calls.get(call, 0) + 1
            if row["comm_group_size"].isdigit():
                degrees[call[0]] = max(degrees[call[0]], int(row["comm_group_size"]))
    return degrees, calls, rows


def range_of_sizes(begin, end):
    calls, size = {}, begin
    while size <= end:
        calls.update({("TP", op, size): 1 for op in OPS})
        size *= 2
    return calls


# ---- groups ----


class Job:
    """The ranks, one group of each kind that every rank is in, and a clock."""

    def __init__(self, settings):
        gpu = torch.cuda.is_available()
        self.backend = settings.backend or ("nccl" if gpu else "gloo")
        for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "29511")):
            os.environ.setdefault(name, value)
        self.on_gpu = gpu and self.backend != "gloo"
        local = int(os.environ.get("LOCAL_RANK", "0"))
        self.device = torch.device("cuda", local) if self.on_gpu else torch.device("cpu")
        if self.on_gpu:
            torch.cuda.set_device(self.device)
        dist.init_process_group(self.backend, timeout=timedelta(seconds=settings.timeout))
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.groups = {}

    def lay_out(self, degrees):
        """TP ranks are neighbours, the others lie TP (or TP x EP) apart, as in SimAI; a kind that the job is too small for
        is all of its ranks."""
        tp = min(degrees["TP"], self.world)
        ep = min(degrees["EP"], max(1, self.world // tp))
        wanted = {"TP": (1, tp), "EP": (tp, ep), "DP": (tp, min(degrees["DP"], self.world // tp)),
                  "DP_EP": (tp * ep, min(degrees["DP_EP"], self.world // (tp * ep)))}
        for kind, (stride, count) in wanted.items():
            if degrees[kind] > 1 and count < 2:
                stride, count = 1, self.world
            block = stride * count
            for first in range(0, self.world - self.world % block if block else 0, block or 1):
                for offset in range(stride):
                    ranks = [first + offset + i * stride for i in range(count)]
                    made = dist.new_group(ranks)  # every rank makes every group
                    if self.rank in ranks:
                        self.groups[kind] = (made, count)

    def slowest(self, seconds):
        value = torch.tensor([seconds], dtype=torch.float64 if not self.on_gpu else torch.float32, device=self.device)
        dist.all_reduce(value, op=dist.ReduceOp.MAX)
        return float(value.item())

    def wait(self):
        if self.on_gpu:
            torch.cuda.synchronize(self.device)


# ---- one measurement ----


def make_call(job, kind, op, size):
    """A function that does the collective once, and the bytes it really moves as nccl-tests count them."""
    group, ranks = job.groups[kind]
    each = max(1, size // ELEMENT // ranks)
    whole = torch.zeros(each * ranks, dtype=torch.bfloat16, device=job.device)
    part = torch.zeros(each, dtype=torch.bfloat16, device=job.device)
    calls = {"allreduce": lambda: dist.all_reduce(whole, group=group),
             "allgather": lambda: dist.all_gather_into_tensor(whole, part, group=group),
             "reducescatter": lambda: dist.reduce_scatter_tensor(part, whole, group=group),
             "alltoall": lambda: dist.all_to_all_single(other, whole, group=group)}
    other = torch.zeros_like(whole) if op == "alltoall" else None
    return calls[op], each * ranks * ELEMENT


def measure(job, settings, kind, op, size):
    """Ranks, bytes, seconds; or the reason why not. Every rank comes to the same end."""
    try:
        call, moved = make_call(job, kind, op, size)
        for _ in range(settings.warmup):
            call()
        job.wait()
        failed = ""
    except (RuntimeError, NotImplementedError, ValueError) as error:
        call, moved, failed = None, 0, str(error).splitlines()[0][:120]
    if job.slowest(1.0 if failed else 0.0) > 0:
        return failed or "another rank failed"
    dist.barrier()
    start = time.perf_counter()
    for _ in range(settings.iters):
        call()
    job.wait()
    return (job.groups[kind][1], moved, job.slowest((time.perf_counter() - start) / settings.iters))


def bus_factor(op, ranks):
    return (2 if op == "allreduce" else 1) * (ranks - 1) / ranks


def measure_all(job, settings, calls, most):
    """By (group, operation, bytes): what was measured. A size above `most` is scaled from that of `most`."""
    taken, results = {}, {}
    for kind, op, size in sorted(calls):
        key = (kind, op, min(size, most))
        if key not in taken:
            taken[key] = measure(job, settings, *key) if kind in job.groups else "no such group"
        found = taken[key]
        if not isinstance(found, str) and size > most:
            ranks, moved, seconds = found
            found = (ranks, size, seconds * size / moved)
        results[kind, op, size] = found
    return taken, results


# ---- files ----


def write_points(path, job, taken):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(f"# measured by collect/measure_collectives.py: {job.backend}, {job.world} ranks, "
                     f"PyTorch {torch.__version__}\n")
        for key, found in sorted(taken.items()):
            if isinstance(found, str):
                stream.write(f"# {NAMES[key[1]]} of {key[2]} B in {key[0]}: {found}\n")
        stream.write("collective,ranks,size,time_us\n")
        for (_, op, _), found in sorted(taken.items()):
            if not isinstance(found, str):
                stream.write(f"{NAMES[op]},{found[0]},{found[1]},{found[2] * 1e6:.3f}\n")


def bandwidth(results, calls, kind, op):
    """What the calls of a group and operation moved on the bus in the time they took together; None without any."""
    moved = seconds = 0.0
    for (group, name, size), times in calls.items():
        found = results[group, name, size]
        if (group, name) == (kind, op) and not isinstance(found, str):
            moved += times * found[1] * bus_factor(op, found[0])
            seconds += times * found[2]
    return moved / seconds / GIB if moved > 0 and seconds > 0 else None


def write_bandwidths(path, job, degrees, calls, results):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(f"# GB/s of 2^30 bytes; {job.backend}, {job.world} ranks, PyTorch {torch.__version__}\n")
        for kind in GROUPS:
            ranks = job.groups.get(kind, (None, 1))[1]
            if degrees[kind] != ranks:
                stream.write(f"# {kind}: measured on {ranks} ranks, the workload has {degrees[kind]}\n")
        for kind in GROUPS:
            stream.write(f"{kind}:\n")
            for op in OPS:
                value = bandwidth(results, calls, kind, op)
                stream.write(f"  {op}: {'null' if value is None else format(value, '.4g')}\n")


def write_log(path, rows, results):
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            call = table_call(row)
            found = results.get(call, "") if call else ""
            if not isinstance(found, str):
                ms = found[2] * 1e3
                rate = found[1] / ms / (1 << 20)
                row = {**row, "_elapsed_time": f"{ms:.6g}", "algbw": round(rate, 2),
                       "busbw": round(rate * bus_factor(call[1], found[0]), 2)}
            writer.writerow(row)


def main():
    settings = options()
    job = Job(settings)
    most = settings.max_bytes or (1 << 26 if job.backend == "gloo" else 1 << 30)
    rows = None
    if settings.workload is None:
        degrees = {"TP": job.world, "DP": 1, "EP": 1, "DP_EP": 1}
        calls = range_of_sizes(settings.begin, settings.end or most)
    elif settings.workload.endswith(".csv"):
        degrees, calls, rows = read_table(settings.workload)
    else:
        degrees, calls = read_text(settings.workload)
    job.lay_out(degrees)
    taken, results = measure_all(job, settings, calls, most)
    if job.rank == 0:
        write_points(settings.output + ".csv", job, taken)
        write_bandwidths(settings.output + ".busbw.yaml", job, degrees, calls, results)
        if rows is not None:
            write_log(settings.output + ".log.csv", rows, results)
        done = sum(not isinstance(found, str) for found in taken.values())
        print(f"Measured {done} of {len(taken)} collectives on {job.world} ranks ({job.backend}): {settings.output}.csv, "
              f"{settings.output}.busbw.yaml")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
