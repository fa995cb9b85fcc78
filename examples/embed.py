#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Orrery from Python, with nothing but ctypes: a job on a machine that is named, results as rows, a report as a text.

    ORRERY_LIBRARY=/usr/lib/liborrery.so.0 python3 embed.py
"""
import ctypes as c
import ctypes.util
import os
import sys

orrery = c.CDLL(os.environ.get("ORRERY_LIBRARY") or ctypes.util.find_library("orrery") or "liborrery.so.0")


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("text", c.c_char * 1024)]


class Job(c.Structure):  # struct orr_gen_options
    _fields_ = [("pattern", c.c_int), ("type", c.c_char_p), ("bytes", c.c_uint64), ("compute_us", c.c_uint64),
                ("npus", c.c_uint32), ("prefix", c.c_char_p)]


class Rank(c.Structure):  # struct orr_rank_result
    _fields_ = [("rank", c.c_uint32), ("nodes_done", c.c_uint32), ("device", c.c_char_p), ("finished", c.c_bool)] + [
        (name, c.c_uint64) for name in ("finish_ns", "exposed_ns", "compute_ns", "exposed_comm_ns", "exposed_other_ns",
                                        "idle_ns", "busy_comm_ns", "busy_gpu_ns", "sum_gpu_ns")]


class Wait(c.Structure):  # struct orr_wait
    _fields_ = [("rank", c.c_uint32), ("node", c.c_uint64), ("what", c.c_char_p), ("peer", c.c_uint32),
                ("bytes", c.c_uint64), ("since_ns", c.c_uint64), ("text", c.c_char_p)]


WRITE = c.CFUNCTYPE(c.c_bool, c.c_void_p, c.POINTER(c.c_char), c.c_size_t)
TEXT, JSON = 0, 2  # enum orr_output
STALLED = 7  # ORR_ESTALL

orrery.orr_run_options_new.restype = c.c_void_p
orrery.orr_run_time_ns.restype = c.c_uint64


class Failure(Exception):
    """What the library says; `status` is its enum orr_status."""

    def __init__(self, err):
        super().__init__(err.text.decode())
        self.status = err.status


def call(function, *arguments):
    err = Error()
    if function(*arguments, c.byref(err)) != 0:
        raise Failure(err)


class Run:
    """A run, executed. Parameters have the names that the options of `orrery run` have."""

    def __init__(self, **parameters):
        self.run = c.c_void_p()
        options = c.c_void_p(orrery.orr_run_options_new())
        words = [(name.replace("_", "-").encode(), str(value).encode()) for name, value in parameters.items()]
        try:
            for name, value in words:  # the values are borrowed until the run is open
                call(orrery.orr_run_set, options, name, value)
            call(orrery.orr_run_open, options, c.byref(self.run))
        finally:
            orrery.orr_run_options_delete(options)
        try:
            call(orrery.orr_run_execute, self.run)
        except Failure as failure:
            if failure.status != STALLED:  # a run that stalls says who waits for whom
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        orrery.orr_run_close(self.run)

    def rows(self, kind, getter):
        index, row = 0, kind()
        while getter(self.run, c.c_uint32(index), c.byref(row)):
            yield row
            index, row = index + 1, kind()

    def report(self, output):
        pieces = []

        @WRITE
        def take(_context, piece, size):
            pieces.append(c.string_at(piece, size))
            return True

        stream = c.c_void_p()
        call(orrery.orr_stream_to, take, None, c.byref(stream))
        try:
            call(orrery.orr_run_write, self.run, output, None, stream)
        finally:
            call(orrery.orr_stream_close, stream)
        return b"".join(pieces).decode()


for name in ("orr_run_rank", "orr_run_wait"):
    getattr(orrery, name).restype = c.c_bool


def main():
    prefix = sys.argv[1] if len(sys.argv) > 1 else "embedded"
    job = Job(pattern=0, type=b"all-reduce", bytes=64 << 20, npus=16, prefix=prefix.encode())
    call(orrery.orr_gen, c.byref(job))
    with Run(workload=prefix, machine="dgx-h100:2", backend="flow", seed=1) as run:
        ranks = list(run.rows(Rank, orrery.orr_run_rank))
        print(f"{len(ranks)} ranks, {orrery.orr_run_time_ns(run.run)} ns")
        print(f"{max(rank.exposed_comm_ns for rank in ranks)} ns of communication are exposed")
        for wait in run.rows(Wait, orrery.orr_run_wait):
            print(f"rank {wait.rank} waits for rank {wait.peer} since {wait.since_ns} ns")
        print(run.report(TEXT))


if __name__ == "__main__":
    main()
