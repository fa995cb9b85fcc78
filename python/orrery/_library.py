# SPDX-License-Identifier: Apache-2.0
"""Finds liborrery, loads it when the first function is called, and refuses one that this package was not made for.

Looked for, in this order: what $ORRERY_LIBRARY names; beside this file, where pip put it; the build folder of the tree
this file lies in; where the system's linker looks.
"""
from __future__ import annotations

import ctypes as c
import ctypes.util
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Union

from . import _structs
from ._errors import OK, LibraryError, error_of

PathLike = Union[str, "os.PathLike[str]"]
SONAME = "liborrery.so.0"
HERE = Path(__file__).resolve().parent
FORM_JSON = 1  # enum orr_form

# Functions that do not return enum orr_status (an int), or that take numbers wider than an int.
RESULTS: dict[str, Any] = {
    "orr_version": c.c_char_p, "orr_struct_size": c.c_size_t, "orr_free": None, "orr_run_options_new": c.c_void_p,
    "orr_run_options_delete": None, "orr_run_close": None, "orr_run_keep": None, "orr_run_watch": None,
    "orr_run_time_ns": c.c_uint64, "orr_run_warning_count": c.c_size_t, "orr_run_warning": c.c_char_p,
    "orr_run_interval": c.c_bool, "orr_run_finding": c.c_bool, "orr_run_wait": c.c_bool,
    "orr_import_options_init": None, "orr_train_options_new": c.c_void_p, "orr_train_options_delete": None,
    "orr_plan_options_new": c.c_void_p, "orr_plan_options_delete": None, "orr_plan_watch": None, "orr_op_data_close": None,
    "orr_coll_op_name": c.c_char_p, "orr_coll_algo_name": c.c_char_p, "orr_coll_proto_name": c.c_char_p,
    "orr_report_close": None, "orr_sweep_plan_close": None, "orr_sweep_plan_point_count": c.c_uint64,
    "orr_sweep_plan_key_count": c.c_size_t, "orr_sweep_plan_value": c.c_char_p, "orr_sweep_close": None,
}


def candidates() -> list[str]:
    """Where the library may be, the best first. $ORRERY_LIBRARY, if it is set, is the only one."""
    named = os.environ.get("ORRERY_LIBRARY")
    if named:
        return [named]
    places = [HERE / SONAME, HERE.parent.parent / "build" / "src" / SONAME]
    found = ctypes.util.find_library("orrery")
    return [str(place) for place in places if place.exists()] + [found or SONAME]


def load() -> c.CDLL:
    tried = []
    for path in candidates():
        try:
            library = c.CDLL(path)
        except OSError as error:
            tried.append(f"{path} ({error})")
            continue
        check(library, path)
        return library
    raise LibraryError(f"{SONAME} was not found: {'; '.join(tried)}. Build it (make), install it (make install), or set "
                       "ORRERY_LIBRARY to its path")


def check(library: c.CDLL, path: str) -> None:
    """Refuses a library whose structs are not the ones written down in _structs.py."""
    try:
        size = library.orr_struct_size
    except AttributeError:
        raise LibraryError(f"{path} is older than this package: it has no orr_struct_size") from None
    size.restype, size.argtypes = c.c_size_t, [c.c_char_p]
    for kind, name in _structs.NAMES.items():
        theirs = size(name.encode())
        if theirs != c.sizeof(kind):
            library.orr_version.restype = c.c_char_p
            raise LibraryError(f"{path} (version {library.orr_version().decode()}) does not fit this package: struct "
                               f"{name} has {theirs} bytes there and {c.sizeof(kind)} here; install both from one tree")


class _Loaded:
    """The library's functions as attributes, loaded by whoever asks first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._library: c.CDLL | None = None

    def __getattr__(self, name: str) -> Any:
        with self._lock:
            if self._library is None:
                self._library = load()
        function = getattr(self._library, name)
        function.restype = RESULTS.get(name, c.c_int)
        setattr(self, name, function)
        return function


lib = _Loaded()


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls what returns a status and takes an error as its last argument; raises what it says."""
    err = _structs.Error()
    status = function(*arguments, c.byref(err))
    if status != OK:
        raise error_of(status, err.text.decode(errors="replace"))


def text_of(write: Callable[[c.c_void_p], None]) -> str:
    """What `write` prints to the stream that it is given."""
    text, size, stream = c.c_void_p(), c.c_size_t(), c.c_void_p()
    call(lib.orr_stream_text, c.byref(text), c.byref(size), c.byref(stream))
    try:
        write(stream)
    finally:
        call(lib.orr_stream_close, stream)
        made = c.string_at(text.value, size.value) if text.value else b""
        lib.orr_free(text)
    return made.decode(errors="replace")


def strings(values: list[str]) -> Any:
    """A C array of texts."""
    return (c.c_char_p * max(len(values), 1))(*[value.encode() for value in values])


def words_of(parameters: dict[str, Any]) -> list[tuple[bytes, bytes]]:
    """Parameters as the library takes them: names with - for _, values as one would write them on a command line.

    >>> words_of({"micro_batch": 2, "sp": True, "bandwidth": [400, "100Gbps"], "seed": None})
    [(b'micro-batch', b'2'), (b'sp', b'true'), (b'bandwidth', b'400,100Gbps')]
    >>> words_of({"set": {"network.bandwidth": 50, "endpoint-delay": 10}})
    [(b'set', b'network.bandwidth=50'), (b'set', b'endpoint-delay=10')]
    """
    words = []
    for key, value in parameters.items():
        name = key.replace("_", "-").encode()
        if isinstance(value, dict):
            words += [(name, f"{inner}={word_of(said)}".encode()) for inner, said in value.items()]
        elif key == "link_down" and isinstance(value, (list, tuple)):
            words += [(name, word_of(said).encode()) for said in value]
        elif value is not None:
            words.append((name, word_of(value).encode()))
    return words


def word_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(word_of(item) for item in value)
    return str(os.fspath(value)) if isinstance(value, os.PathLike) else str(value)


def version() -> str:
    """Of the library.

    >>> version().count(".")
    2
    """
    made: bytes = lib.orr_version()
    return made.decode()
