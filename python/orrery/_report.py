# SPDX-License-Identifier: Apache-2.0
"""One page of results: an HTML file that needs no network and no server (docs/report.md)."""
from __future__ import annotations

import ctypes as c
import json
import os

from ._errors import EINVAL, InputError
from ._library import PathLike, call, lib
from ._run import Run
from ._table import Answer


def report(path: PathLike, *results: Answer | PathLike, lang: str = "en", names: list[str] | None = None) -> None:
    """Writes a page of runs, steps, plans and sweeps, several of a kind side by side. A path among the results is a file
    that --json wrote, the folder of a lab run or a result store. `lang`: en or zh-TW.

    >>> import tempfile
    >>> from orrery import train
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(f"{folder}/step.html", train("gpt2", gpu="h100", micro_batch=8))
    ...     os.listdir(folder)
    ['step.html']
    """
    made = c.c_void_p()
    if names is not None and len(names) != len(results):
        raise InputError(f"{len(names)} names for {len(results)} results", EINVAL)
    call(lib.orr_report_open, lang.encode(), c.c_uint64(0), c.byref(made))
    try:
        for index, result in enumerate(results):
            name = (names[index] if names is not None else f"result {index + 1}").encode()
            if isinstance(result, Run):
                call(lib.orr_report_add_run, made, name, result.handle)
            elif isinstance(result, Answer):
                document = json.dumps(result.data).encode()
                call(lib.orr_report_add, made, name, document, c.c_size_t(len(document)))
            else:
                call(lib.orr_report_add_file, made, os.fspath(result).encode())
        call(lib.orr_report_write, made, os.fspath(path).encode(), None)
    finally:
        lib.orr_report_close(made)
