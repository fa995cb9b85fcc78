# SPDX-License-Identifier: Apache-2.0
"""A simulation: parameters by name in, rows out. The run stays open as long as its Python object, for its reports."""
from __future__ import annotations

import ctypes as c
import json
import os
import weakref
from collections.abc import Callable
from typing import Any

from . import _structs
from ._errors import Stall
from ._library import PathLike, call, lib, text_of, words_of
from ._table import Answer, Rows
from ._trace import Workload

Watch = Callable[[dict[str, Any]], Any]

KEEP_INTERVALS = 1  # enum orr_keep
OUTPUTS = {"text": 0, "astra": 1, "json": 2, "csv": 3, "timeline": 4, "stall": 8, "comm-intervals": 9}  # enum orr_output
ALL_RANKS = 0xFFFFFFFF


class Watcher:
    """Hands progress on to Python. What is raised there, Control-C too, ends the run and is raised again behind it."""

    def __init__(self, told: Watch | None) -> None:
        self.told = told
        self.raised: BaseException | None = None

    def row(self, now: Any) -> dict[str, Any]:
        """What the library hands over, as a dictionary."""
        return {name: getattr(now.contents, name) for name, _ in now.contents._fields_}

    def __call__(self, _context: Any, *now: Any) -> bool:
        try:
            if self.told is None:
                return True
            return self.told(self.row(*now)) is not False
        except BaseException as error:  # pylint: disable=broad-except
            self.raised = error
            return False

    def call(self, function: Any, *arguments: Any) -> None:
        try:
            call(function, *arguments)
        except Exception:
            if self.raised is not None:
                raise self.raised from None
            raise
        if self.raised is not None:
            raise self.raised


