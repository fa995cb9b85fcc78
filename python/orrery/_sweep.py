# SPDX-License-Identifier: Apache-2.0
"""Many runs that differ in a few values, on all processors."""
from __future__ import annotations

import ctypes as c
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _structs
from ._html import table
from ._library import PathLike, call, lib, strings, text_of, word_of, words_of
from ._run import Watch, Watcher
from ._table import Answer, Rows
from ._trace import Workload

RANKED_BY = {"time": 0, "exposed": 1, "comm": 2, "compute": 3}  # enum orr_sweep_rank
SWEEP_JSON = 2  # enum orr_sweep_form


class Sweep(Answer):
    """All points, with what varies in each, its times, and its rank."""

    @property
    def points(self) -> Rows:
        """In their own order; what varies is a column each."""
        keys = self.data["keys"]
        return Rows([{**dict(zip(keys, point["values"])), **{key: said for key, said in point.items() if key != "values"}}
                     for point in self.data["results"]])

    @property
    def best(self) -> Rows:
        """Those that were ranked, the best first."""
        return Rows(sorted((point for point in self.points if point.get("rank")), key=lambda point: int(point["rank"])))

    def df(self) -> Any:
        return self.points.df()

    def _repr_html_(self) -> str:
        return table(self.best)


def sweep(workload: PathLike | Workload, vary: Mapping[str, Sequence[Any]], *, zip: bool = False,
          by: str = "time", store: PathLike | None = None, tag: str | None = None, threads: int = 0,
          progress: Watch | None = None, **parameters: Any) -> Sweep:
    """Runs every combination of the values in `vary` (with `zip`: the first of all, then the second …).

    A key is a parameter of `run`, or a key of a configuration file with the file's name before it:
    "network.bandwidth", "system.endpoint-delay". `store` keeps every run (docs/store.md); without it nothing is kept.

    >>> from orrery import collective
    >>> done = sweep(collective("all-reduce", 1 << 20, ranks=16), {"machine": ["ring", "torus2d"]},
    ...              bandwidth="400Gbps", latency="1us")
    >>> done.best.column("machine")
    ['torus2d', 'ring']
    """
    if by not in RANKED_BY:
        raise ValueError(f"by {by!r} is none of {', '.join(RANKED_BY)}")
    prefix = workload if isinstance(workload, (str, os.PathLike)) else workload.save()
    base = {"workload": prefix, **parameters}
    with tempfile.TemporaryDirectory(prefix="orrery-") as folder:
        kept = os.fspath(store) if store is not None else str(Path(folder) / "sweep.db")
        return _sweep(base, vary, zip, by, kept, tag, threads, Watcher(progress))


def _value(value: Any) -> str:
    """As a sweep's plan spells it: a list is in brackets, a comma in a value needs quotes."""
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(word_of(item) for item in value) + "]"
    said = word_of(value)
    return json.dumps(said) if any(mark in said for mark in ",'\" []{}") else said


def _sweep(base: dict[str, Any], vary: Mapping[str, Sequence[Any]], zipped: bool, by: str, store: str,
           tag: str | None, threads: int, watcher: Watcher) -> Sweep:
    said = [f"{key.replace('_', '-')}={','.join(_value(value) for value in values)}" for key, values in vary.items()]
    planned = _structs.SweepPlanOptions(vary=strings(said), vary_count=len(said), zip=zipped)
    plan, swept = c.c_void_p(), c.c_void_p()
    runs: list[c.c_void_p] = []
    words: list[Any] = []  # borrowed by the runs
    call(lib.orr_sweep_plan_open, c.byref(planned), c.byref(plan))
    try:
        points = lib.orr_sweep_plan_point_count(plan)
        jobs = (_structs.SweepJob * max(points, 1))()
        for point in range(points):
            runs.append(c.c_void_p(lib.orr_run_options_new()))
            words.append(words_of({**base, **_point(plan, point, list(vary), base)}))
            for name, value in words[-1]:
                call(lib.orr_run_set, runs[-1], name, value)
            call(lib.orr_run_settle, runs[-1])
            jobs[point].run = runs[-1]
        watch = _structs.SWEEP_PROGRESS(watcher)
        options = _structs.SweepOptions(
            plan=plan, jobs=jobs, base=json.dumps({key: word_of(value) for key, value in base.items()}).encode(),
            store=store.encode(), tag=tag.encode() if tag is not None else None, threads=threads, progress=watch)
        watcher.call(lib.orr_sweep_run, c.byref(options), None, c.byref(swept))
        told = text_of(lambda stream: call(lib.orr_sweep_write, swept, SWEEP_JSON, RANKED_BY[by], c.c_uint64(0), None,
                                           stream))
    finally:
        lib.orr_sweep_close(swept)
        for run in runs:
            lib.orr_run_options_delete(run)
        lib.orr_sweep_plan_close(plan)
    return Sweep(json.loads(told))


def _point(plan: c.c_void_p, point: int, keys: list[str], base: dict[str, Any]) -> dict[str, Any]:
    """What a point sets: parameters, and keys of files, which go before the ones that all points have."""
    made: dict[str, Any] = {}
    sets = dict(base.get("set") or {})
    for index, key in enumerate(keys):
        value = lib.orr_sweep_plan_value(plan, c.c_uint64(point), c.c_size_t(index)).decode()
        if "." in key:
            sets[key] = value
        else:
            made[key] = value[1:-1] if value.startswith("[") else value
    return {**made, "set": sets} if sets else made
