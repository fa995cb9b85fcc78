#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Record a Horovod timeline for Orrery: which tensors were reduced, when, and how large they were.

    horovodrun -np 2 python3 record_horovod.py --output-dir recording
    orrery trace convert --from horovod recording/timeline.json -o traces/hvd

Rank 0 writes the timeline. In a program of your own it is enough to set HOROVOD_TIMELINE=timeline.json (and
HOROVOD_TIMELINE_MARK_CYCLES=1) in the environment; here it is started after the warm-up, so that it holds the steps to
keep and nothing else.
"""
import argparse
import os

import horovod.torch as hvd
import torch
import torch.nn as nn
import torch.nn.functional as F


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--batch-size", type=int, default=128, help="samples a rank and step (default: %(default)s)")
    add("--trace-wait", type=int, default=32, help="steps before tracing (default: %(default)s)")
    add("--trace-steps", type=int, default=4, help="steps to trace (default: %(default)s)")
    add("--output-dir", default="recording", help="default: %(default)s")
    return parser.parse_args()


def network():
    """Three convolutions and two linear layers: 17,159,306 parameters."""
    return nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Conv2d(128, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(256 * 8 * 8, 1024), nn.ReLU(), nn.Linear(1024, 10))


def main():
    chosen = options()
    hvd.init()
    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", hvd.local_rank() % torch.cuda.device_count())
        torch.cuda.set_device(device)
    model = network().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    x = torch.randn(chosen.batch_size, 3, 32, 32, device=device)
    y = torch.randint(10, (chosen.batch_size,), device=device)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    for _ in range(chosen.trace_wait):
        step()
    path = os.path.join(chosen.output_dir, "timeline.json")
    if hvd.rank() == 0:
        os.makedirs(chosen.output_dir, exist_ok=True)
        # (1) From here on every tensor's life is written down.
        hvd.start_timeline(path, mark_cycles=True)
    hvd.barrier()
    for _ in range(chosen.trace_steps):
        step()
    if device.type == "cuda":
        torch.cuda.synchronize()
    hvd.barrier()
    if hvd.rank() == 0:
        # (2)
        hvd.stop_timeline()
        print(f"recorded {chosen.trace_steps} steps of {hvd.size()} ranks in {path}; next: orrery trace convert --from "
              f"horovod {path} -o traces/hvd")


if __name__ == "__main__":
    main()