class Run(Answer):
    """A finished simulation. It is the dictionary that `orrery run --json` writes; its tables have `df()`.

    >>> from orrery import collective
    >>> job = collective("all-reduce", 64 << 20, ranks=8)
    >>> done = run(job, machine="dgx-h100", collective_times="model")
    >>> done.time_ns, done.bound["by"], done.collectives[0]["type"]
    (313600, 'communication', 'all-reduce')
    """

    def __init__(self, handle: c.c_void_p, told_intervals: bool) -> None:
        super().__init__(json.loads(_written(handle, "json")))
        self.handle = handle  # struct orr_run *
        self._told_intervals = told_intervals
        self._close = weakref.finalize(self, lib.orr_run_close, handle)

    @property
    def time_ns(self) -> int:
        """When the last rank finished."""
        return int(self.data["time_ns"])

    @property
    def bound(self) -> dict[str, Any]:
        """What bounds the run: `by`, `share_of_step`, `text`."""
        return dict(self.data["bound"] or {})

    @property
    def ranks(self) -> Rows:
        """A row a rank: when it finished, and where its time went."""
        return Rows(self.data["per_rank"])

    @property
    def collectives(self) -> Rows:
        """A row for each kind of communication: how often, how long, its bandwidths."""
        return Rows(self.data["collectives"])

    @property
    def dimensions(self) -> Rows:
        """A row for each dimension of the logical topology."""
        return Rows(self.data["dimensions"])

    @property
    def links(self) -> Rows:
        """A row for each direction of a link; none where the machine is not wired."""
        return Rows((self.data.get("network") or {}).get("links", []))

    @property
    def warnings(self) -> list[str]:
        return [lib.orr_run_warning(self.handle, c.c_size_t(index)).decode()
                for index in range(lib.orr_run_warning_count(self.handle))]

    def _rows(self, function: Any, row: c.Structure) -> Rows:
        rows = Rows()
        while function(self.handle, c.c_uint32(len(rows)), c.byref(row)):
            rows.append({name: _plain(getattr(row, name)) for name, *_ in row._fields_})
        return rows

    @property
    def intervals(self) -> Rows:
        """When each operation was in flight; of a run with `intervals=True`, in the order of their ends."""
        if not self._told_intervals:
            raise ValueError("intervals were not kept: run(..., intervals=True)")
        return self._rows(lib.orr_run_interval, _structs.Interval())

    @property
    def waits(self) -> Rows:
        """Of a run that stalled: who waits for whom, what for, since when. A `peer` of None is not one rank alone."""
        rows = self._rows(lib.orr_run_wait, _structs.Wait())
        return Rows([{**row, "peer": None if row["peer"] == ALL_RANKS else row["peer"]} for row in rows])

    @property
    def findings(self) -> Rows:
        """Of a run that stalled: why, and what to change."""
        rows, row = Rows(), _structs.Finding()
        while lib.orr_run_finding(self.handle, c.c_uint32(len(rows)), c.byref(row)):
            rows.append({"kind": _plain(row.kind), "text": _plain(row.text), "fix": _plain(row.fix),
                         "ranks": row.ranks[:row.rank_count], "nodes": row.nodes[:row.node_count]})
        return rows

    def text(self) -> str:
        """What `orrery run` prints."""
        return _written(self.handle, "text")

    def write(self, path: PathLike, form: str) -> None:
        """Writes a report: text, json, csv (a folder), astra, comm-intervals; timeline with `intervals=True`."""
        if form not in OUTPUTS:
            raise ValueError(f"form {form!r} is none of {', '.join(OUTPUTS)}")
        call(lib.orr_run_write, self.handle, OUTPUTS[form], os.fspath(path).encode(), None)

    def timeline(self, path: PathLike, folder: bool = False) -> None:
        """Chrome trace events, or Perfetto's protobuf (.pftrace); of a run with `intervals=True`. `folder`, or a path that
        is one already: a file a rank in it, as PyTorch's profiler records them."""
        name = os.fspath(path)
        if (folder or os.path.isdir(name)) and not name.endswith("/"):
            name += "/"  # which a pathlib.Path cannot end in
        self.write(name, "timeline")

    def parts(self) -> list[tuple[str, float]]:
        names = {"compute_ns": "compute", "exposed_comm_ns": "exposed communication",
                 "exposed_other_ns": "host and memory", "idle_ns": "idle"}
        return [(name, self.data["rank_time"][key]["mean"]) for key, name in names.items()]

    def close(self) -> None:
        """Gives memory back before the garbage collector does. The dictionary stays; reports need the run open."""
        self._close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _plain(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _written(handle: c.c_void_p, form: str) -> str:
    return text_of(lambda stream: call(lib.orr_run_write, handle, OUTPUTS[form], None, stream))


def run(workload: PathLike | Workload, *, intervals: bool = False, progress: Watch | None = None,
        **parameters: Any) -> Run:
    """Simulates traces on a machine. Parameters are the options of `orrery run`, with _ for -: machine, system,
    network, backend, policy, grow, congestion, jitter, seed …; `set={"network.bandwidth": 50}` for keys of files.

    `workload` is the prefix of the traces (PREFIX.0.et …) or a Workload. `progress` is called several times a second
    with a dictionary; False from it, or an exception, ends the run.

    >>> run("nowhere", machine="dgx-h100")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    orrery._errors.InputError: nowhere.0.et: there is no such trace; ...
    >>> from orrery import collective
    >>> run(collective("all-reduce", 1 << 20, ranks=8), machine="dgx-h100x")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    orrery._errors.InputError: ...did you mean "dgx-h100"?...
    """
    handle, watcher = c.c_void_p(), Watcher(progress)
    watch = _structs.RUN_PROGRESS(watcher)
    prefix = workload if isinstance(workload, (str, os.PathLike)) else workload.save()
    words = words_of({"workload": prefix, **parameters})
    options = c.c_void_p(lib.orr_run_options_new())
    try:
        for name, value in words:  # borrowed until the run is open
            call(lib.orr_run_set, options, name, value)
        lib.orr_run_keep(options, KEEP_INTERVALS if intervals else 0)
        lib.orr_run_watch(options, watch, None)
        call(lib.orr_run_open, options, c.byref(handle))
    finally:
        lib.orr_run_options_delete(options)
    try:
        watcher.call(lib.orr_run_execute, handle)
    except Stall as stall:
        stall.run = Run(handle, intervals)
        raise
    except BaseException:
        lib.orr_run_close(handle)
        raise
    return Run(handle, intervals)
