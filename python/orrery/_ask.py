# SPDX-License-Identifier: Apache-2.0
"""Single questions: a collective as NCCL or RCCL does it, one operator on a device, what a machine's name means."""
from __future__ import annotations

import ctypes as c
import json
from collections.abc import Callable
from typing import Any

from . import _structs
from ._errors import EINVAL, InputError
from ._library import FORM_JSON, call, lib, strings, text_of
from ._table import Answer, Rows


def _index(namer: Callable[[int], bytes], word: str, what: str) -> int:
    """The number of a word in one of the library's lists."""
    known: list[str] = []
    while (name := namer(len(known)).decode()) != "?":
        known.append(name)
    if word not in known:
        raise InputError(f"{what} {word!r} is none of {', '.join(known)}", EINVAL)
    return known.index(word)


def _text(said: str | None) -> bytes | None:
    return said.encode() if said is not None else None


def coll_time(machine: str | None = None, *, op: str = "all-reduce", bytes: int | tuple[int, int] = (8, 16 << 30),
              gpu: str | None = None, nodes: int = 0, gpus_per_node: int = 0, fabric: str | None = None,
              algo: str = "auto", proto: str = "auto", nccl_version: str | None = None,
              measured: list[str] | None = None) -> Rows:
    """How long a collective takes as NCCL or RCCL does it, beside what was measured. A range of bytes doubles.

    >>> [(row["bytes"], row["method"]) for row in coll_time("dgx-h100", bytes=(64 << 20, 128 << 20))]
    [(67108864, 'measured'), (134217728, 'measured')]
    >>> coll_time("dgx-h100", op="all-reducing")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    orrery._errors.InputError: op 'all-reducing' is none of all-reduce, all-gather, ...
    """
    first, last = bytes if isinstance(bytes, tuple) else (bytes, 0)
    logs = measured or []
    sweep = _structs.CollSweep(
        machine=_structs.CollMachine(machine=_text(machine), gpu=_text(gpu), fabric=_text(fabric),
                                     nccl=_text(nccl_version), measured=strings(logs), measured_count=len(logs)),
        question=_structs.CollQuestion(op=_index(lib.orr_coll_op_name, op, "op"), bytes=first, nodes=nodes,
                                       gpus=gpus_per_node, algo=_index(lib.orr_coll_algo_name, algo, "algo"),
                                       proto=_index(lib.orr_coll_proto_name, proto, "proto")),
        last_bytes=last, json=True)
    return Rows(json.loads(text_of(lambda stream: call(lib.orr_coll_sweep, c.byref(sweep), stream)))["times"])


def op_predict(op: str, shape: str, *, device: str, dtype: str = "bf16", stack: str | None = None,
               data: list[str] | None = None) -> Answer:
    """How long one operator takes on a device, and what the answer rests on.

    >>> op_predict("gemm", "4096x14336x4096", device="h100").bound_by
    'compute'
    >>> op_predict("gemm", "4096x14336x4096", device="h101")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    orrery._errors.InputError: ...did you mean "h100"?...
    """
    files, opened = data or [], c.c_void_p()
    asked, kind, number = _structs.Op(), c.c_int(), c.c_int()
    call(lib.orr_op_kind_find, op.encode(), c.byref(kind))
    call(lib.orr_op_dtype_find, dtype.encode(), c.byref(number))
    asked.kind, asked.dtype = kind.value, number.value
    call(lib.orr_op_shape, shape.encode(), c.byref(asked))
    call(lib.orr_op_data_open, strings(files), c.c_size_t(len(files)), c.byref(opened))
    try:
        told = text_of(lambda stream: call(lib.orr_op_tell, opened, device.encode(),
                                           _text(stack), c.byref(asked), FORM_JSON,
                                           stream))
    finally:
        lib.orr_op_data_close(opened)
    return Answer(json.loads(told))


def machines() -> Rows:
    """The machines that are known by name.

    >>> "dgx-h100" in machines().column("name")
    True
    """
    told: dict[str, Any] = json.loads(
        text_of(lambda stream: call(lib.orr_machine_list, FORM_JSON, stream)))
    return Rows(told["machines"])


def machine(name: str, *, ranks: int = 0) -> Answer:
    """What a name or a line means: device, dimensions, wires.

    >>> machine("dgx-h100:2").ranks
    16
    """
    return Answer(json.loads(text_of(
        lambda stream: call(lib.orr_machine_show, name.encode(), c.c_uint32(ranks), FORM_JSON, stream))))
