# SPDX-License-Identifier: Apache-2.0
"""Traces: made node by node, made of patterns, imported from recordings. What they end in is a Workload."""
from __future__ import annotations

import ctypes as c
import json
import os
import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from . import _structs
from ._library import PathLike, call, lib, text_of

COMPUTE, COLLECTIVE, SEND, RECEIVE = range(4)  # enum orr_node_kind


class Nodes(ABC):
    """Operations of one rank. Each method returns the node's id, for the `after` of those that wait for it."""

    def __init__(self) -> None:
        self._next = 1

    @abstractmethod
    def _add(self, fields: dict[str, Any]) -> None: ...

    def _node(self, after: Iterable[int], **fields: Any) -> int:
        made = self._next
        earlier = list(after)
        unknown = [node for node in earlier if not 0 < node < made]
        if unknown:
            raise ValueError(f"node {made} ({fields['name']}) waits for node {unknown[0]}, which is not there yet")
        self._add({"id": made, "after": earlier, **fields})
        self._next += 1
        return made

    def compute(self, name: str, *, us: int = 0, operations: int = 0, bytes: int = 0, on_cpu: bool = False,
                after: Iterable[int] = ()) -> int:
        """`us` microseconds; or operations and the bytes they touch, for the machine's roofline."""
        return self._node(after, name=name, kind=COMPUTE, duration_us=us, operations=operations, tensor_bytes=bytes,
                          on_cpu=on_cpu)

    def collective(self, type: str, bytes: int, *, group: int | None = None, name: str | None = None,
                   after: Iterable[int] = ()) -> int:
        """All ranks of the group (None: all there are) must have it: all-reduce, all-gather, reduce-scatter, …"""
        return self._node(after, name=name or type, kind=COLLECTIVE, type=type, bytes=bytes,
                          group=None if group is None else str(group))

    def send(self, peer: int, bytes: int, *, tag: int = 0, name: str | None = None, after: Iterable[int] = ()) -> int:
        return self._node(after, name=name or f"send to {peer}", kind=SEND, peer=peer, bytes=bytes, tag=tag)

    def receive(self, peer: int, bytes: int, *, tag: int = 0, name: str | None = None,
                after: Iterable[int] = ()) -> int:
        return self._node(after, name=name or f"receive from {peer}", kind=RECEIVE, peer=peer, bytes=bytes, tag=tag)


class Trace(Nodes):
    """A trace file that is written as nodes are added, in constant memory; it appears when the block ends.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Trace(f"{folder}/job.0.et", rank=0) as trace:
    ...         forward = trace.compute("forward", us=500)
    ...         sent = trace.collective("all-reduce", 1 << 20, after=[forward])
    ...     os.listdir(folder)
    ['job.0.et']
    """

    def __init__(self, path: PathLike, rank: int) -> None:
        super().__init__()
        self._maker = c.c_void_p()
        call(lib.orr_trace_make, os.fspath(path).encode(), c.c_uint32(rank), c.byref(self._maker))

    def _add(self, fields: dict[str, Any]) -> None:
        if not self._maker:
            raise ValueError("the trace is ended")
        after = fields.pop("after")
        texts = {name: said.encode() for name, said in fields.items() if isinstance(said, str)}
        node = _structs.Node(**{**fields, **texts, "after": (c.c_uint64 * len(after))(*after),
                                "after_count": len(after)})
        call(lib.orr_trace_add, self._maker, c.byref(node))

    def end(self, keep: bool = True) -> None:
        """Ends the file; nothing appears where it is not to be kept. A second call does nothing."""
        maker, self._maker = self._maker, c.c_void_p()
        if maker:
            call(lib.orr_trace_end, maker, c.c_bool(keep))

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.end(keep=kind is None)

    def __del__(self) -> None:
        if getattr(self, "_maker", None):
            self.end(keep=False)


class Rank(Nodes):
    """The nodes of one rank of a Workload, in memory until that is saved."""

    def __init__(self, rank: int) -> None:
        super().__init__()
        self.rank = rank
        self.nodes: list[dict[str, Any]] = []

    def _add(self, fields: dict[str, Any]) -> None:
        self.nodes.append(fields)


class Workload(Sequence[Rank]):
    """A job: a trace for each rank. A sequence of ranks that nodes are added to; `run` takes it as it is.

    Without a prefix it lives in a temporary folder, which goes with it.

    >>> job = Workload(ranks=4)
    >>> for rank in job:
    ...     forward = rank.compute("forward", us=500)
    ...     _ = rank.collective("all-reduce", 64 << 20, after=[forward])
    >>> from orrery import run
    >>> done = run(job, machine="gpu:4 > leaf:400Gbps")
    >>> done.ranks.column("compute_ns")
    [500000, 500000, 500000, 500000]
    """

    def __init__(self, prefix: PathLike | None = None, *, ranks: int = 0) -> None:
        if prefix is None:
            folder = tempfile.mkdtemp(prefix="orrery-")
            self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            prefix = Path(folder) / "job"
        self.prefix = os.fspath(prefix)
        self._ranks = [Rank(rank) for rank in range(ranks)]
        self._groups: dict[str, list[int]] = {}
        self.report = ""  # of an import

    def __getitem__(self, rank: Any) -> Any:
        return self._ranks[rank]

    def __len__(self) -> int:
        return len(self._ranks)

    def __iter__(self) -> Iterator[Rank]:
        return iter(self._ranks)

    def group(self, ranks: Iterable[int]) -> int:
        """A group of ranks, for collectives; its number."""
        number = len(self._groups) + 1
        self._groups[str(number)] = list(ranks)
        return number

    def save(self) -> str:
        """Writes what was added, and returns the prefix: PREFIX.0.et, PREFIX.1.et …, PREFIX.groups.json."""
        for rank in self._ranks:
            with Trace(f"{self.prefix}.{rank.rank}.et", rank.rank) as trace:
                for fields in rank.nodes:
                    trace._add(dict(fields))
        if self._groups:
            Path(f"{self.prefix}.groups.json").write_text(json.dumps(self._groups), encoding="utf-8")
        return self.prefix

    def __repr__(self) -> str:
        return f"Workload({self.prefix!r}" + (f", ranks={len(self)})" if len(self) else ")")


def collective(type: str, bytes: int, *, ranks: int, prefix: PathLike | None = None) -> Workload:
    """One collective on every rank.

    >>> collective("all-redduce", 1024, ranks=2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    orrery._errors.InputError: ...did you mean "all-reduce"?...
    """
    made = Workload(prefix)
    options = _structs.GenOptions(pattern=0, type=type.encode(), bytes=bytes, npus=ranks, prefix=made.prefix.encode())
    call(lib.orr_gen, c.byref(options))
    return made


def import_recording(folder: PathLike, prefix: PathLike | None = None, *, tag: str | None = None,
                     unknown_size: int | None = None) -> Workload:
    """What a profiler recorded (PyTorch; docs/import.md), as traces. `report` of the Workload says what was found."""
    made = Workload(prefix)
    options = _structs.ImportOptions()
    lib.orr_import_options_init(c.byref(options))
    options.folder, options.prefix = os.fspath(folder).encode(), made.prefix.encode()
    options.tag = tag.encode() if tag is not None else None
    options.has_unknown_size, options.unknown_size = unknown_size is not None, unknown_size or 0
    made.report = text_of(lambda stream: call(lib.orr_trace_import, c.byref(options), None, stream))
    return made
